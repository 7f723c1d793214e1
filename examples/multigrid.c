/* Solves A x = b for b = (1, ..., 1) by conjugate gradients, preconditioned by multigrid, for a file or a generated
 * matrix with a positive diagonal:
 *
 *     multigrid poisson2d:1000
 *     multigrid A.mtx --device cuda */
#include <libsparse.h>
#include <stdio.h>
#include <string.h>

#define TRY(call)                                                                                                      \
    if ((status = (call)) != LSP_OK)                                                                                   \
    return status

/* *m: the caller destroys it. */
static lsp_status solve(lsp_ctx *ctx, const char *name, lsp_where device, lsp_multigrid **m) {
    const lsp_csr_types there = {.place = lsp_place_of(device)};
    lsp_csr on_host, A, b, x;
    lsp_multigrid_info levels;
    lsp_solve_info info;
    lsp_status status;
    TRY(strchr(name, ':') ? lsp_generate(ctx, name, 1, NULL, &on_host) : lsp_mtx_read(ctx, name, NULL, &on_host, NULL));
    TRY(lsp_csr_copy(ctx, &on_host, &there, &A));
    /* the values of diagonal matrices serve as vectors: b is ones */
    TRY(lsp_csr_from_diagonal(ctx, A.rows, NULL, LSP_F64, device, &b));
    TRY(lsp_csr_from_diagonal(ctx, A.rows, NULL, LSP_F64, device, &x));
    TRY(lsp_multigrid_create(ctx, &A, &(lsp_multigrid_options){.type = LSP_F64}, m));
    TRY(lsp_multigrid_get_info(*m, &levels));
    TRY(lsp_cg(ctx, &A, b.val, &(lsp_solve_options){.precondition = LSP_PRECONDITION_MULTIGRID, .multigrid = *m}, x.val,
               &info));
    printf("%d levels, set up in %.3g s\n", levels.levels, levels.setup_seconds);
    printf("%lld unknowns: %s (%s, %.3g s)\n", (long long)A.rows, info.reason, info.solver, info.solve_seconds);
    return LSP_OK;
}

int main(int argc, char **argv) {
    const lsp_where device = argc > 3 && strcmp(argv[3], "cuda") == 0 ? LSP_CUDA : LSP_HOST;
    lsp_multigrid *m = NULL;
    lsp_ctx *ctx = NULL;
    char error[256] = "";
    if (lsp_ctx_create(&ctx, &(lsp_ctx_options){.device = device}, error, sizeof error) != LSP_OK) {
        fprintf(stderr, "multigrid: %s\n", error);
        return 1;
    }
    const lsp_status status = solve(ctx, argc > 1 ? argv[1] : "poisson2d:100", device, &m);
    if (status != LSP_OK) {
        fprintf(stderr, "multigrid: %s\n", lsp_last_error(ctx));
    }
    lsp_multigrid_destroy(m);
    lsp_ctx_destroy(ctx); /* frees the matrices too */
    return status == LSP_OK ? 0 : 1;
}
