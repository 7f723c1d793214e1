/* The tables of limits that choose a GPU sort's kernels: the shipped one, and a caller's own. */
#include "segsort/gpu/table.h"
#include "segsort/job.h"
#include <string.h>

/* As `sparse-bench segsort --tune` printed it on an NVIDIA H200, for every GPU; it would also leave out class 22 there,
 * for half a percent. */
static const lsp_segsort_table shipped = {.small_items = 65536,
                                          .few_items = 1048576,
                                          .tile_longest = 64,
                                          .select_first = LSP_SORT_SELECT_FIRST,
                                          .select_shortest = 1024,
                                          .class_longest = {40,   48,   48,   64,   80,   96,   96,    128,   160,
                                                            192,  224,  256,  320,  384,  448,  512,   640,   768,
                                                            896,  1024, 1280, 1536, 1792, 2048, 2560,  3072,  3584,
                                                            4096, 5120, 6144, 7168, 8192, 8192, 12288, 12288, 16384}};

int32_t lsp_segsort_class_most(int c) {
    const bool offered = c < 32 ? c != 2 && c != 6 : c % 2 == 1;
    return c < 0 || c >= LSP_SORT_CLASSES ? 0
           : offered                      ? (2 << c / 4) * (20 + c % 4 * 4)
                                          : lsp_segsort_class_most(c - 1);
}

const lsp_segsort_table *lsp_segsort_table_of(lsp_ctx *ctx) {
    const lsp_segsort_table *own = ctx->tables[LSP_TABLE_SEGSORT];
    return own != NULL ? own : &shipped;
}

static lsp_status check_table(lsp_ctx *ctx, const lsp_segsort_table *table) {
    LSP_REQUIRE(table->small_items >= 0 && table->small_items <= LSP_SORT_SMALL_ITEMS, LSP_ERR_ARGUMENT,
                "small_items is %d: 0 to %d are offered", table->small_items, LSP_SORT_SMALL_ITEMS);
    LSP_REQUIRE(table->few_items >= 0, LSP_ERR_ARGUMENT, "few_items is %d: it cannot be negative", table->few_items);
    LSP_REQUIRE(table->tile_longest >= 1 && table->tile_longest <= LSP_SORT_TILE_LONGEST, LSP_ERR_ARGUMENT,
                "tile_longest is %d: 1 to %d are offered", table->tile_longest, LSP_SORT_TILE_LONGEST);
    LSP_REQUIRE(table->select_first >= 0 && table->select_first <= LSP_SORT_SELECT_FIRST, LSP_ERR_ARGUMENT,
                "select_first is %d: 0 to %d are offered", table->select_first, LSP_SORT_SELECT_FIRST);
    LSP_REQUIRE(table->select_shortest >= LSP_SORT_TILE_LONGEST && table->select_shortest <= lsp_segsort_class_most(31),
                LSP_ERR_ARGUMENT, "select_shortest is %d: %d to %d are offered", table->select_shortest,
                LSP_SORT_TILE_LONGEST, lsp_segsort_class_most(31));
    for (int c = 0; c < LSP_SORT_CLASSES; c++) {
        const int before = c > 0 ? table->class_longest[c - 1] : 0;
        const int capacity =
            lsp_segsort_class_most(c) > lsp_segsort_class_most(c - 1) ? lsp_segsort_class_most(c) : before;
        LSP_REQUIRE(table->class_longest[c] >= before && table->class_longest[c] <= capacity, LSP_ERR_ARGUMENT,
                    "class_longest[%d] is %d: %d to %d are offered there", c, table->class_longest[c], before,
                    capacity);
    }
    for (int c = LSP_SORT_CLASSES - 5; c < LSP_SORT_CLASSES; c += 4) { /* class 31, and the last one */
        LSP_REQUIRE(table->class_longest[c] == lsp_segsort_class_most(c), LSP_ERR_ARGUMENT,
                    "class_longest[%d] is %d: there it must be %d", c, table->class_longest[c],
                    lsp_segsort_class_most(c));
    }
    return LSP_OK;
}

lsp_status lsp_sort_table_place(lsp_ctx *ctx, const void *place) {
    LSP_REQUIRE(place != NULL, LSP_ERR_ARGUMENT, "the place for the table is NULL");
    LSP_REQUIRE(ctx->options.device == LSP_CUDA, LSP_ERR_ARGUMENT,
                "the context works on the host: tables are for the sort on a GPU");
    return LSP_OK;
}

lsp_status lsp_sort_keep_table(lsp_ctx *ctx, lsp_table which, const void *table, size_t bytes) {
    void **own = &ctx->tables[which];
    if (table == NULL) {
        lsp_free(ctx, *own);
        *own = NULL;
        return LSP_OK;
    }
    if (*own == NULL) {
        LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, bytes, own));
    }
    memcpy(*own, table, bytes);
    return LSP_OK;
}

lsp_status lsp_segsort_set_table(lsp_ctx *ctx, const lsp_segsort_table *table) {
    LSP_ENTER(ctx);
    LSP_TRY(lsp_sort_table_place(ctx, ctx));
    LSP_TRY(table != NULL ? check_table(ctx, table) : LSP_OK);
    return lsp_sort_keep_table(ctx, LSP_TABLE_SEGSORT, table, sizeof *table);
}

lsp_status lsp_segsort_get_table(lsp_ctx *ctx, lsp_segsort_table *table) {
    LSP_ENTER(ctx);
    LSP_TRY(lsp_sort_table_place(ctx, table));
    *table = *lsp_segsort_table_of(ctx);
    return LSP_OK;
}
