/* Bulk copies from global to shared memory (compute capability 9.0 and later): one thread starts a copy, the copy
 * engine makes it, and a barrier in shared memory counts the bytes that have arrived. */
#pragma once

#include "device.cuh"

/* The barrier: 8 bytes of shared memory. Its phases are numbered 0, 1, 2, ...; a phase ends when the bytes that were
 * announced for it have arrived. */
typedef ull lsp_arrivals;

#ifdef __CUDACC__

__device__ inline unsigned lsp_shared_address(const void *shared) { return (unsigned)__cvta_generic_to_shared(shared); }

/* One thread, before a barrier of the block. */
__device__ inline void lsp_bulk_begin(lsp_arrivals *arrivals) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(lsp_shared_address(arrivals)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

/* One thread: announces all bytes of the phase. */
__device__ inline void lsp_bulk_expect(lsp_arrivals *arrivals, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(lsp_shared_address(arrivals)),
                 "r"(bytes)
                 : "memory");
#endif
}

/* One thread: starts a copy. Addresses and bytes are multiples of 16. The data is a stream: L2 evicts it first. */
__device__ inline void lsp_bulk_load(void *shared, const void *from, unsigned bytes, lsp_arrivals *arrivals) {
#if __CUDA_ARCH__ >= 900
    ull policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, "
                 "[%3], %4;" ::"r"(lsp_shared_address(shared)),
                 "l"(from), "r"(bytes), "r"(lsp_shared_address(arrivals)), "l"(policy)
                 : "memory");
#endif
}

/* Waits for the end of the phase with this parity. */
__device__ inline void lsp_bulk_wait(lsp_arrivals *arrivals, unsigned phase) {
#if __CUDA_ARCH__ >= 900
    asm volatile("{\n\t.reg .pred done;\n\t"
                 "again:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
                 "@!done bra again;\n\t}" ::"r"(lsp_shared_address(arrivals)),
                 "r"(phase & 1)
                 : "memory");
#endif
}

/* Between reads of shared memory by threads, with a barrier, and the next copy to the same place. */
__device__ inline void lsp_bulk_reuse() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

#else

/* Emulated: the lower half counts missing bytes, the upper half phases. */
static inline void lsp_bulk_begin(lsp_arrivals *arrivals) { *arrivals = 0; }
static inline void lsp_bulk_expect(lsp_arrivals *arrivals, unsigned bytes) {
    *arrivals += bytes == 0 ? 1ull << 32 : bytes;
}
static inline void lsp_bulk_load(void *shared, const void *from, unsigned bytes, lsp_arrivals *arrivals) {
    if (((uintptr_t)shared | (uintptr_t)from | bytes) % 16 != 0 || bytes == 0 || bytes > (unsigned)*arrivals) {
        emu_fail("a bulk copy of %u bytes from %p to %p: not multiples of 16, or not announced", bytes, from, shared);
    }
    memcpy(shared, from, bytes);
    *arrivals -= bytes;
    *arrivals += (unsigned)*arrivals == 0 ? 1ull << 32 : 0;
}
static inline void lsp_bulk_wait(lsp_arrivals *arrivals, unsigned phase) {
    while ((*(volatile lsp_arrivals *)arrivals >> 32 & 1) == (phase & 1)) {
        emu_yield();
    }
}
static inline void lsp_bulk_reuse() {}

#endif
