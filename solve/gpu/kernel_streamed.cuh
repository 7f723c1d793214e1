/* Conjugate gradients, one kernel for each loop over the vectors. Each block takes the decision of solve/rules.h by
 * itself; block 0 leaves the state. After the end, kernels change nothing. */
#pragma once

#include "sums.cuh"

/* r = b - q, or b; x = 0 unless it holds a guess (then q = A x). r*r, r*(M r), b*b. */
template <typename T>
__global__ void __launch_bounds__(NT)
    kernel_start(int64_t n, const T *__restrict__ b, const T *__restrict__ q, const T *__restrict__ inverse,
                 T *__restrict__ x, T *__restrict__ r, T *__restrict__ r_hat, lsp_solve_partial *out) {
    lsp_let_next_begin();
    double sums[3] = {0, 0, 0};
    each(n, [&](int64_t i) {
        const T bi = b[i], ri = q ? (T)((double)bi - (double)q[i]) : bi;
        const double z = inverse ? (double)ri * (double)inverse[i] : (double)ri;
        r[i] = ri;
        if (!q) {
            x[i] = 0;
        }
        if (r_hat) {
            r_hat[i] = ri;
        }
        sums[0] = fma((double)ri, (double)ri, sums[0]);
        sums[1] = fma((double)ri, z, sums[1]);
        sums[2] = fma((double)bi, (double)bi, sums[2]);
    });
    leave_sums(sums, out);
}

/* p*q */
template <typename T>
__global__ void __launch_bounds__(NT)
    kernel_dot(int64_t n, const T *__restrict__ p, const T *__restrict__ q, lsp_solve_partial *out) {
    lsp_let_next_begin();
    double sums[1] = {0};
    each(n, [&](int64_t i) { sums[0] = fma((double)p[i], (double)q[i], sums[0]); });
    leave_sums(sums, out);
}

/* |b - q|^2 */
template <typename T>
__global__ void __launch_bounds__(NT)
    kernel_residual(int64_t n, const T *__restrict__ b, const T *__restrict__ q, lsp_solve_partial *out) {
    double sums[1] = {0};
    each(n, [&](int64_t i) {
        const double r = (double)b[i] - (double)q[i];
        sums[0] = fma(r, r, sums[0]);
    });
    leave_sums(sums, out);
}

/* Adds what earlier kernels left; one block. */
template <int K>
__global__ void __launch_bounds__(NT) kernel_total(const lsp_solve_partial *in, int blocks, double *to) {
    double sums[K];
    total_sums(in, blocks, sums);
    if (threadIdx.x < K) {
        to[threadIdx.x] = sums[threadIdx.x];
    }
}

/* Takes the step: alpha from p*q, r -= alpha q. r*r, r*(M r). */
template <typename T>
__global__ void __launch_bounds__(NT) kernel_step(int64_t n, const T *__restrict__ q, const T *__restrict__ inverse,
                                                  T *__restrict__ r, lsp_solve_area *area) {
    lsp_let_next_begin();
    lsp_wait_for_previous();
    __shared__ lsp_solve_state s;
    double sums[2];
    double pq[1];
    total_sums(&area->sums[0], (int)gridDim.x, pq);
    if (threadIdx.x == 0) {
        s = area->news.state;
        if (s.end == LSP_SOLVE_RUNS) {
            lsp_rule_length(&s, pq[0]);
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
    sums[0] = sums[1] = 0;
    each_loaded(
        n,
        [&](int64_t i) {
            return four<T>{r[i], q[i], 0, inverse ? inverse[i] : (T)1};
        },
        [&](int64_t i, const four<T> &read) {
            const T ri = (T)fma(-alpha, (double)read.p, (double)read.x);
            r[i] = ri;
            sums[0] = fma((double)ri, (double)ri, sums[0]);
            sums[1] = fma((double)ri, (double)ri * (double)read.m, sums[1]);
        });
    leave_sums(sums, &area->sums[1]);
}

/* Ends an iteration, in thread 0: decides and tells the host. `s` is shared; it was left by an earlier kernel. */
__device__ inline void end_iteration(lsp_solve_state *s, lsp_solve_area *area, const double sums[3], bool bicgstab) {
    const bool ran = s->end == LSP_SOLVE_RUNS;
    s->due = false;
    if (ran) {
        if (s->iteration < 0) {
            s->bb = sums[2];
        }
        lsp_rule_turn(s, sums[0], sums[1], bicgstab);
    }
    if (blockIdx.x == 0) {
        area->news.state = *s;
        if (ran && s->cause != LSP_CAUSE_RESIDUAL) {
            const double residual = lsp_rule_residual(s->rr, s->bb);
            area->news.recent[s->iteration % LSP_SOLVE_RECENT] = residual;
            if (s->iteration < s->history_capacity) {
                s->history[s->iteration] = residual;
            }
        }
    }
}

/* Ends the iteration: x += alpha p if that is due; p = M r + beta p unless this is the end. `in` has r*r and r*z;
 * apart, unless NULL, has r*z. z NULL: z = M r by the diagonal, or r. */
template <typename T>
__global__ void __launch_bounds__(NT)
    kernel_turn(int64_t n, const T *__restrict__ z, const T *__restrict__ inverse, T *__restrict__ p,
                lsp_solve_area *area, const lsp_solve_partial *apart) {
    lsp_wait_for_previous();
    __shared__ lsp_solve_state s;
    double sums[3], rz[1];
    total_sums(&area->sums[1], (int)gridDim.x, sums);
    if (apart) {
        total_sums(apart, (int)gridDim.x, rz);
        sums[1] = rz[0];
    }
    if (threadIdx.x == 0) {
        s = area->after_first;
        end_iteration(&s, area, sums, false);
    }
    __syncthreads();
    T *__restrict__ x = (T *)s.x;
    const double alpha = s.alpha, beta = s.beta;
    const bool due = s.due, runs = s.end == LSP_SOLVE_RUNS, old = beta != 0;
    if (due && runs) {
        each_loaded(
            n,
            [&](int64_t i) {
                return four<T>{x[i], p[i], z[i], inverse ? inverse[i] : (T)1};
            },
            [&](int64_t i, const four<T> &read) {
                const double pi = (double)read.p, zi = (double)read.z * (double)read.m;
                x[i] = (T)fma(alpha, pi, (double)read.x);
                p[i] = (T)(old ? fma(beta, pi, zi) : zi);
            });
    } else if (due) {
        each(n, [&](int64_t i) { x[i] = (T)fma(alpha, (double)p[i], (double)x[i]); });
    } else if (runs) { /* the first direction */
        each(n, [&](int64_t i) { p[i] = inverse ? (T)((double)z[i] * (double)inverse[i]) : z[i]; });
    }
}
