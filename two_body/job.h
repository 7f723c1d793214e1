/* What cpu/ and gpu/ know of a call: the job, and the table that each of them fills. */
#pragma once

#include "distance.h"
#include "matrices/matrices.h"

LSP_BEGIN_DECLS

enum { LSP_GRID_DIMENSIONS = 3 }; /* a grid cuts the first three at most */

/* The grid: cells per dimension, and how many cells away a partner can lie. Cell 1 of a dimension holds all points. */
typedef struct lsp_pair_grid {
    int64_t cells[LSP_GRID_DIMENSIONS], reach[LSP_GRID_DIMENSIONS];
    int64_t total;
} lsp_pair_grid;

typedef struct lsp_pair_job {
    lsp_points sets[2]; /* the same, if `self` */
    bool self;          /* pairs of one set, each once */
    bool own; /* rows of a matrix of one set: row i is point i + shift of set 1, if there is one. With `self` all */
    int64_t shift;
    lsp_type type;
    lsp_metric metric;
    lsp_pair_method asked;
    double radius;    /* no pair beyond it matters */
    lsp_where where;  /* of the points as the caller gave them, and of a join's matrix */
    bool binned;      /* distances are put into bins */
    bool approximate; /* by roots that may be off by 2^-21 of themselves */
    int64_t shells; /* distances at which pairs are told apart: radii, or edges of bins; INT64_MAX: all up to the radius
                       (a density); 0: boxes do not serve */
    /* set by the device: the box around all points in open space */
    double low[LSP_MOST_DIMENSIONS], high[LSP_MOST_DIMENSIONS];
    lsp_pair_grid grid;  /* of LSP_PAIR_GRID */
    int64_t part, parts; /* the share: units of work whose number modulo `parts` is `part`. All: 0 of 1 */
    lsp_pair_info info;
    /* NULL, or work for the host while the GPU counts: a verb calls it, perhaps more than once, before it waits */
    lsp_status (*meanwhile)(lsp_ctx *ctx, void *data);
    void *meanwhile_data;
} lsp_pair_job;

static inline lsp_status lsp_pair_meanwhile(lsp_ctx *ctx, const lsp_pair_job *job) {
    return job->meanwhile != NULL ? job->meanwhile(ctx, job->meanwhile_data) : LSP_OK;
}

/* Number i of an array of LSP_F32 or LSP_F64. */
static inline double lsp_real_at(const void *array, lsp_type type, int64_t i) {
    return type == LSP_F32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}
static inline void lsp_real_set(void *array, lsp_type type, int64_t i, double x) {
    if (type == LSP_F32) {
        ((float *)array)[i] = (float)x;
    } else {
        ((double *)array)[i] = x;
    }
}

/* The cell of a place in one dimension of a periodic box with places in fixed point: exact. */
static inline LSP_BOTH_SIDES int64_t lsp_cell_of_fixed(const lsp_pair_grid *grid, int k, uint32_t place) {
    return (int64_t)(place * (uint64_t)grid->cells[k] >> 32);
}
/* The same of other places; low and high: the box around all points. */
static inline LSP_BOTH_SIDES int64_t lsp_cell_of_real(const lsp_pair_grid *grid, int k, bool periodic, double low,
                                                      double high, double place) {
    const int64_t cells = grid->cells[k];
    const double part = periodic    ? place * (double)cells
                        : cells > 1 ? (place - low) * ((double)cells / (high - low))
                                    : 0;
    return (int64_t)part < cells - 1 ? (int64_t)part : cells - 1;
}

/* Cell `at` + `step` of a dimension, wrapped in a periodic box; -1: there is none. */
static inline LSP_BOTH_SIDES int64_t lsp_cell_beside(const lsp_pair_grid *grid, int k, bool periodic, int64_t at,
                                                     int64_t step) {
    const int64_t cells = grid->cells[k], to = at + step;
    return to >= 0 && to < cells ? to : !periodic ? -1 : to < 0 ? to + cells : to - cells;
}

/* All pairs. */
static inline int64_t lsp_pair_total(const lsp_pair_job *job) {
    return job->self ? job->sets[0].n * (job->sets[0].n - 1) / 2 : job->sets[0].n * job->sets[1].n;
}

/* Does the share take a unit of work? _unit: units of equal work. _uneven: multiples of the golden ratio are spread
 * evenly over every regular pattern of units with more work than others. */
static inline bool lsp_pair_has_unit(const lsp_pair_job *job, int64_t unit) { return unit % job->parts == job->part; }
static inline bool lsp_pair_has_uneven(const lsp_pair_job *job, int64_t unit) {
    return (int64_t)((uint64_t)(uint32_t)((uint64_t)unit * 2654435769u) * (uint64_t)job->parts >> 32) == job->part;
}

/* The sentence about a coordinate that is not finite: dimension, point, set, coordinate. */
#define LSP_PAIR_NOT_FINITE "coordinate %d of point %lld of the set %s is %g"

/* The sentences about weights: number, weight; how many. */
#define LSP_PAIR_BAD_WEIGHT "weight %lld is %g: it must be from 0 to 1e30"
#define LSP_PAIR_NO_WEIGHT "the %lld weights have the sum 0"

/* Costs in distances that could be computed meanwhile. Of a grid: a point sorted into its cell; a run of neighbouring
 * cells looked up; a candidate. Of boxes: a point sorted into the tree; a pair looked at. */
typedef struct lsp_pair_costs {
    double point, run, candidate;
    double binned;      /* a candidate of a histogram */
    double cell_points; /* points of a cell on average, at least */
    double box_point, box_pair;
    double leaf_points; /* points of a leaf as a rule */
} lsp_pair_costs;

/* A density: factor * the sum of weights * terms. */
typedef struct lsp_density_work {
    bool gaussian;
    double scale;        /* of d2, in units of the metric: the term is 2^(d2 * scale), or 1 + d2 * scale above 0 */
    double limit;        /* d2 beyond it may be left out */
    double factor;       /* for weights of 1 */
    const void *weights; /* of set 1, in its order; or NULL */
} lsp_density_work;

/* What is counted: pairs within n limits, or in n bins. */
typedef struct lsp_pair_tally {
    const double *limits; /* NULL: bins, `scale` of them in a unit */
    double scale;
    int64_t n;
} lsp_pair_tally;

/* What a device does. */
typedef struct lsp_pair_device {
    /* Refuses coordinates that are not finite; sets low and high. */
    lsp_status (*inspect)(lsp_ctx *ctx, lsp_pair_job *job);
    /* Limits are squared, in units of the metric; the largest is last if they ascend. All set job->info.tested. */
    lsp_status (*count)(lsp_ctx *ctx, lsp_pair_job *job, const double *limits, int64_t radii, uint64_t *counts);
    lsp_status (*histogram)(lsp_ctx *ctx, lsp_pair_job *job, double scale, int64_t bins, uint64_t *counts);
    lsp_status (*join)(lsp_ctx *ctx, lsp_pair_job *job, double limit, const lsp_join_options *join, lsp_csr *C);
    /* k: what each row gets, at most the points that there are for it. */
    lsp_status (*nearest)(lsp_ctx *ctx, lsp_pair_job *job, int64_t k, const lsp_join_options *options, lsp_csr *C);
    lsp_status (*density)(lsp_ctx *ctx, lsp_pair_job *job, const lsp_density_work *work, void *density);
    /* Of a GPU: copies points of the host into arrays there, beside work that goes on meanwhile. */
    lsp_status (*bring)(lsp_ctx *ctx, const lsp_points *from, const lsp_points *to);
    lsp_pair_costs costs;
} lsp_pair_device;

extern const lsp_pair_device lsp_pair_cpu, lsp_pair_cuda;
static inline const lsp_pair_device *lsp_pair_device_of(const lsp_ctx *ctx) {
    return ctx->options.device == LSP_CUDA ? &lsp_pair_cuda : &lsp_pair_cpu;
}

LSP_END_DECLS
