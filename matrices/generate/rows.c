/* A matrix made row by row: the lengths of all rows first, then their entries. */
#include "generate.h"

enum { least_share = 1 << 12 };

typedef struct making {
    const lsp_row_maker *maker;
    int64_t *starts; /* of the rows */
    const lsp_csr *A;
} making;

static void count_rows(void *data, int64_t begin, int64_t end) {
    const making *m = data;
    for (int64_t i = begin; i < end; i++) {
        m->starts[i + 1] = m->maker->length(m->maker->data, i);
    }
}

static void fill_rows(void *data, int64_t begin, int64_t end) {
    const making *m = data;
    for (int64_t i = begin; i < end; i++) {
        m->maker->fill(m->maker->data, i, m->A, m->starts[i]);
    }
}

lsp_status lsp_generate_rows(lsp_ctx *ctx, int64_t rows, int64_t cols, const lsp_row_maker *maker, lsp_csr *A) {
    LSP_SCRATCH_SCOPE(ctx);
    making m = {.maker = maker, .A = A};
    LSP_TRY(LSP_SCRATCH(ctx, rows + 1, &m.starts));
    lsp_for_shares(ctx, rows, least_share, count_rows, &m);
    LSP_TRY(lsp_csr_make_rows(ctx, LSP_HOST, rows, cols, m.starts, -1, &(lsp_csr_types){.val_type = LSP_F64}, A));
    lsp_for_shares(ctx, rows, least_share, fill_rows, &m);
    return LSP_OK;
}
