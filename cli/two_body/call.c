/* The call of the library by the verb, on one device; and what all steps ask about a run. */
#include "two_body.h"

#include <string.h>

double tb_at(const tb_set *set, int64_t point, int dimension) {
    const int64_t at = point * set->points.dimensions + dimension;
    return set->points.type == LSP_F32 ? (double)((const float *)set->values)[at] : ((const double *)set->values)[at];
}

const tb_set *tb_second(const tb_job *job) { return &job->sets[job->two]; }
lsp_ctx *tb_ctx(const tb_job *job) {
    return job->devices.count > 0 ? job->devices.at[0].ctx : job->run.gpu ? job->run.gpu : job->run.ctx;
}

int64_t tb_count_of(const tb_job *job) {
    const tb_options *o = &job->options;
    return o->verb == TB_COUNT ? o->radius_count : o->verb == TB_HISTOGRAM || o->verb == TB_GR ? o->bins : 0;
}

uint64_t tb_pairs(const tb_job *job) {
    const uint64_t n = (uint64_t)job->sets[0].points.n, m = (uint64_t)job->sets[1].points.n;
    return job->two ? n * m : n > 0 ? n * (n - 1) / 2 : 0;
}

double tb_density_at(const tb_job *job, int64_t i) {
    return tb_type(&job->options) == LSP_F32 ? (double)((const float *)job->density)[i]
                                             : ((const double *)job->density)[i];
}

lsp_join_values tb_values(const tb_options *o) {
    return o->squared ? LSP_JOIN_SQUARED : o->pattern ? LSP_JOIN_PATTERN : LSP_JOIN_DISTANCE;
}

/* Densities of a share are those of its points, from all. */
static lsp_status density(tb_job *job, lsp_ctx *ctx, const lsp_pair_options *how, int part, int parts,
                          tb_share *share) {
    const tb_options *o = &job->options;
    const lsp_density_options density = {.kernel = o->kernel == 1 ? LSP_DENSITY_EPANECHNIKOV : LSP_DENSITY_GAUSSIAN};
    const lsp_points *from = &tb_second(job)->points;
    lsp_points points = job->sets[0].points;
    const int64_t first = parts > 0 ? points.n * part / parts : 0,
                  last = parts > 0 ? points.n * (part + 1) / parts : points.n;
    const size_t bytes = lsp_type_bytes(points.type);
    for (int k = 0; k < points.dimensions && first > 0; k++) {
        points.at[k] = (const char *)points.at[k] + (size_t)(first * points.stride) * bytes;
    }
    points.n = last - first;
    return lsp_kernel_density(ctx, &points, job->two || parts > 0 ? from : NULL, how, o->bandwidth, &density,
                              (char *)job->density + (size_t)first * bytes, &share->info);
}

lsp_status tb_call(tb_job *job, lsp_ctx *ctx, int part, int parts, tb_share *share) {
    const tb_options *o = &job->options;
    const lsp_points *a = &share->points[0], *b = job->two ? &share->points[1] : NULL;
    const lsp_join_options join = {.values = tb_values(o), .half = o->half};
    lsp_pair_options how = {.method = o->method > 0 ? (lsp_pair_method)o->method : LSP_PAIR_AUTO,
                            .approximate_root = o->approximate};
    if (job->cell.periodic) {
        memcpy(how.box, job->cell.side, sizeof how.box);
        memcpy(how.tilt, job->cell.tilt, sizeof how.tilt);
    }
    if (o->verb == TB_DENSITY) {
        return density(job, ctx, &how, part, parts, share);
    }
    how.part = part, how.parts = parts;
    switch (o->verb) {
    case TB_COUNT:
        return lsp_pair_count(ctx, a, b, &how, o->radius, o->radius_count, share->counts, &share->info);
    case TB_JOIN:
        return lsp_radius_join(ctx, a, b, &how, o->radius[0], &join, &share->C, &share->info);
    case TB_NEAREST:
        return lsp_nearest(ctx, a, b, &how, o->neighbours, &join, &share->C, &share->info);
    default:
        return lsp_pair_histogram(ctx, a, b, &how, o->range, o->bins, share->counts, &share->info);
    }
}
