/* Many small matrices one behind another, in three arrays: operands that cost a context nothing. Values are f64,
 * indices int32. */
#pragma once

#include "bench/harness.h"

typedef struct bench_pool {
    lsp_csr *all;    /* views */
    char *arrays[3]; /* rowptr, col, val */
    int64_t bytes[3];
} bench_pool;

/* Generates `count` matrices on the host; spec NULL: of seven sizes in turns. False: complained. */
bool bench_pool_fill(bench *b, int64_t count, const char *spec, uint64_t seed, bench_pool *to);
/* Copies them to the GPU. */
bool bench_pool_move(bench *b, const bench_pool *from, int64_t count, bench_pool *to);
void bench_pool_drop(bench *b, bench_pool *here, bench_pool *there);
