/* The rules of the set-up on a GPU: a thread takes a row; a block LSP_SUM_LANES rows, or with sums a piece of them. */
#include "core/launch.cuh"
#include "solve/multigrid/rules.h"
#include <cuda_pipeline_primitives.h>

#define LSP_CASE(rule)                                                                                                 \
    case LSP_RULE_##rule:                                                                                              \
        return lsp_rule_##rule(&s, rows, cols, vals, i);

/* USUAL: int32 indices and f64 values, so that the types are constants. */
template <int RULE, bool USUAL> static __device__ inline lsp_two rule_of(const lsp_setup &s, int64_t i) {
    const lsp_type rows = USUAL ? LSP_I32 : s.A.rowptr_type, cols = USUAL ? LSP_I32 : s.A.col_type;
    const lsp_type vals = USUAL ? LSP_F64 : s.A.val_type;
    switch (RULE) { LSP_EACH_RULE(LSP_CASE) }
    return lsp_two{0, 0};
}

/* Rules that read every entry of their row. One thread reads a row, so a warp would touch a line for each of its rows
 * at every step: the block brings the entries of its rows to shared memory first. Rules that often stop early do not.
 */
static LSP_BOTH_SIDES constexpr bool reads_whole_rows(int rule) {
    return rule == LSP_RULE_WEIGH || rule == LSP_RULE_KRYLOV || rule == LSP_RULE_STRONG || rule == LSP_RULE_JOIN;
}

/* `count` items of `bytes` bytes from number `first` on go to `to`. Returns where number 0 would lie. */
static __device__ const void *bring(char *to, const void *from, int64_t first, int64_t count, int bytes) {
    for (int64_t i = threadIdx.x; i < count; i += LSP_SUM_LANES) {
        if (bytes == 4) {
            __pipeline_memcpy_async(to + i * 4, (const char *)from + (first + i) * 4, 4);
        } else {
            __pipeline_memcpy_async(to + i * 8, (const char *)from + (first + i) * 8, 8);
        }
    }
    return (const void *)((uintptr_t)to - (uintptr_t)(first * bytes));
}

static LSP_BOTH_SIDES int bytes_of(lsp_type type) { return type == LSP_I32 || type == LSP_F32 ? 4 : 8; }
static LSP_BOTH_SIDES int entry_bytes(const lsp_csr *A) {
    return bytes_of(A->col_type) + (A->val_type != LSP_NONE ? bytes_of(A->val_type) : 0);
}

/* s->A: A with the entries of rows begin .. end - 1 in `room` bytes at `to`, or A itself if they do not fit. */
template <bool USUAL>
static __device__ void stage_rows(lsp_setup *s, const lsp_csr &A, int64_t begin, int64_t end, char *to, int64_t room) {
    const lsp_type rows = USUAL ? LSP_I32 : A.rowptr_type;
    const int64_t first = lsp_index_at(A.rowptr, rows, begin), count = lsp_index_at(A.rowptr, rows, end) - first;
    s->A = A;
    if (count * entry_bytes(&A) <= room) {
        __syncthreads(); /* the rows before have been read */
        if (USUAL || A.val_type != LSP_NONE) {
            const int bytes = USUAL ? 8 : bytes_of(A.val_type);
            s->A.val = (void *)bring(to, A.val, first, count, bytes);
            to += count * bytes;
        }
        s->A.col = (void *)bring(to, A.col, first, count, USUAL ? 4 : bytes_of(A.col_type));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
    }
}

template <int RULE, bool USUAL>
static __global__ void __launch_bounds__(LSP_SUM_LANES)
    kernel_rule(lsp_setup s, int64_t n, lsp_two *sums, int64_t room) {
    __shared__ lsp_two lane[LSP_SUM_LANES];
    LSP_DYNAMIC_SHARED(staged);
    const lsp_csr A = s.A;
    const int t = (int)threadIdx.x;
    const int64_t rows = sums != NULL ? LSP_SUM_ROWS : LSP_SUM_LANES;
    for (int64_t piece = blockIdx.x; piece * rows < n; piece += gridDim.x) {
        lsp_two sum = {0, 0};
        for (int64_t begin = piece * rows, end = begin + rows < n ? begin + rows : n; begin < end;
             begin += LSP_SUM_LANES) {
            const int64_t i = begin + t, behind = begin + LSP_SUM_LANES;
            if (reads_whole_rows(RULE)) {
                stage_rows<USUAL>(&s, A, begin, behind < end ? behind : end, staged, room);
            }
            if (i < end) {
                const lsp_two two = rule_of<RULE, USUAL>(s, i);
                sum.a += two.a;
                sum.b += two.b;
            }
        }
        if (sums != NULL) {
            lane[t] = sum;
            for (int half = LSP_SUM_LANES / 2; half > 0; half /= 2) {
                __syncthreads();
                if (t < half) {
                    lane[t].a += lane[t + half].a;
                    lane[t].b += lane[t + half].b;
                }
            }
            if (t == 0) {
                sums[piece] = lane[0];
            }
            __syncthreads();
        }
    }
}

/* Shared memory for the entries of a block's rows, a tenth more than their mean; 0: too many, so none. */
static int64_t room_for(lsp_ctx *ctx, const lsp_csr *A) {
    const int64_t most = lsp_min(96 << 10, lsp_cuda_get_chip(ctx)->shared_block_bytes - (8 << 10));
    const int64_t mean = A->rows > 0 ? A->nnz / A->rows + 1 : 0, room = (mean + mean / 10 + 1) * LSP_SUM_LANES;
    return mean <= most / LSP_SUM_LANES / entry_bytes(A) ? lsp_min(room * entry_bytes(A), most) : 0;
}

template <int RULE>
static lsp_status start(lsp_ctx *ctx, const lsp_setup *s, int64_t n, int64_t blocks, lsp_two *sums) {
    const int64_t room = reads_whole_rows(RULE) ? room_for(ctx, &s->A) : 0;
    const bool usual = s->A.rowptr_type == LSP_I32 && s->A.col_type == LSP_I32 && s->A.val_type == LSP_F64;
    void (*const kernel)(lsp_setup, int64_t, lsp_two *, int64_t) =
        usual ? kernel_rule<RULE, true> : kernel_rule<RULE, false>;
    LSP_TRY(lsp_allow_shared(ctx, kernel, (size_t)room));
    return LSP_LAUNCH(ctx, kernel, blocks, LSP_SUM_LANES, (size_t)room, *s, n, sums, room);
}

#define LSP_START(rule)                                                                                                \
    case LSP_RULE_##rule:                                                                                              \
        return start<LSP_RULE_##rule>(ctx, s, n, blocks, sums);

extern "C" lsp_status lsp_setup_cuda(lsp_ctx *ctx, lsp_setup_rule rule, const lsp_setup *s, int64_t n, lsp_two *sums) {
    const int64_t blocks = lsp_min(lsp_ceil_div(n, sums != NULL ? LSP_SUM_ROWS : LSP_SUM_LANES), INT32_MAX);
    if (n == 0) {
        return LSP_OK;
    }
    switch (rule) { LSP_EACH_RULE(LSP_START) }
    return LSP_OK;
}
