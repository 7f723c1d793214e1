/* The subject transpose: B = A^T, timed from A in memory to B in memory, checks and allocations included. On a GPU, A
 * and B lie there. Every result must be that of the library on one thread of the host, bit for bit. */
#include "bench/harness.h"
#include "bench/peers/cusparse_matrices.h"
#include <string.h>

#ifndef BENCH_HAVE_CUSPARSE
#define BENCH_HAVE_CUSPARSE 0
#endif

#define BOTH(spec) spec "/f64", spec "/f32"
static const char *const workloads[] = {BOTH("poisson2d:1024"), BOTH("stencil27:48"), BOTH("er:262144:8"),
                                        BOTH("rmat:16:8"), NULL};
static const char *const gpu_workloads[] = {BOTH("poisson2d:2048"), BOTH("er:1048576:16"), BOTH("stencil27:96"),
                                            BOTH("rmat:19:8"),      BOTH("perm:4000000"),  NULL};
static const char *const quick[] = {BOTH("poisson2d:64"), BOTH("er:4096:8"), BOTH("rmat:10:8"), NULL};
static const char *const file_variants[] = {"f64", "f32", NULL};

typedef struct transpose_race {
    bench *b;
    lsp_csr A, there;                 /* on the host; a copy on the GPU, or empty */
    lsp_csr right;                    /* A^T, on the host */
    lsp_csr B;                        /* the library's result */
    peer_cusparse_matrices *cusparse; /* NULL: not available */
} transpose_race;

static bool run_ours(bench_contender *c) {
    transpose_race *r = c->state;
    return bench_must(c, c->ctx, lsp_csr_transpose(c->ctx, c->on_gpu ? &r->there : &r->A, &r->B)) &&
           bench_must(c, c->ctx, lsp_ctx_sync(c->ctx));
}
static void release_ours(bench_contender *c) {
    transpose_race *r = c->state;
    lsp_csr_free(c->ctx, &r->B);
}

/* Is B, in either place, A^T? ctx: of the GPU if B lies there. */
static bool check(bench_contender *c, lsp_ctx *ctx, const lsp_csr *B) {
    const transpose_race *r = c->state;
    const lsp_csr_types types = {B->rowptr_type, B->col_type, .place = LSP_PLACE_HOST};
    lsp_csr here = {.rows = 0};
    lsp_csr_difference d = {.same_bits = false};
    const bool compared = bench_must(c, ctx, lsp_csr_copy(ctx, B, &types, &here)) &&
                          bench_must(c, ctx, lsp_csr_compare(ctx, &r->right, &here, &d));
    lsp_csr_free(ctx, &here);
    return compared &&
           (d.same_bits || bench_why(c, "differs at row %lld, column %lld", (long long)d.row, (long long)d.col));
}
static bool check_ours(bench_contender *c) {
    const transpose_race *r = c->state;
    return check(c, c->ctx, &r->B);
}

#if BENCH_HAVE_CUSPARSE
static bool run_peer(bench_contender *c) {
    const transpose_race *r = c->state;
    return peer_cusparse_matrices_transpose(r->cusparse, &r->there) || bench_why(c, "cusparseCsr2cscEx2 failed");
}
static void release_peer(bench_contender *c) {
    const transpose_race *r = c->state;
    peer_cusparse_matrices_release(r->cusparse);
}
static bool check_peer(bench_contender *c) {
    const transpose_race *r = c->state;
    lsp_csr B;
    peer_cusparse_matrices_view(r->cusparse, &B);
    return check(c, r->b->ours, &B);
}
static void enter_peer(transpose_race *r, bench_contender *c, int *count) {
    if (r->b->device && (r->cusparse = peer_cusparse_matrices_open())) {
        *c = (bench_contender){.who = "csr2csc",
                               .threads = 1,
                               .run = run_peer,
                               .check = check_peer,
                               .release = release_peer,
                               .on_gpu = true,
                               .peak_bytes = -1};
        (*count)++;
    }
}
static void leave_peer(transpose_race *r) { peer_cusparse_matrices_close(r->cusparse); }
#else
static void enter_peer(transpose_race *r, bench_contender *c, int *count) { (void)r, (void)c, (void)count; }
static void leave_peer(transpose_race *r) { (void)r; }
#endif

static int64_t csr_bytes(const lsp_csr *A) {
    return (A->rows + 1) * (int64_t)lsp_type_bytes(A->rowptr_type) +
           A->nnz * (int64_t)(lsp_type_bytes(A->col_type) + lsp_type_bytes(A->val_type));
}

/* The library on all threads or on the GPU, on one thread, the peer. */
static int enter(transpose_race *r, bench_contender *contenders) {
    bench *b = r->b;
    int count = 0;
    for (int one = 0; one < (b->device || b->threads == 1 ? 1 : 2); one++) {
        contenders[count++] = (bench_contender){.ours = true,
                                                .threads = one ? 1 : b->threads,
                                                .run = run_ours,
                                                .check = check_ours,
                                                .release = release_ours,
                                                .on_gpu = b->device != NULL,
                                                .ctx = one ? b->one : b->ours};
        snprintf(contenders[one].who, sizeof contenders[one].who, one ? "libsparse:1" : "libsparse");
    }
    enter_peer(r, contenders + count, &count);
    for (int k = 0; k < count; k++) {
        contenders[k].state = r;
        contenders[k].bytes = csr_bytes(&r->A) + csr_bytes(&r->right);
    }
    return count;
}

static bool prepare(transpose_race *r, const char *spec, const char *file, lsp_type precision) {
    bench *b = r->b;
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .val_type = precision};
    const lsp_mtx_read_options options = {.types = types};
    const lsp_csr_types there = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .place = LSP_PLACE_CUDA};
    return bench_ok(b, b->base,
                    file ? lsp_mtx_read(b->base, file, &options, &r->A, NULL)
                         : lsp_generate(b->base, spec, 1, &types, &r->A)) &&
           bench_ok(b, b->base, lsp_csr_transpose(b->base, &r->A, &r->right)) &&
           (!b->device || bench_ok(b, b->ours, lsp_csr_copy(b->ours, &r->A, &there, &r->there)));
}

static void run(bench *b, const char *workload, const char *file) {
    const char *slash = strrchr(workload, '/');
    char spec[128];
    transpose_race r = {.b = b};
    snprintf(spec, sizeof spec, "%.*s", (int)(slash - workload), workload);
    if (prepare(&r, spec, file, strcmp(slash, "/f64") == 0 ? LSP_F64 : LSP_F32)) {
        bench_contender contenders[3];
        bench_race(b, workload, contenders, enter(&r, contenders));
        leave_peer(&r);
    }
    lsp_csr_free(b->ours, &r.there);
    lsp_csr_free(b->base, &r.right);
    lsp_csr_free(b->base, &r.A);
    lsp_ctx_trim(b->ours);
    lsp_ctx_trim(b->base);
}

static const char *absent(int i) {
    static const char *const names[] = {BENCH_HAVE_CUSPARSE ? NULL : "cuSPARSE", NULL};
    return names[i > 0];
}

const bench_subject bench_transpose = {.name = "transpose",
                                       .what = "B = A^T",
                                       .workloads = workloads,
                                       .quick = quick,
                                       .gpu_workloads = gpu_workloads,
                                       .file_variants = file_variants,
                                       .run = run,
                                       .absent = absent,
                                       .min_time = 0.5,
                                       .on_gpu = true};
