/* Inside solve/multigrid: the set-up. create.c begins and ends it, setup.c makes the levels by verbs of the library and
 * by rules.h, whose rules cpu/ and gpu/ apply to all rows. */
#pragma once

#include "job.h"

LSP_BEGIN_DECLS

/* What the rules read and write; rules.h says which rule uses what. All arrays lie where the matrix does. */
typedef struct lsp_setup {
    lsp_csr A, P, T;
    lsp_type type, diagonal_type; /* of inverse and diagonal */
    void *inverse;
    const void *diagonal;
    double factor;
    const double *from;
    double *to, *basis;
    int64_t block, vectors; /* unknowns of a node; near-null vectors */
    uint8_t *stays;
    int64_t *offsets, *places;
    uint64_t *key, *low;
    int64_t *label, *joined, *size;
    int64_t round;
    int id_bits;
} lsp_setup;

typedef struct lsp_two { /* what a rule adds to the sums of its pass */
    double a, b;
} lsp_two;

/* THE table of rules. */
#define LSP_EACH_RULE(X)                                                                                               \
    X(INVERT)                                                                                                          \
    X(WEIGH)                                                                                                           \
    X(SEED)                                                                                                            \
    X(KRYLOV)                                                                                                          \
    X(SMOOTH)                                                                                                          \
    X(CONDENSE)                                                                                                        \
    X(STRONG)                                                                                                          \
    X(ENTER)                                                                                                           \
    X(COMPETE)                                                                                                         \
    X(LOW)                                                                                                             \
    X(DECIDE)                                                                                                          \
    X(PRUNE)                                                                                                           \
    X(GATHER)                                                                                                          \
    X(MEASURE)                                                                                                         \
    X(JOIN)                                                                                                            \
    X(COUNT)                                                                                                           \
    X(PLACE)                                                                                                           \
    X(ORTHOGONAL)                                                                                                      \
    X(CONSTANT)
#define LSP_RULE_ID(rule) LSP_RULE_##rule,
typedef enum lsp_setup_rule { LSP_EACH_RULE(LSP_RULE_ID) } lsp_setup_rule;

/* Sums of a pass: LSP_SUM_LANES sums of every LSP_SUM_LANES-th row of a piece of LSP_SUM_ROWS rows; then, halving their
 * number, those of the upper half are added to the lower half; then pieces in order. */
enum { LSP_SUM_LANES = 256, LSP_SUM_ROWS = 1024 };

/* What a device computes by itself in the set-up; all else is done by verbs of the library, which know where a matrix
 * lies. Applies a rule to 0 .. n-1. `sums` not NULL: memory where the matrix lies for a pair for each LSP_SUM_ROWS
 * rows, set to the sums of the pieces. */
lsp_status lsp_setup_cpu(lsp_ctx *ctx, lsp_setup_rule rule, const lsp_setup *s, int64_t n, lsp_two *sums);
lsp_status lsp_setup_cuda(lsp_ctx *ctx, lsp_setup_rule rule, const lsp_setup *s, int64_t n, lsp_two *sums);

/* check.c: sets the options, sizes and types of *m. */
lsp_status lsp_multigrid_check(lsp_ctx *ctx, const lsp_csr *A, const lsp_multigrid_options *options, lsp_multigrid *m);

/* pass.c: by the device of the hierarchy. */
lsp_status lsp_multigrid_apply_rule(const lsp_multigrid *m, lsp_setup_rule rule, const lsp_setup *s, int64_t n,
                                    lsp_two *sums);
/* Adds up the sums of the pieces of several passes over 0 .. n-1, one pass behind the other: sums[passes].
 * Waits for a GPU once. */
lsp_status lsp_multigrid_add_up(lsp_multigrid *m, const lsp_two *there, int64_t n, int passes, lsp_two *sums);
/* A pass with its sums added up; *sums may be NULL. */
lsp_status lsp_multigrid_pass(lsp_multigrid *m, lsp_setup_rule rule, const lsp_setup *s, int64_t n, lsp_two *sums);

/* radius.c: the spectral radius of D^-1 A, where `inverse` is D^-1. */
lsp_status lsp_multigrid_radius(lsp_multigrid *m, const lsp_csr *A, const void *inverse, double *radius);

/* aggregate.c: *T for nodes of `block` unknowns. *near_null, memory of lsp_alloc, becomes that of the next level. T has
 * no columns if nothing is coupled. */
lsp_status lsp_multigrid_aggregate(lsp_multigrid *m, const lsp_csr *A, int64_t block, double **near_null, lsp_csr *T);

/* coarse.c: the inverse of the last level's A. */
lsp_status lsp_multigrid_invert(lsp_multigrid *m, lsp_level *l);

/* setup.c: the levels of a checked A; new values in them. */
lsp_status lsp_multigrid_set_up(lsp_multigrid *m, const lsp_csr *A);
lsp_status lsp_multigrid_refill(lsp_multigrid *m, const lsp_csr *A);

LSP_END_DECLS
