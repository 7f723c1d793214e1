/* C = op(A)*op(B) into a Matrix Market file: streamed twice, because the file's header states the number of entries.
 * The first stream counts them. */
#include "matrices/mtx/sink.h"
#include "spgemm.h"

static lsp_status write_rows(void *user, int64_t first_row, const lsp_csr *rows) {
    lsp_mtx_sink *sink = user;
    return lsp_mtx_rows_put(sink->ctx, first_row, rows, sink);
}

lsp_status lsp_spgemm_write(lsp_ctx *ctx, const char *path, const lsp_csr *A, const lsp_csr *B,
                            const lsp_spgemm_options *options, int64_t block_bytes,
                            const lsp_mtx_write_options *file_options, lsp_spgemm_info *info) {
    LSP_ENTER(ctx);
    lsp_mtx_sink sink LSP_AT_END(lsp_mtx_sink_drop) = {.file.fd = -1};
    options = lsp_spgemm_given(options);
    lsp_spgemm_options pattern = *options;
    lsp_spgemm_info counted;
    lsp_type type;
    lsp_spgemm_receiver to = {.block_bytes = block_bytes, .stays_cuda = true};
    if (!options->filter.drop && options->filter.largest == 0) { /* counting needs no values */
        pattern.types.val_type = LSP_NONE;
        pattern.types.drop_values = true;
    }
    LSP_REQUIRE(path != NULL && *path, LSP_ERR_ARGUMENT, "the path is %s", path ? "empty" : "NULL");
    LSP_TRY(lsp_spgemm_check_stream(ctx, A, B, options, block_bytes, &type)); /* all: the count omits some */
    LSP_TRY(lsp_mtx_rows_check(ctx, type, file_options));
    LSP_TRY(lsp_spgemm_stream_to(ctx, A, B, &pattern, &to, &counted));
    const lsp_csr sizes = {.rows = options->transpose_a ? A->cols : A->rows,
                           .cols = options->transpose_b ? B->rows : B->cols,
                           .nnz = counted.nnz,
                           .val_type = type};
    LSP_TRY(lsp_mtx_rows_open(ctx, path, &sizes, file_options, &sink));
    to.sink = write_rows;
    to.user = &sink;
    LSP_TRY(lsp_spgemm_stream_to(ctx, A, B, options, &to, info));
    return lsp_mtx_sink_finish(&sink);
}
