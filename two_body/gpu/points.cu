/* Points on the GPU: brought there, looked at, sorted by cell with the library's radix sort. */
#include "gather_scatter/radix_sort.h"
#include "kernel_points.cuh"

/* ---- from the host ---- */

extern "C" lsp_status lsp_pair_bring_cuda(lsp_ctx *ctx, const lsp_points *from, const lsp_points *to) {
    LSP_SCRATCH_SCOPE(ctx);
    const size_t bytes = lsp_type_bytes(from->type);
    void *packed = NULL;
    if (from->stride > 1) {
        LSP_TRY(lsp_scratch_bytes(ctx, from->n, bytes, false, &packed));
    }
    for (int k = 0; k < from->dimensions && from->n > 0; k++) {
        const taking take = {from->at[k], packed, NULL, from->stride, bytes == 8};
        LSP_TRY(packed != NULL ? LSP_EACH(ctx, LSP_HOST, pair_take, lsp_each_of(&take, from->n)) : LSP_OK);
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

/* ---- a look ---- */

/* Of one coordinate: ~the least, the largest, ~the first that is not finite. So atomics find the largest of each, and
 * all begin as 0. */
typedef struct points_facts {
    ull low, high, bad;
} points_facts;

static __global__ void __launch_bounds__(POINTS_NT) kernel_look(lsp_points points, points_facts *facts) {
    for (int k = 0; k < points.dimensions; k++) {
        const looking look = {points.at[k], points.type, points.stride};
        lsp_found found = lsp_found_nothing();
        EACH_ITEM(i, points.n, POINTS_NT) { pair_look_body(&look, {}, i, &found); }
        keep_largest(~(ull)found.first[0], &facts[k].low);
        keep_largest((ull)found.most, &facts[k].high);
        keep_largest(~(ull)found.first[1], &facts[k].bad);
    }
}

extern "C" lsp_status lsp_pair_look_cuda(lsp_ctx *ctx, lsp_pair_job *job, lsp_found found[2][LSP_MOST_DIMENSIONS]) {
    const int sets = job->self ? 1 : 2;
    points_facts *there, here[2][LSP_MOST_DIMENSIONS];
    for (int s = 0; s < sets && job->sets[s].where == LSP_HOST; s++) {
        LSP_TRY(bring(ctx, &job->sets[s]));
    }
    job->sets[1] = job->sets[sets - 1];
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 2 * LSP_MOST_DIMENSIONS, &there));
    for (int s = 0; s < sets; s++) {
        LSP_TRY(LAUNCH_POINTS(ctx, kernel_look, job->sets[s].n, job->sets[s], there + s * LSP_MOST_DIMENSIONS));
    }
    LSP_TRY(lsp_cuda_read(ctx, here, there, sizeof here));
    for (int s = 0; s < sets; s++) {
        for (int k = 0; k < job->metric.dimensions; k++) {
            const points_facts *facts = &here[s][k];
            found[s][k] = {{~facts->low, ~facts->bad}, facts->high, 0, 0, 0};
        }
    }
    return LSP_OK;
}

/* ---- cells ---- */

/* start[c] = the points in cells before c; cells are sorted. */
static __global__ void __launch_bounds__(POINTS_NT)
    kernel_starts(const uint32_t *cell, int64_t n, int64_t cells, int32_t *start) {
    EACH_ITEM(c, cells + 1, POINTS_NT) {
        start[c] = (int32_t)LSP_FIRST((int64_t)0, n, middle, cell[middle] >= (uint64_t)c);
    }
}

extern "C" lsp_status lsp_pair_sort_cuda(lsp_ctx *ctx, const lsp_pair_job *job, lsp_cloud *cloud) {
    const int64_t n = cloud->n, cells = job->grid.total;
    uint32_t *sorted;
    lsp_segsort_args sort = {};
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, n, &sorted));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, n, &cloud->id));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, cells + 1, &cloud->start));
    sort.n = n, sort.key_type = LSP_U32, sort.value_bytes = sizeof *cloud->id, sort.where = LSP_CUDA;
    sort.keys = cloud->cell, sort.keys_out = sorted, sort.values_out = cloud->id, sort.flags = LSP_SORT_POSITIONS;
    sort.end_bit = (int)lsp_max(lsp_bits((uint64_t)cells - 1), 1);
    LSP_TRY(n > 0 ? lsp_sort_array(ctx, &sort) : LSP_OK);
    cloud->cell = sorted;
    return LAUNCH_POINTS(ctx, kernel_starts, cells + 1, sorted, n, cells, cloud->start);
}
