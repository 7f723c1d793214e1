/* Values on the GPU: scaled, mapped, multiplied entry by entry; diagonals. The arithmetic is that of the host
 * (values/number.h), so the bits are too. */
#include "matrices/csr/gpu/entries.cuh"
#include "matrices/csr/gpu/kernel_merge.cuh"
#include "matrices/values/values.h"

/* Reads and writes value k of an array of any type; a pattern has ones. */
static __device__ void get(lsp_type type, const void *val, int64_t k, double x[2]) {
    const double *pairs = (const double *)val;
    x[0] = type == LSP_C64 ? pairs[2 * k] : type == LSP_F64 ? pairs[k] : type == LSP_F32 ? ((const float *)val)[k] : 1;
    x[1] = type == LSP_C64 ? pairs[2 * k + 1] : 0;
}
static __device__ void put(lsp_type type, void *val, int64_t k, const double x[2]) {
    double *pairs = (double *)val;
    if (type == LSP_C64) {
        pairs[2 * k] = x[0];
        pairs[2 * k + 1] = x[1];
    } else if (type == LSP_F64) {
        pairs[k] = x[0];
    } else if (type == LSP_F32) {
        ((float *)val)[k] = (float)x[0];
    }
}

/* Value k of an array of LSP_I64, or 1 in a pattern. */
static __device__ ull whole(lsp_type type, const void *val, int64_t k) {
    return type == LSP_NONE ? 1 : ((const ull *)val)[k];
}

static __device__ void put_whole(lsp_type type, void *val, int64_t k, int64_t x) {
    if (type == LSP_I64) {
        ((int64_t *)val)[k] = x;
    } else if (type == LSP_I32) {
        ((int32_t *)val)[k] = (int32_t)x;
    } else {
        ((uint8_t *)val)[k] = x != 0;
    }
}

/* ---- in place ---- */

/* The factor of a row or a column, if there are factors. */
static __device__ int64_t factor_at(const gpu_csr &A, const void *factors, int64_t i) {
    return factors ? whole_at(A.val_type, factors, i) : 1;
}

/* Finds the first entry whose product does not fit. */
static __global__ void kernel_find_product(gpu_csr A, const void *rows, const void *cols, ull *first) {
    EACH_TILE(at, A.nnz) {
        const entry_tile tile = tile_at(A, at);
        for (int64_t k = tile.first + lane_of(); k < tile.end; k += 32) {
            const int64_t row = factor_at(A, rows, row_of(A, k, tile.low, tile.high));
            if (!lsp_scale_fits(A.val_type, row, whole_at(A.val_type, A.val, k), factor_at(A, cols, col_at(A, k)))) {
                lower_to(first, (ull)k);
            }
        }
    }
}

extern "C" lsp_status lsp_csr_scale_wide_cuda(lsp_ctx *ctx, const lsp_csr *A, const void *rows, const void *cols,
                                              int64_t *entry) {
    return find_first(
        ctx, A->nnz,
        [&](ull *first) { return LAUNCH_ITEMS(ctx, kernel_find_product, A->nnz, view(A), rows, cols, first); }, entry);
}

static __global__ void kernel_find_result(gpu_csr A, lsp_function function, double parameter, ull *first) {
    EACH_ITEM(k, A.nnz, NT) {
        if (!lsp_map_fits(A.val_type, function, parameter, whole_at(A.val_type, A.val, k))) {
            lower_to(first, (ull)k);
        }
    }
}

extern "C" lsp_status lsp_csr_apply_wide_cuda(lsp_ctx *ctx, const lsp_csr *A, lsp_function function, double parameter,
                                              int64_t *entry) {
    return find_first(
        ctx, A->nnz,
        [&](ull *first) { return LAUNCH_ITEMS(ctx, kernel_find_result, A->nnz, view(A), function, parameter, first); },
        entry);
}

static __global__ void kernel_scale(gpu_csr A, void *val, const void *rows, const void *cols) {
    EACH_TILE(at, A.nnz) {
        const entry_tile tile = tile_at(A, at);
        for (int64_t k = tile.first + lane_of(); k < tile.end; k += 32) {
            double x[2], factor[2];
            if (is_integer(A.val_type)) {
                const ull row = rows ? (ull)factor_at(A, rows, row_of(A, k, tile.low, tile.high)) : 1;
                const ull product = (ull)whole_at(A.val_type, val, k) * row * (ull)factor_at(A, cols, col_at(A, k));
                put_whole(A.val_type, val, k, (int64_t)product);
                continue;
            }
            get(A.val_type, val, k, x);
            if (rows) {
                get(A.val_type, rows, row_of(A, k, tile.low, tile.high), factor);
                lsp_scale_number(A.val_type, x, factor);
            }
            if (cols) {
                get(A.val_type, cols, col_at(A, k), factor);
                lsp_scale_number(A.val_type, x, factor);
            }
            x[0] = lsp_settled(x[0]);
            x[1] = lsp_settled(x[1]);
            put(A.val_type, val, k, x);
        }
    }
}

extern "C" lsp_status lsp_csr_scale_cuda(lsp_ctx *ctx, lsp_csr *A, const void *rows, const void *cols) {
    return LAUNCH_ITEMS(ctx, kernel_scale, A->nnz, view(A), A->val, rows, cols);
}

static __global__ void kernel_map(lsp_type type, void *val, int64_t n, lsp_function function, double parameter) {
    EACH_ITEM(k, n, NT) {
        double x[2];
        if (is_integer(type)) {
            put_whole(type, val, k, lsp_map_whole(function, parameter, whole_at(type, val, k)));
            continue;
        }
        get(type, val, k, x);
        lsp_map(function, parameter, x, type == LSP_C64);
        x[0] = lsp_settled(x[0]);
        x[1] = lsp_settled(x[1]);
        put(type, val, k, x);
    }
}

extern "C" lsp_status lsp_csr_apply_cuda(lsp_ctx *ctx, lsp_csr *A, lsp_function function, double parameter) {
    return LAUNCH_ITEMS(ctx, kernel_map, A->nnz, A->val_type, A->val, A->nnz, function, parameter);
}

/* ---- the entrywise product ---- */

typedef struct gpu_product {
    lsp_type type; /* of C's values */

    __device__ void operator()(void *val, int64_t to, const gpu_csr &A, int64_t a, const gpu_csr &B, int64_t b) const {
        double x[2], y[2];
        if (type == LSP_I64) {
            ((ull *)val)[to] = whole(A.val_type, A.val, a) * whole(B.val_type, B.val, b);
            return;
        }
        get(A.val_type, A.val, a, x);
        get(B.val_type, B.val, b, y);
        lsp_multiply(x, A.val_type == LSP_C64, y, B.val_type == LSP_C64);
        x[0] = lsp_settled(x[0]);
        x[1] = lsp_settled(x[1]);
        put(type, val, to, x);
    }
} gpu_product;

extern "C" lsp_status lsp_csr_hadamard_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B,
                                            const lsp_csr_types *types, lsp_csr *C, bool *done) {
    return merge_rows(ctx, gpu_merge{view(A), view(B), true}, types, gpu_product{types->val_type}, C, done);
}

/* ---- diagonals ---- */

enum { DIAGONAL_EACH = 4, DIAGONAL_LONG = 8 }; /* entries that a lane loads at a time; so often, before a warp helps */

typedef struct gpu_diagonal {
    gpu_csr A;
    lsp_type type; /* of the results */
    const unsigned *gate;
    void *values;
} gpu_diagonal;

/* Adds the entries of row i in column i, in their order: LANES lanes look at LANES * EACH entries at a time. All groups
 * of a warp call together; those without a row have begin = end. */
template <int LANES, int EACH>
static __device__ void take_row(const gpu_diagonal &d, int64_t i, int64_t begin, int64_t end, bool here) {
    const int lane = (int)threadIdx.x % LANES, shift = lane_of() / LANES * LANES;
    double sum[2] = {0, 0}, x[2];
    ull sum_whole = 0;
    bool first = true;
    for (int64_t base = begin; __any_sync(~0u, base < end); base += LANES * EACH) {
        bool hit[EACH];
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int64_t k = base + e * LANES + lane;
            hit[e] = k < end && col_at(d.A, k) == i;
        }
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            unsigned found = __ballot_sync(~0u, hit[e]) >> shift & (~0u >> (32 - LANES));
            for (; found != 0; found &= found - 1) {
                const int64_t k = base + e * LANES + __ffs((int)found) - 1;
                if (d.type == LSP_I64) {
                    sum_whole += whole(d.type, d.A.val, k);
                    continue;
                }
                get(d.A.val_type, d.A.val, k, x);
                lsp_add_number(d.type, first, sum, x);
                first = false;
            }
        }
    }
    if (lane == 0 && here && d.type == LSP_I64) {
        ((ull *)d.values)[i] = sum_whole;
    } else if (lane == 0 && here) {
        put(d.type, d.values, i, sum);
    }
}

/* LANES lanes take a row; all lanes of their warp one after another of those that are too long for that. */
template <int LANES> static __global__ void __launch_bounds__(NT) kernel_diagonal(gpu_diagonal d, int64_t n) {
    if (d.gate != NULL && *(const volatile unsigned *)d.gate) {
        return;
    }
    const int64_t most = LANES < 32 ? LANES * DIAGONAL_EACH * DIAGONAL_LONG : INT64_MAX;
    const int64_t groups = 32 / LANES, slice = (n + groups - 1) / groups, group = lane_of() / LANES;
    const int64_t shift = group * (slice / 8 * 5 + 1) % max(slice, (int64_t)1);
    EACH_ROW(w, slice) { /* the rows of a warp lie far apart, at unlike places: so they are seldom all long */
        const int64_t i = LANES == 1 ? w * 32 + lane_of() : group * slice + w + shift - (w + shift < slice ? 0 : slice);
        const int64_t begin = i < n ? rowptr_at(d.A, i) : 0, end = i < n ? rowptr_at(d.A, i + 1) : 0;
        const bool long_row = end - begin > most;
        take_row<LANES, DIAGONAL_EACH>(d, i, begin, long_row ? begin : end, i < n && !long_row);
        for (unsigned left = __ballot_sync(~0u, long_row && threadIdx.x % LANES == 0); left != 0; left &= left - 1) {
            const int from = __ffs((int)left) - 1;
            take_row<32, 2 * DIAGONAL_EACH>(d, __shfl_sync(~0u, i, from), __shfl_sync(~0u, begin, from),
                                            __shfl_sync(~0u, end, from), true);
        }
    }
}

extern "C" lsp_status lsp_csr_diagonal_cuda(lsp_ctx *ctx, const lsp_csr *A, const unsigned *gate, void *diagonal) {
    const int64_t n = lsp_min(A->rows, A->cols), mean = A->nnz / lsp_max(A->rows, 1);
    gpu_diagonal d = {};
    d.A = view(A), d.type = A->val_type == LSP_NONE ? LSP_F64 : A->val_type, d.gate = gate, d.values = diagonal;
#define DIAGONAL(lanes) LSP_LAUNCH(ctx, kernel_diagonal<lanes>, lsp_blocks_for(ctx, n, NT / lanes, 32), NT, 0, d, n)
    return mean <= 8 ? DIAGONAL(1) : mean <= 32 ? DIAGONAL(4) : DIAGONAL(32);
#undef DIAGONAL
}

static __global__ void kernel_fill_diagonal(const void *diagonal, lsp_type type, int64_t n, void *rowptr,
                                            bool wide_rowptr, void *col, bool wide_col, void *val) {
    EACH_ITEM(i, n, NT) {
        double x[2] = {1, 0};
        index_set(rowptr, wide_rowptr, i + 1, i + 1);
        index_set(col, wide_col, i, i);
        if (type == LSP_I64) {
            ((int64_t *)val)[i] = diagonal ? ((const int64_t *)diagonal)[i] : 1;
        } else if (type == LSP_I32) {
            ((int32_t *)val)[i] = diagonal ? ((const int32_t *)diagonal)[i] : 1;
        } else if (type == LSP_BOOL) {
            ((uint8_t *)val)[i] = diagonal ? ((const uint8_t *)diagonal)[i] != 0 : 1;
        } else {
            if (diagonal) {
                get(type, diagonal, i, x);
            }
            put(type, val, i, x);
        }
    }
}

extern "C" lsp_status lsp_csr_fill_diagonal_cuda(lsp_ctx *ctx, const void *diagonal, lsp_csr *B) {
    return LAUNCH_ITEMS(ctx, kernel_fill_diagonal, B->nnz, diagonal, B->val_type, B->nnz, B->rowptr,
                        B->rowptr_type == LSP_I64, B->col, B->col_type == LSP_I64, B->val);
}
