/* The searches in a table. All matches take the four steps of the paper: the bucket of each probe, the number of its
 * matches, their prefix sums, and the values gathered. The first match, and matches in blocks, need no prefix sum. */
#include "core/arrays.h"
#include "core/cuda.h"
#include "hash.h"

typedef enum search_kind { FIND, COUNT, ALL, SOME } search_kind;

static lsp_status check_probes(lsp_hash *table, const lsp_hash_probes *probes, search_kind kind, const int64_t *total) {
    LSP_PLAN_USE(table);
    const size_t value = table->info.value_bytes;
    LSP_REQUIRE(probes != NULL, LSP_ERR_ARGUMENT, "the probes are NULL");
    LSP_TRY(lsp_check_reserved(ctx, "lsp_hash_probes", probes->reserved));
    LSP_REQUIRE(probes->n >= 0 && probes->n < INT64_MAX / 32, LSP_ERR_ARGUMENT, "%lld probes cannot be searched",
                (long long)probes->n);
    LSP_REQUIRE(kind != SOME || (probes->cap >= 1 && probes->cap <= INT32_MAX), LSP_ERR_ARGUMENT,
                "at most %lld values of a probe: 1 to %d are offered", (long long)probes->cap, INT32_MAX);
    LSP_REQUIRE(kind != ALL || probes->capacity >= 0, LSP_ERR_ARGUMENT, "a capacity of %lld values is negative",
                (long long)probes->capacity);
    int64_t values = kind == COUNT ? 0 : kind == ALL ? probes->capacity : probes->n;
    LSP_REQUIRE(kind != SOME || lsp_mul(probes->n, probes->cap, &values), LSP_ERR_ARGUMENT,
                "%lld probes with %lld values each cannot be in memory", (long long)probes->n, (long long)probes->cap);
    const bool lists = kind == COUNT || kind == ALL;
    const lsp_named_array arrays[] = {
        {"keys", probes->keys, probes->n, table->view.wide_keys ? 8 : 4, false, 0},
        {"values", probes->values, value > 0 ? values : 0, value, true, 0},
        {"marks of what was found", probes->found, kind == FIND && probes->found ? probes->n : 0, 1, true, 0},
        {"offsets", probes->offsets, lists ? probes->n + 1 : 0, 8, true, 0},
        {"cursors", probes->cursors, kind == SOME ? probes->n : 0, 8, true, 0},
        {"counts", probes->counts, kind == SOME ? probes->n : 0, 4, true, 0},
        {"matches left", probes->left, kind == SOME && probes->left, 8, true, 0},
        {"total", total, total != NULL, 8, true, 0},
    };
    LSP_TRY(lsp_check_arrays(ctx, arrays, (int)(sizeof arrays / sizeof *arrays)));
    LSP_REQUIRE(!lists || table->where == LSP_HOST || !lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: matches cannot be counted there");
    return LSP_OK;
}

lsp_status lsp_hash_find(lsp_hash *table, const lsp_hash_probes *probes) {
    LSP_TRY(check_probes(table, probes, FIND, NULL));
    return probes->n > 0 ? lsp_hash_backend_of(table->where)->find(table->ctx, &table->view, probes) : LSP_OK;
}

lsp_status lsp_hash_count(lsp_hash *table, const lsp_hash_probes *probes) {
    LSP_TRY(check_probes(table, probes, COUNT, NULL));
    return lsp_hash_backend_of(table->where)->count(table->ctx, &table->view, probes, probes->offsets, NULL);
}

lsp_status lsp_hash_find_all(lsp_hash *table, const lsp_hash_probes *probes, int64_t *total) {
    LSP_TRY(check_probes(table, probes, ALL, total));
    lsp_ctx *ctx = table->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_hash_backend *backend = lsp_hash_backend_of(table->where);
    int64_t all = 0;
    void *offsets, *at;
    LSP_TRY(lsp_scratch_at(ctx, table->where, probes->n + 1, sizeof(int64_t), &offsets));
    LSP_TRY(lsp_scratch_at(ctx, table->where, probes->n, sizeof(uint64_t), &at));
    LSP_TRY(backend->count(ctx, &table->view, probes, offsets, at));
    LSP_TRY(lsp_read_index(ctx, table->where, offsets, LSP_I64, probes->n, &all));
    LSP_TELL(total, all);
    LSP_REQUIRE(all <= probes->capacity || table->info.value_bytes == 0, LSP_ERR_OVERFLOW,
                "%lld matches do not fit an array for %lld", (long long)all, (long long)probes->capacity);
    if (all > 0 && table->info.value_bytes > 0) {
        LSP_TRY(backend->fetch(ctx, &table->view, probes, offsets, at, all));
    }
    return lsp_array_copy(ctx, probes->offsets, table->where, offsets, table->where,
                          (size_t)(probes->n + 1) * sizeof(int64_t));
}

lsp_status lsp_hash_find_some(lsp_hash *table, const lsp_hash_probes *probes) {
    LSP_TRY(check_probes(table, probes, SOME, NULL));
    return lsp_hash_backend_of(table->where)->some(table->ctx, &table->view, probes);
}
