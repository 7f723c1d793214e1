/* What the launchers call of spgemm_factors.cu. */
#ifndef LSP_SPGEMM_FACTORS_CUH
#define LSP_SPGEMM_FACTORS_CUH

#include "core/core.h"

/* counts[0 .. n-1], on the GPU, become their inclusive sums; *all (there, or NULL) the last of them. */
lsp_status spg_scan(lsp_ctx *ctx, int64_t *counts, int64_t n, unsigned long long *all);

#endif
