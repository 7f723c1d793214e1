/* Counts within several radii on the GPU, for count.cu. */
#pragma once

#include "gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

lsp_status lsp_pair_radii_cuda(lsp_ctx *ctx, lsp_pair_job *job, const double *limits, int64_t radii, uint64_t *counts);

#ifdef __cplusplus
}
#endif
