/* Preconditioned conjugate gradients in one launch, whose blocks run together. All blocks compute the same sums, so all
 * take the same decisions. A step is: p = news + beta p in every slice; partial sums of rows; barrier; owners update
 * their rows; barrier. */
#pragma once

#include "own_rows.cuh"
#include "solve/rules.h"

typedef struct cg_task {
    const double *b, *inverse;
    bool use_x0;
    lsp_solve_state s; /* before the first iteration. history: gets r*r of each iteration */
    lsp_resident_result *result;
} cg_task;

/* The sums of the threads' r*z and r*r. Without a preconditioner they are one. */
__device__ inline void cg_norms(const resident_job &job, const resident_shared &s, unsigned &number, bool both,
                                double *rho, double *rr) {
    if (both) {
        double v[2] = {*rho, *rr};
        resident_together(job, s, number, v);
        *rho = v[0];
        *rr = v[1];
    } else {
        double v[1] = {*rho};
        resident_together(job, s, number, v);
        *rho = *rr = v[0];
    }
}

/* Does it end after `iteration` iterations? told: the result, in one thread of block 0; NULL in all others. */
__device__ inline bool cg_ends(const cg_task &task, double limit, double rho, double rr, long long iteration,
                               lsp_resident_result *told) {
    if (told && lsp_rule_finite(rr)) {
        told->iteration = iteration;
        told->rr = rr;
        told->rz = rho;
        if (iteration < task.s.history_capacity) {
            task.s.history[iteration] = rr;
        }
    }
    const lsp_rule_ending e = lsp_rule_end(rr, rho, limit, iteration, task.s.max_iterations, task.s.fixed, true);
    if (told && e.end != LSP_SOLVE_RUNS) {
        told->end = e.end;
        told->cause = e.cause;
    }
    return e.end != LSP_SOLVE_RUNS;
}

/* Solves A x = b. */
template <int LANES, bool MEMORY>
static __global__ void __launch_bounds__(RESIDENT_NT, 1)
    kernel_cg(const __grid_constant__ resident_job job, const __grid_constant__ cg_task task) {
    LSP_DYNAMIC_SHARED(memory);
    resident_shared s;
    resident_carve(job, memory, &s);
    lsp_resident_result *const told = blockIdx.x == 0 && threadIdx.x == 0 ? s.result : NULL;
    const resident_part part = resident_begin(job, s);
    resident_rows<MEMORY> rows(job);
    const bool jacobi = task.inverse != NULL;
    unsigned number = 0;
    bool guess = task.use_x0;
    double rho = 0, rr = 0, beta = 0, bb[1] = {0};
    long long iteration = 0;
    rows.template each<0, OWN_X | OWN_R | OWN_P | OWN_W>(
        [&](int row, double &x, double &r, double &, double &, double &w) {
            r = task.b[row];
            x = guess ? ((const double *)task.s.x)[row] : 0;
            w = jacobi ? task.inverse[row] : 1;
            bb[0] = fma(r, r, bb[0]);
            __stcg(job.news + row, guess ? x : r * w);
            rho = fma(r, r * w, rho);
            rr = fma(r, r, rr);
        });
    resident_together(job, s, number, bb);
    const double limit = lsp_rule_limit(bb[0], task.s.rtol, task.s.atol, task.s.fixed);
    if (told) {
        *told = lsp_resident_result{};
        told->iteration = -1;
        told->bb = bb[0];
    }
    bool done = bb[0] == 0 || !lsp_rule_finite(bb[0]);
    if (done) {
        cg_ends(task, limit, bb[0], bb[0], iteration, told);
    } else if (!guess) {
        cg_norms(job, s, number, jacobi, &rho, &rr);
        done = cg_ends(task, limit, rho, rr, iteration, told);
    }
    double alpha = 0; /* of the last step, which x still waits for */
    while (!done) {
        const int dots = guess ? DOTS_NONE : job.dots;
        rows.template each<OWN_X | OWN_R | OWN_P | OWN_W, OWN_X | OWN_P>(
            [&](int, double &x, double &r, double &p, double &, double &w) {
                x = alpha == 0 ? x : fma(alpha, p, x);
                p = resident_next(beta, p, r * w);
            });
        alpha = 0;
        const double d = resident_step<LANES>(job, s, part, rows, number, beta, dots);
        const double rho_before = rho;
        if (!guess) {
            const lsp_rule_ending e = lsp_rule_curvature(d, task.s.fixed, false);
            if (told) {
                told->end = e.end;
                told->cause = e.cause;
                told->denominator = d;
            }
            if (e.end != LSP_SOLVE_RUNS) {
                break;
            }
            iteration++;
            alpha = d > 0 ? rho / d : 0;
        }
        const double length = guess ? 1 : alpha;
        rho = rr = 0;
        rows.template each<OWN_R | OWN_Q | OWN_W, OWN_R>(
            [&](int row, double &, double &r, double &, double &q, double &w) {
                r = fma(-length, own_product(job, rows, dots, row, q), r);
                __stcg(job.news + row, r * w);
                rho = fma(r, r * w, rho);
                rr = fma(r, r, rr);
            });
        cg_norms(job, s, number, jacobi, &rho, &rr);
        alpha = lsp_rule_finite(rr) ? alpha : 0;
        beta = guess || rho_before == 0 ? 0 : rho / rho_before;
        guess = false;
        done = cg_ends(task, limit, rho, rr, iteration, told);
    }
    rows.template each<OWN_X | OWN_P, 0>([&](int row, double &x, double &, double &p, double &, double &) {
        ((double *)task.s.x)[row] = alpha == 0 ? x : fma(alpha, p, x);
    });
    if (told) {
        *task.result = *told;
    }
}
