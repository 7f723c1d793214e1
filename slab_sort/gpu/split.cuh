/* The host's side of the split in two files. */
#pragma once

#include "kernel_split.cuh"

/* Bytes of dynamic shared memory for `room` items: keys, words, and places of 2 bytes. */
static inline int split_bytes(int room, int key_bytes, bool direct) { return room * (direct ? 4 : key_bytes + 4 + 2); }

template <typename KK, bool DIRECT, int R, int NT, int EACH = 1>
static lsp_status start_split_of(lsp_ctx *ctx, const split_job *job, int blocks) {
    const size_t shared = (size_t)split_bytes(R * NT, sizeof(typename KK::K), DIRECT);
    void (*split)(split_job) = kernel_split<KK, DIRECT, R, NT, EACH>;
    LSP_TRY(lsp_allow_shared(ctx, split, shared));
    return LSP_LAUNCH_TOGETHER(ctx, true, split, blocks, NT, shared, *job);
}

/* The shapes of lsp_sort_threads and lsp_sort_words. */
template <typename KK, bool DIRECT>
static lsp_status start_split(lsp_ctx *ctx, const split_job *job, const lsp_sort_cut *cut) {
    enum { TWO = DIRECT ? 2 : 1 }; /* buckets of a block of the last shape, which others than integers never take */
    return cut->shape == 0   ? start_split_of<KK, DIRECT, 4, 256>(ctx, job, cut->blocks)
           : cut->shape == 1 ? start_split_of<KK, DIRECT, 4, 512>(ctx, job, cut->blocks)
           : cut->shape == 2 ? start_split_of<KK, DIRECT, 4, 1024>(ctx, job, cut->blocks)
           : cut->shape == 3 ? start_split_of<KK, DIRECT, 8, 1024>(ctx, job, cut->blocks)
           : cut->shape == 4 ? start_split_of<KK, DIRECT, 16, 1024>(ctx, job, cut->blocks)
                             : start_split_of<KK, DIRECT, 16, 1024, TWO>(ctx, job, cut->blocks);
}

lsp_status slab_split_wide(lsp_ctx *ctx, const split_job *job, const lsp_sort_cut *cut);
