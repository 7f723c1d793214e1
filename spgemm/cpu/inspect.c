/* Inspects A and B before C = A*B is made: hashes their structure, counts the products of every row, and cuts the rows
 * into blocks of about equal work. */
#include "core/isa.h"
#include "cpu.h"
#include <string.h>

/* ---- the hash of a structure ---- */

static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static uint64_t with_word(uint64_t hash, const char *p, size_t bytes) {
    uint64_t word = 0;
    memcpy(&word, p, bytes);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

/* Hashes a piece. Eight hashes run side by side, because a single one would wait for each multiplication. */
static uint64_t hash_piece(const char *p, size_t n, uint64_t seed) {
    enum { LANES = 8, STEP = 8 * LANES, AHEAD = 4096 /* bytes fetched ahead: .7 of the time of 20 MB */ };
    uint64_t hash[LANES] = {seed}, sum = 0;
    size_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        __builtin_prefetch(p + i + AHEAD);
        for (size_t lane = 0; lane < LANES; lane++) {
            hash[lane] = with_word(hash[lane], p + i + 8 * lane, 8);
        }
    }
    for (; i < n; i += 8) {
        hash[0] = with_word(hash[0], p + i, n - i < 8 ? n - i : 8);
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        sum = mixed(sum + hash[lane]);
    }
    return sum;
}

enum { PIECE = 1 << 16 };

typedef struct hashing {
    const char *memory;
    size_t bytes;
    uint64_t seed, sum; /* sum: atomic */
} hashing;

static void hash_pieces(void *data, int64_t begin, int64_t end) {
    hashing *h = data;
    uint64_t sum = 0;
    for (int64_t piece = begin; piece < end; piece++) {
        const size_t left = h->bytes - (size_t)piece * PIECE, n = left < PIECE ? left : PIECE;
        sum += hash_piece(h->memory + (size_t)piece * PIECE, n, mixed(h->seed + (uint64_t)piece));
    }
    __atomic_add_fetch(&h->sum, sum, __ATOMIC_RELAXED);
}

/* Hashes bytes: the sum of the hashes of pieces, so the number of threads does not matter. */
static uint64_t hash_bytes(lsp_ctx *ctx, const void *memory, size_t bytes, uint64_t seed) {
    hashing h = {.memory = memory, .bytes = bytes, .seed = seed, .sum = seed};
    lsp_for_shares(ctx, (int64_t)((bytes + PIECE - 1) / PIECE), 4, hash_pieces, &h);
    return mixed(h.sum);
}

static uint64_t hash_structure(lsp_ctx *ctx, const lsp_csr *A) {
    uint64_t hash = hash_bytes(ctx, A->rowptr, ((size_t)A->rows + 1) * lsp_type_bytes(A->rowptr_type), 1);
    return hash_bytes(ctx, A->col, (size_t)A->nnz * lsp_type_bytes(A->col_type), hash);
}

lsp_status lsp_spgemm_cpu_structures(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, uint64_t structure[2]) {
    structure[0] = hash_structure(ctx, A);
    structure[1] = A == B ? structure[0] : hash_structure(ctx, B);
    return LSP_OK;
}

/* ---- rows ---- */

typedef struct looking {
    lsp_spgemm_look look;
    lsp_spgemm_pass pass;
    int64_t rows, parts;
    lsp_spgemm_findings *found; /* by each thread */
} looking;

static void join(lsp_spgemm_findings *all, const lsp_spgemm_findings *mine) {
    lsp_spgemm_facts *facts = &all->facts;
    all->repeats += mine->repeats;
    all->exact += mine->exact;
    all->falls |= mine->falls;
    all->overflows |= mine->overflows || !lsp_add(facts->products, mine->facts.products, &facts->products);
    facts->nnz_bound += all->overflows ? 0 : mine->facts.nnz_bound;
    facts->max_row_products = lsp_max(facts->max_row_products, mine->facts.max_row_products);
    facts->sort_products = lsp_max(facts->sort_products, mine->facts.sort_products);
    facts->window_columns = lsp_max(facts->window_columns, mine->facts.window_columns);
}

static void look_at_part(void *data, int64_t part, int thread) {
    const looking *l = data;
    lsp_spgemm_findings mine = {0};
    int64_t begin, end;
    lsp_share(l->rows, (int)part, (int)l->parts, &begin, &end);
    l->look(&l->pass, begin, end, &mine);
    join(&l->found[thread], &mine);
}

/* Looks at all rows, and joins what the threads found. */
static lsp_spgemm_findings look_at(const lsp_ctx *ctx, looking *l, lsp_spgemm_look look, int64_t rows, int threads) {
    lsp_spgemm_findings all = {0};
    l->look = look;
    l->rows = rows;
    memset(l->found, 0, (size_t)threads * sizeof *l->found);
    lsp_for_parts(ctx, l->parts, threads, look_at_part, l);
    for (int thread = 0; thread < threads; thread++) {
        join(&all, &l->found[thread]);
    }
    return all;
}

/* Reads every entry, by threads. Writes the products of row i to rowptr[i + 1], the facts, and `ascending`. */
static lsp_status inspect_rows(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B) {
    enum {
        PARTS = 16,
        LEAST_PART = 256,
        USEFUL = 8
    }; /* parts a thread; rows of a part; one row in USEFUL must repeat the row above */
    lsp_ctx *ctx = plan->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    lsp_spgemm_cpu *cpu = plan->cpu;
    lsp_spgemm_job job = {.A = *A, .B = *B, .rowptr = cpu->rowptr};
    const int64_t half = A->nnz / 2 + A->rows / 2 + B->nnz / 2 + B->rows / 2;
    const int threads = half <= LSP_ALONE ? 1 : lsp_threads_for(ctx, half, LSP_WORTH_A_THREAD / 2);
    lsp_spgemm_findings only;
    looking l = {.found = &only,
                 .parts = threads == 1 ? 1 : lsp_max(lsp_min(PARTS * threads, A->rows / LEAST_PART), threads)};
    cpu->kernels = LSP_ISA_PICK(ctx->isa, lsp_spgemm_kernels)(A, B);
    cpu->sort = lsp_segsort_get_kernels(ctx)->sort;
    LSP_TRY(threads > 1 ? LSP_SCRATCH(ctx, threads, &l.found) : LSP_OK);
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, lsp_max(A->rows, 1), 1, (void **)&cpu->ways));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, lsp_max(B->rows, 1), 1, (void **)&cpu->repeats));
    l.pass = (lsp_spgemm_pass){.job = &job, .ways = cpu->ways, .repeats = cpu->repeats};
    const lsp_spgemm_findings of_b = look_at(ctx, &l, cpu->kernels->find_repeats, B->rows, threads);
    if (of_b.repeats == 0 || of_b.repeats < B->rows / USEFUL) {
        lsp_free(ctx, cpu->repeats);
        cpu->repeats = NULL;
    }
    cpu->ascending = job.ascending = !of_b.falls;
    cpu->exact = of_b.exact > 0 && of_b.exact >= B->rows / USEFUL;
    cpu->rowptr[0] = 0;
    l.pass.repeats = cpu->repeats;
    const lsp_spgemm_findings of_a = look_at(ctx, &l, cpu->kernels->count_products, A->rows, threads);
    plan->facts = of_a.facts;
    plan->facts.rows = A->rows;
    plan->facts.cols = B->cols;
    LSP_REQUIRE(!of_a.overflows, LSP_ERR_OVERFLOW,
                "the product of %lld x %lld and %lld x %lld has more than 2^63 products", (long long)A->rows,
                (long long)A->cols, (long long)B->rows, (long long)B->cols);
    return LSP_OK;
}

/* ---- blocks ---- */

/* Cuts the rows into about a thousand blocks, or fewer, of about equal work. */
static lsp_status cut_blocks(lsp_spgemm_plan *plan, const lsp_csr *A) {
    enum { BLOCKS = 1024, LEAST_WORK = 1 << 11 };
    lsp_ctx *ctx = plan->ctx;
    int64_t half = plan->facts.products / 2 + A->nnz / 2 + A->rows / 2, blocks = 0;
    int64_t target = lsp_max(half / (BLOCKS / 2), LEAST_WORK), most = half / (target / 2) + 8, work = target;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, most + 1, sizeof *plan->cpu->block_rows, (void **)&plan->cpu->block_rows));
    for (int64_t i = 0; i < A->rows; i++) {
        if (work >= target && blocks < most) {
            plan->cpu->block_rows[blocks++] = i;
            work = 0;
        }
        int64_t entries = lsp_csr_rowptr(A, i + 1) - lsp_csr_rowptr(A, i);
        if (!lsp_add(work, 1 + entries, &work) || !lsp_add(work, plan->cpu->rowptr[i + 1], &work)) {
            work = target;
        }
    }
    plan->cpu->block_rows[blocks] = A->rows;
    plan->info.blocks = blocks;
    return LSP_OK;
}

lsp_status lsp_spgemm_cpu_inspect(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B) {
    LSP_TRY(lsp_alloc(plan->ctx, LSP_HOST, A->rows + 1, sizeof(int64_t), (void **)&plan->cpu->rowptr));
    LSP_TRY(inspect_rows(plan, A, B));
    return cut_blocks(plan, A);
}
