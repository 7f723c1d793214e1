/* How a matrix is cut for the persistent kernel: shape.c chooses from sizes alone. */
#pragma once

#include "core/cuda.h"
#include "resident.h"

LSP_BEGIN_DECLS

/* The most threads of a block: so each has 80 registers. The most blocks; the most unknowns of a column block: one
 * column of 16 bits more is the padding's; shared memory that is not for the slice. */
enum { RESIDENT_THREADS = 768, RESIDENT_MOST_BLOCKS = 1024, RESIDENT_MOST_SLICE = 65534, RESIDENT_RESERVE = 4 << 10 };

/* Fills what is 0 in *shape, but for dots and stash, which need the lengths of rows. False: the matrix does not fit, or
 * *shape asks for what the chip does not have. */
bool lsp_resident_choose(const lsp_cuda_chip *chip, int64_t n, int64_t nnz, lsp_resident_shape *shape);

LSP_END_DECLS
