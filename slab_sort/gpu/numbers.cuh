/* The stable sort of keys in shared memory by a block. A word has the leading bits of a key's number, less the smallest
 * number, above the key's place. Words are distinct, so the network sorts them stably. Keys whose words have equal
 * leading bits may be out of order: short runs of them are repaired by insertion; if there is a long one, the block
 * starts again and sorts by one digit of the number after the other, the lowest first. */
#pragma once

#include "job.cuh"
#include "words.cuh"

__host__ __device__ constexpr int slab_log(int x) { return x <= 1 ? 0 : 1 + slab_log(x / 2); }

/* A block's arrays in shared memory. DIRECT: 4-byte keys whose equals need not be told apart: the words are the
 * numbers, and there are no keys. */
template <typename KK, bool DIRECT, int NT> struct number_sorter {
    typedef typename KK::K K;
    enum { WARPS = NT / WARP, REACH = 16 /* words; a run that reaches farther from a fall is long */ };
    struct shared {
        K low[WARPS], high[WARPS];
    };
    K *keys;
    uint32_t *words;
    uint16_t *order;
    shared *sh;
    const lsp_key_order *rules;
    const network_ones *ones;

    __device__ K number(K key) const { return KK::number(key, *rules); }

    /* The smallest number, and the bits of the largest one less it. */
    __device__ int find_range(int count, K *lowest) const {
        const int t = (int)threadIdx.x;
        K low = (K)-1, high = 0;
#pragma unroll 1
        for (int i = t; i < count; i += NT) {
            const K x = number(keys[i]);
            low = min(low, x), high = max(high, x);
        }
        if constexpr (sizeof(K) == 4) {
            low = __reduce_min_sync(~0u, low), high = __reduce_max_sync(~0u, high);
        } else {
            low = ~warp_max((K)~low), high = warp_max(high);
        }
        if (t % WARP == 0) {
            sh->low[t / WARP] = low, sh->high[t / WARP] = high;
        }
        __syncthreads();
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            low = min(low, sh->low[w]), high = max(high, sh->high[w]);
        }
        *lowest = low;
        return high > low ? 64 - __clzll((long long)(high - low)) : 0;
    }

    /* x in `bits` bits, with the order kept but for rounding: as a float with an exponent of 6 bits. Of a skewed sample
     * it keeps more than the leading bits would. */
    static __device__ uint32_t rounded(K x, int bits) {
        const int length = 64 - __clzll((long long)x), m = bits - 6, over = length - 1 - m;
        return over < 0 ? (uint32_t)x : (uint32_t)(over + 1) << m | ((uint32_t)(x >> over) & ((1u << m) - 1));
    }

    /* ---- words with equal leading bits; R: words of a thread ---- */

    /* Sorted words with the place of a key in the lower `bits` bits. */
    template <int R> struct sorted_words {
        const number_sorter &s;
        int bits;
        __device__ uint32_t &word(int j) const { return s.words[word_sorter<R, NT>::place(j)]; }
        __device__ int at(int j) const { return (int)(word(j) & ((1u << bits) - 1)); }
        __device__ K number(int j) const { return s.number(s.keys[at(j)]); }
        __device__ bool same(int i, int j) const { return (word(i) ^ word(j)) >> bits == 0; }
        __device__ bool falls(int j) const { return same(j, j + 1) && number(j) > number(j + 1); }
    };

    /* Finds the thread's falls: bit r of *falls says that the key behind word r NT + t is smaller. Returns 0 if no
     * thread has one, 2 if some are within a long run, else 1. */
    template <int R> __device__ int find_falls(const sorted_words<R> &w, int count, unsigned *falls) const {
        bool far = false;
        *falls = 0;
#pragma unroll 1
        for (int j = (int)threadIdx.x, r = 0; j + 1 < count; j += NT, r++) {
            if (w.falls(j)) {
                *falls |= 1u << r;
                far |= (j >= REACH && w.same(j - REACH, j)) || (j + 1 + REACH < count && w.same(j, j + 1 + REACH));
            }
        }
        return !__syncthreads_or(*falls != 0) ? 0 : __syncthreads_or(far) ? 2 : 1;
    }
    /* Sorts the short runs that hold falls, each by insertion and by the thread with its first fall. */
    template <int R> __device__ void repair(const sorted_words<R> &w, int count, unsigned falls) const {
        unsigned mine = 0;
#pragma unroll 1
        for (; falls != 0; falls &= falls - 1) {
            const int fall = (int)threadIdx.x + (__ffs((int)falls) - 1) * NT;
            bool first = true;
#pragma unroll 1
            for (int i = fall - 1; first && i >= 0 && w.same(i, fall); i--) {
                first = !w.falls(i);
            }
            mine |= first ? falls & (0u - falls) : 0;
        }
        __syncthreads();
#pragma unroll 1
        for (; mine != 0; mine &= mine - 1) {
            const int fall = (int)threadIdx.x + (__ffs((int)mine) - 1) * NT;
            int begin = fall; /* leading bits stay while words of the run move */
#pragma unroll 1
            while (begin > 0 && w.same(begin - 1, fall)) {
                begin--;
            }
#pragma unroll 1
            for (int j = fall + 1; j < count && w.same(j, fall); j++) {
                const uint32_t moving = w.word(j);
                const K x = w.number(j);
                int i = j;
#pragma unroll 1
                for (; i > begin && w.number(i - 1) > x; i--) {
                    w.word(i) = w.word(i - 1);
                }
                w.word(i) = moving;
            }
        }
        __syncthreads();
    }

    /* ---- the sort ---- */

    /* order[] becomes the order of the digits sorted so far: its elements at the places in the words. */
    template <int R> __device__ void follow(const sorted_words<R> &w, int count) const {
        const int t = (int)threadIdx.x;
        uint16_t mine[R];
#pragma unroll
        for (int r = 0; r < R; r++) {
            mine[r] = r * NT + t < count ? order[w.at(r * NT + t)] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < R; r++) {
            if (r * NT + t < count) {
                order[r * NT + t] = mine[r];
                w.word(r * NT + t) = mine[r];
            }
        }
        __syncthreads();
    }

    /* Sorts keys[0 .. count-1], or the words if DIRECT; count <= R NT. Returns the sorted words: at(j) is the index of
     * the j-th key; if DIRECT word(j) is the j-th number. loose: keys whose words have equal leading bits may stay out
     * of order. All threads call it, after a barrier; it ends with one. */
    template <int R> __device__ sorted_words<R> sort(int count, bool loose) const {
        typedef word_sorter<R, NT> sorter;
        const int t = (int)threadIdx.x, slab = sorter::SLAB, pads = min(R * NT, (count + slab - 1) / slab * slab);
        const sorted_words<R> w = {*this, DIRECT ? 32 : 32 - __clz(count - 1)}; /* of places */
        if constexpr (DIRECT) {
            for (int i = count + t; i < pads; i += NT) {
                w.word(i) = ~0u;
            }
            __syncthreads();
            sorter::sort(words, count, *ones);
            __syncthreads();
        } else {
            K low;
            const int bits = find_range(count, &low), left = 32 - w.bits;
            int shift = max(bits - left, 0);
            bool digits = false;
#pragma unroll 1
            for (bool going = true; going;) {
#pragma unroll(R > 8 ? 4 : 1)
                for (int i = t; i < pads; i += NT) {
                    uint32_t word = ~0u;
                    if (i < count) {
                        const K x = number(keys[digits ? order[i] : i]) - low;
                        word = (loose ? rounded(x, left) : (uint32_t)(x >> shift)) << w.bits | (uint32_t)i;
                    }
                    w.word(i) = word;
                }
                __syncthreads();
                sorter::sort(words, count, *ones);
                __syncthreads();
                if (digits) {
                    follow(w, count);
                    shift += left;
                    going = shift < bits;
                } else if (loose || shift == 0) {
                    going = false;
                } else {
                    unsigned falls;
                    const int found = find_falls(w, count, &falls);
                    going = digits = found == 2;
                    shift = 0;
                    if (found == 1) {
                        repair(w, count, falls);
                    }
#pragma unroll 1
                    for (int i = t; going && i < count; i += NT) {
                        order[i] = (uint16_t)i;
                    }
                    __syncthreads();
                }
            }
        }
        return w;
    }
};
