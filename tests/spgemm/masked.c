/* C<M> = A*B, only the entries of the mask: the bits of the whole product after a filter, on the host and on a GPU.
 * Tests of a GPU are skipped without one. */
#include "spgemm/cpu/masked.h"
#include "tests/masked.h"

/* Both where the context computes, by the mask alone and by what the library chooses. */
static void check_masked(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_options options, const char *what,
                         witness *seen) {
    lsp_ctx_info place;
    must(ctx, lsp_ctx_get_info(ctx, &place));
    const bool gpu = place.device == LSP_CUDA;
    lsp_csr right = right_one(ctx, A, B, options, seen), a = *A, b = *B, m = *options.filter.mask;
    const lsp_type rowptr = options.types.rowptr_type, col = options.types.col_type;
    if (gpu) {
        a = upload(ctx, A), b = A == B ? a : upload(ctx, B), m = upload(ctx, options.filter.mask);
        options.filter.mask = &m;
    }
    for (int asked = 0; asked < 2; asked++) {
        lsp_csr C = {0}, here = {0};
        lsp_spgemm_info info;
        options.method = asked ? LSP_SPGEMM_MASK : LSP_SPGEMM_AUTO;
        must(ctx, lsp_spgemm(ctx, &a, A == B ? &a : &b, &options, &C, &info));
        here = gpu ? download(ctx, &C) : C;
        same(ctx, &right, &here, what);
        cr_assert(info.nnz == right.nnz && info.nnz <= info.nnz_bound && info.reason[0] != 0, "%s: facts", what);
        cr_assert(!asked || (info.method == LSP_SPGEMM_MASK && strcmp(info.method_name, "mask") == 0 &&
                             strstr(info.reason, "asked for") != NULL));
        cr_assert(C.rowptr_type == (rowptr ? rowptr : LSP_I32) && C.col_type == (col ? col : LSP_I32));
        lsp_csr_free(ctx, &C);
        if (gpu) {
            lsp_csr_free(ctx, &here);
        }
    }
    lsp_csr_free(ctx, &right);
    if (gpu) {
        lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &m);
        if (A != B) {
            lsp_csr_free(ctx, &b);
        }
    }
}

static recipe some_recipe(int64_t rows, int64_t cols, int64_t entries, uint64_t *state) {
    const bool sorted = test_below(state, 2);
    return (recipe){rows,
                    cols,
                    entries,
                    index_type(state),
                    index_type(state),
                    value_type(state), /* */
                    sorted,
                    false,
                    -1,
                    -1,
                    0};
}

/* Matrices of all types, sizes and semirings, transposed or not. */
static void check_any(lsp_ctx *ctx, int rounds) {
    uint64_t state = 5;
    witness seen = {0};
    for (int round = 0; round < rounds; round++) {
        const int64_t rows = test_below(&state, 40), inner = test_below(&state, 40), cols = test_below(&state, 300);
        recipe of_a = some_recipe(rows, inner, test_below(&state, 12), &state);
        recipe of_b = some_recipe(inner, cols, test_below(&state, 60), &state);
        recipe of_mask = some_recipe(rows, cols, test_below(&state, 60), &state);
        of_a.wild = of_b.wild = test_below(&state, 3) == 0;
        of_mask.dense_row = test_below(&state, 3) == 0 ? 1 : -1;
        lsp_csr A = make(&of_a, test_random(&state)), B = make(&of_b, test_random(&state));
        lsp_csr M = make(&of_mask, test_random(&state)), turned_a = {0}, turned_b = {0};
        lsp_spgemm_options options = {.transpose_a = round & 4, .transpose_b = round & 8};
        options.semiring = (lsp_semiring)(round % 5);
        options.filter = (lsp_filter){.mask = &M, .drop = round % 7 == 0, .tolerance = round % 7 == 0 ? 1e-3 : 0};
        options.filter.largest = round % 5 == 0 ? 3 : 0;
        options.types = (lsp_csr_types){.rowptr_type = test_below(&state, 2) ? index_type(&state) : LSP_NONE,
                                        .col_type = test_below(&state, 2) ? index_type(&state) : LSP_NONE,
                                        .val_type = value_type(&state),
                                        .drop_values = test_below(&state, 5) == 0};
        must(ctx, lsp_csr_transpose(ctx, &A, &turned_a));
        must(ctx, lsp_csr_transpose(ctx, &B, &turned_b));
        check_masked(ctx, options.transpose_a ? &turned_a : &A, options.transpose_b ? &turned_b : &B, options, "any",
                     &seen);
        lsp_csr_free(ctx, &turned_a), lsp_csr_free(ctx, &turned_b);
        drop(&A), drop(&B), drop(&M);
    }
    cr_assert(seen.kept > 1000 && seen.forbidden > 1000 && seen.untouched > 1000);
}

Test(spgemm_masked, products_of_any_types_have_the_bits_of_the_reference) {
    for (int threads = 1; threads <= 3; threads += 2) {
        lsp_ctx *ctx = test_ctx(threads);
        check_any(ctx, 400);
        lsp_ctx_destroy(ctx);
    }
}
Test(device_masked, products_of_any_types_have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    check_any(ctx, getenv("LSP_TEST_REDUCED") ? 80 : 400);
    lsp_ctx_destroy(ctx);
}

/* ---- shapes ---- */

/* Rows of all lengths: what is long for one step of a kernel, and masks that are short or long beside rows of B. */
static const struct {
    recipe a, b, mask;
} shapes[] = {
    {{60, 80, 6, LSP_I32, LSP_I32, LSP_F64, true, false, 3, -1, 0}, /* the mask's rows few among long rows of B */
     {80, 4000, 900, LSP_I32, LSP_I32, LSP_F64, true, false, 7, -1, 0},
     {60, 4000, 3, LSP_I32, LSP_I32, LSP_NONE, true, false, -1, 100, 0}},
    {{60, 80, 6, LSP_I32, LSP_I32, LSP_F32, false, false, 3, -1, 0}, /* the same unsorted, columns twice */
     {80, 4000, 900, LSP_I32, LSP_I64, LSP_F32, false, false, 7, -1, 0},
     {60, 4000, 3, LSP_I64, LSP_I64, LSP_F64, false, false, -1, 100, 0}},
    {{40, 90, 9, LSP_I32, LSP_I32, LSP_F64, true, false, 3, 4, 0}, /* a full row in a mask of many columns */
     {90, 200000, 70, LSP_I32, LSP_I32, LSP_F64, true, false, 4, -1, 0},
     {40, 200000, 300, LSP_I32, LSP_I32, LSP_NONE, true, false, 3, -1, 0}},
    {{40, 90, 9, LSP_I32, LSP_I32, LSP_F64, false, true, 3, 4, 0}, /* long rows, columns twice everywhere */
     {90, 700, 1500, LSP_I32, LSP_I32, LSP_F64, false, true, 4, -1, 0},
     {40, 700, 1200, LSP_I32, LSP_I32, LSP_NONE, false, false, 3, -1, 0}},
    {{200, 200, 9, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 4}, /* a band, and a mask beside it */
     {200, 200, 9, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 4},
     {200, 200, 9, LSP_I32, LSP_I32, LSP_F64, true, false, -1, 199, 0}},
    {{50, 50, 5, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0}, /* a mask of nothing */
     {50, 50, 5, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0},
     {50, 50, 0, LSP_I32, LSP_I32, LSP_NONE, true, false, -1, -1, 0}},
};

static void check_shapes(lsp_ctx *ctx) {
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        char what[32];
        witness seen = {0};
        lsp_csr A = make(&shapes[k].a, 1), B = make(&shapes[k].b, 2), M = make(&shapes[k].mask, 3);
        snprintf(what, sizeof what, "shape %zu", k);
        check_masked(ctx, &A, &B, (lsp_spgemm_options){.filter.mask = &M}, what, &seen);
        cr_assert(seen.forbidden > 0 && (seen.kept > 0 || M.nnz == 0));
        if (A.rows == A.cols && A.cols == B.cols) { /* the mask is a factor, or the product itself */
            lsp_csr C;
            check_masked(ctx, &A, &A, (lsp_spgemm_options){.filter.mask = &A}, what, &seen);
            must(ctx, lsp_spgemm(ctx, &A, &B, NULL, &C, NULL));
            check_masked(ctx, &A, &B, (lsp_spgemm_options){.filter.mask = &C}, what, &seen);
            lsp_csr_free(ctx, &C);
        }
        drop(&A), drop(&B), drop(&M);
    }
}

Test(spgemm_masked, rows_of_any_length_have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_ctx(2);
    check_shapes(ctx);
    lsp_ctx_destroy(ctx);
}
Test(device_masked, rows_of_any_length_have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    check_shapes(ctx);
    lsp_ctx_destroy(ctx);
}

/* All columns `step` apart. */
static lsp_csr spread(const lsp_csr *A, int64_t step) {
    lsp_csr wide = *A;
    wide.cols = A->cols * step;
    wide.col_type = LSP_I64;
    wide.col = malloc((size_t)A->nnz * 8 + 8);
    for (int64_t k = 0; k < A->nnz; k++) {
        ((int64_t *)wide.col)[k] = lsp_index_at(A->col, A->col_type, k) * step;
    }
    return wide;
}

/* Columns beyond 31 bits: those of the mask are also others than B's. */
static void check_wide(lsp_ctx *ctx, bool gpu) {
    const recipe of_a = {30, 40, 6, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    const recipe of_b = {40, 500, 90, LSP_I32, LSP_I64, LSP_F64, true, false, 5, -1, 0};
    const recipe of_mask = {30, 1000, 160, LSP_I32, LSP_I64, LSP_NONE, false, false, 4, -1, 0};
    lsp_csr A = make(&of_a, 1), odd = make(&of_b, 2), B = spread(&odd, 2), M = make(&of_mask, 3);
    for (int64_t step = 1 << 20; step < (int64_t)1 << 50; step <<= 9) {
        witness seen = {0};
        lsp_csr right = right_one(ctx, &A, &B, (lsp_spgemm_options){.filter.mask = &M}, &seen), C = {0};
        lsp_csr wanted = spread(&right, step), b = spread(&B, step), m = spread(&M, step);
        lsp_csr there[3] = {A, b, m};
        for (int k = 0; k < 3 && gpu; k++) {
            there[k] = upload(ctx, &there[k]);
        }
        must(ctx, lsp_spgemm(ctx, &there[0], &there[1], &(lsp_spgemm_options){.filter.mask = &there[2]}, &C, NULL));
        lsp_csr here = gpu ? download(ctx, &C) : C;
        same(ctx, &wanted, &here, "wide");
        cr_assert(seen.kept > 100 && seen.forbidden > 100 && here.cols == 1000 * step);
        cr_assert(here.col_type == (here.cols > (int64_t)1 << 31 ? LSP_I64 : LSP_I32));
        lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &right);
        for (int k = 0; k < 3 && gpu; k++) {
            lsp_csr_free(ctx, &there[k]);
        }
        if (gpu) {
            lsp_csr_free(ctx, &here);
        }
        free(wanted.col), free(b.col), free(m.col);
    }
    free(B.col);
    drop(&A), drop(&odd), drop(&M);
}

Test(spgemm_masked, columns_beyond_31_bits_are_ordinary) {
    lsp_ctx *ctx = test_ctx(2);
    check_wide(ctx, false);
    lsp_ctx_destroy(ctx);
}
Test(device_masked, columns_beyond_31_bits_are_ordinary) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    check_wide(ctx, true);
    lsp_ctx_destroy(ctx);
}

/* ---- the table ---- */

Test(spgemm_masked, a_table_that_has_served_4_billion_entries_begins_anew) {
    const recipe of_a = {20, 30, 6, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    const recipe of_b = {30, 100000, 50, LSP_I32, LSP_I32, LSP_F64, true, false, -1, 99, 0};
    lsp_csr A = make(&of_a, 1), B = make(&of_b, 2);
    for (int64_t cols = 1000; cols <= 100000; cols *= 100) { /* a slot a column, or hashed */
        const recipe of_mask = {20, cols, 60, LSP_I32, LSP_I32, LSP_NONE, true, false, -1, 99, 0};
        lsp_csr M = make(&of_mask, 3);
        double *sums[2];
        uint8_t *touched[2];
        int64_t products[21];
        uint32_t *slots = calloc(100000, sizeof *slots);
        for (int i = 0; i <= 20; i++) {
            products[i] = 1;
        }
        B.cols = cols;
        for (int64_t k = 0; k < B.nnz; k++) {
            ((int32_t *)B.col)[k] %= (int32_t)cols;
        }
        for (int late = 0; late < 2; late++) {
            lsp_spgemm_job job = {.A = A, .B = B, .type = LSP_F64, .rowptr = products};
            job.B.nnz = late ? 1 << 20 : B.nnz; /* rows of a large B are prefetched */
            sums[late] = calloc((size_t)M.nnz, sizeof *sums[late]);
            touched[late] = calloc((size_t)M.nnz, 1);
            lsp_mask_table table = {slots, late ? UINT32_MAX - 300 : 1, lsp_mask_slots(200, cols)};
            const lsp_masked_pass pass = {&job, &M, sums[late], touched[late]};
            lsp_spgemm_masked_rows_portable(&pass, &table, 0, 20);
            cr_assert(late == 0 || table.base < 10000, "it has not begun anew");
        }
        cr_assert(memcmp(touched[0], touched[1], (size_t)M.nnz) == 0);
        cr_assert(memcmp(sums[0], sums[1], (size_t)M.nnz * sizeof *sums[0]) == 0);
        free(slots), free(sums[0]), free(sums[1]), free(touched[0]), free(touched[1]);
        drop(&M);
    }
    drop(&A), drop(&B);
}

Test(spgemm_masked, masks_are_preferred_unless_they_are_much_larger_than_the_product) {
    cr_assert(lsp_spgemm_prefers_mask(1, 1) && lsp_spgemm_prefers_mask(0, 0) && lsp_spgemm_prefers_mask(1000, 1));
    cr_assert(lsp_spgemm_prefers_mask(1000, 8000) && !lsp_spgemm_prefers_mask(1000, 9000));
    cr_assert(lsp_spgemm_prefers_mask(INT64_MAX, INT64_MAX) && !lsp_spgemm_prefers_mask(1, INT64_MAX));
    for (int64_t cols = 1; cols < (int64_t)1 << 40; cols *= 3) {
        for (int64_t entries = 1; entries <= cols; entries *= 7) {
            const int64_t slots = lsp_mask_slots(entries, cols);
            cr_assert(slots >= entries && (slots == cols || (slots < cols && (slots & (slots - 1)) == 0)));
            cr_assert(slots == cols || slots >= 4 * entries); /* no search is long */
        }
    }
}
