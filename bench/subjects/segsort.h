/* The races of sorts: of segments, or of a whole array. */
#pragma once

#include "bench/harness.h"

/* segsort.c */
void bench_run_sort(bench *b, const char *workload, bool whole);
const char *bench_sort_absent(int i);
const char *bench_sort_version(bool on_gpu, int i, const char **who);
