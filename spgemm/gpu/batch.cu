/* The bodies of a batch on a GPU. A warp takes a tile of items and finds its first and last matrix by binary search, so
 * that a large matrix among small ones is shared by many warps. */
#include "core/launch.cuh"
#include "spgemm/batch.h"

enum { NT = 256, WARPS = NT / 32, SM_BLOCKS = 8 };

template <lsp_batch_body *DO_ITEM, lsp_batch_items ITEMS, int TILE>
static __global__ void kernel_batch(lsp_batch_job job, int64_t n) {
    const lsp_batch_span *spans = job.there;
    for (int64_t tile = ((int64_t)blockIdx.x * WARPS + threadIdx.x / 32) * TILE; tile < n;
         tile += (int64_t)gridDim.x * WARPS * TILE) {
        const int64_t end = min(tile + TILE, n), low = lsp_batch_find(spans, ITEMS, tile, 0, job.count - 1);
        const int64_t high = lsp_batch_find(spans, ITEMS, end - 1, low, job.count - 1);
        for (int64_t k = tile + threadIdx.x % 32; k < end; k += 32) {
            const int64_t i = lsp_batch_find(spans, ITEMS, k, low, high);
            if (DO_ITEM(&job, spans + i, i, k - lsp_batch_first(spans, ITEMS, i))) {
                atomicMin((ull *)job.fault, (ull)i);
            }
        }
    }
}

template <lsp_batch_body *DO_ITEM, lsp_batch_items ITEMS>
static lsp_status launch(lsp_ctx *ctx, const lsp_batch_job *job) {
    enum { TILE = ITEMS == LSP_BATCH_MATRICES ? 32 : 256 };
    const int64_t n = lsp_batch_first(job->spans, ITEMS, job->count);
    return LSP_LAUNCH(ctx, (kernel_batch<DO_ITEM, ITEMS, TILE>), lsp_blocks_for(ctx, n, WARPS * TILE, SM_BLOCKS), NT, 0,
                      *job, n);
}

#define LSP_BATCH_LAUNCH(name, items, ...) launch<name##_body, items>,
const lsp_batch_table lsp_batch_on_gpu = {LSP_BATCH_BODIES(LSP_BATCH_LAUNCH)};
