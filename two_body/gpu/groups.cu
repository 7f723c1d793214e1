/* Groups of near points on the GPU. All points are cut into a few parts across their longest side, each part across its
 * own, and so on, once a dimension, by the library's segmented sort. */
#include "kernel_points.cuh"

enum { KEY_BITS = 22 }; /* of a place within the longest side of its part */

/* Parts that begin with a group: part p begins with group groups * p / parts. */
typedef struct cutting {
    int64_t n, size, groups, parts;
    lsp_cloud cloud; /* in the order so far */
    lsp_metric metric;
    lsp_type type;
} cutting;

__device__ inline int64_t begin_of(const cutting &c, int64_t part) {
    return min(c.groups * part / c.parts * c.size, c.n);
}
__device__ inline int64_t part_of(const cutting &c, int64_t point) {
    return ((point / c.size + 1) * c.parts - 1) / c.groups;
}
__device__ inline double place_of(const cutting &c, int k, int64_t i) {
    return lsp_place_at(&c.metric, c.type, c.cloud.place[k], c.cloud.id[i]);
}

/* Where the places of each part lie, as in points_facts. */
typedef struct extent {
    ull low[LSP_MOST_DIMENSIONS], high[LSP_MOST_DIMENSIONS];
} extent;

/* A warp takes 32 * POINTS_VT points at a time; those of one part are joined first. */
static __global__ void __launch_bounds__(POINTS_NT) kernel_extents(const __grid_constant__ cutting c, extent *extents) {
    const int64_t step = (int64_t)gridDim.x * POINTS_NT * POINTS_VT;
    const int64_t warp = (int64_t)blockIdx.x * POINTS_NT + threadIdx.x / WARP * WARP;
    for (int64_t first = warp * POINTS_VT; first < c.n; first += step) {
        const int64_t end = min(first + WARP * POINTS_VT, c.n);
        for (int64_t from = first, to; from < end; from = to) {
            const int64_t part = part_of(c, from);
            to = min(begin_of(c, part + 1), end);
            for (int k = 0; k < c.metric.dimensions; k++) {
                ull low = 0, high = 0;
                for (int64_t i = from + threadIdx.x % WARP; i < to; i += WARP) {
                    const ull order = lsp_order_of(place_of(c, k, i));
                    low = max(low, ~order), high = max(high, order);
                }
                keep_largest(low, &extents[part].low[k]);
                keep_largest(high, &extents[part].high[k]);
            }
        }
    }
}

static __global__ void __launch_bounds__(POINTS_NT)
    kernel_keys(const __grid_constant__ cutting c, const extent *extents, uint32_t *keys, int64_t *offsets) {
    EACH_ITEM(p, c.parts + 1, POINTS_NT) { offsets[p] = begin_of(c, p); }
    EACH_ITEM(i, c.n, POINTS_NT) {
        const extent &e = extents[part_of(c, i)];
        double length = -1, first = 0, longest = -1;
        int side = 0;
        for (int k = 0; k < c.metric.dimensions; k++) {
            const double low = lsp_number_of(~e.low[k]), across = lsp_number_of(e.high[k]) - low;
            const double there = across * (c.metric.kind == LSP_SPACE_OPEN ? 1 : c.metric.ratio[k]);
            if (there > longest) {
                longest = there, side = k, first = low, length = across;
            }
        }
        const bool cut = length > 1e-290 && length < 1e300; /* else points may lie in any order */
        keys[i] = cut ? (uint32_t)((place_of(c, side, i) - first) * (((1 << KEY_BITS) - 1) / length)) : 0;
    }
}

/* The box around each group: a warp each. */
static __global__ void __launch_bounds__(POINTS_NT) kernel_boxes(const __grid_constant__ cutting c, lsp_box *boxes) {
    const int64_t step = (int64_t)gridDim.x * POINTS_NT / WARP;
    for (int64_t g = ((int64_t)blockIdx.x * POINTS_NT + threadIdx.x) / WARP; g < c.groups; g += step) {
        for (int k = 0; k < LSP_MOST_DIMENSIONS; k++) {
            double low = 0, high = 0;
            if (k < c.metric.dimensions) {
                ull least = 0, most = 0;
                for (int64_t i = g * c.size + threadIdx.x % WARP; i < min((g + 1) * c.size, c.n); i += WARP) {
                    const ull order = lsp_order_of(place_of(c, k, i));
                    least = max(least, ~order), most = max(most, order);
                }
                low = lsp_number_of(~warp_max(least)), high = lsp_number_of(warp_max(most));
            }
            if (threadIdx.x % WARP == 0) {
                lsp_box_set(&boxes[g], k, low, high);
            }
        }
    }
}

/* The box around LSP_WIDE boxes: a warp each. */
static __global__ void __launch_bounds__(POINTS_NT)
    kernel_wide_boxes(const lsp_box *boxes, int64_t count, int dimensions, lsp_box *wide) {
    static_assert((int)LSP_WIDE == (int)WARP, "a lane takes a box");
    const int64_t step = (int64_t)gridDim.x * POINTS_NT / WARP;
    for (int64_t w = ((int64_t)blockIdx.x * POINTS_NT + threadIdx.x) / WARP; w * WARP < count; w += step) {
        const lsp_box &box = boxes[min(w * WARP + threadIdx.x % WARP, count - 1)];
        for (int k = 0; k < LSP_MOST_DIMENSIONS; k++) {
            double low = 0, high = 0;
            if (k < dimensions) {
                const ull least = lsp_order_of(nextafter(box.middle[k] - box.half[k], -(double)INFINITY));
                const ull most = lsp_order_of(nextafter(box.middle[k] + box.half[k], (double)INFINITY));
                low = lsp_number_of(~warp_max(~least)), high = lsp_number_of(warp_max(most));
            }
            if (threadIdx.x % WARP == 0) {
                lsp_box_set(&wide[w], k, low, high);
            }
        }
    }
}

/* Sorts every part across its longest side. */
static lsp_status cut(lsp_ctx *ctx, const cutting *c) {
    LSP_SCRATCH_SCOPE(ctx);
    extent *extents;
    uint32_t *keys;
    int64_t *offsets;
    lsp_segsort_args sort = {};
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, c->parts, &extents));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, c->n, &keys));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, c->parts + 1, &offsets));
    LSP_TRY(LAUNCH_POINTS(ctx, kernel_extents, c->n, *c, extents));
    LSP_TRY(LAUNCH_POINTS(ctx, kernel_keys, c->n, *c, extents, keys, offsets));
    sort.n = c->n, sort.segments = c->parts, sort.where = LSP_CUDA;
    sort.offsets = offsets, sort.offset_type = LSP_I64;
    sort.max_length = lsp_ceil_div(c->groups, c->parts) * c->size;
    sort.key_type = LSP_U32, sort.keys = keys, sort.keys_out = keys, sort.end_bit = KEY_BITS;
    sort.value_bytes = sizeof *c->cloud.id, sort.values = c->cloud.id, sort.values_out = c->cloud.id;
    return lsp_segsort(ctx, &sort, NULL);
}

extern "C" lsp_status lsp_pair_groups_cuda(lsp_ctx *ctx, const lsp_pair_job *job, const lsp_cloud *loaded, int64_t size,
                                           pair_groups *groups) {
    const int64_t n = loaded->n, count = lsp_ceil_div(n, size);
    const int dimensions = job->metric.dimensions;
    cutting c = {n, size, count, 1, *loaded, job->metric, job->type};
    lsp_box *boxes, *wide;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, count, &boxes));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, lsp_ceil_div(count, LSP_WIDE), &wide));
    LSP_TRY(lsp_cloud_number(ctx, &c.cloud));
    for (int round = 0; round < dimensions && c.parts < count; round++) {
        const double left = (double)count / (double)c.parts;
        LSP_TRY(cut(ctx, &c));
        c.parts *= (int64_t)ceil(pow(left, 1.0 / (dimensions - round)) - 1e-9);
    }
    if (n > 0) {
        LSP_TRY(LAUNCH_POINTS(ctx, kernel_boxes, n, c, boxes));
        LSP_TRY(LAUNCH_POINTS(ctx, kernel_wide_boxes, count, boxes, count, dimensions, wide));
    }
    *groups = {c.cloud, count, boxes, wide};
    return lsp_cloud_reorder(ctx, job, &groups->cloud);
}
