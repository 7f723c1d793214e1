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

/* The first calls one by one, the others by steps that grow. */
static long next(long at) { return at + 1 + at / (getenv("LSP_TEST_REDUCED") ? 1 : 4); }

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
        uint64_t right = 0;
        must(ctx, job_run(ctx, number, in, out, &right));
        for (long at = 0; stop_at(number, in, at, out, right); at = next(at)) {
        }
    }
    free(out);
    job_free_input(ctx, in);
    lsp_ctx_destroy(ctx);
}

/* ---- plans ---- */

typedef lsp_status (*use_fn)(void *plan, const job_input *in, job_output *out);

static lsp_status execute_product(void *plan, const job_input *in, job_output *out) {
    return lsp_spgemm_execute(plan, &in->A, &in->A, &out->C);
}
/* A refill that is stopped loses values, so its result is made by a second one. */
static lsp_status refill_product(void *plan, const job_input *in, job_output *out) {
    lsp_csr C = {0};
    lsp_status status = lsp_spgemm_execute(plan, &in->A, &in->A, &C);
    status = status == LSP_OK ? lsp_spgemm_refill(plan, &in->A, &in->A, &C) : status;
    if (status == LSP_OK) {
        out->C = C;
    } else if (C.rowptr != NULL) {
        lsp_csr_free(*(lsp_ctx **)plan, &C); /* every plan begins with its context */
    }
    return status;
}
static lsp_status execute_solver(void *plan, const job_input *in, job_output *out) {
    return lsp_solve_execute(plan, in->M.val, out->bytes, NULL);
}
static lsp_status execute_vector(void *plan, const job_input *in, job_output *out) {
    return lsp_spmv_execute(plan, &(lsp_spmv_vectors){.alpha = 1, .x = in->A.val, .y = out->bytes});
}

/* Uses a plan, stopped at the 0th, 1st, 2nd ... call of a hook, and after each stop again: always the same bits. */
static void stop_plan(stopper *s, lsp_ctx *ctx, const char *name, use_fn use, void *plan, const job_input *in,
                      job_output *out) {
    static job_output untouched;
    uint64_t right, bits;
    memset(&untouched, 0xA5, sizeof untouched);
    *out = untouched;
    must(ctx, use(plan, in, out));
    right = job_digest(ctx, out, &untouched);
    bool stopped = true;
    for (s->at = 0; stopped; s->at = next(s->at)) {
        must(ctx, lsp_ctx_trim(ctx));
        s->calls = 0;
        s->ctx = ctx;
        *out = untouched;
        lsp_status status = use(plan, in, out);
        s->ctx = NULL;
        stopped = s->calls > s->at;
        lsp_ctx_cancel(ctx, false);
        if (status != LSP_OK) {
            cr_assert(stopped && status == LSP_ERR_CANCELLED, "%s, stopped at call %ld: %s", name, s->at,
                      lsp_last_error(ctx));
            cr_assert(memcmp(out, &untouched, sizeof untouched) == 0, "%s, stopped at call %ld: written", name, s->at);
            must(ctx, use(plan, in, out));
        }
        bits = job_digest(ctx, out, &untouched);
        cr_assert_eq(bits, right, "%s, stopped at call %ld: other bits", name, s->at);
    }
    cr_assert(s->at > 1, "%s was stopped nowhere", name);
}

Test(cancel, leaves_plans_that_serve_again, .timeout = 900) {
    stopper s = {.memory.fail_at = -1};
    const lsp_ctx_options options = {
        .threads = THREADS, .allocator = {alloc_counted, free_counted, &s}, .parallel = run_counted, .hook_user = &s};
    lsp_ctx *ctx = NULL;
    job_output *out = malloc(sizeof *out);
    lsp_spgemm_plan *product, *fresh;
    lsp_solve_plan *cg, *bicgstab;
    lsp_spmv_plan *vector;
    cr_assert_eq(lsp_ctx_create(&ctx, &options, NULL, 0), LSP_OK);
    job_input *in = job_make_input(ctx);
    const lsp_solve_options solve = {.max_iterations = 20, .fixed = true};
    must(ctx, lsp_spgemm_plan_create(ctx, &in->A, &in->A, NULL, &product));
    must(ctx, lsp_cg_plan_create(ctx, &in->M, &solve, &cg));
    must(ctx, lsp_bicgstab_plan_create(ctx, &in->M, &solve, &bicgstab));
    must(ctx, lsp_spmv_plan_create(ctx, &in->A, NULL, &vector));
    stop_plan(&s, ctx, "a product", execute_product, product, in, out);
    stop_plan(&s, ctx, "a refill", refill_product, product, in, out);
    stop_plan(&s, ctx, "conjugate gradients", execute_solver, cg, in, out);
    stop_plan(&s, ctx, "BiCGStab", execute_solver, bicgstab, in, out);
    stop_plan(&s, ctx, "a matrix times a vector", execute_vector, vector, in, out);
    for (long at = 0;; at = next(at)) { /* the first use of a plan, which counts the rows, is stopped */
        lsp_csr C = {0}, right = {0};
        lsp_csr_difference difference;
        must(ctx, lsp_spgemm_plan_create(ctx, &in->A, &in->A, NULL, &fresh));
        must(ctx, lsp_ctx_trim(ctx));
        s.at = at, s.calls = 0, s.ctx = ctx;
        const lsp_status status = lsp_spgemm_execute(fresh, &in->A, &in->A, &C);
        s.ctx = NULL;
        lsp_ctx_cancel(ctx, false);
        cr_assert(status == LSP_OK || (status == LSP_ERR_CANCELLED && C.rowptr == NULL), "%s", lsp_last_error(ctx));
        must(ctx, status == LSP_OK ? LSP_OK : lsp_spgemm_execute(fresh, &in->A, &in->A, &C));
        must(ctx, lsp_spgemm_refill(fresh, &in->A, &in->A, &C));
        must(ctx, lsp_spgemm_execute(product, &in->A, &in->A, &right));
        must(ctx, lsp_csr_compare(ctx, &C, &right, &difference));
        cr_assert(difference.same_bits, "a first use, stopped at call %ld: other bits", at);
        lsp_spgemm_plan_destroy(fresh);
        lsp_csr_free(ctx, &C);
        lsp_csr_free(ctx, &right);
        if (s.calls <= at) {
            break;
        }
    }
    lsp_spgemm_plan_destroy(product);
    lsp_solve_plan_destroy(cg);
    lsp_solve_plan_destroy(bicgstab);
    lsp_spmv_plan_destroy(vector);
    job_free_input(ctx, in);
    lsp_ctx_destroy(ctx);
    cr_assert_eq(s.memory.outstanding, 0, "%ld pieces leaked", s.memory.outstanding);
    free(out);
}

Test(cancel, stops_calls_that_read_suffix_arrays_and_leaves_their_outputs) {
    enum { N = 1 << 20 };
    uint8_t *symbols = calloc(N, 1), *bwt = calloc(N, 1);
    int32_t *suffixes = malloc(N * sizeof *suffixes), *out = calloc(N, sizeof *out);
    const lsp_text text = {.n = N, .symbol_bytes = 1, .symbols = symbols};
    int64_t primary = -1;
    for (int32_t i = 0; i < N; i++) {
        suffixes[i] = N - 1 - i;
    }
    for (int call = 0; call < 3; call++) {
        lsp_status status = LSP_OK;
        for (long at = call == 2; at >= 0; at--) { /* common prefixes ask twice */
            stopper s = {.memory.fail_at = -1, .at = at};
            const lsp_ctx_options options = {.allocator = {alloc_counted, free_counted, &s}};
            cr_assert_eq(lsp_ctx_create(&s.ctx, &options, NULL, 0), LSP_OK);
            status = call == 0   ? lsp_suffix_bwt(s.ctx, &text, LSP_I32, suffixes, bwt, &primary)
                     : call == 1 ? lsp_suffix_inverse(s.ctx, N, LSP_I32, suffixes, LSP_HOST, out)
                                 : lsp_suffix_lcp(s.ctx, &text, LSP_I32, suffixes, out);
            cr_assert_eq(status, LSP_ERR_CANCELLED, "call %d, stopped at request %ld: %s", call, at,
                         lsp_status_name(status));
            lsp_ctx *ctx = s.ctx;
            s.ctx = NULL;
            lsp_ctx_destroy(ctx);
        }
    }
    for (int32_t i = 0; i < N; i++) {
        cr_assert(bwt[i] == 0 && out[i] == 0 && primary == -1, "an output was written");
    }
    free(symbols), free(bwt), free(suffixes), free(out);
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
    enum { MOST = 12 };
    double longest = 0;
    for (int i = 0; i < MOST; i++) {
        alarm_clock clock = {.ctx = ctx, .delay_ns = 1 + (int64_t)i * i * 100000};
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
        uint64_t right = 0;
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

/* The check of a suffix array asks for memory at its begin alone, and is stopped later. */
Test(cancel, stops_the_check_of_a_suffix_array) {
    enum { N = 1 << 24, MOST = 20 };
    lsp_ctx *ctx = test_ctx(1);
    const lsp_text text = {.n = N, .symbol_bytes = 1, .symbols = calloc(N, 1)};
    int32_t *suffixes = malloc(N * sizeof *suffixes);
    lsp_status status = LSP_OK;
    for (int32_t i = 0; i < N; i++) {
        suffixes[i] = N - 1 - i;
    }
    must(ctx, lsp_suffix_check(ctx, &text, LSP_I32, suffixes)); /* and the context has its memory */
    for (int i = 0; i < MOST && status == LSP_OK; i++) {
        alarm_clock clock = {.ctx = ctx, .delay_ns = 4000000};
        pthread_t thread;
        cr_assert_eq(pthread_create(&thread, NULL, ring, &clock), 0);
        status = lsp_suffix_check(ctx, &text, LSP_I32, suffixes);
        pthread_join(thread, NULL);
        lsp_ctx_cancel(ctx, false);
    }
    cr_assert_eq(status, LSP_ERR_CANCELLED, "stopped %d times, it went on to its end", MOST);
    free(suffixes), free((void *)(uintptr_t)text.symbols);
    lsp_ctx_destroy(ctx);
}

static lsp_ctx *of_pipe;
static void on_interrupt(int number) {
    (void)number;
    lsp_ctx_cancel(of_pipe, true);
}

/* A signal ends a wait for a pipe, if its handler does not ask the system to go on. */
Test(cancel, ends_the_wait_for_a_pipe, .timeout = 60) {
    static const char begin[] = "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n";
    const struct itimerval often = {.it_value.tv_usec = 20000, .it_interval.tv_usec = 20000};
    const struct sigaction action = {.sa_handler = on_interrupt};
    lsp_csr A, untouched;
    int ends[2];
    char path[32];
    memset(&A, 0xA5, sizeof A);
    untouched = A;
    of_pipe = test_ctx(2);
    cr_assert(pipe(ends) == 0 && write(ends[1], begin, sizeof begin - 1) == (ssize_t)sizeof begin - 1);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    cr_assert(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
    must_fail(of_pipe, LSP_ERR_CANCELLED, "lsp_ctx_cancel", lsp_mtx_read(of_pipe, path, NULL, &A, NULL));
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    cr_assert(memcmp(&A, &untouched, sizeof A) == 0);
    close(ends[0]);
    close(ends[1]);
    lsp_ctx_destroy(of_pipe);
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
