/* Sums of two matrices. */
#include "tests/matrices.h"

#include "core/isa.h"

/* The ways that add equal patterns and 32-bit indices give the bits of the general merge, which 64-bit row pointers
 * take, and of the sort that columns which come twice need. */
Test(add, sums_have_the_same_bits_by_every_way) {
    enum { rows = 300 };
    const double special[] = {-0.0, 0.0, INFINITY, -INFINITY, NAN, -NAN, 1e-310, 0.1};
    for (int c = 0; c < 3 * 3 * 2 * 2 * 3; c++) { /* type, B, few columns or many, budget, instruction set */
        const int kind = c / 3 % 3, few = c / 9 % 2, isa = c / 36;
        const bool budget = c / 18 % 2 && kind < 2; /* rows that do not ascend strictly are sorted, which needs more */
        const lsp_csr_types types = {.val_type = c % 3 == 0 ? LSP_NONE : c % 3 == 1 ? LSP_F32 : LSP_F64};
        const int64_t cols = few ? 30 : 100000;
        if (isa > (int)lsp_isa_detect()) {
            continue;
        }
        lsp_ctx *ctx = test_ctx(1);
        lsp_csr A = test_random_csr(ctx, rows, cols, 2000, types, (uint64_t)c), B, C, right, wide;
        must(ctx, lsp_csr_sort(ctx, &A));
        must(ctx, lsp_csr_sum_duplicates(ctx, &A, NULL));
        B = test_random_csr(ctx, rows, cols, 1500, types, 77);
        must(ctx, lsp_csr_sort(ctx, &B)); /* kind 2: columns come twice */
        if (kind == 0) {
            must(ctx, lsp_csr_copy(ctx, &A, NULL, &B));
        } else if (kind == 1) {
            must(ctx, lsp_csr_sum_duplicates(ctx, &B, NULL));
        }
        for (int64_t k = 0; k < lsp_min(A.nnz, B.nnz); k++) {
            test_set_value(&A, k, k % 3 ? special[k % 8] : (double)k / 7, 0);
            test_set_value(&B, k, special[k / 8 % 8], 0);
        }
        must(ctx, lsp_csr_copy(ctx, &A, &(lsp_csr_types){.rowptr_type = LSP_I64}, &wide));
        must(ctx, lsp_csr_add(ctx, 0.3, &wide, -7, &B, &right));
        ctx->isa = (lsp_isa)isa;
        const int64_t entry = 4 + (int64_t)lsp_type_bytes(types.val_type), most = A.nnz + B.nnz;
        ctx->options.max_bytes = budget ? ctx->space[LSP_HOST].used + most * entry * 3 / 2 + rows * 12 + 4096 : 0;
        must(ctx, lsp_csr_add(ctx, 0.3, &A, -7, &B, &C));
        cr_assert(C.nnz == right.nnz && memcmp(C.rowptr, right.rowptr, (rows + 1) * sizeof(int32_t)) == 0 &&
                      memcmp(C.col, right.col, (size_t)C.nnz * 4) == 0 &&
                      (!C.val || memcmp(C.val, right.val, (size_t)(C.nnz * (entry - 4))) == 0),
                  "case %d: values of type %d, kind %d, isa %d", c, (int)types.val_type, kind, isa);
        lsp_ctx_destroy(ctx);
    }
}
