/* device.c: where matrices and vectors lie. A matrix of our type has its arrays on the host, as all of PETSc expects;
 * on a GPU libsparse works on a copy, which hangs on the matrix. A product made there becomes the copy of its matrix
 * and is brought to the host once. All work is put on the stream of PETSc's device context. */
#include "plugin.h"
#include <petscdevice.h>

enum { COPYING_THREADS = 4 }; /* for a GPU: one does not fill its bus with pageable memory */

lsp_ctx *plugin_ctx;
lsp_where plugin_device;
PluginEvents plugin_events;

typedef struct Copy {
    lsp_csr csr;
    PluginState state; /* of the matrix, when it was copied */
} Copy;

/* ---- the context ------------------------------------------------------------------------------------------------- */

PetscErrorCode plugin_error(lsp_status status) {
    switch (status) {
    case LSP_ERR_MEMORY:
        return PETSC_ERR_MEM;
    case LSP_ERR_ARGUMENT:
    case LSP_ERR_FORMAT:
        return PETSC_ERR_ARG_WRONG;
    case LSP_ERR_UNSUPPORTED:
        return PETSC_ERR_SUP;
    case LSP_ERR_OVERFLOW:
        return PETSC_ERR_ARG_OUTOFRANGE;
    default:
        return PETSC_ERR_LIB;
    }
}

static lsp_ctx *beside_ctx;
static PetscDeviceContext beside;

static PetscErrorCode finish(void) {
    PetscFunctionBegin;
    lsp_ctx_destroy(plugin_ctx);
    lsp_ctx_destroy(beside_ctx);
    plugin_ctx = beside_ctx = NULL;
    if (beside)
        PetscCall(PetscDeviceContextDestroy(&beside));
    PetscFunctionReturn(0);
}

/* Takes the GPU and the stream of a context of PETSc, or of its current one; the first GPU if PETSc has no CUDA. */
static PetscErrorCode take_gpu(PetscDeviceContext context, lsp_ctx_options *options) {
    PetscFunctionBegin;
    (void)context;
    options->device = LSP_CUDA;
#if PetscDefined(HAVE_CUDA)
    PetscDevice device;
    PetscInt ordinal;
    void **stream;

    PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
    if (!context)
        PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextGetDevice(context, &device));
    PetscCall(PetscDeviceGetDeviceId(device, &ordinal));
    PetscCall(PetscDeviceContextGetStreamHandle(context, (void **)&stream));
    options->ordinal = (int)ordinal;
    options->stream = *stream ? *stream : (void *)1; /* cudaStreamLegacy: to the library NULL means none */
#endif
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_make_context(void) {
    const int gpus = lsp_cuda_device_count();
    PetscInt threads;
    char device[64] = "", error[256] = "";
    PetscBool cpu, cuda;

    PetscFunctionBegin;
    PetscCall(PetscStrncpy(device, PetscDefined(HAVE_CUDA) && gpus > 0 ? "cuda" : "cpu", sizeof device));
    PetscCall(PetscOptionsGetString(NULL, NULL, "-lsp_device", device, sizeof device, NULL));
    PetscCall(PetscStrcmp(device, "cpu", &cpu));
    PetscCall(PetscStrcmp(device, "cuda", &cuda));
    PetscCheck(cpu || (cuda && gpus > 0), PETSC_COMM_SELF, PETSC_ERR_SUP,
               "-lsp_device %s: needs cpu, or cuda where libsparse finds a GPU (it finds %d)", device, gpus);
    threads = cuda ? COPYING_THREADS : 1;
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-lsp_threads", &threads, NULL));
    PetscCheck(threads >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "-lsp_threads %" PetscInt_FMT ": needs 0 (all) or more", threads);
    lsp_ctx_options options = {.threads = (int)threads};
    if (cuda)
        PetscCall(take_gpu(NULL, &options));
    PetscCheck(lsp_ctx_create(&plugin_ctx, &options, error, sizeof error) == LSP_OK, PETSC_COMM_SELF, PETSC_ERR_LIB,
               "libsparse: %s", error);
    plugin_device = options.device;
    PetscCall(PetscRegisterFinalize(finish));
    PetscFunctionReturn(0);
}

static PetscErrorCode make_beside(PetscDeviceContext current) {
    lsp_ctx_options options = {.threads = 1};
    PetscDevice device;
    char error[256] = "";

    PetscFunctionBegin;
    PetscCall(PetscDeviceContextGetDevice(current, &device));
    PetscCall(PetscDeviceContextCreate(&beside));
    PetscCall(PetscDeviceContextSetStreamType(beside, PETSC_STREAM_NONBLOCKING));
    PetscCall(PetscDeviceContextSetDevice(beside, device));
    PetscCall(PetscDeviceContextSetUp(beside));
    PetscCall(take_gpu(beside, &options));
    PetscCheck(lsp_ctx_create(&beside_ctx, &options, error, sizeof error) == LSP_OK, PETSC_COMM_SELF, PETSC_ERR_LIB,
               "libsparse: %s", error);
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_fork(lsp_ctx **ctx) {
    PetscDeviceContext current;

    PetscFunctionBegin;
    PetscCall(PetscDeviceContextGetCurrentContext(&current));
    if (!beside_ctx)
        PetscCall(make_beside(current));
    PetscCall(PetscDeviceContextWaitForContext(beside, current));
    *ctx = beside_ctx;
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_join(void) {
    PetscDeviceContext current;

    PetscFunctionBegin;
    PetscCall(PetscDeviceContextGetCurrentContext(&current));
    PetscCall(PetscDeviceContextWaitForContext(current, beside));
    PetscFunctionReturn(0);
}

/* ---- what hangs on a matrix -------------------------------------------------------------------------------------- */

PetscErrorCode plugin_attached(Mat A, const char *name, size_t bytes, PetscErrorCode (*destroy)(void *),
                               void **memory) {
    PetscContainer container;

    PetscFunctionBegin;
    PetscCall(PetscObjectQuery((PetscObject)A, name, (PetscObject *)&container));
    if (container) {
        PetscCall(PetscContainerGetPointer(container, memory));
        PetscFunctionReturn(0);
    }
    PetscCall(PetscCalloc(bytes, memory));
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
    PetscCall(PetscContainerSetPointer(container, *memory));
    PetscCall(PetscContainerSetUserDestroy(container, destroy));
    PetscCall(PetscObjectCompose((PetscObject)A, name, (PetscObject)container));
    PetscCall(PetscContainerDestroy(&container));
    PetscFunctionReturn(0);
}

static PetscErrorCode destroy_copy(void *handed) {
    Copy *copy = PLUGIN_MEMORY(handed);

    PetscFunctionBegin;
    if (plugin_ctx) /* else it ended with the context */
        LSP_CALL(lsp_csr_free(plugin_ctx, &copy->csr));
    PetscCall(PetscFree(copy));
    PetscFunctionReturn(0);
}

static PetscErrorCode get_copy(Mat A, Copy **copy) {
    return plugin_attached(A, "lsp_copy", sizeof **copy, destroy_copy, (void **)copy);
}

/* ---- views and states -------------------------------------------------------------------------------------------- */

static PetscErrorCode host_view(Mat A, lsp_csr *view, PluginState *state) {
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

PetscErrorCode plugin_view(Mat A, lsp_where where, lsp_csr *view, PluginState *state) {
    Copy *copy;

    PetscFunctionBegin;
    PetscCall(host_view(A, view, state));
    if (where == LSP_HOST)
        PetscFunctionReturn(0);
    PetscCall(get_copy(A, &copy));
    if (!plugin_same_structure(&copy->state, state)) {
        const lsp_csr_types types = {
            .rowptr_type = view->rowptr_type, .col_type = view->col_type, .place = lsp_place_of(where)};
        copy->state = (PluginState){0};
        LSP_CALL(lsp_csr_free(plugin_ctx, &copy->csr));
        LSP_CALL(lsp_csr_copy(plugin_ctx, view, &types, &copy->csr));
    } else if (!plugin_same_values(&copy->state, state)) {
        LSP_CALL(lsp_array_copy(plugin_ctx, copy->csr.val, where, view->val, LSP_HOST,
                                (size_t)view->nnz * sizeof(PetscScalar)));
    }
    copy->state = *state;
    *view = copy->csr;
    PetscFunctionReturn(0);
}

bool plugin_same_structure(const PluginState *a, const PluginState *b) {
    return a->id == b->id && a->structure == b->structure && a->i == b->i && a->j == b->j;
}

bool plugin_same_values(const PluginState *a, const PluginState *b) {
    return plugin_same_structure(a, b) && a->values == b->values && a->a == b->a;
}

PetscErrorCode plugin_give_copy(Mat A, lsp_csr *given) {
    lsp_csr view;
    Copy *copy;

    PetscFunctionBegin;
    PetscCall(get_copy(A, &copy));
    LSP_CALL(lsp_csr_free(plugin_ctx, &copy->csr));
    copy->csr = *given;
    *given = (lsp_csr){0};
    PetscCall(host_view(A, &view, &copy->state));
    PetscFunctionReturn(0);
}

PetscErrorCode plugin_wrote_values(Mat A) {
    lsp_csr view;
    PluginState state;
    Copy *copy = NULL;

    PetscFunctionBegin;
    if (plugin_device == LSP_CUDA) {
        PetscCall(get_copy(A, &copy));
        PetscCall(host_view(A, &view, &state));
        LSP_CALL(lsp_array_copy(plugin_ctx, view.val, LSP_HOST, copy->csr.val, LSP_CUDA,
                                (size_t)view.nnz * sizeof(PetscScalar)));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    if (copy)
        PetscCall(host_view(A, &view, &copy->state));
    PetscFunctionReturn(0);
}

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

PetscErrorCode plugin_where(Vec x, Vec z, lsp_where *where) {
    const Vec both[] = {x, z};
    PetscBool cuda = PETSC_TRUE, bound = PETSC_FALSE;

    PetscFunctionBegin;
    for (int k = 0; k < 2 && cuda && !bound && plugin_device == LSP_CUDA; k++) {
        PetscCall(PetscObjectTypeCompareAny((PetscObject)both[k], &cuda, VECSEQCUDA, VECMPICUDA, ""));
        PetscCall(VecBoundToCPU(both[k], &bound));
    }
    *where = cuda && !bound ? plugin_device : LSP_HOST;
    PetscFunctionReturn(0);
}
