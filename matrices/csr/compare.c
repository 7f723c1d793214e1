/* Compares two matrices entry by entry: each row is a merge of the two by column. It finds the first place where the
 * patterns differ, and the largest distance between values at the same place. */
#include "matrices/matrices.h"

#include <math.h>

typedef struct difference {     /* of the rows of one thread */
    int64_t part_row, part_col; /* where the patterns first differ; -1 if nowhere */
    int64_t far_row, far_col;   /* where the values are furthest apart; -1 while they are equal */
    double max_rel;
    bool same_bits;
} difference;

/* |a-b| / max(|a|,|b|), scaled so that nothing overflows. 0 if both are equal or both NaN; infinite if only one is NaN
 * or either is infinite. */
static double relative(lsp_value a, lsp_value b) {
    if (lsp_same_number(a.re, b.re) && lsp_same_number(a.im, b.im)) {
        return 0;
    }
    double most = fmax(fmax(fabs(a.re), fabs(a.im)), fmax(fabs(b.re), fabs(b.im)));
    if (isnan(a.re) || isnan(a.im) || isnan(b.re) || isnan(b.im) || isinf(most)) {
        return INFINITY;
    }
    int exponent;
    (void)frexp(most, &exponent);
    lsp_value x = {ldexp(a.re, -exponent), ldexp(a.im, -exponent)},
              y = {ldexp(b.re, -exponent), ldexp(b.im, -exponent)};
    return hypot(x.re - y.re, x.im - y.im) / fmax(hypot(x.re, x.im), hypot(y.re, y.im));
}

static bool same_bits(const lsp_csr *A, int64_t a, const lsp_csr *B, int64_t b) {
    size_t bytes = lsp_type_bytes(A->val_type);
    return A->val_type == B->val_type && (bytes == 0 || memcmp((const char *)A->val + (size_t)a * bytes,
                                                               (const char *)B->val + (size_t)b * bytes, bytes) == 0);
}

static void compare_values(const lsp_csr *A, int64_t a, const lsp_csr *B, int64_t b, int64_t row, difference *d) {
    if (same_bits(A, a, B, b)) {
        return;
    }
    double rel = relative(lsp_value_at(A, a), lsp_value_at(B, b));
    d->same_bits = false;
    if (rel > d->max_rel) {
        *d = (difference){d->part_row, d->part_col, row, lsp_csr_col(A, a), rel, false};
    }
}

static void compare_rows(const lsp_csr *A, const lsp_csr *B, int64_t begin, int64_t end, difference *d) {
    for (int64_t i = begin; i < end; i++) {
        int64_t a = lsp_csr_rowptr(A, i), a_stop = lsp_csr_rowptr(A, i + 1);
        int64_t b = lsp_csr_rowptr(B, i), b_stop = lsp_csr_rowptr(B, i + 1);
        while (a < a_stop || b < b_stop) {
            int64_t a_col = a < a_stop ? lsp_csr_col(A, a) : INT64_MAX;
            int64_t b_col = b < b_stop ? lsp_csr_col(B, b) : INT64_MAX;
            if (a_col == b_col) {
                compare_values(A, a++, B, b++, i, d);
                continue;
            }
            if (d->part_row < 0) {
                d->part_row = i;
                d->part_col = lsp_min(a_col, b_col);
            }
            a += a_col < b_col;
            b += a_col > b_col;
        }
    }
}

/* The differences of all shares, in the order of their rows. */
static lsp_csr_difference gather(const difference *found, int parts) {
    lsp_csr_difference all = {.same_shape = true, .same_pattern = true, .same_bits = true, .row = -1, .col = -1};
    for (int p = 0; p < parts; p++) {
        all.same_bits &= found[p].same_bits;
        if (found[p].max_rel > all.max_rel) {
            all.max_rel = found[p].max_rel;
            all.row = found[p].far_row;
            all.col = found[p].far_col;
        }
    }
    for (int p = 0; p < parts && all.same_pattern; p++) {
        if (found[p].part_row >= 0) {
            all.same_pattern = all.same_bits = false;
            all.row = found[p].part_row;
            all.col = found[p].part_col;
        }
    }
    return all;
}

typedef struct comparison {
    const lsp_csr *A, *B;
    int parts;
    difference *found; /* of each part */
} comparison;

static void compare_part(void *data, int64_t part, int thread) {
    const comparison *c = data;
    difference mine = {.part_row = -1, .far_row = -1, .same_bits = true};
    int64_t begin, end;
    (void)thread;
    lsp_csr_share(c->A, (int)part, c->parts, &begin, &end);
    compare_rows(c->A, c->B, begin, end, &mine);
    c->found[part] = mine;
}

lsp_status lsp_csr_compare(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr_difference *result) {
    lsp_status status = LSP_OK;
    size_t mark = ctx ? lsp_scratch_mark(ctx) : 0;
    difference *found;
    LSP_TRY(lsp_csr_check(ctx, A, 0));
    LSP_TRY(lsp_csr_check_as(ctx, "B", B, 0));
    LSP_REQUIRE(result, LSP_ERR_ARGUMENT, "the place for the difference is NULL");
    if (A->rows != B->rows || A->cols != B->cols) {
        *result = (lsp_csr_difference){.row = -1, .col = -1, .max_rel = INFINITY};
        goto done;
    }
    int parts = lsp_csr_threads(ctx, A);
    LSP_TRY(LSP_SCRATCH(ctx, parts, &found));
    lsp_for_parts(ctx, parts, parts, compare_part, &(comparison){.A = A, .B = B, .parts = parts, .found = found});
    *result = gather(found, parts);
    result->same_bits &= A->val_type == B->val_type;
done:
    if (ctx) {
        lsp_scratch_release(ctx, mark);
    }
    return status;
}
