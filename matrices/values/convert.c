/* Arrays of values or indices in another type, or the same. */
#include "core/items.h"
#include "matrices/matrices.h"

enum { least_share = 1 << 15 };

typedef struct conversion {
    lsp_type to_type, from_type;
    void *to;
    const void *from;
} conversion;

LSP_INLINE void convert(lsp_type from_type, lsp_type to_type, void *to, const void *from, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        lsp_value_set(to_type, to, i, lsp_value_of(from_type, from, i));
    }
}
LSP_INLINE void convert_to(lsp_type to_type, const conversion *c, int64_t begin, int64_t end) {
    LSP_WITH_VALUE(c->from_type, convert, to_type, c->to, c->from, begin, end);
}
static void convert_share(void *data, int64_t begin, int64_t end) {
    const conversion *c = data;
    const size_t bytes = lsp_type_bytes(c->to_type), at = (size_t)begin * bytes;
    if (c->to_type == c->from_type) {
        memcpy((char *)c->to + at, (const char *)c->from + at, (size_t)(end - begin) * bytes);
    } else {
        LSP_WITH_VALUE(c->to_type, convert_to, c, begin, end);
    }
}

lsp_status lsp_convert_values(lsp_ctx *ctx, lsp_where where, lsp_type to_type, void *to, lsp_type from_type,
                              const void *from, int64_t n) {
    if (n == 0) {
        return LSP_OK;
    }
    if (where == LSP_CUDA) {
        return lsp_cuda_convert_values(ctx, to, to_type, from, from_type, n);
    }
    lsp_for_shares(ctx, n, least_share, convert_share, &(conversion){to_type, from_type, to, from});
    return LSP_OK;
}
