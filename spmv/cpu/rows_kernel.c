/* CSR as it is, for one instruction set: the rows of a share, and pieces of long rows. */
#include "lanes.h"
#include "walk.h"

enum {
    /* With one contiguous vector, the columns of a chunk are checked just before its entries are multiplied. Where x is
     * fetched ahead, chunks have X_CHUNK entries and are checked X_LEAD entries earlier. */
    CHUNK = 64,
    X_CHUNK = 8,
    X_LEAD = 64,
    AHEAD = 448,        /* entries from a chunk to the columns and values that are fetched with it */
    AHEAD_BYTES = 4096, /* elsewhere, from a product to the prefetch of values: the hardware stops at the end of a page.
                           3/4 of it for columns, which are checked ahead */
    BLOCK = 64          /* vectors that are summed together */
};

/* Calls columns and values into the cache. Addresses beyond the arrays do no harm. A pattern has bytes of 1. */
ALWAYS void fetch_streams(const void *col, lsp_type col_type, const void *val, size_t val_bytes, int64_t k) {
    __builtin_prefetch((const char *)col + (k * (col_type == LSP_I32 ? 4 : 8) + AHEAD_BYTES * 3 / 4), 0, 3);
    if (val_bytes > 1) {
        __builtin_prefetch((const char *)val + (k * (int64_t)val_bytes + AHEAD_BYTES), 0, 3);
    }
}

/* Calls `count` items from item k on into the second cache: the first one is left to x and to what is used next. */
ALWAYS void fetch_lines(const void *array, int64_t k, int count, size_t bytes) {
    const uintptr_t at = (uintptr_t)array + (uintptr_t)k * bytes;
    UNROLLED for (size_t line = 0; line < (size_t)count * bytes; line += 64) {
        __builtin_prefetch((const void *)(at + line), 0, 2);
    }
}

/* Calls the x of entry k into the cache. */
ALWAYS void fetch_x(const void *col, lsp_type col_type, int64_t k, const void *x, size_t bytes) {
    const uintptr_t at = (uintptr_t)lsp_index_at(col, col_type, k) * bytes;
    __builtin_prefetch((const void *)((uintptr_t)x + at), 0, 3);
}

/* Are the columns of `count` entries, a constant, inside the matrix? */
ALWAYS bool are_inside(const lsp_csr *A, lsp_type col_type, int64_t k, int count) {
    if (col_type == LSP_I64) {
        return columns_are_inside(A, k, k + count);
    }
    uint32_t most = 0;
    for (int j = 0; j < count; j++) {
        const uint32_t col = ((const uint32_t *)A->col)[k + j];
        most = col > most ? col : most;
    }
    return most < A->cols;
}

typedef int64_t run_fn(const lsp_spmv_rows *r, int64_t begin, int64_t end, int64_t limit);

/* The value of entry k as a T; the values from k on. The values of a pattern have a byte, and are not read. */
#define VALUE_AT(k) (IS_PATTERN ? (T)1 : (T)val[k])
#define VALUES(k) NAME(load)(val, k)
/* The last entries of a row, fewer than eight, one by one. Not a loop, and no jump to a place: each entry has its own
 * branch, which is seldom taken, and its own load of x, which the processor follows from row to row. A loop takes 1.08
 * times as long for rows of five in the cache, and 1.2 times beyond it in f32. */
#define LAST(n)                                                                                                        \
    if (end - k <= (n)) {                                                                                              \
        break;                                                                                                         \
    }                                                                                                                  \
    rest = TYPED(fused)(VALUE_AT(k + (n)), x[lsp_index_at(col, col_type, k + (n))], rest);
#define EACH_OF_LAST                                                                                                   \
    do {                                                                                                               \
        LAST(0) LAST(1) LAST(2) LAST(3) LAST(4) LAST(5) LAST(6)                                                        \
    } while (false);
#define ADD_CHAIN(part, at) s.part = TYPED(times_add)(VALUES(k + at), TYPED(pick)(x, col, col_type, k + at), s.part);

#define PAIR_TEMPLATE "rows_template.h"
#include "each_pair_template.h"

void LSP_ISA_NAME(lsp_spmv_rows)(const lsp_spmv_rows *r, int64_t begin, int64_t end) {
    LSP_SPMV_WITH_TYPES(r->job->A.val_type, r->job->options.type, rows, r, begin, end);
}

void LSP_ISA_NAME(lsp_spmv_piece)(const lsp_spmv_rows *r, int64_t begin, int64_t end, void *sums) {
    LSP_SPMV_WITH_TYPES(r->job->A.val_type, r->job->options.type, piece, r, begin, end, sums);
}
