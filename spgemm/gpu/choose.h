/* Chooses the kernel that makes a row of C on a GPU. Pure functions of facts about the row, compiled for the host
 * and for the GPU. */
#pragma once

#include "core/core.h"

/* How a row of C is made. SORT_g: g lanes sort the row's products, at most 8 a lane (SORT_512: 256 lanes, 16 a lane);
 * where most products share their column with others, a lane merges rows of SORT_1 and SORT_2 instead.
 * NEAR_n and SPREAD_n: a warp marks the row's columns, at most n, in a window of bits, which has all words between the
 * first and the last column, or only words that have columns, at most 256; or 512 (WIDE_n). KNOWN_n: counting has kept
 * the row's columns, at most n, and lanes search them. LONG: a block marks the
 * columns, one range after the other, and many blocks each fill a piece of the row. These then add products in the
 * order of A's entries. MERGE: a warp merges a row of B with a few other products. Bins for counting alone: COUNT_g,
 * for as many products as SORT_g takes, counts in a window, or in a hash table if no window is large enough.
 * COUNT_LARGE does the same with a larger window if C has many columns, else as LONG. */
typedef enum lsp_spgemm_bin {
    LSP_BIN_NONE = 0,
    LSP_BIN_SORT_1,
    LSP_BIN_SORT_2,
    LSP_BIN_SORT_4,
    LSP_BIN_SORT_8,
    LSP_BIN_SORT_16,
    LSP_BIN_SORT_32,
    LSP_BIN_SORT_64,
    LSP_BIN_SORT_128,
    LSP_BIN_SORT_256,
    LSP_BIN_SORT_512,
    LSP_BIN_NEAR_128,
    LSP_BIN_NEAR_512,
    LSP_BIN_SPREAD_128,
    LSP_BIN_SPREAD_512,
    LSP_BIN_WIDE_512,
    LSP_BIN_KNOWN_128,
    LSP_BIN_KNOWN_512,
    LSP_BIN_MERGE,
    LSP_BIN_COUNT_64,
    LSP_BIN_COUNT_128,
    LSP_BIN_COUNT_256,
    LSP_BIN_COUNT_512,
    LSP_BIN_COUNT_LARGE,
    LSP_BIN_LONG,
    LSP_BINS,
    LSP_COUNT_BINS = LSP_BIN_LONG - LSP_BIN_COUNT_64
} lsp_spgemm_bin;

/* Tuned on an H200 with sparse-bench spgemm. */
enum {
    LSP_ONE_PASS_ROWS = 1 << 13, /* of C; with fewer, one call's product is made in two passes */
    LSP_ONE_PASS_MOST = 32,      /* most entries of a row that is made in one pass */
    LSP_SAMPLE_ROWS = 128,       /* of a block of the sample */
    LSP_SAMPLE_BLOCKS = 256,     /* at most */
    LSP_SAMPLED = 4,             /* the sample has at most this part of the rows */
    LSP_SORT_IN_WARP = 256,      /* most products that a warp sorts */
    LSP_SORT_MOST = 4096,        /* most products that a block sorts */
    LSP_SORT_COLUMNS = 1 << 24,  /* most columns that it sorts at once: a block of 256 columns has 16 bits */
    LSP_COLLECT_MOST = 512,      /* most columns that a warp collects in a window */
    LSP_COLLECT_FROM = 2,        /* products a column; with fewer, sorting is faster */
    LSP_KNOWN_FROM = 16,         /* products a column, from which counting keeps the columns of a row, */
    LSP_KNOWN_MOST = 65536,      /* up to that many products (with more, several warps should share the row); */
    LSP_KNOWN_NARROW = 16,       /* most products an entry of A, if a window holds the row (else a warp is as fast); */
    LSP_KNOWN_ROWS = 16,         /* long rows a multiprocessor, from which theirs are kept */
    LSP_MERGE_BITS = 8,          /* log2 of LSP_MERGE_MOST */
    LSP_MERGE_MOST = 1 << LSP_MERGE_BITS,
    LSP_LARGE_COUNT_MOST = 8192,    /* products; with more, the columns mostly overflow the window for counting */
    LSP_LARGE_COUNT_FROM = 1 << 20, /* columns of C; with fewer, marking all is faster than a large window */
    LSP_WIDE_FROM = 48 << 10,       /* columns of C; with fewer, LONG is faster than WIDE */
    LSP_SHARED_ROWS = 1024,         /* up to this many rows of many products leave most warps idle */
    LSP_MANY_ENTRIES = 128,         /* entries of A's row; with more, one warp or block takes long */
    LSP_DENSE_B_LEAST = 3,          /* products of an entry of A in a strip; with fewer, other ways are faster */
    LSP_WINDOW_NEAR = 40960 / 32,   /* 32-bit words of a window of near columns */
    LSP_WINDOW_COLUMNS = 1 << 27,   /* most columns of C for a window of spread ones: a word's number has 22 bits */
    LSP_SPREAD_FROM = 8,            /* products a word; with fewer, sorting is faster than a window of spread columns */
    LSP_SPREAD_WHILE = 4,           /* the same while they are counted, */
    LSP_SPREAD_FEW = 64             /* once there are more words than this */
};

/* What counting learns of a row of C. 0: nothing. SHORT_REPEAT: the row is short and repeats its neighbours
 * (sort/short_repeat.cuh). MERGE: it is made by merging. REPEAT_SAME, REPEAT_NEXT: it is made together with the row
 * before, whose columns in A are the same, or each one less. NEAR, SPREAD: it fits such a window. KNOWN: its columns
 * are kept. */
enum {
    LSP_GROUPS_SHORT_REPEAT = 1,
    LSP_GROUPS_MERGE,
    LSP_GROUPS_REPEAT_SAME,
    LSP_GROUPS_REPEAT_NEXT,
    LSP_GROUPS_NEAR,
    LSP_GROUPS_SPREAD,
    LSP_GROUPS_KNOWN
};
LSP_BOTH_SIDES static inline bool lsp_repeats_above(uint32_t groups) {
    return groups == LSP_GROUPS_REPEAT_SAME || groups == LSP_GROUPS_REPEAT_NEXT;
}

/* Counts of a row's products saturate here. */
#define LSP_PRODUCTS_MOST UINT32_MAX

LSP_BOTH_SIDES static inline int lsp_bits_below(uint32_t n) { /* bits that hold 0 .. n-1 */
#ifdef __CUDA_ARCH__
    return n > 1 ? 32 - __clz((int)(n - 1)) : 0;
#else
    return n > 1 ? 32 - __builtin_clz(n - 1) : 0;
#endif
}

/* The bin of SORT_1 (8 items), SORT_2 (16), .. SORT_512 (LSP_SORT_MOST) that sorts at most LSP_SORT_MOST items. */
LSP_BOTH_SIDES static inline lsp_spgemm_bin lsp_sort_bin(uint32_t items) {
    return (lsp_spgemm_bin)(LSP_BIN_SORT_1 + lsp_bits_below((items + 7) / 8));
}

/* The bin that counts a row of C with this many products, from this many entries of A. */
LSP_BOTH_SIDES static inline lsp_spgemm_bin lsp_count_bin(uint32_t products, uint32_t entries) {
    uint32_t items = products > entries ? products : entries;
    return products == 0               ? LSP_BIN_NONE
           : items <= LSP_SORT_IN_WARP ? lsp_sort_bin(items)
           : items <= LSP_SORT_MOST    ? (lsp_spgemm_bin)(lsp_sort_bin(items) + LSP_BIN_COUNT_64 - LSP_BIN_SORT_64)
           : products <= LSP_LARGE_COUNT_MOST ? LSP_BIN_COUNT_LARGE
                                              : LSP_BIN_LONG;
}

/* The bin that fills a row of C with `nnz` entries, in a C of `cols` columns. `groups` is what counting learned.
 * Up to LSP_SORT_COLUMNS, a row that is sorted needs no more than 32 bits for column and slot (sort/expand.cuh);
 * beyond, SORT_512 takes a part of the columns at a time. */
LSP_BOTH_SIDES static inline lsp_spgemm_bin lsp_fill_bin(uint32_t products, uint32_t entries, uint32_t nnz,
                                                         uint32_t groups, uint32_t cols) {
    uint32_t items = products > entries ? products : entries;
    bool sortable =
        items <= LSP_SORT_MOST && (cols <= LSP_SORT_COLUMNS || lsp_bits_below(products) + lsp_bits_below(cols) <= 32);
    if (products == 0 || lsp_repeats_above(groups) || groups == LSP_GROUPS_SHORT_REPEAT) {
        return LSP_BIN_NONE;
    }
    if (groups == LSP_GROUPS_MERGE) {
        return LSP_BIN_MERGE;
    }
    if (groups == LSP_GROUPS_KNOWN) {
        return nnz <= 128 ? LSP_BIN_KNOWN_128 : LSP_BIN_KNOWN_512;
    }
    if (sortable && items <= LSP_SORT_IN_WARP) {
        return lsp_sort_bin(items);
    }
    if (groups >= LSP_GROUPS_NEAR && nnz <= LSP_COLLECT_MOST && products / LSP_COLLECT_FROM >= nnz) {
        return groups == LSP_GROUPS_NEAR ? (nnz <= 128 ? LSP_BIN_NEAR_128 : LSP_BIN_NEAR_512)
                                         : (nnz <= 128 ? LSP_BIN_SPREAD_128 : LSP_BIN_SPREAD_512);
    }
    if (sortable) {
        return lsp_sort_bin(items);
    }
    if (nnz <= LSP_COLLECT_MOST && cols > LSP_WIDE_FROM && cols <= LSP_WINDOW_COLUMNS &&
        products <= LSP_LARGE_COUNT_MOST) { /* with more products one warp would take too long */
        return LSP_BIN_WIDE_512;
    }
    return items <= LSP_SORT_MOST ? LSP_BIN_SORT_512 : LSP_BIN_LONG;
}

/* Is a row of C made by merging its other products into the `longest` row of B? A word must hold a column and a
 * product's number. */
LSP_BOTH_SIDES static inline bool lsp_merges(uint32_t products, uint32_t longest, uint32_t cols) {
    const uint32_t others = products - longest;
    return others <= LSP_MERGE_MOST && others <= longest / 3 && lsp_bits_below(cols) <= 32 - LSP_MERGE_BITS;
}

/* The first of the neighbouring rows that a block of the sample for one pass takes, from 0 to places - 1. Multiples of
 * the golden ratio spread evenly, and follow no grid's period. */
LSP_BOTH_SIDES static inline int64_t lsp_sampled_row(uint32_t block, int64_t places) {
    return (int64_t)((uint64_t)(uint32_t)(block * 0x9E3779B9u) * (uint64_t)places >> 32);
}

/* Among rows of more than 1024 products, those with many entries of A are counted separately, by bin. */
enum { LSP_MANY_BINS = LSP_BIN_LONG - LSP_BIN_COUNT_256 + 1 };
LSP_BOTH_SIDES static inline bool lsp_has_many(int bin, uint32_t entries) {
    return bin >= LSP_BIN_COUNT_256 && entries > LSP_MANY_ENTRIES;
}

/* If few rows have many products, one warp or block a row would leave most of the GPU idle, so several blocks share
 * each of these rows. Returns the limit: rows with more products or entries of A are shared. `bins` says how many rows
 * each bin counts, `many` how many of these have many entries. Rows are shared only if a quarter of them have many
 * entries; others, as in small finite-element matrices, are faster without sharing. */
static inline uint32_t lsp_shared_from(const uint32_t *bins, const uint32_t many[LSP_MANY_BINS]) {
    uint64_t rows = (uint64_t)bins[LSP_BIN_COUNT_LARGE] + bins[LSP_BIN_LONG];
    uint64_t with_many =
        (uint64_t)many[LSP_BIN_COUNT_LARGE - LSP_BIN_COUNT_256] + many[LSP_BIN_LONG - LSP_BIN_COUNT_256];
    uint32_t from = UINT32_MAX;
    for (int bin = LSP_BIN_COUNT_512; bin >= LSP_BIN_COUNT_128 && rows <= LSP_SHARED_ROWS && rows <= 4 * with_many;
         bin--) {
        from = 512u << (bin - LSP_BIN_COUNT_64); /* the most products of that bin */
        rows += bins[bin];
        with_many += bin >= LSP_BIN_COUNT_256 ? many[bin - LSP_BIN_COUNT_256] : 0;
    }
    return from;
}
/* Is B dense enough to make all of C in strips of 32 columns? Yes if an entry of A leads to at least LSP_DENSE_B_LEAST
 * products a strip on average, and the tables of strips, eight bytes a strip, are small beside the matrices. `bound` is
 * an upper bound of nnz(C). */
typedef struct lsp_dense_b_facts {
    int64_t products, bound, entries_a, entries_b, rows_a, rows_b, cols;
} lsp_dense_b_facts;
static inline bool lsp_is_dense_b(lsp_dense_b_facts is) {
    const int64_t strips = is.cols / 32 + (is.cols % 32 != 0), kept = (is.rows_a + is.rows_b) * strips;
    return is.products > 0 && is.products / LSP_DENSE_B_LEAST >= is.entries_a * strips && kept < UINT32_MAX &&
           kept <= is.entries_a + is.entries_b + is.bound / 4;
}

LSP_BOTH_SIDES static inline lsp_spgemm_bin lsp_shared_bin(lsp_spgemm_bin bin, uint32_t products, uint32_t entries,
                                                           uint32_t from) {
    return bin != LSP_BIN_NONE && (products > from || entries > from) ? LSP_BIN_LONG : bin;
}
