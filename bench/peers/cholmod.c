/* CHOLMOD 3 (libsuitesparse-dev): cholmod_ssmult, and its Matrix Market reader and writer, on one thread. It stores
 * matrices by columns. The rows of A, taken as columns, are A^T; the columns of B^T * A^T = C^T are the rows of C. */
#include "peers.h"
#include <stdio.h>
#include <stdlib.h>
#include <suitesparse/cholmod.h>

typedef struct cholmod {
    cholmod_common common;
    cholmod_sparse A, B, *C;
    cholmod_triplet *read;
    lsp_csr transposed; /* A is a view of it; it has its own context */
    lsp_ctx *ctx;
} cholmod;

static cholmod *start(void) {
    cholmod *c = calloc(1, sizeof *c);
    if (c) {
        cholmod_start(&c->common);
        c->common.print = 0;
    }
    return c;
}

static void destroy(void *self) {
    cholmod *c = self;
    cholmod_free_sparse(&c->C, &c->common);
    cholmod_free_triplet(&c->read, &c->common);
    cholmod_finish(&c->common);
    lsp_ctx_destroy(c->ctx);
    free(c);
}

/* A view of A as its transpose. */
static cholmod_sparse flipped(const lsp_csr *A) {
    return (cholmod_sparse){.nrow = (size_t)A->cols,
                            .ncol = (size_t)A->rows,
                            .nzmax = (size_t)A->nnz,
                            .p = A->rowptr,
                            .i = A->col,
                            .x = A->val,
                            .itype = CHOLMOD_INT,
                            .dtype = CHOLMOD_DOUBLE,
                            .xtype = A->val_type == LSP_NONE ? CHOLMOD_PATTERN : CHOLMOD_REAL,
                            .sorted = 1,
                            .packed = 1};
}

static void *prepare_product(const peer_factors *f, int threads) {
    (void)threads;
    cholmod *c = start();
    if (c) {
        c->A = flipped(f->A);
        c->B = flipped(f->B);
    }
    return c;
}

static bool multiply(void *self) {
    cholmod *c = self;
    c->C = cholmod_ssmult(&c->B, &c->A, 0, 1, 1, &c->common);
    return c->C != NULL;
}

static void release(void *self) {
    cholmod *c = self;
    cholmod_free_sparse(&c->C, &c->common);
}

static void view(void *self, lsp_csr *out) {
    const cholmod_sparse *C = ((cholmod *)self)->C;
    *out = (lsp_csr){.rows = (int64_t)C->ncol,
                     .cols = (int64_t)C->nrow,
                     .nnz = ((const int *)C->p)[C->ncol],
                     .rowptr = C->p,
                     .col = C->i,
                     .val = C->x,
                     .rowptr_type = LSP_I32,
                     .col_type = LSP_I32,
                     .val_type = LSP_F64};
}

static void *read_file(const char *path) {
    cholmod *c = start();
    FILE *file = c ? fopen(path, "re") : NULL;
    if (file) {
        c->read = cholmod_read_triplet(file, &c->common);
        fclose(file);
    }
    if (c && !c->read) {
        destroy(c);
        return NULL;
    }
    return c;
}

static void view_read(void *self, lsp_coo *out) {
    const cholmod_triplet *t = ((cholmod *)self)->read;
    *out = (lsp_coo){.rows = (int64_t)t->nrow,
                     .cols = (int64_t)t->ncol,
                     .nnz = (int64_t)t->nnz,
                     .row = t->i,
                     .col = t->j,
                     .val = t->xtype == CHOLMOD_PATTERN ? NULL : t->x,
                     .index_type = LSP_I32,
                     .val_type = t->xtype == CHOLMOD_PATTERN ? LSP_NONE : LSP_F64};
}

/* A by columns is A^T by rows, so transpose it. CHOLMOD finds out by itself whether A is symmetric. */
static void *prepare_write(const lsp_csr *A, bool symmetric) {
    (void)symmetric;
    cholmod *c = start();
    if (c && lsp_ctx_create(&c->ctx, NULL, NULL, 0) == LSP_OK &&
        lsp_csr_transpose(c->ctx, A, &c->transposed) == LSP_OK) {
        c->A = flipped(&c->transposed);
        return c;
    }
    if (c) {
        destroy(c);
    }
    return NULL;
}

static bool write_file(void *self, const char *path) {
    cholmod *c = self;
    FILE *file = fopen(path, "we");
    const bool written = file && cholmod_write_sparse(file, &c->A, NULL, NULL, &c->common) >= 0;
    return file && fclose(file) == 0 && written;
}

#define VERSION "CHOLMOD " PEER_VERSION(CHOLMOD_MAIN_VERSION, CHOLMOD_SUB_VERSION, CHOLMOD_SUBSUB_VERSION)
const peer_product peer_cholmod_product = {false, false,   false,   prepare_product, multiply,
                                           view,  release, destroy, VERSION};
const peer_reader peer_cholmod_reader = {true, read_file, view_read, destroy, VERSION};
const peer_writer peer_cholmod_writer = {true, prepare_write, write_file, destroy};
