/* Replaces CUDA's header of this name: asynchronous copies to shared memory, made when the kernel waits for them. */
#pragma once

#include "emulate.h"

static inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes) {
    emu_copy_async(to, from, bytes);
}
static inline void __pipeline_commit() { emu_copy_commit(); }
static inline void __pipeline_wait_prior(unsigned later) { emu_copy_wait(later); }
