/* The engines of the CPU. */
#ifndef LSP_SPMV_CPU_CPU_H
#define LSP_SPMV_CPU_CPU_H

#include "spmv/spmv.h"

extern const lsp_spmv_engine lsp_spmv_rows_cpu; /* also LSP_SPMV_EQUAL: it balances by entries */

#endif
