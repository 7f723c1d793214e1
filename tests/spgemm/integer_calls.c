/* Plans, products of three, sums, blocks, files, batches, masks and filters of integers, on the CPU and on a GPU. */
#include "tests/integers.h"
#include "tests/stream_sink.h"

/* ---- plans ---- */

/* Executes and updates a plan in turn, each time with other values, small and large ones. */
static void use_again(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_options options, const char *what) {
    lsp_csr a = take(ctx, A), b = take(ctx, B), C = {0}, D = {0};
    lsp_spgemm_plan *plan = NULL;
    const lsp_type type =
        options.types.val_type != LSP_NONE ? options.types.val_type : lsp_common_type(A->val_type, B->val_type);
    must(ctx, lsp_spgemm_plan_create(ctx, &a, &b, &options, &plan));
    for (int round = 0; round < 6; round++) {
        const bool wild = round & 1;
        change_whole(ctx, A, &a, wild, (uint64_t)round), change_whole(ctx, B, &b, wild, (uint64_t)round + 20);
        plain right = plain_product(A, B, options.semiring);
        must_be_made(ctx, lsp_spgemm_execute(plan, &a, &b, &D), &D, type, &right, what);
        if (C.rowptr == NULL && plain_wide(&right) >= 0 && type == LSP_I32) {
            plain_free(&right);
            continue;
        }
        must(ctx, C.rowptr != NULL ? LSP_OK : lsp_spgemm_execute(plan, &a, &b, &C));
        const lsp_status status = lsp_spgemm_refill(plan, &a, &b, &C);
        if (status == LSP_OK) {
            must(ctx,
                 lsp_csr_copy(ctx, &C, &(lsp_csr_types){.rowptr_type = C.rowptr_type, .col_type = C.col_type}, &D));
        }
        must_be_made(ctx, status, &D, type, &right, what);
        plain_free(&right);
    }
    lsp_csr_free(ctx, &C);
    lsp_spgemm_plan_destroy(plan);
    give_back(ctx, &a), give_back(ctx, &b);
}

TEST_ON_BOTH(spgemm_integer_calls, plans_serve_other_values) {
    static const lsp_type types[] = {LSP_I32, LSP_I64, LSP_BOOL, LSP_NONE};
    static const lsp_semiring semirings[] = {LSP_PLUS_TIMES, LSP_PLUS_TIMES, LSP_MIN_PLUS, LSP_OR_AND, LSP_MAX_TIMES};
    uint64_t state = 7;
    for (int round = 0; round < (reduced() ? 6 : 60); round++) {
        const bool band = round % 3 == 0;
        const recipe a = {90, 90, band ? 12 : 5, LSP_I32, LSP_I32, types[round % 3], true, true, -1, -1, band ? 9 : 0};
        const recipe b = {90, 90, 6, index_type(&state), LSP_I32, types[round / 3 % 4], round & 1, true, -1, -1, 0};
        lsp_csr A = make(&a, test_random(&state)), B = make(&b, test_random(&state));
        lsp_spgemm_options options = {.semiring = semirings[round % 5]};
        options.types.val_type = round % 4 == 3 ? integer_types[round % 3] : LSP_NONE;
        use_again(ctx, &A, &B, options, "left");
        use_again(ctx, &B, &A, options, "right");
        drop(&A), drop(&B);
    }
}

/* ---- three factors, batches ---- */

TEST_ON_BOTH(spgemm_integer_calls, products_of_three_are_two_products) {
    uint64_t state = 17;
    for (int round = 0; round < (reduced() ? 6 : 18); round++) {
        const lsp_type type = integer_types[round % 3];
        lsp_csr R = make_whole(type, 8, 60, true, false, &state),
                A = make_whole(type, 60, 60, round & 1, false, &state);
        lsp_csr P = make_whole(type, 60, 9, true, false, &state);
        lsp_csr r = take(ctx, &R), a = take(ctx, &A), p = take(ctx, &P), C = {0}, inner = {0};
        must(ctx, lsp_spgemm(ctx, &A, &P, &(lsp_spgemm_options){.method = LSP_SPGEMM_REFERENCE}, &inner, NULL));
        plain three = plain_product(&R, &inner, LSP_PLUS_TIMES);
        must_be_made(ctx, lsp_spgemm_triple(ctx, &r, &a, &p, NULL, &C, NULL), &C, type, &three, "R*A*P");
        lsp_spgemm_triple_plan *plan = NULL;
        must(ctx, lsp_spgemm_triple_plan_create(ctx, &r, &a, &p, NULL, &plan));
        must(ctx, lsp_spgemm_triple_execute(plan, &r, &a, &p, &C));
        must(ctx, lsp_spgemm_triple_refill(plan, &r, &a, &p, &C));
        must_be_made(ctx, LSP_OK, &C, type, &three, "R*A*P by a plan");
        lsp_spgemm_triple_plan_destroy(plan);
        plain_free(&three), lsp_csr_free(ctx, &inner);
        give_back(ctx, &r), give_back(ctx, &a), give_back(ctx, &p);
        drop(&R), drop(&A), drop(&P);
    }
}

TEST_ON_BOTH(spgemm_integer_calls, batches_are_their_products) {
    enum { COUNT = 12 };
    uint64_t state = 27;
    for (int round = 0; round < 12; round++) {
        const lsp_type type = integer_types[round % 3];
        const recipe like = {.entries = 4, .sorted = true, .dense_row = -1, .dense_col = -1};
        lsp_csr A[COUNT], B[COUNT], a[COUNT], b[COUNT], C[COUNT] = {{0}};
        for (int i = 0; i < COUNT; i++) {
            recipe r = like;
            r.rowptr_type = r.col_type = LSP_I32, r.val_type = type;
            r.rows = test_below(&state, 20), r.cols = 1 + test_below(&state, 20);
            A[i] = make(&r, test_random(&state));
            r.rows = r.cols, r.cols = 1 + test_below(&state, 20);
            B[i] = make(&r, test_random(&state));
            a[i] = take(ctx, &A[i]), b[i] = take(ctx, &B[i]);
        }
        lsp_spgemm_batch_plan *plan = NULL;
        for (int way = 0; way < 2; way++) {
            if (way == 0) {
                must(ctx, lsp_spgemm_batch(ctx, COUNT, a, b, NULL, C, NULL));
            } else {
                must(ctx, lsp_spgemm_batch_plan_create(ctx, COUNT, a, b, NULL, &plan));
                must(ctx, lsp_spgemm_batch_execute(plan, a, b, C));
                for (int i = 0; i < COUNT; i++) {
                    change_whole(ctx, &A[i], &a[i], false, (uint64_t)i + 5);
                }
                must(ctx, lsp_spgemm_batch_refill(plan, a, b, C));
            }
            for (int i = 0; i < COUNT; i++) {
                plain right = plain_product(&A[i], &B[i], LSP_PLUS_TIMES);
                lsp_csr copy = {0};
                must(ctx, lsp_csr_copy(ctx, &C[i], NULL, &copy));
                must_be_made(ctx, LSP_OK, &copy, type, &right, "a product of a batch");
                plain_free(&right);
            }
            must(ctx, lsp_spgemm_batch_free(ctx, COUNT, C));
        }
        lsp_spgemm_batch_plan_destroy(plan);
        for (int i = 0; i < COUNT; i++) {
            give_back(ctx, &a[i]), give_back(ctx, &b[i]), drop(&A[i]), drop(&B[i]);
        }
    }
}

/* ---- masks and filters ---- */

TEST_ON_BOTH(spgemm_integer_calls, masks_and_filters_choose_among_the_entries) {
    uint64_t state = 37;
    for (int round = 0; round < (reduced() ? 20 : 120); round++) {
        const lsp_type type = integer_types[round % 3];
        lsp_csr A = make_whole(type, 25, 30, round & 1, false, &state),
                B = make_whole(type, 30, 20, true, false, &state);
        lsp_csr M = make_whole(LSP_NONE, 25, 20, true, false, &state), a = take(ctx, &A), b = take(ctx, &B);
        lsp_csr m = take(ctx, &M), C = {0};
        lsp_spgemm_options options = {.semiring = (lsp_semiring)(round / 3 % 5), .filter.mask = &m};
        options.filter.complement = round & 2;
        options.filter.drop = round & 4;
        options.filter.tolerance = round & 4 ? 3 : 0;
        options.filter.largest = round & 8 ? 2 : 0;
        options.method = !(round & 2) && round & 1 ? LSP_SPGEMM_MASK : LSP_SPGEMM_AUTO;
        plain right = plain_product(&A, &B, options.semiring);
        bool masked[25 * 20] = {false};
        for (int64_t i = 0; i < 25; i++) {
            for (int64_t k = lsp_csr_rowptr(&M, i); k < lsp_csr_rowptr(&M, i + 1); k++) {
                masked[i * 20 + lsp_csr_col(&M, k)] = true;
            }
        }
        for (int64_t i = 0; i < 25; i++) {
            int64_t left = 0;
            for (int64_t at = 20 * i; at < 20 * (i + 1); at++) {
                right.val[at] = type == LSP_BOOL && right.is[at] ? right.val[at] != 0 : right.val[at];
                const int64_t size = right.val[at] < 0 ? -right.val[at] : right.val[at];
                right.is[at] =
                    right.is[at] && masked[at] != options.filter.complement && !(options.filter.drop && size <= 3);
                left += right.is[at];
            }
            for (; options.filter.largest > 0 && left > 2; left--) { /* the last of the smallest goes */
                int64_t least = -1;
                for (int64_t at = 20 * i; at < 20 * (i + 1); at++) {
                    const bool smaller = least < 0 || llabs(right.val[at]) <= llabs(right.val[least]);
                    least = right.is[at] && smaller ? at : least;
                }
                right.is[least] = false;
            }
        }
        must_be_made(ctx, lsp_spgemm(ctx, &a, &b, &options, &C, NULL), &C, type, &right, "filtered");
        plain_free(&right), give_back(ctx, &a), give_back(ctx, &b), give_back(ctx, &m), drop(&A), drop(&B), drop(&M);
    }
}

/* ---- blocks and files ---- */

TEST_ON_BOTH(spgemm_integer_calls, blocks_and_files_are_those_of_the_whole) {
    for (int t = 0; t < 3; t++) {
        const recipe r = {120, 120, 5, LSP_I32, LSP_I32, integer_types[t], false, t == 1, 7, -1, 0};
        lsp_csr A = make(&r, 1), a = take(ctx, &A), right, turned = {0};
        char path[] = "/tmp/integers_XXXXXX", whole[sizeof path + 8], file[sizeof path + 8];
        cr_assert(mkdtemp(path) != NULL);
        must(ctx, lsp_csr_transpose(ctx, &A, &turned));
        right = reference(ctx, &A, &turned, (lsp_spgemm_options){0});
        const lsp_spgemm_options options = {.transpose_b = true};
        for (int64_t bytes = 1; bytes < 1 << 20; bytes *= 64) {
            received all = receiver(right.rows, right.nnz);
            all.gpu = on_gpu(ctx) ? ctx : NULL;
            must(ctx, lsp_spgemm_stream(ctx, &a, &a, &options, bytes, receive, &all, NULL));
            same(ctx, &all.C, &right, "in blocks");
            drop(&all.C);
        }
        if (on_gpu(ctx)) { /* factors on the host, multiplied on the GPU */
            const lsp_spgemm_options there = {.transpose_b = true, .types.place = LSP_PLACE_CUDA};
            received all = receiver(right.rows, right.nnz);
            must(ctx, lsp_spgemm_stream(ctx, &A, &A, &there, 5000, receive, &all, NULL));
            same(ctx, &all.C, &right, "in blocks, from the host");
            drop(&all.C);
        }
        snprintf(file, sizeof file, "%s/blocks", path), snprintf(whole, sizeof whole, "%s/whole", path);
        must(ctx, lsp_spgemm_write(ctx, file, &a, &a, &options, 3000, NULL, NULL));
        must(ctx, lsp_mtx_write(ctx, whole, &right, NULL));
        same_files(file, whole);
        lsp_csr back = {0};
        const lsp_mtx_read_options how = {.types.val_type = integer_types[t]};
        must(ctx, lsp_mtx_read(ctx, whole, &how, &back, NULL));
        same(ctx, &back, &right, "read back");
        remove(file), remove(whole), remove(path);
        lsp_csr_free(ctx, &back), lsp_csr_free(ctx, &right), lsp_csr_free(ctx, &turned), give_back(ctx, &a), drop(&A);
    }
}

/* ---- memory ---- */

static lsp_status use_all(lsp_ctx *ctx, void *data) {
    const lsp_csr *A = data;
    lsp_spgemm_plan *plan = NULL;
    lsp_csr C = {.rows = 42}, D = {.rows = 42}, E = {0};
    lsp_status status = lsp_spgemm(ctx, A, A, NULL, &C, NULL);
    cr_assert(status == LSP_OK || (C.rows == 42 && C.rowptr == NULL));
    status = status == LSP_OK ? lsp_spgemm_plan_create(ctx, A, A, &(lsp_spgemm_options){.transpose_a = true}, &plan)
                              : status;
    for (int k = 0; k < 2 && status == LSP_OK; k++) {
        status = k == 0 ? lsp_spgemm_execute(plan, A, A, &E) : lsp_spgemm_refill(plan, A, A, &E);
    }
    lsp_spgemm_plan_destroy(plan);
    lsp_csr_free(ctx, &E);
    const lsp_spgemm_options filtered = {.filter.mask = A, .filter.largest = 2};
    status = status == LSP_OK ? lsp_spgemm(ctx, A, A, &filtered, &D, NULL) : status;
    cr_assert(status == LSP_OK || (D.rows == 42 && D.rowptr == NULL));
    lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &D);
    return status;
}

Test(spgemm_integer_calls, failing_memory_leaves_everything_as_it_was) {
    for (int t = 0; t < 3; t++) {
        const recipe r = {60, 60, 5, LSP_I64, LSP_I32, integer_types[t], false, false, -1, -1, 0};
        lsp_csr A = make(&r, 1);
        test_failing_memory(1, use_all, &A);
        drop(&A);
    }
}

Test(spgemm_integer_calls, all_threads_and_budgets_give_the_values_of_the_reference) {
    const recipe r = {800, 800, 12, LSP_I32, LSP_I32, LSP_I64, true, true, 5, 9, 0};
    lsp_csr A = make(&r, 3);
    for (int threads = 1; threads <= 4; threads++) {
        lsp_ctx *ctx = test_ctx(threads);
        lsp_csr C = {0}, right = reference(ctx, &A, &A, (lsp_spgemm_options){0});
        const int64_t used = ctx->space[LSP_HOST].used, bytes = 4 * (A.rows + 1) + 12 * right.nnz;
        for (int k = 0; k < 6; k++) {
            must(ctx, lsp_ctx_trim(ctx));
            must(ctx, lsp_ctx_set_max_bytes(ctx, used + bytes + ((int64_t)1 << (15 + k))));
            const lsp_status status = lsp_spgemm(ctx, &A, &A, NULL, &C, NULL);
            cr_assert(status == LSP_OK || (status == LSP_ERR_MEMORY && k < 3), "%d: %s", k, lsp_last_error(ctx));
            if (status == LSP_OK) {
                must_equal(ctx, &C, &right, "a budget");
            }
        }
        lsp_csr_free(ctx, &right);
        lsp_ctx_destroy(ctx);
    }
    drop(&A);
}
