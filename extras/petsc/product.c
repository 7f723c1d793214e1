/* product.c: MatProduct of our type: AB, AtB, ABt, PtAP, RARt and ABC. The symbolic phase makes the whole product in
 * one call; if the values are still the same, the numeric phase has nothing to do. A plan fills the values alone and
 * takes half as long, but its making takes as long as four calls: so it is made when values have changed a few times. C
 * takes the arrays of the library as its own. */
#include "plugin.h"

enum { CALLS_BEFORE_PLAN = 3 }; /* with the first */

typedef struct Product {
    lsp_spgemm_plan *pair; /* of two factors; of three: */
    lsp_spgemm_triple_plan *triple;
    lsp_csr turned; /* R^T, of RARt */
    PluginState factors[3], result;
    int calls; /* without a plan, of factors of this structure */
    int64_t multiplications;
} Product;

/* The factors as the library takes them. */
typedef struct Factors {
    lsp_csr view[3];
    PluginState state[3];
    const lsp_csr *at[3]; /* A, B; or R (NULL: P^T), A, P */
    bool triple;
    lsp_spgemm_options options;
} Factors;

static PetscErrorCode symbolic(Mat C), numeric(Mat C);

static void drop_plans(Product *product) {
    lsp_spgemm_plan_destroy(product->pair);
    lsp_spgemm_triple_plan_destroy(product->triple);
    product->pair = NULL, product->triple = NULL;
}

static PetscErrorCode destroy_product(void *handed) {
    Product *product = PLUGIN_MEMORY(handed);

    PetscFunctionBegin;
    drop_plans(product);
    if (plugin_ctx)
        LSP_CALL(lsp_csr_free(plugin_ctx, &product->turned));
    PetscCall(PetscFree(product));
    PetscFunctionReturn(0);
}

/* ---- the factors ------------------------------------------------------------------------------------------------- */

static PetscErrorCode get_factors(Mat C, Product *product, Factors *f) {
    const MatProductType type = C->product->type;
    const Mat factor[] = {C->product->A, C->product->B, type == MATPRODUCT_ABC ? C->product->C : NULL};
    lsp_csr *const v = f->view;

    PetscFunctionBegin;
    *f = (Factors){.triple = type == MATPRODUCT_PtAP || type == MATPRODUCT_RARt || type == MATPRODUCT_ABC};
    for (int k = 0; k < 3 && factor[k]; k++)
        PetscCall(plugin_view(factor[k], plugin_device, &v[k], &f->state[k]));
    f->options.types.rowptr_type = f->options.types.col_type = v[0].col_type;
    f->options.transpose_a = type == MATPRODUCT_AtB;
    f->options.transpose_b = type == MATPRODUCT_ABt;
    f->at[0] = &v[0], f->at[1] = &v[1], f->at[2] = &v[2];
    if (type == MATPRODUCT_PtAP) {
        f->at[0] = NULL, f->at[1] = &v[0], f->at[2] = &v[1];
    } else if (type == MATPRODUCT_RARt) {
        LSP_CALL(lsp_csr_free(plugin_ctx, &product->turned));
        LSP_CALL(lsp_csr_transpose(plugin_ctx, &v[1], &product->turned));
        f->at[0] = &v[1], f->at[1] = &v[0], f->at[2] = &product->turned;
    }
    PetscFunctionReturn(0);
}

static bool same(const Product *product, const Factors *f, bool (*compare)(const PluginState *, const PluginState *)) {
    bool all = true;
    for (int k = 0; k < 3; k++)
        all = all && compare(&product->factors[k], &f->state[k]);
    return all;
}

static PetscErrorCode make_at_once(Product *product, const Factors *f, lsp_csr *made) {
    lsp_spgemm_info info;

    PetscFunctionBegin;
    LSP_CALL(f->triple ? lsp_spgemm_triple(plugin_ctx, f->at[0], f->at[1], f->at[2], &f->options, made, &info)
                       : lsp_spgemm(plugin_ctx, f->at[0], f->at[1], &f->options, made, &info));
    product->multiplications = info.products;
    PetscFunctionReturn(0);
}

static PetscErrorCode make_by_plan(Product *product, const Factors *f, lsp_csr *made) {
    PetscFunctionBegin;
    if (f->triple) {
        LSP_CALL(
            lsp_spgemm_triple_plan_create(plugin_ctx, f->at[0], f->at[1], f->at[2], &f->options, &product->triple));
        LSP_CALL(lsp_spgemm_triple_execute(product->triple, f->at[0], f->at[1], f->at[2], made));
    } else {
        LSP_CALL(lsp_spgemm_plan_create(plugin_ctx, f->at[0], f->at[1], &f->options, &product->pair));
        LSP_CALL(lsp_spgemm_execute(product->pair, f->at[0], f->at[1], made));
    }
    PetscFunctionReturn(0);
}

/* ---- the result -------------------------------------------------------------------------------------------------- */

static PetscErrorCode free_arrays(void *handed) {
    lsp_array *arrays = PLUGIN_MEMORY(handed);

    PetscFunctionBegin;
    for (int k = 0; k < 3; k++)
        lsp_array_free(&arrays[k]);
    PetscCall(PetscFree(arrays));
    PetscFunctionReturn(0);
}

static PetscErrorCode set_block_sizes(Mat C, Mat T) {
    const Mat_Product *p = C->product;
    PetscInt rows[3] = {1, 1, 1}, cols[3] = {1, 1, 1};

    PetscFunctionBegin;
    PetscCall(MatGetBlockSizes(p->A, &rows[0], &cols[0]));
    PetscCall(MatGetBlockSizes(p->B, &rows[1], &cols[1]));
    if (p->type == MATPRODUCT_ABC)
        PetscCall(MatGetBlockSizes(p->C, &rows[2], &cols[2]));
    switch (p->type) {
    case MATPRODUCT_AtB:
        PetscCall(MatSetBlockSizes(T, cols[0], cols[1]));
        break;
    case MATPRODUCT_ABt:
        PetscCall(MatSetBlockSizes(T, rows[0], rows[1]));
        break;
    case MATPRODUCT_PtAP:
        PetscCall(MatSetBlockSizes(T, cols[1], cols[1]));
        break;
    case MATPRODUCT_RARt:
        PetscCall(MatSetBlockSizes(T, rows[1], rows[1]));
        break;
    default:
        PetscCall(MatSetBlockSizes(T, rows[0], cols[p->type == MATPRODUCT_ABC ? 2 : 1]));
    }
    PetscFunctionReturn(0);
}

/* A matrix of these arrays, which it frees at its end. *made is zero afterwards. */
static PetscErrorCode own(MPI_Comm comm, lsp_csr *made, Mat *T) {
    const lsp_csr view = *made;
    lsp_array *arrays;

    PetscFunctionBegin;
    PetscCall(
        MatCreateSeqAIJWithArrays(comm, (PetscInt)view.rows, (PetscInt)view.cols, view.rowptr, view.col, view.val, T));
    PetscCall(plugin_attached(*T, "lsp_arrays", 3 * sizeof *arrays, free_arrays, (void **)&arrays));
    LSP_CALL(lsp_csr_detach(plugin_ctx, made, arrays));
    PetscCall(MatConvert(*T, MATSEQAIJLSP, MAT_INPLACE_MATRIX, T));
    PetscFunctionReturn(0);
}

/* A new C becomes the matrix of these arrays; one that was used before keeps what hangs on it, and takes a copy. */
static PetscErrorCode put_arrays(Mat C, lsp_csr *arrays) {
    const PetscObject header = (PetscObject)C;
    Mat T;

    PetscFunctionBegin;
    if (header->type_name) {
        const PetscInt m = (PetscInt)arrays->rows, n = (PetscInt)arrays->cols;
        PetscCall(MatSetType(C, MATSEQAIJLSP));
        PetscCall(MatSetSizes(C, m, n, m, n));
        PetscCall(MatSeqAIJSetPreallocationCSR(C, arrays->rowptr, arrays->col, arrays->val));
        PetscCall(PetscObjectCompose(header, "lsp_arrays", NULL)); /* of the structure before */
        LSP_CALL(lsp_csr_free(plugin_ctx, arrays));
    } else {
        PetscCall(own(PetscObjectComm(header), arrays, &T));
        PetscCall(set_block_sizes(C, T));
        PetscCall(PetscObjectSetName((PetscObject)T, header->name));
        PetscCall(PetscObjectSetOptionsPrefix((PetscObject)T, header->prefix));
        T->product = C->product, C->product = NULL;
        PetscCall(MatHeaderReplace(C, &T));
    }
    PetscFunctionReturn(0);
}

/* Puts the product into C, from a GPU by way of the host; there it is C's copy. */
static PetscErrorCode put(Mat C, lsp_csr *made) {
    lsp_csr host;

    PetscFunctionBegin;
    if (made->where == LSP_CUDA) {
        const lsp_csr_types types = {
            .rowptr_type = made->rowptr_type, .col_type = made->col_type, .place = LSP_PLACE_HOST};
        LSP_CALL(lsp_csr_copy(plugin_ctx, made, &types, &host));
        PetscCall(put_arrays(C, &host));
        PetscCall(plugin_give_copy(C, made));
    } else {
        PetscCall(put_arrays(C, made));
    }
    C->ops->productsymbolic = symbolic;
    C->ops->productnumeric = numeric;
    PetscCall(MatSetOption(C, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
    PetscFunctionReturn(0);
}

/* ---- phases ------------------------------------------------------------------------------------------------------ */

static PetscErrorCode remake(Mat C, Product *product, const Factors *f) {
    lsp_csr made = {0}, view;

    PetscFunctionBegin;
    drop_plans(product);
    PetscCall(make_at_once(product, f, &made));
    PetscCall(put(C, &made));
    for (int k = 0; k < 3; k++)
        product->factors[k] = f->state[k];
    product->calls = 1;
    PetscCall(plugin_view(C, LSP_HOST, &view, &product->result));
    PetscFunctionReturn(0);
}

/* A product beside C, whose values C takes. */
static PetscErrorCode remake_values(Product *product, const Factors *f, const lsp_csr *view) {
    lsp_csr made = {0};

    PetscFunctionBegin;
    PetscCall(product->calls++ < CALLS_BEFORE_PLAN ? make_at_once(product, f, &made) : make_by_plan(product, f, &made));
    PetscCheck(made.nnz == view->nnz, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The product has %lld entries, C has %lld",
               (long long)made.nnz, (long long)view->nnz);
    LSP_CALL(lsp_array_copy(plugin_ctx, view->val, view->where, made.val, made.where,
                            (size_t)made.nnz * sizeof(PetscScalar)));
    LSP_CALL(lsp_csr_free(plugin_ctx, &made));
    PetscFunctionReturn(0);
}

/* New values of the same structure. A plan refuses factors of another structure: then *done is false. */
static PetscErrorCode refill(Mat C, Product *product, const Factors *f, bool *done) {
    lsp_status status = LSP_OK;
    PluginState now;
    lsp_csr view;

    PetscFunctionBegin;
    PetscCall(plugin_view(C, plugin_device, &view, &now));
    if (product->triple)
        status = lsp_spgemm_triple_refill(product->triple, f->at[0], f->at[1], f->at[2], &view);
    else if (product->pair)
        status = lsp_spgemm_refill(product->pair, f->at[0], f->at[1], &view);
    else if (same(product, f, plugin_same_structure))
        PetscCall(remake_values(product, f, &view));
    else
        status = LSP_ERR_ARGUMENT;
    *done = status == LSP_OK;
    if (status != LSP_ERR_ARGUMENT)
        LSP_CALL(status);
    if (*done)
        PetscCall(plugin_wrote_values(C));
    PetscFunctionReturn(0);
}

static PetscErrorCode numeric(Mat C) {
    Product *product = C->product->data;
    Factors f;
    lsp_csr view;
    PluginState now;
    bool done;

    PetscFunctionBegin;
    PetscCheck(product, PETSC_COMM_SELF, PETSC_ERR_ORDER, "The product has no symbolic phase yet");
    PetscCall(PetscLogEventBegin(plugin_events.numeric, C, 0, 0, 0));
    PetscCall(get_factors(C, product, &f));
    PetscCall(plugin_view(C, LSP_HOST, &view, &now));
    done = plugin_same_values(&product->result, &now) && same(product, &f, plugin_same_values);
    if (!done && plugin_same_structure(&product->result, &now))
        PetscCall(refill(C, product, &f, &done));
    if (!done)
        PetscCall(remake(C, product, &f));
    PetscCall(PetscLogFlops(2.0 * (PetscLogDouble)product->multiplications));
    PetscCall(PetscLogEventEnd(plugin_events.numeric, C, 0, 0, 0));
    PetscFunctionReturn(0);
}

static PetscErrorCode symbolic(Mat C) {
    Product *product;
    Factors f;

    PetscFunctionBegin;
    PetscCall(PetscLogEventBegin(plugin_events.symbolic, C, 0, 0, 0));
    PetscCall(PetscNew(&product));
    C->product->data = product;
    C->product->destroy = destroy_product;
    PetscCall(get_factors(C, product, &f));
    PetscCall(remake(C, product, &f));
    PetscCall(PetscLogEventEnd(plugin_events.symbolic, C, 0, 0, 0));
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_set_product(Mat C) {
    PetscFunctionBegin;
    C->ops->productsymbolic = symbolic;
    PetscFunctionReturn(0);
}
