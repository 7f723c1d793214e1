/* The facts that statistics of a matrix collect, as words: a block collects them in shared memory by atomics, then adds
 * them to those of the grid. */
#pragma once

#include "view.cuh"

/* The words of the facts. Those before MOST are sums, those from it on maxima. */
enum {
    DIAGONAL,
    FALLING, /* rows that do not ascend */
    REPEATS, /* entries whose column is not above the one before it in the row */
    ZEROS,
    INFINITE,
    SQUARES, /* two words each, the low one first */
    PRODUCTS = SQUARES + 2,
    BOUND = PRODUCTS + 2,
    HISTOGRAM = BOUND + 2,
    MOST = HISTOGRAM + 64,
    LONGEST = MOST,
    SHORTEST, /* all bits flipped: the largest is the shortest row's */
    LOWER,
    UPPER,
    WORDS
};

static __device__ bool is_low_word(int word) { return word == SQUARES || word == PRODUCTS || word == BOUND; }
static __device__ bool is_high_word(int word) { return word > 0 && is_low_word(word - 1); }

/* Adds to the number of two words at `word`. */
static __device__ void add_wide(ull *facts, int word, ull low, ull high) {
    const ull before = atomicAdd(&facts[word], low);
    high += before + low < before;
    if (high != 0) {
        atomicAdd(&facts[word + 1], high);
    }
}

typedef unsigned __int128 wide_sum; /* of one thread, before it is added to the block's */

static __device__ void give_sum(ull *facts, int word, wide_sum sum) {
    add_wide(facts, word, (ull)sum, (ull)(sum >> 64));
}

static __device__ void clear_facts(ull *mine) {
    for (int word = (int)threadIdx.x; word < WORDS; word += NT) {
        mine[word] = 0;
    }
    __syncthreads();
}

/* Adds the facts of a block to those of the grid. */
static __device__ void give_facts(const ull *mine, ull *all) {
    __syncthreads();
    for (int word = (int)threadIdx.x; word < WORDS; word += NT) {
        if (is_low_word(word)) {
            add_wide(all, word, mine[word], mine[word + 1]);
        } else if (!is_high_word(word) && mine[word] != 0) {
            if (word < MOST) {
                atomicAdd(&all[word], mine[word]);
            } else {
                atomicMax(&all[word], mine[word]);
            }
        }
    }
}
