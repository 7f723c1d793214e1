/* NVIDIA's cuSPARSE, to compare with: loaded when somebody asks for it; its absence is a sentence. Used by spgemm-cli
 * and by sparse-bench, never by the library. */
#ifndef LSP_CLI_PEER_CUSPARSE_H
#define LSP_CLI_PEER_CUSPARSE_H

#include "libsparse.h"

/* Its algorithms (ALG1 is its default), and the product with values anew for a structure it has seen. */
typedef enum peer_cusparse_way {
    PEER_CUSPARSE_ALG1,
    PEER_CUSPARSE_ALG2,
    PEER_CUSPARSE_ALG3,
    PEER_CUSPARSE_REUSE,
    PEER_CUSPARSE_WAYS
} peer_cusparse_way;
extern const char *const peer_cusparse_names[PEER_CUSPARSE_WAYS]; /* "alg1", ... */

typedef struct peer_cusparse peer_cusparse;
/* On GPU `ordinal`. NULL, and a sentence in `why`: it cannot be used here. */
peer_cusparse *peer_cusparse_open(int ordinal, char *why, size_t why_bytes);
void peer_cusparse_close(peer_cusparse *c);
int peer_cusparse_version(const peer_cusparse *c); /* 12700 of 12.7.0 */

/* C = A*B, again and again; A and B lie on the GPU, with int32 indices and values, and stay where they are.
 * To reuse a structure is to see it here; `run` then only computes. NULL: out of memory on the host. */
typedef struct peer_cusparse_product peer_cusparse_product;
peer_cusparse_product *peer_cusparse_product_create(peer_cusparse *c, peer_cusparse_way way, const lsp_csr *A,
                                                    const lsp_csr *B);
void peer_cusparse_product_destroy(peer_cusparse_product *p);
bool peer_cusparse_product_run(peer_cusparse_product *p);              /* and waits; false: `why` */
void peer_cusparse_product_view(peer_cusparse_product *p, lsp_csr *C); /* C, on the GPU */
void peer_cusparse_product_release(peer_cusparse_product *p);          /* drops C, unless its structure is kept */
const char *peer_cusparse_product_why(const peer_cusparse_product *p);
int64_t peer_cusparse_product_peak(const peer_cusparse_product *p); /* bytes, C among them */

#endif
