/* Device functions that need PTX, or that CUDA C offers on some architectures only. The versions at the end are for the
 * emulated GPU (LSP_CUDA=EMULATED), whose kernels the host's compiler compiles. */
#pragma once

typedef unsigned long long ull; /* what atomic functions take */

#ifdef __CUDACC__

/* Declares `char name[]`, the block's dynamic shared memory, aligned to 16 bytes. */
#define LSP_DYNAMIC_SHARED(name) extern __shared__ __align__(16) char name[]

/* Named barrier `id`, 1 to 15, of `threads` threads in whole warps. Barrier 0 is __syncthreads. */
__device__ inline void lsp_barrier(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* Prefetches a line of global memory to the L2 cache. */
__device__ inline void lsp_prefetch(const void *line) { asm volatile("prefetch.global.L2 [%0];" ::"l"(line)); }

/* Prefetches the 32-byte sector that contains `border`, if two writers share it: one ends at `border`, the other
 * begins. Writing a part of a sector that is not in the L2 cache waits for memory. */
__device__ inline void lsp_prefetch_border(const void *border) {
    if ((size_t)border % 32 != 0) {
        lsp_prefetch((const char *)border - 1);
    }
}

/* Reads *from, of 4, 8 or 16 bytes, and lets the L2 cache fetch the 256 bytes around it, because other blocks will read
 * those soon: memory hands out long pieces faster than scattered short ones. */
template <typename T> __device__ inline T lsp_read_around(const T *from) {
    T x;
    if constexpr (sizeof(T) == 16) {
        asm("ld.global.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
            : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
            : "l"(from));
    } else if constexpr (sizeof(T) == 8) {
        asm("ld.global.L2::256B.u64 %0, [%1];" : "=l"(x) : "l"(from));
    } else if constexpr (sizeof(T) == 4) {
        asm("ld.global.L2::256B.u32 %0, [%1];" : "=r"(x) : "l"(from));
    } else {
        x = *from;
    }
    return x;
}

/* *x = *from, of 4, 8 or 16 bytes, if `wanted`, from memory that no running kernel writes. A read in an `if` may be
 * moved by the compiler to where its value is used, so that several such reads wait for each other; this one stays
 * where it is. */
#define LSP_READ_WORD(type, bits_type, letter)                                                                         \
    type bits;                                                                                                         \
    memcpy(&bits, x, sizeof bits);                                                                                     \
    asm volatile("{\n\t.reg .pred want;\n\tsetp.ne.s32 want, %2, 0;\n\t@want ld.global.nc." bits_type                  \
                 " %0, [%1];\n\t}"                                                                                     \
                 : "+" letter(bits)                                                                                    \
                 : "l"(from), "r"((int)wanted));                                                                       \
    memcpy(x, &bits, sizeof bits)
template <typename T> __device__ inline void lsp_read_if(bool wanted, const T *from, T *x) {
    if constexpr (sizeof(T) == 16) {
        unsigned *const w = (unsigned *)x;
        asm volatile("{\n\t.reg .pred want;\n\tsetp.ne.s32 want, %5, 0;\n\t"
                     "@want ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];\n\t}"
                     : "+r"(w[0]), "+r"(w[1]), "+r"(w[2]), "+r"(w[3])
                     : "l"(from), "r"((int)wanted));
    } else if constexpr (sizeof(T) == 8) {
        LSP_READ_WORD(long long, "u64", "l");
    } else {
        LSP_READ_WORD(int, "u32", "r");
    }
}

/* Makes the compiler compute x here, and hides the value from it afterwards. Without it the compiler may keep all
 * operands of a long sum in registers to add them in another order, or keep a value that it could compute again. */
__device__ inline void lsp_settle(int &x) { asm volatile("" : "+r"(x)); }
__device__ inline void lsp_settle(unsigned &x) { asm volatile("" : "+r"(x)); }
__device__ inline void lsp_settle(ull &x) { asm volatile("" : "+l"(x)); }

/* mine = min(mine, other), or max if `upper`. one: 1, but the compiler must not know that. This takes one comparison
 * that includes `upper`, and a move by the multiply-add unit, which is idle in a sort; a choice between min and max
 * would take two instructions of the busy unit. */
__device__ inline void lsp_keep_one(unsigned &mine, unsigned other, bool upper, unsigned one) {
    asm("{\n\t.reg .pred up, mine;\n\t"
        "setp.ne.u32 up, %2, 0;\n\t"
        "setp.lt.xor.u32 mine, %0, %1, up;\n\t"
        "@!mine mad.lo.u32 %0, %1, %3, 0;\n\t}"
        : "+r"(mine)
        : "r"(other), "r"((unsigned)upper), "r"(one));
}

/* For kernels started with LSP_LAUNCH_BESIDE: call the first one at the start, the second one at the end. */
__device__ inline void lsp_let_next_begin() {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
/* For a kernel that needs the results of the one before it: waits until that has ended. Nothing of it is read, and
 * nothing that it reads is written, before this call. */
__device__ inline void lsp_wait_for_previous() {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}
__device__ inline void lsp_end_after_previous() { /* one block that waits is enough */
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
static inline void lsp_wait_for_previous() {}
static inline void lsp_barrier(int id, int threads) { emu_barrier(id, threads); }
static inline void lsp_prefetch(const void *) {}
static inline void lsp_prefetch_border(const void *) {}
template <typename T> static inline T lsp_read_around(const T *from) { return *from; }
template <typename T> static inline void lsp_read_if(bool wanted, const T *from, T *x) {
    if (wanted) {
        *x = *from;
    }
}
template <typename T> static inline void lsp_settle(T &) {}
static inline void lsp_keep_one(unsigned &mine, unsigned other, bool upper, unsigned) {
    mine = (mine < other) != upper ? mine : other;
}

#endif
