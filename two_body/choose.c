/* Chooses between all pairs, a grid and boxes, a pure function of the points' number and extent. All give the same
 * result, so the figures below only decide about time. */
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
        grid.scale[k] = cells[k] / extent_of(job, k);
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
    const double candidate = job->binned ? costs->binned : costs->candidate;
    return pairs * *share * candidate + points * costs->point + (double)grid->total * runs * costs->run;
}

/* V(D) = V(D - 2) * 2 pi r^2 / D. */
double lsp_ball(int dimensions, double radius) {
    const double pi = 3.14159265358979323846;
    double volume = dimensions % 2 ? 2 * radius : 1;
    for (int d = dimensions % 2 ? 3 : 2; d <= dimensions; d += 2) {
        volume *= 2 * pi * radius * radius / d;
    }
    return volume;
}

/* About how many of all pairs are at most `radius` apart, if points lie evenly in the volume. */
static double share_within(int dimensions, double volume, double radius) {
    return radius > 0 ? 1 - exp(-lsp_ball(dimensions, radius) / volume) : 0;
}

/* The cost of boxes: pairs are looked at whose distance may be that of a shell, give or take most of the diagonal of a
 * box. */
static double boxes_cost(const lsp_pair_job *job, const lsp_pair_costs *costs, double pairs, double *share) {
    const double points = (double)job->sets[0].n + (job->self ? 0 : (double)job->sets[1].n);
    double volume = 1;
    int dimensions = 0;
    for (int k = 0; k < job->metric.dimensions; k++) {
        const double extent = extent_of(job, k);
        volume *= extent > 0 ? extent : 1;
        dimensions += extent > 0;
    }
    const double leaf = fmin(costs->leaf_points / fmax((double)lsp_min(job->sets[0].n, job->sets[1].n), 1), 1);
    const double diagonal = 0.75 * pow(volume * leaf, 1 / fmax(dimensions, 1)) * sqrt(dimensions);
    const double step = job->radius / (double)job->shells;
    *share = 0;
    double met = 0; /* by all shells before; far ones meet nothing */
    for (int64_t k = 1; dimensions > 0 && step > 2 * diagonal && k <= job->shells && met < 1 - 1e-9; k++) {
        met = share_within(dimensions, volume, step * (double)k + diagonal);
        *share += met - share_within(dimensions, volume, step * (double)k - diagonal);
    }
    if (dimensions > 0 && !(step > 2 * diagonal)) { /* shells touch */
        *share = share_within(dimensions, volume, job->radius + diagonal);
    }
    return pairs * *share * costs->box_pair + points * costs->box_point;
}

static void give_reason(lsp_pair_job *job, bool finite, double share) {
    char *reason = job->info.reason;
    const size_t room = sizeof job->info.reason;
    if (job->asked != LSP_PAIR_AUTO && (finite || job->asked == LSP_PAIR_ALL)) {
        snprintf(reason, room, "the caller asked for it");
    } else if (job->info.method == LSP_PAIR_GRID) {
        snprintf(reason, room, "a grid of %lld x %lld x %lld cells leaves about %.2g of all pairs",
                 (long long)job->grid.cells[0], (long long)job->grid.cells[1], (long long)job->grid.cells[2], share);
    } else if (job->info.method == LSP_PAIR_BOXES && job->shells > 0) {
        snprintf(reason, room, "boxes of points settle all but about %.2g of all pairs", share);
    } else if (job->info.method == LSP_PAIR_BOXES) {
        snprintf(reason, room, "most boxes of points are too far to hold one of the nearest");
    } else {
        snprintf(reason, room, "%s",
                 finite ? "few points, or the other methods would look at most pairs too"
                        : "the extent of the points is beyond 1e300");
    }
}

static void choose(lsp_pair_job *job, const lsp_pair_costs *costs) {
    const double n = (double)job->sets[0].n, pairs = n * (double)job->sets[1].n / (job->self ? 2 : 1);
    const double most = fmax((double)lsp_max(job->sets[0].n, job->sets[1].n) / costs->cell_points, 64);
    const bool nearest = isinf(job->radius), boxes_serve = nearest || job->shells > 0;
    double best = job->asked == LSP_PAIR_AUTO || job->asked == LSP_PAIR_ALL ? pairs : INFINITY, share = 1, reached;
    bool finite = true; /* the extent of doubles may overflow */
    for (int k = 0; k < job->metric.dimensions; k++) {
        finite = finite && extent_of(job, k) <= 1e300;
    }
    job->info = (lsp_pair_info){.method = LSP_PAIR_ALL};
    const bool may_grid =
        finite && !nearest && job->shells != INT64_MAX && (job->asked == LSP_PAIR_AUTO || job->asked == LSP_PAIR_GRID);
    for (int64_t reach = 1; reach <= 2 && may_grid; reach++) {
        const lsp_pair_grid grid = make_grid(job, reach, most);
        const double cost = cost_of(job, costs, &grid, pairs, &reached);
        if (cost < best) {
            job->grid = grid, best = cost, share = reached;
            job->info.method = LSP_PAIR_GRID, job->info.cells = grid.total;
        }
    }
    if (boxes_serve && finite && (job->asked == LSP_PAIR_AUTO || job->asked == LSP_PAIR_BOXES)) {
        const double cost = nearest ? 2 * n * costs->box_point : boxes_cost(job, costs, pairs, &reached);
        if (cost < best || job->asked == LSP_PAIR_BOXES) {
            share = nearest ? 0 : reached;
            job->info.method = LSP_PAIR_BOXES;
        }
    }
    give_reason(job, finite, share);
}

/* Is the radius so far below half the least width that no pair within it can be half a side apart? */
static bool has_no_ties(const lsp_pair_job *job) {
    double least = INFINITY;
    for (int k = 0; k < job->metric.dimensions; k++) {
        least = fmin(least, job->metric.width[k]);
    }
    return job->radius * (1 + 2 * margin) < least / 2;
}

lsp_status lsp_pair_prepare(lsp_ctx *ctx, lsp_pair_job *job, double radius) {
    job->radius = radius;
    if (job->metric.kind == LSP_SPACE_TIED && has_no_ties(job)) { /* the same distances in less time */
        job->metric.kind = LSP_SPACE_TILTED;
    }
    LSP_TRY(lsp_pair_inspect(ctx, lsp_pair_device_of(ctx), job));
    choose(job, &lsp_pair_device_of(ctx)->costs);
    lsp_log(ctx, "pairs of %lld and %lld points, method %s: %s", (long long)job->sets[0].n, (long long)job->sets[1].n,
            lsp_pair_method_name(job->info.method), job->info.reason);
    return LSP_OK;
}

const char *lsp_pair_method_name(lsp_pair_method method) {
    static const char *const names[] = {"auto", "all", "grid", "boxes"};
    return (unsigned)method <= LSP_PAIR_BOXES ? names[method] : "?";
}
