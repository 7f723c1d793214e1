/* Counts the triangles of a graph: the common neighbours of each pair of neighbours, where the pattern of the graph
 * itself is the mask, so that no other pair is computed.
 *
 *     triangles A.mtx
 *     triangles rmat:12:8 */
#include <libsparse.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "rmat:12:8";
    lsp_ctx *ctx = NULL;
    lsp_csr A = {0}, edges = {0}, back = {0}, both = {0}, L = {0}, common = {0};
    double triangles = 0;
    const lsp_csr_types pattern = {.drop_values = true};
    if (lsp_ctx_create(&ctx, NULL, NULL, 0) != LSP_OK) {
        return 1;
    }
    lsp_status status =
        strchr(name, ':') ? lsp_generate(ctx, name, 1, NULL, &A) : lsp_mtx_read(ctx, name, NULL, &A, NULL);
    /* an edge in one direction is an edge; L has each once, and no loops */
    status = status ? status : lsp_csr_copy(ctx, &A, &pattern, &edges);
    status = status ? status : lsp_csr_transpose(ctx, &edges, &back);
    status = status ? status : lsp_csr_add(ctx, 1, &edges, 1, &back, &both);
    status = status ? status : lsp_csr_triangle(ctx, &both, LSP_TRIANGLE_LOWER, -1, &L);
    const lsp_spgemm_options options = {.semiring = LSP_PLUS_PAIR, .transpose_b = true, .filter = {.mask = &L}};
    status = status ? status : lsp_spgemm(ctx, &L, &L, &options, &common, NULL);
    status = status ? status : lsp_csr_reduce(ctx, &common, LSP_REDUCE_SUM, LSP_REDUCE_ALL, &triangles);
    if (status == LSP_OK) {
        printf("%lld edges, %.0f triangles\n", (long long)L.nnz, triangles);
    } else {
        fprintf(stderr, "%s\n", lsp_last_error(ctx));
    }
    lsp_ctx_destroy(ctx);
    return status;
}
