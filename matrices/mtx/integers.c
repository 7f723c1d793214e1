/* Values written as integers: each must be whole and small enough that its type holds all integers up to it, so that it
 * is printed in digits alone. The check has no branch, so that it runs in vectors. */
#include "matrices/matrices.h"
#include "write.h"

#include <math.h>

/* Is x whole and below `limit`? Adding 2^52 rounds a smaller number to an integer. */
LSP_INLINE bool is_whole(double x, double limit) {
    const double size = fabs(x);
    return (size < limit) & ((size >= 0x1p52) | (size + 0x1p52 - 0x1p52 == size));
}

/* The first of the values begin .. end-1 that is not whole; `end` if none. The usual case, none, takes no branch. */
LSP_INLINE int64_t first_fraction(lsp_type type, double limit, const void *val, int64_t begin, int64_t end) {
    int fractions = 0;
    for (int64_t k = begin; k < end; k++) {
        fractions |= !is_whole(lsp_value_of(type, val, k).re, limit);
    }
    for (; fractions && begin < end && is_whole(lsp_value_of(type, val, begin).re, limit); begin++) {
    }
    return fractions ? begin : end;
}

int64_t lsp_mtx_whole_until(const lsp_mtx_writing *work, const lsp_mtx_stretch *part, int64_t begin, int64_t end) {
    const int64_t from = begin - part->begin, to = end - part->begin;
    return part->begin + (work->A->val_type == LSP_F32 ? first_fraction(LSP_F32, 0x1p24, part->val, from, to)
                                                       : first_fraction(LSP_F64, 0x1p53, part->val, from, to));
}

lsp_status lsp_mtx_check_integers(lsp_ctx *ctx, const lsp_mtx_writing *work, const lsp_mtx_stretch *part,
                                  int64_t begin) {
    lsp_status status = LSP_OK;
    const int64_t k = lsp_mtx_whole_until(work, part, begin, part->end), at = k - part->begin;
    LSP_REQUIRE(k == part->end, LSP_ERR_ARGUMENT,
                "the matrix cannot be written as integers: the entry at row %lld, column %lld is %.17g",
                (long long)(work->first_row + lsp_csr_row_of(work->A, k)) + 1,
                (long long)lsp_index_at(part->col, work->A->col_type, at) + 1,
                lsp_value_of(work->A->val_type, part->val, at).re);
done:
    return status;
}

lsp_status lsp_mtx_check_field(lsp_ctx *ctx, lsp_type val_type, lsp_mtx_field field) {
    lsp_status status = LSP_OK;
    LSP_REQUIRE(field == LSP_MTX_REAL || field == LSP_MTX_INTEGER, LSP_ERR_ARGUMENT,
                "the field of a file is %d: 0 (the field that fits the values) or LSP_MTX_INTEGER is needed",
                (int)field);
    LSP_REQUIRE(field == LSP_MTX_REAL || (val_type != LSP_NONE && val_type != LSP_C64), LSP_ERR_ARGUMENT,
                "a %s cannot be written as integers", val_type == LSP_C64 ? "complex matrix" : "pattern");
done:
    return status;
}
