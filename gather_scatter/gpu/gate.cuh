/* What all kernels of gather and scatter use. */
#pragma once

#include "core/block.cuh"
#include "gpu.h"

__device__ inline bool gate_is_closed(const gather_gate &gate) {
    return gate.count && (*gate.count >= gate.limit) != gate.above;
}

/* Reports the position of an index that is outside; bad < 0: there is none. The word is on the host: a kernel calls
 * this once a thread, at its end. */
__device__ inline void report_bad(long long *fault, int64_t bad) {
    if (fault && bad >= 0) {
        *(volatile long long *)fault = -1 - (long long)bad;
    }
}

__device__ inline unsigned cut_of(const gather_cut &cut, unsigned x) {
    return __umulhi(x >> cut.shift, cut.magic) >> cut.after;
}
