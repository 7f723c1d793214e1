/* The public calls of the solvers, and how a solve ended, in words. */
#include "solve.h"
#include "matrices/matrices.h"
#include "multigrid/job.h"
#include "rules.h"
#include <stdio.h>

#define LSP_SAY(...) snprintf(info->reason, sizeof info->reason, __VA_ARGS__)

/* Why an iteration could not be carried out. */
static void explain_fault(const lsp_solve_plan *plan, const lsp_solve_state *s, lsp_solve_info *info) {
    const long long k = (long long)s->end_iteration;
    const bool preconditioned = plan->options.precondition != LSP_PRECONDITION_NONE;
    switch (s->cause) {
    case LSP_CAUSE_RESIDUAL:
        LSP_SAY(k > 0                    ? "iteration %lld: the residual became infinite or no number"
                : lsp_rule_finite(s->bb) ? "iteration %lld: the residual of the first guess is infinite or no number"
                                         : "iteration %lld: b holds an infinite number, or one that is none",
                k);
        break;
    case LSP_CAUSE_CURVATURE:
        LSP_SAY("iteration %lld: %s is %g%s", k, plan->bicgstab ? "r_hat*A*p" : "p*A*p", s->denominator,
                s->end == LSP_SOLVE_INDEFINITE ? ": A is not positive definite" : "");
        break;
    case LSP_CAUSE_RZ:
        LSP_SAY("iteration %lld: %s is %g%s", k, plan->bicgstab ? "r_hat*r" : "r*z", s->rz,
                s->end != LSP_SOLVE_INDEFINITE ? ""
                : preconditioned               ? ": the preconditioner is not positive definite"
                                               : ": the residual is too small for its square");
        break;
    case LSP_CAUSE_TT:
        LSP_SAY("iteration %lld: A (or the preconditioner) turned a residual into 0: it is singular", k);
        break;
    case LSP_CAUSE_TINY:
    case LSP_CAUSE_HUGE:
        LSP_SAY("iteration 0: b is %s, but the square of its norm is%s: scale the system",
                s->cause == LSP_CAUSE_TINY ? "not 0" : "finite", s->cause == LSP_CAUSE_TINY ? "" : " not");
        break;
    default:
        LSP_SAY("iteration %lld: the step before had length 0, because t*s was 0", k);
    }
}

static void explain(const lsp_solve_plan *plan, const lsp_solve_outcome *outcome, lsp_solve_info *info) {
    const lsp_solve_state *s = &outcome->state;
    const long long k = (long long)info->iterations;
    const double residual = info->residual;
    switch (info->end) {
    case LSP_SOLVE_CONVERGED:
        if (s->bb == 0) {
            LSP_SAY("b is 0, and so is x");
        } else if (residual > s->rtol && residual * info->b_norm <= LSP_SOLVE_SLACK * s->atol) {
            LSP_SAY("the residual fell to %.3g in %lld iterations; the absolute tolerance is %g",
                    residual * info->b_norm, k, s->atol);
        } else {
            LSP_SAY("the residual fell to %.3g of |b| in %lld iterations; the tolerance is %g", residual, k, s->rtol);
        }
        break;
    case LSP_SOLVE_STOPPED:
        LSP_SAY("stopped by the caller after iteration %lld, at a residual of %.3g of |b|", k, residual);
        break;
    case LSP_SOLVE_MAX_ITERATIONS:
        LSP_SAY(s->fixed ? "%lld iterations were done, as asked; the residual is %.3g of |b|"
                         : "%lld iterations are the most, and the residual is %.3g of |b|; the tolerance is %g",
                k, residual, s->rtol);
        break;
    case LSP_SOLVE_STAGNATED:
        LSP_SAY("the residual stays at %.3g of |b| (%.3g by recurrence) after %lld iterations and %lld restarts; the "
                "tolerance is %g",
                residual, outcome->last, k, (long long)outcome->rounds - 1, s->rtol);
        break;
    default:
        explain_fault(plan, s, info);
    }
}

/* Fills *info; the status that the caller gets. */
static lsp_status tell(const lsp_solve_plan *plan, const lsp_solve_outcome *outcome, double seconds,
                       lsp_solve_info *info) {
    lsp_ctx *ctx = plan->ctx;
    const lsp_solve_state *s = &outcome->state;
    const bool stopped = outcome->stopped && s->end != LSP_SOLVE_CONVERGED;
    *info = (lsp_solve_info){.end = stopped ? LSP_SOLVE_STOPPED : (lsp_solve_end)s->end,
                             .iterations = stopped ? s->iteration : s->end_iteration,
                             .residual = outcome->b_norm == 0 ? 0 : sqrt(outcome->rr) / outcome->b_norm,
                             .b_norm = outcome->b_norm,
                             .solver = outcome->solver,
                             .spmv = plan->spmv_info,
                             .plan_seconds = plan->plan_seconds,
                             .solve_seconds = seconds};
    explain(plan, outcome, info);
    lsp_log(ctx, "%s (%s): %s",
            plan->stationary ? "multigrid"
            : plan->bicgstab ? "bicgstab"
                             : "cg",
            info->solver, info->reason);
    const bool well = info->end == LSP_SOLVE_CONVERGED || info->end == LSP_SOLVE_STOPPED ||
                      (info->end == LSP_SOLVE_MAX_ITERATIONS && s->fixed);
    return well ? LSP_OK : lsp_fail(ctx, LSP_ERR_CONVERGENCE, "%s", info->reason);
}

lsp_status lsp_solve_execute(lsp_solve_plan *plan, const void *b, void *x, lsp_solve_info *info) {
    LSP_PLAN_USE(plan);
    lsp_solve_info unread;
    lsp_solve_outcome outcome;
    LSP_TRY(lsp_solve_check_vectors(plan, b, x));
    const double start = lsp_now();
    LSP_TRY(lsp_solve_run(plan, b, x, &outcome));
    return tell(plan, &outcome, lsp_now() - start, info != NULL ? info : &unread);
}

lsp_status lsp_solve_plan_get_info(const lsp_solve_plan *plan, lsp_solve_info *info) {
    LSP_PLAN_USE(plan);
    LSP_REQUIRE(info != NULL, LSP_ERR_ARGUMENT, "the place for the plan's information is NULL");
    *info = (lsp_solve_info){.solver = plan->resident != NULL ? "resident" : plan->backend->solver,
                             .spmv = plan->spmv_info,
                             .plan_seconds = plan->plan_seconds};
    return LSP_OK;
}

static lsp_status solve(lsp_ctx *ctx, const lsp_csr *A, const void *b, const lsp_solve_options *options, void *x,
                        bool bicgstab, lsp_solve_info *info) {
    lsp_solve_plan *plan LSP_AT_END(lsp_plan_leave) = NULL;
    LSP_TRY(lsp_solve_plan_make(ctx, A, options, bicgstab, true, &plan));
    LSP_TRY(lsp_solve_check_vectors(plan, b, x));
    if (A != NULL) {
        LSP_TRY(lsp_csr_check_apart(ctx, A, "solution", x, plan->n, lsp_type_bytes(plan->type)));
    }
    return lsp_solve_execute(plan, b, x, info);
}

lsp_status lsp_cg(lsp_ctx *ctx, const lsp_csr *A, const void *b, const lsp_solve_options *options, void *x,
                  lsp_solve_info *info) {
    return solve(ctx, A, b, options, x, false, info);
}

lsp_status lsp_bicgstab(lsp_ctx *ctx, const lsp_csr *A, const void *b, const lsp_solve_options *options, void *x,
                        lsp_solve_info *info) {
    return solve(ctx, A, b, options, x, true, info);
}

lsp_status lsp_cg_plan_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_solve_options *options, lsp_solve_plan **plan) {
    return lsp_solve_plan_make(ctx, A, options, false, false, plan);
}

lsp_status lsp_bicgstab_plan_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_solve_options *options,
                                    lsp_solve_plan **plan) {
    return lsp_solve_plan_make(ctx, A, options, true, false, plan);
}

lsp_status lsp_multigrid_solve(lsp_multigrid *m, const void *b, const lsp_solve_options *options, void *x,
                               lsp_solve_info *info) {
    LSP_PLAN_USE(m);
    lsp_solve_plan *plan LSP_AT_END(lsp_plan_leave) = NULL;
    lsp_solve_options o = options != NULL ? *options : (lsp_solve_options){0};
    LSP_REQUIRE(o.precondition == LSP_PRECONDITION_NONE && o.precondition_apply == NULL && o.operator_apply == NULL &&
                    o.multigrid == NULL,
                LSP_ERR_ARGUMENT, "multigrid by itself takes no preconditioner and no operator");
    o.type = o.type != LSP_NONE ? o.type : m->type;
    o.precondition = LSP_PRECONDITION_MULTIGRID;
    o.multigrid = m;
    LSP_TRY(lsp_solve_plan_make(ctx, &m->level[0].A, &o, false, true, &plan));
    plan->stationary = true;
    return lsp_solve_execute(plan, b, x, info);
}
