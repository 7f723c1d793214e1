/* The stacks of a batch on the CPU. Threads take shares of all row pointers or entries, however long a matrix is, and
 * go from matrix to matrix in them. */
#include "spgemm/batch.h"
#include "cpu.h"

enum { least_share = 1 << 15 };

/* Calls piece(data, i, begin, end) for the part of each matrix i in the share first .. last-1; begin and end are
 * numbers within the matrix. */
static void for_pieces(const lsp_batch_span *spans, int64_t count, bool pointers, int64_t first, int64_t last,
                       void (*piece)(void *data, int64_t i, int64_t begin, int64_t end), void *data) {
    for (int64_t i = lsp_batch_find(spans, pointers, first, 0, count - 1); first < last; i++) {
        const int64_t start = lsp_batch_first(spans, pointers, i);
        const int64_t stop = lsp_min(lsp_batch_first(spans, pointers, i + 1), last);
        if (first < stop) {
            piece(data, i, first - start, stop - start);
            first = stop;
        }
    }
}

/* ---- factors ---- */

typedef struct gathering {
    const lsp_batch_factor *f;
    int64_t fault; /* atomic */
} gathering;

/* Sums are unsigned, because numbers of a malformed matrix may overflow them. */
static int64_t behind(int64_t shift, int64_t x) { return (int64_t)((uint64_t)shift + (uint64_t)x); }

/* The stack's row pointers from one matrix. Row pointer 0 is the last one of the matrix before. True: malformed. */
LSP_INLINE bool copy_pointers(lsp_type from, lsp_type to, const lsp_batch_span *a, const lsp_csr *stack, int64_t begin,
                              int64_t end) {
    const int64_t rows = a[1].row_at - a->row_at, nnz = a[1].entry_at - a->entry_at;
    bool bad = (begin == 0 && lsp_index_at(a->rowptr, from, 0) != 0) ||
               (end == rows + 1 && lsp_index_at(a->rowptr, from, rows) != nnz);
    for (int64_t r = lsp_max(begin, 1); r < end; r++) {
        const int64_t start = lsp_index_at(a->rowptr, from, r);
        bad |= start < lsp_index_at(a->rowptr, from, r - 1);
        lsp_index_set(stack->rowptr, to, a->row_at + r, behind(a->entry_at, start));
    }
    return bad;
}
LSP_INLINE bool copy_pointers_to(lsp_type to, lsp_type from, const lsp_batch_span *a, const lsp_csr *stack,
                                 int64_t begin, int64_t end) {
    return LSP_WITH_INDEX(from, copy_pointers, to, a, stack, begin, end);
}
static void pointer_piece(void *data, int64_t i, int64_t begin, int64_t end) {
    gathering *g = data;
    const lsp_batch_factor *f = g->f;
    if (LSP_WITH_INDEX(f->stack.rowptr_type, copy_pointers_to, f->like.rowptr_type, &f->spans[i], &f->stack, begin,
                       end)) {
        lsp_lower(&g->fault, i);
    }
}
static void pointer_share(void *data, int64_t begin, int64_t end) {
    const gathering *g = data;
    for_pieces(g->f->spans, g->f->count, true, begin, end, pointer_piece, data);
}

LSP_INLINE bool copy_columns(lsp_type from, lsp_type to, const lsp_batch_span *a, const lsp_csr *stack, int64_t begin,
                             int64_t end) {
    bool bad = false;
    for (int64_t k = begin; k < end; k++) {
        const int64_t j = lsp_index_at(a->col, from, k);
        bad |= (uint64_t)j >= (uint64_t)a->cols;
        lsp_index_set(stack->col, to, a->entry_at + k, behind(a->shift, j));
    }
    return bad;
}
LSP_INLINE bool copy_columns_to(lsp_type to, lsp_type from, const lsp_batch_span *a, const lsp_csr *stack,
                                int64_t begin, int64_t end) {
    return LSP_WITH_INDEX(from, copy_columns, to, a, stack, begin, end);
}
static void column_piece(void *data, int64_t i, int64_t begin, int64_t end) {
    gathering *g = data;
    const lsp_batch_factor *f = g->f;
    if (LSP_WITH_INDEX(f->stack.col_type, copy_columns_to, f->like.col_type, &f->spans[i], &f->stack, begin, end)) {
        lsp_lower(&g->fault, i);
    }
}
static void column_share(void *data, int64_t begin, int64_t end) {
    const gathering *g = data;
    for_pieces(g->f->spans, g->f->count, false, begin, end, column_piece, data);
}

static void value_piece(void *data, int64_t i, int64_t begin, int64_t end) {
    const lsp_batch_factor *f = ((const gathering *)data)->f;
    const lsp_batch_span *a = &f->spans[i];
    const size_t bytes = lsp_value_bytes(f->stack.val_type);
    memcpy((char *)f->stack.val + (size_t)(a->entry_at + begin) * bytes, (const char *)a->val + (size_t)begin * bytes,
           (size_t)(end - begin) * bytes);
}
static void value_share(void *data, int64_t begin, int64_t end) {
    const gathering *g = data;
    for_pieces(g->f->spans, g->f->count, false, begin, end, value_piece, data);
}

lsp_status lsp_batch_gather_cpu(lsp_ctx *ctx, const lsp_batch_factor *f, bool structure, int64_t *fault) {
    gathering g = {.f = f, .fault = f->count};
    if (structure) {
        lsp_for_shares(ctx, f->stack.rows + f->count, least_share, pointer_share, &g);
        lsp_for_shares(ctx, f->stack.nnz, least_share, column_share, &g);
        *fault = g.fault;
    }
    if (f->stack.val_type != LSP_NONE) {
        lsp_for_shares(ctx, f->stack.nnz, least_share, value_share, &g);
    }
    return LSP_OK;
}

static void shift_piece(void *data, int64_t i, int64_t begin, int64_t end) {
    const lsp_batch_factor *f = data;
    const lsp_batch_span *a = &f->spans[i];
    for (int64_t k = a->entry_at + begin; k < a->entry_at + end; k++) {
        lsp_index_set(f->T.col, f->T.col_type, k, lsp_csr_col(&f->T, k) - a->row_at);
    }
}
static void shift_share(void *data, int64_t begin, int64_t end) {
    const lsp_batch_factor *f = data;
    for_pieces(f->spans, f->count, false, begin, end, shift_piece, data);
}

lsp_status lsp_batch_shift_cpu(lsp_ctx *ctx, const lsp_batch_factor *f) {
    lsp_batch_factor own = *f;
    lsp_for_shares(ctx, f->T.nnz, least_share, shift_share, &own);
    return LSP_OK;
}

/* ---- products ---- */

typedef struct rebasing {
    const lsp_batch_result *r;
    lsp_type type;
    void *rowptr;
} rebasing;

static void rebase_piece(void *data, int64_t i, int64_t begin, int64_t end) {
    const rebasing *to = data;
    const lsp_batch_span *c = &to->r->spans[i];
    const int64_t at = lsp_batch_first(to->r->spans, true, i), base = lsp_csr_rowptr(to->r->W, c->row_at);
    for (int64_t r = begin; r < end; r++) {
        lsp_index_set(to->rowptr, to->type, at + r, lsp_csr_rowptr(to->r->W, c->row_at + r) - base);
    }
}
static void rebase_share(void *data, int64_t begin, int64_t end) {
    const rebasing *to = data;
    for_pieces(to->r->spans, to->r->count, true, begin, end, rebase_piece, data);
}

lsp_status lsp_batch_ends_cpu(lsp_ctx *ctx, lsp_batch_result *r, int64_t *ends) {
    (void)ctx;
    for (int64_t i = 0; i <= r->count; i++) {
        ends[i] = lsp_csr_rowptr(r->W, r->spans[i].row_at);
    }
    return LSP_OK;
}

lsp_status lsp_batch_rebase_cpu(lsp_ctx *ctx, const lsp_batch_result *r, lsp_type type, void *rowptr) {
    lsp_for_shares(ctx, r->W->rows + r->count, least_share, rebase_share,
                   &(rebasing){.r = r, .type = type, .rowptr = rowptr});
    return LSP_OK;
}
