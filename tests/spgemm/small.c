/* Small products, made in one pass without a plan, and their values computed again by a plan: the bits of the
 * reference, on both sides of every limit. */
#include "spgemm/cpu/one_pass.h"
#include "tests/products.h"
#include <dirent.h>

enum { FEW_PRODUCTS = 1 << 15 }; /* are made in one pass in any case */

Test(spgemm, small_products_have_the_bits_of_the_reference) {
    const int64_t most = LSP_RUN_NEAR;
    for (int kind = 0; kind < 72; kind++) {
        const int64_t cols[] = {1, 63, 64, 65, most, most + 1};
        const recipe of_a = {
            50 + kind, 40, kind % 5 == 4 ? 0 : 5, LSP_I32, LSP_I32, kind & 1 ? LSP_F32 : LSP_F64, kind & 2, kind & 4, 3,
            -1,        0};
        const recipe of_b = {40,       cols[kind % 6],    6,  LSP_I32, LSP_I32, of_a.val_type, kind & 2,
                             kind & 4, kind & 8 ? 9 : -1, -1, 0};
        lsp_csr A = make(&of_a, (uint64_t)kind), B = make(&of_b, 1000 + (uint64_t)kind), right;
        lsp_ctx *ctx = test_ctx(2);
        lsp_spgemm_info expected, info;
        must(ctx, lsp_spgemm(ctx, &A, &B, &(lsp_spgemm_options){.method = LSP_SPGEMM_REFERENCE}, &right, &expected));
        for (int isa = (int)ctx->isa; isa >= 0; isa--) {
            lsp_csr C = {0};
            ctx->isa = (lsp_isa)isa;
            must(ctx, lsp_spgemm(ctx, &A, &B, NULL, &C, &info));
            same(ctx, &C, &right, "few products");
            cr_assert(expected.products > FEW_PRODUCTS || strstr(info.reason, "in a window of all columns") != NULL,
                      "%s", info.reason);
            cr_assert(info.products == expected.products && info.nnz == expected.nnz &&
                      info.nnz_bound == expected.nnz_bound && info.max_row_products == expected.max_row_products);
            lsp_csr_free(ctx, &C);
        }
        lsp_csr_free(ctx, &right);
        drop(&A), drop(&B);
        lsp_ctx_destroy(ctx);
    }
}

/* More than FEW_PRODUCTS products: long rows with near columns, nearly dense rows as bits, and other rows. */
Test(spgemm, long_and_nearly_dense_rows_of_few_columns_have_the_bits_of_the_reference) {
    static const struct {
        int64_t rows, inner, cols, a_entries, b_entries;
        const char *reason;
    } cases[] = {{700, 300, 200, 12, 12, "; in a window"},
                 {300, 200, 500, 20, 100, "; with B as bits"},
                 {300, 200, 513, 20, 200, "; with B as bits"},
                 {90, 300, 4096, 30, 900, "; with B as bits"},
                 {600, 300, 4096, 12, 8, NULL},
                 {300, 200, 4097, 20, 800, "; in a window"}};
    for (size_t k = 0; k < 4 * sizeof cases / sizeof *cases; k++) {
        const int i = (int)k / 4;
        const lsp_type type = k & 1 ? LSP_F32 : LSP_F64;
        const recipe of_a = {
            cases[i].rows, cases[i].inner, cases[i].a_entries, LSP_I32, LSP_I32, type, k & 2, false, 3, -1, 0};
        const recipe of_b = {cases[i].inner, cases[i].cols, cases[i].b_entries,       LSP_I32, LSP_I32, type,
                             k & 2,          k & 2,         cases[i].reason ? 5 : -1, -1,      0};
        lsp_csr A = make(&of_a, k), B = make(&of_b, 100 + k), right;
        lsp_spgemm_info expected, info;
        for (int threads = 1; threads <= 3; threads++) {
            lsp_ctx *ctx = test_ctx(threads);
            const lsp_spgemm_options reference = {.method = LSP_SPGEMM_REFERENCE};
            must(ctx, lsp_spgemm(ctx, &A, &B, &reference, &right, &expected));
            for (int isa = (int)ctx->isa; isa >= 0; isa--) {
                lsp_csr C = {0};
                ctx->isa = (lsp_isa)isa;
                must(ctx, lsp_spgemm(ctx, &A, &B, NULL, &C, &info));
                same(ctx, &C, &right, "long rows of few columns");
                cr_assert(expected.products > FEW_PRODUCTS);
                cr_assert(cases[i].reason == NULL
                              ? isa == LSP_ISA_PORTABLE || strstr(info.reason, "window of all columns") == NULL
                              : strstr(info.reason, cases[i].reason) != NULL,
                          "case %d: %s", i, info.reason);
                cr_assert(info.products == expected.products && info.nnz == expected.nnz);
                lsp_csr_free(ctx, &C);
            }
            lsp_csr_free(ctx, &right);
            lsp_ctx_destroy(ctx);
        }
        drop(&A), drop(&B);
    }
}

/* A plan's first use makes all of C, later uses compute the values alone. Tried with several types and window sizes. */
Test(spgemm, replayed_values_have_the_bits_of_the_reference) {
    for (uint64_t k = 0; k < 16; k++) {
        const lsp_type type = k & 1 ? LSP_F32 : LSP_F64;
        const int64_t inner = k & 4 ? 300 : 30, cols = k & 8 ? 4096 : 100;
        const recipe of_a = {400, inner, 9, LSP_I32, LSP_I32, type, k & 2, false, 3, -1, 0};
        const recipe of_b = {inner, cols, k & 4 ? 40 : 6, LSP_I32, LSP_I32, type, k & 2, k & 2, 5, -1, 0};
        lsp_csr A = make(&of_a, k), B = make(&of_b, 50 + k);
        lsp_ctx *ctx = test_ctx(2);
        for (int isa = (int)ctx->isa; isa >= 0; isa--) {
            lsp_csr C = {0}, again = {0}, right = {0};
            lsp_spgemm_plan *plan;
            ctx->isa = (lsp_isa)isa;
            must(ctx, lsp_spgemm_plan_create(ctx, &A, &B, NULL, &plan));
            must(ctx, lsp_spgemm_execute(plan, &A, &B, &C));
            for (int64_t e = 0; e < A.nnz; e += 3) { /* other values */
                if (type == LSP_F64) {
                    ((double *)A.val)[e] += 0.75;
                } else {
                    ((float *)A.val)[e] += 0.75F;
                }
            }
            must(ctx, lsp_spgemm(ctx, &A, &B, &(lsp_spgemm_options){.method = LSP_SPGEMM_REFERENCE}, &right, NULL));
            must(ctx, lsp_spgemm_refill(plan, &A, &B, &C));
            must(ctx, lsp_spgemm_execute(plan, &A, &B, &again));
            same(ctx, &C, &right, "values anew");
            same(ctx, &again, &right, "C again");
            lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &again), lsp_csr_free(ctx, &right);
            lsp_spgemm_plan_destroy(plan);
        }
        lsp_ctx_destroy(ctx);
        drop(&A), drop(&B);
    }
}

/* ---- threads ---- */

/* Threads of this process. */
static int running(void) {
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    while (tasks && readdir(tasks)) {
        count++;
    }
    closedir(tasks);
    return count;
}

/* A pool starts its threads at the first call that needs them. */
Test(spgemm, about_25000_products_are_made_by_the_caller_alone) {
    static const recipe recipes[] = {
        {400, 400, 8, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0},     /* in a window of all columns */
        {400, 400, 8, LSP_I64, LSP_I64, LSP_F64, true, false, -1, -1, 0},     /* by a plan */
        {6200, 6200, 2, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0},   /* in a hash table */
        {6200, 6200, 2, LSP_I32, LSP_I32, LSP_NONE, true, false, -1, -1, 0},  /* a pattern */
        {2700, 2700, 3, LSP_I32, LSP_I32, LSP_F32, false, false, -1, -1, 0}}; /* unsorted */
    for (size_t k = 0; k < sizeof recipes / sizeof *recipes; k++) {
        lsp_ctx *ctx = test_ctx(4);
        lsp_csr A = make(&recipes[k], k), C, D, masked;
        lsp_spgemm_plan *plan;
        lsp_spgemm_info info;
        const int before = running();
        must(ctx, lsp_spgemm(ctx, &A, &A, NULL, &C, &info));
        cr_assert(info.products > 23000 && info.products < 28000, "%lld products", (long long)info.products);
        cr_assert_eq(running(), before, "a product of %lld multiplications starts threads: %s",
                     (long long)info.products, info.reason);
        must(ctx, lsp_spgemm_plan_create(ctx, &A, &A, NULL, &plan));
        must(ctx, lsp_spgemm_execute(plan, &A, &A, &D));
        must(ctx, lsp_spgemm_refill(plan, &A, &A, &D));
        cr_assert_eq(running(), before, "a plan of %lld multiplications starts threads", (long long)info.products);
        if (recipes[k].sorted) { /* else the mask is sorted, which is not this room's work */
            must(ctx, lsp_spgemm(ctx, &A, &A, &(lsp_spgemm_options){.filter.mask = &A}, &masked, NULL));
        }
        cr_assert_eq(running(), before, "a mask of %lld multiplications starts threads", (long long)info.products);
        lsp_spgemm_plan_destroy(plan);
        lsp_ctx_destroy(ctx);
        drop(&A);
    }
}

/* Rows of up to 256 products, and of more, which are made in windows. With a small budget no ranks are kept. */
