/* Inside spmv: the format of LSP_SPMV_PACKED, the same on both devices: the matrix of the rows that have entries, which
 * shares the entries of A, and the numbers of these rows. */
#pragma once

#include "job.h"

LSP_BEGIN_DECLS

typedef struct lsp_packed {
    int64_t count; /* of its rows */
    int64_t *rows; /* row r of it is row rows[r] of A */
    void *rowptr;
    void *sums; /* of its rows: laid out as Y, without gaps */
} lsp_packed;

extern const lsp_spmv_engine lsp_spmv_packed; /* of both devices */

LSP_END_DECLS
