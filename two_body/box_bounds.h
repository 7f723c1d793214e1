/* Boxes of points, and what bounds the distances between their points. */
#pragma once

#include "job.h"

/* All places from middle - half to middle + half; 0 in dimensions that there are not. */
typedef struct lsp_box {
    double middle[LSP_MOST_DIMENSIONS], half[LSP_MOST_DIMENSIONS];
} lsp_box;

/* Sets dimension k of a box around places from low to high. */
static inline LSP_BOTH_SIDES void lsp_box_set(lsp_box *box, int k, double low, double high) {
    const double middle = low / 2 + high / 2;
    const double above = high - middle, below = middle - low;
    box->middle[k] = middle;
    box->half[k] = (above > below ? above : below) * (1 + 1e-15);
}

/* How far boxes are apart. */
typedef struct lsp_box_bounds {
    double side, per_side, half_side; /* of the periodic box, in places; else 0, 0, infinity */
    double near[LSP_MOST_DIMENSIONS], far[LSP_MOST_DIMENSIONS]; /* factors of differences */
    double least, most, tiny;                                   /* factors of sums of squares; a margin */
} lsp_box_bounds;

static inline lsp_box_bounds lsp_box_bounds_of(const lsp_pair_job *job) {
    const double margin = 1e-4; /* far above the rounding of d2 and of the bounds */
    const lsp_metric *m = &job->metric;
    const bool periodic = m->kind != LSP_SPACE_OPEN, tilted = m->kind >= LSP_SPACE_TILTED;
    const int terms = tilted ? m->dimensions : 1;
    lsp_box_bounds bounds;
    memset(&bounds, 0, sizeof bounds);
    bounds.half_side = INFINITY, bounds.least = (1 - margin) / terms, bounds.most = (1 + margin) * terms;
    bounds.tiny = job->type == LSP_F32 ? 1e-36 : 1e-300; /* squares may underflow */
    if (periodic) {
        bounds.side = job->type == LSP_F32 ? 4294967296.0 : 1;
        bounds.per_side = 1 / bounds.side, bounds.half_side = bounds.side / 2;
    }
    for (int k = 0; k < m->dimensions; k++) {
        const double x = k == 1 ? m->tilt[0] : k == 2 ? m->tilt[1] : 0, y = k == 2 ? m->tilt[2] : 0;
        bounds.near[k] = !periodic ? 1 : tilted ? m->width[k] / m->box[0] : m->ratio[k];
        bounds.far[k] = !periodic ? 1 : tilted ? sqrt(m->ratio[k] * m->ratio[k] + x * x + y * y) : m->ratio[k];
    }
    return bounds;
}
