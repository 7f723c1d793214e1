/* mat.c: the matrix type seqaijlsp. It is seqaij, whose products with vectors libsparse makes by plans. What it keeps
 * hangs on the matrix as a container: so MatDuplicate, MatDestroy and MatHeaderMerge of seqaij serve it as they are. */
#include "plugin.h"

/* PETSc makes the first products of a structure, and the first with new values. A plan saves its cost after 25, 13 and
 * 22 products of poisson2d:1000, stencil27:40 and fem3:20 on one thread; a transposed one after 30 and more; an update
 * after 2 to 10. The plan is made after about half of these, and told to expect many. */
enum { CALLS_BEFORE_PLAN = 10, CALLS_BEFORE_TRANSPOSED_PLAN = 40, CALLS_BEFORE_UPDATE = 4, EXPECTED_CALLS = 200 };

typedef struct Planned {
    lsp_spmv_plan *plan;
    PluginState state;
    PetscInt calls; /* with this state */
} Planned;

typedef struct Vectors {
    Planned plain, transposed;
} Vectors;

/* The functions of seqaij that ours replace. */
static struct {
    PetscErrorCode (*mult)(Mat, Vec, Vec), (*multtranspose)(Mat, Vec, Vec);
    PetscErrorCode (*multadd)(Mat, Vec, Vec, Vec), (*multtransposeadd)(Mat, Vec, Vec, Vec);
    PetscErrorCode (*productsetfromoptions)(Mat);
} base;

/* ---- views and states -------------------------------------------------------------------------------------------- */

PetscErrorCode plugin_view(Mat A, lsp_csr *view, PluginState *state) {
    const lsp_type index = sizeof(PetscInt) == 8 ? LSP_I64 : LSP_I32;
    static const PetscInt none[] = {0};
    const PetscInt *i = none, *j = NULL;
    PetscScalar *a = NULL;
    PetscBool kin;

    PetscFunctionBegin;
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &kin));
    PetscCheck(kin, PETSC_COMM_SELF, PETSC_ERR_SUP, "libsparse takes matrices of type seqaij and its kin, not %s",
               ((PetscObject)A)->type_name);
    if (A->rmap->n > 0) /* else it may have no arrays yet */
        PetscCall(MatSeqAIJGetCSRAndMemType(A, &i, &j, &a, NULL));
    *view = (lsp_csr){.rows = A->rmap->n,
                      .cols = A->cmap->n,
                      .nnz = i[A->rmap->n],
                      .rowptr = (void *)i,
                      .col = (void *)j,
                      .val = a,
                      .rowptr_type = index,
                      .col_type = index,
                      .val_type = LSP_F64};
    *state = (PluginState){.structure = A->nonzerostate, .i = i, .j = j, .a = a};
    PetscCall(PetscObjectGetId((PetscObject)A, &state->id));
    PetscCall(PetscObjectStateGet((PetscObject)A, &state->values));
    PetscFunctionReturn(0);
}

bool plugin_same_structure(const PluginState *a, const PluginState *b) {
    return a->id == b->id && a->structure == b->structure && a->i == b->i && a->j == b->j;
}

bool plugin_same_values(const PluginState *a, const PluginState *b) {
    return plugin_same_structure(a, b) && a->values == b->values && a->a == b->a;
}

static PetscErrorCode destroy_vectors(void *memory) {
    Vectors *vectors = memory;

    PetscFunctionBegin;
    lsp_spmv_plan_destroy(vectors->plain.plan);
    lsp_spmv_plan_destroy(vectors->transposed.plan);
    PetscCall(PetscFree(vectors));
    PetscFunctionReturn(0);
}

static PetscErrorCode get_vectors(Mat A, Vectors **vectors) {
    PetscContainer container;

    PetscFunctionBegin;
    PetscCall(PetscObjectQuery((PetscObject)A, "lsp_vectors", (PetscObject *)&container));
    if (container) {
        PetscCall(PetscContainerGetPointer(container, (void **)vectors));
        PetscFunctionReturn(0);
    }
    PetscCall(PetscNew(vectors));
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
    PetscCall(PetscContainerSetPointer(container, *vectors));
    PetscCall(PetscContainerSetUserDestroy(container, destroy_vectors));
    PetscCall(PetscObjectCompose((PetscObject)A, "lsp_vectors", (PetscObject)container));
    PetscCall(PetscContainerDestroy(&container));
    PetscFunctionReturn(0);
}

/* ---- products with vectors --------------------------------------------------------------------------------------- */

/* The plan for a product with A as it is now; NULL while PETSc's own product is to be taken: for the first calls, and
 * for matrices with most rows empty, which PETSc skips. The blocks of an mpiaij off the diagonal are such. */
static PetscErrorCode get_plan(Mat A, bool transposed, lsp_spmv_plan **plan, int64_t *entries) {
    const PetscInt patience = transposed ? CALLS_BEFORE_TRANSPOSED_PLAN : CALLS_BEFORE_PLAN;
    const lsp_spmv_options options = {.transpose = transposed, .expected_calls = EXPECTED_CALLS};
    Vectors *vectors;
    PluginState state;
    lsp_csr view;

    PetscFunctionBegin;
    *plan = NULL;
    if (A->structure_only)
        PetscFunctionReturn(0);
    PetscCall(plugin_view(A, &view, &state));
    if (view.nnz < view.rows)
        PetscFunctionReturn(0);
    PetscCall(get_vectors(A, &vectors));
    Planned *planned = transposed ? &vectors->transposed : &vectors->plain;
    if (!plugin_same_structure(&planned->state, &state)) {
        lsp_spmv_plan_destroy(planned->plan);
        *planned = (Planned){.state = state};
    } else if (!plugin_same_values(&planned->state, &state)) {
        planned->state.values = state.values, planned->state.a = state.a;
        planned->calls = planned->plan ? -CALLS_BEFORE_UPDATE : 0;
    }
    planned->calls++;
    if (!planned->plan && planned->calls > patience) {
        PetscCall(PetscLogEventBegin(plugin_events.plan, A, 0, 0, 0));
        LSP_CALL(lsp_spmv_plan_create(plugin_ctx, &view, &options, &planned->plan));
        PetscCall(PetscLogEventEnd(plugin_events.plan, A, 0, 0, 0));
    } else if (planned->plan && planned->calls == 1) {
        PetscCall(PetscLogEventBegin(plugin_events.plan, A, 0, 0, 0));
        LSP_CALL(lsp_spmv_update(planned->plan, &view));
        PetscCall(PetscLogEventEnd(plugin_events.plan, A, 0, 0, 0));
    }
    *entries = view.nnz;
    *plan = planned->calls > 0 ? planned->plan : NULL;
    PetscFunctionReturn(0);
}

/* z = op(A)*x, or y + op(A)*x if there is a y. *served: false leaves the product to PETSc. */
static PetscErrorCode multiply(Mat A, bool transposed, Vec x, Vec y, Vec z, bool *served) {
    const PetscLogEvent event = transposed ? plugin_events.transposed : plugin_events.mult;
    lsp_spmv_vectors vectors = {.alpha = 1, .beta = y ? 1 : 0};
    int64_t entries;
    lsp_spmv_plan *plan;
    const PetscScalar *input;
    PetscScalar *output;

    PetscFunctionBegin;
    PetscCall(get_plan(A, transposed, &plan, &entries));
    *served = plan != NULL;
    if (!plan)
        PetscFunctionReturn(0);
    PetscCall(PetscLogEventBegin(event, A, x, z, 0));
    if (y && y != z)
        PetscCall(VecCopy(y, z));
    PetscCall(VecGetArrayRead(x, &input));
    PetscCall(y ? VecGetArray(z, &output) : VecGetArrayWrite(z, &output));
    vectors.x = input, vectors.y = output;
    LSP_CALL(lsp_spmv_execute(plan, &vectors));
    PetscCall(y ? VecRestoreArray(z, &output) : VecRestoreArrayWrite(z, &output));
    PetscCall(VecRestoreArrayRead(x, &input));
    PetscCall(PetscLogFlops(2.0 * (PetscLogDouble)entries));
    PetscCall(PetscLogEventEnd(event, A, x, z, 0));
    PetscFunctionReturn(0);
}

static PetscErrorCode mult(Mat A, Vec x, Vec z) {
    bool served;

    PetscFunctionBegin;
    PetscCall(multiply(A, false, x, NULL, z, &served));
    if (!served)
        PetscCall(base.mult(A, x, z));
    PetscFunctionReturn(0);
}

static PetscErrorCode multadd(Mat A, Vec x, Vec y, Vec z) {
    bool served;

    PetscFunctionBegin;
    PetscCall(multiply(A, false, x, y, z, &served));
    if (!served)
        PetscCall(base.multadd(A, x, y, z));
    PetscFunctionReturn(0);
}

static PetscErrorCode multtranspose(Mat A, Vec x, Vec z) {
    bool served;

    PetscFunctionBegin;
    PetscCall(multiply(A, true, x, NULL, z, &served));
    if (!served)
        PetscCall(base.multtranspose(A, x, z));
    PetscFunctionReturn(0);
}

static PetscErrorCode multtransposeadd(Mat A, Vec x, Vec y, Vec z) {
    bool served;

    PetscFunctionBegin;
    PetscCall(multiply(A, true, x, y, z, &served));
    if (!served)
        PetscCall(base.multtransposeadd(A, x, y, z));
    PetscFunctionReturn(0);
}

/* ---- the type ---------------------------------------------------------------------------------------------------- */

/* Products with matrices of other types (dense, maij) are PETSc's own: those that it has for seqaij. */
static PetscErrorCode set_foreign_product(Mat C) {
    const Mat_Product *product = C->product;
    const Mat factor[] = {product->A, product->B, product->type == MATPRODUCT_ABC ? product->C : NULL};
    PetscErrorCode (*set)(Mat) = NULL;
    char name[256] = "MatProductSetFromOptions_";
    PetscBool ours;

    PetscFunctionBegin;
    for (int k = 0; k < 3 && factor[k]; k++) {
        PetscCall(PetscObjectTypeCompare((PetscObject)factor[k], MATSEQAIJLSP, &ours));
        PetscCall(PetscStrlcat(name, ours ? MATSEQAIJ : ((PetscObject)factor[k])->type_name, sizeof name));
        PetscCall(PetscStrlcat(name, "_", sizeof name));
    }
    PetscCall(PetscStrlcat(name, "C", sizeof name));
    for (int k = 0; k < 3 && factor[k] && !set; k++)
        PetscCall(PetscObjectQueryFunction((PetscObject)factor[k], name, &set));
    if (set)
        PetscCall((*set)(C));
    PetscFunctionReturn(0);
}

static PetscErrorCode convert_back(Mat A, MatType type, MatReuse reuse, Mat *newmat);

/* Composes the functions by which PETSc finds conversions and products of our type, or takes them away. */
static PetscErrorCode compose(Mat A, bool ours) {
    const struct {
        const char *name;
        void (*function)(void);
    } functions[] = {
        {"MatConvert_seqaij_seqaijlsp_C", (void (*)(void))plugin_convert},
        {"MatConvert_seqaijlsp_seqaij_C", (void (*)(void))convert_back},
        {"MatProductSetFromOptions_seqaij_seqaijlsp_C", (void (*)(void))plugin_set_product},
        {"MatProductSetFromOptions_seqaijlsp_seqaij_C", (void (*)(void))plugin_set_product},
        {"MatProductSetFromOptions_anytype_C", (void (*)(void))set_foreign_product},
    };

    PetscFunctionBegin;
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        PetscCall(PetscObjectComposeFunction((PetscObject)A, functions[k].name, ours ? functions[k].function : NULL));
    PetscCall(PetscObjectChangeTypeName((PetscObject)A, ours ? MATSEQAIJLSP : MATSEQAIJ));
    PetscFunctionReturn(0);
}

static PetscErrorCode convert_back(Mat A, MatType type, MatReuse reuse, Mat *newmat) {
    Mat B = *newmat;

    PetscFunctionBegin;
    (void)type;
    if (reuse == MAT_INITIAL_MATRIX)
        PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    B->ops->mult = base.mult, B->ops->multadd = base.multadd;
    B->ops->multtranspose = base.multtranspose, B->ops->multtransposeadd = base.multtransposeadd;
    B->ops->productsetfromoptions = base.productsetfromoptions;
    PetscCall(PetscObjectCompose((PetscObject)B, "lsp_vectors", NULL));
    PetscCall(compose(B, false));
    *newmat = B;
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_convert(Mat A, MatType type, MatReuse reuse, Mat *newmat) {
    Mat B = *newmat;
    PetscBool ours, plain;

    PetscFunctionBegin;
    (void)type;
    if (reuse == MAT_INITIAL_MATRIX)
        PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    *newmat = B;
    PetscCall(PetscObjectTypeCompare((PetscObject)B, MATSEQAIJLSP, &ours));
    if (ours)
        PetscFunctionReturn(0);
    PetscCall(PetscObjectTypeCompare((PetscObject)B, MATSEQAIJ, &plain));
    PetscCheck(plain, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "A matrix of type %s does not become one of type " MATSEQAIJLSP ": convert it to seqaij first",
               ((PetscObject)B)->type_name);
    B->ops->mult = mult, B->ops->multadd = multadd;
    B->ops->multtranspose = multtranspose, B->ops->multtransposeadd = multtransposeadd;
    B->ops->productsetfromoptions = plugin_set_product;
    PetscCall(compose(B, true));
    PetscFunctionReturn(0);
}

static PetscErrorCode create(Mat A) {
    PetscFunctionBegin;
    PetscCall(MatSetType(A, MATSEQAIJ));
    PetscCall(plugin_convert(A, MATSEQAIJLSP, MAT_INPLACE_MATRIX, &A));
    PetscFunctionReturn(0);
}

/* Takes the functions of seqaij from a matrix whose prefix no option has, so that it stays seqaij. */
PetscErrorCode plugin_register_mat(void) {
    Mat A;

    PetscFunctionBegin;
    PetscCall(MatCreate(PETSC_COMM_SELF, &A));
    PetscCall(MatSetOptionsPrefix(A, "lsp_base_"));
    PetscCall(MatSetType(A, MATSEQAIJ));
    base.mult = A->ops->mult, base.multadd = A->ops->multadd;
    base.multtranspose = A->ops->multtranspose, base.multtransposeadd = A->ops->multtransposeadd;
    base.productsetfromoptions = A->ops->productsetfromoptions;
    PetscCall(MatDestroy(&A));
    PetscCall(MatRegister(MATSEQAIJLSP, create));
    PetscCall(MatSeqAIJRegister(MATSEQAIJLSP, plugin_convert));
    PetscCall(MatRegisterRootName("aijlsp", MATSEQAIJLSP, MATMPIAIJ)); /* the type on one rank, and on several */
    PetscFunctionReturn(0);
}
