/* Plans of solvers: A is checked, products with it and the preconditioner are prepared, vectors are allocated; then any
 * number of right-hand sides. */
#include "multigrid/job.h"
#include "solve.h"
#include "spmv/spmv.h"

enum { PITCH = 256, MOST_VECTORS = 9, CALLS_OF_ONE_SOLVE = 500 }; /* calls: a guess */

/* ---- create ---- */

/* inverse[i] = 1 / A[i][i] for new values in A. */
static lsp_status invert_diagonal(lsp_solve_plan *plan, const lsp_csr *A, void *inverse) {
    lsp_ctx *ctx = plan->ctx;
    int64_t bad = -1;
    if (plan->n > 0) {
        LSP_TRY(plan->backend->diagonal(ctx, A, plan->type, inverse, &bad));
    }
    LSP_REQUIRE(bad < 0, LSP_ERR_ARGUMENT, "row %lld: the diagonal entry is 0 or missing, and Jacobi divides by it",
                (long long)bad);
    return LSP_OK;
}

static lsp_status allocate_vectors(lsp_solve_plan *plan) {
    lsp_ctx *ctx = plan->ctx;
    lsp_solve_loop *v = &plan->vectors;
    const lsp_precondition precondition = plan->options.precondition;
    void **cg[MOST_VECTORS] = {&v->r, &v->p, &v->q, &v->z};
    void **bicgstab[MOST_VECTORS] = {&v->r, &v->p, &v->q, &v->r_hat, &v->s, &v->t, &v->p_hat, &v->s_hat};
    int count =
        plan->bicgstab ? (precondition == LSP_PRECONDITION_NONE ? 6 : 8) : (lsp_solve_calls_precondition(plan) ? 4 : 3);
    int64_t bytes, pitch;
    if (plan->where == LSP_HOST || lsp_solve_has_user_part(plan)) { /* products on a GPU by a plan do not fail */
        (plan->bicgstab ? bicgstab : cg)[count++] = &v->x;
    }
    LSP_REQUIRE(lsp_mul(plan->n, (int64_t)lsp_type_bytes(plan->type), &bytes) && lsp_add(bytes, PITCH - 1, &pitch),
                LSP_ERR_OVERFLOW, "%lld unknowns cannot be in memory", (long long)plan->n);
    pitch = pitch / PITCH * PITCH;
    LSP_TRY(lsp_alloc(ctx, plan->where, count, (size_t)pitch, &plan->memory));
    for (int i = 0; i < count; i++) {
        *(plan->bicgstab ? bicgstab : cg)[i] = pitch > 0 ? (char *)plan->memory + i * pitch : NULL;
    }
    v->z = v->z != NULL ? v->z : v->r;
    v->p_hat = v->p_hat != NULL ? v->p_hat : v->p;
    v->s_hat = v->s_hat != NULL ? v->s_hat : v->s;
    return LSP_OK;
}

static lsp_status plan_products(lsp_solve_plan *plan, const lsp_csr *A, int64_t calls) {
    const lsp_solve_options *o = &plan->options;
    const lsp_spmv_options wanted = {
        .type = plan->type, .method = o->method, .passes = o->passes, .expected_calls = calls};
    return lsp_spmv_plan_create(plan->ctx, A, &wanted, &plan->spmv);
}

/* Is this a system that one kernel may solve? It multiplies by itself, calls nobody, and has only f64. */
static bool may_be_resident(const lsp_solve_plan *plan, const lsp_csr *A, int64_t longest_row) {
    const lsp_solve_options *o = &plan->options;
    return plan->backend->fits != NULL && !plan->bicgstab && plan->n > 0 && plan->type == LSP_F64 &&
           o->method == LSP_SPMV_AUTO && o->on_iteration == NULL && !lsp_solve_calls_precondition(plan) &&
           plan->backend->fits(plan->ctx, A, longest_row, NULL);
}

/* With multigrid: takes the plan of products from the hierarchy, if that was made of the same A and cannot change
 * before the solver's plan does. The plan makes its own hierarchy here. */
static lsp_status prepare_multigrid(lsp_solve_plan *plan, const lsp_csr *A, bool once) {
    lsp_solve_options *o = &plan->options;
    if (o->multigrid == NULL) {
        LSP_TRY(lsp_multigrid_create(plan->ctx, A, &(lsp_multigrid_options){.type = plan->type}, &plan->multigrid));
        o->multigrid = plan->multigrid;
    }
    const lsp_level *finest = &o->multigrid->level[0];
    if ((once || plan->multigrid != NULL) && A != NULL && o->method == LSP_SPMV_AUTO && A->rowptr == finest->A.rowptr &&
        A->col == finest->A.col && A->val == finest->A.val && finest->a != NULL) {
        plan->spmv = finest->a;
        plan->spmv_borrowed = true;
        LSP_TRY(lsp_spmv_plan_get_info(plan->spmv, &plan->spmv_info));
    }
    return LSP_OK;
}

/* The one kernel multiplies by its own copy of A, if memory holds it. Then the plan of spmv only computes the last
 * residual. */
static lsp_status prepare_products(lsp_solve_plan *plan, const lsp_csr *A, int64_t calls) {
    const bool maybe = may_be_resident(plan, A, 0);
    LSP_TRY(plan_products(plan, A, maybe ? 1 : calls));
    if (maybe && may_be_resident(plan, A, plan->spmv->facts.longest_row)) {
        const lsp_status status = plan->backend->keep(plan->ctx, A, NULL, &plan->resident);
        LSP_TRY(status == LSP_ERR_UNSUPPORTED || status == LSP_ERR_MEMORY ? LSP_OK : status);
    }
    if (maybe && plan->resident == NULL) {
        lsp_spmv_plan_destroy(plan->spmv);
        plan->spmv = NULL;
        LSP_TRY(plan_products(plan, A, calls));
    }
    return lsp_spmv_plan_get_info(plan->spmv, &plan->spmv_info);
}

static lsp_status prepare(lsp_solve_plan *plan, const lsp_csr *A, bool once) {
    const lsp_solve_options *o = &plan->options;
    if (o->precondition == LSP_PRECONDITION_MULTIGRID) {
        LSP_TRY(prepare_multigrid(plan, A, once));
    }
    if (A != NULL && plan->spmv == NULL) {
        const int64_t products = plan->bicgstab ? 2 : 1;
        const int64_t iterations = o->fixed ? o->max_iterations : lsp_min(o->max_iterations, CALLS_OF_ONE_SOLVE);
        LSP_TRY(prepare_products(plan, A, once ? lsp_max(products * lsp_min(iterations, INT32_MAX), 1) : 0));
    }
    if (o->precondition == LSP_PRECONDITION_JACOBI) {
        LSP_TRY(lsp_alloc(plan->ctx, plan->where, plan->n, lsp_type_bytes(plan->type), &plan->vectors.inverse));
        LSP_TRY(invert_diagonal(plan, A, plan->vectors.inverse));
    }
    LSP_TRY(allocate_vectors(plan));
    return plan->backend->prepare(plan);
}

static void close_queue(void *plan) { lsp_cuda_queue_close(&((lsp_solve_plan *)plan)->queue); }

lsp_status lsp_solve_plan_make(lsp_ctx *ctx, const lsp_csr *A, const lsp_solve_options *options, bool bicgstab,
                               bool once, lsp_solve_plan **plan) {
    const double start = lsp_now();
    LSP_PLAN_MAKE(lsp_solve_plan, made, plan);
    made->bicgstab = bicgstab;
    made->life.close = close_queue;
    LSP_TRY(lsp_solve_check(ctx, A, options, made));
    made->backend = made->where == LSP_CUDA ? &lsp_solve_cuda : &lsp_solve_cpu;
    LSP_TRY(prepare(made, A, once));
    made->plan_seconds = lsp_now() - start;
    return LSP_PLAN_GIVE(made, plan);
}

void lsp_solve_plan_destroy(lsp_solve_plan *plan) { lsp_plan_end(plan); }

/* ---- new values ---- */

lsp_status lsp_solve_update(lsp_solve_plan *plan, const lsp_csr *A) {
    LSP_PLAN_USE(plan);
    LSP_TRY(lsp_solve_check_same(plan, A));
    if (plan->vectors.inverse != NULL) { /* first of all: a refused diagonal leaves the plan as it was */
        void *inverse;
        LSP_TRY(lsp_scratch_at(ctx, plan->where, plan->n, lsp_type_bytes(plan->type), &inverse));
        LSP_TRY(invert_diagonal(plan, A, inverse));
        LSP_TRY(invert_diagonal(plan, A, plan->vectors.inverse));
    }
    LSP_TRY(plan->multigrid != NULL ? lsp_multigrid_update(plan->multigrid, A) : LSP_OK);
    LSP_TRY(plan->spmv_borrowed ? LSP_OK : lsp_spmv_update(plan->spmv, A));
    return plan->backend->update != NULL ? plan->backend->update(plan, A) : LSP_OK;
}
