/* A build without CUDA: bench_device_open always fails, so the other functions are never called. */
#include "device.h"
#include <stdio.h>

bench_device *bench_device_open(char *why, size_t why_bytes) {
    snprintf(why, why_bytes, "this build has no CUDA, so it has no --device cuda");
    return NULL;
}
void bench_device_close(bench_device *device) { (void)device; }
void *bench_device_stream(const bench_device *device) { return (void)device, NULL; }
const char *bench_device_name(const bench_device *device) { return (void)device, ""; }
int bench_device_compute(const bench_device *device) { return (void)device, 0; }
const char *bench_device_error(bench_device *device) { return (void)device, ""; }
void *bench_device_alloc(bench_device *device, int64_t bytes) { return (void)device, (void)bytes, NULL; }
void bench_device_free(bench_device *device, void *memory) { (void)device, (void)memory; }
bool bench_device_upload(bench_device *device, void *to, const void *from, int64_t bytes) {
    return (void)device, (void)to, (void)from, (void)bytes, false;
}
bool bench_device_download(bench_device *device, void *to, const void *from, int64_t bytes) {
    return (void)device, (void)to, (void)from, (void)bytes, false;
}
bool bench_device_wipe(bench_device *device, void *memory, int64_t bytes) {
    return (void)device, (void)memory, (void)bytes, false;
}
double bench_device_copy_speed(bench_device *device, bool quick) { return (void)device, (void)quick, 0; }
bool bench_device_start(bench_device *device) { return (void)device, false; }
double bench_device_stop(bench_device *device) { return (void)device, -1; }
void *bench_device_record(bench_device *device, const char *(*work)(void *data), void *data, int times) {
    return (void)device, (void)work, (void)data, (void)times, NULL;
}
bool bench_device_replay(bench_device *device, void *graph) { return (void)device, (void)graph, false; }
void bench_device_forget(void *graph) { (void)graph; }
bool bench_device_fill(bench_device *device, const lsp_segsort_args *a, bench_keys keys, int64_t draws) {
    return (void)device, (void)a, (void)keys, (void)draws, false;
}
bool bench_device_fill_moves(bench_device *device, const bench_move *m) { return (void)device, (void)m, false; }
bool bench_device_check_moves(bench_device *device, const bench_move *m, long long *faults) {
    return (void)device, (void)m, (void)faults, false;
}
bool bench_device_hash(bench_device *device, const void *memory, int64_t bytes, uint64_t *hash) {
    return (void)device, (void)memory, (void)bytes, (void)hash, false;
}
bool bench_device_sweep(bench_device *device) { return (void)device, false; }
bool bench_device_check(bench_device *device, const lsp_segsort_args *a, bool stable, bench_verdict *verdict) {
    return (void)device, (void)a, (void)stable, (void)verdict, false;
}
