/* A race of Y = op(A) X: its arrays and its contenders. spmv.c prepares it and enters the library, spmv_peers.c enters
 * the peers, spmv_run.c runs them, spmv_check.c says what is right. */
#pragma once

#include "bench/harness.h"
#include "bench/peers/peers.h"

enum { SPMV_MOST_ENTRANTS = 32 };

typedef struct spmv_entrant {
    struct spmv_race *race;
    const peer_spmv *peer; /* NULL: the library */
    void *self;            /* the peer's state */
    lsp_spmv_options options;
    lsp_spmv_plan *plan; /* of the library; NULL: one call */
} spmv_entrant;

typedef struct spmv_race {
    bench *b;
    lsp_csr A, there;                 /* on the host with int32 indices; a copy on the GPU, or empty */
    lsp_type type;                    /* of X, Y and sums */
    int vectors;                      /* columns of X and Y; their rows are contiguous */
    bool transpose;                   /* op(A) = A^T; otherwise A */
    int64_t in, out;                  /* elements of X and of Y */
    void *x, *y;                      /* where A is used */
    void *found;                      /* Y on the host */
    double *right;                    /* what Y must be, */
    double *allowance;                /* and how far it may be from that, in units of rounding of `type` */
    double seconds[LSP_SPMV_METHODS]; /* predicted for each method; 0: not offered */
    bench_contender contenders[SPMV_MOST_ENTRANTS];
    spmv_entrant entrants[SPMV_MOST_ENTRANTS]; /* entrants[k] is the state of contenders[k] */
    int count;
} spmv_race;

static inline const lsp_csr *bench_spmv_matrix(const spmv_race *r) { return r->b->device ? &r->there : &r->A; }

/* spmv_check.c: writes X (numbers from -1 to 1, of r->type) on the host, and makes r->right and r->allowance for it.
 * false: a complaint was printed. */
bool bench_spmv_make_right(spmv_race *r, void *x);
/* Checks Y as the contender left it, then runs it twice again: the bits must be right, and are compared. */
bool bench_spmv_check(bench_contender *c);
/* Sets all of Y to NaN. */
bool bench_spmv_wipe(const spmv_race *r);

/* spmv_run.c: the library's product, once. */
lsp_status bench_spmv_call(const spmv_entrant *e, lsp_ctx *ctx);
/* spmv_run.c: sets what all contenders have in common. */
void bench_spmv_dress(spmv_race *r, bench_contender *c, spmv_entrant *e);

/* spmv_peers.c: enters all peers that offer this race. */
void bench_spmv_enter_peers(spmv_race *r);
void bench_spmv_drop_peers(spmv_race *r);
const char *bench_spmv_absent(int i);                                 /* as bench_subject.absent */
const char *bench_spmv_version(bool on_gpu, int i, const char **who); /* as bench_subject.version */
