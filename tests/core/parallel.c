/* The caller's own threads (lsp_ctx_options.parallel): every way of running tasks gives the bits of one thread. */
#include "jobs.h"

#include <pthread.h>

enum { THREADS = 5 };

typedef struct region { /* of a hook that starts threads */
    lsp_task_fn task;
    void *data;
    int number;
} region;

static void in_order(void *user, int tasks, lsp_task_fn task, void *data) {
    (void)user;
    for (int i = 0; i < tasks; i++) {
        task(data, i);
    }
}
static void in_reverse(void *user, int tasks, lsp_task_fn task, void *data) {
    (void)user;
    for (int i = tasks - 1; i >= 0; i--) {
        task(data, i);
    }
}
static void by_openmp(void *user, int tasks, lsp_task_fn task, void *data) {
    (void)user;
#pragma omp parallel for num_threads(tasks) schedule(dynamic, 1)
    for (int i = 0; i < tasks; i++) {
        task(data, i);
    }
}
static void *run_one(void *data) {
    const region *r = data;
    r->task(r->data, r->number);
    return NULL;
}
static void by_pthreads(void *user, int tasks, lsp_task_fn task, void *data) {
    pthread_t threads[THREADS];
    region all[THREADS];
    (void)user;
    cr_assert(tasks >= 1 && tasks <= THREADS, "%d tasks for at most %d threads", tasks, THREADS);
    for (int i = 0; i < tasks; i++) { /* all run beside the calling thread, the last one first */
        all[i] = (region){task, data, tasks - 1 - i};
        cr_assert_eq(pthread_create(&threads[i], NULL, run_one, &all[i]), 0);
    }
    for (int i = 0; i < tasks; i++) {
        pthread_join(threads[i], NULL);
    }
}
static void only_the_last(void *user, int tasks, lsp_task_fn task, void *data) {
    (void)user;
    task(data, tasks - 1);
}
static void none(void *user, int tasks, lsp_task_fn task, void *data) {
    (void)user, (void)tasks, (void)task, (void)data;
}

static pthread_t caller;
static void progress(void *user, const char *phase, double fraction) {
    cr_assert(pthread_equal(caller, pthread_self()), "%s: progress in another thread", phase);
    *(int *)user += fraction >= 0 && fraction <= 1;
}

Test(parallel, every_hook_gives_the_bits_of_one_thread, .timeout = 900) {
    static const struct {
        const char *name;
        lsp_parallel_fn run;
    } hooks[] = {{"in order", in_order},    {"in reverse", in_reverse},       {"OpenMP", by_openmp},
                 {"pthreads", by_pthreads}, {"only the last", only_the_last}, {"none", none}};
    lsp_ctx *one = test_ctx(1);
    job_input *in = job_make_input(one);
    job_output *out = malloc(sizeof *out);
    caller = pthread_self();
    for (int number = 0; number < JOBS; number++) {
        uint64_t right, bits;
        must(one, job_run(one, number, in, out, &right));
        for (size_t h = 0; h < sizeof hooks / sizeof *hooks; h++) {
            lsp_ctx *ctx = NULL;
            int reports = 0;
            const lsp_ctx_options options = {
                .threads = THREADS, .parallel = hooks[h].run, .progress = progress, .hook_user = &reports};
            cr_assert_eq(lsp_ctx_create(&ctx, &options, NULL, 0), LSP_OK);
            must(ctx, job_run(ctx, number, in, out, &bits));
            cr_assert_eq(bits, right, "%s, %s: other bits", jobs[number].name, hooks[h].name);
            lsp_ctx_destroy(ctx);
        }
    }
    free(out);
    job_free_input(one, in);
    lsp_ctx_destroy(one);
}

typedef struct counted {
    int regions, most;
} counted;
static void count_regions(void *user, int tasks, lsp_task_fn task, void *data) {
    counted *c = user;
    c->regions++;
    c->most = tasks > c->most ? tasks : c->most;
    in_order(NULL, tasks, task, data);
}

Test(parallel, the_hook_is_asked_for_large_work_alone_and_for_at_most_threads_tasks) {
    counted c = {0};
    lsp_ctx *ctx = NULL;
    lsp_csr A, B;
    const lsp_ctx_options options = {.threads = 3, .parallel = count_regions, .hook_user = &c};
    cr_assert_eq(lsp_ctx_create(&ctx, &options, NULL, 0), LSP_OK);
    must(ctx, lsp_generate(ctx, "poisson2d:4", 1, NULL, &A));
    must(ctx, lsp_csr_transpose(ctx, &A, &B));
    cr_assert_eq(c.regions, 0, "a matrix of 16 rows took %d regions", c.regions);
    lsp_csr_free(ctx, &A);
    must(ctx, lsp_generate(ctx, "er:40000:8", 1, NULL, &A));
    cr_assert(c.regions > 0 && c.most == 3, "%d regions, at most %d tasks", c.regions, c.most);
    lsp_csr_free(ctx, &A);
    lsp_csr_free(ctx, &B);
    lsp_ctx_destroy(ctx);
}
