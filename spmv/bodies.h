/* What plans and products do to one item on both devices, and THE list of these bodies: a line becomes a loop of the
 * host and a kernel. In all of them t.index is the type of the array that is read. */
#pragma once

#include "core/each.h"
#include "job.h"

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

#define LSP_SPMV_BODIES(ITEM)                                                                                          \
    ITEM(spmv_row_length, lsp_csr)                                                                                     \
    ITEM(spmv_tile_room, lsp_spmv_tiling)                                                                              \
    ITEM(spmv_pack, lsp_spmv_packing)
LSP_SPMV_BODIES(LSP_BODY_HOST)
typedef struct lsp_spmv_bodies_table { /* of the GPU; NULL in a build without CUDA */
    LSP_SPMV_BODIES(LSP_BODY_ITEM)
} lsp_spmv_bodies_table;
extern const lsp_spmv_bodies_table lsp_spmv_bodies_on_gpu;
#define LSP_BODIES_ON_GPU lsp_spmv_bodies_on_gpu

LSP_END_DECLS
