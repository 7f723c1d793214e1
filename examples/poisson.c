/* Solves A x = b for b = (1, ..., 1) by conjugate gradients. A is a Matrix Market file or is generated:
 *
 *     poisson A.mtx
 *     poisson poisson2d:1000 --device cuda */
#include <libsparse.h>
#include <stdio.h>
#include <string.h>

#define TRY(call)                                                                                                      \
    if ((status = (call)) != LSP_OK)                                                                                   \
    return status

static lsp_status solve(lsp_ctx *ctx, const char *name, lsp_where device) {
    const lsp_csr_types here = {.val_type = LSP_F64}, there = {.val_type = LSP_F64, .place = lsp_place_of(device)};
    const lsp_solve_options jacobi = {.precondition = LSP_PRECONDITION_JACOBI};
    lsp_csr read = {0}, A, b, x;
    lsp_solve_info info;
    lsp_status status;
    TRY(strchr(name, ':') ? lsp_generate(ctx, name, 1, &here, &read) : lsp_mtx_read(ctx, name, NULL, &read, NULL));
    TRY(lsp_csr_copy(ctx, &read, &there, &A));
    /* The values of an identity matrix are a vector of ones, where A lies. */
    TRY(lsp_csr_from_diagonal(ctx, A.rows, NULL, LSP_F64, device, &b));
    TRY(lsp_csr_from_diagonal(ctx, A.rows, NULL, LSP_F64, device, &x));
    TRY(lsp_cg(ctx, &A, b.val, &jacobi, x.val, &info));
    printf("%lld unknowns: %s (%s, %.3g s)\n", (long long)A.rows, info.reason, info.solver, info.solve_seconds);
    return LSP_OK;
}

int main(int argc, char **argv) {
    const lsp_where device = argc > 3 && strcmp(argv[3], "cuda") == 0 ? LSP_CUDA : LSP_HOST;
    lsp_ctx *ctx = NULL;
    char error[256] = "";
    if (lsp_ctx_create(&ctx, &(lsp_ctx_options){.device = device}, error, sizeof error) != LSP_OK) {
        fprintf(stderr, "poisson: %s\n", error);
        return 1;
    }
    const lsp_status status = solve(ctx, argc > 1 ? argv[1] : "poisson2d:100", device);
    if (status != LSP_OK) {
        fprintf(stderr, "poisson: %s\n", lsp_last_error(ctx));
    }
    lsp_ctx_destroy(ctx); /* frees the matrices too */
    return status == LSP_OK ? 0 : 1;
}
