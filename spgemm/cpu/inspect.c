/* What is to be known of C = A*B before it is formed: the structure of the operands as a number, products of every row
 * (lsp_spgemm_look), and rows in blocks of about equal work. */
#include "spgemm/spgemm.h"
#include <string.h>

/* ---- the structure as a number ---- */

static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
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
        const char *p = h->memory + (size_t)piece * PIECE;
        size_t left = h->bytes - (size_t)piece * PIECE, n = left < PIECE ? left : PIECE;
        uint64_t hash = mixed(h->seed + (uint64_t)piece), word;
        for (size_t i = 0; i < n; i += 8) {
            word = 0;
            memcpy(&word, p + i, n - i < 8 ? n - i : 8);
            hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
            hash ^= hash >> 32;
        }
        sum += mixed(hash);
    }
    __atomic_add_fetch(&h->sum, sum, __ATOMIC_RELAXED);
}

/* Hash of bytes: of pieces by any number of threads, added up. */
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

/* Cuts rows into at most about a thousand blocks of about equal work. */
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
    LSP_TRY(lsp_spgemm_look(plan, A, B));
    LSP_TRY(cut_blocks(plan, A));
done:
    return status;
}
