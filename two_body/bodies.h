/* What happens to one point on its way to places, on both devices, and THE list of these bodies: a line becomes a loop
 * of the host and a kernel. */
#pragma once

#include "core/each.h"
#include "job.h"

LSP_BEGIN_DECLS

/* ---- what is known of the points ---- */

/* Doubles as integers in the same order, and back. */
LSP_BODY_FUNCTION uint64_t lsp_order_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}
LSP_BODY_FUNCTION double lsp_number_of(uint64_t order) {
    const uint64_t bits = order >> 63 ? order & ~((uint64_t)1 << 63) : ~order;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The least coordinate is the first number told, the largest the most; told second: points that have none. */
typedef struct looking {
    const void *at; /* a coordinate of all points */
    lsp_type type;
    int64_t stride;
} looking;
LSP_ITEM_BODY(pair_look, looking) {
    const double x = lsp_real_at(a->at, a->type, i * a->stride);
    if (x - x == 0) { /* finite */
        lsp_tell_first(f, 0, lsp_order_of(x));
        lsp_tell_most(f, lsp_order_of(x), 0);
    } else {
        lsp_tell_first(f, 1, (uint64_t)i);
    }
}

/* ---- places ---- */

typedef struct placing {
    lsp_pair_job job;
    int set;
    lsp_cloud to; /* cell NULL: no grid */
} placing;

/* The cell of a place, a part of the side or a coordinate, in one dimension of the grid. */
LSP_BODY_FUNCTION int64_t lsp_cell_along(const lsp_pair_job *job, int k, double place) {
    const int64_t cells = job->grid.cells[k];
    const bool periodic = job->metric.kind != LSP_SPACE_OPEN;
    if (periodic && job->type == LSP_F32) { /* exact */
        return (int64_t)(lsp_fixed_part(place) * (uint64_t)cells >> 32);
    }
    const double part = periodic ? place * (double)cells : cells > 1 ? (place - job->low[k]) * job->grid.scale[k] : 0;
    return (int64_t)part < cells - 1 ? (int64_t)part : cells - 1;
}

/* Sets the place of point i and its cell. dimensions: a constant, where what belongs to a point fits registers. */
LSP_BODY_FUNCTION void lsp_place_point(const placing *a, int dimensions, int64_t i) {
    const lsp_pair_job *job = &a->job;
    const lsp_points *points = &job->sets[a->set];
    const bool periodic = job->metric.kind != LSP_SPACE_OPEN;
    double x[LSP_MOST_DIMENSIONS] = {0}, part[LSP_MOST_DIMENSIONS] = {0};
    int64_t cell = 0, step = 1;
    for (int k = 0; k < dimensions; k++) {
        x[k] = part[k] = lsp_real_at(points->at[k], points->type, i * points->stride);
    }
    if (periodic) {
        lsp_parts_of_box(&job->metric, dimensions, x, part);
    }
    for (int k = 0; k < dimensions; k++) {
        if (job->type == LSP_F64) {
            ((double *)a->to.place[k])[i] = part[k];
        } else if (periodic) {
            ((uint32_t *)a->to.place[k])[i] = lsp_fixed_part(part[k]);
        } else {
            ((float *)a->to.place[k])[i] = (float)part[k];
        }
        if (a->to.cell != NULL && k < LSP_GRID_DIMENSIONS) {
            cell += lsp_cell_along(job, k, part[k]) * step;
            step *= job->grid.cells[k];
        }
    }
    if (a->to.cell != NULL) {
        a->to.cell[i] = (uint32_t)cell;
    }
}
LSP_ITEM_BODY(pair_place, placing) { lsp_place_point(a, a->job.metric.dimensions, i); }
LSP_ITEM_BODY(pair_place_2, placing) { lsp_place_point(a, 2, i); }
LSP_ITEM_BODY(pair_place_3, placing) { lsp_place_point(a, 3, i); }

/* ---- orders ---- */

/* id[i] = i. */
typedef struct numbering {
    int32_t *id;
} numbering;
LSP_ITEM_BODY(pair_number, numbering) { a->id[i] = (int32_t)i; }

/* to[i] = from[id[i] * stride], or from[i * stride]; items of 8 bytes if wide, else of 4. */
typedef struct taking {
    const void *from;
    void *to;
    const int32_t *id; /* or NULL */
    int64_t stride;
    bool wide;
} taking;
LSP_ITEM_BODY(pair_take, taking) {
    const int64_t from = (a->id != NULL ? a->id[i] : i) * a->stride;
    if (a->wide) {
        ((double *)a->to)[i] = ((const double *)a->from)[from];
    } else {
        ((uint32_t *)a->to)[i] = ((const uint32_t *)a->from)[from];
    }
}

/* ---- the list ---- */

#define LSP_PAIR_BODIES(ITEM)                                                                                          \
    ITEM(pair_look, looking)                                                                                           \
    ITEM(pair_place, placing)                                                                                          \
    ITEM(pair_place_2, placing)                                                                                        \
    ITEM(pair_place_3, placing)                                                                                        \
    ITEM(pair_number, numbering)                                                                                       \
    ITEM(pair_take, taking)
LSP_PAIR_BODIES(LSP_BODY_HOST)
typedef struct lsp_pair_bodies_table { /* of the GPU; NULL in a build without CUDA */
    LSP_PAIR_BODIES(LSP_BODY_ITEM)
} lsp_pair_bodies_table;
extern const lsp_pair_bodies_table lsp_pair_bodies_on_gpu;
#define LSP_BODIES_ON_GPU lsp_pair_bodies_on_gpu

/* Scratch for n items on the context's device; on the host LSP_PAIR_PAD more follow, zeros. */
static inline lsp_status lsp_pair_padded(lsp_ctx *ctx, int64_t n, size_t bytes, void **memory) {
    const int64_t pad = ctx->options.device == LSP_HOST ? LSP_PAIR_PAD : 0;
    LSP_TRY(lsp_scratch_at(ctx, ctx->options.device, n + pad, bytes, memory));
    if (pad > 0) {
        memset((char *)*memory + (size_t)n * bytes, 0, (size_t)pad * bytes);
    }
    return LSP_OK;
}

/* Numbers the points of `cloud` as they lie, in scratch. */
static inline lsp_status lsp_cloud_number(lsp_ctx *ctx, lsp_cloud *cloud) {
    LSP_TRY(lsp_pair_padded(ctx, cloud->n, sizeof *cloud->id, (void **)&cloud->id));
    const numbering number = {cloud->id};
    return LSP_EACH(ctx, ctx->options.device, pair_number, lsp_each_of(&number, cloud->n));
}

/* Brings the places of `cloud` into the order of its numbers, in scratch. */
static inline lsp_status lsp_cloud_reorder(lsp_ctx *ctx, const lsp_pair_job *job, lsp_cloud *cloud) {
    const size_t bytes = lsp_type_bytes(job->type);
    for (int k = 0; k < job->metric.dimensions; k++) {
        taking take = {cloud->place[k], NULL, cloud->id, 1, bytes == 8};
        LSP_TRY(lsp_pair_padded(ctx, cloud->n, bytes, &take.to));
        LSP_TRY(LSP_EACH(ctx, ctx->options.device, pair_take, lsp_each_of(&take, cloud->n)));
        cloud->place[k] = take.to;
    }
    return LSP_OK;
}

LSP_END_DECLS
