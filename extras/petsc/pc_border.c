/* pc_border.c: where the blocks of ranks meet, for the preconditioner lsp on several ranks. Its matrices have entries
 * in the rows beside other ranks only. Whether a row has neighbours is asked by rows, as if A had a symmetric pattern.
 */
#include "pc_ranks.h"

/* Of what a row has in other blocks; with all of it a block without a boundary of its own would be singular. */
static const PetscReal moved_share = 0.999;

enum {
    INNER = 0,
    NEAR = 1,
    AT = 2
}; /* Border.mark: AT: has entries in other blocks, or they have some in its column;
      NEAR: has entries in columns of such rows, or they have some in its column */

/* ---- matrices by their rows -------------------------------------------------------------------------------------- */

PetscErrorCode plugin_make_rows(PetscInt rows, PetscInt cols, PetscInt entries, lsp_csr *r) {
    const lsp_csr_types types = {.rowptr_type = PLUGIN_INDEX, .col_type = PLUGIN_INDEX, .val_type = LSP_F64};

    PetscFunctionBegin;
    LSP_CALL(lsp_csr_create(plugin_ctx, rows, cols, entries, &types, r));
    PetscFunctionReturn(0);
}

/* Frees the rows. `cols`: of this rank. */
static PetscErrorCode to_matrix(MPI_Comm comm, lsp_csr *r, PetscInt cols, MatType type, Mat *M) {
    PetscFunctionBegin;
    PetscCall(MatCreate(comm, M));
    PetscCall(MatSetSizes(*M, (PetscInt)r->rows, cols, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetType(*M, type));
    PetscCall(MatMPIAIJSetPreallocationCSR(*M, r->rowptr, r->col, r->val));
    LSP_CALL(lsp_csr_free(plugin_ctx, r));
    PetscFunctionReturn(0);
}

/* sum = alpha*r + beta*(this rank's rows of M), which replaces r; M is destroyed. */
static PetscErrorCode add_rows(double alpha, lsp_csr *r, double beta, Mat *M) {
    PluginState state;
    lsp_csr view, sum;
    Mat local;

    PetscFunctionBegin;
    PetscCall(MatMPIAIJGetLocalMat(*M, MAT_INITIAL_MATRIX, &local));
    PetscCall(plugin_view(local, LSP_HOST, &view, &state));
    LSP_CALL(lsp_csr_add(plugin_ctx, alpha, r, beta, &view, &sum));
    LSP_CALL(lsp_csr_free(plugin_ctx, r));
    PetscCall(MatDestroy(&local));
    PetscCall(MatDestroy(M));
    *r = sum;
    PetscFunctionReturn(0);
}

/* ---- the border -------------------------------------------------------------------------------------------------- */

typedef struct Blocks {
    lsp_csr inner, outer; /* of this rank, on the host */
    const PetscInt *garray, *i, *j, *oi, *oj;
    const PetscScalar *a, *oa;
} Blocks;

static PetscErrorCode get_blocks(Mat A, Blocks *b) {
    PluginState state;
    Mat diagonal, off;

    PetscFunctionBegin;
    PetscCall(MatMPIAIJGetSeqAIJ(A, &diagonal, &off, &b->garray));
    PetscCall(plugin_view(diagonal, LSP_HOST, &b->inner, &state));
    PetscCall(plugin_view(off, LSP_HOST, &b->outer, &state));
    b->i = b->inner.rowptr, b->j = b->inner.col, b->a = b->inner.val;
    b->oi = b->outer.rowptr, b->oj = b->outer.col, b->oa = b->outer.val;
    PetscFunctionReturn(0);
}

static PetscErrorCode mark_rows(Border *border, const Blocks *b) {
    const PetscScalar *at;
    Vec touched;

    PetscFunctionBegin;
    PetscCall(MatCreateVecs(border->A, NULL, &touched));
    for (PetscInt k = 0; k < b->outer.cols; k++)
        PetscCall(VecSetValue(touched, b->garray[k], 1, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(touched));
    PetscCall(VecAssemblyEnd(touched));
    PetscCall(VecGetArrayRead(touched, &at));
    for (PetscInt row = 0; row < border->rows; row++)
        border->mark[row] = at[row] != 0 || b->oi[row] < b->oi[row + 1] ? AT : INNER;
    PetscCall(VecRestoreArrayRead(touched, &at));
    PetscCall(VecDestroy(&touched));
    for (PetscInt row = 0; row < border->rows; row++) {
        for (PetscInt k = b->i[row]; k < b->i[row + 1] && border->mark[row] == AT; k++) {
            char *mark = border->mark + b->j[k];
            *mark = *mark == INNER ? NEAR : *mark;
        }
    }
    border->near = 0;
    for (PetscInt row = 0; row < border->rows; row++)
        border->near += border->mark[row] != INNER;
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_find_border(Mat A, Border *border) {
    const PetscScalar *d;
    Blocks b;

    PetscFunctionBegin;
    *border = (Border){.A = A, .rows = A->rmap->n, .first = A->rmap->rstart};
    PetscCall(get_blocks(A, &b));
    PetscCall(PetscMalloc2((size_t)border->rows, &border->moved, (size_t)border->rows, &border->mark));
    PetscCall(mark_rows(border, &b));
    PetscCall(MatCreateVecs(A, NULL, &border->diagonal));
    PetscCall(MatGetDiagonal(A, border->diagonal));
    PetscCall(VecGetArrayRead(border->diagonal, &d));
    for (PetscInt row = 0; row < border->rows; row++) {
        PetscScalar sum = 0;
        for (PetscInt k = b.oi[row]; k < b.oi[row + 1]; k++)
            sum += moved_share * b.oa[k];
        border->moved[row] = d[row] + sum > 0 ? sum : 0;
    }
    PetscCall(VecRestoreArrayRead(border->diagonal, &d));
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_leave_border(Border *border) {
    PetscFunctionBegin;
    PetscCall(PetscFree2(border->moved, border->mark));
    PetscCall(VecDestroy(&border->diagonal));
    PetscFunctionReturn(0);
}

/* ---- matrices of the border -------------------------------------------------------------------------------------- */

/* What to take of A: of rows AT the border what couples blocks (F: entries in other blocks, and on the diagonal less
 * what is moved there); all that has its row or column there; the same of the blocks alone, with what is moved. */
typedef enum Part { COUPLINGS, ALL, BLOCKS } Part;

static PetscErrorCode make_part(const Border *border, Part part, Mat *M) {
    const PetscInt first = border->first;
    PetscInt most = 0, e = 0;
    lsp_csr r;
    Blocks b;

    PetscFunctionBegin;
    PetscCall(get_blocks(border->A, &b));
    for (PetscInt row = 0; row < border->rows; row++)
        most += border->mark[row] != INNER ? b.i[row + 1] - b.i[row] + b.oi[row + 1] - b.oi[row] + 1 : 0;
    PetscCall(plugin_make_rows(border->rows, border->A->cmap->N, most, &r));
    PetscInt *const begin = r.rowptr, *const col = r.col;
    PetscScalar *const val = r.val;
    begin[0] = 0;
    for (PetscInt row = 0; row < border->rows; row++) {
        const PetscInt end = part != BLOCKS ? b.oi[row + 1] : b.oi[row];
        PetscInt o = b.oi[row];

        for (; o < end && b.garray[b.oj[o]] < first; o++)
            col[e] = b.garray[b.oj[o]], val[e++] = b.oa[o];
        if (part == COUPLINGS && border->moved[row] != 0)
            col[e] = first + row, val[e++] = -border->moved[row];
        for (PetscInt k = b.i[row]; part != COUPLINGS && border->mark[row] != INNER && k < b.i[row + 1]; k++) {
            const bool moves = part == BLOCKS && b.j[k] == row;
            if (border->mark[row] == AT || border->mark[b.j[k]] == AT)
                col[e] = first + b.j[k], val[e++] = b.a[k] + (moves ? border->moved[row] : 0);
        }
        for (; o < end; o++)
            col[e] = b.garray[b.oj[o]], val[e++] = b.oa[o];
        begin[row + 1] = e;
    }
    r.nnz = e;
    PetscCall(to_matrix(PetscObjectComm((PetscObject)border->A), &r, border->A->cmap->n, MATMPIAIJ, M));
    PetscFunctionReturn(0);
}

/* The rows of P near the border, in their places, as rows of all; columns of all ranks, of which the first of this one
 * is `first`. */
static PetscErrorCode take_near(const Border *border, const lsp_csr *P, PetscInt first, PetscInt all, lsp_csr *rows) {
    const lsp_csr_types types = {
        .rowptr_type = PLUGIN_INDEX, .col_type = PLUGIN_INDEX, .val_type = LSP_F64, .place = LSP_PLACE_HOST};
    const size_t bytes = (size_t)border->near * sizeof(PetscInt);
    PetscInt *list, count = 0;
    lsp_array there;
    lsp_csr some, here;

    PetscFunctionBegin;
    PetscCall(PetscMalloc1((size_t)border->near, &list));
    for (PetscInt row = 0; row < border->rows; row++)
        if (border->mark[row] != INNER)
            list[count++] = row;
    LSP_CALL(lsp_array_create(plugin_ctx, bytes, P->where, &there));
    LSP_CALL(lsp_array_copy(plugin_ctx, there.memory, P->where, list, LSP_HOST, bytes));
    const lsp_index_list wanted = {.list = there.memory, .count = count, .type = PLUGIN_INDEX};
    LSP_CALL(lsp_csr_extract(plugin_ctx, P, &wanted, NULL, &some));
    LSP_CALL(lsp_csr_copy(plugin_ctx, &some, &types, &here));
    LSP_CALL(lsp_csr_free(plugin_ctx, &some));
    lsp_array_free(&there);
    PetscCall(PetscFree(list));
    PetscCall(plugin_make_rows(border->rows, all, (PetscInt)here.nnz, rows));
    PetscInt *const begin = rows->rowptr, *const col = rows->col;
    PetscCall(PetscMemcpy(rows->val, here.val, (size_t)here.nnz * sizeof(PetscScalar)));
    for (int64_t k = 0; k < here.nnz; k++)
        col[k] = first + ((const PetscInt *)here.col)[k];
    begin[0] = 0;
    for (PetscInt row = 0, r = 0; row < border->rows; row++) {
        r += border->mark[row] != INNER;
        begin[row + 1] = ((const PetscInt *)here.rowptr)[r];
    }
    LSP_CALL(lsp_csr_free(plugin_ctx, &here));
    PetscFunctionReturn(0);
}

/* M's rows of this rank, in a matrix of our type. */
static PetscErrorCode to_ours(Mat *M) {
    const MPI_Comm comm = PetscObjectComm((PetscObject)*M);
    const PetscInt cols = (*M)->cmap->n;
    lsp_csr none;

    PetscFunctionBegin;
    PetscCall(plugin_make_rows((*M)->rmap->n, (*M)->cmap->N, 0, &none));
    PetscCall(PetscArrayzero((PetscInt *)none.rowptr, (*M)->rmap->n + 1));
    PetscCall(add_rows(1, &none, 1, M));
    PetscCall(to_matrix(comm, &none, cols, MATMPIAIJLSP, M));
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_smooth_border(const Border *border, const lsp_csr *P, PetscReal factor, Mat *W, lsp_csr *level) {
    const MPI_Comm comm = PetscObjectComm((PetscObject)border->A);
    const PetscInt coarse = (PetscInt)P->cols, all = (PetscInt)level->cols;
    PetscInt first = 0;
    lsp_csr rows[2];
    Vec scale;
    Mat F, A, blocks, near, smoothed, product;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Exscan(&coarse, &first, 1, MPIU_INT, MPI_SUM, comm));
    for (int k = 0; k < 2; k++)
        PetscCall(take_near(border, P, first, all, &rows[k]));
    PetscCall(to_matrix(comm, &rows[0], coarse, MATMPIAIJ, &near));
    PetscCall(make_part(border, COUPLINGS, &F));
    PetscCall(MatMatMult(F, near, MAT_INITIAL_MATRIX, 2, W));
    PetscCall(VecDuplicate(border->diagonal, &scale));
    PetscCall(VecCopy(border->diagonal, scale));
    PetscCall(VecReciprocal(scale));
    PetscCall(VecScale(scale, -factor));
    PetscCall(MatDiagonalScale(*W, scale, NULL));
    PetscCall(VecDestroy(&scale));
    PetscCall(to_ours(W));
    PetscCall(MatDuplicate(*W, MAT_COPY_VALUES, &product));
    PetscCall(add_rows(1, &rows[1], 1, &product));
    PetscCall(to_matrix(comm, &rows[1], coarse, MATMPIAIJ, &smoothed));
    PetscCall(make_part(border, ALL, &A));
    PetscCall(MatPtAP(A, smoothed, MAT_INITIAL_MATRIX, 2, &product));
    PetscCall(add_rows(1, level, 1, &product));
    PetscCall(make_part(border, BLOCKS, &blocks));
    PetscCall(MatPtAP(blocks, near, MAT_INITIAL_MATRIX, 2, &product));
    PetscCall(add_rows(1, level, -1, &product));
    for (Mat *M[] = {&F, &A, &blocks, &near, &smoothed, NULL}, **m = M; *m; m++)
        PetscCall(MatDestroy(*m));
    PetscFunctionReturn(0);
}
