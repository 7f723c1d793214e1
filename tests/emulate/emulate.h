/* The GPU that is none, as the headers beside it see it: a thread of CUDA is a fiber, a block an OS thread that runs
 * its fibers in turn, a launch returns when all blocks have ended. Whatever CUDA leaves undefined and can be seen here
 * ends the program with a sentence.
 *
 * With LSP_EMULATE_ORDER=<seed> in the environment the threads of a block run in another order every time, which shows
 * races that one order hides. */
#ifndef LSP_EMULATE_H
#define LSP_EMULATE_H

#include <stdbool.h>
#include <stddef.h>

enum {
    EMU_SMS = 24,
    EMU_BLOCKS = 2 * EMU_SMS, /* of a cooperative kernel at most */
    EMU_SHARED_BYTES = 227 << 10,
    EMU_SHARED_USUAL_BYTES = 48 << 10, /* more only where a kernel was allowed to */
    EMU_THREADS = 1024,
    EMU_PATTERN = 0xA5 /* in memory that nobody has written yet */
};

#ifdef __cplusplus
extern "C" {
#endif
/* Is a GPU the calling thread's current device? Else nothing can be started there. */
void emu_set_current(bool current);
/* Such a kernel may have so much dynamic shared memory. A cudaError_t. */
int emu_allow_shared(const void *kernel, int bytes);

#ifdef __cplusplus
}
#include <functional>

struct emu_index {
    unsigned x, y, z;
};
extern thread_local emu_index threadIdx, blockIdx, blockDim, gridDim;

/* Runs the blocks; a cudaError_t. `kernel` is the kernel's address, `thread` what one thread does. */
int emu_launch(const void *kernel, unsigned blocks, unsigned threads, size_t shared, bool together,
               const std::function<void()> &thread);
/* The block's dynamic shared memory: exactly as much as was asked for. */
char *emu_shared();

/* What the lanes of the mask have brought to the collective `name`; of others, the pattern. Good until this thread
 * waits again. */
const unsigned long long *emu_collect(const char *name, unsigned mask, unsigned long long value);
/* Barrier `id` of so many threads. */
void emu_barrier(int id, int threads);
/* Barrier of all living threads of the block; has any brought a predicate other than 0? */
bool emu_vote(bool predicate);
/* Barrier of all threads of all blocks. */
void emu_grid_barrier();
/* Lets other threads go on. */
void emu_yield();

/* A copy that is made when it is waited for; until then the destination holds the pattern. */
void emu_copy_async(void *to, const void *from, size_t bytes);
void emu_copy_commit();
void emu_copy_wait(unsigned later);

/* Ends the program with a sentence about the running thread. */
[[noreturn]] void emu_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
#endif
#endif
