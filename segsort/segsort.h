/* Inside the segmented sort: what its top and other rooms call. */
#pragma once

#include "job.h"

LSP_BEGIN_DECLS

static inline const lsp_segsort_device *lsp_segsort_device_at(lsp_where where) {
    return where == LSP_CUDA ? &lsp_segsort_cuda : &lsp_segsort_cpu;
}

/* Refuses arguments that are wrong, with a sentence. On a GPU the offsets are not read. */
lsp_status lsp_segsort_check(lsp_ctx *ctx, const lsp_segsort_args *args);

/* The specification: sorts checked arguments on the host with one thread, as lsp_segsort must. */
lsp_status lsp_segsort_ref(lsp_ctx *ctx, const lsp_segsort_args *args);

LSP_END_DECLS
