/* Work shared among threads; sums of counts by shares. */
#include "core.h"

#include <omp.h>

void lsp_for_parts(int64_t parts, int threads, void (*do_part)(void *data, int64_t part, int thread), void *data) {
    if (threads == 1) {
        for (int64_t part = 0; part < parts; part++) {
            do_part(data, part, 0);
        }
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t part = 0; part < parts; part++) {
        do_part(data, part, omp_get_thread_num());
    }
}

enum { most_shares = 64, least_share = 1 << 16 };

typedef struct summing {
    int64_t *offsets, n;
    int shares;
    int64_t sums[most_shares];
} summing;

static void sum_share(void *data, int64_t share, int thread) {
    summing *s = data;
    int64_t begin, end, sum = 0;
    (void)thread;
    lsp_share(s->n, (int)share, s->shares, &begin, &end);
    for (int64_t i = begin; i < end; i++) {
        sum += s->offsets[i + 1];
        s->offsets[i + 1] = sum;
    }
    s->sums[share] = sum;
}

static void raise_share(void *data, int64_t share, int thread) {
    summing *s = data;
    int64_t begin, end, before = 0;
    (void)thread;
    lsp_share(s->n, (int)share, s->shares, &begin, &end);
    for (int64_t lower = 0; lower < share; lower++) {
        before += s->sums[lower];
    }
    for (int64_t i = begin; before != 0 && i < end; i++) {
        s->offsets[i + 1] += before;
    }
}

void lsp_prefix_sum(lsp_ctx *ctx, int64_t *offsets, int64_t n) {
    summing s = {.offsets = offsets, .n = n, .shares = (int)lsp_min(lsp_threads_for(ctx, n, least_share), most_shares)};
    offsets[0] = 0;
    lsp_for_parts(s.shares, s.shares, sum_share, &s);
    if (s.shares > 1) {
        lsp_for_parts(s.shares, s.shares, raise_share, &s);
    }
}
