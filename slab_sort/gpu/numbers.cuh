/* The stable sort of keys in shared memory by a block. A word has the leading bits of a key's number, less the smallest
 * number, above the key's place. Words are distinct, so the network sorts them stably. Keys whose words have equal
 * leading bits may be out of order: short runs of them are repaired by insertion; if there is a long one, the block
 * starts again and sorts by one digit of the number after the other, the lowest first. */
#ifndef LSP_SLAB_SORT_GPU_NUMBERS_CUH
#define LSP_SLAB_SORT_GPU_NUMBERS_CUH

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

    __device__ K number(K key) const { return KK::number(key, *rules); }

    /* The smallest number, and the bits of the largest one less it. */
    __device__ int find_range(int count, K *lowest) const {
        const int t = (int)threadIdx.x;
        K low = (K)-1, high = 0;
        for (int i = t; i < count; i += NT) {
            const K x = number(keys[i]);
            low = min(low, x), high = max(high, x);
        }
        low = ~warp_max((K)~low), high = warp_max(high);
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

    /* ---- words with equal leading bits; R: words of a thread ---- */

    template <int R> struct ties {
        enum { BITS = slab_log(R * NT), MASK = R * NT - 1 };
        const number_sorter &s;
        __device__ uint32_t &word(int j) const { return s.words[word_sorter<R, NT>::place(j)]; }
        __device__ K number(int j) const { return s.number(s.keys[word(j) & MASK]); }
        __device__ bool same(int i, int j) const { return (word(i) ^ word(j)) >> BITS == 0; }
        __device__ bool falls(int j) const { return same(j, j + 1) && number(j) > number(j + 1); }
    };
    /* 0: all keys are in order; 1: short runs are not; 2: nor is a long one. */
    template <int R> __device__ int find_falls(int count) const {
        const ties<R> at = {*this};
        bool fall = false, far = false;
        for (int j = (int)threadIdx.x; j + 1 < count; j += NT) {
            if (at.falls(j)) {
                fall = true;
                far |= (j >= REACH && at.same(j - REACH, j)) || (j + 1 + REACH < count && at.same(j, j + 1 + REACH));
            }
        }
        return !__syncthreads_or(fall) ? 0 : 1 + (__syncthreads_or(far) != 0);
    }
    /* The thread that finds the first fall of a run sorts the run by insertion. */
    template <int R> __device__ void repair(int count) const {
        const ties<R> at = {*this};
        unsigned mine = 0; /* bit r: the fall behind word t + r NT */
        for (int j = (int)threadIdx.x, r = 0; j + 1 < count; j += NT, r++) {
            bool first = at.falls(j);
            for (int i = j - 1; first && i >= 0 && at.same(i, j); i--) {
                first = !at.falls(i);
            }
            mine |= (unsigned)first << r;
        }
        __syncthreads();
        for (; mine != 0; mine &= mine - 1) {
            const int fall = (int)threadIdx.x + (__ffs((int)mine) - 1) * NT;
            int begin = fall; /* leading bits stay while words of the run move */
            while (begin > 0 && at.same(begin - 1, fall)) {
                begin--;
            }
            for (int j = fall + 1; j < count && at.same(j, fall); j++) {
                const uint32_t moving = at.word(j);
                const K x = at.number(j);
                int i = j;
                for (; i > begin && at.number(i - 1) > x; i--) {
                    at.word(i) = at.word(i - 1);
                }
                at.word(i) = moving;
            }
        }
        __syncthreads();
    }

    /* ---- the sort ---- */

    /* order[] becomes the order of the digits sorted so far: its elements at the places in the words. */
    template <int R> __device__ void follow(int count) const {
        const ties<R> at = {*this};
        const int t = (int)threadIdx.x;
        uint16_t mine[R];
#pragma unroll
        for (int r = 0; r < R; r++) {
            mine[r] = r * NT + t < count ? order[at.word(r * NT + t) & ties<R>::MASK] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < R; r++) {
            if (r * NT + t < count) {
                order[r * NT + t] = mine[r];
                at.word(r * NT + t) = mine[r];
            }
        }
        __syncthreads();
    }

    /* Sorts keys[0 .. count-1], or the words if DIRECT; count <= R NT. Afterwards the lower bits of word j, at its
     * place, are the index of the j-th key; if DIRECT it is the j-th number. All threads, after a barrier; ends with
     * one. */
    template <int R> __device__ void sort(int count) const {
        typedef word_sorter<R, NT> sorter;
        enum { BITS = ties<R>::BITS, LEFT = 32 - BITS };
        const int t = (int)threadIdx.x, slab = sorter::SLAB, pads = min(R * NT, (count + slab - 1) / slab * slab);
        if constexpr (DIRECT) {
            for (int i = count + t; i < pads; i += NT) {
                words[sorter::place(i)] = ~0u;
            }
            __syncthreads();
            sorter::sort(words, count);
            __syncthreads();
            return;
        } else {
            K low;
            const int bits = find_range(count, &low);
            int shift = max(bits - (int)LEFT, 0);
            bool digits = false;
#pragma unroll 1
            for (;;) {
                for (int i = t; i < pads; i += NT) {
                    uint32_t word = ~0u;
                    if (i < count) {
                        const K key = keys[digits ? order[i] : i];
                        word = (uint32_t)((number(key) - low) >> shift) << BITS | (uint32_t)i;
                    }
                    words[sorter::place(i)] = word;
                }
                __syncthreads();
                sorter::sort(words, count);
                __syncthreads();
                if (digits) {
                    follow<R>(count);
                    shift += LEFT;
                    if (shift >= bits) {
                        return;
                    }
                    continue;
                }
                const int falls = shift > 0 ? find_falls<R>(count) : 0;
                if (falls == 0) {
                    return;
                } else if (falls == 1) {
                    repair<R>(count);
                    return;
                }
                digits = true;
                shift = 0;
                for (int i = t; i < count; i += NT) {
                    order[i] = (uint16_t)i;
                }
                __syncthreads();
            }
        }
    }
};

#endif
