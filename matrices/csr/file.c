/* Items filed into rows by a stable counting sort. Threads take shares of the items in order and count them by row. The
 * prefix sum of the counts, by row and then by share, says where each thread puts its items. Where the counts of all
 * threads would be more than the items, these are filed into buckets of rows first, by the same sort, and then each
 * bucket into its rows. */
#include "matrices/bodies.h"

enum {
    least_share = 1 << 15,
    bucket_rows = 1 << 13, /* of a bucket: its counts stay in the first cache; */
    buckets_a_thread = 8,  /* fewer rows if there are fewer buckets than that, */
    most_buckets = 1 << 11 /* more if there are more buckets than that */
};

/* ---- counts to places ---- */

/* Turns counts into places, for the keys of one share. */
LSP_INLINE void place_keys(bool wide, const lsp_counts *c, int64_t share) {
    int64_t begin, end, before = c->begin + c->sums[share]; /* the place of the next key */
    lsp_share(c->keys, (int)share, c->shares, &begin, &end);
    for (int64_t key = begin; key < end; key++) {
        for (int part = 0; part < c->parts; part++) {
            void *places = lsp_counts_of(c, part);
            const int64_t counted = lsp_place_at(places, wide, key);
            lsp_place_set(places, wide, key, before);
            before += counted;
        }
        lsp_index_set(c->ends, c->ends_type, key + 1, before);
    }
}
static void place_share(void *data, int64_t share, int thread) {
    const lsp_counts *c = data;
    (void)thread;
    LSP_WITH_FLAG(c->wide, place_keys, c, share);
}

/* Counts the items with the keys of one share. */
static void sum_share(void *data, int64_t share, int thread) {
    const lsp_counts *c = data;
    int64_t begin, end, sum = 0;
    (void)thread;
    lsp_share(c->keys, (int)share, c->shares, &begin, &end);
    for (int part = 0; part < c->parts; part++) {
        for (int64_t key = begin; key < end; key++) {
            sum += lsp_place_at(lsp_counts_of(c, part), c->wide, key);
        }
    }
    c->sums[share + 1] = sum;
}

int64_t lsp_counts_sum(const lsp_ctx *ctx, lsp_counts *c) {
    lsp_for_parts(ctx, c->shares, c->shares, sum_share, c);
    c->sums[0] = 0;
    for (int share = 0; share < c->shares; share++) {
        c->sums[share + 1] += c->sums[share];
    }
    return c->sums[c->shares];
}

void lsp_counts_place(const lsp_ctx *ctx, lsp_counts *c) { lsp_for_parts(ctx, c->shares, c->shares, place_share, c); }

/* ---- a sort ---- */

/* One sort: item k of begin .. end-1 has the key (row[k] - first) >> shift. */
typedef struct sorter {
    const lsp_filing *items;
    int64_t begin, end, first;
    int shift;
    lsp_counts to;
    lsp_csr *B; /* gets columns and values from place `begin` on, */
    void *row;  /* and this the rows, of the type of columns; NULL: not wanted */
} sorter;

LSP_INLINE void share_of(const sorter *s, int64_t part, int64_t *begin, int64_t *end) {
    lsp_share(s->end - s->begin, (int)part, s->to.parts, begin, end);
    *begin += s->begin, *end += s->begin;
}

LSP_INLINE void count_keys(lsp_type index_type, bool wide, const sorter *s, int64_t part) {
    const void *row = s->items->row;
    void *counts = lsp_counts_of(&s->to, part);
    int64_t begin, end;
    memset(counts, 0, (size_t)s->to.keys * lsp_place_bytes(wide));
    share_of(s, part, &begin, &end);
    for (int64_t k = begin; k < end; k++) {
        const int64_t key = (lsp_index_at(row, index_type, k) - s->first) >> s->shift;
        lsp_place_set(counts, wide, key, lsp_place_at(counts, wide, key) + 1);
    }
}

LSP_INLINE void move_items(lsp_type index_type, bool wide, lsp_type col_type, size_t val_bytes, const sorter *s,
                           int64_t part) {
    const lsp_filing *items = s->items;
    const lsp_csr *by = items->by, B = *s->B;
    void *places = lsp_counts_of(&s->to, part), *rows = s->row;
    int64_t begin, end;
    share_of(s, part, &begin, &end);
    int64_t column = by && begin < end ? lsp_csr_row_of(by, begin) : 0;
    int64_t stop = by && begin < end ? lsp_csr_rowptr(by, column + 1) : 0;
    for (int64_t k = begin; k < end; k++) {
        const int64_t row = lsp_index_at(items->row, index_type, k), key = (row - s->first) >> s->shift;
        const int64_t to = lsp_place_at(places, wide, key);
        lsp_place_set(places, wide, key, to + 1);
        if (!by && B.col) {
            column = lsp_index_at(items->col, index_type, k);
        }
        while (by && k >= stop) {
            stop = lsp_csr_rowptr(by, ++column + 1);
        }
        if (rows) {
            lsp_index_set(rows, col_type, to, row);
        }
        if (B.col) {
            lsp_index_set(B.col, col_type, to, column);
        }
        lsp_move_value(B.val, to, items->val, k, val_bytes);
    }
}

/* If all indices are narrow, their types are constants in the loop; otherwise they are tested for each item. */
static bool is_narrow(const sorter *s) {
    return s->items->index_type == LSP_I32 && !s->to.wide && s->B->col_type == LSP_I32;
}
static void count_share(void *data, int64_t share, int thread) {
    const sorter *s = data;
    (void)thread;
    is_narrow(s) ? count_keys(LSP_I32, false, s, share) : count_keys(s->items->index_type, s->to.wide, s, share);
}
LSP_INLINE void move_values(lsp_type val_type, const sorter *s, int64_t share) {
    const size_t bytes = lsp_value_bytes(val_type);
    is_narrow(s) ? move_items(LSP_I32, false, LSP_I32, bytes, s, share)
                 : move_items(s->items->index_type, s->to.wide, s->B->col_type, bytes, s, share);
}
static void move_share(void *data, int64_t share, int thread) {
    const sorter *s = data;
    (void)thread;
    LSP_WITH_VALUE(s->B->val_type, move_values, s, share);
}

/* Sorts by as many threads as there are parts. */
static void sort_items(const lsp_ctx *ctx, sorter *s) {
    s->to.begin = s->begin;
    lsp_for_parts(ctx, s->to.parts, s->to.parts, count_share, s);
    (void)lsp_counts_sum(ctx, &s->to);
    lsp_counts_place(ctx, &s->to);
    lsp_for_parts(ctx, s->to.parts, s->to.parts, move_share, s);
}

/* *s sorts by `parts` threads; counts and sums are scratch. */
static lsp_status open_sort(lsp_ctx *ctx, sorter *s, int parts) {
    int64_t cells;
    s->to.parts = s->to.shares = parts;
    s->to.wide = s->items->n > INT32_MAX;
    LSP_REQUIRE(lsp_mul(s->to.keys, parts, &cells), LSP_ERR_OVERFLOW, "%lld rows are too many to count by",
                (long long)s->to.keys);
    LSP_TRY(lsp_scratch_bytes(ctx, lsp_max(cells, 1), lsp_place_bytes(s->to.wide), false, &s->to.counts));
    return LSP_SCRATCH(ctx, parts + 1, &s->to.sums);
}

/* ---- by buckets ---- */

typedef struct bucket_sort {
    const lsp_ctx *ctx;
    const sorter *buckets; /* the sort of buckets */
    sorter rows;           /* of one bucket by all threads */
    lsp_filing filed;      /* the items by buckets */
    int64_t most;          /* items of a bucket that one thread files */
} bucket_sort;

/* Files bucket b into its rows by this many parts; `counts` and `sums` are theirs. */
static void file_bucket(const bucket_sort *f, int64_t b, int parts, void *counts, int64_t *sums) {
    const int64_t *ends = f->buckets->to.ends;
    sorter s = f->rows;
    s.begin = ends[b], s.end = ends[b + 1];
    s.first = b << f->buckets->shift;
    s.to.keys = lsp_min(s.B->rows - s.first, (int64_t)1 << f->buckets->shift);
    s.to.ends = (char *)s.to.ends + (size_t)s.first * lsp_type_bytes(s.to.ends_type);
    s.to.parts = s.to.shares = parts, s.to.counts = counts, s.to.sums = sums;
    sort_items(f->ctx, &s);
}
static bool is_large(const bucket_sort *f, int64_t b) {
    const int64_t *ends = f->buckets->to.ends;
    return ends[b + 1] - ends[b] > f->most;
}
static void file_small(void *data, int64_t b, int thread) {
    const bucket_sort *f = data;
    int64_t sums[2];
    if (!is_large(f, b)) {
        file_bucket(f, b, 1, lsp_counts_of(&f->rows.to, thread), sums);
    }
}

static lsp_status file_by_buckets(lsp_ctx *ctx, const sorter *whole, int threads, int shift) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_filing *items = whole->items;
    const bool narrow = items->index_type == LSP_I32 && whole->B->col_type == LSP_I32;
    const lsp_type type = narrow ? LSP_I32 : LSP_I64;
    const size_t bytes = lsp_type_bytes(type), val_bytes = lsp_type_bytes(whole->B->val_type);
    lsp_csr halfway = {.rows = whole->B->rows, .col_type = type, .val_type = whole->B->val_type};
    sorter first = *whole;
    bucket_sort f = {.ctx = ctx, .buckets = &first, .rows = *whole, .most = items->n / threads};
    first.shift = shift;
    first.to.keys = ((whole->B->rows - 1) >> shift) + 1;
    first.B = &halfway;
    first.to.ends_type = LSP_I64;
    LSP_TRY(open_sort(ctx, &first, threads));
    LSP_TRY(lsp_scratch_bytes(ctx, first.to.keys + 1, sizeof(int64_t), true, &first.to.ends));
    LSP_TRY(lsp_scratch_bytes(ctx, items->n, bytes, false, &first.row));
    LSP_TRY(whole->B->col ? lsp_scratch_bytes(ctx, items->n, bytes, false, &halfway.col) : LSP_OK);
    LSP_TRY(lsp_scratch_bytes(ctx, items->n, val_bytes, false, &halfway.val));
    f.filed = (lsp_filing){items->n, first.row, halfway.col, halfway.val, type, NULL};
    f.rows.items = &f.filed;
    f.rows.to.keys = (int64_t)1 << shift;
    LSP_TRY(open_sort(ctx, &f.rows, threads));
    sort_items(ctx, &first);
    lsp_for_parts(ctx, first.to.keys, threads, file_small, &f);
    for (int64_t b = 0; b < first.to.keys; b++) {
        if (is_large(&f, b)) {
            file_bucket(&f, b, threads, f.rows.to.counts, f.rows.to.sums);
        }
    }
    return LSP_OK;
}

/* ---- the way ---- */

static lsp_status file_here(lsp_ctx *ctx, const lsp_filing *items, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    const int threads = lsp_threads_for(ctx, B->nnz, least_share);
    const int64_t bytes = (int64_t)(8 + lsp_type_bytes(B->val_type)); /* of an item */
    sorter s = {.items = items, .end = items->n, .B = B};
    int shift = 0;
    while (B->rows >> shift >= most_buckets ||
           ((int64_t)1 << shift < bucket_rows && B->rows >> shift >= buckets_a_thread * threads)) {
        shift++;
    }
    s.to = (lsp_counts){.keys = B->rows, .ends = B->rowptr, .ends_type = B->rowptr_type};
    /* counts are read and written six times, items of buckets twice */
    if (threads > 1 && B->rows >> shift > 1 && B->rows > items->n / threads &&
        items->n * bytes < lsp_available_bytes(ctx, LSP_HOST) / 2) {
        return file_by_buckets(ctx, &s, threads, shift);
    }
    /* the counts of all parts take no more memory than B */
    const int64_t entry_bytes = (int64_t)(lsp_type_bytes(B->col_type) + lsp_type_bytes(B->val_type));
    const int64_t bounded = 1 + B->nnz / lsp_max(B->rows, 1) * entry_bytes / (int64_t)lsp_type_bytes(B->rowptr_type);
    LSP_TRY(open_sort(ctx, &s, (int)lsp_min(threads, bounded)));
    sort_items(ctx, &s);
    return LSP_OK;
}

/* ---- on a GPU: a stable sort of the items' places by row ---- */

/* *col = an array of the items' columns in B's type. */
static lsp_status columns_of(lsp_ctx *ctx, const lsp_filing *items, const lsp_csr *B, const void **col) {
    void *made;
    *col = items->col;
    if (!items->by && items->index_type == B->col_type) {
        return LSP_OK;
    }
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, items->n, lsp_type_bytes(B->col_type), &made));
    *col = made;
    return items->by
               ? LSP_EACH_ENTRY(ctx, list_row,
                                (lsp_entry_job){.args = &(listing){.row = made, .type = B->col_type}, .A = items->by})
               : lsp_convert_values(ctx, LSP_CUDA, B->col_type, made, items->index_type, items->col, items->n);
}

static lsp_status file_there(lsp_ctx *ctx, const lsp_filing *items, const lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_type place_type = items->n > INT32_MAX ? LSP_I64 : LSP_I32;
    listing sorted = {.A = *B, .type = items->index_type};
    void *places;
    const void *col;
    if (items->n == 0) { /* the row pointers are 0 already */
        return LSP_OK;
    }
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, items->n, lsp_type_bytes(items->index_type), &sorted.row));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, items->n, lsp_type_bytes(place_type), &places));
    LSP_TRY(lsp_segsort(ctx,
                        &(lsp_segsort_args){.n = items->n,
                                            .length = items->n,
                                            .segments = 1,
                                            .offset_type = LSP_I64,
                                            .key_type = items->index_type == LSP_I64 ? LSP_U64 : LSP_U32,
                                            .end_bit = (int)lsp_max(lsp_bits((uint64_t)B->rows - 1), 1),
                                            .value_bytes = lsp_type_bytes(place_type),
                                            .keys = items->row,
                                            .keys_out = sorted.row,
                                            .values_out = places,
                                            .flags = LSP_SORT_GLOBAL_POSITIONS,
                                            .where = LSP_CUDA},
                        NULL));
    LSP_TRY(LSP_EACH(ctx, LSP_CUDA, start_row, (lsp_each_job){.args = &sorted, .n = B->rows + 1}));
    LSP_TRY(columns_of(ctx, items, B, &col));
    const lsp_column columns[] = {{.from = col, .to = B->col, .bytes = lsp_type_bytes(B->col_type)},
                                  {.from = items->val, .to = B->val, .bytes = lsp_type_bytes(B->val_type)}};
    return lsp_gather(ctx,
                      &(lsp_gather_args){.n = items->n,
                                         .extent = items->n,
                                         .index = places,
                                         .index_type = place_type,
                                         .columns = columns,
                                         .column_count = B->val_type == LSP_NONE ? 1 : 2,
                                         .where = LSP_CUDA},
                      NULL);
}

lsp_status lsp_csr_file(lsp_ctx *ctx, const lsp_filing *items, lsp_csr *B) {
    return B->where == LSP_CUDA ? file_there(ctx, items, B) : file_here(ctx, items, B);
}
