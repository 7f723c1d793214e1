/* mpi.c: the matrix type mpiaijlsp. It is mpiaij whose blocks are of type seqaijlsp; on a GPU its vectors lie there,
 * and so do the values from other ranks, which PETSc then receives without the host if the MPI can. Meanwhile the
 * block on the diagonal is multiplied. */
#include "plugin.h"

static PetscErrorCode (*base_assemblyend)(Mat, MatAssemblyType); /* of mpiaij */
static PetscErrorCode (*base_mult)(Mat, Vec, Vec);
static PetscErrorCode (*base_productsetfromoptions)(Mat);
static PetscErrorCode (*base_preallocate)(Mat, PetscInt, const PetscInt[], PetscInt, const PetscInt[]);

static PetscErrorCode convert_blocks(Mat A) {
    Mat block[2];

    PetscFunctionBegin;
    PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
    for (int k = 0; k < 2; k++)
        PetscCall(plugin_convert(block[k], MATSEQAIJLSP, MAT_INPLACE_MATRIX, &block[k]));
    PetscFunctionReturn(0);
}

/* PETSc makes the vector of values from others after the block off the diagonal, which so says where it lies. */
static PetscErrorCode preallocate(Mat A, PetscInt d_nz, const PetscInt d_nnz[], PetscInt o_nz, const PetscInt o_nnz[]) {
    PetscFunctionBegin;
    PetscCall((*base_preallocate)(A, d_nz, d_nnz, o_nz, o_nnz));
    PetscCall(convert_blocks(A));
    PetscFunctionReturn(0);
}

/* PETSc may have replaced a block by one of seqaij. */
static PetscErrorCode assemblyend(Mat A, MatAssemblyType mode) {
    PetscFunctionBegin;
    PetscCall((*base_assemblyend)(A, mode));
    if (mode == MAT_FINAL_ASSEMBLY)
        PetscCall(convert_blocks(A));
    PetscFunctionReturn(0);
}

/* ---- the product with a vector ----------------------------------------------------------------------------------- */

/* The values from other ranks. */
typedef struct Ghost {
    PetscObjectId off; /* the block that they are for. All ranks get another one, or none does */
    Vec values;
    VecScatter scatter;
} Ghost;

static PetscErrorCode destroy_ghost(void *handed) {
    Ghost *ghost = PLUGIN_MEMORY(handed);

    PetscFunctionBegin;
    PetscCall(VecDestroy(&ghost->values));
    PetscCall(VecScatterDestroy(&ghost->scatter));
    PetscCall(PetscFree(ghost));
    PetscFunctionReturn(0);
}

static PetscErrorCode get_ghost(Mat A, Mat off, const PetscInt *columns, Vec x, Ghost **found) {
    PetscObjectId id;
    IS from;
    Ghost *ghost;

    PetscFunctionBegin;
    PetscCall(plugin_attached(A, "lsp_ghost", sizeof *ghost, destroy_ghost, (void **)&ghost));
    PetscCall(PetscObjectGetId((PetscObject)off, &id));
    if (id != ghost->off) {
        PetscCall(VecDestroy(&ghost->values));
        PetscCall(VecScatterDestroy(&ghost->scatter));
        PetscCall(MatCreateVecs(off, &ghost->values, NULL));
        PetscCall(ISCreateGeneral(PETSC_COMM_SELF, off->cmap->n, columns, PETSC_COPY_VALUES, &from));
        PetscCall(VecScatterCreate(x, from, ghost->values, NULL, &ghost->scatter));
        PetscCall(ISDestroy(&from));
        ghost->off = id;
    }
    *found = ghost;
    PetscFunctionReturn(0);
}

/* On GPUs: the product with the block on the diagonal does not keep the MPI from copying. */
static PetscErrorCode mult(Mat A, Vec x, Vec y) {
    const PetscInt *columns;
    Mat diagonal, off;
    lsp_where where;
    Ghost *ghost = NULL;

    PetscFunctionBegin;
    PetscCall(plugin_where(x, y, &where));
    if (where == LSP_HOST || A->structure_only) {
        PetscCall((*base_mult)(A, x, y));
        PetscFunctionReturn(0);
    }
    PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off, &columns));
    PetscCall(get_ghost(A, off, columns, x, &ghost));
    PetscCall(plugin_multiply_beside(diagonal, false, x, y));
    PetscCall(VecScatterBegin(ghost->scatter, x, ghost->values, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(ghost->scatter, x, ghost->values, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(plugin_multiply_beside(off, true, ghost->values, y));
    PetscCall(plugin_join());
    PetscFunctionReturn(0);
}

/* Products of two kin of mpiaij are those of mpiaij. */
static PetscErrorCode set_product(Mat C) {
    PetscBool kin[2];

    PetscFunctionBegin;
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)C->product->A, MATMPIAIJ, &kin[0]));
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)C->product->B, MATMPIAIJ, &kin[1]));
    PetscCall(kin[0] && kin[1] ? (*base_productsetfromoptions)(C) : plugin_set_foreign_product(C));
    PetscFunctionReturn(0);
}

static PetscErrorCode convert(Mat A, MatType type, MatReuse reuse, Mat *newmat);

static PetscErrorCode convert_back(Mat A, MatType type, MatReuse reuse, Mat *newmat);

static PetscErrorCode compose(Mat A, bool ours) {
    const PetscObject object = (PetscObject)A;

    PetscFunctionBegin;
    PetscCall(PetscObjectComposeFunction(object, "MatConvert_mpiaij_mpiaijlsp_C", ours ? convert : NULL));
    PetscCall(PetscObjectComposeFunction(object, "MatConvert_mpiaijlsp_mpiaij_C", ours ? convert_back : NULL));
    PetscCall(PetscObjectComposeFunction(object, "MatProductSetFromOptions_anytype_C", ours ? set_product : NULL));
    PetscCall(PetscObjectComposeFunction(object, "MatMPIAIJSetPreallocation_C", ours ? preallocate : base_preallocate));
    PetscCall(PetscObjectChangeTypeName(object, ours ? MATMPIAIJLSP : MATMPIAIJ));
    A->ops->assemblyend = ours ? assemblyend : base_assemblyend;
    A->ops->mult = ours ? mult : base_mult;
    if (PetscDefined(HAVE_CUDA) && plugin_device == LSP_CUDA)
        PetscCall(MatSetVecType(A, ours ? VECCUDA : VECSTANDARD));
    PetscFunctionReturn(0);
}

static PetscErrorCode change(Mat A, MatReuse reuse, bool ours, Mat *newmat) {
    PetscFunctionBegin;
    if (reuse == MAT_INITIAL_MATRIX)
        PetscCall(MatDuplicate(A, MAT_COPY_VALUES, newmat));
    PetscCall(compose(*newmat, ours));
    if (ours && (*newmat)->assembled)
        PetscCall(convert_blocks(*newmat));
    PetscFunctionReturn(0);
}

/* The blocks stay of our type, and serve host vectors as well. */
static PetscErrorCode convert_back(Mat A, MatType type, MatReuse reuse, Mat *newmat) {
    (void)type;
    return change(A, reuse, false, newmat);
}

static PetscErrorCode convert(Mat A, MatType type, MatReuse reuse, Mat *newmat) {
    (void)type;
    return change(A, reuse, true, newmat);
}

static PetscErrorCode create(Mat A) {
    PetscFunctionBegin;
    PetscCall(MatSetType(A, MATMPIAIJ));
    PetscCall(compose(A, true));
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_register_mpi(void) {
    Mat A;

    PetscFunctionBegin;
    PetscCall(MatCreate(PETSC_COMM_SELF, &A));
    PetscCall(MatSetType(A, MATMPIAIJ));
    PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatMPIAIJSetPreallocation_C", &base_preallocate));
    base_assemblyend = A->ops->assemblyend;
    base_mult = A->ops->mult;
    base_productsetfromoptions = A->ops->productsetfromoptions;
    PetscCall(MatDestroy(&A));
    PetscCall(MatRegister(MATMPIAIJLSP, create));
    PetscFunctionReturn(0);
}
