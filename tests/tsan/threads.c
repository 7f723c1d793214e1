/* Every threaded function of the library under ThreadSanitizer, on matrices large enough to start all threads, in two
 * contexts at once. A plain program: Criterion's own processes and threads would be in the way. Each result of four
 * threads is compared, bit for bit, with that of one. */
#include "libsparse.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct job { /* what one host thread does: all cases, in contexts of its own */
    const char *spec;
    int failures;
} job;

typedef lsp_status (*operation)(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B);

static lsp_status transpose(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) { return lsp_csr_transpose(ctx, A, B); }
static lsp_status narrow(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_csr_copy(ctx, A, &(lsp_csr_types){.rowptr_type = LSP_I64, .col_type = LSP_I64, .val_type = LSP_F32}, B);
}
static lsp_status expand(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_csr_expand(ctx, A, LSP_SYMMETRIC, B);
}
static lsp_status multiply(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) { return lsp_spgemm(ctx, A, A, NULL, B, NULL); }
static lsp_status multiply_transposed(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_spgemm(ctx, A, A, &(lsp_spgemm_options){.transpose_b = true}, B, NULL);
}

/* Columns reversed, which leaves every row to be sorted. */
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
        lsp_coo triples = {A->rows, A->cols, A->nnz, row, col, A->val, LSP_I32, A->val_type};
        status = lsp_coo_to_csr(ctx, &triples, NULL, B, NULL);
    }
    free(row);
    free(col);
    return status;
}

/* Written and read again, plain or compressed. */
static lsp_status through_file(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B, const char *suffix) {
    char path[] = "/tmp/lsp_threads_XXXXXX", name[64];
    int file = mkstemp(path);
    if (file < 0) {
        return LSP_ERR_IO;
    }
    close(file);
    snprintf(name, sizeof name, "%s%s", path, suffix);
    lsp_status status = lsp_mtx_write(ctx, name, A, NULL);
    if (status == LSP_OK) {
        status = lsp_mtx_read(ctx, name, NULL, B, NULL);
    }
    unlink(name);
    unlink(path);
    return status;
}
static lsp_status plain_file(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) { return through_file(ctx, A, B, ".mtx"); }
static lsp_status gzip_file(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) { return through_file(ctx, A, B, ".mtx.gz"); }

/* Rows as segments, long ones and short ones; the result stands in B as a pattern. */
static lsp_status segsort(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_status status = lsp_csr_copy(ctx, A, &(lsp_csr_types){.drop_values = true}, B);
    if (status == LSP_OK) {
        int32_t *col = B->col;
        for (int64_t i = 0; i < B->nnz; i++) {
            col[i] = (int32_t)((uint32_t)i * 2654435761u % (uint32_t)B->cols);
        }
        lsp_segsort_args rows = {.n = B->nnz,
                                 .segments = B->rows,
                                 .offsets = B->rowptr,
                                 .offset_type = B->rowptr_type,
                                 .key_type = LSP_I32,
                                 .keys = col,
                                 .keys_out = col};
        status = lsp_segsort(ctx, &rows);
        int64_t whole[2] = {0, B->nnz};
        rows.segments = status == LSP_OK ? 1 : 0;
        rows.offsets = whole;
        rows.offset_type = LSP_I64;
        status = status == LSP_OK ? lsp_segsort(ctx, &rows) : status;
    }
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
} cases[] = {{"transpose", transpose},   {"copy", narrow},         {"expand", expand},
             {"permute", permute},       {"sort", sort_rows},      {"from triples", from_triples},
             {"plain file", plain_file}, {"gzip file", gzip_file}, {"segsort", segsort},
             {"stats", stats},           {"multiply", multiply},   {"multiply transposed", multiply_transposed}};

static void *run_all(void *data) {
    job *work = data;
    lsp_ctx *one = NULL, *four = NULL;
    lsp_csr A = {0}, A4 = {0};
    lsp_csr_difference difference;
    bool ready = lsp_ctx_create(&one, &(lsp_ctx_options){.threads = 1}, NULL, 0) == LSP_OK &&
                 lsp_ctx_create(&four, &(lsp_ctx_options){.threads = 4}, NULL, 0) == LSP_OK &&
                 lsp_generate(one, work->spec, 1, NULL, &A) == LSP_OK &&
                 lsp_generate(four, work->spec, 1, NULL, &A4) == LSP_OK &&
                 lsp_csr_compare(one, &A, &A4, &difference) == LSP_OK && difference.same_bits;
    work->failures = ready ? 0 : 1;
    for (size_t i = 0; ready && i < sizeof cases / sizeof *cases; i++) {
        lsp_csr B = {0}, B4 = {0};
        difference = (lsp_csr_difference){0};
        if (cases[i].run(one, &A, &B) != LSP_OK || cases[i].run(four, &A, &B4) != LSP_OK ||
            lsp_csr_compare(one, &B, &B4, &difference) != LSP_OK || !difference.same_bits) {
            fprintf(stderr, "%s of %s: four threads differ from one, or failed: %s%s\n", cases[i].name, work->spec,
                    lsp_last_error(one), lsp_last_error(four));
            work->failures++;
        }
        lsp_csr_free(one, &B);
        lsp_csr_free(four, &B4);
    }
    if (!ready) {
        fprintf(stderr, "%s: %s%s\n", work->spec, one ? lsp_last_error(one) : "", four ? lsp_last_error(four) : "");
    }
    lsp_ctx_destroy(one);
    lsp_ctx_destroy(four);
    return NULL;
}

int main(void) {
    job jobs[] = {{.spec = "er:40000:8"}, {.spec = "web:40000:1.8:3000"}};
    pthread_t threads[2];
    int failures = 0;
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, run_all, &jobs[i]) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        failures += jobs[i].failures;
    }
    printf("%d failures\n", failures);
    return failures != 0;
}
