/* Fuzz target of the Matrix Market reader. No text may crash it, and every matrix that it accepts must be the same, bit
 * for bit, after it was written and read again. The first byte of the input chooses options; the rest is the file. */
#include "libsparse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool condition, const char *what, const lsp_ctx *ctx) {
    if (!condition) {
        fprintf(stderr, "%s: %s\n", what, lsp_last_error(ctx));
        abort();
    }
}

/* Writes A, reads it again and compares. */
static void check_round_trip(lsp_ctx *ctx, const lsp_csr *A) {
    char path[64];
    lsp_csr B;
    lsp_csr_difference difference;
    lsp_mtx_read_options options = {.types = {A->rowptr_type, A->col_type, A->val_type, false, LSP_PLACE_HOST}};
    snprintf(path, sizeof path, "/tmp/fuzz_mtx_%ld.mtx", (long)getpid());
    require(lsp_mtx_write(ctx, path, A, NULL) == LSP_OK, "write", ctx);
    require(lsp_mtx_read(ctx, path, &options, &B, NULL) == LSP_OK, "read back", ctx);
    require(lsp_csr_compare(ctx, A, &B, &difference) == LSP_OK, "compare", ctx);
    require(difference.same_pattern && difference.max_rel == 0, "the matrix has changed", ctx);
    lsp_csr_free(ctx, &B);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static const lsp_type types[4] = {LSP_NONE, LSP_F32, LSP_F64, LSP_C64};
    if (bytes == 0) {
        return 0;
    }
    lsp_ctx *ctx = NULL;
    lsp_csr A, before;
    lsp_mtx_info info;
    lsp_ctx_options choice = {.threads = 1 + (data[0] & 1), .max_bytes = 64 << 20};
    lsp_mtx_read_options options = {.lenient = data[0] & 2,
                                    .keep_triangle = data[0] & 4,
                                    .header_only = data[0] & 8,
                                    .types = {.val_type = types[data[0] >> 4 & 3], .drop_values = data[0] & 64}};
    memset(&A, 0x5a, sizeof A);
    before = A;
    require(lsp_ctx_create(&ctx, &choice, NULL, 0) == LSP_OK, "create", ctx);
    lsp_status status = lsp_mtx_read_memory(ctx, data + 1, bytes - 1, "fuzz", &options, &A, &info);
    if (status != LSP_OK || options.header_only) {
        require(memcmp(&A, &before, sizeof A) == 0, "the output was touched", ctx);
        require(status == LSP_OK || lsp_last_error(ctx)[0] != 0, "no sentence", ctx);
    } else {
        require(lsp_csr_check(ctx, &A, LSP_CHECK_SORTED | LSP_CHECK_UNIQUE) == LSP_OK, "check", ctx);
        require(A.rows == info.rows && A.cols == info.cols, "sizes", ctx);
        if (A.rows < 1000 && data[0] & 128) {
            check_round_trip(ctx, &A);
        }
    }
    lsp_ctx_destroy(ctx);
    return 0;
}
