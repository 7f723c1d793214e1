/* Sums on the GPU: scan.cu. */
#ifndef LSP_CORE_SCAN_H
#define LSP_CORE_SCAN_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* counts[0 .. n-1], on the GPU, become their inclusive sums. *total (may be NULL) is the last of them; to say so it
 * waits. */
lsp_status lsp_cuda_scan(lsp_ctx *ctx, int64_t *counts, int64_t n, int64_t *total);

#ifdef __cplusplus
}
#endif
#endif
