/* Launches: what a launch may ask for, and which OS threads run its blocks. */
#include "launch.h"
#include "cuda_runtime.h"

#include <atomic>
#include <map>
#include <thread>
#include <vector>

enum { WORKERS = 2 };

static std::mutex allowed_mutex;
static std::map<const void *, size_t> allowed;

extern "C" int emu_allow_shared(const void *kernel, int bytes) {
    std::lock_guard<std::mutex> lock(allowed_mutex);
    if (bytes < 0 || bytes > EMU_SHARED_BYTES) {
        return cudaErrorInvalidValue;
    }
    allowed[kernel] = (size_t)bytes;
    return cudaSuccess;
}

static size_t shared_most(const void *kernel) {
    std::lock_guard<std::mutex> lock(allowed_mutex);
    const auto found = allowed.find(kernel);
    return found == allowed.end() || found->second < EMU_SHARED_USUAL_BYTES ? (size_t)EMU_SHARED_USUAL_BYTES
                                                                            : found->second;
}

static thread_local bool is_current;
extern "C" void emu_set_current(bool current) { is_current = current; }

int emu_launch(const void *kernel, unsigned blocks, unsigned threads, size_t shared, bool together,
               const std::function<void()> &thread) {
    if (!is_current) {
        return cudaErrorInvalidResourceHandle;
    } else if (blocks == 0 || threads == 0 || threads > EMU_THREADS || blocks > INT32_MAX) {
        return cudaErrorInvalidConfiguration;
    } else if (shared > shared_most(kernel)) {
        return cudaErrorInvalidValue;
    } else if (together && blocks > EMU_BLOCKS) {
        return cudaErrorCooperativeLaunchTooLarge;
    }
    grid all;
    all.blocks = blocks;
    all.together = together;
    std::atomic<unsigned> next{0};
    auto work = [&] {
        gridDim = {blocks, 1, 1};
        blockDim = {threads, 1, 1};
        for (unsigned id = next++; id < blocks; id = next++) {
            run_block(id, threads, shared, thread, &all);
        }
    };
    std::vector<std::thread> workers;
    for (unsigned w = 0; w < blocks && (together || w < WORKERS); w++) {
        workers.emplace_back(work);
    }
    for (std::thread &worker : workers) {
        worker.join();
    }
    return cudaSuccess;
}
