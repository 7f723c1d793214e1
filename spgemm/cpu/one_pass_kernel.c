/* Rows of C = A*B in one pass, for one instruction set. */
#include "core/isa.h"
#include "core/vector.h"
#include "matrices/values/number.h"
#include "one_pass.h"
#include "touched.h"
#include "values.h"
#include <math.h>
#include <string.h>

/* ---- the columns of a row in order ---- */

ALWAYS void insert(uint32_t *columns, int64_t n) {
    for (int64_t r = 1; r < n; r++) {
        const uint32_t column = columns[r];
        int64_t s = r;
        for (; s > 0 && columns[s - 1] > column; s--) {
            columns[s] = columns[s - 1];
        }
        columns[s] = column;
    }
}

/* Adds columns as bits to those of a row. */
static void unite(uint64_t *restrict all, const uint64_t *restrict bits, int64_t words) {
    for (int64_t w = 0; w < words; w += 8) {
        for (int64_t k = w; k < w + 8; k++) {
            all[k] |= bits[k];
        }
    }
}

/* ---- rows ---- */

/* Local copies of a matrix's pointers: a store to a mark may change anything else in memory. */
typedef struct arrays {
    void *rowptr, *col;
    lsp_type rowptr_type, col_type;
} arrays;
ALWAYS arrays arrays_of(const lsp_csr *A) { return (arrays){A->rowptr, A->col, A->rowptr_type, A->col_type}; }

ALWAYS int64_t index_at(bool narrow, const void *array, lsp_type type, int64_t i) {
    return narrow ? ((const int32_t *)array)[i] : lsp_index_at(array, type, i);
}
#define ROWPTR(m, i) index_at(narrow, (m).rowptr, (m).rowptr_type, i)
#define COLUMN(m, k) index_at(narrow, (m).col, (m).col_type, k)

/* Bounds the entries of a row of C by its products. Few rows need it, so it stays out of their loops. */
static __attribute__((noinline)) int64_t entries_of(const lsp_spgemm_run *run, int64_t i) {
    return lsp_min(lsp_spgemm_row_products(run->A, run->B, i), run->B->cols);
}

/* Prefetches the row of B that is needed 8 entries after e, and the row pointers that are needed 16 entries after. */
ALWAYS void fetch_ahead(bool narrow, const arrays *a, const arrays *b, const void *b_val, size_t value_bytes, int64_t e,
                        int64_t nnz) {
    enum { AHEAD = 8 };
    if (e + 2 * AHEAD < nnz) {
        const int64_t later = COLUMN(*a, e + 2 * AHEAD), q = ROWPTR(*b, COLUMN(*a, e + AHEAD));
        __builtin_prefetch((const char *)b->rowptr + (size_t)later * (narrow || b->rowptr_type == LSP_I32 ? 4 : 8));
        __builtin_prefetch((const char *)b->col + (size_t)q * (narrow || b->col_type == LSP_I32 ? 4 : 8));
        __builtin_prefetch((const char *)b_val + (size_t)q * value_bytes);
    }
}

static uint64_t complex_rank(complex_value x) { return lsp_rank_of(lsp_modulus(x[0], x[1])); }

#define TEMPLATE "one_pass_template.h"
#include "each_value.h"

int64_t LSP_ISA_NAME(lsp_spgemm_one_pass_rows)(lsp_spgemm_run *run) {
    static int64_t (*const rows[])(lsp_spgemm_run * run) = LSP_BY_VALUE(rows);
    return rows[lsp_value_number(run->type, run->semiring)](run);
}
