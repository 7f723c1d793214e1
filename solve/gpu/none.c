/* The solvers on a GPU in a build without CUDA. No plan of such a build lies on a GPU: the table is empty. */
#include "solve/job.h"

const lsp_solve_backend lsp_solve_cuda = {0};
