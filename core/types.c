/* What a type of values or indices is. */
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
    case LSP_NONE:
        break;
    }
    return 0;
}
