/* The engines of the CPU. */
#ifndef LSP_SPMV_CPU_CPU_H
#define LSP_SPMV_CPU_CPU_H

#include "spmv/spmv.h"

extern const lsp_spmv_engine lsp_spmv_rows_cpu; /* also LSP_SPMV_EQUAL: it balances by entries */
extern const lsp_spmv_engine lsp_spmv_gather_cpu;

/* Do the columns look random, and is a vector of such items larger than 4 MB? Then x is prefetched. */
bool lsp_spmv_reads_at_random(const lsp_csr *A, size_t item_bytes);

#endif
