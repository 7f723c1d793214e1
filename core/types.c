/* Bytes and names of the types of values and indices. */
#include "core.h"

size_t lsp_type_bytes(lsp_type type) {
    switch (type) {
    case LSP_I32:
    case LSP_U32:
    case LSP_F32:
        return 4;
    case LSP_I64:
    case LSP_U64:
    case LSP_F64:
        return 8;
    case LSP_C64:
        return 16;
    case LSP_BOOL:
        return 1;
    case LSP_NONE:
        break;
    }
    return 0;
}

const char *lsp_type_name(lsp_type type) {
    static const char *const names[] = {"LSP_NONE", "LSP_I32", "LSP_I64", "LSP_U32", "LSP_U64",
                                        "LSP_F32",  "LSP_F64", "LSP_C64", "LSP_BOOL"};
    return (unsigned)type < sizeof names / sizeof *names ? names[type] : "?";
}
