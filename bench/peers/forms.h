/* Other forms of a CSR matrix, made on the host for peers that multiply by them. */
#pragma once

#include "libsparse.h"

enum { PEER_SLICE = 32 };

/* Slices of 32 rows, each as wide as its longest row, entries by columns of the slice; padding has column -1. */
typedef struct peer_slices {
    int64_t count, stored; /* slices; entries with padding */
    int32_t *offsets, *col;
    void *val;
} peer_slices;

/* A has int32 indices and values. Sets `stored` first; false: more than `most` entries, or no memory. */
bool peer_slices_make(const lsp_csr *A, int64_t most, peer_slices *slices);
void peer_slices_free(peer_slices *slices);

/* The row of each entry; the caller frees it. NULL: no memory. */
int32_t *peer_rows_of_entries(const int32_t *rowptr, int64_t rows);
