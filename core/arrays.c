/* Refuses arrays of a call, with a sentence that names them. */
#include "arrays.h"

enum { MOST_ALIGNMENT = 8 };

/* Do two arrays share a byte? */
static bool overlap(const lsp_named_array *a, const lsp_named_array *b) {
    const uintptr_t x = (uintptr_t)a->memory, y = (uintptr_t)b->memory;
    const uintptr_t bytes = (uintptr_t)(x < y ? a->items : b->items) * (x < y ? a->item_bytes : b->item_bytes);
    return (x < y ? y - x : x - y) < bytes;
}

lsp_status lsp_check_arrays(lsp_ctx *ctx, const lsp_named_array *list, int count) {
    for (int i = 0; i < count; i++) {
        const lsp_named_array *a = &list[i];
        const size_t alignment = a->item_bytes < MOST_ALIGNMENT ? a->item_bytes : MOST_ALIGNMENT;
        int64_t bytes;
        if (a->items == 0) {
            continue;
        }
        LSP_REQUIRE(lsp_mul(a->items, (int64_t)a->item_bytes, &bytes), LSP_ERR_ARGUMENT, "%lld %s cannot be in memory",
                    (long long)a->items, a->name);
        LSP_REQUIRE(a->memory != NULL, LSP_ERR_ARGUMENT, "the %s, %lld items, are NULL", a->name, (long long)a->items);
        LSP_REQUIRE((uintptr_t)a->memory % alignment == 0, LSP_ERR_ARGUMENT,
                    "the %s of %zu bytes lie at %p, which is no multiple of %zu", a->name, a->item_bytes, a->memory,
                    alignment);
        for (int j = 0; j < i; j++) {
            const lsp_named_array *b = &list[j];
            const bool in_place = a->pair > 0 && a->pair == b->pair && a->memory == b->memory;
            LSP_REQUIRE((!a->written && !b->written) || b->items == 0 || !overlap(a, b) || in_place, LSP_ERR_ARGUMENT,
                        "the %s and the %s overlap", b->name, a->name);
        }
    }
    return LSP_OK;
}
