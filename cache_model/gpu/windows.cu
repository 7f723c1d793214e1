/* Counts what the windows of a sample touch, as sample.c does on a processor. An access is new to a window if none
 * before it in that window touched its block: so as many are new as blocks differ. Each access enters a hash table of
 * pairs (block, window), one table for each size of window. */
#include "cache_model/cache_model.h"
#include "core/launch.cuh"

enum { WINDOWS_NT = 256, WINDOWS_EACH = LSP_SAMPLE_WINDOW / WINDOWS_NT /* blocks of a window */ };
enum { COUNTS = sizeof(lsp_window_counts) / sizeof(ull), TABLES = COUNTS - 1 };

/* Does the key enter the table? Else it is there. At most three quarters of the slots are used. */
__device__ inline bool enter(ull *table, int log_slots, ull key) {
    const ull mask = (1ull << log_slots) - 1;
    for (ull slot = key * 0x9E3779B97F4A7C15ull >> (64 - log_slots);; slot = (slot + 1) & mask) {
        const ull held = atomicCAS(table + slot, 0ull, key);
        if (held == 0 || held == key) {
            return held == 0;
        }
    }
}

/* A block counts for one member of lsp_window_counts. */
static __global__ void __launch_bounds__(WINDOWS_NT)
    kernel_windows(lsp_window_job job, int log_slots, ull *tables, ull *counts) {
    enum { SECTORS = 1, LINES = SECTORS + LSP_SAMPLE_SIZES, REGIONS = LINES + LSP_SAMPLE_SIZES, DISTINCT };
    const int count = (int)blockIdx.x % COUNTS, place = (int)blockIdx.x / COUNTS * WINDOWS_NT + (int)threadIdx.x;
    const int v = place / LSP_SAMPLE_WINDOW, at = place % LSP_SAMPLE_WINDOW;
    const int64_t found = at < job.count[v] ? lsp_index_at(job.index, job.type, job.begin[v] + at) : -1;
    bool fresh = found >= 0 && found <= job.most;
    if (fresh && count > 0) {
        const int64_t size = count < LINES ? job.sector : count == REGIONS ? job.region : job.line;
        const int w = count < REGIONS ? (count - SECTORS) % LSP_SAMPLE_SIZES : LSP_SAMPLE_SIZES - 1;
        const ull part = count < DISTINCT ? (ull)place >> (5 + 3 * w) : 0; /* of 32 * 8^w */
        const ull key = ((ull)(found * job.bytes / size) << 16 | part) + 1;
        fresh = enter(tables + ((ull)(count - 1) << log_slots), log_slots, key);
    }
    const unsigned sum = (unsigned)__popc(__ballot_sync(~0u, fresh));
    if (threadIdx.x % WARP == 0 && sum > 0) {
        atomicAdd(counts + count, (ull)sum);
    }
}

extern "C" lsp_status lsp_windows_count(lsp_ctx *ctx, const lsp_window_job *job, lsp_window_counts *counts) {
    LSP_SCRATCH_SCOPE(ctx);
    ull *tables, *sums;
    *counts = (lsp_window_counts){};
    if (job->windows == 0) {
        return LSP_OK;
    }
    const int log_slots = lsp_bits((uint64_t)job->windows * LSP_SAMPLE_WINDOW * 4 / 3 - 1);
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, ((int64_t)TABLES << log_slots) + COUNTS, &tables));
    sums = tables + ((int64_t)TABLES << log_slots);
    LSP_TRY(LSP_LAUNCH(ctx, kernel_windows, job->windows * WINDOWS_EACH * COUNTS, WINDOWS_NT, 0, *job, log_slots,
                       tables, sums));
    return lsp_cuda_read(ctx, counts, sums, sizeof *counts);
}
