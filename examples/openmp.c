/* A program with OpenMP threads of its own hands them to the library. They spin for milliseconds after each of its
 * regions, on the processors that the threads of a context would need; by `parallel` the context makes none.
 *
 *     cc -fopenmp openmp.c ... && ./a.out */
#include <libsparse.h>
#include <stdio.h>

static void run_tasks(void *user, int tasks, lsp_task_fn task, void *data) {
    (void)user;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1)
#endif
    for (int i = 0; i < tasks; i++) {
        task(data, i);
    }
}

int main(void) {
    const lsp_ctx_options options = {.parallel = run_tasks};
    lsp_ctx *ctx = NULL;
    lsp_csr A, C;
    int failed = lsp_ctx_create(&ctx, &options, NULL, 0) || lsp_generate(ctx, "poisson2d:300", 1, NULL, &A) ||
                 lsp_spgemm(ctx, &A, &A, NULL, &C, NULL);
    printf("%lld entries\n", failed ? 0 : (long long)C.nnz);
    lsp_ctx_destroy(ctx);
    return failed;
}
