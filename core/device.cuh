/* What kernels take from below CUDA C. Where the host's compiler compiles them (LSP_CUDA=EMULATED) tests/emulate has
 * it. */
#ifndef LSP_CORE_DEVICE_CUH
#define LSP_CORE_DEVICE_CUH

#ifdef __CUDACC__

/* Declares `char name[]`: the block's dynamic shared memory. */
#define LSP_DYNAMIC_SHARED(name) extern __shared__ __align__(16) char name[]

/* Barrier `id`, 1 to 15, of `threads` threads: whole warps. */
__device__ inline void lsp_barrier(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* Brings the line of global memory near. */
__device__ inline void lsp_prefetch(const void *line) { asm volatile("prefetch.global.L2 [%0];" ::"l"(line)); }

/* Brings near the 32 bytes that lie across `border`, at which one of those who write ends and another begins: to write
 * a part of them while they are not takes long. */
__device__ inline void lsp_prefetch_border(const void *border) {
    if ((size_t)border % 32 != 0) {
        lsp_prefetch((const char *)border - 1);
    }
}

/* The compiler must have x ready here, and knows nothing of it afterwards: else it may keep all operands of a long sum
 * to add them in another order. */
__device__ inline void lsp_settle(int &x) { asm volatile("" : "+r"(x)); }
__device__ inline void lsp_settle(unsigned &x) { asm volatile("" : "+r"(x)); }
__device__ inline void lsp_settle(unsigned long long &x) { asm volatile("" : "+l"(x)); }

/* mine = the smaller of mine and other, or (upper) the larger one; one: 1, unknown to the compiler. A comparison that
 * takes `upper` in, and a move by the idle unit for multiplication; a choice of min and max is both on the busy one. */
__device__ inline void lsp_keep_one(unsigned &mine, unsigned other, bool upper, unsigned one) {
    asm("{\n\t.reg .pred up, mine;\n\t"
        "setp.ne.u32 up, %2, 0;\n\t"
        "setp.lt.xor.u32 mine, %0, %1, up;\n\t"
        "@!mine mad.lo.u32 %0, %1, %3, 0;\n\t}"
        : "+r"(mine)
        : "r"(other), "r"((unsigned)upper), "r"(one));
}

/* Of a kernel that may be started with LSP_LAUNCH_BESIDE: at its begin, and at its end. */
__device__ inline void lsp_let_next_begin() {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
__device__ inline void lsp_end_after_previous() { /* one block is enough */
#if __CUDA_ARCH__ >= 900
    if (blockIdx.x == gridDim.x - 1) {
        cudaGridDependencySynchronize();
    }
#endif
}

#else

#define LSP_DYNAMIC_SHARED(name) char *const name = emu_shared()
static inline void lsp_let_next_begin() {}
static inline void lsp_end_after_previous() {}
static inline void lsp_barrier(int id, int threads) { emu_barrier(id, threads); }
static inline void lsp_prefetch(const void *) {}
static inline void lsp_prefetch_border(const void *) {}
template <typename T> static inline void lsp_settle(T &) {}
static inline void lsp_keep_one(unsigned &mine, unsigned other, bool upper, unsigned) {
    mine = (mine < other) != upper ? mine : other;
}

#endif
#endif
