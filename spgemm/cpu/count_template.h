/* Template by COL and INDEX_TYPE: everything that reads no values. Finds rows that repeat their neighbour, counts the
 * entries of rows, and finds the ranks of products. Includes cpu/fill_template.h. */
#define COL_NAME(f) LSP_PASTE(f, COL_SUFFIX)
#define INDEX_AT(array, type, i) lsp_index_at(array, INDEX_TYPE(type), i)
#define b_row_of COL_NAME(b_row_of_entry)
#define entries_of COL_NAME(entries_of_row)

/* The row of B that entry e of A is multiplied by. */
static inline b_row b_row_of(const lsp_spgemm_job *job, int64_t e) {
    const int64_t k = INDEX_AT(job->A.col, job->A.col_type, e);
    return (b_row){INDEX_AT(job->B.rowptr, job->B.rowptr_type, k), INDEX_AT(job->B.rowptr, job->B.rowptr_type, k + 1)};
}

/* If B is larger than the cache: see fetch_ahead. */
ALWAYS void COL_NAME(look_ahead)(const lsp_spgemm_pass *pass, int64_t e, size_t value_bytes) {
    const lsp_csr *A = &pass->job->A, *B = &pass->job->B;
    if (lsp_is_far(B)) {
        fetch_ahead(A, B, INDEX_TYPE(A->col_type), INDEX_TYPE(B->rowptr_type), sizeof(COL) == 4 ? LSP_I32 : LSP_I64,
                    value_bytes, value_bytes > 0 ? 2 : 0, e);
    }
}

/* Sets begin and end of A's row i, and nothing else of the extent. */
ALWAYS void entries_of(const lsp_spgemm_job *job, int64_t i, row_extent *row) {
    row->begin = INDEX_AT(job->A.rowptr, job->A.rowptr_type, i);
    row->end = INDEX_AT(job->A.rowptr, job->A.rowptr_type, i + 1);
    row->piece = false;
}

/* ---- inspection ---- */

/* Compares the row q .. r-1 of B with the row above, p .. q-1. Returns the code of LSP_REPEAT_EXACT in cpu.h. */
static inline uint8_t COL_NAME(repeat_distance)(const COL *col, int64_t p, int64_t q, int64_t r) {
    const int64_t n = r - q;
    if (n != q - p) {
        return 0;
    }
    const COL distance = col[q] - col[p];
    if (distance < 0 || distance >= LSP_REPEAT_MOST || col[r - 1] - col[q - 1] != distance) {
        return 0;
    }
    COL differ = 0, rises = -1; /* by its sign */
    for (int64_t t = 0; t < n; t++) {
        differ |= (col[q + t] - col[p + t]) ^ distance;
    }
    for (int64_t t = 1; t < n; t++) {
        rises &= col[q + t - 1] - col[q + t];
    }
    return differ == 0 && rises < 0 ? (uint8_t)(distance + 1) : 0;
}

static void COL_NAME(find_repeats)(const lsp_spgemm_pass *pass, int64_t first, int64_t last,
                                   lsp_spgemm_findings *found) {
    const lsp_csr *B = &pass->job->B;
    const COL *col = B->col;
    uint8_t *repeats = pass->repeats;
    int64_t p = 0, q = INDEX_AT(B->rowptr, B->rowptr_type, first);
    bool ascending = true;
    for (int64_t k = first; k < last; k++) {
        const int64_t r = INDEX_AT(B->rowptr, B->rowptr_type, k + 1);
        repeats[k] = k > first && q < r ? COL_NAME(repeat_distance)(col, p, q, r) : 0;
        if (repeats[k] == 0) { /* else it rises */
            COL falls = 0;     /* by its sign */
            for (int64_t t = q + 1; t < r; t++) {
                falls |= col[t] - col[t - 1];
            }
            ascending = ascending && falls >= 0;
        }
        found->repeats += repeats[k] != 0;
        found->exact += repeats[k] == LSP_REPEAT_EXACT;
        p = q, q = r;
    }
    found->falls = !ascending;
}

/* Does row i of C repeat the row above? It does if all its rows of B repeat those of the row above, shifted by one
 * distance. */
static bool COL_NAME(repeats_above)(const lsp_spgemm_pass *pass, int64_t i) {
    enum { FAR = 8 }; /* the most rows of B between the two rows that are compared */
    const lsp_spgemm_job *job = pass->job;
    row_extent above, row;
    entries_of(job, i - 1, &above);
    entries_of(job, i, &row);
    if (row.end - row.begin != above.end - above.begin) {
        return false;
    }
    int64_t distance = -1;
    for (int64_t e = row.begin, f = above.begin; e < row.end; e++, f++) {
        const int64_t k = INDEX_AT(job->A.col, job->A.col_type, e), l = INDEX_AT(job->A.col, job->A.col_type, f);
        int64_t distance_here = 0;
        if (k < l || k - l > FAR) {
            return false;
        }
        for (int64_t m = l + 1; m <= k; m++) {
            if (pass->repeats[m] == 0) {
                return false;
            }
            distance_here += pass->repeats[m] - LSP_REPEAT_EXACT;
        }
        if (distance >= 0 && distance != distance_here) {
            return false;
        }
        distance = distance_here;
    }
    return true;
}

/* Sets the extent of row i. `inspecting`: B is read for the first time; returns false if an int64_t cannot hold the
 * products. */
ALWAYS bool COL_NAME(measure)(const lsp_spgemm_pass *pass, int64_t i, bool inspecting, row_extent *row) {
    const lsp_spgemm_job *job = pass->job;
    const COL *col = job->B.col;
    int64_t products = 0, low = job->ascending ? INT64_MAX : 0, high = job->ascending ? -1 : job->B.cols - 1;
    bool fits = true;
    entries_of(job, i, row);
    for (int64_t e = row->begin; e < row->end; e++) {
        const b_row b = b_row_of(job, e);
        if (inspecting) {
            COL_NAME(look_ahead)(pass, e, 0);
            fits = lsp_add(products, b.end - b.begin, &products) && fits;
        } else {
            products += b.end - b.begin;
        }
        if (job->ascending && b.begin < b.end) {
            low = lsp_min(low, col[b.begin]);
            high = lsp_max(high, col[b.end - 1]);
        }
    }
    row->products = products;
    row->low = low;
    row->high = high;
    return fits;
}

static void COL_NAME(count_products)(const lsp_spgemm_pass *pass, int64_t first, int64_t last,
                                     lsp_spgemm_findings *found) {
    const lsp_spgemm_job *job = pass->job;
    lsp_spgemm_facts f = {0}; /* in registers */
    row_extent row = {0};
    int64_t width = 0;
    bool fits = true, window = false;
    for (int64_t i = first; i < last; i++) {
        const bool repeats = i > first && pass->repeats != NULL && COL_NAME(repeats_above)(pass, i);
        if (!repeats) {
            fits = COL_NAME(measure)(pass, i, true, &row) && fits;
            width = row.high - row.low + 1;
            window = row.products > 0 && lsp_spgemm_prefers_window(row.products, width);
        }
        const int64_t n = row.products;
        pass->ways[i] = (uint8_t)((repeats ? LSP_WAY_REPEAT : 0) | (window ? LSP_WAY_WINDOW : 0));
        job->rowptr[i + 1] = n;
        fits = fits && lsp_add(f.products, n, &f.products);
        f.nnz_bound += fits ? lsp_min(n, job->B.cols) : 0;
        f.max_row_products = lsp_max(f.max_row_products, n);
        f.sort_products = lsp_max(f.sort_products, window ? 0 : n);
        f.window_columns = lsp_max(f.window_columns, window ? width : 0);
    }
    found->facts = f;
    found->overflows = !fits;
}

/* Counts the entries of A from e on, at most three, whose rows of B have the same columns. They are added together, so
 * that C is read and written once for all of them. */
static inline int COL_NAME(together_at)(const lsp_spgemm_pass *pass, int64_t e, int64_t end) {
    const lsp_csr *A = &pass->job->A;
    int together = 1;
    if (pass->exact) {
        const int64_t k = INDEX_AT(A->col, A->col_type, e);
        while (together < 3 && e + together < end && INDEX_AT(A->col, A->col_type, e + together) == k + together &&
               pass->repeats[k + together] == LSP_REPEAT_EXACT) {
            together++;
        }
    }
    return together;
}

/* ---- the extent of a row ---- */

static void COL_NAME(extent_of)(const lsp_spgemm_pass *pass, int64_t i, row_extent *row) {
    (void)COL_NAME(measure)(pass, i, false, row);
}

static int64_t COL_NAME(products_between)(const lsp_spgemm_job *job, const row_extent *piece) {
    const COL *col = job->B.col;
    int64_t products = 0;
    for (int64_t e = piece->begin; e < piece->end; e++) {
        const b_row b = b_row_of(job, e);
        for (int64_t p = b.begin; p < b.end; p++) {
            products += col[p] >= piece->low && col[p] <= piece->high;
        }
    }
    return products;
}

/* The next piece of a row that exceeds the scratch: the longest that fits, found by bisection. */
static void COL_NAME(next_piece)(const lsp_spgemm_pass *pass, const row_extent *row, row_extent *piece) {
    int64_t fits = piece->low + lsp_min(pass->capacity.window_columns - 1, row->high - piece->low),
            fails = row->high + 1;
    for (piece->high = row->high; fits + 1 < fails; piece->high = fits + (fails - fits) / 2) {
        if (COL_NAME(products_between)(pass->job, piece) <= pass->capacity.sort_products) {
            fits = piece->high;
        } else {
            fails = piece->high;
        }
    }
    piece->high = fits;
    piece->products = COL_NAME(products_between)(pass->job, piece);
}

/* ---- by sorting ---- */

#define WORD uint32_t
#define WORD_SUFFIX _w32
#define SHORT_WORDS
#define WORD_KIND LSP_WORD_32
#include "sort_template.h"
#undef SHORT_WORDS
#define WORD uint64_t
#define WORD_SUFFIX _w64
#define WORD_KIND LSP_WORD_64
#include "sort_template.h"
#define WORD lsp_u128
#define WORD_SUFFIX _w128
#define WORD_KIND LSP_WORD_128
#include "sort_template.h"

/* Counts the columns of the row. Writes the rank of each product, of rank_bytes bytes, unless `ranks` is NULL. */
static int64_t COL_NAME(sorted_row)(const lsp_spgemm_pass *pass, const lsp_spgemm_work *work, const row_extent *row,
                                    char *ranks, int rank_bytes) {
    const int slot_bits = ranks ? lsp_bits((uint64_t)row->products - 1) : 0;
    switch (lsp_word_kind(lsp_bits((uint64_t)(row->high - row->low) | 1) + slot_bits)) {
    case LSP_WORD_32:
        return COL_NAME(sort_row_w32)(pass, work, row, ranks, rank_bytes, slot_bits);
    case LSP_WORD_64:
        return COL_NAME(sort_row_w64)(pass, work, row, ranks, rank_bytes, slot_bits);
    default:
        return COL_NAME(sort_row_w128)(pass, work, row, ranks, rank_bytes, slot_bits);
    }
}

#include "window_template.h"

/* ---- counting ---- */

static int64_t COL_NAME(count_row)(const lsp_spgemm_pass *pass, const lsp_spgemm_work *work, const row_extent *row,
                                   char *ranks) {
    const int rank_bytes = lsp_rank_bytes(row->products);
    return in_window(pass, row) ? COL_NAME(window_row)(pass, work, row, ranks, rank_bytes)
                                : COL_NAME(sorted_row)(pass, work, row, ranks, rank_bytes);
}

static int64_t COL_NAME(count_pieces)(const lsp_spgemm_pass *pass, const lsp_spgemm_work *work, const row_extent *row) {
    int64_t count = 0;
    row_extent piece = *row;
    piece.piece = true;
    for (; piece.low <= row->high; piece.low = piece.high + 1) {
        COL_NAME(next_piece)(pass, row, &piece);
        count += piece.products > 0 ? COL_NAME(count_row)(pass, work, &piece, NULL) : 0;
    }
    return count;
}

/* The extent of row i for sorting. If words are few and narrow anyway, all columns serve as the extent: finding the
 * exact one would cost more than it saves. */
ALWAYS void COL_NAME(rough_extent_of)(const lsp_spgemm_pass *pass, int64_t i, int64_t products, row_extent *row) {
    enum { FEW = 1 << 10 };
    const int64_t cols = pass->job->B.cols;
    if (products > FEW || cols > 1 << 22) {
        COL_NAME(extent_of)(pass, i, row);
    } else {
        entries_of(pass->job, i, row);
        row->products = products;
        row->low = 0;
        row->high = cols - 1;
    }
}

static void COL_NAME(count)(const lsp_spgemm_pass *pass, const lsp_spgemm_work *work, int64_t first, int64_t last,
                            char *ranks) {
    int64_t count = 0;
    row_extent row;
    for (int64_t i = first; i < last; i++) {
        const uint8_t way = pass->ways[i];
        const int64_t products = pass->job->rowptr[i + 1];
        if (products == 0) {
            count = 0;
        } else if ((way & LSP_WAY_KEPT) && !(way & LSP_WAY_WINDOW)) {
            COL_NAME(rough_extent_of)(pass, i, products, &row);
            count = COL_NAME(sorted_row)(pass, work, &row, ranks, lsp_rank_bytes(products));
            ranks += lsp_ranks_bytes(products);
        } else if (!(way & LSP_WAY_REPEAT)) {
            COL_NAME(extent_of)(pass, i, &row);
            const bool fits = fits_window(pass, &row) || fits_sort(pass, &row);
            char *kept = way & LSP_WAY_KEPT ? ranks : NULL;
            count = fits ? COL_NAME(count_row)(pass, work, &row, kept) : COL_NAME(count_pieces)(pass, work, &row);
            if (kept != NULL) {
                ranks += lsp_ranks_bytes(products);
            }
        }
        pass->job->rowptr[i + 1] = count;
    }
}

/* ---- filling ---- */

#define TEMPLATE "fill_template.h"
#include "each_value.h"

#undef b_row_of
#undef entries_of
#undef COL_NAME
#undef INDEX_AT
#undef INDEX_TYPE
#undef COL
#undef COL_SUFFIX
