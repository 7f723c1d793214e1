/* The peers of Y = op(A) X. Those that read the CSR as it is face the library's call without a plan; all of them face
 * its plans. */
#include "bench/peers/cusparse_spmv.h"
#include "bench/peers/mkl.h"
#include "spmv_race.h"
#include <string.h>

#if BENCH_HAVE_MKL
#define PEER_MKL(p) &(p)
#else
#define PEER_MKL(p) NULL
#endif

static const struct {
    const char *who, *package;
    const peer_spmv *peer;
    bool on_gpu;
} peers[] = {{"plain", NULL, &peer_plain_spmv, false},
             {"graphblas", "GraphBLAS (libgraphblas-dev)", PEER_GRAPHBLAS(peer_graphblas_spmv), false},
             {"eigen", "Eigen (libeigen3-dev)", PEER_EIGEN(peer_eigen_spmv), false},
             {"petsc", "PETSc (petsc-dev)", PEER_PETSC(peer_petsc_spmv), false},
             {"mkl", NULL, PEER_MKL(peer_mkl_spmv), false},
             {"mkl:plan", NULL, PEER_MKL(peer_mkl_spmv_plan), false},
             {"plain", NULL, PEER_CUB(peer_plain_spmv_gpu), true}};
enum { PEERS = sizeof peers / sizeof *peers };

const char *bench_spmv_absent(int i) {
    for (int k = 0; k < PEERS; k++) {
        if (!peers[k].peer && peers[k].package && i-- == 0) {
            return peers[k].package;
        }
    }
    return NULL;
}

/* Of the peers that are loaded at run time: NULL before that. */
static const char *loaded_version(bool on_gpu, const char **who) {
#if BENCH_HAVE_CUSPARSE
    if (on_gpu) {
        *who = "cusparse";
        return peer_cusparse_spmv_version();
    }
#endif
    *who = "mkl";
    return on_gpu ? NULL : peer_mkl_version();
}

const char *bench_spmv_version(bool on_gpu, int i, const char **who) {
    for (int k = 0; k < PEERS; k++) {
        if (peers[k].peer && peers[k].on_gpu == on_gpu && peers[k].peer->version && i-- == 0) {
            *who = peers[k].who;
            return peers[k].peer->version;
        }
    }
    return i == 0 ? loaded_version(on_gpu, who) : NULL;
}

static void enter(spmv_race *r, const char *who, const peer_spmv *peer) {
    bench *b = r->b;
    const peer_spmv_job job = {.A = bench_spmv_matrix(r),
                               .type = r->type,
                               .vectors = r->vectors,
                               .transpose = r->transpose,
                               .x = r->x,
                               .y = r->y,
                               .threads = b->threads,
                               .stream = b->device ? bench_device_stream(b->device) : NULL};
    char why[200] = "";
    if (!peer || !peer->offers(&job)) {
        return;
    }
    const double start = bench_now();
    void *self = peer->prepare(&job, why, sizeof why);
    const double seconds = bench_now() - start;
    if (!self) {
        if (why[0]) {
            fprintf(stderr, "sparse-bench: %s: %s\n", who, why);
        }
        return;
    }
    bench_contender *c = r->contenders + r->count;
    spmv_entrant *e = r->entrants + r->count++;
    *c = (bench_contender){.again = peer->planned, .peak_bytes = -1, .plan_time = peer->planned ? seconds : 0};
    *e = (spmv_entrant){.peer = peer, .self = self};
    snprintf(c->who, sizeof c->who, "%s", who);
    bench_spmv_dress(r, c, e);
    c->threads = r->b->device || !peer->parallel ? 1 : b->threads;
}

void bench_spmv_enter_peers(spmv_race *r) {
    for (int k = 0; k < PEERS; k++) {
        if (peers[k].on_gpu == (r->b->device != NULL)) {
            enter(r, peers[k].who, peers[k].peer);
        }
    }
#if BENCH_HAVE_CUSPARSE
    for (int way = 0; r->b->device && way < PEER_SPMV_WAYS; way++) {
        enter(r, peer_cusparse_spmv_names[way], peer_cusparse_spmv + way);
    }
#endif
}

void bench_spmv_drop_peers(spmv_race *r) {
    for (int k = 0; k < r->count; k++) {
        if (r->entrants[k].peer) {
            r->entrants[k].peer->destroy(r->entrants[k].self);
        }
    }
}
