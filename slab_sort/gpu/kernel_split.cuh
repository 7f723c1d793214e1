/* Sorts an array by one split, in one launch of P blocks that run together. Every block sorts the same sample of the
 * whole array, which gives the splitters of Q buckets, EACH for a block. Block b moves its chunk to scratch, grouped by
 * bucket, and writes where each group begins. After the one barrier of the grid, it reads each of its buckets from all
 * chunks, sorts it in shared memory, and writes it where it belongs.
 *
 * Items are ordered by (number of the key, index), so splitters differ even if keys are equal, and each group keeps the
 * order of its items: the sort is stable. Without values, equal integers need no order (DIRECT): those that equal
 * several splitters are dealt to their buckets by a hash. */
#pragma once

#include "numbers.cuh"
#include <cooperative_groups.h>

enum { SPLIT_BLOCKS_MOST = 128 };

typedef struct split_job {
    slab_job sort;
    int samples;
    void *keys;      /* scratch: n keys, by chunk and bucket */
    char *values;    /* their values */
    uint32_t *table; /* row k: where the bucket k begins in each chunk */
} split_job;

template <typename S, typename K, bool DIRECT, int MOST> struct split_shared {
    typename S::shared sorter;
    union {
        struct {
            K splitter[MOST];
            int at[MOST], offset[MOST]; /* index of a splitter; begin of a bucket in the chunk */
            unsigned char first[MOST];  /* the first splitter with an equal number */
        };
        struct {
            int begin[MOST + 1], shift[MOST]; /* of a chunk's items in the bucket; from there to a place in the chunk */
        };
    };
    int sums[S::WARPS], starts[MOST / WARP];
    int count[DIRECT ? MOST : 1]; /* items of a bucket */
};

/* ---- samples and buckets ---- */

__device__ inline uint32_t split_hash(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}
/* The index of sample s: a hashed place in the s-th of equal parts of the array. samples is a power of two. */
__device__ inline int split_sample_at(int n, int samples, int s) {
    const int log = 31 - __clz(samples);
    const int from = (int)((uint64_t)n * (uint32_t)s >> log), to = (int)((uint64_t)n * (uint32_t)(s + 1) >> log);
    return min(n - 1, from + (int)__umulhi(split_hash((uint32_t)s), (uint32_t)(to - from)));
}

/* The bucket of the item with number x and this index: the number of splitters up to it. */
template <bool DIRECT, typename SH, typename K>
__device__ inline int split_bucket(const SH &sh, int Q, K x, int index) {
    int c = 0;
    for (int d = Q / 2; d >= 1; d /= 2) {
        c += sh.splitter[c + d - 1] <= x ? d : 0;
    }
    if (c > 0 && sh.splitter[c - 1] == x) {
        const int first = sh.first[c - 1];
        if constexpr (DIRECT) { /* not the bucket `first`, which has smaller items too */
            c = first + 1 + (int)__umulhi(split_hash((uint32_t)index), (uint32_t)(c - first));
        } else {
            c = LSP_FIRST(first, c, middle, sh.at[middle] > index);
        }
    }
    return c;
}

/* A block at work. Thread t has items of the chunk: of each warp they are neighbours. */
template <typename KK, bool DIRECT, int R, int NT, int EACH> struct split_block {
    typedef typename KK::K K;
    typedef number_sorter<KK, DIRECT, NT> sorter_type;
    enum { WARPS = NT / WARP, ROOM = R * NT, ROWS = R / 2 * EACH, HALF = ROOM / 2, MOST = SPLIT_BLOCKS_MOST * EACH };
    typedef split_shared<sorter_type, K, DIRECT, MOST> shared_type;
    const split_job &job;
    shared_type &sh;
    sorter_type s;
    int P, Q, b, t, warp, lane, n, chunk; /* blocks, buckets, this block; items of a chunk */

    __device__ K number(K key) const { return KK::number(key, job.sort.order); }

    /* ---- before the barrier ---- */

    /* Sorts the sample and sets the splitters. */
    __device__ void find_splitters() const {
        enum { WORDS = EACH > 1 ? R : 4 }; /* of a thread: the sample grows with the buckets */
        typedef word_sorter<WORDS, NT> sorter;
        const K *keys = (const K *)job.sort.keys;
#pragma unroll 1
        for (int i = t; i < job.samples; i += NT) {
            const K key = keys[split_sample_at(n, job.samples, i)];
            if constexpr (DIRECT) {
                s.words[sorter::place(i)] = number(key);
            } else {
                s.keys[i] = key;
            }
        }
        __syncthreads();
#pragma unroll 1
        for (bool loose = true, wrong = true; wrong; loose = false) {
            const auto sample = s.template sort<WORDS>(job.samples, loose);
            if (t < MOST) {
                const int j = (t + 1) * (job.samples / Q);
                const bool is = t < Q - 1;
                sh.splitter[t] = !is ? (K)-1 : DIRECT ? (K)sample.word(j) : sample.number(j);
                sh.at[t] = DIRECT || !is ? n : split_sample_at(n, job.samples, sample.at(j));
            }
            __syncthreads();
            const K x = sh.splitter[t < Q - 1 ? t : 0], next = sh.splitter[t < Q - 1 ? t + 1 : 0];
            if (t < Q - 1) {
                sh.first[t] = (unsigned char)LSP_FIRST(0, t, middle, sh.splitter[middle] >= x);
            }
            wrong = __syncthreads_or(!DIRECT && t < Q - 1 && (x > next || (x == next && sh.at[t] > sh.at[t + 1]))) != 0;
        }
    }

    /* Exclusive prefix sums of the counts of the first MOST threads. */
    __device__ int sum_buckets(int count) const {
        const int sum = warp_scan(count, lane);
        if (lane == WARP - 1) {
            sh.starts[warp] = sum;
        }
        lsp_barrier(1, MOST);
        int before = sum - count;
        for (int w = 0; w < warp; w++) {
            before += sh.starts[w];
        }
        return before;
    }

    /* Numbers the items of each bucket: place[r] becomes (bucket, number of the item in the warp's part of it), and
     * counts[] of the warp the number of items in earlier warps. DIRECT: the number of the item in the bucket, in no
     * certain order. Sets sh.offset and writes the table. */
    __device__ void number_items(const K (&key)[ROWS], int first, int rows, int end, uint32_t (&place)[ROWS]) const {
        uint16_t *const counts = s.order + warp * Q;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int i = first + r * WARP;
            if (r < rows) {
                const int bucket = i < end ? split_bucket<DIRECT>(sh, Q, number(key[r]), i) : Q;
                if constexpr (DIRECT) {
                    place[r] = i < end ? (uint32_t)bucket << 16 | (uint32_t)atomicAdd(&sh.count[bucket], 1) : 0;
                } else {
                    const unsigned same = __match_any_sync(~0u, (unsigned)bucket), lower = same & ((1u << lane) - 1);
                    const int before = i < end ? counts[bucket] : 0;
                    __syncwarp();
                    if (lower == 0 && i < end) {
                        counts[bucket] = (uint16_t)(before + __popc(same));
                    }
                    __syncwarp();
                    place[r] = (uint32_t)bucket << 16 | (uint32_t)(before + __popc(lower));
                }
            }
        }
        __syncthreads();
        if (t < MOST) {
            int sum = 0;
            if constexpr (DIRECT) {
                sum = sh.count[t];
            } else if (t < Q) {
#pragma unroll
                for (int w = 0; w < WARPS; w++) {
                    const int count = s.order[w * Q + t];
                    s.order[w * Q + t] = (uint16_t)sum;
                    sum += count;
                }
            }
            const int before = sum_buckets(sum);
            sh.offset[t] = before;
            if (t > 0 && t < Q) {
                job.table[t * P + b] = (uint32_t)before;
            }
        }
        __syncthreads();
    }

    /* Moves the chunk to scratch, grouped by bucket. */
    __device__ void split_chunk() const {
        const K *keys = (const K *)job.sort.keys;
        const int begin = min(b * chunk, n), end = min(begin + chunk, n), rows = (chunk + NT - 1) / NT;
        const int first = begin + warp * WARP * rows + lane, bytes = job.sort.value_bytes;
        K key[ROWS];
        uint32_t place[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) { /* all are read before the sample is sorted */
            key[r] = r < rows && first + r * WARP < end ? keys[first + r * WARP] : (K)0;
        }
        if (DIRECT && t < MOST) {
            sh.count[t] = 0;
        }
        find_splitters();
#pragma unroll 1
        for (int i = t; !DIRECT && i < WARPS * Q; i += NT) {
            s.order[i] = 0;
        }
        __syncthreads();
        number_items(key, first, rows, end, place);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int bucket = (int)(place[r] >> 16);
            if (r < rows && first + r * WARP < end) {
                const int to = sh.offset[bucket] + (int)(place[r] & 0xFFFF) + (DIRECT ? 0 : s.order[warp * Q + bucket]);
                if constexpr (DIRECT) {
                    s.words[to] = number(key[r]);
                } else {
                    s.keys[to] = key[r];
                    s.words[to] = (uint32_t)(first + r * WARP);
                }
            }
        }
        __syncthreads();
        const int64_t to = (int64_t)b * chunk;
#pragma unroll(R > 8 ? 4 : 1)
        for (int i = t; i < end - begin; i += NT) {
            ((K *)job.keys)[to + i] = DIRECT ? (K)s.words[i] : s.keys[i];
            if (bytes > 0 && job.sort.positions) {
                slab_put_position(bytes, job.values, to + i, (int)s.words[i]);
            } else if (bytes > 0) {
                slab_move_value<false>(bytes, job.values, to + i, job.sort.values, (int)s.words[i]);
            }
        }
    }

    /* ---- after the barrier ---- */

    /* Finds the items of bucket k in all chunks. Returns their number; *start: the items in earlier buckets. */
    __device__ int find_bucket(int k, int *start) const {
        const int low = t < P && k > 0 ? (int)__ldcg(job.table + k * P + t) : 0;
        const int high = t >= P      ? 0
                         : k < Q - 1 ? (int)__ldcg(job.table + (k + 1) * P + t)
                                     : max(min(n - t * chunk, chunk), 0);
        if (t < MOST) {
            const int before = sum_buckets(high - low), sum = warp_sum(low);
            sh.begin[t + 1] = before + high - low;
            sh.shift[t] = low - before;
            if (lane == 0) {
                sh.sums[warp] = sum;
            }
            if (t == 0) {
                sh.begin[0] = 0;
            }
        }
        __syncthreads();
        *start = 0;
        for (int w = 0; w < MOST / WARP; w++) {
            *start += sh.sums[w];
        }
        return sh.begin[MOST];
    }

    /* Where item i of the bucket lies in scratch. */
    __device__ int64_t address(int i) const {
        int c = 0;
        for (int d = P / 2; d >= 1; d /= 2) {
            c += sh.begin[c + d] <= i ? d : 0;
        }
        return (int64_t)c * chunk + sh.shift[c] + i;
    }
    __device__ K bucket_key(int i) const { return __ldcg((const K *)job.keys + address(i)); }
    /* DIRECT: what lies in scratch are numbers already. */
    __device__ K bucket_number(K x) const { return DIRECT ? x : number(x); }

    __device__ void take(int i, K x) const {
        if constexpr (DIRECT) {
            s.words[word_sorter<R, NT>::place(i)] = x;
        } else {
            s.keys[i] = x;
        }
    }

    /* Writes item `from` of the bucket, whose key or number is x, as item `to` of the array. */
    __device__ void write_item(int64_t to, int from, K x) const {
        const int bytes = job.sort.value_bytes;
        if (job.sort.keys_out) {
            ((K *)job.sort.keys_out)[to] = DIRECT ? x ^ (K)job.sort.order.bias : x;
        }
        if (!DIRECT && bytes > 0) {
            slab_move_value<true>(bytes, job.sort.values_out, to, job.values, address(from));
        }
    }

    /* Writes the sorted items. part: they were collected, and note their places in the bucket behind HALF keys. */
    __device__ void write_sorted(const typename sorter_type::template sorted_words<R> &w, int64_t to, int count,
                                 bool part) const {
#pragma unroll 4
        for (int r = 0; r < R; r++) {
            const int j = r * NT + t;
            if (j < count) {
                const int from = DIRECT ? (int)w.word(j) : w.at(j);
                write_item(to + j, part ? (int)((const uint32_t *)(s.keys + HALF))[from] : from,
                           DIRECT ? (K)from : s.keys[from]);
            }
        }
    }

    /* Calls act(rank, i, key) for the items i of the bucket with wanted(number), in their order. Returns how many. */
    template <typename W, typename A> __device__ int each_wanted(int total, W wanted, A act) const {
        int before = 0;
#pragma unroll 1
        for (int i = t; i - t < total; i += NT) {
            const K x = bucket_key(min(i, total - 1));
            const bool is = i < total && wanted(bucket_number(x));
            int all;
            const int rank = before + block_scan((int)is, sh.sums, &all);
            if (is) {
                act(rank, i, x);
            }
            before += all;
        }
        return before;
    }

    /* Collects up to HALF items with low <= number, and number < high if `bounded`: of those every stride-th. Returns
     * how many there are, stride by stride. */
    __device__ int collect(int total, K low, K high, bool bounded, int stride) const {
        const int found = each_wanted(
            total, [&](K x) { return x >= low && (!bounded || x < high); },
            [&](int rank, int i, K x) {
                const int to = rank / stride;
                if (to * stride == rank && to < HALF) {
                    take(to, x);
                    if constexpr (!DIRECT) {
                        ((uint32_t *)(s.keys + HALF))[to] = (uint32_t)i;
                    }
                }
            });
        __syncthreads();
        return (found + stride - 1) / stride;
    }

    /* Sorts bucket k. One that does not fit the room is sorted range by range: a sample gives the upper end `high` of
     * the next range, whose items are collected, sorted and written; if it has too many, their median is the next try.
     * The items equal to `high` follow in their order, and need no room. So each turn ends in fewer items or a shorter
     * range. */
    __device__ void sort_bucket(int k) const {
        int start;
        const int total = find_bucket(k, &start);
        K low = 0, high = 0;
        bool bounded = false;
#pragma unroll 1
        for (int done = 0; done < total;) {
            const bool whole = total <= ROOM;
            const int stride = bounded || whole ? 1 : (total - done + HALF - 1) / HALF;
            int got = total;
            if (whole) {
#pragma unroll 4
                for (int r = 0; r < R; r++) {
                    if (r * NT + t < total) {
                        take(r * NT + t, bucket_key(r * NT + t));
                    }
                }
                __syncthreads();
            } else {
                got = collect(total, low, high, bounded, stride);
            }
            const int sorted = whole ? total : min(got, (int)HALF);
            const auto w = s.template sort<R>(sorted, false);
            if (stride == 1 && got == sorted) {
                write_sorted(w, (int64_t)start + done, sorted, !whole);
                done += got;
                if (bounded) {
                    const int64_t to = (int64_t)start + done;
                    done += each_wanted(
                        total, [&](K x) { return x == high; },
                        [&](int rank, int i, K x) { write_item(to + rank, i, x); });
                    low = high + 1;
                    bounded = false;
                }
            } else {
                const int j = stride > 1 ? min(sorted - 1, 3 * HALF / 4 / stride) : HALF / 2;
                high = DIRECT ? (K)w.word(j) : w.number(j);
                bounded = true;
            }
            __syncthreads();
        }
    }
};

template <typename KK, bool DIRECT, int R, int NT, int EACH>
__global__ void __launch_bounds__(NT, 1) kernel_split(const __grid_constant__ split_job job) {
    typedef split_block<KK, DIRECT, R, NT, EACH> block;
    LSP_DYNAMIC_SHARED(split_memory);
    __shared__ typename block::shared_type sh;
    const int P = (int)gridDim.x, n = job.sort.n, t = (int)threadIdx.x;
    typename KK::K *keys = (typename KK::K *)split_memory;
    uint32_t *words = (uint32_t *)(split_memory + (DIRECT ? 0 : block::ROOM * sizeof(typename KK::K)));
    const typename block::sorter_type s = {keys,       words,           (uint16_t *)(words + block::ROOM),
                                           &sh.sorter, &job.sort.order, &job.sort.ones};
    const block here = {job, sh, s, P, P * EACH, (int)blockIdx.x, t, t / WARP, t % WARP, n, (n + P - 1) / P};
    here.split_chunk();
    cooperative_groups::this_grid().sync();
#pragma unroll 1
    for (int k = 0; k < EACH; k++) {
        here.sort_bucket(here.b * EACH + k);
        __syncthreads(); /* an empty bucket has no barrier of its own */
    }
}
