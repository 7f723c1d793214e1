/* The specification of the order of suffixes. */
#include "suffix_array.h"

int64_t lsp_string_end(const lsp_text *text, int64_t i) {
    if (text->strings == 0) {
        return text->n;
    }
    return text->starts[LSP_FIRST((int64_t)0, text->strings, middle, text->starts[middle] > i)];
}

int lsp_suffix_compare_ref(const lsp_text *text, int64_t i, int64_t j) {
    const int64_t i_end = lsp_string_end(text, i), j_end = lsp_string_end(text, j);
    int64_t k = 0;
    for (; i + k < i_end && j + k < j_end; k++) {
        const uint32_t a = lsp_symbol_at(text->symbols, text->symbol_bytes, i + k);
        const uint32_t b = lsp_symbol_at(text->symbols, text->symbol_bytes, j + k);
        if (a != b) {
            return a < b ? -1 : 1;
        }
    }
    if (i + k < i_end || j + k < j_end) {
        return i + k == i_end ? -1 : 1;
    }
    return i < j ? -1 : i > j;
}
