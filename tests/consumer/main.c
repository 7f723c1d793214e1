/* Squares the Laplacian of an 8 x 8 grid with the installed library, as C99 or C++11: 64 rows, 288 entries, and its
 * square 676. */
#include <libsparse.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    char error[256] = "";
    lsp_ctx *ctx = NULL;
    lsp_status status = lsp_ctx_create(&ctx, NULL, error, sizeof error);
    if (status != LSP_OK) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    lsp_csr A, C;
    memset(&A, 0, sizeof A);
    memset(&C, 0, sizeof C);
    status = lsp_generate(ctx, "poisson2d:8", 1, NULL, &A);
    if (status == LSP_OK) {
        status = lsp_spgemm(ctx, &A, &A, NULL, &C, NULL);
    }
    printf("libsparse %s: %d rows, %d entries, %d in the square. %s\n", lsp_version(), (int)A.rows, (int)A.nnz,
           (int)C.nnz, lsp_last_error(ctx));
    int right = status == LSP_OK && A.rows == 64 && A.nnz == 288 && C.nnz == 676;
    lsp_ctx_destroy(ctx);
    return right ? 0 : 1;
}
