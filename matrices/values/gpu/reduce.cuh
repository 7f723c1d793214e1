/* Lists of values reduced on the GPU, joined in the order of the host (values/number.h): what lists of rows and lists
 * of columns share. 1, 4 or 32 lanes join a list. */
#pragma once

#include "matrices/csr/gpu/entries.cuh"
#include "matrices/gpu/gpu.h"
#include "matrices/values/number.h"

/* Terms: of a lane alone; of 4 lanes; in a row that is not queued; loaded at a time, and at the end of a list. */
enum { FEW = 8, FEW_BY_FOUR = 64, LONG = 512, FLIGHT = 8, LAST_FLIGHT = 4 };

/* A piece of a row; the sums of its pieces are joined[first], joined[first + 1], ... */
typedef struct row_piece {
    int64_t row, first;
} row_piece;

typedef struct gpu_queue {
    ull pieces, heads; /* how many; heads are rows of more than one piece */
} gpu_queue;

typedef struct gpu_reducing {
    gpu_csr A;
    lsp_reduction reduction;
    lsp_type type;        /* of the results */
    bool all;             /* one list of all entries, in place of the rows */
    const unsigned *gate; /* not 0: A is no matrix; NULL: it was checked */
    void *results;
    gpu_queue *queue;
    row_piece *pieces, *heads;
    void *joined[2]; /* of each piece: both parts */
} gpu_reducing;

/* The terms of a list and how they are joined: numbers of any type; doubles, whose type and join are not looked up for
 * each term; integers, whose order does not matter. */
struct any_numbers {
    typedef double number;
    static __device__ number none(lsp_reduction r) { return lsp_reduce_none(r); }
    static __device__ number join(lsp_reduction r, number a, number b) {
        return lsp_reduce_join(lsp_takes_largest(r), a, b);
    }
    static __device__ number term(const gpu_csr &A, lsp_reduction r, int part, int64_t k) {
        const lsp_value value = value_at(A, k);
        return part == 1 ? value.im : lsp_reduce_term(r, value.re, value.im, A.val_type == LSP_C64);
    }
    static __device__ void put(const gpu_reducing &r, int64_t i, int64_t n, number re, number im) {
        const double x = lsp_reduce_result(r.reduction, n, re);
        if (r.type == LSP_C64) {
            ((double *)r.results)[2 * i] = x;
            ((double *)r.results)[2 * i + 1] = lsp_reduce_result(r.reduction, n, im);
        } else if (r.type == LSP_F64) {
            ((double *)r.results)[i] = x;
        } else {
            ((float *)r.results)[i] = (float)x;
        }
    }
};
template <bool LARGEST> struct doubles : any_numbers {
    static __device__ number join(lsp_reduction, number a, number b) { return lsp_reduce_join(LARGEST, a, b); }
    static __device__ number term(const gpu_csr &A, lsp_reduction r, int, int64_t k) {
        const double x = ((const double *)A.val)[k];
        return LARGEST                 ? lsp_settled(r == LSP_REDUCE_MIN   ? -x
                                                     : r == LSP_REDUCE_MAX ? x
                                                                           : fabs(x))
               : r == LSP_REDUCE_SUM   ? x
               : r == LSP_REDUCE_NORM1 ? lsp_settled(fabs(x))
                                       : x * x;
    }
};
struct whole_numbers {
    typedef long long number;
    static __device__ number none(lsp_reduction r) { return lsp_none_whole(r); }
    static __device__ number join(lsp_reduction r, number a, number b) { return lsp_join_whole(r, a, b); }
    static __device__ number term(const gpu_csr &A, lsp_reduction, int, int64_t k) { return value_at(A, k).whole; }
    static __device__ void put(const gpu_reducing &r, int64_t i, int64_t, number x, number) {
        ((int64_t *)r.results)[i] = x;
    }
};

/* Joins n terms by all lanes of a warp; lane 0 has the result. */
template <typename T, typename J, typename TERM>
static __device__ T join_by_warp(lsp_reduction reduction, int64_t n, TERM term) {
    T joined = J::none(reduction);
    int64_t k = lane_of();
    for (; k + (FLIGHT - 1) * 32 < n; k += FLIGHT * 32) {
        T terms[FLIGHT];
#pragma unroll
        for (int f = 0; f < FLIGHT; f++) {
            terms[f] = term(k + f * 32);
        }
#pragma unroll
        for (int f = 0; f < FLIGHT; f++) {
            joined = J::join(reduction, joined, terms[f]);
        }
    }
    for (; k < n; k += LAST_FLIGHT * 32) {
        T terms[LAST_FLIGHT];
#pragma unroll
        for (int f = 0; f < LAST_FLIGHT; f++) {
            terms[f] = k + f * 32 < n ? term(k + f * 32) : joined;
        }
#pragma unroll
        for (int f = 0; f < LAST_FLIGHT; f++) {
            joined = k + f * 32 < n ? J::join(reduction, joined, terms[f]) : joined;
        }
    }
#pragma unroll
    for (int half = 16; half > 0; half /= 2) {
        joined = J::join(reduction, joined, __shfl_down_sync(~0u, joined, half));
    }
    return joined;
}

/* Joins n terms by LANES lanes of 1, 4 or 32; their first one has the result. A lane alone takes up to FEW terms; 4
 * hold the 32 partial results of a list, 8 in each. */
template <typename J, int LANES>
static __device__ typename J::number join_by_lanes(const gpu_reducing &r, int part, int64_t begin, int64_t n) {
    typedef typename J::number number;
    if constexpr (LANES == 32) {
        return join_by_warp<number, J>(r.reduction, n,
                                       [&](int64_t k) { return J::term(r.A, r.reduction, part, begin + k); });
    } else {
        const int lane = (int)threadIdx.x % LANES;
        number held[FEW];
#pragma unroll
        for (int h = 0; h < FEW; h++) {
            const int64_t k = lane + h * LANES;
            held[h] = k < n ? J::term(r.A, r.reduction, part, begin + k) : J::none(r.reduction);
        }
        for (int64_t first = 32; LANES == 4 && first < n; first += 32) {
#pragma unroll
            for (int h = 0; h < FEW; h++) {
                const int64_t k = first + lane + h * LANES;
                held[h] = k < n ? J::join(r.reduction, held[h], J::term(r.A, r.reduction, part, begin + k)) : held[h];
            }
        }
#pragma unroll
        for (int half = FEW / 2; half > 0; half /= 2) {
#pragma unroll
            for (int h = 0; h < half; h++) {
                held[h] = J::join(r.reduction, held[h], held[h + half]);
            }
        }
#pragma unroll
        for (int half = LANES / 2; half > 0; half /= 2) {
            held[0] = J::join(r.reduction, held[0], __shfl_down_sync(~0u, held[0], half, LANES));
        }
        return held[0];
    }
}

static inline __device__ int64_t pieces_of(int64_t n) { return n <= LSP_LIST_PIECE ? 1 : (n - 1) / LSP_LIST_PIECE + 1; }

static inline gpu_reducing reducing_of(const lsp_csr *A, lsp_reduction reduction, void *results) {
    gpu_reducing r = {};
    r.A = view(A), r.reduction = reduction, r.results = results;
    r.type = lsp_reduce_type(A->val_type, reduction);
    return r;
}

/* The rows of r.A, or all its entries. */
lsp_status lsp_reduce_lists(lsp_ctx *ctx, const gpu_reducing &r);
