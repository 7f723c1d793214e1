/* The levels. */
#include "multigrid.h"

#include <stdio.h>

lsp_status lsp_multigrid_set_up(lsp_multigrid *m, const lsp_csr *A) {
    m->levels = 1;
    m->level[0].A = *A;
    snprintf(m->info.reason, sizeof m->info.reason, "no coarser level is made yet");
    return LSP_OK;
}
lsp_status lsp_multigrid_refill(lsp_multigrid *m, const lsp_csr *A) {
    m->level[0].A = *A;
    return LSP_OK;
}
