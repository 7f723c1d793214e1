/* Products on the GPU whose factors are larger than its kernels count, and so are cut. The limit is lowered for a
 * context, so that small factors are cut. Skipped without a GPU. */
#include "core/cuda.h"
#include "tests/failing.h"
#include "tests/stream_sink.h"

static bool reduced(void) { return getenv("LSP_TEST_REDUCED") != NULL; }

/* The most entries of a row of A, or of a column. */
static int64_t longest(const lsp_csr *A, bool of_rows) {
    int64_t *counts = calloc((size_t)lsp_max(A->rows, A->cols) + 1, sizeof *counts), most = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
            const int64_t count = ++counts[of_rows ? i : lsp_csr_col(A, k)];
            most = lsp_max(most, count);
        }
    }
    free(counts);
    return most;
}

static recipe some_recipe(int64_t rows, int64_t cols, int64_t entries, uint64_t *state) {
    const bool sorted = test_below(state, 2);
    return (recipe){rows, cols, entries, index_type(state), index_type(state), value_type(state), sorted, false,
                    -1,   -1,   0};
}

/* A filter of every kind, with M as its mask. */
static lsp_filter some_filter(int round, const lsp_csr *M) {
    const bool drop = round % 3 == 1;
    return (lsp_filter){.mask = round % 4 == 1 || round % 4 == 2 ? M : NULL,
                        .complement = round % 4 == 2,
                        .drop = drop,
                        .tolerance = drop ? 1e-3 : 0,
                        .largest = round % 5 == 2 ? 3 : 0};
}

/* The product on the host, filtered: by the reference, unless that would need too many accumulators. */
static lsp_csr right_product(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_options options,
                             lsp_spgemm_info *info) {
    const lsp_filter filter = options.filter;
    lsp_csr whole = {0}, right = {0};
    options.filter = (lsp_filter){0};
    options.method = B->cols > 1 << 20 ? LSP_SPGEMM_AUTO : LSP_SPGEMM_REFERENCE;
    must(ctx, lsp_spgemm(ctx, A, B, &options, &whole, info));
    must(ctx, lsp_csr_filter(ctx, &whole, &filter, &right));
    lsp_csr_free(ctx, &whole);
    return right;
}

/* How a product was cut, added up over the rounds of a test. */
typedef struct cuts {
    int64_t blocks, uncut, kept;
} cuts;

static void check_cut(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_options options, int64_t most,
                      cuts *seen) {
    char what[64];
    lsp_spgemm_info info, expected;
    lsp_csr C = {0}, right = right_product(ctx, A, B, options, &expected);
    lsp_csr a = upload(ctx, A), b = A == B ? a : upload(ctx, B), m = {0};
    if (options.filter.mask) {
        m = upload(ctx, options.filter.mask);
        options.filter.mask = &m;
    }
    snprintf(what, sizeof what, "at most %lld of %lld and %lld", (long long)most, (long long)A->nnz, (long long)B->nnz);
    must(ctx, lsp_spgemm_set_most(ctx, most));
    must(ctx, lsp_spgemm(ctx, &a, A == B ? &a : &b, &options, &C, &info));
    lsp_csr here = download(ctx, &C);
    same(ctx, &here, &right, what);
    cr_assert(C.rowptr_type == right.rowptr_type && C.col_type == right.col_type, "%s: types", what);
    cr_assert(info.nnz == right.nnz && info.products == expected.products, "%s: facts", what);
    cr_assert(info.max_row_products >= expected.max_row_products && info.nnz_bound >= info.nnz, "%s: bounds", what);
    cr_assert(info.reason[0] != 0 && info.method_name[0] != 0);
    const bool cut = A->nnz > most || B->nnz > most || right.rows >= most || (options.transpose_b && right.cols > most);
    const int64_t least = lsp_ceil_div(A->nnz, most) * lsp_ceil_div(B->nnz, most);
    if (!lsp_filter_drops_any(&options.filter)) { /* a stream counts its own blocks */
        cr_assert(info.blocks >= (cut ? least : 1) && (cut || info.blocks == 1), "%s: %lld blocks", what,
                  (long long)info.blocks);
    }
    seen->blocks += cut ? info.blocks : 0, seen->uncut += !cut, seen->kept += right.nnz;
    lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &right), lsp_csr_free(ctx, &a);
    if (A != B) {
        lsp_csr_free(ctx, &b);
    }
    lsp_csr_free(ctx, &m);
}

Test(device_blocks, factors_cut_anywhere_have_the_bits_of_the_whole_product) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    uint64_t state = 31;
    cuts seen = {0};
    for (int round = 0; round < (reduced() ? 24 : 400); round++) {
        const int64_t rows = test_below(&state, 40), inner = 1 + test_below(&state, 40), cols = test_below(&state, 90);
        recipe of_a = some_recipe(rows, inner, test_below(&state, 9), &state);
        recipe of_b = some_recipe(inner, cols, test_below(&state, 20), &state);
        recipe of_mask = some_recipe(rows, cols, 20, &state);
        of_a.wild = of_b.wild = round % 3 == 0;
        of_a.dense_row = round % 7 == 0 && rows > 2 ? 1 : -1, of_b.dense_col = round % 6 == 0 && cols > 5 ? 5 : -1;
        const bool complex = round % 8 == 3;
        of_a.val_type = complex ? LSP_C64 : of_a.val_type;
        lsp_csr A = make(&of_a, test_random(&state)), B = make(&of_b, test_random(&state));
        lsp_csr M = make(&of_mask, test_random(&state)), turned_a = {0}, turned_b = {0};
        lsp_spgemm_options options = {.transpose_a = round & 4, .transpose_b = round & 2};
        options.semiring = complex ? LSP_PLUS_TIMES : (lsp_semiring)(round % 5);
        options.filter = round % 2 ? some_filter(round / 2, &M) : (lsp_filter){0};
        options.types = (lsp_csr_types){.rowptr_type = round % 3 ? LSP_NONE : index_type(&state),
                                        .col_type = round % 5 ? LSP_NONE : index_type(&state),
                                        .val_type = complex ? LSP_NONE : value_type(&state),
                                        .drop_values = test_below(&state, 8) == 0};
        must(ctx, lsp_csr_transpose(ctx, &A, &turned_a));
        must(ctx, lsp_csr_transpose(ctx, &B, &turned_b));
        const int64_t least = lsp_max(lsp_max(longest(&A, true), longest(&B, false)), 2);
        check_cut(ctx, options.transpose_a ? &turned_a : &A, options.transpose_b ? &turned_b : &B, options,
                  lsp_max(least, lsp_max(A.nnz, B.nnz) / (reduced() ? 3 : 8)) +
                      test_below(&state, round % 4 ? 30 : 900),
                  &seen);
        lsp_csr_free(ctx, &turned_a), lsp_csr_free(ctx, &turned_b);
        drop(&A), drop(&B), drop(&M);
    }
    cr_assert(seen.blocks > 40 && seen.uncut > 1 && seen.kept > 1000, "%lld blocks, %lld uncut, %lld entries",
              (long long)seen.blocks, (long long)seen.uncut, (long long)seen.kept);
    lsp_ctx_destroy(ctx);
}

Test(device_blocks, a_matrix_times_itself_and_empty_blocks_are_ordinary) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    cuts seen = {0};
    for (int kind = 0; kind < 4; kind += reduced() ? 3 : 1) {
        /* all entries in a few rows and columns at both ends */
        recipe r = {200, 200, 4, LSP_I32, kind & 1 ? LSP_I32 : LSP_I64, LSP_F64, kind & 2, false, -1, -1, 0};
        lsp_csr A = make(&r, 5 + (uint64_t)kind), hollow = A;
        int64_t *rowptr = hollow.rowptr = calloc(201, 8), n = 0;
        hollow.rowptr_type = LSP_I64, hollow.nnz = 0;
        for (int64_t i = 0; i < 200; i++) {
            n += i < 20 || i >= 180 ? lsp_csr_rowptr(&A, i + 1) - lsp_csr_rowptr(&A, i) : 0;
            rowptr[i + 1] = n;
        }
        hollow.nnz = n;
        for (int64_t k = 0; k < n; k++) {
            const int64_t column = lsp_csr_col(&A, k);
            lsp_index_set(A.col, A.col_type, k, column < 100 ? column % 30 : 199 - column % 20);
        }
        const int64_t least =
            lsp_max(lsp_max(longest(&hollow, true), longest(&hollow, false)), n / (reduced() ? 2 : 9) + 1);
        for (int turn = 0; turn < 4; turn++) {
            lsp_spgemm_options options = {.transpose_a = turn & 1, .transpose_b = turn & 2};
            check_cut(ctx, &hollow, &hollow, options, least, &seen);
            options.filter = (lsp_filter){.mask = &hollow};
            check_cut(ctx, &hollow, &hollow, options, least + 1, &seen);
        }
        hollow.nnz = 0, memset(rowptr, 0, 201 * 8); /* no entries, and more rows than the limit */
        check_cut(ctx, &hollow, &hollow, (lsp_spgemm_options){.transpose_a = kind & 1}, 70, &seen);
        free(rowptr), drop(&A);
    }
    cr_assert(seen.blocks > 40);
    lsp_ctx_destroy(ctx);
}

Test(device_blocks, columns_beyond_31_bits_are_cut_too) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int bits = reduced() ? 40 : 30; bits <= 60; bits += reduced() ? 30 : 10) {
        far_columns *f = make_far_columns(bits);
        cuts seen = {0};
        for (int64_t most = reduced() ? 3500 : 700; most <= 3500; most += 2800) {
            const lsp_csr mask = f->B;
            int64_t rows[] = {0, FAR_ENTRIES / 2}, odd[FAR_ENTRIES / 2];
            for (int k = 0; k < FAR_ENTRIES / 2; k++) {
                odd[k] = f->step * (2 * k + 1);
            }
            const lsp_csr M = {1, mask.cols, FAR_ENTRIES / 2, rows, odd, NULL, LSP_I64, LSP_I64, LSP_NONE, LSP_HOST};
            check_cut(ctx, &f->A, &f->B, (lsp_spgemm_options){0}, most, &seen);
            check_cut(ctx, &f->A, &f->B, (lsp_spgemm_options){.filter.mask = &M}, most, &seen);
            check_cut(ctx, &f->A, &f->B, (lsp_spgemm_options){.filter.largest = 100}, most, &seen);
        }
        cr_assert(seen.blocks >= 5);
        free(f);
    }
    lsp_ctx_destroy(ctx);
}

/* ---- what cannot be cut ---- */

Test(device_blocks, what_cannot_be_cut_is_refused_with_its_numbers) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const recipe r = {60, 60, 5, LSP_I32, LSP_I32, LSP_F64, true, false, 7, -1, 0};
    const recipe of_b = {60, 60, 5, LSP_I32, LSP_I32, LSP_F64, true, false, -1, 9, 0};
    lsp_csr A = make(&r, 1), B = make(&of_b, 2), a = upload(ctx, &A), b = upload(ctx, &B), C = {.rows = 4711};
    lsp_spgemm_plan *plan = NULL;
    must(ctx, lsp_spgemm_set_most(ctx, 59));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "row 7 of A has 60 entries", lsp_spgemm(ctx, &a, &b, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "column 9 of B has 60 entries", lsp_spgemm(ctx, &b, &b, NULL, &C, NULL));
    const lsp_spgemm_options both = {.transpose_a = true, .transpose_b = true};
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "column 9 of A has 60 entries", lsp_spgemm(ctx, &b, &a, &both, &C, NULL));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "row 7 of B has 60 entries", lsp_spgemm(ctx, &a, &a, &both, &C, NULL));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "in a plan up to 2^31 - 1 rows and 59 entries",
              lsp_spgemm_plan_create(ctx, &a, &b, NULL, &plan));
    must_fail(ctx, LSP_ERR_ARGUMENT, "1 entries", lsp_spgemm_set_most(ctx, 1));
    must(ctx, lsp_spgemm_set_most(ctx, 100));
    lsp_csr bad = a;
    int32_t outside = 60, there;
    must(ctx, lsp_cuda_copy(ctx, &there, LSP_HOST, (int32_t *)a.col + 5, LSP_CUDA, 4));
    must(ctx, lsp_cuda_copy(ctx, (int32_t *)a.col + 5, LSP_CUDA, &outside, LSP_HOST, 4));
    must_fail(ctx, LSP_ERR_FORMAT, "column 60 is not in 0 .. 59", lsp_spgemm(ctx, &b, &bad, NULL, &C, NULL));
    must(ctx, lsp_cuda_copy(ctx, (int32_t *)a.col + 5, LSP_CUDA, &there, LSP_HOST, 4));
    bad.rows = 0, bad.nnz = 0, bad.cols = 61;
    must_fail(ctx, LSP_ERR_ARGUMENT, "cannot be multiplied", lsp_spgemm(ctx, &b, &bad, NULL, &C, NULL));
    const lsp_spgemm_options host = {.method = LSP_SPGEMM_REFERENCE};
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "reference", lsp_spgemm(ctx, &a, &b, &host, &C, NULL));
    cr_assert(C.rows == 4711 && C.rowptr == NULL && plan == NULL);
    lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &b), drop(&A), drop(&B);
    lsp_ctx_destroy(ctx);
}

Test(device_blocks, an_inner_dimension_beyond_31_bits_is_refused) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    int32_t rowptr[] = {0, 3};
    int64_t col[] = {0, 5, (int64_t)1 << 32};
    const lsp_csr A = {1, ((int64_t)1 << 32) + 1, 3, rowptr, col, NULL, LSP_I32, LSP_I64, LSP_NONE, LSP_HOST};
    lsp_csr a = upload(ctx, &A), C = {0};
    const lsp_spgemm_options by_own = {.transpose_b = true};
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "2^31 columns", lsp_spgemm(ctx, &a, &a, &by_own, &C, NULL));
    must(ctx, lsp_spgemm_set_most(ctx, 2));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "4294967297 columns of A", lsp_spgemm(ctx, &a, &a, &by_own, &C, NULL));
    lsp_csr_free(ctx, &a);
    lsp_ctx_destroy(ctx);
}

/* ---- streams, progress ---- */

typedef struct watched {
    const char *phase;
    double last;
    int64_t calls;
} watched;

static void watch(void *user, const char *phase, double fraction) {
    watched *w = user;
    cr_assert_str_eq(phase, w->phase);
    cr_assert(fraction >= w->last && fraction <= 1, "%g after %g", fraction, w->last);
    w->last = fraction;
    w->calls++;
}

Test(device_blocks, streams_cut_their_blocks_and_progress_ends_at_1) {
    lsp_ctx_destroy(test_gpu_ctx_or_skip());
    lsp_ctx *ctx = NULL;
    watched w = {.phase = "multiply"};
    must(ctx,
         lsp_ctx_create(&ctx, &(lsp_ctx_options){.device = LSP_CUDA, .progress = watch, .hook_user = &w}, NULL, 0));
    const recipe r = {90, 90, 6, LSP_I64, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    const recipe of_mask = {90, 90, 9, LSP_I32, LSP_I32, LSP_NONE, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 3), M = make(&of_mask, 4), a = upload(ctx, &A), m = upload(ctx, &M), C = {0};
    const int64_t most = 2 * lsp_max(longest(&A, true), longest(&A, false));
    must(ctx, lsp_spgemm_set_most(ctx, most));
    must(ctx, lsp_spgemm(ctx, &a, &a, NULL, &C, NULL));
    cr_assert(w.last == 1 && w.calls > 10);
    lsp_csr_free(ctx, &C);
    for (int masked = 0; masked < 2; masked++) {
        lsp_spgemm_options options = {.transpose_a = masked, .filter.mask = masked ? &M : NULL};
        lsp_spgemm_info info;
        ctx->options.progress = NULL;
        lsp_csr right = right_product(ctx, &A, &A, options, &info);
        ctx->options.progress = watch;
        for (int64_t bytes = reduced() ? 20000 : 3000; bytes < 100000; bytes *= 30) {
            options.filter.mask = masked ? &m : NULL;
            received all = receiver(90, right.nnz);
            all.gpu = ctx;
            w = (watched){.phase = "stream"};
            must(ctx, lsp_spgemm_stream(ctx, &a, &a, &options, bytes, receive, &all, &info));
            same(ctx, &right, &all.C, "in blocks of blocks");
            cr_assert(w.last == 1 && w.calls == all.blocks && info.blocks == all.blocks && info.nnz == right.nnz);
            drop(&all.C);
            options.filter.mask = masked ? &M : NULL, options.types.place = LSP_PLACE_CUDA;
            all = receiver(90, right.nnz);
            w = (watched){.phase = "stream"};
            must(ctx, lsp_spgemm_stream(ctx, &A, &A, &options, bytes, receive, &all, &info));
            same(ctx, &right, &all.C, "in blocks from the host");
            drop(&all.C), options.types.place = LSP_PLACE_SOURCE;
            options.filter.mask = masked ? &m : NULL;
            all = receiver(90, right.nnz), all.gpu = ctx, all.stop_at = 0;
            w = (watched){.phase = "stream"};
            must_fail(ctx, LSP_ERR_ARGUMENT, "stopped at the rows 0 to",
                      lsp_spgemm_stream(ctx, &a, &a, &options, bytes, receive, &all, NULL));
            cr_assert(all.blocks == 1);
            drop(&all.C);
        }
        lsp_csr_free(ctx, &right);
    }
    lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &m), drop(&A), drop(&M);
    lsp_ctx_destroy(ctx);
}

/* ---- memory ---- */

Test(device_blocks, a_product_beyond_the_budget_is_refused_and_leaves_nothing) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const recipe r = {400, 400, 12, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 3), a = upload(ctx, &A), C = {.rows = 4711};
    lsp_ctx_info before, after;
    lsp_spgemm_info info;
    int refused = 0, joined = 0;
    must(ctx, lsp_spgemm_set_most(ctx, A.nnz / 3));
    lsp_csr whole = {0};
    must(ctx, lsp_spgemm(ctx, &a, &a, NULL, &whole, &info));
    const int64_t bytes = 12 * whole.nnz;
    lsp_csr_free(ctx, &whole);
    must(ctx, lsp_ctx_trim(ctx));
    must(ctx, lsp_ctx_get_info(ctx, &before));
    for (int64_t budget = before.cuda_bytes; budget < before.cuda_bytes + 4 * bytes; budget += bytes / 5) {
        must(ctx, lsp_ctx_trim(ctx));
        must(ctx, lsp_ctx_set_max_bytes(ctx, budget));
        const lsp_status status = lsp_spgemm(ctx, &a, &a, NULL, &C, NULL);
        if (status == LSP_OK) {
            lsp_csr_free(ctx, &C);
            C.rows = 4711;
            continue;
        }
        cr_assert(status == LSP_ERR_MEMORY && C.rows == 4711 && C.rowptr == NULL, "%s", lsp_last_error(ctx));
        cr_assert(strpbrk(lsp_last_error(ctx), "0123456789") != NULL, "no number: %s", lsp_last_error(ctx));
        refused++;
        joined += strstr(lsp_last_error(ctx), "is put together from") != NULL;
        must(ctx, lsp_ctx_trim(ctx));
        must(ctx, lsp_ctx_get_info(ctx, &after));
        cr_assert(after.cuda_bytes == before.cuda_bytes, "%lld bytes, not %lld", (long long)after.cuda_bytes,
                  (long long)before.cuda_bytes);
    }
    cr_assert(refused > 5 && joined > 0, "%d refused, %d of them late", refused, joined);
    must(ctx, lsp_ctx_set_max_bytes(ctx, 0));
    must(ctx, lsp_spgemm(ctx, &a, &a, NULL, &C, NULL));
    lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &a), drop(&A);
    lsp_ctx_destroy(ctx);
}

Test(device_blocks, failing_allocations_leave_nothing_behind) {
    const recipe r = {30, 30, 4, LSP_I32, LSP_I64, LSP_F64, false, false, -1, -1, 0};
    lsp_csr A = make(&r, 8);
    const int64_t most = lsp_max(A.nnz / 2, lsp_max(longest(&A, true), longest(&A, false)));
    for (int round = 0; round < 3; round++) { /* the last round uses a mask */
        const lsp_spgemm_options options = {
            .transpose_a = round & 1, .transpose_b = round & 2, .filter.largest = round == 2 ? 5 : 0};
        failing_product p = {&A, most, options, round == 2};
        test_failing_gpu(round, reduced() ? 11 : 1, multiply_there, &p);
    }
    drop(&A);
}

/* ---- where to cut ---- */

Test(device_blocks, cuts_hold_as_many_rows_or_columns_as_fit) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    uint64_t state = 3;
    for (int round = 0; round < (reduced() ? 12 : 60); round++) {
        recipe r = some_recipe(1 + test_below(&state, 200), 1 + test_below(&state, 5000), 12, &state);
        r.dense_col = round % 3 == 0 ? 0 : -1;
        lsp_csr A = make(&r, test_random(&state)), a = upload(ctx, &A);
        for (int by_rows = 0; by_rows < 2; by_rows++) {
            const int64_t lines = by_rows ? A.rows : A.cols;
            int64_t *counts = calloc((size_t)lines + 1, sizeof *counts);
            for (int64_t i = 0; i < A.rows; i++) {
                for (int64_t k = lsp_csr_rowptr(&A, i); k < lsp_csr_rowptr(&A, i + 1); k++) {
                    counts[by_rows ? i : lsp_csr_col(&A, k)]++;
                }
            }
            for (int64_t most = 0; most < 2 * A.nnz + 2; most = 3 * most + 1) {
                const int64_t first = test_below(&state, lines);
                int64_t end = first, sum = 0, found, next;
                for (; end < lines && sum + counts[end] <= most; end++) {
                    sum += counts[end];
                }
                must(ctx, by_rows ? lsp_csr_cut_rows(ctx, &a, first, most, &found, &next)
                                  : lsp_csr_cut_columns(ctx, &a, first, most, &found, &next));
                cr_assert(found == end && next == (end < lines ? counts[end] : 0), "from %lld to %lld, not %lld",
                          (long long)first, (long long)found, (long long)end);
            }
            free(counts);
        }
        lsp_csr_free(ctx, &a), drop(&A);
    }
    lsp_ctx_destroy(ctx);
}
