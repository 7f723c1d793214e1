/* What is to be known of C = A*B before it is formed: products of every row, the widest windows, and rows in blocks of
 * about equal work. Costs one look at B's row pointers for each entry of A. */
#include "spgemm.h"
#include <string.h>

enum { WORTH_A_THREAD = 1 << 14 };

/* ---- the structure as a number ---- */

static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* Hash of bytes: of pieces by any number of threads, added up. */
static uint64_t hash_bytes(lsp_ctx *ctx, const void *memory, size_t bytes, uint64_t seed) {
    enum { PIECE = 1 << 16 };
    int64_t pieces = (int64_t)((bytes + PIECE - 1) / PIECE);
    uint64_t sum = seed;
#pragma omp parallel for num_threads(lsp_threads_for(ctx, pieces, 4)) reduction(+ : sum)
    for (int64_t piece = 0; piece < pieces; piece++) {
        const char *p = (const char *)memory + (size_t)piece * PIECE;
        size_t left = bytes - (size_t)piece * PIECE, n = left < PIECE ? left : PIECE;
        uint64_t hash = mixed(seed + (uint64_t)piece), word;
        for (size_t i = 0; i < n; i += 8) {
            word = 0;
            memcpy(&word, p + i, n - i < 8 ? n - i : 8);
            hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
            hash ^= hash >> 32;
        }
        sum += mixed(hash);
    }
    return mixed(sum);
}

uint64_t lsp_spgemm_structure(lsp_ctx *ctx, const lsp_csr *A) {
    uint64_t hash = hash_bytes(ctx, A->rowptr, ((size_t)A->rows + 1) * lsp_type_bytes(A->rowptr_type), 1);
    return hash_bytes(ctx, A->col, (size_t)A->nnz * lsp_type_bytes(A->col_type), hash);
}

/* ---- facts ---- */

static bool rows_ascend(lsp_ctx *ctx, const lsp_csr *B) {
    bool ascend = true;
#pragma omp parallel for num_threads(lsp_threads_for(ctx, B->nnz + B->rows, WORTH_A_THREAD)) reduction(&& : ascend) \
    schedule(dynamic, 1024)
    for (int64_t i = 0; i < B->rows; i++) {
        int64_t end = lsp_index_at(B->rowptr, B->rowptr_type, i + 1);
        for (int64_t p = lsp_index_at(B->rowptr, B->rowptr_type, i) + 1; p < end; p++) {
            ascend = ascend && lsp_index_at(B->col, B->col_type, p - 1) <= lsp_index_at(B->col, B->col_type, p);
        }
    }
    return ascend;
}

typedef struct row_facts {
    int64_t products, width;
    bool overflow;
} row_facts;

static row_facts look_at_row(const lsp_csr *A, const lsp_csr *B, bool ascending, int64_t i) {
    row_facts row = {0};
    int64_t low = ascending ? INT64_MAX : 0, high = ascending ? -1 : B->cols - 1;
    int64_t end = lsp_index_at(A->rowptr, A->rowptr_type, i + 1);
    for (int64_t e = lsp_index_at(A->rowptr, A->rowptr_type, i); e < end; e++) {
        int64_t k = lsp_index_at(A->col, A->col_type, e);
        int64_t p = lsp_index_at(B->rowptr, B->rowptr_type, k), q = lsp_index_at(B->rowptr, B->rowptr_type, k + 1);
        row.overflow |= !lsp_add(row.products, q - p, &row.products);
        if (ascending && p < q) {
            low = lsp_min(low, lsp_index_at(B->col, B->col_type, p));
            high = lsp_max(high, lsp_index_at(B->col, B->col_type, q - 1));
        }
    }
    row.width = row.products > 0 ? high - low + 1 : 0;
    return row;
}

/* Products of row i to plan->rowptr[i]; their sums and maxima to the facts. */
static lsp_status count_products(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    bool overflow = false;
    int64_t bound = 0, most = 0, sort = 0, window = 0, products = 0;
#pragma omp parallel for num_threads(lsp_threads_for(ctx, A->nnz + A->rows, WORTH_A_THREAD)) schedule(dynamic, 1024) \
    reduction(|| : overflow) reduction(+ : bound) reduction(max : most, sort, window)
    for (int64_t i = 0; i < A->rows; i++) {
        row_facts row = look_at_row(A, B, plan->ascending, i);
        overflow = overflow || row.overflow || !lsp_add(bound, lsp_min(row.products, B->cols), &bound);
        plan->rowptr[i] = row.products;
        most = lsp_max(most, row.products);
        if (lsp_spgemm_prefers_window(row.products, row.width)) {
            window = lsp_max(window, row.width);
        } else {
            sort = lsp_max(sort, row.products);
        }
    }
    for (int64_t i = 0; i < A->rows; i++) {
        overflow = overflow || !lsp_add(products, plan->rowptr[i], &products);
    }
    LSP_REQUIRE(!overflow, LSP_ERR_OVERFLOW, "the product of %lld x %lld and %lld x %lld has more than 2^63 products",
                (long long)A->rows, (long long)A->cols, (long long)B->rows, (long long)B->cols);
    plan->facts = (lsp_spgemm_facts){.rows = A->rows,
                                     .cols = B->cols,
                                     .products = products,
                                     .nnz_bound = bound,
                                     .max_row_products = most,
                                     .sort_products = sort,
                                     .window_columns = window};
done:
    return status;
}

/* Cuts rows into at most about a thousand blocks of about equal work; `block_rows` NULL: only counts them. */
static int64_t cut_blocks(const lsp_spgemm_plan *plan, const lsp_csr *A, int64_t *block_rows) {
    enum { BLOCKS = 1024, LEAST_WORK = 1 << 13 };
    int64_t target = lsp_max((plan->facts.products / 2 + A->nnz / 2 + A->rows / 2) / (BLOCKS / 2), LEAST_WORK);
    int64_t blocks = 0, work = target;
    for (int64_t i = 0; i < A->rows; i++) {
        if (work >= target) {
            if (block_rows != NULL) {
                block_rows[blocks] = i;
            }
            blocks++;
            work = 0;
        }
        int64_t entries = lsp_index_at(A->rowptr, A->rowptr_type, i + 1) - lsp_index_at(A->rowptr, A->rowptr_type, i);
        if (!lsp_add(work, 1 + entries, &work) || !lsp_add(work, plan->rowptr[i], &work)) {
            work = target;
        }
    }
    if (block_rows != NULL) {
        block_rows[blocks] = A->rows;
    }
    return blocks;
}

lsp_status lsp_spgemm_inspect(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, A->rows + 1, sizeof *plan->rowptr, (void **)&plan->rowptr));
    plan->ascending = rows_ascend(ctx, B);
    LSP_TRY(count_products(plan, A, B));
    plan->info.blocks = cut_blocks(plan, A, NULL);
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, plan->info.blocks + 1, sizeof *plan->block_rows, (void **)&plan->block_rows));
    cut_blocks(plan, A, plan->block_rows);
done:
    return status;
}
