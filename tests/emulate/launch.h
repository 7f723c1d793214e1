/* What a launch and the blocks that it runs share. */
#pragma once

#include "emulate.h"

#include <condition_variable>
#include <mutex>

struct grid {
    std::mutex mutex;
    std::condition_variable moved;
    unsigned blocks, arrived = 0, passed = 0;
    bool together;
};

/* Runs block `id` from begin to end, on this OS thread. */
void run_block(unsigned id, unsigned threads, size_t shared, const std::function<void()> &thread, grid *all);
