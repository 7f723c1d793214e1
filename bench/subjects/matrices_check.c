/* Compares the result of a function of matrices with the right one. */
#include "matrices_race.h"
#include <math.h>
#include <string.h>

bool bench_matrices_check(bench_contender *c, const matrices_race *r, lsp_ctx *ctx, const lsp_csr *C) {
    const lsp_csr_types types = {r->right.rowptr_type, r->right.col_type, .place = LSP_PLACE_HOST};
    lsp_csr host = {.rows = 0};
    lsp_csr_difference d = {.same_bits = false};
    const bool compared = bench_must(c, ctx, lsp_csr_copy(ctx, C, &types, &host)) &&
                          bench_must(c, ctx, lsp_csr_compare(ctx, &r->right, &host, &d));
    lsp_csr_free(ctx, &host);
    return compared &&
           (d.same_bits || bench_why(c, "differs at row %lld, column %lld", (long long)d.row, (long long)d.col));
}

bool bench_matrices_check_out(bench_contender *c, const matrices_race *r, const double *out, double tolerance) {
    for (int64_t i = 0; i < r->count; i++) {
        if (memcmp(out + i, r->right_out + i, sizeof *out) != 0 &&
            !(fabs(out[i] - r->right_out[i]) <= tolerance * r->bound[i])) {
            return bench_why(c, "result %lld is %.17g, not %.17g", (long long)i, out[i], r->right_out[i]);
        }
    }
    return true;
}
