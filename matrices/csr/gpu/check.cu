/* Is it a matrix? One read of its row pointers and columns on the GPU says so; only after a fault a second one finds
 * the first fault, and the host words the refusal as it does for its own matrices. Then what flags ask for, each by a
 * search for the first entry at fault. */
#include "entries.cuh"
#include "gpu.h"

enum { CHECK_EACH = 4 }; /* loads of a thread in flight */

/* Zeros at first. `fault` is the gate: not 0 if A is no matrix. */
typedef struct check_state {
    unsigned fault, done; /* done: blocks that ended */
} check_state;

/* What the last block tells the host. */
typedef struct check_note {
    int64_t fault, at[2]; /* the row pointers that were asked for */
} check_note;

/* Is one of this thread's items outside 0 .. limit-1? Whole vectors of 16 bytes are read at once. */
template <typename INDEX, typename VECTOR> static __device__ bool is_outside(const void *items, int64_t n, ull limit) {
    enum { EACH = (int)(sizeof(VECTOR) / sizeof(INDEX)) };
    const INDEX *item = (const INDEX *)items;
    const int64_t skew = (int64_t)((uintptr_t)items % sizeof(VECTOR) / sizeof(INDEX));
    const int64_t head = min(skew > 0 ? EACH - skew : 0, n), vectors = (n - head) / EACH, all = head + vectors * EACH;
    const VECTOR *vector = (const VECTOR *)(item + head);
    INDEX most = 0;
    for (int64_t first = (int64_t)blockIdx.x * NT * CHECK_EACH + threadIdx.x; first < vectors;
         first += (int64_t)gridDim.x * NT * CHECK_EACH) {
        union {
            VECTOR vector;
            INDEX item[EACH];
        } read[CHECK_EACH];
#pragma unroll
        for (int r = 0; r < CHECK_EACH; r++) { /* the last vector in place of those behind it */
            read[r].vector = vector[min(first + r * NT, vectors - 1)];
        }
#pragma unroll
        for (int r = 0; r < CHECK_EACH * EACH; r++) {
            most = max(most, read[r / EACH].item[r % EACH]);
        }
    }
    if (blockIdx.x == 0 && threadIdx.x < EACH) {
        const int64_t k = threadIdx.x;
        most = k < head ? max(most, item[k]) : most;
        most = all + k < n ? max(most, item[all + k]) : most;
    }
    return n > 0 && most >= limit;
}

static __global__ void __launch_bounds__(NT)
    kernel_gate(gpu_csr A, int64_t first, int64_t last, check_state *state, check_note *note) {
    bool fault = A.wide_col ? is_outside<ull, ulonglong2>(A.col, A.nnz, (ull)A.cols)
                            : is_outside<unsigned, uint4>(A.col, A.nnz, (ull)A.cols);
#pragma unroll CHECK_EACH
    EACH_ITEM(i, A.rows, NT) { fault |= rowptr_at(A, i) > rowptr_at(A, i + 1); }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        fault |= rowptr_at(A, 0) != 0 || rowptr_at(A, A.rows) != A.nnz;
    }
    fault = __syncthreads_or(fault) != 0;
    if (threadIdx.x == 0) {
        if (fault) {
            atomicExch(&state->fault, 1u);
        }
        __threadfence();
        if (atomicAdd(&state->done, 1u) == gridDim.x - 1) {
            note->fault = (int64_t)atomicAdd(&state->fault, 0u);
            note->at[0] = rowptr_at(A, first);
            note->at[1] = rowptr_at(A, last);
        }
    }
}

extern "C" lsp_status lsp_csr_check_begin_cuda(lsp_ctx *ctx, const lsp_csr *A, int64_t first, int64_t last,
                                               const unsigned **gate) {
    check_state *state = NULL;
    const int64_t blocks = lsp_blocks_for(ctx, A->nnz / 4 + A->rows, NT * CHECK_EACH, 8);
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &state));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_gate, blocks, NT, 0, view(A), first, last, state, (check_note *)lsp_cuda_note(ctx)));
    LSP_TRY(lsp_cuda_end_note(ctx));
    *gate = &state->fault;
    return LSP_OK;
}

/* ---- the first fault ---- */

/* The first row that ends before its start, the first entry outside; all bits 1 if none. */
typedef struct faults {
    ull row, entry;
    int64_t start, stop;
} faults;

static __global__ void kernel_faults(gpu_csr A, faults *found) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        found->start = rowptr_at(A, 0);
        found->stop = rowptr_at(A, A.rows);
    }
    EACH_ITEM(i, A.rows, NT) {
        if (rowptr_at(A, i) > rowptr_at(A, i + 1)) {
            atomicMin(&found->row, (ull)i);
        }
    }
    EACH_ITEM(k, A.nnz, NT) {
        if (col_at(A, k) < 0 || col_at(A, k) >= A.cols) {
            atomicMin(&found->entry, (ull)k);
        }
    }
}

/* By one thread, after a fault was found. */
static __global__ void kernel_spot(gpu_csr A, int64_t k, lsp_csr_spot *spot) {
    spot->row = row_of(A, k, 0, A.rows - 1);
    spot->col = col_at(A, k);
    spot->whole = value_at(A, k).whole;
}

extern "C" lsp_status lsp_csr_spot_cuda(lsp_ctx *ctx, const lsp_csr *A, int64_t entry, lsp_csr_spot *spot) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_csr_spot *there = NULL;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, 1, &there));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_spot, 1, 1, 0, view(A), entry, there));
    return lsp_cuda_read(ctx, spot, there, sizeof *spot);
}

/* The refusal of row pointers. */
static lsp_status refuse_row(lsp_ctx *ctx, const char *name, const lsp_csr *A, int64_t row) {
    const int64_t bytes = (int64_t)lsp_type_bytes(A->rowptr_type);
    int64_t words[2] = {};
    LSP_TRY(lsp_cuda_read(ctx, words, (const char *)A->rowptr + row * bytes, 2 * bytes));
    return lsp_fail(ctx, LSP_ERR_FORMAT, "%s, row %lld ends at entry %lld, before its start at %lld", name,
                    (long long)row, (long long)lsp_index_at(words, A->rowptr_type, 1),
                    (long long)lsp_index_at(words, A->rowptr_type, 0));
}

/* Names the first fault. */
static lsp_status refuse(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    LSP_SCRATCH_SCOPE(ctx);
    faults *there = NULL, found;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0xFF, 1, &there));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_faults, A->rows + A->nnz, view(A), there));
    LSP_TRY(lsp_cuda_read(ctx, &found, there, sizeof found));
    LSP_REQUIRE(found.start == 0, LSP_ERR_FORMAT, "%s: rowptr[0] is %lld, not 0", name, (long long)found.start);
    LSP_REQUIRE(found.stop == A->nnz, LSP_ERR_FORMAT, "%s: rowptr[%lld] is %lld, but there are %lld entries", name,
                (long long)A->rows, (long long)found.stop, (long long)A->nnz);
    if (found.row != ~0ull) {
        LSP_TRY(refuse_row(ctx, name, A, (int64_t)found.row));
    }
    if (found.entry != ~0ull) {
        lsp_csr_spot spot;
        LSP_TRY(lsp_csr_spot_cuda(ctx, A, (int64_t)found.entry, &spot));
        LSP_REQUIRE(false, LSP_ERR_FORMAT, "%s, row %lld: column %lld is not in 0 .. %lld (indices are from 0)", name,
                    (long long)spot.row, (long long)spot.col, (long long)(A->cols - 1));
    }
    return LSP_OK;
}

extern "C" lsp_status lsp_csr_check_end_cuda(lsp_ctx *ctx, const char *name, const lsp_csr *A, int64_t at[2]) {
    check_note note = {};
    LSP_TRY(lsp_cuda_read_note(ctx, &note, sizeof note));
    LSP_TRY(note.fault != 0 ? refuse(ctx, name, A) : LSP_OK);
    if (at) {
        at[0] = note.at[0], at[1] = note.at[1];
    }
    return LSP_OK;
}

extern "C" lsp_status lsp_csr_check_cuda(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    LSP_SCRATCH_SCOPE(ctx);
    const unsigned *gate;
    LSP_TRY(lsp_csr_check_begin_cuda(ctx, A, 0, 0, &gate));
    return lsp_csr_check_end_cuda(ctx, name, A, NULL);
}

/* ---- what flags ask for ---- */

static __device__ bool is_fall(const gpu_csr &A, bool strictly, int64_t k) {
    const int64_t before = k > 0 ? col_at(A, k - 1) : -1, here = col_at(A, k);
    return before > here || (strictly && before == here);
}

/* *falls = entries within rows whose column is below the one before: all that fall, less the first ones of rows. */
static __global__ void kernel_falls(gpu_csr A, bool strictly, ull *falls) {
    ull mine = 0;
    EACH_ITEM(k, A.nnz, NT) { mine += is_fall(A, strictly, k); }
    EACH_ITEM(i, A.rows, NT) {
        const int64_t k = rowptr_at(A, i);
        mine -= k < rowptr_at(A, i + 1) && is_fall(A, strictly, k);
    }
    mine = warp_sum(mine);
    if (lane_of() == 0) {
        atomicAdd(falls, mine);
    }
}

/* Columns fall where most rows begin, so only there the row of an entry is searched for, and only up to the first entry
 * that was found. */
static __global__ void kernel_unsorted(gpu_csr A, bool strictly, ull *first) {
    EACH_ITEM(k, A.nnz, NT) {
        if (is_fall(A, strictly, k) && (ull)k < *(volatile ull *)first &&
            rowptr_at(A, row_of(A, k, 0, A.rows - 1)) < k) {
            lower_to(first, (ull)k);
        }
    }
}

extern "C" lsp_status lsp_csr_find_unsorted_cuda(lsp_ctx *ctx, const lsp_csr *A, bool strictly, int64_t *row) {
    LSP_SCRATCH_SCOPE(ctx);
    int64_t entry = 0;
    ull *there = NULL, falls = 0;
    lsp_csr_spot spot = {};
    const auto launch = [&](ull *first) {
        return LAUNCH_ITEMS(ctx, kernel_unsorted, A->nnz, view(A), strictly, first);
    };
    *row = A->rows;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &there));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_falls, lsp_blocks_for(ctx, A->rows + A->nnz, NT * 8, 8), NT, 0, view(A), strictly,
                       there));
    LSP_TRY(lsp_cuda_read(ctx, &falls, there, sizeof falls));
    if (falls != 0) {
        LSP_TRY(find_first(ctx, A->nnz, launch, &entry));
        LSP_TRY(lsp_csr_spot_cuda(ctx, A, entry, &spot));
        *row = spot.row;
    }
    return LSP_OK;
}
