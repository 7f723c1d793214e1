/* Masks in every call that takes one: blocks, files, products of three; the memory they need, and refusals. On
 * the host and on a GPU. Tests of a GPU are skipped without one. */
#include "spgemm/spgemm.h"
#include "tests/masked.h"

static void check_streams(lsp_ctx *ctx, bool gpu) {
    const recipe r = {70, 70, 6, LSP_I32, LSP_I32, LSP_F64, true, false, 5, -1, 0};
    const recipe of_mask = {70, 70, 9, LSP_I64, LSP_I32, LSP_NONE, false, false, -1, 3, 0};
    const char *path = gpu ? "masked_gpu.mtx" : "masked.mtx";
    lsp_csr A = make(&r, 1), M = make(&of_mask, 2), inner = {0}, product = {0}, triple = {0}, read = {0};
    lsp_csr a = gpu ? upload(ctx, &A) : A, m = gpu ? upload(ctx, &M) : M;
    witness seen = {0};
    for (int kind = 0; kind < 4; kind++) {
        lsp_spgemm_options options = {.filter = {.mask = &M, .largest = kind & 1 ? 4 : 0, .complement = kind & 2}};
        lsp_csr right = right_one(ctx, &A, &A, options, &seen);
        options.filter.mask = &m;
        for (int64_t bytes = 0; bytes < 20000; bytes = bytes * 19 + 300) {
            for (int asked = 0; asked < (kind & 2 ? 1 : 2); asked++) {
                received all = receiver(70, right.nnz);
                lsp_spgemm_info info;
                all.gpu = gpu ? ctx : NULL;
                options.method = asked ? LSP_SPGEMM_MASK : LSP_SPGEMM_AUTO;
                must(ctx, lsp_spgemm_stream(ctx, &a, &a, &options, bytes, receive, &all, &info));
                same(ctx, &right, &all.C, "in blocks");
                cr_assert(info.nnz == right.nnz && info.blocks == all.blocks && (bytes != 300 || all.blocks > 20));
                cr_assert(!asked || info.method == LSP_SPGEMM_MASK);
                drop(&all.C);
            }
        }
        must(ctx, lsp_spgemm_write(ctx, path, &a, &a, &options, 5000, NULL, NULL));
        must(ctx, lsp_mtx_read(ctx, path, NULL, &read, NULL));
        same(ctx, &right, &read, "written");
        lsp_csr_free(ctx, &read), lsp_csr_free(ctx, &right);
    }
    remove(path);
    const lsp_spgemm_options by_mask = {.filter.mask = &m};
    must(ctx, lsp_spgemm(ctx, &a, &a, NULL, &inner, NULL));
    must(ctx, lsp_spgemm(ctx, &a, &inner, &by_mask, &product, NULL));
    const lsp_spgemm_options asked = {.method = LSP_SPGEMM_MASK, .filter.mask = &m};
    must(ctx, lsp_spgemm_triple(ctx, &a, &a, &a, &asked, &triple, NULL));
    lsp_csr three = gpu ? download(ctx, &product) : product, of_three = gpu ? download(ctx, &triple) : triple;
    same(ctx, &three, &of_three, "of three");
    cr_assert(seen.kept > 0 && seen.forbidden > 0);
    lsp_ctx_destroy(ctx);
    drop(&A), drop(&M);
}

Test(spgemm_masked_calls, blocks_files_and_products_of_three_take_masks) { check_streams(test_ctx(2), false); }
Test(device_masked_calls, blocks_files_and_products_of_three_take_masks) {
    check_streams(test_gpu_ctx_or_skip(), true);
}

/* ---- memory, and what makes no sense ---- */

static void check_memory(lsp_ctx *ctx, bool gpu) {
    const recipe r = {3000, 3000, 20, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    const recipe of_mask = {3000, 3000, 2, LSP_I32, LSP_I32, LSP_NONE, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 1), M = make(&of_mask, 2), C = {.rows = 4711};
    witness seen = {0};
    lsp_spgemm_options options = {.filter.mask = &M};
    lsp_csr right = right_one(ctx, &A, &A, options, &seen), a = gpu ? upload(ctx, &A) : A,
            m = gpu ? upload(ctx, &M) : M;
    const int64_t budget = 14 * A.nnz + 100 * M.nnz, whole = 12 * seen.forbidden;
    lsp_ctx_info held;
    options.filter.mask = &m;
    cr_assert(2 * budget < whole, "the whole product would fit: the test shows nothing");
    must(ctx, lsp_ctx_trim(ctx));
    must(ctx, lsp_ctx_reset_peak(ctx));
    must(ctx, lsp_ctx_get_info(ctx, &held));
    must(ctx, lsp_ctx_set_max_bytes(ctx, (gpu ? held.cuda_bytes : held.host_bytes) + budget));
    must(ctx, lsp_spgemm(ctx, &a, &a, &options, &C, NULL));
    lsp_csr here = gpu ? download(ctx, &C) : C;
    same(ctx, &right, &here, "within a budget");
    lsp_csr_free(ctx, &C);
    must(ctx, lsp_ctx_set_max_bytes(ctx, (gpu ? held.cuda_bytes : held.host_bytes) + 4 * M.nnz));
    options.method = LSP_SPGEMM_MASK;
    C = (lsp_csr){.rows = 4711};
    cr_assert(lsp_spgemm(ctx, &a, &a, &options, &C, NULL) == LSP_ERR_MEMORY && C.rows == 4711);
    cr_assert(strlen(lsp_last_error(ctx)) > 20);
    lsp_ctx_destroy(ctx);
    drop(&A), drop(&M);
}

Test(spgemm_masked_calls, a_product_too_large_for_the_memory_is_made_where_the_mask_is_small) {
    check_memory(test_ctx(2), false);
}
Test(device_masked_calls, a_product_too_large_for_the_memory_is_made_where_the_mask_is_small) {
    check_memory(test_gpu_ctx_or_skip(), true);
}

Test(spgemm_masked_calls, the_bytes_of_a_refusal_are_those_of_the_mask) {
    lsp_ctx *ctx = test_ctx(1);
    const recipe r = {300, 300, 9, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 1), C = {.rows = 4711};
    const lsp_spgemm_options options = {.method = LSP_SPGEMM_MASK, .filter.mask = &A};
    char needed[40];
    snprintf(needed, sizeof needed, "%lld bytes", 9LL * A.nnz + 16 * 301 + 4 * 300);
    must(ctx, lsp_ctx_set_max_bytes(ctx, 20000));
    must_fail(ctx, LSP_ERR_MEMORY, needed, lsp_spgemm_at_once(ctx, &A, &A, &options, &C, NULL));
    cr_assert(C.rows == 4711);
    drop(&A);
    lsp_ctx_destroy(ctx);
}

Test(spgemm_masked_calls, the_method_without_a_mask_is_refused) {
    lsp_ctx *ctx = test_ctx(1);
    const recipe r = {20, 20, 4, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 1), C = {.rows = 4711};
    lsp_spgemm_options options = {.method = LSP_SPGEMM_MASK};
    lsp_spgemm_plan *plan = NULL;
    must_fail(ctx, LSP_ERR_ARGUMENT, "complement", lsp_spgemm(ctx, &A, &A, &options, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "complement", lsp_spgemm_plan_create(ctx, &A, &A, &options, &plan));
    options.filter = (lsp_filter){.mask = &A, .complement = true};
    must_fail(ctx, LSP_ERR_ARGUMENT, "complement", lsp_spgemm(ctx, &A, &A, &options, &C, NULL));
    options.filter = (lsp_filter){.mask = &A};
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "plan", lsp_spgemm_plan_create(ctx, &A, &A, &options, &plan));
    lsp_csr wrong = A, far = A;
    wrong.rows = 19, far.where = LSP_CUDA;
    options.filter.mask = &wrong;
    must_fail(ctx, LSP_ERR_FORMAT, "", lsp_spgemm(ctx, &A, &A, &options, &C, NULL));
    options.filter.mask = &far;
    must_fail(ctx, LSP_ERR_ARGUMENT, "mask", lsp_spgemm(ctx, &A, &A, &options, &C, NULL));
    cr_assert(C.rows == 4711 && C.rowptr == NULL);
    drop(&A);
    lsp_ctx_destroy(ctx);
}

typedef struct failing {
    lsp_csr A, M;
    lsp_spgemm_method method;
} failing;

static lsp_status do_failing(lsp_ctx *ctx, void *data) {
    const failing *f = data;
    lsp_csr C = {0};
    lsp_spgemm_info info = {.products = 42};
    const lsp_spgemm_options options = {
        .method = f->method, .filter = {.mask = &f->M, .largest = 5}, .transpose_b = true};
    const lsp_status status = lsp_spgemm(ctx, &f->A, &f->A, &options, &C, &info);
    cr_assert(status == LSP_OK || (C.rowptr == NULL && info.products == 42));
    lsp_csr_free(ctx, &C);
    return status;
}

Test(spgemm_masked_calls, failing_allocations_leave_nothing_behind) {
    const recipe r = {200, 200, 20, LSP_I32, LSP_I32, LSP_F32, false, false, -1, -1, 0};
    const recipe of_mask = {200, 200, 20, LSP_I32, LSP_I64, LSP_F64, false, false, -1, -1, 0};
    failing f = {.A = make(&r, 1), .M = make(&of_mask, 2)};
    for (int asked = 0; asked < 2; asked++) {
        f.method = asked ? LSP_SPGEMM_MASK : LSP_SPGEMM_AUTO;
        test_failing_memory(2, do_failing, &f);
    }
    drop(&f.A), drop(&f.M);
}
