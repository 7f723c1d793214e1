/* lsp_ctx_cancel: a call that is stopped at any of its allocations or regions, from a second thread or from a signal
 * handler, leaves its outputs untouched and nothing behind, and the context serves again. */
#include "core/core.h"
#include "jobs.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

enum { THREADS = 4 };

/* Stops the context at the `at`-th call of a hook: an allocation, a region, a report of progress. */
typedef struct stopper {
    test_memory memory;
    lsp_ctx *ctx;
    long at, calls;
} stopper;

static void count(stopper *s) {
    if (s->ctx != NULL && s->calls++ == s->at) {
        lsp_ctx_cancel(s->ctx, true);
    }
}
static void *alloc_counted(void *user, size_t bytes, lsp_where where) {
    count(user);
    return test_memory_alloc(&((stopper *)user)->memory, bytes, where);
}
static void free_counted(void *user, void *memory, size_t bytes, lsp_where where) {
    test_memory_free(&((stopper *)user)->memory, memory, bytes, where);
}
static void run_counted(void *user, int tasks, lsp_task_fn task, void *data) {
    count(user);
    for (int i = 0; i < tasks; i++) {
        task(data, i);
    }
}
static void progress_counted(void *user, const char *phase, double fraction) {
    (void)phase, (void)fraction;
    count(user);
}

/* Returns false once the call ended before it was stopped. */
static bool stop_at(int number, const job_input *in, long at, job_output *out, uint64_t right) {
    stopper s = {.memory.fail_at = -1, .at = at};
    const lsp_ctx_options options = {.threads = THREADS,
                                     .allocator = {alloc_counted, free_counted, &s},
                                     .progress = progress_counted,
                                     .parallel = run_counted,
                                     .hook_user = &s};
    lsp_ctx *ctx = NULL;
    uint64_t bits = 0;
    cr_assert_eq(lsp_ctx_create(&ctx, &options, NULL, 0), LSP_OK);
    s.ctx = ctx;
    const lsp_status status = job_run(ctx, number, in, out, &bits);
    const bool stopped = s.calls > at;
    s.ctx = NULL;
    if (status == LSP_OK) {
        cr_assert_eq(bits, right, "%s, stopped at call %ld: other bits", jobs[number].name, at);
    } else {
        cr_assert(stopped && status == LSP_ERR_CANCELLED, "%s, stopped at call %ld: %s: %s", jobs[number].name, at,
                  lsp_status_name(status), lsp_last_error(ctx));
        cr_assert(strstr(lsp_last_error(ctx), "lsp_ctx_cancel") != NULL, "'%s'", lsp_last_error(ctx));
    }
    if (stopped) {
        cr_assert_eq(job_run(ctx, number, in, out, &bits), LSP_ERR_CANCELLED, "%s: a stopped context works on",
                     jobs[number].name);
        lsp_ctx_cancel(ctx, false);
        must(ctx, job_run(ctx, number, in, out, &bits));
        cr_assert_eq(bits, right, "%s, after it was stopped at call %ld: other bits", jobs[number].name, at);
    }
    lsp_ctx_destroy(ctx);
    cr_assert_eq(s.memory.outstanding, 0, "%s, stopped at call %ld: %ld pieces leaked", jobs[number].name, at,
                 s.memory.outstanding);
    return stopped;
}

Test(cancel, stops_a_call_at_any_hook, .timeout = 900) {
    lsp_ctx *ctx = test_ctx(THREADS);
    job_input *in = job_make_input(ctx);
    job_output *out = malloc(sizeof *out);
    for (int number = 0; number < JOBS; number++) {
        uint64_t right;
        must(ctx, job_run(ctx, number, in, out, &right));
        for (long at = 0; stop_at(number, in, at, out, right); at += at < 40 ? 1 : at / 4) {
        }
    }
    free(out);
    job_free_input(ctx, in);
    lsp_ctx_destroy(ctx);
}

/* ---- from a second thread, or by a signal ---- */

typedef struct alarm_clock {
    lsp_ctx *ctx;
    int64_t delay_ns;
    double rang; /* when it stopped the context */
} alarm_clock;

static void *ring(void *data) {
    alarm_clock *clock = data;
    nanosleep(&(struct timespec){.tv_nsec = clock->delay_ns}, NULL);
    clock->rang = lsp_now();
    lsp_ctx_cancel(clock->ctx, true);
    return NULL;
}

static alarm_clock *of_signal;
static void on_signal(int number) {
    (void)number;
    of_signal->rang = lsp_now();
    lsp_ctx_cancel(of_signal->ctx, true);
}

/* Runs the job until it was stopped once by a second thread, or by a signal: each time later. Returns the longest time
 * from the stop to the end of the call. */
static double stop_later(lsp_ctx *ctx, int number, const job_input *in, bool by_signal, job_output *out,
                         uint64_t right) {
    enum { MOST = 30 };
    double longest = 0;
    for (int i = 0; i < MOST; i++) {
        alarm_clock clock = {.ctx = ctx, .delay_ns = 1 + (int64_t)i * 200000};
        pthread_t thread;
        uint64_t bits = right;
        of_signal = &clock;
        if (by_signal) {
            const struct itimerval soon = {.it_value.tv_usec = (suseconds_t)(clock.delay_ns / 1000 + 1)};
            cr_assert_eq(setitimer(ITIMER_REAL, &soon, NULL), 0);
        } else {
            cr_assert_eq(pthread_create(&thread, NULL, ring, &clock), 0);
        }
        const lsp_status status = job_run(ctx, number, in, out, &bits);
        const double end = lsp_now();
        if (by_signal) {
            setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
        } else {
            pthread_join(thread, NULL);
        }
        cr_assert(bits == right && (status == LSP_OK || status == LSP_ERR_CANCELLED), "%s: %s", jobs[number].name,
                  lsp_status_name(status));
        longest = status == LSP_ERR_CANCELLED && end - clock.rang > longest ? end - clock.rang : longest;
        lsp_ctx_cancel(ctx, false);
    }
    return longest;
}

Test(cancel, stops_a_call_from_another_thread_and_from_a_signal_handler, .timeout = 900) {
    lsp_ctx *ctx = test_ctx(THREADS);
    job_input *in = job_make_input(ctx);
    job_output *out = malloc(sizeof *out);
    signal(SIGALRM, on_signal);
    for (int number = 0; number < JOBS; number++) {
        uint64_t right;
        must(ctx, job_run(ctx, number, in, out, &right));
        const double by_thread = stop_later(ctx, number, in, false, out, right);
        const double by_signal = stop_later(ctx, number, in, true, out, right);
        cr_log_info("%-30s returned at latest %.2f and %.2f ms after the stop", jobs[number].name, 1e3 * by_thread,
                    1e3 * by_signal);
    }
    free(out);
    job_free_input(ctx, in);
    lsp_ctx_destroy(ctx);
}

Test(cancel, leaves_what_needs_no_work_alone) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A;
    lsp_ctx_info info;
    must(ctx, lsp_generate(ctx, "poisson2d:4", 1, NULL, &A));
    lsp_ctx_cancel(NULL, true);
    lsp_ctx_cancel(ctx, true);
    must(ctx, lsp_ctx_get_info(ctx, &info));
    must(ctx, lsp_ctx_trim(ctx));
    must(ctx, lsp_ctx_sync(ctx));
    lsp_csr B = {0};
    must_fail(ctx, LSP_ERR_CANCELLED, "lsp_ctx_cancel", lsp_csr_copy(ctx, &A, NULL, &B));
    cr_assert_str_eq(lsp_status_name(LSP_ERR_CANCELLED), "LSP_ERR_CANCELLED");
    lsp_csr_free(ctx, &A);
    lsp_ctx_destroy(ctx);
}
