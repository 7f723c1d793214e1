/* C = A*B in one pass without a plan: a look at the factors, then every row is made where C needs it. Counting the rows
 * first would cost as much as making them, so C gets as much room as a sample of its rows says, and a tenth more. If
 * that is too little, the product is left to a plan. */
#include "core/isa.h"
#include "cpu.h"
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum {
    SMALL_ENTRIES = 1 << 15, /* of A: their products are counted instead */
    RUNS = 256,              /* of rows in the sample, at most */
    RUN_ROWS = 8,
    SAMPLED = 16,       /* the sample has at most this part of the rows */
    PART_WORK = 1 << 14 /* rows and entries of A in a part */
};

typedef struct product {
    lsp_csr A, B, C;
    lsp_isa isa;
    lsp_spgemm_run like; /* what all runs have in common */
    int threads;
    lsp_spgemm_run *runs; /* one a thread */
    char *memory;         /* of each thread */
    size_t thread_bytes;
    int64_t parts, capacity; /* capacity: entries of C that have a place */
    int64_t *ends;           /* atomic; parts + 1: where each part begins in C; -1: not known yet */
    bool failed;             /* atomic */
} product;

/* What is known of C before it is made: of a sample of its rows, or of all of them. */
typedef struct estimate {
    lsp_spgemm_sample of;
    int64_t jumps;            /* rows whose first rows of B are far from those of the row above */
    int64_t entries, repeats; /* entries of A; those whose row of B has the columns of the row above it */
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
    const int64_t in_row = like->largest > 0 ? lsp_max(entries, cols) : entries;
    char *at = memory;
    *run = *like;
    run->most = entries;
    run->window = cols;
    run->sums = take(&at, columns * value);
    run->touched = (uint8_t *)take(&at, columns);
    for (int k = 0; k < 2; k++) {
        run->columns[k] = (uint32_t *)(void *)take(&at, ((size_t)in_row + LSP_WORD_PAD) * sizeof(uint32_t));
    }
    run->col = take(&at, (size_t)entries * sizeof(int64_t));
    run->val = take(&at, (size_t)entries * value);
    run->heap = (lsp_ranked *)(void *)take(&at, (size_t)lsp_min(run->largest, cols) * sizeof *run->heap);
    if (memory != NULL) {
        memset(run->touched, 0, columns / 64 * 64);
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
        (void)lsp_spgemm_open_run(&p->like, p->B.cols, LSP_RUN_ENTRIES, p->memory + (size_t)thread * p->thread_bytes,
                                  run);
    }
    return run;
}

static int64_t make_rows(const product *p, lsp_spgemm_run *run) {
    return LSP_ISA_PICK(p->isa, lsp_spgemm_one_pass_rows)(run);
}

/* ---- parts of C ---- */

/* Where a part begins in C. The parts before it were begun earlier, so the wait ends. */
static int64_t await_begin(product *p, int64_t part) {
    int64_t begin;
    while ((begin = __atomic_load_n(&p->ends[part], __ATOMIC_ACQUIRE)) < 0) {
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
    *run = here;
    run->base = 0;
    return made;
}

static void make_part(void *data, int64_t part, int thread) {
    product *p = data;
    lsp_spgemm_run *run = run_of(p, thread);
    int64_t at = -1;
    lsp_csr_share(&p->A, (int)part, (int)p->parts, &run->next, &run->last);
    if (p->threads == 1 && !p->failed) {
        at = await_begin(p, part);
        at += make_in_place(p, run, at);
    }
    bool failed = __atomic_load_n(&p->failed, __ATOMIC_RELAXED);
    while (run->next < run->last && !failed) {
        const int64_t first = run->next;
        run->capacity = LSP_RUN_ENTRIES;
        const int64_t made = make_rows(p, run);
        at = at < 0 ? await_begin(p, part) : at;
        failed = run->next == first || made > p->capacity - at || __atomic_load_n(&p->failed, __ATOMIC_RELAXED);
        if (run->next == run->last && !failed) { /* the next part need not wait until this one is copied */
            __atomic_store_n(&p->ends[part + 1], at + made, __ATOMIC_RELEASE);
        }
        if (!failed) {
            append(p, run, first, made, at);
            at += made;
        }
    }
    if (failed) {
        __atomic_store_n(&p->failed, true, __ATOMIC_RELAXED);
    }
    at = at < 0 ? await_begin(p, part) : at;
    __atomic_store_n(&p->ends[part + 1], at, __ATOMIC_RELEASE);
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

/* Counts the entries of row i of A, and those whose row of B has the columns of the row of B above it. */
static void count_repeats(const product *p, int64_t i, estimate *found) {
    const lsp_csr *A = &p->A, *B = &p->B;
    const size_t bytes = lsp_type_bytes(B->col_type);
    for (int64_t e = lsp_csr_rowptr(A, i); e < lsp_csr_rowptr(A, i + 1); e++, found->entries++) {
        const int64_t k = lsp_csr_col(A, e), begin = lsp_csr_rowptr(B, k), n = lsp_csr_rowptr(B, k + 1) - begin;
        found->repeats += k > 0 && begin - lsp_csr_rowptr(B, k - 1) == n &&
                          memcmp((char *)B->col + (size_t)(begin - n) * bytes, (char *)B->col + (size_t)begin * bytes,
                                 (size_t)n * bytes) == 0;
    }
}

/* Is one pass faster than a plan? Measured on an EPYC with AVX-512: up to 13 entries a row always; up to 16 if each has
 * 4 products; up to 32 if, besides, fewer than half of the rows of B repeat (a plan adds those together). */
static bool is_promising(const estimate *found) {
    enum { FEW = 13, MORE = 16, MOST = 32, PRODUCTS = 4, ROW_PRODUCTS = 2048, REPEATS = 2 };
    const lsp_spgemm_sample *of = &found->of;
    const int64_t columns = of->products < PRODUCTS * of->nnz           ? FEW
                            : found->repeats > found->entries / REPEATS ? MORE
                                                                        : MOST;
    return of->nnz <= columns * of->rows && of->products <= ROW_PRODUCTS * of->rows;
}

/* Makes some rows to count them. False: a row is too long, or after a few runs the rows seem to be twice as long as is
 * promising. */
static bool take_sample(product *p, estimate *found) {
    enum { ENOUGH = 3 }; /* runs, less one */
    const int runs = (int)lsp_max(lsp_min(p->A.rows / (SAMPLED * RUN_ROWS), RUNS), 1);
    lsp_spgemm_run *run = run_of(p, 0);
    int64_t ends[RUN_ROWS + 1];
    bool fits = true;
    run->C = &(lsp_csr){.rowptr_type = LSP_I64, .col_type = LSP_I64};
    run->capacity = LSP_RUN_ENTRIES;
    for (int r = 0; r < runs && fits; r++) {
        const int64_t first = place_of(r, p->A.rows - lsp_min(RUN_ROWS, p->A.rows));
        run->last = lsp_min(first + RUN_ROWS, p->A.rows);
        for (run->next = first; run->next < run->last && fits;) {
            const int64_t begin = run->next;
            run->C->rowptr =
                (void *)((uintptr_t)ends - (uintptr_t)begin * sizeof *ends); /* row i is written at i - begin */
            found->of.nnz += make_rows(p, run);
            fits = run->next > begin;
        }
        found->of.rows += run->last - first;
        found->of.products = run->products;
        count_repeats(p, first, found);
        for (int64_t i = first + 1; i < run->last; i++) {
            found->jumps += jumps(&p->A, i);
        }
        estimate shorter = *found;
        shorter.of.rows *= 2;
        fits = fits && (r != ENOUGH || is_promising(&shorter));
    }
    run->products = run->nnz_bound = run->max_row_products = 0;
    run->C = &p->C;
    return fits;
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

/* Prepares the factors and the runs. */
static lsp_status prepare(lsp_ctx *ctx, const lsp_filter *filter, product *p) {
    const lsp_csr A = p->A, B = p->B;
    const lsp_type type = p->like.type;
    const bool any = (type == LSP_F32 || type == LSP_F64) && !lsp_is_integer(A.val_type); /* kernels read both */
    choose_largest(p, filter, &p->like);
    LSP_TRY(type == LSP_NONE ? LSP_OK : lsp_csr_widen(ctx, &B, type, &p->B));
    LSP_TRY(type == LSP_NONE || any ? LSP_OK : lsp_csr_widen(ctx, &A, type, &p->A));
    p->threads = lsp_threads_for(ctx, A.nnz, LSP_WORTH_A_THREAD);
    p->thread_bytes = lsp_spgemm_open_run(&p->like, B.cols, LSP_RUN_ENTRIES, NULL, &(lsp_spgemm_run){0});
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, p->threads, &p->runs));
    LSP_TRY(lsp_scratch_bytes(ctx, p->threads, p->thread_bytes, false, (void **)&p->memory));
    p->like.sort = lsp_segsort_get_kernels(ctx)->sort[LSP_WORD_32];
    p->like.A = &p->A;
    p->like.B = &p->B;
    p->like.C = &p->C;
    return LSP_OK;
}

/* Does one pass seem better than two? Looks at a sample of rows, or at all of few, which also says how much room C
 * gets. */
static bool is_better(product *p, lsp_type rowptr_type, estimate *found) {
    if (p->A.nnz <= SMALL_ENTRIES || p->like.largest > 0) {
        count(p, found);
        p->capacity = found->of.nnz;
    } else if (take_sample(p, found)) {
        const double entries = (double)found->of.nnz / (double)found->of.rows * (double)p->A.rows;
        p->capacity = (int64_t)(1.1 * entries) + RUN_ROWS;
    } else {
        return false;
    }
    return (p->like.largest > 0 || is_promising(found)) && (p->capacity <= INT32_MAX || rowptr_type == LSP_I64);
}

lsp_status lsp_spgemm_trim(lsp_ctx *ctx, int64_t room, lsp_csr *C) {
    void **const arrays[] = {&C->col, &C->val};
    const size_t bytes[] = {lsp_type_bytes(C->col_type), lsp_type_bytes(C->val_type)};
    for (int a = 0; a < 2 && room - C->nnz > C->nnz / 8; a++) {
        void *exact = NULL;
        LSP_TRY(lsp_alloc(ctx, LSP_HOST, C->nnz, bytes[a], &exact));
        if (exact != NULL) {
            memcpy(exact, *arrays[a], (size_t)C->nnz * bytes[a]);
        }
        lsp_free(ctx, *arrays[a]);
        *arrays[a] = exact;
    }
    return LSP_OK;
}

/* Makes the rows of C, unless it has more entries than it has room for. */
static lsp_status make_result(lsp_ctx *ctx, product *p, const lsp_csr_types *types) {
    const int64_t part_work = p->threads == 1 && p->like.largest == 0 ? 64 * PART_WORK : PART_WORK;
    LSP_TRY(lsp_csr_create(ctx, p->A.rows, p->B.cols, p->capacity, types, &p->C));
    p->parts = lsp_max((p->A.rows + p->A.nnz) / part_work, 1);
    LSP_TRY(LSP_SCRATCH(ctx, p->parts + 1, &p->ends));
    memset(p->ends, -1, ((size_t)p->parts + 1) * sizeof *p->ends);
    p->ends[0] = 0;
    LSP_TRY(lsp_try_parts(ctx, p->parts, p->threads, make_part, p));
    if (!p->failed) {
        p->C.nnz = p->ends[p->parts];
        LSP_TRY(lsp_spgemm_trim(ctx, p->capacity, &p->C));
    }
    return LSP_OK;
}

/* Makes C, and says how; if C is NULL, only says so. Sets *done, unless the sample was wrong. */
static lsp_status make(lsp_ctx *ctx, product *p, const lsp_csr_types *types, const estimate *found, lsp_csr *C,
                       lsp_spgemm_info *info, bool *done) {
    lsp_spgemm_info told = {.method = LSP_SPGEMM_SORT, .method_name = "sort", .blocks = 1, .passes = 1};
    char how[64];
    p->runs->far = p->like.far = found->jumps > found->of.rows / 2 && p->B.nnz > 1 << 16;
    p->threads = found->of.products / found->of.rows * p->A.rows <= LSP_ALONE ? 1 : p->threads;
    snprintf(how, sizeof how, "%sin a window of all columns; %d thread%s", p->like.largest > 0 ? "the largest " : "",
             p->threads, p->threads > 1 ? "s" : "");
    lsp_spgemm_tell_passes(&told, 1, &found->of, how);
    told.scratch_bytes = p->threads * (int64_t)(p->thread_bytes + sizeof *p->runs);
    LSP_TRY(C == NULL ? LSP_OK : make_result(ctx, p, types));
    if (p->failed) {
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
    const bool better = is_better(p, types.rowptr_type, found);
    lsp_spgemm_tell_passes(info, 2, &found->of, "");
    return better ? make(ctx, p, &types, found, C, info, done) : LSP_OK;
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
