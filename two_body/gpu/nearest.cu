/* The nearest points on the GPU. A warp takes a group of queries, a few a lane, through the groups of candidates: near
 * ones in the order first, then those whose boxes can hold a point that one of its queries wants. */
#include "boxes.cuh"

enum { NEAREST_NT = 128, NEAREST_WARPS = NEAREST_NT / WARP, NEAREST_FIRST = 2 };

typedef struct nearest_setup {
    lsp_metric metric;
    lsp_box_bounds bounds;
    pair_groups a, b;
    int64_t k;
    bool all;  /* look at every group */
    bool own;  /* one set: the candidates lie in the queries' order */
    bool skip; /* no point is its own neighbour: query q is point q + shift */
    int shift;
    void *d2; /* item i of the list of query q, in its order, is at i * a.cloud.n + q */
    int32_t *id;
} nearest_setup;

/* The queries of a lane. */
template <typename S> struct nearest_rows {
    static constexpr int count = S::DIM * sizeof(typename S::place) <= 32 ? 4 : 2;
};

/* A list: until it is full `at` is its length, then the place of the worst item, which is nearer than (limit, id). */
template <typename S> struct seat {
    typename S::number limit;
    int32_t id;
    int at;
};

__device__ inline double place_number(const lsp_metric &m, uint32_t place) {
    return m.kind == LSP_SPACE_OPEN ? (double)lsp_float_of(place) : (double)place;
}
__device__ inline double place_number(const lsp_metric &, double place) { return place; }

/* Puts (d2, id) into the list of query q, and returns its new seat. A call, so that the kernels compile in time. */
template <typename S>
__device__ __noinline__ seat<S> insert(const nearest_setup &s, seat<S> seat, int64_t q, typename S::number d2,
                                       int32_t id) {
    typedef typename S::number number;
    number *const list = (number *)s.d2 + q;
    int32_t *const ids = s.id + q;
    const int64_t stride = s.a.cloud.n;
    const bool full = seat.id != INT32_MAX;
    list[seat.at * stride] = d2, ids[seat.at * stride] = id;
    if (!full && ++seat.at < s.k) {
        return seat;
    }
    number worst = -1;
    int32_t last = -1;
    int at = 0;
#pragma unroll 4
    for (int i = 0; i < s.k; i++) {
        const number x = list[i * stride];
        if (x > worst || (x == worst && ids[i * stride] > last)) {
            worst = x, last = ids[i * stride], at = i;
        }
    }
    seat.limit = worst, seat.id = last, seat.at = at;
    return seat;
}

/* The queries of a warp: query r of a lane is point first + r * WARP + lane. */
template <typename S> struct seeking {
    static constexpr int R = nearest_rows<S>::count, SIDE = R * WARP;
    typedef typename S::place place;
    typedef typename S::number number;
    const nearest_setup &s;
    place (*shared)[SIDE];
    int64_t first;
    place x[R][S::DIM];
    seat<S> seats[R];
    int64_t tested;

    __device__ __forceinline__ bool wants(const lsp_box &box) const {
        bool any = false;
#pragma unroll
        for (int r = 0; r < R; r++) {
            double at[S::DIM];
#pragma unroll
            for (int d = 0; d < S::DIM; d++) {
                at[d] = place_number(s.metric, x[r][d]);
            }
            any = any || least_apart<S>(s.bounds, at, NULL, box) <= (double)seats[r].limit;
        }
        return __any_sync(~0u, any);
    }
    __device__ __forceinline__ number distance(int r, int j) const {
        place y[S::DIM];
#pragma unroll
        for (int d = 0; d < S::DIM; d++) {
            y[d] = shared[d][j];
        }
        return S::distance(&s.metric, x[r], y);
    }
    /* Candidates from .. end - 1, WARP at most, of those in shared memory, which begin with point `begin`, for query r.
     * Each lane notes its hits first: lanes insert theirs together, whichever candidates they are. */
    __device__ __forceinline__ void look_closer(int r, int from, int end, int64_t begin) {
        const int64_t q = first + r * WARP + threadIdx.x % WARP;
        unsigned hits = 0;
        for (int j = from; j < end; j++) {
            hits |= (unsigned)(distance(r, j) <= seats[r].limit) << (j - from);
        }
        for (; hits != 0; hits &= hits - 1) {
            const int j = from + __ffs((int)hits) - 1;
            const number d2 = distance(r, j);
            const int32_t id = s.b.cloud.id[begin + j];
            const bool skip = s.skip && id == s.a.cloud.id[q] + s.shift;
            if (!skip && (d2 < seats[r].limit || (d2 == seats[r].limit && id < seats[r].id))) {
                seats[r] = insert<S>(s, seats[r], q, d2, id);
            }
        }
    }
    __device__ __forceinline__ void look(int64_t group) {
        const int lane = (int)threadIdx.x % WARP;
        if (!s.all && !wants(s.b.boxes[group])) {
            return;
        }
        const int64_t begin = group * SIDE;
        const int cols = (int)min(s.b.cloud.n - begin, (int64_t)SIDE);
        __syncwarp();
#pragma unroll
        for (int d = 0; d < S::DIM; d++) {
#pragma unroll
            for (int c = lane; c < SIDE; c += WARP) {
                shared[d][c] = c < cols ? ((const place *)s.b.cloud.place[d])[begin + c] : 0;
            }
        }
        __syncwarp();
        for (int from = 0; from < cols; from += WARP) {
            number least[R];
#pragma unroll
            for (int r = 0; r < R; r++) {
                least[r] = INFINITY;
            }
            constexpr int V = 16 / sizeof(place);
#pragma unroll 2
            for (int j = from; j < from + WARP; j += V) {
                place y[V][S::DIM];
#pragma unroll
                for (int d = 0; d < S::DIM; d++) {
                    place at[V];
                    const uint4 words = *(const uint4 *)&shared[d][j];
                    memcpy(at, &words, sizeof words);
#pragma unroll
                    for (int v = 0; v < V; v++) {
                        y[v][d] = at[v];
                    }
                }
#pragma unroll
                for (int r = 0; r < R; r++) {
#pragma unroll
                    for (int v = 0; v < V; v++) {
                        least[r] = min(least[r], S::distance(&s.metric, x[r], y[v]));
                    }
                }
            }
#pragma unroll
            for (int r = 0; r < R; r++) {
                if (least[r] <= seats[r].limit) {
                    look_closer(r, from, min(from + WARP, cols), begin);
                }
            }
        }
        tested += (int64_t)cols * min((int64_t)SIDE, s.a.cloud.n - first);
    }
    /* How far a box is from the middle of the queries, above its number. */
    __device__ ull box_away(int64_t group, const lsp_box *boxes, int64_t h) const {
        const float away = (float)least_apart<S>(s.bounds, s.a.boxes[group].middle, NULL, boxes[h]);
        unsigned bits;
        memcpy(&bits, &away, sizeof bits);
        return (ull)(away > 0 ? bits : 0) << 32 | (ull)h;
    }
    /* The least of boxes from .. to - 1. */
    __device__ ull nearest_box(int64_t group, const lsp_box *boxes, int64_t from, int64_t to) const {
        ull best = ~(ull)0;
        for (int64_t h = from + threadIdx.x % WARP; h < to; h += WARP) {
            best = min(best, box_away(group, boxes, h));
        }
        return ~warp_max(~best);
    }
    /* The group to begin with. Wide boxes overlap: those that are nearer than the best group are looked at. */
    __device__ int64_t start(int64_t group) const {
        if (s.own || s.all) {
            return s.own ? group : 0;
        }
        const int64_t wides = (s.b.count + LSP_WIDE - 1) / LSP_WIDE;
        ull best = ~(ull)0;
        for (int64_t from = 0; from < wides; from += WARP) {
            const int64_t w = min(from + threadIdx.x % WARP, wides - 1);
            unsigned votes = __ballot_sync(~0u, box_away(group, s.b.wide, w) >> 32 < best >> 32);
            for (; votes != 0; votes &= votes - 1) {
                const int64_t begin = __shfl_sync(~0u, w, __ffs((int)votes) - 1) * LSP_WIDE;
                best = min(best, nearest_box(group, s.b.boxes, begin, min(begin + LSP_WIDE, s.b.count)));
            }
        }
        return (int64_t)(best & 0xffffffffu);
    }
    /* Called by all lanes: can the lane's box hold a point that a query of the warp wants? */
    __device__ __forceinline__ bool may_hold(int64_t group, const lsp_box &box) const {
        number most = -1;
#pragma unroll
        for (int r = 0; r < R; r++) {
            most = max(most, seats[r].limit);
        }
        most = warp_max(most);
        const lsp_box &own = s.a.boxes[group];
        return s.all || least_apart<S>(s.bounds, own.middle, own.half, box) <= (double)most;
    }
    __device__ void run(int64_t group) {
        const int lane = (int)threadIdx.x % WARP;
        first = group * SIDE, tested = 0;
#pragma unroll
        for (int r = 0; r < R; r++) {
            const int64_t q = first + r * WARP + lane;
#pragma unroll
            for (int d = 0; d < S::DIM; d++) {
                x[r][d] = q < s.a.cloud.n ? ((const place *)s.a.cloud.place[d])[q] : 0;
            }
            seats[r] = {q < s.a.cloud.n ? (number)INFINITY : -1, INT32_MAX, 0};
        }
        const int64_t own = start(group), last = s.b.count - 1, wide = last / LSP_WIDE + 1;
        /* The nearest ones in the order; then outwards, a wide box in each lane. */
        for (int64_t i = -WARP; i < wide; i += WARP) {
            const int64_t out = i + lane;
            int64_t at = own / LSP_WIDE + (out % 2 ? (out + 1) / 2 : -out / 2);
            at = at < 0 ? at + wide : at >= wide ? at - wide : at;
            const bool any = may_hold(group, s.b.wide[out >= 0 && out < wide ? at : 0]) && out < wide;
            for (unsigned votes = i < 0 ? 1 : __ballot_sync(~0u, any); votes != 0; votes &= votes - 1) {
                const int64_t h = i < 0 ? own + (lane % 2 ? (lane + 1) / 2 : -lane / 2)
                                        : __shfl_sync(~0u, at, __ffs((int)votes) - 1) * LSP_WIDE + lane;
                const bool early = h <= own + NEAREST_FIRST && h >= own - NEAREST_FIRST;
                const bool near = may_hold(group, s.b.boxes[min(max(h, (int64_t)0), last)]) && h >= 0 && h <= last;
                for (unsigned groups = __ballot_sync(~0u, near && early == (i < 0)); groups != 0;
                     groups &= groups - 1) {
                    look(__shfl_sync(~0u, h, __ffs((int)groups) - 1));
                }
            }
        }
    }
};

template <typename S>
static __global__ void __launch_bounds__(NEAREST_NT)
    kernel_nearest(const __grid_constant__ nearest_setup setup, ull *tested) {
    __shared__ __align__(16) typename S::place shared[NEAREST_WARPS][S::DIM][seeking<S>::SIDE];
    const int warp = (int)threadIdx.x / WARP;
    const int64_t group = (int64_t)blockIdx.x * NEAREST_WARPS + warp;
    if (group < setup.a.count) {
        seeking<S> seek = {setup, shared[warp], 0, {}, {}, 0};
        seek.run(group);
        if (threadIdx.x % WARP == 0) {
            atomicAdd(tested, (ull)seek.tested);
        }
    }
}

/* Writes the lists as rows, not sorted yet. */
template <typename number>
static __global__ void __launch_bounds__(NEAREST_NT)
    kernel_nearest_rows(const __grid_constant__ nearest_setup s, lsp_join_values values, double unit, void *rowptr,
                        bool wide, int32_t *col, number *val) {
    const int64_t n = s.a.cloud.n;
    EACH_ITEM(i, n + 1, NEAREST_NT) {
        index_set(rowptr, wide, i, i * s.k);
        for (int64_t c = 0; c < s.k && i < n; c++) {
            const int64_t to = (int64_t)s.a.cloud.id[i] * s.k + c;
            const number d2 = ((const number *)s.d2)[c * n + i];
            col[to] = s.id[c * n + i];
            if (val != NULL) {
                if constexpr (sizeof(number) == 4) {
                    val[to] = lsp_join_value_f32(d2, values, (float)unit);
                } else {
                    val[to] = lsp_join_value_f64(d2, values, unit);
                }
            }
        }
    }
}

template <typename S>
static lsp_status start(lsp_ctx *ctx, const lsp_pair_job *job, nearest_setup *s, const lsp_join_options *options,
                        lsp_csr *C, ull *tested) {
    typedef typename S::number number;
    const int64_t rows = job->sets[0].n;
    LSP_TRY(lsp_pair_groups_cuda(ctx, job, &job->clouds[0], seeking<S>::SIDE, &s->a));
    s->b = s->a;
    LSP_TRY(job->self ? LSP_OK : lsp_pair_groups_cuda(ctx, job, &job->clouds[1], seeking<S>::SIDE, &s->b));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, rows * s->k, sizeof(number), &s->d2));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, rows * s->k, &s->id));
    if (s->k > 0 && rows > 0) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_nearest<S>, lsp_ceil_div(s->a.count, NEAREST_WARPS), NEAREST_NT, 0, *s, tested));
    }
    return LSP_LAUNCH(ctx, kernel_nearest_rows<number>, lsp_blocks_for(ctx, rows + 1, NEAREST_NT, 16), NEAREST_NT, 0,
                      *s, options->values, job->metric.unit, C->rowptr, C->rowptr_type == LSP_I64, (int32_t *)C->col,
                      (number *)C->val);
}
#define START(space, ...) start<LSP_BARE space>(__VA_ARGS__)

extern "C" lsp_status lsp_nearest_cuda(lsp_ctx *ctx, lsp_pair_job *job, int64_t k, const lsp_join_options *options,
                                       lsp_csr *C) {
    const bool all = job->info.method == LSP_PAIR_ALL;
    nearest_setup s = {};
    s.metric = job->metric, s.bounds = lsp_box_bounds_of(job), s.k = k, s.all = all, s.own = job->self;
    s.skip = job->own && !options->self_pairs, s.shift = (int)job->shift;
    const lsp_csr_types types = lsp_join_types(job, options->values, LSP_CUDA);
    ull *there, tested;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &there));
    LSP_TRY(lsp_csr_create(ctx, job->sets[0].n, job->sets[1].n, job->sets[0].n * k, &types, C));
    LSP_TRY(LSP_WITH_SPACE(job, START, ctx, job, &s, options, C, there));
    LSP_TRY(k > 1 ? pair_sort_rows(ctx, C, k, k) : LSP_OK);
    LSP_TRY(lsp_cuda_read(ctx, &tested, there, sizeof tested));
    job->info.tested = (int64_t)tested;
    job->info.cells = all ? 0 : s.b.count;
    return LSP_OK;
}
