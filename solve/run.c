/* One solve, in rounds. A round runs on its device until the rules end it; then |b - A x| is computed anew, and the
 * next round, if the rules want one, goes on from x. */
#include "rules.h"
#include "solve.h"

#include <string.h>

static int64_t bytes_of(const lsp_solve_plan *plan) { return plan->n * (int64_t)lsp_type_bytes(plan->type); }

/* The square of |b| is 0 or no finite number: is that true of b, or only of the square? That of an f32 has its place
 * among doubles. */
static lsp_status look_at(const lsp_solve_plan *plan, const double *b, lsp_solve_state *s) {
    enum { PIECE = 512 };
    bool zero = true, finite = true;
    double piece[PIECE];
    for (int64_t first = 0; first < plan->n && plan->type == LSP_F64; first += PIECE) {
        const int64_t count = lsp_min(plan->n - first, PIECE);
        LSP_TRY(lsp_array_copy(plan->ctx, piece, LSP_HOST, b + first, plan->where, (size_t)count * sizeof *piece));
        for (int64_t i = 0; i < count; i++) {
            zero = zero && piece[i] == 0;
            finite = finite && lsp_rule_finite(piece[i]);
        }
    }
    if (s->bb == 0 && !zero) {
        lsp_rule_stop(s, LSP_SOLVE_BREAKDOWN, LSP_CAUSE_TINY);
    } else if (s->bb != 0 && finite && plan->type == LSP_F64) {
        lsp_rule_stop(s, LSP_SOLVE_NOT_FINITE, LSP_CAUSE_HUGE);
    }
    s->end_iteration = 0;
    return LSP_OK;
}

/* The state before a round. Its history is where that of the round before ended. */
static lsp_solve_state begin(const lsp_solve_plan *plan, void *x, int64_t before) {
    const lsp_solve_options *o = &plan->options;
    const int64_t kept = lsp_min(before, o->history_capacity);
    return (lsp_solve_state){.rtol = o->rtol,
                             .atol = o->atol,
                             .max_iterations = o->max_iterations - before,
                             .fixed = o->fixed,
                             .any_sign = plan->any_sign,
                             .stationary = plan->stationary,
                             .x = x,
                             .history = o->history != NULL ? o->history + kept : NULL,
                             .history_capacity = o->history_capacity - kept,
                             .iteration = -1,
                             .end = LSP_SOLVE_RUNS};
}

/* *rr = |b - A x|^2. Waits. */
static lsp_status find_residual(const lsp_solve_plan *plan, const void *b, const void *x, double *rr) {
    const lsp_solve_loop l = {.b = b, .q = plan->vectors.q};
    double sums[2];
    LSP_TRY(lsp_solve_multiply(plan, x, plan->vectors.q));
    LSP_TRY(plan->backend->loop(plan, NULL, LSP_LOOP_RESIDUAL, &l, LSP_SLOT_DOTS));
    LSP_TRY(plan->backend->sums(plan, LSP_SLOT_DOTS, sums));
    *rr = sums[0];
    return LSP_OK;
}

/* One round, and the residual of its x; x = 0 for b = 0. */
static lsp_status run_round(lsp_solve_plan *plan, const void *b, void *x, lsp_solve_outcome *outcome) {
    lsp_solve_state *s = &outcome->state;
    *s = begin(plan, x, outcome->before);
    outcome->rounds++;
    LSP_TRY(plan->backend->run(plan, b, outcome));
    outcome->b_norm = sqrt(s->bb);
    outcome->last = lsp_rule_residual(s->rr, s->bb);
    outcome->rr = 0;
    if (s->bb != 0) {
        LSP_TRY(find_residual(plan, b, x, &outcome->rr));
    } else if (plan->where == LSP_CUDA) {
        LSP_TRY(lsp_cuda_clear(plan->ctx, x, bytes_of(plan)));
    } else {
        memset(x, 0, (size_t)bytes_of(plan));
    }
    return s->bb == 0 || !lsp_rule_finite(s->bb) ? look_at(plan, b, s) : LSP_OK;
}

lsp_status lsp_solve_run(lsp_solve_plan *plan, const void *b, void *x, lsp_solve_outcome *outcome) {
    const lsp_solve_options *o = &plan->options;
    lsp_solve_state *s = &outcome->state;
    void *own = plan->vectors.x != NULL ? plan->vectors.x : x;
    double least = INFINITY;
    *outcome = (lsp_solve_outcome){.guess = o->use_x0, .solver = plan->backend->solver};
    if (plan->n == 0) {
        *s = begin(plan, x, 0);
        lsp_rule_turn(s, 0, 0, plan->bicgstab);
        if (o->history_capacity > 0) {
            o->history[0] = 0;
        }
        return LSP_OK;
    }
    if (own != x && o->use_x0) {
        LSP_TRY(lsp_array_copy(plan->ctx, own, plan->where, x, plan->where, (size_t)bytes_of(plan)));
    }
    LSP_TRY(run_round(plan, b, own, outcome));
    while (lsp_rule_again(s, outcome->rr, &least)) {
        if (outcome->stopped) {
            s->end = LSP_SOLVE_STOPPED;
            break;
        }
        lsp_log(plan->ctx, "solve: |b - A x| is %.3g of |b| after %lld iterations, %.3g by recurrence: restarted",
                sqrt(outcome->rr) / outcome->b_norm, (long long)(outcome->before + s->iteration), outcome->last);
        outcome->before += s->iteration;
        outcome->guess = true;
        LSP_TRY(run_round(plan, b, own, outcome));
    }
    s->iteration += outcome->before;
    s->end_iteration += outcome->before;
    if (own != x) {
        LSP_TRY(lsp_array_copy(plan->ctx, x, plan->where, own, plan->where, (size_t)bytes_of(plan)));
        LSP_TRY(plan->where == LSP_CUDA ? lsp_cuda_wait(plan->ctx) : LSP_OK);
    }
    return LSP_OK;
}
