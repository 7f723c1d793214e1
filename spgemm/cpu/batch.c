/* The stacks of a batch on the CPU. Threads take shares of all row pointers or entries, however long a matrix is, and
 * go from matrix to matrix in them. */
#include "spgemm/batch.h"
#include "cpu.h"

enum { least_share = 1 << 15 };

/* What is called for the part of a matrix that lies in a thread's share: begin and end are numbers within matrix i. */
typedef void piece(void *data, int64_t i, int64_t begin, int64_t end);
typedef struct pieces {
    const lsp_batch_span *spans;
    int64_t count;
    bool pointers; /* the shares are of row pointers, else of entries */
    piece *f;
    void *data;
} pieces;

static void do_share(void *data, int64_t first, int64_t last) {
    const pieces *p = data;
    for (int64_t i = lsp_batch_find(p->spans, p->pointers, first, 0, p->count - 1); first < last; i++) {
        const int64_t start = lsp_batch_first(p->spans, p->pointers, i);
        const int64_t stop = lsp_min(lsp_batch_first(p->spans, p->pointers, i + 1), last);
        if (first < stop) {
            p->f(p->data, i, first - start, stop - start);
            first = stop;
        }
    }
}

/* Calls f for all `n` row pointers or entries of the stack, by threads. */
static void for_pieces(lsp_ctx *ctx, const lsp_batch_span *spans, int64_t count, bool pointers, int64_t n, piece *f,
                       void *data) {
    lsp_for_shares(ctx, n, least_share, do_share, &(pieces){spans, count, pointers, f, data});
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
static void value_piece(void *data, int64_t i, int64_t begin, int64_t end) {
    const lsp_batch_factor *f = ((const gathering *)data)->f;
    const lsp_batch_span *a = &f->spans[i];
    const size_t bytes = lsp_value_bytes(f->stack.val_type);
    memcpy((char *)f->stack.val + (size_t)(a->entry_at + begin) * bytes, (const char *)a->val + (size_t)begin * bytes,
           (size_t)(end - begin) * bytes);
}
lsp_status lsp_batch_gather_cpu(lsp_ctx *ctx, const lsp_batch_factor *f, bool structure, int64_t *fault) {
    gathering g = {.f = f, .fault = f->count};
    if (structure) {
        for_pieces(ctx, f->spans, f->count, true, f->stack.rows + f->count, pointer_piece, &g);
        for_pieces(ctx, f->spans, f->count, false, f->stack.nnz, column_piece, &g);
        *fault = g.fault;
    }
    if (f->stack.val_type != LSP_NONE) {
        for_pieces(ctx, f->spans, f->count, false, f->stack.nnz, value_piece, &g);
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
lsp_status lsp_batch_shift_cpu(lsp_ctx *ctx, const lsp_batch_factor *f) {
    lsp_batch_factor own = *f;
    for_pieces(ctx, f->spans, f->count, false, f->T.nnz, shift_piece, &own);
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
lsp_status lsp_batch_ends_cpu(lsp_ctx *ctx, lsp_batch_result *r, int64_t *ends) {
    (void)ctx;
    for (int64_t i = 0; i <= r->count; i++) {
        ends[i] = lsp_csr_rowptr(r->W, r->spans[i].row_at);
    }
    return LSP_OK;
}

lsp_status lsp_batch_rebase_cpu(lsp_ctx *ctx, const lsp_batch_result *r, lsp_type type, void *rowptr) {
    for_pieces(ctx, r->spans, r->count, true, r->W->rows + r->count, rebase_piece,
               &(rebasing){.r = r, .type = type, .rowptr = rowptr});
    return LSP_OK;
}
