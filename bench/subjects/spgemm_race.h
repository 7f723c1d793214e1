/* A race of C = A*B, or of C = R*A*B: its matrices and its contenders. spgemm.c prepares it and enters the library,
 * spgemm_peers.c enters the peers, spgemm_check.c compares results. */
#pragma once

#include "bench/harness.h"
#include "bench/peers/peers.h"
#include "peer_cusparse.h"

enum { SPGEMM_MOST_ENTRANTS = 16 };
enum { SPGEMM_R, SPGEMM_A, SPGEMM_B, SPGEMM_FACTORS };

/* What a contender multiplies with: the library, a peer on the CPU, or a peer on the GPU. */
typedef struct spgemm_entrant {
    const struct spgemm_race *race;
    const peer_product *peer;         /* NULL: not a peer on the CPU */
    const peer_gpu_product *gpu_peer; /* NULL: not a peer on the GPU */
    void *self;                       /* the peer's state */
    bool planned;                     /* of the library, by a plan; otherwise each run starts from nothing */
    lsp_spgemm_plan *plan;
    lsp_spgemm_triple_plan *triple_plan;
    bool update; /* keeps C and computes only its values again, by the plan */
    lsp_csr C;   /* the library's result */
} spgemm_entrant;

typedef struct spgemm_race {
    bench *b;
    bool on_gpu;
    bool triple;                   /* R*A*B; otherwise A*B */
    bool square;                   /* A*A: B is not used */
    lsp_csr here[SPGEMM_FACTORS];  /* R, A, B on the host, int32 indices */
    lsp_csr there[SPGEMM_FACTORS]; /* and on the GPU */
    lsp_csr C;                     /* the right result, on the host */
    lsp_csr bound;                 /* the product of absolute values: scales the rounding error that a peer may make */
    peer_cusparse *cusparse;       /* NULL: not available */
    bench_contender contenders[SPGEMM_MOST_ENTRANTS];
    spgemm_entrant entrants[SPGEMM_MOST_ENTRANTS]; /* entrants[k] is the state of contenders[k] */
    int count;
} spgemm_race;

/* spgemm_check.c: true if C has the pattern of r->C and each value differs from it by at most `tolerance` times the
 * bound; 0: the same bits. Infinities and NaNs must agree. Else false, and `why` says where. */
bool bench_spgemm_agrees(bench_contender *c, const spgemm_race *r, const lsp_csr *C, double tolerance);
/* A hash of the bits of all values. */
uint64_t bench_spgemm_hash(const lsp_csr *C);

/* The factors where they are multiplied. `B` is that of A*A too. */
static inline peer_factors bench_spgemm_factors(const spgemm_race *r) {
    const lsp_csr *all = r->on_gpu ? r->there : r->here;
    return (peer_factors){r->triple ? &all[SPGEMM_R] : NULL, &all[SPGEMM_A], &all[r->square ? SPGEMM_A : SPGEMM_B]};
}

/* spgemm_mesh.c: A of "mesh:K:BLOCK", a mesh of K x K vertices, each joined to those that are two triangles away at
 * most (19 entries a row). The vertices lie in the order of random blocks of BLOCK x BLOCK, at random inside a block:
 * so columns are local, but scattered. */
bool bench_spgemm_mesh(const spgemm_race *r, const char *spec, lsp_type precision, lsp_csr *A);

/* spgemm_peers.c: enters all peers that can multiply these factors. */
void bench_spgemm_enter_peers(spgemm_race *r);
void bench_spgemm_drop_peers(spgemm_race *r);
const char *bench_spgemm_absent(int i);                                 /* as bench_subject.absent */
const char *bench_spgemm_version(bool on_gpu, int i, const char **who); /* as bench_subject.version */
