/* Parts of the rows of C, which threads make in one pass. One thread alone writes to C; of several, each makes rows in
 * memory of its own, and copies them to C as soon as it knows where the part begins. */
#include "core/isa.h"
#include "one_pass.h"
#include <sched.h>
#include <string.h>

/* ---- runs ---- */

static void *take(char **at, size_t bytes) {
    char *part = *at;
    *at += (bytes + 63) / 64 * 64;
    return part;
}

/* Makes a run in `memory`. Returns the bytes, even if `memory` is NULL. */
static size_t open_run(const lsp_spgemm_parts *p, char *memory, lsp_spgemm_run *run) {
    const int shift = lsp_top_shift(p->columns);
    const size_t value = lsp_type_bytes(p->like.type), columns = (size_t)p->columns + 63;
    const size_t blocks = (size_t)(lsp_ceil_div(p->columns, (int64_t)1 << shift) << (shift - 6));
    char *at = memory;
    *run = p->like;
    run->window = p->columns;
    run->sums = take(&at, columns * value);
    run->marks = take(&at, columns);
    run->blocks = take(&at, blocks);
    run->held[0] = take(&at, (size_t)p->entries * sizeof(int64_t));
    run->held[1] = take(&at, (size_t)p->entries * value);
    run->heap = take(&at, (size_t)lsp_min(run->largest, p->columns) * sizeof *run->heap);
    if (memory != NULL) {
        memset(run->marks, 0, columns / 64 * 64);
        memset(run->blocks, 0, blocks);
    }
    return (size_t)(at - memory);
}

lsp_status lsp_spgemm_open_runs(lsp_ctx *ctx, int64_t columns, int64_t entries, lsp_spgemm_parts *p) {
    p->columns = columns;
    p->entries = lsp_max(entries, LSP_RUN_ENTRIES);
    p->thread_bytes = open_run(p, NULL, &(lsp_spgemm_run){0});
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, p->threads, &p->runs));
    return lsp_scratch_bytes(ctx, p->threads, p->thread_bytes, false, (void **)&p->memory);
}

lsp_spgemm_run *lsp_spgemm_run_of(lsp_spgemm_parts *p, int thread) {
    lsp_spgemm_run *run = p->runs + thread;
    if (run->sums == NULL) {
        (void)open_run(p, p->memory + (size_t)thread * p->thread_bytes, run);
    }
    return run;
}

void lsp_spgemm_sum_runs(const lsp_spgemm_parts *p, lsp_spgemm_info *info) {
    for (int thread = 0; thread < p->threads; thread++) {
        const lsp_spgemm_run *run = p->runs + thread;
        info->products += run->products;
        info->nnz_bound += run->nnz_bound;
        info->max_row_products = lsp_max(info->max_row_products, run->max_row_products);
    }
}

/* Makes rows behind `used` of `capacity` entries of these arrays. Their row pointers count from `base` on. */
static int64_t make_rows(const lsp_spgemm_parts *p, lsp_spgemm_run *run, void *const arrays[2], int64_t used,
                         int64_t capacity, int64_t base) {
    run->col = lsp_spgemm_at(arrays[0], used, run->C.col_type);
    run->val = lsp_spgemm_at(arrays[1], used, run->type);
    run->capacity = capacity - used;
    run->base = base;
    return LSP_ISA_PICK(p->isa, lsp_spgemm_one_pass_rows)(run);
}

int64_t lsp_spgemm_make_some(const lsp_spgemm_parts *p, lsp_spgemm_run *run, int64_t used, int64_t base) {
    const int64_t first = run->next, made = make_rows(p, run, run->held, used, LSP_RUN_ENTRIES, base);
    return run->next > first || used > 0 ? made : make_rows(p, run, run->held, 0, p->entries, base);
}

/* ---- parts ---- */

/* A part, while a thread makes it. */
typedef struct making {
    lsp_spgemm_parts *p;
    lsp_spgemm_run *run;
    int64_t part, at; /* at: where the entries in the thread's memory go; -1: not known yet */
    int64_t product;  /* being made */
    int64_t first;    /* the first product whose entries are in the thread's memory, */
    int64_t row;      /* its first row there, */
    int64_t used;     /* and the number of the entries */
} making;

/* Where a part begins in C; -1 if an earlier one has no place. They were begun earlier, so the wait ends. */
static int64_t await_begin(const lsp_spgemm_parts *p, int64_t part) {
    int64_t begin;
    while ((begin = __atomic_load_n(&p->ends[part], __ATOMIC_ACQUIRE)) < 0 &&
           !__atomic_load_n(&p->full, __ATOMIC_RELAXED)) {
        sched_yield();
    }
    return begin;
}

/* Copies what is in the thread's memory to C. `last`: it ends the part. False if it has no place. */
static bool flush(making *m, bool last) {
    lsp_spgemm_parts *p = m->p;
    const lsp_csr *C = &p->C, *rows = &m->run->C;
    m->at = m->at < 0 ? await_begin(p, m->part) : m->at;
    if (m->at < 0 || m->used > p->capacity - m->at) {
        __atomic_store_n(&p->full, true, __ATOMIC_RELAXED);
        return false;
    }
    if (last) { /* the next part need not wait until this one is copied */
        __atomic_store_n(&p->ends[m->part + 1], m->at + m->used, __ATOMIC_RELEASE);
    }
    for (int64_t i = m->row; m->row > 0 && i < m->run->next; i++) { /* the product began elsewhere */
        lsp_index_set(rows->rowptr, rows->rowptr_type, i + 1, lsp_csr_rowptr(rows, i + 1) + m->at - p->at[m->first]);
    }
    for (int64_t i = m->first + (m->row > 0); i <= m->product && m->used > 0; i++) {
        p->at[i] += m->at;
    }
    if (m->used > 0) {
        memcpy(lsp_spgemm_at(C->col, m->at, C->col_type), m->run->held[0],
               (size_t)m->used * lsp_type_bytes(C->col_type));
    }
    if (m->used > 0 && C->val_type != LSP_NONE) {
        memcpy(lsp_spgemm_at(C->val, m->at, C->val_type), m->run->held[1],
               (size_t)m->used * lsp_type_bytes(C->val_type));
    }
    m->at += m->used;
    m->used = 0;
    m->row = m->run->next;
    return true;
}

/* Goes to product i, or to the part's share of the rows of the only one. */
static void begin_product(making *m, int64_t i) {
    const lsp_spgemm_parts *p = m->p;
    lsp_spgemm_run *run = m->run;
    run->A = &p->A[i];
    run->B = &p->B[i];
    run->C = p->C;
    run->next = 0;
    run->last = run->A->rows;
    if (p->first == NULL) {
        lsp_csr_share(run->A, (int)m->part, (int)p->count, &run->next, &run->last);
    } else {
        run->C.rowptr = lsp_spgemm_at(p->C.rowptr, p->row_at[i], p->C.rowptr_type);
        lsp_index_set(run->C.rowptr, run->C.rowptr_type, 0, 0);
    }
    m->product = i;
}

/* Makes the rows of the product. False if they have no place. */
static bool make_product(making *m) {
    const lsp_spgemm_parts *p = m->p;
    lsp_spgemm_run *run = m->run;
    int64_t *at = &p->at[m->product];
    bool fits = true;
    if (p->threads == 1 && m->used == 0) {
        *at = run->next == 0 ? m->at : *at;
        m->at += make_rows(p, run, (void *const[]){p->C.col, p->C.val}, m->at, p->capacity, m->at - *at);
    }
    while (fits && run->next < run->last) {
        if (m->used == 0) {
            m->first = m->product;
            m->row = run->next;
        }
        *at = run->next == 0 ? m->used : *at;
        m->used += lsp_spgemm_make_some(p, run, m->used, m->row > 0 ? m->used : m->used - *at);
        fits = run->next == run->last || flush(m, false);
    }
    return fits;
}

static void make_part(void *data, int64_t number, int thread) {
    lsp_spgemm_parts *p = data;
    lsp_spgemm_run *run = lsp_spgemm_run_of(p, thread);
    const lsp_spgemm_run before = *run;
    making m = {.p = p, .run = run, .part = p->done + number};
    const int64_t end = p->first != NULL ? p->first[m.part + 1] : 1;
    m.at = p->threads == 1 ? p->ends[m.part] : -1;
    bool fits = p->threads > 1 || m.at >= 0; /* the part before it has a place */
    for (int64_t i = p->first != NULL ? p->first[m.part] : 0; i < end && fits; i++) {
        if (p->most == NULL || p->most[i] >= 0) {
            begin_product(&m, i);
            fits = make_product(&m);
        }
    }
    if (!fits || !flush(&m, true)) {
        run->products = before.products;
        run->nnz_bound = before.nnz_bound;
    }
}

/* ---- room ---- */

/* Moves the first `used` columns and values of C to arrays with room for `room`. */
static lsp_status set_room(lsp_ctx *ctx, int64_t used, int64_t room, lsp_csr *C) {
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

/* More room than C has: as much as the parts that are done say, and a quarter more at least. */
static int64_t more_room(const lsp_spgemm_parts *p) {
    const double used = (double)p->ends[p->done], all = 1.1 * used / (double)(p->done + 1) * (double)p->count;
    return lsp_max(p->capacity + p->capacity / 4 + 1, (int64_t)all);
}

lsp_status lsp_spgemm_make_parts(lsp_ctx *ctx, lsp_spgemm_parts *p, bool *fits) {
    LSP_TRY(LSP_SCRATCH(ctx, p->count + 1, &p->ends));
    memset(p->ends, -1, ((size_t)p->count + 1) * sizeof *p->ends);
    p->ends[0] = 0;
    while (p->done < p->count) {
        p->capacity = p->full ? more_room(p) : p->capacity;
        p->full = false;
        *fits = p->first != NULL || p->capacity <= INT32_MAX || p->C.rowptr_type == LSP_I64;
        if (!*fits) {
            return LSP_OK;
        }
        LSP_TRY(set_room(ctx, p->ends[p->done], p->capacity, &p->C));
        LSP_TRY(lsp_try_parts(ctx, p->count - p->done, p->threads, make_part, p));
        while (p->done < p->count && p->ends[p->done + 1] >= 0) {
            p->done++;
        }
    }
    p->C.nnz = p->ends[p->count];
    const bool large = p->capacity - p->C.nnz > p->C.nnz / 8;
    return large ? set_room(ctx, p->C.nnz, p->C.nnz, &p->C) : LSP_OK;
}
