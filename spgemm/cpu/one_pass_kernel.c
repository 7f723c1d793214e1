/* Rows of C = A*B in one pass, for one instruction set. */
#include "ahead.h"
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

/* A type of indices: a constant in the kernels for narrow ones. */
#define TYPE(type) (narrow ? LSP_I32 : (type))
#define ROWPTR(m, i) lsp_index_at((m).rowptr, TYPE((m).rowptr_type), i)
#define COLUMN(m, k) lsp_index_at((m).col, TYPE((m).col_type), k)

/* Bounds the entries of a row of C by its products. Few rows need it, so it stays out of their loops. */
static __attribute__((noinline)) int64_t entries_of(const lsp_spgemm_run *run, int64_t i) {
    return lsp_min(lsp_spgemm_row_products(false, run->A, run->B, i), run->B->cols);
}

static uint64_t complex_rank(complex_value x) { return lsp_rank_of(lsp_modulus(x[0], x[1])); }

#define TEMPLATE "one_pass_template.h"
#include "each_value.h"

int64_t LSP_ISA_NAME(lsp_spgemm_one_pass_rows)(lsp_spgemm_run *run) {
    static int64_t (*const rows[])(lsp_spgemm_run * run) = LSP_BY_VALUE(rows);
    return rows[lsp_value_number(run->type, run->semiring)](run);
}
