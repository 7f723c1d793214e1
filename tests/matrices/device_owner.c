/* Who owns arrays on a GPU: those that a matrix gives away, and those that it takes. */
#include "tests/there.h"

Test(device_owner, detached_arrays_outlive_the_context) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip(), *other = test_gpu_ctx_or_skip();
    lsp_csr A = test_random_csr(other, 300, 200, 5000, (lsp_csr_types){.val_type = LSP_F64}, 1);
    lsp_csr a = moved(ctx, &A, LSP_CUDA), view = a, back;
    lsp_array arrays[3];
    must(ctx, lsp_csr_detach(ctx, &a, arrays));
    cr_assert(!a.rowptr && arrays[2].memory == view.val && arrays[2].where == LSP_CUDA);
    lsp_ctx_info info;
    must(ctx, lsp_ctx_trim(ctx));
    must(ctx, lsp_ctx_get_info(ctx, &info));
    cr_assert_eq(info.cuda_bytes, 0);
    cr_assert(arrays[2].allocator.user != (void *)ctx, "the allocator needs the context");
    lsp_ctx_destroy(ctx);
    back = moved(other, &view, LSP_HOST);
    must_be_same(other, &back, &A);
    for (int i = 0; i < 3; i++) {
        lsp_array_free(&arrays[i]);
        cr_assert(!arrays[i].memory);
    }
    lsp_ctx_destroy(other);
}

typedef struct releases {
    lsp_ctx *owner;
    int count;
} releases;
static void release(void *user, void *array) {
    releases *r = user;
    r->count++;
    lsp_free(r->owner, array);
}

Test(device_owner, adopted_arrays_are_released_once) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip(), *owner = test_gpu_ctx_or_skip();
    releases by_free = {owner, 0}, by_end = {owner, 0};
    lsp_csr A = test_random_csr(owner, 300, 200, 5000, (lsp_csr_types){.val_type = LSP_F64}, 1), T, right;
    lsp_csr a = moved(owner, &A, LSP_CUDA), b = moved(owner, &A, LSP_CUDA);
    must(owner, lsp_ctx_sync(owner));
    must(ctx, lsp_csr_adopt(ctx, &a, release, &by_free));
    must(ctx, lsp_csr_adopt(ctx, &b, release, &by_end));
    must(ctx, lsp_csr_transpose(ctx, &a, &T));
    must(ctx, lsp_csr_free(ctx, &a));
    must(ctx, lsp_csr_transpose(ctx, &A, &right));
    must_be_the_hosts(ctx, &T, &right);
    cr_assert(by_free.count == 3 && by_end.count == 0);
    lsp_ctx_destroy(ctx);
    cr_assert(by_free.count == 3 && by_end.count == 3);
    lsp_ctx_destroy(owner);
}
