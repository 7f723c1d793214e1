/* Plans by diagonals on the CPU: the order of sums, stores past the caches, instruction sets, allocations that fail. */
#include "blocks.h"

/* Sums of numbers that round: in the order of the row, with or without fused multiply-add. */
Test(spmv_diagonals_cpu, a_row_is_summed_in_its_order) {
    lsp_ctx *ctx = test_ctx(2);
    uint64_t state = 1;
    lsp_csr A = test_random_csr(ctx, 300, 40, 6000, (lsp_csr_types){.val_type = LSP_F64}, 7);
    double x[40], y[300];
    for (int64_t k = 0; k < A.nnz; k++) {
        test_set_value(&A, k, 1.0 / (double)(1 + test_below(&state, 1000)), 0);
    }
    for (int i = 0; i < 40; i++) {
        x[i] = 1.0 / (double)(3 + i);
    }
    lsp_spmv_plan *plan = NULL;
    must(ctx, lsp_spmv_plan_create(ctx, &A, &(lsp_spmv_options){.method = LSP_SPMV_DIAGONALS}, &plan));
    must(ctx, lsp_spmv_execute(plan, &(lsp_spmv_vectors){.alpha = 1, .x = x, .y = y}));
    bool fused_right = true, right = true;
    for (int64_t i = 0; i < A.rows; i++) {
        double sum = 0, fused = 0;
        for (int64_t k = lsp_csr_rowptr(&A, i); k < lsp_csr_rowptr(&A, i + 1); k++) {
            const double a = lsp_value_at(&A, k).re, b = x[lsp_csr_col(&A, k)];
            sum += a * b;
            fused = fma(a, b, fused);
        }
        fused_right = fused_right && y[i] == fused;
        right = right && y[i] == sum;
    }
    cr_assert(right || fused_right);
    lsp_spmv_plan_destroy(plan);
    must(ctx, lsp_csr_free(ctx, &A));
    lsp_ctx_destroy(ctx);
}

/* A plan beyond the caches writes y past them, where y is aligned; elsewhere it cannot. */
Test(spmv_diagonals_cpu, y_is_written_past_the_caches_if_it_is_aligned) {
    lsp_ctx *ctx = test_ctx(2);
    for (int i = 0; i < 2 * 2 * 2; i++) {
        const int b = i & 1 ? 3 : 1, gap = i & 2 ? 1 : 0;
        const bool narrow = (i & 4) != 0;
        lsp_csr A = make_blocks(ctx, "poisson2d:40", b, 0, (lsp_csr_types){.val_type = narrow ? LSP_F32 : LSP_F64});
        const size_t bytes = (size_t)(A.rows + 1) * 8 + 64;
        double *x = calloc((size_t)A.cols, 8), *y = aligned_alloc(64, bytes / 64 * 64);
        float *x32 = (float *)x, *y32 = (float *)y;
        for (int64_t j = 0; j < A.cols; j++) {
            if (narrow) {
                x32[j] = (float)(j % 9 - 4);
            } else {
                x[j] = (double)(j % 9 - 4);
            }
        }
        lsp_spmv_plan *plan = NULL;
        must(ctx, lsp_spmv_plan_create(
                      ctx, &A, &(lsp_spmv_options){.method = b > 1 ? LSP_SPMV_BLOCKS : LSP_SPMV_DIAGONALS}, &plan));
        ((lsp_diagonals *)plan->parts)->streams = true;
        void *at = narrow ? (void *)(y32 + gap) : (void *)(y + gap);
        must(ctx, lsp_spmv_execute(plan, &(lsp_spmv_vectors){.alpha = 2, .x = x, .y = at}));
        for (int64_t r = 0; r < A.rows; r++) {
            double sum = 0;
            for (int64_t k = lsp_csr_rowptr(&A, r); k < lsp_csr_rowptr(&A, r + 1); k++) {
                sum += lsp_value_at(&A, k).re * (double)(lsp_csr_col(&A, k) % 9 - 4);
            }
            const double got = narrow ? (double)y32[r + gap] : y[r + gap];
            cr_assert(got == 2 * sum, "case %d, row %lld: %g, not %g", i, (long long)r, got, 2 * sum);
        }
        lsp_spmv_plan_destroy(plan);
        must(ctx, lsp_csr_free(ctx, &A));
        free(x);
        free(y);
    }
    lsp_ctx_destroy(ctx);
}

static lsp_status make_plan(lsp_ctx *ctx, void *data) {
    lsp_status status = LSP_OK;
    lsp_csr A = *(const lsp_csr *)data;
    for (int i = 0; i < 2 && status == LSP_OK; i++) {
        lsp_spmv_plan *plan = NULL;
        status = lsp_spmv_plan_create(ctx, &A, &(lsp_spmv_options){.method = i ? LSP_SPMV_BLOCKS : LSP_SPMV_DIAGONALS},
                                      &plan);
        cr_assert((plan == NULL) == (status != LSP_OK));
        lsp_spmv_plan_destroy(plan);
    }
    return status;
}

Test(spmv_diagonals_cpu, a_failing_allocation_leaves_nothing) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = make_blocks(ctx, "poisson2d:20", 2, 0, (lsp_csr_types){.val_type = LSP_F64});
    for (int threads = 1; threads <= 2; threads++) {
        test_failing_memory(threads, make_plan, &A);
    }
    must(ctx, lsp_csr_free(ctx, &A));
    lsp_ctx_destroy(ctx);
}

/* All instruction sets that this processor has give right products, and those with fused multiply-add the same bits. */
Test(spmv_diagonals_cpu, every_instruction_set_multiplies_alike) {
    static const char *const names[] = {"poisson2d:33", "stencil27:7", "fem3:5", "perm:100"};
    lsp_ctx *ctx = test_ctx(1);
    const lsp_isa best = ctx->isa;
    for (int isa = 0; isa <= (int)best; isa++) {
        ctx->isa = (lsp_isa)isa;
        for (int i = 0; i < 4 * 5; i++) {
            static const lsp_type types[][2] = {
                {LSP_F32, LSP_F32}, {LSP_F64, LSP_F64}, {LSP_F32, LSP_F64}, {LSP_NONE, LSP_F32}, {LSP_NONE, LSP_F64}};
            for (int blocks = 0; blocks < 2; blocks++) {
                request r = usual;
                r.matrix = names[i / 5], r.planned = true, r.special = i % 2, r.beta = i % 3;
                r.val_type = types[i % 5][0], r.type = types[i % 5][1];
                r.method = blocks ? LSP_SPMV_BLOCKS : LSP_SPMV_DIAGONALS;
                r.vectors = i % 4 == 0 ? 5 : 1;
                cr_assert(run_case(ctx, &r) || blocks);
            }
        }
    }
    ctx->isa = best;
    lsp_ctx_destroy(ctx);
}
