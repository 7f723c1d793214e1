/* How the kernels of CSR as it is lie on a matrix: chosen by the mean length of a row. */
#include "core/cuda.h"
#include "gpu.h"

/* Do bulk copies pay? Otherwise lanes read entries where they are. ms on an H100 by bulk copies / by lanes: f64 of mean
 * 8 .487 / .532, 27 .250 / .277, 78 .120 / .117; f32 of mean 8 .327 / .304; f32 values and f64 vectors of mean 78
 * .088 / .116 (2026-11-26). */
static bool bulk_pays(const lsp_spmv_job *given) {
    const double mean = lsp_spmv_mean(given), most = given->A.val_type == LSP_F64 ? 40 : 160;
    return mean <= most && !(given->options.type == LSP_F32 && mean > 6 && mean <= 12);
}

static const struct {
    double mean;
    int lanes, tile_rows; /* tile_rows: of tiles_block in kernel_rows.cuh */
} bulk_shapes[] = {{6, 1, 256}, {12, 2, 32}, {40, 4, 32}, {1e300, 8, 16}};
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

static spmv_shape bulk_shape(const lsp_spmv_job *given) {
    const double mean = lsp_spmv_mean(given);
    int s = 0;
    while (bulk_shapes[s].mean < mean) {
        s++;
    }
    const int rows = bulk_shapes[s].tile_rows;
    return (spmv_shape){.bulk = true,
                        .lanes = bulk_shapes[s].lanes,
                        .tile_rows = rows,
                        .room = ((int)(1.15 * mean * rows) + 48 + 3) / 4 * 4,
                        .heavy = lsp_max((int64_t)(heavy_times * mean * rows), SPMV_PIECE)};
}

/* Does the matrix allow bulk copies? They move 16 bytes to and from multiples of 16. */
bool lsp_spmv_takes_bulk(lsp_ctx *ctx, const lsp_spmv_job *given) {
    const lsp_csr *A = &given->A;
    return lsp_cuda_get_chip(ctx)->compute >= 90 && given->options.semiring == LSP_PLUS_TIMES &&
           A->col_type == LSP_I32 && ((uintptr_t)A->col | (uintptr_t)A->val) % 16 == 0;
}

spmv_shape lsp_spmv_plain_shape(const lsp_spmv_job *given) {
    const int lanes = plain_lanes(lsp_spmv_mean(given));
    return (spmv_shape){.lanes = lanes, .tile_rows = LANES_NT / lanes, .heavy = SPMV_PIECE};
}

spmv_shape lsp_spmv_rows_shape(lsp_ctx *ctx, const lsp_spmv_job *given) {
    return lsp_spmv_takes_bulk(ctx, given) && bulk_pays(given) ? bulk_shape(given) : lsp_spmv_plain_shape(given);
}

int64_t lsp_spmv_listed_pieces(const lsp_spmv_job *given) {
    return 2 * (given->A.nnz / SPMV_PIECE) + 2; /* a listed tile has more entries than one piece */
}
