/* Kernel densities on the GPU: all pairs of tiles, or those whose boxes are in reach. */
#include "core/items.h"
#include "kernel_density.cuh"
#include "kernel_points.cuh"

enum { SUMS_BYTES = 256 << 20, TOTAL_NT = 1024 }; /* of the buffer for the sums of a launch, at most */

/* ---- weights ---- */

typedef struct weight_facts {
    double total;
    ull bad; /* ~(the first weight that is refused), or 0 */
} weight_facts;

/* One block, so that the order of the sum never changes. */
template <typename number>
static __global__ void __launch_bounds__(TOTAL_NT) kernel_total(const number *weight, int64_t n, weight_facts *facts) {
    __shared__ double sums[TOTAL_NT];
    double total = 0;
    ull bad = 0;
    for (int64_t i = threadIdx.x; i < n; i += TOTAL_NT) {
        const bool good = weight[i] >= 0 && weight[i] <= (number)1e30;
        bad = good ? bad : max(bad, ~(ull)i);
        total += (double)weight[i];
    }
    keep_largest(bad, &facts->bad);
    sums[threadIdx.x] = total;
    for (int half = TOTAL_NT / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0) {
        facts->total = sums[0];
    }
}

template <typename number> static __global__ void __launch_bounds__(POINTS_NT) kernel_ones(number *to, int64_t n) {
    EACH_ITEM(i, n, POINTS_NT) { to[i] = 1; }
}

/* Brings the caller's weights, or ones, and checks them; *factor is corrected by their mean. */
template <typename number>
static lsp_status load_weights(lsp_ctx *ctx, const lsp_pair_job *job, const void *from, const void **weights,
                               double *factor) {
    const int64_t n = job->sets[1].n;
    weight_facts *there, here;
    void *to;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, n, sizeof(number), &to));
    *weights = to;
    if (from == NULL) {
        LSP_TRY(LAUNCH_POINTS(ctx, kernel_ones<number>, n, (number *)to, n));
    } else if (n > 0) {
        LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &there));
        LSP_TRY(lsp_cuda_copy(ctx, to, LSP_CUDA, from, job->where, n * (int64_t)sizeof(number)));
        LSP_TRY(LSP_LAUNCH(ctx, kernel_total<number>, 1, TOTAL_NT, 0, (const number *)to, n, there));
        LSP_TRY(lsp_cuda_read(ctx, &here, there, sizeof here));
        if (here.bad != 0) {
            number bad;
            LSP_TRY(lsp_cuda_read(ctx, &bad, (const number *)to + ~here.bad, sizeof bad));
            LSP_TRY(lsp_fail(ctx, LSP_ERR_ARGUMENT, LSP_PAIR_BAD_WEIGHT, (long long)~here.bad, (double)bad));
        }
        LSP_REQUIRE(here.total > 0, LSP_ERR_ARGUMENT, LSP_PAIR_NO_WEIGHT, (long long)n);
        *factor *= (double)n / here.total;
    }
    return LSP_OK;
}

/* ---- places ---- */

/* Coordinates less `middle`, times `factor`. */
static __global__ void __launch_bounds__(POINTS_NT)
    kernel_scale(const float *from, float *to, int64_t n, double middle, double factor) {
    EACH_ITEM(i, n, POINTS_NT) { to[i] = (float)(((double)from[i] - middle) * factor); }
}

static lsp_status scale_places(lsp_ctx *ctx, const lsp_pair_job *job, double factor, lsp_cloud *cloud) {
    for (int k = 0; k < job->metric.dimensions; k++) {
        void *to;
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, cloud->n, sizeof(float), &to));
        LSP_TRY(LAUNCH_POINTS(ctx, kernel_scale, cloud->n, (const float *)cloud->place[k], (float *)to, cloud->n,
                              job->low[k] / 2 + job->high[k] / 2, factor));
        cloud->place[k] = to;
    }
    return LSP_OK;
}

/* May coordinates be scaled so that d2 is the exponent? They are rounded then: no exponent may move by more than 1e-5
 * of it. */
static bool may_scale(const lsp_pair_job *job, const lsp_density_work *work) {
    double most = 0;
    for (int k = 0; k < job->metric.dimensions; k++) {
        most = fmax(most, (job->high[k] - job->low[k]) / 2);
    }
    return work->gaussian && job->type == LSP_F32 && job->metric.kind == LSP_SPACE_OPEN &&
           most * sqrt(-work->scale) <= 8;
}

/* ---- sums ---- */

/* Adds the sums of a launch, in the order of its steps. */
template <typename number>
static __global__ void __launch_bounds__(POINTS_NT)
    kernel_add(const __grid_constant__ density_setup s, int64_t side, double *sums) {
    const int64_t n = s.a.cloud.n;
    EACH_ITEM(i, n, POINTS_NT) {
        const int64_t tile = i / side;
        double sum = sums[i];
        for (int64_t d = 0; d < s.steps; d++) {
            const int64_t back = tile - s.first - d, other = back < 0 ? back + s.rows : back;
            if (s.met[d * s.rows + tile]) {
                sum += (double)((const number *)s.row_sums)[d * n + i];
            }
            if (s.col_sums != NULL && s.first + d > 0 && s.met[d * s.rows + other]) {
                sum += (double)((const number *)s.col_sums)[d * n + i];
            }
        }
        sums[i] = sum;
    }
}

template <typename number>
static __global__ void __launch_bounds__(POINTS_NT)
    kernel_give(const double *sums, const int32_t *id, int64_t n, double factor, number *density) {
    EACH_ITEM(i, n, POINTS_NT) { density[id == NULL ? i : id[i]] = (number)(sums[i] * factor); }
}

/* The buffer: as many steps at once as fit it and the memory. */
static lsp_status make_buffer(lsp_ctx *ctx, density_setup *s, int64_t steps, size_t number, bool both) {
    lsp_status status = LSP_ERR_MEMORY;
    const int64_t bytes = s->a.cloud.n * (int64_t)number * (both ? 2 : 1);
    const size_t mark = lsp_scratch_mark(ctx);
    s->steps = lsp_max(lsp_min(steps, lsp_min(SUMS_BYTES / bytes, INT32_MAX / s->rows)), 1);
    for (;; s->steps /= 2) {
        void *met;
        status = lsp_scratch_at(ctx, LSP_CUDA, s->steps, (size_t)bytes, &s->row_sums);
        status = status == LSP_OK ? lsp_scratch_at(ctx, LSP_CUDA, s->steps, (size_t)s->rows, &met) : status;
        if (status != LSP_ERR_MEMORY || s->steps <= 1) {
            s->met = (unsigned char *)met;
            s->col_sums = both ? (char *)s->row_sums + s->steps * bytes / 2 : NULL;
            return status;
        }
        lsp_scratch_release(ctx, mark);
    }
}

template <typename S, density_term TERM, bool BOTH>
static lsp_status sum_up(lsp_ctx *ctx, density_setup *s, int nt, double *sums, ull *tested) {
    typedef typename S::number number;
    const int64_t steps = BOTH ? s->rows / 2 + 1 : s->cols, n = s->a.cloud.n;
    LSP_TRY(make_buffer(ctx, s, steps, sizeof(number), BOTH));
    for (s->first = 0; s->first < steps; s->first += s->steps) {
        s->steps = lsp_min(s->steps, steps - s->first);
        LSP_TRY(LSP_LAUNCH(ctx, (kernel_density<S, TERM, BOTH>), s->rows * s->steps, nt, 0, *s, tested));
        LSP_TRY(LSP_LAUNCH(ctx, kernel_add<number>, lsp_blocks_for(ctx, n, POINTS_NT, POINTS_SM_BLOCKS), POINTS_NT, 0,
                           *s, (int64_t)(nt * density_rows<S>::count), sums));
    }
    return LSP_OK;
}

template <typename S, density_term TERM>
static lsp_status sum_terms(lsp_ctx *ctx, bool self, density_setup *s, int nt, double *sums, ull *tested) {
    return self ? sum_up<S, TERM, true>(ctx, s, nt, sums, tested) : sum_up<S, TERM, false>(ctx, s, nt, sums, tested);
}

static lsp_status order(lsp_ctx *ctx, const lsp_pair_job *job, const lsp_cloud *cloud, int64_t size, bool all,
                        pair_groups *groups) {
    *groups = {*cloud, lsp_ceil_div(cloud->n, size), NULL, NULL};
    return all ? LSP_OK : lsp_pair_groups_cuda(ctx, job, cloud, size, groups);
}

template <typename S>
static lsp_status start(lsp_ctx *ctx, const lsp_pair_job *job, const lsp_density_work *work, density_setup *s,
                        const pair_clouds *clouds, double *sums, ull *tested) {
    typedef typename S::number number;
    constexpr int R = density_rows<S>::count;
    const bool all = job->info.method == LSP_PAIR_ALL, scaled = may_scale(job, work);
    const int nt = pair_threads(ctx, clouds, R, DENSITY_NT);
    const double factor = sqrt(-work->scale);
    const lsp_cloud *const b = &s->b.cloud;
    void *weights;
    LSP_TRY(order(ctx, job, &clouds->a, R * WARP, all, &s->a));
    s->b = s->a;
    LSP_TRY(job->self ? LSP_OK : order(ctx, job, &clouds->b, R * WARP, all, &s->b));
    s->rows = lsp_ceil_div(s->a.cloud.n, R * nt), s->cols = lsp_ceil_div(b->n, R * nt);
    if (!all && b->n > 0) {
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, b->n, sizeof(number), &weights));
        LSP_TRY(lsp_cuda_gather(ctx, weights, s->weight_b, sizeof(number), (const uint32_t *)b->id, b->n));
        s->weight_b = weights;
    }
    s->weight_a = job->self ? s->weight_b : NULL;
    if (scaled) {
        LSP_TRY(scale_places(ctx, job, factor, &s->a.cloud));
        LSP_TRY(job->self ? LSP_OK : scale_places(ctx, job, factor, &s->b.cloud));
        s->b.cloud = job->self ? s->a.cloud : s->b.cloud;
    }
    if constexpr (sizeof(number) == 4 && S::OPEN) {
        if (scaled) {
            return sum_terms<S, TERM_SCALED>(ctx, job->self, s, nt, sums, tested);
        }
    }
    return work->gaussian ? sum_terms<S, TERM_GAUSSIAN>(ctx, job->self, s, nt, sums, tested)
                          : sum_terms<S, TERM_EPANECHNIKOV>(ctx, job->self, s, nt, sums, tested);
}
#define START(space, ...) start<LSP_BARE space>(__VA_ARGS__)

extern "C" lsp_status lsp_kernel_density_cuda(lsp_ctx *ctx, lsp_pair_job *job, const lsp_density_work *work,
                                              void *density) {
    const size_t bytes = lsp_type_bytes(job->type);
    const int64_t n = job->sets[0].n;
    density_setup s = {};
    const pair_clouds clouds = pair_clouds_of(job);
    double factor = work->factor, *sums;
    void *out;
    ull *there, tested;
    s.metric = job->metric, s.bounds = lsp_box_bounds_of(job), s.scale = work->scale, s.limit = work->limit;
    LSP_TRY(job->type == LSP_F32 ? load_weights<float>(ctx, job, work->weights, &s.weight_b, &factor)
                                 : load_weights<double>(ctx, job, work->weights, &s.weight_b, &factor));
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &there));
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, n, &sums));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, n, bytes, &out));
    if (n > 0) {
        LSP_TRY(LSP_WITH_SPACE(job, START, ctx, job, work, &s, &clouds, sums, there));
        LSP_TRY(job->type == LSP_F32
                    ? LAUNCH_POINTS(ctx, kernel_give<float>, n, sums, s.a.cloud.id, n, factor, (float *)out)
                    : LAUNCH_POINTS(ctx, kernel_give<double>, n, sums, s.a.cloud.id, n, factor, (double *)out));
    }
    LSP_TRY(lsp_cuda_read(ctx, &tested, there, sizeof tested));
    LSP_TRY(n > 0 ? lsp_cuda_copy(ctx, density, job->where, out, LSP_CUDA, n * (int64_t)bytes) : LSP_OK);
    job->info.tested = (int64_t)tested;
    job->info.cells = job->info.method == LSP_PAIR_ALL ? 0 : s.b.count;
    return LSP_OK;
}
