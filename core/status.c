/* Names of statuses, the sentences of errors, and the log hook. */
#include "core.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *lsp_version(void) {
    return TEXT(LSP_VERSION_MAJOR) "." TEXT(LSP_VERSION_MINOR) "." TEXT(LSP_VERSION_PATCH);
}

const char *lsp_status_name(lsp_status status) {
    static const char *const names[] = {
        "LSP_OK",         "LSP_ERR_ARGUMENT",    "LSP_ERR_FORMAT",   "LSP_ERR_IO",          "LSP_ERR_MEMORY",
        "LSP_ERR_DEVICE", "LSP_ERR_UNSUPPORTED", "LSP_ERR_OVERFLOW", "LSP_ERR_CONVERGENCE", "LSP_ERR_CANCELLED"};
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : "?";
}

const char *lsp_last_error(const lsp_ctx *ctx) { return ctx ? ctx->error : "the context is NULL"; }

/* Formats into `text` of `bytes` bytes; a text that is too long is cut and ends in "...". */
static void format_text(char *text, size_t bytes, const char *format, va_list args) LSP_PRINTF(3, 0);
static void format_text(char *text, size_t bytes, const char *format, va_list args) {
    int length = vsnprintf(text, bytes, format, args);
    if (length >= 0 && (size_t)length >= bytes) {
        memcpy(text + bytes - 4, "...", 4);
    }
}

lsp_status lsp_fail(lsp_ctx *ctx, lsp_status status, const char *format, ...) {
    if (ctx) {
        char text[sizeof ctx->error]; /* a second buffer, because the arguments may point into ctx->error */
        va_list args;
        va_start(args, format);
        format_text(text, sizeof text, format, args);
        va_end(args);
        memcpy(ctx->error, text, sizeof text);
    }
    return status;
}

void lsp_log(lsp_ctx *ctx, const char *format, ...) {
    if (ctx->options.log) {
        char line[512];
        va_list args;
        va_start(args, format);
        format_text(line, sizeof line, format, args);
        va_end(args);
        ctx->options.log(ctx->options.hook_user, line);
    }
}

lsp_status lsp_go_on(lsp_ctx *ctx) {
    return lsp_stopped(ctx) ? lsp_fail(ctx, LSP_ERR_CANCELLED, "the call was stopped by lsp_ctx_cancel") : LSP_OK;
}

lsp_status lsp_check_reserved(lsp_ctx *ctx, const char *name, const int64_t reserved[LSP_RESERVED]) {
    for (int i = 0; i < LSP_RESERVED; i++) {
        if (reserved[i] != 0) {
            return lsp_fail(
                ctx, LSP_ERR_ARGUMENT,
                "reserved[%d] of %s is %lld: it must be 0 in libsparse %s (set the whole struct to zero first)", i,
                name, (long long)reserved[i], lsp_version());
        }
    }
    return LSP_OK;
}

lsp_size_text lsp_size(int64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    lsp_size_text size;
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 1024 && unit < 6; unit++) {
        value /= 1024;
    }
    snprintf(size.text, sizeof size.text, unit ? "%.2f %s" : "%.0f %s", value, bytes == 1 ? "byte" : units[unit]);
    return size;
}
