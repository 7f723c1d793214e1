/* The peers of C = A*B: on the CPU those of the table and MKL, on a GPU the algorithms of cuSPARSE and an
 * expand-sort-compress by CUB. A peer may differ from the right result by rounding: by 1e-12 of |A|*|B|, f32 1e-5. */
#include "bench/peers/mkl.h"
#include "spgemm_race.h"

static const struct {
    const char *who, *package;
    const peer_product *product;
} peers[] = {{"dense", NULL, &peer_dense},
             {"list", NULL, &peer_list},
             {"bits", NULL, &peer_bits},
             {"graphblas", "GraphBLAS (libgraphblas-dev)", PEER_GRAPHBLAS(peer_graphblas)},
             {"eigen", "Eigen (libeigen3-dev)", PEER_EIGEN(peer_eigen_product)},
             {"cholmod", "CHOLMOD (libsuitesparse-dev)", PEER_CHOLMOD(peer_cholmod_product)},
             {"petsc", "PETSc (petsc-dev)", PEER_PETSC(peer_petsc)}};
enum { PEERS = sizeof peers / sizeof *peers };
/* On a CPU the library (a call, an update), the table, MKL (a call, an update); on a GPU the library (a call, a plan,
 * an update), cuSPARSE, CUB. */
_Static_assert(2 + PEERS + 2 <= SPGEMM_MOST_ENTRANTS && 3 + (int)PEER_CUSPARSE_WAYS + 1 <= SPGEMM_MOST_ENTRANTS,
               "a race has more contenders than SPGEMM_MOST_ENTRANTS");

const char *bench_spgemm_absent(int i) {
    for (int k = 0; k < PEERS; k++) {
        if (!peers[k].product && i-- == 0) {
            return peers[k].package;
        }
    }
    return NULL;
}

static char cusparse_version[32]; /* "": not loaded yet */

/* On a GPU: cuSPARSE, known once it is loaded, then CUB. */
static const char *gpu_version(int i, const char **who) {
    const peer_gpu_product *esc = PEER_CUB(peer_esc);
    if (cusparse_version[0] && i-- == 0) {
        *who = "cusparse";
        return cusparse_version;
    }
    *who = "cub_expand_sort";
    return esc && i == 0 ? esc->version : NULL;
}

const char *bench_spgemm_version(bool on_gpu, int i, const char **who) {
    if (on_gpu) {
        return gpu_version(i, who);
    }
    for (int k = 0; k < PEERS; k++) {
        if (peers[k].product && peers[k].product->version && i-- == 0) {
            *who = peers[k].who;
            return peers[k].product->version;
        }
    }
    *who = "mkl";
    return i == 0 ? peer_mkl_version() : NULL;
}

/* cuSPARSE behind the interface of the other peers on a GPU. Each of its algorithms is a contender. */
static bool cusparse_multiply(void *self) { return peer_cusparse_product_run(self); }
static void cusparse_view(void *self, lsp_csr *C) { peer_cusparse_product_view(self, C); }
static void cusparse_release(void *self) { peer_cusparse_product_release(self); }
static void cusparse_destroy(void *self) { peer_cusparse_product_destroy(self); }
static const char *cusparse_why(void *self) { return peer_cusparse_product_why(self); }
static int64_t cusparse_peak(void *self) { return peer_cusparse_product_peak(self); }
static const peer_gpu_product cusparse = {.multiply = cusparse_multiply,
                                          .view = cusparse_view,
                                          .release = cusparse_release,
                                          .destroy = cusparse_destroy,
                                          .why = cusparse_why,
                                          .peak = cusparse_peak};

/* ---- peers on the CPU ---- */

static bool run_peer(bench_contender *c) {
    const spgemm_entrant *e = c->state;
    return e->peer->multiply(e->self) || bench_why(c, "%s could not multiply", c->who);
}
static void release_peer(bench_contender *c) {
    const spgemm_entrant *e = c->state;
    e->peer->release(e->self);
}
static bool check_peer(bench_contender *c) {
    const spgemm_entrant *e = c->state;
    lsp_csr C;
    e->peer->view(e->self, &C);
    return bench_spgemm_agrees(c, e->race, &C, C.val_type == LSP_F64 ? 1e-12 : 1e-5);
}

/* ---- peers on the GPU ---- */

static bool run_gpu_peer(bench_contender *c) {
    const spgemm_entrant *e = c->state;
    return e->gpu_peer->multiply(e->self) || bench_why(c, "%s", e->gpu_peer->why(e->self));
}
static void release_gpu_peer(bench_contender *c) {
    const spgemm_entrant *e = c->state;
    e->gpu_peer->release(e->self);
}

/* Checks the first of five runs and finds out whether all five gave the same bits. A peer may leave the columns of a
 * row in any order, so they are sorted on the host first. */
static bool check_gpu_peer(bench_contender *c) {
    spgemm_entrant *e = c->state;
    lsp_ctx *ctx = e->race->b->ours, *base = e->race->b->base;
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
        const lsp_csr_types types = {there.rowptr_type, there.col_type, .place = LSP_PLACE_HOST};
        sound = sound && bench_must(c, ctx, lsp_csr_copy(ctx, &there, &types, &here)) &&
                bench_must(c, base, lsp_csr_sort(base, &here)) &&
                (run > 0 || bench_spgemm_agrees(c, e->race, &here, here.val_type == LSP_F64 ? 1e-12 : 1e-5));
        const uint64_t hash = sound ? bench_spgemm_hash(&here) : 0;
        first = run > 0 ? first : hash;
        c->bits = hash == first ? c->bits : BENCH_BITS_VARY;
        lsp_csr_free(ctx, &here);
    }
    return sound;
}

/* ---- entering ---- */

/* Fills in the next contender; the caller raises r->count. */
static bench_contender *next_gpu(spgemm_race *r, const char *who, const peer_gpu_product *peer, void *self) {
    bench_contender *c = r->contenders + r->count;
    r->entrants[r->count] = (spgemm_entrant){.race = r, .gpu_peer = peer, .self = self};
    *c = (bench_contender){.threads = 1,
                           .run = run_gpu_peer,
                           .check = check_gpu_peer,
                           .release = release_gpu_peer,
                           .on_gpu = true,
                           .peak_bytes = -1};
    snprintf(c->who, sizeof c->who, "%s", who);
    return c;
}

static void enter_cusparse(spgemm_race *r) {
    const peer_factors f = bench_spgemm_factors(r);
    char why[256];
    r->cusparse = peer_cusparse_open(0, why, sizeof why);
    if (!r->cusparse) {
        fprintf(stderr, "sparse-bench: %s\n", why);
        return;
    }
    const int version = peer_cusparse_version(r->cusparse); /* 12700 means 12.7.0 */
    snprintf(cusparse_version, sizeof cusparse_version, "cuSPARSE %d.%d.%d", version / 1000, version / 100 % 10,
             version % 100);
    for (int way = 0; way < PEER_CUSPARSE_WAYS; way++) {
        char who[32];
        snprintf(who, sizeof who, "cusparse:%s", peer_cusparse_names[way]);
        void *self = peer_cusparse_product_create(r->cusparse, (peer_cusparse_way)way, f.A, f.B);
        if (self) {
            next_gpu(r, who, &cusparse, self)->again = way == PEER_CUSPARSE_REUSE;
            r->count++;
        }
    }
}

static void enter_cub(spgemm_race *r) {
    const peer_gpu_product *esc = PEER_CUB(peer_esc);
    const peer_factors f = bench_spgemm_factors(r);
    void *self = esc ? esc->prepare(&f) : NULL;
    if (self) {
        next_gpu(r, "cub_expand_sort", esc, self);
        r->count++;
    }
}

/* `again`: the peer knows the structure of C already. */
static void enter_peer(spgemm_race *r, const char *who, const peer_product *peer, bool again) {
    bench *b = r->b;
    const peer_factors f = bench_spgemm_factors(r);
    if (!peer || (f.A->val_type == LSP_F32 && !peer->f32) || (r->triple && !peer->triple)) {
        return;
    }
    void *self = peer->prepare(&f, b->threads);
    if (!self) {
        bench_fail(b, EXIT_MEMORY, "%s could not take the matrix", who);
        return;
    }
    bench_contender *c = r->contenders + r->count;
    r->entrants[r->count++] = (spgemm_entrant){.race = r, .peer = peer, .self = self};
    *c = (bench_contender){.threads = peer->parallel ? b->threads : 1,
                           .run = run_peer,
                           .check = check_peer,
                           .release = release_peer,
                           .again = again};
    snprintf(c->who, sizeof c->who, "%s", who);
}

static void enter_mkl(spgemm_race *r) {
    char why[256] = "";
    if (peer_mkl_load(why, sizeof why)) {
        enter_peer(r, "mkl", &peer_mkl, false);
        enter_peer(r, "mkl:update", &peer_mkl_update, true);
    } else if (why[0]) {
        fprintf(stderr, "sparse-bench: MKL cannot be loaded: %s\n", why);
    }
}

void bench_spgemm_enter_peers(spgemm_race *r) {
    if (r->on_gpu) {
        if (!r->triple) {
            enter_cusparse(r);
            enter_cub(r);
        }
        return;
    }
    for (int k = 0; k < PEERS; k++) {
        enter_peer(r, peers[k].who, peers[k].product, false);
    }
    enter_mkl(r);
}

void bench_spgemm_drop_peers(spgemm_race *r) {
    for (int k = 0; k < r->count; k++) {
        const spgemm_entrant *e = r->entrants + k;
        if (e->peer) {
            e->peer->destroy(e->self);
        } else if (e->gpu_peer) {
            e->gpu_peer->destroy(e->self);
        }
    }
    peer_cusparse_close(r->cusparse);
}
