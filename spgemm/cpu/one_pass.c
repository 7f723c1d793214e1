/* C = A*B in one pass without a plan: a look at the factors, then every row is made where C needs it. Counting the rows
 * first would cost as much as making them, so C gets as much room as a sample of its rows says, and a tenth more. If
 * that is too little, it gets more. */
#include "one_pass.h"
#include "core/isa.h"
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum {
    FEW_ENTRIES = 1 << 15,  /* of A: the products of all rows are counted */
    FEW_PRODUCTS = 1 << 15, /* a plan takes longer than these */
    RUNS = 256,             /* of rows in the sample, at most */
    RUN_ROWS = 8,
    SAMPLED = 16 /* the sample has at most this part of the rows */
};

typedef struct product {
    lsp_csr A, B, C;
    lsp_isa isa;
    lsp_spgemm_run like; /* what all runs have in common */
    int threads;
    lsp_spgemm_run *runs; /* one a thread */
    char *memory;         /* of each thread */
    size_t thread_bytes;
    int64_t entries;     /* that a thread has memory for */
    int64_t parts, done; /* of rows; those that are in C */
    int64_t capacity;    /* entries of C that have a place */
    int64_t *ends;       /* atomic; parts + 1: where each part begins in C; -1: not known yet */
    bool full;           /* atomic: they have no place */
} product;

/* What is known of C before it is made: of a sample of its rows, or of all of them. */
typedef struct estimate {
    lsp_spgemm_sample of;
    int64_t jumps;          /* rows whose first rows of B are far from those of the row above */
    int64_t entries;        /* of A */
    int64_t repeats, exact; /* those whose row of B has the columns of the row above, all moved by one distance; by 0 */
} estimate;

/* ---- threads ---- */

static char *take(char **at, size_t bytes) {
    char *part = *at;
    *at += (bytes + 63) / 64 * 64;
    return part;
}

size_t lsp_spgemm_open_run(const lsp_spgemm_run *like, int64_t cols, int64_t entries, char *memory,
                           lsp_spgemm_run *run) {
    const size_t value = lsp_type_bytes(like->type), columns = (size_t)cols + 63;
    const int shift = lsp_top_shift(cols);
    const size_t blocks = (size_t)(lsp_ceil_div(cols, (int64_t)1 << shift) << (shift - 6));
    char *at = memory;
    *run = *like;
    run->window = cols;
    run->sums = take(&at, columns * value);
    run->marks = (uint8_t *)take(&at, columns);
    run->blocks = (uint8_t *)take(&at, blocks);
    run->col = take(&at, (size_t)entries * sizeof(int64_t));
    run->val = take(&at, (size_t)entries * value);
    run->heap = (lsp_ranked *)(void *)take(&at, (size_t)lsp_min(run->largest, cols) * sizeof *run->heap);
    if (memory != NULL) {
        memset(run->marks, 0, columns / 64 * 64);
        memset(run->blocks, 0, blocks);
    }
    return (size_t)(at - memory);
}

void lsp_spgemm_sum_runs(const lsp_spgemm_run *runs, int threads, lsp_spgemm_info *info) {
    for (int thread = 0; thread < threads; thread++) {
        info->products += runs[thread].products;
        info->nnz_bound += runs[thread].nnz_bound;
        info->max_row_products = lsp_max(info->max_row_products, runs[thread].max_row_products);
    }
}

/* The run of a thread. */
static lsp_spgemm_run *run_of(product *p, int thread) {
    lsp_spgemm_run *run = p->runs + thread;
    if (run->A == NULL) {
        (void)lsp_spgemm_open_run(&p->like, p->B.cols, p->entries, p->memory + (size_t)thread * p->thread_bytes, run);
    }
    return run;
}

static int64_t make_rows(const product *p, lsp_spgemm_run *run) {
    return LSP_ISA_PICK(p->isa, lsp_spgemm_one_pass_rows)(run);
}

/* ---- parts of C ---- */

/* Where a part begins in C; -1 if an earlier one has no place. They were begun earlier, so the wait ends. */
static int64_t await_begin(product *p, int64_t part) {
    int64_t begin;
    while ((begin = __atomic_load_n(&p->ends[part], __ATOMIC_ACQUIRE)) < 0 &&
           !__atomic_load_n(&p->full, __ATOMIC_RELAXED)) {
        sched_yield();
    }
    return begin;
}

/* Copies the rows first .. run->next-1, with `made` entries, to C from entry `at` on. */
static void append(const product *p, const lsp_spgemm_run *run, int64_t first, int64_t made, int64_t at) {
    const lsp_csr *C = &p->C;
    for (int64_t i = first + 1; i <= run->next; i++) {
        lsp_index_set(C->rowptr, C->rowptr_type, i, at + lsp_csr_rowptr(C, i));
    }
    lsp_spgemm_put_entries(run, made, C, at);
}

/* One thread alone makes its rows in C itself, as long as every row fits. Returns their entries. */
static int64_t make_in_place(const product *p, lsp_spgemm_run *run, int64_t at) {
    lsp_spgemm_run here = *run;
    here.col = lsp_spgemm_at(p->C.col, at, p->C.col_type);
    here.val = lsp_spgemm_at(p->C.val, at, p->C.val_type);
    here.base = at;
    here.capacity = p->capacity - at;
    const int64_t made = make_rows(p, &here);
    here.col = run->col;
    here.val = run->val;
    here.base = 0;
    *run = here;
    return made;
}

/* Makes rows from run->next on in the memory of the thread: at least one, so long as it can hold it. */
static int64_t make_some(const product *p, lsp_spgemm_run *run) {
    const int64_t first = run->next;
    run->capacity = LSP_RUN_ENTRIES;
    const int64_t made = make_rows(p, run);
    if (run->next > first) {
        return made;
    }
    run->capacity = p->entries;
    return make_rows(p, run);
}

static void make_part(void *data, int64_t number, int thread) {
    product *p = data;
    const int64_t part = p->done + number;
    lsp_spgemm_run *run = run_of(p, thread);
    const lsp_spgemm_run before = *run;
    int64_t at = -1;
    bool fits = true;
    lsp_csr_share(&p->A, (int)part, (int)p->parts, &run->next, &run->last);
    if (p->threads == 1 && !p->full) {
        at = p->ends[part];
        at += make_in_place(p, run, at);
    }
    while (fits && run->next < run->last) {
        const int64_t first = run->next, made = make_some(p, run);
        at = at < 0 ? await_begin(p, part) : at;
        fits = at >= 0 && made <= p->capacity - at;
        if (fits && run->next == run->last) { /* the next part need not wait until this one is copied */
            __atomic_store_n(&p->ends[part + 1], at + made, __ATOMIC_RELEASE);
        }
        if (fits) {
            append(p, run, first, made, at);
            at += made;
        }
    }
    at = at < 0 ? await_begin(p, part) : at;
    if (fits && at >= 0) {
        __atomic_store_n(&p->ends[part + 1], at, __ATOMIC_RELEASE);
    } else {
        __atomic_store_n(&p->full, true, __ATOMIC_RELAXED);
        run->products = before.products;
        run->nnz_bound = before.nnz_bound;
    }
}

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
 * plan adds exact repeats together, and sorts a row that repeats only once. */
static bool is_promising(const product *p, const estimate *found, lsp_spgemm_way *way) {
    enum { SHORT = 13, LIST = 16, PRODUCTS = 4, HALF = 2 };
    const lsp_spgemm_sample *of = &found->of;
    const bool list = of->nnz <= (of->products < PRODUCTS * of->nnz ? SHORT : LIST) * of->rows;
    const bool near = p->B.cols <= LSP_RUN_NEAR;
    const double shared = (double)of->products / (double)of->nnz;
    *way = list && !near ? LSP_ONE_LIST : LSP_ONE_MARKS;
    return list || ((near ? found->exact : found->repeats) <= found->entries / HALF && shared > (near ? 1.3 : 2.2));
}

/* Makes some rows to count them. False: a row is too long, or after a few runs a plan seems faster, even if the rows
 * were half as long. */
static bool take_sample(product *p, estimate *found) {
    enum { ENOUGH = 3 }; /* runs, less one */
    const int runs = (int)lsp_max(lsp_min(p->A.rows / (SAMPLED * RUN_ROWS), RUNS), 1);
    lsp_spgemm_run *run = run_of(p, 0);
    lsp_spgemm_way way;
    int32_t ends[RUN_ROWS + 1];
    bool good = true;
    run->C = &(lsp_csr){.rowptr_type = LSP_I32, .col_type = LSP_I32};
    for (int r = 0; r < runs && good; r++) {
        const int64_t first = place_of(r, p->A.rows - lsp_min(RUN_ROWS, p->A.rows));
        run->last = lsp_min(first + RUN_ROWS, p->A.rows);
        for (run->next = first; run->next < run->last && good;) {
            const int64_t begin = run->next;
            run->C->rowptr =
                (void *)((uintptr_t)ends - (uintptr_t)begin * sizeof *ends); /* row i is written at i - begin */
            found->of.nnz += make_some(p, run);
            good = run->next > begin;
        }
        found->of.rows += run->last - first;
        found->of.products = run->products;
        count_repeats(p, first, found);
        for (int64_t i = first + 1; i < run->last; i++) {
            found->jumps += jumps(&p->A, i);
        }
        estimate shorter = *found;
        shorter.of.rows *= 2;
        good = good && (r != ENOUGH || is_promising(p, &shorter, &way));
    }
    run->products = run->nnz_bound = run->max_row_products = 0;
    run->C = &p->C;
    return good;
}

/* Bounds the entries of C by the products of its rows, and by those of a row that stay. */
static void count(const product *p, estimate *found) {
    const int64_t largest = p->like.largest, most = largest > 0 ? lsp_min(largest, p->B.cols) : p->B.cols;
    for (int64_t i = 0; i < p->A.rows; i++) {
        const int64_t products = lsp_spgemm_row_products(&p->A, &p->B, i);
        found->of.products += products;
        found->of.nnz += lsp_min(products, most);
    }
    found->of.rows = p->A.rows;
    found->of.all = true;
}

/* Why one pass is not even tried, or NULL. Each thread has a window of all columns: all take at most six times the
 * bytes of the factors. */
static const char *unsuited(const lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options) {
    const int64_t most = INT32_MAX / 2, more = lsp_threads_for(ctx, A->nnz, LSP_WORTH_A_THREAD) - 1;
    const char *never = lsp_spgemm_never_once(A, B, options);
    const bool wide = B->cols > most || B->cols / 16 + more * B->cols / 8 > A->nnz + B->nnz;
    return never != NULL                ? never
           : ctx->options.max_bytes > 0 ? "a memory budget is set; "
           : wide                       ? "many columns for the entries; "
                                        : NULL;
}

/* ---- the product ---- */

/* Only the largest entries of each row are made, if the filter wants no more: rows of any length suit, and few entries
 * are left to be sorted. But a window beyond the caches must get many products (measured: 144 products among 300,000
 * columns take as long by a plan). */
static void choose_largest(const product *p, const lsp_filter *filter, lsp_spgemm_run *like) {
    enum { NEAR_COLUMNS = 1 << 17, COLUMNS = 64 };
    const double products = (double)p->A.nnz / (double)p->A.rows * (double)p->B.nnz / (double)p->B.rows; /* of a row */
    const bool near = p->B.cols <= NEAR_COLUMNS || products >= (double)p->B.cols / COLUMNS;
    const bool whole = lsp_is_integer(like->type), all = whole && filter->tolerance >= 9223372036854775808.0; /* 2^63 */
    if (near && filter->mask == NULL && like->type != LSP_NONE &&
        lsp_min(filter->largest, p->B.cols) <= LSP_RUN_ENTRIES) {
        like->largest = filter->largest;
        like->least = !filter->drop ? 0
                      : all         ? UINT64_MAX
                      : whole       ? (uint64_t)filter->tolerance + 1
                                    : lsp_rank_of(filter->tolerance) + 1;
    }
}

static int64_t longest_row(const lsp_csr *B) {
    int64_t longest = 0;
    for (int64_t k = 0; k < B->rows; k++) {
        longest = lsp_max(longest, lsp_csr_rowptr(B, k + 1) - lsp_csr_rowptr(B, k));
    }
    return longest;
}

/* Prepares the factors and the runs. */
static lsp_status prepare(lsp_ctx *ctx, const lsp_filter *filter, product *p) {
    const lsp_csr A = p->A, B = p->B;
    const lsp_type type = p->like.type;
    const bool any = (type == LSP_F32 || type == LSP_F64) && !lsp_is_integer(A.val_type); /* kernels read both */
    choose_largest(p, filter, &p->like);
    LSP_TRY(type == LSP_NONE ? LSP_OK : lsp_csr_widen(ctx, &B, type, &p->B));
    LSP_TRY(type == LSP_NONE || any ? LSP_OK : lsp_csr_widen(ctx, &A, type, &p->A));
    p->threads = lsp_threads_for(ctx, A.nnz, LSP_WORTH_A_THREAD);
    p->entries = lsp_max(LSP_RUN_ENTRIES, B.cols);
    p->thread_bytes = lsp_spgemm_open_run(&p->like, B.cols, p->entries, NULL, &(lsp_spgemm_run){0});
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, p->threads, &p->runs));
    LSP_TRY(lsp_scratch_bytes(ctx, p->threads, p->thread_bytes, false, (void **)&p->memory));
    p->like.way = B.cols <= LSP_RUN_NEAR ? LSP_ONE_MARKS : LSP_ONE_LIST; /* of the sample */
    p->like.longest = longest_row(&B);
    p->like.A = &p->A;
    p->like.B = &p->B;
    p->like.C = &p->C;
    return LSP_OK;
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
    p->like.dense = bits;
    p->like.words = words;
    return LSP_OK;
}

/* Does one pass seem better than two? Looks at all rows if they are few, or at a sample. Chooses the way and the room
 * of C. */
static bool is_better(product *p, lsp_type rowptr_type, estimate *found) {
    enum { BLOCK_ENTRIES = 4, MOST_BOUND = 1 << 20 };
    const lsp_csr *A = &p->A, *B = &p->B;
    const bool near = B->cols <= LSP_RUN_NEAR, dense = near && B->nnz / BLOCK_ENTRIES >= B->rows * words_of(B);
    lsp_spgemm_way *way = &p->like.way;
    p->capacity = INT64_MAX;
    if (A->nnz <= FEW_ENTRIES || dense || p->like.largest > 0) {
        count(p, found);
        p->capacity = found->of.nnz;
    }
    if (p->like.largest > 0 || (found->of.all && found->of.products <= FEW_PRODUCTS)) {
        enum { SHORT = 26 }; /* products of a row */
        const bool list = !near && p->like.largest == 0 && found->of.products <= SHORT * A->rows;
        *way = list ? LSP_ONE_LIST : LSP_ONE_MARKS;
    } else if (dense && p->capacity <= MOST_BOUND && found->of.products / BLOCK_ENTRIES >= B->nnz) {
        *way = LSP_ONE_DENSE; /* otherwise making the bits takes too long */
    } else {
        *found = (estimate){0};
        if (!take_sample(p, found) || !is_promising(p, found, way)) {
            return false;
        }
        const double entries = (double)found->of.nnz / (double)found->of.rows * (double)A->rows;
        p->capacity = p->capacity <= MOST_BOUND ? p->capacity : (int64_t)(1.1 * entries) + RUN_ROWS;
    }
    return p->capacity <= INT32_MAX || rowptr_type == LSP_I64;
}

lsp_status lsp_spgemm_set_room(lsp_ctx *ctx, int64_t used, int64_t room, lsp_csr *C) {
    void **const arrays[] = {&C->col, &C->val};
    const size_t bytes[] = {lsp_type_bytes(C->col_type), lsp_type_bytes(C->val_type)};
    for (int a = 0; a < 2; a++) {
        void *moved = NULL;
        LSP_TRY(lsp_alloc(ctx, LSP_HOST, room, bytes[a], &moved));
        if (moved != NULL && used > 0) {
            memcpy(moved, *arrays[a], (size_t)used * bytes[a]);
        }
        lsp_free(ctx, *arrays[a]);
        *arrays[a] = moved;
    }
    return LSP_OK;
}

lsp_status lsp_spgemm_trim(lsp_ctx *ctx, int64_t room, lsp_csr *C) {
    return room - C->nnz > C->nnz / 8 ? lsp_spgemm_set_room(ctx, C->nnz, C->nnz, C) : LSP_OK;
}

/* Gives C more room: as much as the parts that are done say, and a quarter more at least. *suits = false if its row
 * pointers cannot count so many. */
static lsp_status grow(lsp_ctx *ctx, product *p, bool *suits) {
    const int64_t used = p->ends[p->done];
    const double all = 1.1 * (double)used / (double)(p->done + 1) * (double)p->parts;
    p->capacity = lsp_max(p->capacity + p->capacity / 4 + RUN_ROWS, (int64_t)all);
    *suits = p->capacity <= INT32_MAX || p->C.rowptr_type == LSP_I64;
    return *suits ? lsp_spgemm_set_room(ctx, used, p->capacity, &p->C) : LSP_OK;
}

/* Makes the rows of C, unless its row pointers cannot count the entries. */
static lsp_status make_result(lsp_ctx *ctx, product *p, const lsp_csr_types *types, bool *suits) {
    LSP_TRY(p->like.way == LSP_ONE_DENSE ? make_dense(ctx, p) : LSP_OK);
    LSP_TRY(lsp_csr_create(ctx, p->A.rows, p->B.cols, p->capacity, types, &p->C));
    p->parts = lsp_max(lsp_min(p->capacity / (LSP_RUN_ENTRIES / 2), p->A.rows), 1);
    LSP_TRY(LSP_SCRATCH(ctx, p->parts + 1, &p->ends));
    memset(p->ends, -1, ((size_t)p->parts + 1) * sizeof *p->ends);
    p->ends[0] = 0;
    while (*suits && p->done < p->parts) {
        LSP_TRY(p->full ? grow(ctx, p, suits) : LSP_OK);
        p->full = false;
        LSP_TRY(*suits ? lsp_try_parts(ctx, p->parts - p->done, p->threads, make_part, p) : LSP_OK);
        while (p->done < p->parts && p->ends[p->done + 1] >= 0) {
            p->done++;
        }
    }
    p->C.nnz = *suits ? p->ends[p->parts] : 0;
    return *suits ? lsp_spgemm_trim(ctx, p->capacity, &p->C) : LSP_OK;
}

/* Makes C, and says how; if C is NULL, only says so. Sets *done, unless C has more entries than its row pointers count.
 */
static lsp_status make(lsp_ctx *ctx, product *p, const lsp_csr_types *types, const estimate *found, lsp_csr *C,
                       lsp_spgemm_info *info, bool *done) {
    lsp_spgemm_info told = {.method = LSP_SPGEMM_SORT, .method_name = "sort", .blocks = 1, .passes = 1};
    const double products = (double)found->of.products / (double)found->of.rows * (double)p->A.rows;
    char how[64];
    bool suits = true;
    p->like.far = found->jumps > found->of.rows / 2 && lsp_is_far(&p->B);
    p->runs->way = p->like.way;
    p->runs->far = p->like.far;
    p->threads = products <= LSP_ALONE ? 1 : p->threads;
    snprintf(how, sizeof how, "%sin a window of all columns; %d thread%s",
             p->like.largest > 0            ? "the largest "
             : p->like.way == LSP_ONE_DENSE ? "with B as bits "
                                            : "",
             p->threads, p->threads > 1 ? "s" : "");
    lsp_spgemm_tell_passes(&told, 1, &found->of, how);
    told.scratch_bytes = p->threads * (int64_t)(p->thread_bytes + sizeof *p->runs);
    LSP_TRY(C == NULL ? LSP_OK : make_result(ctx, p, types, &suits));
    if (!suits) {
        lsp_spgemm_tell_passes(info, 2, &found->of, "the sample was wrong; ");
        return LSP_OK;
    }
    if (C != NULL) {
        told.nnz = p->C.nnz;
        lsp_spgemm_sum_runs(p->runs, p->threads, &told);
        told.bound_bytes = lsp_spgemm_matrix_bytes(p->C.rows, p->C.cols, told.nnz_bound, types, p->C.val_type);
        lsp_progress(ctx, "multiply", 1); /* not before: after a wrong sample a plan would start again from 0 */
        lsp_csr_put(ctx, C, &p->C, false);
    }
    *info = told;
    *done = true;
    return LSP_OK;
}

/* Decides, then makes C. */
static lsp_status try_once(lsp_ctx *ctx, product *p, const lsp_spgemm_options *options, estimate *found, lsp_csr *C,
                           lsp_spgemm_info *info, bool *done) {
    lsp_csr_types types = options->types;
    types.val_type = p->like.type;
    LSP_TRY(prepare(ctx, &options->filter, p));
    if (is_better(p, types.rowptr_type, found)) {
        return make(ctx, p, &types, found, C, info, done);
    }
    lsp_spgemm_tell_passes(info, 2, &found->of, "");
    return LSP_OK;
}

lsp_status lsp_spgemm_one_pass(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                               lsp_csr *C, lsp_spgemm_info *info, bool *done) {
    const char *why = unsuited(ctx, A, B, options);
    *done = false;
    if (why != NULL) {
        lsp_spgemm_tell_passes(info, 2, NULL, why);
        return LSP_OK;
    }
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_type type = lsp_spgemm_result_type(A, B, options);
    product p = {.like = {.type = type, .semiring = options->semiring},
                 .isa = ctx->isa,
                 .A = lsp_spgemm_view(A, type),
                 .B = lsp_spgemm_view(B, type)};
    estimate found = {0};
    const lsp_status status = try_once(ctx, &p, options, &found, C, info, done);
    lsp_csr_free(ctx, &p.C);
    if (status == LSP_ERR_MEMORY) {
        lsp_spgemm_tell_passes(info, 2, &found.of, "no memory for one; ");
    }
    return status == LSP_ERR_MEMORY ? LSP_OK : status; /* a plan needs less */
}
