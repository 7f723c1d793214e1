/* The decisions of the solvers: from the sums of an iteration to the factors of the next one, or to the end. The CPU
 * takes them between its loops, every block of a GPU's kernel by itself; so both devices do the same. */
#pragma once

#include "job.h"

#include <math.h>

#define LSP_RULE LSP_BOTH_SIDES static inline

LSP_RULE bool lsp_rule_finite(double x) { return x - x == 0; }

/* ---- without a state, which the resident kernel has no registers for ---- */

/* Why a solver ends: lsp_solve_end and LSP_CAUSE_...; or LSP_SOLVE_RUNS. */
typedef struct lsp_rule_ending {
    int end, cause;
} lsp_rule_ending;
LSP_RULE lsp_rule_ending lsp_rule_ends(int end, int cause) {
    const lsp_rule_ending e = {end, cause};
    return e;
}

/* The largest |r| that is small enough. For b = 0 every one is, with `fixed` none. */
LSP_RULE double lsp_rule_limit(double bb, double rtol, double atol, bool fixed) {
    return bb == 0 ? INFINITY : fixed ? -1 : fmax(rtol * sqrt(bb), atol);
}

/* After `iteration` of at most `most` iterations: does the solver end? rr = r*r. positive: r*z must be, as that of
 * conjugate gradients; with `fixed` it may vanish, because then steps have the length 0. */
LSP_RULE lsp_rule_ending lsp_rule_end(double rr, double rz, double limit, int64_t iteration, int64_t most, bool fixed,
                                      bool positive) {
    return !lsp_rule_finite(rr)                           ? lsp_rule_ends(LSP_SOLVE_NOT_FINITE, LSP_CAUSE_RESIDUAL)
           : sqrt(rr) <= limit                            ? lsp_rule_ends(LSP_SOLVE_CONVERGED, LSP_CAUSE_NONE)
           : iteration >= most                            ? lsp_rule_ends(LSP_SOLVE_MAX_ITERATIONS, LSP_CAUSE_NONE)
           : !lsp_rule_finite(rz)                         ? lsp_rule_ends(LSP_SOLVE_NOT_FINITE, LSP_CAUSE_RZ)
           : positive && !(rz > 0) && !(rz == 0 && fixed) ? lsp_rule_ends(LSP_SOLVE_INDEFINITE, LSP_CAUSE_RZ)
                                                          : lsp_rule_ends(LSP_SOLVE_RUNS, LSP_CAUSE_NONE);
}

/* May conjugate gradients step along p, where p*A*p = pq? */
LSP_RULE lsp_rule_ending lsp_rule_curvature(double pq, bool fixed, bool any_sign) {
    return !lsp_rule_finite(pq) ? lsp_rule_ends(LSP_SOLVE_NOT_FINITE, LSP_CAUSE_CURVATURE)
           : pq > 0 || (pq < 0 && any_sign) || (pq == 0 && fixed)
               ? lsp_rule_ends(LSP_SOLVE_RUNS, LSP_CAUSE_NONE)
               : lsp_rule_ends(LSP_SOLVE_INDEFINITE, LSP_CAUSE_CURVATURE);
}

/* |r| / |b| */
LSP_RULE double lsp_rule_residual(double rr, double bb) { return bb > 0 ? sqrt(rr) / sqrt(bb) : 0; }

/* Does a loop end an iteration? */
LSP_RULE bool lsp_rule_turns(lsp_solve_loop_id id) { return id == LSP_LOOP_TURN || id == LSP_LOOP_TURN_STABILIZED; }

/* ---- with a state ---- */

/* What went wrong did so in the iteration after those that are done. */
LSP_RULE void lsp_rule_stop(lsp_solve_state *s, int end, int cause) {
    s->end = end;
    s->end_iteration = s->iteration + (cause != LSP_CAUSE_NONE);
    s->cause = cause;
}

/* After r was updated: counts the iteration; ends, or sets beta. The first call, with bb set, is for the first residual
 * and counts none. `fixed`: what would vanish makes steps of length 0 instead. */
LSP_RULE void lsp_rule_turn(lsp_solve_state *s, double rr, double rz, bool bicgstab) {
    const bool first = s->iteration < 0;
    const double before = s->rz, limit = lsp_rule_limit(s->bb, s->rtol, s->atol, s->fixed);
    const lsp_rule_ending e = lsp_rule_end(lsp_rule_finite(s->bb) ? rr : s->bb, rz, limit, s->iteration + 1,
                                           s->max_iterations, s->fixed, !bicgstab && !s->stationary);
    s->due = false;
    if (e.cause == LSP_CAUSE_RESIDUAL) {
        lsp_rule_stop(s, e.end, e.cause);
        s->rr = first ? rr : s->rr;
        return;
    }
    s->due = !first;
    s->rr = rr;
    s->rz = rz;
    s->iteration++;
    s->beta = 0;
    if (e.end != LSP_SOLVE_RUNS) {
        lsp_rule_stop(s, e.end, e.cause);
    } else if (bicgstab && rz == 0 && !s->fixed) {
        lsp_rule_stop(s, LSP_SOLVE_BREAKDOWN, LSP_CAUSE_RZ);
    } else if (bicgstab && !first && s->omega == 0 && !s->fixed) {
        lsp_rule_stop(s, LSP_SOLVE_BREAKDOWN, LSP_CAUSE_OMEGA);
    } else if (!s->stationary && !first && before != 0 && (!bicgstab || s->omega != 0)) {
        s->beta = bicgstab ? rz / before * (s->alpha / s->omega) : rz / before;
    }
}

/* Conjugate gradients, after q = A p: the length of the step along p. */
LSP_RULE void lsp_rule_length(lsp_solve_state *s, double pq) {
    const lsp_rule_ending e = lsp_rule_curvature(pq, s->fixed || s->stationary, s->any_sign || s->stationary);
    s->denominator = pq;
    s->alpha = 0;
    if (e.end != LSP_SOLVE_RUNS) {
        lsp_rule_stop(s, e.end, e.cause);
    } else if (s->stationary || pq != 0) {
        s->alpha = s->stationary ? 1 : s->rz / pq;
    }
}

/* BiCGStab, after q = A p_hat: the length of the step along p_hat. rv = rhat*q. */
LSP_RULE void lsp_rule_first_length(lsp_solve_state *s, double rv) {
    s->denominator = rv;
    s->alpha = 0;
    if (!lsp_rule_finite(rv)) {
        lsp_rule_stop(s, LSP_SOLVE_NOT_FINITE, LSP_CAUSE_CURVATURE);
    } else if (rv != 0) {
        s->alpha = s->rz / rv;
    } else if (!s->fixed) {
        lsp_rule_stop(s, LSP_SOLVE_BREAKDOWN, LSP_CAUSE_CURVATURE);
    }
}

/* BiCGStab, after t = A s_hat: the length of the step along s_hat. If s is small enough there is no second step. */
LSP_RULE void lsp_rule_second_length(lsp_solve_state *s, double ss, double ts, double tt) {
    s->omega = 0;
    if (lsp_rule_finite(ss) && sqrt(ss) <= lsp_rule_limit(s->bb, s->rtol, s->atol, s->fixed)) {
        return;
    }
    if (!lsp_rule_finite(ss) || !lsp_rule_finite(ts) || !lsp_rule_finite(tt)) {
        lsp_rule_stop(s, LSP_SOLVE_NOT_FINITE, LSP_CAUSE_RESIDUAL);
    } else if (tt > 0) {
        s->omega = ts / tt;
    } else if (!s->fixed) {
        lsp_rule_stop(s, LSP_SOLVE_BREAKDOWN, LSP_CAUSE_TT);
    }
}

/* Does a loop begin with a decision? */
LSP_RULE bool lsp_rule_decides(lsp_solve_loop_id id) {
    return id == LSP_LOOP_STEP || id == LSP_LOOP_HALF || id == LSP_LOOP_STEP_STABILIZED || lsp_rule_turns(id);
}

/* The decision before a loop, from the sums[slot] of the loops before it. apart: r*z has a slot of its own. Returns
 * whether an iteration has ended with a residual. */
LSP_RULE bool lsp_rule_decide(lsp_solve_state *s, lsp_solve_loop_id id, double (*sums)[3], bool apart) {
    const double *dots = sums[LSP_SLOT_DOTS], *norms = sums[LSP_SLOT_NORMS], *other = sums[LSP_SLOT_APART];
    const bool first = s->iteration < 0, bicgstab = id == LSP_LOOP_TURN_STABILIZED;
    s->due = false;
    if (s->end != LSP_SOLVE_RUNS) {
        return false;
    }
    if (id == LSP_LOOP_STEP) {
        lsp_rule_length(s, dots[0]);
    } else if (id == LSP_LOOP_HALF) {
        lsp_rule_first_length(s, dots[0]);
    } else if (id == LSP_LOOP_STEP_STABILIZED) {
        lsp_rule_second_length(s, other[0], dots[0], dots[1]);
    } else {
        s->bb = first ? norms[2] : s->bb;
        lsp_rule_turn(s, norms[0], bicgstab && first ? norms[0] : apart ? other[0] : norms[1], bicgstab);
    }
    return lsp_rule_turns(id) && s->cause != LSP_CAUSE_RESIDUAL;
}

/* |r| / |b| after an iteration, which goes to the history. */
LSP_RULE double lsp_rule_tell(const lsp_solve_state *s) {
    const double residual = lsp_rule_residual(s->rr, s->bb);
    if (s->iteration < s->history_capacity) {
        s->history[s->iteration] = residual;
    }
    return residual;
}

/* What the decision means for the loop. */
LSP_RULE void lsp_rule_set_factors(const lsp_solve_state *s, lsp_solve_loop *l) {
    l->x = s->x;
    l->alpha = s->alpha;
    l->beta = s->beta;
    l->omega = s->omega;
    l->due = s->due;
    l->runs = s->end == LSP_SOLVE_RUNS;
}

/* After a round: does another one go on from x? rr = |b - A x|^2, computed anew; *least: of the rounds before, at first
 * infinite. So a residual that is small by recurrence alone ends no solver, and BiCGStab restarts after a breakdown. A
 * round that does not halve |b - A x| is the last one. */
LSP_RULE bool lsp_rule_again(lsp_solve_state *s, double rr, double *least) {
    const bool converged = s->end == LSP_SOLVE_CONVERGED, broken = s->end == LSP_SOLVE_BREAKDOWN && s->iteration > 0;
    if (s->fixed || s->bb == 0 || (!converged && !broken)) {
        return false;
    }
    if (sqrt(rr) <= LSP_SOLVE_SLACK * fmax(s->rtol * sqrt(s->bb), s->atol)) {
        lsp_rule_stop(s, LSP_SOLVE_CONVERGED, LSP_CAUSE_NONE);
        return false;
    }
    if (4 * rr <= *least) {
        *least = rr;
        return true;
    }
    s->end = converged ? LSP_SOLVE_STAGNATED : LSP_SOLVE_BREAKDOWN;
    return false;
}
