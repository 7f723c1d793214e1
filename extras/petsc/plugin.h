/* plugin.h: what the parts of the PETSc plug-in share. One context serves all matrices of the process. */
#ifndef LSP_EXTRAS_PETSC_PLUGIN_H
#define LSP_EXTRAS_PETSC_PLUGIN_H

#include "libsparse.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

#define MATSEQAIJLSP "seqaijlsp"
#define MATMPIAIJLSP "mpiaijlsp"
#define PCLSP "lsp"

/* PETSc 3.23 hands a destructor the place of the pointer, and made PetscOptionItems a pointer. */
#if PETSC_VERSION_GE(3, 23, 0)
#define PLUGIN_MEMORY(handed) (*(void **)(handed))
#define PetscContainerSetUserDestroy PetscContainerSetCtxDestroy
typedef PetscOptionItems PluginOptions;
#else
#define PLUGIN_MEMORY(handed) (handed)
typedef PetscOptionItems *PluginOptions;
#endif

typedef struct PluginEvents {
    PetscLogEvent plan, mult, transposed, symbolic, numeric, setup, apply;
} PluginEvents;

extern lsp_ctx *plugin_ctx;     /* from the registration to PetscFinalize */
extern lsp_where plugin_device; /* where products of matrices and multigrid are made, and new vectors lie */
extern PluginEvents plugin_events;

/* Makes the library's refusal an error of PETSc, with its sentence. */
#define LSP_CALL(call)                                                                                                 \
    do {                                                                                                               \
        const lsp_status status_ = (call);                                                                             \
        PetscCheck(status_ == LSP_OK, PETSC_COMM_SELF, plugin_error(status_), "libsparse: %s",                         \
                   plugin_ctx ? lsp_last_error(plugin_ctx) : "PetscFinalize has ended its context");                   \
    } while (0)

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

#endif
