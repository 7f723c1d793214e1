/* The sort by one split: scratch, and the instance of the kernel for these keys. */
#include "core/layout.h"
#include "split.cuh"

static void split_lay_out(const lsp_sort_args *args, lsp_sort_cut cut, lsp_layout *l, split_job *job) {
    job->keys = lsp_layout_take(l, args->n, (int64_t)lsp_type_bytes(args->key_type));
    job->values = (char *)lsp_layout_take(l, args->n, (int64_t)args->value_bytes);
    job->table = (uint32_t *)lsp_layout_take(l, (int64_t)cut.blocks * cut.buckets, sizeof *job->table);
}

static int64_t split_scratch(lsp_ctx *ctx, const lsp_sort_args *args) {
    lsp_layout l = {NULL, 64, 0, false};
    split_job job;
    split_lay_out(args, lsp_sort_cut_of(ctx, args->n, lsp_sort_kind(args) == 0), &l, &job);
    return l.bytes;
}

/* The largest power of two for which a kernel with enough shared memory has room. */
static int64_t split_longest(lsp_ctx *ctx, const lsp_sort_args *args) {
    enum { STATIC_BYTES = 5 << 10 };
    const int key_bytes = (int)lsp_type_bytes(args->key_type), most = lsp_cuda_get_chip(ctx)->shared_block_bytes;
    int64_t n = (int64_t)1 << 30;
    for (; n > 1; n /= 2) {
        const int shape = lsp_sort_cut_of(ctx, n, lsp_sort_kind(args) == 0).shape;
        if (shape >= 0 && split_bytes(lsp_sort_threads(shape) * lsp_sort_words(shape), key_bytes,
                                      lsp_sort_kind(args) == 0) <= most - STATIC_BYTES) {
            break;
        }
    }
    return n;
}

static lsp_status sort_by_split(lsp_ctx *ctx, const lsp_sort_args *args, void *scratch) {
    const lsp_sort_cut cut = lsp_sort_cut_of(ctx, args->n, lsp_sort_kind(args) == 0);
    lsp_layout l = {(char *)scratch, 64, 0, false};
    split_job job = {};
    job.sort = slab_make_job(args);
    job.samples = cut.samples;
    split_lay_out(args, cut, &l, &job);
    return lsp_type_bytes(args->key_type) == 8 ? slab_split_wide(ctx, &job, &cut)
           : lsp_sort_kind(args) == 0          ? start_split<key_kind<uint32_t, true>, true>(ctx, &job, &cut)
                                               : start_split<key_kind<uint32_t, false>, false>(ctx, &job, &cut);
}

const lsp_sort_way lsp_sort_by_split = {split_longest, split_scratch, sort_by_split};
