/* Kernels with one fault each. `faults NAME` runs one of them in a process of its own, which the emulator must end with
 * the sentence that faults.cmake expects. */
#include "core/device.cuh"
#include "fiber.h"
#include <cooperative_groups.h>
#include <cuda_pipeline_primitives.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void dig(unsigned *memory) {
    volatile char deep[FIBER_STACK_BYTES];
    for (int i = FIBER_STACK_BYTES - 1; i >= 0; i -= 8) {
        deep[i] = (char)memory[0];
    }
    memory[0] = (unsigned)deep[7];
}

static __global__ void kernel_fault(const char *fault, unsigned *memory) {
    LSP_DYNAMIC_SHARED(shared);
    unsigned *words = (unsigned *)shared;
    const unsigned lane = threadIdx.x % 32;
    const auto is = [=](const char *name) { return strcmp(fault, name) == 0; };
    if (is("barrier") && threadIdx.x != 40) {
        __syncthreads();
    } else if (is("barrier")) {
        __syncwarp();
    } else if (is("named_barrier") && threadIdx.x < 32) {
        lsp_barrier(1, 64);
    } else if (is("mask")) {
        __ballot_sync(1, 1);
    } else if (is("other_mask")) {
        __ballot_sync(lane < 16 ? ~0u : 0xFFFF0000u, 1);
        __syncthreads();
    } else if (is("other_name") && lane < 16) {
        __shfl_sync(~0u, lane, 0);
    } else if (is("other_name")) {
        __ballot_sync(~0u, 1);
    } else if (is("shuffle")) {
        __shfl_xor_sync(~0u, lane, 32);
    } else if (is("copy")) {
        __pipeline_memcpy_async(words, (char *)memory + 4, 8);
    } else if (is("no_wait")) {
        __pipeline_memcpy_async(words + threadIdx.x, memory, 4);
        __pipeline_commit();
        if (words[threadIdx.x] != *memory) {
            emu_fail("read before it was there");
        }
    } else if (is("race")) {
        words[threadIdx.x] = threadIdx.x;
        if (threadIdx.x > 0 && words[threadIdx.x - 1] != threadIdx.x - 1) {
            emu_fail("read before another thread wrote it");
        }
    } else if (is("grid")) {
        cooperative_groups::this_grid().sync();
    } else if (is("stack") && threadIdx.x == 0) {
        dig(memory);
    } else if (is("shared")) {
        words[threadIdx.x + 1] = 0;
    } else if (is("vector")) {
        ((uint2 *)(memory + 1))->x = 0;
    }
}

int main(int count, char **words) {
    unsigned memory[4] = {};
    const char *fault = count > 1 ? words[1] : "";
    const bool large = strcmp(fault, "large") == 0;
    emu_set_current(true);
    if (fork() == 0) {
        const int error =
            emu_start<const char *, unsigned *>(kernel_fault, large ? 0 : 2, 64, 64 * 4, false, fault, memory);
        fprintf(stderr, "error %d\n", error);
        _exit(0);
    }
    wait(NULL);
    return 0;
}
