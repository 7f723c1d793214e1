/* Points on the GPU: brought there, looked at, turned into places, sorted by cell with the library's radix sort. */
#include "core/items.h"
#include "gather_scatter/radix_sort.h"
#include "kernel_points.cuh"

/* ---- from the host ---- */

typedef struct packing {
    const lsp_points *points;
    int k;
    char *to;
} packing;

static void pack_share(void *data, int64_t begin, int64_t end) {
    const packing *p = (const packing *)data;
    const size_t bytes = lsp_type_bytes(p->points->type);
    const char *from = (const char *)p->points->at[p->k];
    for (int64_t i = begin; i < end; i++) {
        memcpy(p->to + (size_t)i * bytes, from + (size_t)(i * p->points->stride) * bytes, bytes);
    }
}

extern "C" lsp_status lsp_pair_bring_cuda(lsp_ctx *ctx, const lsp_points *from, const lsp_points *to) {
    LSP_SCRATCH_SCOPE(ctx);
    const size_t bytes = lsp_type_bytes(from->type);
    void *packed = NULL;
    if (from->stride > 1) {
        LSP_TRY(lsp_scratch_bytes(ctx, from->n, bytes, false, &packed));
    }
    for (int k = 0; k < from->dimensions && from->n > 0; k++) {
        packing p = {from, k, (char *)packed};
        if (packed != NULL) {
            lsp_for_shares(ctx, from->n, 1 << 14, pack_share, &p);
        }
        LSP_TRY(lsp_cuda_copy_beside(ctx, (void *)to->at[k], packed != NULL ? packed : from->at[k],
                                     from->n * (int64_t)bytes));
    }
    return LSP_OK;
}

/* All bytes of points by rows, with room for one more coordinate at most, from *first on. 0: they lie otherwise. */
static int64_t bytes_of_rows(const lsp_points *p, const char **first) {
    const int64_t bytes = (int64_t)lsp_type_bytes(p->type);
    const char *low = (const char *)p->at[0], *high = low;
    bool even = true;
    for (int k = 1; k < p->dimensions; k++) {
        const char *at = (const char *)p->at[k];
        low = at < low ? at : low, high = at > high ? at : high;
        even = even && (at - (const char *)p->at[0]) % bytes == 0;
    }
    *first = low;
    return even && p->n > 0 && p->stride > 1 && p->stride <= p->dimensions + 1 && high - low < p->stride * bytes
               ? (p->n - 1) * p->stride * bytes + (high - low) + bytes
               : 0;
}

/* Points of the host become points on the GPU: rows as they lie, others without gaps. */
static lsp_status bring(lsp_ctx *ctx, lsp_points *points) {
    const char *first;
    const int64_t rows = bytes_of_rows(points, &first);
    lsp_points there = *points;
    void *to = NULL;
    for (int k = 0; k < points->dimensions; k++) {
        if (k == 0 || rows == 0) {
            LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, rows > 0 ? rows : points->n,
                                   rows > 0 ? 1 : lsp_type_bytes(points->type), &to));
        }
        there.at[k] = (char *)to + (rows > 0 ? (const char *)points->at[k] - first : 0);
    }
    there.where = LSP_CUDA, there.stride = rows > 0 ? points->stride : 1;
    LSP_TRY(lsp_cuda_wait(ctx)); /* for the memory: it belongs to the stream */
    LSP_TRY(rows > 0 ? lsp_cuda_copy_beside(ctx, to, first, rows) : lsp_pair_bring_cuda(ctx, points, &there));
    *points = there;
    return LSP_OK;
}

/* ---- inspection ---- */

static lsp_status refuse(lsp_ctx *ctx, const lsp_points *p, int k, int64_t i, const char *name) {
    const size_t bytes = lsp_type_bytes(p->type);
    double x = 0;
    float narrow;
    LSP_TRY(lsp_cuda_read(ctx, p->type == LSP_F32 ? (void *)&narrow : (void *)&x,
                          (const char *)p->at[k] + (size_t)(i * p->stride) * bytes, (int64_t)bytes));
    return lsp_fail(ctx, LSP_ERR_ARGUMENT, LSP_PAIR_NOT_FINITE, k, (long long)i, name,
                    p->type == LSP_F32 ? (double)narrow : x);
}

extern "C" lsp_status lsp_pair_inspect_cuda(lsp_ctx *ctx, lsp_pair_job *job) {
    const int sets = job->self ? 1 : 2;
    points_facts *there, here = {};
    for (int s = 0; s < sets && job->sets[s].where == LSP_HOST; s++) {
        LSP_TRY(bring(ctx, &job->sets[s]));
    }
    job->sets[1] = job->sets[sets - 1];
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &there));
    for (int s = 0; s < sets; s++) {
        LSP_TRY(LAUNCH_POINTS(ctx, kernel_facts, job->sets[s].n, job->sets[s], s, there));
    }
    LSP_TRY(lsp_cuda_read(ctx, &here, there, sizeof here));
    for (int k = 0; k < job->metric.dimensions; k++) {
        for (int s = 0; s < sets; s++) {
            if (here.bad[s][k] != 0) {
                LSP_TRY(refuse(ctx, &job->sets[s], k, (int64_t)~here.bad[s][k], s == 0 ? "a" : "b"));
            }
        }
        const bool any = here.high[k] != 0;
        job->low[k] = any ? from_order(~here.low[k]) : 0;
        job->high[k] = any ? from_order(here.high[k]) : 0;
    }
    return LSP_OK;
}

/* ---- places ---- */

/* Sorts by cell: the loaded places go to the order of the sorted cells. */
static lsp_status sort_by_cell(lsp_ctx *ctx, const lsp_pair_job *job, uint32_t *cell, pair_cloud *cloud) {
    const int64_t n = cloud->n, cells = job->grid.total, bytes = (int64_t)lsp_type_bytes(job->type);
    uint32_t *sorted, *id;
    int32_t *start;
    lsp_segsort_args sort = {};
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, n, &sorted));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, n, &id));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, cells + 1, &start));
    sort.n = n, sort.key_type = LSP_U32, sort.value_bytes = sizeof *id, sort.where = LSP_CUDA;
    sort.keys = cell, sort.keys_out = sorted, sort.values_out = id, sort.flags = LSP_SORT_POSITIONS;
    sort.end_bit = (int)lsp_max(lsp_bits((uint64_t)cells - 1), 1);
    LSP_TRY(n > 0 ? lsp_sort_array(ctx, &sort) : LSP_OK);
    LSP_TRY(LAUNCH_POINTS(ctx, kernel_starts, cells + 1, sorted, n, cells, start));
    for (int k = 0; k < job->metric.dimensions; k++) {
        void *to;
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, n, bytes, &to));
        LSP_TRY(n > 0 ? lsp_cuda_gather(ctx, to, cloud->place[k], bytes, id, n) : LSP_OK);
        cloud->place[k] = to;
    }
    cloud->cell = sorted, cloud->id = (const int32_t *)id, cloud->start = start;
    return LSP_OK;
}

static lsp_status load(lsp_ctx *ctx, const lsp_pair_job *job, int set, bool grid, pair_cloud *cloud) {
    const size_t bytes = lsp_type_bytes(job->type);
    const int64_t n = job->sets[set].n;
    places to = {};
    void *zeros = NULL;
    *cloud = {};
    cloud->n = n;
    for (int k = 0; k < LSP_MOST_DIMENSIONS; k++) {
        if (k < job->metric.dimensions) {
            LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, n, bytes, &to.at[k]));
        } else if (zeros == NULL) {
            LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, n, bytes, &zeros));
            LSP_TRY(n > 0 ? lsp_cuda_clear(ctx, zeros, n * (int64_t)bytes) : LSP_OK);
        }
        cloud->place[k] = k < job->metric.dimensions ? to.at[k] : zeros;
    }
    if (grid) {
        LSP_TRY(LSP_SCRATCH_CUDA(ctx, n, &to.cell));
    }
    LSP_TRY(LAUNCH_POINTS(ctx,
                          (job->metric.dimensions == 3   ? kernel_places<3>
                           : job->metric.dimensions == 2 ? kernel_places<2>
                                                         : kernel_places<0>),
                          n, *job, set, to));
    if (grid) {
        LSP_TRY(sort_by_cell(ctx, job, to.cell, cloud));
    }
    return LSP_OK;
}

extern "C" lsp_status lsp_pair_clouds_cuda(lsp_ctx *ctx, const lsp_pair_job *job, bool grid, pair_clouds *clouds) {
    clouds->self = job->self, clouds->part = (int)job->part, clouds->parts = (int)job->parts;
    LSP_TRY(load(ctx, job, 0, grid, &clouds->a));
    clouds->b = clouds->a;
    return job->self ? LSP_OK : load(ctx, job, 1, grid, &clouds->b);
}
