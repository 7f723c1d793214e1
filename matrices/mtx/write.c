/* The public writer: the arguments are checked, then the header and the entries go to a sink. */
#include "write.h"
#include "core/cuda.h"
#include "matrices/matrices.h"

#include <stdio.h>

/* ---- the header ---- */

static int put_text(lsp_mtx_sink *sink, const char *text) { return lsp_mtx_sink_put(sink, text, strlen(text)); }

/* Writes each line of the comment with a percent sign before it. */
static int put_comment(lsp_mtx_sink *sink, const char *comment) {
    int error = 0;
    while (comment && *comment && !error) {
        size_t length = strcspn(comment, "\r\n");
        error = put_text(sink, length ? "% " : "%");
        error = error ? error : lsp_mtx_sink_put(sink, comment, length);
        error = error ? error : put_text(sink, "\n");
        comment += length;
        comment += *comment == '\r' && comment[1] == '\n';
        comment += *comment != 0;
    }
    return error;
}

static lsp_status write_header(const lsp_csr *A, const lsp_mtx_write_options *options, int64_t entries,
                               lsp_mtx_sink *sink) {
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    char line[128];
    snprintf(line, sizeof line, "%%%%MatrixMarket matrix coordinate %s %s\n",
             A->val_type == LSP_NONE                                            ? "pattern"
             : A->val_type == LSP_C64                                           ? "complex"
             : options->field == LSP_MTX_INTEGER || lsp_is_integer(A->val_type) ? "integer"
                                                                                : "real",
             symmetries[options->symmetry]);
    int error = put_text(sink, line);
    error = error ? error : put_comment(sink, options->comment);
    snprintf(line, sizeof line, "%lld %lld %lld\n", (long long)A->rows, (long long)A->cols, (long long)entries);
    error = error ? error : put_text(sink, line);
    return error ? lsp_mtx_sink_fail(sink, error) : LSP_OK;
}

/* Copies the row pointers of a matrix on the GPU to the host; its entries stay. */
static lsp_status bring_rows(lsp_ctx *ctx, lsp_csr *A) {
    const int64_t bytes = (A->rows + 1) * (int64_t)lsp_type_bytes(A->rowptr_type);
    const void *there = A->rowptr;
    if (A->where == LSP_CUDA) {
        LSP_TRY(lsp_scratch_bytes(ctx, bytes, 1, false, &A->rowptr));
        LSP_TRY(lsp_cuda_copy(ctx, A->rowptr, LSP_HOST, there, LSP_CUDA, bytes));
    }
    return LSP_OK;
}

/* Can values of this type be written in this field? */
static lsp_status check_field(lsp_ctx *ctx, lsp_type val_type, lsp_mtx_field field) {
    LSP_REQUIRE(field == LSP_MTX_REAL || field == LSP_MTX_INTEGER, LSP_ERR_ARGUMENT,
                "the field of a file is %d: 0 (the field that fits the values) or LSP_MTX_INTEGER is needed",
                (int)field);
    LSP_REQUIRE(field == LSP_MTX_REAL || (val_type != LSP_NONE && val_type != LSP_C64), LSP_ERR_ARGUMENT,
                "a %s cannot be written as integers", val_type == LSP_C64 ? "complex matrix" : "pattern");
    return LSP_OK;
}

static lsp_mtx_write_options given(const lsp_mtx_write_options *options) {
    return options ? *options : (lsp_mtx_write_options){.comment = NULL};
}

lsp_status lsp_mtx_write(lsp_ctx *ctx, const char *path, const lsp_csr *A, const lsp_mtx_write_options *options) {
    LSP_ENTER(ctx);
    LSP_OWNED_CSR(ctx, copy);
    lsp_mtx_sink sink LSP_AT_END(lsp_mtx_sink_drop) = {.file.fd = -1};
    const lsp_mtx_write_options how = given(options);
    const lsp_symmetry symmetry = how.symmetry;
    LSP_REQUIRE(path && *path, LSP_ERR_ARGUMENT, "the path is %s", path ? "empty" : "NULL");
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_REQUIRE((int)symmetry >= LSP_SYMMETRY_GENERAL && (int)symmetry <= LSP_SYMMETRY_HERMITIAN, LSP_ERR_ARGUMENT,
                "%d is no symmetry", (int)symmetry);
    LSP_TRY(check_field(ctx, A->val_type, how.field));
    LSP_TRY(lsp_check_reserved(ctx, "lsp_mtx_write_options", how.reserved));
    if (symmetry != LSP_SYMMETRY_GENERAL &&
        A->where == LSP_CUDA) { /* the comparison with the transpose works on the host */
        LSP_TRY(lsp_csr_copy(ctx, A, &(lsp_csr_types){A->rowptr_type, A->col_type, 0, false, LSP_PLACE_HOST}, &copy));
    }
    lsp_csr here = copy.rowptr ? copy : *A;
    LSP_TRY(bring_rows(ctx, &here));
    lsp_mtx_writing work = {.A = &here, .symmetry = symmetry};
    int64_t entries = here.nnz;
    LSP_TRY(symmetry != LSP_SYMMETRY_GENERAL ? lsp_mtx_check_symmetry(ctx, &here, symmetry, &entries) : LSP_OK);
    LSP_TRY(lsp_mtx_sink_open(ctx, path, &sink));
    sink.integers = how.field == LSP_MTX_INTEGER && !lsp_is_integer(A->val_type);
    if (sink.integers && here.where == LSP_HOST &&
        !sink.file.exists) { /* a text written in place cannot be taken back */
        LSP_TRY(lsp_mtx_check_integers(ctx, &work, &(lsp_mtx_stretch){0, here.nnz, here.col, here.val}, 0));
    }
    LSP_TRY(write_header(&here, &how, entries, &sink));
    LSP_TRY(lsp_mtx_write_entries(ctx, &work, &sink));
    LSP_TRY(lsp_mtx_sink_finish(&sink));
    lsp_progress(ctx, "write", 1);
    return LSP_OK;
}

/* ---- a matrix that comes in blocks of rows ---- */

lsp_status lsp_mtx_rows_check(lsp_ctx *ctx, lsp_type val_type, const lsp_mtx_write_options *options) {
    const lsp_mtx_write_options how = given(options);
    LSP_REQUIRE(how.symmetry == LSP_SYMMETRY_GENERAL, LSP_ERR_UNSUPPORTED,
                "a file of symmetry %d cannot be written in blocks of rows", (int)how.symmetry);
    LSP_TRY(lsp_check_reserved(ctx, "lsp_mtx_write_options", how.reserved));
    return check_field(ctx, val_type, how.field);
}

lsp_status lsp_mtx_rows_open(lsp_ctx *ctx, const char *path, const lsp_csr *sizes, const lsp_mtx_write_options *options,
                             lsp_mtx_sink *sink) {
    const lsp_mtx_write_options how = given(options);
    LSP_TRY(lsp_mtx_sink_open(ctx, path, sink));
    sink->integers = how.field == LSP_MTX_INTEGER && !lsp_is_integer(sizes->val_type);
    return write_header(sizes, &how, sizes->nnz, sink);
}

lsp_status lsp_mtx_rows_put(lsp_ctx *ctx, int64_t first_row, const lsp_csr *rows, lsp_mtx_sink *sink) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_csr here = *rows;
    LSP_TRY(bring_rows(ctx, &here));
    lsp_mtx_writing work = {.A = &here, .first_row = first_row, .symmetry = LSP_SYMMETRY_GENERAL};
    return lsp_mtx_write_entries(ctx, &work, sink);
}
