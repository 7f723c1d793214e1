/* Rows and columns by lists on the GPU. Entry e of the wanted rows, taken one after the other, is copied from its
 * source in A. With a list that names no column twice it stays if a bit of its column is set, and an array holds the
 * place of its column; otherwise it becomes as many entries as its column has places in the list. */
#include "core/scan.h"
#include "gpu.h"
#include "words.cuh"

/* ---- lists ---- */

static __global__ void kernel_outside(const void *list, bool wide, int64_t count, int64_t n, ull *first) {
    EACH_ITEM(k, count, NT) {
        if ((ull)index_at(list, wide, k) >= (ull)n) {
            atomicMin(first, (ull)k);
        }
    }
}

extern "C" lsp_status lsp_list_outside_cuda(lsp_ctx *ctx, const lsp_index_list *list, int64_t n, int64_t *first,
                                            int64_t *index) {
    const auto launch = [&](ull *there) {
        return LAUNCH_ITEMS(ctx, kernel_outside, list->count, list->list, list->type == LSP_I64, list->count, n, there);
    };
    const lsp_status status = find_first(ctx, list->count, launch, first);
    return status != LSP_OK || *first == list->count ? status
                                                     : lsp_cuda_read_index(ctx, list->list, list->type, *first, index);
}

/* ---- entries of the wanted rows ---- */

typedef struct gpu_wanted {
    gpu_csr A, P;
    gpu_csr G; /* row pointers of the wanted rows among their entries; it has no other arrays */
    const void *rows;
    bool wide;
    int value_bytes;
} gpu_wanted;

/* starts[i + 1] = the entries of the i-th wanted row. */
static __global__ void kernel_lengths(gpu_wanted w, int64_t *starts) {
    EACH_ITEM(i, w.G.rows + 1, NT) {
        const int64_t row = i > 0 ? index_at(w.rows, w.wide, i - 1) : 0;
        starts[i] = i > 0 ? rowptr_at(w.A, row + 1) - rowptr_at(w.A, row) : 0;
    }
}

static __global__ void kernel_total(const int64_t *counts, int64_t n, lsp_wide_sum *sum) {
    ull low = 0, high = 0;
    EACH_ITEM(i, n, NT) {
        low += (ull)counts[i] & ((1ull << LSP_WIDE_BITS) - 1);
        high += (ull)counts[i] >> LSP_WIDE_BITS;
    }
    low = warp_sum(low);
    high = warp_sum(high);
    if (lane_of() == 0 && (low | high) != 0) {
        atomicAdd((ull *)&sum->low, low);
        atomicAdd((ull *)&sum->high, high);
    }
}

/* Replaces counts[0 .. n-1], each of them at most `most`, by their prefix sums, if these can be addressed. Waits. */
static lsp_status add_up(lsp_ctx *ctx, const lsp_selection *wanted, int64_t *counts, int64_t n, int64_t most,
                         int64_t *total) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_wide_sum *there = NULL, sum = {};
    if ((double)n * (double)most < 1e18) { /* below 2^62 */
        return lsp_cuda_scan(ctx, counts, n, total);
    }
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &there));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_total, n, counts, n, there));
    LSP_TRY(lsp_cuda_read(ctx, &sum, there, sizeof sum));
    LSP_TRY(lsp_check_total(ctx, &sum, wanted->row_count, wanted->col_count));
    return lsp_cuda_scan(ctx, counts, n, total);
}

/* Where entry e of the wanted rows comes from in A. */
static __device__ int64_t source_of(const gpu_wanted &w, const tile_rows &rows, int64_t e) {
    if (!w.rows) {
        return e;
    }
    const int64_t i = row_in(w.G, rows, e);
    return rowptr_at(w.A, index_at(w.rows, w.wide, i)) + e - rowptr_at(w.G, i);
}
static __device__ tile_rows rows_of(const gpu_wanted &w, int64_t first, uint16_t (&spread)[ENTRY_TILE]) {
    tile_rows rows = {};
    return w.rows ? rows_of_tile(w.G, first, spread) : rows;
}

/* ---- without a list of columns ---- */

/* offsets NULL: the starts themselves are the row pointers. */
static __global__ void kernel_rowptr(gpu_wanted w, const int64_t *offsets, void *rowptr, bool wide) {
    EACH_ITEM(i, w.G.rows + 1, NT) {
        const int64_t start = rowptr_at(w.G, i);
        index_set(rowptr, wide, i, offsets ? offsets[start] : start);
    }
}

static __global__ void kernel_copy(gpu_wanted w, gpu_csr B) {
    __shared__ uint16_t spread[WARPS][ENTRY_TILE];
    EACH_TILE(at, w.G.nnz) {
        const tile_rows rows = rows_of(w, at, spread[threadIdx.x / 32]);
        EACH_WORD(word, at, w.G.nnz) {
            const int64_t e = word + lane_of();
            if (e < w.G.nnz) {
                const int64_t k = source_of(w, rows, e);
                index_set((void *)B.col, B.wide_col, e, col_at(w.A, k));
                move_value((void *)B.val, e, w.A.val, k, w.value_bytes);
            }
        }
    }
}

/* ---- with a list of columns, none of them twice ---- */

/* The list inverted. place[] is in the type of the list, and set where the bit is. */
typedef struct gpu_inverse {
    const void *list;
    int64_t count;
    bool wide;
    unsigned *bits; /* of the columns */
    void *place;
} gpu_inverse;

typedef struct inverse_facts {
    int64_t nnz; /* of B */
    unsigned found;
} inverse_facts;

static __global__ void kernel_invert(gpu_inverse v, inverse_facts *facts) {
    bool twice = false, falls = false;
    EACH_ITEM(p, v.count, NT) {
        const int64_t column = index_at(v.list, v.wide, p);
        const unsigned bit = 1u << column % WORD;
        twice |= (atomicOr(&v.bits[column / WORD], bit) & bit) != 0;
        falls |= p > 0 && index_at(v.list, v.wide, p - 1) > column;
        index_set(v.place, v.wide, column, p);
    }
    const unsigned found = (__syncthreads_or(twice) ? (unsigned)LSP_LIST_TWICE : 0) |
                           (__syncthreads_or(falls) ? (unsigned)LSP_LIST_FALLS : 0);
    if (threadIdx.x == 0 && found != 0) {
        atomicOr(&facts->found, found);
    }
}

enum { TILE_WORDS = ENTRY_TILE / WORD };

/* Loads all columns of a tile before it asks for their bits. */
static __global__ void kernel_mark_columns(gpu_wanted w, gpu_inverse v, gpu_marks m) {
    __shared__ uint16_t spread[WARPS][ENTRY_TILE];
    EACH_TILE(at, w.G.nnz) {
        const tile_rows rows = rows_of(w, at, spread[threadIdx.x / 32]);
        int64_t column[TILE_WORDS];
        bool stays[TILE_WORDS];
#pragma unroll
        for (int i = 0; i < TILE_WORDS; i++) {
            const int64_t e = at + i * WORD + lane_of();
            column[i] = e < w.G.nnz ? col_at(w.A, source_of(w, rows, e)) : -1;
        }
#pragma unroll
        for (int i = 0; i < TILE_WORDS; i++) {
            stays[i] = column[i] >= 0 && (v.bits[column[i] / WORD] >> column[i] % WORD & 1) != 0;
        }
#pragma unroll
        for (int i = 0; i < TILE_WORDS; i++) {
            if (at + i * WORD < w.G.nnz) {
                mark_word(m, at + i * WORD, stays[i]);
            }
        }
    }
}

static __global__ void kernel_take_columns(gpu_wanted w, gpu_inverse v, gpu_marks m, gpu_csr B) {
    __shared__ uint16_t spread[WARPS][ENTRY_TILE];
    EACH_TILE(at, w.G.nnz) {
        const tile_rows rows = rows_of(w, at, spread[threadIdx.x / 32]);
        int64_t column[TILE_WORDS];
#pragma unroll
        for (int i = 0; i < TILE_WORDS; i++) {
            const int64_t e = at + i * WORD + lane_of();
            const bool stays = e < w.G.nnz && is_marked(m, e);
            column[i] = stays ? col_at(w.A, source_of(w, rows, e)) : -1;
        }
#pragma unroll
        for (int i = 0; i < TILE_WORDS; i++) {
            column[i] = column[i] >= 0 ? index_at(v.place, v.wide, column[i]) : -1;
        }
#pragma unroll
        for (int i = 0; i < TILE_WORDS; i++) {
            const int64_t e = at + i * WORD + lane_of();
            if (column[i] >= 0) {
                const int64_t to = place_of(m, e);
                index_set((void *)B.col, B.wide_col, to, column[i]);
                move_value((void *)B.val, to, w.A.val, source_of(w, rows, e), w.value_bytes);
            }
        }
    }
}

/* *found as the list is; unless a column comes twice, B = the wanted entries, in the order of A. */
static lsp_status extract_once(lsp_ctx *ctx, const lsp_csr *A, const lsp_selection *wanted, const gpu_wanted *w,
                               unsigned *found, lsp_csr *B) {
    const int64_t words = lsp_ceil_div(A->cols, WORD);
    inverse_facts *there = NULL, facts = {};
    lsp_csr_types types = {};
    gpu_inverse v = {};
    gpu_marks m = {};
    v.list = wanted->cols, v.count = wanted->col_count, v.wide = wanted->cols_type == LSP_I64;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &there));
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, words, &v.bits));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->cols, lsp_type_bytes(wanted->cols_type), &v.place));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_invert, v.count, v, there));
    LSP_TRY(make_marks(ctx, w->G.nnz, &m));
    LSP_TRY(LAUNCH_TILES(ctx, kernel_mark_columns, w->G.nnz, *w, v, m));
    LSP_TRY(lsp_cuda_scan_async(ctx, m.counts, m.words + 1, &there->nnz));
    LSP_TRY(lsp_cuda_read(ctx, &facts, there, sizeof facts));
    *found = facts.found;
    if (*found & LSP_LIST_TWICE) {
        return LSP_OK;
    }
    types = lsp_types_like(A, wanted->col_count, facts.nnz);
    LSP_TRY(lsp_csr_create(ctx, w->G.rows, wanted->col_count, facts.nnz, &types, B));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_marked_starts, w->G.rows + 1, w->G, m, B->rowptr, B->rowptr_type == LSP_I64));
    return LAUNCH_TILES(ctx, kernel_take_columns, w->G.nnz, *w, v, m, view(B));
}

/* ---- with a list that names columns twice ---- */

/* offsets[e + 1] = the places of entry e. */
static __global__ void kernel_places(gpu_wanted w, int64_t *offsets) {
    __shared__ uint16_t spread[WARPS][ENTRY_TILE];
    EACH_TILE(at, w.G.nnz) {
        const tile_rows rows = rows_of(w, at, spread[threadIdx.x / 32]);
        EACH_WORD(word, at, w.G.nnz) {
            const int64_t e = word + lane_of();
            if (e < w.G.nnz) {
                const int64_t column = col_at(w.A, source_of(w, rows, e));
                offsets[e + 1] = rowptr_at(w.P, column + 1) - rowptr_at(w.P, column);
            }
        }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        offsets[0] = 0;
    }
}

/* Writes the places of the 32 entries of a word, whose first places in B are `to` in the lanes. All lanes write,
 * however the places are spread over the entries. */
static __device__ void expand_word(const gpu_wanted &w, gpu_csr B, int64_t k, int64_t place, int64_t to, int64_t end) {
    for (int64_t at = __shfl_sync(~0u, to, 0) + lane_of(); at - lane_of() < end; at += WORD) {
        int from = 0; /* the last lane that begins at `at` or before */
        for (int step = WORD / 2; step > 0; step /= 2) {
            from += __shfl_sync(~0u, to, from + step) <= at ? step : 0;
        }
        const int64_t p = __shfl_sync(~0u, place, from) + at - __shfl_sync(~0u, to, from);
        const int64_t source = __shfl_sync(~0u, k, from);
        if (at < end) {
            index_set((void *)B.col, B.wide_col, at, col_at(w.P, p));
            move_value((void *)B.val, at, w.A.val, source, w.value_bytes);
        }
    }
}

static __global__ void kernel_expand(gpu_wanted w, const int64_t *offsets, gpu_csr B) {
    __shared__ uint16_t spread[WARPS][ENTRY_TILE];
    EACH_TILE(at, w.G.nnz) {
        const tile_rows rows = rows_of(w, at, spread[threadIdx.x / 32]);
        EACH_WORD(word, at, w.G.nnz) {
            const int64_t e = word + lane_of(), end = offsets[word + WORD < w.G.nnz ? word + WORD : w.G.nnz];
            const int64_t k = e < w.G.nnz ? source_of(w, rows, e) : 0;
            expand_word(w, B, k, e < w.G.nnz ? rowptr_at(w.P, col_at(w.A, k)) : 0, e < w.G.nnz ? offsets[e] : end, end);
        }
    }
}

static lsp_status extract_columns(lsp_ctx *ctx, const lsp_csr *A, const lsp_selection *wanted, gpu_wanted *w,
                                  lsp_csr *B) {
    int64_t *offsets = NULL, nnz = 0;
    lsp_csr_types types = {};
    w->P = view(&wanted->P);
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, w->G.nnz + 1, &offsets));
    LSP_TRY(LAUNCH_TILES(ctx, kernel_places, w->G.nnz, *w, offsets));
    LSP_TRY(add_up(ctx, wanted, offsets, w->G.nnz + 1, wanted->col_count, &nnz));
    types = lsp_types_like(A, wanted->col_count, nnz);
    LSP_TRY(lsp_csr_create(ctx, w->G.rows, wanted->col_count, nnz, &types, B));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_rowptr, w->G.rows + 1, *w, offsets, B->rowptr, B->rowptr_type == LSP_I64));
    return LAUNCH_TILES(ctx, kernel_expand, w->G.nnz, *w, offsets, view(B));
}

static lsp_status extract_rows(lsp_ctx *ctx, const lsp_csr *A, const lsp_selection *wanted, const gpu_wanted *w,
                               lsp_csr *B) {
    const lsp_csr_types types = lsp_types_like(A, wanted->col_count, w->G.nnz);
    LSP_TRY(lsp_csr_create(ctx, w->G.rows, wanted->col_count, w->G.nnz, &types, B));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_rowptr, w->G.rows + 1, *w, NULL, B->rowptr, B->rowptr_type == LSP_I64));
    return LAUNCH_TILES(ctx, kernel_copy, w->G.nnz, *w, view(B));
}

/* The wanted rows: with a list of them, starts of their entries are scratch. */
static lsp_status find_rows(lsp_ctx *ctx, const lsp_csr *A, const lsp_selection *wanted, gpu_wanted *w) {
    int64_t *starts = NULL;
    *w = gpu_wanted{};
    w->A = view(A);
    w->rows = wanted->rows;
    w->wide = wanted->type == LSP_I64;
    w->G = view(A);
    w->G.rows = wanted->row_count;
    w->value_bytes = value_bytes(A);
    if (w->rows) {
        LSP_TRY(LSP_SCRATCH_CUDA(ctx, w->G.rows + 1, &starts));
        LSP_TRY(LAUNCH_ITEMS(ctx, kernel_lengths, w->G.rows + 1, *w, starts));
        LSP_TRY(add_up(ctx, wanted, starts, w->G.rows + 1, A->nnz, &w->G.nnz));
        w->G.rowptr = starts;
        w->G.wide_rowptr = true;
    }
    return LSP_OK;
}

extern "C" lsp_status lsp_csr_extract_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_selection *wanted, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    gpu_wanted w;
    LSP_TRY(find_rows(ctx, A, wanted, &w));
    return wanted->P.rowptr ? extract_columns(ctx, A, wanted, &w, B) : extract_rows(ctx, A, wanted, &w, B);
}

extern "C" lsp_status lsp_csr_extract_once_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_selection *wanted,
                                                unsigned *found, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    gpu_wanted w;
    LSP_TRY(find_rows(ctx, A, wanted, &w));
    return extract_once(ctx, A, wanted, &w, found, B);
}
