/* The kernels of the bodies of entries. A warp takes a tile of entries, 32 at a time, a word (forms/gpu/words.cuh). */
#pragma once

#include "core/each.cuh"
#include "core/scan.h"
#include "matrices/each.h"
#include "matrices/forms/forms.h"
#include "matrices/forms/gpu/words.cuh"

/* ---- each entry ---- */

template <class BODY>
static __global__ void __launch_bounds__(NT) kernel_entries(const __grid_constant__ typename BODY::arguments a,
                                                            lsp_kind t, gpu_csr A, bool rowless, lsp_found *found) {
    __shared__ tile_spread spread[WARPS];
    lsp_found mine = lsp_found_nothing();
    EACH_TILE(at, A.nnz) {
        with_rows(A, rowless, at, spread, [&](auto row) {
            EACH_WORD(word, at, A.nnz) {
                const int64_t k = word + lane_of();
                if (k < A.nnz) {
                    BODY::at(&a, t, row(k), k, &mine);
                }
            }
        });
    }
    if (found != NULL) {
        block_found(mine, &found[blockIdx.x]);
    }
}

template <class BODY> static lsp_status launch_entries(lsp_ctx *ctx, const lsp_entry_job *job) {
    LSP_SCRATCH_SCOPE(ctx);
    const int64_t blocks = lsp_blocks_upto(job->A->nnz, ENTRY_TILE * WARPS, 1 << 14);
    const lsp_kind t = {job->A->col_type, job->A->val_type, LSP_PASS_BOTH};
    gpu_csr A = view(job->A);
    LSP_TRY(job->rowless ? LSP_OK : find_tile_rows(ctx, &A));
    return launch_found(ctx, blocks, job->found, [&](lsp_found *there) {
        return LSP_LAUNCH(ctx, kernel_entries<BODY>, blocks, NT, 0, *(const typename BODY::arguments *)job->args, t, A,
                          job->rowless, there);
    });
}

/* ---- entries that are kept ---- */

/* The entries of the rows of B before any goes. G: their row pointers, it has no other arrays. */
typedef struct keep_source {
    gpu_csr A, G;
    lsp_taking taken; /* rows NULL: those of A */
} keep_source;

static lsp_status make_source(lsp_ctx *ctx, const lsp_keep *keep, keep_source *s) {
    s->A = s->G = view(keep->A);
    s->taken = keep->taken;
    if (keep->rows) {
        s->G.rows = keep->row_count, s->G.nnz = keep->entries;
        s->G.rowptr = keep->taken.starts, s->G.wide_rowptr = true;
    }
    return keep->rows || !keep->rowless ? find_tile_rows(ctx, &s->G) : LSP_OK;
}

/* What entry e is in A; i: its row in G. LISTED: there is a list of rows. */
template <bool LISTED> static __device__ int64_t source_of(const keep_source &s, int64_t i, int64_t e) {
    return LISTED ? e + s.taken.shift[i] : e;
}
/* A body for columns of LSP_I32: where each entry asks for their type, its load waits for the one before. */
template <class BODY> struct narrow_columns : BODY {
    static __device__ int64_t at(const typename BODY::arguments *a, lsp_kind t, int64_t i, int64_t k) {
        t.index = LSP_I32;
        return BODY::at(a, t, i, k);
    }
};
#define LAUNCH_KEEP(ctx, kernel, s, TYPE, ...)                                                                         \
    ((s).taken.rows ? LAUNCH_TILES(ctx, (kernel<TYPE, true>), (s).G.nnz, __VA_ARGS__)                                  \
                    : LAUNCH_TILES(ctx, (kernel<TYPE, false>), (s).G.nnz, __VA_ARGS__))

#define LAUNCH_KEEP_BODY(ctx, kernel, s, BODY, ...)                                                                    \
    ((s).A.wide_col ? LAUNCH_KEEP(ctx, kernel, s, BODY, __VA_ARGS__)                                                   \
                    : LAUNCH_KEEP(ctx, kernel, s, narrow_columns<BODY>, __VA_ARGS__))

template <class BODY, bool LISTED>
static __global__ void __launch_bounds__(NT) kernel_keep_mark(const __grid_constant__ typename BODY::arguments a,
                                                              lsp_kind t, keep_source s, bool rowless, gpu_marks m) {
    __shared__ tile_spread spread[WARPS];
    const int64_t last = s.G.nnz - 1;
    t.pass = LSP_PASS_STAYS;
    EACH_TILE(at, s.G.nnz) {
        unsigned stays = 0;
        with_rows(s.G, rowless && !LISTED, at, spread, [&](auto row) {
#pragma unroll
            for (int w = 0; w < TILE_WORDS; w++) {
                const int64_t e = at + w * WORD + lane_of(), i = row(e < last ? e : last);
                const int64_t k = source_of<LISTED>(s, i, e < last ? e : last);
                const bool stay =
                    BODY::at(&a, t, LISTED && !rowless ? lsp_index_at(s.taken.rows, s.taken.rows_type, i) : i, k) >= 0;
                stays |= stay && e <= last ? 1u << w : 0u;
            }
        });
        mark_tile(m, at, stays);
    }
}

/* store(to, load(k)) for each entry that stays: entry k of A, entry `to` of B. m.masks NULL: all stay. */
enum { BATCH = 4 };
template <bool LISTED, typename LOAD, typename STORE>
static __device__ void each_kept(const keep_source &s, const gpu_marks &m, tile_spread *spread, LOAD load,
                                 STORE store) {
    const int lane = lane_of();
    EACH_TILE(at, s.G.nnz) {
        with_rows(s.G, !LISTED, at, spread, [&](auto row) {
#pragma unroll 1
            for (int64_t word = at / WORD; word < at / WORD + TILE_WORDS; word += BATCH) {
                int64_t to[BATCH];
                decltype(load(0)) item[BATCH];
#pragma unroll
                for (int w = 0; w < BATCH; w++) {
                    const int64_t e = (word + w) * WORD + lane;
                    const bool listed = m.masks != NULL && word + w < m.words;
                    const unsigned mask = listed ? m.masks[word + w] : ~0u;
                    const int64_t before = listed ? m.counts[word + w] : (word + w) * WORD;
                    const bool stays = e < s.G.nnz && (mask >> lane & 1) != 0;
                    to[w] = stays ? before + __popc(mask & ((1u << lane) - 1)) : -1;
                    item[w] = stays ? load(source_of<LISTED>(s, row(e), e)) : decltype(load(0)){};
                }
#pragma unroll
                for (int w = 0; w < BATCH; w++) {
                    if (to[w] >= 0) {
                        store(to[w], item[w]);
                    }
                }
            }
        });
    }
}

template <class BODY, bool LISTED>
static __global__ void __launch_bounds__(NT) kernel_keep_columns(const __grid_constant__ typename BODY::arguments a,
                                                                 lsp_kind t, keep_source s, gpu_marks m, gpu_csr B) {
    __shared__ tile_spread spread[WARPS];
    t.pass = LSP_PASS_COLUMN;
    each_kept<LISTED>(
        s, m, spread, [&](int64_t k) { return BODY::at(&a, t, 0, k); },
        [&](int64_t to, int64_t column) { index_set((void *)B.col, B.wide_col, to, column); });
}

template <typename VALUE, bool LISTED>
static __global__ void __launch_bounds__(NT)
    kernel_keep_values(keep_source s, gpu_marks m, const VALUE *from, VALUE *to_values) {
    __shared__ tile_spread spread[WARPS];
    each_kept<LISTED>(
        s, m, spread, [&](int64_t k) { return from[k]; },
        [&](int64_t to, const VALUE &value) { to_values[to] = value; });
}
template <typename VALUE, bool LISTED>
static __global__ void __launch_bounds__(NT) kernel_keep_sources(keep_source s, gpu_marks m, VALUE *sources) {
    __shared__ tile_spread spread[WARPS];
    each_kept<LISTED>(
        s, m, spread, [](int64_t k) { return k; }, [&](int64_t to, int64_t k) { sources[to] = k; });
}

struct value_pair {
    ull of[2];
};
#define KEEP_VALUES(T) LAUNCH_KEEP(ctx, kernel_keep_values, s, T, s, m, (const T *)s.A.val, (T *)B->val)
static lsp_status keep_values(lsp_ctx *ctx, const keep_source &s, const gpu_marks &m, const lsp_csr *B) {
    const size_t bytes = lsp_type_bytes(B->val_type);
    return bytes == 8    ? KEEP_VALUES(ull)
           : bytes == 4  ? KEEP_VALUES(uint32_t)
           : bytes == 16 ? KEEP_VALUES(value_pair)
           : bytes == 1  ? KEEP_VALUES(uint8_t)
                         : LSP_OK;
}

/* B, whose entries are nnz, with its row pointers. */
static lsp_status keep_create(lsp_ctx *ctx, const lsp_keep *keep, const keep_source &s, const gpu_marks &m, int64_t nnz,
                              lsp_csr *B) {
    lsp_csr_types types = keep->types ? *keep->types : lsp_types_like(keep->A, keep->cols, nnz);
    types.val_type = keep->A->val_type;
    types.place = LSP_PLACE_CUDA;
    LSP_TRY(lsp_csr_create(ctx, s.G.rows, keep->cols, nnz, &types, B));
    return m.masks == NULL
               ? lsp_cuda_convert_values(ctx, B->rowptr, B->rowptr_type, s.G.rowptr,
                                         s.G.wide_rowptr ? LSP_I64 : LSP_I32, s.G.rows + 1)
               : LAUNCH_ITEMS(ctx, kernel_marked_starts, s.G.rows + 1, s.G, m, B->rowptr, B->rowptr_type == LSP_I64);
}

template <class BODY> static lsp_status launch_keep(lsp_ctx *ctx, const lsp_keep *keep, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    const typename BODY::arguments a = *(const typename BODY::arguments *)keep->args;
    const lsp_kind t = {keep->A->col_type, keep->A->val_type, LSP_PASS_BOTH};
    keep_source s;
    gpu_marks m = {};
    LSP_OWNED_CSR(ctx, made);
    LSP_TRY(make_source(ctx, keep, &s));
    int64_t nnz = s.G.nnz;
    if (!keep->all) {
        LSP_TRY(make_marks(ctx, s.G.nnz, &m));
        LSP_TRY(LAUNCH_KEEP_BODY(ctx, kernel_keep_mark, s, BODY, a, t, s, keep->rowless, m));
        LSP_TRY(lsp_cuda_scan(ctx, m.counts, m.words + 1, &nnz));
    }
    LSP_TRY(keep_create(ctx, keep, s, m, nnz, &made));
    LSP_TRY(LAUNCH_KEEP_BODY(ctx, kernel_keep_columns, s, BODY, a, t, s, m, view(&made)));
    LSP_TRY(keep->sources ? LAUNCH_KEEP(ctx, kernel_keep_sources, s, int64_t, s, m, keep->sources)
                          : keep_values(ctx, s, m, &made));
    return lsp_csr_put(ctx, B, &made, false);
}

/* What a line of the list of bodies becomes. */
#define LSP_ENTRY_CUDA(name, arguments)                                                                                \
    LSP_BODY_STRUCT(name, arguments)                                                                                   \
    extern "C" lsp_status lsp_body_##name##_cuda(lsp_ctx *ctx, const lsp_entry_job *job) {                             \
        return launch_entries<name##_struct>(ctx, job);                                                                \
    }
#define LSP_KEEP_CUDA(name, arguments)                                                                                 \
    LSP_BODY_STRUCT(name, arguments)                                                                                   \
    extern "C" lsp_status lsp_body_##name##_cuda(lsp_ctx *ctx, const lsp_keep *keep, lsp_csr *B) {                     \
        return launch_keep<name##_struct>(ctx, keep, B);                                                               \
    }
