/* The split for keys of 8 bytes: a file of its own, because its kernels take long to compile. */
#include "split.cuh"

lsp_status slab_split_wide(lsp_ctx *ctx, const split_job *job, const lsp_sort_cut *cut) {
    return start_split<key_kind<ull, false>, false>(ctx, job, cut);
}
