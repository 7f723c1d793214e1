/* The iterations on the CPU, "threads". An iteration of conjugate gradients is one product and three loops over the
 * vectors: p*q; r; x and p together. */
#include "cpu.h"
#include "matrices/matrices.h"
#include "solve/rules.h"

#include <string.h>

typedef struct running {
    const lsp_solve_plan *plan;
    lsp_solve_team team;
    lsp_solve_outcome *outcome;
    lsp_solve_state *s; /* of the outcome */
    lsp_solve_loop loop;
} running;

/* The user's hook, and the history. Returns true if the hook stops the solver. */
static bool tell(const running *run) {
    const lsp_solve_options *o = &run->plan->options;
    const lsp_solve_state *s = run->s;
    const double residual = lsp_rule_residual(s->rr, s->bb);
    if (s->cause == LSP_CAUSE_RESIDUAL) { /* the iteration that ended so has no residual */
        return false;
    }
    if (s->iteration >= 0 && s->iteration < s->history_capacity) {
        s->history[s->iteration] = residual;
    }
    return s->iteration > 0 && o->on_iteration != NULL &&
           o->on_iteration(o->iteration_user, run->outcome->before + s->iteration, residual);
}

static void loop(running *run, lsp_solve_loop_id id, double sums[3]) {
    lsp_solve_loop *l = &run->loop;
    const lsp_solve_state *s = run->s;
    l->alpha = s->alpha;
    l->beta = s->beta;
    l->omega = s->omega;
    l->due = s->due;
    l->runs = s->end == LSP_SOLVE_RUNS;
    lsp_solve_loop_run(&run->team, id, l, sums);
}

/* x += ..., p = ...; BiCGStab: p_hat too. */
static lsp_status turn(running *run) {
    double none[3];
    const lsp_solve_plan *plan = run->plan;
    if (run->s->due || run->s->end == LSP_SOLVE_RUNS) {
        loop(run, plan->bicgstab ? LSP_LOOP_TURN_STABILIZED : LSP_LOOP_TURN, none);
    }
    run->s->due = false;
    return plan->bicgstab && run->s->end == LSP_SOLVE_RUNS && lsp_solve_calls_precondition(plan)
               ? lsp_solve_precondition(plan, plan->vectors.p, plan->vectors.p_hat)
               : LSP_OK;
}

/* Conjugate gradients with a preconditioner that is called: z = M r and r*z. Otherwise the loops have made r*z. */
static lsp_status apply_to_r(running *run, double *rz) {
    const lsp_solve_plan *plan = run->plan;
    if (!plan->bicgstab && lsp_solve_calls_precondition(plan)) {
        double sums[3];
        const lsp_solve_loop two = {.p = plan->vectors.r, .q = plan->vectors.z};
        LSP_TRY(lsp_solve_precondition(plan, plan->vectors.r, plan->vectors.z));
        lsp_solve_loop_run(&run->team, LSP_LOOP_DOT, &two, sums);
        *rz = sums[0];
    }
    return LSP_OK;
}

static lsp_status start(running *run) {
    const lsp_solve_plan *plan = run->plan;
    lsp_solve_state *s = run->s;
    double sums[3];
    if (run->outcome->guess) {
        LSP_TRY(lsp_solve_multiply(plan, run->loop.x, plan->vectors.q));
    }
    run->loop.q = run->outcome->guess ? plan->vectors.q : NULL;
    loop(run, LSP_LOOP_START, sums);
    run->loop.q = plan->vectors.q;
    s->bb = sums[0];
    LSP_TRY(apply_to_r(run, &sums[2]));
    lsp_rule_turn(s, sums[1], plan->bicgstab ? sums[1] : sums[2], plan->bicgstab);
    (void)tell(run);
    return turn(run);
}

static lsp_status iterate_cg(running *run) {
    const lsp_solve_vectors *v = &run->plan->vectors;
    double sums[3];
    LSP_TRY(lsp_solve_multiply(run->plan, v->p, v->q));
    loop(run, LSP_LOOP_DOT, sums);
    lsp_rule_length(run->s, sums[0]);
    if (run->s->end == LSP_SOLVE_RUNS) {
        loop(run, LSP_LOOP_STEP, sums);
        LSP_TRY(apply_to_r(run, &sums[1]));
        lsp_rule_turn(run->s, sums[0], sums[1], false);
    }
    return LSP_OK;
}

static lsp_status iterate_bicgstab(running *run) {
    const lsp_solve_plan *plan = run->plan;
    const lsp_solve_vectors *v = &plan->vectors;
    const lsp_solve_loop shadow = {.p = v->r_hat, .q = v->q};
    lsp_solve_state *s = run->s;
    double sums[3], ss;
    LSP_TRY(lsp_solve_multiply(plan, v->p_hat, v->q));
    lsp_solve_loop_run(&run->team, LSP_LOOP_DOT, &shadow, sums);
    lsp_rule_first_length(s, sums[0]);
    if (s->end != LSP_SOLVE_RUNS) {
        return LSP_OK;
    }
    loop(run, LSP_LOOP_HALF, sums);
    ss = sums[0];
    if (lsp_solve_calls_precondition(plan)) {
        LSP_TRY(lsp_solve_precondition(plan, v->s, v->s_hat));
    }
    LSP_TRY(lsp_solve_multiply(plan, v->s_hat, v->t));
    loop(run, LSP_LOOP_DOTS, sums);
    lsp_rule_second_length(s, ss, sums[0], sums[1]);
    if (s->end == LSP_SOLVE_RUNS) {
        loop(run, LSP_LOOP_STEP_STABILIZED, sums);
        lsp_rule_turn(s, sums[0], sums[1], true);
    }
    return LSP_OK;
}

static lsp_status run_round(lsp_solve_plan *plan, const void *b, lsp_solve_outcome *outcome) {
    lsp_solve_state *s = &outcome->state;
    const lsp_solve_vectors *v = &plan->vectors;
    running run = {.plan = plan,
                   .team = {plan->ctx, plan->n, plan->type, plan->parts},
                   .outcome = outcome,
                   .s = s,
                   .loop = {.b = b,
                            .inverse = plan->inverse,
                            .x = s->x,
                            .r = v->r,
                            .p = v->p,
                            .q = v->q,
                            .z = v->z,
                            .r_hat = v->r_hat,
                            .s = v->s,
                            .t = v->t,
                            .p_hat = v->p_hat,
                            .s_hat = v->s_hat}};
    LSP_TRY(start(&run));
    while (s->end == LSP_SOLVE_RUNS && !outcome->stopped) {
        LSP_TRY(lsp_go_on(plan->ctx));
        LSP_TRY(plan->bicgstab ? iterate_bicgstab(&run) : iterate_cg(&run));
        if (s->due) { /* an iteration is complete */
            outcome->stopped = tell(&run);
        }
        LSP_TRY(turn(&run));
    }
    return LSP_OK;
}

static lsp_status find_residual(const lsp_solve_plan *plan, const void *b, const void *x, double *rr) {
    const lsp_solve_team team = {plan->ctx, plan->n, plan->type, plan->parts};
    const lsp_solve_loop loop = {.b = b, .q = plan->vectors.q};
    double sums[3];
    LSP_TRY(lsp_solve_multiply(plan, x, plan->vectors.q));
    lsp_solve_loop_run(&team, LSP_LOOP_RESIDUAL, &loop, sums);
    *rr = sums[0];
    return LSP_OK;
}

static lsp_status prepare(lsp_solve_plan *plan) {
    return lsp_alloc(plan->ctx, LSP_HOST, lsp_solve_partials(plan->n), sizeof(double), &plan->parts);
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
        if (d->type == LSP_F64) {
            ((double *)d->inverse)[i] = 1 / sum;
        } else {
            ((float *)d->inverse)[i] = (float)(1 / sum);
        }
    }
}

static lsp_status invert_diagonal(lsp_ctx *ctx, const lsp_csr *A, lsp_type type, void *inverse, int64_t *bad) {
    diagonal d = {A, type, inverse, INT64_MAX};
    lsp_for_shares(ctx, A->rows, 1 << 13, invert_rows, &d);
    *bad = d.bad == INT64_MAX ? -1 : d.bad;
    return LSP_OK;
}

/* ---- for the NAS benchmark ---- */

static void set_ones(void *data, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        ((double *)data)[i] = 1;
    }
}

static lsp_status fill_ones(lsp_ctx *ctx, int64_t n, double *x) {
    lsp_for_shares(ctx, n, 1 << 14, set_ones, x);
    return LSP_OK;
}

static lsp_status run_alone(lsp_ctx *ctx, int64_t n, lsp_solve_loop_id id, const lsp_solve_loop *loop, double sums[3]) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_solve_team team = {ctx, n, LSP_F64, NULL};
    LSP_TRY(LSP_SCRATCH(ctx, lsp_solve_partials(n), &team.partial));
    lsp_solve_loop_run(&team, id, loop, sums);
    return LSP_OK;
}

static lsp_status pair(lsp_ctx *ctx, int64_t n, const double *x, const double *z, double sums[2]) {
    double all[3] = {0};
    const lsp_solve_loop loop = {.s = (void *)x, .t = (void *)z};
    LSP_TRY(run_alone(ctx, n, LSP_LOOP_DOTS, &loop, all));
    memcpy(sums, all, 2 * sizeof *sums);
    return LSP_OK;
}

static lsp_status scale(lsp_ctx *ctx, int64_t n, double factor, const double *from, double *to) {
    double none[3];
    const lsp_solve_loop loop = {.z = from, .x = to, .alpha = factor};
    return run_alone(ctx, n, LSP_LOOP_SCALE, &loop, none);
}

const lsp_solve_backend lsp_solve_cpu = {.solver = "threads",
                                         .prepare = prepare,
                                         .run = run_round,
                                         .residual = find_residual,
                                         .diagonal = invert_diagonal,
                                         .ones = fill_ones,
                                         .pair = pair,
                                         .scale = scale};
