/* Conjugate gradients by NVIDIA's cuSPARSE and cuBLAS, for comparisons; the library never uses them. They are loaded at
 * run time; if one is missing, peer_cg_open fails with a message. */
#pragma once

#include "libsparse.h"
#include "libsparse/unstable.h"

/* Both do the same work, without a wait inside: calls on a stream, or calls captured in a CUDA graph. */
typedef enum peer_cg_way { PEER_CG_STREAMED, PEER_CG_GRAPH, PEER_CG_WAYS } peer_cg_way;
extern const char *const peer_cg_names[PEER_CG_WAYS]; /* "streamed", "graph" */

typedef struct peer_cg peer_cg;
/* Opens both on GPU `ordinal`. Returns NULL and writes a message to `why` if they cannot be used. */
peer_cg *peer_cg_open(int ordinal, char *why, size_t why_bytes);
void peer_cg_close(peer_cg *c);
const char *peer_cg_why(const peer_cg *c); /* the last failure of the functions below */

/* Prepares solves with A, on the GPU: rowptr and col of one type, values f64 or f32. `inverse` (NULL: none) is the
 * inverse of its diagonal there. Both must stay until the next call or _close. */
bool peer_cg_prepare(peer_cg *c, const lsp_csr *A, const void *inverse);

typedef struct peer_cg_result {
    double seconds;  /* of the iterations */
    double residual; /* |b - A x| / |b|, computed anew */
    double zeta;     /* of the NAS benchmark */
} peer_cg_result;

/* Does a fixed number of iterations from x = 0; b and x are on the GPU. */
bool peer_cg_solve(peer_cg *c, peer_cg_way way, const void *b, void *x, int64_t iterations, peer_cg_result *result);

/* Runs the NAS benchmark: an untimed iteration, then the timed ones. A is f64. */
bool peer_cg_nas(peer_cg *c, peer_cg_way way, const lsp_nas_class *params, peer_cg_result *result);
