/* Statistics of a matrix: one pass over its rows, one over its columns (the rows of the transpose), and one that
 * compares the two for symmetry. All are sums of whole numbers, the same on a GPU (gpu/stats.cu). */
#include "matrices/bodies.h"
#include "matrices/csr/gpu/gpu.h"

static int64_t row_length(const lsp_csr *A, int64_t i) { return lsp_csr_rowptr(A, i + 1) - lsp_csr_rowptr(A, i); }

/* a + b, or INT64_MAX if that does not fit. */
static int64_t add_up(int64_t a, int64_t b) { return lsp_add(a, b, &a) ? a : INT64_MAX; }

/* ---- rows ---- */

typedef __int128 wide; /* sums of squared lengths, exact */

typedef struct row_sums { /* of the rows of one thread */
    lsp_csr_stats s;
    wide squares;
} row_sums;

LSP_INLINE void take_rows(lsp_type rowptr_type, lsp_type col_type, const lsp_csr *A, int64_t begin, int64_t end,
                          row_sums *sums) {
    lsp_csr_stats s = sums->s;
    for (int64_t i = begin; i < end; i++) {
        int64_t start = lsp_index_at(A->rowptr, rowptr_type, i), stop = lsp_index_at(A->rowptr, rowptr_type, i + 1);
        int64_t length = stop - start, products = 0, before = -1, falls = 0;
        s.empty_rows += length == 0;
        s.min_row = lsp_min(s.min_row, length);
        s.max_row = lsp_max(s.max_row, length);
        s.histogram[length == 0 ? 0 : 64 - __builtin_clzll((unsigned long long)length)]++;
        sums->squares += (wide)length * length;
        for (int64_t k = start; k < stop; k++) {
            int64_t column = lsp_index_at(A->col, col_type, k);
            s.lower_bandwidth = lsp_max(s.lower_bandwidth, i - column);
            s.upper_bandwidth = lsp_max(s.upper_bandwidth, column - i);
            s.diagonal += i == column;
            falls += column < before;
            before = column;
            if (s.square) {
                products = add_up(products, lsp_index_at(A->rowptr, rowptr_type, column + 1) -
                                                lsp_index_at(A->rowptr, rowptr_type, column));
            }
        }
        s.unsorted_rows += falls > 0;
        s.products = add_up(s.products, products);
        s.product_nnz_bound = add_up(s.product_nnz_bound, lsp_min(products, A->cols));
    }
    sums->s = s;
}

LSP_INLINE void take_values(lsp_type type, const lsp_csr *A, int64_t begin, int64_t end, lsp_csr_stats *s) {
    int64_t zeros = 0, not_finite = 0;
    for (int64_t k = begin; type != LSP_NONE && k < end; k++) {
        lsp_value v = lsp_value_of(type, A->val, k);
        zeros += v.re == 0 && v.im == 0;
        not_finite += !isfinite(v.re) || !isfinite(v.im);
    }
    s->zeros += zeros;
    s->not_finite += not_finite;
}

static void take_share(const lsp_csr *A, int64_t begin, int64_t end, row_sums *sums) {
    int64_t from = lsp_csr_rowptr(A, begin), to = lsp_csr_rowptr(A, end);
    LSP_WITH_INDICES(A, take_rows, A, begin, end, sums);
    LSP_WITH_VALUE(A->val_type, take_values, A, from, to, &sums->s);
}

static void add_sums(row_sums *all, const row_sums *part) {
    lsp_csr_stats *to = &all->s;
    const lsp_csr_stats *from = &part->s;
    to->empty_rows += from->empty_rows;
    to->min_row = lsp_min(to->min_row, from->min_row);
    to->max_row = lsp_max(to->max_row, from->max_row);
    for (int i = 0; i < 64; i++) {
        to->histogram[i] += from->histogram[i];
    }
    to->lower_bandwidth = lsp_max(to->lower_bandwidth, from->lower_bandwidth);
    to->upper_bandwidth = lsp_max(to->upper_bandwidth, from->upper_bandwidth);
    to->diagonal += from->diagonal;
    to->unsorted_rows += from->unsorted_rows;
    to->zeros += from->zeros;
    to->not_finite += from->not_finite;
    to->products = add_up(to->products, from->products);
    to->product_nnz_bound = add_up(to->product_nnz_bound, from->product_nnz_bound);
    all->squares += part->squares;
}

typedef struct row_search {
    const lsp_csr *A;
    int parts;
    row_sums *sums; /* of each part */
} row_search;

static void take_part(void *data, int64_t part, int thread) {
    const row_search *search = data;
    const lsp_csr *A = search->A;
    int64_t begin, end;
    row_sums mine = {.s = {.min_row = INT64_MAX, .square = A->rows == A->cols}};
    (void)thread;
    lsp_csr_share(A, (int)part, search->parts, &begin, &end);
    take_share(A, begin, end, &mine);
    search->sums[part] = mine;
}

static lsp_status take_all_rows(lsp_ctx *ctx, const lsp_csr *A, lsp_csr_row_facts *facts) {
    LSP_SCRATCH_SCOPE(ctx);
    int parts = lsp_csr_threads(ctx, A);
    row_sums *sums, all = {.s = {.min_row = INT64_MAX, .square = A->rows == A->cols}};
    LSP_TRY(LSP_SCRATCH(ctx, parts, &sums));
    lsp_for_parts(ctx, parts, parts, take_part, &(row_search){.A = A, .parts = parts, .sums = sums});
    for (int p = 0; p < parts; p++) {
        add_sums(&all, &sums[p]);
    }
    all.s.min_row = A->rows > 0 ? all.s.min_row : 0;
    if (!all.s.square) {
        all.s.products = all.s.product_nnz_bound = -1;
    }
    *facts = (lsp_csr_row_facts){.stats = all.s,
                                 .squares = {(uint64_t)all.squares, (uint64_t)(all.squares >> 64)},
                                 .strict = lsp_csr_first_unsorted(ctx, A, true) == A->rows};
    return LSP_OK;
}

/* Mean and standard deviation of the rows' lengths, from whole numbers. */
static void describe_lengths(const lsp_csr *A, const uint64_t squares[2], lsp_csr_stats *s) {
    const double rows = (double)A->rows;
    const wide sum = (wide)squares[1] << 64 | (wide)squares[0];
    const wide spread = sum * (wide)A->rows - (wide)A->nnz * (wide)A->nnz;
    if (A->rows > 0) {
        s->mean_row = (double)A->nnz / rows;
        s->stddev_row = sqrt((double)spread) / rows;
    }
}

/* ---- columns ---- */

typedef struct column_search {
    const lsp_csr *T;
    int64_t empty, below; /* atomic; below: minus the length of the longest column */
} column_search;

static void take_column_share(void *data, int64_t begin, int64_t end) {
    column_search *search = data;
    int64_t empty = 0, longest = 0;
    for (int64_t i = begin; i < end; i++) {
        int64_t length = row_length(search->T, i);
        empty += length == 0;
        longest = lsp_max(longest, length);
    }
    __atomic_add_fetch(&search->empty, empty, __ATOMIC_RELAXED);
    lsp_lower(&search->below, -longest);
}

static void take_columns(const lsp_ctx *ctx, const lsp_csr *T, lsp_csr_stats *s) {
    column_search search = {.T = T};
    lsp_csr_for_rows(ctx, T, take_column_share, &search);
    s->empty_cols = search.empty;
    s->max_col = -search.below;
}

/* ---- either device ---- */

/* What the columns tell, and symmetry. `tidy` becomes A with sorted rows and without duplicates, if A is not so. */
static lsp_status take_transpose(lsp_ctx *ctx, const lsp_csr *A, bool strict, lsp_csr *tidy, lsp_csr *T,
                                 lsp_csr_stats *s) {
    const bool there = A->where == LSP_CUDA;
    LSP_TRY(lsp_csr_transpose(ctx, A, T));
    if (there) {
        LSP_TRY(lsp_csr_on_gpu.csr_column_facts(ctx, T, s));
    } else {
        take_columns(ctx, T, s);
    }
    if (!strict) {
        LSP_TRY(lsp_csr_transpose(ctx, T, tidy)); /* A, its rows sorted */
        LSP_TRY(lsp_csr_sum_duplicates(ctx, tidy, &s->duplicates));
        lsp_csr_free(ctx, T);
        LSP_TRY(lsp_csr_transpose(ctx, tidy, T));
    }
    if (s->square) {
        lsp_found lost;
        const comparing a = {.A = strict ? *A : *tidy, .B = *T, .entries = T->nnz};
        LSP_TRY(LSP_EACH(ctx, A->where, lost,
                         (lsp_each_job){.args = &a,
                                        .n = lsp_max(A->rows, T->nnz),
                                        .kind = {.index = T->col_type, .val = T->val_type},
                                        .found = &lost}));
        lsp_tell_symmetry((unsigned)lost.flags, s);
    }
    return LSP_OK;
}

lsp_status lsp_csr_get_stats(lsp_ctx *ctx, const lsp_csr *A, lsp_csr_stats *stats) {
    LSP_OWNED_CSR(ctx, T);
    LSP_OWNED_CSR(ctx, tidy);
    lsp_csr_row_facts found;
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_REQUIRE(stats, LSP_ERR_ARGUMENT, "the place for the statistics is NULL");
    LSP_TRY(A->where == LSP_CUDA ? lsp_csr_on_gpu.csr_row_facts(ctx, A, &found) : take_all_rows(ctx, A, &found));
    describe_lengths(A, found.squares, &found.stats);
    LSP_TRY(take_transpose(ctx, A, found.strict, &tidy, &T, &found.stats));
    *stats = found.stats;
    return LSP_OK;
}
