/* Plans by diagonals and by diagonals of blocks: what they count, what they refuse, new values, and that rows outside a
 * diagonal read nothing. The products of all families of matrices are in methods.c. */
#include "blocks.h"

/* ---- matrices ---- */

/* Distinct (column - row) of all slices, counted plainly, by blocks. Rows have no column twice. */
static int64_t plain_diagonals(const lsp_csr *A, int b) {
    int64_t count = 0;
    char *seen = malloc((size_t)(A->rows + A->cols + 1));
    for (int64_t first = 0; first < A->rows; first += LSP_SPMV_SLICE * b) {
        memset(seen, 0, (size_t)(A->rows + A->cols + 1));
        for (int64_t i = first; i < lsp_min(first + LSP_SPMV_SLICE * b, A->rows); i++) {
            for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
                char *at = &seen[lsp_csr_col(A, k) / b - i / b + A->rows];
                count += *at == 0;
                *at = 1;
            }
        }
    }
    free(seen);
    return count;
}

static lsp_csr place(lsp_ctx *ctx, const lsp_csr *A) {
    lsp_csr_types types = lsp_types_of(A);
    lsp_csr there;
    types.place = lsp_place_of(ctx->options.device);
    must(ctx, lsp_csr_copy(ctx, A, &types, &there));
    return there;
}

static lsp_spmv_facts count_slots(lsp_ctx *ctx, const lsp_csr *A) {
    lsp_spmv_facts facts = {0};
    lsp_csr there = place(ctx, A);
    const lsp_spmv_job job = {.A = there,
                              .options = {.type = LSP_F64, .vectors = 1},
                              .planned = true,
                              .device = device_here(ctx),
                              .choice = {.passes = 1}};
    must(ctx, lsp_spmv_count_slots(ctx, &job, &facts));
    must(ctx, lsp_csr_free(ctx, &there));
    return facts;
}

/* ---- counts ---- */

TEST_ON_BOTH(spmv_diagonals, slots_are_counted_up_to_a_fill_of_one_and_a_half) {
    static const char *const names[] = {"poisson2d:40", "poisson2d:7", "poisson2d:64", "stencil27:9",
                                        "perm:200",     "er:500:6",    "er:2000:2",    "web:300:1.8:90"};
    for (int i = 0; i < 8 * 2; i++) {
        lsp_csr A;
        must(ctx, lsp_generate(ctx, names[i / 2], 1,
                               &(lsp_csr_types){.val_type = LSP_F64, .col_type = i % 2 ? LSP_I64 : LSP_I32}, &A));
        const int64_t diagonals = plain_diagonals(&A, 1), slots = diagonals * LSP_SPMV_SLICE;
        const bool offered = diagonals <= lsp_diagonals_limit(&A, 1);
        const lsp_spmv_facts facts = count_slots(ctx, &A);
        cr_assert(facts.diagonal_slots == (offered ? slots : 0), "%s: %lld slots, not %lld", names[i / 2],
                  (long long)facts.diagonal_slots, (long long)(offered ? slots : 0));
        for (int b = 0; b <= LSP_SPMV_LARGEST_BLOCK; b++) {
            cr_assert(facts.block_slots[b] == 0, "%s: %lld slots in blocks of %d", names[i / 2],
                      (long long)facts.block_slots[b], b);
        }
        must(ctx, lsp_csr_free(ctx, &A));
    }
}

TEST_ON_BOTH(spmv_diagonals, a_matrix_of_blocks_is_found_by_its_largest_blocks) {
    for (int b = 2; b <= 4; b++) {
        lsp_csr A = make_blocks(ctx, "stencil27:7", b, 0, (lsp_csr_types){.val_type = LSP_F64});
        const lsp_spmv_facts facts = count_slots(ctx, &A);
        const int64_t diagonals = plain_diagonals(&A, b), slots = diagonals * LSP_SPMV_SLICE * b * b;
        const bool offered = diagonals <= lsp_diagonals_limit(&A, b);
        for (int other = 0; other <= LSP_SPMV_LARGEST_BLOCK; other++) {
            const int64_t right = other == b && offered ? slots : 0;
            cr_assert(facts.block_slots[other] == right, "blocks of %d: %lld slots for %d, not %lld", b,
                      (long long)facts.block_slots[other], other, (long long)right);
        }
        cr_assert(offered && facts.diagonal_slots == 0);
        must(ctx, lsp_csr_free(ctx, &A));
    }
}

/* One column moved, or a row that is left over: no blocks. */
TEST_ON_BOTH(spmv_diagonals, a_matrix_that_is_nearly_of_blocks_is_not) {
    for (int i = 0; i < 3 * 3; i++) {
        const int b = 2 + i / 3, change = i % 3;
        lsp_csr A = make_blocks(ctx, "poisson2d:30", b, change == 0, (lsp_csr_types){.val_type = LSP_F64});
        if (change == 1) { /* the last column of the last row goes to an empty place on its left */
            lsp_index_set(A.col, A.col_type, A.nnz - b, 1);
        } else if (change == 2) { /* a row gives its last entry to the next one */
            lsp_index_set(A.rowptr, A.rowptr_type, 100, lsp_csr_rowptr(&A, 100) - 1);
        }
        const lsp_spmv_facts facts = count_slots(ctx, &A);
        cr_assert(facts.block_slots[b] == 0, "change %d, blocks of %d: %lld slots", change, b,
                  (long long)facts.block_slots[b]);
        must(ctx, lsp_csr_free(ctx, &A));
    }
}

TEST_ON_BOTH(spmv_diagonals, a_pattern_has_no_blocks_and_one_huge_row_no_diagonals) {
    lsp_csr A = make_blocks(ctx, "poisson2d:9", 2, 0, (lsp_csr_types){.drop_values = true});
    cr_assert(count_slots(ctx, &A).block_slots[2] == 0);
    must(ctx, lsp_csr_free(ctx, &A));
    A = one_long_row(ctx, 64, 20000, 40, (lsp_csr_types){.val_type = LSP_F64});
    cr_assert(count_slots(ctx, &A).diagonal_slots == 0);
    must(ctx, lsp_csr_free(ctx, &A));
}

/* ---- products ---- */

/* A plan by `method` for A, used with new values `updates` times; each result as plain code has it. */
static void multiply(lsp_ctx *ctx, request r, lsp_csr *A, int updates) {
    spmv_case c = {.host = *A, .A = place(ctx, A)};
    const lsp_where where = ctx->options.device;
    const lsp_spmv_options options = options_of(&r);
    lsp_spmv_plan *plan = NULL;
    lsp_spmv_info info;
    r.matrix = "blocks";
    must(ctx, lsp_spmv_plan_create(ctx, &c.A, &options, &plan));
    must(ctx, lsp_spmv_plan_get_info(plan, &info));
    cr_assert(info.method == r.method && info.stored_entries >= A->nnz && info.plan_bytes > 0);
    for (int u = 0; u <= updates; u++) {
        c.x = make_block(&r, r.transpose ? A->rows : A->cols, r.x_gap, (uint64_t)u + 1);
        c.y = make_block(&r, r.transpose ? A->cols : A->rows, r.y_gap, (uint64_t)u + 2);
        c.x_there = place_block(ctx, &r, &c.x, where);
        c.y_there = place_block(ctx, &r, &c.y, where);
        for (int64_t k = 0; u > 0 && k < A->nnz; k++) {
            test_set_value(A, k, (double)((k * 7 + u) % 11 - 5), 0);
        }
        if (u > 0) {
            must(ctx, lsp_csr_free(ctx, &c.A));
            c.A = place(ctx, A);
            must(ctx, lsp_spmv_update(plan, &c.A));
        }
        must_run(ctx, &r,
                 lsp_spmv_execute(plan, &(lsp_spmv_vectors){.alpha = r.alpha,
                                                            .beta = r.beta,
                                                            .x = c.x_there,
                                                            .y = c.y_there,
                                                            .x_stride = r.x_gap > 0 ? c.x.stride : 0,
                                                            .y_stride = r.y_gap > 0 ? c.y.stride : 0}));
        plain_spmv(&r, A, &c.x, &c.y);
        must_equal(ctx, &r, &c);
        drop(ctx, where, c.x_there);
        drop(ctx, where, c.y_there);
        free(c.x.at);
        free(c.y.at);
    }
    lsp_spmv_plan_destroy(plan);
    must(ctx, lsp_csr_free(ctx, &c.A));
}

TEST_ON_BOTH(spmv_diagonals, blocks_multiply_as_plain_code_and_take_new_values) {
    static const lsp_type types[][2] = {{LSP_F64, LSP_F64}, {LSP_F32, LSP_F32}, {LSP_F32, LSP_F64}};
    static const char *const names[] = {"poisson2d:9", "stencil27:5", "perm:70", "poisson2d:40"};
    for (int i = 0; i < 3 * 4 * 3 * 2; i++) {
        const int b = 2 + i % 3;
        request r = usual;
        r.method = i / 36 ? LSP_SPMV_DIAGONALS : LSP_SPMV_BLOCKS;
        r.val_type = types[i / 12 % 3][0], r.type = types[i / 12 % 3][1];
        r.vectors = i % 5 == 1 ? 3 : i % 5 == 2 ? 8 : i % 5 == 3 ? 2 : 1;
        r.by_columns = i % 2, r.x_gap = i % 4 == 1, r.y_gap = i % 4 == 2;
        r.beta = i % 3 - 1, r.alpha = i % 2 ? -2 : 1;
        lsp_csr A = make_blocks(ctx, names[i / 3 % 4], b, 0,
                                (lsp_csr_types){.val_type = r.val_type, .col_type = i % 7 ? LSP_I32 : LSP_I64});
        if (count_slots(ctx, &A).block_slots[b] > 0 || r.method == LSP_SPMV_DIAGONALS) {
            multiply(ctx, r, &A, 2);
        }
        must(ctx, lsp_csr_free(ctx, &A));
    }
}

TEST_ON_BOTH(spmv_diagonals, a_transposed_plan_takes_new_values) {
    for (int i = 0; i < 2; i++) {
        request r = usual;
        r.method = i ? LSP_SPMV_BLOCKS : LSP_SPMV_DIAGONALS, r.transpose = true, r.beta = 1;
        lsp_csr A = make_blocks(ctx, "stencil27:5", 3, 0, (lsp_csr_types){.val_type = LSP_F64});
        multiply(ctx, r, &A, 1);
        must(ctx, lsp_csr_free(ctx, &A));
    }
}

TEST_ON_BOTH(spmv_diagonals, a_matrix_without_blocks_is_refused_by_name) {
    lsp_csr A = make_blocks(ctx, "poisson2d:9", 3, 1, (lsp_csr_types){.val_type = LSP_F64}), there = place(ctx, &A);
    lsp_spmv_plan *plan = NULL;
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "needs a matrix of dense blocks",
              lsp_spmv_plan_create(ctx, &there, &(lsp_spmv_options){.method = LSP_SPMV_BLOCKS}, &plan));
    cr_assert(plan == NULL);
    must(ctx, lsp_csr_free(ctx, &there));
    must(ctx, lsp_csr_free(ctx, &A));
}

/* A permutation of dense blocks: each slice of 32 block rows has 32 diagonals of one block. */
TEST_ON_BOTH(spmv_diagonals, blocks_that_fill_their_slices_badly_are_refused_for_that) {
    for (int b = 2; b <= 4; b += 2) {
        lsp_csr A = make_blocks(ctx, "perm:500", b, 0, (lsp_csr_types){.val_type = LSP_F64}), there = place(ctx, &A);
        const lsp_spmv_options options = {.method = LSP_SPMV_BLOCKS};
        lsp_spmv_plan *plan = NULL;
        char fill[100], size[40];
        snprintf(fill, sizeof fill, "up to %lld entries for the %lld of A",
                 (long long)lsp_diagonals_limit(&A, b) * LSP_SPMV_SLICE * b * b, (long long)A.nnz);
        snprintf(size, sizeof size, "%d x %d blocks", b, b);
        must_fail(ctx, LSP_ERR_UNSUPPORTED, fill, lsp_spmv_plan_create(ctx, &there, &options, &plan));
        must_fail(ctx, LSP_ERR_UNSUPPORTED, size, lsp_spmv_plan_create(ctx, &there, &options, &plan));
        must(ctx, lsp_csr_free(ctx, &there));
        must(ctx, lsp_csr_free(ctx, &A));
    }
}

/* x is NaN wherever no entry is: beside the diagonals, and where a border of the grid cuts one. */
TEST_ON_BOTH(spmv_diagonals, a_row_outside_a_diagonal_reads_no_x) {
    for (int b = 1; b <= 4; b++) {
        lsp_csr A = make_blocks(ctx, "poisson2d:33", b, 0, (lsp_csr_types){.val_type = LSP_F64}), C;
        must(ctx, lsp_csr_filter(ctx, &A, &(lsp_filter){.mask = &A}, &C));
        for (int64_t k = 0; k < C.nnz; k++) { /* no entry refers to an even block of columns */
            if (lsp_csr_col(&C, k) / b % 2 == 0) {
                const int64_t col = lsp_csr_col(&C, k);
                lsp_index_set(C.col, C.col_type, k, col / b == 0 ? col + b : col - b);
            }
        }
        request r = usual;
        r.matrix = "without even columns", r.method = b > 1 ? LSP_SPMV_BLOCKS : LSP_SPMV_DIAGONALS;
        spmv_case c = {.host = C, .A = place(ctx, &C)};
        c.x = make_block(&r, C.cols, 0, 1);
        c.y = make_block(&r, C.rows, 0, 2);
        for (int64_t i = 0; i < C.cols; i++) {
            c.x.at[i] = i / b % 2 == 0 ? (double)NAN : c.x.at[i];
        }
        for (int64_t i = 0; i < C.rows; i++) {
            c.y.at[i] = NAN;
        }
        c.x_there = place_block(ctx, &r, &c.x, ctx->options.device);
        c.y_there = place_block(ctx, &r, &c.y, ctx->options.device);
        c.vectors = (lsp_spmv_vectors){.alpha = 1, .x = c.x_there, .y = c.y_there};
        lsp_spmv_plan *plan = NULL;
        const lsp_spmv_options options = options_of(&r);
        const lsp_status status = lsp_spmv_plan_create(ctx, &c.A, &options, &plan);
        if (b == 1 || status == LSP_OK) { /* blocks that met are too many for some sizes */
            must_run(ctx, &r, status);
            must_run(ctx, &r, lsp_spmv_execute(plan, &c.vectors));
            plain_spmv(&r, &C, &c.x, &c.y);
            for (int64_t i = 0; i < C.rows; i++) {
                cr_assert(c.y.at[i] == c.y.at[i], "the test is wrong");
            }
            must_equal(ctx, &r, &c);
            lsp_spmv_plan_destroy(plan);
        }
        must(ctx, lsp_csr_free(ctx, &A));
        free_case(ctx, &c);
    }
}

/* New values whose matrix has another structure, which an update does not check: any numbers, but no fault. */
TEST_ON_BOTH(spmv_diagonals, an_update_with_another_structure_stays_inside) {
    lsp_csr A = make_blocks(ctx, "poisson2d:20", 2, 0, (lsp_csr_types){.val_type = LSP_F64}), there = place(ctx, &A);
    lsp_csr B = make_blocks(ctx, "poisson2d:20", 2, 0, (lsp_csr_types){.val_type = LSP_F64});
    for (int i = 0; i < 2; i++) {
        lsp_spmv_plan *plan = NULL;
        must(ctx, lsp_spmv_plan_create(ctx, &there,
                                       &(lsp_spmv_options){.method = i ? LSP_SPMV_BLOCKS : LSP_SPMV_DIAGONALS}, &plan));
        for (int kind = 0; kind < 3; kind++) {
            for (int64_t k = 1; k <= A.rows; k++) {
                lsp_index_set(A.rowptr, A.rowptr_type, k, kind == 0 ? A.nnz : kind == 1 ? -5 * k : A.nnz * 3 - k);
            }
            lsp_csr wrong = place(ctx, &B);
            const int64_t bytes = (A.rows + 1) * (int64_t)lsp_type_bytes(A.rowptr_type);
            if (wrong.where == LSP_HOST) {
                memcpy(wrong.rowptr, A.rowptr, (size_t)bytes);
            } else {
                must(ctx, lsp_cuda_copy(ctx, wrong.rowptr, LSP_CUDA, A.rowptr, LSP_HOST, bytes));
            }
            must(ctx, lsp_spmv_update(plan, &wrong));
            must(ctx, lsp_ctx_sync(ctx));
            must(ctx, lsp_csr_free(ctx, &wrong));
        }
        lsp_spmv_plan_destroy(plan);
    }
    must(ctx, lsp_csr_free(ctx, &there));
    must(ctx, lsp_csr_free(ctx, &A));
    must(ctx, lsp_csr_free(ctx, &B));
}

TEST_ON_BOTH(spmv_diagonals, matrices_of_two_billion_columns_are_left_to_other_methods) {
    lsp_csr A;
    lsp_spmv_plan *plan = NULL;
    must(ctx, lsp_csr_create(ctx, 64, (int64_t)1 << 40, 64, &(lsp_csr_types){.val_type = LSP_F64}, &A));
    for (int64_t k = 0; k < 64; k++) {
        lsp_index_set(A.rowptr, A.rowptr_type, k + 1, k + 1);
        lsp_index_set(A.col, A.col_type, k, ((int64_t)1 << 33) + k);
        test_set_value(&A, k, 1, 0);
    }
    cr_assert(count_slots(ctx, &A).diagonal_slots == 0);
    lsp_csr there = place(ctx, &A);
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "up to 2147483646 columns, not 1099511627776",
              lsp_spmv_plan_create(ctx, &there, &(lsp_spmv_options){.method = LSP_SPMV_DIAGONALS}, &plan));
    must(ctx, lsp_csr_free(ctx, &there));
    must(ctx, lsp_csr_free(ctx, &A));
}
