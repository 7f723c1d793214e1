/* Aggregates of strongly coupled nodes, and T: the prolongation that is constant on each of them, or spans the
 * near-null vectors there. Distance-2 independent sets by Kelley and Rajamanickam, "Parallel, portable algorithms for
 * distance-2 maximal independent set and graph coarsening", IPDPS 2022. */
#include "core/scan.h"
#include "matrices/matrices.h"
#include "multigrid.h"

static lsp_status apply(lsp_multigrid *m, lsp_setup_rule rule, const lsp_setup *s, int64_t n) {
    return lsp_multigrid_pass(m, rule, s, n, NULL);
}

/* Turns counts in offsets[1 .. n] into offsets: offsets[0] = 0. Waits for *total = offsets[n]. */
static lsp_status add_up(const lsp_multigrid *m, int64_t *offsets, int64_t n, int64_t *total) {
    if (m->where == LSP_CUDA) {
        LSP_TRY(lsp_cuda_clear(m->ctx, offsets, sizeof *offsets));
        return lsp_cuda_scan(m->ctx, offsets + 1, n, total);
    }
    lsp_prefix_sum(m->ctx, offsets, n);
    *total = offsets[n];
    return LSP_OK;
}

/* s->A, a matrix of unknowns, becomes *N, one of nodes; the caller frees it. */
static lsp_status condense(lsp_multigrid *m, lsp_setup *s, lsp_csr *N) {
    lsp_ctx *ctx = m->ctx;
    lsp_csr_types types = lsp_types_of(&s->A);
    const int64_t nodes = s->A.rows / s->block;
    types.val_type = LSP_F64, types.drop_values = false;
    LSP_TRY(lsp_csr_create(ctx, nodes, nodes, s->A.nnz, &types, N));
    s->P = *N;
    LSP_TRY(apply(m, LSP_RULE_CONDENSE, s, nodes));
    LSP_TRY(lsp_csr_sort_rows(ctx, N));
    LSP_TRY(lsp_csr_sum_duplicates(ctx, N, NULL));
    s->A = *N;
    return LSP_OK;
}

/* Products R*A*P have many tiny entries. With those, aggregates become too large from the third level on: of
 * poisson2d:1000, whose last levels have 1128 and 63 unknowns then, conjugate gradients take 28 iterations, not 19. */
#define COARSE_THRESHOLD 0.02

/* Leaves the strong entries in s->A. If that takes a copy, it is *G, which the caller frees. */
static lsp_status keep_strong(lsp_multigrid *m, lsp_setup *s, bool finest, lsp_csr *G) {
    lsp_ctx *ctx = m->ctx;
    const int64_t n = s->A.rows;
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_csr_types types = lsp_types_of(&s->A);
    lsp_two weak;
    s->factor = finest ? m->options.threshold : fmax(m->options.threshold, COARSE_THRESHOLD);
    s->diagonal_type = s->A.val_type != LSP_NONE ? s->A.val_type : LSP_F64;
    if (s->factor > 0) {
        LSP_TRY(lsp_scratch_at(ctx, m->where, n, lsp_type_bytes(s->diagonal_type), (void **)&s->diagonal));
        LSP_TRY(lsp_csr_diagonal(ctx, &s->A, (void *)s->diagonal));
    }
    LSP_TRY(lsp_scratch_at(ctx, m->where, s->A.nnz, 1, (void **)&s->stays));
    LSP_TRY(lsp_multigrid_pass(m, LSP_RULE_STRONG, s, n, &weak));
    if (s->factor > m->options.threshold &&
        weak.a > 0.9 * (double)(s->A.nnz - n)) { /* as in long rows of equal entries */
        s->factor = m->options.threshold;
        LSP_TRY(lsp_multigrid_pass(m, LSP_RULE_STRONG, s, n, &weak));
    }
    if (weak.a > 0) {
        LSP_TRY(lsp_filter_take(ctx, &s->A, s->stays, &types, G));
        s->A = *G;
    }
    return LSP_OK;
}

/* A distance-2 independent set of the nodes without an aggregate. A GPU's host, which waits for the sums, looks at them
 * from the fifth round on and then after every second one: a round that finds all decided changes nothing. */
static lsp_status choose_roots(lsp_multigrid *m, lsp_setup *s, int set) {
    const int64_t n = s->A.rows;
    lsp_two left = {1, 0};
    s->round = (int64_t)set << 16; /* the second set has priorities of its own */
    LSP_TRY(apply(m, LSP_RULE_COMPETE, s, n));
    for (int round = 1; left.a > 0; round++) {
        const bool look = m->where == LSP_HOST || (round > 4 && round % 2 == 1);
        s->round++;
        LSP_TRY(apply(m, LSP_RULE_LOW, s, n));
        LSP_TRY(lsp_multigrid_pass(m, LSP_RULE_DECIDE, s, n, look ? &left : NULL));
    }
    return LSP_OK;
}

/* s->joined: the root of each node's aggregate, or less than 0. s->offsets and s->places: how many roots, and nodes in
 * aggregates, come before a node. The graph is s->A. */
static lsp_status partition(lsp_multigrid *m, lsp_setup *s, int64_t *aggregates, int64_t *placed) {
    const int64_t n = s->A.rows;
    s->id_bits = lsp_bits((uint64_t)n + 2);
    LSP_TRY(apply(m, LSP_RULE_ENTER, s, n));
    for (int set = 0; set < 2; set++) {
        LSP_TRY(choose_roots(m, s, set));
        LSP_TRY(set > 0 ? apply(m, LSP_RULE_PRUNE, s, n) : LSP_OK);
        LSP_TRY(apply(m, LSP_RULE_GATHER, s, n));
    }
    LSP_TRY(apply(m, LSP_RULE_MEASURE, s, n));
    LSP_TRY(apply(m, LSP_RULE_JOIN, s, n));
    LSP_TRY(apply(m, LSP_RULE_COUNT, s, n));
    LSP_TRY(add_up(m, s->offsets, n, aggregates));
    return add_up(m, s->places, n, placed);
}

/* T's structure by PLACE, its values by ORTHOGONAL. */
static lsp_status make_tentative(lsp_multigrid *m, lsp_setup *s, int64_t aggregates, int64_t placed, lsp_csr *T) {
    lsp_ctx *ctx = m->ctx;
    const lsp_place place = lsp_place_of(m->where);
    const int64_t n = s->A.rows, b = s->block, v = s->vectors;
    LSP_OWNED_CSR(ctx, members);
    LSP_OWNED_CSR(ctx, lists);
    LSP_TRY(lsp_csr_create(ctx, n * b, aggregates * v, placed * b * v,
                           &(lsp_csr_types){.val_type = m->values, .place = place}, T));
    LSP_TRY(lsp_csr_create(ctx, n, aggregates, placed, &(lsp_csr_types){.place = place}, &members));
    s->P = members, s->T = *T;
    LSP_TRY(apply(m, LSP_RULE_PLACE, s, n));
    LSP_TRY(lsp_csr_transpose(ctx, &members, &lists));
    LSP_TRY(lsp_scratch_at(ctx, m->where, T->nnz, sizeof *s->basis, (void **)&s->basis));
    s->A = lists;
    return apply(m, LSP_RULE_ORTHOGONAL, s, aggregates);
}

lsp_status lsp_multigrid_aggregate(lsp_multigrid *m, const lsp_csr *A, int64_t block, double **near_null, lsp_csr *T) {
    lsp_ctx *ctx = m->ctx;
    const int64_t n = A->rows / block, v = m->options.near_null_vectors;
    LSP_SCRATCH_SCOPE(ctx);
    lsp_setup s = {.A = *A, .block = block, .vectors = v, .from = *near_null};
    LSP_OWNED_CSR(ctx, N);
    LSP_OWNED_CSR(ctx, G);
    LSP_OWNED_CSR(ctx, made);
    int64_t aggregates, placed;
    void *array[5], *next = NULL;
    LSP_FREES(ctx, next);
    for (int i = 0; i < 5; i++) {
        LSP_TRY(lsp_scratch_at(ctx, m->where, n + 1, sizeof(int64_t), &array[i]));
    }
    s.key = array[0], s.low = array[1], s.label = array[2], s.offsets = array[3], s.places = array[4];
    s.joined = array[0], s.size = array[1]; /* keys have served then */
    LSP_TRY(block > 1 ? condense(m, &s, &N) : LSP_OK);
    LSP_TRY(keep_strong(m, &s, A == &m->level[0].A, &G));
    LSP_TRY(partition(m, &s, &aggregates, &placed));
    LSP_TRY(lsp_alloc(ctx, m->where, aggregates * v * v, sizeof(double), &next));
    s.to = next;
    LSP_TRY(make_tentative(m, &s, aggregates, placed, &made));
    lsp_free(ctx, *near_null);
    *near_null = next, next = NULL;
    return lsp_csr_put(ctx, T, &made, false);
}
