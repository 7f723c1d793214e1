/* The emulated GPU, for the headers beside this one. A CUDA thread is a fiber, a block is an OS thread that runs its
 * fibers in turn, and a launch returns when all blocks have ended. If a kernel does what CUDA leaves undefined, and the
 * emulator can see it, the program ends with a sentence.
 *
 * With LSP_EMULATE_ORDER=<seed> in the environment the threads of a block run in a new random order each time: that
 * shows races that one fixed order hides. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
    EMU_SMS = 24,
    EMU_BLOCKS = 2 * EMU_SMS, /* the most blocks of a cooperative kernel */
    EMU_SHARED_BYTES = 227 << 10,
    EMU_L2_BYTES = 1 << 20,
    EMU_SHARED_USUAL_BYTES = 48 << 10, /* dynamic shared memory of a kernel without emu_allow_shared */
    EMU_THREADS = 1024,
    EMU_PATTERN = 0xA5 /* the byte in memory that was never written */
};

#ifdef __cplusplus
extern "C" {
#endif
/* Makes the GPU the calling thread's current device, or not. Launches need it. */
void emu_set_current(bool current);
/* Lets the kernel have `bytes` bytes of dynamic shared memory. Returns a cudaError_t. */
int emu_allow_shared(const void *kernel, int bytes);

#ifdef __cplusplus
}
#include <functional>

struct emu_index {
    unsigned x, y, z;
};
extern thread_local emu_index threadIdx, blockIdx, blockDim, gridDim;

/* Runs all blocks and returns a cudaError_t. `kernel` is the kernel's address; `thread` runs one thread. together: the
 * blocks run at the same time, for a cooperative kernel. */
int emu_launch(const void *kernel, unsigned blocks, unsigned threads, size_t shared, bool together,
               const std::function<void()> &thread);
/* The block's dynamic shared memory: exactly the bytes of the launch. */
char *emu_shared();

/* Takes part in the collective `name` of the lanes in the mask. Returns the value of each lane, and the pattern for
 * lanes outside the mask. The array is valid until this thread waits again. */
const unsigned long long *emu_collect(const char *name, unsigned mask, unsigned long long value);
/* Named barrier `id` of `threads` threads. */
void emu_barrier(int id, int threads);
/* Barrier of all threads of the block that have not ended. Returns true if the predicate of one of them is true. */
bool emu_vote(bool predicate);
/* Barrier of all threads of all blocks. */
void emu_grid_barrier();
/* Lets other threads run. */
void emu_yield();

/* Asynchronous copy to shared memory: made by emu_copy_wait. Until then the destination holds the pattern. */
void emu_copy_async(void *to, const void *from, size_t bytes);
void emu_copy_commit();
void emu_copy_wait(unsigned later);

/* Ends the program with a sentence about the running thread. */
[[noreturn]] void emu_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
#endif
