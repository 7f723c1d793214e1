/* Complex entries chosen by a mask, by their modulus, by the largest of each row: of matrices and of products, on the
 * CPU and on a GPU. */
#include "tests/complex.h"
#include "tests/masked.h"

/* Small integers: every modulus is the root of an integer that is computed without rounding. */
static void make_whole(const lsp_csr *A, uint64_t seed) {
    for (int64_t k = 0; k < A->nnz && A->val_type != LSP_NONE; k++) {
        lsp_value_set(A->val_type, A->val, k,
                      lsp_value_from((double)test_below(&seed, 11) - 5, (double)test_below(&seed, 11) - 5));
    }
}

static double square_at(const lsp_csr *A, int64_t k) {
    const lsp_value value = lsp_value_at(A, k);
    return value.re * value.re + value.im * value.im;
}

/* Does the mask or the tolerance drop entry k of row i? */
static bool drops(const lsp_csr *A, const lsp_filter *filter, int64_t i, int64_t k) {
    const lsp_csr *M = filter->mask;
    bool there = false;
    for (int64_t m = M ? lsp_csr_rowptr(M, i) : 0; M && m < lsp_csr_rowptr(M, i + 1); m++) {
        there |= lsp_csr_col(M, m) == lsp_csr_col(A, k);
    }
    return (M && there == filter->complement) ||
           (filter->drop && square_at(A, k) <= filter->tolerance * filter->tolerance);
}

/* The entries of A that stay, by comparing squares, entry with entry. */
static lsp_csr chosen(const lsp_csr *A, const lsp_filter *filter) {
    lsp_csr B = {A->rows, A->cols, 0, NULL, NULL, NULL, LSP_I64, LSP_I64, LSP_C64, LSP_HOST};
    B.rowptr = calloc((size_t)A->rows + 1, 8), B.col = calloc((size_t)A->nnz + 1, 8);
    B.val = calloc((size_t)A->nnz + 1, 16);
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
            int64_t before = 0;
            for (int64_t e = lsp_csr_rowptr(A, i); e < lsp_csr_rowptr(A, i + 1); e++) {
                const double mine = square_at(A, k), theirs = square_at(A, e);
                before += !drops(A, filter, i, e) && (theirs > mine || (theirs == mine && e < k));
            }
            if (!drops(A, filter, i, k) && (filter->largest == 0 || before < filter->largest)) {
                lsp_index_set(B.col, LSP_I64, B.nnz, lsp_csr_col(A, k));
                lsp_value_set(LSP_C64, B.val, B.nnz++, lsp_value_at(A, k));
            }
        }
        lsp_index_set(B.rowptr, LSP_I64, i + 1, B.nnz);
    }
    return B;
}

static lsp_filter some_filter(int kind, const lsp_csr *M) {
    return (lsp_filter){.mask = kind % 5 < 3 ? M : NULL,
                        .complement = kind % 5 == 1,
                        .drop = kind & 1,
                        .tolerance = kind & 1 && kind % 3 > 0 ? 5 : 0, /* 3 + 4i goes, 5 + 5i stays */
                        .largest = kind % 4 == 3 ? 0 : kind % 7};
}

TEST_ON_BOTH(spgemm_complex_filters, what_stays_is_what_squares_choose) {
    int64_t stayed = 0, went = 0;
    for (int kind = 0; kind < (reduced() ? 30 : 70); kind++) {
        const lsp_type other = kind % 3 == 0 ? LSP_C64 : kind % 3 == 1 ? LSP_F64 : LSP_NONE;
        const recipe r = {40, 40, 6, LSP_I32, kind & 2 ? LSP_I32 : LSP_I64, LSP_C64, kind & 4, false, 7, -1, 0};
        const recipe of_b = {40, 40, 5, LSP_I64, LSP_I32, other, kind & 8, false, -1, 3, 0};
        const recipe of_mask = {40, 40, 7, LSP_I32, LSP_I64, LSP_NONE, kind % 3 == 0, false, 11, -1, 0};
        lsp_csr A = make(&r, (uint64_t)kind), B = make(&of_b, 50), M = make(&of_mask, 7), C = {0};
        make_whole(&A, 1 + (uint64_t)kind), make_whole(&B, 99);
        lsp_csr a = take(ctx, &A), b = take(ctx, &B), m = take(ctx, &M);
        const lsp_filter filter = some_filter(kind, &M), there = some_filter(kind, &m);
        lsp_csr right = chosen(&A, &filter), whole = reference(ctx, &A, &B, (lsp_spgemm_options){0});
        must(ctx, lsp_csr_filter(ctx, &a, &there, &C));
        must_equal(ctx, &C, &right, "a filtered matrix");
        drop(&right);
        right = chosen(&whole, &filter);
        stayed += right.nnz, went += whole.nnz - right.nnz;
        must(ctx, lsp_spgemm(ctx, &a, &b, &(lsp_spgemm_options){.filter = there}, &C, NULL));
        must_equal(ctx, &C, &right, "a filtered product");
        for (int64_t bytes = 0; bytes < 10000; bytes += 4000) {
            received all = receiver(40, whole.nnz);
            all.gpu = on_gpu(ctx) ? ctx : NULL;
            must(ctx,
                 lsp_spgemm_stream(ctx, &a, &b, &(lsp_spgemm_options){.filter = there}, bytes, receive, &all, NULL));
            same(ctx, &all.C, &right, "filtered blocks");
            drop(&all.C);
        }
        drop(&right), lsp_csr_free(ctx, &whole);
        give_back(ctx, &a), give_back(ctx, &b), give_back(ctx, &m), drop(&A), drop(&B), drop(&M);
    }
    cr_assert(stayed > 1000 && went > 1000);
}

/* Any values, shapes and types: entries of a mask alone, or dropped from all of C. */
TEST_ON_BOTH(spgemm_complex_filters, entries_of_a_mask_have_the_bits_of_the_reference) {
    static const lsp_type types[] = {LSP_C64, LSP_C64, LSP_F64, LSP_F32, LSP_NONE};
    const lsp_isa best = ctx->isa;
    uint64_t state = 17;
    witness seen = {0};
    for (int round = 0; round < (reduced() ? 40 : 200); round++) {
        const int64_t rows = 1 + test_below(&state, 40), inner = 1 + test_below(&state, 40);
        const int64_t cols = 1 + test_below(&state, round % 5 ? 300 : 150000);
        recipe of_a = {.rows = rows, .cols = inner, .entries = test_below(&state, 12), .sorted = test_below(&state, 2)};
        recipe of_b = {.rows = inner, .cols = cols, .entries = test_below(&state, 60), .sorted = test_below(&state, 2)};
        recipe of_m = {.rows = rows, .cols = cols, .entries = test_below(&state, 60), .sorted = test_below(&state, 2)};
        recipe *all[] = {&of_a, &of_b, &of_m};
        for (int k = 0; k < 3; k++) {
            all[k]->rowptr_type = index_type(&state), all[k]->col_type = index_type(&state);
            all[k]->val_type = k == 0 ? LSP_C64 : types[test_below(&state, 5)];
            all[k]->wild = round % 3 == 0;
            all[k]->dense_row = k == 2 && round % 4 == 0 && cols < 1000 ? 0 : -1, all[k]->dense_col = -1;
        }
        lsp_csr A = make(&of_a, test_random(&state)), B = make(&of_b, test_random(&state));
        lsp_csr M = make(&of_m, test_random(&state)), turned = {0};
        must(ctx, lsp_csr_transpose(ctx, &B, &turned));
        const bool transposed = round % 3 == 1;
        lsp_spgemm_options options = {.transpose_b = transposed, .filter = {.mask = &M, .complement = round % 8 == 7}};
        options.filter.drop = round % 4 == 1, options.filter.tolerance = options.filter.drop ? 1e-3 : 0;
        options.filter.largest = round % 5 == 2 ? 4 : 0;
        const lsp_csr *right_factor = transposed ? &turned : &B;
        lsp_csr right = right_one(ctx, &A, right_factor, options, &seen), C = {0};
        lsp_csr a = take(ctx, &A), b = take(ctx, right_factor), m = take(ctx, &M);
        options.filter.mask = &m;
        for (int way = 0; way < 2 * ((int)best + 1) && (way < 2 || !on_gpu(ctx)); way++) {
            lsp_spgemm_info info;
            const bool asked = way % 2 && !options.filter.complement;
            ctx->isa = on_gpu(ctx) ? best : (lsp_isa)(way / 2);
            options.method = asked ? LSP_SPGEMM_MASK : LSP_SPGEMM_AUTO;
            must(ctx, lsp_spgemm(ctx, &a, &b, &options, &C, &info));
            cr_assert(info.nnz == right.nnz && (!asked || info.method == LSP_SPGEMM_MASK));
            must_equal(ctx, &C, &right, "under a mask");
        }
        ctx->isa = best;
        lsp_csr_free(ctx, &right), lsp_csr_free(ctx, &turned);
        give_back(ctx, &a), give_back(ctx, &b), give_back(ctx, &m), drop(&A), drop(&B), drop(&M);
    }
    cr_assert(seen.kept > 500 && seen.forbidden > 500 && seen.untouched > 500);
}

/* Squares of these overflow, vanish, or are no numbers. */
TEST_ON_BOTH(spgemm_complex_filters, no_modulus_overflows_or_vanishes) {
    const double inf = (double)INFINITY, nan = (double)NAN, big = 0x1p1020, tiny = 0x1p-1070;
    double val[] = {3 * big,  4 * big,   6 * big, -big, inf,  0,   tiny,    0, /* */
                    3 * tiny, -4 * tiny, 0,       -0.0, -inf, nan, 5 * big, 0};
    int32_t rowptr[] = {0, 8}, col[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const lsp_csr A = {1, 8, 8, rowptr, col, val, LSP_I32, LSP_I32, LSP_C64, LSP_HOST};
    static const struct {
        lsp_filter filter;
        const char *stays;
    } cases[] = {{{.drop = true}, "01234.67"},
                 {{.drop = true, .tolerance = 0x1p-1070}, "012.4.67"},
                 {{.drop = true, .tolerance = 0x5p1020}, ".12...6."},
                 {{.largest = 1}, "......6."},
                 {{.largest = 3}, ".12...6."},
                 {{.largest = 4}, "012...6."},
                 {{.largest = 5}, "012...67"},
                 {{.largest = 6}, "012.4.67"}};
    lsp_csr a = take(ctx, &A), C = {0};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char stays[] = "........";
        must(ctx, lsp_csr_filter(ctx, &a, &cases[k].filter, &C));
        lsp_csr here = on_gpu(ctx) ? download(ctx, &C) : C;
        for (int64_t e = 0; e < here.nnz; e++) {
            const int64_t column = lsp_csr_col(&here, e);
            stays[column] = (char)('0' + column);
            cr_assert(memcmp((double *)here.val + 2 * e, val + 2 * column, 16) == 0);
        }
        cr_assert_str_eq(stays, cases[k].stays, "case %zu: %s, not %s", k, stays, cases[k].stays);
        lsp_csr_free(ctx, &C);
        if (on_gpu(ctx)) {
            lsp_csr_free(ctx, &here);
        }
    }
    give_back(ctx, &a);
}
