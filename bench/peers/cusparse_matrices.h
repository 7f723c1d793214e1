/* Transposes and sums by NVIDIA's cuSPARSE: cusparse_matrices.c, in a build that has its header. */
#pragma once

#include "libsparse.h"

typedef struct peer_cusparse_matrices peer_cusparse_matrices;
peer_cusparse_matrices *peer_cusparse_matrices_open(void); /* on the current GPU; NULL: cannot be used here */
void peer_cusparse_matrices_close(peer_cusparse_matrices *p);
int peer_cusparse_matrices_version(const peer_cusparse_matrices *p); /* 12700 for 12.7.0 */

/* A^T, or A + B of values f64, into new memory of the GPU, where A and B lie with int32 indices and values. Each
 * waits. */
bool peer_cusparse_matrices_transpose(peer_cusparse_matrices *p, const lsp_csr *A);
bool peer_cusparse_matrices_add(peer_cusparse_matrices *p, const lsp_csr *A, const lsp_csr *B);
void peer_cusparse_matrices_view(const peer_cusparse_matrices *p, lsp_csr *C);
void peer_cusparse_matrices_release(peer_cusparse_matrices *p); /* frees the result */
