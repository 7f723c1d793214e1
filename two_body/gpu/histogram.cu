/* Histograms of distances on the GPU. A counter in shared memory has copies, lane by lane, as many as fit. */
#include "tally.cuh"

/* Ways to the bin. PLAIN: by lsp_bin_f32 and lsp_bin_f64. The others need distances far from the ends of LSP_F32 (see
 * is_tame). FLAGGED: by the root that hardware offers for LSP_F32, a little less and a little more of it; where the two
 * bins differ, again and exactly. NEWTON: by one step of Newton's method, which rounds correctly, where bins are so
 * many that most groups would be done again. FAST: by the hardware's root as it is, which the caller allowed. */
enum root_way { ROOT_PLAIN, ROOT_FLAGGED, ROOT_NEWTON, ROOT_FAST };

enum { FLAGGED_MOST = 4096 }; /* bins of LSP_F32 */

/* ---- bins as the last bits of a float: 2^23 plus the whole part of root * scale ---- */

#define FLOAT_MAGIC 8388608.f
enum { MAGIC_BITS = 0x4B000000 };
#ifdef __CUDACC__
/* The errors of a root by hardware, at most 2^-23, of d2 cut to a float, of `scale` as a float and of its product. */
template <typename T> struct root_error { static constexpr float less = 1 - 3.0e-7f, more = 1 + 3.0e-7f; };
template <> struct root_error<double> { static constexpr float less = 1 - 4.8e-7f, more = 1 + 4.8e-7f; };
/* d2 as a float; doubles are cut, and those below 2^-126 become that. A conversion would wait for the unit that makes
 * roots. */
__device__ __forceinline__ float as_float(float d2) { return d2; }
__device__ __forceinline__ float as_float(double d2) {
    const unsigned high = (unsigned)max(__double2hiint(d2), 0x38100000);
    return __uint_as_float(__funnelshift_l((unsigned)__double2loint(d2), high, 3) + 0x40000000u);
}
template <typename T> __device__ __forceinline__ float fast_root(T d2) {
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(as_float(d2)));
    return root;
}
/* Correctly rounded for finite x from 2^-101 up; NaN for 0. */
__device__ __forceinline__ float newton_root(float x) {
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    const float root = __fmul_rn(x, r), half = __fmul_rn(r, 0.5f);
    return __fmaf_rn(__fmaf_rn(-root, root, x), half, root);
}
__device__ __forceinline__ unsigned whole_part(float root, float scale) {
    return __float_as_uint(__fmaf_rd(root, scale, FLOAT_MAGIC));
}
__device__ __forceinline__ unsigned exact_bin(float d2, float scale) { /* 0 and what is smaller than 2^-101: bin 0 */
    return __float_as_uint(fmaxf(__fmaf_rd(newton_root(d2), scale, FLOAT_MAGIC), FLOAT_MAGIC));
}
__device__ __forceinline__ unsigned exact_bin(double d2, double scale) {
    return (unsigned)min(lsp_bin_f64(d2, scale), 8388607.0) + MAGIC_BITS;
}
template <typename T> __device__ __forceinline__ unsigned fast_bin(T d2, T scale) {
    return whole_part(fast_root(d2), (float)scale);
}
/* LSP_F32 does all again, which costs little; a root in double precision costs so much that each pair is asked. */
template <int N, typename T>
__device__ __forceinline__ void flagged_bins(const T (&d2)[N], T scale, unsigned (&bin)[N]) {
    const float least = (float)scale * root_error<T>::less, most = (float)scale * root_error<T>::more;
    unsigned differ = 0;
#pragma unroll
    for (int p = 0; p < N; p++) {
        const float root = fast_root(d2[p]);
        bin[p] = whole_part(root, least);
        differ |= bin[p] ^ whole_part(root, most);
    }
    if (differ) {
#pragma unroll
        for (int p = 0; p < N; p++) {
            if (sizeof(T) == 4 || bin[p] != whole_part(fast_root(d2[p]), most)) {
                bin[p] = exact_bin(d2[p], scale);
            }
        }
    }
}
#else
template <typename T> static inline unsigned exact_bin(T d2, T scale) {
    return (unsigned)min(sizeof(T) == 4 ? lsp_bin_f32((float)d2, (float)scale) : lsp_bin_f64(d2, scale), 8388607.0) +
           MAGIC_BITS;
}
template <typename T> static inline unsigned fast_bin(T d2, T scale) { return exact_bin(d2, scale); }
template <int N, typename T> static inline void flagged_bins(const T (&d2)[N], T scale, unsigned (&bin)[N]) {
    for (int p = 0; p < N; p++) {
        bin[p] = exact_bin(d2[p], scale);
    }
}
#endif

__device__ inline double plain_bin(float d2, float scale) { return lsp_bin_f32(d2, scale); }
__device__ inline double plain_bin(double d2, double scale) { return lsp_bin_f64(d2, scale); }

/* ---- the table ---- */

template <typename S, root_way WAY, bool CLAMPED> struct root_bins {
    typedef typename S::number number;
    enum { GROUP = WAY == ROOT_FLAGGED ? 4 : WAY == ROOT_FAST && sizeof(number) == 4 ? 1 : 2, UNROLL = 1 };
    struct setup {
        number scale;
        int bins;   /* wanted; bin `bins` takes what is beyond */
        int room;   /* bins of the table; 0: the counters are in global memory */
        int copies; /* a power of two */
    };
    const setup &s;
    unsigned *table;
    unsigned stride, lane;
    ull *sums;

    __device__ root_bins(const setup &s_, ull *sums_) : s(s_), sums(sums_) {
        LSP_DYNAMIC_SHARED(memory);
        table = (unsigned *)memory;
        stride = 4 * (unsigned)s.copies;
        lane = shared_address(memory) + threadIdx.x % (unsigned)s.copies * 4;
        lane -= WAY == ROOT_PLAIN ? 0 : MAGIC_BITS * stride;
    }
    __device__ void start_table() {
        for (int i = (int)threadIdx.x; i < s.room * s.copies; i += (int)blockDim.x) {
            table[i] = 0;
        }
        __syncthreads();
    }
    template <int N> __device__ __forceinline__ void find(const number (&d2)[N], unsigned (&bin)[N]) {
        if constexpr (WAY == ROOT_FLAGGED) {
            flagged_bins(d2, s.scale, bin);
        }
#pragma unroll
        for (int p = 0; p < N; p++) {
            if constexpr (WAY == ROOT_NEWTON) {
                bin[p] = exact_bin(d2[p], s.scale);
            } else if constexpr (WAY == ROOT_FAST) {
                bin[p] = fast_bin(d2[p], s.scale);
            } else if constexpr (WAY == ROOT_PLAIN) {
                bin[p] = (unsigned)min(plain_bin(d2[p], s.scale), (double)s.bins);
            }
            if (CLAMPED && WAY != ROOT_PLAIN) {
                bin[p] = min(bin[p], MAGIC_BITS + (unsigned)s.bins);
            }
        }
    }
    template <int N, bool MASKED>
    __device__ __forceinline__ void take(const number (&d2)[N], const bool (&in)[N], int) {
        unsigned bin[N];
        find(d2, bin);
#pragma unroll
        for (int p = 0; p < N; p++) {
            if (MASKED && !in[p]) {
                continue;
            }
            if (WAY == ROOT_PLAIN && s.room == 0) {
                atomicAdd(&sums[bin[p]], (ull)1);
            } else {
                shared_count(bin[p] * stride + lane);
            }
        }
    }
    __device__ __forceinline__ int place_of(number low, number high) const {
        const double first = plain_bin(low, s.scale), last = plain_bin(high, s.scale);
        return first >= s.bins ? -1 : first == last ? (int)first : UNSETTLED;
    }
    __device__ __forceinline__ void end_chunk(int) {}
    __device__ void flush(ull *to) {
        __syncthreads();
        for (int b = (int)threadIdx.x; b < s.room; b += (int)blockDim.x) {
            ull sum = 0;
            for (int c = 0; c < s.copies; c++) { /* not all from the same bank */
                unsigned *const counter = &table[b * s.copies + ((c + b) & (s.copies - 1))];
                sum += *counter;
                *counter = 0;
            }
            if (sum > 0 && b < s.bins) {
                atomicAdd(&to[b], sum);
            }
        }
        __syncthreads();
    }
};

/* ---- on the host ---- */

/* How the counters lie. Found by measuring (docs/measurements/two_body.md): 32 copies, a bank for each lane, while two
 * blocks of 512 threads fit; 16 copies in one block of 1024; else one. Other numbers of copies lose to one. */
typedef struct layout {
    int64_t room;
    int copies, nt;
} layout;

static layout layout_for(lsp_ctx *ctx, int64_t bins, int64_t beside) {
    const lsp_cuda_chip *chip = lsp_cuda_get_chip(ctx);
    const int64_t half = chip->shared_sm_bytes / 2 - beside;
    const int64_t whole = lsp_min(chip->shared_block_bytes, chip->shared_sm_bytes - 1024) - beside + 1024;
    return bins * 128 <= half   ? layout{bins, 32, 512}
           : bins * 64 <= whole ? layout{bins, 16, 1024}
           : bins * 4 <= half   ? layout{bins, 1, 512}
           : bins * 4 <= whole  ? layout{bins, 1, 1024}
                                : layout{0, 1, 512};
}

/* The largest distance that can occur, in the metric's units; infinite if it is not known. */
static double farthest(const lsp_pair_job *job) {
    double sum = 0;
    for (int k = 0; k < job->metric.dimensions; k++) {
        const double extent =
            job->metric.kind == LSP_SPACE_OPEN ? job->high[k] - job->low[k] : job->metric.box[0] / job->metric.unit / 2;
        sum += extent * extent;
    }
    return job->metric.kind <= LSP_SPACE_CUBE ? sqrt(sum) * (1 + 1e-5) : INFINITY;
}

/* May the fast ways be used? All d2 fit LSP_F32, and all distances that are smaller than 2^-50 are in bin 0. */
static bool is_tame(const lsp_pair_job *job, double scale) {
    return scale < 0x1p49 && scale > 0x1p-100 && (job->metric.kind != LSP_SPACE_OPEN || farthest(job) < 1e18);
}

template <typename S, root_way WAY, bool CLAMPED>
static lsp_status launch(lsp_ctx *ctx, lsp_pair_job *job, const pair_walk *walk, const layout *l, double scale,
                         int64_t bins, ull *sums, ull *cursor) {
    typedef root_bins<S, WAY, CLAMPED> kind;
    const typename kind::setup setup = {(typename S::number)scale, (int)bins, (int)l->room, l->copies};
    const int64_t table = l->room * l->copies * 4;
    if constexpr (WAY == ROOT_PLAIN) {
        if (job->info.method == LSP_PAIR_GRID) {
            return tally_near<S, kind>(ctx, walk, table, setup, sums, cursor + 1);
        }
    }
    if constexpr (WAY != ROOT_NEWTON && CLAMPED) {
        if (job->info.method == LSP_PAIR_BOXES) {
            return tally_boxes<S, kind>(ctx, job, walk, table, setup, sums, cursor);
        }
    }
    return tally_all<S, kind>(ctx, walk, table, l->nt, setup, sums);
}

template <typename S>
static lsp_status start(lsp_ctx *ctx, lsp_pair_job *job, const pair_walk *walk, double scale, int64_t bins, ull *sums,
                        ull *cursor) {
    const lsp_pair_method method = job->info.method;
    const int64_t chunks = method == LSP_PAIR_BOXES ? BOXES_WARPS * tally_rows<S>::count * WARP : CHUNK;
    const int64_t beside = S::DIM * chunks * (int64_t)sizeof(typename S::place) + 1024;
    layout l = layout_for(ctx, bins + 1, beside);
    if (method == LSP_PAIR_GRID || l.room == 0 || !is_tame(job, scale)) {
        return launch<S, ROOT_PLAIN, true>(ctx, job, walk, &l, scale, bins, sums, cursor);
    }
    if constexpr (sizeof(typename S::number) == 4) {
        if (method == LSP_PAIR_ALL) {
            const double beyond = farthest(job) * scale + 2;
            const layout all = layout_for(ctx, beyond < 1e6 ? (int64_t)beyond : 1000000, beside);
            const bool open = all.copies != l.copies || all.nt != l.nt || all.room == 0; /* cut off beyond */
            l.room = open ? l.room : lsp_max(all.room, l.room);
            if (job->approximate && !open) {
                return launch<S, ROOT_FAST, false>(ctx, job, walk, &l, scale, bins, sums, cursor);
            }
            if (!job->approximate && bins > FLAGGED_MOST) {
                return open ? launch<S, ROOT_NEWTON, true>(ctx, job, walk, &l, scale, bins, sums, cursor)
                            : launch<S, ROOT_NEWTON, false>(ctx, job, walk, &l, scale, bins, sums, cursor);
            }
            if (!job->approximate && !open) {
                return launch<S, ROOT_FLAGGED, false>(ctx, job, walk, &l, scale, bins, sums, cursor);
            }
        }
    }
    return job->approximate ? launch<S, ROOT_FAST, true>(ctx, job, walk, &l, scale, bins, sums, cursor)
                            : launch<S, ROOT_FLAGGED, true>(ctx, job, walk, &l, scale, bins, sums, cursor);
}
#define START(space, ...) start<LSP_BARE space>(__VA_ARGS__)

extern "C" lsp_status lsp_pair_histogram_cuda(lsp_ctx *ctx, lsp_pair_job *job, double scale, int64_t bins,
                                              uint64_t *counts) {
    pair_walk walk = {job->metric, job->grid, pair_clouds_of(job), job->self};
    ull *sums, tested;
    /* beyond; the cursor of boxes; distances computed */
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, bins + 3, &sums));
    LSP_TRY(LSP_WITH_SPACE(job, START, ctx, job, &walk, scale, bins, sums, sums + bins + 1));
    LSP_TRY(lsp_pair_meanwhile(ctx, job));
    LSP_TRY(lsp_cuda_read(ctx, &tested, sums + bins + 2, sizeof tested));
    LSP_TRY(lsp_cuda_copy(ctx, counts, LSP_HOST, sums, LSP_CUDA, bins * (int64_t)sizeof *sums));
    job->info.tested = job->info.method != LSP_PAIR_ALL ? (int64_t)tested : lsp_pair_total(job) / job->parts;
    return LSP_OK;
}
