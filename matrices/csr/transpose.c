/* B = A^T by a stable counting sort. Threads take shares of the entries in order and count them by column. The prefix
 * sum of the counts, by column and then by share, says where each thread puts its entries. COO to CSR is the same sort.
 */
#include "matrices/bodies.h"
#include "matrices/csr/gpu/gpu.h"

enum { least_share = 1 << 15 };

typedef struct sorter {
    const lsp_filing *items;
    lsp_csr *B;
    void *places; /* parts x rows of B, in its rowptr_type: counts, then the place of the next entry */
    int parts;
    int64_t *sums; /* [s]: entries in the rows before share s of B's rows */
} sorter;

/* The counts of one share. */
LSP_INLINE void *places_of(const sorter *s, int part) {
    return (char *)s->places + (size_t)part * (size_t)s->B->rows * lsp_type_bytes(s->B->rowptr_type);
}

LSP_INLINE void count(lsp_type index_type, lsp_type place_type, const sorter *s, int part) {
    void *places = places_of(s, part);
    int64_t begin, end;
    memset(places, 0, (size_t)s->B->rows * lsp_type_bytes(place_type));
    lsp_share(s->items->n, part, s->parts, &begin, &end);
    for (int64_t k = begin; k < end; k++) {
        int64_t row = lsp_index_at(s->items->row, index_type, k);
        lsp_index_set(places, place_type, row, lsp_index_at(places, place_type, row) + 1);
    }
}

/* Turns counts into places, for the rows of one share. */
static void place_share(void *data, int64_t share, int thread) {
    const sorter *s = data;
    int64_t begin, end, before = s->sums[share]; /* entries of the rows before */
    (void)thread;
    lsp_share(s->B->rows, (int)share, s->parts, &begin, &end);
    for (int64_t i = begin; i < end; i++) {
        for (int part = 0; part < s->parts; part++) {
            void *places = places_of(s, part);
            int64_t counted = lsp_index_at(places, s->B->rowptr_type, i);
            lsp_index_set(places, s->B->rowptr_type, i, before);
            before += counted;
        }
        lsp_index_set(s->B->rowptr, s->B->rowptr_type, i + 1, before);
    }
}

LSP_INLINE void move(lsp_type index_type, lsp_type place_type, lsp_type col_type, size_t val_bytes, const sorter *s,
                     int part) {
    const lsp_filing *items = s->items;
    void *places = places_of(s, part);
    int64_t begin, end;
    lsp_share(items->n, part, s->parts, &begin, &end);
    int64_t column = items->by && begin < end ? lsp_csr_row_of(items->by, begin) : 0;
    int64_t stop = items->by && begin < end ? lsp_csr_rowptr(items->by, column + 1) : 0;
    for (int64_t k = begin; k < end; k++) {
        int64_t row = lsp_index_at(items->row, index_type, k), to = lsp_index_at(places, place_type, row);
        lsp_index_set(places, place_type, row, to + 1);
        if (!items->by) {
            column = lsp_index_at(items->col, index_type, k);
        }
        while (items->by && k >= stop) {
            stop = lsp_csr_rowptr(items->by, ++column + 1);
        }
        lsp_index_set(s->B->col, col_type, to, column);
        lsp_move_value(s->B->val, to, items->val, k, val_bytes);
    }
}

/* If all indices are narrow, their types are constants in the loop; otherwise they are tested for each entry. */
LSP_INLINE void move_values(lsp_type val_type, const sorter *s, int part) {
    const size_t val_bytes = lsp_value_bytes(val_type);
    if (s->items->index_type == LSP_I32 && s->B->rowptr_type == LSP_I32 && s->B->col_type == LSP_I32) {
        move(LSP_I32, LSP_I32, LSP_I32, val_bytes, s, part);
    } else {
        move(s->items->index_type, s->B->rowptr_type, s->B->col_type, val_bytes, s, part);
    }
}
static void move_share(void *data, int64_t share, int thread) {
    const sorter *s = data;
    (void)thread;
    LSP_WITH_VALUE(s->B->val_type, move_values, s, (int)share);
}

static void count_share(void *data, int64_t share, int thread) {
    const sorter *s = data;
    const int part = (int)share;
    (void)thread;
    if (s->items->index_type == LSP_I32 && s->B->rowptr_type == LSP_I32) {
        count(LSP_I32, LSP_I32, s, part);
    } else {
        count(s->items->index_type, s->B->rowptr_type, s, part);
    }
}

/* Counts the entries in the rows of one share. */
static void sum_share(void *data, int64_t share, int thread) {
    const sorter *s = data;
    int64_t begin, end, sum = 0;
    (void)thread;
    lsp_share(s->B->rows, (int)share, s->parts, &begin, &end);
    for (int part = 0; part < s->parts; part++) {
        for (int64_t i = begin; i < end; i++) {
            sum += lsp_index_at(places_of(s, part), s->B->rowptr_type, i);
        }
    }
    s->sums[share + 1] = sum;
}

/* Shares that pay. They are limited so that their counts take no more memory than B itself. */
static int parts_for(const lsp_ctx *ctx, const lsp_csr *B) {
    int64_t place_bytes = (int64_t)lsp_type_bytes(B->rowptr_type);
    int64_t entry_bytes = (int64_t)(lsp_type_bytes(B->col_type) + lsp_type_bytes(B->val_type));
    int64_t bounded = 1 + B->nnz / lsp_max(B->rows, 1) * entry_bytes / place_bytes;
    return (int)lsp_min(lsp_threads_for(ctx, B->nnz, least_share), bounded);
}

static lsp_status file_here(lsp_ctx *ctx, const lsp_filing *items, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    sorter s = {.items = items, .B = B, .parts = parts_for(ctx, B)};
    int64_t cells;
    LSP_REQUIRE(lsp_mul(B->rows, s.parts, &cells), LSP_ERR_OVERFLOW, "%lld rows are too many to count by",
                (long long)B->rows);
    LSP_TRY(lsp_scratch_bytes(ctx, lsp_max(cells, 1), lsp_type_bytes(B->rowptr_type), false, &s.places));
    LSP_TRY(LSP_SCRATCH(ctx, s.parts + 1, &s.sums));
    s.sums[0] = 0;
    lsp_for_parts(ctx, s.parts, s.parts, count_share, &s);
    lsp_for_parts(ctx, s.parts, s.parts, sum_share, &s);
    for (int part = 0; part < s.parts; part++) {
        s.sums[part + 1] += s.sums[part];
    }
    lsp_for_parts(ctx, s.parts, s.parts, place_share, &s);
    lsp_for_parts(ctx, s.parts, s.parts, move_share, &s);
    return LSP_OK;
}

lsp_status lsp_csr_file(lsp_ctx *ctx, const lsp_filing *items, lsp_csr *B) {
    return B->where == LSP_CUDA ? lsp_csr_on_gpu.csr_file(ctx, items, B) : file_here(ctx, items, B);
}

lsp_status lsp_count_up(lsp_ctx *ctx, lsp_where where, void *to, lsp_type type, int64_t n) {
    return LSP_EACH(ctx, where, count_up,
                    (lsp_each_job){.args = &(indexing){.to = to}, .n = n, .kind = {.index = type}});
}

static lsp_status file_columns(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    const lsp_filing by_column = {.n = A->nnz, .row = A->col, .val = A->val, .index_type = A->col_type, .by = A};
    return lsp_csr_file(ctx, &by_column, B);
}

lsp_status lsp_csr_file_transpose(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    const lsp_csr_types types = lsp_types_like(A, A->rows, A->nnz);
    const lsp_status status = lsp_csr_create(ctx, A->cols, A->rows, A->nnz, &types, B);
    return status != LSP_OK ? status : file_columns(ctx, A, B);
}

lsp_status lsp_csr_transpose_as(lsp_ctx *ctx, const char *name, const lsp_csr *A, lsp_csr *B) {
    LSP_OWNED_CSR(ctx, made);
    bool done = false;
    LSP_TRY(lsp_csr_check_header(ctx, name, A));
    LSP_TRY(A->where == LSP_HOST ? lsp_csr_check_as(ctx, name, A, 0) : lsp_csr_check_device(ctx, name));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the transpose is NULL");
    const lsp_csr_types types = lsp_types_like(A, A->rows, A->nnz);
    LSP_TRY(lsp_csr_create(ctx, A->cols, A->rows, A->nnz, &types, &made));
    if (A->where == LSP_CUDA) { /* checks A on the way */
        LSP_TRY(lsp_csr_on_gpu.csr_transpose(ctx, name, A, &made, &done));
    }
    if (!done) {
        LSP_TRY(file_columns(ctx, A, &made));
    }
    return lsp_csr_put(ctx, B, &made, B == A);
}

lsp_status lsp_csr_transpose(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_csr_transpose_as(ctx, "A", A, B);
}
