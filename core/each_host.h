/* The loops of a room's bodies on the host. The room defines LSP_WITH_KIND(kind, f, ...) before, an expression that
 * calls f(value type, index type, ...) with constants. */
#pragma once

#include "each.h"

void lsp_found_add(lsp_found *all, const lsp_found *mine); /* by any thread */

/* The arguments are a copy on the stack, so that what the loop writes cannot change them. */
#define LSP_ITEM_HOST(name, arguments)                                                                                 \
    static inline __attribute__((always_inline)) void name##_loop(                                                     \
        lsp_type val, lsp_type index, const lsp_each_job *job, int64_t begin, int64_t end) {                           \
        const arguments a = *(const arguments *)job->args;                                                             \
        lsp_found found = lsp_found_nothing();                                                                         \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            name##_body(&a, (lsp_kind){index, val, false}, i, &found);                                                 \
        }                                                                                                              \
        lsp_found_add(job->found, &found);                                                                             \
    }                                                                                                                  \
    void lsp_body_##name##_host(void *data, int64_t begin, int64_t end) {                                              \
        const lsp_each_job *job = data;                                                                                \
        LSP_WITH_KIND(job->kind, name##_loop, job, begin, end);                                                        \
    }
