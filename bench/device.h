/* The GPU behind plain C functions: memory, a clock, and the workloads and checks of segments.h. device.cu implements
 * them on the CUDA runtime, device_none.c in a build without CUDA. All work goes to one stream. */
#pragma once

#include "bench/subjects/moves.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_device bench_device;

/* Opens the first GPU. NULL: no usable GPU, and `why` says the reason. */
bench_device *bench_device_open(char *why, size_t why_bytes);
void bench_device_close(bench_device *device);
void *bench_device_stream(const bench_device *device); /* a cudaStream_t */
const char *bench_device_name(const bench_device *device);
int bench_device_compute(const bench_device *device); /* compute capability: 90 means 9.0 */

/* The sentence of the first failure since the last call; "" if nothing failed. */
const char *bench_device_error(bench_device *device);

void *bench_device_alloc(bench_device *device, int64_t bytes); /* NULL: not enough memory */
void bench_device_free(bench_device *device, void *memory);
bool bench_device_upload(bench_device *device, void *to, const void *from, int64_t bytes);
bool bench_device_download(bench_device *device, void *to, const void *from, int64_t bytes);
bool bench_device_wipe(bench_device *device, void *memory, int64_t bytes); /* sets all bits to 1 */

/* Bytes read and written a second by a copy on the device: the fastest of nine. */
double bench_device_copy_speed(bench_device *device, bool quick);

/* Measure the work on the stream between `start` and `stop`. `stop` waits, and returns the seconds, or a negative
 * number if something failed. */
bool bench_device_start(bench_device *device);
double bench_device_stop(bench_device *device);

/* Records `times` calls of work(data), which puts kernels on the stream, as a CUDA graph; NULL: something failed.
 * Replay starts it and does not wait. */
void *bench_device_record(bench_device *device, const char *(*work)(void *data), void *data, int times);
bool bench_device_replay(bench_device *device, void *graph);
void bench_device_forget(void *graph);

/* Do what bench_segments_fill and bench_segments_check do, on arrays of the GPU. Return false if something failed. */
bool bench_device_fill(bench_device *device, const lsp_segsort_args *a, bench_keys keys, int64_t draws);
bool bench_device_check(bench_device *device, const lsp_segsort_args *a, bool stable, bench_verdict *verdict);

/* Fills m->from; m->index lies on the GPU already. */
bool bench_device_fill_moves(bench_device *device, const bench_move *m);
/* Counts the positions whose move went wrong; false: something failed. */
bool bench_device_check_moves(bench_device *device, const bench_move *m, long long *faults);
/* A sum of hashes of 32-bit words and their places; false: something failed. */
bool bench_device_hash(bench_device *device, const void *memory, int64_t bytes, uint64_t *hash);
/* Reads memory until the last cache holds nothing else, so that no contender finds what another one left there. */
bool bench_device_sweep(bench_device *device);

#ifdef __cplusplus
}
#endif
