/* Prefix sums on the GPU: scan.cu. */
#pragma once

#include "core.h"

LSP_BEGIN_DECLS

/* Replaces counts[0 .. n-1] on the GPU by their inclusive prefix sums. The last sum goes to *total on the host, and the
 * call waits for it; with total NULL it does not wait. */
lsp_status lsp_cuda_scan(lsp_ctx *ctx, int64_t *counts, int64_t n, int64_t *total);
/* As lsp_cuda_scan, but never waits: the last sum goes to *last on the GPU, unless n is 0 or `last` is NULL. */
lsp_status lsp_cuda_scan_async(lsp_ctx *ctx, int64_t *counts, int64_t n, int64_t *last);
/* The same with sums of the caller: memory of the GPU for lsp_cuda_scan_sums(n) of them. So it allocates nothing. */
int64_t lsp_cuda_scan_sums(int64_t n);
lsp_status lsp_cuda_scan_in(lsp_ctx *ctx, int64_t *counts, int64_t n, int64_t *sums, int64_t *last);

LSP_END_DECLS
