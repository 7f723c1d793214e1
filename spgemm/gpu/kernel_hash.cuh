/* Counts rows of many products that fit no window: a warp collects the distinct columns in a hash table, 32 neighbours
 * a group. */
#ifndef LSP_SPGEMM_GPU_KERNEL_HASH_CUH
#define LSP_SPGEMM_GPU_KERNEL_HASH_CUH

#include "window_shape.cuh"

enum { HASH_NT = 128, HASH_WARPS = HASH_NT / WARP };
/* Lanes that read one row of B together: about as many as the row is long. */
__device__ inline uint32_t lanes_for(uint32_t products, uint32_t entries) {
    uint32_t lanes = WARP;
    while (lanes > 1 && (ull)entries * (lanes / 2) >= products) {
        lanes /= 2;
    }
    return lanes;
}

/* Marks all columns of a row of C in the table. Returns the number of groups; once this exceeds table.most, it stops
 * and returns some larger number. */
template <int BITS> __device__ inline uint32_t hash_collect(const spg_job &job, uint32_t row, hash_table<BITS> &table) {
    const uint32_t lane = threadIdx.x % WARP, begin = job.A.rowptr[row], end = job.A.rowptr[row + 1];
    const uint32_t lanes = lanes_for(job.products[row], end - begin), sub = lane % lanes, together = WARP / lanes;
    uint32_t total = 0;
    /* Called by all lanes. Mostly all columns are marked already. */
    auto put = [&](bool some, uint32_t column) {
        const uint32_t key = column / 32, bit = 1u << (column % 32);
        const hash_group group = table.at(table.place_of(key));
        const bool news = some && (group.key != key || !(group.marks & bit));
        if (__any_sync(~0u, news)) {
            uint32_t place = table.place_of(key);
            const bool fresh = news && table.add(key, bit, &place);
            total += (uint32_t)__popc(__ballot_sync(~0u, fresh));
        }
    };
    for (uint32_t p = begin; p < end && total <= table.most; p += WARP) {
        const entry_pack pack = read_pack(job, p + lane, end);
        const uint32_t here = min(end - p, (uint32_t)WARP);
        uint32_t column = 0;
        bool some = false;
        for (uint32_t first = 0; first < here; first += together) {
            const uint32_t e = first + lane / lanes;
            const uint32_t at = __shfl_sync(~0u, pack.at, e % WARP);
            uint32_t length = __shfl_sync(~0u, pack.length, e % WARP);
            length = e < here ? length : 0;
            const uint32_t longest = lanes == WARP ? length : __reduce_max_sync(~0u, length);
            for (uint32_t q = 0; q < longest && total <= table.most; q += lanes) {
                const bool more = q + sub < length; /* loads the next column before it adds the last one */
                const uint32_t next = more ? __ldg(job.B.col + (at + q + sub)) : 0;
                put(some, column);
                column = next, some = more;
            }
        }
        if (total <= table.most) {
            put(some, column);
        }
    }
    __syncwarp();
    return total;
}

/* The rows to count. Rows that overflow the table are listed for the next kernel. */
struct hash_counting {
    const uint32_t *rows, *count;
    uint32_t *again, *again_count;
};

template <int BITS> __global__ void __launch_bounds__(HASH_NT) kernel_hash_count(spg_job job, hash_counting work) {
    LSP_DYNAMIC_SHARED(memory);
    const uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, i = blockIdx.x * HASH_WARPS + warp;
    hash_table<BITS> &table = ((hash_table<BITS> *)memory)[warp];
    if (i >= *work.count) {
        return;
    }
    const uint32_t row = work.rows[i];
    table.clear();
    const uint32_t groups = hash_collect<BITS>(job, row, table);
    if (groups > table.most) {
        if (lane == 0) {
            work.again[atomicAdd(work.again_count, 1u)] = row;
        }
        return;
    }
    uint32_t sum = 0;
    for (int k = (int)lane; k < table.slots; k += WARP) {
        sum += (uint32_t)__popc(table.at((uint32_t)k).marks);
    }
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0) {
        job.rowptr[row + 1] = sum;
    }
}

#endif
