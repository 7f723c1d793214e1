/* pc_border.c: where the blocks of ranks meet, for the preconditioner lsp on several ranks. Its matrices have the rows
 * near the border alone, by numbers of their own. Whether a row has neighbours is asked by rows, as if A had a
 * symmetric pattern. */
#include "pc_ranks.h"

/* Of what a row has in other blocks; with all of it a block without a boundary of its own would be singular. With
 * several unknowns a node nothing is moved: blocks might not stay positive definite. */
static const PetscReal moved_share = 0.999;

enum {
    INNER = 0,
    NEAR = 1,
    AT = 2
}; /* Border.mark: AT: has entries in other blocks, or they have some in its column;
      NEAR: in its column such a row has an entry */

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

/* The rows of this rank, for the caller; M is destroyed. */
static PetscErrorCode take_rows(Mat *M, lsp_csr *rows) {
    PluginState state;
    lsp_csr view;
    Mat local;

    PetscFunctionBegin;
    PetscCall(MatMPIAIJGetLocalMat(*M, MAT_INITIAL_MATRIX, &local));
    PetscCall(plugin_view(local, LSP_HOST, &view, &state));
    LSP_CALL(lsp_csr_copy(plugin_ctx, &view, NULL, rows));
    PetscCall(MatDestroy(&local));
    PetscCall(MatDestroy(M));
    PetscFunctionReturn(0);
}

/* A = A + factor*B, of rows that begin alike; B is freed. */
static PetscErrorCode add_rows(lsp_csr *A, double factor, lsp_csr *B) {
    lsp_csr sum;

    PetscFunctionBegin;
    LSP_CALL(lsp_csr_add(plugin_ctx, 1, A, factor, B, &sum));
    LSP_CALL(lsp_csr_free(plugin_ctx, A));
    LSP_CALL(lsp_csr_free(plugin_ctx, B));
    *A = sum;
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
    PetscCall(VecCreateMPI(PetscObjectComm((PetscObject)border->A), border->rows, PETSC_DETERMINE, &touched));
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
    PetscFunctionReturn(0);
}

/* Tells the numbers of this rank's rows to others: border->outer. */
static PetscErrorCode tell_places(Border *border, const Blocks *b) {
    VecScatter scatter;
    PetscScalar *place;
    IS from;
    Vec here, outer;

    PetscFunctionBegin;
    PetscCall(VecCreateMPI(PetscObjectComm((PetscObject)border->A), border->rows, PETSC_DETERMINE, &here));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, (PetscInt)b->outer.cols, &outer));
    PetscCall(VecGetArray(here, &place));
    for (PetscInt row = 0; row < border->rows; row++)
        place[row] = border->place[row];
    PetscCall(VecRestoreArray(here, &place));
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, (PetscInt)b->outer.cols, b->garray, PETSC_COPY_VALUES, &from));
    PetscCall(VecScatterCreate(here, from, outer, NULL, &scatter));
    PetscCall(VecScatterBegin(scatter, here, outer, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter, here, outer, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecGetArray(outer, &place));
    for (PetscInt k = 0; k < b->outer.cols; k++)
        border->outer[k] = (PetscInt)place[k];
    PetscCall(VecRestoreArray(outer, &place));
    PetscCall(VecScatterDestroy(&scatter));
    PetscCall(ISDestroy(&from));
    PetscCall(VecDestroy(&here));
    PetscCall(VecDestroy(&outer));
    PetscFunctionReturn(0);
}

static PetscErrorCode number_rows(Border *border, const Blocks *b) {
    const MPI_Comm comm = PetscObjectComm((PetscObject)border->A);
    PetscInt place = 0;

    PetscFunctionBegin;
    for (PetscInt row = 0; row < border->rows; row++)
        border->near += border->mark[row] != INNER;
    PetscCallMPI(MPI_Exscan(&border->near, &place, 1, MPIU_INT, MPI_SUM, comm));
    PetscCallMPI(MPI_Allreduce(&border->near, &border->all, 1, MPIU_INT, MPI_SUM, comm));
    PetscCall(PetscMalloc2((size_t)border->near, &border->list, (size_t)b->outer.cols, &border->outer));
    for (PetscInt row = 0, n = 0; row < border->rows; row++) {
        border->place[row] = border->mark[row] != INNER ? place++ : -1;
        if (border->mark[row] != INNER)
            border->list[n++] = row;
    }
    PetscCall(tell_places(border, b));
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_find_border(Mat A, PetscInt unknowns, Border *border) {
    const PetscScalar *d;
    Blocks b;

    PetscFunctionBegin;
    *border = (Border){.A = A, .rows = A->rmap->n};
    PetscCall(get_blocks(A, &b));
    PetscCall(PetscMalloc3((size_t)border->rows, &border->moved, (size_t)border->rows, &border->place,
                           (size_t)border->rows, &border->mark));
    PetscCall(mark_rows(border, &b));
    PetscCall(number_rows(border, &b));
    PetscCall(MatCreateVecs(A, NULL, &border->diagonal));
    PetscCall(MatGetDiagonal(A, border->diagonal));
    PetscCall(VecGetArrayRead(border->diagonal, &d));
    for (PetscInt row = 0; row < border->rows; row++) {
        PetscScalar sum = 0;
        for (PetscInt k = b.oi[row]; k < b.oi[row + 1]; k++)
            sum += moved_share * b.oa[k];
        border->moved[row] = unknowns == 1 && d[row] > 0 && d[row] + sum > 0 ? sum : 0;
    }
    PetscCall(VecRestoreArrayRead(border->diagonal, &d));
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_leave_border(Border *border) {
    PetscFunctionBegin;
    PetscCall(PetscFree3(border->moved, border->place, border->mark));
    PetscCall(PetscFree2(border->list, border->outer));
    PetscCall(VecDestroy(&border->diagonal));
    PetscFunctionReturn(0);
}

/* ---- matrices of the border -------------------------------------------------------------------------------------- */

/* What to take of A. COUPLINGS: what has its row AT the border and its column in another block, and on the diagonal
 * less what is moved there. ALL: what has its row or its column AT the border. BLOCKS: the same of the blocks alone,
 * with what is moved. So COUPLINGS are ALL without BLOCKS. */
typedef enum Part { COUPLINGS, ALL, BLOCKS } Part;

static PetscErrorCode make_part(const Border *border, Part part, Mat *M) {
    const PetscInt *const outer = border->outer, *const place = border->place;
    PetscInt most = 0, e = 0;
    lsp_csr r;
    Blocks b;

    PetscFunctionBegin;
    PetscCall(get_blocks(border->A, &b));
    for (PetscInt n = 0; n < border->near; n++) {
        const PetscInt row = border->list[n];
        most += b.i[row + 1] - b.i[row] + b.oi[row + 1] - b.oi[row] + 1;
    }
    PetscCall(plugin_make_rows(border->near, border->all, most, &r));
    PetscInt *const begin = r.rowptr, *const col = r.col;
    PetscScalar *const val = r.val;
    begin[0] = 0;
    for (PetscInt n = 0; n < border->near; n++) {
        const PetscInt row = border->list[n], end = part != BLOCKS ? b.oi[row + 1] : b.oi[row];
        PetscInt o = b.oi[row];

        for (; o < end && outer[b.oj[o]] < place[row]; o++)
            col[e] = outer[b.oj[o]], val[e++] = b.oa[o];
        if (part == COUPLINGS && border->moved[row] != 0)
            col[e] = place[row], val[e++] = -border->moved[row];
        for (PetscInt k = b.i[row]; part != COUPLINGS && k < b.i[row + 1]; k++) {
            const bool moves = part == BLOCKS && b.j[k] == row;
            if (border->mark[row] == AT || border->mark[b.j[k]] == AT)
                col[e] = place[b.j[k]], val[e++] = b.a[k] + (moves ? border->moved[row] : 0);
        }
        for (; o < end; o++)
            col[e] = outer[b.oj[o]], val[e++] = b.oa[o];
        begin[n + 1] = e;
    }
    r.nnz = e;
    PetscCall(to_matrix(PetscObjectComm((PetscObject)border->A), &r, border->near, MATMPIAIJ, M));
    PetscFunctionReturn(0);
}

/* Copies the rows of P near the border. Their columns are numbered over all ranks: this rank's begin at `first`. */
static PetscErrorCode take_near(const Border *border, const lsp_csr *P, PetscInt first, PetscInt all, lsp_csr *rows) {
    const lsp_csr_types types = {
        .rowptr_type = PLUGIN_INDEX, .col_type = PLUGIN_INDEX, .val_type = LSP_F64, .place = LSP_PLACE_HOST};
    const size_t bytes = (size_t)border->near * sizeof(PetscInt);
    lsp_array there;
    lsp_csr some;

    PetscFunctionBegin;
    if (border->near == 0) { /* a list of no row is NULL, which stands for all rows */
        PetscCall(plugin_make_rows(0, all, 0, rows));
        *(PetscInt *)rows->rowptr = 0;
        PetscFunctionReturn(0);
    }
    LSP_CALL(lsp_array_create(plugin_ctx, bytes, P->where, &there));
    LSP_CALL(lsp_array_copy(plugin_ctx, there.memory, P->where, border->list, LSP_HOST, bytes));
    const lsp_index_list wanted = {.list = there.memory, .count = border->near, .type = PLUGIN_INDEX};
    LSP_CALL(lsp_csr_extract(plugin_ctx, P, &wanted, NULL, &some));
    LSP_CALL(lsp_csr_copy(plugin_ctx, &some, &types, rows));
    LSP_CALL(lsp_csr_free(plugin_ctx, &some));
    lsp_array_free(&there);
    PetscInt *const col = rows->col;
    for (int64_t k = 0; k < rows->nnz; k++)
        col[k] += first;
    rows->cols = all;
    PetscFunctionReturn(0);
}

/* Row n times -factor / the diagonal. */
static PetscErrorCode scale_rows(const Border *border, PetscReal factor, lsp_csr *M) {
    const PetscInt *const begin = M->rowptr;
    PetscScalar *const val = M->val;
    const PetscScalar *d;

    PetscFunctionBegin;
    PetscCall(VecGetArrayRead(border->diagonal, &d));
    for (PetscInt n = 0; n < border->near; n++)
        for (PetscInt k = begin[n]; k < begin[n + 1]; k++)
            val[k] *= -factor / d[border->list[n]];
    PetscCall(VecRestoreArrayRead(border->diagonal, &d));
    PetscFunctionReturn(0);
}

/* A matrix of our type with all rows of A by those near the border, which it frees. */
static PetscErrorCode spread(const Border *border, lsp_csr *near, PetscInt coarse, Mat *W) {
    const PetscInt *const from = near->rowptr;
    lsp_csr rows;

    PetscFunctionBegin;
    PetscCall(plugin_make_rows(border->rows, (PetscInt)near->cols, (PetscInt)near->nnz, &rows));
    PetscInt *const begin = rows.rowptr;
    PetscCall(PetscMemcpy(rows.col, near->col, (size_t)near->nnz * sizeof(PetscInt)));
    PetscCall(PetscMemcpy(rows.val, near->val, (size_t)near->nnz * sizeof(PetscScalar)));
    begin[0] = 0;
    for (PetscInt row = 0, n = 0; row < border->rows; row++) {
        n += border->mark[row] != INNER;
        begin[row + 1] = from[n];
    }
    LSP_CALL(lsp_csr_free(plugin_ctx, near));
    PetscCall(to_matrix(PetscObjectComm((PetscObject)border->A), &rows, coarse, MATMPIAIJLSP, W));
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_smooth_border(const Border *border, const lsp_csr *P, PetscReal factor, Mat *W, lsp_csr *level) {
    const MPI_Comm comm = PetscObjectComm((PetscObject)border->A);
    const PetscInt coarse = (PetscInt)P->cols, all = (PetscInt)level->cols;
    PetscInt first = 0;
    lsp_csr near, w, rows, more;
    Mat F, A, blocks, plain, smoothed, product;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Exscan(&coarse, &first, 1, MPIU_INT, MPI_SUM, comm));
    PetscCall(make_part(border, COUPLINGS, &F));
    PetscCall(make_part(border, ALL, &A));
    PetscCall(make_part(border, BLOCKS, &blocks));
    PetscCall(take_near(border, P, first, all, &near));
    LSP_CALL(lsp_csr_copy(plugin_ctx, &near, NULL, &rows));
    PetscCall(to_matrix(comm, &rows, coarse, MATMPIAIJ, &plain));
    PetscCall(MatMatMult(F, plain, MAT_INITIAL_MATRIX, 2, &product));
    PetscCall(take_rows(&product, &w));
    PetscCall(scale_rows(border, factor, &w));
    LSP_CALL(lsp_csr_copy(plugin_ctx, &w, NULL, &rows));
    PetscCall(spread(border, &rows, coarse, W));
    PetscCall(add_rows(&near, 1, &w));
    PetscCall(to_matrix(comm, &near, coarse, MATMPIAIJ, &smoothed));
    PetscCall(MatPtAP(A, smoothed, MAT_INITIAL_MATRIX, 2, &product));
    PetscCall(take_rows(&product, &rows));
    PetscCall(MatPtAP(blocks, plain, MAT_INITIAL_MATRIX, 2, &product));
    PetscCall(take_rows(&product, &more));
    PetscCall(add_rows(&rows, -1, &more));
    PetscCall(add_rows(level, 1, &rows));
    for (Mat *M[] = {&F, &A, &blocks, &plain, &smoothed, NULL}, **m = M; *m; m++)
        PetscCall(MatDestroy(*m));
    PetscFunctionReturn(0);
}
