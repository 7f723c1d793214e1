/* Graphs, whose levels fill up where prolongations are smoothed: the operator complexity stays within its limit,
 * conjugate gradients converge nearly as fast, and new values give the same bits. */
#include "cases.h"
#include "solve/multigrid/job.h"

/* The Laplacian of a generated graph, with a little more on the diagonal; "grid": like a power grid's, lines to
 * neighbours and, a third of all, to anywhere. */
static lsp_csr laplacian(lsp_ctx *ctx, const char *name) {
    lsp_csr G, T, S, ones, off, D, L;
    const bool grid = strcmp(name, "grid") == 0;
    must(ctx, lsp_generate(ctx, grid ? "er:6000:2" : name, 3, &(lsp_csr_types){.val_type = LSP_F64}, &G));
    for (int64_t k = 0; k < G.nnz && grid; k++) {
        const int64_t to = lsp_csr_col(&G, k);
        lsp_index_set(G.col, G.col_type, k, k % 3 == 0 ? to : (k + 1) % G.cols);
    }
    must(ctx, lsp_csr_transpose(ctx, &G, &T));
    must(ctx, lsp_csr_add(ctx, 1, &G, 1, &T, &S));
    must(ctx, lsp_csr_apply(ctx, &S, LSP_APPLY_CONSTANT, -1));
    must(ctx, lsp_csr_from_diagonal(ctx, S.rows, NULL, LSP_F64, LSP_HOST, &ones));
    must(ctx, lsp_csr_filter(ctx, &S, &(lsp_filter){.mask = &ones, .complement = true}, &off));
    double *degree = malloc((size_t)S.rows * sizeof *degree);
    must(ctx, lsp_csr_reduce(ctx, &off, LSP_REDUCE_NORM1, LSP_REDUCE_EACH_ROW, degree));
    for (int64_t i = 0; i < S.rows; i++) {
        degree[i] += i % 50 == 0 ? 0.01 : 0.001;
    }
    must(ctx, lsp_csr_from_diagonal(ctx, S.rows, degree, LSP_F64, LSP_HOST, &D));
    must(ctx, lsp_csr_add(ctx, 1, &off, 1, &D, &L));
    lsp_csr *const made[] = {&G, &T, &S, &ones, &off, &D};
    for (int i = 0; i < 6; i++) {
        lsp_csr_free(ctx, made[i]);
    }
    free(degree);
    return L;
}

static int64_t iterations_with(const problem *s, lsp_multigrid *m) {
    solved out = solve(s, false, (lsp_solve_options){.precondition = LSP_PRECONDITION_MULTIGRID, .multigrid = m}, NULL);
    must(s->ctx, out.status);
    cr_assert(true_residual(s, out.x) < 1e-7);
    free(out.x);
    return out.info.iterations;
}

TEST_ON_BOTH(multigrid_graphs, a_graph_stays_within_the_operator_complexity_and_converges) {
    static const char *const graphs[] = {"rmat:12:8", "web:8000:1.8:200", "er:5000:3", "grid"};
    for (int g = 0; g < 4; g += getenv("LSP_TEST_REDUCED") != NULL ? 3 : 1) {
        problem s = make_system(ctx, laplacian(ctx, graphs[g]), LSP_F64, 5);
        const lsp_multigrid_options any = {.complexity = INFINITY};
        lsp_multigrid *m, *full, *again;
        lsp_csr_difference d;
        int plain = 0;
        must(ctx, lsp_multigrid_create(ctx, &s.there, NULL, &m));
        must(ctx, lsp_multigrid_create(ctx, &s.there, NULL, &again));
        must(ctx, lsp_multigrid_create(ctx, &s.there, &any, &full));
        cr_assert(m->info.operator_complexity <= 3 && full->info.operator_complexity > 3, "%s: %g and %g", graphs[g],
                  m->info.operator_complexity, full->info.operator_complexity);
        cr_assert(strstr(m->info.reason, "not smoothed") && !strstr(full->info.reason, "not smoothed"));
        const int64_t here = iterations_with(&s, m), best = iterations_with(&s, full);
        cr_assert(here <= 2 * best, "%s: %d iterations and %d", graphs[g], (int)here, (int)best);
        must(ctx, lsp_multigrid_update(again, &s.there)); /* makes plans, and then uses them */
        must(ctx, lsp_multigrid_update(again, &s.there));
        for (int k = 0; k + 1 < m->levels; k++) {
            plain += m->level[k].plain;
            must(ctx, lsp_csr_compare(ctx, &m->level[k].P, &again->level[k].P, &d));
            cr_assert(d.same_bits, "%s, level %d: P", graphs[g], k);
            must(ctx, lsp_csr_compare(ctx, &m->level[k + 1].A, &again->level[k + 1].A, &d));
            cr_assert(d.same_bits, "%s, level %d: A", graphs[g], k + 1);
        }
        cr_assert(plain > 0);
        lsp_multigrid_destroy(m), lsp_multigrid_destroy(full), lsp_multigrid_destroy(again);
        free_system(&s);
    }
}

TEST_ON_BOTH(multigrid_graphs, a_mesh_is_smoothed_on_all_levels) {
    static const char *const meshes[] = {"poisson2d:60", "stencil27:12", "spd:fem3:7"};
    for (int i = 0; i < 3; i++) {
        problem s = named_system(ctx, meshes[i], LSP_F64);
        lsp_multigrid *m;
        must(ctx, lsp_multigrid_create(ctx, &s.there, &(lsp_multigrid_options){.coarsest = 20}, &m));
        cr_assert(m->levels > 1 && !strstr(m->info.reason, "not smoothed"), "%s: %s", meshes[i], m->info.reason);
        lsp_multigrid_destroy(m);
        free_system(&s);
    }
}

TEST_ON_BOTH(multigrid_graphs, a_complexity_below_one_is_refused) {
    problem s = named_system(ctx, "poisson2d:12", LSP_F64);
    lsp_multigrid *m = NULL;
    for (int i = 0; i < 3; i++) {
        const lsp_multigrid_options o = {.complexity = (double[]){0.9, -1, NAN}[i]};
        must_fail(ctx, LSP_ERR_ARGUMENT, "operator complexity of up to", lsp_multigrid_create(ctx, &s.there, &o, &m));
    }
    cr_assert(m == NULL);
    free_system(&s);
}
