/* Statistics of a matrix on the GPU. A pass over the entries collects what each row needs in scratch, a pass over the
 * rows sums it up. A thread collects facts in registers, a block in shared memory. */
#include "entries.cuh"
#include "matrices/csr/stats.h"
#include "matrices/gpu/gpu.h"

/* ---- facts of threads added up ---- */

static __device__ void add(uint64_t *to, uint64_t x) {
    if (x != 0) {
        atomicAdd((ull *)to, (ull)x);
    }
}

/* Adds the facts of a thread to those of its block, or of a block to those of the grid; but its histogram. */
static __device__ void give(const lsp_facts &mine, lsp_facts *to) {
#pragma unroll
    for (int w = 0; w < SUMS; w++) {
        add(&to->sum[w], mine.sum[w]);
    }
#pragma unroll
    for (int w = 0; w < WIDE_SUMS; w++) {
        const uint64_t low = mine.wide[w][0], before = atomicAdd((ull *)&to->wide[w][0], (ull)low);
        add(&to->wide[w][1], mine.wide[w][1] + (before + low < before));
    }
#pragma unroll
    for (int w = 0; w < MAXIMA; w++) {
        atomicMax((ull *)&to->most[w], (ull)mine.most[w]);
    }
}

/* Adds to *all what take(mine, histogram) finds: the facts of each thread, and the histogram of its block. */
template <typename TAKE> static __device__ void collect(lsp_facts *all, TAKE take) {
    __shared__ lsp_facts block;
    lsp_facts mine = {};
    for (int w = (int)threadIdx.x; w < (int)(sizeof block / sizeof(ull)); w += NT) {
        ((ull *)&block)[w] = 0;
    }
    __syncthreads();
    take(&mine, block.histogram);
    give(mine, &block);
    __syncthreads();
    if (threadIdx.x < 64) {
        add(&all->histogram[threadIdx.x], block.histogram[threadIdx.x]);
    }
    if (threadIdx.x == 0) {
        give(block, all);
    }
}

/* ---- passes ---- */

/* What the entries tell about their row. */
typedef struct row_notes {
    ull *products;   /* multiplications of the row in A*A; NULL unless A is square */
    uint32_t *flags; /* FELL, and OVER if `products` passed 2^64; NULL if nobody asks the entries */
} row_notes;
enum { FELL = 1, OVER = 2 };

static __device__ void add_products(const row_notes &notes, int64_t i, ull count) {
    const ull before = atomicAdd(&notes.products[i], count);
    if (before + count < before) {
        atomicOr(&notes.flags[i], (uint32_t)OVER);
    }
}

/* The products of a tile's entries: one addition if all are in one row, as in a long row. */
static __device__ void take_products(const gpu_csr &A, const entry_tile &tile, const row_notes &notes) {
    ull sum = 0;
    for (int64_t k = tile.first + lane_of(); k < tile.end; k += 32) {
        const int64_t j = col_at(A, k);
        const ull count = (ull)(rowptr_at(A, j + 1) - rowptr_at(A, j));
        if (tile.low == tile.high) {
            sum += count;
        } else if (count > 0) {
            add_products(notes, row_of(A, k, tile.low, tile.high), count);
        }
    }
    sum = warp_sum(sum);
    if (lane_of() == 0 && sum > 0) {
        add_products(notes, tile.low, sum);
    }
}

static __global__ void __launch_bounds__(NT, 6)
    kernel_entries(gpu_csr A, lsp_csr arrays, lsp_kind t, row_notes notes, lsp_facts *all) {
    collect(all, [&](lsp_facts *mine, uint64_t *) {
        EACH_TILE(at, A.nnz) {
            const entry_tile tile = tile_at(A, at);
            for (int64_t k = tile.first + lane_of(); k < tile.end; k += 32) {
                const int64_t i = row_of(A, k, tile.low, tile.high);
                if (take_entry(t, &arrays, i, rowptr_at(A, i), k, mine)) {
                    atomicOr(&notes.flags[i], (uint32_t)FELL);
                }
            }
            if (notes.products) {
                take_products(A, tile, notes);
            }
        }
    });
}

static __global__ void kernel_rows(lsp_csr A, row_notes notes, lsp_facts *all) {
    collect(all, [&](lsp_facts *mine, uint64_t *histogram) {
        EACH_ITEM(i, A.rows, NT) {
            const uint32_t flags = notes.flags ? notes.flags[i] : 0;
            const ull products = flags & OVER ? ~0ull : notes.products ? notes.products[i] : 0;
            add(&histogram[take_row(&A, i, flags & FELL, products, mine)], 1);
        }
    });
}

/* ---- the host's side ---- */

/* Fewer blocks than items would allow: each gives its facts to the grid by atomics. */
static int64_t blocks_for_facts(int64_t items) { return lsp_blocks_upto(items, NT * 4, 1 << 11); }

extern "C" lsp_status lsp_csr_facts_cuda(lsp_ctx *ctx, const lsp_csr *A, bool entries, lsp_facts *facts) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_facts *there = NULL;
    row_notes notes = {};
    gpu_csr seen = view(A);
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &there));
    if (entries) {
        const lsp_kind t = {A->col_type, A->val_type, LSP_PASS_BOTH};
        LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, A->rows, &notes.flags));
        LSP_TRY(A->rows == A->cols ? LSP_SCRATCH_FILLED(ctx, 0, A->rows, &notes.products) : LSP_OK);
        LSP_TRY(find_tile_rows(ctx, &seen));
        LSP_TRY(LSP_LAUNCH(ctx, kernel_entries, blocks_for_facts(A->nnz), NT, 0, seen, *A, t, notes, there));
    }
    LSP_TRY(LSP_LAUNCH(ctx, kernel_rows, blocks_for_facts(A->rows), NT, 0, *A, notes, there));
    return lsp_cuda_read(ctx, facts, there, sizeof *facts);
}
