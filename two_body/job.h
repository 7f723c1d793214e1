/* What cpu/ and gpu/ know of a call: the job, and the table that each of them fills. */
#pragma once

#include "core/each.h"
#include "distance.h"
#include "matrices/matrices.h"

LSP_BEGIN_DECLS

enum { LSP_GRID_DIMENSIONS = 3 }; /* a grid cuts the first three at most */

/* The grid: cells per dimension, and how many cells away a partner can lie. Cell 1 of a dimension holds all points. */
typedef struct lsp_pair_grid {
    int64_t cells[LSP_GRID_DIMENSIONS], reach[LSP_GRID_DIMENSIONS];
    double scale[LSP_GRID_DIMENSIONS]; /* in open space, of more cells than one: cells in a unit */
    int64_t total;
} lsp_pair_grid;

enum { LSP_PAIR_PAD = 64 }; /* items that may be read behind the end of an array on the host */

/* A set of points on the context's device. place[k] is coordinate k as a place; on a GPU those beyond the points'
 * dimensions are zeros, which add nothing to a distance: kernels exist for few numbers of dimensions. */
typedef struct lsp_cloud {
    int64_t n;
    void *place[LSP_MOST_DIMENSIONS];
    int32_t *id; /* their numbers in the caller's arrays; NULL: the order is his */
    /* of a grid, where points lie in the order of cells, and of a cell in the caller's: their cells, on a GPU; and
     * where cells begin: cell c has the points start[c] .. start[c + 1] - 1 */
    uint32_t *cell;
    int32_t *start;
} lsp_cloud;

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
    /* the box around all points */
    double low[LSP_MOST_DIMENSIONS], high[LSP_MOST_DIMENSIONS];
    lsp_pair_grid grid;  /* of LSP_PAIR_GRID */
    lsp_cloud clouds[2]; /* the sets as places; the same, if `self` */
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
static inline LSP_BOTH_SIDES double lsp_real_at(const void *array, lsp_type type, int64_t i) {
    return type == LSP_F32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}
static inline LSP_BOTH_SIDES void lsp_real_set(void *array, lsp_type type, int64_t i, double x) {
    if (type == LSP_F32) {
        ((float *)array)[i] = (float)x;
    } else {
        ((double *)array)[i] = x;
    }
}

/* A place as a number: in fixed point the integer. */
static inline LSP_BOTH_SIDES double lsp_place_at(const lsp_metric *m, lsp_type type, const void *place, int64_t i) {
    const bool fixed = type == LSP_F32 && m->kind != LSP_SPACE_OPEN;
    return fixed ? (double)((const uint32_t *)place)[i] : lsp_real_at(place, type, i);
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

/* The types of a join's matrix. */
static inline lsp_csr_types lsp_join_types(const lsp_pair_job *job, lsp_join_values values, lsp_where where) {
    const bool pattern = values == LSP_JOIN_PATTERN;
    const lsp_csr_types types = {LSP_NONE, LSP_I32, pattern ? LSP_NONE : job->type, pattern, lsp_place_of(where)};
    return types;
}

/* What a device does. */
typedef struct lsp_pair_device {
    /* What pair_look (bodies.h) tells of each coordinate of each set. A GPU brings points from the host first. */
    lsp_status (*look)(lsp_ctx *ctx, lsp_pair_job *job, lsp_found found[2][LSP_MOST_DIMENSIONS]);
    /* Sets the cloud's numbers, in the order of its cells, and where these begin. A GPU sorts the cells, too. */
    lsp_status (*sort)(lsp_ctx *ctx, const lsp_pair_job *job, lsp_cloud *cloud);
    /* For loaded points. Limits are squared, in units of the metric; the largest is last if they ascend. All set
     * job->info.tested. */
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
