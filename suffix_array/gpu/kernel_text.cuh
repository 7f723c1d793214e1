/* The text on the GPU: which symbols occur, codes, packed codes, keys of the symbols from a place on. */
#pragma once

#include "core/launch.cuh"
#include "gpu.h"

enum { TEXT_NT = 256, SAMPLE_WANTED = 1 << 12, SAMPLE_MOST = 1 << 14 };

/* ---- the alphabet ---- */

enum { TEXT_TABLE = 1 << 16 }; /* symbols that a table holds */

/* Sets a bit of seen[] for each symbol that occurs; all are below `most` <= TEXT_TABLE. */
template <typename S>
static __global__ void __launch_bounds__(TEXT_NT) kernel_mark(const S *symbols, int64_t n, int most, unsigned *seen) {
    __shared__ unsigned bits[TEXT_TABLE / 32];
    const int words = (most + 31) / 32;
    for (int w = threadIdx.x; w < words; w += TEXT_NT) {
        bits[w] = 0;
    }
    __syncthreads();
    EACH_ITEM(i, n, TEXT_NT) {
        const unsigned symbol = symbols[i], bit = 1u << symbol % 32;
        if (!(*(volatile unsigned *)&bits[symbol / 32] & bit)) {
            atomicOr(&bits[symbol / 32], bit);
        }
    }
    __syncthreads();
    for (int w = threadIdx.x; w < words; w += TEXT_NT) {
        if (bits[w] & ~seen[w]) {
            atomicOr(&seen[w], bits[w]);
        }
    }
}

/* For an alphabet that no table holds: ones[i] = 1 where a sorted symbol is not the one before. */
static __global__ void __launch_bounds__(TEXT_NT) kernel_mark_sorted(const uint32_t *sorted, int64_t n, int64_t *ones) {
    EACH_ITEM(i, n, TEXT_NT) { ones[i] = i > 0 && sorted[i] != sorted[i - 1]; }
}

/* codes[places[i]] = the number of different symbols before sorted symbol i. */
static __global__ void __launch_bounds__(TEXT_NT)
    kernel_write_codes(const uint32_t *places, const int64_t *before, int64_t n, uint32_t *codes) {
    EACH_ITEM(i, n, TEXT_NT) { codes[places[i]] = (uint32_t)before[i]; }
}

/* Word w holds the bits 64 w .. 64 w + 63 of the packed text. code_of: the code of each symbol; NULL: symbols are codes
 * already. more: added to each code. */
template <typename S>
static __global__ void __launch_bounds__(TEXT_NT) kernel_pack(const S *symbols, int64_t n, const uint32_t *code_of,
                                                              int bits, unsigned more, uint64_t *words, int64_t count) {
    EACH_ITEM(w, count, TEXT_NT) {
        const int64_t begin = w * 64;
        uint64_t word = 0;
        for (int64_t i = begin / bits; i < n && i * bits < begin + 64; i++) {
            const int64_t shift = begin + 64 - i * bits - bits;
            const uint64_t code = (code_of != NULL ? code_of[symbols[i]] : (uint32_t)symbols[i]) + more;
            word |= shift >= 0 ? code << shift : code >> -shift;
        }
        words[w] = word;
    }
}

/* ---- keys ---- */

/* The whole codes among the 64 bits from symbol i on, in the highest bits; zeros stand behind the end of the string. */
__device__ inline uint64_t key_at(const lsp_packed &t, int64_t i) {
    const int symbols = 64 / t.bits;
    const int64_t bit = i * t.bits;
    if (i >= t.n) {
        return 0;
    }
    const uint64_t *const word = t.words + (bit >> 6);
    const int shift = (int)(bit & 63);
    int length = symbols;
    uint64_t key = word[0] << shift | (shift > 0 ? word[1] >> (64 - shift) : 0);
    if (t.first != NULL) {
        const int64_t next = i + 1;
        const int low = (int)(next & 63);
        const uint64_t *const first = t.first + (next >> 6);
        const uint64_t begins = first[0] >> low | (low > 0 ? first[1] << (64 - low) : 0);
        length = begins != 0 ? min(length, __ffsll((long long)begins)) : length;
    }
    return length * t.bits == 64 ? key : key & ~(~(uint64_t)0 >> (length * t.bits));
}

/* The whole codes among the first 32 bits of each suffix: those under `mask`. */
static __global__ void __launch_bounds__(TEXT_NT) kernel_first_keys(lsp_packed t, uint64_t mask, uint32_t *keys) {
    EACH_ITEM(i, t.n, TEXT_NT) { keys[i] = (uint32_t)((key_at(t, i) & mask) >> 32); }
}

/* The symbols `offset` behind the begin of suffix `id`, which is unfinished. Nothing unfinished of a set has ended
 * before: if a string begins there, this suffix ends there. */
__device__ inline uint64_t text_key(const lsp_packed &t, uint32_t id, int64_t offset) {
    const int64_t at = id + offset;
    return t.first != NULL && at < t.n && lsp_is_first(t.first, at) ? 0 : key_at(t, at);
}

/* Keys whose short key has a hash with `less` leading zeros: all suffixes that share a key are among them, or none. */
static __global__ void __launch_bounds__(TEXT_NT)
    kernel_sample(lsp_packed t, uint64_t mask, int less, uint64_t *keys, unsigned *count) {
    EACH_ITEM(i, t.n, TEXT_NT) {
        const uint64_t key = key_at(t, i);
        if (less == 0 || (key & mask) * 0x9e3779b97f4a7c15u >> (64 - less) == 0) {
            const unsigned at = atomicAdd(count, 1u);
            if (at < SAMPLE_MOST) {
                keys[at] = key;
            }
        }
    }
}

/* same[0], same[1] += sorted keys that are equal to a neighbour: whole, and under the mask. */
static __global__ void __launch_bounds__(TEXT_NT)
    kernel_count_same(const uint64_t *keys, uint64_t mask, const unsigned *count, unsigned *same) {
    const int64_t n = min(*count, (unsigned)SAMPLE_MOST);
    EACH_ITEM(i, n, TEXT_NT) {
        for (int part = 0; part < 2; part++) {
            const uint64_t m = part == 0 ? ~(uint64_t)0 : mask, key = keys[i] & m;
            if ((i > 0 && (keys[i - 1] & m) == key) || (i + 1 < n && (keys[i + 1] & m) == key)) {
                atomicAdd(&same[part], 1u);
            }
        }
    }
}
