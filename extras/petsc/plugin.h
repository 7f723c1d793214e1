/* plugin.h: what the parts of the PETSc plug-in share. One context serves all matrices of the process. */
#pragma once

#include "libsparse.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

#define MATSEQAIJLSP "seqaijlsp"
#define MATMPIAIJLSP "mpiaijlsp"
#define PCLSP "lsp"

/* PETSc 3.23 hands a destructor the place of the pointer, and made PetscOptionItems a pointer; 3.21 renamed streams. */
#if PETSC_VERSION_GE(3, 23, 0)
#define PLUGIN_MEMORY(handed) (*(void **)(handed))
#define PetscContainerSetUserDestroy PetscContainerSetCtxDestroy
typedef PetscOptionItems PluginOptions;
#else
#define PLUGIN_MEMORY(handed) (handed)
typedef PetscOptionItems *PluginOptions;
#endif

#if !PETSC_VERSION_GE(3, 21, 0)
#define PETSC_STREAM_NONBLOCKING PETSC_STREAM_GLOBAL_NONBLOCKING
#endif

typedef struct PluginEvents {
    PetscLogEvent plan, mult, transposed, symbolic, numeric, setup, apply;
} PluginEvents;

extern lsp_ctx *plugin_ctx;     /* from the registration to PetscFinalize */
extern lsp_where plugin_device; /* where products of matrices and multigrid are made, and new vectors lie */
extern PluginEvents plugin_events;

/* Makes the library's refusal, by a context or the usual one, an error of PETSc, with its sentence. */
#define LSP_CALL_BY(ctx, call)                                                                                         \
    do {                                                                                                               \
        const lsp_status status_ = (call);                                                                             \
        PetscCheck(status_ == LSP_OK, PETSC_COMM_SELF, plugin_error(status_), "libsparse: %s",                         \
                   (ctx) ? lsp_last_error(ctx) : "PetscFinalize has ended its context");                               \
    } while (0)
#define LSP_CALL(call) LSP_CALL_BY(plugin_ctx, call)

PetscErrorCode plugin_error(lsp_status status);

/* Which matrix, and which state of it. The address of a matrix may return after its end; its id does not. */
typedef struct PluginState {
    PetscObjectId id;
    PetscObjectState structure, values;
    const void *i, *j, *a;
} PluginState;

/* A view of the arrays of a matrix of type seqaij or of a kin of it, and its state. On a GPU it is of a copy that hangs
 * on the matrix and is renewed when the state is another one. */
PetscErrorCode plugin_view(Mat A, lsp_where where, lsp_csr *view, PluginState *state);
bool plugin_same_structure(const PluginState *a, const PluginState *b);
bool plugin_same_values(const PluginState *a, const PluginState *b);

/* `copy`, on the GPU, holds what A holds: it becomes A's copy there, and is zeroed. */
PetscErrorCode plugin_give_copy(Mat A, lsp_csr *copy);

/* Tells PETSc of new values in A that were written into a view of plugin_device, and brings them to the host. */
PetscErrorCode plugin_wrote_values(Mat A);

/* Whether both vectors lie on the GPU of the plug-in. */
PetscErrorCode plugin_where(Vec x, Vec z, lsp_where *where);

/* A context beside PETSc's stream, for which the MPI waits when it copies between GPUs. _fork: its next work waits for
 * what PETSc has begun; makes it the first time. _join: PETSc's next work waits for it. */
PetscErrorCode plugin_fork(lsp_ctx **ctx);
PetscErrorCode plugin_join(void);

/* z = A*x, or z + A*x, of vectors on the GPU, by that context. */
PetscErrorCode plugin_multiply_beside(Mat A, bool adds, Vec x, Vec z);

/* z = A*x, or z + A*x, by a plan of plugin_ctx, `where` all vectors lie. */
PetscErrorCode plugin_execute(lsp_spmv_plan *plan, lsp_where where, bool adds, Vec x, Vec z);

/* The zeroed memory that hangs on a matrix under this name; made the first time. `destroy` frees what is in it. */
PetscErrorCode plugin_attached(Mat A, const char *name, size_t bytes, PetscErrorCode (*destroy)(void *), void **memory);

PetscErrorCode plugin_make_context(void);
void plugin_set_vector_ops(Mat A, bool ours);
void plugin_keep_vector_ops(Mat A); /* of seqaij, for the products that PETSc makes */
PetscErrorCode plugin_convert(Mat A, MatType type, MatReuse reuse, Mat *B); /* from seqaij */
PetscErrorCode plugin_register_mat(void);
PetscErrorCode plugin_register_mpi(void);
PetscErrorCode plugin_set_product(Mat C);         /* MatProductSetFromOptions of our type */
PetscErrorCode plugin_set_foreign_product(Mat C); /* of ours with others */
PetscErrorCode plugin_create_pc(PC pc);
