/* Inside solve/cpu: the vector loops, for one instruction set. */
#pragma once

#include "solve/job.h"

/* Numbers begin .. end - 1 of the vectors, and their sums. */
typedef void (*lsp_solve_kernel)(const lsp_solve_loop *loop, int64_t begin, int64_t end, double sums[3]);
lsp_solve_kernel lsp_solve_kernel_of_portable(lsp_solve_loop_id id, lsp_type type);
lsp_solve_kernel lsp_solve_kernel_of_avx2(lsp_solve_loop_id id, lsp_type type);
lsp_solve_kernel lsp_solve_kernel_of_avx512(lsp_solve_loop_id id, lsp_type type);
