/* libsparse/two_body.h: statistics of all pairs of points. Part of libsparse.h, which states the rules for all
 * functions. A context of a GPU works there, also on points of the host; results have the same bits, but for densities.
 * For a distance or a predicate of one's own `two-body generate` writes functions like these (man two-body). */
#ifndef LIBSPARSE_TWO_BODY_H
#define LIBSPARSE_TWO_BODY_H

#include "matrix.h"

LSP_BEGIN_DECLS

enum { LSP_MOST_DIMENSIONS = 8 };

/* A set of points, an array for each coordinate: coordinate k of point i is item i * stride of at[k]. Points by rows of
 * three numbers are {.at = {p, p + 1, p + 2}, .stride = 3}. */
typedef struct lsp_points {
    int64_t n;      /* at most 2^31 - 1 */
    int dimensions; /* 1 to LSP_MOST_DIMENSIONS */
    lsp_type type;  /* of a coordinate: LSP_F32 or LSP_F64 */
    const void *at[LSP_MOST_DIMENSIONS];
    int64_t stride; /* items from one point to the next; 0: 1 */
    lsp_where where;
} lsp_points;

typedef enum lsp_pair_method {
    LSP_PAIR_AUTO = 0, /* the library chooses */
    LSP_PAIR_ALL,      /* the distance of every pair is computed */
    LSP_PAIR_GRID,     /* points are sorted into cells; only pairs of near cells are looked at. Not for lsp_nearest */
    LSP_PAIR_BOXES /* points are sorted into a tree of boxes; pairs of boxes whose bounds tell all about their points
                      are settled at once. Not for lsp_radius_join */
} lsp_pair_method;

/* How a method is called: "all", "grid", "boxes"; "?" for a number that is none. */
LSP_API const char *lsp_pair_method_name(lsp_pair_method method);

/* All zero: open space, exact, and the library chooses the method. The method never changes an exact result. */
typedef struct lsp_pair_options {
    lsp_pair_method method;
    double box[LSP_MOST_DIMENSIONS]; /* periodic: the sides of the box, one for each dimension, 1e-15 to 1e15, and 1e-6
                                        to 1e6 times the first; no more sides than dimensions. The distance of a pair
                                        is that of its nearest images. Points may lie outside the box */
    double tilt[3]; /* of a triclinic box in 2 or 3 dimensions: xy, xz, yz. Its edges are (x, 0, 0), (xy, y, 0) and
                       (xz, yz, z) with the sides x, y, z. A tilt is at most 16 times the least width, see below */
    bool approximate_root; /* lsp_pair_histogram may be less exact, see there */
    int64_t part, parts;   /* a share of the work, for several GPUs or ranks: part `part` (from 0) of `parts` (0: all).
                              See lsp_pair_count, lsp_radius_join; a density has no shares: give it those of a */
    int64_t reserved[LSP_RESERVED - 2];
} lsp_pair_options;

typedef struct lsp_pair_info {
    lsp_pair_method method;
    char reason[160];  /* why */
    int64_t cells;     /* of the grid, or boxes that are not cut any more; 0: none */
    int64_t tested;    /* distances computed */
    int64_t cut;       /* of a share: shares with the same number add up to the whole. 0: all was asked for */
    int64_t first_row; /* of the whole matrix: what a share of a matrix begins with */
    int64_t reserved[LSP_RESERVED - 2];
} lsp_pair_info;

/* Rules of this file:
 * - With b NULL the pairs are those of two different points of a, each once. With b they are all (point of a, point of
 *   b). Both sets have the same type and as many dimensions.
 * - Coordinates must be finite, else LSP_ERR_ARGUMENT with the number of the point.
 * - The squared distance d2 is defined to the bit: in the type of the points, d2 = fma(dz, dz, fma(dy, dy, dx * dx))
 *   and so on for more dimensions, where dx = x - x' is rounded once. So no result depends on the order of the points,
 *   the method, the threads or the instruction set.
 * - In a periodic box coordinates become parts of the box's sides first: multiples of 2^-32 for LSP_F32, doubles for
 *   LSP_F64. Their differences, wrapped to -1/2 .. 1/2, take the place of dx, dy, dz, in units of the first side: those
 *   of other sides are multiplied by the ratio of the sides, and tilts are added by fma. In a tilted box a difference
 *   within 2^-17 of a half is taken both as minus and as plus a half, all of a pair alike, and the lesser d2 counts.
 * - In a periodic box a radius of more than half the box's least width is refused: more images than the nearest could
 *   lie within it. The width is the distance of two opposite faces, without tilt the side.
 * - info: NULL, or it tells what was chosen. */

/* counts[k] = pairs with d2 <= radii[k]^2, where radii[k] is rounded to the type of the points, and so is its square.
 *     double r = 0.1;
 *     uint64_t pairs;
 *     lsp_points p = {.n = n, .dimensions = 3, .type = LSP_F32, .at = {x, y, z}};
 *     lsp_pair_count(ctx, &p, NULL, NULL, &r, 1, &pairs, NULL);
 * With options->parts only the pairs of one share are counted, for lsp_pair_histogram too: the counts of all parts add
 * up to the whole, to the bit. All get the same points and options, each its own context, in threads, processes or one
 * after the other; shares take about equal time. Every call prepares the points anew. The cut depends on the kind of
 * device, and on a GPU's memory where points do not fit it: add up only what has the same info.cut. */
LSP_API lsp_status lsp_pair_count(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b,
                                  const lsp_pair_options *options, const double *radii, int64_t radius_count,
                                  uint64_t *counts, lsp_pair_info *info);

/* counts[i] = pairs with a distance in bin i of `bins` equal bins (at most 2^22) from 0 to `range`. The bin is the
 * whole part of the exact product of the root of d2, correctly rounded, and bins / range, rounded to the type of the
 * points. Pairs from `range` up are left out.
 * With options->approximate_root a GPU may take the root of its hardware, for 1.1 to 1.6 times the speed. The product
 * is then off by at most 2^-21 of itself (4.8e-7). Only a pair whose exact product is that near to a whole number m can
 * be in the wrong one of the bins m - 1 and m: about 2^-20 * m of the pairs of bin m are. On a CPU bins stay exact.
 * A GPU counts points of the host that do not fit its memory, or the budget, in blocks; so does lsp_pair_count. */
LSP_API lsp_status lsp_pair_histogram(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b,
                                      const lsp_pair_options *options, double range, int64_t bins, uint64_t *counts,
                                      lsp_pair_info *info);

/* g[i] = counts[i] over the pairs that bin i would hold if `pairs` of them were spread evenly over `volume`: the radial
 * distribution function of a histogram. One set of n points has n (n - 1) / 2 pairs, two sets have n_a n_b. */
LSP_API lsp_status lsp_radial_distribution(lsp_ctx *ctx, const uint64_t *counts, int64_t bins, double range,
                                           int dimensions, double pairs, double volume, double *g);

typedef enum lsp_join_values {
    LSP_JOIN_DISTANCE = 0, /* the correctly rounded root of d2 */
    LSP_JOIN_SQUARED,      /* d2 */
    LSP_JOIN_PATTERN       /* none */
} lsp_join_values;

/* All zero: each pair in both directions, with its distance, without pairs of a point and itself. */
typedef struct lsp_join_options {
    lsp_join_values values; /* of the type of the points. In a periodic box the root is multiplied by the unit of length
                               of the parts, a squared distance by it twice, each product rounded */
    bool self_pairs;        /* one set: (i, i) too */
    bool half;              /* one set: only columns above the row, or the row itself with self_pairs */
    int64_t reserved[LSP_RESERVED];
} lsp_join_options;

/* C = the matrix of the pairs with d2 <= radius^2: C[i][j] = their distance, i of a, j of b (of a, if b is NULL). Rows
 * are sorted by column. Indices are as narrow as fits. C lies where the points do; lsp_csr_free frees it.
 * Without memory for all pairs the call is refused after they were counted, before C is made. `join` may be NULL.
 * With options->parts C has the rows of one share, from row info->first_row of the whole on; the shares of all parts,
 * one below the other, are the whole. Points in an order of places that crowd make unequal shares: take more of them.
 */
LSP_API lsp_status lsp_radius_join(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b,
                                   const lsp_pair_options *options, double radius, const lsp_join_options *join,
                                   lsp_csr *C, lsp_pair_info *info);

/* Receives the rows first_row, first_row + 1, ... of a join. The matrix `rows` is valid during the call only. A status
 * other than LSP_OK ends the join, which then returns it. */
typedef lsp_status (*lsp_join_sink)(void *user, int64_t first_row, const lsp_csr *rows);

/* The matrix of lsp_radius_join in blocks of rows from first_row on, in order, each handed to `sink` before the next is
 * made: for more pairs than memory. A block takes at most block_bytes (0: an eighth of the free memory or of the
 * budget), unless one row alone takes more; making it takes about as much again. To go on after an interruption, call
 * again with the first row that was not handed over. There is at least one block. Pairs of a block are counted before
 * it is made, and points are sorted for each block: few large blocks take least time. Points of the host may be more
 * than a GPU's memory, or the budget, holds: then columns are joined in pieces. With options->parts the rows of one
 * share are handed over. */
LSP_API lsp_status lsp_radius_join_stream(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b,
                                          const lsp_pair_options *options, double radius, const lsp_join_options *join,
                                          int64_t first_row, int64_t block_bytes, lsp_join_sink sink, void *user,
                                          lsp_pair_info *info);

/* C = the matrix of the k nearest points: C[i][j] = the distance of point i of a and point j of b (of a, if b is NULL;
 * then a point is none of its own nearest without join->self_pairs). Of points with equal d2 the one with the lower
 * number is nearer. Every row has k entries, or as many as there are points, sorted by column. Otherwise as
 * lsp_radius_join; join->half is refused. In a periodic box each point is as near as d2 says, that is its nearest
 * image; in a tilted box this holds up to half the box's least width. With options->parts: see lsp_radius_join. */
LSP_API lsp_status lsp_nearest(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const lsp_pair_options *options,
                               int64_t k, const lsp_join_options *join, lsp_csr *C, lsp_pair_info *info);

typedef enum lsp_density_kernel {
    LSP_DENSITY_GAUSSIAN = 0, /* exp(-u^2 / 2) */
    LSP_DENSITY_EPANECHNIKOV  /* 1 - u^2, where that is above 0 */
} lsp_density_kernel;

enum { LSP_MOST_GRID = 1 << 28 }; /* points of a grid */

/* All zero: the Gaussian kernel, every term, all weights 1. */
typedef struct lsp_density_options {
    lsp_density_kernel kernel;
    double tolerance; /* 0 or more, less than 1. Of the Gaussian: terms less than it times the largest may be left out.
                         0: none, but those that are below the smallest normal number */
    const void *weights; /* of the samples: of their type, at their place, from 0 to 1e30; or NULL */
    int64_t
        grid[LSP_MOST_DIMENSIONS]; /* with a NULL: density at the middles of the cells of a grid, this many in each
                                      dimension, at most LSP_MOST_GRID together; the first dimension moves fastest */
    double low[LSP_MOST_DIMENSIONS], high[LSP_MOST_DIMENSIONS]; /* where the grid begins and ends; high - low finite */
    int64_t reserved[LSP_RESERVED];
} lsp_density_options;

/* density[i] = the kernel density at point i of a, from the samples b (those of a itself, if b is NULL; then each point
 * is among its own samples): the sum over j of w_j K(|a_i - b_j| / h), over the sum of w and h^D, with K scaled to a
 * volume of 1. `bandwidth` is h, from 1e-15 to 1e15. `density` lies where the points do, has their type, and room for
 * those of a or of the grid. Terms are computed in the type of the points and summed in double precision; sums are the
 * same for every number of threads, and differ in the last digits between methods, devices and instruction sets.
 * Methods: all and boxes. In a periodic box only nearest images count. */
LSP_API lsp_status lsp_kernel_density(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b,
                                      const lsp_pair_options *options, double bandwidth,
                                      const lsp_density_options *density_options, void *density, lsp_pair_info *info);

LSP_END_DECLS
#endif
