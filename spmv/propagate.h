/* LSP_SPMV_PROPAGATE: y = A*x by way of shared memory, or of a core's cache, for random columns and an x that no cache
 * holds. x is cut into slices, the entries of A into bins of consecutive rows. Phase 1 goes slice by slice and leaves
 * what each entry needs of x in a contiguous order; phase 2 brings it to the rows, bin by bin. */
#ifndef LSP_SPMV_PROPAGATE_H
#define LSP_SPMV_PROPAGATE_H

#include "spmv.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const lsp_spmv_engine lsp_spmv_propagate_cpu, lsp_spmv_propagate_cuda;

/* Elements of x in a slice, and the most entries of a bin, as multiples of 64. 0: the device decides. */
typedef struct lsp_propagate_sizes {
    int64_t columns, entries;
} lsp_propagate_sizes;

/* Prepares a plan of this method with other sizes, so that a small matrix has many slices and bins. For tests. */
lsp_status lsp_spmv_propagate_resize_cpu(lsp_spmv_plan *plan, const lsp_propagate_sizes *sizes);
lsp_status lsp_spmv_propagate_resize_cuda(lsp_spmv_plan *plan, const lsp_propagate_sizes *sizes);

#ifdef __cplusplus
}
#endif
#endif
