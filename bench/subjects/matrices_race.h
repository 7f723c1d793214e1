/* A race of one function of matrices: its operands, the right result, its contenders. matrices.c prepares it and enters
 * the library, matrices_peers.c enters the peers, matrices_check.c compares results. */
#pragma once

#include "bench/harness.h"
#include "bench/peers/cusparse_matrices.h"
#include "bench/peers/peers.h"

/* Where the function runs: on the host, or on the GPU. Arrays of values are f64, indices int32. */
typedef struct matrices_place {
    lsp_csr A, B;        /* B: the second operand, in memory of its own; empty for functions of one matrix */
    double *rows, *cols; /* 1 or -1 for each row and each column: a second call undoes the first */
    int32_t *list;       /* of extract: each row or column once */
    lsp_csr C;           /* the result; of scale a copy of A, scaled in place */
    double *out;         /* the result where it is no matrix */
} matrices_place;

enum { MATRICES_PEERS = 2 };
typedef struct matrices_race matrices_race;

/* The state of a peer on the host. */
typedef struct matrices_peer {
    const matrices_race *race;
    const peer_matrices *peer;
    void *self;
} matrices_peer;

struct matrices_race {
    bench *b;
    peer_function function;
    matrices_place here, there;
    int64_t count; /* doubles of `out`; 0: the result is a matrix */
    lsp_csr right; /* by the library on one thread of the host */
    double *right_out;
    double *bound; /* sums of absolute values: a peer's sum may differ by 1e-12 of them */
    lsp_csr_add_plan *add_plan;
    lsp_csr_transpose_plan *transpose_plan;
    lsp_csr planned; /* the result that the plan updates */
    lsp_csr copied;
    peer_cusparse_matrices *cusparse;
    matrices_peer peers[MATRICES_PEERS];
    int peer_count;
};

/* matrices_check.c: is C, which `ctx` can read, or `out` the right result? Else false, and `why` says where. */
bool bench_matrices_check(bench_contender *c, const matrices_race *r, lsp_ctx *ctx, const lsp_csr *C);
bool bench_matrices_check_out(bench_contender *c, const matrices_race *r, const double *out, double tolerance);

/* matrices_peers.c: enters the peers that have the function; returns their number. */
int bench_matrices_enter_peers(matrices_race *r, bench_contender *contenders);
void bench_matrices_drop_peers(matrices_race *r);
const char *bench_matrices_absent(int i);                                 /* as bench_subject.absent */
const char *bench_matrices_version(bool on_gpu, int i, const char **who); /* as bench_subject.version */
