/* Which kernel makes a row of C on a GPU: pure functions of what is known of the row. Compiled for both sides. */
#ifndef LSP_SPGEMM_GPU_CHOOSE_H
#define LSP_SPGEMM_GPU_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define LSP_BOTH_SIDES __host__ __device__
#else
#define LSP_BOTH_SIDES
#endif

/* SORT_g: g lanes sort the products of a row, at most 8 each (SORT_512: 256 lanes, 16 each).
 * NARROW_n, WIDE_n: a warp marks the row's columns, at most n, in a window of bits. HASH_g_n: a warp collects them, at
 * most n in at most g groups of 32 neighbours, in a table. BITS: a block marks them, a range of columns at a time, and
 * many blocks take a piece each. All three then add products in the order of A's entries. MERGE: a warp merges a row of
 * B and narrow_each other products. COUNT_g: counted in a window, or where it is too small in a table, as many products
 * as g lanes sort; COUNT_HASH: or in a table of groups if columns are many, or else as BITS. */
typedef enum lsp_spgemm_bin {
    LSP_BIN_NONE = 0,
    LSP_BIN_SORT_1,
    LSP_BIN_SORT_4,
    LSP_BIN_SORT_8,
    LSP_BIN_SORT_16,
    LSP_BIN_SORT_32,
    LSP_BIN_SORT_64,
    LSP_BIN_SORT_128,
    LSP_BIN_SORT_256,
    LSP_BIN_SORT_512,
    LSP_BIN_NARROW_128,
    LSP_BIN_NARROW_512,
    LSP_BIN_WIDE_128,
    LSP_BIN_WIDE_512,
    LSP_BIN_HASH_64_512,
    LSP_BIN_HASH_512_512,
    LSP_BIN_MERGE,
    LSP_BIN_COUNT_64,
    LSP_BIN_COUNT_128,
    LSP_BIN_COUNT_256,
    LSP_BIN_COUNT_512,
    LSP_BIN_COUNT_HASH,
    LSP_BIN_LONG,
    LSP_BINS,
    LSP_COUNT_BINS = LSP_BIN_LONG - LSP_BIN_COUNT_64
} lsp_spgemm_bin;

/* Tuned on an H200 with sparse-bench spgemm. */
enum {
    LSP_SORT_IN_WARP = 256, /* products that a warp sorts */
    LSP_SORT_MOST = 4096,   /* products that a block sorts */
    LSP_COLLECT_MOST = 512, /* columns of a row that a warp collects */
    LSP_COLLECT_FROM = 2,   /* products a column: below, sorting them is cheaper */
    LSP_MERGE_BITS = 8,     /* products that are merged into a row of B: 2 to this power at most */
    LSP_MERGE_MOST = 1 << LSP_MERGE_BITS,
    LSP_HASH_COUNT_MOST = 8192,     /* products: more do not fit the table for counting, mostly */
    LSP_HASH_COUNT_FROM = 1 << 20,  /* columns of C: fewer are marked faster than looked for in a table */
    LSP_HASH_FILL_FROM = 48 << 10,  /* columns of C: of fewer, pieces are walked along faster */
    LSP_SHARED_ROWS = 1024,         /* of many products: too narrow_each to keep all warps busy */
    LSP_MANY_ENTRIES = 128,         /* of A's row: with more of them one warp or block takes long */
    LSP_DENSE_B_LEAST = 3,          /* products of an entry of A in a strip: fewer are made faster in other ways */
    LSP_WINDOW_NARROW = 20480 / 32, /* words of a window */
    LSP_WINDOW_WIDE = 40960 / 32
};

/* What counting learns of a row: 0 identity; so many groups of 32 columns; more; it is short, and like its neighbours
 * (gpu/short_repeat.cuh); it is merged; it is made with the row before, which has the same columns in A, or columns one
 * less; it fits a window. */
enum {
    LSP_GROUPS_MOST = 248,
    LSP_GROUPS_MORE,
    LSP_GROUPS_SHORT_REPEAT,
    LSP_GROUPS_MERGE,
    LSP_GROUPS_REPEAT_SAME,
    LSP_GROUPS_REPEAT_NEXT,
    LSP_GROUPS_NARROW,
    LSP_GROUPS_WIDE
};
LSP_BOTH_SIDES static inline bool lsp_repeats_above(uint32_t groups) {
    return groups == LSP_GROUPS_REPEAT_SAME || groups == LSP_GROUPS_REPEAT_NEXT;
}

/* Products of a row saturate here. */
#define LSP_PRODUCTS_MOST UINT32_MAX

LSP_BOTH_SIDES static inline int lsp_bits_below(uint32_t n) { /* bits of the numbers 0 .. n-1 */
#ifdef __CUDA_ARCH__
    return n > 1 ? 32 - __clz((int)(n - 1)) : 0;
#else
    return n > 1 ? 32 - __builtin_clz(n - 1) : 0;
#endif
}

LSP_BOTH_SIDES static inline lsp_spgemm_bin lsp_sort_bin(uint32_t items) {
    return items <= 8      ? LSP_BIN_SORT_1
           : items <= 32   ? LSP_BIN_SORT_4
           : items <= 64   ? LSP_BIN_SORT_8
           : items <= 128  ? LSP_BIN_SORT_16
           : items <= 256  ? LSP_BIN_SORT_32
           : items <= 512  ? LSP_BIN_SORT_64
           : items <= 1024 ? LSP_BIN_SORT_128
           : items <= 2048 ? LSP_BIN_SORT_256
                           : LSP_BIN_SORT_512;
}

/* Who counts the columns of a row of C: `products`, from `entries` of A. */
LSP_BOTH_SIDES static inline lsp_spgemm_bin lsp_count_bin(uint32_t products, uint32_t entries) {
    uint32_t items = products > entries ? products : entries;
    return products == 0                     ? LSP_BIN_NONE
           : items <= LSP_SORT_IN_WARP       ? lsp_sort_bin(items)
           : items <= 512                    ? LSP_BIN_COUNT_64
           : items <= 1024                   ? LSP_BIN_COUNT_128
           : items <= 2048                   ? LSP_BIN_COUNT_256
           : items <= LSP_SORT_MOST          ? LSP_BIN_COUNT_512
           : products <= LSP_HASH_COUNT_MOST ? LSP_BIN_COUNT_HASH
                                             : LSP_BIN_LONG;
}

/* Who fills a row of C with `nnz` entries, of `cols` columns; `groups`: what counting learned. A sort needs column and
 * slot in 32 bits. */
LSP_BOTH_SIDES static inline lsp_spgemm_bin lsp_fill_bin(uint32_t products, uint32_t entries, uint32_t nnz,
                                                         uint32_t groups, uint32_t cols) {
    uint32_t items = products > entries ? products : entries;
    bool sortable = lsp_bits_below(products) + lsp_bits_below(cols) <= 32 && items <= LSP_SORT_MOST;
    if (products == 0 || lsp_repeats_above(groups) || groups == LSP_GROUPS_SHORT_REPEAT) {
        return LSP_BIN_NONE;
    }
    if (groups == LSP_GROUPS_MERGE) {
        return LSP_BIN_MERGE;
    }
    if (sortable && items <= LSP_SORT_IN_WARP) {
        return lsp_sort_bin(items);
    }
    if (groups >= LSP_GROUPS_NARROW && nnz <= LSP_COLLECT_MOST && products / LSP_COLLECT_FROM >= nnz) {
        return groups == LSP_GROUPS_NARROW ? (nnz <= 128 ? LSP_BIN_NARROW_128 : LSP_BIN_NARROW_512)
                                           : (nnz <= 128 ? LSP_BIN_WIDE_128 : LSP_BIN_WIDE_512);
    }
    if (sortable) {
        return lsp_sort_bin(items);
    }
    if (nnz <= LSP_COLLECT_MOST && products <= LSP_HASH_COUNT_MOST) { /* beyond: one warp would take too long */
        if ((groups > 0 && groups <= 64) || nnz <= 64) {
            return LSP_BIN_HASH_64_512;
        }
        return cols > LSP_HASH_FILL_FROM ? LSP_BIN_HASH_512_512 : LSP_BIN_LONG;
    }
    return LSP_BIN_LONG;
}

/* Is a row of C made by merging narrow_each products into the `longest` row of B? Column and product make a word. */
LSP_BOTH_SIDES static inline bool lsp_merges(uint32_t products, uint32_t longest, uint32_t cols) {
    const uint32_t others = products - longest;
    return others <= LSP_MERGE_MOST && others <= longest / 3 && lsp_bits_below(cols) <= 32 - LSP_MERGE_BITS;
}

/* Of rows of more than 1024 products those with many entries are counted, by bin. */
enum { LSP_MANY_BINS = LSP_BIN_LONG - LSP_BIN_COUNT_256 + 1 };
LSP_BOTH_SIDES static inline bool lsp_has_many(int bin, uint32_t entries) {
    return bin >= LSP_BIN_COUNT_256 && entries > LSP_MANY_ENTRIES;
}

/* Where rows of many products are narrow_each, many blocks share each: rows of more products than this, or entries of
 * A, where `bins` says how many are counted how, and `many` how many of those have many entries. At least a quarter of
 * them does: others are made faster at once (small finite elements). */
static inline uint32_t lsp_shared_from(const uint32_t *bins, const uint32_t many[LSP_MANY_BINS]) {
    uint64_t rows = (uint64_t)bins[LSP_BIN_COUNT_HASH] + bins[LSP_BIN_LONG];
    uint64_t with_many =
        (uint64_t)many[LSP_BIN_COUNT_HASH - LSP_BIN_COUNT_256] + many[LSP_BIN_LONG - LSP_BIN_COUNT_256];
    uint32_t from = UINT32_MAX;
    for (int bin = LSP_BIN_COUNT_512; bin >= LSP_BIN_COUNT_128 && rows <= LSP_SHARED_ROWS && rows <= 4 * with_many;
         bin--) {
        from = 512u << (bin - LSP_BIN_COUNT_64); /* the most of that bin */
        rows += bins[bin];
        with_many += bin >= LSP_BIN_COUNT_256 ? many[bin - LSP_BIN_COUNT_256] : 0;
    }
    return from;
}
/* Is all of C made strip by strip of 32 columns? An entry of A leads to products in each, LSP_DENSE_B_LEAST or more in
 * the mean, and what is kept of strips, eight bytes each, is small beside the matrices. `bound`: of the entries of C.
 */
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

#endif
