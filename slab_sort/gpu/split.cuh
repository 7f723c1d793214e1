/* The host's side of the split in two files. */
#ifndef LSP_SLAB_SORT_GPU_SPLIT_CUH
#define LSP_SLAB_SORT_GPU_SPLIT_CUH

#include "kernel_split.cuh"

lsp_status slab_split_wide(lsp_ctx *ctx, const split_job *job, const lsp_sort_cut *cut);

#endif
