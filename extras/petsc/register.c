/* register.c: what PETSc calls when it loads the plug-in. It registers the types and events. */
#include "plugin.h"

static PetscErrorCode check_petsc(void) {
    PetscInt major, minor;

    PetscFunctionBegin;
    PetscCheck(!PetscDefined(USE_COMPLEX) && PetscDefined(USE_REAL_DOUBLE), PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The libsparse plug-in needs a PETSc whose PetscScalar is double: its vectors are not complex");
    PetscCall(PetscGetVersionNumber(&major, &minor, NULL, NULL));
    PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "The libsparse plug-in was built for PETSc %d.%d, and this is %" PetscInt_FMT ".%" PetscInt_FMT,
               PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, major, minor);
    PetscFunctionReturn(0);
}

/* PETSc finds it by the name of the file, liblsp_petsc.so. */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_lsp_petsc(void) {
    PetscFunctionBegin;
    if (plugin_ctx) /* loaded twice */
        PetscFunctionReturn(0);
    PetscCall(check_petsc());
    PetscCall(plugin_make_context());
    PetscCall(plugin_register_mat());
    PetscCall(plugin_register_mpi());
    PetscCall(PCRegister(PCLSP, plugin_create_pc));
    PetscCall(PetscLogEventRegister("LSP PCSetUp", PC_CLASSID, &plugin_events.setup));
    PetscCall(PetscLogEventRegister("LSP PCApply", PC_CLASSID, &plugin_events.apply));
    PetscCall(PetscLogEventRegister("LSP Plan", MAT_CLASSID, &plugin_events.plan));
    PetscCall(PetscLogEventRegister("LSP MatMult", MAT_CLASSID, &plugin_events.mult));
    PetscCall(PetscLogEventRegister("LSP MatMultTr", MAT_CLASSID, &plugin_events.transposed));
    PetscCall(PetscLogEventRegister("LSP Symbolic", MAT_CLASSID, &plugin_events.symbolic));
    PetscCall(PetscLogEventRegister("LSP Numeric", MAT_CLASSID, &plugin_events.numeric));
    PetscFunctionReturn(0);
}
