/* Starts the kernel of products in one pass for one type of values: one_pass.cu for sums of real values and patterns,
 * one_pass_more.cu for the others. */
#ifndef LSP_SPGEMM_GPU_ONE_PASS_CUH
#define LSP_SPGEMM_GPU_ONE_PASS_CUH

#include "kernel_one_pass.cuh"
#include "launch.cuh"

/* Tuned on an H100 with sparse-bench spgemm. MANY: rows have ONE_PASS_MANY products or more. Then values are `kept` in
 * registers. `ahead` entries of A are loaded together, and `each` of their rows of B. At least `blocks` blocks must fit
 * a multiprocessor: this bounds the registers, which decide how fast the kernel is. */
enum { ONE_PASS_MANY = 16 };
template <int MOST, bool MANY> struct one_pass_shape {
    enum { most = MOST, kept = MANY, nt = 128, ahead = 5, each = 1, blocks = MANY ? 1 : 8 };
};
template <> struct one_pass_shape<8, true> {
    enum { most = 8, kept = true, nt = 256, ahead = 9, each = 1, blocks = 2 };
};
template <> struct one_pass_shape<12, true> {
    enum { most = 12, kept = true, nt = 64, ahead = 4, each = 4, blocks = 1 };
};
/* For values of 16 bytes. */
template <int MOST> struct one_pass_wide_shape {
    enum { most = MOST, kept = false, nt = 64, ahead = 2, each = 1, blocks = 8 };
};

enum { ONE_PASS_LEAST_NT = 64 };

/* How C is made: lists of `most` columns at least; products of a row on average. */
typedef struct one_pass_way {
    int most;
    double products;
} one_pass_way;
lsp_status spg_one_pass_more(const lsp_spgemm_plan *plan, const spg_job *job, const one_pass_job *to, one_pass_way way);

template <typename V, typename SHAPE>
static lsp_status start_one_pass(lsp_ctx *ctx, const spg_job *job, const one_pass_job *to) {
    lsp_status status = LSP_OK;
    const size_t bytes = sizeof(tile_memory<V, SHAPE>);
    LSP_TRY(lsp_allow_shared(ctx, kernel_one_pass<V, SHAPE>, bytes));
    /* not beside the check of B, which leaves multiprocessors with too little shared memory */
    LSP_TRY(LSP_LAUNCH(ctx, (kernel_one_pass<V, SHAPE>), lsp_ceil_div(job->A.rows, SHAPE::nt), SHAPE::nt, bytes, *job,
                       *to));
done:
    return status;
}

template <typename V>
static lsp_status one_pass_of(lsp_ctx *ctx, const spg_job *job, const one_pass_job *to, one_pass_way way) {
    if constexpr (sizeof(V) > 8) {
#define START(MOST) start_one_pass<V, one_pass_wide_shape<MOST>>(ctx, job, to)
        return way.most <= 4 ? START(4) : way.most <= 12 ? START(12) : START(24);
#undef START
    } else {
#define START(MOST, MANY) start_one_pass<V, one_pass_shape<MOST, MANY>>(ctx, job, to)
        return way.most <= 4                                   ? START(4, false)
               : way.most <= 8 && way.products < ONE_PASS_MANY ? START(8, false)
               : way.most <= 8                                 ? START(8, true)
               : way.most <= 12                                ? START(12, true)
                                                               : START(24, true);
#undef START
    }
}

#endif
