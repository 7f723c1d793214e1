/* Runs every threaded function of the library, and the threads themselves (core/threads.c), under the thread sanitizer.
 * Several contexts work at the same time, on matrices that are large enough to start all of their threads. Each result
 * of four threads, of the context or of a caller's hook, is compared, bit for bit, with the result of one. The program
 * does not use Criterion, whose processes and threads would add reports of their own. */
#include "cases.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct job { /* the work of one host thread: all cases for one matrix, in contexts of its own */
    const char *spec;
    int failures;
} job;

typedef lsp_status (*operation)(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B);

static lsp_status transpose(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) { return lsp_csr_transpose(ctx, A, B); }
static lsp_status narrow(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_csr_copy(ctx, A, &(lsp_csr_types){.rowptr_type = LSP_I64, .col_type = LSP_I64, .val_type = LSP_F32}, B);
}
static lsp_status expand(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_csr_expand(ctx, A, LSP_SYMMETRY_SYMMETRIC, B);
}
static lsp_status add(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_csr T = {0};
    lsp_status status = lsp_csr_transpose(ctx, A, &T);
    status = status == LSP_OK ? lsp_csr_add(ctx, 2, A, -3, &T, B) : status;
    lsp_csr_free(ctx, &T);
    return status;
}
static lsp_status filter(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_csr_filter(ctx, A, &(lsp_filter){.drop = true, .tolerance = 0.25, .largest = 3}, B);
}
static lsp_status filter_by_mask(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_csr T = {0};
    lsp_status status = lsp_csr_transpose(ctx, A, &T);
    status = status == LSP_OK ? lsp_csr_filter(ctx, A, &(lsp_filter){.mask = &T, .complement = true}, B) : status;
    lsp_csr_free(ctx, &T);
    return status;
}

static lsp_status multiply(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) { return lsp_spgemm(ctx, A, A, NULL, B, NULL); }
static lsp_status multiply_min_plus(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_spgemm(ctx, A, A, &(lsp_spgemm_options){.semiring = LSP_MIN_PLUS}, B, NULL);
}
static lsp_status multiply_plus_pair(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_spgemm(ctx, A, A, &(lsp_spgemm_options){.semiring = LSP_PLUS_PAIR}, B, NULL);
}
static lsp_status multiply_masked(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_spgemm(ctx, A, A, &(lsp_spgemm_options){.filter = {.mask = A}}, B, NULL);
}
static lsp_status multiply_filtered(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_spgemm(ctx, A, A, &(lsp_spgemm_options){.filter = {.drop = true, .tolerance = 0.1, .largest = 5}}, B,
                      NULL);
}
static lsp_status multiply_triple(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_spgemm_triple(ctx, NULL, A, A, NULL, B, NULL);
}

static lsp_status multiply_batch(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    const lsp_csr both[2] = {*A, *A};
    lsp_csr C[2] = {{0}, {0}};
    lsp_status status = lsp_spgemm_batch(ctx, 2, both, both, &(lsp_spgemm_options){.transpose_b = true}, C, NULL);
    status = status == LSP_OK ? lsp_csr_copy(ctx, &C[1], NULL, B) : status;
    lsp_spgemm_batch_free(ctx, 2, C);
    return status;
}

/* A plan that is executed, then used again for the values. */
static lsp_status multiply_planned(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_spgemm_plan *plan = NULL;
    lsp_status status = lsp_spgemm_plan_create(ctx, A, A, NULL, &plan);
    status = status == LSP_OK ? lsp_spgemm_execute(plan, A, A, B) : status;
    status = status == LSP_OK ? lsp_spgemm_refill(plan, A, A, B) : status;
    lsp_spgemm_plan_destroy(plan);
    return status;
}
static lsp_status multiply_transposed(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_spgemm(ctx, A, A, &(lsp_spgemm_options){.transpose_b = true}, B, NULL);
}

/* Reverses the columns, so that every row has to be sorted. */
static lsp_status permute(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    int32_t *order = malloc((size_t)A->cols * sizeof *order);
    if (!order) {
        return LSP_ERR_MEMORY;
    }
    for (int64_t i = 0; i < A->cols; i++) {
        order[i] = (int32_t)(A->cols - 1 - i);
    }
    lsp_status status = lsp_csr_permute(ctx, A, NULL, order, LSP_NONE, B);
    free(order);
    return status;
}

static lsp_status sort_rows(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_status status = lsp_csr_copy(ctx, A, NULL, B);
    if (status == LSP_OK) {
        int32_t *col = B->col;
        for (int64_t i = 0; i < B->nnz; i++) {
            col[i] = (int32_t)(B->cols - 1 - col[i]);
        }
        status = lsp_csr_sort(ctx, B);
    }
    return status;
}

/* The triples of A, back to front. */
static lsp_status from_triples(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    int32_t *row = malloc((size_t)A->nnz * sizeof *row), *col = malloc((size_t)A->nnz * sizeof *col);
    lsp_status status = LSP_ERR_MEMORY;
    if (row && col) {
        const int32_t *rowptr = A->rowptr;
        for (int64_t i = 0; i < A->rows; i++) {
            for (int64_t k = rowptr[i]; k < rowptr[i + 1]; k++) {
                row[A->nnz - 1 - k] = (int32_t)i;
                col[A->nnz - 1 - k] = ((const int32_t *)A->col)[k];
            }
        }
        lsp_coo triples = {A->rows, A->cols, A->nnz, row, col, A->val, LSP_I32, A->val_type, LSP_HOST};
        status = lsp_coo_to_csr(ctx, &triples, NULL, B, NULL);
    }
    free(row);
    free(col);
    return status;
}

/* Writes A, or A*A block by block, to a file with this suffix and reads the file again. */
static lsp_status through_file(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B, const char *suffix, bool product) {
    char path[] = "/tmp/lsp_threads_XXXXXX", name[64];
    int file = mkstemp(path);
    if (file < 0) {
        return LSP_ERR_IO;
    }
    close(file);
    snprintf(name, sizeof name, "%s%s", path, suffix);
    lsp_status status =
        product ? lsp_spgemm_write(ctx, name, A, A, NULL, 8 << 20, NULL, NULL) : lsp_mtx_write(ctx, name, A, NULL);
    if (status == LSP_OK) {
        status = lsp_mtx_read(ctx, name, NULL, B, NULL);
    }
    unlink(name);
    unlink(path);
    return status;
}
static lsp_status plain_file(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return through_file(ctx, A, B, ".mtx", false);
}
static lsp_status gzip_file(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return through_file(ctx, A, B, ".mtx.gz", false);
}
static lsp_status product_file(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return through_file(ctx, A, B, ".mtx", true);
}

/* A few iterations of each solver, which may end early: A is any square matrix. B is A with their x among its values.
 */
static lsp_status solve(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_status status = lsp_csr_copy(ctx, A, &(lsp_csr_types){.val_type = LSP_F64}, B);
    double *b = malloc((size_t)A->rows * sizeof *b), *x = calloc((size_t)A->rows, sizeof *x);
    status = status != LSP_OK ? status : b && x ? LSP_OK : LSP_ERR_MEMORY;
    for (int k = 0; k < 4 && status == LSP_OK; k++) {
        const lsp_solve_options options = {
            .type = LSP_F64, .fixed = true, .max_iterations = 3, .precondition = (lsp_precondition)(k / 2)};
        for (int64_t i = 0; i < A->rows; i++) {
            b[i] = (double)(i % 17 + 1);
        }
        status = (k % 2 ? lsp_bicgstab : lsp_cg)(ctx, A, b, &options, x, NULL);
        status = status == LSP_ERR_CONVERGENCE || status == LSP_ERR_ARGUMENT ? LSP_OK : status; /* no diagonal */
        for (int64_t i = 0; i < A->rows && i < B->nnz; i++) {
            ((double *)B->val)[i] += x[i];
        }
    }
    free(b), free(x);
    return status;
}

static lsp_status stats(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_csr_stats numbers;
    lsp_status status = lsp_csr_get_stats(ctx, A, &numbers);
    return status == LSP_OK ? lsp_csr_copy(ctx, A, NULL, B) : status;
}

static const struct {
    const char *name;
    operation run;
} cases[] = {{"transpose", transpose},
             {"copy", narrow},
             {"expand", expand},
             {"permute", permute},
             {"sort", sort_rows},
             {"add", add},
             {"filter", filter},
             {"filter by a mask", filter_by_mask},
             {"from triples", from_triples},
             {"plain file", plain_file},
             {"gzip file", gzip_file},
             {"segsort", tsan_segsort},
             {"gather and scatter", tsan_gather_scatter},
             {"hash search", tsan_hash_search},
             {"stats", stats},
             {"solve", solve},
             {"regions", tsan_regions},
             {"shares", tsan_shares},
             {"suffix array by doubling", tsan_suffixes_by_doubling},
             {"suffix array, induced", tsan_suffixes_induced},
             {"multiply", multiply},
             {"multiply transposed", multiply_transposed},
             {"multiply min-plus", multiply_min_plus},
             {"multiply plus-pair", multiply_plus_pair},
             {"multiply masked", multiply_masked},
             {"multiply filtered", multiply_filtered},
             {"multiply by a plan", multiply_planned},
             {"multiply into a file", product_file},
             {"multiply three", multiply_triple},
             {"multiply a batch", multiply_batch}};

static void *run_all(void *data) {
    job *work = data;
    lsp_ctx *one = NULL, *four = NULL, *hooked = NULL;
    lsp_csr A = {0}, A4 = {0};
    lsp_csr_difference difference;
    bool ready =
        lsp_ctx_create(&one, &(lsp_ctx_options){.threads = 1}, NULL, 0) == LSP_OK &&
        lsp_ctx_create(&four, &(lsp_ctx_options){.threads = 4}, NULL, 0) == LSP_OK &&
        lsp_ctx_create(&hooked, &(lsp_ctx_options){.threads = 4, .parallel = tsan_run_tasks}, NULL, 0) == LSP_OK &&
        lsp_generate(one, work->spec, 1, NULL, &A) == LSP_OK &&
        lsp_generate(four, work->spec, 1, NULL, &A4) == LSP_OK &&
        lsp_csr_compare(one, &A, &A4, &difference) == LSP_OK && difference.same_bits;
    work->failures = ready ? 0 : 1;
    for (size_t i = 0; ready && i < sizeof cases / sizeof *cases; i++) {
        lsp_csr B = {0}, B4 = {0}, B_hooked = {0};
        lsp_csr_difference by_hook = {0};
        difference = (lsp_csr_difference){0};
        if (cases[i].run(one, &A, &B) != LSP_OK || cases[i].run(four, &A, &B4) != LSP_OK ||
            cases[i].run(hooked, &A, &B_hooked) != LSP_OK || lsp_csr_compare(four, &B, &B4, &difference) != LSP_OK ||
            !difference.same_bits || lsp_csr_compare(hooked, &B, &B_hooked, &by_hook) != LSP_OK || !by_hook.same_bits) {
            fprintf(stderr, "%s of %s: four threads differ from one, or failed: %s%s%s\n", cases[i].name, work->spec,
                    lsp_last_error(one), lsp_last_error(four), lsp_last_error(hooked));
            work->failures++;
        }
        lsp_csr_free(one, &B);
        lsp_csr_free(four, &B4);
        lsp_csr_free(hooked, &B_hooked);
    }
    if (!ready) {
        fprintf(stderr, "%s: %s%s\n", work->spec, one ? lsp_last_error(one) : "", four ? lsp_last_error(four) : "");
    }
    lsp_ctx_destroy(one);
    lsp_ctx_destroy(four);
    lsp_ctx_destroy(hooked);
    return NULL;
}

int main(void) {
    enum { JOBS = 3 }; /* the last one is small: the library has a way of its own for small products */
    job jobs[JOBS] = {{.spec = "er:40000:8"}, {.spec = "web:20000:1.8:1000"}, {.spec = "er:3000:5"}};
    pthread_t threads[JOBS];
    int failures = 0;
    for (int i = 0; i < JOBS; i++) {
        if (pthread_create(&threads[i], NULL, run_all, &jobs[i]) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < JOBS; i++) {
        pthread_join(threads[i], NULL);
        failures += jobs[i].failures;
    }
    printf("%d failures\n", failures);
    return failures != 0;
}
