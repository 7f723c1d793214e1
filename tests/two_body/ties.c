/* Points at quarters of a tilted box: many lie exactly half a side apart, and all numbers are exact in both types. The
 * distance of a pair is that of its nearest images up to half the least width, and it is the same both ways, by every
 * method and instruction set. */
#include "cases.h"

enum { MOST_POINTS = 64 };

static const struct {
    int dimensions;
    double box[3], tilt[3];
} boxes[] = {
    {2, {1, 1}, {0.5}},
    {2, {2, 0.5}, {-1}},
    {2, {1, 0.75}, {1}},
    {3, {1, 0.75, 1}, {0.5}},
    {3, {1, 1, 0.5}, {0, 0.5, 0.5}},
    {3, {2, 1.25, 0.75}, {1, -0.5, 0.625}},
    {3, {2, 1, 1}, {-1, 1, 0}},
};

typedef struct tied {
    lsp_pair_options options;
    cloud points;
    double half;                              /* the least width */
    double nearest[MOST_POINTS][MOST_POINTS]; /* d2 of the nearest images */
} tied;

/* The vector with these parts of the edges. */
static void vector(const lsp_pair_options *o, const double *part, double *x) {
    x[0] = part[0] * o->box[0] + part[1] * o->tilt[0] + part[2] * o->tilt[1];
    x[1] = part[1] * o->box[1] + part[2] * o->tilt[2];
    x[2] = part[2] * o->box[2];
}

/* Quarters of edge k from the origin to point i. */
static int quarters(int64_t i, int k) { return (int)(i >> 2 * k) % 4; }

/* The least of 125 images. */
static double least_square(const lsp_pair_options *o, int64_t i, int64_t j) {
    double least = INFINITY;
    for (int image = 0; image < 125; image++) {
        double part[3], x[3];
        for (int k = 0, rest = image; k < 3; k++, rest /= 5) {
            part[k] = (quarters(i, k) - quarters(j, k)) / 4.0 + rest % 5 - 2;
        }
        vector(o, part, x);
        least = fmin(least, x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    }
    return least;
}

/* Points at all quarters of box b, some a few edges away. */
static tied make_tied(lsp_ctx *ctx, size_t b, lsp_type type) {
    tied t = {.half = INFINITY};
    const int dimensions = boxes[b].dimensions;
    memcpy(t.options.box, boxes[b].box, sizeof boxes[b].box);
    memcpy(t.options.tilt, boxes[b].tilt, sizeof boxes[b].tilt);
    t.points = make_cloud(UNIFORM, (int64_t)1 << 2 * dimensions, dimensions, type, 1);
    const lsp_pair_job job = job_of(ctx, &t.points, NULL, &t.options);
    for (int k = 0; k < dimensions; k++) {
        t.half = fmin(t.half, job.metric.width[k] / 2);
    }
    for (int64_t i = 0; i < t.points.points.n; i++) {
        double part[3], x[3];
        for (int k = 0; k < 3; k++) {
            part[k] = quarters(i, k) / 4.0 + (k < dimensions ? (double)((i + k) % 3) - 1 : 0);
        }
        vector(&t.options, part, x);
        for (int k = 0; k < dimensions; k++) {
            set_coordinate(&t.points, i, k, x[k]);
        }
        for (int64_t j = 0; j < t.points.points.n; j++) {
            t.nearest[i][j] = least_square(&t.options, i, j);
        }
    }
    return t;
}

static void try_counts(lsp_ctx *ctx, const tied *t) {
    const double radii[] = {t->half, 0.75 * t->half, 0.9999 * t->half};
    uint64_t right[3] = {0}, ours[3];
    for (int64_t i = 0; i < t->points.points.n; i++) {
        for (int64_t j = 0; j < i; j++) {
            for (int k = 0; k < 3; k++) {
                right[k] += t->nearest[i][j] <= radii[k] * radii[k];
            }
        }
    }
    for (int n = 1; n <= 3; n += 2) {
        must(ctx, lsp_pair_count(ctx, &t->points.points, NULL, &t->options, radii, n, ours, NULL));
        for (int k = 0; k < n; k++) {
            cr_assert(ours[k] == right[k], "box %g %g %g, %s, method %d, isa %d, radius %g: %llu pairs, not %llu",
                      t->options.box[0], t->options.box[1], t->options.box[2], lsp_type_name(t->points.points.type),
                      (int)t->options.method, (int)ctx->isa, radii[k], (unsigned long long)ours[k],
                      (unsigned long long)right[k]);
        }
    }
}

/* Squared distances of a join up to half the least width, or with k >= 0 of the k nearest points. */
static void try_matrix(lsp_ctx *ctx, const tied *t, int64_t k) {
    static double found[MOST_POINTS][MOST_POINTS];
    const lsp_join_options squared = {.values = LSP_JOIN_SQUARED};
    const lsp_points *p = &t->points.points;
    lsp_csr C;
    must(ctx, k < 0 ? lsp_radius_join(ctx, p, NULL, &t->options, t->half, &squared, &C, NULL)
                    : lsp_nearest(ctx, p, NULL, &t->options, k, &squared, &C, NULL));
    memset(found, 0, sizeof found);
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t end = lsp_index_at(C.rowptr, C.rowptr_type, i + 1);
        for (int64_t at = lsp_index_at(C.rowptr, C.rowptr_type, i); at < end; at++) {
            found[i][lsp_index_at(C.col, C.col_type, at)] =
                C.val_type == LSP_F32 ? (double)((const float *)C.val)[at] : ((const double *)C.val)[at];
        }
    }
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t j = 0; j < p->n; j++) {
            const bool near = i != j && t->nearest[i][j] <= t->half * t->half;
            cr_assert(found[i][j] == found[j][i] && (near ? found[i][j] == t->nearest[i][j] : k >= 0 || !found[i][j]),
                      "box %g %g %g, %s, method %d, isa %d, %s, (%d, %d): %g, back %g, nearest images %g",
                      t->options.box[0], t->options.box[1], t->options.box[2], lsp_type_name(p->type),
                      (int)t->options.method, (int)ctx->isa, k < 0 ? "join" : "nearest", (int)i, (int)j, found[i][j],
                      found[j][i], t->nearest[i][j]);
        }
    }
    must(ctx, lsp_csr_free(ctx, &C));
}

TEST_ON_BOTH(two_body_ties, of_points_half_a_side_apart_the_nearest_images_count_both_ways) {
    for (size_t b = 0; b < 2 * (sizeof boxes / sizeof *boxes); b++) {
        tied t = make_tied(ctx, b / 2, b % 2 ? LSP_F64 : LSP_F32);
        FOR_EACH_ISA(ctx) {
            for (int method = LSP_PAIR_ALL; method <= LSP_PAIR_BOXES; method++) {
                t.options.method = (lsp_pair_method)method;
                try_counts(ctx, &t);
                if (method != LSP_PAIR_BOXES) {
                    try_matrix(ctx, &t, -1);
                }
                if (method != LSP_PAIR_GRID) {
                    try_matrix(ctx, &t, t.points.points.n - 1);
                }
            }
        }
        free(t.points.memory);
    }
}
