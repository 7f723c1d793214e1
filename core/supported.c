/* What this build offers. tests/core/supported.c tries every type and every method with the calls. */
#include "libsparse.h"

#define ONE(x) (UINT64_C(1) << (x))

lsp_status lsp_get_supported(lsp_where device, lsp_supported *supported) {
    const uint64_t reals = ONE(LSP_F32) | ONE(LSP_F64);
    const lsp_supported host = {
        .compiled = true,
#if defined(__x86_64__) && !defined(LSP_PORTABLE)
        .targets = "portable avx2 avx512",
#else
        .targets = "portable",
#endif
        .values = ONE(LSP_NONE) | ONE(LSP_I32) | ONE(LSP_I64) | reals | ONE(LSP_C64) | ONE(LSP_BOOL),
        .vectors = reals,
        .keys = ONE(LSP_I32) | ONE(LSP_I64) | ONE(LSP_U32) | ONE(LSP_U64) | reals,
        .points = reals,
        .spgemm_methods =
            ONE(LSP_SPGEMM_AUTO) | ONE(LSP_SPGEMM_REFERENCE) | ONE(LSP_SPGEMM_SORT) | ONE(LSP_SPGEMM_MASK),
        .spmv_methods = (ONE(LSP_SPMV_METHODS) - 1) & ~ONE(LSP_SPMV_LENGTHS),
        .sort_methods = ONE(LSP_SORT_AUTO) | ONE(LSP_SORT_RADIX),
        .pair_methods = ONE(LSP_PAIR_AUTO) | ONE(LSP_PAIR_ALL) | ONE(LSP_PAIR_GRID) | ONE(LSP_PAIR_BOXES),
        .suffix_methods = ONE(LSP_SUFFIX_AUTO) | ONE(LSP_SUFFIX_DOUBLING) | ONE(LSP_SUFFIX_INDUCED)
    };
    if (!supported || (device != LSP_HOST && device != LSP_CUDA)) {
        return LSP_ERR_ARGUMENT;
    }
    *supported = host;
    if (device == LSP_CUDA) {
#ifdef LSP_CUDA_TARGETS
        supported->targets = LSP_CUDA_TARGETS;
        supported->spgemm_methods &= ~ONE(LSP_SPGEMM_REFERENCE);
        supported->spmv_methods = (ONE(LSP_SPMV_METHODS) - 1) & ~ONE(LSP_SPMV_REFERENCE);
        supported->sort_methods = ONE(LSP_SORT_METHODS) - 1;
        supported->suffix_methods &= ~ONE(LSP_SUFFIX_INDUCED);
#else
        *supported = (lsp_supported){.targets = ""};
#endif
    }
    return LSP_OK;
}
