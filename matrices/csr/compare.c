/* Compares two matrices: each row is a merge of the two by column. It finds the first place where the patterns differ,
 * and the largest distance between values at the same place. If patterns differ, entries of unsorted rows find each
 * other in sorted copies. */
#include "matrices/csr/gpu/gpu.h"

typedef struct difference {     /* of the rows of one thread */
    int64_t part_row, part_col; /* where the patterns first differ; -1 if nowhere */
    int64_t far_row, far_col;   /* where the values are furthest apart; -1 while they are equal */
    double max_rel;
    bool same_bits;
} difference;

static bool same_bits(const lsp_csr *A, int64_t a, const lsp_csr *B, int64_t b) {
    size_t bytes = lsp_type_bytes(A->val_type);
    if (A->val_type == LSP_BOOL && B->val_type == LSP_BOOL) {
        return lsp_value_at(A, a).whole == lsp_value_at(B, b).whole;
    }
    return A->val_type == B->val_type && (bytes == 0 || memcmp((const char *)A->val + (size_t)a * bytes,
                                                               (const char *)B->val + (size_t)b * bytes, bytes) == 0);
}

static void compare_values(const lsp_csr *A, int64_t a, const lsp_csr *B, int64_t b, int64_t row, difference *d) {
    if (same_bits(A, a, B, b)) {
        return;
    }
    const lsp_value x = lsp_value_at(A, a), y = lsp_value_at(B, b);
    const double rel = lsp_is_integer(A->val_type) && lsp_is_integer(B->val_type)
                           ? lsp_relative_whole(x.whole, y.whole)
                           : lsp_relative(x.re, x.im, y.re, y.im);
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

static lsp_status compare_host(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr_difference *result) {
    LSP_SCRATCH_SCOPE(ctx);
    const int parts = lsp_csr_threads(ctx, A);
    difference *found;
    LSP_TRY(LSP_SCRATCH(ctx, parts, &found));
    lsp_for_parts(ctx, parts, parts, compare_part, &(comparison){.A = A, .B = B, .parts = parts, .found = found});
    *result = gather(found, parts);
    return LSP_OK;
}

/* Fills all but max_rel of matrices whose patterns differ; then rows need to be sorted. */
static lsp_status compare_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr_difference *result) {
    lsp_csr_spot spot;
    lsp_csr_distance distance = {0};
    LSP_TRY(lsp_csr_on_gpu.csr_first_difference(ctx, A, B, &spot));
    const bool same = spot.row < 0;
    if (same) {
        LSP_TRY(lsp_csr_on_gpu.csr_distance(ctx, A, B, true, &distance));
    }
    if (distance.max_rel > 0) {
        LSP_TRY(lsp_csr_on_gpu.csr_spot(ctx, A, distance.entry, &spot));
    }
    *result = (lsp_csr_difference){.same_shape = true,
                                   .same_pattern = same,
                                   .same_bits = same && distance.same_bits,
                                   .row = spot.row,
                                   .col = spot.col,
                                   .max_rel = distance.max_rel};
    return LSP_OK;
}

/* The largest distance at common places of different patterns. */
static lsp_status find_max_rel(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, double *max_rel) {
    LSP_OWNED_CSR(ctx, a);
    LSP_OWNED_CSR(ctx, b);
    lsp_csr_difference merged;
    lsp_csr_distance distance;
    const lsp_csr *const as_stored[2] = {A, B};
    LSP_TRY(lsp_csr_order(ctx, &A, false, A->val_type, &a));
    LSP_TRY(lsp_csr_order(ctx, &B, false, B->val_type, &b));
    if (A->where == LSP_CUDA) {
        LSP_TRY(lsp_csr_on_gpu.csr_distance(ctx, A, B, false, &distance));
        *max_rel = distance.max_rel;
    } else if (A != as_stored[0] || B != as_stored[1]) {
        LSP_TRY(compare_host(ctx, A, B, &merged));
        *max_rel = merged.max_rel;
    }
    return LSP_OK;
}

lsp_status lsp_csr_compare(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr_difference *result) {
    lsp_csr_difference found;
    LSP_TRY(lsp_csr_check_header(ctx, "A", A));
    LSP_TRY(lsp_csr_check_header(ctx, "B", B));
    LSP_REQUIRE(A->where == B->where, LSP_ERR_ARGUMENT,
                "one of the matrices to be compared lies on the GPU, the other in the memory of the host");
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_TRY(lsp_csr_check_valid(ctx, "B", B));
    LSP_REQUIRE(result, LSP_ERR_ARGUMENT, "the place for the difference is NULL");
    if (A->rows != B->rows || A->cols != B->cols) {
        *result = (lsp_csr_difference){.row = -1, .col = -1, .max_rel = INFINITY};
        return LSP_OK;
    }
    LSP_TRY(A->where == LSP_CUDA ? compare_cuda(ctx, A, B, &found) : compare_host(ctx, A, B, &found));
    if (!found.same_pattern) {
        LSP_TRY(find_max_rel(ctx, A, B, &found.max_rel));
    }
    found.same_bits &= A->val_type == B->val_type;
    *result = found;
    return LSP_OK;
}
