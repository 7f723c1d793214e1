/* Computes C = A*A with libsparse, for a Matrix Market file or a generated matrix:
 *
 *     multiply A.mtx
 *     multiply poisson2d:100 */
#include <libsparse.h>
#include <stdio.h>
#include <string.h>

/* Reads a file, or generates a matrix from a name with a colon, such as "poisson2d:100". */
static lsp_status get_matrix(lsp_ctx *ctx, const char *name, lsp_csr *A) {
    return strchr(name, ':') ? lsp_generate(ctx, name, 1, NULL, A) : lsp_mtx_read(ctx, name, NULL, A, NULL);
}

static void print_matrix(const char *label, const lsp_csr *matrix) {
    printf("%s: %lld x %lld, %lld entries\n", label, (long long)matrix->rows, (long long)matrix->cols,
           (long long)matrix->nnz);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "poisson2d:100";
    lsp_ctx *ctx = NULL;
    char error[256] = "";
    /* Default options (NULL): the CPU, all its threads, no memory limit. */
    if (lsp_ctx_create(&ctx, NULL, error, sizeof error) != LSP_OK) {
        fprintf(stderr, "multiply: %s\n", error);
        return 1;
    }

    lsp_csr A = {0}, C = {0};
    lsp_spgemm_info info;
    lsp_status status = get_matrix(ctx, name, &A);
    if (status == LSP_OK) {
        status = lsp_spgemm(ctx, &A, &A, NULL, &C, &info);
    }
    if (status == LSP_OK) {
        print_matrix("A", &A);
        print_matrix("C = A*A", &C);
        printf("%lld multiplications by method '%s'\n", (long long)info.products, info.method_name);
    } else {
        fprintf(stderr, "%s: %s\n", lsp_status_name(status), lsp_last_error(ctx));
    }
    lsp_ctx_destroy(ctx); /* frees A and C too */
    return status == LSP_OK ? 0 : 1;
}
