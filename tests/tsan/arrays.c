/* Sorts, moves and searches of arrays, for threads.c: the arrays are those of a matrix. */
#include "cases.h"

#include <stdlib.h>
#include <string.h>

/* The columns as a text: B gets its suffix array as values. */
static lsp_status sort_suffixes(lsp_ctx *ctx, const lsp_csr *A, lsp_suffix_method method, lsp_csr *B) {
    const lsp_text text = {.n = A->nnz, .symbol_bytes = 4, .symbols = A->col};
    int32_t *array = malloc((size_t)A->nnz * sizeof *array);
    lsp_status status = array == NULL ? LSP_ERR_MEMORY : lsp_csr_copy(ctx, A, NULL, B);
    status = status == LSP_OK
                 ? lsp_suffix_array(ctx, &text, &(lsp_suffix_options){.method = method}, LSP_I32, array, NULL)
                 : status;
    for (int64_t i = 0; status == LSP_OK && i < A->nnz; i++) {
        ((double *)B->val)[i] = array[i];
    }
    free(array);
    return status;
}
lsp_status tsan_suffixes_by_doubling(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return sort_suffixes(ctx, A, LSP_SUFFIX_DOUBLING, B);
}
lsp_status tsan_suffixes_induced(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return sort_suffixes(ctx, A, LSP_SUFFIX_INDUCED, B);
}
/* Sorts pseudo-random keys twice: the rows as segments, by a plan, then all keys as one segment. The sorted keys are
 * B's columns; B is a pattern. */
lsp_status tsan_segsort(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_status status = lsp_csr_copy(ctx, A, &(lsp_csr_types){.drop_values = true}, B);
    if (status == LSP_OK) {
        int32_t *col = B->col;
        for (int64_t i = 0; i < B->nnz; i++) {
            col[i] = (int32_t)((uint32_t)i * 2654435761u % (uint32_t)B->cols);
        }
        lsp_segsort_args rows = {.n = B->nnz,
                                 .segments = B->rows,
                                 .offsets = B->rowptr,
                                 .offset_type = B->rowptr_type,
                                 .key_type = LSP_I32,
                                 .keys = col,
                                 .keys_out = col};
        lsp_segsort_plan *plan = NULL;
        status = lsp_segsort_plan_create(ctx, &rows, &plan);
        status = status == LSP_OK ? lsp_segsort_execute(plan, &rows) : status;
        lsp_segsort_plan_destroy(plan);
        int64_t whole[2] = {0, B->nnz};
        rows.segments = status == LSP_OK ? 1 : 0;
        rows.offsets = whole;
        rows.offset_type = LSP_I64;
        status = status == LSP_OK ? lsp_segsort(ctx, &rows, NULL) : status;
    }
    return status;
}

/* Moves `from` to `to` by a pseudo-random map, once or by a plan. */
static lsp_status move(lsp_ctx *ctx, const lsp_gather_args *args, bool scatter, bool planned) {
    if (!planned) {
        return scatter ? lsp_scatter(ctx, args, NULL) : lsp_gather(ctx, args, NULL);
    }
    lsp_gather_plan *plan = NULL;
    lsp_status status = scatter ? lsp_scatter_plan_create(ctx, args, &plan) : lsp_gather_plan_create(ctx, args, &plan);
    for (int call = 0; call < 2 && status == LSP_OK; call++) {
        status = lsp_gather_execute(plan, args->columns, 1);
    }
    lsp_gather_plan_destroy(plan);
    return status;
}

/* Every strategy and rule, forth and back between two arrays. What they hold in the end, modulo the number of columns,
 * are B's columns; B is a pattern. */
lsp_status tsan_gather_scatter(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_status status = lsp_csr_copy(ctx, A, &(lsp_csr_types){.drop_values = true}, B);
    if (status != LSP_OK) {
        return status;
    }
    const int64_t n = B->nnz;
    int32_t *index = malloc((size_t)n * sizeof *index), *to = malloc((size_t)n * sizeof *to), *from = B->col;
    status = index && to ? LSP_OK : LSP_ERR_MEMORY;
    for (int64_t i = 0; i < n && status == LSP_OK; i++) {
        index[i] = (int32_t)((uint64_t)i * 2654435761u % (uint64_t)n);
        to[i] = (int32_t)i;
    }
    for (int kind = 0; kind < 6 * LSP_STRATEGIES && status == LSP_OK; kind++) {
        const bool scatter = kind % 3 > 0, planned = kind / 3 % 2;
        const lsp_strategy strategy = (lsp_strategy)(kind / 6);
        const lsp_column column = {
            .from = kind % 2 ? to : from, .to = kind % 2 ? from : to, .bytes = 4, .type = LSP_I32};
        const lsp_gather_args args = {.n = n,
                                      .extent = n,
                                      .index = index,
                                      .index_type = LSP_I32,
                                      .columns = &column,
                                      .column_count = 1,
                                      .rule = kind % 3 == 1 ? LSP_SCATTER_LAST : LSP_SCATTER_ADD,
                                      .strategy = strategy,
                                      .passes = 3};
        if ((strategy != LSP_STRATEGY_STAGE || scatter || planned) &&
            (strategy != LSP_STRATEGY_INVERT || (scatter && planned))) {
            status = move(ctx, &args, scatter, planned);
        }
    }
    for (int64_t i = 0; i < n && status == LSP_OK; i++) {
        from[i] = (int32_t)(((uint32_t)from[i] ^ (uint32_t)to[i]) % (uint32_t)B->cols);
    }
    free(index);
    free(to);
    return status;
}

/* The columns of A are keys that repeat. B's columns are the positions of their first occurrences and the sums of the
 * positions of all, modulo the number of columns; B is a pattern. */
lsp_status tsan_hash_search(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_status status = lsp_csr_copy(ctx, A, &(lsp_csr_types){.drop_values = true}, B);
    if (status != LSP_OK) {
        return status;
    }
    const int64_t n = B->nnz, probes = n < 50000 ? n : 50000;
    lsp_hash *table = NULL;
    int32_t *keys = B->col;
    uint32_t *first = malloc((size_t)n * sizeof *first), *all = NULL;
    int64_t *offsets = malloc((size_t)(probes + 1) * sizeof *offsets), total = 0;
    const lsp_hash_args args = {
        .n = n, .key_type = LSP_I32, .value_bytes = 4, .keys = keys, .flags = LSP_HASH_POSITIONS};
    status = first && offsets ? lsp_hash_build(ctx, &args, &table) : LSP_ERR_MEMORY;
    lsp_hash_probes search = {.n = n, .keys = keys, .values = first, .offsets = offsets};
    status = status ? status : lsp_hash_find(table, &search);
    search.n = probes;
    status = status ? status : lsp_hash_count(table, &search);
    search.capacity = status ? 0 : offsets[probes];
    all = malloc((size_t)(search.capacity + 1) * sizeof *all);
    search.values = all;
    status = status ? status : all ? lsp_hash_find_all(table, &search, &total) : LSP_ERR_MEMORY;
    for (int64_t i = 0; i < n && status == LSP_OK; i++) {
        uint64_t sum = first[i];
        for (int64_t k = i < probes ? offsets[i] : 0; i < probes && k < offsets[i + 1]; k++) {
            sum += all[k];
        }
        first[i] = (uint32_t)(sum % (uint64_t)B->cols);
    }
    if (status == LSP_OK) {
        memcpy(B->col, first, (size_t)n * sizeof *first);
    }
    lsp_hash_destroy(table);
    free(first), free(all), free(offsets);
    return status;
}
