/* The iterations on the CPU, "threads". Loops over the vectors are cut into pieces of one size, whatever the number of
 * threads, and the sums of the pieces are added in their order. */
#include "core/isa.h"
#include "cpu.h"
#include "matrices/matrices.h"
#include "solve/rules.h"

#include <string.h>

enum { PIECE = 2048, LEAST = 4096 }; /* numbers of a piece; a thread pays from LEAST numbers on */

/* plan->parts */
typedef struct parts {
    double sums[LSP_SOLVE_SLOTS][3];
    double of_pieces[][3];
} parts;

static lsp_status prepare(lsp_solve_plan *plan) {
    const int64_t pieces = lsp_max(lsp_ceil_div(plan->n, PIECE), 1);
    return lsp_alloc(plan->ctx, LSP_HOST, 1, sizeof(parts) + (size_t)pieces * 3 * sizeof(double), &plan->parts);
}

typedef struct region {
    const lsp_solve_loop *loop;
    lsp_solve_kernel kernel;
    int64_t n;
    parts *parts;
} region;

static void do_piece(void *data, int64_t piece, int thread) {
    const region *r = data;
    (void)thread;
    r->kernel(r->loop, piece * PIECE, lsp_min((piece + 1) * PIECE, r->n), r->parts->of_pieces[piece]);
}

static void run_pieces(const lsp_solve_plan *plan, lsp_solve_loop_id id, const lsp_solve_loop *loop, double sums[3]) {
    lsp_ctx *ctx = plan->ctx;
    const int64_t pieces = lsp_ceil_div(plan->n, PIECE);
    region r = {loop, LSP_ISA_PICK(ctx->isa, lsp_solve_kernel_of)(id, plan->type), plan->n, plan->parts};
    lsp_for_parts(ctx, pieces, lsp_threads_for(ctx, plan->n, LEAST), do_piece, &r);
    sums[0] = sums[1] = sums[2] = 0;
    for (int64_t piece = 0; piece < pieces; piece++) {
        for (int k = 0; k < 3; k++) {
            sums[k] += r.parts->of_pieces[piece][k];
        }
    }
}

/* The history, and the user's hook, which may stop the solver. */
static void tell(const lsp_solve_plan *plan, lsp_solve_outcome *outcome) {
    const lsp_solve_options *o = &plan->options;
    const lsp_solve_state *s = &outcome->state;
    const double residual = lsp_rule_tell(s);
    outcome->stopped = s->iteration > 0 && o->on_iteration != NULL &&
                       o->on_iteration(o->iteration_user, outcome->before + s->iteration, residual);
}

static lsp_status run_loop(const lsp_solve_plan *plan, lsp_solve_outcome *outcome, lsp_solve_loop_id id,
                           const lsp_solve_loop *loop, int slot) {
    parts *p = plan->parts;
    lsp_solve_loop l = *loop;
    if (outcome != NULL && lsp_rule_decides(id)) {
        if (lsp_rule_decide(&outcome->state, id, p->sums, l.z != l.r)) {
            tell(plan, outcome);
        }
        lsp_rule_set_factors(&outcome->state, &l);
    }
    if (outcome == NULL || outcome->state.end == LSP_SOLVE_RUNS || l.due) {
        run_pieces(plan, id, &l, p->sums[slot]);
    }
    return LSP_OK;
}

static lsp_status get_sums(const lsp_solve_plan *plan, int slot, double sums[2]) {
    const parts *p = plan->parts;
    memcpy(sums, p->sums[slot], 2 * sizeof *sums);
    return LSP_OK;
}

static lsp_status run_round(lsp_solve_plan *plan, const void *b, lsp_solve_outcome *outcome) {
    LSP_TRY(lsp_solve_start(plan, b, outcome));
    while (outcome->state.end == LSP_SOLVE_RUNS && !outcome->stopped) {
        LSP_TRY(lsp_go_on(plan->ctx));
        LSP_TRY(lsp_solve_iterate(plan, outcome));
    }
    return LSP_OK;
}

/* ---- the diagonal ---- */

typedef struct diagonal {
    const lsp_csr *A;
    lsp_type type;
    void *inverse;
    int64_t bad;
} diagonal;

static void invert_rows(void *data, int64_t begin, int64_t end) {
    diagonal *d = data;
    for (int64_t i = begin; i < end; i++) {
        double sum = 0;
        const int64_t last = lsp_csr_rowptr(d->A, i + 1);
        for (int64_t k = lsp_csr_rowptr(d->A, i); k < last; k++) {
            if (lsp_csr_col(d->A, k) == i) {
                sum += lsp_value_at(d->A, k).re;
            }
        }
        if (sum == 0) {
            lsp_lower(&d->bad, i);
        }
        lsp_solve_set_value(d->type, d->inverse, i, 1 / sum);
    }
}

static lsp_status invert_diagonal(lsp_ctx *ctx, const lsp_csr *A, lsp_type type, void *inverse, int64_t *bad) {
    diagonal d = {A, type, inverse, INT64_MAX};
    lsp_for_shares(ctx, A->rows, 1 << 13, invert_rows, &d);
    *bad = d.bad == INT64_MAX ? -1 : d.bad;
    return LSP_OK;
}

const lsp_solve_backend lsp_solve_cpu = {.solver = "threads",
                                         .prepare = prepare,
                                         .run = run_round,
                                         .loop = run_loop,
                                         .sums = get_sums,
                                         .diagonal = invert_diagonal};
