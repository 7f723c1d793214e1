/* Exclusive prefix sums by shares: each thread sums its share, the shares' sums are added up, each thread finishes. */
#include "core.h"

#include <omp.h>

enum { most_shares = 64, least_share = 1 << 16 };

void lsp_prefix_sum(lsp_ctx *ctx, int64_t *offsets, int64_t n) {
    int64_t sums[most_shares] = {0};
    int threads = (int)lsp_min(lsp_threads_for(ctx, n, least_share), most_shares);
    offsets[0] = 0;
#pragma omp parallel num_threads(threads)
    {
        int part = omp_get_thread_num(), parts = omp_get_num_threads();
        int64_t begin, end, sum = 0;
        lsp_share(n, part, parts, &begin, &end);
        for (int64_t i = begin; i < end; i++) {
            sum += offsets[i + 1];
            offsets[i + 1] = sum;
        }
        sums[part] = sum;
#pragma omp barrier
        int64_t before = 0;
        for (int p = 0; p < part; p++) {
            before += sums[p];
        }
        for (int64_t i = begin; before != 0 && i < end; i++) {
            offsets[i + 1] += before;
        }
    }
}
