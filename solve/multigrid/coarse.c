/* The inverse of the last level's A, by elimination on the host in f64. An unknown whose pivot is negligible is left
 * out: it stays 0. So a singular positive semidefinite A is served too, if the right-hand side is consistent. */
#include "matrices/matrices.h"
#include "multigrid.h"

#include <float.h>

/* a = its inverse, by Gauss-Jordan steps without exchanges. Pivot k is rounding up to least[k]. */
static lsp_status invert(lsp_ctx *ctx, int64_t n, double *a, const double *least, uint8_t *out) {
    for (int64_t k = 0; k < n; k++) {
        double *const row = a + k * n, pivot = row[k];
        LSP_REQUIRE(pivot >= -least[k], LSP_ERR_ARGUMENT,
                    "elimination on the last level, of %lld unknowns, met the pivot %g: A is not positive definite",
                    (long long)n, pivot);
        out[k] = pivot <= least[k];
        if (out[k]) {
            continue;
        }
        row[k] = 1;
        for (int64_t j = 0; j < n; j++) {
            row[j] /= pivot;
        }
        for (int64_t i = 0; i < n; i++) {
            double *const other = a + i * n;
            const double factor = i == k ? 0 : other[k];
            if (factor != 0) {
                other[k] = 0;
                for (int64_t j = 0; j < n; j++) {
                    other[j] -= factor * row[j];
                }
            }
        }
    }
    for (int64_t i = 0; i < n * n; i++) {
        a[i] = out[i / n] || out[i % n] ? 0 : a[i];
    }
    return LSP_OK;
}

/* A full matrix without values set, where the hierarchy lies. */
static lsp_status make_full(lsp_multigrid *m, int64_t n, lsp_csr *full) {
    lsp_ctx *ctx = m->ctx;
    const lsp_csr_types types = {.val_type = m->type, .place = lsp_place_of(m->where)};
    LSP_OWNED_CSR(ctx, host);
    LSP_TRY(lsp_csr_create(ctx, n, n, n * n, &(lsp_csr_types){.val_type = m->type}, &host));
    memset(host.val, 0, (size_t)(n * n) * lsp_type_bytes(m->type));
    for (int64_t i = 0; i < n; i++) {
        lsp_index_set(host.rowptr, host.rowptr_type, i + 1, (i + 1) * n);
        for (int64_t j = 0; j < n; j++) {
            lsp_index_set(host.col, host.col_type, i * n + j, j);
        }
    }
    return lsp_csr_copy(ctx, &host, &types, full);
}

lsp_status lsp_multigrid_invert(lsp_multigrid *m, lsp_level *l) {
    lsp_ctx *ctx = m->ctx;
    const int64_t n = l->A.rows;
    LSP_SCRATCH_SCOPE(ctx);
    const double eps = m->values == LSP_F32 && l != m->level ? FLT_EPSILON : DBL_EPSILON;
    double *a, *least;
    LSP_OWNED_CSR(ctx, host);
    uint8_t *out;
    void *values;
    if (n == 0) {
        return LSP_OK;
    }
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, n * n, &a));
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, n, &least));
    LSP_TRY(LSP_SCRATCH(ctx, n, &out));
    LSP_TRY(lsp_scratch_at(ctx, LSP_HOST, n * n, lsp_type_bytes(m->type), &values));
    LSP_TRY(lsp_csr_copy(ctx, &l->A, &(lsp_csr_types){.val_type = LSP_F64, .place = LSP_PLACE_HOST}, &host));
    if (m->scale != NULL) {
        LSP_TRY(lsp_array_copy(ctx, least, LSP_HOST, m->scale, m->where, (size_t)n * sizeof *least));
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = lsp_csr_rowptr(&host, i); k < lsp_csr_rowptr(&host, i + 1); k++) {
            a[i * n + lsp_csr_col(&host, k)] += ((const double *)host.val)[k];
        }
        least[i] = eps * fmax(8 * least[i], (double)n * fabs(a[i * n + i]));
    }
    LSP_TRY(invert(ctx, n, a, least, out));
    LSP_TRY(lsp_convert_values(ctx, LSP_HOST, m->type, values, LSP_F64, a, n * n));
    LSP_TRY(l->solution.rowptr == NULL ? make_full(m, n, &l->solution) : LSP_OK);
    return lsp_array_copy(ctx, l->solution.val, m->where, values, LSP_HOST, (size_t)(n * n) * lsp_type_bytes(m->type));
}
