/* The peers of functions of matrices: Eigen and MKL on the CPU, cuSPARSE on a GPU, each where it has the function. A
 * matrix must have the right bits; an array of sums may differ by rounding. */
#include "bench/peers/mkl.h"
#include "matrices_race.h"

#ifndef BENCH_HAVE_CUSPARSE
#define BENCH_HAVE_CUSPARSE 0
#endif

const char *bench_matrices_absent(int i) {
    const peer_matrices *eigen = PEER_EIGEN(peer_eigen_matrices);
    return i == 0 && !eigen ? "Eigen (libeigen3-dev)" : NULL;
}

static char cusparse_version[32]; /* "": not loaded yet */

const char *bench_matrices_version(bool on_gpu, int i, const char **who) {
    const peer_matrices *eigen = PEER_EIGEN(peer_eigen_matrices);
    if (on_gpu) {
        *who = "cusparse";
        return i == 0 && cusparse_version[0] ? cusparse_version : NULL;
    }
    if (eigen && i-- == 0) {
        *who = "eigen";
        return eigen->version;
    }
    *who = "mkl";
    return i == 0 ? peer_mkl_version() : NULL;
}

/* ---- on the CPU ---- */

static bool run_peer(bench_contender *c) {
    const matrices_peer *p = c->state;
    return p->peer->run(p->self) || bench_why(c, "%s failed", c->who);
}
static bool check_peer(bench_contender *c) {
    const matrices_peer *p = c->state;
    const matrices_race *r = p->race;
    const double *out = NULL;
    lsp_csr C;
    p->peer->view(p->self, &C, &out);
    return r->count > 0 ? bench_matrices_check_out(c, r, out, 1e-12) : bench_matrices_check(c, r, r->b->base, &C);
}
static void release_peer(bench_contender *c) {
    const matrices_peer *p = c->state;
    p->peer->release(p->self);
}

/* Returns the number of peers entered: one, or none if this one has no such function. */
static int enter_peer(matrices_race *r, const char *who, const peer_matrices *peer, bench_contender *c) {
    const matrices_place *h = &r->here;
    const peer_matrices_job job = {.function = r->function,
                                   .A = &h->A,
                                   .B = h->B.rows ? &h->B : NULL,
                                   .rows = h->rows,
                                   .cols = h->cols,
                                   .list = h->list,
                                   .threads = r->b->threads};
    void *self = peer ? peer->prepare(&job) : NULL;
    if (!self) {
        return 0;
    }
    matrices_peer *p = r->peers + r->peer_count++;
    *p = (matrices_peer){.race = r, .peer = peer, .self = self};
    *c = (bench_contender){.threads = peer->parallel ? r->b->threads : 1,
                           .run = run_peer,
                           .check = check_peer,
                           .release = release_peer,
                           .state = p};
    snprintf(c->who, sizeof c->who, "%s", who);
    return 1;
}

/* ---- on a GPU ---- */

#if BENCH_HAVE_CUSPARSE
static bool run_cusparse(bench_contender *c) {
    const matrices_race *r = c->state;
    const lsp_csr *A = &r->there.A;
    return (r->function == PEER_TRANSPOSE ? peer_cusparse_matrices_transpose(r->cusparse, A)
                                          : peer_cusparse_matrices_add(r->cusparse, A, &r->there.B)) ||
           bench_why(c, "cuSPARSE failed");
}
static bool check_cusparse(bench_contender *c) {
    const matrices_race *r = c->state;
    lsp_csr C;
    peer_cusparse_matrices_view(r->cusparse, &C);
    return bench_matrices_check(c, r, r->b->ours, &C);
}
static void release_cusparse(bench_contender *c) {
    const matrices_race *r = c->state;
    peer_cusparse_matrices_release(r->cusparse);
}
static int enter_cusparse(matrices_race *r, bench_contender *c) {
    const peer_function f = r->function;
    if ((f != PEER_ADD && f != PEER_ADD_TRANSPOSED && f != PEER_TRANSPOSE) ||
        !(r->cusparse = peer_cusparse_matrices_open())) {
        return 0;
    }
    const int version = peer_cusparse_matrices_version(r->cusparse); /* 12700 means 12.7.0 */
    snprintf(cusparse_version, sizeof cusparse_version, "cuSPARSE %d.%d.%d", version / 1000, version / 100 % 10,
             version % 100);
    *c = (bench_contender){.who = "cusparse",
                           .threads = 1,
                           .run = run_cusparse,
                           .check = check_cusparse,
                           .release = release_cusparse,
                           .state = r,
                           .on_gpu = true,
                           .peak_bytes = -1};
    return 1;
}
static void leave_cusparse(matrices_race *r) { peer_cusparse_matrices_close(r->cusparse); }
#else
static int enter_cusparse(matrices_race *r, bench_contender *c) { return (void)r, (void)c, 0; }
static void leave_cusparse(matrices_race *r) { (void)r; }
#endif

int bench_matrices_enter_peers(matrices_race *r, bench_contender *contenders) {
    char why[256] = "";
    if (r->b->device) {
        return enter_cusparse(r, contenders);
    }
    int count = enter_peer(r, "eigen", PEER_EIGEN(peer_eigen_matrices), contenders);
    if (peer_mkl_load(why, sizeof why)) {
        count += enter_peer(r, "mkl", &peer_mkl_matrices, contenders + count);
    } else if (why[0]) {
        fprintf(stderr, "sparse-bench: MKL cannot be loaded: %s\n", why);
    }
    return count;
}

void bench_matrices_drop_peers(matrices_race *r) {
    for (int k = 0; k < r->peer_count; k++) {
        r->peers[k].peer->destroy(r->peers[k].self);
    }
    leave_cusparse(r);
}
