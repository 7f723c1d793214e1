/* The order of keys that the arguments ask for, as a map of keys to unsigned numbers (lsp_key_order): flip the sign bit
 * of signed keys, all other bits of negative floats too, and every bit to descend. If both zeros are equal, the bits of
 * a negative float are taken for an integer and lowered by one first. */
#include "job.h"

lsp_key_order lsp_segsort_order(const lsp_segsort_args *args) {
    bool wide = lsp_type_bytes(args->key_type) == 8;
    bool is_float = args->key_type == LSP_F32 || args->key_type == LSP_F64;
    bool is_signed = is_float || args->key_type == LSP_I32 || args->key_type == LSP_I64;
    uint64_t sign = wide ? (uint64_t)1 << 63 : (uint64_t)1 << 31, all = sign | (sign - 1);
    lsp_key_order order = {.is_float = is_float, .bias = is_signed ? sign : 0, .keep = all, .nan_above = sign - 1};
    if (is_float) {
        order.flip = sign - 1;
        order.nan_above = wide ? (uint64_t)0x7FF << 52 : (uint64_t)0xFF << 23;
    }
    if (is_float && args->flags & LSP_SORT_EQUAL_ZEROS) { /* flipped, k - 1 counts magnitudes from 1, so -0 meets +0 */
        order.step = 1;
    }
    if (args->flags & LSP_SORT_DESCENDING) {
        order.bias ^= all;
    }
    if (args->end_bit > 0) {
        order.keep = UINT64_MAX >> (64 - args->end_bit) & UINT64_MAX << args->begin_bit;
    }
    return order;
}
