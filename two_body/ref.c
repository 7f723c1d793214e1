/* The specification: all pairs in plain loops, one thread on the host. */
#include "two_body.h"
#include <stdlib.h>

/* The place of a point, from its coordinates. */
static void place_f32(const lsp_metric *m, const double *x, uint32_t *place) {
    double part[LSP_MOST_DIMENSIONS];
    if (m->kind != LSP_SPACE_OPEN) {
        lsp_parts_of_box(m, m->dimensions, x, part);
    }
    for (int k = 0; k < m->dimensions; k++) {
        const float number = (float)x[k];
        memcpy(&place[k], &number, sizeof number);
        place[k] = m->kind == LSP_SPACE_OPEN ? place[k] : lsp_fixed_part(part[k]);
    }
}
static void place_f64(const lsp_metric *m, const double *x, double *place) {
    if (m->kind != LSP_SPACE_OPEN) {
        lsp_parts_of_box(m, m->dimensions, x, place);
    } else {
        memcpy(place, x, (size_t)m->dimensions * sizeof *x);
    }
}

static void coordinates(const lsp_points *p, int64_t i, double *x) {
    for (int k = 0; k < p->dimensions; k++) {
        x[k] = lsp_real_at(p->at[k], p->type, i * p->stride);
    }
}

/* d2 of point i of a and point j of b. */
static double distance(const lsp_pair_job *job, int64_t i, int64_t j) {
    const lsp_metric *m = &job->metric;
    double x[2][LSP_MOST_DIMENSIONS], place[2][LSP_MOST_DIMENSIONS];
    uint32_t fixed[2][LSP_MOST_DIMENSIONS];
    coordinates(&job->sets[0], i, x[0]);
    coordinates(&job->sets[1], j, x[1]);
    if (job->type == LSP_F32) {
        place_f32(m, x[0], fixed[0]);
        place_f32(m, x[1], fixed[1]);
        return (double)lsp_distance_f32(m, m->kind, m->dimensions, fixed[0], fixed[1]);
    }
    place_f64(m, x[0], place[0]);
    place_f64(m, x[1], place[1]);
    return lsp_distance_f64(m, m->kind, m->dimensions, place[0], place[1]);
}

void lsp_pair_count_ref(const lsp_pair_job *job, const double *limits, int64_t radii, uint64_t *counts) {
    memset(counts, 0, (size_t)radii * sizeof *counts);
    for (int64_t i = 0; i < job->sets[0].n; i++) {
        for (int64_t j = job->self ? i + 1 : 0; j < job->sets[1].n; j++) {
            const double d2 = distance(job, i, j);
            for (int64_t k = 0; k < radii; k++) {
                counts[k] += d2 <= limits[k];
            }
        }
    }
}

void lsp_pair_histogram_ref(const lsp_pair_job *job, double scale, int64_t bins, uint64_t *counts) {
    memset(counts, 0, (size_t)bins * sizeof *counts);
    for (int64_t i = 0; i < job->sets[0].n; i++) {
        for (int64_t j = job->self ? i + 1 : 0; j < job->sets[1].n; j++) {
            const double d2 = distance(job, i, j);
            const double bin = job->type == LSP_F32 ? lsp_bin_f32((float)d2, (float)scale) : lsp_bin_f64(d2, scale);
            if (bin < (double)bins) {
                counts[(int64_t)bin]++;
            }
        }
    }
}

static double value_of(const lsp_pair_job *job, double d2, lsp_join_values values) {
    if (values == LSP_JOIN_PATTERN) {
        return 1;
    }
    return job->type == LSP_F32 ? (double)lsp_join_value_f32((float)d2, values, (float)job->metric.unit)
                                : lsp_join_value_f64(d2, values, job->metric.unit);
}

void lsp_radius_join_ref(const lsp_pair_job *job, double limit, const lsp_join_options *join,
                         void (*take)(void *data, int64_t i, int64_t j, double value), void *data) {
    for (int64_t i = 0; i < job->sets[0].n; i++) {
        for (int64_t j = join->half ? i : 0; j < job->sets[1].n; j++) {
            const double d2 = distance(job, i, j);
            if (d2 <= limit && (!job->self || join->self_pairs || i != j)) {
                take(data, i, j, value_of(job, d2, join->values));
            }
        }
    }
}

void lsp_kernel_density_ref(const lsp_pair_job *job, lsp_density_kernel kernel, double bandwidth, const double *weights,
                            double *density) {
    const double h = bandwidth / job->metric.unit, pi = 3.14159265358979323846;
    const int dimensions = job->metric.dimensions;
    const double volume =
        kernel == LSP_DENSITY_GAUSSIAN ? pow(2 * pi, 0.5 * dimensions) : 2 * lsp_ball(dimensions, 1) / (dimensions + 2);
    for (int64_t i = 0; i < job->sets[0].n; i++) {
        double sum = 0, total = 0;
        for (int64_t j = 0; j < job->sets[1].n; j++) {
            const double u2 = distance(job, i, j) / (h * h);
            sum += weights[j] * (kernel == LSP_DENSITY_GAUSSIAN ? exp(-u2 / 2) : fmax(1 - u2, 0));
            total += weights[j];
        }
        density[i] = total > 0 ? sum / total / volume / pow(bandwidth, dimensions) : 0;
    }
}

typedef struct candidate {
    double d2;
    int64_t j;
} candidate;

static int by_distance(const void *x, const void *y) {
    const candidate *a = x, *b = y;
    return a->d2 != b->d2 ? (a->d2 < b->d2 ? -1 : 1) : a->j < b->j ? -1 : a->j > b->j;
}
static int by_number(const void *x, const void *y) {
    const candidate *a = x, *b = y;
    return a->j < b->j ? -1 : a->j > b->j;
}

lsp_status lsp_nearest_ref(lsp_ctx *ctx, const lsp_pair_job *job, int64_t k, const lsp_join_options *join,
                           void (*take)(void *data, int64_t i, int64_t j, double value), void *data) {
    LSP_SCRATCH_SCOPE(ctx);
    candidate *all;
    LSP_TRY(LSP_SCRATCH(ctx, job->sets[1].n, &all));
    for (int64_t i = 0; i < job->sets[0].n; i++) {
        int64_t n = 0;
        for (int64_t j = 0; j < job->sets[1].n; j++) {
            all[n] = (candidate){distance(job, i, j), j};
            n += !job->self || join->self_pairs || i != j;
        }
        qsort(all, (size_t)n, sizeof *all, by_distance);
        qsort(all, (size_t)k, sizeof *all, by_number);
        for (int64_t c = 0; c < k; c++) {
            take(data, i, all[c].j, value_of(job, all[c].d2, join->values));
        }
    }
    return LSP_OK;
}
