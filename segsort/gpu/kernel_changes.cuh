/* Finds where sorted keys change, for each segment: flags, places and their number. Keys are read once. A block takes a
 * row of segments and goes through their items as one sequence. Longer segments are cut into chunks; the changes before
 * a chunk come by look_back: each chunk first publishes its own count, later the sum up to its end. */
#pragma once

#include "core/launch.cuh"
#include "kernel_giants.cuh"

enum {
    CHANGE_NT = 256,
    CHANGE_WARPS = CHANGE_NT / WARP,
    CHANGE_ROW = 4,                       /* items of a thread at a time, in a row of segments */
    CHANGE_LONGEST = 1024,                /* items: longer segments are cut into chunks */
    CHANGE_VT = 8,                        /* items of a thread in a chunk */
    CHANGE_CHUNK = CHANGE_NT * CHANGE_VT, /* items of a chunk */
    CHANGE_BLOCKS = 8                     /* blocks for each multiprocessor */
};

/* A segment that is cut into chunks; unit: the number of chunks of the segments listed before it. */
typedef struct long_segment {
    int64_t segment, unit;
} long_segment;

__host__ __device__ inline int64_t long_segments_most(int64_t n) { return n / (CHANGE_LONGEST + 1) + 1; }
__host__ __device__ inline int64_t change_chunks_most(int64_t n) { return n / CHANGE_CHUNK + long_segments_most(n); }

/* ---- building blocks ---- */

/* Does the key at `at` differ from the one before it? */
template <typename K> __device__ inline bool key_changes(const seg_job &job, int64_t at) {
    const K *keys = (const K *)job.arrays[FROM_OUTPUT].keys;
    return number_of_key(keys[at], job.order) != number_of_key(keys[at - 1], job.order);
}

__device__ inline void index_put(const seg_job &job, void *array, int64_t i, int64_t value) {
    index_set(array, job.wide_offsets, i, value);
}

/* rank[j] = the number of ones before this thread's item j; returns the number of ones in the block. Bit j of `one`
 * is item j; a warp's items are neighbours, row j behind row j - 1. */
template <int VT> __device__ unsigned rank_ones(unsigned one, unsigned (&rank)[VT]) {
    __shared__ unsigned sums[CHANGE_WARPS];
    const unsigned below = (1u << threadIdx.x % WARP) - 1;
    unsigned sum = 0, total;
#pragma unroll
    for (int j = 0; j < VT; j++) {
        const unsigned ones = __ballot_sync(~0u, (one >> j & 1) != 0);
        rank[j] = sum + (unsigned)__popc(ones & below);
        sum += (unsigned)__popc(ones);
    }
    sums[threadIdx.x / WARP] = sum;
    const unsigned before = warps_before(sums, CHANGE_WARPS, (int)threadIdx.x / WARP, &total);
#pragma unroll
    for (int j = 0; j < VT; j++) {
        rank[j] += before;
    }
    return total;
}

/* ---- rows of segments ---- */

typedef struct change_row {
    unsigned first[CHANGE_NT + 1]; /* the number of a segment's first item in the row's sequence */
    unsigned start[CHANGE_NT];     /* ones before that item */
    int64_t begin[CHANGE_NT];
} change_row;

/* Thread t reads segment first_segment + t of the row, and lists it if it is long. Returns the items of the others. */
__device__ inline unsigned lay_row(const seg_job &job, change_row &row, int64_t first_segment, int segments) {
    const int t = (int)threadIdx.x;
    const int64_t s = first_segment + t;
    int64_t begin = 0, end = 0;
    if (t < segments && s < job.segments) {
        segment_at(job, s, &begin, &end);
        if (end - begin > CHANGE_LONGEST) {
            const ull chunks = (ull)((end - begin + CHANGE_CHUNK - 1) / CHANGE_CHUNK);
            const ull before = atomicAdd(&job.counters->long_segments, chunks << 32 | 1);
            const long_segment entry = {s, (int64_t)(before >> 32)};
            const int64_t at = (int64_t)(before & 0xFFFFFFFF);
            if (at < long_segments_most(job.n)) {
                ((long_segment *)job.changes)[at] = entry;
            } else { /* too many: some overlap */
                *job.fault = s + 1;
            }
            end = begin;
        } else if (end == begin && job.change_count) {
            index_put(job, job.change_count, s, 0);
        }
    }
    __shared__ unsigned sums[CHANGE_WARPS];
    unsigned items = (unsigned)(end - begin), total;
    row.first[t + 1] = items + block_scan(items, sums, &total);
    row.begin[t] = begin;
    if (t == 0) {
        row.first[0] = 0;
    }
    __syncthreads();
    return total;
}

/* The segment of the row that has item i: a binary search. */
__device__ inline int row_segment(const change_row &row, unsigned i) {
    int t = 0;
#pragma unroll
    for (int step = CHANGE_NT / 2; step > 0; step /= 2) {
        t += row.first[t + step] <= i ? step : 0;
    }
    return t;
}

template <typename K>
__global__ void __launch_bounds__(CHANGE_NT) kernel_changes(const __grid_constant__ seg_job job, int segments) {
    __shared__ change_row row;
    for (int64_t s = (int64_t)blockIdx.x * segments; s < job.segments; s += (int64_t)gridDim.x * segments) {
        const unsigned items = lay_row(job, row, s, segments);
        unsigned ones = 0;
        for (unsigned i = threadIdx.x / WARP * WARP * CHANGE_ROW + threadIdx.x % WARP, done = 0; done < items;
             i += CHANGE_NT * CHANGE_ROW, done += CHANGE_NT * CHANGE_ROW) {
            unsigned one = 0, rank[CHANGE_ROW];
            int segment[CHANGE_ROW];
#pragma unroll
            for (int j = 0; j < CHANGE_ROW; j++) {
                const unsigned place = i + j * WARP;
                segment[j] = row_segment(row, place);
                const unsigned in_segment = place - row.first[segment[j]];
                const int64_t at = row.begin[segment[j]] + in_segment;
                if (place < items) {
                    const bool changes = in_segment == 0 || key_changes<K>(job, at);
                    one |= (unsigned)changes << j;
                    if (job.change) {
                        job.change[at] = changes;
                    }
                }
            }
            if (!job.change_at && !job.change_count) {
                continue;
            }
            const unsigned total = rank_ones(one, rank);
#pragma unroll
            for (int j = 0; j < CHANGE_ROW; j++) {
                rank[j] += ones;
                if (i + j * WARP < items && i + j * WARP == row.first[segment[j]]) {
                    row.start[segment[j]] = rank[j];
                }
            }
            ones += total;
            __syncthreads();
#pragma unroll
            for (int j = 0; j < CHANGE_ROW; j++) {
                const unsigned place = i + j * WARP, t = (unsigned)segment[j], changes = one >> j & 1;
                if (place < items) {
                    const int64_t begin = row.begin[t], in_segment = place - row.first[t];
                    const unsigned before = rank[j] - row.start[t];
                    if (changes && job.change_at) {
                        index_put(job, job.change_at, begin + before, begin + in_segment);
                    }
                    if (place + 1 == row.first[t + 1] && job.change_count) {
                        index_put(job, job.change_count, s + t, before + changes);
                    }
                }
            }
        }
        __syncthreads();
    }
}

/* ---- chunks of long segments ---- */

/* The next chunk that no block has taken; they are taken in order, so no chunk waits for one not yet taken. */
__device__ inline int64_t take_chunk(ull *next) {
    __shared__ int64_t taken;
    __syncthreads();
    if (threadIdx.x == 0) {
        taken = (int64_t)atomicAdd(next, 1ull);
    }
    __syncthreads();
    return taken;
}

/* Publishes the ones of chunk k; returns those in the chunks before it. */
__device__ inline int64_t ones_before(ull *published, int64_t k, unsigned total) {
    __shared__ int64_t sum;
    if (threadIdx.x < WARP) {
        if (threadIdx.x == 0 && k > 0) {
            __stcg(&published[k], (ull)total << 2 | LOOK_COUNTED);
        }
        const int64_t before = (int64_t)look_back(published, k, total);
        if (threadIdx.x == 0) {
            sum = before;
        }
    }
    __syncthreads();
    return sum;
}

template <typename K>
__global__ void __launch_bounds__(CHANGE_NT, 5) kernel_long_changes(const __grid_constant__ seg_job job) {
    const long_segment *list = (const long_segment *)job.changes;
    ull *published = job.changes + 2 * long_segments_most(job.n);
    const int64_t count = min((int64_t)(job.counters->long_segments & 0xFFFFFFFF), long_segments_most(job.n));
    const int64_t chunks = min((int64_t)(job.counters->long_segments >> 32), change_chunks_most(job.n));
    for (int64_t taken; (taken = take_chunk(&job.counters->chunk)) < chunks;) {
        const long_segment entry = list[begun_by(list, count, taken)];
        int64_t begin, end;
        segment_at(job, entry.segment, &begin, &end);
        const int64_t first = begin + (taken - entry.unit) * CHANGE_CHUNK;
        const int64_t at = first + threadIdx.x / WARP * WARP * CHANGE_VT + threadIdx.x % WARP;
        unsigned one = 0, rank[CHANGE_VT];
#pragma unroll
        for (int j = 0; j < CHANGE_VT; j++) {
            if (at + j * WARP < end) {
                const bool changes = at + j * WARP == begin || key_changes<K>(job, at + j * WARP);
                one |= (unsigned)changes << j;
                if (job.change) {
                    job.change[at + j * WARP] = changes;
                }
            }
        }
        if (!job.change_at && !job.change_count) {
            continue;
        }
        const unsigned total = rank_ones(one, rank);
        const int64_t before = ones_before(published + entry.unit, taken - entry.unit, total);
        if (threadIdx.x == 0 && job.change_count && end - first <= CHANGE_CHUNK) {
            index_put(job, job.change_count, entry.segment, before + total);
        }
#pragma unroll
        for (int j = 0; job.change_at && j < CHANGE_VT; j++) {
            if (one >> j & 1) {
                index_put(job, job.change_at, begin + before + rank[j], at + j * WARP);
            }
        }
    }
}

/* ---- the host's side ---- */

/* 64-bit words of scratch: the list of long segments, and what the chunks publish. */
static int64_t changes_words(const lsp_segsort_args *args) {
    return 2 * long_segments_most(args->n) + change_chunks_most(args->n);
}

template <typename K> static lsp_status start_changes(lsp_ctx *ctx, const seg_job *job) {
    const int64_t blocks = (int64_t)CHANGE_BLOCKS * lsp_cuda_get_chip(ctx)->sms;
    const int64_t segments = lsp_max(lsp_min(job->segments / (2 * blocks), CHANGE_NT), 1);
    const int64_t rows = lsp_min(lsp_ceil_div(job->segments, segments), 64 * blocks);
    const int64_t chunks = change_chunks_most(job->n);
    LSP_TRY(LSP_LAUNCH(ctx, kernel_changes<K>, rows, CHANGE_NT, 0, *job, (int)segments));
    if (job->longest > CHANGE_LONGEST) {
        LSP_TRY(
            lsp_cuda_clear(ctx, job->changes + 2 * long_segments_most(job->n), chunks * (int64_t)sizeof *job->changes));
        LSP_TRY(LSP_LAUNCH(ctx, kernel_long_changes<K>, lsp_min(blocks, chunks), CHANGE_NT, 0, *job));
    }
    return LSP_OK;
}
