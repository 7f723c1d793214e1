/* The subject cg: the NAS conjugate gradient benchmark (nascg:CLASS), whose zeta must be the published one, and the
 * solution of a Poisson problem to 1e-8. The contenders tell the seconds of their iterations; making plans and copying
 * vectors is not timed. On a GPU all arrays lie there. */
#include "bench/harness.h"
#include "bench/peers/peers.h"
#include "peer_cg.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const workloads[] = {"nascg:S/f64",       "nascg:W/f64",       "nascg:A/f64", "nascg:B/f64",
                                        "poisson2d:512/f64", "poisson2d:768/f64", NULL};
static const char *const gpu_workloads[] = {"nascg:S/f64",        "nascg:W/f64",        "nascg:A/f64",
                                            "nascg:B/f64",        "nascg:C/f64",        "nascg:D/f64",
                                            "poisson2d:1024/f64", "poisson2d:2048/f64", NULL};
static const char *const quick[] = {"nascg:S/f64", "poisson2d:64/f64", NULL};
static const char *const file_variants[] = {"f64", NULL};

static const struct {
    const char *who, *package;
    const peer_gradients *peer;
} peers[] = {{"plain", NULL, &peer_plain_cg}, {"eigen", "Eigen (libeigen3-dev)", PEER_EIGEN(peer_eigen_cg)}};
enum { PEERS = sizeof peers / sizeof *peers, STEPS = 25, MOST_STEPS = 100000 };
enum { MOST_ENTRANTS = 1 + PEERS + (int)PEER_CG_WAYS };

static const double rtol = 1e-8;

typedef struct race {
    bench *b;
    lsp_csr A, there;
    char nas;             /* the class of the benchmark; 0: a solution */
    lsp_nas_class params; /* of the class */
    double *rhs, *x;      /* on the host */
    double *rhs_there, *x_there;
    peer_cg *cusparse; /* NULL: not on a GPU, or not available */
    int64_t steps;     /* that the library took for its solution: cuSPARSE takes as many */
} race;

typedef struct entrant {
    race *race;
    const peer_gradients *peer; /* NULL: the library, or cuSPARSE */
    void *self;
    bool is_cusparse;
    peer_cg_way way; /* of cuSPARSE */
    lsp_solve_plan *plan;
    double zeta;
    int64_t iterations;
} entrant;

static const lsp_csr *matrix(const race *r) { return r->b->device ? &r->there : &r->A; }

/* ---- contenders ---- */

static bool run_ours_nas(bench_contender *c, entrant *e) {
    const race *r = e->race;
    lsp_nas_result result = {.zeta = 0};
    if (!bench_must(c, c->ctx, lsp_nas_cg(c->ctx, r->nas, matrix(r), NULL, NULL, NULL, &result))) {
        return false;
    }
    e->zeta = result.zeta;
    e->iterations = (int64_t)r->params.iterations * STEPS;
    c->elapsed = result.seconds;
    c->plan_time = result.plan_seconds;
    return true;
}

static bool run_ours_solve(bench_contender *c, entrant *e) {
    race *r = e->race;
    lsp_solve_info info = {.iterations = 0};
    const bool on_gpu = r->b->device != NULL;
    if (!bench_must(c, c->ctx,
                    lsp_solve_execute(e->plan, on_gpu ? r->rhs_there : r->rhs, on_gpu ? r->x_there : r->x, &info))) {
        return false;
    }
    e->iterations = r->steps = info.iterations;
    c->elapsed = info.solve_seconds;
    return true;
}

static bool run_cusparse(bench_contender *c, entrant *e) {
    const race *r = e->race;
    peer_cg_result result = {.seconds = 0};
    if (!(r->nas ? peer_cg_nas(r->cusparse, e->way, &r->params, &result)
                 : peer_cg_solve(r->cusparse, e->way, r->rhs_there, r->x_there, r->steps, &result))) {
        return bench_why(c, "%s", peer_cg_why(r->cusparse));
    }
    e->zeta = result.zeta;
    e->iterations = r->nas ? (int64_t)r->params.iterations * STEPS : r->steps;
    c->elapsed = result.seconds;
    return true;
}

static bool run_peer(bench_contender *c, entrant *e) {
    const race *r = e->race;
    int iterations = 0;
    const char *wrong = r->nas ? e->peer->nas(e->self, r->params.iterations, r->params.shift, &e->zeta, &c->elapsed)
                               : e->peer->solve(e->self, r->rhs, r->x, rtol, MOST_STEPS, &iterations, &c->elapsed);
    e->iterations = r->nas ? (int64_t)r->params.iterations * STEPS : iterations;
    return !wrong || bench_why(c, "%s", wrong);
}

static bool run(bench_contender *c) {
    entrant *e = c->state;
    return e->is_cusparse ? run_cusparse(c, e)
           : e->peer      ? run_peer(c, e)
           : e->race->nas ? run_ours_nas(c, e)
                          : run_ours_solve(c, e);
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
    const lsp_nas_class *nas = &e->race->params;
    const double row = (double)nas->nonzer * (nas->nonzer + 1);
    const double operations = e->race->nas ? 2 * nas->iterations * n * (3 + row + STEPS * (5 + row) + 3) /* NAS's own */
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
        return fabs(e->zeta - r->params.zeta) <= 1e-10 * r->params.zeta ||
               bench_why(c, "zeta is %.13f, not %.13f", e->zeta, r->params.zeta);
    }
    if (r->b->device && !bench_device_download(r->b->device, r->x, r->x_there, bytes)) {
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
    c->cold = !c->on_gpu;
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
    const peer_gradients *peer = peers[k].peer;
    const peer_gradients_job job = {.A = &r->A, .threads = r->b->threads};
    if (!peer || r->b->device || !(r->nas ? peer->nas != NULL : peer->solve != NULL)) {
        return false;
    }
    *c = (bench_contender){.peak_bytes = -1};
    *e = (entrant){.peer = peer, .self = peer->prepare(&job)};
    snprintf(c->who, sizeof c->who, "%s", peers[k].who);
    dress(r, c, e);
    return e->self != NULL;
}

static void open_cusparse(race *r) {
    char why[256] = "";
    r->cusparse = r->b->device ? peer_cg_open(0, why, sizeof why) : NULL;
    if (r->cusparse && !peer_cg_prepare(r->cusparse, &r->there, NULL)) {
        snprintf(why, sizeof why, "%s", peer_cg_why(r->cusparse));
        peer_cg_close(r->cusparse);
        r->cusparse = NULL;
    }
    if (why[0] && !r->cusparse) {
        fprintf(stderr, "sparse-bench: %s\n", why);
    }
}

static void enter_cusparse(race *r, int way, bench_contender *c, entrant *e) {
    *c = (bench_contender){.peak_bytes = -1};
    *e = (entrant){.is_cusparse = true, .way = (peer_cg_way)way};
    snprintf(c->who, sizeof c->who, "cusparse:%s", peer_cg_names[way]);
    dress(r, c, e);
}

static void race_all(race *r, const char *workload) {
    bench_contender contenders[MOST_ENTRANTS];
    entrant entrants[MOST_ENTRANTS];
    int entered = enter_ours(r, contenders, entrants) ? 1 : 0;
    for (int k = 0; k < PEERS; k++) {
        entered += enter_peer(r, k, contenders + entered, entrants + entered);
    }
    open_cusparse(r);
    for (int way = 0; r->cusparse && way < PEER_CG_WAYS; way++, entered++) {
        enter_cusparse(r, way, contenders + entered, entrants + entered);
    }
    bench_race(r->b, workload, contenders, entered);
    for (int k = 0; k < entered; k++) {
        lsp_solve_plan_destroy(entrants[k].plan);
        if (entrants[k].peer) {
            entrants[k].peer->destroy(entrants[k].self);
        }
    }
    if (r->cusparse) {
        peer_cg_close(r->cusparse);
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
    const lsp_csr_types there = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .place = LSP_PLACE_CUDA};
    const lsp_mtx_read_options options = {.types = types};
    if (!file && strncmp(spec, "nascg:", 6) == 0) {
        r->nas = spec[6];
        if (!bench_ok(b, b->base, lsp_nas_get_class(b->base, r->nas, &r->params))) {
            return false;
        }
    }
    return bench_ok(b, b->base,
                    file ? lsp_mtx_read(b->base, file, &options, &r->A, NULL)
                         : lsp_generate(b->base, spec, 1, &types, &r->A)) &&
           make_vectors(r) && (!b->device || bench_ok(b, b->ours, lsp_csr_copy(b->ours, &r->A, &there, &r->there)));
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
        if (!peers[k].peer && i-- == 0) {
            return peers[k].package;
        }
    }
    return NULL;
}

static const char *version(bool on_gpu, int i, const char **who) {
    for (int k = 0; k < PEERS && !on_gpu; k++) {
        if (peers[k].peer && i-- == 0) {
            *who = peers[k].who;
            return peers[k].peer->version;
        }
    }
    return NULL;
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
