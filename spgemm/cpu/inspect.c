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

/* Hashes a piece. Four hashes run side by side, because a single one would wait for each multiplication. */
static uint64_t hash_piece(const char *p, size_t n, uint64_t seed) {
    uint64_t hash[4] = {seed, seed + 1, seed + 2, seed + 3};
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        for (size_t lane = 0; lane < 4; lane++) {
            hash[lane] = with_word(hash[lane], p + i + 8 * lane, 8);
        }
    }
    for (; i < n; i += 8) {
        hash[0] = with_word(hash[0], p + i, n - i < 8 ? n - i : 8);
    }
    return mixed(mixed(mixed(mixed(hash[0]) + hash[1]) + hash[2]) + hash[3]);
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
    mine->ascending = l->kernels->find_repeats(B, begin, end, l->plan->cpu->repeats, &mine->repeats, &mine->exact);
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

/* Reads every entry, by threads. Writes the products of row i to rowptr[i + 1], the facts, and `ascending`. */
static lsp_status inspect_rows(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B) {
    enum {
        PARTS = 16,
        LEAST_PART = 256,
        USEFUL = 8
    }; /* parts a thread; rows of a part; one row in USEFUL must repeat the row above */
    lsp_ctx *ctx = plan->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    lsp_spgemm_job job = {.A = *A, .B = *B, .rowptr = plan->cpu->rowptr};
    inspecting l = {.plan = plan, .pass = {.job = &job, .far = lsp_is_far(B)}};
    findings only, b_rows;
    const int64_t half = A->nnz / 2 + A->rows / 2 + B->nnz / 2 + B->rows / 2;
    const int threads = half <= LSP_ALONE ? 1 : lsp_threads_for(ctx, half, LSP_WORTH_A_THREAD / 2);
    l.kernels = plan->cpu->kernels = LSP_ISA_PICK(ctx->isa, lsp_spgemm_kernels)(A, B);
    plan->cpu->sort = lsp_segsort_get_kernels(ctx)->sort;
    l.parts = threads == 1 ? 1 : lsp_max(lsp_min(PARTS * threads, A->rows / LEAST_PART), threads);
    plan->facts = (lsp_spgemm_facts){.rows = A->rows, .cols = B->cols};
    l.found = &only;
    if (l.parts > 1) {
        LSP_TRY(LSP_SCRATCH(ctx, l.parts, &l.found));
    }
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, lsp_max(A->rows, 1), 1, (void **)&plan->cpu->ways));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, lsp_max(B->rows, 1), 1, (void **)&plan->cpu->repeats));
    lsp_for_parts(ctx, l.parts, threads, find_repeats_part, &l);
    b_rows = all_repeats(&l);
    if (b_rows.repeats == 0 || b_rows.repeats < B->rows / USEFUL) {
        lsp_free(ctx, plan->cpu->repeats);
        plan->cpu->repeats = NULL;
    }
    plan->cpu->ascending = job.ascending = b_rows.ascending;
    plan->cpu->exact = b_rows.exact > 0 && b_rows.exact >= B->rows / USEFUL;
    plan->cpu->rowptr[0] = 0;
    l.pass.ways = plan->cpu->ways;
    l.pass.repeats = plan->cpu->repeats;
    lsp_for_parts(ctx, l.parts, threads, count_products_part, &l);
    LSP_REQUIRE(all_products(&l), LSP_ERR_OVERFLOW,
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
