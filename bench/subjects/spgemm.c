/* The subject spgemm: C = A*A, and the products of a multigrid, A*T, A*P, R*(A*P) and R*A*P, timed from the factors in
 * memory to C in memory with sorted rows, f64 and f32. On a GPU all lie there. The library also runs with a plan made
 * beforehand, and it must give the bits of its reference. */
#include "spgemm_race.h"
#include <string.h>

#define BOTH(spec) spec "/f64", spec "/f32"
#define MULTIGRID(spec) spec "/AT/f64", spec "/AP/f64", spec "/R-AP/f64", spec "/RAP/f64"
static const char *const workloads[] = {BOTH("poisson2d:1024"),
                                        BOTH("stencil27:48"),
                                        BOTH("er:262144:8"),
                                        BOTH("rmat:16:8"),
                                        BOTH("fem3:20"),
                                        BOTH("web:300000:1.8:2000"),
                                        BOTH("mesh:366:8"),
                                        "mesh:366:64/f64",
                                        BOTH("disc.mtx"),
                                        MULTIGRID("amg:1000"),
                                        MULTIGRID("amg27:48"),
                                        MULTIGRID("amgfem3:24"),
                                        NULL};
static const char *const gpu_workloads[] = {BOTH("poisson2d:2048"),
                                            BOTH("er:1048576:8"),
                                            BOTH("er:1048576:16"),
                                            BOTH("stencil27:96"),
                                            "stencil27:160/f64",
                                            BOTH("fem3:40"),
                                            "fem3:80/f64",
                                            BOTH("rmat:17:8"),
                                            "rmat:19:8/f64",
                                            BOTH("web:1000000:1.8:5000"),
                                            "web:3000000:1.8:5000/f64",
                                            BOTH("perm:4000000"),
                                            MULTIGRID("amg:2048"),
                                            MULTIGRID("amg27:96"),
                                            MULTIGRID("amgfem3:48"),
                                            NULL};
static const char *const quick[] = {
    BOTH("poisson2d:64"),     BOTH("stencil27:10"), BOTH("er:4096:8"),   BOTH("rmat:10:8"), BOTH("fem3:6"),
    BOTH("web:5000:1.8:200"), BOTH("disc.mtx"),     MULTIGRID("amg:60"), "mesh:40:8/f64",   NULL};
static const char *const file_variants[] = {"f64", "f32", NULL};

/* ---- the library ---- */

static lsp_status multiply_three(lsp_ctx *ctx, const spgemm_entrant *e, const peer_factors *f, lsp_csr *C) {
    return e->update && C->rowptr ? lsp_spgemm_triple_refill(e->triple_plan, f->R, f->A, f->B, C)
           : e->planned           ? lsp_spgemm_triple_execute(e->triple_plan, f->R, f->A, f->B, C)
                                  : lsp_spgemm_triple(ctx, f->R, f->A, f->B, NULL, C, NULL);
}
static lsp_status multiply_two(lsp_ctx *ctx, const spgemm_entrant *e, const peer_factors *f, lsp_csr *C) {
    return e->update && C->rowptr ? lsp_spgemm_refill(e->plan, f->A, f->B, C)
           : e->planned           ? lsp_spgemm_execute(e->plan, f->A, f->B, C)
                                  : lsp_spgemm(ctx, f->A, f->B, NULL, C, NULL);
}
static bool run_ours(bench_contender *c) {
    spgemm_entrant *e = c->state;
    const peer_factors f = bench_spgemm_factors(e->race);
    const lsp_status status = (f.R ? multiply_three : multiply_two)(c->ctx, e, &f, &e->C);
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
    const lsp_csr_types types = {e->C.rowptr_type, e->C.col_type, .place = LSP_PLACE_HOST};
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

static int64_t count_products(const lsp_csr *A, const lsp_csr *B) {
    const int32_t *rowptr = B->rowptr, *col = A->col;
    int64_t products = 0;
    for (int64_t p = 0; p < A->nnz; p++) {
        products += rowptr[col[p] + 1] - rowptr[col[p]];
    }
    return products;
}

/* C = A*B, or R*A*B, on the host. */
static bool multiply_here(bench *b, const peer_factors *f, const lsp_spgemm_options *how, lsp_csr *C) {
    return bench_ok(b, b->base,
                    f->R ? lsp_spgemm_triple(b->base, f->R, f->A, f->B, how, C, NULL)
                         : lsp_spgemm(b->base, f->A, f->B, how, C, NULL));
}

static bool make_absolute(bench *b, const lsp_csr *A, lsp_csr *absolute) {
    return bench_ok(b, b->base, lsp_csr_copy(b->base, A, NULL, absolute)) &&
           bench_ok(b, b->base, lsp_csr_apply(b->base, absolute, LSP_APPLY_ABS, 0));
}

/* bound = the product of the absolute values, by the method that made C. */
static bool make_bound(spgemm_race *r, const lsp_spgemm_options *how) {
    bench *b = r->b;
    lsp_csr absolute[SPGEMM_FACTORS] = {{.rows = 0}};
    bool made = true;
    for (int f = 0; f < SPGEMM_FACTORS && made; f++) {
        made = r->here[f].rowptr == NULL || make_absolute(b, &r->here[f], &absolute[f]);
    }
    const peer_factors all = {r->triple ? &absolute[SPGEMM_R] : NULL, &absolute[SPGEMM_A],
                              &absolute[r->square ? SPGEMM_A : SPGEMM_B]};
    made = made && multiply_here(b, &all, how, &r->bound);
    for (int f = 0; f < SPGEMM_FACTORS; f++) {
        lsp_csr_free(b->base, &absolute[f]);
    }
    return made;
}

static bool make_named(spgemm_race *r, const char *family, const char *rest, lsp_type precision, lsp_csr *A) {
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .val_type = precision};
    char spec[160];
    snprintf(spec, sizeof spec, "%s%s", family, rest);
    return bench_ok(r->b, r->b->base, lsp_generate(r->b->base, spec, 1, &types, A));
}

/* Makes the factors of a product of a multigrid, "AT", "AP", "R-AP" or "RAP"; `spec` is "amg:1000". */
static bool make_multigrid(spgemm_race *r, const char *spec, const char *product, lsp_type precision) {
    static const char *const grids[][2] = {{"amg:", "poisson2d:"}, {"amg27:", "stencil27:"}, {"amgfem3:", "fem3:"}};
    const char *size = strchr(spec, ':') + 1, *grid = NULL;
    lsp_csr *R = &r->here[SPGEMM_R], *A = &r->here[SPGEMM_A], *B = &r->here[SPGEMM_B];
    for (int i = 0; i < 3; i++) {
        grid = strncmp(spec, grids[i][0], strlen(grids[i][0])) == 0 ? grids[i][1] : grid;
    }
    r->triple = strcmp(product, "RAP") == 0;
    if (!make_named(r, grid, size, precision, A) ||
        !make_named(r, spec, strcmp(product, "AT") == 0 ? ":T" : ":P", precision, B) ||
        (product[0] == 'R' && !make_named(r, spec, ":R", precision, R))) {
        return false;
    }
    if (strcmp(product, "R-AP") == 0) { /* A and B become R and A*P */
        lsp_csr inner;
        if (!bench_ok(r->b, r->b->base, lsp_spgemm(r->b->base, A, B, NULL, &inner, NULL))) {
            return false;
        }
        lsp_csr_free(r->b->base, A), lsp_csr_free(r->b->base, B);
        *A = *R, *B = inner;
        *R = (lsp_csr){.rows = 0};
    }
    return true;
}

/* Makes A of A*A. */
static bool make_square(spgemm_race *r, const char *spec, const char *file, lsp_type precision) {
    bench *b = r->b;
    lsp_csr *A = &r->here[SPGEMM_A];
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .val_type = precision};
    const lsp_mtx_read_options options = {.types = types};
    r->square = true;
    if (!file && strncmp(spec, "mesh:", 5) == 0) {
        return bench_spgemm_mesh(r, spec, precision, A);
    }
    if (!bench_ok(b, b->base,
                  file ? lsp_mtx_read(b->base, file, &options, A, NULL) : lsp_generate(b->base, spec, 1, &types, A))) {
        return false;
    }
    if (A->rows != A->cols) {
        bench_fail(b, EXIT_INPUT, "%s: %lld x %lld is not square: there is no A*A", file, (long long)A->rows,
                   (long long)A->cols);
        return false;
    }
    return true;
}

/* Makes the right C and the bound, and copies the factors to the GPU. */
static bool prepare(spgemm_race *r) {
    bench *b = r->b;
    const lsp_spgemm_options reference = {.method = LSP_SPGEMM_REFERENCE};
    /* The reference is too slow for the large workloads of a GPU; the CPU's fast product has the same bits. */
    const lsp_csr_types there = {.place = LSP_PLACE_CUDA};
    const lsp_spgemm_options *how = r->on_gpu ? NULL : &reference;
    const peer_factors here = {r->triple ? &r->here[SPGEMM_R] : NULL, &r->here[SPGEMM_A],
                               &r->here[r->square ? SPGEMM_A : SPGEMM_B]};
    bool sound = multiply_here(b, &here, how, &r->C) && make_bound(r, how);
    for (int f = 0; f < SPGEMM_FACTORS && sound && r->on_gpu; f++) {
        sound =
            r->here[f].rowptr == NULL || bench_ok(b, b->ours, lsp_csr_copy(b->ours, &r->here[f], &there, &r->there[f]));
    }
    return sound;
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
    const peer_factors f = bench_spgemm_factors(r);
    spgemm_entrant *e = r->entrants + r->count;
    *e = (spgemm_entrant){.race = r, .update = update, .planned = true};
    const lsp_status status = f.R ? lsp_spgemm_triple_plan_create(b->ours, f.R, f.A, f.B, NULL, &e->triple_plan)
                                  : lsp_spgemm_plan_create(b->ours, f.A, f.B, NULL, &e->plan);
    if (bench_ok(b, b->ours, status)) {
        bench_contender *c = r->contenders + r->count++;
        *c = r->contenders[0];
        c->again = true;
        snprintf(c->who, sizeof c->who, update ? "libsparse:update" : "libsparse:plan");
    }
}

/* The multiplications of A*B, or of A*B and then R*(A*B), whichever order is taken. */
static int64_t all_products(spgemm_race *r) {
    const lsp_csr *R = &r->here[SPGEMM_R], *A = &r->here[SPGEMM_A], *B = &r->here[r->square ? SPGEMM_A : SPGEMM_B];
    int64_t products = count_products(A, B);
    lsp_csr inner = {.rows = 0};
    if (r->triple && bench_ok(r->b, r->b->base, lsp_spgemm(r->b->base, A, B, NULL, &inner, NULL))) {
        products += count_products(R, &inner);
        lsp_csr_free(r->b->base, &inner);
    }
    return products;
}

static void enter(spgemm_race *r) {
    const int64_t products = all_products(r);
    int64_t bytes = csr_bytes(&r->C);
    for (int f = 0; f < SPGEMM_FACTORS; f++) {
        bytes += r->here[f].rowptr ? csr_bytes(&r->here[f]) : 0;
    }
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

static void drop(spgemm_race *r) {
    bench *b = r->b;
    for (int k = 0; k < r->count; k++) {
        lsp_csr_free(b->ours, &r->entrants[k].C);
        lsp_spgemm_plan_destroy(r->entrants[k].plan);
        lsp_spgemm_triple_plan_destroy(r->entrants[k].triple_plan);
    }
    bench_spgemm_drop_peers(r);
    for (int f = 0; f < SPGEMM_FACTORS; f++) {
        lsp_csr_free(b->ours, &r->there[f]);
        lsp_csr_free(b->base, &r->here[f]);
    }
    lsp_csr_free(b->base, &r->bound);
    lsp_csr_free(b->base, &r->C);
    lsp_ctx_trim(b->ours);
    lsp_ctx_trim(b->base);
}

/* A workload is "SPEC/f64", or of a multigrid "amg:K/PRODUCT/f64". */
static void run(bench *b, const char *workload, const char *file) {
    const char *last = strrchr(workload, '/'), *first = strchr(workload, '/');
    char spec[128], product[8] = "", path[4096];
    spgemm_race r = {.b = b, .on_gpu = b->device != NULL};
    const lsp_type precision = strcmp(last, "/f64") == 0 ? LSP_F64 : LSP_F32;
    const bool multigrid = !file && first < last;
    snprintf(spec, sizeof spec, "%.*s", (int)((multigrid ? first : last) - workload), workload);
    if (multigrid) {
        snprintf(product, sizeof product, "%.*s", (int)(last - first - 1), first + 1);
    } else if (!file && strstr(spec, ".mtx")) { /* a matrix of this repository */
        snprintf(path, sizeof path, "%s/%s", BENCH_MATRICES, spec);
        file = path;
    }
    if ((multigrid ? make_multigrid(&r, spec, product, precision) : make_square(&r, spec, file, precision)) &&
        prepare(&r)) {
        enter(&r);
        bench_race(b, workload, r.contenders, r.count);
    }
    drop(&r);
}

const bench_subject bench_spgemm = {.name = "spgemm",
                                    .what = "C = A*A, and the products of a multigrid",
                                    .workloads = workloads,
                                    .quick = quick,
                                    .gpu_workloads = gpu_workloads,
                                    .file_variants = file_variants,
                                    .run = run,
                                    .absent = bench_spgemm_absent,
                                    .version = bench_spgemm_version,
                                    .min_time = 1,
                                    .on_gpu = true};
