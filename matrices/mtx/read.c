/* The public reader: opens the text, reads the header and the body, and converts the matrix to the types asked for. */
#include "matrices/matrices.h"
#include "mtx.h"

#include "core/isa.h"

/* Reads from an opened source. */
static lsp_status read_source(lsp_ctx *ctx, lsp_mtx_reader *reader, lsp_csr *A, lsp_mtx_info *info) {
    const lsp_mtx_header *header = &reader->header;
    const lsp_mtx_source *source = &reader->source;
    const lsp_csr_types *types = &reader->options.types;
    char *buffer;
    const bool body = !reader->options.header_only;
    LSP_TRY(body ? lsp_mtx_check_memory(ctx, source, 2 * lsp_mtx_stream_bytes(source)) : LSP_OK);
    LSP_TRY(LSP_SCRATCH(ctx, lsp_mtx_stream_bytes(source), &buffer));
    LSP_TRY(lsp_mtx_read_header(ctx, source, buffer, &reader->header));
    if (body) {
        bool real = types->val_type == LSP_F32 || types->val_type == LSP_F64;
        LSP_REQUIRE(header->field != LSP_MTX_COMPLEX || !real || types->drop_values, LSP_ERR_UNSUPPORTED,
                    "%s: its values are complex: they can be read as such or not at all, but not as real numbers",
                    source->name);
        const bool integers = lsp_is_integer(types->val_type) && !types->drop_values;
        LSP_REQUIRE(!integers || header->field == LSP_MTX_INTEGER || header->field == LSP_MTX_PATTERN,
                    LSP_ERR_UNSUPPORTED, "%s: its values are %s: they cannot be read as integers of type %s",
                    source->name, header->field == LSP_MTX_REAL ? "real" : "complex", lsp_type_name(types->val_type));
        reader->header.whole = integers && header->field == LSP_MTX_INTEGER ? types->val_type : LSP_NONE;
        LSP_TRY(lsp_mtx_read_body(ctx, reader));
        LSP_TRY(lsp_csr_retype(ctx, types, &reader->A)); /* ones for a pattern, another place */
        *A = reader->A;
        reader->A = (lsp_csr){0};
    }
    if (info) {
        *info = (lsp_mtx_info){.format = header->format,
                               .field = header->field,
                               .symmetry = header->symmetry,
                               .rows = header->rows,
                               .cols = header->cols,
                               .entries = header->entries,
                               .duplicates = reader->duplicates,
                               .bytes = source->bytes,
                               .compressed = source->compressed};
    }
    return LSP_OK;
}

static void close_source(lsp_mtx_reader *reader) { lsp_mtx_close(&reader->source); }

/* Reads a path, or a text in memory, which has this name in messages. */
static lsp_status read_from(lsp_ctx *ctx, const char *name, const lsp_mtx_bytes *text,
                            const lsp_mtx_read_options *options, lsp_csr *A, lsp_mtx_info *info) {
    LSP_ENTER(ctx);
    lsp_mtx_read_options none = {.lenient = false};
    lsp_mtx_reader reader LSP_AT_END(close_source) = {.source.fd = -1, .options = options ? *options : none};
    const lsp_csr_owner matrix LSP_AT_END(lsp_csr_leave) = {ctx, &reader.A};
    lsp_csr_types fit;
    LSP_REQUIRE(name, LSP_ERR_ARGUMENT, "the path is NULL");
    LSP_REQUIRE(A || reader.options.header_only, LSP_ERR_ARGUMENT, "%s: the place for the matrix is NULL", name);
    LSP_REQUIRE(!text || text->next || text->left == 0, LSP_ERR_ARGUMENT, "%s: the text is NULL", name);
    LSP_REQUIRE(!text || text->left <= INT64_MAX / 2, LSP_ERR_ARGUMENT, "%s: %zu bytes of text cannot be", name,
                text->left);
    LSP_TRY(lsp_check_reserved(ctx, "lsp_mtx_read_options", reader.options.reserved));
    LSP_TRY(lsp_csr_resolve(ctx, 0, 0, LSP_NONE, &reader.options.types, &fit)); /* refuses types that do not exist */
    reader.decode = LSP_ISA_PICK(ctx->isa, lsp_mtx_decode);
    LSP_TRY(text ? lsp_mtx_open_memory(ctx, text, name, &reader.source) : lsp_mtx_open(ctx, name, &reader.source));
    LSP_TRY(read_source(ctx, &reader, A, info));
    lsp_progress(ctx, "read", 1);
    return LSP_OK;
}

lsp_status lsp_mtx_read(lsp_ctx *ctx, const char *path, const lsp_mtx_read_options *options, lsp_csr *A,
                        lsp_mtx_info *info) {
    return read_from(ctx, path, NULL, options, A, info);
}

lsp_status lsp_mtx_read_memory(lsp_ctx *ctx, const void *text, size_t bytes, const char *name,
                               const lsp_mtx_read_options *options, lsp_csr *A, lsp_mtx_info *info) {
    return read_from(ctx, name, &(lsp_mtx_bytes){.fd = -1, .next = text, .left = bytes}, options, A, info);
}
