/* Sums and entrywise products of matrices of many rows or long ones, whose entries the GPU merges in tiles; and of such
 * whose rows do not ascend, which it must notice. The bits are those of the host. Skipped without a GPU. */
#include "tests/planned.h"
#include "tests/there.h"

static const int64_t sizes[][3] = {{1, 40000, 5000}, {3000, 300, 5000}, {30000, 50, 2500}, {7, 3000, 6000}};
enum { size_count = sizeof sizes / sizeof *sizes };

/* What is done to A or B, whose rows ascend strictly. */
typedef enum spoiling { NOTHING, EQUAL, NEARLY_EQUAL, EMPTY, TWICE, SWAPPED, REVERSED, BOTH_REVERSED } spoiling;

static lsp_csr ascending(lsp_ctx *ctx, const int64_t size[3], int64_t nnz, int types, uint64_t seed) {
    lsp_csr A = test_random_csr(ctx, size[0], size[1], nnz, test_types(types), seed);
    must(ctx, lsp_csr_sort_rows(ctx, &A));
    must(ctx, lsp_csr_sum_duplicates(ctx, &A, NULL));
    for (int64_t k = 0; k < A.nnz; k++) {
        test_set_value(&A, k, k % 97 == 0 ? NAN : 1 / ((double)test_below(&seed, 1000) - 300.5), (double)k);
    }
    return A;
}

/* Spoils a row in the middle of the entries; rows of one entry hide it. */
static void spoil(const lsp_csr *A, spoiling how) {
    const int64_t middle = A->nnz / 2, last = A->nnz - 1;
    if (how == TWICE) {
        lsp_index_set(A->col, A->col_type, middle + 1, lsp_csr_col(A, middle));
    } else if (how == NEARLY_EQUAL) { /* one column further left, where there is none */
        for (int64_t i = A->rows - 1; i >= 0; i--) {
            const int64_t k = lsp_csr_rowptr(A, i);
            if (k < lsp_csr_rowptr(A, i + 1) && lsp_csr_col(A, k) > 0) {
                lsp_index_set(A->col, A->col_type, k, lsp_csr_col(A, k) - 1);
                return;
            }
        }
    } else if (how >= SWAPPED) {
        for (int64_t k = how == SWAPPED ? middle : 0; k <= (how == SWAPPED ? middle : last / 2); k++) {
            const int64_t other = how == SWAPPED ? k + 1 : last - k, column = lsp_csr_col(A, k);
            lsp_index_set(A->col, A->col_type, k, lsp_csr_col(A, other));
            lsp_index_set(A->col, A->col_type, other, column);
        }
    }
}

static void must_join_alike(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B) {
    lsp_csr a = moved(ctx, A, LSP_CUDA), b = moved(ctx, B, LSP_CUDA), right = {0}, C = {0};
    must(ctx, lsp_csr_add(ctx, 0.3, A, -7, B, &right));
    must(ctx, lsp_csr_add(ctx, 0.3, &a, -7, &b, &C));
    must_be_the_hosts(ctx, &C, &right);
    must(ctx, lsp_csr_hadamard(ctx, A, B, &right));
    must(ctx, lsp_csr_hadamard(ctx, &a, &b, &C));
    must_be_the_hosts(ctx, &C, &right);
    must(ctx, lsp_csr_hadamard(ctx, B, A, &right));
    must(ctx, lsp_csr_hadamard(ctx, &b, &a, &b)); /* into a factor */
    must_be_the_hosts(ctx, &b, &right);
    lsp_csr_free(ctx, &a);
}

static void join_all(lsp_ctx *ctx, spoiling how) {
    for (int c = 0; c < size_count; c++) {
        for (int t = (c + (int)how) % pace(); t < test_combinations; t += pace()) {
            const bool equal = how == EQUAL || how == NEARLY_EQUAL || how == BOTH_REVERSED;
            const int other_types = equal ? t : t * 7 % test_combinations;
            lsp_csr A = ascending(ctx, sizes[c], sizes[c][2], t, 3);
            lsp_csr B = ascending(ctx, sizes[c],
                                  how == EMPTY ? 0
                                  : equal      ? sizes[c][2]
                                               : sizes[c][2] / 2,
                                  other_types, equal ? 3 : 4);
            spoil(t % 2 ? &A : &B, how);
            if (how == BOTH_REVERSED) {
                spoil(t % 2 ? &B : &A, how);
            }
            must_join_alike(ctx, &A, &B);
            lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &B);
        }
    }
}

Test(device_merge, rows_that_ascend) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    join_all(ctx, NOTHING);
    lsp_ctx_destroy(ctx);
}

Test(device_merge, equal_patterns_and_an_empty_matrix) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    join_all(ctx, EQUAL);
    join_all(ctx, NEARLY_EQUAL);
    join_all(ctx, EMPTY);
    lsp_ctx_destroy(ctx);
}

Test(device_merge, a_place_twice) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    join_all(ctx, TWICE);
    lsp_ctx_destroy(ctx);
}

Test(device_merge, rows_out_of_order) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    join_all(ctx, SWAPPED);
    join_all(ctx, REVERSED);
    join_all(ctx, BOTH_REVERSED);
    lsp_ctx_destroy(ctx);
}
