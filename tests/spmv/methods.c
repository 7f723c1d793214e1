/* Every method on every device against plain code: all families of matrices, types, layouts, semirings, factors. */
#include "cases.h"

static const request usual = {.val_type = LSP_F64, .type = LSP_F64, .alpha = 1, .seed = 1};

/* Runs the case for all methods, with a plan and without. Cases with a number that `one_in` leaves out are skipped.
 * taken[m] counts the cases that method m took. */
static void each_method(lsp_ctx *ctx, request r, int64_t number, int64_t *taken) {
    for (int m = 0; m < LSP_SPMV_METHODS; m++) {
        for (int planned = 0; planned < 2 && number % one_in == 0; planned++) {
            r.method = (lsp_spmv_method)m, r.planned = planned;
            taken[m] += run_case(ctx, &r);
        }
    }
}

static void must_have_run(lsp_ctx *ctx, const int64_t *taken) {
    for (int m = 0; m < LSP_SPMV_METHODS; m++) {
        cr_assert(taken[m] > 0 || one_in > 1 || engine_here(ctx, m) == NULL, "no case ran by the method %s",
                  lsp_spmv_method_name((lsp_spmv_method)m));
    }
}

TEST_ON_BOTH(spmv_methods, every_method_multiplies_every_matrix) {
    int64_t taken[LSP_SPMV_METHODS] = {0};
    one_in = test_one_in();
    for (int i = 0; i < MATRICES; i++) {
        request r = usual;
        r.matrix = matrices[i];
        each_method(ctx, r, i, taken);
        r.special = true, r.beta = 1, r.transpose = i % 2, r.seed = 2;
        each_method(ctx, r, i, taken);
    }
    must_have_run(ctx, taken);
}

TEST_ON_BOTH(spmv_methods, all_types_of_values_vectors_and_indices) {
    static const lsp_type types[][2] = {
        {LSP_F32, LSP_F32}, {LSP_F64, LSP_F64}, {LSP_F32, LSP_F64}, {LSP_NONE, LSP_F32}, {LSP_NONE, LSP_F64}};
    static const char *const some[] = {"poisson2d:9", "fem3:4", "random:60:50:400", "web:400:1.8:100"};
    int64_t taken[LSP_SPMV_METHODS] = {0};
    for (int i = 0; i < 4 * 5 * 4; i++) {
        request r = usual;
        r.matrix = some[i / 20];
        r.val_type = types[i % 5][0], r.type = types[i % 5][1];
        r.wide_rowptr = i / 5 & 1, r.wide_col = i / 10 & 1;
        r.alpha = -2, r.beta = 0.5, r.transpose = i % 3 == 0;
        each_method(ctx, r, i, taken);
    }
}

TEST_ON_BOTH(spmv_methods, several_vectors_in_both_layouts_with_strides) {
    static const int64_t counts[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 32, 33, 64, 100};
    static const char *const some[] = {"poisson2d:11", "fem3:3", "random:60:50:400", "web:300:1.8:90", "row:50:700"};
    int64_t taken[LSP_SPMV_METHODS] = {0};
    for (int i = 0; i < 15 * 8; i++) {
        request r = usual;
        r.matrix = some[i % 5];
        r.vectors = counts[i % 15], r.by_columns = i / 15 & 1;
        r.x_gap = i / 30 % 2 * 5, r.y_gap = i / 30 / 2 * 3;
        r.type = r.val_type = i % 4 == 0 ? LSP_F32 : LSP_F64;
        r.beta = i % 3 - 1, r.special = i % 7 == 0, r.wide_rowptr = i % 11 == 0;
        each_method(ctx, r, i, taken);
    }
}

TEST_ON_BOTH(spmv_methods, every_semiring) {
    static const char *const some[] = {"poisson2d:11", "random:60:50:400", "web:300:1.8:90", "random:70:70:0"};
    int64_t taken[LSP_SPMV_METHODS] = {0};
    for (int i = 0; i < 4 * 5 * 8; i++) {
        request r = usual;
        r.matrix = some[i % 4];
        r.semiring = (lsp_semiring)(i / 4 % 5);
        r.beta = i / 20 & 1;
        r.special = i / 40 & 1;
        r.vectors = i / 80 ? 5 : 1;
        r.type = r.val_type = i % 3 == 0 ? LSP_F32 : LSP_F64;
        r.val_type = i % 7 == 0 ? LSP_NONE : r.val_type;
        each_method(ctx, r, i, taken);
    }
    cr_assert(LSP_SEMIRINGS == 5, "a semiring is missing here");
}

TEST_ON_BOTH(spmv_methods, factors_by_value_and_by_pointer) {
    static const double factors[][2] = {{1, 0}, {-1, 0}, {2, 1}, {0, 0}, {0, 2}, {0.5, -1}};
    int64_t taken[LSP_SPMV_METHODS] = {0};
    for (int i = 0; i < 6 * 2 * 2 * 2; i++) {
        request r = usual;
        r.matrix = i / 12 % 2 ? "poisson2d:9" : "random:60:50:400";
        r.alpha = factors[i % 6][0], r.beta = factors[i % 6][1];
        r.factors_at = i / 6 & 1;
        r.special = i / 24;
        r.vectors = i % 5 == 0 ? 6 : 1;
        r.type = r.val_type = i % 5 == 1 ? LSP_F32 : LSP_F64;
        each_method(ctx, r, i, taken);
    }
}

/* Anything that a caller may ask for. */
static request draw(uint64_t *state) {
    static const lsp_type types[][2] = {
        {LSP_F32, LSP_F32}, {LSP_F64, LSP_F64}, {LSP_F32, LSP_F64}, {LSP_NONE, LSP_F32}, {LSP_NONE, LSP_F64}};
    const int t = (int)test_below(state, 5);
    request r = {.matrix = matrices[test_below(state, MATRICES)],
                 .transpose = test_below(state, 3) == 0,
                 .planned = test_below(state, 2),
                 .by_columns = test_below(state, 2),
                 .special = test_below(state, 2),
                 .factors_at = test_below(state, 2),
                 .wide_rowptr = test_below(state, 3) == 0,
                 .wide_col = test_below(state, 3) == 0,
                 .val_type = types[t][0],
                 .type = types[t][1],
                 .semiring = (lsp_semiring)(test_below(state, 2) ? test_below(state, 5) : 0),
                 .method = (lsp_spmv_method)test_below(state, LSP_SPMV_METHODS),
                 .passes = (int)test_below(state, 4),
                 .vectors = test_below(state, 2) ? test_below(state, 20) : 1,
                 .x_gap = test_below(state, 3) == 0 ? test_below(state, 9) : 0,
                 .y_gap = test_below(state, 3) == 0 ? test_below(state, 9) : 0,
                 .alpha = (double)(test_below(state, 5) - 2),
                 .beta = (double)(test_below(state, 5) - 2),
                 .seed = test_random(state)};
    if (r.semiring != LSP_PLUS_TIMES) {
        r.alpha = 1, r.beta = r.beta > 0, r.factors_at = r.factors_at && ((r.seed & 1) == 0);
    }
    return r;
}

TEST_ON_BOTH(spmv_methods, random_cases) {
    uint64_t state = 20 + (uint64_t)ctx->options.threads;
    for (int i = 0; i < 1500 / one_in; i++) {
        request r = draw(&state);
        if (r.semiring != LSP_PLUS_TIMES && ctx->options.device == LSP_CUDA) {
            r.factors_at = false;
        }
        run_case(ctx, &r);
    }
}

/* The transposed matrix has more rows than A has row pointers. */
Test(spmv_methods, y_of_a_transposed_product_may_lie_behind_the_row_pointers) {
    lsp_ctx *ctx = test_ctx(1);
    request r = usual;
    r.matrix = "random:1:4000:9000", r.transpose = true;
    spmv_case c = make_case(ctx, &r);
    lsp_spmv_vectors v = c.vectors;
    lsp_csr A = c.A;
    const lsp_spmv_options options = options_of(&r);
    double *memory = calloc((size_t)c.y.items + 2, sizeof *memory); /* row pointers have 4 or 8 bytes */
    A.rowptr = memory;
    v.y = memcpy(memory + 2, c.y_there, (size_t)c.y.items * sizeof *memory);
    memcpy(memory, c.A.rowptr, 2 * lsp_type_bytes(A.rowptr_type));
    must_run(ctx, &r, lsp_spmv(ctx, &A, &options, &v, NULL));
    v.y = memory;
    must_fail(ctx, LSP_ERR_ARGUMENT, "array of A", lsp_spmv(ctx, &A, &options, &v, NULL));
    plain_spmv(&r, &c.host, &c.x, &c.y);
    memcpy(c.y_there, memory + 2, (size_t)c.y.items * sizeof *memory);
    must_equal(ctx, &r, &c);
    free(memory);
    free_case(ctx, &c);
    lsp_ctx_destroy(ctx);
}
