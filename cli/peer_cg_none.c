/* The build without CUDA: opening cuSPARSE and cuBLAS fails with a message. */
#include "peer_cg.h"

#include <stdio.h>

const char *const peer_cg_names[PEER_CG_WAYS] = {"streamed", "graph"};

peer_cg *peer_cg_open(int ordinal, char *why, size_t why_bytes) {
    (void)ordinal;
    snprintf(why, why_bytes, "cuSPARSE cannot be used: this program was built without it");
    return NULL;
}
void peer_cg_close(peer_cg *c) { (void)c; }
const char *peer_cg_why(const peer_cg *c) {
    (void)c;
    return "";
}
bool peer_cg_prepare(peer_cg *c, const lsp_csr *A, const void *inverse) {
    (void)c, (void)A, (void)inverse;
    return false;
}
bool peer_cg_solve(peer_cg *c, peer_cg_way way, const void *b, void *x, int64_t iterations, peer_cg_result *result) {
    (void)c, (void)way, (void)b, (void)x, (void)iterations, (void)result;
    return false;
}
bool peer_cg_nas(peer_cg *c, peer_cg_way way, const lsp_nas_class *params, peer_cg_result *result) {
    (void)c, (void)way, (void)params, (void)result;
    return false;
}
