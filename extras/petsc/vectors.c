/* vectors.c: products of our type with vectors, made by plans of libsparse where the vectors lie; diagonals. */
#include "plugin.h"

/* On the host PETSc makes the first products of a structure, and the first with new values. A plan saves its cost after
 * 25, 13 and 22 products of poisson2d:1000, stencil27:40 and fem3:20 on one thread; a transposed one after 30 and more;
 * an update after 2 to 10. The plan is made after about half of these, and told to expect many. On a GPU the library
 * makes all, transposed ones by a plan from the first. */
enum { CALLS_BEFORE_PLAN = 10, CALLS_BEFORE_TRANSPOSED_PLAN = 40, CALLS_BEFORE_UPDATE = 4, EXPECTED_CALLS = 200 };

typedef struct Planned {
    lsp_spmv_plan *plan;
    PluginState state;
    PetscInt calls; /* with this state */
} Planned;

typedef struct Vectors {
    Planned planned[3][2]; /* on the host, on the GPU, beside there; plain and transposed */
} Vectors;

typedef struct Request {
    Mat A;
    lsp_ctx *ctx;
    lsp_where where;
    bool beside, transposed;
    lsp_csr view;
    lsp_spmv_plan *plan; /* NULL: none yet */
} Request;

/* The functions of seqaij that ours replace. */
static struct {
    PetscErrorCode (*mult)(Mat, Vec, Vec), (*multtranspose)(Mat, Vec, Vec);
    PetscErrorCode (*multadd)(Mat, Vec, Vec, Vec), (*multtransposeadd)(Mat, Vec, Vec, Vec);
    PetscErrorCode (*getdiagonal)(Mat, Vec);
} base;

static PetscErrorCode destroy_vectors(void *handed) {
    Vectors *vectors = PLUGIN_MEMORY(handed);

    PetscFunctionBegin;
    for (int k = 0; k < 6; k++)
        lsp_spmv_plan_destroy(vectors->planned[k / 2][k % 2].plan);
    PetscCall(PetscFree(vectors));
    PetscFunctionReturn(0);
}

static PetscErrorCode renew_plan(const Request *r, Planned *planned) {
    const lsp_spmv_options options = {.transpose = r->transposed, .expected_calls = EXPECTED_CALLS};

    PetscFunctionBegin;
    PetscCall(PetscLogEventBegin(plugin_events.plan, r->A, 0, 0, 0));
    if (planned->plan)
        LSP_CALL_BY(r->ctx, lsp_spmv_update(planned->plan, &r->view));
    else
        LSP_CALL_BY(r->ctx, lsp_spmv_plan_create(r->ctx, &r->view, &options, &planned->plan));
    PetscCall(PetscLogEventEnd(plugin_events.plan, r->A, 0, 0, 0));
    PetscFunctionReturn(0);
}

/* Finds the plan for a product with A as it is now. *served: false leaves the product to PETSc. */
static PetscErrorCode get_plan(Request *r, bool *served) {
    const bool host = r->where == LSP_HOST;
    const PetscInt patience = !r->transposed ? CALLS_BEFORE_PLAN : host ? CALLS_BEFORE_TRANSPOSED_PLAN : 0;
    Vectors *vectors;
    PluginState state;

    PetscFunctionBegin;
    r->plan = NULL;
    *served = false;
    if (r->A->structure_only)
        PetscFunctionReturn(0);
    PetscCall(plugin_view(r->A, r->where, &r->view, &state));
    if (r->view.nnz == 0) {
        *served = true;
        PetscFunctionReturn(0);
    }
    PetscCall(plugin_attached(r->A, "lsp_vectors", sizeof *vectors, destroy_vectors, (void **)&vectors));
    Planned *planned = &vectors->planned[r->beside ? 2 : r->where][r->transposed];
    if (!plugin_same_structure(&planned->state, &state)) {
        lsp_spmv_plan_destroy(planned->plan);
        *planned = (Planned){.state = state};
    } else if (!plugin_same_values(&planned->state, &state)) {
        planned->state = state;
        planned->calls = planned->plan && host ? -CALLS_BEFORE_UPDATE : 0;
    }
    planned->calls++;
    if (planned->plan ? planned->calls == 1 : planned->calls > patience)
        PetscCall(renew_plan(r, planned));
    r->plan = planned->calls > 0 ? planned->plan : NULL;
    *served = r->plan || !host;
    PetscFunctionReturn(0);
}

static PetscErrorCode run(const Request *r, const lsp_spmv_vectors *vectors) {
    const PetscLogDouble flops = 2.0 * (PetscLogDouble)r->view.nnz;

    PetscFunctionBegin;
    if (r->where == LSP_CUDA && !r->beside)
        PetscCall(PetscLogGpuTimeBegin());
    LSP_CALL_BY(r->ctx, r->plan ? lsp_spmv_execute(r->plan, vectors) : lsp_spmv(r->ctx, &r->view, NULL, vectors, NULL));
    if (r->where == LSP_CUDA && !r->beside)
        PetscCall(PetscLogGpuTimeEnd());
    PetscCall(r->where == LSP_CUDA ? PetscLogGpuFlops(flops) : PetscLogFlops(flops));
    PetscFunctionReturn(0);
}

/* z = op(A)*x, or y + op(A)*x if there is a y. */
static PetscErrorCode multiply(const Request *r, Vec x, Vec y, Vec z) {
    lsp_spmv_vectors vectors = {.alpha = 1, .beta = y ? 1 : 0};
    const PetscScalar *input;
    PetscScalar *output;

    PetscFunctionBegin;
    if (y && y != z)
        PetscCall(VecCopy(y, z));
    if (r->where == LSP_CUDA) {
        PetscCall(VecGetArrayReadAndMemType(x, &input, NULL));
        PetscCall(y ? VecGetArrayAndMemType(z, &output, NULL) : VecGetArrayWriteAndMemType(z, &output, NULL));
        vectors.x = input, vectors.y = output;
        PetscCall(run(r, &vectors));
        PetscCall(y ? VecRestoreArrayAndMemType(z, &output) : VecRestoreArrayWriteAndMemType(z, &output));
        PetscCall(VecRestoreArrayReadAndMemType(x, &input));
    } else {
        PetscCall(VecGetArrayRead(x, &input));
        PetscCall(y ? VecGetArray(z, &output) : VecGetArrayWrite(z, &output));
        vectors.x = input, vectors.y = output;
        PetscCall(run(r, &vectors));
        PetscCall(y ? VecRestoreArray(z, &output) : VecRestoreArrayWrite(z, &output));
        PetscCall(VecRestoreArrayRead(x, &input));
    }
    PetscFunctionReturn(0);
}

/* The same where A has no entries, as the block off the diagonal where ranks share nothing: wherever z lies. */
static PetscErrorCode multiply_by_nothing(Vec y, Vec z) {
    PetscFunctionBegin;
    if (!y)
        PetscCall(VecSet(z, 0));
    else if (y != z)
        PetscCall(VecCopy(y, z));
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_execute(lsp_spmv_plan *plan, lsp_where where, bool adds, Vec x, Vec z) {
    Request r = {.ctx = plugin_ctx, .where = where, .plan = plan};
    lsp_spmv_info info;

    PetscFunctionBegin;
    LSP_CALL(lsp_spmv_plan_get_info(plan, &info));
    r.view.nnz = info.stored_entries;
    PetscCall(multiply(&r, x, adds ? z : NULL, z));
    PetscFunctionReturn(0);
}

static PetscErrorCode serve(Mat A, bool transposed, Vec x, Vec y, Vec z) {
    const PetscLogEvent event = transposed ? plugin_events.transposed : plugin_events.mult;
    Request r = {.A = A, .ctx = plugin_ctx, .transposed = transposed};
    bool served;

    PetscFunctionBegin;
    PetscCall(plugin_where(x, z, &r.where));
    PetscCall(get_plan(&r, &served));
    if (served && r.view.nnz == 0) {
        PetscCall(multiply_by_nothing(y, z));
    } else if (served) {
        PetscCall(PetscLogEventBegin(event, A, x, z, 0));
        PetscCall(multiply(&r, x, y, z));
        PetscCall(PetscLogEventEnd(event, A, x, z, 0));
    } else if (y) {
        PetscCall(transposed ? base.multtransposeadd(A, x, y, z) : base.multadd(A, x, y, z));
    } else {
        PetscCall(transposed ? base.multtranspose(A, x, z) : base.mult(A, x, z));
    }
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_multiply_beside(Mat A, bool adds, Vec x, Vec z) {
    Request r = {.A = A, .where = LSP_CUDA, .beside = true};
    bool served;

    PetscFunctionBegin;
    PetscCall(plugin_fork(&r.ctx));
    PetscCall(get_plan(&r, &served));
    PetscCall(PetscLogEventBegin(plugin_events.mult, A, x, z, 0));
    PetscCall(r.view.nnz == 0 ? multiply_by_nothing(adds ? z : NULL, z) : multiply(&r, x, adds ? z : NULL, z));
    PetscCall(PetscLogEventEnd(plugin_events.mult, A, x, z, 0));
    PetscFunctionReturn(0);
}

static PetscErrorCode mult(Mat A, Vec x, Vec z) { return serve(A, false, x, NULL, z); }
static PetscErrorCode multadd(Mat A, Vec x, Vec y, Vec z) { return serve(A, false, x, y, z); }
static PetscErrorCode multtranspose(Mat A, Vec x, Vec z) { return serve(A, true, x, NULL, z); }
static PetscErrorCode multtransposeadd(Mat A, Vec x, Vec y, Vec z) { return serve(A, true, x, y, z); }

/* PETSc's own is for the host. */
static PetscErrorCode getdiagonal(Mat A, Vec v) {
    PetscScalar *diagonal;
    PluginState state;
    lsp_where where;
    lsp_csr view;

    PetscFunctionBegin;
    PetscCall(plugin_where(v, v, &where));
    if (where == LSP_HOST || A->structure_only || A->rmap->n != A->cmap->n) {
        PetscCall(base.getdiagonal(A, v));
        PetscFunctionReturn(0);
    }
    PetscCall(plugin_view(A, where, &view, &state));
    PetscCall(VecGetArrayWriteAndMemType(v, &diagonal, NULL));
    LSP_CALL(lsp_csr_diagonal(plugin_ctx, &view, diagonal));
    PetscCall(VecRestoreArrayWriteAndMemType(v, &diagonal));
    PetscFunctionReturn(0);
}

void plugin_keep_vector_ops(Mat A) {
    base.mult = A->ops->mult, base.multadd = A->ops->multadd;
    base.multtranspose = A->ops->multtranspose, base.multtransposeadd = A->ops->multtransposeadd;
    base.getdiagonal = A->ops->getdiagonal;
}

void plugin_set_vector_ops(Mat A, bool ours) {
    A->ops->mult = ours ? mult : base.mult;
    A->ops->multadd = ours ? multadd : base.multadd;
    A->ops->multtranspose = ours ? multtranspose : base.multtranspose;
    A->ops->multtransposeadd = ours ? multtransposeadd : base.multtransposeadd;
    A->ops->getdiagonal = ours ? getdiagonal : base.getdiagonal;
}
