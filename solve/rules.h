/* The decisions of the solvers: from the sums of an iteration to the factors of the next one, or to the end. The CPU
 * takes them between its loops, every block of a GPU's kernel by itself; so both devices do the same. */
#ifndef LSP_SOLVE_RULES_H
#define LSP_SOLVE_RULES_H

#include "job.h"

#include <math.h>

#define LSP_RULE LSP_BOTH_SIDES static inline

LSP_RULE bool lsp_rule_finite(double x) { return x - x == 0; }

LSP_RULE void lsp_rule_end(lsp_solve_state *s, lsp_solve_end end, int64_t iteration, int cause) {
    s->end = (int)end;
    s->end_iteration = iteration;
    s->cause = cause;
}

LSP_RULE double lsp_rule_residual(const lsp_solve_state *s) { return s->bb > 0 ? sqrt(s->rr) / sqrt(s->bb) : 0; }

/* Is a residual of the squared norm rr small enough? */
LSP_RULE bool lsp_rule_reached(const lsp_solve_state *s, double rr) {
    const double r = sqrt(rr);
    return !s->fixed && (r <= s->rtol * sqrt(s->bb) || (s->atol > 0 && r <= s->atol));
}

/* After r was updated: counts the iteration; ends, or sets beta. The first call, with bb set, is for the first residual
 * and counts none. `fixed`: what would vanish makes steps of length 0 instead. */
LSP_RULE void lsp_rule_turn(lsp_solve_state *s, double rr, double rz, bool bicgstab) {
    const bool first = s->iteration < 0;
    const double before = s->rz;
    s->due = false;
    if (!lsp_rule_finite(rr) || !lsp_rule_finite(s->bb)) {
        lsp_rule_end(s, LSP_SOLVE_NOT_FINITE, s->iteration + 1, LSP_CAUSE_RESIDUAL);
        s->rr = first ? rr : s->rr;
        return;
    }
    s->due = !first;
    s->rr = rr;
    s->rz = rz;
    s->iteration++;
    s->beta = 0;
    if (s->bb == 0 || lsp_rule_reached(s, rr)) {
        lsp_rule_end(s, LSP_SOLVE_CONVERGED, s->iteration, LSP_CAUSE_NONE);
    } else if (s->iteration >= s->max_iterations) {
        lsp_rule_end(s, LSP_SOLVE_MAX_ITERATIONS, s->iteration, LSP_CAUSE_NONE);
    } else if (!lsp_rule_finite(rz)) {
        lsp_rule_end(s, LSP_SOLVE_NOT_FINITE, s->iteration + 1, LSP_CAUSE_RZ);
    } else if (bicgstab && rz == 0 && !s->fixed) {
        lsp_rule_end(s, LSP_SOLVE_BREAKDOWN, s->iteration + 1, LSP_CAUSE_RZ);
    } else if (bicgstab && !first && s->omega == 0 && !s->fixed) {
        lsp_rule_end(s, LSP_SOLVE_BREAKDOWN, s->iteration + 1, LSP_CAUSE_OMEGA);
    } else if (s->stationary) {
        return; /* no step looks back */
    } else if (!bicgstab && !(rz > 0) && !(rz == 0 && s->fixed)) {
        lsp_rule_end(s, LSP_SOLVE_INDEFINITE, s->iteration + 1, LSP_CAUSE_RZ);
    } else if (!first && before != 0 && (!bicgstab || s->omega != 0)) {
        s->beta = bicgstab ? rz / before * (s->alpha / s->omega) : rz / before;
    }
}

/* Conjugate gradients, after q = A p: the length of the step along p. */
LSP_RULE void lsp_rule_length(lsp_solve_state *s, double pq) {
    s->denominator = pq;
    s->alpha = 0;
    if (!lsp_rule_finite(pq)) {
        lsp_rule_end(s, LSP_SOLVE_NOT_FINITE, s->iteration + 1, LSP_CAUSE_CURVATURE);
    } else if (s->stationary) {
        s->alpha = 1;
    } else if (pq > 0 || (pq < 0 && s->any_sign)) {
        s->alpha = s->rz / pq;
    } else if (!(pq == 0 && s->fixed)) {
        lsp_rule_end(s, LSP_SOLVE_INDEFINITE, s->iteration + 1, LSP_CAUSE_CURVATURE);
    }
}

/* BiCGStab, after q = A p_hat: the length of the step along p_hat. rv = rhat*q. */
LSP_RULE void lsp_rule_first_length(lsp_solve_state *s, double rv) {
    s->denominator = rv;
    s->alpha = 0;
    if (!lsp_rule_finite(rv)) {
        lsp_rule_end(s, LSP_SOLVE_NOT_FINITE, s->iteration + 1, LSP_CAUSE_CURVATURE);
    } else if (rv != 0) {
        s->alpha = s->rz / rv;
    } else if (!s->fixed) {
        lsp_rule_end(s, LSP_SOLVE_BREAKDOWN, s->iteration + 1, LSP_CAUSE_CURVATURE);
    }
}

/* BiCGStab, after t = A s_hat: the length of the step along s_hat. If s is small enough there is no second step. */
LSP_RULE void lsp_rule_second_length(lsp_solve_state *s, double ss, double ts, double tt) {
    s->omega = 0;
    if (lsp_rule_finite(ss) && lsp_rule_reached(s, ss)) {
        return;
    }
    if (!lsp_rule_finite(ss) || !lsp_rule_finite(ts) || !lsp_rule_finite(tt)) {
        lsp_rule_end(s, LSP_SOLVE_NOT_FINITE, s->iteration + 1, LSP_CAUSE_RESIDUAL);
    } else if (tt > 0) {
        s->omega = ts / tt;
    } else if (!s->fixed) {
        lsp_rule_end(s, LSP_SOLVE_BREAKDOWN, s->iteration + 1, LSP_CAUSE_TT);
    }
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
        lsp_rule_end(s, LSP_SOLVE_CONVERGED, s->iteration, LSP_CAUSE_NONE);
        return false;
    }
    if (4 * rr <= *least) {
        *least = rr;
        return true;
    }
    s->end = converged ? LSP_SOLVE_STAGNATED : LSP_SOLVE_BREAKDOWN;
    return false;
}

#endif
