/* Other forms of a CSR matrix. */
#include "forms.h"
#include <stdlib.h>
#include <string.h>

int32_t *peer_rows_of_entries(const int32_t *rowptr, int64_t rows) {
    int32_t *row = malloc((size_t)rowptr[rows] * sizeof *row + 4);
    for (int64_t i = 0; row && i < rows; i++) {
        for (int32_t k = rowptr[i]; k < rowptr[i + 1]; k++) {
            row[k] = (int32_t)i;
        }
    }
    return row;
}

/* Offsets of the slices, as far as 32 bits reach. */
static int64_t find_offsets(const int32_t *rowptr, int64_t rows, int32_t *offsets) {
    int64_t stored = 0;
    for (int64_t first = 0, s = 0; first < rows; first += PEER_SLICE, s++) {
        int32_t longest = 0;
        for (int64_t i = first; i < rows && i < first + PEER_SLICE; i++) {
            longest = rowptr[i + 1] - rowptr[i] > longest ? rowptr[i + 1] - rowptr[i] : longest;
        }
        stored += (int64_t)PEER_SLICE * longest;
        offsets[s + 1] = stored <= INT32_MAX ? (int32_t)stored : 0;
    }
    return stored;
}

static void fill(const lsp_csr *A, const peer_slices *s) {
    const int32_t *rowptr = A->rowptr, *col = A->col;
    const size_t bytes = lsp_type_bytes(A->val_type);
    char *val = s->val;
    memset(val, 0, (size_t)s->stored * bytes);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < A->rows; i++) {
        const int32_t *offset = s->offsets + i / PEER_SLICE;
        const int64_t width = (offset[1] - offset[0]) / PEER_SLICE;
        for (int64_t k = 0; k < width; k++) {
            const int64_t from = rowptr[i] + k, to = offset[0] + i % PEER_SLICE + k * PEER_SLICE;
            s->col[to] = from < rowptr[i + 1] ? col[from] : -1;
            if (from < rowptr[i + 1]) {
                memcpy(val + (size_t)to * bytes, (const char *)A->val + (size_t)from * bytes, bytes);
            }
        }
    }
    for (int64_t i = A->rows; i < s->count * PEER_SLICE; i++) { /* rows that the last slice lacks */
        const int32_t *offset = s->offsets + i / PEER_SLICE;
        for (int64_t at = offset[0] + i % PEER_SLICE; at < offset[1]; at += PEER_SLICE) {
            s->col[at] = -1;
        }
    }
}

bool peer_slices_make(const lsp_csr *A, int64_t most, peer_slices *s) {
    *s = (peer_slices){.count = (A->rows + PEER_SLICE - 1) / PEER_SLICE};
    s->offsets = calloc((size_t)s->count + 1, sizeof *s->offsets);
    s->stored = s->offsets ? find_offsets(A->rowptr, A->rows, s->offsets) : 0;
    if (!s->offsets || s->stored > most || s->stored > INT32_MAX) {
        return false;
    }
    s->col = malloc((size_t)s->stored * sizeof *s->col + 4);
    s->val = malloc((size_t)s->stored * lsp_type_bytes(A->val_type) + 8);
    if (!s->col || !s->val) {
        return false;
    }
    fill(A, s);
    return true;
}

void peer_slices_free(peer_slices *s) {
    free(s->offsets);
    free(s->col);
    free(s->val);
    *s = (peer_slices){.count = 0};
}
