/* The threads themselves (core/threads.c), and a caller's own, for threads.c. */
#include "cases.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { REGIONS = 200, MOST_PARTS = 64, COUNTS = 1 << 20 };

typedef struct region {
    const lsp_ctx *ctx;
    int64_t before[MOST_PARTS], after[MOST_PARTS]; /* plain numbers: a region must order its caller and its threads */
} region;

static void inner_part(void *data, int64_t part, int thread) {
    int64_t *found = data;
    (void)thread;
    found[part] = part + 1;
}

/* A region inside a region: one thread does all its parts if the outer region has several threads. */
static void outer_part(void *data, int64_t part, int thread) {
    region *r = data;
    int64_t found[3] = {0};
    (void)thread;
    lsp_for_parts(r->ctx, 3, 3, inner_part, found);
    r->after[part] = r->before[part] + found[0] + found[1] + found[2];
}

/* Many regions in quick succession: their threads meet the caller at every stage of sleep. The caller's own stack holds
 * the data, so a thread that comes late would touch the data of the next region. B is a copy of A. */
lsp_status tsan_regions(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_status status = lsp_csr_copy(ctx, A, NULL, B);
    for (int i = 0; i < REGIONS && status == LSP_OK; i++) {
        const int parts = 1 + i % MOST_PARTS;
        region r = {.ctx = ctx};
        for (int part = 0; part < parts; part++) {
            r.before[part] = i + part;
        }
        if (i % 50 == 0) {
            usleep(1000); /* the threads sleep by now */
        }
        lsp_for_parts(ctx, parts, 1 + i % 6, outer_part, &r);
        for (int part = 0; part < parts; part++) {
            if (r.after[part] != i + part + 6) {
                status = lsp_fail(ctx, LSP_ERR_ARGUMENT, "region %d: part %d is wrong", i, part);
            }
        }
    }
    return status;
}

static void take_lowest(void *data, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        if (i % 1000 == 999) {
            lsp_lower(data, i);
            return;
        }
    }
}

/* lsp_prefix_sum and lsp_for_shares with lsp_lower. B is a copy of A. */
lsp_status tsan_shares(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_status status = lsp_csr_copy(ctx, A, NULL, B);
    int64_t *offsets = malloc((COUNTS + 1) * sizeof *offsets), first = COUNTS;
    if (status == LSP_OK && offsets) {
        for (int64_t i = 1; i <= COUNTS; i++) {
            offsets[i] = i % 7;
        }
        lsp_prefix_sum(ctx, offsets, COUNTS);
        for (int64_t i = 0, sum = 0; i <= COUNTS; i++) {
            sum += i % 7;
            if (offsets[i] != sum) {
                status = lsp_fail(ctx, LSP_ERR_ARGUMENT, "prefix sum %lld is wrong", (long long)i);
            }
        }
        lsp_for_shares(ctx, COUNTS, 1000, take_lowest, &first);
        if (first != 999) {
            status = lsp_fail(ctx, LSP_ERR_ARGUMENT, "the first is %lld, not 999", (long long)first);
        }
    }
    free(offsets);
    return offsets ? status : LSP_ERR_MEMORY;
}

typedef struct task { /* of a caller's hook */
    lsp_task_fn run;
    void *data;
    int number;
} task;

static void *run_task(void *data) {
    const task *t = data;
    t->run(t->data, t->number);
    return NULL;
}

/* The caller's own threads: a new one for each task but the last. */
void tsan_run_tasks(void *user, int tasks, lsp_task_fn run, void *data) {
    enum { MOST_TASKS = 4 };
    pthread_t threads[MOST_TASKS];
    task all[MOST_TASKS];
    int started = 0;
    (void)user;
    while (started < tasks - 1) {
        all[started] = (task){run, data, started};
        if (pthread_create(&threads[started], NULL, run_task, &all[started]) != 0) {
            break;
        }
        started++;
    }
    run(data, tasks - 1);
    while (started > 0) {
        pthread_join(threads[--started], NULL);
    }
}
