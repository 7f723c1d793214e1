/* Transposes by NVIDIA's cuSPARSE: csr2csc.c, in a build that has its header. */
#ifndef LSP_BENCH_PEERS_CSR2CSC_H
#define LSP_BENCH_PEERS_CSR2CSC_H

#include "libsparse.h"

typedef struct peer_csr2csc peer_csr2csc;
peer_csr2csc *peer_csr2csc_open(void); /* on the current GPU; NULL: cannot be used here */
void peer_csr2csc_close(peer_csr2csc *p);
int peer_csr2csc_version(const peer_csr2csc *p); /* 12700 for 12.7.0 */

/* A^T into new memory of the GPU, where A lies with int32 indices and values. Waits. */
bool peer_csr2csc_run(peer_csr2csc *p, const lsp_csr *A);
void peer_csr2csc_view(const peer_csr2csc *p, lsp_csr *B);
void peer_csr2csc_release(peer_csr2csc *p); /* frees the result */

#endif
