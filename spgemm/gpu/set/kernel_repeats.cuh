/* Finds rows that repeat the row before: with the same columns in A (unknowns of one node of a mesh), or with each
 * column one further, where the rows of B have moved along as well (neighbours on a grid). Their products have the same
 * ranks, so window kernels find these once for a group of repeats. Taken if any row is counted in a window. */
#pragma once

#include "spgemm/gpu/kernel_lists.cuh"

enum {
    REPEAT_MOST = 32,  /* most rows of a group */
    REPEAT_ROWS = 120, /* rows that a block compares; a group of two, three or four never crosses this border */
    REPEAT_NT = 256,
    REPEAT_WARPS = REPEAT_NT / WARP,
    REPEAT_EACH = 4 /* rows that a warp compares together */
};

/* Does a row repeat the row before? SAME: with the same columns. NEXT: each column is one further. */
enum { REPEAT_NOT = 0, REPEAT_SAME = 1, REPEAT_NEXT = 2 };

/* Compares rows first .. first+REPEAT_EACH-1 each with the row before. A row is REPEAT_NEXT only if next(column) holds
 * for all its columns. */
template <typename Next>
__device__ inline void read_repeats(const spg_matrix &M, uint32_t first, uint32_t repeats[REPEAT_EACH], Next next) {
    const uint32_t lane = threadIdx.x % WARP, rows = (uint32_t)M.rows;
    /* where row first + lane - 1 begins */
    const uint32_t start = __ldg(M.rowptr + min(first + lane - (first + lane > 0), rows));
    uint32_t at[REPEAT_EACH], length[REPEAT_EACH], longest = 0;
#pragma unroll
    for (uint32_t r = 0; r < REPEAT_EACH; r++) {
        const uint32_t before = __shfl_sync(~0u, start, r);
        at[r] = __shfl_sync(~0u, start, r + 1);
        length[r] = __shfl_sync(~0u, start, r + 2) - at[r];
        repeats[r] = first + r > 0 && first + r < rows && length[r] > 0 && at[r] - before == length[r]
                         ? REPEAT_SAME | REPEAT_NEXT
                         : REPEAT_NOT;
        longest = max(longest, repeats[r] ? length[r] : 0);
    }
    for (uint32_t q = lane; q < longest + lane; q += WARP) {
        uint32_t here[REPEAT_EACH], other[REPEAT_EACH], some = 0;
#pragma unroll
        for (uint32_t r = 0; r < REPEAT_EACH; r++) {
            const bool there = repeats[r] != REPEAT_NOT && q < length[r];
            here[r] = there ? __ldg(M.col + (at[r] + q)) : 0;
            other[r] = there ? __ldg(M.col + (at[r] + q - length[r])) : 0;
        }
#pragma unroll
        for (uint32_t r = 0; r < REPEAT_EACH; r++) {
            const bool there = q < length[r];
            const bool same = __all_sync(~0u, !there || here[r] == other[r]);
            const bool further = __all_sync(~0u, !there || (here[r] == other[r] + 1 && next(here[r])));
            repeats[r] &= (uint32_t)same * REPEAT_SAME | (uint32_t)further * REPEAT_NEXT;
            some |= repeats[r];
        }
        longest = some ? longest : 0;
    }
}

/* Finds the repeats among B's rows. */
static __global__ void __launch_bounds__(REPEAT_NT) kernel_repeats_b(spg_matrix B, uint8_t *kinds) {
    const uint32_t first = (blockIdx.x * REPEAT_NT + threadIdx.x) / WARP * REPEAT_EACH;
    uint32_t repeats[REPEAT_EACH];
    read_repeats(B, first, repeats, [](uint32_t) { return true; });
    if (threadIdx.x % WARP == 0) {
        for (uint32_t r = 0; r < REPEAT_EACH && first + r < B.rows; r++) {
            kinds[first + r] = (uint8_t)repeats[r];
        }
    }
}

/* Finds the repeats among C's rows, in groups of at most `most` rows. Only rows that are counted in windows are
 * considered. Groups stay within REPEAT_ROWS. A row that is one further than the row before is not added to its group
 * if the next row has its own columns: these two belong together. */
static __global__ void __launch_bounds__(REPEAT_NT) kernel_repeats_c(spg_job job, uint32_t most) {
    __shared__ uint8_t kinds[REPEAT_ROWS + REPEAT_EACH];
    __shared__ unsigned breaks[REPEAT_WARPS];
    const uint32_t i = threadIdx.x, lane = i % WARP, warp = i / WARP, first = blockIdx.x * REPEAT_ROWS, row = first + i;
    const bool there = i < REPEAT_ROWS && row < job.A.rows;
    for (uint32_t k = warp * REPEAT_EACH; k < REPEAT_ROWS; k += REPEAT_WARPS * REPEAT_EACH) {
        uint32_t repeats[REPEAT_EACH];
        read_repeats(job.A, first + k, repeats, [&](uint32_t column) { return job.repeats[column] == REPEAT_NEXT; });
        if (lane == 0) {
            for (uint32_t r = 0; r < REPEAT_EACH; r++) {
                kinds[k + r] = (uint8_t)repeats[r];
            }
        }
    }
    __syncthreads();
    uint32_t kind = REPEAT_NOT;
    if (there && i > 0) {
        const int bin = bin_of<false>(job, row); /* no row is marked as a repeat yet */
        const bool torn = kinds[i] == REPEAT_NEXT && i + 1 < REPEAT_ROWS && kinds[i + 1] == REPEAT_SAME;
        if (bin >= LSP_BIN_COUNT_64 && bin < LSP_BIN_LONG && !torn) {
            kind = kinds[i];
        }
    }
    __syncthreads();
    if (i < REPEAT_ROWS) {
        kinds[i] = (uint8_t)kind;
    }
    __syncthreads();
    const uint32_t before = i > 0 && i < REPEAT_ROWS ? kinds[i - 1] : 0u;
    const bool breaks_here = kind == REPEAT_NOT || (before != REPEAT_NOT && before != kind);
    const unsigned mine = __ballot_sync(~0u, breaks_here);
    if (lane == 0) {
        breaks[warp] = mine;
    }
    __syncthreads();
    if (there) {
        uint32_t w = warp, bits = mine & ((2u << lane) - 1);
        while (bits == 0) { /* ends at the latest at the block's first row, which always begins a group */
            bits = breaks[--w];
        }
        const uint32_t rank = i - (w * WARP + 31 - (uint32_t)__clz((int)bits)); /* the row's number in its group */
        job.groups[row] = rank % most == 0 ? 0 : kind == REPEAT_SAME ? LSP_GROUPS_REPEAT_SAME : LSP_GROUPS_REPEAT_NEXT;
    }
}

/* Rows in the group that this row begins, itself included. The whole warp calls together. */
__device__ inline uint32_t repeat_length(const spg_job &job, uint32_t row) {
    const uint32_t lane = threadIdx.x % WARP;
    const bool there = lane > 0 && row + lane < job.A.rows;
    const unsigned others = ~(__ballot_sync(~0u, there && lsp_repeats_above(job.groups[row + lane])) | 1);
    return others ? (uint32_t)__ffs((int)others) - 1 : (uint32_t)WARP;
}

/* A bit for each of the 32 entries p - lane .. of A, up to end-1: set if the entry leads to the row of B that follows
 * the one before, and that row has the same columns. */
__device__ inline unsigned repeated_entries(const spg_job &job, uint32_t p, uint32_t end) {
    const uint32_t k = p < end ? __ldg(job.A.col + p) : 0, before = __shfl_up_sync(~0u, k, 1);
    return __ballot_sync(~0u, threadIdx.x % WARP > 0 && p < end && k == before + 1 && job.repeats &&
                                  job.repeats[k] == REPEAT_SAME);
}
