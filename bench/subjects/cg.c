/* The subject cg: the NAS conjugate gradient benchmark (nascg:CLASS), whose zeta must be the published one, and the
 * solution of a Poisson problem to 1e-8. The contenders tell the seconds of their iterations; making plans and copying
 * vectors is not timed. On a GPU all arrays lie there. */
#include "bench/harness.h"
#include "bench/peers/cusparse_spmv.h"
#include "bench/peers/peers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const workloads[] = {"nascg:S/f64",       "nascg:W/f64",       "nascg:A/f64", "nascg:B/f64",
                                        "poisson2d:512/f64", "poisson2d:768/f64", NULL};
static const char *const gpu_workloads[] = {"nascg:S/f64", "nascg:W/f64", "nascg:A/f64",        "nascg:B/f64",
                                            "nascg:C/f64", "nascg:D/f64", "poisson2d:1024/f64", "poisson2d:2048/f64",
                                            NULL};
static const char *const quick[] = {"nascg:S/f64", "poisson2d:64/f64", NULL};
static const char *const file_variants[] = {"f64", NULL};

static const struct {
    const char *who, *package;
    const peer_cg *peer;
    bool on_gpu;
} peers[] = {{"plain", NULL, &peer_plain_cg, false},
             {"eigen", "Eigen (libeigen3-dev)", PEER_EIGEN(peer_eigen_cg), false},
             {"cusparse", NULL, PEER_CUSPARSE(peer_cusparse_cg), true},
             {"cusparse:graph", NULL, PEER_CUSPARSE(peer_cusparse_cg_graph), true}};
enum { PEERS = sizeof peers / sizeof *peers, MOST_ENTRANTS = PEERS + 1, MOST_STEPS = 100000 };

static const double rtol = 1e-8;

/* The classes of the benchmark. */
typedef struct nas_class {
    char name;
    int per_row, outer; /* nonzeros that the generator puts in a row; outer iterations */
    double shift, zeta;
} nas_class;
static const nas_class classes[] = {{'S', 7, 15, 10, 8.5971775078648},     {'W', 8, 15, 12, 10.362595087124},
                                    {'A', 11, 15, 20, 17.130235054029},    {'B', 13, 75, 60, 22.712745482631},
                                    {'C', 15, 75, 110, 28.973605592845},   {'D', 21, 100, 500, 52.514532105794},
                                    {'E', 26, 100, 1500, 77.522164599383}};
enum { CLASSES = sizeof classes / sizeof *classes, STEPS = 25 };

typedef struct race {
    bench *b;
    lsp_csr A, there;
    const nas_class *nas; /* NULL: a solution */
    double *rhs, *x;      /* on the host */
    double *rhs_there, *x_there;
} race;

typedef struct entrant {
    race *race;
    const peer_cg *peer; /* NULL: the library */
    void *self;
    lsp_solve_plan *plan;
    double zeta;
    int64_t iterations;
} entrant;

static const lsp_csr *matrix(const race *r) { return r->b->device ? &r->there : &r->A; }

/* ---- contenders ---- */

static bool run_ours_nas(bench_contender *c, entrant *e) {
    const race *r = e->race;
    lsp_nas_result result = {.zeta = 0};
    if (!bench_must(c, c->ctx, lsp_nas_cg(c->ctx, r->nas->name, matrix(r), NULL, NULL, NULL, &result))) {
        return false;
    }
    e->zeta = result.zeta;
    e->iterations = (int64_t)r->nas->outer * STEPS;
    c->elapsed = result.seconds;
    c->plan_time = result.plan_seconds;
    return true;
}

static bool run_ours_solve(bench_contender *c, entrant *e) {
    const race *r = e->race;
    lsp_solve_info info = {.iterations = 0};
    const bool on_gpu = r->b->device != NULL;
    if (!bench_must(c, c->ctx,
                    lsp_solve_execute(e->plan, on_gpu ? r->rhs_there : r->rhs, on_gpu ? r->x_there : r->x, &info))) {
        return false;
    }
    e->iterations = info.iterations;
    c->elapsed = info.solve_seconds;
    return true;
}

static bool run(bench_contender *c) {
    entrant *e = c->state;
    const race *r = e->race;
    int iterations = 0;
    bool ran = true;
    double seconds = 0;
    if (!e->peer) {
        ran = r->nas ? run_ours_nas(c, e) : run_ours_solve(c, e);
    } else {
        const char *wrong =
            r->nas ? e->peer->nas(e->self, r->nas->outer, r->nas->shift, &e->zeta, &seconds)
                   : e->peer->solve(e->self, r->rhs, r->x, rtol, MOST_STEPS, &iterations, &seconds);
        ran = !wrong || bench_why(c, "%s", wrong);
        e->iterations = r->nas ? (int64_t)r->nas->outer * STEPS : iterations;
        c->elapsed = seconds;
    }
    return ran;
}

/* |b - A x| / |b|, on the host. */
static double residual_of(const race *r) {
    const int32_t *rowptr = r->A.rowptr, *col = r->A.col;
    const double *val = r->A.val;
    double residual = 0, norm = 0;
#pragma omp parallel for schedule(static) reduction(+ : residual, norm)
    for (int64_t i = 0; i < r->A.rows; i++) {
        double rest = r->rhs[i];
        for (int32_t k = rowptr[i]; k < rowptr[i + 1]; k++) {
            rest -= val[k] * r->x[col[k]];
        }
        residual += rest * rest;
        norm += r->rhs[i] * r->rhs[i];
    }
    return sqrt(residual / norm);
}

/* Operations, and the bytes that the products must move. */
static void count(bench_contender *c, const entrant *e) {
    const lsp_csr *A = &e->race->A;
    const double n = (double)A->rows, steps = (double)e->iterations;
    const nas_class *nas = e->race->nas;
    const double row = nas ? nas->per_row * (nas->per_row + 1) : 0;
    const double operations = nas ? 2 * nas->outer * n * (3 + row + STEPS * (5 + row) + 3) /* by NAS's own count */
                                  : 2 * steps * ((double)A->nnz + 5 * n);
    c->products = (int64_t)(operations / 2);
    c->bytes = (int64_t)(steps * (12 * (double)A->nnz + 20 * n));
}

static bool check(bench_contender *c) {
    const entrant *e = c->state;
    const race *r = e->race;
    const int64_t bytes = r->A.rows * (int64_t)sizeof(double);
    count(c, e);
    if (r->nas) {
        return fabs(e->zeta - r->nas->zeta) <= 1e-10 * r->nas->zeta ||
               bench_why(c, "zeta is %.13f, not %.13f", e->zeta, r->nas->zeta);
    }
    if (r->b->device && !e->peer && !bench_device_download(r->b->device, r->x, r->x_there, bytes)) {
        return bench_why(c, "%s", bench_device_error(r->b->device));
    }
    const double residual = residual_of(r);
    return residual <= 1.01 * rtol || bench_why(c, "the residual is %.3g, not %.3g", residual, rtol);
}

static void release(bench_contender *c) { (void)c; }

/* ---- the race ---- */

static void dress(race *r, bench_contender *c, entrant *e) {
    e->race = r;
    c->state = e;
    c->run = run;
    c->check = check;
    c->release = release;
    c->on_gpu = r->b->device != NULL;
    c->threads = c->on_gpu ? 1 : r->b->threads;
}

static bool enter_ours(race *r, bench_contender *c, entrant *e) {
    *c = (bench_contender){.who = "libsparse", .ours = true, .ctx = r->b->ours};
    *e = (entrant){.zeta = 0};
    dress(r, c, e);
    if (r->nas) {
        return true;
    }
    const double start = bench_now();
    const lsp_solve_options options = {.rtol = rtol, .max_iterations = MOST_STEPS};
    const bool made = bench_ok(r->b, c->ctx, lsp_cg_plan_create(c->ctx, matrix(r), &options, &e->plan)) &&
                      bench_ok(r->b, c->ctx, lsp_ctx_sync(c->ctx));
    c->plan_time = bench_now() - start;
    return made;
}

static bool enter_peer(race *r, int k, bench_contender *c, entrant *e) {
    const bench *b = r->b;
    const peer_cg *peer = peers[k].peer;
    const peer_cg_job job = {.A = matrix(r),
                             .threads = b->threads,
                             .stream = b->device ? bench_device_stream(b->device) : NULL};
    char why[200] = "";
    if (!peer || peers[k].on_gpu != (b->device != NULL) || !(r->nas ? (void *)peer->nas : (void *)peer->solve)) {
        return false;
    }
    *c = (bench_contender){.peak_bytes = -1};
    *e = (entrant){.peer = peer, .self = peer->prepare(&job, why, sizeof why)};
    snprintf(c->who, sizeof c->who, "%s", peers[k].who);
    dress(r, c, e);
    if (!e->self && why[0]) {
        fprintf(stderr, "sparse-bench: %s: %s\n", peers[k].who, why);
    }
    return e->self != NULL;
}

static void race_all(race *r, const char *workload) {
    bench_contender contenders[MOST_ENTRANTS];
    entrant entrants[MOST_ENTRANTS];
    int count_entered = enter_ours(r, contenders, entrants) ? 1 : 0;
    for (int k = 0; k < PEERS; k++) {
        count_entered += enter_peer(r, k, contenders + count_entered, entrants + count_entered);
    }
    bench_race(r->b, workload, contenders, count_entered);
    for (int k = 0; k < count_entered; k++) {
        lsp_solve_plan_destroy(entrants[k].plan);
        if (entrants[k].peer) {
            entrants[k].peer->destroy(entrants[k].self);
        }
    }
}

/* The right-hand side of a solution: numbers from 0 to 1. */
static bool make_vectors(race *r) {
    bench *b = r->b;
    const int64_t bytes = r->A.rows * (int64_t)sizeof(double);
    if (r->A.rows != r->A.cols) {
        bench_fail(b, EXIT_INPUT, "%lld x %lld is not square: there is nothing to solve", (long long)r->A.rows,
                   (long long)r->A.cols);
        return false;
    }
    r->rhs = malloc((size_t)bytes + 8);
    r->x = malloc((size_t)bytes + 8);
    r->rhs_there = b->device ? bench_device_alloc(b->device, bytes) : NULL;
    r->x_there = b->device ? bench_device_alloc(b->device, bytes) : NULL;
    if (!r->rhs || !r->x || (b->device && (!r->rhs_there || !r->x_there))) {
        bench_fail(b, EXIT_MEMORY, "out of memory for the vectors");
        return false;
    }
    for (int64_t i = 0; i < r->A.rows; i++) {
        r->rhs[i] = (double)(bench_draw(9, i) >> 11) * 0x1p-53;
    }
    return !b->device || bench_device_upload(b->device, r->rhs_there, r->rhs, bytes);
}

static bool prepare(race *r, const char *spec, const char *file) {
    bench *b = r->b;
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .val_type = LSP_F64};
    const lsp_csr_types there = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .where = LSP_CUDA};
    const lsp_mtx_read_options options = {.types = types};
    for (int k = 0; k < CLASSES && !file && strncmp(spec, "nascg:", 6) == 0; k++) {
        r->nas = spec[6] == classes[k].name ? classes + k : r->nas;
    }
    return bench_ok(b, b->base,
                    file ? lsp_mtx_read(b->base, file, &options, &r->A, NULL)
                         : lsp_generate(b->base, spec, 1, &types, &r->A)) &&
           make_vectors(r) &&
           (!b->device || bench_ok(b, b->ours, lsp_csr_copy(b->ours, &r->A, &there, &r->there)));
}

static void run_workload(bench *b, const char *workload, const char *file) {
    char spec[128];
    race r = {.b = b};
    snprintf(spec, sizeof spec, "%.*s", (int)(strrchr(workload, '/') - workload), workload);
    if (prepare(&r, spec, file)) {
        race_all(&r, workload);
    }
    if (b->device) {
        bench_device_free(b->device, r.rhs_there);
        bench_device_free(b->device, r.x_there);
    }
    free(r.rhs);
    free(r.x);
    lsp_csr_free(b->ours, &r.there);
    lsp_csr_free(b->base, &r.A);
    lsp_ctx_trim(b->ours);
    lsp_ctx_trim(b->base);
}

static const char *absent(int i) {
    for (int k = 0; k < PEERS; k++) {
        if (!peers[k].peer && peers[k].package && i-- == 0) {
            return peers[k].package;
        }
    }
    return NULL;
}

static const char *version(bool on_gpu, int i, const char **who) {
    for (int k = 0; k < PEERS; k++) {
        if (peers[k].peer && peers[k].on_gpu == on_gpu && peers[k].peer->version && i-- == 0) {
            *who = peers[k].who;
            return peers[k].peer->version;
        }
    }
#if BENCH_HAVE_CUSPARSE
    *who = "cusparse";
    return on_gpu && i == 0 ? peer_cusparse_cg_version() : NULL;
#else
    return NULL;
#endif
}

const bench_subject bench_cg = {.name = "cg",
                                .what = "conjugate gradients: NAS classes, and a solution to 1e-8",
                                .workloads = workloads,
                                .quick = quick,
                                .gpu_workloads = gpu_workloads,
                                .file_variants = file_variants,
                                .run = run_workload,
                                .absent = absent,
                                .version = version,
                                .min_time = 0.5,
                                .on_gpu = true};
