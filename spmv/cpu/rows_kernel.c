/* CSR as it is, for one instruction set: the rows of a share, and pieces of long rows. */
#include "core/vector.h"
#include "walk.h"
#include <string.h>

enum {
    AHEAD = 64,         /* entries from a product to the prefetch of its x, where x is read at random */
    AHEAD_BYTES = 2048, /* of values, and half of columns: prefetches pass the page at which the hardware stops */
    BLOCK = 64          /* vectors that are summed together */
};

/* ---- reading ahead ---- */

/* Calls values and columns into the cache. Addresses beyond the arrays do no harm. */
ALWAYS void fetch_streams(const lsp_csr *A, int64_t k, lsp_type col_type, size_t val_bytes) {
    const uintptr_t col = (uintptr_t)A->col + (uintptr_t)k * (col_type == LSP_I32 ? 4 : 8);
    __builtin_prefetch((const void *)(col + AHEAD_BYTES / 2), 0, 0);
    if (val_bytes > 0) {
        __builtin_prefetch((const void *)((uintptr_t)A->val + (uintptr_t)k * val_bytes + AHEAD_BYTES), 0, 0);
    }
}

/* Calls the x of entry k into the cache. */
ALWAYS void fetch_x(const lsp_csr *A, int64_t k, lsp_type col_type, const void *x, size_t bytes) {
    __builtin_prefetch((const void *)((uintptr_t)x + (uintptr_t)lsp_index_at(A->col, col_type, k) * bytes), 0, 3);
}

/* ---- the types ---- */

#define T double
#define VAL double
#define VAL_BYTES 8
#define FMA __builtin_fma
#define SUFFIX f64
#include "rows_template.h"

#define T float
#define VAL float
#define VAL_BYTES 4
#define FMA __builtin_fmaf
#define SUFFIX f32
#include "rows_template.h"

#define T double
#define VAL float
#define VAL_BYTES 4
#define FMA __builtin_fma
#define SUFFIX mixed
#include "rows_template.h"

#define T double
#define VAL char
#define VAL_BYTES 0
#define FMA __builtin_fma
#define SUFFIX ones_f64
#define PATTERN
#include "rows_template.h"

#define T float
#define VAL char
#define VAL_BYTES 0
#define FMA __builtin_fmaf
#define SUFFIX ones_f32
#define PATTERN
#include "rows_template.h"

#define WITH_TYPES(job, f, ...)                                                                                        \
    do {                                                                                                               \
        const lsp_type val_ = (job)->A.val_type;                                                                       \
        if ((job)->options.type == LSP_F32) {                                                                          \
            val_ == LSP_F32 ? f##_f32(__VA_ARGS__) : f##_ones_f32(__VA_ARGS__);                                        \
        } else {                                                                                                       \
            val_ == LSP_F64   ? f##_f64(__VA_ARGS__)                                                                   \
            : val_ == LSP_F32 ? f##_mixed(__VA_ARGS__)                                                                 \
                              : f##_ones_f64(__VA_ARGS__);                                                             \
        }                                                                                                              \
    } while (0)

void LSP_ISA_NAME(lsp_spmv_rows)(const lsp_spmv_rows *r, int64_t begin, int64_t end) {
    WITH_TYPES(r->job, rows, r, begin, end);
}

void LSP_ISA_NAME(lsp_spmv_piece)(const lsp_spmv_rows *r, int64_t begin, int64_t end, void *sums) {
    WITH_TYPES(r->job, piece, r, begin, end, sums);
}
