/* Compares a product with the right one: the pattern exactly, each value within a tolerance scaled by |A|*|B|, because
 * a peer may add the products of an entry in another order. */
#include "spgemm_race.h"
#include <math.h>
#include <string.h>

static int64_t index_at(const void *array, lsp_type type, int64_t i) {
    return type == LSP_I32 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}
static double value_at(const lsp_csr *A, int64_t p) {
    return A->val_type == LSP_F64 ? ((const double *)A->val)[p] : (double)((const float *)A->val)[p];
}

/* Equal, or both NaN, or apart by no more than the tolerance allows. */
static bool is_close(const spgemm_race *r, const lsp_csr *C, int64_t p, double tolerance) {
    const double x = value_at(C, p), y = value_at(&r->C, p);
    return x == y || (isnan(x) && isnan(y)) || (tolerance > 0 && fabs(x - y) <= tolerance * value_at(&r->bound, p));
}

bool bench_spgemm_agrees(bench_contender *c, const spgemm_race *r, const lsp_csr *C, double tolerance) {
    int64_t fault = INT64_MAX;
    if (C->rows != r->C.rows || C->cols != r->C.cols || C->nnz != r->C.nnz) {
        return bench_why(c, "%lld x %lld with %lld entries, not %lld x %lld with %lld", (long long)C->rows,
                         (long long)C->cols, (long long)C->nnz, (long long)r->C.rows, (long long)r->C.cols,
                         (long long)r->C.nnz);
    }
    for (int64_t i = 0; i <= C->rows; i++) {
        if (index_at(C->rowptr, C->rowptr_type, i) != index_at(r->C.rowptr, r->C.rowptr_type, i)) {
            return bench_why(c, "row %lld has a wrong number of entries", (long long)i);
        }
    }
#pragma omp parallel for reduction(min : fault)
    for (int64_t p = 0; p < C->nnz; p++) {
        if (p < fault && (index_at(C->col, C->col_type, p) != index_at(r->C.col, r->C.col_type, p) ||
                          !is_close(r, C, p, tolerance))) {
            fault = p;
        }
    }
    if (fault == INT64_MAX) {
        return true;
    }
    return bench_why(c, "entry %lld is %.17g in column %lld, not %.17g in column %lld", (long long)fault,
                     value_at(C, fault), (long long)index_at(C->col, C->col_type, fault), value_at(&r->C, fault),
                     (long long)index_at(r->C.col, r->C.col_type, fault));
}

uint64_t bench_spgemm_hash(const lsp_csr *C) {
    const unsigned char *bytes = C->val;
    const size_t width = lsp_type_bytes(C->val_type);
    uint64_t hash = 0;
#pragma omp parallel for reduction(+ : hash)
    for (int64_t p = 0; p < C->nnz; p++) {
        uint64_t bits = 0;
        memcpy(&bits, bytes + (size_t)p * width, width);
        bits = (bits ^ (uint64_t)p) * 0x9E3779B97F4A7C15u;
        hash += (bits ^ bits >> 29) * 0xBF58476D1CE4E5B9u;
    }
    return hash;
}
