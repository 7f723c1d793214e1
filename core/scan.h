/* Prefix sums on the GPU: scan.cu. */
#ifndef LSP_CORE_SCAN_H
#define LSP_CORE_SCAN_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* counts[0 .. n-1], on the GPU, become their inclusive prefix sums. The last of them goes to *total on the host, and
 * the call waits for it; if total is NULL it does not wait. */
lsp_status lsp_cuda_scan(lsp_ctx *ctx, int64_t *counts, int64_t n, int64_t *total);
/* The same without waiting: the last sum goes to *last on the GPU, which may be NULL. Not written if n is 0. */
lsp_status lsp_cuda_scan_there(lsp_ctx *ctx, int64_t *counts, int64_t n, int64_t *last);

#ifdef __cplusplus
}
#endif
#endif
