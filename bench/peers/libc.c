/* Matrix Market as most programs do it with the C library: getline, strtol and strtod into triples; fprintf with 17
 * digits. */
#include "peers.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct triples {
    int64_t rows, cols, nnz;
    int32_t *row, *col;
    double *val; /* NULL: a pattern */
} triples;

static void destroy(void *self) {
    triples *t = self;
    free(t->row);
    free(t->col);
    free(t->val);
    free(t);
}

/* Reads banner, comments and sizes, and allocates the triples. */
static bool read_head(triples *t, FILE *file, char **line, size_t *capacity) {
    if (getline(line, capacity, file) < 0) {
        return false;
    }
    const bool pattern = strstr(*line, "pattern") != NULL;
    while (getline(line, capacity, file) >= 0 && **line == '%') {
    }
    char *at = *line;
    t->rows = strtol(at, &at, 10);
    t->cols = strtol(at, &at, 10);
    t->nnz = strtol(at, &at, 10);
    t->row = malloc((size_t)t->nnz * sizeof *t->row + 1);
    t->col = malloc((size_t)t->nnz * sizeof *t->col + 1);
    t->val = pattern ? NULL : malloc((size_t)t->nnz * sizeof *t->val + 1);
    return t->row && t->col && (t->val || pattern);
}

static void *read_file(const char *path) {
    triples *t = calloc(1, sizeof *t);
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0;
    int64_t k = -1;
    if (t && file && read_head(t, file, &line, &capacity)) {
        for (k = 0; k < t->nnz && getline(&line, &capacity, file) >= 0; k++) {
            char *at = line;
            t->row[k] = (int32_t)strtol(at, &at, 10) - 1;
            t->col[k] = (int32_t)strtol(at, &at, 10) - 1;
            if (t->val) {
                t->val[k] = strtod(at, NULL);
            }
        }
    }
    free(line);
    if (file) {
        fclose(file);
    }
    if (t && k != t->nnz) {
        destroy(t);
        t = NULL;
    }
    return t;
}

static void view(void *self, lsp_coo *A) {
    const triples *t = self;
    *A = (lsp_coo){.rows = t->rows,
                   .cols = t->cols,
                   .nnz = t->nnz,
                   .row = t->row,
                   .col = t->col,
                   .val = t->val,
                   .index_type = LSP_I32,
                   .val_type = t->val ? LSP_F64 : LSP_NONE};
}

/* The number of entries in the file. */
static int64_t count(const lsp_csr *A, peer_text text) {
    const int32_t *rowptr = A->rowptr, *col = A->col;
    int64_t entries = A->nnz;
    for (int64_t i = 0; i < A->rows && text.symmetric; i++) {
        for (int32_t p = rowptr[i]; p < rowptr[i + 1]; p++) {
            entries -= col[p] > i;
        }
    }
    return entries;
}

bool peer_libc_write(const lsp_csr *A, peer_text text, const char *path) {
    const int32_t *rowptr = A->rowptr, *col = A->col;
    const double *val = A->val_type == LSP_NONE ? NULL : A->val;
    FILE *file = fopen(path, "we");
    if (!file) {
        return false;
    }
    fprintf(file, "%%%%MatrixMarket matrix coordinate %s %s\n%lld %lld %lld\n",
            !val           ? "pattern"
            : text.integer ? "integer"
                           : "real",
            text.symmetric ? "symmetric" : "general", (long long)A->rows, (long long)A->cols,
            (long long)count(A, text));
    for (int64_t i = 0; i < A->rows; i++) {
        for (int32_t p = rowptr[i]; p < rowptr[i + 1]; p++) {
            const long long row = (text.by_columns ? col[p] : i) + 1, column = (text.by_columns ? i : col[p]) + 1;
            if (text.symmetric && column > row) {
                continue;
            }
            if (!val) {
                fprintf(file, "%lld %lld\n", row, column);
            } else if (text.integer) {
                fprintf(file, "%lld %lld %lld\n", row, column, (long long)val[p]);
            } else {
                fprintf(file, "%lld %lld %.17g\n", row, column, val[p]);
            }
        }
    }
    const bool written = !ferror(file);
    return fclose(file) == 0 && written;
}

typedef struct writer {
    lsp_csr A;
    peer_text text;
} writer;

static void *prepare(const lsp_csr *A, bool symmetric) {
    writer *w = malloc(sizeof *w);
    if (w) {
        *w = (writer){*A, {.symmetric = symmetric}};
    }
    return w;
}

static bool write_file(void *self, const char *path) {
    const writer *w = self;
    return peer_libc_write(&w->A, w->text, path);
}

const peer_reader peer_libc_reader = {true, read_file, view, destroy, PEER_C_LIBRARY};
const peer_writer peer_libc_writer = {true, prepare, write_file, free};
