/* libsparse/pairs/pairs.h: what the files that `two-body generate` writes have in common. They include it after their
 * settings; libsparse.h does not. C11, or CUDA C++17. The settings:
 *   PAIRS_PLACE, PAIRS_PLACE_TYPE    a coordinate, and its lsp_type
 *   PAIRS_NUMBER, PAIRS_NUMBER_TYPE  the value of a pair: float, double, or int32_t for coordinates of bits
 *   PAIRS_REAL                       float or double, for bins
 *   PAIRS_WHOLE                      an unsigned integer as wide as the number
 *   PAIRS_FN(f)                      the function f of math.h for the number
 *   PAIRS_DIMENSIONS, PAIRS_PARAMETERS, PAIRS_SIZE (limits or bins)
 *   PAIRS_OF_BITS, PAIRS_IS_WIDE, PAIRS_IS_PREDICATE  0 or 1: coordinates are bits, numbers double, values truth
 *   PAIRS_POINT(at, l)               point l of arrays of coordinates, as an initialiser */
#ifndef LIBSPARSE_PAIRS_PAIRS_H
#define LIBSPARSE_PAIRS_PAIRS_H

#include <libsparse.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef __CUDACC__
#define PAIRS_BOTH static __host__ __device__ __forceinline__
#define PAIRS_UNROLLED _Pragma("unroll")
#else
#define PAIRS_BOTH static inline __attribute__((always_inline))
#define PAIRS_UNROLLED _Pragma("GCC unroll 8")
#endif

/* A call that was checked. Coordinates lie on the context's device, without strides. */
typedef struct pairs_job {
    const PAIRS_PLACE *a[PAIRS_DIMENSIONS], *b[PAIRS_DIMENSIONS];
    int64_t n_a, n_b;
    bool self; /* pairs of one set */
    PAIRS_NUMBER p[PAIRS_PARAMETERS + 1];
    int threads, ordinal, before; /* before: the caller's current GPU; -1: it was not changed */
    lsp_array memory[2];          /* of copied coordinates */
} pairs_job;

/* A refusal writes its sentence to info->reason, because lsp_last_error tells of the library's own calls only.
 * PAIRS_TRY is for these calls, PAIRS_PASS for what has written its sentence. */
#define PAIRS_REQUIRE(condition, code, ...)                                                                            \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            if (info != NULL) {                                                                                        \
                snprintf(info->reason, sizeof info->reason, __VA_ARGS__);                                              \
            }                                                                                                          \
            return (code);                                                                                             \
        }                                                                                                              \
    } while (0)
#define PAIRS_PASS(call)                                                                                               \
    do {                                                                                                               \
        const lsp_status pairs_status = (call);                                                                        \
        if (pairs_status != LSP_OK) {                                                                                  \
            return pairs_status;                                                                                       \
        }                                                                                                              \
    } while (0)
#define PAIRS_TRY(call) PAIRS_PASS(pairs_told(ctx, (call), info))
static inline lsp_status pairs_told(const lsp_ctx *ctx, lsp_status status, lsp_pair_info *info) {
    if (status != LSP_OK && info != NULL) {
        snprintf(info->reason, sizeof info->reason, "%.150s", lsp_last_error(ctx));
    }
    return status;
}
#define PAIRS_AT_END(function) __attribute__((cleanup(function), unused))

static inline lsp_status pairs_check_points(const lsp_points *s, char name, lsp_where device, lsp_pair_info *info) {
    PAIRS_REQUIRE(s->n >= 0 && s->n <= INT32_MAX, LSP_ERR_ARGUMENT, "the set %c has %lld points", name,
                  (long long)s->n);
    PAIRS_REQUIRE(s->dimensions == PAIRS_DIMENSIONS, LSP_ERR_ARGUMENT, "the set %c has %d dimensions, not %d", name,
                  s->dimensions, PAIRS_DIMENSIONS);
    PAIRS_REQUIRE(s->type == PAIRS_PLACE_TYPE, LSP_ERR_ARGUMENT, "the set %c has coordinates of type %s, not %s", name,
                  lsp_type_name(s->type), lsp_type_name(PAIRS_PLACE_TYPE));
    PAIRS_REQUIRE(s->stride >= 0, LSP_ERR_ARGUMENT, "the set %c has a stride of %lld", name, (long long)s->stride);
    PAIRS_REQUIRE(s->where == LSP_HOST || device == LSP_CUDA, LSP_ERR_ARGUMENT,
                  "the set %c lies on a GPU, but the context works on the host", name);
    for (int k = 0; k < PAIRS_DIMENSIONS; k++) {
        PAIRS_REQUIRE(s->n == 0 || s->at[k] != NULL, LSP_ERR_ARGUMENT, "coordinate %d of the set %c is NULL", k, name);
    }
    return LSP_OK;
}

/* Copies the coordinates of points on the host, without strides, to memory on the host. */
static inline void pairs_pack(const lsp_points *s, PAIRS_PLACE *to) {
    const int64_t stride = s->stride > 0 ? s->stride : 1;
    for (int k = 0; k < PAIRS_DIMENSIONS; k++) {
        const PAIRS_PLACE *from = (const PAIRS_PLACE *)s->at[k];
        for (int64_t i = 0; i < s->n; i++) {
            to[k * s->n + i] = from[i * stride];
        }
    }
}

/* Checks what all kinds of calls have in common. `parameters` may be NULL if there are none. */
static inline lsp_status pairs_check(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const double *parameters,
                                     const void *output, lsp_where device, pairs_job *job, lsp_pair_info *info) {
    lsp_ctx_info about;
    memset(job, 0, sizeof *job);
    job->before = -1;
    PAIRS_REQUIRE(a != NULL && output != NULL, LSP_ERR_ARGUMENT, "the %s are NULL", a == NULL ? "points" : "results");
    PAIRS_REQUIRE(PAIRS_PARAMETERS == 0 || parameters != NULL, LSP_ERR_ARGUMENT, "%d parameters are needed",
                  PAIRS_PARAMETERS);
    PAIRS_TRY(lsp_ctx_get_info(ctx, &about));
    PAIRS_REQUIRE(about.device == device, LSP_ERR_UNSUPPORTED, "the context works on %s, and this was not built for it",
                  about.device == LSP_CUDA ? "a GPU" : "the host");
    job->threads = about.threads;
    job->ordinal = about.ordinal;
    job->self = b == NULL;
    for (int k = 0; k < PAIRS_PARAMETERS; k++) {
        job->p[k] = (PAIRS_NUMBER)parameters[k];
    }
    PAIRS_PASS(pairs_check_points(a, 'a', device, info));
    PAIRS_PASS(b != NULL ? pairs_check_points(b, 'b', device, info) : LSP_OK);
    job->n_a = a->n;
    job->n_b = b != NULL ? b->n : a->n;
    return LSP_OK;
}

static inline lsp_status pairs_tell(const pairs_job *job, const char *how, lsp_pair_info *info) {
    if (info != NULL) {
        memset(info, 0, sizeof *info);
        info->method = LSP_PAIR_ALL;
        info->tested = job->self ? job->n_a * (job->n_a - 1) / 2 : job->n_a * job->n_b;
        snprintf(info->reason, sizeof info->reason, "%.150s", how);
    }
    return LSP_OK;
}

#ifdef PAIRS_JOIN
/* Makes the matrix of a join. start[i + 1], the number of entries of row i, becomes where they end. */
static inline lsp_status pairs_make(lsp_ctx *ctx, const pairs_job *job, const lsp_join_options *join, lsp_place place,
                                    int64_t *start, lsp_csr *C) {
    lsp_csr_types types;
    memset(&types, 0, sizeof types);
    types.col_type = LSP_I32, types.val_type = PAIRS_NUMBER_TYPE, types.place = place;
    types.drop_values = join->values == LSP_JOIN_PATTERN || PAIRS_IS_PREDICATE;
    start[0] = 0;
    for (int64_t i = 0; i < job->n_a; i++) {
        start[i + 1] += start[i];
    }
    return lsp_csr_create(ctx, job->n_a, job->n_b, start[job->n_a], &types, C);
}

/* Narrows start[0 .. n], in place, to the type of row pointers; returns their bytes. */
static inline size_t pairs_narrow(int64_t *start, int64_t n, lsp_type type) {
    for (int64_t i = 0; i <= n && type == LSP_I32; i++) {
        const int32_t narrow = (int32_t)start[i];
        memcpy((char *)start + i * 4, &narrow, 4);
    }
    return (size_t)(n + 1) * lsp_type_bytes(type);
}
#endif

/* The bin of a value, PAIRS_SIZE for all that are in none: the whole part of the rounded product. With `--squared` the
 * value is the square of a distance, and the bin is that of lsp_pair_histogram: the whole part of the exact product of
 * the rounded root. */
PAIRS_BOTH int32_t pairs_bin(PAIRS_NUMBER value, PAIRS_REAL scale) {
#ifdef PAIRS_SQUARED
    const PAIRS_REAL root = PAIRS_FN(sqrt)(value), whole = PAIRS_FN(floor)(root * scale);
    const PAIRS_REAL at = PAIRS_FN(fma)(root, scale, -whole) < 0 ? whole - 1 : whole;
#else
    const PAIRS_REAL product = (PAIRS_REAL)value * scale;
    const PAIRS_REAL at = product > -1 ? product : (PAIRS_REAL)PAIRS_SIZE;
#endif
    return (int32_t)(at < (PAIRS_REAL)PAIRS_SIZE ? at : (PAIRS_REAL)PAIRS_SIZE);
}

/* A limit in the type of the values. */
static inline PAIRS_NUMBER pairs_limit(double limit) {
    return (PAIRS_NUMBER)(PAIRS_OF_BITS && limit > 1e9 ? 1e9 : limit);
}

#include "distances.h"

#endif
