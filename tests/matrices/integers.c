/* Integers moved: other types and places, sorted rows, diagonals; on the CPU and on a GPU, against plain loops. */
#include "tests/integers.h"

/* ---- other types and places ---- */

TEST_ON_BOTH(csr_integers, a_copy_has_the_values_in_another_type) {
    static const lsp_type to[] = {LSP_I32, LSP_I64, LSP_BOOL, LSP_NONE, LSP_F64, LSP_F32};
    uint64_t state = 3;
    for (int round = 0; round < 72; round++) {
        const lsp_type from = integer_types[round % 3], type = to[round / 3 % 6];
        lsp_csr A = make_whole(from, 20, 15, true, round & 1, &state), a = take(ctx, &A), C = {0};
        const lsp_csr_types types = {.val_type = type, .drop_values = type == LSP_NONE};
        plain right = plain_matrix(&A);
        const lsp_status status = lsp_csr_copy(ctx, &a, &types, &C);
        if (lsp_is_integer(type)) {
            must_be_made(ctx, status, &C, type, &right, "a copy");
        } else {
            must(ctx, status);
            lsp_csr here = moved(ctx, &C, LSP_HOST);
            for (int64_t k = 0; k < A.nnz; k++) {
                const double x = (double)whole_at(&A, k);
                cr_assert(type == LSP_NONE || lsp_value_at(&here, k).re == (type == LSP_F32 ? (double)(float)x : x));
            }
            cr_assert(here.val_type == type && here.nnz == A.nnz);
            lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &C);
        }
        plain_free(&right), give_back(ctx, &a), drop(&A);
    }
    for (int t = 0; t < 3; t++) {
        lsp_csr P = make_whole(LSP_NONE, 9, 9, true, false, &state), p = take(ctx, &P), C = {0};
        plain right = plain_matrix(&P);
        const lsp_csr_types types = {.val_type = integer_types[t]};
        must_be_made(ctx, lsp_csr_copy(ctx, &p, &types, &C), &C, integer_types[t], &right, "ones");
        plain_free(&right), give_back(ctx, &p), drop(&P);
    }
}

TEST_ON_BOTH(csr_integers, reals_do_not_become_integers_nor_integers_complex) {
    uint64_t state = 3;
    static const lsp_type reals[] = {LSP_F32, LSP_F64, LSP_C64};
    for (int k = 0; k < 9; k++) {
        lsp_csr A = make_whole(reals[k / 3], 5, 5, true, false, &state), a = take(ctx, &A), C = {.rows = 4711};
        const lsp_csr_types types = {.val_type = integer_types[k % 3]};
        must_fail(ctx, LSP_ERR_UNSUPPORTED, "become", lsp_csr_copy(ctx, &a, &types, &C));
        cr_assert(C.rows == 4711);
        give_back(ctx, &a), drop(&A);
    }
    lsp_csr A = make_whole(LSP_I64, 5, 5, true, false, &state), a = take(ctx, &A), C = {0};
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "do not become complex",
              lsp_csr_copy(ctx, &a, &(lsp_csr_types){.val_type = LSP_C64}, &C));
    give_back(ctx, &a), drop(&A);
}

/* ---- places moved: every byte of a value moves with its entry ---- */

TEST_ON_BOTH(csr_integers, entries_move_with_their_values) {
    uint64_t state = 9;
    for (int round = 0; round < 36; round++) {
        const lsp_type type = integer_types[round % 3];
        const int64_t rows = 1 + test_below(&state, 40), cols = 1 + test_below(&state, 40);
        lsp_csr A = make_whole(type, rows, cols, true, false, &state), a, C = {0}, D = {0};
        if (type != LSP_BOOL) {
            for (int64_t k = 0; k < A.nnz; k++) { /* values of all sizes, and no duplicates */
                lsp_value_set(type, A.val, k,
                              (lsp_value){0, 0, type == LSP_I32 ? k * -1000003 : (k - 7) * (1LL << 50)});
            }
        }
        a = take(ctx, &A);
        plain p = plain_matrix(&A), turned = plain_of(cols, rows), part = plain_of(rows, cols),
              two = plain_of(2 * rows, cols);
        for (int64_t at = 0; at < rows * cols; at++) {
            const int64_t i = at / cols, j = at % cols, back = j * rows + i;
            turned.val[back] = p.val[at], turned.is[back] = p.is[at];
            part.val[at] = p.val[at], part.is[at] = p.is[at] && j >= i;
            for (int half = 0; half < 2; half++) {
                two.val[half * rows * cols + at] = p.val[at], two.is[half * rows * cols + at] = p.is[at];
            }
        }
        must_be_made(ctx, lsp_csr_transpose(ctx, &a, &C), &C, type, &turned, "transposed");
        must_be_made(ctx, lsp_csr_triangle(ctx, &a, LSP_TRIANGLE_UPPER, 0, &C), &C, type, &part, "a triangle");
        must_be_made(ctx, lsp_csr_stack(ctx, (const lsp_csr *[]){&a, &a}, 2, 1, &C), &C, type, &two, "stacked");
        must_be_made(ctx, lsp_csr_block(ctx, &a, 0, rows, 0, cols, &C), &C, type, &p, "a block");
        lsp_csr_transpose_plan *plan = NULL;
        must(ctx, lsp_csr_transpose_plan_create(ctx, &a, &plan));
        must(ctx, lsp_csr_transpose_execute(plan, &a, &C));
        must(ctx, lsp_csr_transpose_refill(plan, &a, &C));
        must_be_made(ctx, LSP_OK, &C, type, &turned, "transposed by a plan");
        lsp_csr_transpose_plan_destroy(plan);
        /* the order of rows and of columns turned round, and back */
        int32_t order[80], *there;
        for (int32_t k = 0; k < 80; k++) {
            order[k] = k;
        }
        for (int32_t k = 0; k < rows; k++) {
            order[k] = (int32_t)rows - 1 - k;
        }
        there = put_there(ctx, order, (int64_t)sizeof order);
        must(ctx, lsp_csr_permute(ctx, &a, there, NULL, LSP_I32, &D));
        must_be_made(ctx, lsp_csr_permute(ctx, &D, there, NULL, LSP_I32, &C), &C, type, &p, "permuted twice");
        lsp_csr_free(ctx, &D);
        for (int32_t k = 0; k < cols; k++) {
            order[k] = (int32_t)cols - 1 - k;
        }
        lsp_free(ctx, there);
        there = put_there(ctx, order, (int64_t)sizeof order);
        const lsp_index_list list = {there, cols, LSP_I32};
        must(ctx, lsp_csr_extract(ctx, &a, NULL, &list, &D));
        must_be_made(ctx, lsp_csr_extract(ctx, &D, NULL, &list, &C), &C, type, &p, "columns turned round twice");
        lsp_csr_free(ctx, &D);
        lsp_free(ctx, there);
        /* triples, columns, a dense array */
        lsp_coo coo = {0};
        must(ctx, lsp_csr_to_coo(ctx, &a, &coo));
        must_be_made(ctx, lsp_coo_to_csr(ctx, &coo, NULL, &C, NULL), &C, type, &p, "triples");
        lsp_coo_free(ctx, &coo);
        lsp_csc csc = {0};
        must(ctx, lsp_csr_to_csc(ctx, &a, &csc));
        must_be_made(ctx, lsp_csc_to_csr(ctx, &csc, &C), &C, type, &p, "columns");
        lsp_csc_free(ctx, &csc);
        for (int by_columns = 0; by_columns < 2; by_columns++) {
            const int64_t stride = (by_columns ? rows : cols) + round % 2, lines = by_columns ? cols : rows;
            void *elements = put_there(ctx, NULL, lines * stride * (int64_t)lsp_type_bytes(type));
            const lsp_dense dense = {rows, cols, stride, elements, type, by_columns, a.where};
            plain left = plain_of(rows, cols);
            for (int64_t at = 0; at < rows * cols; at++) {
                left.val[at] = p.val[at], left.is[at] = p.is[at] && p.val[at] != 0;
            }
            must(ctx, lsp_csr_to_dense(ctx, &a, &dense));
            must_be_made(ctx, lsp_dense_to_csr(ctx, &dense, &C), &C, type, &left, "dense");
            plain_free(&left), lsp_free(ctx, elements);
        }
        plain_free(&p), plain_free(&turned), plain_free(&part), plain_free(&two), give_back(ctx, &a), drop(&A);
    }
}

TEST_ON_BOTH(csr_integers, rows_are_sorted_and_duplicates_summed) {
    uint64_t state = 12;
    for (int round = 0; round < 60; round++) {
        const lsp_type type = integer_types[round % 3];
        lsp_csr A = make_whole(type, 30, 12, false, round & 4, &state), a = take(ctx, &A), C = {0};
        plain p = plain_matrix(&A);
        lsp_coo coo = {0};
        must(ctx, lsp_csr_to_coo(ctx, &a, &coo));
        must_be_made(ctx, lsp_coo_to_csr(ctx, &coo, NULL, &C, NULL), &C, type, &p, "triples");
        lsp_coo_free(ctx, &coo);
        must(ctx, lsp_csr_copy(ctx, &a, NULL, &C));
        must(ctx, lsp_csr_sort(ctx, &C));
        must(ctx, lsp_csr_check(ctx, &C, LSP_CHECK_SORTED | LSP_CHECK_FINITE));
        lsp_csr here = moved(ctx, &C, LSP_HOST);
        plain again = plain_matrix(&here);
        cr_assert(memcmp(p.val, again.val, (size_t)(p.rows * p.cols) * sizeof *p.val) == 0);
        plain_free(&again), plain_free(&p), lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &C), give_back(ctx, &a),
            drop(&A);
    }
}

TEST_ON_BOTH(csr_integers, a_triangle_is_expanded) {
    uint64_t state = 2;
    for (int round = 0; round < 60; round++) {
        const lsp_type type = integer_types[round % 3];
        const lsp_symmetry symmetry = (lsp_symmetry)(round / 3 % 3);
        lsp_csr A = make_whole(type, 12, 12, round & 1, round & 4, &state), a = take(ctx, &A), C = {0};
        plain p = plain_matrix(&A), right = plain_matrix(&A);
        for (int64_t i = 0; i < 12; i++) {
            for (int64_t j = 0; j < 12 && symmetry != LSP_SYMMETRY_GENERAL; j++) {
                const int64_t at = i * 12 + j, back = j * 12 + i;
                if (i != j && p.is[back]) {
                    const uint64_t x = (uint64_t)p.val[back];
                    right.val[at] = (int64_t)((uint64_t)right.val[at] + (symmetry == LSP_SYMMETRY_SKEW ? 0 - x : x));
                    right.is[at] = true;
                }
            }
        }
        must_be_made(ctx, lsp_csr_expand(ctx, &a, symmetry, &C), &C, type, &right, "expanded");
        plain_free(&p), plain_free(&right), give_back(ctx, &a), drop(&A);
    }
}

TEST_ON_BOTH(csr_integers, diagonals_are_taken_and_made) {
    uint64_t state = 46;
    for (int round = 0; round < 30; round++) {
        const lsp_type type = integer_types[round % 3];
        lsp_csr A = make_whole(type, 14, 10, round & 1, round & 2, &state), a = take(ctx, &A), C = {0};
        plain p = plain_matrix(&A), right = plain_of(10, 10);
        for (int64_t i = 0; i < 10; i++) {
            right.val[11 * i] = p.val[10 * i + i], right.is[11 * i] = true;
        }
        void *diagonal = put_there(ctx, NULL, 80);
        lsp_status status = lsp_csr_diagonal(ctx, &a, diagonal);
        if (status == LSP_OK) {
            status = lsp_csr_from_diagonal(ctx, 10, diagonal, type, a.where, &C);
        }
        must_be_made(ctx, status, &C, type, &right, "a diagonal");
        for (int64_t i = 0; i < 10; i++) {
            right.val[11 * i] = 1;
        }
        must_be_made(ctx, lsp_csr_from_diagonal(ctx, 10, NULL, type, a.where, &C), &C, type, &right, "the identity");
        plain_free(&p), plain_free(&right), lsp_free(ctx, diagonal), give_back(ctx, &a), drop(&A);
    }
}

/* ---- memory ---- */

static lsp_status use_all(lsp_ctx *ctx, void *data) {
    const lsp_csr *A = data;
    lsp_csr C = {.rows = 42}, D = {0};
    lsp_status status = lsp_csr_add(ctx, 2, A, 3, A, &C);
    cr_assert(status == LSP_OK || (C.rows == 42 && C.rowptr == NULL));
    status = status == LSP_OK ? lsp_csr_hadamard(ctx, A, A, &D) : status;
    lsp_csr_free(ctx, &D);
    status = status == LSP_OK ? lsp_csr_expand(ctx, A, LSP_SYMMETRY_SYMMETRIC, &D) : status;
    lsp_csr_free(ctx, &D);
    status = status == LSP_OK ? lsp_csr_copy(ctx, A, &(lsp_csr_types){.val_type = LSP_I64}, &D) : status;
    lsp_csr_free(ctx, &D);
    status = status == LSP_OK ? lsp_csr_apply(ctx, &C, LSP_APPLY_ADD, 1) : status;
    char diagonal[8 * 60];
    status = status == LSP_OK ? lsp_csr_diagonal(ctx, &C, diagonal) : status;
    status = status == LSP_OK ? lsp_csr_scale(ctx, &C, diagonal, NULL) : status;
    lsp_csr_free(ctx, &C);
    return status;
}

Test(csr_integers, failing_memory_leaves_everything_as_it_was) {
    uint64_t state = 77;
    for (int t = 0; t < 3; t++) {
        lsp_csr A = make_whole(integer_types[t], 40, 40, false, false, &state);
        test_failing_memory(1, use_all, &A);
        drop(&A);
    }
}
