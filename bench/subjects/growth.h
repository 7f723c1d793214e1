/* What the files of the subject growth share. A ladder is a family of operands in ascending sizes; every verb of the
 * family is timed on each step. growth.c climbs and marks, growth_matrices.c and growth_arrays.c have the families. */
#pragma once

#include "bench/harness.h"

enum { GROWTH_STEPS = 8, GROWTH_VERBS = 11, GROWTH_ARRAYS = 6 };

/* One step: operands, what a verb has prepared, and the result of one run. Where a family has no such thing, it is
 * zero.
 */
typedef struct growth_step {
    bench *b;
    lsp_ctx *ctx; /* is measured, and makes all operands */
    lsp_where where;
    const struct growth_family *family;
    const char *ladder; /* "stencil27/random" */
    int64_t size;       /* K of a grid, SCALE of rmat, else the number of rows or items */

    lsp_csr A, T, P, R;              /* A^T, a prolongation to A's unknowns, P^T */
    lsp_array arrays[GROWTH_ARRAYS]; /* where the verbs work */
    void *host;                      /* keys, indices, symbols or a vector on the host */
    int32_t *offsets;                /* of segments of keys, on the host */
    int64_t segments;
    lsp_points points;
    lsp_csr kept; /* prepared: the product that a plan fills again */
    lsp_spgemm_plan *plan;
    lsp_spmv_plan *spmv;
    lsp_gather_plan *move;
    lsp_hash *table;
    lsp_csr C; /* the results */
    lsp_hash *made;
    lsp_multigrid *m;
    uint64_t pairs;

    union {
        lsp_spgemm_info product;
        lsp_spmv_info spmv;
        lsp_multigrid_info multigrid;
        lsp_sort_info sort;
        lsp_segsort_info segsort;
        lsp_gather_info move;
        lsp_pair_info pairs;
        lsp_suffix_info suffix;
    } info;
    lsp_status status; /* of the last call */

    /* What `check` sets: */
    double work;        /* units */
    double bytes;       /* of operands and result; INFINITY: caches do not matter, arithmetic does */
    const char *choice; /* how the library did it, in its words */
} growth_step;

typedef struct growth_verb {
    const char *name, *unit;
    lsp_status (*prepare)(growth_step *s); /* not timed; NULL: nothing */
    lsp_status (*run)(growth_step *s);
    bool (*check)(growth_step *s); /* is the result right? */
} growth_verb;

typedef struct growth_family {
    const char *ladders;            /* the names that its ladders begin with: "stencil27/" */
    int64_t sizes[2][GROWTH_STEPS]; /* on a CPU, on a GPU; 0: no more */
    const growth_verb *verbs;       /* up to one without a name */
    lsp_status (*make)(growth_step *s);
    void (*release)(growth_step *s); /* the result of one run */
    void (*drop)(growth_step *s);    /* all that is left; may be called twice */
    const char *generator, *factor;  /* of matrices: lsp_generate's names of A and of P; NULL: no P */
} growth_family;
extern const growth_family growth_matrices[], growth_arrays[]; /* up to one without `ladders` */

/* Copies to a new array of the step, which the families free by lsp_array_free. from NULL: the array is not set. */
static inline lsp_status growth_put(growth_step *s, int which, const void *from, size_t bytes) {
    const lsp_status status = lsp_array_create(s->ctx, bytes, s->where, s->arrays + which);
    return status != LSP_OK || !from ? status
                                     : lsp_array_copy(s->ctx, s->arrays[which].memory, s->where, from, LSP_HOST, bytes);
}

/* suffix_array.c, two_body.c: a text of n symbols ("dna", "words"); coordinate k of point i of n ("uniform", "blobs").
 */
void bench_put_text(const char *kind, void *symbols, int64_t n);
double bench_coordinate(const char *cloud, int64_t n, int64_t i, int k);
