/* Sorts two segments, 5 2 9 and 4 1, with their values; prints 2 5 9, 1 4. */
#include <libsparse.h>
#include <stdio.h>

int main(void) {
    uint32_t keys[] = {5, 2, 9, 4, 1}, values[] = {0, 1, 2, 3, 4};
    int32_t offsets[] = {0, 3, 5};
    lsp_segsort_args sort = {.n = 5,
                             .segments = 2,
                             .offsets = offsets,
                             .offset_type = LSP_I32,
                             .key_type = LSP_U32,
                             .value_bytes = 4,
                             .keys = keys,
                             .keys_out = keys,
                             .values = values,
                             .values_out = values};
    lsp_ctx *ctx = NULL;
    int failed = lsp_ctx_create(&ctx, NULL, NULL, 0) || lsp_segsort(ctx, &sort, NULL);
    printf("%u %u %u, %u %u\n", keys[0], keys[1], keys[2], keys[3], keys[4]);
    lsp_ctx_destroy(ctx);
    return failed;
}
