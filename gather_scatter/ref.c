/* The specification of gather and scatter: one loop over the positions in their order, one thread. */
#include "gather_scatter.h"
#include <string.h>

/* *to += *from. Integers wrap around. */
static void add(void *to, const void *from, lsp_type type) {
    switch (type) {
    case LSP_F32:
        *(float *)to += *(const float *)from;
        break;
    case LSP_F64:
        *(double *)to += *(const double *)from;
        break;
    case LSP_I32:
        *(uint32_t *)to += *(const uint32_t *)from;
        break;
    default:
        *(uint64_t *)to += *(const uint64_t *)from;
    }
}

void lsp_gather_ref(const lsp_gather_job *job, int64_t *bad) {
    const lsp_gather_args *args = &job->args;
    *bad = -1;
    for (int64_t i = 0; i < args->n; i++) {
        const int64_t index = lsp_index_at(args->index, args->index_type, i);
        if (index < 0 || index >= args->extent) {
            *bad = *bad < 0 ? i : *bad;
            continue;
        }
        for (int64_t c = 0; c < args->column_count; c++) {
            const lsp_column *column = &args->columns[c];
            const int64_t at = job->scatter ? i : index, to_at = job->scatter ? index : i;
            const char *from = (const char *)column->from + (size_t)at * column->bytes;
            char *to = (char *)column->to + (size_t)to_at * column->bytes;
            if (job->scatter && args->rule == LSP_SCATTER_ADD) {
                add(to, from, column->type);
            } else {
                memcpy(to, from, column->bytes);
            }
        }
    }
}
