/* C = A*B by threads. Threads take blocks of rows in turn; each has scratch of its own: words, ranks and a window. */
#include "core/isa.h"
#include "cpu.h"
#include <string.h>

/* ---- inspection ---- */

/* Is a matrix larger than the cache of a core? */
static bool is_far(const lsp_csr *B) {
    enum { NEAR = 1 << 16 };
    return B->nnz > NEAR;
}

/* The findings of one part of the rows. */
typedef struct findings {
    int64_t repeats, exact;
    bool ascending, fits;
    lsp_spgemm_facts facts;
} findings;

typedef struct inspecting {
    lsp_spgemm_plan *plan;
    const lsp_spgemm_kernels *kernels;
    lsp_spgemm_pass pass;
    int64_t parts;
    findings *found; /* of each part */
} inspecting;

static void find_repeats_part(void *data, int64_t part, int thread) {
    inspecting *l = data;
    const lsp_csr *B = &l->pass.job->B;
    findings *mine = &l->found[part];
    int64_t begin, end;
    lsp_share(B->rows, (int)part, (int)l->parts, &begin, &end);
    mine->repeats = mine->exact = 0;
    mine->ascending = l->kernels->find_repeats(B, begin, end, l->plan->route.repeats, &mine->repeats, &mine->exact);
    (void)thread;
}

static void count_products_part(void *data, int64_t part, int thread) {
    inspecting *l = data;
    findings *mine = &l->found[part];
    int64_t begin, end;
    lsp_share(l->pass.job->A.rows, (int)part, (int)l->parts, &begin, &end);
    mine->facts = (lsp_spgemm_facts){0};
    mine->fits = l->kernels->count_products(&l->pass, begin, end, &mine->facts);
    (void)thread;
}

/* Sums up what all parts found in B. */
static findings all_repeats(const inspecting *l) {
    findings all = {.ascending = true};
    for (int64_t part = 0; part < l->parts; part++) {
        all.ascending = all.ascending && l->found[part].ascending;
        all.repeats += l->found[part].repeats;
        all.exact += l->found[part].exact;
    }
    return all;
}

/* Sums up, in the plan, what all parts found in A. False if an int64_t cannot hold the products. */
static bool all_products(const inspecting *l) {
    lsp_spgemm_facts *all = &l->plan->facts;
    bool fits = true;
    for (int64_t part = 0; part < l->parts && fits; part++) {
        const lsp_spgemm_facts *mine = &l->found[part].facts;
        fits = l->found[part].fits && lsp_add(all->products, mine->products, &all->products);
        all->nnz_bound += fits ? mine->nnz_bound : 0;
        all->max_row_products = lsp_max(all->max_row_products, mine->max_row_products);
        all->sort_products = lsp_max(all->sort_products, mine->sort_products);
        all->window_columns = lsp_max(all->window_columns, mine->window_columns);
    }
    return fits;
}

lsp_status lsp_spgemm_inspect_rows(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B) {
    enum {
        PARTS = 16,
        LEAST_PART = 256,
        USEFUL = 8
    }; /* parts a thread; rows of a part; one row in USEFUL must repeat the row above */
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    lsp_spgemm_job job = {.A = *A, .B = *B, .rowptr = plan->rowptr};
    inspecting l = {.plan = plan, .pass = {.job = &job, .far = is_far(B)}};
    findings only, *many = NULL, b_rows;
    const int64_t half = A->nnz / 2 + A->rows / 2 + B->nnz / 2 + B->rows / 2;
    const int threads = half <= LSP_ALONE ? 1 : lsp_threads_for(ctx, half, LSP_WORTH_A_THREAD / 2);
    l.kernels = LSP_ISA_PICK(ctx->isa, lsp_spgemm_kernels)(A, B);
    l.parts = threads == 1 ? 1 : lsp_max(lsp_min(PARTS * threads, A->rows / LEAST_PART), threads);
    plan->facts = (lsp_spgemm_facts){.rows = A->rows, .cols = B->cols};
    if (l.parts > 1) {
        LSP_TRY(lsp_alloc(ctx, LSP_HOST, l.parts, sizeof *many, (void **)&many));
    }
    l.found = many ? many : &only;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, lsp_max(A->rows, 1), 1, (void **)&plan->route.ways));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, lsp_max(B->rows, 1), 1, (void **)&plan->route.repeats));
    lsp_for_parts(ctx, l.parts, threads, find_repeats_part, &l);
    b_rows = all_repeats(&l);
    if (b_rows.repeats == 0 || b_rows.repeats < B->rows / USEFUL) {
        lsp_free(ctx, plan->route.repeats);
        plan->route.repeats = NULL;
    }
    plan->ascending = job.ascending = b_rows.ascending;
    plan->route.exact = b_rows.exact > 0 && b_rows.exact >= B->rows / USEFUL;
    plan->rowptr[0] = 0;
    l.pass.ways = plan->route.ways;
    l.pass.repeats = plan->route.repeats;
    lsp_for_parts(ctx, l.parts, threads, count_products_part, &l);
    LSP_REQUIRE(all_products(&l), LSP_ERR_OVERFLOW,
                "the product of %lld x %lld and %lld x %lld has more than 2^63 products", (long long)A->rows,
                (long long)A->cols, (long long)B->rows, (long long)B->cols);
done:
    lsp_free(ctx, many);
    return status;
}

/* ---- the scratch of a thread ---- */

static char *take(char **at, size_t bytes) {
    char *part = *at;
    *at += (bytes + 63) / 64 * 64;
    return part;
}

/* Lays out the scratch of a thread, and brings the window into its state between rows. */
static void prepare_work(const lsp_spgemm_capacity *capacity, lsp_type type, lsp_semiring semiring, char *memory) {
    const double empty = lsp_semiring_empty(semiring);
    lsp_spgemm_work work;
    lsp_spgemm_work *place = (void *)take(&memory, sizeof work);
    size_t slots = (size_t)(capacity->sort_products + LSP_WORD_PAD), columns = (size_t)capacity->window_columns;
    work.words = take(&memory, slots * capacity->word_bytes);
    work.spare = take(&memory, slots * capacity->word_bytes);
    work.ranks = (uint32_t *)(void *)take(&memory, slots * sizeof *work.ranks);
    work.window = take(&memory, columns * (size_t)lsp_max((int64_t)capacity->value_bytes, 4));
    work.touched = (uint8_t *)take(&memory, columns);
    memset(work.touched, 0, columns);
    for (size_t j = 0; j < columns && type != LSP_NONE; j++) {
        if (type == LSP_F32) {
            ((float *)work.window)[j] = (float)empty;
        } else if (type == LSP_F64) {
            ((double *)work.window)[j] = empty;
        } else if (type == LSP_I64) {
            ((int64_t *)work.window)[j] = lsp_semiring_empty_i64(semiring);
        } else {
            ((double *)work.window)[2 * j] = ((double *)work.window)[2 * j + 1] = empty;
        }
    }
    *place = work;
}

/* ---- a pass ---- */

typedef struct passing {
    lsp_spgemm_plan *plan;
    const lsp_spgemm_kernels *kernels;
    lsp_spgemm_pass pass;
    lsp_spgemm_rows rows;
    lsp_type type;
    char *memory; /* of all threads; each share begins with an lsp_spgemm_work, whose words are NULL until it is
                     prepared */
    int64_t thread_bytes;
} passing;

static void mark_block(void *data, int64_t block, int thread) {
    passing *p = data;
    const int64_t *block_rows = p->plan->block_rows;
    (void)thread;
    p->plan->route.block_ranks[block + 1] = p->kernels->mark(&p->pass, block_rows[block], block_rows[block + 1]);
}

static void do_block(void *data, int64_t block, int thread) {
    passing *p = data;
    const lsp_spgemm_plan *plan = p->plan;
    const int64_t *begin = plan->block_rows + block;
    char *memory = p->memory + thread * p->thread_bytes;
    const lsp_spgemm_work *work = (const void *)memory;
    if (work->words == NULL) {
        prepare_work(&p->pass.capacity, p->type, p->pass.job->semiring, memory);
    }
    if (thread == 0) {
        double done = (double)block / (double)plan->info.blocks;
        lsp_progress(plan->ctx, "multiply", 0.5 * done + (p->pass.job->counting ? 0 : 0.5));
    }
    p->rows(&p->pass, work, begin[0], begin[1],
            plan->route.ranks ? plan->route.ranks + plan->route.block_ranks[block] : NULL);
}

bool lsp_spgemm_cpu_drop_ranks(lsp_spgemm_plan *plan) {
    const bool kept = plan->route.block_ranks != NULL;
    lsp_free(plan->ctx, plan->route.ranks);
    lsp_free(plan->ctx, plan->route.block_ranks);
    plan->route.ranks = NULL;
    plan->route.block_ranks = NULL;
    for (int64_t i = 0; plan->route.ways != NULL && i < plan->facts.rows; i++) {
        plan->route.ways[i] &= LSP_WAY_WINDOW;
    }
    return kept;
}

/* Decides which ranks are kept for the second pass, and allocates them, unless they take more than a quarter of the
 * available memory. */
static lsp_status keep_ranks(passing *p, int threads, int64_t available) {
    enum { MARKS = 1 << 14 }; /* rows that are worth another thread */
    lsp_status status = LSP_OK;
    lsp_spgemm_plan *plan = p->plan;
    lsp_ctx *ctx = plan->ctx;
    const int64_t blocks = plan->info.blocks;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, blocks + 1, sizeof *plan->route.block_ranks, (void **)&plan->route.block_ranks));
    lsp_for_parts(ctx, blocks, (int)lsp_min(threads, lsp_threads_for(ctx, plan->facts.rows, MARKS)), mark_block, p);
    plan->route.block_ranks[0] = 0;
    for (int64_t block = 0; block < blocks; block++) {
        plan->route.block_ranks[block + 1] += plan->route.block_ranks[block];
    }
    if (plan->route.block_ranks[blocks] > available / 4) {
        lsp_spgemm_cpu_drop_ranks(plan);
    } else {
        LSP_TRY(lsp_alloc(ctx, LSP_HOST, plan->route.block_ranks[blocks] + 1, 1, (void **)&plan->route.ranks));
    }
done:
    return status;
}

lsp_status lsp_spgemm_cpu(lsp_spgemm_plan *plan, const lsp_spgemm_job *job) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    size_t mark = lsp_scratch_mark(ctx);
    int64_t available = lsp_spgemm_available(ctx, &plan->facts);
    lsp_spgemm_choice choice;
    passing p = {.plan = plan, .type = job->counting ? LSP_NONE : job->type};
    const int values = p.type == LSP_NONE ? 0 : p.type == LSP_F32 ? 1 : 2;
    const int way = p.type == LSP_I64                               ? (job->semiring == LSP_PLUS_TIMES ? 6 : 7)
                    : p.type == LSP_C64                             ? 5
                    : values > 0 && job->semiring != LSP_PLUS_TIMES ? values + 2
                                                                    : values;
    p.kernels = LSP_ISA_PICK(ctx->isa, lsp_spgemm_kernels)(&job->A, &job->B);
    p.rows = job->counting ? p.kernels->count : p.kernels->fill[way];
    LSP_REQUIRE(lsp_spgemm_choose(&plan->facts, LSP_SPGEMM_SORT, p.type, ctx->options.threads, available, &choice),
                LSP_ERR_MEMORY, "multiplying needs %lld bytes of scratch at least, and %lld are available",
                (long long)choice.thread_bytes, (long long)available);
    p.pass = (lsp_spgemm_pass){.job = job,
                               .sort = lsp_segsort_get_kernels(ctx)->sort,
                               .capacity = choice.capacity,
                               .ways = plan->route.ways,
                               .repeats = plan->route.repeats,
                               .exact = plan->route.exact,
                               .far = is_far(&job->B),
                               .again = plan->kept};
    p.thread_bytes = choice.thread_bytes;
    LSP_TRY(lsp_scratch_bytes(ctx, choice.thread_bytes * choice.threads, 1, false, (void **)&p.memory));
    for (int thread = 0; thread < choice.threads; thread++) {
        ((lsp_spgemm_work *)(void *)(p.memory + thread * choice.thread_bytes))->words = NULL;
    }
    if (job->counting && choice.shrunk) {
        lsp_spgemm_cpu_drop_ranks(plan);
    } else if (job->counting) {
        LSP_TRY(keep_ranks(&p, choice.threads, available - choice.thread_bytes * choice.threads));
    }
    lsp_for_parts(ctx, plan->info.blocks, choice.threads, do_block, &p);
done:
    lsp_scratch_release(ctx, mark);
    return status;
}

/* ---- row pointers ---- */

typedef struct copying {
    const lsp_spgemm_plan *plan;
    lsp_csr *C;
    int threads;
} copying;

static void copy_part(void *data, int64_t part, int thread) {
    const copying *c = data;
    const int64_t *rowptr = c->plan->rowptr;
    int64_t begin, end;
    lsp_share(c->C->rows + 1, (int)part, c->threads, &begin, &end);
    (void)thread;
    if (c->C->rowptr_type == LSP_I64) {
        memcpy((int64_t *)c->C->rowptr + begin, rowptr + begin, (size_t)(end - begin) * sizeof *rowptr);
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        ((int32_t *)c->C->rowptr)[i] = (int32_t)rowptr[i];
    }
}

void lsp_spgemm_copy_pointers(const lsp_spgemm_plan *plan, lsp_csr *C) {
    copying c = {.plan = plan, .C = C, .threads = lsp_threads_for(plan->ctx, C->rows, 1 << 16)};
    lsp_for_parts(plan->ctx, c.threads, c.threads, copy_part, &c);
}
