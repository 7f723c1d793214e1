/* Products whose rows have few columns, made in one pass in hash tables: the bits of the reference, whatever the
 * sample of rows says, for every number of threads and instruction set. */
#include "spgemm/cpu/hash.h"
#include "tests/products.h"

static const char by_hash[] = "each is added up in a hash table";

/* Multiplies on all instruction sets and with several threads, and compares with the reference. */
static void must_have_the_bits(const lsp_csr *A, const lsp_csr *B, bool hashed, const char *what) {
    for (int threads = 1; threads <= 4; threads += threads == 1 ? 1 : 2) {
        lsp_ctx *ctx = test_ctx(threads);
        lsp_spgemm_info expected, info;
        lsp_csr right = {0};
        must(ctx, lsp_spgemm(ctx, A, B, &(lsp_spgemm_options){.method = LSP_SPGEMM_REFERENCE}, &right, &expected));
        for (int isa = (int)ctx->isa; isa >= 0; isa--) {
            lsp_csr C = {0};
            ctx->isa = (lsp_isa)isa;
            must(ctx, lsp_spgemm(ctx, A, B, NULL, &C, &info));
            same(ctx, &C, &right, what);
            cr_assert((strstr(info.reason, by_hash) != NULL) == hashed, "%s: %s", what, info.reason);
            cr_assert(info.products == expected.products && info.nnz == expected.nnz &&
                          info.nnz_bound == expected.nnz_bound && info.max_row_products == expected.max_row_products,
                      "%s: the facts differ", what);
            lsp_csr_free(ctx, &C);
        }
        lsp_csr_free(ctx, &right);
        lsp_ctx_destroy(ctx);
    }
}

Test(spgemm, rows_of_few_columns_have_the_bits_of_the_reference) {
    for (int kind = 0; kind < 16; kind++) {
        const lsp_type type = kind & 1 ? LSP_F32 : LSP_F64;
        const int64_t inner = kind & 4 ? 200 : 90000; /* in the cache, or far */
        const recipe of_a = {20000, inner, 2, LSP_I32, LSP_I32, type, kind & 8, kind & 2, -1, -1, 0};
        const recipe of_b = {inner, kind & 8 ? 70000 : 30, 1, LSP_I32, LSP_I32, type, kind & 8, kind & 2, -1, -1, 0};
        lsp_csr A = make(&of_a, (uint64_t)kind), B = make(&of_b, 1000 + (uint64_t)kind);
        must_have_the_bits(&A, &B, true, "few columns");
        drop(&A), drop(&B);
    }
}

Test(spgemm, the_products_of_a_multigrid_have_the_bits_of_the_reference) {
    static const char *const factors[][2] = {
        {"poisson2d:91", "amg:91:T"}, {"poisson2d:91", "amg:91:P"}, {"amg27:30:R", "stencil27:30"}};
    lsp_ctx *ctx = test_ctx(1);
    for (int i = 0; i < 3; i++) {
        lsp_csr A, B;
        must(ctx, lsp_generate(ctx, factors[i][0], 1, NULL, &A));
        must(ctx, lsp_generate(ctx, factors[i][1], 1, NULL, &B));
        must_have_the_bits(&A, &B, i < 2, factors[i][1]);
        lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &B);
    }
    lsp_ctx_destroy(ctx);
}

/* n rows of one entry, in column i % cols, except that `longer` rows from `first` on have `length` entries. */
static lsp_csr mostly_short(lsp_ctx *ctx, int64_t n, int64_t cols, int64_t first, int64_t longer, int64_t length) {
    lsp_csr A;
    must(ctx, lsp_csr_create(ctx, n, cols, n + longer * (length - 1), &(lsp_csr_types){.val_type = LSP_F64}, &A));
    for (int64_t i = 0, k = 0; i < n; i++) {
        const int64_t here = i >= first && i < first + longer ? length : 1;
        for (int64_t e = 0; e < here; e++, k++) {
            ((int32_t *)A.col)[k] = (int32_t)((i + e) % cols);
            ((double *)A.val)[k] = 1 + (double)k / 3;
        }
        ((int32_t *)A.rowptr)[i + 1] = (int32_t)k;
    }
    return A;
}

/* The sample takes 8 rows here and there: it misses these. */
Test(spgemm, a_sample_that_was_wrong_changes_nothing) {
    static const struct {
        int64_t longer, length;
        bool hashed;
    } cases[] = {{1, LSP_HASH_COLUMNS, true},      /* the longest row that fits */
                 {1, LSP_HASH_COLUMNS + 1, false}, /* too many columns */
                 {300, 400, false}};               /* more entries than C has room for */
    lsp_ctx *ctx = test_ctx(1);
    for (int i = 0; i < 3; i++) {
        lsp_csr A = mostly_short(ctx, 100000, 1000, 70123, cases[i].longer, cases[i].length);
        lsp_csr I = mostly_short(ctx, 1000, 1000, 0, 0, 0);
        must_have_the_bits(&A, &I, cases[i].hashed, "a wrong sample");
        lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &I);
    }
    lsp_ctx_destroy(ctx);
}

/* Sixteen columns a row and no two products of a column: sorting is faster. Neither are other types hashed. */
Test(spgemm, other_products_are_left_to_plans) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A, B, wide;
    must(ctx, lsp_generate(ctx, "er:20000:4", 1, NULL, &A));
    must_have_the_bits(&A, &A, false, "many columns");
    must(ctx, lsp_generate(ctx, "perm:20000", 1, NULL, &B));
    must_have_the_bits(&B, &B, true, "one column");
    must(ctx, lsp_csr_copy(ctx, &B, &(lsp_csr_types){.rowptr_type = LSP_I64, .col_type = LSP_I64}, &wide));
    must_have_the_bits(&wide, &B, false, "wide indices");
    lsp_ctx_destroy(ctx);
}

static lsp_status multiply(lsp_ctx *ctx, void *data) {
    lsp_csr A = *(lsp_csr *)data, C = {.rows = 42};
    const lsp_status status = lsp_spgemm(ctx, &A, &A, NULL, &C, NULL);
    cr_assert(status == LSP_OK ? C.rows == A.rows : C.rows == 42 && C.rowptr == NULL);
    lsp_csr_free(ctx, status == LSP_OK ? &C : NULL);
    return status;
}

Test(spgemm, a_hash_table_without_memory_leaves_the_output_alone) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A;
    must(ctx, lsp_generate(ctx, "perm:20000", 1, NULL, &A));
    test_failing_memory(1, multiply, &A);
    test_failing_memory(3, multiply, &A);
    lsp_ctx_destroy(ctx);
}
