/* C = A*B whose rows have few columns: decides by a sample of rows, shares the rows among threads, and puts their parts
 * together in order. Counting the rows first would cost as much as making them, so C gets as much room as the sample
 * says, and an eighth more. If that is too little, the product is left to a plan. */
#include "hash.h"
#include "core/isa.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
    LEAST_ROWS = 1 << 12,
    RUNS = 256, /* of rows in the sample, at most */
    RUN_ROWS = 8,
    SAMPLED = 16,          /* the sample has at most this part of the rows */
    PART_WORK = 1 << 14,   /* rows and entries of A in a part */
    PART_ENTRIES = 1 << 14 /* most entries of C that a thread holds back */
};

typedef struct product {
    const lsp_csr *A, *B;
    lsp_spgemm_info info;
    lsp_isa isa;
    bool far; /* B is larger than the cache of a core, and A jumps about in it */
    int threads;
    int64_t parts, capacity; /* capacity: entries of C that have a place */
    lsp_hash_table *tables;  /* one a thread */
    char *held;              /* columns and values of each thread */
    int64_t held_bytes;
    lsp_csr *C;
    pthread_mutex_t mutex; /* for turn, and for what is written in turn: nnz, failed, info */
    pthread_cond_t next;
    int64_t turn; /* the part that may write to C */
    int64_t nnz;
    bool failed;
} product;

static lsp_hash_job job_of(const product *p, int thread, int64_t first, int64_t last) {
    return (lsp_hash_job){
        .A = p->A, .B = p->B, .table = p->tables + thread, .far = p->far, .next = first, .last = last};
}
static int64_t make_rows(const product *p, lsp_hash_job *job) {
    return p->A->val_type == LSP_C64   ? LSP_ISA_PICK(p->isa, lsp_spgemm_hash_complex_rows)(job)
           : p->A->val_type == LSP_I64 ? LSP_ISA_PICK(p->isa, lsp_spgemm_hash_integer_rows)(job)
                                       : LSP_ISA_PICK(p->isa, lsp_spgemm_hash_rows)(job);
}
static int64_t entry_bytes(const lsp_csr *A) { return (int64_t)(sizeof(int32_t) + lsp_type_bytes(A->val_type)); }

/* Arrays with a place for `capacity` entries. */
static void hold(lsp_hash_job *job, char *memory, int64_t capacity) {
    job->val = memory;
    job->col = (int32_t *)(void *)(memory + (size_t)capacity * lsp_type_bytes(job->A->val_type));
    job->capacity = capacity;
}

/* ---- the decision ---- */

/* A context with a budget gets a plan, which needs less memory and works in pieces. */
static bool suits(const lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options) {
    const lsp_type type = lsp_spgemm_result_type(A, B, options);
    const bool narrow = A->rowptr_type == LSP_I32 && A->col_type == LSP_I32 && B->rowptr_type == LSP_I32 &&
                        B->col_type == LSP_I32 && options->types.rowptr_type != LSP_I64 &&
                        options->types.col_type != LSP_I64;
    return A->where == LSP_HOST && ctx->options.max_bytes == 0 && options->method == LSP_SPGEMM_AUTO &&
           options->semiring == LSP_PLUS_TIMES && !options->transpose_a && !options->transpose_b &&
           options->filter.mask == NULL && narrow && type != LSP_NONE && A->val_type == type && B->val_type == type &&
           A->rows >= LEAST_ROWS;
}

typedef struct estimate {
    int64_t rows, products, nnz[2]; /* of even and of odd runs */
    int64_t jumps;                  /* rows whose first rows of B are far from those of the row above */
    int64_t entries, repeats;       /* entries of A; those whose row of B has the columns of the row above it */
} estimate;

/* Counts the rows first+1 .. first+RUN_ROWS-1 that begin far from the row above. */
static int64_t jumps_after(const lsp_csr *A, int64_t first) {
    enum { NEAR_ROWS = 64 };
    const int32_t *rowptr = A->rowptr, *col = A->col;
    int64_t jumps = 0;
    for (int64_t i = first + 1; i < first + RUN_ROWS; i++) {
        if (rowptr[i - 1] < rowptr[i] && rowptr[i] < rowptr[i + 1]) {
            const int64_t distance = (int64_t)col[rowptr[i]] - col[rowptr[i - 1]];
            jumps += distance < -NEAR_ROWS || distance > NEAR_ROWS;
        }
    }
    return jumps;
}

/* The first row of a run, from 0 to most. Multiples of the golden ratio spread evenly, and follow no grid's period. */
static int64_t place_of(int run, int64_t most) {
    const uint64_t fraction = (uint64_t)run * UINT64_C(0x9E3779B97F4A7C15);
    return (int64_t)((unsigned __int128)fraction * ((uint64_t)most + 1) >> 64);
}

/* Counts the entries of a row of A, and those whose row of B has the columns of the row of B above it. */
static void count_repeats(const product *p, int64_t i, estimate *found) {
    const int32_t *a_rowptr = p->A->rowptr, *a_col = p->A->col, *rowptr = p->B->rowptr, *col = p->B->col;
    for (int32_t e = a_rowptr[i]; e < a_rowptr[i + 1]; e++, found->entries++) {
        const int32_t k = a_col[e], *above = col + (k > 0 ? rowptr[k - 1] : 0), *row = col + rowptr[k];
        const int32_t n = rowptr[k + 1] - rowptr[k];
        found->repeats += k > 0 && row - above == n && memcmp(above, row, (size_t)n * sizeof *row) == 0;
    }
}

/* Makes some rows to count them. False if a row has too many columns. */
static bool take_sample(const product *p, estimate *found) {
    const int runs = (int)lsp_min(p->A->rows / (SAMPLED * RUN_ROWS), RUNS);
    for (int run = 0; run < runs; run++) {
        const int64_t first = place_of(run, p->A->rows - RUN_ROWS);
        int32_t ends[RUN_ROWS];
        lsp_hash_job job = job_of(p, 0, first, first + RUN_ROWS);
        job.ends = ends;
        hold(&job, p->held, PART_ENTRIES);
        while (job.next < job.last) {
            const int64_t made = make_rows(p, &job);
            if (made < 0) {
                return false;
            }
            found->nnz[run % 2] += made;
        }
        found->rows += RUN_ROWS;
        count_repeats(p, first, found);
        found->products += job.products;
        found->jumps += jumps_after(p->A, first);
    }
    return true;
}

/* Is a hash table faster than sorting and windows? Measured on a Xeon with AVX-512: up to 8 columns a row always; up to
 * 16 if each has 4 products; up to 32 if, besides, fewer than half of the rows of B repeat (a plan adds those
 * together). Both halves of the sample must agree, so that it can tell the size of C. */
static bool is_promising(const estimate *found) {
    enum { FEW = 8, MORE = 16, MOST = 32, PRODUCTS = 4, ROW_PRODUCTS = 2048, REPEATS = 2, AGREE = 16 };
    const int64_t nnz = found->nnz[0] + found->nnz[1], apart = found->nnz[0] - found->nnz[1];
    const int64_t columns = found->products < PRODUCTS * nnz            ? FEW
                            : found->repeats > found->entries / REPEATS ? MORE
                                                                        : MOST;
    return nnz <= columns * found->rows && found->products <= ROW_PRODUCTS * found->rows &&
           (apart < 0 ? -apart : apart) <= nnz / AGREE;
}

/* ---- parts of C ---- */

static void await_turn(product *p, int64_t part) {
    pthread_mutex_lock(&p->mutex);
    while (p->turn < part) { /* the parts before were begun earlier, so the wait ends */
        pthread_cond_wait(&p->next, &p->mutex);
    }
    pthread_mutex_unlock(&p->mutex);
}

static void end_turn(product *p, const lsp_hash_job *job) {
    pthread_mutex_lock(&p->mutex);
    p->info.products += job->products;
    p->info.nnz_bound += job->nnz_bound;
    p->info.max_row_products = lsp_max(p->info.max_row_products, job->max_row_products);
    p->turn++;
    pthread_cond_broadcast(&p->next);
    pthread_mutex_unlock(&p->mutex);
}

/* Copies `rows` rows, the last that were made, with `made` entries behind those that C has. It is this part's turn. */
static void append(product *p, const lsp_hash_job *job, int64_t rows, int64_t made) {
    const lsp_csr *C = p->C;
    const size_t value = lsp_type_bytes(C->val_type);
    if (p->failed || made < 0 || made > p->capacity - p->nnz) {
        p->failed = true;
        return;
    }
    for (int64_t i = 1; i <= rows; i++) {
        job->ends[-i] += (int32_t)p->nnz;
    }
    memcpy((int32_t *)C->col + p->nnz, job->col, (size_t)made * sizeof(int32_t));
    memcpy((char *)C->val + (size_t)p->nnz * value, job->val, (size_t)made * value);
    p->nnz += made;
}

/* One thread alone makes its rows in C itself. */
static void make_in_place(product *p, lsp_hash_job *job) {
    const size_t value = lsp_type_bytes(p->C->val_type);
    job->base = (int32_t)p->nnz;
    job->col = (int32_t *)p->C->col + p->nnz;
    job->val = (char *)p->C->val + (size_t)p->nnz * value;
    job->capacity = p->capacity - p->nnz;
    const int64_t made = make_rows(p, job);
    p->failed = made < 0 || job->next < job->last;
    p->nnz += lsp_max(made, 0);
}

static void make_part(void *data, int64_t part, int thread) {
    product *p = data;
    int64_t first, last;
    lsp_csr_share(p->A, (int)part, (int)p->parts, &first, &last);
    lsp_hash_job job = job_of(p, thread, first, last);
    job.ends = (int32_t *)p->C->rowptr + first + 1;
    if (p->threads == 1) {
        if (!p->failed) {
            make_in_place(p, &job);
        }
    } else {
        hold(&job, p->held + thread * p->held_bytes, PART_ENTRIES);
        do {
            const int64_t begin = job.next, made = make_rows(p, &job);
            await_turn(p, part);
            append(p, &job, job.next - begin, made);
        } while (job.next < job.last && !p->failed);
    }
    end_turn(p, &job);
}

/* ---- the product ---- */

static lsp_status make_result(lsp_ctx *ctx, product *p, const estimate *found, lsp_csr *C) {
    lsp_status status = LSP_OK;
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .val_type = p->A->val_type};
    const int64_t work = p->A->rows + p->A->nnz, nnz = found->nnz[0] + found->nnz[1];
    p->capacity = (nnz * RUN_ROWS / found->rows + 1) * (p->A->rows / RUN_ROWS + 1);
    p->capacity += p->capacity / 8 + LSP_HASH_COLUMNS;
    if (p->capacity > INT32_MAX || p->capacity * entry_bytes(p->A) > lsp_available_bytes(ctx, LSP_HOST)) {
        p->failed = true;
        return LSP_OK;
    }
    p->parts = lsp_max(work / PART_WORK, 1);
    LSP_TRY(lsp_csr_create(ctx, p->A->rows, p->B->cols, p->capacity, &types, C));
    p->C = C;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->next, NULL);
    lsp_for_parts(ctx, p->parts, p->threads, make_part, p);
    pthread_cond_destroy(&p->next);
    pthread_mutex_destroy(&p->mutex);
    C->nnz = p->nnz;
done:
    return status;
}

static void describe(const product *p, lsp_spgemm_info *info) {
    const lsp_csr *C = p->C;
    *info = p->info;
    info->method = LSP_SPGEMM_SORT;
    info->method_name = "sort";
    snprintf(info->reason, sizeof info->reason,
             "rows of about %.1f columns: each is added up in a hash table, and sorted; %d thread%s",
             (double)C->nnz / (double)C->rows, p->threads, p->threads > 1 ? "s" : "");
    info->nnz = C->nnz;
    info->blocks = 1;
    info->scratch_bytes = p->threads * (p->held_bytes + (int64_t)sizeof *p->tables);
    info->bound_bytes = (C->rows + 1) * (int64_t)sizeof(int32_t) + info->nnz_bound * entry_bytes(C);
}

lsp_status lsp_spgemm_hash(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                           lsp_csr *C, lsp_spgemm_info *info, bool *done) {
    enum { NEAR = 1 << 16 }; /* entries of B that the cache of a core holds */
    lsp_status status = LSP_OK;
    lsp_csr made = {0};
    estimate found = {0};
    *done = false;
    if (!suits(ctx, A, B, options)) {
        return LSP_OK;
    }
    size_t mark = lsp_scratch_mark(ctx);
    product p = {.A = A, .B = B, .isa = ctx->isa, .far = false};
    p.threads = lsp_threads_for(ctx, A->nnz, LSP_WORTH_A_THREAD);
    p.held_bytes = PART_ENTRIES * entry_bytes(A);
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, p.threads, &p.tables));
    LSP_TRY(lsp_scratch_bytes(ctx, p.threads, (size_t)p.held_bytes, false, (void **)&p.held));
    if (!take_sample(&p, &found) || !is_promising(&found)) {
        goto done;
    }
    p.threads = found.products * (A->rows / found.rows) <= LSP_ALONE ? 1 : p.threads;
    p.far = B->nnz > NEAR && found.jumps > found.rows / 2;
    LSP_TRY(make_result(ctx, &p, &found, &made));
    *done = !p.failed;
    if (*done) {
        describe(&p, info);
        lsp_progress(ctx, "multiply", 1); /* not before: after a wrong sample a plan would start again from 0 */
        *C = made;
    } else {
        lsp_csr_free(ctx, &made);
    }
done:
    lsp_scratch_release(ctx, mark);
    return status == LSP_ERR_MEMORY ? LSP_OK : status; /* a plan needs less */
}
