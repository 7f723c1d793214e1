/* The items from which lsp_csr_file makes a matrix. */
#ifndef LSP_MATRICES_CSR_FILING_H
#define LSP_MATRICES_CSR_FILING_H

#include "libsparse.h"

/* Items for the rows of B: item k goes to row row[k]. Its column is col[k], or, when `by` is given, the row of entry k
 * in `by`. val has B's value type. All indices are in range, and all arrays lie where B does. */
typedef struct lsp_filing {
    int64_t n;
    const void *row, *col, *val;
    lsp_type index_type; /* of row and col */
    const lsp_csr *by;
} lsp_filing;

#endif
