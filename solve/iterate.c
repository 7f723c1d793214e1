/* The steps of an iteration, which both devices take: products, preconditioners, loops over the vectors. A GPU's are
 * only enqueued; there a round may have ended while its last steps still come, and these change nothing. */
#include "multigrid/job.h"
#include "solve.h"

/* A function of the user: if it fails without a sentence, there is one at least that says so. */
static lsp_status call(const lsp_solve_plan *plan, const char *what, lsp_apply_fn apply, void *user, const void *x,
                       void *y) {
    lsp_ctx *ctx = plan->ctx;
    ctx->error[0] = 0;
    const lsp_status status = apply(user, ctx, x, y);
    return status == LSP_OK || ctx->error[0] != 0
               ? status
               : lsp_fail(ctx, status, "the caller's %s returned %s", what, lsp_status_name(status));
}

lsp_status lsp_solve_multiply(const lsp_solve_plan *plan, const void *x, void *y) {
    const lsp_solve_options *o = &plan->options;
    return plan->spmv != NULL ? lsp_spmv_execute(plan->spmv, &(lsp_spmv_vectors){.alpha = 1, .x = x, .y = y})
                              : call(plan, "operator", o->operator_apply, o->operator_user, x, y);
}

static bool ended(const lsp_solve_outcome *outcome) { return outcome->state.end != LSP_SOLVE_RUNS; }

static lsp_status loop(lsp_solve_plan *plan, lsp_solve_outcome *outcome, lsp_solve_loop_id id, int slot) {
    return plan->backend->loop(plan, outcome, id, &plan->vectors, slot);
}

static lsp_status dot(lsp_solve_plan *plan, lsp_solve_outcome *outcome, void *p, void *q, int slot) {
    return plan->backend->loop(plan, outcome, LSP_LOOP_DOT, &(lsp_solve_loop){.p = p, .q = q}, slot);
}

static lsp_status multiply(const lsp_solve_plan *plan, const lsp_solve_outcome *outcome, const void *x, void *y) {
    return ended(outcome) ? LSP_OK : lsp_solve_multiply(plan, x, y);
}

/* By a preconditioner that is called. */
static lsp_status precondition(const lsp_solve_plan *plan, const lsp_solve_outcome *outcome, const void *x, void *y) {
    const lsp_solve_options *o = &plan->options;
    return ended(outcome) || !lsp_solve_calls_precondition(plan) ? LSP_OK
           : o->precondition == LSP_PRECONDITION_MULTIGRID
               ? lsp_multigrid_run_cycle(o->multigrid, x, y)
               : call(plan, "preconditioner", o->precondition_apply, o->precondition_user, x, y);
}

/* Ends an iteration of conjugate gradients, or the start. A preconditioner that is called makes z = M r, and r*z comes
 * from there; otherwise the loops have made r*z. */
static lsp_status turn_cg(lsp_solve_plan *plan, lsp_solve_outcome *outcome) {
    const lsp_solve_loop *v = &plan->vectors;
    if (v->z != v->r) {
        LSP_TRY(precondition(plan, outcome, v->r, v->z));
        LSP_TRY(dot(plan, outcome, v->r, v->z, LSP_SLOT_APART));
    }
    return loop(plan, outcome, LSP_LOOP_TURN, 0);
}

/* The same of BiCGStab, as far as p_hat of the next iteration. */
static lsp_status turn_bicgstab(lsp_solve_plan *plan, lsp_solve_outcome *outcome) {
    const lsp_solve_loop *v = &plan->vectors;
    LSP_TRY(loop(plan, outcome, LSP_LOOP_TURN_STABILIZED, 0));
    return precondition(plan, outcome, v->p, v->p_hat);
}

lsp_status lsp_solve_start(lsp_solve_plan *plan, const void *b, lsp_solve_outcome *outcome) {
    lsp_solve_loop l = plan->vectors;
    l.b = b;
    l.x = outcome->state.x;
    if (outcome->guess) {
        LSP_TRY(lsp_solve_multiply(plan, l.x, l.q));
    } else {
        l.q = NULL;
    }
    LSP_TRY(plan->backend->loop(plan, outcome, LSP_LOOP_START, &l, LSP_SLOT_NORMS));
    return plan->bicgstab ? turn_bicgstab(plan, outcome) : turn_cg(plan, outcome);
}

static lsp_status iterate_cg(lsp_solve_plan *plan, lsp_solve_outcome *outcome) {
    const lsp_solve_loop *v = &plan->vectors;
    LSP_TRY(multiply(plan, outcome, v->p, v->q));
    LSP_TRY(dot(plan, outcome, v->p, v->q, LSP_SLOT_DOTS));
    LSP_TRY(loop(plan, outcome, LSP_LOOP_STEP, LSP_SLOT_NORMS));
    return turn_cg(plan, outcome);
}

static lsp_status iterate_bicgstab(lsp_solve_plan *plan, lsp_solve_outcome *outcome) {
    const lsp_solve_loop *v = &plan->vectors;
    LSP_TRY(multiply(plan, outcome, v->p_hat, v->q));
    LSP_TRY(dot(plan, outcome, v->r_hat, v->q, LSP_SLOT_DOTS));
    LSP_TRY(loop(plan, outcome, LSP_LOOP_HALF, LSP_SLOT_APART));
    LSP_TRY(precondition(plan, outcome, v->s, v->s_hat));
    LSP_TRY(multiply(plan, outcome, v->s_hat, v->t));
    LSP_TRY(loop(plan, outcome, LSP_LOOP_DOTS, LSP_SLOT_DOTS));
    LSP_TRY(loop(plan, outcome, LSP_LOOP_STEP_STABILIZED, LSP_SLOT_NORMS));
    return turn_bicgstab(plan, outcome);
}

lsp_status lsp_solve_iterate(lsp_solve_plan *plan, lsp_solve_outcome *outcome) {
    return plan->bicgstab ? iterate_bicgstab(plan, outcome) : iterate_cg(plan, outcome);
}
