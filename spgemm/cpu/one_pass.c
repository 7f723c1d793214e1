/* C = A*B in one pass without a plan: a look at the factors, then every row is made where C needs it. Counting the rows
 * first would cost as much as making them, so C gets as much room as a sample of its rows says, and a tenth more. If
 * that is too little, it gets more. */
#include "one_pass.h"
#include <stdio.h>

enum {
    FEW_ENTRIES = 1 << 15,  /* of A: the products of all rows are counted */
    FEW_PRODUCTS = 1 << 15, /* a plan takes longer than these */
    RUNS = 256,             /* of rows in the sample, at most */
    SAMPLED = 32            /* the sample has at most this part of the rows */
};

typedef struct product {
    lsp_spgemm_plan *job;
    lsp_csr A, B;
    lsp_spgemm_parts parts;
} product;

/* What is known of C before it is made: of a sample of its rows, or of all of them. */
typedef struct estimate {
    lsp_spgemm_sample of;
    int64_t jumps;          /* rows whose first rows of B are far from those of the row above */
    int64_t entries;        /* of A */
    int64_t repeats, exact; /* those whose row of B has the columns of the row above, all moved by one distance; by 0 */
} estimate;

/* ---- the look at the factors ---- */

/* The first row of a run, from 0 to most. Multiples of the golden ratio spread evenly, and follow no grid's period. */
static int64_t place_of(int run, int64_t most) {
    const uint64_t fraction = (uint64_t)run * UINT64_C(0x9E3779B97F4A7C15);
    return (int64_t)((unsigned __int128)fraction * ((uint64_t)most + 1) >> 64);
}

/* Is the first entry of row i of A far from that of the row above? */
static bool jumps(const lsp_csr *A, int64_t i) {
    enum { NEAR_ROWS = 64 };
    const int64_t above = lsp_csr_rowptr(A, i - 1), row = lsp_csr_rowptr(A, i);
    const int64_t distance = row < lsp_csr_rowptr(A, i + 1) ? lsp_csr_col(A, row) - lsp_csr_col(A, above) : 0;
    return above < row && (distance < -NEAR_ROWS || distance > NEAR_ROWS);
}

/* Row k of B has the columns of the row above plus *distance. */
static bool repeats(const lsp_csr *B, int64_t k, int64_t *distance) {
    const int64_t begin = lsp_csr_rowptr(B, k), n = lsp_csr_rowptr(B, k + 1) - begin;
    bool same = k > 0 && n > 0 && begin - lsp_csr_rowptr(B, k - 1) == n;
    *distance = same ? lsp_csr_col(B, begin) - lsp_csr_col(B, begin - n) : 0;
    for (int64_t q = begin; q < begin + n && same; q++) {
        same = lsp_csr_col(B, q) - lsp_csr_col(B, q - n) == *distance;
    }
    return same;
}

/* Counts the entries of row i of A, and those whose row of B repeats. */
static void count_repeats(const product *p, int64_t i, estimate *found) {
    for (int64_t e = lsp_csr_rowptr(&p->A, i), end = lsp_csr_rowptr(&p->A, i + 1); e < end; e++) {
        int64_t distance;
        const bool again = repeats(&p->B, lsp_csr_col(&p->A, e), &distance);
        found->entries++;
        found->repeats += again;
        found->exact += again && distance == 0;
    }
}

/* How rows are made in one pass, if that is faster than a plan. Measured on a Xeon with AVX-512: a list up to 13
 * entries a row, 16 if each has 4 products; marks if enough products fall on an entry, unless most rows of B repeat: a
 * plan adds exact repeats together, and sorts a row that repeats only once. Several threads copy what they made, and
 * without vectors a plan sorts slowly. */
static bool is_promising(const product *p, const estimate *found, lsp_spgemm_way *way) {
    enum { SHORT = 13, LIST = 16, PRODUCTS = 4, HALF = 2 };
    const lsp_spgemm_sample *of = &found->of;
    const bool list = of->nnz <= (of->products < PRODUCTS * of->nnz ? SHORT : LIST) * of->rows;
    const bool near = p->B.cols <= LSP_RUN_NEAR;
    const double shared = (double)of->products / (double)of->nnz, least = near ? 1.3 : p->parts.threads > 1 ? 2.2 : 1.8;
    const bool slow_sort = p->parts.isa == LSP_ISA_PORTABLE;
    *way = list && !near ? LSP_ONE_LIST : LSP_ONE_MARKS;
    return list || ((near ? found->exact : found->repeats) <= found->entries / HALF &&
                    shared > (slow_sort ? least / 1.3 : least));
}

typedef struct sampling {
    product *p;
    estimate *found; /* atomic: threads add up what they found */
    int64_t begin;   /* the first run that threads share */
} sampling;

/* Makes the rows of a run to count them. */
static void sample_run(void *data, int64_t part, int thread) {
    const sampling *s = data;
    product *p = s->p;
    estimate one = {0};
    const int64_t rows = p->A.rows, most = rows - lsp_min(LSP_RUN_SAMPLE, rows);
    const int64_t first = place_of((int)(s->begin + part), most), last = lsp_min(first + LSP_RUN_SAMPLE, rows);
    int64_t bound;
    one.of = lsp_spgemm_sample_rows(&p->parts, thread, &p->A, &p->B, first, last, &bound);
    count_repeats(p, first, &one);
    for (int64_t i = first + 1; i < last; i++) {
        one.jumps += jumps(&p->A, i);
    }
    int64_t *const all[] = {&s->found->of.rows, &s->found->of.products, &s->found->of.nnz, &s->found->jumps,
                            &s->found->entries, &s->found->repeats,     &s->found->exact};
    const int64_t its[] = {one.of.rows, one.of.products, one.of.nnz, one.jumps, one.entries, one.repeats, one.exact};
    for (int k = 0; k < 7; k++) {
        __atomic_fetch_add(all[k], its[k], __ATOMIC_RELAXED);
    }
}

/* Counts a sample of rows. False: after a few runs a plan seems faster, even if the rows were half as long. */
static bool take_sample(product *p, estimate *found) {
    enum { ENOUGH = 4 }; /* runs */
    const lsp_ctx *ctx = p->job->ctx;
    const int64_t rows = p->A.rows, least = lsp_min(rows / LSP_RUN_SAMPLE + 1, ENOUGH);
    const int64_t runs = lsp_max(lsp_min(rows / (SAMPLED * LSP_RUN_SAMPLE), RUNS), least);
    sampling s = {p, found, 0};
    lsp_spgemm_way way;
    lsp_for_parts(ctx, least, 1, sample_run, &s);
    estimate shorter = *found;
    shorter.of.rows *= 2;
    if (least == ENOUGH && !is_promising(p, &shorter, &way)) {
        return false;
    }
    s.begin = least;
    const bool few = found->of.products / least * runs <= LSP_ALONE;
    lsp_for_parts(ctx, runs - least, few ? 1 : p->parts.threads, sample_run, &s);
    return true;
}

/* Why one pass is not even tried, or NULL. Each thread has a window of all columns: all take at most six times the
 * bytes of the factors. */
static const char *unsuited(const lsp_spgemm_plan *job, const lsp_csr *A, const lsp_csr *B) {
    const int64_t most = INT32_MAX / 2, more = lsp_threads_for(job->ctx, A->nnz, LSP_WORTH_A_THREAD) - 1;
    const char *never = lsp_spgemm_never_once(job, A, B);
    const bool wide = B->cols > most || B->cols / 16 + more * B->cols / 8 > A->nnz + B->nnz;
    return never != NULL                     ? never
           : job->ctx->options.max_bytes > 0 ? "a memory budget is set; "
           : wide                            ? "many columns for the entries; "
                                             : NULL;
}

/* ---- the product ---- */

/* Only the largest entries of each row are made, if the filter wants no more: rows of any length suit, and few entries
 * are left to be sorted. But a window beyond the caches must get many products (measured: 144 products among 300,000
 * columns take as long by a plan). */
static void choose_largest(const product *p, lsp_spgemm_run *like) {
    enum { NEAR_COLUMNS = 1 << 17, COLUMNS = 64 };
    const lsp_filter *filter = &p->job->options.filter;
    const double products = (double)p->A.nnz / (double)p->A.rows * (double)p->B.nnz / (double)p->B.rows; /* of a row */
    const bool near = p->B.cols <= NEAR_COLUMNS || products >= (double)p->B.cols / COLUMNS;
    const bool whole = lsp_is_integer(like->type), all = whole && filter->tolerance >= 9223372036854775808.0; /* 2^63 */
    if (near && filter->mask == NULL && like->type != LSP_NONE && like->type == p->job->val_type &&
        lsp_min(filter->largest, p->B.cols) <= LSP_RUN_ENTRIES) {
        like->largest = filter->largest;
        like->least = !filter->drop ? 0
                      : all         ? UINT64_MAX
                      : whole       ? (uint64_t)filter->tolerance + 1
                                    : lsp_rank_of(filter->tolerance) + 1;
    }
}

typedef struct longest_search {
    const lsp_csr *A;
    int64_t least; /* minus the entries of the longest row */
} longest_search;

static void search_share(void *data, int64_t begin, int64_t end) {
    longest_search *s = data;
    lsp_csr some = *s->A;
    some.rowptr = lsp_spgemm_at(some.rowptr, begin, some.rowptr_type);
    some.rows = end - begin;
    lsp_lower(&s->least, -lsp_spgemm_longest_row(&some));
}

/* The entries of the longest row. */
static int64_t longest_row(const lsp_ctx *ctx, const lsp_csr *A) {
    enum { WORTH = 1 << 16 }; /* rows for a thread */
    longest_search s = {.A = A};
    lsp_for_shares(ctx, A->rows, WORTH, search_share, &s);
    return -s.least;
}

/* Prepares the factors and the runs. */
static lsp_status prepare(lsp_ctx *ctx, product *p) {
    const lsp_csr *A = &p->A, *B = &p->B;
    choose_largest(p, &p->parts.like);
    LSP_TRY(lsp_spgemm_convert(ctx, p->job->type, &p->A, &p->B));
    p->parts.threads = lsp_threads_for(ctx, A->nnz, LSP_WORTH_A_THREAD);
    p->parts.like.way = B->cols <= LSP_RUN_NEAR ? LSP_ONE_MARKS : LSP_ONE_LIST; /* of the sample */
    p->parts.like.longest = longest_row(ctx, B);
    p->parts.A = A;
    p->parts.B = B;
    const int64_t most = lsp_min(longest_row(ctx, A) * p->parts.like.longest, B->cols); /* of a row of C */
    return lsp_spgemm_open_runs(ctx, B->cols, most, &p->parts);
}

/* Words that hold a row of B as bits. */
static int64_t words_of(const lsp_csr *B) { return (B->cols + 511) / 512 * 8; }

/* Makes B's columns as bits. */
static lsp_status make_dense(lsp_ctx *ctx, product *p) {
    const lsp_csr *B = &p->B;
    const int64_t words = words_of(B);
    uint64_t *bits;
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, B->rows * words, &bits));
    for (int64_t k = 0; k < B->rows; k++) {
        for (int64_t q = lsp_csr_rowptr(B, k); q < lsp_csr_rowptr(B, k + 1); q++) {
            const int64_t j = lsp_csr_col(B, q);
            bits[k * words + j / 64] |= (uint64_t)1 << j % 64;
        }
    }
    p->parts.like.dense = bits;
    p->parts.like.words = words;
    return LSP_OK;
}

/* Does one pass seem better than two? Looks at all rows if they are few, or at a sample. Chooses the way and the room
 * of C. */
static bool is_better(product *p, estimate *found) {
    enum { BLOCK_ENTRIES = 4, MOST_BOUND = 1 << 20 };
    const lsp_csr *A = &p->A, *B = &p->B;
    const bool near = B->cols <= LSP_RUN_NEAR, dense = near && B->nnz / BLOCK_ENTRIES >= B->rows * words_of(B);
    const int64_t largest = p->parts.like.largest, most = largest > 0 ? lsp_min(largest, B->cols) : B->cols;
    lsp_spgemm_way *way = &p->parts.like.way;
    p->parts.capacity = INT64_MAX;
    if (A->nnz <= FEW_ENTRIES || dense || largest > 0) {
        found->of = (lsp_spgemm_sample){.rows = A->rows, .all = true};
        p->parts.capacity = found->of.nnz = lsp_spgemm_bound(A, B, most, &found->of.products);
    }
    if (largest > 0 || (found->of.all && found->of.products <= FEW_PRODUCTS)) {
        enum { SHORT = 26 }; /* products of a row */
        const bool list = !near && largest == 0 && found->of.products <= SHORT * A->rows;
        *way = list ? LSP_ONE_LIST : LSP_ONE_MARKS;
    } else if (dense && p->parts.capacity <= MOST_BOUND && found->of.products / BLOCK_ENTRIES >= B->nnz) {
        *way = LSP_ONE_DENSE; /* otherwise making the bits takes too long */
    } else {
        *found = (estimate){0};
        if (!take_sample(p, found) || !is_promising(p, found, way)) {
            return false;
        }
        const double entries = (double)found->of.nnz / (double)found->of.rows * (double)A->rows;
        p->parts.capacity =
            p->parts.capacity <= MOST_BOUND ? p->parts.capacity : (int64_t)(1.1 * entries) + LSP_RUN_SAMPLE;
    }
    return p->parts.capacity <= INT32_MAX || p->job->options.types.rowptr_type == LSP_I64;
}

/* Makes the rows of C. */
static lsp_status make_rows(lsp_ctx *ctx, product *p, bool *fits) {
    lsp_spgemm_parts *parts = &p->parts;
    const int64_t work = lsp_max(parts->capacity, p->A.rows + p->A.nnz); /* the largest of long rows are few entries */
    parts->count = lsp_max(lsp_min(work / (LSP_RUN_ENTRIES / 2), p->A.rows), 1);
    LSP_TRY(parts->like.way == LSP_ONE_DENSE ? make_dense(ctx, p) : LSP_OK);
    LSP_TRY(lsp_csr_create(ctx, p->A.rows, p->B.cols, 0, &p->job->options.types, &parts->C));
    return lsp_spgemm_make_parts(ctx, parts, fits);
}

/* Makes C, and says how; if C is NULL, only says so. Sets *done, unless row pointers cannot count C's entries. */
static lsp_status make(lsp_ctx *ctx, product *p, const estimate *found, lsp_csr *C, bool *done) {
    lsp_spgemm_info *info = &p->job->info;
    const double products = (double)found->of.products / (double)found->of.rows * (double)p->A.rows;
    char how[64];
    bool fits = true;
    p->parts.like.far = found->jumps > found->of.rows / 2 && lsp_is_far(&p->B);
    for (int thread = 0; thread < p->parts.threads; thread++) { /* those of the sample */
        p->parts.runs[thread].way = p->parts.like.way;
        p->parts.runs[thread].far = p->parts.like.far;
    }
    p->parts.threads = products <= LSP_ALONE ? 1 : p->parts.threads;
    snprintf(how, sizeof how, "%sin a window of all columns; %d thread%s",
             p->parts.like.largest > 0            ? "the largest "
             : p->parts.like.way == LSP_ONE_DENSE ? "with B as bits "
                                                  : "",
             p->parts.threads, p->parts.threads > 1 ? "s" : "");
    LSP_TRY(C == NULL ? LSP_OK : make_rows(ctx, p, &fits));
    if (!fits) {
        lsp_spgemm_tell_passes(info, 2, &found->of, "the sample was wrong; ");
        return LSP_OK;
    }
    *info = (lsp_spgemm_info){.method = LSP_SPGEMM_SORT, .method_name = "sort", .blocks = 1};
    info->scratch_bytes = p->parts.threads * (int64_t)(p->parts.thread_bytes + sizeof *p->parts.runs);
    lsp_spgemm_tell_passes(info, 1, &found->of, how);
    if (C != NULL) {
        info->nnz = p->parts.C.nnz;
        lsp_spgemm_sum_runs(&p->parts, info);
        info->bound_bytes =
            lsp_spgemm_matrix_bytes(p->A.rows, p->B.cols, info->nnz_bound, &p->job->options.types, p->job->val_type);
        lsp_progress(ctx, "multiply", 1); /* not before: after a wrong sample a plan would start again from 0 */
        lsp_csr_put(ctx, C, &p->parts.C, false);
    }
    *done = true;
    return LSP_OK;
}

/* Decides, then makes C. */
static lsp_status try_once(lsp_ctx *ctx, product *p, estimate *found, lsp_csr *C, bool *done) {
    LSP_TRY(prepare(ctx, p));
    if (is_better(p, found)) {
        return make(ctx, p, found, C, done);
    }
    lsp_spgemm_tell_passes(&p->job->info, 2, &found->of, "");
    return LSP_OK;
}

lsp_status lsp_spgemm_one_pass(lsp_spgemm_plan *job, const lsp_csr *A, const lsp_csr *B, lsp_csr *C, bool *done) {
    lsp_ctx *ctx = job->ctx;
    const char *why = unsuited(job, A, B);
    *done = false;
    if (why != NULL) {
        lsp_spgemm_tell_passes(&job->info, 2, NULL, why);
        return LSP_OK;
    }
    LSP_SCRATCH_SCOPE(ctx);
    product p = {.job = job,
                 .parts = {.like = {.type = job->type, .semiring = job->options.semiring}, .isa = ctx->isa},
                 .A = lsp_spgemm_view(A, job->type),
                 .B = lsp_spgemm_view(B, job->type)};
    estimate found = {0};
    const lsp_status status = try_once(ctx, &p, &found, C, done);
    lsp_csr_free(ctx, &p.parts.C);
    if (status == LSP_ERR_MEMORY) {
        lsp_spgemm_tell_passes(&job->info, 2, &found.of, "no memory for one; ");
    }
    return status == LSP_ERR_MEMORY ? LSP_OK : status; /* a plan needs less */
}
