/* libsparse: sparse linear algebra built on segmented sort, for a CPU and for NVIDIA GPUs.
 *
 * Includes all of the library's headers. Each of them can also be included alone:
 *     libsparse/core.h      status, context, types of values
 *     libsparse/matrix.h    matrices by rows: made, checked, converted, compared, generated
 *     libsparse/matrix_values.h   values scaled, mapped, combined and reduced; diagonals
 *     libsparse/matrix_forms.h    parts, stacks, triples, columns, dense arrays, arrays of another owner
 *     libsparse/mtx.h       Matrix Market files
 *     libsparse/segsort.h   segmented sort
 *     libsparse/cache_model.h     the time of indexed reads and writes, predicted
 *     libsparse/gather_scatter.h  indexed reads and writes of whole arrays
 *     libsparse/sort.h      the sort of a whole array by the fastest method for its length
 *     libsparse/hash.h      tables of keys that are searched
 *     libsparse/semiring.h  the operations that may replace multiplication and addition
 *     libsparse/spgemm.h    sparse matrix times sparse matrix
 *     libsparse/spmv.h      sparse matrix times vectors
 *     libsparse/solve.h     linear systems: conjugate gradients, BiCGStab
 *     libsparse/multigrid.h a preconditioner for them: multigrid by smoothed aggregation
 *     libsparse/two_body.h  statistics of all pairs of points
 *     libsparse/suffix_array.h  suffix arrays, common prefixes, transforms, searches
 * One is not included, because any version may change it:
 *     libsparse/unstable.h  tuning of the GPU's sorts, the NAS benchmark
 *
 * Rules that hold for every function:
 * - It takes a context and returns a status. If the status is not LSP_OK, lsp_last_error() holds one full sentence with
 *   the numbers in it, and all outputs are as they were before the call.
 * - A matrix that is an output may be one of the inputs. It is then replaced, and its old arrays are freed if the
 *   context owns them; other structs that point to these arrays become invalid. Any other output is overwritten and
 *   nothing is freed: free its old arrays before the call, or they stay in the context until lsp_ctx_destroy.
 * - An array of the caller that is written shares no byte with another array of the call, else LSP_ERR_ARGUMENT and
 *   nothing is written, unless the comment of the function says that both may be one.
 * - It never aborts, never prints and keeps no global state.
 * - A context serves one host thread at a time. Several contexts may work side by side.
 * - Results do not depend on the number of threads: the same input on the same kind of device gives the same bits.
 * - It waits for the GPU only where its comment says so.
 *
 * The headers are C99 and C++11. Sizes are int64_t. */
#ifndef LIBSPARSE_H
#define LIBSPARSE_H

#include "libsparse/cache_model.h"
#include "libsparse/core.h"
#include "libsparse/gather_scatter.h"
#include "libsparse/hash.h"
#include "libsparse/matrix.h"
#include "libsparse/matrix_forms.h"
#include "libsparse/matrix_values.h"
#include "libsparse/mtx.h"
#include "libsparse/multigrid.h"
#include "libsparse/segsort.h"
#include "libsparse/semiring.h"
#include "libsparse/solve.h"
#include "libsparse/sort.h"
#include "libsparse/spgemm.h"
#include "libsparse/spmv.h"
#include "libsparse/suffix_array.h"
#include "libsparse/two_body.h"

#endif
