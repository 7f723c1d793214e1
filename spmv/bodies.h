/* What plans and products do to one item on both devices, and THE list of these bodies: a line becomes a loop of the
 * host and a kernel. In all of them t.index is the type of the array that is read. */
#pragma once

#include "core/each.h"
#include "job.h"
#include "packed.h"

LSP_BEGIN_DECLS

/* Row i of A. Told first: how much shorter it is than LSP_NOWHERE; counted: whether it is empty. */
LSP_ITEM_BODY(spmv_row_length, lsp_csr) {
    const uint64_t length = (uint64_t)(lsp_index_at(a->rowptr, t.index, i + 1) - lsp_index_at(a->rowptr, t.index, i));
    lsp_tell_first(f, 0, LSP_NOWHERE - length);
    lsp_tell_count(f, length == 0);
}

/* Tile i of A's rows, cut in two ways. Told first of each: how much less than LSP_NOWHERE it has of entries and of
 * those before it that a copy of whole 16 bytes brings, too. */
typedef struct lsp_spmv_tiling {
    lsp_csr A;
    int64_t rows[2]; /* of a tile */
} lsp_spmv_tiling;
LSP_ITEM_BODY(spmv_tile_room, lsp_spmv_tiling) {
    for (int way = 0; way < 2; way++) {
        const int64_t first = i * a->rows[way] < a->A.rows ? i * a->rows[way] : a->A.rows;
        const int64_t last = a->A.rows - first < a->rows[way] ? a->A.rows : first + a->rows[way];
        const int64_t begin = lsp_index_at(a->A.rowptr, t.index, first) & ~(int64_t)3;
        lsp_tell_first(f, way, LSP_NOWHERE - (uint64_t)(lsp_index_at(a->A.rowptr, t.index, last) - begin));
    }
}

/* to[i] = from[i * step], for elements of 4 or 8 bytes, which move as integers. */
typedef struct lsp_spmv_packing {
    const void *from;
    void *to;
    int64_t step;
} lsp_spmv_packing;
LSP_ITEM_BODY(spmv_pack, lsp_spmv_packing) {
    lsp_index_set(a->to, t.index, i, lsp_index_at(a->from, t.index, i * a->step));
}

/* How LSP_SPMV_PROPAGATE cuts the entries of A into bins, and its rows among them. */
typedef struct __attribute__((aligned(16))) lsp_spmv_bin {
    int64_t row;    /* bin b owns the rows that begin in it, bin[b].row .. bin[b+1].row-1 */
    uint32_t begin; /* entries bin[b].begin .. bin[b+1].begin-1 of the CSR order, modulo 2^32 */
    uint32_t reach; /* in how many of the next bins its last row has entries */
} lsp_spmv_bin;
typedef struct lsp_spmv_cutting {
    lsp_csr A;
    int64_t bins, target; /* in bin b begin the rows that begin in target*b .. target*(b+1)-1 */
    bool cuts_rows;       /* a bin has exactly these entries, and a row may go on in the next bins */
    lsp_spmv_bin *bin;    /* bins + 1 */
    uint16_t *row_begin;  /* rows: where a row begins in its bin */
} lsp_spmv_cutting;

/* The first row that begins at entry `at` or later. */
LSP_BODY_FUNCTION int64_t lsp_spmv_row_from(const lsp_csr *A, const lsp_kind t, int64_t at) {
    return LSP_FIRST(0, A->rows, row, lsp_index_at(A->rowptr, t.index, row) >= at);
}
/* Bin i; the last one only ends the others. */
LSP_ITEM_BODY(spmv_bin, lsp_spmv_cutting) {
    const int64_t begin = i * a->target, end = begin + a->target;
    lsp_spmv_bin bin = {a->A.rows, (uint32_t)a->A.nnz, 0};
    if (i < a->bins) {
        bin.row = lsp_spmv_row_from(&a->A, t, begin);
        bin.begin = (uint32_t)(a->cuts_rows ? begin : lsp_index_at(a->A.rowptr, t.index, bin.row));
    }
    if (a->cuts_rows && i + 1 < a->bins) {
        const int64_t next = lsp_spmv_row_from(&a->A, t, end), stop = lsp_index_at(a->A.rowptr, t.index, next);
        bin.reach = next > bin.row && stop > end ? (uint32_t)((stop - 1) / a->target - i) : 0;
    }
    a->bin[i] = bin;
}
LSP_ITEM_BODY(spmv_row_begin, lsp_spmv_cutting) {
    const int64_t at = lsp_index_at(a->A.rowptr, t.index, i), bin = at / a->target;
    a->row_begin[i] = (uint16_t)((uint32_t)at - a->bin[bin < a->bins ? bin : a->bins - 1].begin);
}

/* The rows that have entries, listed: before[i] of them are rows below i. */
typedef struct lsp_spmv_listing {
    lsp_csr A;
    lsp_packed p;
    int64_t *before; /* rows + 1 */
} lsp_spmv_listing;
LSP_ITEM_BODY(spmv_has_entries, lsp_spmv_listing) {
    const void *rowptr = a->A.rowptr;
    a->before[i] = i > 0 && lsp_index_at(rowptr, t.index, i - 1) != lsp_index_at(rowptr, t.index, i);
}
LSP_ITEM_BODY(spmv_list_row, lsp_spmv_listing) {
    const int64_t r = a->before[i];
    if (i == a->A.rows || r < a->before[i + 1]) {
        lsp_index_set(a->p.rowptr, t.index, r, lsp_index_at(a->A.rowptr, t.index, i));
    }
    if (i < a->A.rows && r < a->before[i + 1]) {
        a->p.rows[r] = i;
    }
}

#define LSP_SPMV_BODIES(ITEM)                                                                                          \
    ITEM(spmv_row_length, lsp_csr)                                                                                     \
    ITEM(spmv_tile_room, lsp_spmv_tiling)                                                                              \
    ITEM(spmv_has_entries, lsp_spmv_listing)                                                                           \
    ITEM(spmv_list_row, lsp_spmv_listing)                                                                              \
    ITEM(spmv_pack, lsp_spmv_packing)                                                                                  \
    ITEM(spmv_bin, lsp_spmv_cutting)                                                                                   \
    ITEM(spmv_row_begin, lsp_spmv_cutting)
LSP_SPMV_BODIES(LSP_BODY_HOST)
typedef struct lsp_spmv_bodies_table { /* of the GPU; NULL in a build without CUDA */
    LSP_SPMV_BODIES(LSP_BODY_ITEM)
} lsp_spmv_bodies_table;
extern const lsp_spmv_bodies_table lsp_spmv_bodies_on_gpu;
#define LSP_BODIES_ON_GPU lsp_spmv_bodies_on_gpu

/* Fills `bin` and `row_begin`. Waits for nothing. */
static inline lsp_status lsp_spmv_cut_rows(lsp_ctx *ctx, const lsp_spmv_cutting *cutting) {
    lsp_each_job bins = lsp_each_of(cutting, cutting->bins + 1), rows = lsp_each_of(cutting, cutting->A.rows);
    bins.kind.index = rows.kind.index = cutting->A.rowptr_type;
    bins.heavy = true;
    LSP_TRY(LSP_EACH(ctx, cutting->A.where, spmv_bin, bins));
    return LSP_EACH(ctx, cutting->A.where, spmv_row_begin, rows);
}

LSP_END_DECLS
