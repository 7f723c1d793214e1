/* C = op(A)*op(B) into a Matrix Market file: streamed twice, because the file's header states the number of entries.
 * The first stream counts them. */
#include "matrices/mtx/sink.h"
#include "spgemm.h"

typedef struct counting {
    int64_t rows, nnz;
} counting;

static lsp_status count_entries(void *user, int64_t first_row, const lsp_csr *rows) {
    counting *count = user;
    count->rows = first_row + rows->rows;
    count->nnz += rows->nnz;
    return LSP_OK;
}

typedef struct filing {
    lsp_ctx *ctx;
    lsp_mtx_sink *sink;
} filing;

static lsp_status write_rows(void *user, int64_t first_row, const lsp_csr *rows) {
    filing *file = user;
    return lsp_mtx_rows_put(file->ctx, first_row, rows, file->sink);
}

lsp_status lsp_spgemm_write(lsp_ctx *ctx, const char *path, const lsp_csr *A, const lsp_csr *B,
                            const lsp_spgemm_options *options, int64_t block_bytes,
                            const lsp_mtx_write_options *file_options, lsp_spgemm_info *info) {
    LSP_ENTER(ctx);
    lsp_mtx_sink sink LSP_AT_END(lsp_mtx_sink_drop) = {.file.fd = -1};
    options = lsp_spgemm_given(options);
    lsp_spgemm_options pattern = *options;
    counting count = {0};
    filing file = {ctx, &sink};
    const lsp_spgemm_receiver counter = {count_entries, &count, block_bytes, true};
    const lsp_spgemm_receiver writer = {write_rows, &file, block_bytes, true};
    if (!options->filter.drop && options->filter.largest == 0) { /* counting needs no values */
        pattern.types.val_type = LSP_NONE;
        pattern.types.drop_values = true;
    }
    LSP_REQUIRE(path != NULL && *path, LSP_ERR_ARGUMENT, "the path is %s", path ? "empty" : "NULL");
    LSP_TRY(lsp_spgemm_check_stream(ctx, A, B, options, block_bytes)); /* all options, because the count omits some */
    LSP_TRY(lsp_mtx_rows_check(ctx, lsp_spgemm_result_type(A, B, options), file_options));
    LSP_TRY(lsp_spgemm_stream_to(ctx, A, B, &pattern, &counter, NULL));
    const lsp_csr sizes = {.rows = count.rows,
                           .cols = options->transpose_b ? B->rows : B->cols,
                           .nnz = count.nnz,
                           .val_type = lsp_spgemm_result_type(A, B, options)};
    LSP_TRY(lsp_mtx_rows_open(ctx, path, &sizes, file_options, &sink));
    LSP_TRY(lsp_spgemm_stream_to(ctx, A, B, options, &writer, info));
    return lsp_mtx_sink_finish(&sink);
}
