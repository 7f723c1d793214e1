/* Hash search on a GPU: starts the kernels on the context's stream. */
#include "core/launch.cuh"
#include "core/scan.h"
#include "kernel_build.cuh"
#include "kernel_find.cuh"

/* SM_BLOCKS: ten times what is resident, so that the last blocks to end are a small part. */
enum { SM_BLOCKS = 64 };
#define LAUNCH_PROBES(ctx, kernel, probes, ...)                                                                        \
    LSP_LAUNCH(ctx, kernel, lsp_blocks_for((ctx), (probes), HASH_NT, SM_BLOCKS), HASH_NT, 0, __VA_ARGS__)

/* ---- building ---- */

static lsp_status count_distinct(lsp_ctx *ctx, const void *sorted, const lsp_hash_view *t, int64_t *counts,
                                 int64_t *distinct) {
    const int64_t tiles = lsp_hash_tiles(t->n);
    LSP_TRY(
        t->wide_keys
            ? LSP_LAUNCH(ctx, kernel_hash_count<uint64_t>, tiles, HASH_NT, 0, (const uint64_t *)sorted, t->n, counts)
            : LSP_LAUNCH(ctx, kernel_hash_count<uint32_t>, tiles, HASH_NT, 0, (const uint32_t *)sorted, t->n, counts));
    return lsp_cuda_scan(ctx, counts, tiles, distinct);
}

static lsp_status compact(lsp_ctx *ctx, const void *sorted, const lsp_hash_view *t, const int64_t *counts) {
    const int64_t tiles = lsp_hash_tiles(t->n);
    return t->wide_keys ? LSP_LAUNCH(ctx, kernel_hash_compact<uint64_t>, tiles, HASH_NT, 0, (const uint64_t *)sorted,
                                     t->n, counts, (uint64_t *)t->keys, t->heads)
                        : LSP_LAUNCH(ctx, kernel_hash_compact<uint32_t>, tiles, HASH_NT, 0, (const uint32_t *)sorted,
                                     t->n, counts, (uint32_t *)t->keys, t->heads);
}

static lsp_status fill(lsp_ctx *ctx, const lsp_hash_view *t) {
    const int64_t blocks = lsp_ceil_div(t->buckets, HASH_LINES);
    return t->wide_keys ? LSP_LAUNCH(ctx, kernel_hash_fill<uint64_t>, blocks, HASH_NT, 0, *t, (uint4 *)t->lines)
                        : LSP_LAUNCH(ctx, kernel_hash_fill<uint32_t>, blocks, HASH_NT, 0, *t, (uint4 *)t->lines);
}

/* ---- searching ---- */

/* Each search starts the instance for the table's keys, kind of slots and values: X(key, kind, value). */
#define LSP_HASH_PICK(t, X)                                                                                            \
    ((t)->kind == LSP_HASH_WIDE   ? LSP_HASH_PICK_KEY(t, X, LSP_HASH_WIDE)                                             \
     : (t)->kind == LSP_HASH_RUNS ? LSP_HASH_PICK_KEY(t, X, LSP_HASH_RUNS)                                             \
     : (t)->value_bytes == 4      ? X(uint32_t, LSP_HASH_NARROW, uint32_t)                                             \
                                  : X(uint32_t, LSP_HASH_NARROW, hash_nothing))
#define LSP_HASH_PICK_KEY(t, X, kind)                                                                                  \
    ((t)->wide_keys ? LSP_HASH_PICK_VALUE(t, X, uint64_t, kind) : LSP_HASH_PICK_VALUE(t, X, uint32_t, kind))
#define LSP_HASH_PICK_VALUE(t, X, key, kind)                                                                           \
    ((t)->value_bytes == 0   ? X(key, kind, hash_nothing)                                                              \
     : (t)->value_bytes == 4 ? X(key, kind, uint32_t)                                                                  \
     : (t)->value_bytes == 8 ? X(key, kind, ull)                                                                       \
                             : X(key, LSP_HASH_RUNS, ulonglong2))

static lsp_status find(lsp_ctx *ctx, const lsp_hash_view *t, const lsp_hash_probes *probes) {
#define START(K, kind, V) LAUNCH_PROBES(ctx, (kernel_hash_find<K, kind, V>), probes->n, *t, *probes)
    return LSP_HASH_PICK(t, START);
#undef START
}

static lsp_status count(lsp_ctx *ctx, const lsp_hash_view *t, const lsp_hash_probes *probes, int64_t *offsets,
                        uint64_t *at) {
#define START(K, kind, V) LAUNCH_PROBES(ctx, (kernel_hash_matches<K, kind>), probes->n, *t, *probes, offsets, at)
    LSP_TRY(LSP_HASH_PICK(t, START));
#undef START
    return lsp_cuda_scan_async(ctx, offsets + 1, probes->n, NULL);
}

static lsp_status fetch(lsp_ctx *ctx, const lsp_hash_view *t, const lsp_hash_probes *probes, const int64_t *offsets,
                        const uint64_t *at, int64_t total) {
#define START(kind, V)                                                                                                 \
    LSP_LAUNCH(ctx, (kernel_hash_gather<kind, V>), lsp_ceil_div(total, HASH_GATHER), HASH_NT, 0, *t, probes->n,        \
               offsets, at, total, (V *)probes->values)
    if (t->kind != LSP_HASH_RUNS) { /* a slot's value: at most one a probe */
        return t->value_bytes == 4 ? START(LSP_HASH_WIDE, uint32_t) : START(LSP_HASH_WIDE, ull);
    }
    return t->value_bytes == 4   ? START(LSP_HASH_RUNS, uint32_t)
           : t->value_bytes == 8 ? START(LSP_HASH_RUNS, ull)
                                 : START(LSP_HASH_RUNS, ulonglong2);
#undef START
}

static lsp_status some(lsp_ctx *ctx, const lsp_hash_view *t, const lsp_hash_probes *probes) {
    if (probes->left) {
        LSP_TRY(lsp_cuda_clear(ctx, probes->left, sizeof *probes->left));
    }
    if (probes->n == 0) {
        return LSP_OK;
    }
#define START(K, kind, V) LAUNCH_PROBES(ctx, (kernel_hash_some<K, kind, V>), probes->n, *t, *probes)
    return LSP_HASH_PICK(t, START);
#undef START
}

const lsp_hash_backend lsp_hash_cuda = {count_distinct, compact, fill, find, count, fetch, some};
