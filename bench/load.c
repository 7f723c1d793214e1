/* How busy other programs kept the machine during the run: figures from a busy machine should not be quoted. */
#include "harness.h"
#include <time.h>
#include <unistd.h>

/* Seconds in which processors worked since the machine started, for whomever, and those a hypervisor took; -1 if the
 * system does not tell. */
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

/* Of this process. */
static double own_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bench_load bench_load_start(void) { return (bench_load){bench_now(), busy_seconds(), own_seconds()}; }

double bench_load_of_others(const bench_load *start) {
    const double wall = bench_now() - start->wall, busy = busy_seconds() - start->busy;
    const double others = (busy - (own_seconds() - start->own)) / wall;
    return start->busy < 0 || busy < 0 || wall <= 0 ? -1 : others > 0 ? others : 0;
}
