/* What threads.c runs and another file has. Each function makes B of A; the bits of B depend on no number of threads.
 */
#pragma once

#include "core/core.h"

/* arrays.c: of arrays, by what B's columns or values hold. */
lsp_status tsan_suffixes_by_doubling(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B);
lsp_status tsan_suffixes_induced(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B);
lsp_status tsan_segsort(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B);
lsp_status tsan_gather_scatter(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B);
lsp_status tsan_hash_search(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B);

/* regions.c: the threads themselves; a caller's hook with threads of its own. */
lsp_status tsan_regions(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B);
lsp_status tsan_shares(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B);
void tsan_run_tasks(void *user, int tasks, lsp_task_fn run, void *data);
