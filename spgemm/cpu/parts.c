/* Parts of the rows of C, which threads make in one pass. One thread alone writes to C; of several, each makes rows in
 * memory of its own, and copies them to C as soon as it knows where the part begins. */
#include "core/isa.h"
#include "one_pass.h"
#include <sched.h>
#include <string.h>

/* ---- runs ---- */

/* Makes a run in `memory`. Returns the bytes, even if `memory` is NULL. */
static size_t open_run(const lsp_spgemm_parts *p, char *memory, lsp_spgemm_run *run) {
    const int shift = lsp_top_shift(p->columns);
    const size_t value = lsp_type_bytes(p->like.type), columns = (size_t)p->columns + 63;
    const size_t blocks = (size_t)(lsp_ceil_div(p->columns, (int64_t)1 << shift) << (shift - 6));
    char *at = memory;
    *run = p->like;
    run->window = p->columns;
    run->sums = lsp_spgemm_take(&at, columns * value);
    run->marks = lsp_spgemm_take(&at, columns);
    run->blocks = lsp_spgemm_take(&at, blocks);
    run->held[0] = lsp_spgemm_take(&at, (size_t)p->entries * sizeof(int64_t));
    run->held[1] = lsp_spgemm_take(&at, (size_t)p->entries * value);
    run->heap = lsp_spgemm_take(&at, (size_t)lsp_min(run->largest, p->columns) * sizeof *run->heap);
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

/* The run of a thread. */
static lsp_spgemm_run *run_of(lsp_spgemm_parts *p, int thread) {
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

/* Makes rows from run->next on in the memory of the thread: LSP_RUN_ENTRIES at most, or a longer row. Returns the
 * number of their entries. */
static int64_t make_some(const lsp_spgemm_parts *p, lsp_spgemm_run *run) {
    const int64_t first = run->next, made = make_rows(p, run, run->held, 0, LSP_RUN_ENTRIES, 0);
    return run->next > first ? made : make_rows(p, run, run->held, 0, p->entries, 0);
}

/* Takes back what rows that were made in vain added to the facts. */
static void forget(lsp_spgemm_run *run, const lsp_spgemm_run *before) {
    run->products = before->products;
    run->nnz_bound = before->nnz_bound;
}

/* ---- what is known before all rows are made ---- */

LSP_INLINE int64_t bound_by(bool narrow, const lsp_csr *A, const lsp_csr *B, int64_t most, int64_t *products) {
    int64_t bound = 0, all = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        const int64_t here = lsp_spgemm_row_products(narrow, A, B, i);
        bound += lsp_min(here, most);
        all += here;
    }
    *products = all;
    return bound;
}

int64_t lsp_spgemm_bound(const lsp_csr *A, const lsp_csr *B, int64_t most, int64_t *products) {
    const bool narrow = A->rowptr_type == LSP_I32 && A->col_type == LSP_I32 && B->rowptr_type == LSP_I32;
    return LSP_WITH_FLAG(narrow, bound_by, A, B, most, products);
}

lsp_spgemm_sample lsp_spgemm_sample_rows(lsp_spgemm_parts *p, int thread, const lsp_csr *A, const lsp_csr *B,
                                         int64_t first, int64_t last, int64_t *bound) {
    lsp_spgemm_run *run = run_of(p, thread);
    lsp_spgemm_sample of = {.rows = last - first};
    int32_t ends[LSP_RUN_SAMPLE + 1];
    run->A = A;
    run->B = B;
    run->C = (lsp_csr){.rowptr_type = LSP_I32, .col_type = LSP_I32};
    run->last = last;
    for (run->next = first; run->next < last;) {
        run->C.rowptr = (void *)((uintptr_t)ends - (uintptr_t)run->next * sizeof *ends); /* of the next row first */
        of.nnz += make_some(p, run);
    }
    of.products = run->products;
    *bound = run->nnz_bound;
    forget(run, &(lsp_spgemm_run){0});
    return of;
}

/* ---- C ---- */

/* Copies the first `used` entries of the thread's memory to C from entry `at` on. False if they have no place. */
static bool put_entries(lsp_spgemm_parts *p, const lsp_spgemm_run *run, int64_t used, int64_t at) {
    const lsp_csr *C = &p->C;
    if (at < 0 || used > p->capacity - at) {
        __atomic_store_n(&p->full, true, __ATOMIC_RELAXED);
        return false;
    }
    if (used > 0) {
        memcpy(lsp_spgemm_at(C->col, at, C->col_type), run->held[0], (size_t)used * lsp_type_bytes(C->col_type));
    }
    if (used > 0 && C->val_type != LSP_NONE) {
        memcpy(lsp_spgemm_at(C->val, at, C->val_type), run->held[1], (size_t)used * lsp_type_bytes(C->val_type));
    }
    return true;
}

/* ---- a share of the rows of one product ---- */

/* Where a part begins in C; -1 if an earlier one has no place. They were begun earlier, so the wait ends. */
static int64_t await_begin(const lsp_spgemm_parts *p, int64_t part) {
    int64_t begin;
    while ((begin = __atomic_load_n(&p->ends[part], __ATOMIC_ACQUIRE)) < 0 &&
           !__atomic_load_n(&p->full, __ATOMIC_RELAXED)) {
        sched_yield();
    }
    return begin;
}

/* Goes to a share of the rows. */
static void begin_rows(const lsp_spgemm_parts *p, lsp_spgemm_run *run, int64_t part, int64_t parts) {
    run->A = p->A;
    run->B = p->B;
    run->C = p->C;
    lsp_csr_share(p->A, (int)part, (int)parts, &run->next, &run->last);
}

static void make_share(void *data, int64_t number, int thread) {
    lsp_spgemm_parts *p = data;
    lsp_spgemm_run *run = run_of(p, thread);
    const lsp_spgemm_run before = *run;
    const int64_t part = p->done + number;
    int64_t at = p->threads == 1 ? p->ends[part] : -1;
    bool fits = !__atomic_load_n(&p->full, __ATOMIC_RELAXED);
    begin_rows(p, run, part, p->count);
    if (p->threads == 1 && fits) {
        at += make_rows(p, run, (void *const[]){p->C.col, p->C.val}, at, p->capacity, at);
    }
    while (fits && run->next < run->last) {
        const int64_t first = run->next, made = make_some(p, run);
        at = at < 0 ? await_begin(p, part) : at;
        if (run->next == run->last && at >= 0 && made <= p->capacity - at) { /* the next need not await the copy */
            __atomic_store_n(&p->ends[part + 1], at + made, __ATOMIC_RELEASE);
        }
        fits = put_entries(p, run, made, at);
        for (int64_t i = first + 1; i <= run->next && fits; i++) {
            lsp_index_set(p->C.rowptr, p->C.rowptr_type, i, at + lsp_csr_rowptr(&p->C, i));
        }
        at += made;
    }
    at = at < 0 && fits ? await_begin(p, part) : at;
    if (fits && at >= 0) {
        __atomic_store_n(&p->ends[part + 1], at, __ATOMIC_RELEASE);
    } else {
        forget(run, &before);
    }
}

/* ---- whole products: in no order ---- */

/* Gives the `used` entries of products first .. end-1 in the thread's memory their place. */
static bool place(lsp_spgemm_parts *p, const lsp_spgemm_run *run, int64_t first, int64_t end, int64_t used) {
    const int64_t at = __atomic_fetch_add(&p->filled, used, __ATOMIC_RELAXED);
    for (int64_t i = first; i < end; i++) {
        p->at[i] += at;
    }
    return put_entries(p, run, used, at);
}

static void make_products(void *data, int64_t number, int thread) {
    lsp_spgemm_parts *p = data;
    lsp_spgemm_run *run = run_of(p, thread);
    const int64_t part = p->done + number, end = p->first[part + 1];
    int64_t first = p->first[part], used = 0;
    for (int64_t i = first; i < end && !__atomic_load_n(&p->full, __ATOMIC_RELAXED); i++) {
        if (p->most[i] > p->entries - used) {
            place(p, run, first, i, used);
            first = i;
            used = 0;
        }
        p->at[i] = used;
        if (p->most[i] < 0) {
            continue;
        }
        run->A = &p->A[i];
        run->B = &p->B[i];
        run->C = p->C;
        run->C.rowptr = lsp_spgemm_at(p->C.rowptr, p->row_at[i], p->C.rowptr_type);
        run->next = 0;
        run->last = run->A->rows;
        lsp_index_set(run->C.rowptr, run->C.rowptr_type, 0, 0);
        if (p->threads == 1 && used == 0 && p->most[i] <= p->capacity - p->filled) { /* in its place */
            p->at[i] = p->filled;
            p->filled += make_rows(p, run, (void *const[]){p->C.col, p->C.val}, p->filled, p->capacity, 0);
            first = i + 1;
        } else {
            used += make_rows(p, run, run->held, used, p->entries, 0);
        }
    }
    place(p, run, first, end, used);
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

/* More room than C has: as much as the parts that are done say, and a quarter more at least. Many products are all made
 * anew, with twice the room. */
static int64_t more_room(lsp_spgemm_parts *p) {
    const double used = (double)p->ends[p->done], all = 1.1 * used / (double)(p->done + 1) * (double)p->count;
    for (int thread = 0; thread < p->threads && p->first != NULL; thread++) {
        forget(p->runs + thread, &(lsp_spgemm_run){0});
    }
    p->filled = 0;
    p->full = false;
    return p->first != NULL ? 2 * p->capacity : lsp_max(p->capacity + p->capacity / 4 + 1, (int64_t)all);
}

/* Makes one product in the memory of one thread, if it fits, and C without room to spare. *done: it did. */
static lsp_status make_alone(lsp_ctx *ctx, lsp_spgemm_parts *p, bool *done) {
    lsp_spgemm_run *run = run_of(p, 0);
    begin_rows(p, run, 0, 1);
    const int64_t nnz = make_some(p, run);
    *done = run->next == run->last;
    if (!*done) {
        forget(run, &(lsp_spgemm_run){0});
        return LSP_OK;
    }
    p->capacity = p->C.nnz = nnz;
    LSP_TRY(set_room(ctx, 0, nnz, &p->C));
    put_entries(p, run, nnz, 0);
    return LSP_OK;
}

lsp_status lsp_spgemm_make_parts(lsp_ctx *ctx, lsp_spgemm_parts *p, bool *fits) {
    bool done = false;
    *fits = true;
    if (p->first == NULL && p->threads == 1 && p->capacity <= LSP_RUN_ENTRIES) {
        LSP_TRY(make_alone(ctx, p, &done));
        if (done) {
            return LSP_OK;
        }
    }
    LSP_TRY(LSP_SCRATCH(ctx, p->count + 1, &p->ends));
    memset(p->ends, -1, ((size_t)p->count + 1) * sizeof *p->ends);
    p->ends[0] = 0;
    for (bool again = true; again; again = p->full) {
        p->capacity = p->full ? more_room(p) : p->capacity;
        *fits = p->first != NULL || p->capacity <= INT32_MAX || p->C.rowptr_type == LSP_I64;
        if (!*fits) {
            return LSP_OK;
        }
        LSP_TRY(set_room(ctx, p->ends[p->done], p->capacity, &p->C));
        LSP_TRY(lsp_try_parts(ctx, p->count - p->done, p->threads, p->first != NULL ? make_products : make_share, p));
        while (p->done < p->count && p->ends[p->done + 1] >= 0) {
            p->done++;
        }
    }
    p->C.nnz = p->first != NULL ? p->filled : p->ends[p->count];
    const bool large = p->capacity - p->C.nnz > p->C.nnz / 4;
    return large ? set_room(ctx, p->C.nnz, p->C.nnz, &p->C) : LSP_OK;
}
