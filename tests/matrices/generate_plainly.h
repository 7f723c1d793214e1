/* The generators of the workloads, written as their definitions read, with one draw after the other. They are the
 * specification of the library's threaded generators. */
#pragma once

#include "tests/matrices.h"

typedef struct plain_rng {
    uint64_t s;
} plain_rng;
static inline uint64_t plain_fin(uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}
static inline plain_rng plain_seed(uint64_t seed) { return (plain_rng){plain_fin(seed + 0x9E3779B97F4A7C15u)}; }
static inline uint64_t plain_next(plain_rng *r) { return plain_fin(r->s += 0x9E3779B97F4A7C15u); }
static inline double plain_u(plain_rng *r) { return ldexp((double)(plain_next(r) >> 11), -53); }
static inline int64_t plain_below(plain_rng *r, int64_t n) {
    uint64_t x = plain_next(r), high = (x >> 32) * (uint64_t)n, low = (x & 0xffffffffu) * (uint64_t)n;
    return (int64_t)((high + (low >> 32)) >> 32); /* n < 2^32 */
}

typedef struct plain_rows { /* dense, one byte a place: for small matrices only */
    int64_t n;
    char *there;
} plain_rows;
static inline void plain_put(plain_rows *p, int64_t i, int64_t j) { p->there[i * p->n + j] = 1; }

static inline void plain_er(plain_rows *p, int64_t d, plain_rng *r) {
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t k = 0; k < d; k++) {
            plain_put(p, i, plain_below(r, p->n));
        }
    }
}

static inline void plain_rmat(plain_rows *p, int64_t scale, int64_t ef, plain_rng *r) {
    for (int64_t e = 0; e < p->n * ef; e++) {
        int64_t i = 0, j = 0;
        for (int64_t level = 0; level < scale; level++) {
            double u = plain_u(r);
            int quadrant = u < .57 ? 0 : u < .76 ? 1 : u < .95 ? 2 : 3;
            i = 2 * i + quadrant / 2;
            j = 2 * j + quadrant % 2;
        }
        plain_put(p, i, j);
    }
}

static inline void plain_web(plain_rows *p, double alpha, int64_t most, plain_rng *r) {
    double total = 0;
    for (int64_t l = 1; l <= most; l++) {
        total += pow((double)l, -alpha);
    }
    for (int64_t i = 0; i < p->n; i++) {
        double reach = plain_u(r) * total, sum = 0;
        int64_t length = 0;
        do {
            length++;
            sum += pow((double)length, -alpha);
        } while (sum < reach);
        for (int64_t k = 0; k < length; k++) {
            if (plain_next(r) % 2 == 1) {
                plain_put(p, i, ((i + plain_below(r, 401) - 200) % p->n + p->n) % p->n);
            } else {
                double u = plain_u(r);
                plain_put(p, i, (int64_t)floor((double)p->n * (u * u * u * u)));
            }
        }
    }
}

static inline void plain_perm(plain_rows *p, plain_rng *r) {
    int64_t *order = malloc((size_t)p->n * sizeof *order);
    for (int64_t i = 0; i < p->n; i++) {
        order[i] = i;
    }
    for (int64_t i = p->n - 1; i > 0; i--) {
        int64_t j = plain_below(r, i + 1), t = order[i];
        order[i] = order[j], order[j] = t;
    }
    for (int64_t i = 0; i < p->n; i++) {
        plain_put(p, i, order[i]);
    }
    free(order);
}

/* A grid. Two nodes are neighbours if no coordinate differs by more than 1; on a square, if only one coordinate does.
 */
static inline void plain_grid(plain_rows *p, int64_t k, bool square, int64_t unknowns) {
    int64_t nodes = p->n / unknowns;
    for (int64_t a = 0; a < nodes; a++) {
        for (int64_t b = 0; b < nodes; b++) {
            int64_t dx = llabs(a % k - b % k), dy = llabs(a / k % k - b / k % k), dz = llabs(a / k / k - b / k / k);
            bool near = square ? dx + dy + dz <= 1 : dx <= 1 && dy <= 1 && dz <= 1;
            for (int64_t d = 0; near && d < unknowns * unknowns; d++) {
                plain_put(p, unknowns * a + d / unknowns, unknowns * b + d % unknowns);
            }
        }
    }
}

static inline double plain_value(const char *spec, bool diagonal, plain_rng *values) {
    return *spec == 'p' && spec[1] == 'o' ? (diagonal ? 4 : -1)
           : *spec == 's'                 ? (diagonal ? 26 : -1)
                                          : 0.5 + plain_u(values);
}

/* The matrix of a valid name, with 32-bit indices and doubles. */
static inline lsp_csr plain_matrix(lsp_ctx *ctx, const char *spec, uint64_t seed) {
    char *rest;
    int64_t a = strtol(strchr(spec, ':') + 1, &rest, 10);
    double b = *rest ? strtod(rest + 1, &rest) : 0;
    int64_t c = *rest ? strtol(rest + 1, &rest, 10) : 0;
    bool square = strncmp(spec, "poisson", 7) == 0, cube = strncmp(spec, "stencil", 7) == 0, fem = *spec == 'f';
    plain_rng r = plain_seed(seed), values = plain_seed(fem ? 5 : seed + 7);
    plain_rows p = {.n = square ? a * a : cube ? a * a * a : fem ? 3 * a * a * a : *spec == 'r' ? (int64_t)1 << a : a};
    p.there = calloc((size_t)(p.n * p.n), 1);
    if (square || cube || fem) {
        plain_grid(&p, a, square, fem ? 3 : 1);
    } else if (*spec == 'e') {
        plain_er(&p, (int64_t)b, &r);
    } else if (*spec == 'r') {
        plain_rmat(&p, a, (int64_t)b, &r);
    } else if (*spec == 'w') {
        plain_web(&p, b, c, &r);
    } else {
        plain_perm(&p, &r);
    }
    int64_t nnz = 0;
    for (int64_t k = 0; k < p.n * p.n; k++) {
        nnz += p.there[k];
    }
    lsp_csr A;
    must(ctx, lsp_csr_create(ctx, p.n, p.n, nnz, &(lsp_csr_types){.val_type = LSP_F64}, &A));
    nnz = 0;
    for (int64_t i = 0; i < p.n; i++) {
        for (int64_t j = 0; j < p.n; j++) {
            if (p.there[i * p.n + j]) {
                lsp_index_set(A.col, LSP_I32, nnz, j);
                ((double *)A.val)[nnz++] = plain_value(spec, i == j, &values);
            }
        }
        lsp_index_set(A.rowptr, LSP_I32, i + 1, nnz);
    }
    free(p.there);
    return A;
}
