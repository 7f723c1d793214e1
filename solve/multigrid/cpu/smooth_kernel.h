/* The vector step of a smoother for one instruction set. */
#pragma once

#include "solve/multigrid/smooth.h"

/* The numbers begin .. end - 1; `step` is a lsp_smooth. */
typedef void (*lsp_smooth_kernel)(void *step, int64_t begin, int64_t end);
lsp_smooth_kernel lsp_smooth_kernel_of_portable(lsp_type type);
lsp_smooth_kernel lsp_smooth_kernel_of_avx2(lsp_type type);
lsp_smooth_kernel lsp_smooth_kernel_of_avx512(lsp_type type);
