/* Products by NVIDIA's cuSPARSE, for comparisons in spgemm-cli and sparse-bench; the library never uses it. It is
 * loaded at run time; if it is missing, peer_cusparse_open fails with a message. */
#pragma once

#include "libsparse.h"

/* The algorithms of cusparseSpGEMM (ALG1 is its default), and cusparseSpGEMMreuse, which multiplies new values by a
 * known structure. */
typedef enum peer_cusparse_way {
    PEER_CUSPARSE_ALG1,
    PEER_CUSPARSE_ALG2,
    PEER_CUSPARSE_ALG3,
    PEER_CUSPARSE_REUSE,
    PEER_CUSPARSE_WAYS
} peer_cusparse_way;
extern const char *const peer_cusparse_names[PEER_CUSPARSE_WAYS]; /* "alg1", ... */

typedef struct peer_cusparse peer_cusparse;
/* Opens cuSPARSE on GPU `ordinal`. Returns NULL and writes a message to `why` if it cannot be used. */
peer_cusparse *peer_cusparse_open(int ordinal, char *why, size_t why_bytes);
void peer_cusparse_close(peer_cusparse *c);
int peer_cusparse_version(const peer_cusparse *c); /* 12700 means 12.7.0 */

/* A product C = A*B that can be run many times. A and B are on the GPU with int32 indices and values (not patterns),
 * and must stay there until _destroy. PEER_CUSPARSE_REUSE computes the structure of C here, so _run computes values
 * only. Returns NULL if the host is out of memory. */
typedef struct peer_cusparse_product peer_cusparse_product;
peer_cusparse_product *peer_cusparse_product_create(peer_cusparse *c, peer_cusparse_way way, const lsp_csr *A,
                                                    const lsp_csr *B);
void peer_cusparse_product_destroy(peer_cusparse_product *p);
bool peer_cusparse_product_run(peer_cusparse_product *p);              /* waits for the GPU; false: see _why */
void peer_cusparse_product_view(peer_cusparse_product *p, lsp_csr *C); /* C, on the GPU */
void peer_cusparse_product_release(peer_cusparse_product *p);          /* frees C; REUSE keeps it */
const char *peer_cusparse_product_why(const peer_cusparse_product *p);
int64_t peer_cusparse_product_peak(const peer_cusparse_product *p); /* peak memory in bytes, C included */
