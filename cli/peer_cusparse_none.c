/* The build without CUDA: opening cuSPARSE fails with a message. */
#include "peer_cusparse.h"

#include <stdio.h>

const char *const peer_cusparse_names[PEER_CUSPARSE_WAYS] = {"alg1", "alg2", "alg3", "reuse"};

peer_cusparse *peer_cusparse_open(int ordinal, char *why, size_t why_bytes) {
    (void)ordinal;
    snprintf(why, why_bytes, "cuSPARSE cannot be used: this program was built without it");
    return NULL;
}
void peer_cusparse_close(peer_cusparse *c) { (void)c; }
int peer_cusparse_version(const peer_cusparse *c) {
    (void)c;
    return 0;
}

peer_cusparse_product *peer_cusparse_product_create(peer_cusparse *c, peer_cusparse_way way, const lsp_csr *A,
                                                    const lsp_csr *B) {
    (void)c, (void)way, (void)A, (void)B;
    return NULL;
}
void peer_cusparse_product_destroy(peer_cusparse_product *p) { (void)p; }
bool peer_cusparse_product_run(peer_cusparse_product *p) {
    (void)p;
    return false;
}
void peer_cusparse_product_view(peer_cusparse_product *p, lsp_csr *C) { (void)p, (void)C; }
void peer_cusparse_product_release(peer_cusparse_product *p) { (void)p; }
const char *peer_cusparse_product_why(const peer_cusparse_product *p) {
    (void)p;
    return "";
}
int64_t peer_cusparse_product_peak(const peer_cusparse_product *p) {
    (void)p;
    return 0;
}
