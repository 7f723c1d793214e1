/* Conjugate gradients as NAS wrote them for OpenMP: one parallel region for 25 steps, loops over rows in equal parts.
 */
#include "peers.h"
#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS = 25 };

typedef struct gradients {
    peer_gradients_job job;
    double *x, *z, *r, *p, *q;
    double sum; /* of a dot product */
} gradients;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void destroy(void *self) {
    gradients *g = self;
    free(g->x);
    free(g->z);
    free(g->r);
    free(g->p);
    free(g->q);
    free(g);
}

static void *prepare(const peer_gradients_job *job) {
    const size_t bytes = (size_t)job->A->rows * sizeof(double) + 8;
    gradients *g = calloc(1, sizeof *g);
    if (g) {
        *g = (gradients){.job = *job, .x = malloc(bytes), .z = malloc(bytes), .r = malloc(bytes)};
        g->p = malloc(bytes);
        g->q = malloc(bytes);
    }
    if (g && !(g->x && g->z && g->r && g->p && g->q)) {
        destroy(g);
        return NULL;
    }
    return g;
}

/* to = A from, inside a parallel region. */
static void multiply(const lsp_csr *A, const double *from, double *to) {
    const int32_t *rowptr = A->rowptr, *col = A->col;
    const double *val = A->val;
#pragma omp for schedule(static)
    for (int64_t i = 0; i < A->rows; i++) {
        double sum = 0;
        for (int32_t k = rowptr[i]; k < rowptr[i + 1]; k++) {
            sum += val[k] * from[col[k]];
        }
        to[i] = sum;
    }
}

/* The dot product of a and b, inside a parallel region. */
static double dot(gradients *g, const double *a, const double *b) {
    const int64_t n = g->job.A->rows;
#pragma omp single
    g->sum = 0;
    double own = 0;
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < n; i++) {
        own += a[i] * b[i];
    }
#pragma omp atomic
    g->sum += own;
#pragma omp barrier
    const double sum = g->sum;
#pragma omp barrier
    return sum;
}

/* z after at most `steps` steps from z = 0 for the right-hand side b; stops when |r| <= goal. Returns the steps. */
static int iterate(gradients *g, const double *b, int steps, double goal) {
    const lsp_csr *A = g->job.A;
    const int64_t n = A->rows;
    int done = 0;
#pragma omp parallel num_threads(g->job.threads)
    {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++) {
            g->z[i] = 0;
            g->r[i] = b[i];
            g->p[i] = b[i];
        }
        double rho = dot(g, g->r, g->r);
        int step = 0;
        for (; step < steps && !(sqrt(rho) <= goal); step++) {
            multiply(A, g->p, g->q);
            const double alpha = rho / dot(g, g->p, g->q);
#pragma omp for schedule(static)
            for (int64_t i = 0; i < n; i++) {
                g->z[i] += alpha * g->p[i];
                g->r[i] -= alpha * g->q[i];
            }
            const double before = rho;
            rho = dot(g, g->r, g->r);
            const double beta = rho / before;
#pragma omp for schedule(static)
            for (int64_t i = 0; i < n; i++) {
                g->p[i] = g->r[i] + beta * g->p[i];
            }
        }
#pragma omp single
        done = step;
    }
    return done;
}

/* One outer iteration: z from x, then x = z / |z|. Returns 1 / (x . z). */
static double outer_iteration(gradients *g) {
    const int64_t n = g->job.A->rows;
    double xz = 0, zz = 0;
    iterate(g, g->x, STEPS, -1);
#pragma omp parallel num_threads(g->job.threads)
    multiply(g->job.A, g->z, g->q); /* for the residual that NAS reports */
#pragma omp parallel for num_threads(g->job.threads) schedule(static) reduction(+ : xz, zz)
    for (int64_t i = 0; i < n; i++) {
        xz += g->x[i] * g->z[i];
        zz += g->z[i] * g->z[i];
    }
    const double scale = 1 / sqrt(zz);
#pragma omp parallel for num_threads(g->job.threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        g->x[i] = scale * g->z[i];
    }
    return 1 / xz;
}

static void set_ones(gradients *g) {
#pragma omp parallel for num_threads(g->job.threads) schedule(static)
    for (int64_t i = 0; i < g->job.A->rows; i++) {
        g->x[i] = 1;
    }
}

static const char *nas(void *self, int outer, double shift, double *zeta, double *seconds) {
    gradients *g = self;
    set_ones(g);
    outer_iteration(g);
    set_ones(g);
    const double start = now();
    for (int i = 0; i < outer; i++) {
        *zeta = shift + outer_iteration(g);
    }
    *seconds = now() - start;
    return NULL;
}

static const char *solve(void *self, const double *b, double *x, double rtol, int most, int *iterations,
                         double *seconds) {
    gradients *g = self;
    double norm = 0;
    for (int64_t i = 0; i < g->job.A->rows; i++) {
        norm += b[i] * b[i];
        g->x[i] = b[i];
    }
    const double start = now();
    *iterations = iterate(g, g->x, most, rtol * sqrt(norm));
    *seconds = now() - start;
    for (int64_t i = 0; i < g->job.A->rows; i++) {
        x[i] = g->z[i];
    }
    return *iterations < most ? NULL : "did not converge";
}

const peer_gradients peer_plain_cg = {
    .prepare = prepare, .nas = nas, .solve = solve, .destroy = destroy, .version = PEER_C_LIBRARY};
