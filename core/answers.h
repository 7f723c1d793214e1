/* Words of pinned host memory, 0 at first, that kernels write and the host reads whenever it likes: what one call may
 * learn from those before, without waiting. */
#pragma once

#include "core.h"

enum { LSP_CUDA_ANSWERS = 32 };
/* Their address on the host, and the GPU's in *there. */
volatile unsigned long long *lsp_cuda_answers(lsp_ctx *ctx, unsigned long long **there);
