/* Refuses wrong arguments of a solver, with a sentence that names the first fault. No array of A is read here. */
#include "matrices/matrices.h"
#include "multigrid/job.h"
#include "solve.h"

enum { MOST_ITERATIONS = 100000 };

/* ---- options ---- */

lsp_status lsp_solve_check_matrix(lsp_ctx *ctx, const lsp_csr *A, lsp_type *type) {
    const lsp_type given = A != NULL ? A->val_type : LSP_NONE;
    if (A != NULL) {
        LSP_TRY(lsp_csr_check_header(ctx, "A", A));
        LSP_REQUIRE(A->rows == A->cols, LSP_ERR_ARGUMENT, "A is %lld x %lld: it must be square", (long long)A->rows,
                    (long long)A->cols);
    }
    LSP_REQUIRE(given != LSP_C64, LSP_ERR_UNSUPPORTED, "complex systems cannot be solved");
    LSP_REQUIRE(!lsp_is_integer(given), LSP_ERR_UNSUPPORTED,
                "systems of integers of type %s cannot be solved: copy the matrix to LSP_F64 first",
                lsp_type_name(given));
    *type = *type != LSP_NONE ? *type : given == LSP_NONE ? LSP_F64 : given;
    LSP_REQUIRE(*type == LSP_F32 || *type == LSP_F64, LSP_ERR_UNSUPPORTED,
                "vectors of type %s: LSP_F32 or LSP_F64 is needed", lsp_type_name(*type));
    LSP_REQUIRE(*type == LSP_F64 || given != LSP_F64, LSP_ERR_UNSUPPORTED,
                "vectors of type LSP_F32 with values of type LSP_F64: the vectors may be wider, not narrower");
    return LSP_OK;
}

/* n, type and place: of A, or of the user's operator. */
static lsp_status check_system(lsp_ctx *ctx, const lsp_csr *A, lsp_solve_plan *plan) {
    const lsp_solve_options *o = &plan->options;
    if (A != NULL) {
        LSP_REQUIRE(o->operator_apply == NULL, LSP_ERR_ARGUMENT,
                    "there is both a matrix and an operator: one is meant");
        plan->given = *A;
        plan->n = A->rows;
        plan->where = A->where;
    } else {
        LSP_REQUIRE(o->operator_apply != NULL, LSP_ERR_ARGUMENT, "there is neither a matrix nor an operator");
        LSP_REQUIRE(o->n >= 0, LSP_ERR_ARGUMENT, "%lld unknowns: a negative number", (long long)o->n);
        LSP_REQUIRE(o->where == LSP_HOST || o->where == LSP_CUDA, LSP_ERR_ARGUMENT,
                    "vectors at place %d: LSP_HOST or LSP_CUDA is needed", (int)o->where);
        plan->n = o->n;
        plan->where = o->where;
    }
    plan->type = o->type;
    LSP_TRY(lsp_solve_check_matrix(ctx, A, &plan->type));
    if (plan->where == LSP_CUDA) {
        LSP_TRY(lsp_csr_check_device(ctx, "A"));
        LSP_REQUIRE(!lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                    "work on the stream is being recorded into a graph: a solver waits, so it cannot run there");
    }
    return LSP_OK;
}

/* A hierarchy of the caller's serves the system if sizes, types and places agree. */
static lsp_status check_multigrid(lsp_ctx *ctx, const lsp_solve_plan *plan) {
    const lsp_multigrid *m = plan->options.multigrid;
    LSP_REQUIRE(m->ctx == ctx, LSP_ERR_ARGUMENT, "the hierarchy belongs to %s context",
                m->ctx == NULL ? "a destroyed" : "another");
    LSP_REQUIRE(m->n == plan->n && m->type == plan->type && m->where == plan->where, LSP_ERR_ARGUMENT,
                "the hierarchy is for %lld unknowns of type %s %s, the system has %lld of type %s %s", (long long)m->n,
                lsp_type_name(m->type), m->where == LSP_CUDA ? "on a GPU" : "on the host", (long long)plan->n,
                lsp_type_name(plan->type), plan->where == LSP_CUDA ? "on a GPU" : "on the host");
    return LSP_OK;
}

static lsp_status check_precondition(lsp_ctx *ctx, const lsp_csr *A, const lsp_solve_plan *plan) {
    const lsp_solve_options *o = &plan->options;
    const bool multigrid = o->precondition == LSP_PRECONDITION_MULTIGRID;
    LSP_REQUIRE((unsigned)o->precondition <= LSP_PRECONDITION_MULTIGRID, LSP_ERR_ARGUMENT,
                "there is no preconditioner %d", (int)o->precondition);
    LSP_REQUIRE(A != NULL || o->precondition != LSP_PRECONDITION_JACOBI, LSP_ERR_ARGUMENT,
                "Jacobi needs the diagonal of a matrix, and the operator is a function");
    LSP_REQUIRE((o->precondition == LSP_PRECONDITION_USER) == (o->precondition_apply != NULL), LSP_ERR_ARGUMENT,
                o->precondition_apply == NULL ? "LSP_PRECONDITION_USER needs precondition_apply"
                                              : "precondition_apply needs LSP_PRECONDITION_USER");
    LSP_REQUIRE(multigrid || o->multigrid == NULL, LSP_ERR_ARGUMENT, "a hierarchy needs LSP_PRECONDITION_MULTIGRID");
    LSP_REQUIRE(!multigrid || A != NULL || o->multigrid != NULL, LSP_ERR_ARGUMENT,
                "a hierarchy is made for a matrix, and the operator is a function: give options->multigrid");
    return o->multigrid != NULL ? check_multigrid(ctx, plan) : LSP_OK;
}

lsp_status lsp_solve_check(lsp_ctx *ctx, const lsp_csr *A, const lsp_solve_options *options, lsp_solve_plan *plan) {
    lsp_solve_options *o = &plan->options;
    int64_t most;
    *o = options != NULL ? *options : (lsp_solve_options){0};
    LSP_TRY(lsp_check_reserved(ctx, "lsp_solve_options", o->reserved));
    LSP_TRY(check_system(ctx, A, plan));
    LSP_TRY(check_precondition(ctx, A, plan));
    LSP_REQUIRE(o->rtol >= 0 && o->rtol - o->rtol == 0 && o->atol >= 0 && o->atol - o->atol == 0, LSP_ERR_ARGUMENT,
                "tolerances of %g and %g: finite numbers from 0 on are needed", o->rtol, o->atol);
    LSP_REQUIRE(o->max_iterations >= 0, LSP_ERR_ARGUMENT, "%lld iterations: a negative number",
                (long long)o->max_iterations);
    LSP_REQUIRE(o->history_capacity >= 0 && (o->history != NULL || o->history_capacity == 0), LSP_ERR_ARGUMENT,
                "a history of %lld numbers at %p", (long long)o->history_capacity, (void *)o->history);
    LSP_REQUIRE((unsigned)o->method < LSP_SPMV_METHODS, LSP_ERR_ARGUMENT, "there is no method %d of products",
                (int)o->method);
    o->rtol = o->rtol > 0 ? o->rtol : plan->type == LSP_F32 ? 1e-4 : 1e-8;
    most = lsp_mul(10, plan->n, &most) ? lsp_min(most, MOST_ITERATIONS) : MOST_ITERATIONS;
    o->max_iterations = o->max_iterations > 0 ? o->max_iterations : most;
    return LSP_OK;
}

/* ---- vectors ---- */

lsp_status lsp_solve_check_pair(lsp_ctx *ctx, int64_t n, lsp_type type, const void *b, const void *x) {
    const uintptr_t item = lsp_type_bytes(type), bytes = (uintptr_t)n * item;
    const uintptr_t b_at = (uintptr_t)b, x_at = (uintptr_t)x;
    if (n == 0) {
        return LSP_OK;
    }
    LSP_REQUIRE(b != NULL && x != NULL, LSP_ERR_ARGUMENT, "%s, %lld numbers, is NULL", b == NULL ? "b" : "x",
                (long long)n);
    LSP_REQUIRE(b_at % item == 0 && x_at % item == 0, LSP_ERR_ARGUMENT, "b or x lies at %p or %p, no multiple of %d", b,
                x, (int)item);
    LSP_REQUIRE(b_at + bytes > b_at && x_at + bytes > x_at, LSP_ERR_ARGUMENT, "b or x wraps around the address space");
    LSP_REQUIRE(b_at + bytes <= x_at || x_at + bytes <= b_at, LSP_ERR_ARGUMENT,
                "b and x overlap: they lie at %p and %p, and have %lld numbers each", b, x, (long long)n);
    return LSP_OK;
}

lsp_status lsp_solve_check_vectors(const lsp_solve_plan *plan, const void *b, const void *x) {
    lsp_ctx *ctx = plan->ctx;
    LSP_TRY(lsp_solve_check_pair(ctx, plan->n, plan->type, b, x));
    LSP_REQUIRE(plan->n == 0 || plan->where == LSP_HOST || !lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: a solver waits, so it cannot run there");
    return LSP_OK;
}

lsp_status lsp_solve_check_alike(lsp_ctx *ctx, const char *what, const lsp_csr *given, const lsp_csr *A) {
    LSP_TRY(lsp_csr_check_header(ctx, "A", A));
    LSP_REQUIRE(A->where == given->where && A->rows == given->rows && A->cols == given->cols && A->nnz == given->nnz &&
                    A->rowptr_type == given->rowptr_type && A->col_type == given->col_type &&
                    A->val_type == given->val_type,
                LSP_ERR_ARGUMENT,
                "%s was made for %lld x %lld with %lld entries, types and place included: A is %lld x %lld with %lld",
                what, (long long)given->rows, (long long)given->cols, (long long)given->nnz, (long long)A->rows,
                (long long)A->cols, (long long)A->nnz);
    return LSP_OK;
}

lsp_status lsp_solve_check_same(const lsp_solve_plan *plan, const lsp_csr *A) {
    lsp_ctx *ctx = plan->ctx;
    LSP_REQUIRE(plan->spmv != NULL, LSP_ERR_ARGUMENT, "the plan was made for an operator: it has no values to change");
    return lsp_solve_check_alike(ctx, "the plan", &plan->given, A);
}
