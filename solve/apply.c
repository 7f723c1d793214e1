/* What an iteration calls: the product with A and the preconditioner, by a plan, by multigrid, or by functions of the
 * caller. */
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

lsp_status lsp_solve_precondition(const lsp_solve_plan *plan, const void *x, void *y) {
    const lsp_solve_options *o = &plan->options;
    return o->precondition == LSP_PRECONDITION_MULTIGRID
               ? lsp_multigrid_run_cycle(o->multigrid, x, y)
               : call(plan, "preconditioner", o->precondition_apply, o->precondition_user, x, y);
}
