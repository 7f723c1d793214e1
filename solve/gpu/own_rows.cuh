/* The rows that a thread of the persistent kernel owns: it adds the partial sums of a row in the order of the column
 * blocks, and keeps the row's numbers of all vectors. */
#pragma once

#include "product.cuh"

/* Row `row` of the product, once all blocks have multiplied. range: of the row's column blocks. */
__device__ inline double resident_gather(const resident_job &job, int row, unsigned range) {
    enum { AHEAD = 8 };
    const int end = (int)(range >> 16);
    double sum = 0;
    for (int first = (int)(range & 0xFFFF); first < end; first += AHEAD) {
        double part[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            part[i] = first + i < end ? __ldcg(job.partial + (size_t)(first + i) * job.A.n + row) : 0;
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            sum += part[i];
        }
    }
    return sum;
}

/* ---- the rows of a block, shared out to its threads ---- */

/* Numbers of an own row: the solution, the residual, the direction, A times it where it must be kept, and one more:
 * the inverse diagonal, or the benchmark's x. A thread has one row, in registers (MEMORY false), or any number of them
 * in memory. each<READ, WRITE>(f) calls f(row, x, r, p, q, w) for each row of the thread; f may read and must write the
 * numbers of these sets. */
enum { OWN_X = 1, OWN_R = 2, OWN_P = 4, OWN_Q = 8, OWN_W = 16, OWN_ALL = 31 };
template <bool MEMORY> struct resident_rows {
    double x, r, p, q, w;
    unsigned own_range;
    int row, end;
    __device__ inline resident_rows(const resident_job &job)
        : x(0), r(0), p(0), q(0), w(0), row((int)(blockIdx.x * job.share + threadIdx.x)),
          end(min((int)(blockIdx.x + 1) * job.share, job.A.n)) {
        own_range = row < end ? job.A.range[row] : 0;
    }
    __device__ inline unsigned range(const resident_job &, int) const { return own_range; }
    template <int READ, int WRITE, typename F> __device__ inline void each(F f) {
        if (row < end) {
            f(row, x, r, p, q, w);
        }
    }
};
template <> struct resident_rows<true> {
    double *own;
    int first, end, n;
    __device__ inline unsigned range(const resident_job &job, int row) const { return job.A.range[row]; }
    __device__ inline resident_rows(const resident_job &job)
        : own(job.own), first((int)blockIdx.x * job.share), end(min(first + job.share, job.A.n)), n(job.A.n) {}
    template <int READ, int WRITE, typename F> __device__ inline void each(F f) {
        for (int row = first + (int)threadIdx.x; row < end; row += (int)blockDim.x) {
            double number[5] = {0, 0, 0, 0, 0};
#pragma unroll
            for (int i = 0; i < 5; i++) {
                number[i] = (READ >> i & 1) != 0 ? own[(size_t)i * n + row] : 0;
            }
            f(row, number[0], number[1], number[2], number[3], number[4]);
#pragma unroll
            for (int i = 0; i < 5; i++) {
                if ((WRITE >> i & 1) != 0) {
                    own[(size_t)i * n + row] = number[i];
                }
            }
        }
    }
};

enum { DOTS_NONE = -1 };

/* The product with p = news + beta p; returns p*A*p, or 0 with `dots` DOTS_NONE. Afterwards own_product gives A p. */
template <int LANES, bool MEMORY>
__device__ inline double resident_step(const resident_job &job, const resident_shared &s, const resident_part &part,
                                       resident_rows<MEMORY> &rows, unsigned &number, double beta, int dots) {
    double d[1];
    resident_renew(job, s, part, beta, dots == LSP_RESIDENT_DOTS_BLOCKS);
    d[0] = resident_multiply<LANES>(job, s, part, dots == LSP_RESIDENT_DOTS_BLOCKS);
    resident_ahead(job, part);
    resident_together(job, s, number, d);
    if (dots == LSP_RESIDENT_DOTS_OWNERS) {
        d[0] = 0;
        rows.template each<OWN_P, OWN_Q>([&](int row, double &, double &, double &p, double &q, double &) {
            q = resident_gather(job, row, rows.range(job, row));
            d[0] = fma(p, q, d[0]);
        });
        resident_together(job, s, number, d);
    }
    return d[0];
}
template <bool MEMORY>
__device__ inline double own_product(const resident_job &job, const resident_rows<MEMORY> &rows, int dots, int row,
                                     double q) {
    return dots == LSP_RESIDENT_DOTS_OWNERS ? q : resident_gather(job, row, rows.range(job, row));
}
