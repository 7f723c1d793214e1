/* Inspects A and B before C = A*B is made: hashes their structure, counts the products of every row
 * (lsp_spgemm_inspect_rows), and cuts the rows into blocks of about equal work. */
#include "spgemm/spgemm.h"
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

uint64_t lsp_spgemm_structure(lsp_ctx *ctx, const lsp_csr *A) {
    uint64_t hash = hash_bytes(ctx, A->rowptr, ((size_t)A->rows + 1) * lsp_type_bytes(A->rowptr_type), 1);
    return hash_bytes(ctx, A->col, (size_t)A->nnz * lsp_type_bytes(A->col_type), hash);
}

/* ---- blocks ---- */

/* Cuts the rows into about a thousand blocks, or fewer, of about equal work. */
static lsp_status cut_blocks(lsp_spgemm_plan *plan, const lsp_csr *A) {
    enum { BLOCKS = 1024, LEAST_WORK = 1 << 11 };
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    int64_t half = plan->facts.products / 2 + A->nnz / 2 + A->rows / 2, blocks = 0;
    int64_t target = lsp_max(half / (BLOCKS / 2), LEAST_WORK), most = half / (target / 2) + 8, work = target;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, most + 1, sizeof *plan->block_rows, (void **)&plan->block_rows));
    for (int64_t i = 0; i < A->rows; i++) {
        if (work >= target && blocks < most) {
            plan->block_rows[blocks++] = i;
            work = 0;
        }
        int64_t entries = lsp_index_at(A->rowptr, A->rowptr_type, i + 1) - lsp_index_at(A->rowptr, A->rowptr_type, i);
        if (!lsp_add(work, 1 + entries, &work) || !lsp_add(work, plan->rowptr[i + 1], &work)) {
            work = target;
        }
    }
    plan->block_rows[blocks] = A->rows;
    plan->info.blocks = blocks;
done:
    return status;
}

lsp_status lsp_spgemm_inspect(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, A->rows + 1, sizeof *plan->rowptr, (void **)&plan->rowptr));
    LSP_TRY(lsp_spgemm_inspect_rows(plan, A, B));
    LSP_TRY(cut_blocks(plan, A));
done:
    return status;
}

/* ---- the choice ---- */

void lsp_spgemm_cpu_describe(lsp_spgemm_plan *plan, const lsp_csr *B) {
    lsp_spgemm_choice choice;
    const lsp_spgemm_facts *facts = &plan->facts;
    int64_t available = lsp_spgemm_available(plan->ctx, facts), scratch;
    lsp_spgemm_choose(facts, plan->options.method, plan->type, plan->ctx->options.threads, available, &choice);
    if (!lsp_mul(choice.thread_bytes, choice.threads, &scratch)) {
        scratch = INT64_MAX;
    }
    if (plan->type != LSP_NONE && B->val_type != plan->type) {
        scratch += B->nnz * (int64_t)lsp_type_bytes(plan->type);
    }
    plan->info.method = choice.method;
    lsp_spgemm_explain(facts, &choice, plan->info.reason, sizeof plan->info.reason);
    plan->info.scratch_bytes = scratch;
}
