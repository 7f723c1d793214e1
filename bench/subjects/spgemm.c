/* C = A*A, from A in memory to C in memory with sorted rows, in double and single precision, on the CPU or on a GPU
 * (from A there to C there; and again for changed values, by a plan). The library must give the bits of its reference;
 * peers may add in another order, and are held to |A|*|A| times a few roundings. */
#include "bench/harness.h"
#include "peer_cusparse.h"
#include "bench/peers/mkl.h"
#include "bench/peers/peers.h"
#include <math.h>
#include <stdlib.h>
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

static const struct {
    const char *who, *package;
    const peer_product *product;
} peers[] = {{"dense", NULL, &peer_dense},
             {"graphblas", "GraphBLAS (libgraphblas-dev)", PEER_GRAPHBLAS(peer_graphblas)},
             {"eigen", "Eigen (libeigen3-dev)", PEER_EIGEN(peer_eigen_product)},
             {"cholmod", "CHOLMOD (libsuitesparse-dev)", PEER_CHOLMOD(peer_cholmod_product)},
             {"petsc", "PETSc (petsc-dev)", PEER_PETSC(peer_petsc)}};
enum { PEERS = sizeof peers / sizeof *peers, MOST_ENTRANTS = 4 + (int)PEER_CUSPARSE_WAYS + PEERS };

static const char *absent(int i) {
    for (int k = 0; k < PEERS; k++) {
        if (!peers[k].product && i-- == 0) {
            return peers[k].package;
        }
    }
    return NULL;
}

typedef struct race {
    lsp_csr A, C, bound; /* C by the reference, or by the CPU, whose bits are the same; bound: |A|*|A| */
    bool on_gpu;
    lsp_csr there; /* A on the GPU */
    lsp_ctx *base, *ours;
    peer_cusparse *cusparse; /* NULL: not here */
} race;

typedef struct entrant {
    const race *race;
    const peer_product *peer;         /* NULL: ours, or */
    const peer_gpu_product *gpu_peer; /* NULL: ours */
    void *self;
    lsp_spgemm_plan *plan; /* NULL: made anew each time */
    bool update;           /* C stays, and its values are computed again */
    lsp_csr C;             /* ours */
} entrant;

/* cuSPARSE as the other peers are seen; each algorithm is one. */
static bool cusparse_multiply(void *self) { return peer_cusparse_product_run(self); }
static void cusparse_view(void *self, lsp_csr *C) { peer_cusparse_product_view(self, C); }
static void cusparse_release(void *self) { peer_cusparse_product_release(self); }
static void cusparse_destroy(void *self) { peer_cusparse_product_destroy(self); }
static const char *cusparse_why(void *self) { return peer_cusparse_product_why(self); }
static int64_t cusparse_peak(void *self) { return peer_cusparse_product_peak(self); }
static const peer_gpu_product peer_of_cusparse = {.multiply = cusparse_multiply,
                                                  .view = cusparse_view,
                                                  .release = cusparse_release,
                                                  .destroy = cusparse_destroy,
                                                  .why = cusparse_why,
                                                  .peak = cusparse_peak};

static int64_t index_at(const void *array, lsp_type type, int64_t i) {
    return type == LSP_I32 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}
static double value_at(const lsp_csr *A, int64_t p) {
    return A->val_type == LSP_F64 ? ((const double *)A->val)[p] : (double)((const float *)A->val)[p];
}

static bool is_close(const race *r, const lsp_csr *C, int64_t p, double tolerance) {
    const double x = value_at(C, p), y = value_at(&r->C, p);
    return x == y || (isnan(x) && isnan(y)) || (tolerance > 0 && fabs(x - y) <= tolerance * value_at(&r->bound, p));
}

/* Same pattern; each value within `tolerance` of the bound, or the same infinity or NaN. */
static bool agrees(bench_contender *c, const race *r, const lsp_csr *C, double tolerance) {
    int64_t fault = INT64_MAX;
    if (C->rows != r->C.rows || C->cols != r->C.cols || C->nnz != r->C.nnz) {
        return bench_why(c, "%lld x %lld with %lld entries, not %lld x %lld with %lld", (long long)C->rows,
                         (long long)C->cols, (long long)C->nnz, (long long)r->C.rows, (long long)r->C.cols,
                         (long long)r->C.nnz);
    }
    for (int64_t i = 0; i <= C->rows; i++) {
        if (index_at(C->rowptr, C->rowptr_type, i) != index_at(r->C.rowptr, r->C.rowptr_type, i)) {
            return bench_why(c, "row %lld does not have as many entries as it must", (long long)i);
        }
    }
#pragma omp parallel for reduction(min : fault)
    for (int64_t p = 0; p < C->nnz; p++) {
        if (p < fault && (index_at(C->col, C->col_type, p) != index_at(r->C.col, r->C.col_type, p) ||
                          !is_close(r, C, p, tolerance))) {
            fault = p;
        }
    }
    if (fault == INT64_MAX) {
        return true;
    }
    return bench_why(c, "entry %lld is %.17g in column %lld, not %.17g in column %lld", (long long)fault,
                     value_at(C, fault), (long long)index_at(C->col, C->col_type, fault), value_at(&r->C, fault),
                     (long long)index_at(r->C.col, r->C.col_type, fault));
}

static bool run_ours(bench_contender *c) {
    entrant *e = c->state;
    const lsp_csr *A = e->race->on_gpu ? &e->race->there : &e->race->A;
    const lsp_status status = e->update && e->C.rowptr ? lsp_spgemm_update(e->plan, A, A, &e->C)
                              : e->plan                ? lsp_spgemm_execute(e->plan, A, A, &e->C)
                                                       : lsp_spgemm(c->ctx, A, A, NULL, &e->C, NULL);
    return bench_must(c, c->ctx, status) && (!e->race->on_gpu || bench_must(c, c->ctx, lsp_ctx_sync(c->ctx)));
}
static void release_ours(bench_contender *c) {
    entrant *e = c->state;
    if (!e->update) {
        lsp_csr_free(c->ctx, &e->C);
    }
}

/* The bits of the CPU's product, which lies on the host. */
static bool check_there(bench_contender *c) {
    const entrant *e = c->state;
    const lsp_csr_types types = {.rowptr_type = e->C.rowptr_type, .col_type = e->C.col_type};
    lsp_csr here = {.rows = 0};
    const bool same = bench_must(c, c->ctx, lsp_csr_copy(c->ctx, &e->C, &types, &here)) && agrees(c, e->race, &here, 0);
    lsp_csr_free(c->ctx, &here);
    return same;
}
/* On a GPU five times over. */
static bool check_ours(bench_contender *c) {
    const entrant *e = c->state;
    if (!e->race->on_gpu) {
        return agrees(c, e->race, &e->C, 0) && (!e->update || (run_ours(c) && agrees(c, e->race, &e->C, 0)));
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

static bool run_peer(bench_contender *c) {
    const entrant *e = c->state;
    return e->peer->multiply(e->self) || bench_why(c, "%s could not multiply", c->who);
}
static void release_peer(bench_contender *c) {
    const entrant *e = c->state;
    e->peer->release(e->self);
}
static bool check_peer(bench_contender *c) {
    const entrant *e = c->state;
    lsp_csr C;
    e->peer->view(e->self, &C);
    return agrees(c, e->race, &C, C.val_type == LSP_F64 ? 1e-12 : 1e-5);
}

/* ---- peers on the GPU ---- */

static bool run_gpu_peer(bench_contender *c) {
    const entrant *e = c->state;
    return e->gpu_peer->multiply(e->self) || bench_why(c, "%s", e->gpu_peer->why(e->self));
}
static void release_gpu_peer(bench_contender *c) {
    const entrant *e = c->state;
    e->gpu_peer->release(e->self);
}

static uint64_t hash_of(const lsp_csr *C) {
    const unsigned char *bytes = C->val;
    const size_t width = lsp_type_bytes(C->val_type);
    uint64_t hash = 0;
#pragma omp parallel for reduction(+ : hash)
    for (int64_t p = 0; p < C->nnz; p++) {
        uint64_t bits = 0;
        memcpy(&bits, bytes + (size_t)p * width, width);
        bits = (bits ^ (uint64_t)p) * 0x9E3779B97F4A7C15u;
        hash += (bits ^ bits >> 29) * 0xBF58476D1CE4E5B9u;
    }
    return hash;
}

/* One result right; five runs the same bits or not. Columns may come in any order. */
static bool check_gpu_peer(bench_contender *c) {
    entrant *e = c->state;
    lsp_ctx *ctx = e->race->ours;
    uint64_t first = 0;
    bool sound = true;
    c->peak_bytes = e->gpu_peer->peak(e->self);
    c->bits = BENCH_BITS_SAME;
    for (int run = 0; run < 5 && sound; run++) {
        lsp_csr there, here = {.rows = 0};
        if (run > 0) {
            release_gpu_peer(c);
            sound = run_gpu_peer(c);
        }
        e->gpu_peer->view(e->self, &there);
        const lsp_csr_types types = {.rowptr_type = there.rowptr_type, .col_type = there.col_type};
        sound = sound && bench_must(c, ctx, lsp_csr_copy(ctx, &there, &types, &here)) &&
                bench_must(c, e->race->base, lsp_csr_sort(e->race->base, &here)) &&
                (run > 0 || agrees(c, e->race, &here, here.val_type == LSP_F64 ? 1e-12 : 1e-5));
        const uint64_t hash = sound ? hash_of(&here) : 0;
        first = run > 0 ? first : hash;
        c->bits = hash == first ? c->bits : BENCH_BITS_VARY;
        lsp_csr_free(ctx, &here);
    }
    return sound;
}

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

/* bound = |A|*|A|, made as C was. */
static bool make_bound(bench *b, race *r, const lsp_spgemm_options *how) {
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

/* A in int32 and the precision wanted, C by the reference, and the bound. */
static bool prepare(bench *b, race *r, const char *spec, const char *file, lsp_type precision) {
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
    /* on a GPU, where workloads are large, the CPU's fast product says what is right: its bits are the reference's */
    const lsp_csr_types there = {.where = LSP_CUDA};
    const lsp_spgemm_options *how = r->on_gpu ? NULL : &reference;
    return bench_ok(b, b->base, lsp_spgemm(b->base, &r->A, &r->A, how, &r->C, NULL)) && make_bound(b, r, how) &&
           (!r->on_gpu || bench_ok(b, b->ours, lsp_csr_copy(b->ours, &r->A, &there, &r->there)));
}

/* The library once more, with a plan: only values have changed, of a new C or of the one that is there. */
static int enter_plan(bench *b, const race *r, bool update, bench_contender *contenders, entrant *entrants, int count) {
    entrants[count] = (entrant){.race = r, .update = update};
    const lsp_csr *A = r->on_gpu ? &r->there : &r->A;
    if (!bench_ok(b, b->ours, lsp_spgemm_plan_create(b->ours, A, A, NULL, &entrants[count].plan))) {
        return count;
    }
    contenders[count] = contenders[0];
    contenders[count].again = true;
    snprintf(contenders[count].who, sizeof contenders[count].who, update ? "libsparse:update" : "libsparse:plan");
    return count + 1;
}

static void enter_gpu_peer(const race *r, const char *who, const peer_gpu_product *peer, void *self,
                           bench_contender *contender, entrant *e) {
    *e = (entrant){.race = r, .gpu_peer = peer, .self = self};
    *contender = (bench_contender){.threads = 1,
                                   .run = run_gpu_peer,
                                   .check = check_gpu_peer,
                                   .release = release_gpu_peer,
                                   .on_gpu = true,
                                   .peak_bytes = -1};
    snprintf(contender->who, sizeof contender->who, "%s", who);
}

static int enter_gpu_peers(const race *r, bench_contender *contenders, entrant *entrants, int count) {
    for (int way = 0; way < PEER_CUSPARSE_WAYS && r->cusparse; way++) {
        char who[32];
        snprintf(who, sizeof who, "cusparse:%s", peer_cusparse_names[way]);
        void *self = peer_cusparse_product_create(r->cusparse, (peer_cusparse_way)way, &r->there, &r->there);
        if (self) {
            enter_gpu_peer(r, who, &peer_of_cusparse, self, contenders + count, entrants + count);
            contenders[count].again = way == PEER_CUSPARSE_REUSE;
            count++;
        }
    }
    const peer_gpu_product *esc = PEER_CUB(peer_esc);
    void *self = esc ? esc->prepare(&r->there) : NULL;
    if (self) {
        enter_gpu_peer(r, "cub_expand_sort", esc, self, contenders + count, entrants + count);
        count++;
    }
    return count;
}

static int enter_peer(bench *b, const race *r, const char *who, const peer_product *peer, bench_contender *contenders,
                      entrant *entrants, int count) {
    if (!peer || (r->A.val_type == LSP_F32 && !peer->f32)) {
        return count;
    }
    entrants[count] = (entrant){.race = r, .peer = peer, .self = peer->prepare(&r->A, b->threads)};
    contenders[count] = (bench_contender){
        .threads = peer->parallel ? b->threads : 1, .run = run_peer, .check = check_peer, .release = release_peer};
    snprintf(contenders[count].who, sizeof contenders[count].who, "%s", who);
    if (!entrants[count].self) {
        bench_fail(b, EXIT_MEMORY, "%s could not take the matrix", who);
        return count;
    }
    return count + 1;
}

/* MKL is there or not at run time. */
static int enter_mkl(bench *b, const race *r, bench_contender *contenders, entrant *entrants, int count) {
    char why[256] = "";
    if (peer_mkl_load(why, sizeof why)) {
        count = enter_peer(b, r, "mkl", &peer_mkl, contenders, entrants, count);
        const int updates = enter_peer(b, r, "mkl:update", &peer_mkl_update, contenders, entrants, count);
        for (; count < updates; count++) {
            contenders[count].again = true;
        }
    } else if (why[0]) {
        fprintf(stderr, "sparse-bench: MKL cannot be loaded: %s\n", why);
    }
    return count;
}

static int enter(bench *b, const race *r, bench_contender *contenders, entrant *entrants) {
    const int64_t products = count_products(&r->A), bytes = csr_bytes(&r->A) + csr_bytes(&r->C);
    int count = 0;
    entrants[count] = (entrant){.race = r};
    contenders[count++] = (bench_contender){.who = "libsparse",
                                            .ours = true,
                                            .threads = b->threads,
                                            .run = run_ours,
                                            .check = check_ours,
                                            .release = release_ours,
                                            .on_gpu = r->on_gpu,
                                            .ctx = b->ours};
    if (r->on_gpu) {
        count = enter_plan(b, r, false, contenders, entrants, count);
        count = enter_plan(b, r, true, contenders, entrants, count);
        count = enter_gpu_peers(r, contenders, entrants, count);
    }
    for (int k = 0; k < PEERS && !r->on_gpu; k++) {
        count = enter_peer(b, r, peers[k].who, peers[k].product, contenders, entrants, count);
    }
    if (!r->on_gpu) {
        count = enter_mkl(b, r, contenders, entrants, count);
        count = enter_plan(b, r, true, contenders, entrants, count);
    }
    for (int k = 0; k < count; k++) {
        contenders[k].state = entrants + k;
        contenders[k].bytes = bytes;
        contenders[k].products = products;
        contenders[k].nnz_c = r->C.nnz;
    }
    return count;
}

static void run(bench *b, const char *workload, const char *file) {
    const char *slash = strrchr(workload, '/');
    char spec[128], path[4096];
    race r = {.on_gpu = b->device != NULL, .base = b->base, .ours = b->ours};
    char why[256];
    snprintf(spec, sizeof spec, "%.*s", (int)(slash - workload), workload);
    if (!file && strstr(spec, ".mtx")) { /* one of ours */
        snprintf(path, sizeof path, "%s/%s", BENCH_MATRICES, spec);
        file = path;
    }
    if (prepare(b, &r, spec, file, strcmp(slash, "/f64") == 0 ? LSP_F64 : LSP_F32)) {
        bench_contender contenders[MOST_ENTRANTS];
        entrant entrants[MOST_ENTRANTS];
        if (r.on_gpu && !(r.cusparse = peer_cusparse_open(0, why, sizeof why))) {
            fprintf(stderr, "sparse-bench: %s\n", why);
        }
        const int count = enter(b, &r, contenders, entrants);
        bench_race(b, workload, contenders, count);
        for (int k = 1; k < count; k++) {
            lsp_csr_free(b->ours, &entrants[k].C);
            lsp_spgemm_plan_destroy(entrants[k].plan);
            if (entrants[k].peer) {
                entrants[k].peer->destroy(entrants[k].self);
            } else if (entrants[k].gpu_peer) {
                entrants[k].gpu_peer->destroy(entrants[k].self);
            }
        }
        peer_cusparse_close(r.cusparse);
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
                                    .absent = absent,
                                    .min_time = 1,
                                    .on_gpu = true};
