/* What the files of this folder share: types resolved, rows shared out among threads, entries moved by their width.
 * Loops over entries are written once, as LSP_INLINE functions of types that are constants where they are called: the
 * compiler makes the copies. */
#ifndef LSP_MATRICES_MATRICES_H
#define LSP_MATRICES_MATRICES_H

#include "core/core.h"

#include <string.h>

#define LSP_INLINE static inline __attribute__((always_inline))

/* f(type, ...) with the type a constant: an index, the index types of a matrix, or a value. */
#define LSP_WITH_INDEX(type, f, ...) ((type) == LSP_I32 ? f(LSP_I32, __VA_ARGS__) : f(LSP_I64, __VA_ARGS__))
#define LSP_WITH_INDICES(A, f, ...)                                                                                    \
    ((A)->rowptr_type == LSP_I32                                                                                       \
         ? ((A)->col_type == LSP_I32 ? f(LSP_I32, LSP_I32, __VA_ARGS__) : f(LSP_I32, LSP_I64, __VA_ARGS__))            \
         : ((A)->col_type == LSP_I32 ? f(LSP_I64, LSP_I32, __VA_ARGS__) : f(LSP_I64, LSP_I64, __VA_ARGS__)))

/* The types of a matrix to be made, with nothing left open: the narrowest indices that fit, values as `source` has
 * them. `types` may be NULL. */
lsp_status lsp_csr_resolve(lsp_ctx *ctx, int64_t cols, int64_t nnz, lsp_type source, const lsp_csr_types *types,
                           lsp_csr_types *fit);

/* A, made in the narrowest types, becomes a matrix of `types` (NULL: it is one already). On failure A is as it was. */
lsp_status lsp_csr_retype(lsp_ctx *ctx, const lsp_csr_types *types, lsp_csr *A);

/* LSP_ERR_MEMORY, with the bytes, if a matrix of these sizes and (resolved) types cannot be had now. */
lsp_status lsp_csr_room(lsp_ctx *ctx, int64_t rows, int64_t nnz, const lsp_csr_types *types);

/* *C = *made, an output. If C is an input too, those of its arrays that are the context's are freed. */
void lsp_csr_put(lsp_ctx *ctx, lsp_csr *C, const lsp_csr *made, bool is_input);

/* lsp_csr_check of a matrix that its sentences call by this name. */
lsp_status lsp_csr_check_as(lsp_ctx *ctx, const char *name, const lsp_csr *A, unsigned flags);

/* lsp_csr_transpose and lsp_csr_add of matrices whose sentences have other names for A and for B. */
lsp_status lsp_csr_transpose_as(lsp_ctx *ctx, const char *name, const lsp_csr *A, lsp_csr *B);
lsp_status lsp_csr_add_as(lsp_ctx *ctx, const char *name_b, double alpha, const lsp_csr *A, double beta,
                          const lsp_csr *B, lsp_csr *C);

/* The part of it that reads no array: sizes, types, pointers. For matrices on the GPU too. */
lsp_status lsp_csr_check_header(lsp_ctx *ctx, const char *name, const lsp_csr *A);

/* Do the row pointers of a matrix on the host, whose header is right, ascend from 0 to nnz? */
lsp_status lsp_csr_check_rows(lsp_ctx *ctx, const char *name, const lsp_csr *A);

/* lsp_csr_check without flags, of a matrix in either place. */
lsp_status lsp_csr_check_there(lsp_ctx *ctx, const char *name, const lsp_csr *A);

/* lsp_csr_sort of a matrix that was checked: one read when it is in order already. */
lsp_status lsp_csr_sort_rows(lsp_ctx *ctx, lsp_csr *A);

/* Items to be filed by rows of B: item k goes to row row[k], as column col[k], or, when `by` is given, as the number of
 * its row in `by`. val of B's own type. All indices in range. */
typedef struct lsp_filing {
    int64_t n;
    const void *row, *col, *val;
    lsp_type index_type; /* of row and col */
    const lsp_csr *by;
} lsp_filing;

/* B, made for that many entries, takes the items in their order: a counting sort, stable whatever the threads. */
lsp_status lsp_csr_file(lsp_ctx *ctx, const lsp_filing *items, lsp_csr *B);

/* lsp_csr_create on the host with its row pointers: row i from starts[i] to starts[i+1]. */
lsp_status lsp_csr_create_rows(lsp_ctx *ctx, int64_t rows, int64_t cols, const int64_t *starts,
                               const lsp_csr_types *types, lsp_csr *A);

/* The first row whose columns do not ascend (strictly: in which a column also comes twice in a row); rows if none. */
int64_t lsp_csr_first_unsorted(const lsp_ctx *ctx, const lsp_csr *A, bool strictly);

/* Can the filter drop any entry? False if every part of it is off. */
bool lsp_filter_drops_any(const lsp_filter *filter);

/* The parts of lsp_csr_filter: does its struct make sense, whatever it is for? Is the filter one for a matrix of this
 * shape, in this place? A copy of its mask with sorted rows and in the place named, if it is not so (`sorted` is then
 * the caller's to free). What stays. */
lsp_status lsp_filter_check_struct(lsp_ctx *ctx, const lsp_filter *filter);
lsp_status lsp_filter_check(lsp_ctx *ctx, lsp_where where, int64_t rows, int64_t cols, const lsp_filter *filter);
lsp_status lsp_filter_prepare_mask(lsp_ctx *ctx, lsp_where where, lsp_filter *filter, lsp_csr *sorted);
lsp_status lsp_filter_rows(lsp_ctx *ctx, const lsp_csr *A, const lsp_filter *filter, lsp_csr *B);

/* B, in `types`, = those entries of A for which stays[] is 1, counts[i + 1] of them in row i; both lie where A does.
 * counts[] become where B's rows begin. Waits for nnz(B). */
lsp_status lsp_filter_take(lsp_ctx *ctx, const lsp_csr *A, const uint8_t *stays, int64_t *counts,
                           const lsp_csr_types *types, lsp_csr *B);

/* Sums equal neighbours of a row in place, in their order; rows must be sorted. A pattern's just become one. nnz
 * shrinks, the arrays stay where they are. *merged (may be NULL): how many entries went into others. Cannot fail on a
 * checked matrix but for want of memory. */
lsp_status lsp_csr_sum_duplicates(lsp_ctx *ctx, lsp_csr *A, int64_t *merged);

/* The row of entry k, 0 <= k < nnz. */
int64_t lsp_csr_row_of(const lsp_csr *A, int64_t k);

/* Threads worth starting for all of A, and the rows of one of them: shares even in rows plus entries. */
int lsp_csr_threads(const lsp_ctx *ctx, const lsp_csr *A);
void lsp_csr_share(const lsp_csr *A, int part, int parts, int64_t *begin, int64_t *end);

/* do_rows(data, begin, end) for such shares of A's rows, by these threads. */
void lsp_csr_for_rows(const lsp_ctx *ctx, const lsp_csr *A, void (*do_rows)(void *data, int64_t begin, int64_t end),
                      void *data);

/* May the values of a matrix have this type? */
static inline bool lsp_is_value(lsp_type type) {
    return type == LSP_NONE || type == LSP_F32 || type == LSP_F64 || type == LSP_C64;
}

/* Misaligned arrays of a user would crash the vectors that read them. Of a type that is one. */
static inline bool lsp_aligned(const void *array, lsp_type type) {
    return (uintptr_t)array % (type == LSP_NONE ? 1 : type == LSP_C64 ? sizeof(double) : lsp_type_bytes(type)) == 0;
}

static inline int64_t lsp_csr_rowptr(const lsp_csr *A, int64_t i) { return lsp_index_at(A->rowptr, A->rowptr_type, i); }
static inline int64_t lsp_csr_col(const lsp_csr *A, int64_t k) { return lsp_index_at(A->col, A->col_type, k); }

/* A value of any type; a pattern stands for ones. */
typedef struct lsp_value {
    double re, im;
} lsp_value;
LSP_INLINE lsp_value lsp_value_of(lsp_type type, const void *val, int64_t k) {
    return type == LSP_F32   ? (lsp_value){((const float *)val)[k], 0}
           : type == LSP_F64 ? (lsp_value){((const double *)val)[k], 0}
           : type == LSP_C64 ? (lsp_value){((const double *)val)[2 * k], ((const double *)val)[2 * k + 1]}
                             : (lsp_value){1, 0};
}
static inline lsp_value lsp_value_at(const lsp_csr *A, int64_t k) { return lsp_value_of(A->val_type, A->val, k); }
static inline bool lsp_same_number(double a, double b) { return a == b || (a != a && b != b); } /* NaN is NaN */

/* to[i] = from[k], of `bytes` each: one load and one store when `bytes` is a constant. */
LSP_INLINE void lsp_move_value(void *to, int64_t i, const void *from, int64_t k, size_t bytes) {
    if (bytes > 0) {
        memcpy((char *)to + (size_t)i * bytes, (const char *)from + (size_t)k * bytes, bytes);
    }
}

#endif
