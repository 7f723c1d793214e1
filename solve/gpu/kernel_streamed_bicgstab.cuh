/* Flexible BiCGStab, as kernel_streamed.cuh does it. q = A p_hat, s = r - alpha q, t = A s_hat. */
#pragma once

#include "kernel_streamed.cuh"

/* alpha from r_hat*q; s = r - alpha q, s_hat = M s by the diagonal. s*s. */
template <typename T>
__global__ void __launch_bounds__(NT)
    kernel_half(int64_t n, const T *__restrict__ r, const T *__restrict__ q, const T *__restrict__ inverse,
                T *__restrict__ s_out, T *__restrict__ s_hat, lsp_solve_area *area) {
    lsp_let_next_begin();
    lsp_wait_for_previous();
    __shared__ lsp_solve_state s;
    double rv[1], sums[1] = {0};
    total_sums(&area->sums[0], (int)gridDim.x, rv);
    if (threadIdx.x == 0) {
        s = area->news.state;
        if (s.end == LSP_SOLVE_RUNS) {
            lsp_rule_first_length(&s, rv[0]);
        }
        if (blockIdx.x == 0) {
            area->after_first = s;
        }
    }
    __syncthreads();
    if (s.end != LSP_SOLVE_RUNS) {
        return;
    }
    const double alpha = s.alpha;
    each(n, [&](int64_t i) {
        const T si = (T)fma(-alpha, (double)q[i], (double)r[i]);
        s_out[i] = si;
        if (inverse) {
            s_hat[i] = (T)((double)si * (double)inverse[i]);
        }
        sums[0] = fma((double)si, (double)si, sums[0]);
    });
    leave_sums(sums, &area->sums[1]);
}

/* t*s, t*t */
template <typename T>
__global__ void __launch_bounds__(NT)
    kernel_dots(int64_t n, const T *__restrict__ s, const T *__restrict__ t, lsp_solve_partial *out) {
    lsp_let_next_begin();
    double sums[2] = {0, 0};
    each(n, [&](int64_t i) {
        const double ti = (double)t[i];
        sums[0] = fma(ti, (double)s[i], sums[0]);
        sums[1] = fma(ti, ti, sums[1]);
    });
    leave_sums(sums, out);
}

/* omega; r = s - omega t. r*r, r_hat*r. */
template <typename T>
__global__ void __launch_bounds__(NT)
    kernel_step_stabilized(int64_t n, const T *__restrict__ s_in, const T *__restrict__ t, const T *__restrict__ r_hat,
                           T *__restrict__ r, lsp_solve_area *area) {
    lsp_let_next_begin();
    lsp_wait_for_previous();
    __shared__ lsp_solve_state s;
    double ss[1], t_sums[2], sums[2] = {0, 0};
    total_sums(&area->sums[1], (int)gridDim.x, ss);
    total_sums(&area->sums[0], (int)gridDim.x, t_sums);
    if (threadIdx.x == 0) {
        s = area->after_first;
        if (s.end == LSP_SOLVE_RUNS) {
            lsp_rule_second_length(&s, ss[0], t_sums[0], t_sums[1]);
        }
        if (blockIdx.x == 0) {
            area->after_second = s;
        }
    }
    __syncthreads();
    if (s.end != LSP_SOLVE_RUNS) {
        return;
    }
    const double omega = s.omega;
    each(n, [&](int64_t i) {
        const double si = (double)s_in[i];
        const T ri = omega != 0 ? (T)fma(-omega, (double)t[i], si) : (T)si;
        r[i] = ri;
        sums[0] = fma((double)ri, (double)ri, sums[0]);
        sums[1] = fma((double)ri, (double)r_hat[i], sums[1]);
    });
    leave_sums(sums, &area->sums[2]);
}

/* Ends the iteration: x += alpha p_hat + omega s_hat if that is due; p = r + beta (p - omega q) and p_hat = M p by the
 * diagonal, unless this is the end. p_hat NULL: it is p. first: the sums are those of `start`, r_hat*r is r*r. */
template <typename T>
__global__ void __launch_bounds__(NT)
    kernel_turn_stabilized(int64_t n, const T *__restrict__ r, const T *__restrict__ q, const T *__restrict__ inverse,
                           const T *__restrict__ s_hat, T *__restrict__ p, T *__restrict__ p_hat, lsp_solve_area *area,
                           bool first) {
    lsp_wait_for_previous();
    __shared__ lsp_solve_state s;
    double sums[3];
    total_sums(&area->sums[first ? 1 : 2], (int)gridDim.x, sums);
    if (threadIdx.x == 0) {
        sums[1] = first ? sums[0] : sums[1];
        s = first ? area->after_first : area->after_second;
        end_iteration(&s, area, sums, true);
    }
    __syncthreads();
    T *__restrict__ x = (T *)s.x;
    const double alpha = s.alpha, beta = s.beta, omega = s.omega;
    const bool due = s.due, runs = s.end == LSP_SOLVE_RUNS, old = beta != 0;
    if (!due && !runs) {
        return;
    }
    each(n, [&](int64_t i) {
        const double before = due || old ? (double)p[i] : 0;
        if (due) {
            const double moved = fma(alpha, p_hat ? (double)p_hat[i] : before, (double)x[i]);
            x[i] = (T)(omega != 0 ? fma(omega, (double)s_hat[i], moved) : moved);
        }
        if (runs) {
            const T pi = (T)(old ? fma(beta, fma(-omega, (double)q[i], before), (double)r[i]) : (double)r[i]);
            p[i] = pi;
            if (inverse) {
                p_hat[i] = (T)((double)pi * (double)inverse[i]);
            }
        }
    });
}
