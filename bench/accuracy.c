/* How well the cache model predicted and chose: computed from the rows of the report, on all workloads together. */
#include "harness.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return count == 0 ? 0 : count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Are two rows of the same workload, and both with a plan or both without one? */
static bool are_rivals(const bench_row *a, const bench_row *b) {
    const size_t length = (size_t)(strrchr(a->name, '/') - a->name);
    return a->c.again == b->c.again && strncmp(a->name, b->name, length + 1) == 0;
}

/* The time of a choice over that of the fastest strategy that was asked for; 0: there is none. */
static double regret_of(const bench *b, const bench_row *chosen) {
    double fastest = HUGE_VAL;
    for (int i = 0; i < b->row_count; i++) {
        const bench_row *row = b->rows + i;
        if (row->c.ours && !row->c.chosen && !row->c.failed && are_rivals(chosen, row)) {
            fastest = fmin(fastest, row->median);
        }
    }
    return fastest < HUGE_VAL ? chosen->median / fastest : 0;
}

bench_accuracy bench_accuracy_of(const bench *b) {
    bench_accuracy a = {0};
    double *errors = calloc(2 * (size_t)b->row_count + 1, sizeof *errors);
    double *regrets = errors ? errors + b->row_count : NULL;
    for (int i = 0; errors && i < b->row_count; i++) {
        const bench_row *row = b->rows + i;
        if (row->c.predicted > 0 && !row->c.failed) {
            errors[a.predictions++] = fabs(row->c.predicted / row->median - 1);
        }
        const double regret = row->c.chosen && !row->c.failed ? regret_of(b, row) : 0;
        if (regret > 0) {
            regrets[a.choices++] = regret;
        }
        if (regret > a.regret_worst) {
            a.regret_worst = regret;
            memcpy(a.worst, row->name, sizeof a.worst);
        }
    }
    if (errors) {
        a.median_error = median(errors, a.predictions);
        a.regret_median = median(regrets, a.choices);
    }
    free(errors);
    return a;
}
