/* What an engine on the CPU makes of the sum of a row: y = alpha*sum + beta*y, or in another semiring the join of both.
 * The reference and all engines write y by these functions. And ref.c, the specification: one thread, each row summed
 * in its order without fused multiply-add. */
#pragma once

#include "job.h"

/* For float, f32 and double, f64:
 * lsp_spmv_joined: `sum` and one product or sum more. finish: `y` is read unless beta is 0.
 * lsp_spmv_value: entry k of values of a type; 1 in a pattern.
 * lsp_spmv_x, lsp_spmv_y: vector v of X, whose elements are x_row apart; element i of vector v of Y.
 * lsp_spmv_write: that element from the sum of its row. */
#define LSP_SPMV_FINISH(type, suffix)                                                                                  \
    LSP_SPMV_INLINE type lsp_spmv_joined_##suffix(lsp_semiring semiring, type one, type sum) {                         \
        switch (semiring) { LSP_EACH_SEMIRING(LSP_JOIN_CASE) }                                                         \
        return sum;                                                                                                    \
    }                                                                                                                  \
    LSP_SPMV_INLINE void finish_##suffix(lsp_semiring semiring, type alpha, type beta, type sum, type *y) {            \
        if (semiring == LSP_PLUS_TIMES) {                                                                              \
            *y = beta == 0 ? alpha * sum : alpha * sum + beta * *y;                                                    \
        } else if (beta == 0) {                                                                                        \
            *y = sum;                                                                                                  \
        } else if (lsp_semiring_product(semiring) == LSP_PRODUCT_BOTH) {                                               \
            *y = *y != 0 || sum != 0;                                                                                  \
        } else {                                                                                                       \
            *y = lsp_spmv_joined_##suffix(semiring, *y, sum);                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LSP_SPMV_INLINE type lsp_spmv_value_##suffix(lsp_type val_type, const void *val, int64_t k) {                      \
        return val_type == LSP_NONE  ? 1                                                                               \
               : val_type == LSP_F32 ? (type)((const float *)val)[k]                                                   \
                                     : (type)((const double *)val)[k];                                                 \
    }                                                                                                                  \
    LSP_SPMV_INLINE const type *lsp_spmv_x_##suffix(const lsp_spmv_job *job, int64_t v) {                              \
        return (const type *)job->vectors.x + v * job->x_vector;                                                       \
    }                                                                                                                  \
    LSP_SPMV_INLINE type *lsp_spmv_y_##suffix(const lsp_spmv_job *job, int64_t i, int64_t v) {                         \
        return (type *)job->vectors.y + i * job->y_row + v * job->y_vector;                                            \
    }                                                                                                                  \
    LSP_SPMV_INLINE void lsp_spmv_write_##suffix(const lsp_spmv_job *job, int64_t i, int64_t v, type sum) {            \
        finish_##suffix(job->options.semiring, (type)job->vectors.alpha, (type)job->vectors.beta, sum,                 \
                        lsp_spmv_y_##suffix(job, i, v));                                                               \
    }
#define LSP_SPMV_INLINE static inline __attribute__((always_inline))
LSP_SPMV_FINISH(float, f32)
LSP_SPMV_FINISH(double, f64)

/* f_f32(...) or f_f64(...), by the type of the vectors; f(type of values, ...), where the type is a constant. */
#define LSP_SPMV_BY_TYPE(type, f, ...) ((type) == LSP_F32 ? f##_f32(__VA_ARGS__) : f##_f64(__VA_ARGS__))
#define LSP_SPMV_BY_VALUES(val_type, f, ...)                                                                           \
    ((val_type) == LSP_NONE  ? f(LSP_NONE, __VA_ARGS__)                                                                \
     : (val_type) == LSP_F32 ? f(LSP_F32, __VA_ARGS__)                                                                 \
                             : f(LSP_F64, __VA_ARGS__))

extern const lsp_spmv_engine lsp_spmv_ref;

/* The rows begin .. end-1 of y. An entry whose column is outside the matrix is left out, and *outside is lowered to its
 * number, atomically. */
void lsp_spmv_ref_rows(const lsp_spmv_job *job, int64_t begin, int64_t end, int64_t *outside);

/* LSP_OK if `outside` is the number of no entry, else LSP_ERR_FORMAT and a sentence. */
lsp_status lsp_spmv_tell_outside(lsp_ctx *ctx, const lsp_spmv_job *job, int64_t outside);
