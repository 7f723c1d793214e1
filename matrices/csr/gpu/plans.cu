/* The values of a sum by a plan, on the GPU: a thread for each entry of the result. */
#include "matrices/csr/plans.h"
#include "view.cuh"

static __device__ float term(float factor, const gpu_csr &A, int64_t k) {
    return __fmul_rn(factor, (float)value_at(A, k).re);
}
static __device__ double term(double factor, const gpu_csr &A, int64_t k) {
    return __dmul_rn(factor, value_at(A, k).re);
}

/* alpha and beta are rounded to C's type, as the host rounds them. */
template <typename V> static __global__ void kernel_sum_equal(gpu_csr A, V alpha, gpu_csr B, V beta, V *to, int64_t n) {
    EACH_ITEM(k, n, NT) { to[k] = (V)lsp_settled(term(alpha, A, k) + term(beta, B, k)); }
}

template <typename V>
static __global__ void kernel_sum_sources(gpu_csr A, V alpha, gpu_csr B, V beta, lsp_csr_sources from, V *to,
                                          int64_t n) {
    EACH_ITEM(c, n, NT) {
        const int64_t begin = lsp_place_at(from.starts, from.wide, c),
                      end = lsp_place_at(from.starts, from.wide, c + 1);
        V sum = 0;
        for (int64_t k = begin; k < end; k++) {
            const int64_t p = lsp_place_at(from.sources, from.wide, k);
            const V next = p < from.nnz_a ? term(alpha, A, p) : term(beta, B, p - from.nnz_a);
            sum = k == begin ? next : sum + next;
        }
        to[c] = (V)lsp_settled(sum);
    }
}

static __device__ double part_term(const gpu_csr &A, double alpha, const gpu_csr &B, double beta, int64_t nnz_a,
                                   int64_t p, int part) {
    return p < nnz_a ? __dmul_rn(alpha, part_at(A, p, part)) : __dmul_rn(beta, part_at(B, p - nnz_a, part));
}

/* Complex values: each thread sums one part. from.starts NULL: equal patterns. */
static __global__ void kernel_sum_complex(gpu_csr A, double alpha, gpu_csr B, double beta, lsp_csr_sources from,
                                          double *to, int64_t n) {
    EACH_ITEM(i, 2 * n, NT) {
        const int64_t c = i / 2;
        const int part = (int)(i % 2);
        if (!from.starts) {
            to[i] =
                lsp_settled(part_term(A, alpha, B, beta, n, c, part) + part_term(A, alpha, B, beta, n, n + c, part));
            continue;
        }
        const int64_t begin = lsp_place_at(from.starts, from.wide, c),
                      end = lsp_place_at(from.starts, from.wide, c + 1);
        double sum = 0;
        for (int64_t k = begin; k < end; k++) {
            const double next =
                part_term(A, alpha, B, beta, from.nnz_a, lsp_place_at(from.sources, from.wide, k), part);
            sum = k == begin ? next : sum + next;
        }
        to[i] = lsp_settled(sum);
    }
}

static lsp_status sum_complex(lsp_ctx *ctx, const lsp_csr_sum *u) {
    const int64_t n = u->C->nnz;
    const lsp_csr_sources equal = {};
    return LAUNCH_ITEMS(ctx, kernel_sum_complex, 2 * n, view(u->A), u->alpha, view(u->B), u->beta,
                        u->from ? *u->from : equal, (double *)u->C->val, n);
}

/* Integers, modulo 2^64. from.starts NULL: equal patterns. */
static __global__ void kernel_sum_integers(const ull *a, ull alpha, const ull *b, ull beta, lsp_csr_sources from,
                                           ull *to, int64_t n) {
    EACH_ITEM(c, n, NT) {
        ull sum = from.starts ? 0 : alpha * a[c] + beta * b[c];
        const int64_t end = from.starts ? lsp_place_at(from.starts, from.wide, c + 1) : 0;
        for (int64_t k = from.starts ? lsp_place_at(from.starts, from.wide, c) : 0; k < end; k++) {
            const int64_t p = lsp_place_at(from.sources, from.wide, k);
            sum += p < from.nnz_a ? alpha * a[p] : beta * b[p - from.nnz_a];
        }
        to[c] = sum;
    }
}

static lsp_status sum_integers(lsp_ctx *ctx, const lsp_csr_sum *u) {
    const int64_t n = u->C->nnz;
    const lsp_csr_sources equal = {};
    return LAUNCH_ITEMS(ctx, kernel_sum_integers, n, (const ull *)u->A->val, (ull)(int64_t)u->alpha,
                        (const ull *)u->B->val, (ull)(int64_t)u->beta, u->from ? *u->from : equal, (ull *)u->C->val, n);
}

template <typename V> static lsp_status sum_values(lsp_ctx *ctx, const lsp_csr_sum *u) {
    const int64_t n = u->C->nnz, blocks = blocks_for_items(n);
    const gpu_csr A = view(u->A), B = view(u->B);
    const V alpha = (V)u->alpha, beta = (V)u->beta;
    V *to = (V *)u->C->val;
    return u->from ? LSP_LAUNCH(ctx, kernel_sum_sources<V>, blocks, NT, 0, A, alpha, B, beta, *u->from, to, n)
                   : LSP_LAUNCH(ctx, kernel_sum_equal<V>, blocks, NT, 0, A, alpha, B, beta, to, n);
}

extern "C" lsp_status lsp_csr_sum_values_cuda(lsp_ctx *ctx, const lsp_csr_sum *u) {
    return u->C->val_type == LSP_C64   ? sum_complex(ctx, u)
           : u->C->val_type == LSP_I64 ? sum_integers(ctx, u)
           : u->C->val_type == LSP_F64 ? sum_values<double>(ctx, u)
                                       : sum_values<float>(ctx, u);
}
