/* pc.c: the preconditioner lsp: one cycle of the library's multigrid. For a matrix of one rank its block size says how
 * many unknowns a node has, and MatSetNearNullSpace which vectors coarse levels must hold. Several ranks: pc_ranks.c.
 */
#include "pc.h"

static void drop_hierarchy(Hierarchy *h) {
    lsp_multigrid_destroy(h->multigrid);
    h->multigrid = NULL;
    lsp_array_free(&h->near_null);
    lsp_array_free(&h->b);
    lsp_array_free(&h->x);
}

static PetscErrorCode reset(PC pc) {
    Hierarchy *h = pc->data;

    PetscFunctionBegin;
    drop_hierarchy(h);
    PetscCall(PCDestroy(&h->grids));
    if (plugin_ctx) /* else it ended with the context */
        LSP_CALL(lsp_csr_free(plugin_ctx, &h->all));
    PetscCall(VecDestroy(&h->all_b));
    PetscCall(VecDestroy(&h->all_x));
    PetscCall(VecScatterDestroy(&h->to_all));
    PetscFunctionReturn(0);
}

static PetscErrorCode destroy(PC pc) {
    PetscFunctionBegin;
    PetscCall(reset(pc));
    PetscCall(PetscFree(pc->data));
    PetscFunctionReturn(0);
}

/* The matrix if it is of one rank; else NULL. */
static PetscErrorCode matrix_of_one(PC pc, Mat *A) {
    PetscBool sequential, parallel;
    PetscMPIInt ranks;

    PetscFunctionBegin;
    *A = pc->pmat;
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)*A, MATSEQAIJ, &sequential));
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)*A, MATMPIAIJ, &parallel));
    PetscCheck(sequential || parallel, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
               "-pc_type lsp takes a matrix of type seqaij or mpiaij, or their kin, not %s",
               ((PetscObject)*A)->type_name);
    if (!parallel)
        PetscFunctionReturn(0);
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &ranks));
    *A = NULL;
    if (ranks == 1)
        PetscCall(MatMPIAIJGetSeqAIJ(pc->pmat, A, NULL, NULL));
    PetscFunctionReturn(0);
}

static PetscErrorCode set_up_one(PC pc, Mat A) {
    Hierarchy *h = pc->data;
    PluginState state;
    lsp_csr view;

    PetscFunctionBegin;
    PetscCall(plugin_view(A, plugin_device, &view, &state));
    if (h->multigrid && plugin_same_structure(&h->state, &state)) {
        LSP_CALL(lsp_multigrid_update(h->multigrid, &view));
    } else {
        PetscInt block;
        drop_hierarchy(h);
        PetscCall(MatGetBlockSize(pc->pmat, &block));
        h->options.block = block;
        PetscCall(plugin_get_near_null(pc->pmat, h));
        LSP_CALL(lsp_multigrid_create(plugin_ctx, &view, &h->options, &h->multigrid));
    }
    h->state = state;
    h->rows = view.rows;
    PetscFunctionReturn(0);
}

static PetscErrorCode set_up(PC pc) {
    const Hierarchy *h = pc->data;
    Mat A;

    PetscFunctionBegin;
    if (h->to_all) /* made with its grid */
        PetscFunctionReturn(0);
    PetscCall(matrix_of_one(pc, &A));
    PetscCall(PetscLogEventBegin(plugin_events.setup, pc, 0, 0, 0));
    PetscCall(A ? set_up_one(pc, A) : plugin_set_up_ranks(pc));
    PetscCall(PetscLogEventEnd(plugin_events.setup, pc, 0, 0, 0));
    PetscFunctionReturn(0);
}

/* Vectors lie where the hierarchy is. */
static PetscErrorCode cycle_there(Hierarchy *h, Vec b, Vec x) {
    const PetscScalar *input;
    PetscScalar *output;

    PetscFunctionBegin;
    PetscCall(VecGetArrayReadAndMemType(b, &input, NULL));
    PetscCall(VecGetArrayWriteAndMemType(x, &output, NULL));
    PetscCall(PetscLogGpuTimeBegin());
    LSP_CALL(lsp_multigrid_apply(h->multigrid, input, output));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(VecRestoreArrayWriteAndMemType(x, &output));
    PetscCall(VecRestoreArrayReadAndMemType(b, &input));
    PetscFunctionReturn(0);
}

/* Vectors of the host for a hierarchy on a GPU. */
static PetscErrorCode cycle_away(Hierarchy *h, Vec b, Vec x) {
    const size_t bytes = (size_t)h->rows * sizeof(PetscScalar);
    const PetscScalar *input;
    PetscScalar *output;

    PetscFunctionBegin;
    if (!h->b.memory)
        LSP_CALL(lsp_array_create(plugin_ctx, bytes, plugin_device, &h->b));
    if (!h->x.memory)
        LSP_CALL(lsp_array_create(plugin_ctx, bytes, plugin_device, &h->x));
    PetscCall(VecGetArrayRead(b, &input));
    LSP_CALL(lsp_array_copy(plugin_ctx, h->b.memory, plugin_device, input, LSP_HOST, bytes));
    PetscCall(VecRestoreArrayRead(b, &input));
    LSP_CALL(lsp_multigrid_apply(h->multigrid, h->b.memory, h->x.memory));
    PetscCall(VecGetArrayWrite(x, &output));
    LSP_CALL(lsp_array_copy(plugin_ctx, output, LSP_HOST, h->x.memory, plugin_device, bytes));
    PetscCall(VecRestoreArrayWrite(x, &output));
    PetscFunctionReturn(0);
}

static PetscErrorCode cycle(Hierarchy *h, Vec b, Vec x) {
    lsp_where where;

    PetscFunctionBegin;
    PetscCall(plugin_where(b, x, &where));
    PetscCall(where == plugin_device ? cycle_there(h, b, x) : cycle_away(h, b, x));
    PetscFunctionReturn(0);
}

static PetscErrorCode apply_one(Mat A, Hierarchy *h, Vec b, Vec x) {
    PluginState now;
    lsp_csr view;

    PetscFunctionBegin;
    PetscCall(plugin_view(A, plugin_device, &view, &now)); /* the finest level reads its arrays */
    PetscCheck(plugin_same_structure(&h->state, &now) && h->state.a == now.a, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
               "The structure of the matrix has changed since PCSetUp");
    PetscCall(cycle(h, b, x));
    PetscFunctionReturn(0);
}

/* A cycle for the whole matrix; its part of this rank is x. */
static PetscErrorCode apply_gathered(Hierarchy *h, Vec b, Vec x) {
    const PetscScalar *from;
    PetscScalar *to;
    PetscMemType type[2];
    PetscInt first, count;

    PetscFunctionBegin;
    PetscCall(VecScatterBegin(h->to_all, b, h->all_b, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(h->to_all, b, h->all_b, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(cycle(h, h->all_b, h->all_x));
    PetscCall(VecGetOwnershipRange(x, &first, NULL));
    PetscCall(VecGetLocalSize(x, &count));
    PetscCall(VecGetArrayReadAndMemType(h->all_x, &from, &type[0]));
    PetscCall(VecGetArrayWriteAndMemType(x, &to, &type[1]));
    LSP_CALL(lsp_array_copy(plugin_ctx, to, PetscMemTypeHost(type[1]) ? LSP_HOST : LSP_CUDA, from + first,
                            PetscMemTypeHost(type[0]) ? LSP_HOST : LSP_CUDA, (size_t)count * sizeof *to));
    PetscCall(VecRestoreArrayWriteAndMemType(x, &to));
    PetscCall(VecRestoreArrayReadAndMemType(h->all_x, &from));
    PetscFunctionReturn(0);
}

static PetscErrorCode apply(PC pc, Vec b, Vec x) {
    Hierarchy *h = pc->data;
    Mat A;

    PetscFunctionBegin;
    if (h->to_all) {
        PetscCall(apply_gathered(h, b, x));
        PetscFunctionReturn(0);
    }
    PetscCall(matrix_of_one(pc, &A));
    PetscCall(PetscLogEventBegin(plugin_events.apply, pc, b, x, 0));
    PetscCall(A ? apply_one(A, h, b, x) : PCApply(h->grids, b, x));
    PetscCall(PetscLogEventEnd(plugin_events.apply, pc, b, x, 0));
    PetscFunctionReturn(0);
}

static PetscErrorCode set_from_options(PC pc, PluginOptions PetscOptionsObject) {
    static const char *const smoothers[] = {"jacobi", "chebyshev"}, *const cycles[] = {"v", "w"};
    lsp_multigrid_options *options = &((Hierarchy *)pc->data)->options;
    PetscInt smoother = (PetscInt)options->smoother, cycle = (PetscInt)options->cycle, sweeps = options->sweeps;
    PetscInt coarsest = (PetscInt)options->coarsest;
    PetscReal threshold = options->threshold, complexity = options->complexity;
    PetscBool single = options->level_values == LSP_F32 ? PETSC_TRUE : PETSC_FALSE;

    PetscFunctionBegin;
    PetscOptionsHeadBegin(PetscOptionsObject, "libsparse multigrid");
    PetscCall(PetscOptionsReal("-pc_lsp_threshold", "Smaller entries are weak", NULL, threshold, &threshold, NULL));
    PetscCall(
        PetscOptionsEList("-pc_lsp_smoother", "Smoother", NULL, smoothers, 2, smoothers[smoother], &smoother, NULL));
    PetscCall(PetscOptionsInt("-pc_lsp_sweeps", "Sweeps, or degree; 0: usual", NULL, sweeps, &sweeps, NULL));
    PetscCall(PetscOptionsEList("-pc_lsp_cycle", "Cycle", NULL, cycles, 2, cycles[cycle], &cycle, NULL));
    PetscCall(PetscOptionsInt("-pc_lsp_coarsest", "Unknowns solved directly", NULL, coarsest, &coarsest, NULL));
    PetscCall(PetscOptionsReal("-pc_lsp_complexity", "Most of all levels", NULL, complexity, &complexity, NULL));
    PetscCall(PetscOptionsBool("-pc_lsp_single", "Coarse levels in single precision", NULL, single, &single, NULL));
    PetscOptionsHeadEnd();
    options->threshold = threshold;
    options->smoother = (lsp_smoother)smoother;
    options->sweeps = (int)sweeps;
    options->cycle = (lsp_cycle)cycle;
    options->coarsest = coarsest;
    options->complexity = complexity;
    options->level_values = single ? LSP_F32 : LSP_NONE;
    PetscFunctionReturn(0);
}

static PetscErrorCode view_pc(PC pc, PetscViewer viewer) {
    const Hierarchy *h = pc->data;
    lsp_multigrid_info info;
    PetscBool ascii;

    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
    if (ascii && h->grids) {
        PetscCall(PetscViewerASCIIPrintf(viewer, "  libsparse multigrid on several ranks, two grids:\n"));
        PetscCall(PetscViewerASCIIPushTab(viewer));
        PetscCall(PCView(h->grids, viewer));
        PetscCall(PetscViewerASCIIPopTab(viewer));
        PetscFunctionReturn(0);
    }
    if (!ascii || !h->multigrid)
        PetscFunctionReturn(0);
    LSP_CALL(lsp_multigrid_get_info(h->multigrid, &info));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  libsparse multigrid: %d levels, operator complexity %.3g, %lld bytes\n",
                                     info.levels, info.operator_complexity, (long long)info.bytes));
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_create_pc(PC pc) {
    Hierarchy *h;

    PetscFunctionBegin;
    PetscCall(PetscNew(&h));
    pc->data = h;
    pc->ops->setup = set_up, pc->ops->apply = apply, pc->ops->setfromoptions = set_from_options;
    pc->ops->view = view_pc, pc->ops->reset = reset, pc->ops->destroy = destroy;
    PetscFunctionReturn(0);
}
