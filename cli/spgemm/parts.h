/* --devices: what each device has of a product. */
#pragma once

#include "devices.h"

/* The rows first_row .. first_row + rows - 1 of C on one device. */
typedef struct cli_part {
    int64_t first_row, rows;
    int64_t first_entry, nnz; /* of C */
    lsp_csr A, mask;          /* its rows of op(A) and of the mask, on the host */
    lsp_csr there[3];         /* A, B and the mask where it multiplies */
    lsp_csr C;                /* there, until it is gathered */
    bool streamed;            /* too large for the device: multiplied in blocks, once to count and once to gather */
    double ms;                /* of the fastest run of all devices */
    lsp_spgemm_info plan;
} cli_part;
