/* Points on the GPU: looked at, turned into places, gathered in the order of cells. */
#pragma once

#include "core/launch.cuh"
#include "gpu.h"

enum { POINTS_NT = 256, POINTS_VT = 8, POINTS_TILE = POINTS_NT * POINTS_VT, POINTS_SM_BLOCKS = 8 };
/* Starts a kernel with a loop over EACH_ITEM of n. */
#define LAUNCH_POINTS(ctx, kernel, n, ...)                                                                             \
    LSP_LAUNCH(ctx, kernel, lsp_blocks_for((ctx), (n), POINTS_TILE, POINTS_SM_BLOCKS), POINTS_NT, 0, __VA_ARGS__)

__device__ inline double coordinate(const lsp_points &p, int k, int64_t i) {
    return p.type == LSP_F32 ? (double)((const float *)p.at[k])[i * p.stride] : ((const double *)p.at[k])[i * p.stride];
}

/* What is known of the points. Doubles are kept as numbers in the same order, so that atomics find the least and the
 * largest; `low` upside down, so that all begins as zero. */
typedef struct points_facts {
    ull low[LSP_MOST_DIMENSIONS], high[LSP_MOST_DIMENSIONS];
    ull bad[2][LSP_MOST_DIMENSIONS]; /* of each set: ~(the first point whose coordinate is not finite) */
} points_facts;

static inline LSP_BOTH_SIDES ull order_of(double x) {
    ull bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (ull)1 << 63;
}
static inline double from_order(ull order) {
    const ull bits = order >> 63 ? order & ~((ull)1 << 63) : ~order;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The largest of the lanes' x goes to *at. */
__device__ inline void keep_largest(ull x, ull *at) {
    x = warp_max(x);
    if (threadIdx.x % WARP == 0 && x > 0) {
        atomicMax(at, x);
    }
}

static __global__ void __launch_bounds__(POINTS_NT) kernel_facts(lsp_points points, int set, points_facts *facts) {
    for (int k = 0; k < points.dimensions; k++) {
        ull low = 0, high = 0, bad = 0;
        EACH_ITEM(i, points.n, POINTS_NT) {
            const double x = coordinate(points, k, i);
            if (x - x == 0) {
                low = max(low, ~order_of(x));
                high = max(high, order_of(x));
            } else {
                bad = max(bad, ~(ull)i);
            }
        }
        keep_largest(low, &facts->low[k]);
        keep_largest(high, &facts->high[k]);
        keep_largest(bad, &facts->bad[set][k]);
    }
}

/* Arrays that a kernel fills. */
typedef struct places {
    void *at[LSP_MOST_DIMENSIONS];
    uint32_t *cell; /* NULL: no grid */
} places;

__device__ inline void set_place(const lsp_pair_job &job, void *place, int64_t i, double x) {
    if (job.type == LSP_F64) {
        ((double *)place)[i] = x;
    } else if (job.metric.kind != LSP_SPACE_OPEN) {
        ((uint32_t *)place)[i] = lsp_fixed_part(x);
    } else {
        ((float *)place)[i] = (float)x;
    }
}

__device__ inline int64_t cell_along(const lsp_pair_job &job, int k, double x) {
    const bool periodic = job.metric.kind != LSP_SPACE_OPEN;
    return periodic && job.type == LSP_F32 ? lsp_cell_of_fixed(&job.grid, k, lsp_fixed_part(x))
                                           : lsp_cell_of_real(&job.grid, k, periodic, job.low[k], job.high[k], x);
}

/* DIM: the points' dimensions, so that what belongs to a point stays in registers; 0: any. */
template <int DIM>
static __global__ void __launch_bounds__(POINTS_NT)
    kernel_places(const __grid_constant__ lsp_pair_job job, int set, places to) {
    const lsp_points &points = job.sets[set];
    const int dimensions = DIM > 0 ? DIM : job.metric.dimensions;
    EACH_ITEM(i, points.n, POINTS_NT) {
        double x[LSP_MOST_DIMENSIONS] = {}, part[LSP_MOST_DIMENSIONS] = {};
        for (int k = 0; k < dimensions; k++) {
            x[k] = part[k] = coordinate(points, k, i);
        }
        if (job.metric.kind != LSP_SPACE_OPEN) {
            lsp_parts_of_box(&job.metric, dimensions, x, part);
        }
        int64_t cell = 0, step = 1;
        for (int k = 0; k < dimensions; k++) {
            set_place(job, to.at[k], i, part[k]);
            if (to.cell != NULL && k < LSP_GRID_DIMENSIONS) {
                cell += cell_along(job, k, part[k]) * step;
                step *= job.grid.cells[k];
            }
        }
        if (to.cell != NULL) {
            to.cell[i] = (uint32_t)cell;
        }
    }
}

/* start[c] = the points in cells before c; cells are sorted. */
static __global__ void __launch_bounds__(POINTS_NT)
    kernel_starts(const uint32_t *cell, int64_t n, int64_t cells, int32_t *start) {
    EACH_ITEM(c, cells + 1, POINTS_NT) {
        start[c] = (int32_t)LSP_FIRST((int64_t)0, n, middle, cell[middle] >= (uint64_t)c);
    }
}
