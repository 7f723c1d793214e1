/* Points on their way to the kernels: looked at, turned into places, brought into the order of cells. */
#include "bodies.h"
#include "core/cuda.h"
#include "two_body.h"

/* ---- inspection ---- */

static lsp_status refuse(lsp_ctx *ctx, const lsp_points *p, int k, int64_t i, const char *name) {
    const int64_t bytes = (int64_t)lsp_type_bytes(p->type);
    const void *at = (const char *)p->at[k] + i * p->stride * bytes;
    double x = 0; /* room for either type */
    if (p->where == LSP_CUDA) {
        LSP_TRY(lsp_cuda_read(ctx, &x, at, bytes));
    } else {
        memcpy(&x, at, (size_t)bytes);
    }
    return lsp_fail(ctx, LSP_ERR_ARGUMENT, "coordinate %d of point %lld of the set %s is %g", k, (long long)i, name,
                    lsp_real_at(&x, p->type, 0));
}

lsp_status lsp_pair_inspect(lsp_ctx *ctx, const lsp_pair_device *device, lsp_pair_job *job) {
    lsp_found found[2][LSP_MOST_DIMENSIONS];
    LSP_TRY(device->look(ctx, job, found));
    for (int k = 0; k < job->metric.dimensions; k++) {
        lsp_found all = lsp_found_nothing();
        for (int s = 0; s < (job->self ? 1 : 2); s++) {
            const uint64_t bad = found[s][k].first[1];
            LSP_TRY(bad != LSP_NOWHERE ? refuse(ctx, &job->sets[s], k, (int64_t)bad, s == 0 ? "a" : "b") : LSP_OK);
            lsp_found_join(&all, &found[s][k]);
        }
        const bool any = all.most > 0;
        job->low[k] = any ? lsp_number_of(all.first[0]) : 0;
        job->high[k] = any ? lsp_number_of(all.most) : 0;
    }
    return LSP_OK;
}

/* ---- places ---- */

/* Room for the places of n points. */
static lsp_status make_places(lsp_ctx *ctx, const lsp_pair_job *job, lsp_cloud *cloud) {
    const size_t bytes = lsp_type_bytes(job->type);
    void *zeros = NULL;
    for (int k = 0; k < job->metric.dimensions; k++) {
        LSP_TRY(lsp_pair_padded(ctx, cloud->n, bytes, &cloud->place[k]));
    }
    if (ctx->options.device == LSP_CUDA && job->metric.dimensions < LSP_MOST_DIMENSIONS) {
        LSP_TRY(lsp_scratch_filled(ctx, 0, cloud->n, bytes, &zeros));
    }
    for (int k = job->metric.dimensions; k < LSP_MOST_DIMENSIONS; k++) {
        cloud->place[k] = zeros;
    }
    return LSP_OK;
}

static lsp_status load(lsp_ctx *ctx, const lsp_pair_job *job, int set, bool sorted, lsp_cloud *cloud) {
    const lsp_where where = ctx->options.device;
    *cloud = (lsp_cloud){.n = job->sets[set].n};
    LSP_TRY(make_places(ctx, job, cloud));
    if (sorted) {
        LSP_TRY(lsp_scratch_at(ctx, where, cloud->n, sizeof *cloud->cell, (void **)&cloud->cell));
    }
    const placing place = {*job, set, *cloud};
    const lsp_each_job each = lsp_each_of(&place, cloud->n);
    LSP_TRY(job->metric.dimensions == 3   ? LSP_EACH(ctx, where, pair_place_3, each)
            : job->metric.dimensions == 2 ? LSP_EACH(ctx, where, pair_place_2, each)
                                          : LSP_EACH(ctx, where, pair_place, each));
    if (sorted) {
        LSP_TRY(lsp_pair_device_of(ctx)->sort(ctx, job, cloud));
        LSP_TRY(lsp_cloud_reorder(ctx, job, cloud));
    }
    return LSP_OK;
}

lsp_status lsp_pair_load(lsp_ctx *ctx, lsp_pair_job *job, bool sorted) {
    if (sorted && job->info.method != LSP_PAIR_GRID) {
        job->grid = (lsp_pair_grid){.cells = {1, 1, 1}, .total = 1};
    }
    LSP_TRY(load(ctx, job, 0, sorted, &job->clouds[0]));
    job->clouds[1] = job->clouds[0];
    return job->self ? LSP_OK : load(ctx, job, 1, sorted, &job->clouds[1]);
}
