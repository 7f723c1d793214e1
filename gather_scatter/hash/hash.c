/* Builds the table of a hash search: keys are mixed, sorted with their values by their mixed keys, and put into buckets
 * of 64 bytes. hash.h tells the form. */
#include "hash.h"
#include "core/cuda.h"
#include "gather_scatter/bodies.h"
#include "segsort/segsort.h"

static const double default_load = 0.5, least_load = 0.05;

static lsp_status check_args(lsp_ctx *ctx, const lsp_hash_args *args) {
    const int64_t most = (INT64_C(1) << LSP_HASH_BEGIN_BITS) - 1;
    LSP_REQUIRE(args != NULL, LSP_ERR_ARGUMENT, "the arguments of the table are NULL");
    LSP_TRY(lsp_check_reserved(ctx, "lsp_hash_args", args->reserved));
    LSP_REQUIRE(args->n >= 0 && args->n <= most, LSP_ERR_ARGUMENT, "a table of %lld keys: 0 to %lld are offered",
                (long long)args->n, (long long)most);
    LSP_REQUIRE(args->key_type >= LSP_I32 && args->key_type <= LSP_U64, LSP_ERR_ARGUMENT,
                "keys of type %s cannot be searched: integers are needed", lsp_type_name(args->key_type));
    LSP_REQUIRE(args->value_bytes == 0 || args->value_bytes == 4 || args->value_bytes == 8 || args->value_bytes == 16,
                LSP_ERR_ARGUMENT, "values of %zu bytes: 0, 4, 8 or 16 are offered", args->value_bytes);
    LSP_REQUIRE(args->value_bytes > 0 || args->values == NULL, LSP_ERR_ARGUMENT,
                "values are given, but value_bytes is 0");
    LSP_REQUIRE((args->flags & ~(unsigned)LSP_HASH_POSITIONS) == 0, LSP_ERR_ARGUMENT, "unknown flags: 0x%x",
                args->flags);
    LSP_REQUIRE(args->load == 0 || (args->load >= least_load && args->load <= 1), LSP_ERR_ARGUMENT,
                "a load of %g: %g to 1 is offered, or 0 for %g", args->load, least_load, default_load);
    LSP_REQUIRE(args->where == LSP_HOST || (args->where == LSP_CUDA && ctx->options.device == LSP_CUDA),
                LSP_ERR_ARGUMENT, "arrays at place %d: the context does not work there", (int)args->where);
    LSP_REQUIRE(args->where == LSP_HOST || !lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: a table cannot be built there");
    LSP_REQUIRE(args->n == 0 || args->keys != NULL, LSP_ERR_ARGUMENT, "the keys, %lld of them, are NULL",
                (long long)args->n);
    LSP_REQUIRE((uintptr_t)args->keys % lsp_type_bytes(args->key_type) == 0, LSP_ERR_ARGUMENT,
                "the keys of %zu bytes lie at %p, which is no multiple of that", lsp_type_bytes(args->key_type),
                args->keys);
    return LSP_OK;
}

/* Sorts mixed keys with their values, or positions. Missing or misaligned values are refused here. */
static lsp_status sort_keys(const lsp_hash *table, const lsp_hash_args *args, const void *mixed, void *sorted) {
    return lsp_segsort(table->ctx,
                       &(lsp_segsort_args){.n = args->n,
                                           .segments = args->n > 0,
                                           .length = args->n,
                                           .key_type = table->view.wide_keys ? LSP_U64 : LSP_U32,
                                           .value_bytes = args->value_bytes,
                                           .keys = mixed,
                                           .keys_out = sorted,
                                           .values = args->flags & LSP_HASH_POSITIONS ? NULL : args->values,
                                           .values_out = table->view.values,
                                           .flags = args->flags & LSP_HASH_POSITIONS ? LSP_SORT_POSITIONS : 0,
                                           .where = args->where},
                       NULL);
}

/* Replaces the sorted keys by the distinct ones, and sets where the values of each begin. */
static lsp_status list_distinct(lsp_hash *table, const int64_t *counts) {
    lsp_hash_view *view = &table->view;
    void *sorted = view->keys;
    LSP_FREES(table->ctx, sorted); /* a later call that takes it works after this one on the same stream */
    LSP_TRY(lsp_alloc(table->ctx, table->where, view->distinct, view->wide_keys ? 8 : 4, &view->keys));
    LSP_TRY(lsp_alloc(table->ctx, table->where, view->distinct + 1, 8, (void **)&view->heads));
    return lsp_hash_backend_of(table->where)->compact(table->ctx, sorted, view, counts);
}

/* Makes the buckets of the sorted keys. */
static lsp_status make_lines(lsp_hash *table, double load) {
    lsp_hash_view *view = &table->view;
    const int slots = lsp_hash_slots(view->kind);
    const double wanted = (double)view->distinct / (slots * (load > 0 ? load : default_load));
    view->buckets = (uint32_t)(wanted < 2 ? 2 : wanted > UINT32_MAX - 1.0 ? UINT32_MAX - 1.0 : wanted + 1);
    LSP_TRY(lsp_alloc(table->ctx, table->where, view->buckets, LSP_HASH_LINE, &view->lines));
    return lsp_hash_backend_of(table->where)->fill_lines(table->ctx, view);
}

static lsp_status build(lsp_hash *table, const lsp_hash_args *args) {
    lsp_ctx *ctx = table->ctx;
    lsp_hash_view *view = &table->view;
    const lsp_hash_backend *backend = lsp_hash_backend_of(args->where);
    LSP_SCRATCH_SCOPE(ctx);
    const size_t key_bytes = lsp_type_bytes(args->key_type);
    void *mixed = NULL, *counts = NULL;
    LSP_TRY(lsp_scratch_at(ctx, args->where, lsp_hash_tiles(args->n), sizeof(int64_t), &counts));
    LSP_TRY(lsp_scratch_at(ctx, args->where, args->n, key_bytes, &mixed));
    LSP_TRY(lsp_alloc(ctx, args->where, args->n, key_bytes, &view->keys));
    LSP_TRY(lsp_alloc(ctx, args->where, args->n, args->value_bytes, &view->values));
    if (args->n > 0) {
        const lsp_hash_mixing mixing = {args->keys, mixed, args->seed};
        const lsp_kind kind = {.index = view->wide_keys ? LSP_I64 : LSP_I32};
        LSP_TRY(LSP_EACH(ctx, args->where, hash_mix, (lsp_each_job){.args = &mixing, .n = args->n, .kind = kind}));
        LSP_TRY(sort_keys(table, args, mixed, view->keys));
        LSP_TRY(backend->count_distinct(ctx, view->keys, view, counts, &view->distinct));
    }
    const bool repeated = view->distinct < args->n;
    view->kind = repeated || args->value_bytes > 8          ? LSP_HASH_RUNS
                 : view->wide_keys || args->value_bytes > 4 ? LSP_HASH_WIDE
                                                            : LSP_HASH_NARROW;
    if (repeated) {
        LSP_TRY(list_distinct(table, counts));
    }
    return make_lines(table, args->load);
}

static void note_facts(lsp_hash *table) {
    const lsp_hash_view *view = &table->view;
    table->info = (lsp_hash_info){.n = view->n,
                                  .distinct = view->distinct,
                                  .buckets = view->buckets,
                                  .slots = lsp_hash_slots(view->kind),
                                  .bytes = lsp_plan_bytes(table),
                                  .value_bytes = (size_t)view->value_bytes,
                                  .contents = view->kind == LSP_HASH_RUNS ? "runs" : "values"};
    lsp_log(table->ctx, "hash: %lld keys, %lld distinct, in %lld buckets of %d, which hold %s", (long long)view->n,
            (long long)view->distinct, (long long)view->buckets, table->info.slots, table->info.contents);
}

lsp_status lsp_hash_build(lsp_ctx *ctx, const lsp_hash_args *args, lsp_hash **table) {
    LSP_PLAN_MAKE(lsp_hash, made, table);
    LSP_TRY(check_args(ctx, args));
    made->where = args->where;
    lsp_hash_view *view = &made->view;
    view->wide_keys = lsp_type_bytes(args->key_type) == 8;
    view->positions = (args->flags & LSP_HASH_POSITIONS) != 0;
    view->value_bytes = (int)args->value_bytes;
    view->seed = args->seed;
    view->n = args->n;
    LSP_TRY(build(made, args));
    note_facts(made);
    return LSP_PLAN_GIVE(made, table);
}

void lsp_hash_destroy(lsp_hash *table) { lsp_plan_end(table); }

lsp_status lsp_hash_get_info(const lsp_hash *table, lsp_hash_info *info) { return LSP_PLAN_TELL(table, info); }
