/* Y = A X as anyone would write it: a parallel loop over the rows in equal parts. The compiler may use all instructions
 * of this machine. */
#include "peers.h"
#include <stdlib.h>

#define ONE(value, type)                                                                                               \
    do {                                                                                                               \
        const value *val = A->val;                                                                                     \
        const type *x = job->x;                                                                                        \
        type *y = job->y;                                                                                              \
        _Pragma("omp parallel for num_threads(job->threads) schedule(static)") for (int64_t i = 0; i < rows; i++) {    \
            type sum = 0;                                                                                              \
            for (int32_t k = rowptr[i]; k < rowptr[i + 1]; k++) {                                                      \
                sum += (type)val[k] * x[col[k]];                                                                       \
            }                                                                                                          \
            y[i] = sum;                                                                                                \
        }                                                                                                              \
    } while (0)

#define SEVERAL(value, type)                                                                                           \
    do {                                                                                                               \
        const value *val = A->val;                                                                                     \
        const type *x = job->x;                                                                                        \
        type *y = job->y;                                                                                              \
        _Pragma("omp parallel for num_threads(job->threads) schedule(static)") for (int64_t i = 0; i < rows; i++) {    \
            for (int64_t v = 0; v < vectors; v++) {                                                                    \
                y[i * vectors + v] = 0;                                                                                \
            }                                                                                                          \
            for (int32_t k = rowptr[i]; k < rowptr[i + 1]; k++) {                                                      \
                for (int64_t v = 0; v < vectors; v++) {                                                                \
                    y[i * vectors + v] += (type)val[k] * x[col[k] * vectors + v];                                      \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

#define EITHER(value, type)                                                                                            \
    do {                                                                                                               \
        if (vectors == 1) {                                                                                            \
            ONE(value, type);                                                                                          \
        } else {                                                                                                       \
            SEVERAL(value, type);                                                                                      \
        }                                                                                                              \
    } while (0)

static bool offers(const peer_spmv_job *job) { return !job->transpose; }

static void *prepare(const peer_spmv_job *job, char *why, size_t why_bytes) {
    peer_spmv_job *self = malloc(sizeof *self);
    (void)why, (void)why_bytes;
    if (self) {
        *self = *job;
    }
    return self;
}

static const char *run(void *self) {
    const peer_spmv_job *job = self;
    const lsp_csr *A = job->A;
    const int32_t *rowptr = A->rowptr, *col = A->col;
    const int64_t rows = A->rows, vectors = job->vectors;
    if (A->val_type == LSP_F64) {
        EITHER(double, double);
    } else if (job->type == LSP_F64) {
        EITHER(float, double);
    } else {
        EITHER(float, float);
    }
    return NULL;
}

const peer_spmv peer_plain_spmv = {
    .parallel = true, .offers = offers, .prepare = prepare, .run = run, .destroy = free, .version = PEER_C_LIBRARY};
