/* Long calls of every room, for the tests of lsp_ctx_cancel and of the caller's own threads. Each writes one result,
 * which must have the same bits whatever threads made it, and must be untouched when the call fails. */
#pragma once

#include "tests/support.h"
#include <unistd.h>

enum { JOB_BYTES = 1 << 20 };

typedef struct job_input {
    lsp_csr A, M; /* M is symmetric and positive definite */
    lsp_points points;
    double x[3][6000];
    char text[70000];
    char *file, *packed; /* A as a file, plain and compressed */
    size_t file_bytes, packed_bytes;
} job_input;

typedef struct job_output {
    lsp_csr C;
    unsigned char bytes[JOB_BYTES];
} job_output;

typedef lsp_status (*job_fn)(lsp_ctx *ctx, const job_input *in, job_output *out);

static lsp_status multiply(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return lsp_spgemm(ctx, &in->A, &in->A, NULL, &out->C, NULL);
}
static lsp_status multiply_by_reference(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return lsp_spgemm(ctx, &in->A, &in->A, &(lsp_spgemm_options){.method = LSP_SPGEMM_REFERENCE}, &out->C, NULL);
}
static lsp_status multiply_masked(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return lsp_spgemm(ctx, &in->A, &in->A, &(lsp_spgemm_options){.filter = {.mask = &in->A}}, &out->C, NULL);
}
static lsp_status multiply_kept(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return lsp_spgemm(ctx, &in->A, &in->A, &(lsp_spgemm_options){.filter = {.largest = 3}}, &out->C, NULL);
}
static lsp_status multiply_planned(lsp_ctx *ctx, const job_input *in, job_output *out) {
    lsp_spgemm_plan *plan = NULL;
    lsp_csr C = {0};
    lsp_status status = lsp_spgemm_plan_create(ctx, &in->A, &in->A, NULL, &plan);
    status = status == LSP_OK ? lsp_spgemm_execute(plan, &in->A, &in->A, &C) : status;
    status = status == LSP_OK ? lsp_spgemm_refill(plan, &in->A, &in->A, &C) : status;
    lsp_spgemm_plan_destroy(plan);
    if (status == LSP_OK) {
        out->C = C;
    } else {
        lsp_csr_free(ctx, &C);
    }
    return status;
}
static lsp_status transpose(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return lsp_csr_transpose(ctx, &in->A, &out->C);
}
static lsp_status read_file(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return lsp_mtx_read_memory(ctx, in->file, in->file_bytes, "A", NULL, &out->C, NULL);
}
static lsp_status read_packed(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return lsp_mtx_read_memory(ctx, in->packed, in->packed_bytes, "A.gz", NULL, &out->C, NULL);
}
static lsp_status write_as(lsp_ctx *ctx, const job_input *in, const char *end, job_output *out) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/lsp_test_jobs_%d%s", (int)getpid(), end);
    const lsp_status status = lsp_mtx_write(ctx, path, &in->A, NULL);
    cr_assert_eq(access(path, F_OK) == 0, status == LSP_OK, "%s: a file is there", lsp_status_name(status));
    if (status == LSP_OK) {
        FILE *text = fopen(path, "r");
        cr_assert(text != NULL && fread(out->bytes, 1, JOB_BYTES, text) > 0);
        fclose(text);
    }
    unlink(path);
    return status;
}
static lsp_status write_file(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return write_as(ctx, in, ".mtx", out);
}
static lsp_status write_packed(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return write_as(ctx, in, ".mtx.gz", out);
}
static lsp_status solve(lsp_ctx *ctx, const job_input *in, job_output *out) {
    const lsp_solve_options options = {.max_iterations = 60, .fixed = true};
    return lsp_cg(ctx, &in->M, in->M.val, &options, out->bytes, NULL);
}
static lsp_status solve_stabilized(lsp_ctx *ctx, const job_input *in, job_output *out) {
    const lsp_solve_options options = {.max_iterations = 40, .fixed = true, .precondition = LSP_PRECONDITION_JACOBI};
    return lsp_bicgstab(ctx, &in->M, in->M.val, &options, out->bytes, NULL);
}
static lsp_status count_by(lsp_ctx *ctx, const job_input *in, lsp_pair_method method, job_output *out) {
    const double radius = 0.2;
    uint64_t counts[1]; /* a call that fails leaves it */
    memcpy(counts, out->bytes, sizeof counts);
    const lsp_status status =
        lsp_pair_count(ctx, &in->points, NULL, &(lsp_pair_options){.method = method}, &radius, 1, counts, NULL);
    memcpy(out->bytes, counts, sizeof counts);
    return status;
}
static lsp_status count_all(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return count_by(ctx, in, LSP_PAIR_ALL, out);
}
static lsp_status count_in_cells(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return count_by(ctx, in, LSP_PAIR_GRID, out);
}
static lsp_status count_in_boxes(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return count_by(ctx, in, LSP_PAIR_BOXES, out);
}
static lsp_status make_histogram(lsp_ctx *ctx, const job_input *in, job_output *out) {
    uint64_t counts[64];
    memcpy(counts, out->bytes, sizeof counts);
    const lsp_status status = lsp_pair_histogram(ctx, &in->points, NULL, NULL, 0.5, 64, counts, NULL);
    memcpy(out->bytes, counts, sizeof counts);
    return status;
}
static lsp_status join(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return lsp_radius_join(ctx, &in->points, NULL, NULL, 0.1, NULL, &out->C, NULL);
}
static lsp_status find_nearest(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return lsp_nearest(ctx, &in->points, NULL, NULL, 4, NULL, &out->C, NULL);
}
static lsp_status find_density(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return lsp_kernel_density(ctx, &in->points, NULL, NULL, 0.1, NULL, out->bytes, NULL);
}
static lsp_status sort_suffixes(lsp_ctx *ctx, const job_input *in, lsp_suffix_method method, job_output *out) {
    const lsp_text text = {.n = sizeof in->text, .symbol_bytes = 1, .symbols = in->text};
    return lsp_suffix_array(ctx, &text, &(lsp_suffix_options){.method = method}, LSP_I32, out->bytes, NULL);
}
static lsp_status sort_by_doubling(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return sort_suffixes(ctx, in, LSP_SUFFIX_DOUBLING, out);
}
static lsp_status sort_induced(lsp_ctx *ctx, const job_input *in, job_output *out) {
    return sort_suffixes(ctx, in, LSP_SUFFIX_INDUCED, out);
}
static lsp_status sort_keys(lsp_ctx *ctx, const job_input *in, job_output *out) {
    const lsp_segsort_args args = {
        .n = 100000, .segments = 1, .length = 100000, .key_type = LSP_F64, .keys = in->A.val, .keys_out = out->bytes};
    return lsp_segsort(ctx, &args, NULL);
}
static lsp_status move(lsp_ctx *ctx, const job_input *in, job_output *out) {
    const lsp_spmv_vectors vectors = {.alpha = 1, .x = in->A.val, .y = out->bytes};
    return lsp_spmv(ctx, &in->A, NULL, &vectors, NULL);
}
static lsp_status generate(lsp_ctx *ctx, const job_input *in, job_output *out) {
    (void)in;
    return lsp_generate(ctx, "rmat:14:8", 7, NULL, &out->C);
}

static const struct {
    const char *name;
    job_fn run;
} jobs[] = {{"a product in one pass", multiply},
            {"a product by reference", multiply_by_reference},
            {"a masked product", multiply_masked},
            {"a filtered product", multiply_kept},
            {"a plan, executed and refilled", multiply_planned},
            {"a transpose", transpose},
            {"a file read", read_file},
            {"a compressed file read", read_packed},
            {"a file written", write_file},
            {"a compressed file written", write_packed},
            {"conjugate gradients", solve},
            {"BiCGStab", solve_stabilized},
            {"all pairs", count_all},
            {"pairs in cells", count_in_cells},
            {"pairs in boxes", count_in_boxes},
            {"a histogram", make_histogram},
            {"a join", join},
            {"nearest points", find_nearest},
            {"a density", find_density},
            {"suffixes by doubling", sort_by_doubling},
            {"suffixes by induction", sort_induced},
            {"a sort", sort_keys},
            {"a matrix times a vector", move},
            {"a graph", generate}};
enum { JOBS = sizeof jobs / sizeof *jobs };

/* A as the bytes of a file. */
static inline char *job_file(lsp_ctx *ctx, const lsp_csr *A, const char *end, size_t *bytes) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/lsp_test_input_%d%s", (int)getpid(), end);
    must(ctx, lsp_mtx_write(ctx, path, A, NULL));
    FILE *file = fopen(path, "r");
    cr_assert(file != NULL && fseek(file, 0, SEEK_END) == 0);
    *bytes = (size_t)ftell(file);
    char *text = malloc(*bytes);
    rewind(file);
    cr_assert(text != NULL && fread(text, 1, *bytes, file) == *bytes);
    fclose(file);
    unlink(path);
    return text;
}

/* What the jobs work on, in memory of `ctx`. */
static inline job_input *job_make_input(lsp_ctx *ctx) {
    job_input *in = calloc(1, sizeof *in);
    uint64_t state = 5;
    cr_assert(in != NULL);
    must(ctx, lsp_generate(ctx, "er:20000:8", 1, NULL, &in->A));
    must(ctx, lsp_generate(ctx, "poisson2d:120", 1, NULL, &in->M));
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 6000; i++) {
            in->x[k][i] = (double)test_below(&state, 1 << 20) / (1 << 20);
        }
        in->points.at[k] = in->x[k];
    }
    in->points.n = 6000, in->points.dimensions = 3, in->points.type = LSP_F64;
    for (int64_t i = 0; i < (int64_t)sizeof in->text; i++) {
        in->text[i] = (char)(i % 7000 < 3500 ? 'a' + i % 7 : 'a' + test_below(&state, 4));
    }
    in->file = job_file(ctx, &in->A, ".mtx", &in->file_bytes);
    in->packed = job_file(ctx, &in->A, ".mtx.gz", &in->packed_bytes);
    return in;
}
static inline void job_free_input(lsp_ctx *ctx, job_input *in) {
    lsp_csr_free(ctx, &in->A);
    lsp_csr_free(ctx, &in->M);
    free(in->file);
    free(in->packed);
    free(in);
}

static inline uint64_t job_hash(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

/* A digest of a result that was written over `untouched`; a matrix is freed. */
static inline uint64_t job_digest(lsp_ctx *ctx, job_output *out, const job_output *untouched) {
    uint64_t bits = job_hash(UINT64_C(14695981039346656037), out->bytes, sizeof out->bytes);
    if (memcmp(&out->C, &untouched->C, sizeof out->C) != 0) {
        const lsp_csr *C = &out->C;
        bits = job_hash(bits, C->rowptr, ((size_t)C->rows + 1) * lsp_type_bytes(C->rowptr_type));
        bits = job_hash(bits, C->col, (size_t)C->nnz * lsp_type_bytes(C->col_type));
        bits = job_hash(bits, C->val, (size_t)C->nnz * lsp_type_bytes(C->val_type));
        lsp_csr_free(ctx, &out->C);
    }
    return bits;
}

/* Runs job `number` into *out. On success *bits = a digest of the result, which is freed. On failure the output must be
 * untouched. */
static inline lsp_status job_run(lsp_ctx *ctx, int number, const job_input *in, job_output *out, uint64_t *bits) {
    static job_output untouched;
    memset(&untouched, 0xA5, sizeof untouched);
    *out = untouched;
    const lsp_status status = jobs[number].run(ctx, in, out);
    if (status != LSP_OK) {
        cr_assert(memcmp(out, &untouched, sizeof untouched) == 0, "%s: %s, and the output was written",
                  jobs[number].name, lsp_status_name(status));
        return status;
    }
    *bits = job_digest(ctx, out, &untouched);
    return LSP_OK;
}
