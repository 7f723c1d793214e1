/* Finds the shortest paths between all pairs of nodes: with min-plus, D*D joins two paths of up to k edges each to one
 * of up to 2k. The length of an edge is the absolute value of its entry.
 *
 *     paths poisson2d:12 */
#include <libsparse.h>
#include <stdio.h>

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "poisson2d:12";
    lsp_ctx *ctx = NULL;
    lsp_csr A = {0}, zeros = {0}, off = {0}, D = {0}, next = {0};
    const lsp_spgemm_options min_plus = {.semiring = LSP_MIN_PLUS};
    lsp_csr_difference difference = {0};
    double longest = 0;
    int rounds = 0;
    if (lsp_ctx_create(&ctx, NULL, NULL, 0) != LSP_OK) {
        return 1;
    }
    lsp_status status = lsp_generate(ctx, name, 1, NULL, &A);
    status = status ? status : lsp_csr_apply(ctx, &A, LSP_APPLY_ABS, 0);
    /* D: the edges, and 0 from each node to itself */
    status = status ? status : lsp_csr_from_diagonal(ctx, A.rows, NULL, A.val_type, LSP_HOST, &zeros);
    const lsp_filter off_diagonal = {.mask = &zeros, .complement = true};
    status = status ? status : lsp_csr_filter(ctx, &A, &off_diagonal, &off);
    status = status ? status : lsp_csr_add(ctx, 1, &off, 0, &zeros, &D);
    for (; status == LSP_OK; rounds++) {
        status = lsp_spgemm(ctx, &D, &D, &min_plus, &next, NULL);
        status = status ? status : lsp_csr_compare(ctx, &D, &next, &difference);
        (void)lsp_csr_free(ctx, &D);
        D = next;
        next = (lsp_csr){0};
        if (status == LSP_OK && difference.same_bits) {
            break;
        }
    }
    status = status ? status : lsp_csr_reduce(ctx, &D, LSP_REDUCE_MAX, LSP_REDUCE_ALL, &longest);
    if (status == LSP_OK) {
        printf("%lld pairs are joined; the longest of their shortest paths has length %g (%d rounds)\n",
               (long long)D.nnz, longest, rounds + 1);
    } else {
        fprintf(stderr, "%s\n", lsp_last_error(ctx));
    }
    lsp_ctx_destroy(ctx);
    return status;
}
