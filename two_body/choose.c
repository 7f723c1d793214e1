/* Chooses between all pairs and a grid, a pure function of the points' number and extent. Both give the same result, so
 * the figures below only decide about time. */
#include "two_body.h"
#include <stdio.h>

/* A cell is a little wider than a radius over its reach: rounding must not move a partner out of reach. The second term
 * keeps distances whose squares underflow within one cell. */
static const double margin = 1e-5;
static double least_width(const lsp_pair_job *job, double extent) {
    return extent * 1e-9 + (job->type == LSP_F32 ? 1e-17 : 1e-145);
}

static double extent_of(const lsp_pair_job *job, int k) {
    return job->metric.kind == LSP_SPACE_OPEN ? job->high[k] - job->low[k] : job->metric.width[k];
}

/* The finest grid with this reach and at most `most` cells. */
static lsp_pair_grid make_grid(const lsp_pair_job *job, int64_t reach, double most) {
    lsp_pair_grid grid = {.total = 1};
    double cells[LSP_GRID_DIMENSIONS] = {1, 1, 1};
    for (double wider = 1;; wider *= 1.2) {
        double total = 1;
        for (int k = 0; k < lsp_min(job->metric.dimensions, LSP_GRID_DIMENSIONS); k++) {
            const double extent = extent_of(job, k);
            const double width = (job->radius * (1 + margin) + least_width(job, extent)) / (double)reach * wider;
            cells[k] = extent / width < 1e6 ? floor(extent / width) : 1e6;
            cells[k] = cells[k] < 1 || (job->metric.kind != LSP_SPACE_OPEN && cells[k] < (double)(2 * reach + 1))
                           ? 1
                           : cells[k];
            total *= cells[k];
        }
        if (total <= most) {
            break;
        }
    }
    for (int k = 0; k < LSP_GRID_DIMENSIONS; k++) {
        grid.cells[k] = (int64_t)cells[k];
        grid.reach[k] = cells[k] > 1 ? reach : 0;
        grid.total *= grid.cells[k];
    }
    return grid;
}

/* The cost of a grid, and the share of all pairs that it looks at, if points lie evenly. */
static double cost_of(const lsp_pair_job *job, const lsp_pair_costs *costs, const lsp_pair_grid *grid, double pairs,
                      double *share) {
    double runs = 1;
    *share = 1;
    for (int k = 0; k < LSP_GRID_DIMENSIONS; k++) {
        const double window = (double)(2 * grid->reach[k] + 1);
        *share *= fmin(window / (double)grid->cells[k], 1);
        runs *= k > 0 ? fmin(window, (double)grid->cells[k]) : 1;
    }
    const double points = (double)job->sets[0].n + (double)job->sets[1].n;
    return pairs * *share * costs->candidate + points * costs->point + (double)grid->total * runs * costs->run;
}

void lsp_pair_choose(lsp_pair_job *job, const lsp_pair_costs *costs) {
    const double n = (double)job->sets[0].n, pairs = n * (double)job->sets[1].n / (job->self ? 2 : 1);
    const double most = fmax((double)lsp_max(job->sets[0].n, job->sets[1].n) / costs->cell_points, 64);
    double best = pairs, share = 1;
    bool finite = true; /* the extent of doubles may overflow */
    for (int k = 0; k < job->metric.dimensions; k++) {
        finite = finite && extent_of(job, k) <= 1e300;
    }
    job->info = (lsp_pair_info){.method = LSP_PAIR_ALL};
    for (int64_t reach = 1; reach <= 2 && job->asked != LSP_PAIR_ALL && finite; reach++) {
        double reached;
        const lsp_pair_grid grid = make_grid(job, reach, most);
        const double cost = cost_of(job, costs, &grid, pairs, &reached);
        if (cost < best || (job->asked == LSP_PAIR_GRID && reach == 1)) {
            job->grid = grid, best = cost, share = reached;
            job->info.method = LSP_PAIR_GRID, job->info.cells = grid.total;
        }
    }
    if (job->asked != LSP_PAIR_AUTO && (finite || job->asked == LSP_PAIR_ALL)) {
        snprintf(job->info.reason, sizeof job->info.reason, "the caller asked for it");
    } else if (job->info.method == LSP_PAIR_GRID) {
        snprintf(job->info.reason, sizeof job->info.reason,
                 "a grid of %lld x %lld x %lld cells leaves about %.2g of all pairs", (long long)job->grid.cells[0],
                 (long long)job->grid.cells[1], (long long)job->grid.cells[2], share);
    } else {
        snprintf(job->info.reason, sizeof job->info.reason, "%s",
                 finite ? "few points, or a grid would leave most pairs" : "the extent of the points is beyond 1e300");
    }
}

const char *lsp_pair_method_name(lsp_pair_method method) {
    return method == LSP_PAIR_AUTO ? "auto" : method == LSP_PAIR_ALL ? "all" : method == LSP_PAIR_GRID ? "grid" : "?";
}
