/* The subject spgemm: C = A*A, timed from A in memory to C in memory with sorted rows, f64 and f32. On a GPU, A and C
 * lie there. The library also runs with a plan made beforehand, and it must give the bits of its reference. */
#include "spgemm_race.h"
#include <math.h>
#include <string.h>

#define BOTH(spec) spec "/f64", spec "/f32"
static const char *const workloads[] = {
    BOTH("poisson2d:1024"), BOTH("stencil27:48"),        BOTH("er:262144:8"), BOTH("rmat:16:8"),
    BOTH("fem3:20"),        BOTH("web:300000:1.8:2000"), BOTH("disc.mtx"),    NULL};
static const char *const gpu_workloads[] = {
    BOTH("poisson2d:2048"), BOTH("er:1048576:8"), BOTH("er:1048576:16"),        BOTH("stencil27:96"), BOTH("fem3:40"),
    BOTH("rmat:17:8"),      "rmat:19:8/f64",      BOTH("web:1000000:1.8:5000"), BOTH("perm:4000000"), NULL};
static const char *const quick[] = {
    BOTH("poisson2d:64"), BOTH("stencil27:10"),     BOTH("er:4096:8"), BOTH("rmat:10:8"),
    BOTH("fem3:6"),       BOTH("web:5000:1.8:200"), BOTH("disc.mtx"),  NULL};
static const char *const file_variants[] = {"f64", "f32", NULL};

/* ---- the library ---- */

static bool run_ours(bench_contender *c) {
    spgemm_entrant *e = c->state;
    const lsp_csr *A = e->race->on_gpu ? &e->race->there : &e->race->A;
    const lsp_status status = e->update && e->C.rowptr ? lsp_spgemm_update(e->plan, A, A, &e->C)
                              : e->plan                ? lsp_spgemm_execute(e->plan, A, A, &e->C)
                                                       : lsp_spgemm(c->ctx, A, A, NULL, &e->C, NULL);
    return bench_must(c, c->ctx, status) && (!e->race->on_gpu || bench_must(c, c->ctx, lsp_ctx_sync(c->ctx)));
}
static void release_ours(bench_contender *c) {
    spgemm_entrant *e = c->state;
    if (!e->update) {
        lsp_csr_free(c->ctx, &e->C);
    }
}

/* Compares C on the GPU with the right result, bit for bit. */
static bool check_there(bench_contender *c) {
    const spgemm_entrant *e = c->state;
    const lsp_csr_types types = {.rowptr_type = e->C.rowptr_type, .col_type = e->C.col_type};
    lsp_csr here = {.rows = 0};
    const bool same =
        bench_must(c, c->ctx, lsp_csr_copy(c->ctx, &e->C, &types, &here)) && bench_spgemm_agrees(c, e->race, &here, 0);
    lsp_csr_free(c->ctx, &here);
    return same;
}
/* Checks the result. A plan that updates must be right at its second run too; on a GPU five runs must be right. */
static bool check_ours(bench_contender *c) {
    const spgemm_entrant *e = c->state;
    if (!e->race->on_gpu) {
        return bench_spgemm_agrees(c, e->race, &e->C, 0) &&
               (!e->update || (run_ours(c) && bench_spgemm_agrees(c, e->race, &e->C, 0)));
    }
    for (int again = 0; again < 4; again++) {
        if (!check_there(c)) {
            return false;
        }
        release_ours(c);
        if (!run_ours(c)) {
            return false;
        }
    }
    c->bits = BENCH_BITS_SAME;
    return check_there(c);
}

/* ---- the matrices ---- */

static int64_t csr_bytes(const lsp_csr *A) {
    return (A->rows + 1) * (int64_t)lsp_type_bytes(A->rowptr_type) +
           A->nnz * (int64_t)(lsp_type_bytes(A->col_type) + lsp_type_bytes(A->val_type));
}

static int64_t count_products(const lsp_csr *A) {
    const int32_t *rowptr = A->rowptr, *col = A->col;
    int64_t products = 0;
    for (int64_t p = 0; p < A->nnz; p++) {
        products += rowptr[col[p] + 1] - rowptr[col[p]];
    }
    return products;
}

/* bound = |A|*|A|, by the method that made C. */
static bool make_bound(spgemm_race *r, const lsp_spgemm_options *how) {
    bench *b = r->b;
    lsp_csr absolute = {.rows = 0};
    if (!bench_ok(b, b->base, lsp_csr_copy(b->base, &r->A, NULL, &absolute))) {
        return false;
    }
    for (int64_t p = 0; p < absolute.nnz; p++) {
        if (absolute.val_type == LSP_F64) {
            ((double *)absolute.val)[p] = fabs(((double *)absolute.val)[p]);
        } else {
            ((float *)absolute.val)[p] = fabsf(((float *)absolute.val)[p]);
        }
    }
    const bool made = bench_ok(b, b->base, lsp_spgemm(b->base, &absolute, &absolute, how, &r->bound, NULL));
    lsp_csr_free(b->base, &absolute);
    return made;
}

/* Makes A with int32 indices, the right C, and the bound. */
static bool prepare(spgemm_race *r, const char *spec, const char *file, lsp_type precision) {
    bench *b = r->b;
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .val_type = precision};
    const lsp_mtx_read_options options = {.types = types};
    const lsp_spgemm_options reference = {.method = LSP_SPGEMM_REFERENCE};
    lsp_status status =
        file ? lsp_mtx_read(b->base, file, &options, &r->A, NULL) : lsp_generate(b->base, spec, 1, &types, &r->A);
    if (!bench_ok(b, b->base, status)) {
        return false;
    }
    if (r->A.rows != r->A.cols) {
        bench_fail(b, EXIT_INPUT, "%s: %lld x %lld is not square: there is no A*A", file, (long long)r->A.rows,
                   (long long)r->A.cols);
        return false;
    }
    /* The reference is too slow for the large workloads of a GPU; the CPU's fast product has the same bits. */
    const lsp_csr_types there = {.where = LSP_CUDA};
    const lsp_spgemm_options *how = r->on_gpu ? NULL : &reference;
    return bench_ok(b, b->base, lsp_spgemm(b->base, &r->A, &r->A, how, &r->C, NULL)) && make_bound(r, how) &&
           (!r->on_gpu || bench_ok(b, b->ours, lsp_csr_copy(b->ours, &r->A, &there, &r->there)));
}

/* ---- the race ---- */

static void enter_ours(spgemm_race *r) {
    r->entrants[r->count] = (spgemm_entrant){.race = r};
    r->contenders[r->count++] = (bench_contender){.who = "libsparse",
                                                  .ours = true,
                                                  .threads = r->b->threads,
                                                  .run = run_ours,
                                                  .check = check_ours,
                                                  .release = release_ours,
                                                  .on_gpu = r->on_gpu,
                                                  .ctx = r->b->ours};
}

/* Enters the library with a plan made beforehand. `update`: a run writes new values into the C of the run before;
 * else it makes a new C. */
static void enter_plan(spgemm_race *r, bool update) {
    bench *b = r->b;
    const lsp_csr *A = r->on_gpu ? &r->there : &r->A;
    spgemm_entrant *e = r->entrants + r->count;
    *e = (spgemm_entrant){.race = r, .update = update};
    if (bench_ok(b, b->ours, lsp_spgemm_plan_create(b->ours, A, A, NULL, &e->plan))) {
        bench_contender *c = r->contenders + r->count++;
        *c = r->contenders[0];
        c->again = true;
        snprintf(c->who, sizeof c->who, update ? "libsparse:update" : "libsparse:plan");
    }
}

static void enter(spgemm_race *r) {
    const int64_t products = count_products(&r->A), bytes = csr_bytes(&r->A) + csr_bytes(&r->C);
    enter_ours(r);
    if (r->on_gpu) {
        enter_plan(r, false);
        enter_plan(r, true);
        bench_spgemm_enter_peers(r);
    } else {
        bench_spgemm_enter_peers(r);
        enter_plan(r, true);
    }
    for (int k = 0; k < r->count; k++) {
        bench_contender *c = r->contenders + k;
        c->state = r->entrants + k;
        c->bytes = bytes;
        c->products = products;
        c->nnz_c = r->C.nnz;
    }
}

static void run(bench *b, const char *workload, const char *file) {
    const char *slash = strrchr(workload, '/');
    char spec[128], path[4096];
    spgemm_race r = {.b = b, .on_gpu = b->device != NULL};
    snprintf(spec, sizeof spec, "%.*s", (int)(slash - workload), workload);
    if (!file && strstr(spec, ".mtx")) { /* a matrix of this repository */
        snprintf(path, sizeof path, "%s/%s", BENCH_MATRICES, spec);
        file = path;
    }
    if (prepare(&r, spec, file, strcmp(slash, "/f64") == 0 ? LSP_F64 : LSP_F32)) {
        enter(&r);
        bench_race(b, workload, r.contenders, r.count);
        for (int k = 0; k < r.count; k++) {
            lsp_csr_free(b->ours, &r.entrants[k].C);
            lsp_spgemm_plan_destroy(r.entrants[k].plan);
        }
        bench_spgemm_drop_peers(&r);
    }
    lsp_csr_free(b->ours, &r.there);
    lsp_csr_free(b->base, &r.bound);
    lsp_csr_free(b->base, &r.C);
    lsp_csr_free(b->base, &r.A);
    lsp_ctx_trim(b->ours);
    lsp_ctx_trim(b->base);
}

const bench_subject bench_spgemm = {.name = "spgemm",
                                    .what = "C = A*A",
                                    .workloads = workloads,
                                    .quick = quick,
                                    .gpu_workloads = gpu_workloads,
                                    .file_variants = file_variants,
                                    .run = run,
                                    .absent = bench_spgemm_absent,
                                    .version = bench_spgemm_version,
                                    .min_time = 1,
                                    .on_gpu = true};
