/* The races of sorts, by three calls of the library: segments, or a whole array by either call. */
#ifndef LSP_BENCH_SUBJECTS_SEGSORT_H
#define LSP_BENCH_SUBJECTS_SEGSORT_H

#include "bench/harness.h"

typedef enum bench_sort_by { BENCH_BY_SEGMENTS, BENCH_BY_RADIX, BENCH_BY_SORT } bench_sort_by;

/* segsort.c */
void bench_run_sort(bench *b, const char *workload, bench_sort_by by);
const char *bench_sort_absent(int i);
const char *bench_sort_version(bool on_gpu, int i, const char **who);

#endif
