/* Counts within several radii on the GPU, for count.cu. */
#pragma once

#include "gpu.h"

LSP_C_BEGIN

lsp_status lsp_pair_radii_cuda(lsp_ctx *ctx, lsp_pair_job *job, const double *limits, int64_t radii, uint64_t *counts);

LSP_C_END
