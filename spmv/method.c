/* The names of the methods. */
#include "spmv.h"

const char *lsp_spmv_method_name(lsp_spmv_method method) {
    static const char *const names[LSP_SPMV_METHODS] = {"auto",      "reference", "rows",    "equal",    "gather",
                                                        "diagonals", "blocks",    "lengths", "propagate"};
    return (unsigned)method < LSP_SPMV_METHODS ? names[method] : NULL;
}
