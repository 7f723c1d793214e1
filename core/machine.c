/* The machine's name, memory and instruction set. Memory is read from /proc and the control group (cgroup v2), and from
 * sysconf if those files are missing. */
#include "machine.h"
#include "isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double lsp_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The rest of the first line of a file that begins with `key`, in `line`; NULL: there is none. */
enum { line_bytes = 256 };
static char *find_line(const char *path, const char *key, char line[line_bytes]) {
    FILE *file = fopen(path, "re");
    char *rest = NULL;
    while (file && !rest && fgets(line, line_bytes, file)) {
        rest = strncmp(line, key, strlen(key)) == 0 ? line + strlen(key) : NULL;
    }
    if (file) {
        fclose(file);
    }
    return rest;
}

/* The number in the line "key  number ..." of a file, times unit; -1 if it has none. key "": the first line. */
static int64_t file_number(const char *path, const char *key, int64_t unit) {
    char line[line_bytes], *rest = find_line(path, key, line), *end = rest;
    int64_t value = rest ? strtoll(rest, &end, 10) : -1;
    return value >= 0 && end > rest && lsp_mul(value, unit, &value) ? value : -1;
}

static int64_t least_known(int64_t a, int64_t b) { return a < 0 ? b : b < 0 ? a : lsp_min(a, b); }

int64_t lsp_machine_memory(void) {
    int64_t pages = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    return least_known(pages, file_number("/sys/fs/cgroup/memory.max", "", 1));
}

int64_t lsp_machine_available_memory(void) {
    int64_t available = file_number("/proc/meminfo", "MemAvailable:", 1024);
    int64_t limit = file_number("/sys/fs/cgroup/memory.max", "", 1);
    int64_t used = file_number("/sys/fs/cgroup/memory.current", "", 1);
    int64_t file_cache =
        file_number("/sys/fs/cgroup/memory.stat", "file ", 1); /* the system frees it when memory is short */
    if (limit >= 0 && used >= 0) {
        limit = lsp_max(limit - used + lsp_max(file_cache, 0), 0);
    }
    available = least_known(available, limit);
    return available < 0 ? lsp_machine_memory() : available;
}

void lsp_machine_name(char *name, size_t bytes) {
    char line[line_bytes], *rest = find_line("/proc/cpuinfo", "model name", line);
    char *value = rest ? strchr(rest, ':') : NULL;
    if (value) {
        value += strspn(value, ": ");
        value[strcspn(value, "\n")] = 0;
    }
    snprintf(name, bytes, "%s", value ? value : "CPU");
}

lsp_isa lsp_isa_detect(void) {
#if defined(__x86_64__) && !defined(LSP_PORTABLE)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
        bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
        return wide ? LSP_ISA_AVX512 : LSP_ISA_AVX2;
    }
#endif
    return LSP_ISA_PORTABLE;
}

const char *lsp_isa_name(lsp_isa isa) {
    return isa == LSP_ISA_AVX512 ? "avx512" : isa == LSP_ISA_AVX2 ? "avx2" : "portable";
}
