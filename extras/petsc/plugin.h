/* plugin.h: what the parts of the PETSc plug-in share. One context serves all matrices of the process. */
#ifndef LSP_EXTRAS_PETSC_PLUGIN_H
#define LSP_EXTRAS_PETSC_PLUGIN_H

#include "libsparse.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

#define MATSEQAIJLSP "seqaijlsp"
#define PCLSP "lsp"

typedef struct PluginEvents {
    PetscLogEvent plan, mult, transposed, symbolic, numeric, setup, apply;
} PluginEvents;

extern lsp_ctx *plugin_ctx; /* from the registration to PetscFinalize */
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

/* A view of the arrays of a matrix of type seqaij or of a kin of it, and its state. */
PetscErrorCode plugin_view(Mat A, lsp_csr *view, PluginState *state);
bool plugin_same_structure(const PluginState *a, const PluginState *b);
bool plugin_same_values(const PluginState *a, const PluginState *b);

PetscErrorCode plugin_convert(Mat A, MatType type, MatReuse reuse, Mat *B); /* from seqaij */
PetscErrorCode plugin_register_mat(void);
PetscErrorCode plugin_set_product(Mat C); /* MatProductSetFromOptions of our type */
PetscErrorCode plugin_create_pc(PC pc);

#endif
