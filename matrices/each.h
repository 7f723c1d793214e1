/* Bodies of entries: what happens to entry k of row i of a matrix, which both devices share out by entries, however
 * long the rows are; and matrices made of the entries that such a body keeps. */
#pragma once

#include "core/each.h"
#include "matrices/matrices.h"

LSP_BEGIN_DECLS

/* ---- reading, with the constant types of a loop ---- */

LSP_BODY_FUNCTION int64_t lsp_col_of(const lsp_kind t, const lsp_csr *A, int64_t k) {
    return lsp_index_at(A->col, t.index, k);
}

/* Does a matrix of any types with sorted rows have an entry in row i and this column? */
LSP_BODY_FUNCTION bool lsp_has_entry(const lsp_csr *M, int64_t i, int64_t column) {
    const int64_t end = lsp_csr_rowptr(M, i + 1);
    const int64_t found = LSP_FIRST(lsp_csr_rowptr(M, i), end, middle, lsp_csr_col(M, middle) >= column);
    return found < end && lsp_csr_col(M, found) == column;
}

/* ---- each entry ---- */

/* Defines a body of entries. */
#define LSP_ENTRY_BODY(name, arguments)                                                                                \
    LSP_BODY_FUNCTION void name##_body(const arguments *a, const lsp_kind t, const int64_t i, const int64_t k,         \
                                       lsp_found *f)

/* One call: all entries of A. rowless: the body does not look at i. */
typedef struct lsp_entry_job {
    const void *args;
    const lsp_csr *A;
    bool rowless;
    lsp_found *found; /* NULL: nobody asks, and a GPU is not waited for */
} lsp_entry_job;
typedef lsp_status lsp_entry_cuda(lsp_ctx *ctx, const lsp_entry_job *job);
lsp_status lsp_each_entry(lsp_ctx *ctx, lsp_each_host *host, lsp_entry_cuda *cuda, lsp_entry_job job);

/* ---- entries that are kept ---- */

/* Defines a body that returns the new column of entry k of row i, or LSP_GONE. In LSP_PASS_COLUMN i is not set. */
#define LSP_KEEP_BODY(name, arguments)                                                                                 \
    LSP_BODY_FUNCTION int64_t name##_body(const arguments *a, const lsp_kind t, const int64_t i, const int64_t k)
#define LSP_GONE (-1)
LSP_BODY_FUNCTION int64_t lsp_kept(const lsp_kind t, bool stays, int64_t column) {
    return t.pass == LSP_PASS_COLUMN ? column : !stays ? LSP_GONE : t.pass == LSP_PASS_STAYS ? 0 : column;
}

/* The entries of wanted rows of A, one row after another. G: their row pointers. */
typedef struct lsp_taking {
    lsp_csr A;
    const void *rows; /* NULL: all */
    lsp_type rows_type;
    int64_t *starts; /* of the wanted rows; the last is the number of their entries */
    int64_t *shift;  /* entry e of wanted row i is entry e + shift[i] of A */
} lsp_taking;

/* Replaces counts[1 .. n] by their prefix sums; counts[0] = 0, and none is greater than `most`. Fails if the sum, the
 * entries of a matrix of rows x cols, is 2^62 or more. Waits for a GPU. */
lsp_status lsp_csr_add_up(lsp_ctx *ctx, lsp_where where, int64_t rows, int64_t cols, int64_t most, int64_t *counts,
                          int64_t n, int64_t *total);

/* B = the entries of A that a body keeps, in their order, with A's values. Its row i is row rows[i] of A. */
typedef struct lsp_keep {
    const void *args;
    const lsp_csr *A;
    const void *rows; /* NULL: the rows of A, one after the other */
    lsp_type rows_type;
    int64_t row_count;          /* with `rows` */
    int64_t cols;               /* of B */
    bool all;                   /* every entry is kept */
    bool rowless;               /* the body does not look at i */
    int64_t *sources;           /* unless NULL: gets the entry of A that each entry of B is; values are not set */
    const lsp_csr_types *types; /* of B's indices; NULL: as A's, wider where they must be */
    lsp_taking taken;           /* made by lsp_keep_entries, on a GPU if there is a list of rows */
    int64_t entries;            /* of these rows */
} lsp_keep;

typedef struct lsp_keep_run { /* a pass on the host */
    const lsp_keep *keep;
    int64_t *starts; /* of B's rows: starts[i + 1] is counted first */
    const lsp_csr *B;
    bool fills;
} lsp_keep_run;
typedef lsp_status lsp_keep_cuda(lsp_ctx *ctx, const lsp_keep *keep, lsp_csr *B);

lsp_status lsp_keep_entries(lsp_ctx *ctx, lsp_each_host *host, lsp_keep_cuda *cuda, lsp_keep keep, lsp_csr *B);

LSP_END_DECLS
