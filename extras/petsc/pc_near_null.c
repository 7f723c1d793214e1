/* pc_near_null.c: near-null vectors for the preconditioner lsp: those of a matrix, and those of a coarse one by least
 * squares. */
#include "pc_ranks.h"
#include <petscksp.h>

PetscErrorCode plugin_get_near_null(Mat A, Hierarchy *h) {
    const PetscInt n = A->rmap->n;
    const Vec *vectors;
    const PetscScalar *value;
    PetscScalar *packed;
    MatNullSpace space;
    PetscBool constant;
    PetscInt count;

    PetscFunctionBegin;
    lsp_array_free(&h->near_null);
    h->options.near_null = NULL, h->options.near_null_vectors = 0;
    PetscCall(MatGetNearNullSpace(A, &space));
    if (!space)
        PetscFunctionReturn(0);
    PetscCall(MatNullSpaceGetVecs(space, &constant, &count, &vectors));
    const size_t all = (size_t)count + (constant ? 1 : 0), bytes = (size_t)n * all * sizeof *packed;
    if (bytes == 0)
        PetscFunctionReturn(0);
    PetscCall(PetscMalloc(bytes, &packed));
    for (PetscInt k = 0; k < count; k++) {
        PetscCall(VecGetArrayRead(vectors[k], &value));
        for (PetscInt i = 0; i < n; i++)
            packed[(size_t)i * all + (size_t)k] = value[i];
        PetscCall(VecRestoreArrayRead(vectors[k], &value));
    }
    for (PetscInt i = 0; constant && i < n; i++)
        packed[(size_t)i * all + (size_t)count] = 1;
    LSP_CALL(lsp_array_create(plugin_ctx, bytes, plugin_device, &h->near_null));
    LSP_CALL(lsp_array_copy(plugin_ctx, h->near_null.memory, plugin_device, packed, LSP_HOST, bytes));
    PetscCall(PetscFree(packed));
    h->options.near_null = h->near_null.memory;
    h->options.near_null_vectors = (int64_t)all;
    PetscFunctionReturn(0);
}

/* ---- of a coarse matrix ------------------------------------------------------------------------------------------ */

PetscErrorCode plugin_find_coarse(Mat P, const char *prefix, Vec b, Vec x) {
    KSP solver;
    PC none;

    PetscFunctionBegin;
    PetscCall(KSPCreate(PetscObjectComm((PetscObject)P), &solver));
    PetscCall(KSPSetOptionsPrefix(solver, prefix));
    PetscCall(KSPAppendOptionsPrefix(solver, "lsp_scale_"));
    PetscCall(KSPSetType(solver, KSPLSQR));
    PetscCall(KSPSetOperators(solver, P, P));
    PetscCall(KSPGetPC(solver, &none));
    PetscCall(PCSetType(none, PCNONE));
    PetscCall(KSPSetTolerances(solver, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 40));
    PetscCall(KSPSolve(solver, b, x));
    PetscCall(KSPDestroy(&solver));
    PetscFunctionReturn(0);
}

/* Near-null vector k of A: of its space, or ones in unknown k of each node. */
static PetscErrorCode get_vector(Mat A, PetscInt k, Vec b) {
    MatNullSpace space;
    const Vec *vectors;
    PetscScalar *value;
    PetscBool constant;
    PetscInt unknowns, count = 0;

    PetscFunctionBegin;
    PetscCall(MatGetBlockSize(A, &unknowns));
    PetscCall(MatGetNearNullSpace(A, &space));
    if (space)
        PetscCall(MatNullSpaceGetVecs(space, &constant, &count, &vectors));
    if (k < count) {
        PetscCall(VecCopy(vectors[k], b));
        PetscFunctionReturn(0);
    }
    PetscCall(VecGetArrayWrite(b, &value));
    for (PetscInt i = 0; i < A->rmap->n; i++)
        value[i] = space || i % unknowns == k ? 1 : 0;
    PetscCall(VecRestoreArrayWrite(b, &value));
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_find_near_null(Mat A, Mat P, PetscInt count, const char *prefix, lsp_array *found) {
    const PetscScalar *value;
    PetscScalar *packed;
    VecScatter to_all;
    PetscInt n;
    Vec b, x, all;

    PetscFunctionBegin;
    PetscCall(MatCreateVecs(P, &x, &b));
    PetscCall(VecScatterCreateToAll(x, &to_all, &all));
    PetscCall(VecGetSize(x, &n));
    const size_t bytes = (size_t)n * (size_t)count * sizeof *packed;
    PetscCall(PetscMalloc(bytes, &packed));
    for (PetscInt k = 0; k < count; k++) {
        PetscCall(get_vector(A, k, b));
        PetscCall(VecSet(x, 0));
        PetscCall(plugin_find_coarse(P, prefix, b, x));
        PetscCall(VecScatterBegin(to_all, x, all, INSERT_VALUES, SCATTER_FORWARD));
        PetscCall(VecScatterEnd(to_all, x, all, INSERT_VALUES, SCATTER_FORWARD));
        PetscCall(VecGetArrayRead(all, &value));
        for (PetscInt i = 0; i < n; i++)
            packed[(size_t)i * (size_t)count + (size_t)k] = value[i];
        PetscCall(VecRestoreArrayRead(all, &value));
    }
    LSP_CALL(lsp_array_create(plugin_ctx, bytes, plugin_device, found));
    LSP_CALL(lsp_array_copy(plugin_ctx, found->memory, plugin_device, packed, LSP_HOST, bytes));
    PetscCall(PetscFree(packed));
    PetscCall(VecScatterDestroy(&to_all));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&all));
    PetscFunctionReturn(0);
}
