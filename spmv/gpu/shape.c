/* How the kernels of CSR as it is lie on a matrix: chosen by the mean length of a row. */
#include "core/cuda.h"
#include "gpu.h"

/* Do bulk copies pay? Otherwise lanes read entries where they are. ms on an H200 by bulk copies / by lanes: f64 of mean
 * 5 .337 / .419, 8 .352 / .370, 27 .246 / .241; f32 of mean 5 .324 / .414, 8 .285 / .258, 78 .071 / .083 (2026-11-24).
 */
static bool bulk_pays(lsp_type type, double mean) {
    return type == LSP_F32 ? mean <= 6 || (mean > 12 && mean <= 160) : mean <= 12;
}

static const struct {
    double mean;
    int lanes, tile_rows;
} bulk_shapes[] = {{6, 1, 64}, {12, 2, 32}, {1e300, 4, 32}};
static const double heavy_times = 4; /* a tile with this many times the mean goes to the list */

/* A fifth of the mean: each lane then loads its part of a row at once. */
static int plain_lanes(double mean) {
    int lanes = 2;
    while (lanes < 32 && lanes * ROWS_AHEAD < mean) {
        lanes *= 2;
    }
    return lanes;
}

double lsp_spmv_mean(const lsp_spmv_job *given) { return (double)given->A.nnz / (double)lsp_max(given->A.rows, 1); }

static void shape_bulk(const lsp_spmv_job *given, spmv_shape *shape) {
    const double mean = lsp_spmv_mean(given);
    int s = 0;
    while (bulk_shapes[s].mean < mean) {
        s++;
    }
    shape->bulk = true;
    shape->lanes = bulk_shapes[s].lanes;
    shape->tile_rows = bulk_shapes[s].tile_rows;
    shape->room = ((int)(1.15 * mean * shape->tile_rows) + 48 + 3) / 4 * 4;
    shape->heavy = lsp_max((int64_t)(heavy_times * mean * shape->tile_rows), SPMV_PIECE);
}

/* Does the matrix allow bulk copies? They move 16 bytes to and from multiples of 16. */
bool lsp_spmv_takes_bulk(lsp_ctx *ctx, const lsp_spmv_job *given) {
    const lsp_csr *A = &given->A;
    return lsp_cuda_get_chip(ctx)->compute >= 90 && given->options.semiring == LSP_PLUS_TIMES &&
           A->col_type == LSP_I32 && ((uintptr_t)A->col | (uintptr_t)A->val) % 16 == 0;
}

void lsp_spmv_plain_shape(const lsp_spmv_job *given, spmv_shape *shape) {
    const double mean = lsp_spmv_mean(given);
    *shape = (spmv_shape){0};
    shape->lanes = plain_lanes(mean);
    shape->tile_rows = LANES_NT / shape->lanes;
    shape->heavy = SPMV_PIECE;
}

void lsp_spmv_rows_shape(lsp_ctx *ctx, const lsp_spmv_job *given, spmv_shape *shape) {
    lsp_spmv_plain_shape(given, shape);
    if (lsp_spmv_takes_bulk(ctx, given) && given->options.vectors == 1 &&
        bulk_pays(given->options.type, lsp_spmv_mean(given))) {
        shape_bulk(given, shape);
    }
}

int64_t lsp_spmv_listed_pieces(const lsp_spmv_job *given) {
    return 2 * (given->A.nnz / SPMV_PIECE) + 2; /* a listed tile has more entries than one piece */
}
