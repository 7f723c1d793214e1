/* C = A*B by threads. Threads take blocks of rows in turn; each has scratch of its own: words, ranks and a window. */
#include "core/isa.h"
#include "cpu.h"
#include <string.h>

/* ---- the scratch of a thread ---- */

/* Brings the sums of a window into their state between rows. */
LSP_INLINE void clear_sums(lsp_type type, lsp_semiring semiring, void *sums, int64_t columns) {
    const double empty = lsp_semiring_empty(semiring);
    for (int64_t j = 0; j < columns; j++) {
        lsp_value_set(type, sums, j, (lsp_value){empty, empty, lsp_semiring_empty_i64(semiring)});
    }
}

/* Lays out the scratch of a thread. */
static void prepare_work(const lsp_spgemm_capacity *capacity, lsp_type type, lsp_semiring semiring, char *memory) {
    lsp_spgemm_work work;
    lsp_spgemm_work *place = lsp_spgemm_take(&memory, sizeof work);
    size_t slots = (size_t)(capacity->sort_products + LSP_WORD_PAD), columns = (size_t)capacity->window_columns;
    work.words = lsp_spgemm_take(&memory, slots * capacity->word_bytes);
    work.spare = lsp_spgemm_take(&memory, slots * capacity->word_bytes);
    work.ranks = lsp_spgemm_take(&memory, slots * sizeof *work.ranks);
    work.window = lsp_spgemm_take(&memory, columns * (size_t)lsp_max((int64_t)capacity->value_bytes, 4));
    work.touched = lsp_spgemm_take(&memory, columns);
    memset(work.touched, 0, columns);
    LSP_WITH_VALUE(type, clear_sums, semiring, work.window, capacity->window_columns);
    *place = work;
}

/* ---- a pass ---- */

typedef struct passing {
    lsp_spgemm_plan *plan;
    lsp_spgemm_pass pass;
    lsp_spgemm_rows rows;
    lsp_type type;
    char *memory; /* of all threads; each share begins with an lsp_spgemm_work, whose words are NULL until it is
                     prepared */
    int64_t thread_bytes;
    int64_t window_products; /* rows in windows keep their ranks for the next use up to this number of products */
} passing;

/* Marks the rows of a block whose ranks are kept, and finds the bytes of these. */
static void mark_block(void *data, int64_t block, int thread) {
    const passing *p = data;
    const int64_t *products = p->plan->cpu->rowptr + 1;
    const int64_t first = p->plan->cpu->block_rows[block], last = p->plan->cpu->block_rows[block + 1];
    uint8_t *ways = p->plan->cpu->ways;
    int64_t bytes = 0;
    (void)thread;
    ways[first] &= LSP_WAY_WINDOW; /* a block needs no row of another block */
    for (int64_t i = first; i < last; i++) {
        const uint8_t way = ways[i] & (LSP_WAY_WINDOW | LSP_WAY_REPEAT);
        const bool repeated = i + 1 < last && (ways[i + 1] & LSP_WAY_REPEAT);
        const bool keep = way == 0 || (way == LSP_WAY_WINDOW && (repeated || products[i] <= p->window_products));
        ways[i] = way;
        if (products[i] > 0 && keep) {
            bytes += lsp_ranks_bytes(products[i]);
            ways[i] = lsp_way_kept(way, products[i]);
        }
    }
    p->plan->cpu->block_ranks[block + 1] = bytes;
}

static void do_block(void *data, int64_t block, int thread) {
    passing *p = data;
    const lsp_spgemm_plan *plan = p->plan;
    const int64_t *begin = plan->cpu->block_rows + block;
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
            plan->cpu->ranks ? plan->cpu->ranks + plan->cpu->block_ranks[block] : NULL);
}

bool lsp_spgemm_cpu_drop_ranks(lsp_spgemm_plan *plan) {
    const bool kept = plan->cpu->block_ranks != NULL;
    lsp_free(plan->ctx, plan->cpu->ranks);
    lsp_free(plan->ctx, plan->cpu->block_ranks);
    plan->cpu->ranks = NULL;
    plan->cpu->block_ranks = NULL;
    for (int64_t i = 0; plan->cpu->ways != NULL && i < plan->facts.rows; i++) {
        plan->cpu->ways[i] &= LSP_WAY_WINDOW;
    }
    return kept;
}

/* Marks the rows whose ranks are kept. Returns the bytes of the ranks. */
static int64_t mark_rows(passing *p, int threads, int64_t window_products) {
    enum { MARKS = 1 << 14 }; /* rows that are worth another thread */
    lsp_spgemm_plan *plan = p->plan;
    int64_t *ends = plan->cpu->block_ranks;
    const int64_t blocks = plan->info.blocks;
    p->window_products = window_products;
    lsp_for_parts(plan->ctx, blocks, (int)lsp_min(threads, lsp_threads_for(plan->ctx, plan->facts.rows, MARKS)),
                  mark_block, p);
    ends[0] = 0;
    for (int64_t block = 0; block < blocks; block++) {
        ends[block + 1] += ends[block];
    }
    return ends[blocks];
}

/* Decides which ranks are kept, and allocates them. They take at most a quarter of the available memory: a plan that
 * may be used again keeps those of two bytes if they fit, else those of one byte. */
static lsp_status keep_ranks(passing *p, int threads, int64_t available) {
    enum { BYTE = 1 << 8, TWO_BYTES = 1 << 16 };
    lsp_spgemm_plan *plan = p->plan;
    lsp_ctx *ctx = plan->ctx;
    LSP_PLAN_HOLDS(ctx, plan);
    int64_t bytes;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, plan->info.blocks + 1, sizeof *plan->cpu->block_ranks,
                      (void **)&plan->cpu->block_ranks));
    bytes = mark_rows(p, threads, plan->kept ? TWO_BYTES : 0);
    bytes = plan->kept && bytes > available / 4 ? mark_rows(p, threads, BYTE) : bytes;
    if (bytes > available / 4) {
        lsp_spgemm_cpu_drop_ranks(plan);
    } else {
        LSP_TRY(lsp_alloc(ctx, LSP_HOST, bytes + 1, 1, (void **)&plan->cpu->ranks));
    }
    return LSP_OK;
}

lsp_status lsp_spgemm_cpu_pass(lsp_spgemm_plan *plan, const lsp_spgemm_job *job, const lsp_spgemm_choice *choice,
                               int64_t available) {
    enum { LONG_ROW = 8 };
    lsp_ctx *ctx = plan->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    passing p = {.plan = plan, .type = job->counting ? LSP_NONE : job->type};
    p.rows =
        job->counting ? plan->cpu->kernels->count : plan->cpu->kernels->fill[lsp_value_number(p.type, job->semiring)];
    p.pass = (lsp_spgemm_pass){.job = job,
                               .sort = plan->cpu->sort,
                               .capacity = choice->capacity,
                               .ways = plan->cpu->ways,
                               .repeats = plan->cpu->repeats,
                               .exact = plan->cpu->exact};
    p.thread_bytes = choice->thread_bytes;
    /* Adding rows of B together, where they are exact repeats, is faster only if they have several entries. */
    p.pass.replay =
        job->update && job->A.val_type == job->type && !(plan->cpu->exact && job->B.nnz / LONG_ROW >= job->B.rows);
    LSP_TRY(lsp_scratch_bytes(ctx, choice->thread_bytes * choice->threads, 1, false, (void **)&p.memory));
    for (int thread = 0; thread < choice->threads; thread++) {
        ((lsp_spgemm_work *)(void *)(p.memory + thread * choice->thread_bytes))->words = NULL;
    }
    if (job->counting && choice->shrunk) {
        lsp_spgemm_cpu_drop_ranks(plan);
    } else if (job->counting) {
        LSP_TRY(keep_ranks(&p, choice->threads, available - choice->thread_bytes * choice->threads));
    }
    return lsp_try_parts(ctx, plan->info.blocks, choice->threads, do_block, &p);
}
