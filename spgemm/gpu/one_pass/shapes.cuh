/* Starts the kernel of products in one pass for one type of values: one_pass.cu for sums of real values and patterns,
 * other_types.cu for the others. */
#pragma once

#include "kernel_rows.cuh"
#include "spgemm/gpu/launch.cuh"

/* Tuned on an H100 with sparse-bench spgemm. MANY: rows have ONE_PASS_MANY products or more. Then values are `kept` in
 * registers. `ahead` entries of A are loaded together. At least `blocks` blocks must fit a multiprocessor: this bounds
 * the registers, which decide how fast the kernel is. Large blocks wait less often for the tiles before theirs; blocks
 * that `overlap` tiles hardly wait, but need twice the shared memory, which L1 then lacks: values of 8 bytes gain,
 * those of 4 lose. */
enum { ONE_PASS_MANY = 16, ONE_PASS_LARGE = 1 << 18 /* rows that fill the GPU with large blocks */ };
template <int MOST, bool MANY, bool LARGE, bool OVERLAP> struct one_pass_shape {
    enum { most = MOST, kept = false, nt = LARGE ? 512 : 128, ahead = 5, blocks = 1024 / nt, overlap = false };
};
template <bool LARGE> struct one_pass_shape<4, false, LARGE, true> {
    enum { most = 4, kept = false, nt = 64, ahead = 5, blocks = 16, overlap = true };
};
template <bool LARGE, bool OVERLAP> struct one_pass_shape<8, true, LARGE, OVERLAP> {
    enum { most = 8, kept = true, nt = 256, ahead = 9, blocks = 2, overlap = OVERLAP };
};
template <bool LARGE, bool OVERLAP> struct one_pass_shape<12, true, LARGE, OVERLAP> {
    enum { most = 12, kept = true, nt = LARGE ? 256 : 64, ahead = 8, blocks = 512 / nt, overlap = false };
};
template <bool LARGE, bool OVERLAP> struct one_pass_shape<24, true, LARGE, OVERLAP> {
    enum { most = 24, kept = true, nt = 128, ahead = 9, blocks = 3, overlap = false };
};
template <bool LARGE, bool OVERLAP> struct one_pass_shape<32, true, LARGE, OVERLAP> {
    enum { most = 32, kept = true, nt = 128, ahead = 9, blocks = 3, overlap = false };
};
/* For values of 16 bytes. */
template <int MOST> struct one_pass_wide_shape {
    enum { most = MOST, kept = false, nt = 64, ahead = 2, blocks = 8, overlap = false };
};

enum { ONE_PASS_LEAST_NT = 64 };

/* How C is made: lists of `most` columns at least; products of a row on average. */
typedef struct one_pass_way {
    int most;
    double products;
} one_pass_way;

template <typename V, typename SHAPE>
static lsp_status start_one_pass(lsp_ctx *ctx, const spg_job *job, const one_pass_job *to) {
    const size_t bytes = sizeof(tile_memory<V, SHAPE>) * (SHAPE::overlap ? 2 : 1);
    const int64_t tiles = lsp_ceil_div(job->A.rows, SHAPE::nt);
    const int64_t blocks = SHAPE::overlap ? lsp_min(tiles, SHAPE::blocks * chip_sms(ctx)) : tiles;
    one_pass_job with = *to;
    with.count = (uint32_t)tiles;
    with.b_rows = (uint32_t)lsp_ceil_div(job->B.rows, tiles);
    with.b_entries = (uint32_t)lsp_ceil_div(job->B.nnz, tiles);
    LSP_TRY(lsp_allow_shared(ctx, kernel_one_pass<V, SHAPE>, bytes));
    return LSP_LAUNCH(ctx, (kernel_one_pass<V, SHAPE>), blocks, SHAPE::nt, bytes, *job, with);
}

template <typename V>
lsp_status spg_one_pass(lsp_ctx *ctx, const spg_job *job, const one_pass_job *to, one_pass_way way) {
    if constexpr (sizeof(V) > 8) {
#define START(MOST) start_one_pass<V, one_pass_wide_shape<MOST>>(ctx, job, to)
        return way.most <= 4 ? START(4) : way.most <= 12 ? START(12) : way.most <= 24 ? START(24) : START(32);
#undef START
    } else {
        const bool large = job->A.rows >= ONE_PASS_LARGE;
#define SHAPE(MOST, MANY, LARGE) start_one_pass<V, one_pass_shape<MOST, MANY, LARGE, sizeof(V) == 8>>(ctx, job, to)
#define START(MOST, MANY) (large ? SHAPE(MOST, MANY, true) : SHAPE(MOST, MANY, false))
        return way.most <= 4                                   ? START(4, false)
               : way.most <= 8 && way.products < ONE_PASS_MANY ? START(8, false)
               : way.most <= 8                                 ? SHAPE(8, true, true)
               : way.most <= 12                                ? START(12, true)
               : way.most <= 24                                ? SHAPE(24, true, true)
                                                               : SHAPE(32, true, true);
#undef SHAPE
#undef START
    }
}

#define ONE_PASS_OF(V) lsp_status spg_one_pass<V>(lsp_ctx *, const spg_job *, const one_pass_job *, one_pass_way)
#define MADE_ELSEWHERE(V) extern template ONE_PASS_OF(V);
SPG_EACH_OTHER_TYPE(MADE_ELSEWHERE)
