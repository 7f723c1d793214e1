/* This process and its machine: the clock, the processors, the signals that end a run early, and how busy other
 * programs kept the machine. Figures from a busy machine should not be quoted. */
#include "harness.h"
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t caught; /* the signal that asked for the end; 0: none */
static void note(int signal) { caught = signal; }

void bench_catch_signals(void) {
    signal(SIGINT, note);
    signal(SIGTERM, note);
}
int bench_interrupted(void) { return (int)caught; }

int bench_cpus(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }

static double seconds(clockid_t clock) {
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
double bench_now(void) { return seconds(CLOCK_MONOTONIC); }
double bench_cpu_seconds(void) { return seconds(CLOCK_PROCESS_CPUTIME_ID); }

/* Linux adds the time of another running thread to the clock of the process only at a tick, every 1 to 10 ms. The clock
 * of each thread is exact. */
double bench_threads_seconds(void) {
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) {
        return bench_cpu_seconds();
    }
    double sum = 0;
    for (const struct dirent *task; (task = readdir(tasks));) {
        const clockid_t id = (clockid_t)strtol(task->d_name, NULL, 10); /* 0: "." and ".." */
        sum += id ? seconds(~id * 8 + 6) : 0; /* the clock of a thread, in the numbering of the kernel */
    }
    closedir(tasks);
    return sum;
}

/* Processor seconds of all programs since the machine started, and those a hypervisor took away; -1 if the system does
 * not tell. */
static double busy_seconds(void) {
    double user, nice, system, idle, waiting, irq, soft_irq, stolen;
    FILE *file = fopen("/proc/stat", "re");
    const bool known = file && fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle,
                                      &waiting, &irq, &soft_irq, &stolen) == 8;
    if (file) {
        fclose(file);
    }
    return known ? (user + nice + system + irq + soft_irq + stolen) / (double)sysconf(_SC_CLK_TCK) : -1;
}

bench_load bench_load_start(void) { return (bench_load){bench_now(), busy_seconds(), bench_cpu_seconds()}; }

double bench_load_of_others(const bench_load *start) {
    const double wall = bench_now() - start->wall, busy = busy_seconds() - start->busy;
    const double others = (busy - (bench_cpu_seconds() - start->own)) / wall;
    return start->busy < 0 || busy < 0 || wall <= 0 ? -1 : others > 0 ? others : 0;
}
