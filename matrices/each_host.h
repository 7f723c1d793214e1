/* The loops of the bodies of this room on the host. */
#pragma once

#include "core/each_host.h"
#include "each.h"

/* Items with values: both types are constants. */
#define LSP_VALUE_LOOP(val, index, name, ...) name##_loop(index, val, __VA_ARGS__)
#define LSP_VALUE_HOST(name, arguments)                                                                                \
    LSP_ITEM_LOOP(name, arguments)                                                                                     \
    void lsp_body_##name##_host(void *data, int64_t begin, int64_t end) {                                              \
        const lsp_each_job *job = data;                                                                                \
        LSP_WITH_BOTH(job->kind.val, job->kind.index, LSP_VALUE_LOOP, name, job, begin, end);                          \
    }

#define LSP_ENTRY_HOST(name, arguments)                                                                                \
    LSP_INLINE void name##_loop(lsp_type val, lsp_type index, const lsp_entry_job *job, int64_t begin, int64_t end) {  \
        const arguments a = *(const arguments *)job->args;                                                             \
        const lsp_kind t = {index, val, LSP_PASS_BOTH};                                                                \
        const lsp_csr *A = job->A;                                                                                     \
        lsp_found found = lsp_found_nothing();                                                                         \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            for (int64_t k = lsp_csr_rowptr(A, i), stop = lsp_csr_rowptr(A, i + 1); k < stop; k++) {                   \
                name##_body(&a, t, i, k, &found);                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        lsp_found_add(job->found, &found);                                                                             \
    }                                                                                                                  \
    void lsp_body_##name##_host(void *data, int64_t begin, int64_t end) {                                              \
        const lsp_entry_job *job = data;                                                                               \
        LSP_WITH_BOTH(job->A->val_type, job->A->col_type, name##_loop, job, begin, end);                               \
    }

#define LSP_KEEP_HOST(name, arguments)                                                                                 \
    LSP_INLINE void name##_loop(lsp_type val, lsp_type index, bool fills, const lsp_keep_run *run, int64_t begin,      \
                                int64_t end) {                                                                         \
        const arguments a = *(const arguments *)run->keep->args;                                                       \
        const lsp_keep keep = *run->keep;                                                                              \
        const lsp_csr A = *keep.A, B = *run->B;                                                                        \
        const lsp_kind t = {index, val, fills ? LSP_PASS_BOTH : LSP_PASS_STAYS};                                       \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            const int64_t row = keep.rows ? lsp_index_at(keep.rows, keep.rows_type, i) : i;                            \
            const int64_t first = lsp_csr_rowptr(&A, row), stop = lsp_csr_rowptr(&A, row + 1);                         \
            int64_t to = fills ? run->starts[i] : 0;                                                                   \
            const int64_t last = fills ? run->starts[i + 1] : INT64_MAX;                                               \
            for (int64_t k = first; k < stop && to < last; k++) {                                                      \
                const int64_t column = name##_body(&a, t, row, k);                                                     \
                if (fills && column >= 0) {                                                                            \
                    lsp_index_set(B.col, B.col_type, to, column);                                                      \
                    if (keep.sources) {                                                                                \
                        keep.sources[to] = k;                                                                          \
                    } else {                                                                                           \
                        lsp_move_value(B.val, to, A.val, k, lsp_value_bytes(val));                                     \
                    }                                                                                                  \
                }                                                                                                      \
                to += column >= 0;                                                                                     \
            }                                                                                                          \
            if (!fills) {                                                                                              \
                run->starts[i + 1] = to;                                                                               \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    LSP_INLINE void name##_pass(lsp_type val, lsp_type index, const lsp_keep_run *run, int64_t begin, int64_t end) {   \
        run->fills ? name##_loop(val, index, true, run, begin, end) : name##_loop(val, index, false, run, begin, end); \
    }                                                                                                                  \
    void lsp_body_##name##_host(void *data, int64_t begin, int64_t end) {                                              \
        const lsp_keep_run *run = data;                                                                                \
        const lsp_csr *A = run->keep->A;                                                                               \
        LSP_WITH_BOTH(A->val_type, A->col_type, name##_pass, run, begin, end);                                         \
    }
