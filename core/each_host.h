/* The loops of a room's bodies on the host. */
#pragma once

#include "each.h"

void lsp_found_add(lsp_found *all, const lsp_found *mine); /* by any thread */

/* The arguments are a copy on the stack, so that what the loop writes cannot change them. */
#define LSP_ITEM_LOOP(name, arguments)                                                                                 \
    LSP_BODY_FUNCTION void name##_loop(lsp_type index, lsp_type val, const lsp_each_job *job, int64_t begin,           \
                                       int64_t end) {                                                                  \
        const arguments a = *(const arguments *)job->args;                                                             \
        lsp_found found = lsp_found_nothing();                                                                         \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            name##_body(&a, (lsp_kind){index, val, LSP_PASS_BOTH}, i, &found);                                         \
        }                                                                                                              \
        lsp_found_add(job->found, &found);                                                                             \
    }
#define LSP_ITEM_HOST(name, arguments)                                                                                 \
    LSP_ITEM_LOOP(name, arguments)                                                                                     \
    void lsp_body_##name##_host(void *data, int64_t begin, int64_t end) {                                              \
        const lsp_each_job *job = data;                                                                                \
        job->kind.index == LSP_I64 ? name##_loop(LSP_I64, LSP_NONE, job, begin, end)                                   \
                                   : name##_loop(LSP_I32, LSP_NONE, job, begin, end);                                  \
    }
