/* Shared by the files of this room: the table of value types, the choice of types, rows shared out among threads.
 * Loops over entries are written once, as LSP_INLINE functions called with constant types: the compiler makes a copy
 * for each type. */
#pragma once

#include "core/core.h"

#include <math.h>
#include <string.h>

LSP_BEGIN_DECLS

#define LSP_INLINE static inline __attribute__((always_inline))

/* x, and for every NaN the one without sign: processors and GPUs make different ones. */
LSP_BOTH_SIDES LSP_INLINE double lsp_settled(double x) { return x == x ? x : (double)NAN; }

/* x as a double. A NaN keeps its sign and the bits that fit, and becomes quiet; a GPU by itself makes another. */
LSP_BOTH_SIDES LSP_INLINE double lsp_widened(float x) {
#ifdef __CUDA_ARCH__
    const unsigned long long bits = (unsigned)__float_as_int(x);
    return x == x ? (double)x
                  : __longlong_as_double((long long)(bits >> 31 << 63 | 0x7FF8ull << 48 | (bits & 0x7FFFFF) << 29));
#else
    return (double)x;
#endif
}

/* THE tables of value types, one a line: V(constant, type of a number, numbers in a value, ...). LSP_NONE, a pattern of
 * ones, is in none. The functions below are made from these tables. Integers have a table of their own, because a
 * double cannot hold all of them. */
/* clang-format off */
#define LSP_FLOAT_TYPES(V, ...)                                                                                        \
    V(LSP_F32, float, 1, __VA_ARGS__)                                                                                  \
    V(LSP_F64, double, 1, __VA_ARGS__)                                                                                 \
    V(LSP_C64, double, 2, __VA_ARGS__)
#define LSP_INTEGER_TYPES(V, ...)                                                                                      \
    V(LSP_I32, int32_t, 1, __VA_ARGS__)                                                                                \
    V(LSP_I64, int64_t, 1, __VA_ARGS__)                                                                                \
    V(LSP_BOOL, uint8_t, 1, __VA_ARGS__)
#define LSP_VALUE_TYPES(V, ...) LSP_FLOAT_TYPES(V, __VA_ARGS__) LSP_INTEGER_TYPES(V, __VA_ARGS__)
#define LSP_VALUE_TYPE_NAMES "LSP_NONE, LSP_F32, LSP_F64, LSP_C64, LSP_I32, LSP_I64 and LSP_BOOL" /* in refusals */

#define LSP_VALUE_IS(name, real, reals, type) || (type) == name
#define LSP_VALUE_BYTES(name, real, reals, type) (type) == name ? sizeof(real) * (reals) :
#define LSP_VALUE_ALIGN(name, real, reals, type) (type) == name ? sizeof(real) :
#define LSP_VALUE_CALL(name, real, reals, type, f, ...) (type) == name ? f(name, __VA_ARGS__) :
#define LSP_VALUE_GET(name, real, reals, val, k)                                                                       \
    if (type == name) {                                                                                                \
        const real *at = (const real *)(val) + (reals) * (k);                                                          \
        return (lsp_value){name == LSP_F32 ? lsp_widened((float)at[0]) : (double)at[0],                                \
                           (reals) == 2 ? (double)at[(reals) - 1] : 0, 0};                                             \
    }
#define LSP_VALUE_SET(name, real, reals, val, k, value)                                                                \
    if (type == name) {                                                                                                \
        real *at = (real *)(val) + (reals) * (k);                                                                      \
        at[0] = (real)(value).re;                                                                                      \
        if ((reals) == 2) {                                                                                            \
            at[(reals) - 1] = (real)(value).im;                                                                        \
        }                                                                                                              \
    }
#define LSP_VALUE_ADD(name, real, reals, val, to, from, k)                                                             \
    for (int64_t part = 0; type == name && part < (reals); part++) {                                                   \
        real *sum = &((real *)(val))[(reals) * (to) + part];                                                           \
        *sum = (real)lsp_settled((double)(*sum + ((const real *)(from))[(reals) * (k) + part]));                       \
    }
#define LSP_INTEGER_GET(name, integer, one, val, k)                                                                    \
    if (type == name) {                                                                                                \
        const int64_t at = ((const integer *)(val))[k], whole = name == LSP_BOOL ? at != 0 : at;                       \
        return (lsp_value){(double)whole, 0, whole};                                                                   \
    }
#define LSP_INTEGER_SET(name, integer, one, val, k, value)                                                             \
    if (type == name) {                                                                                                \
        ((integer *)(val))[k] = (integer)(name == LSP_BOOL ? (value).whole != 0 : (value).whole);                      \
    }

/* Can the values of a matrix have this type? */
static inline bool lsp_is_value(lsp_type type) { return type == LSP_NONE LSP_VALUE_TYPES(LSP_VALUE_IS, type); }

LSP_BOTH_SIDES static inline bool lsp_is_integer(lsp_type type) { return type == LSP_I32 || type == LSP_I64 || type == LSP_BOOL; }

/* Is x a whole number that fits LSP_I64? */
static inline bool lsp_is_whole(double x) { 
    const double limit = 9223372036854775808.0; /* 2^63 */
    return x >= -limit && x < limit && x == (double)(int64_t)x;
}

/* The type of the arithmetic for values of a type: narrower integers are added and multiplied as LSP_I64. */
static inline lsp_type lsp_wide_type(lsp_type type) { return lsp_is_integer(type) ? LSP_I64 : type; }

/* The type of what values of two types give together: the wider one, and LSP_F64 for an integer with LSP_F32. */
static inline lsp_type lsp_common_type(lsp_type a, lsp_type b) {
    const bool integer_a = lsp_is_integer(a), integer_b = lsp_is_integer(b);
    return a == b || b == LSP_NONE  ? a
           : a == LSP_NONE          ? b
           : integer_a && integer_b ? (a == LSP_BOOL ? b : b == LSP_BOOL ? a : LSP_I64)
           : integer_a              ? (b == LSP_F32 ? LSP_F64 : b)
           : integer_b              ? (a == LSP_F32 ? LSP_F64 : a)
           : a > b                  ? a
                                    : b; /* the enumerators of other types ascend in width */
}

/* lsp_type_bytes of a value type, as a constant if the type is one. */
LSP_BOTH_SIDES LSP_INLINE size_t lsp_value_bytes(lsp_type type) { return LSP_VALUE_TYPES(LSP_VALUE_BYTES, type) 0; }

/* f(type, ...) with the value type a constant. */
#define LSP_WITH_VALUE(type, f, ...)                                                                                   \
    (LSP_VALUE_TYPES(LSP_VALUE_CALL, type, f, __VA_ARGS__) f(LSP_NONE, __VA_ARGS__))

/* Is a user's array aligned to its items? Vector loads from an unaligned array would crash. */
static inline bool lsp_aligned(const void *array, lsp_type type) {
    const size_t bytes = LSP_VALUE_TYPES(LSP_VALUE_ALIGN, type) lsp_type_bytes(type);
    return (uintptr_t)array % (bytes > 0 ? bytes : 1) == 0;
}

/* A value of any type; 1 in a pattern. An integer is `whole`, and `re` is it rounded: arithmetic of integers takes
 * `whole` alone. Of other types `whole` means nothing. */
typedef struct lsp_value {
    double re, im;
    int64_t whole;
} lsp_value;
LSP_BOTH_SIDES LSP_INLINE lsp_value lsp_value_from(double re, double im) { return (lsp_value){re, im, 0}; }
LSP_BOTH_SIDES LSP_INLINE lsp_value lsp_value_of(lsp_type type, const void *val, int64_t k) {
    LSP_FLOAT_TYPES(LSP_VALUE_GET, val, k)
    LSP_INTEGER_TYPES(LSP_INTEGER_GET, val, k)
    return (lsp_value){1, 0, 1};
}
LSP_BOTH_SIDES LSP_INLINE void lsp_value_set(lsp_type type, void *val, int64_t k, lsp_value value) {
    LSP_FLOAT_TYPES(LSP_VALUE_SET, val, k, value)
    LSP_INTEGER_TYPES(LSP_INTEGER_SET, val, k, value)
}
/* val[to] += from[k], rounded as that type rounds, or modulo 2^64 for LSP_I64; narrower integers are widened first. A
 * sum that is no number is the NaN without sign. */
LSP_BOTH_SIDES LSP_INLINE void lsp_value_add(lsp_type type, void *val, int64_t to, const void *from, int64_t k) {
    LSP_FLOAT_TYPES(LSP_VALUE_ADD, val, to, from, k)
    if (type == LSP_I64) {
        ((uint64_t *)val)[to] += ((const uint64_t *)from)[k];
    }
}
/* clang-format on */

/* f(type, ...) with the index type a constant; of a matrix: f(type of rowptr, type of col, ...). */
#define LSP_WITH_INDEX(type, f, ...) ((type) == LSP_I32 ? f(LSP_I32, __VA_ARGS__) : f(LSP_I64, __VA_ARGS__))
#define LSP_WITH_INDICES(A, f, ...)                                                                                    \
    ((A)->rowptr_type == LSP_I32                                                                                       \
         ? ((A)->col_type == LSP_I32 ? f(LSP_I32, LSP_I32, __VA_ARGS__) : f(LSP_I32, LSP_I64, __VA_ARGS__))            \
         : ((A)->col_type == LSP_I32 ? f(LSP_I64, LSP_I32, __VA_ARGS__) : f(LSP_I64, LSP_I64, __VA_ARGS__)))

/* f(value type, index type, ...), and f(flag, ...), with constants. */
#define LSP_WITH_BOTH(type, index, f, ...)                                                                             \
    ((index) == LSP_I32 ? LSP_WITH_VALUE(type, f, LSP_I32, __VA_ARGS__) : LSP_WITH_VALUE(type, f, LSP_I64, __VA_ARGS__))
#define LSP_WITH_FLAG(flag, f, ...) ((flag) ? f(true, __VA_ARGS__) : f(false, __VA_ARGS__))

/* Where a matrix made from one that lies at `source` shall lie. LSP_HOST is given if there is no source. */
static inline lsp_where lsp_where_of(lsp_place place, lsp_where source) {
    return place == LSP_PLACE_SOURCE ? source : place == LSP_PLACE_CUDA ? LSP_CUDA : LSP_HOST;
}

/* The types of A, and its place. _like: of a matrix of `cols` columns and `nnz` entries made of A; types are wider
 * than those of A where they must be. */
static inline lsp_csr_types lsp_types_of(const lsp_csr *A) {
    lsp_csr_types types = {A->rowptr_type, A->col_type, A->val_type, A->val_type == LSP_NONE, lsp_place_of(A->where)};
    return types;
}
static inline lsp_csr_types lsp_types_like(const lsp_csr *A, int64_t cols, int64_t nnz) {
    lsp_csr_types types = lsp_types_of(A);
    types.rowptr_type = nnz > INT32_MAX ? LSP_I64 : A->rowptr_type;
    types.col_type = cols > (int64_t)INT32_MAX + 1 ? LSP_I64 : A->col_type;
    return types;
}

/* *fit = `types` with every choice of a type made: the narrowest indices that fit, and the value type `source`. `types`
 * may be NULL. */
lsp_status lsp_csr_resolve(lsp_ctx *ctx, int64_t cols, int64_t nnz, lsp_type source, const lsp_csr_types *types,
                           lsp_csr_types *fit);

/* lsp_csr_copy of a checked matrix, whose values can become values of this type, to types that were resolved. */
lsp_status lsp_csr_copy_checked(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr_types *types, lsp_csr *B);

/* A without its values. */
static inline lsp_csr lsp_csr_pattern(const lsp_csr *A) {
    lsp_csr pattern = *A;
    pattern.val = NULL;
    pattern.val_type = LSP_NONE;
    return pattern;
}

/* Converts A to `types`; NULL leaves it as it is. On failure A is unchanged. */
lsp_status lsp_csr_retype(lsp_ctx *ctx, const lsp_csr_types *types, lsp_csr *A);

/* to[i] = from[i], n values or indices of any types, in one place: equal types are copied, a pattern becomes ones,
 * integers become LSP_F32 by way of LSP_F64, LSP_I64 is cut to the lower 32 bits of LSP_I32. Waits for nothing. */
lsp_status lsp_convert_values(lsp_ctx *ctx, lsp_where where, lsp_type to_type, void *to, lsp_type from_type,
                              const void *from, int64_t n);

/* *view = A with values of `type`, in scratch if A's are of another type. */
lsp_status lsp_csr_widen(lsp_ctx *ctx, const lsp_csr *A, lsp_type type, lsp_csr *view);

/* Do A's values, of LSP_I64, fit an integer type? LSP_ERR_OVERFLOW names the first that does not fit LSP_I32, as an
 * entry of `name`. Everything fits LSP_BOOL, where all but 0 is 1. Waits for a GPU, unless the type holds everything.
 */
lsp_status lsp_csr_check_fits(lsp_ctx *ctx, const char *name, const lsp_csr *A, lsp_type type);

/* Converts the values of a matrix that the context made from LSP_I64 to another integer type, if they fit, or back. On
 * failure A is unchanged. */
lsp_status lsp_csr_convert_integers(lsp_ctx *ctx, const char *name, lsp_type type, lsp_csr *A);

/* Fails with LSP_ERR_MEMORY and the bytes if a matrix of these sizes and resolved types exceeds the free memory. */
lsp_status lsp_csr_check_memory(lsp_ctx *ctx, int64_t rows, int64_t nnz, const lsp_csr_types *types);

typedef struct lsp_csr_owner {
    lsp_ctx *ctx;
    lsp_csr *matrix;
} lsp_csr_owner;
static inline void lsp_csr_leave(const lsp_csr_owner *owner) { (void)lsp_csr_free(owner->ctx, owner->matrix); }
/* Declares a matrix, empty, that is freed where the enclosing block ends, unless lsp_csr_put has given it away. ({}: in
 * C++, {0} is a warning.) */
#define LSP_OWNED_CSR(ctx, name)                                                                                       \
    lsp_csr name = {};                                                                                                 \
    const lsp_csr_owner name##_owner LSP_AT_END(lsp_csr_leave) = {(ctx), &name}

/* Gives `made` away: *C = *made, and *made is empty. If C is also an input, its arrays are freed first, as far as they
 * belong to the context. Returns LSP_OK. */
lsp_status lsp_csr_put(lsp_ctx *ctx, lsp_csr *C, lsp_csr *made, bool is_input);

/* May lsp_csr_free free A? False if one of its arrays is another owner's, or shared with other matrices. */
bool lsp_csr_is_own(const lsp_ctx *ctx, const lsp_csr *A);

/* lsp_csr_transpose, with this name for A in its messages. */
lsp_status lsp_csr_transpose_as(lsp_ctx *ctx, const char *name, const lsp_csr *A, lsp_csr *B);
/* B = A^T of a checked matrix, by lsp_csr_file. */
lsp_status lsp_csr_file_transpose(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B);

/* The part of lsp_csr_check that reads no array: sizes, types, pointers. Works for matrices on the GPU too. */
lsp_status lsp_csr_check_header(lsp_ctx *ctx, const char *name, const lsp_csr *A);

/* Do the row pointers ascend from 0 to nnz? _arrays: do columns fit, too? For a checked header of a host's matrix. */
lsp_status lsp_csr_check_rows(lsp_ctx *ctx, const char *name, const lsp_csr *A);
lsp_status lsp_csr_check_arrays(lsp_ctx *ctx, const char *name, const lsp_csr *A);

/* Has the context a GPU, for this matrix that lies on one? */
lsp_status lsp_csr_check_device(lsp_ctx *ctx, const char *name);

/* lsp_csr_check without flags, for a matrix in either place with this name in messages. */
lsp_status lsp_csr_check_valid(lsp_ctx *ctx, const char *name, const lsp_csr *A);

/* Refuses an output of a call, items of `bytes` bytes, that overlaps an array of A, whose header was checked. */
lsp_status lsp_csr_check_apart(lsp_ctx *ctx, const lsp_csr *A, const char *name, const void *out, int64_t items,
                               size_t bytes);

/* Sorts the rows of a checked matrix, in either place. On the host it reads the columns once if they are in order
 * already. */
lsp_status lsp_csr_sort_rows(lsp_ctx *ctx, lsp_csr *A);

/* Items for the rows of B: item k goes to row row[k]. Its column is col[k], or, when `by` is given, the row of entry k
 * in `by`. val has B's value type. All indices are in range, and all arrays lie where B does. */
typedef struct lsp_filing {
    int64_t n;
    const void *row, *col, *val;
    lsp_type index_type; /* of row and col */
    const lsp_csr *by;
} lsp_filing;

/* Fills B, which was created for n entries, with the items: a counting sort, stable for any number of threads; on
 * a GPU a stable sort. On the host, a B whose `col` is NULL gets row pointers and values alone. */
lsp_status lsp_csr_file(lsp_ctx *ctx, const lsp_filing *items, lsp_csr *B);

/* to[i] = i for 0 <= i < n, indices of either type in either place. */
lsp_status lsp_count_up(lsp_ctx *ctx, lsp_where where, void *to, lsp_type type, int64_t n);

/* lsp_csr_create on the host, with row pointers: row i goes from starts[i] to starts[i+1], the first one from 0. */
lsp_status lsp_csr_create_rows(lsp_ctx *ctx, int64_t rows, int64_t cols, const int64_t *starts,
                               const lsp_csr_types *types, lsp_csr *A);

/* The same in either place: counts[i + 1], which become sums, are the entries of row i, `nnz` together; counts[0] is 0.
 * nnz below 0: not known, and a GPU is waited for. */
lsp_status lsp_csr_make_rows(lsp_ctx *ctx, lsp_where where, int64_t rows, int64_t cols, int64_t *counts, int64_t nnz,
                             const lsp_csr_types *types, lsp_csr *A);

/* The first row whose columns do not ascend, or with `strictly` also repeat; A->rows if none. */
int64_t lsp_csr_first_unsorted(const lsp_ctx *ctx, const lsp_csr *A, bool strictly);

/* Can the filter drop any entry? False if every part of it is off. */
static inline bool lsp_filter_drops_any(const lsp_filter *filter) {
    return filter->mask != NULL || filter->drop || filter->largest != 0;
}

/* The parts of lsp_csr_filter. _check_struct: are the fields of the struct valid? _check: does the filter also fit a
 * matrix of this shape in this place? _prepare_mask: replaces a mask that is unsorted or in the wrong place by a copy,
 * *sorted, which the caller frees. _rows: B = the entries of A that stay. */
lsp_status lsp_filter_check_struct(lsp_ctx *ctx, const lsp_filter *filter);
lsp_status lsp_filter_check(lsp_ctx *ctx, lsp_where where, int64_t rows, int64_t cols, const lsp_filter *filter);
lsp_status lsp_filter_prepare_mask(lsp_ctx *ctx, lsp_where where, lsp_filter *filter, lsp_csr *sorted);
lsp_status lsp_filter_rows(lsp_ctx *ctx, const lsp_csr *A, const lsp_filter *filter, lsp_csr *B);

/* B, with indices of `types`, = the entries k of A with stays[k] = 1. Waits for a GPU. */
lsp_status lsp_filter_take(lsp_ctx *ctx, const lsp_csr *A, uint8_t *stays, const lsp_csr_types *types, lsp_csr *B);

/* Parts of a checked matrix. _view_rows: rows first .. first+rows-1, in either place; a view over A's arrays with row
 * pointers in scratch. _take_columns: columns first .. first+cols-1, a copy in A's types, in either place.
 * _cut_rows: rows first .. *end-1 are the most that have no more than `most` entries together; row *end has *next
 * entries, or is none and *next is 0. _cut_columns: the same of columns, for a matrix on the GPU. Wait for a GPU. */
lsp_status lsp_csr_view_rows(lsp_ctx *ctx, const lsp_csr *A, int64_t first, int64_t rows, lsp_csr *S);
lsp_status lsp_csr_take_columns(lsp_ctx *ctx, const lsp_csr *A, int64_t first, int64_t cols, lsp_csr *B);
lsp_status lsp_csr_cut_rows(lsp_ctx *ctx, const lsp_csr *A, int64_t first, int64_t most, int64_t *end, int64_t *next);
lsp_status lsp_csr_cut_columns(lsp_ctx *ctx, const lsp_csr *A, int64_t first, int64_t most, int64_t *end,
                               int64_t *next);

/* lsp_csr_stack, with row pointers and columns of `types`. */
lsp_status lsp_csr_stack_as(lsp_ctx *ctx, const lsp_csr *const *blocks, int64_t block_rows, int64_t block_cols,
                            const lsp_csr_types *types, lsp_csr *B);

/* Sums entries with equal columns in place, in their order; rows must be sorted. In a pattern they become one entry.
 * nnz shrinks; arrays of the context may be replaced. *merged (may be NULL): the number of entries added to others. On
 * a checked matrix it can only fail for lack of memory, or because a sum does not fit LSP_I32. */
lsp_status lsp_csr_sum_duplicates(lsp_ctx *ctx, lsp_csr *A, int64_t *merged);

/* The row of entry k, 0 <= k < nnz. */
int64_t lsp_csr_row_of(const lsp_csr *A, int64_t k);

/* _threads: the number of threads that pays for all of A. _share: the rows begin .. end-1 of one share; shares have
 * equal sums of rows and entries. */
int lsp_csr_threads(const lsp_ctx *ctx, const lsp_csr *A);
void lsp_csr_share(const lsp_csr *A, int part, int parts, int64_t *begin, int64_t *end);

/* Calls do_rows(data, begin, end) for shares of A's rows, several for each of these threads. */
void lsp_csr_for_rows(const lsp_ctx *ctx, const lsp_csr *A, void (*do_rows)(void *data, int64_t begin, int64_t end),
                      void *data);

/* Defines `static void name(void *data, int64_t begin, int64_t end)`, one of these shares, or of those of
 * lsp_for_shares, as one expression: `type *s` is its data. */
#define LSP_SHARE(name, type, s, ...)                                                                                  \
    static void name(void *data, int64_t begin, int64_t end) {                                                         \
        type *s = data;                                                                                                \
        __VA_ARGS__;                                                                                                   \
    }

LSP_BOTH_SIDES static inline int64_t lsp_csr_rowptr(const lsp_csr *A, int64_t i) {
    return lsp_index_at(A->rowptr, A->rowptr_type, i);
}
LSP_BOTH_SIDES static inline int64_t lsp_csr_col(const lsp_csr *A, int64_t k) {
    return lsp_index_at(A->col, A->col_type, k);
}

static inline lsp_value lsp_value_at(const lsp_csr *A, int64_t k) { return lsp_value_of(A->val_type, A->val, k); }
LSP_BOTH_SIDES static inline bool lsp_same_number(double a, double b) { /* NaN is NaN */
    return a == b || (a != a && b != b);
}

/* to[i] = from[k], items of `bytes` each, the bytes of a value type: one load and one store if `bytes` is a constant.
 */
LSP_BOTH_SIDES LSP_INLINE void lsp_move_value(void *to, int64_t i, const void *from, int64_t k, size_t bytes) {
#ifdef __CUDA_ARCH__ /* a pair of doubles is aligned to 8 bytes */
    if (bytes == 4) {
        ((uint32_t *)to)[i] = ((const uint32_t *)from)[k];
    } else if (bytes == 1) {
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[k];
    } else if (bytes == 8) {
        ((uint64_t *)to)[i] = ((const uint64_t *)from)[k];
    } else if (bytes == 16) {
        ((uint64_t *)to)[2 * i] = ((const uint64_t *)from)[2 * k];
        ((uint64_t *)to)[2 * i + 1] = ((const uint64_t *)from)[2 * k + 1];
    }
#else
    if (bytes > 0) {
        memcpy((char *)to + (size_t)i * bytes, (const char *)from + (size_t)k * bytes, bytes);
    }
#endif
}

/* Are x[a] and y[b], items of `bytes` bytes, the same bits? */
LSP_BOTH_SIDES LSP_INLINE bool lsp_same_bits(const void *x, int64_t a, const void *y, int64_t b, size_t bytes) {
    int64_t u[2] = {0, 0}, v[2] = {0, 0};
    lsp_move_value(u, 0, x, a, bytes);
    lsp_move_value(v, 0, y, b, bytes);
    return u[0] == v[0] && u[1] == v[1];
}

LSP_END_DECLS
