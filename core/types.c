/* Bytes and names of the types of values and indices. */
#include "core.h"

size_t lsp_type_bytes(lsp_type type) {
    static const unsigned char bytes[] = {[LSP_I32] = 4, [LSP_I64] = 8, [LSP_U32] = 4,  [LSP_U64] = 8,
                                          [LSP_F32] = 4, [LSP_F64] = 8, [LSP_C64] = 16, [LSP_BOOL] = 1};
    return (unsigned)type < sizeof bytes ? bytes[type] : 0;
}

const char *lsp_type_name(lsp_type type) {
    static const char *const names[] = {"LSP_NONE", "LSP_I32", "LSP_I64", "LSP_U32", "LSP_U64",
                                        "LSP_F32",  "LSP_F64", "LSP_C64", "LSP_BOOL"};
    return (unsigned)type < sizeof names / sizeof *names ? names[type] : "?";
}
