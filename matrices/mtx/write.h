/* Shared by the files of the Matrix Market writer: write.c calls entries.c and symmetry.c. */
#pragma once

#include "sink.h"

typedef struct lsp_mtx_writing {
    const lsp_csr *A;  /* its row pointers are on the host */
    int64_t first_row; /* the row of the file in which A begins */
    lsp_symmetry symmetry;
    int threads;
    char *texts; /* run_bytes for each thread */
    int64_t run_bytes;
} lsp_mtx_writing;

typedef struct lsp_mtx_stretch { /* the entries begin .. end-1 of A, on the host */
    int64_t begin, end;
    const void *col, *val;
} lsp_mtx_stretch;

/* Prints all entries to the sink. Takes scratch; sets work->threads, texts and run_bytes. */
lsp_status lsp_mtx_write_entries(lsp_ctx *ctx, lsp_mtx_writing *work, lsp_mtx_sink *sink);

/* Refuses the first entry from `begin` on whose value is not whole; the message has its place and value. */
lsp_status lsp_mtx_check_integers(lsp_ctx *ctx, const lsp_mtx_writing *work, const lsp_mtx_stretch *part,
                                  int64_t begin);

/* Checks that A, on the host, has this symmetry. *entries = the number at and below the diagonal. */
lsp_status lsp_mtx_check_symmetry(lsp_ctx *ctx, const lsp_csr *A, lsp_symmetry symmetry, int64_t *entries);
