/* The NAS conjugate gradient benchmark in one launch: all its outer iterations. */
#pragma once

#include "own_rows.cuh"

enum { NAS_STEPS = 25 };

typedef struct nas_task {
    long long iterations;
    double shift;
    double *zeta, *residual; /* of each outer iteration */
} nas_task;

/* The benchmark: x = (1, ..., 1); each outer iteration solves A z = x by 25 steps from z = 0, then zeta = shift +
 * 1 / x*z, the residual |x - A z|, and x = z / |z|. */
template <int LANES, bool MEMORY>
static __global__ void __launch_bounds__(RESIDENT_NT, 1)
    kernel_nas(const __grid_constant__ resident_job job, const __grid_constant__ nas_task task) {
    LSP_DYNAMIC_SHARED(memory);
    resident_shared s;
    resident_carve(job, memory, &s);
    const resident_part part = resident_begin(job, s);
    resident_rows<MEMORY> rows(job);
    unsigned number = 0;
    double v[2] = {0, 0}, xz[2] = {0, 0}, rho, beta = 0;
    rows.template each<0, OWN_X | OWN_R | OWN_P | OWN_W>(
        [&](int row, double &x, double &r, double &, double &, double &w) {
            x = 0;
            r = w = 1;
            __stcg(job.news + row, r);
            v[1] = fma(r, r, v[1]);
        });
    resident_together(job, s, number, v);
    rho = v[1];
    for (long long step = 0; step < task.iterations * (NAS_STEPS + 1); step++) {
        const bool last = step % (NAS_STEPS + 1) == NAS_STEPS; /* the product for the residual */
        if (!last) {
            rows.template each<OWN_R | OWN_P, OWN_P>(
                [&](int, double &, double &r, double &p, double &, double &) { p = resident_next(beta, p, r); });
        }
        const int dots = last ? DOTS_NONE : job.dots;
        const double d = resident_step<LANES>(job, s, part, rows, number, beta, dots);
        v[0] = v[1] = 0;
        if (!last && step % (NAS_STEPS + 1) < NAS_STEPS - 1) {
            const double alpha = rho / d;
            double rr[1] = {0};
            rows.template each<OWN_ALL, OWN_X | OWN_R>(
                [&](int row, double &x, double &r, double &p, double &q, double &) {
                    x = fma(alpha, p, x);
                    r = fma(-alpha, own_product(job, rows, dots, row, q), r);
                    __stcg(job.news + row, r);
                    rr[0] = fma(r, r, rr[0]);
                });
            resident_together(job, s, number, rr);
            beta = rr[0] / rho;
            rho = rr[0];
        } else if (!last) {
            const double alpha = rho / d;
            xz[0] = xz[1] = 0;
            rows.template each<OWN_X | OWN_P | OWN_W, OWN_X>(
                [&](int row, double &x, double &, double &p, double &, double &w) {
                    x = fma(alpha, p, x);
                    __stcg(job.news + row, x);
                    xz[0] = fma(w, x, xz[0]);
                    xz[1] = fma(x, x, xz[1]);
                });
            resident_together(job, s, number, xz);
            beta = 0;
        } else {
            const double scale = 1 / sqrt(xz[1]);
            rows.template each<OWN_X | OWN_W, OWN_X | OWN_R | OWN_W>(
                [&](int row, double &x, double &r, double &, double &, double &w) {
                    const double difference = w - resident_gather(job, row, rows.range(job, row));
                    v[0] = fma(difference, difference, v[0]);
                    r = w = scale * x;
                    x = 0;
                    __stcg(job.news + row, r);
                    v[1] = fma(r, r, v[1]);
                });
            resident_together(job, s, number, v);
            rho = v[1];
            if (blockIdx.x == 0 && threadIdx.x == 0) {
                task.zeta[step / (NAS_STEPS + 1)] = task.shift + 1 / xz[0];
                task.residual[step / (NAS_STEPS + 1)] = sqrt(v[0]);
            }
        }
    }
}
