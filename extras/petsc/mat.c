/* mat.c: the matrix type seqaijlsp. It is seqaij with other functions for products. What it keeps hangs on the matrix
 * in containers: so MatDuplicate, MatDestroy and MatHeaderMerge of seqaij serve it as they are. */
#include "plugin.h"

static PetscErrorCode (*base_productsetfromoptions)(Mat); /* of seqaij */

/* Products with matrices of other types (dense, maij) are PETSc's own: those that it has for seqaij. */
PetscErrorCode plugin_set_foreign_product(Mat C) {
    const Mat_Product *product = C->product;
    const Mat factor[] = {product->A, product->B, product->type == MATPRODUCT_ABC ? product->C : NULL};
    PetscErrorCode (*set)(Mat) = NULL;
    char name[256] = "MatProductSetFromOptions_";
    PetscBool ours, several;

    PetscFunctionBegin;
    for (int k = 0; k < 3 && factor[k]; k++) {
        const char *type = ((PetscObject)factor[k])->type_name;
        PetscCall(PetscStrcmp(type, MATSEQAIJLSP, &ours));
        PetscCall(PetscStrcmp(type, MATMPIAIJLSP, &several));
        PetscCall(PetscStrlcat(name, ours ? MATSEQAIJ : several ? MATMPIAIJ : type, sizeof name));
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
        {"MatProductSetFromOptions_anytype_C", (void (*)(void))plugin_set_foreign_product},
    };

    PetscFunctionBegin;
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        PetscCall(PetscObjectComposeFunction((PetscObject)A, functions[k].name, ours ? functions[k].function : NULL));
    PetscCall(PetscObjectChangeTypeName((PetscObject)A, ours ? MATSEQAIJLSP : MATSEQAIJ));
    A->ops->productsetfromoptions = ours ? plugin_set_product : base_productsetfromoptions;
    plugin_set_vector_ops(A, ours);
    if (PetscDefined(HAVE_CUDA) && plugin_device == LSP_CUDA)
        PetscCall(MatSetVecType(A, ours ? VECCUDA : VECSTANDARD));
    PetscFunctionReturn(0);
}

static PetscErrorCode convert_back(Mat A, MatType type, MatReuse reuse, Mat *newmat) {
    Mat B = *newmat;

    PetscFunctionBegin;
    (void)type;
    if (reuse == MAT_INITIAL_MATRIX)
        PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscCall(PetscObjectCompose((PetscObject)B, "lsp_vectors", NULL));
    PetscCall(PetscObjectCompose((PetscObject)B, "lsp_copy", NULL));
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
    plugin_keep_vector_ops(A);
    base_productsetfromoptions = A->ops->productsetfromoptions;
    PetscCall(MatDestroy(&A));
    PetscCall(MatRegister(MATSEQAIJLSP, create));
    PetscCall(MatSeqAIJRegister(MATSEQAIJLSP, plugin_convert));
    PetscCall(MatRegisterRootName("aijlsp", MATSEQAIJLSP, MATMPIAIJLSP)); /* the type on one rank, and on several */
    PetscFunctionReturn(0);
}
