/* The table of semirings: how the products of an entry of C are formed and joined. spgemm and spmv read it,
 * on the CPU and on the GPU, so that a new semiring is one enumerator in libsparse/semiring.h and one line here. */
#pragma once

#include "libsparse.h"

#include <math.h>

/* In the order of lsp_semiring. `empty` is the value of a sum before its first product.
 *
 * Product of a and b:
 *   TIMES  a * b
 *   PLUS   a + b
 *   BOTH   1 if neither is 0, else 0. The GPU turns the factors into ones and zeros, and multiplies them.
 *   ONE    1. The GPU replaces the factors by ones, and multiplies them.
 * Join of the products:
 *   FUSED    their sum, by fused multiply-add of a and b. Kernels have this case, LSP_PLUS_TIMES, apart.
 *   SUM      their sum
 *   LEAST    the smallest product: the first of equal ones, a NaN before any number
 *   LARGEST  the largest one, likewise
 * The GPU has SUM of products that are 0 or 1, LEAST of PLUS, and LARGEST of the others; gpu/launch.cuh refuses to
 * compile what it cannot make.
 *
 *  enumerator      name          product  join     empty */
#define LSP_EACH_SEMIRING(X)                                                                                           \
    X(LSP_PLUS_TIMES, "plus-times", TIMES, FUSED, -0.0)                                                                \
    X(LSP_MIN_PLUS, "min-plus", PLUS, LEAST, (double)INFINITY)                                                         \
    X(LSP_MAX_TIMES, "max-times", TIMES, LARGEST, -(double)INFINITY)                                                   \
    X(LSP_OR_AND, "or-and", BOTH, LARGEST, 0.0)                                                                        \
    X(LSP_PLUS_PAIR, "plus-pair", ONE, SUM, 0.0)

typedef enum lsp_product { LSP_PRODUCT_TIMES, LSP_PRODUCT_PLUS, LSP_PRODUCT_BOTH, LSP_PRODUCT_ONE } lsp_product;
typedef enum lsp_join { LSP_JOIN_FUSED, LSP_JOIN_SUM, LSP_JOIN_LEAST, LSP_JOIN_LARGEST } lsp_join;

/* Columns of the table. The semiring was checked: it has a line. */
#define LSP_SEMIRING_PRODUCT(id, name, product, join, empty)                                                           \
    case id:                                                                                                           \
        return LSP_PRODUCT_##product;
#define LSP_SEMIRING_JOIN(id, name, product, join, empty)                                                              \
    case id:                                                                                                           \
        return LSP_JOIN_##join;
#define LSP_SEMIRING_EMPTY(id, name, product, join, empty)                                                             \
    case id:                                                                                                           \
        return empty;
static inline lsp_product lsp_semiring_product(lsp_semiring semiring) {
    switch (semiring) { LSP_EACH_SEMIRING(LSP_SEMIRING_PRODUCT) }
    return LSP_PRODUCT_TIMES;
}
static inline lsp_join lsp_semiring_join(lsp_semiring semiring) {
    switch (semiring) { LSP_EACH_SEMIRING(LSP_SEMIRING_JOIN) }
    return LSP_JOIN_FUSED;
}
static inline double lsp_semiring_empty(lsp_semiring semiring) {
    switch (semiring) { LSP_EACH_SEMIRING(LSP_SEMIRING_EMPTY) }
    return 0;
}

/* Does it choose one product instead of summing them? */
static inline bool lsp_semiring_is_minmax(lsp_semiring semiring) {
    const lsp_join join = lsp_semiring_join(semiring);
    return join == LSP_JOIN_LEAST || join == LSP_JOIN_LARGEST;
}

/* Does it count products? Counts of patterns have values, and counts beyond 2^24 are made in LSP_F64. */
static inline bool lsp_semiring_counts(lsp_semiring semiring) {
    const lsp_product product = lsp_semiring_product(semiring);
    return lsp_semiring_join(semiring) == LSP_JOIN_SUM && (product == LSP_PRODUCT_BOTH || product == LSP_PRODUCT_ONE);
}

/* The value of a sum of integers before its first product. */
static inline int64_t lsp_semiring_empty_i64(lsp_semiring semiring) {
    const lsp_join join = lsp_semiring_join(semiring);
    return join == LSP_JOIN_LEAST ? INT64_MAX : join == LSP_JOIN_LARGEST ? INT64_MIN : 0;
}

/* ---- arithmetic of the CPU ---- */

#define LSP_DO_TIMES(a, b) ((a) * (b))
#define LSP_DO_PLUS(a, b) ((a) + (b))
#define LSP_DO_BOTH(a, b) ((a) != 0 && (b) != 0)
#define LSP_DO_ONE(a, b) 1
#define LSP_DO_SUM(product, sum) ((sum) + (product))
#define LSP_DO_FUSED LSP_DO_SUM
#define LSP_DO_LEAST(product, sum) ((product) < (sum) || (product) != (product) ? (product) : (sum))
#define LSP_DO_LARGEST(product, sum) ((product) > (sum) || (product) != (product) ? (product) : (sum))

#define LSP_PRODUCT_CASE(type, id, product)                                                                            \
    case id:                                                                                                           \
        return (type)LSP_DO_##product(a, b);
#define LSP_PRODUCT_F32(id, name, product, join, empty) LSP_PRODUCT_CASE(float, id, product)
#define LSP_PRODUCT_F64(id, name, product, join, empty) LSP_PRODUCT_CASE(double, id, product)
#define LSP_JOIN_CASE(id, name, product, join, empty)                                                                  \
    case id:                                                                                                           \
        return LSP_DO_##join(one, sum);

/* product_f32, product_f64: the product of a and b, rounded to the type.
 * join_f32, join_f64: `sum` and one product more, in any semiring but LSP_PLUS_TIMES, which rounds once. */
#define LSP_SEMIRING_ARITHMETIC(type, suffix, CASE)                                                                    \
    static inline __attribute__((always_inline)) type product_##suffix(lsp_semiring semiring, type a, type b) {        \
        switch (semiring) { LSP_EACH_SEMIRING(CASE) }                                                                  \
        return 0;                                                                                                      \
    }                                                                                                                  \
    static inline __attribute__((always_inline)) type join_##suffix(lsp_semiring semiring, type a, type b, type sum) { \
        const type one = product_##suffix(semiring, a, b);                                                             \
        switch (semiring) { LSP_EACH_SEMIRING(LSP_JOIN_CASE) }                                                         \
        return sum;                                                                                                    \
    }
LSP_SEMIRING_ARITHMETIC(float, f32, LSP_PRODUCT_F32)
LSP_SEMIRING_ARITHMETIC(double, f64, LSP_PRODUCT_F64)

/* product_i64, join_i64: the same for integers, modulo 2^64. Unsigned, because signed numbers must not overflow. */
#define LSP_PRODUCT_I64(id, name, product, join, empty)                                                                \
    case id:                                                                                                           \
        return (int64_t)LSP_DO_##product((uint64_t)a, (uint64_t)b);
#define LSP_JOIN_I64_SUM (int64_t)((uint64_t)sum + (uint64_t)one)
#define LSP_JOIN_I64_FUSED LSP_JOIN_I64_SUM
#define LSP_JOIN_I64_LEAST one < sum ? one : sum
#define LSP_JOIN_I64_LARGEST one > sum ? one : sum
#define LSP_JOIN_I64(id, name, product, join, empty)                                                                   \
    case id:                                                                                                           \
        return LSP_JOIN_I64_##join;
static inline __attribute__((always_inline)) int64_t product_i64(lsp_semiring semiring, int64_t a, int64_t b) {
    switch (semiring) { LSP_EACH_SEMIRING(LSP_PRODUCT_I64) }
    return 0;
}
static inline __attribute__((always_inline)) int64_t join_i64(lsp_semiring semiring, int64_t a, int64_t b,
                                                              int64_t sum) {
    const int64_t one = product_i64(semiring, a, b);
    switch (semiring) { LSP_EACH_SEMIRING(LSP_JOIN_I64) }
    return sum;
}
