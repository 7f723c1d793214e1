/* What a right product is: each element within (n + 4) u S of the sum in long double, where n is the number of terms, S
 * the sum of their absolute values and u the unit of rounding. Any order of adding them stays within that. */
#include "spmv_race.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 5 };

static double number(const void *array, lsp_type type, int64_t i) {
    return type == LSP_F64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

static void fill(void *x, lsp_type type, int64_t n) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const double u = (double)(bench_draw(9, i) >> 11) * 0x1p-52 - 1;
        if (type == LSP_F64) {
            ((double *)x)[i] = u;
        } else {
            ((float *)x)[i] = (float)u;
        }
    }
}

/* Row i of `op` times vector v. */
static void sum_row(const spmv_race *r, const lsp_csr *op, const void *x, int64_t i) {
    const int32_t *rowptr = op->rowptr, *col = op->col;
    for (int v = 0; v < r->vectors; v++) {
        long double sum = 0, absolute = 0;
        for (int32_t k = rowptr[i]; k < rowptr[i + 1]; k++) {
            const int64_t at = (int64_t)col[k] * r->vectors + v;
            const long double term = (long double)number(op->val, op->val_type, k) * number(x, r->type, at);
            sum += term;
            absolute += fabsl(term);
        }
        r->right[i * r->vectors + v] = (double)sum;
        r->allowance[i * r->vectors + v] = (double)(absolute * (rowptr[i + 1] - rowptr[i] + 4));
    }
}

bool bench_spmv_make_right(spmv_race *r, void *x) {
    bench *b = r->b;
    lsp_csr transposed = {.rows = 0};
    const lsp_csr *op = &r->A;
    fill(x, r->type, r->in);
    r->right = malloc((size_t)r->out * sizeof(double) + 8);
    r->allowance = malloc((size_t)r->out * sizeof(double) + 8);
    r->found = malloc((size_t)r->out * lsp_type_bytes(r->type) + 8);
    if (!r->right || !r->allowance || !r->found) {
        bench_fail(b, EXIT_MEMORY, "out of memory for a result of %lld numbers", (long long)r->out);
        return false;
    }
    if (r->transpose) {
        op = &transposed;
        if (!bench_ok(b, b->base, lsp_csr_transpose(b->base, &r->A, &transposed))) {
            return false;
        }
    }
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t i = 0; i < op->rows; i++) {
        sum_row(r, op, x, i);
    }
    lsp_csr_free(b->base, &transposed);
    return true;
}

bool bench_spmv_wipe(const spmv_race *r) {
    const int64_t bytes = r->out * (int64_t)lsp_type_bytes(r->type);
    if (r->b->device) {
        return bench_device_wipe(r->b->device, r->y, bytes);
    }
    memset(r->y, 0xFF, (size_t)bytes);
    return true;
}

/* Lets a peer bring its result to Y. */
static bool finish(bench_contender *c) {
    const spmv_entrant *e = c->state;
    const char *wrong = e->peer && e->peer->finish ? e->peer->finish(e->self) : NULL;
    return !wrong || bench_why(c, "%s", wrong);
}

static bool fetch(bench_contender *c) {
    const spmv_race *r = ((const spmv_entrant *)c->state)->race;
    const int64_t bytes = r->out * (int64_t)lsp_type_bytes(r->type);
    if (r->b->device) {
        return bench_device_download(r->b->device, r->found, r->y, bytes) ||
               bench_why(c, "%s", bench_device_error(r->b->device));
    }
    memcpy(r->found, r->y, (size_t)bytes);
    return true;
}

/* Runs the contender again. Sets *same to false if Y now has other bits than *hash tells, or than r->found has. */
static bool repeat(bench_contender *c, uint64_t *hash, bool *same) {
    const spmv_race *r = ((const spmv_entrant *)c->state)->race;
    const int64_t bytes = r->out * (int64_t)lsp_type_bytes(r->type);
    uint64_t now = 0;
    if (!bench_spmv_wipe(r) || !c->run(c) || !finish(c)) {
        return false;
    }
    if (r->b->device && !bench_device_hash(r->b->device, r->y, bytes, &now)) {
        return bench_why(c, "%s", bench_device_error(r->b->device));
    }
    *same = *same && (r->b->device ? now == *hash : memcmp(r->found, r->y, (size_t)bytes) == 0);
    return true;
}

static bool is_right(bench_contender *c) {
    const spmv_race *r = ((const spmv_entrant *)c->state)->race;
    const double unit = r->type == LSP_F64 ? DBL_EPSILON / 2 : FLT_EPSILON / 2;
    const double tiny = r->type == LSP_F64 ? DBL_MIN : FLT_MIN;
    int64_t wrong = 0, first = INT64_MAX;
#pragma omp parallel for schedule(static) reduction(+ : wrong) reduction(min : first)
    for (int64_t i = 0; i < r->out; i++) {
        const double error = fabs(number(r->found, r->type, i) - r->right[i]);
        if (!(error <= unit * r->allowance[i] + tiny)) { /* a NaN is wrong too */
            wrong++;
            first = i < first ? i : first;
        }
    }
    return wrong == 0 ||
           bench_why(c, "%lld of %lld elements are wrong; element %lld is %.17g, not %.17g", (long long)wrong,
                     (long long)r->out, (long long)first, number(r->found, r->type, first), r->right[first]);
}

bool bench_spmv_check(bench_contender *c) {
    const spmv_race *r = ((const spmv_entrant *)c->state)->race;
    const int64_t bytes = r->out * (int64_t)lsp_type_bytes(r->type);
    uint64_t hash = 0;
    bool same = true;
    bool sound = (!c->ctx || bench_must(c, c->ctx, lsp_ctx_sync(c->ctx))) && finish(c) && fetch(c) && is_right(c) &&
                 (!r->b->device || bench_device_hash(r->b->device, r->y, bytes, &hash));
    for (int run = 1; run < RUNS && sound; run++) {
        sound = repeat(c, &hash, &same);
    }
    c->bits = same ? BENCH_BITS_SAME : BENCH_BITS_VARY;
    if (sound && c->ours && !same) {
        sound = bench_why(c, "%d runs gave different bits", (int)RUNS);
    }
    return bench_spmv_wipe(r) && sound;
}
