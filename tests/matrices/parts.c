/* Blocks, triangles, lists of rows and columns, and stacks on the host: what the definitions give, bit by bit. */
#include "forms_plainly.h"
#include "matrices/each.h"

static void must_be(lsp_ctx *ctx, lsp_csr *B, lsp_csr *right) {
    must_be_same(ctx, B, right);
    lsp_csr_free(ctx, B), lsp_csr_free(ctx, right);
}

Test(parts, a_block_by_hand) {
    lsp_ctx *ctx = test_ctx(1);
    int32_t rowptr[] = {0, 3, 3, 5}, col[] = {2, 0, 2, 2, 1}; /* row 0: unsorted, column 2 twice */
    double val[] = {1, 2, 3, 4, 5};
    int32_t b_rowptr[] = {0, 0, 2}, b_col[] = {1, 0};
    double b_val[] = {4, 5};
    lsp_csr A = TEST_CSR(3, 4, rowptr, col, val), right = TEST_CSR(2, 2, b_rowptr, b_col, b_val), B;
    must(ctx, lsp_csr_block(ctx, &A, 1, 2, 1, 2, &B));
    must_be_same(ctx, &B, &right);
    lsp_ctx_destroy(ctx);
}

Test(parts, blocks_are_cut_whatever_the_threads) {
    for (int threads = 1; threads <= 4; threads += 3) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int c = 0; c < size_count; c++) {
            for (int t = 0; t < test_combinations; t++) {
                const int64_t m = sizes[c][0], n = sizes[c][1];
                const int64_t ranges[][4] = {{0, m, 0, n},         {0, 0, 0, n},         {m, 0, n, 0},
                                             {m / 3, m / 2, 0, n}, {0, m, n / 4, n / 2}, {m / 3, m / 2, n / 3, n / 3}};
                lsp_csr A = odd_csr(ctx, sizes[c], test_types(t), 2), B, right;
                for (int r = 0; r < 6; r++) {
                    const int64_t *g = ranges[r];
                    must(ctx, lsp_csr_block(ctx, &A, g[0], g[1], g[2], g[3], &B));
                    right = block_plainly(ctx, &A, g);
                    must_be(ctx, &B, &right);
                }
                right = block_plainly(ctx, &A, ranges[5]);
                must(ctx, lsp_csr_block(ctx, &A, m / 3, m / 2, n / 3, n / 3, &A)); /* in its own place */
                must_be(ctx, &A, &right);
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

Test(parts, a_block_outside_is_refused) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){0}, 1), B = {.rows = 42};
    must_fail(ctx, LSP_ERR_ARGUMENT, "3 rows from 1 on is not within the 3 of A",
              lsp_csr_block(ctx, &A, 1, 3, 0, 4, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "-1 rows", lsp_csr_block(ctx, &A, 1, -1, 0, 4, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "columns from -1 on", lsp_csr_block(ctx, &A, 0, 3, -1, 2, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "9223372036854775807 columns from 2 on",
              lsp_csr_block(ctx, &A, 0, 3, 2, INT64_MAX, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "columns from 5 on", lsp_csr_block(ctx, &A, 0, 3, 5, 0, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_block(ctx, &A, 0, 3, 0, 4, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "A is NULL", lsp_csr_block(ctx, NULL, 0, 3, 0, 4, &B));
    cr_assert_eq(lsp_csr_block(NULL, &A, 0, 3, 0, 4, &B), LSP_ERR_ARGUMENT);
    ((int32_t *)A.col)[2] = 4;
    must_fail(ctx, LSP_ERR_FORMAT, "column 4 is not in 0 .. 3", lsp_csr_block(ctx, &A, 0, 3, 0, 4, &B));
    cr_assert(B.rows == 42 && !B.rowptr);
    lsp_ctx_destroy(ctx);
}

Test(parts, triangles_keep_one_side_of_a_diagonal) {
    static const int64_t diagonals[] = {0, -1, 1, 5, -40, 700, INT64_MIN, INT64_MAX};
    for (int threads = 1; threads <= 4; threads += 3) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int c = 0; c < size_count; c++) {
            for (int t = 0; t < test_combinations; t += 3) {
                lsp_csr A = odd_csr(ctx, sizes[c], test_types(t), 3), B, right;
                for (int d = 0; d < 16; d++) {
                    const lsp_triangle triangle = d % 2 ? LSP_TRIANGLE_UPPER : LSP_TRIANGLE_LOWER;
                    must(ctx, lsp_csr_triangle(ctx, &A, triangle, diagonals[d / 2], &B));
                    right = triangle_plainly(ctx, &A, triangle, diagonals[d / 2]);
                    must_be(ctx, &B, &right);
                }
                right = triangle_plainly(ctx, &A, LSP_TRIANGLE_UPPER, 1);
                must(ctx, lsp_csr_triangle(ctx, &A, LSP_TRIANGLE_UPPER, 1, &A));
                must_be(ctx, &A, &right);
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

Test(parts, a_triangle_that_is_none_is_refused) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){0}, 1), B = {.rows = 42};
    must_fail(ctx, LSP_ERR_ARGUMENT, "2 is neither LSP_TRIANGLE_LOWER nor LSP_TRIANGLE_UPPER",
              lsp_csr_triangle(ctx, &A, (lsp_triangle)2, 0, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_triangle(ctx, &A, LSP_TRIANGLE_LOWER, 0, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "A is NULL", lsp_csr_triangle(ctx, NULL, LSP_TRIANGLE_LOWER, 0, &B));
    cr_assert_eq(lsp_csr_triangle(NULL, &A, LSP_TRIANGLE_LOWER, 0, &B), LSP_ERR_ARGUMENT);
    cr_assert(B.rows == 42 && !B.rowptr);
    lsp_ctx_destroy(ctx);
}

/* ---- lists ---- */

/* `count` random indices below n, with repeats; none if n is 0. The caller frees .list. */
static lsp_index_list random_list(int64_t count, int64_t n, lsp_type type, uint64_t seed) {
    lsp_index_list list = {malloc((size_t)count * 8 + 1), n > 0 ? count : 0, type};
    for (int64_t i = 0; i < list.count; i++) {
        lsp_index_set((void *)list.list, type, i, test_below(&seed, n));
    }
    return list;
}

Test(parts, an_extract_by_hand) {
    lsp_ctx *ctx = test_ctx(1);
    int32_t rowptr[] = {0, 3, 3, 5}, col[] = {2, 0, 2, 2, 1};
    double val[] = {1, 2, 3, 4, 5};
    int32_t b_rowptr[] = {0, 2, 7, 7}, b_col[] = {0, 2, 0, 0, 1, 2, 2};
    double b_val[] = {4, 4, 1, 3, 2, 1, 3};
    const int64_t rows[] = {2, 0, 1};
    const int32_t cols[] = {2, 0, 2};
    lsp_csr A = TEST_CSR(3, 4, rowptr, col, val), right = TEST_CSR(3, 3, b_rowptr, b_col, b_val), B;
    must(ctx, lsp_csr_extract(ctx, &A, &(lsp_index_list){rows, 3, LSP_I64}, &(lsp_index_list){cols, 3, LSP_I32}, &B));
    must_be_same(ctx, &B, &right);
    lsp_ctx_destroy(ctx);
}

Test(parts, lists_of_rows_and_columns_are_taken) {
    for (int threads = 1; threads <= 4; threads += 3) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int c = 0; c < size_count; c++) {
            for (int t = 0; t < test_combinations; t += threads) {
                lsp_csr A = odd_csr(ctx, sizes[c], test_types(t), 4), B, right;
                lsp_index_list rows = random_list(c % 2 ? 40 : 200, A.rows, t & 1 ? LSP_I64 : LSP_I32, 5);
                lsp_index_list cols = random_list(c % 3 ? 17 : 90, A.cols, t & 2 ? LSP_I64 : LSP_I32, 6);
                for (int which = 0; which < 4; which++) {
                    const lsp_index_list *r = which & 1 ? &rows : NULL, *l = which & 2 ? &cols : NULL;
                    right = extract_plainly(ctx, &A, r, l);
                    must(ctx, lsp_csr_extract(ctx, &A, r, l, &B));
                    must_be(ctx, &B, &right);
                }
                right = extract_plainly(ctx, &A, &rows, &cols);
                must(ctx, lsp_csr_extract(ctx, &A, &rows, &cols, &A));
                must_be(ctx, &A, &right);
                free((void *)rows.list), free((void *)cols.list);
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

Test(parts, sorted_rows_by_an_ascending_list_stay_sorted) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A = test_random_csr(ctx, 300, 90, 9000, (lsp_csr_types){.val_type = LSP_F64}, 4), B, right;
    must(ctx, lsp_csr_sort(ctx, &A));
    int32_t list[] = {3, 3, 4, 50, 80, 80, 80, 89};
    const lsp_index_list cols = {list, 8, LSP_I32}, none = {NULL, -5, LSP_NONE};
    must(ctx, lsp_csr_extract(ctx, &A, &none, &cols, &B)); /* a list of NULL: all, its other fields ignored */
    must(ctx, lsp_csr_check(ctx, &B, LSP_CHECK_SORTED));
    right = extract_plainly(ctx, &A, NULL, &cols);
    must_be(ctx, &B, &right);
    lsp_ctx_destroy(ctx);
}

Test(parts, a_list_with_an_index_outside_is_refused) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){0}, 1), B = {.rows = 42};
    const int32_t high[] = {0, 3, 9}, low[] = {3, -1};
    const lsp_index_list good = {high, 2, LSP_I32};
    must_fail(ctx, LSP_ERR_ARGUMENT, "list of rows holds 3 at position 1, not in 0 .. 2",
              lsp_csr_extract(ctx, &A, &(lsp_index_list){high, 3, LSP_I32}, NULL, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "list of columns holds -1 at position 1, not in 0 .. 3",
              lsp_csr_extract(ctx, &A, NULL, &(lsp_index_list){low, 2, LSP_I32}, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "list of columns has indices of type LSP_U32",
              lsp_csr_extract(ctx, &A, NULL, &(lsp_index_list){low, 2, LSP_U32}, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "list of rows has -2 indices",
              lsp_csr_extract(ctx, &A, &(lsp_index_list){low, -2, LSP_I32}, NULL, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "list of rows is not aligned",
              lsp_csr_extract(ctx, &A, &(lsp_index_list){(const char *)low + 1, 1, LSP_I32}, NULL, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_extract(ctx, &A, NULL, &good, NULL));
    cr_assert_eq(lsp_csr_extract(NULL, &A, NULL, &good, &B), LSP_ERR_ARGUMENT);
    cr_assert(B.rows == 42 && !B.rowptr);
    int64_t fits[] = {0, 1ll << 61, (1ll << 61) - 1}, counts[] = {0, 1ll << 61, 1ll << 61}, total;
    must(ctx, lsp_csr_add_up(ctx, LSP_HOST, 1, 1, 1ll << 61, fits, 2, &total));
    cr_assert_eq(total, (1ll << 62) - 1);
    must_fail(ctx, LSP_ERR_OVERFLOW, "the 5 rows and 6 columns wanted have 2^62 entries or more",
              lsp_csr_add_up(ctx, LSP_HOST, 5, 6, 1ll << 61, counts, 2, &total));
    lsp_ctx_destroy(ctx);
}

/* ---- stacks ---- */

Test(parts, a_stack_by_hand) {
    lsp_ctx *ctx = test_ctx(1);
    int32_t rowptr[] = {0, 1, 2}, col[] = {1, 0}, b_rowptr[] = {0, 2, 4, 5, 6}, b_col[] = {1, 3, 0, 2, 1, 0};
    double val[] = {1, 2}, b_val[] = {1, 1, 2, 2, 1, 2};
    lsp_csr A = TEST_CSR(2, 2, rowptr, col, val), right = TEST_CSR(4, 4, b_rowptr, b_col, b_val), B;
    must(ctx, lsp_csr_stack(ctx, (const lsp_csr *[]){&A, &A, &A, NULL}, 2, 2, &B));
    must_be_same(ctx, &B, &right);
    lsp_ctx_destroy(ctx);
}

/* Grids of blocks of all types; block (r, c) is NULL if (r + c) % 3 is 2, and some block sizes are 0. */
Test(parts, blocks_of_all_types_are_put_together) {
    static const int64_t rows[] = {30, 0, 700, 1}, cols[] = {50, 3, 0, 400, 1};
    for (int threads = 1; threads <= 4; threads += 3) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int64_t m = 1; m <= 4; m++) {
            for (int64_t n = 1; n <= 5; n++) {
                for (int t = 0; t < 16; t += m == 4 ? 1 : 5) {
                    lsp_csr all[20] = {0}, B, right;
                    const lsp_csr *blocks[20] = {NULL};
                    for (int64_t b = 0; b < m * n; b++) {
                        const int64_t r = b / n, c = b % n, size[] = {rows[r], cols[c], rows[r] && cols[c] ? 9000 : 0};
                        if ((r + c) % 3 < 2 || m == 1 || n == 1) {
                            all[b] = odd_csr(ctx, size, test_types(b % 2 ? t : (int)(b * 7) % (t + 1)), 3);
                            blocks[b] = &all[b];
                        }
                    }
                    right = stack_plainly(ctx, blocks, (int64_t[]){m, n}, rows, cols);
                    must(ctx, lsp_csr_stack(ctx, blocks, m, n, &B));
                    must_be_same(ctx, &B, &right);
                    lsp_csr_free(ctx, &B);
                    must(ctx, lsp_csr_stack(ctx, blocks, m, n, &all[0]));
                    must_be_same(ctx, &all[0], &right);
                    lsp_csr_free(ctx, &right);
                    for (int64_t b = 0; b < m * n; b++) {
                        lsp_csr_free(ctx, &all[b]);
                    }
                }
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

Test(parts, blocks_that_do_not_fit_are_refused) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){0}, 1),
            W = test_random_csr(ctx, 3, 5, 6, lsp_types_of(&A), 1);
    lsp_csr B = {.rows = 42}, there = A, bad = A;
    const lsp_csr *wide[] = {&A, &W}, *alone[] = {&A, NULL}, *apart[] = {&A, &there}, *wrong[] = {&A, &bad};
    bad.nnz = 7;
    there.where = LSP_CUDA;
    must(ctx, lsp_csr_stack(ctx, wide, 1, 2, &W));
    must_fail(ctx, LSP_ERR_ARGUMENT, "block column 0 has blocks of 4 and of 9 columns: they must be equal",
              lsp_csr_stack(ctx, wide, 2, 1, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "block row 1 has no block that tells its size",
              lsp_csr_stack(ctx, alone, 2, 1, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "block column 1 has no block", lsp_csr_stack(ctx, alone, 1, 2, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "a grid of 0 x 2 blocks", lsp_csr_stack(ctx, wide, 0, 2, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "blocks", lsp_csr_stack(ctx, wide, INT64_MAX, 2, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_stack(ctx, NULL, 1, 2, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_stack(ctx, wide, 1, 2, NULL));
    must_fail(ctx, LSP_ERR_FORMAT, "block (0, 1): rowptr[3] is 6, but there are 7 entries",
              lsp_csr_stack(ctx, wrong, 1, 2, &B));
    must_fail(ctx, LSP_ERR_DEVICE, "block (0, 1) lies on the GPU", lsp_csr_stack(ctx, apart, 1, 2, &B));
    cr_assert_eq(lsp_csr_stack(NULL, wide, 1, 2, &B), LSP_ERR_ARGUMENT);
    int32_t none[] = {0};
    lsp_csr huge = TEST_CSR(0, INT64_MAX, none, NULL, NULL);
    huge.col_type = LSP_I64;
    must_fail(ctx, LSP_ERR_OVERFLOW, "2^63 columns or more",
              lsp_csr_stack(ctx, (const lsp_csr *[]){&huge, &huge}, 1, 2, &B));
    cr_assert(B.rows == 42 && !B.rowptr);
    lsp_ctx_destroy(ctx);
}

/* ---- memory ---- */

static lsp_status all_parts(lsp_ctx *ctx, void *data) {
    const int step = *(int *)data;
    lsp_csr A = {0}, B = {.rows = 42};
    static const int32_t list[] = {7, 1, 1, 30};
    const lsp_index_list some = {list, 4, LSP_I32};
    LSP_TRY(lsp_generate(ctx, "er:60:5", 1, NULL, &A));
    const lsp_status status = step == 0   ? lsp_csr_block(ctx, &A, 1, 20, 2, 30, &B)
                              : step == 1 ? lsp_csr_block(ctx, &A, 1, 20, 0, 60, &B)
                              : step == 2 ? lsp_csr_triangle(ctx, &A, LSP_TRIANGLE_LOWER, 0, &B)
                              : step == 3 ? lsp_csr_extract(ctx, &A, &some, &some, &B)
                                          : lsp_csr_stack(ctx, (const lsp_csr *[]){&A, &A, NULL, &A}, 2, 2, &B);
    cr_assert(status == LSP_OK || (B.rows == 42 && !B.rowptr));
    return status;
}

Test(parts, memory_that_does_not_suffice_leaves_the_output_alone) {
    for (int step = 0; step < 5; step++) {
        test_failing_memory(2, all_parts, &step);
    }
}
