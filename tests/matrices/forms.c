/* Triples, dense arrays and columns on the host: what the definitions give, bit by bit. */
#include "forms_plainly.h"

Test(forms, triples_are_the_entries_in_their_order) {
    for (int threads = 1; threads <= 4; threads += 3) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int c = 0; c < size_count; c++) {
            for (int t = 0; t < test_combinations; t++) {
                lsp_csr A = odd_csr(ctx, sizes[c], test_types(t), 2);
                lsp_coo B = {.rows = 42};
                must(ctx, lsp_csr_to_coo(ctx, &A, &B));
                cr_assert(B.rows == A.rows && B.cols == A.cols && B.nnz == A.nnz && B.index_type == A.col_type &&
                          B.val_type == A.val_type && B.where == LSP_HOST);
                cr_assert(!B.val == (A.val_type == LSP_NONE || A.nnz == 0));
                for (int64_t k = 0; k < A.nnz; k++) {
                    cr_assert_eq(lsp_index_at(B.row, B.index_type, k), lsp_csr_row_of(&A, k));
                    cr_assert_eq(lsp_index_at(B.col, B.index_type, k), lsp_csr_col(&A, k));
                }
                cr_assert(A.nnz == 0 || !B.val ||
                          memcmp(B.val, A.val, (size_t)A.nnz * lsp_type_bytes(A.val_type)) == 0);
                must(ctx, lsp_coo_free(ctx, &B));
                cr_assert(B.row == NULL && B.rows == 0);
                lsp_csr_free(ctx, &A);
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

Test(forms, triples_that_are_not_the_contexts_are_not_freed) {
    lsp_ctx *ctx = test_ctx(1), *other = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){.val_type = LSP_F64}, 1);
    lsp_coo B = {.rows = 42}, before;
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_to_coo(ctx, &A, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "A is NULL", lsp_csr_to_coo(ctx, NULL, &B));
    cr_assert_eq(lsp_csr_to_coo(NULL, &A, &B), LSP_ERR_ARGUMENT);
    cr_assert(B.rows == 42 && !B.row);
    must(ctx, lsp_csr_to_coo(ctx, &A, &B));
    before = B;
    must_fail(other, LSP_ERR_ARGUMENT, "6 triples of a matrix of 3 x 4 are not freed", lsp_coo_free(other, &B));
    cr_assert(memcmp(&B, &before, sizeof B) == 0);
    must(ctx, lsp_coo_free(ctx, &B));
    must(ctx, lsp_coo_free(ctx, &B));
    must(ctx, lsp_coo_free(ctx, NULL));
    cr_assert_eq(lsp_coo_free(NULL, &B), LSP_ERR_ARGUMENT);
    lsp_ctx_destroy(other), lsp_ctx_destroy(ctx);
}

/* ---- dense arrays ---- */

static void must_fill(lsp_ctx *ctx, const lsp_csr *A, lsp_type type, bool by_columns, int64_t pad) {
    lsp_dense D = dense_like(A, type, by_columns, pad), right = dense_like(A, type, by_columns, pad);
    to_dense_plainly(A, &right);
    must(ctx, lsp_csr_to_dense(ctx, A, &D));
    cr_assert(memcmp(D.val, right.val, dense_bytes(&D)) == 0, "%ld x %ld, %s, by columns %d, pad %d", (long)A->rows,
              (long)A->cols, lsp_type_name(type), by_columns, (int)pad);
    free(D.val), free(right.val);
}

Test(forms, a_dense_array_has_the_entries_and_their_sums) {
    for (int threads = 1; threads <= 4; threads += 3) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int c = 0; c < size_count; c++) {
            for (int t = 0; t < test_combinations; t++) {
                lsp_csr A = odd_csr(ctx, sizes[c], test_types(t), 2);
                for (int unique = 0; unique < 2; unique++) {
                    for (int way = 0; way < 4; way++) {
                        must_fill(ctx, &A, A.val_type ? A.val_type : LSP_F32, way & 1, way & 2 ? 3 : 0);
                    }
                    if (A.val_type == LSP_NONE) {
                        must_fill(ctx, &A, LSP_F64, false, 0);
                        must_fill(ctx, &A, LSP_C64, true, 1);
                    }
                    must(ctx, lsp_csr_sort(ctx, &A));
                    must(ctx, lsp_csr_sum_duplicates(ctx, &A, NULL));
                }
                lsp_csr_free(ctx, &A);
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

/* D with its elements gathered by definition. */
static lsp_csr to_csr_plainly(lsp_ctx *ctx, const lsp_dense *D) {
    plain p = {0};
    const lsp_csr all = {.val = D->val, .val_type = D->val_type};
    for (int64_t i = 0; i < D->rows; i++) {
        for (int64_t j = 0; j < D->cols; j++) {
            const lsp_value v = lsp_value_of(D->val_type, D->val, dense_place(D, i, j));
            if (v.re != 0 || v.im != 0) {
                plain_add(&p, i, j, D->val_type, &all, dense_place(D, i, j));
            }
        }
    }
    return plain_end(ctx, &p, D->rows, D->cols, (lsp_csr_types){LSP_I32, LSP_I32, D->val_type, false, LSP_PLACE_HOST});
}

Test(forms, elements_that_are_not_0_become_entries) {
    static const int64_t more[][3] = {{1, 40000, 9000}, {2, 20000, 30000}}; /* rows of several pieces */
    for (int threads = 1; threads <= 4; threads += 3) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int c = 0; c < size_count + 2; c++) {
            for (int t = 4; t < test_combinations; t += 4) {
                for (int way = 0; way < 4; way++) {
                    lsp_csr A = odd_csr(ctx, c < size_count ? sizes[c] : more[c - size_count], test_types(t), 2), B;
                    lsp_dense D = dense_like(&A, A.val_type, way & 1, way & 2 ? 3 : 0);
                    must(ctx, lsp_csr_to_dense(ctx, &A, &D));
                    lsp_csr right = to_csr_plainly(ctx, &D);
                    must(ctx, lsp_dense_to_csr(ctx, &D, &B));
                    must_be_same(ctx, &B, &right);
                    free(D.val);
                    lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &B), lsp_csr_free(ctx, &right);
                }
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

Test(forms, dense_arrays_that_are_none_are_refused) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){.val_type = LSP_F64}, 1), B = {.rows = 42};
    double val[20];
    memset(val, 0x11, sizeof val);
    const lsp_dense good = {.rows = 3, .cols = 4, .val = val, .val_type = LSP_F64};
    const struct {
        lsp_dense D;
        lsp_status status;
        const char *why;
        bool only_fill; /* refused with A only */
    } bad[] = {{{-1, 4, 0, val, LSP_F64, false, LSP_HOST}, LSP_ERR_ARGUMENT, "D has -1 rows", false},
               {{3, 4, 3, val, LSP_F64, false, LSP_HOST}, LSP_ERR_ARGUMENT, "stride of 3: 0, or 4 and more", false},
               {{3, 4, -1, val, LSP_F64, true, LSP_HOST}, LSP_ERR_ARGUMENT, "stride of -1: 0, or 3", false},
               {{3, 4, 0, val, LSP_NONE, false, LSP_HOST}, LSP_ERR_ARGUMENT, "elements of type LSP_NONE", false},
               {{3, 4, 0, val, LSP_U32, false, LSP_HOST}, LSP_ERR_ARGUMENT, "elements of type LSP_U32", false},
               {{3, 4, 0, val, LSP_F64, false, (lsp_where)7}, LSP_ERR_ARGUMENT, "D lies at place 7", false},
               {{3, 4, 0, val, LSP_F64, false, LSP_CUDA}, LSP_ERR_DEVICE, "D lies on the GPU", false},
               {{3, 4, 0, NULL, LSP_F64, false, LSP_HOST}, LSP_ERR_ARGUMENT, "val is NULL", false},
               {{3, 4, 0, (char *)val + 4, LSP_F64, false, LSP_HOST}, LSP_ERR_ARGUMENT, "not aligned", false},
               {{3, 4, INT64_MAX / 2, val, LSP_F64, false, LSP_HOST}, LSP_ERR_OVERFLOW, "can be addressed", false},
               {{3, INT64_MAX, 0, val, LSP_F64, false, LSP_HOST}, LSP_ERR_OVERFLOW, "can be addressed", false},
               {{4, 3, 0, val, LSP_F64, false, LSP_HOST}, LSP_ERR_ARGUMENT, "D is 4 x 3, but A is 3 x 4", true},
               {{3, 4, 0, val, LSP_F32, false, LSP_HOST}, LSP_ERR_ARGUMENT, "but A has values of type LSP_F64", true},
               {{3, 4, 0, A.val, LSP_F64, false, LSP_HOST}, LSP_ERR_ARGUMENT, "and the elements of D overlap", true}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        must_fail(ctx, bad[i].status, bad[i].why, lsp_csr_to_dense(ctx, &A, &bad[i].D));
        if (!bad[i].only_fill) {
            must_fail(ctx, bad[i].status, bad[i].why, lsp_dense_to_csr(ctx, &bad[i].D, &B));
        }
    }
    must_fail(ctx, LSP_ERR_ARGUMENT, "D is NULL", lsp_csr_to_dense(ctx, &A, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "D is NULL", lsp_dense_to_csr(ctx, NULL, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "A is NULL", lsp_csr_to_dense(ctx, NULL, &good));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_dense_to_csr(ctx, &good, NULL));
    cr_assert(lsp_csr_to_dense(NULL, &A, &good) == LSP_ERR_ARGUMENT && lsp_dense_to_csr(NULL, &good, &B));
    ((int32_t *)A.col)[5] = 4;
    must_fail(ctx, LSP_ERR_FORMAT, "column 4 is not in 0 .. 3", lsp_csr_to_dense(ctx, &A, &good));
    cr_assert(B.rows == 42 && !B.rowptr);
    for (size_t i = 0; i < sizeof val; i++) {
        cr_assert_eq(((unsigned char *)val)[i], 0x11, "a refused call wrote");
    }
    lsp_ctx_destroy(ctx);
}

/* ---- columns ---- */

Test(forms, columns_are_the_rows_of_the_transpose) {
    lsp_ctx *ctx = test_ctx(3);
    for (int c = 0; c < size_count; c++) {
        for (int t = 0; t < test_combinations; t++) {
            lsp_csr A = odd_csr(ctx, sizes[c], test_types(t), 2), T, B;
            lsp_csc C = {.rows = 42};
            must(ctx, lsp_csr_to_csc(ctx, &A, &C));
            cr_assert(C.rows == A.rows && C.cols == A.cols && C.nnz == A.nnz);
            must(ctx, lsp_csr_transpose(ctx, &A, &T));
            lsp_csr of_c = lsp_csc_transposed(&C);
            must_be_same(ctx, &of_c, &T);
            must(ctx, lsp_csc_to_csr(ctx, &C, &B));
            must(ctx, lsp_csr_sort(ctx, &A));
            must_be_same(ctx, &B, &A);
            must(ctx, lsp_csc_free(ctx, &C));
            cr_assert(C.colptr == NULL && C.rows == 0);
            lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &T), lsp_csr_free(ctx, &B);
        }
    }
    lsp_ctx_destroy(ctx);
}

Test(forms, columns_that_are_none_are_refused) {
    lsp_ctx *ctx = test_ctx(1), *other = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){0}, 1), B = {.rows = 42};
    lsp_csc C, untouched = {.rows = 42};
    must_fail(ctx, LSP_ERR_ARGUMENT, "A is NULL", lsp_csc_to_csr(ctx, NULL, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "A is NULL", lsp_csr_to_csc(ctx, NULL, &untouched));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_to_csc(ctx, &A, NULL));
    must(ctx, lsp_csr_to_csc(ctx, &A, &C));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csc_to_csr(ctx, &C, NULL));
    must_fail(other, LSP_ERR_ARGUMENT, "not this context's", lsp_csc_free(other, &C));
    cr_assert(C.rows == 3);
    must(ctx, lsp_csc_free(ctx, NULL));
    cr_assert(lsp_csc_to_csr(NULL, &C, &B) && lsp_csr_to_csc(NULL, &A, &C) && lsp_csc_free(NULL, &C));
    ((int32_t *)C.row)[0] = 3;
    must_fail(ctx, LSP_ERR_FORMAT, "the transpose of A, row", lsp_csc_to_csr(ctx, &C, &B));
    cr_assert(B.rows == 42 && !B.rowptr && untouched.rows == 42);
    lsp_ctx_destroy(other), lsp_ctx_destroy(ctx);
}

/* ---- memory ---- */

static lsp_status all_forms(lsp_ctx *ctx, void *data) {
    const int step = *(int *)data;
    static double val[60 * 61];
    lsp_csr A = {0}, B = {.rows = 42};
    lsp_coo T = {.rows = 42};
    lsp_csc C = {.rows = 42};
    const lsp_dense D = {
        .rows = 60, .cols = 60, .stride = 61, .val = val, .val_type = LSP_F64, .by_columns = step == 2};
    LSP_TRY(lsp_generate(ctx, "er:60:5", 1, NULL, &A));
    if (step == 1) { /* columns twice and unsorted: a copy is summed */
        lsp_index_set(A.col, A.col_type, 1, lsp_csr_col(&A, 0));
    }
    val[0] = 99;
    const lsp_status status = step == 0   ? lsp_csr_to_coo(ctx, &A, &T)
                              : step == 1 ? lsp_csr_to_dense(ctx, &A, &D)
                              : step < 4  ? lsp_dense_to_csr(ctx, &D, &B)
                                          : lsp_csr_to_csc(ctx, &A, &C);
    cr_assert(status == LSP_OK ||
              (B.rows == 42 && T.rows == 42 && C.rows == 42 && (step != 1 || val[0] == 99 || !A.nnz)));
    return status;
}

Test(forms, memory_that_does_not_suffice_leaves_the_output_alone) {
    for (int step = 0; step < 5; step++) {
        test_failing_memory(2, all_forms, &step);
    }
}
