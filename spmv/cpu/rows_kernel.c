/* CSR as it is, for one instruction set: the rows of a share, and pieces of long rows. */
#include "lanes.h"
#include "walk.h"

enum {
    AHEAD = 128,        /* entries from a product to the prefetch of its x, where x is read at random */
    AHEAD_BYTES = 4096, /* from a product to the prefetch of values: the hardware stops at the end of a page. 3/4 of it
                           for columns, which are checked ahead */
    BLOCK = 64          /* vectors that are summed together */
};

/* The entries of A. */
typedef struct streams {
    const void *col, *val;
    int64_t nnz;
    lsp_type col_type;
} streams;

ALWAYS streams streams_of(const lsp_csr *A) { return (streams){A->col, A->val, A->nnz, A->col_type}; }

/* Calls values and columns into the cache. Addresses beyond the arrays do no harm. A pattern has bytes of 1. */
ALWAYS void fetch_streams(const streams *from, int64_t k, size_t val_bytes) {
    const uintptr_t col = (uintptr_t)from->col + (uintptr_t)k * (from->col_type == LSP_I32 ? 4 : 8);
    __builtin_prefetch((const void *)(col + AHEAD_BYTES * 3 / 4), 0, 3);
    if (val_bytes > 1) {
        __builtin_prefetch((const void *)((uintptr_t)from->val + (uintptr_t)k * val_bytes + AHEAD_BYTES), 0, 3);
    }
}

/* Calls the x of entry k into the cache. */
ALWAYS void fetch_x(const streams *from, int64_t k, const void *x, size_t bytes) {
    const uintptr_t at = (uintptr_t)lsp_index_at(from->col, from->col_type, k) * bytes;
    __builtin_prefetch((const void *)((uintptr_t)x + at), 0, 3);
}

#define NAME__(f, v, t) f##_##v##_##t
#define NAME_(f, v, t) NAME__(f, v, t)
#define NAME(f) NAME_(f, V_NAME, T_NAME)
#define TYPED__(f, t) f##_##t
#define TYPED_(f, t) TYPED__(f, t)
#define TYPED(f) TYPED_(f, T_NAME)
/* The value of entry k as a T; the values from k on. The values of a pattern have a byte, and are not read. */
#define VALUE_AT(k) (sizeof(V) > 1 ? (T)val[k] : (T)1)
#define VALUES(k) NAME(load)(val, k)
/* One product more, then the next case. */
#define ONE_MORE                                                                                                       \
    rest = TYPED(fused)(VALUE_AT(k), x[lsp_index_at(col, col_type, k)], rest);                                         \
    k++;                                                                                                               \
    __attribute__((fallthrough))
#define ADD_CHAIN(part, at) s.part = TYPED(times_add)(VALUES(k + at), TYPED(pick)(x, col, col_type, k + at), s.part);

#define T double
#define T_NAME f64
#define V double
#define V_NAME f64
#include "rows_template.h"
#define V float
#define V_NAME f32
#include "rows_template.h"
#define V char
#define V_NAME ones
#include "rows_template.h"
#undef T
#undef T_NAME
#define T float
#define T_NAME f32
#define V float
#define V_NAME f32
#include "rows_template.h"
#define V char
#define V_NAME ones
#include "rows_template.h"

void LSP_ISA_NAME(lsp_spmv_rows)(const lsp_spmv_rows *r, int64_t begin, int64_t end) {
    LSP_SPMV_WITH_TYPES(r->job->A.val_type, r->job->options.type, rows, r, begin, end);
}

void LSP_ISA_NAME(lsp_spmv_piece)(const lsp_spmv_rows *r, int64_t begin, int64_t end, void *sums) {
    LSP_SPMV_WITH_TYPES(r->job->A.val_type, r->job->options.type, piece, r, begin, end, sums);
}
