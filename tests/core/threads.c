/* The thread pool: threads that the system refuses and threads lost by fork() must not change a bit of any result. */
#include "tests/support.h"

#include "core/core.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Replaces libc's function: from call `refuse_from` on it refuses to create threads. */
static int refuse_from = -1, created;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data) {
    typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    static create *real;
    if (real == NULL) {
        void *found = dlsym(RTLD_NEXT, "pthread_create");
        memcpy(&real, &found, sizeof real);
    }
    if (refuse_from >= 0 && created >= refuse_from) {
        return EAGAIN;
    }
    created += refuse_from >= 0;
    return real(thread, attributes, run, data);
}

enum { THREADS = 6 };

static void free_all(lsp_ctx *ctx, lsp_csr *matrices, int count) {
    for (int i = 0; i < count; i++) {
        lsp_csr_free(ctx, &matrices[i]);
    }
}

/* One result of each kind of threaded work: generated, transposed, multiplied, added, written and read again. */
enum { RESULTS = 5 };
static lsp_status make_all(lsp_ctx *ctx, lsp_csr *result) {
    char path[] = "/tmp/lsp_test_threads_XXXXXX";
    int file = mkstemp(path);
    cr_assert(file >= 0);
    close(file);
    lsp_status status = lsp_generate(ctx, "er:40000:8", 1, NULL, &result[0]);
    status = status != LSP_OK ? status : lsp_csr_transpose(ctx, &result[0], &result[1]);
    status = status != LSP_OK ? status : lsp_spgemm(ctx, &result[0], &result[1], NULL, &result[2], NULL);
    status = status != LSP_OK ? status : lsp_csr_add(ctx, 2, &result[0], -3, &result[1], &result[3]);
    status = status != LSP_OK ? status : lsp_mtx_write(ctx, path, &result[0], NULL);
    status = status != LSP_OK ? status : lsp_mtx_read(ctx, path, NULL, &result[4], NULL);
    unlink(path);
    return status;
}

static void must_be_same(lsp_ctx *ctx, const lsp_csr *right, const lsp_csr *result, const char *what, int number) {
    for (int i = 0; i < RESULTS; i++) {
        lsp_csr_difference difference;
        must(ctx, lsp_csr_compare(ctx, &right[i], &result[i], &difference));
        cr_assert(difference.same_bits, "%s %d: result %d differs", what, number, i);
    }
}

Test(threads, that_cannot_be_created_are_done_without) {
    lsp_ctx *one = test_ctx(1);
    lsp_csr right[RESULTS] = {0};
    must(one, make_all(one, right));
    for (int n = 0; n <= THREADS; n++) {
        lsp_ctx *ctx = test_ctx(THREADS);
        lsp_csr result[RESULTS] = {0};
        created = 0;
        refuse_from = n;
        must(ctx, make_all(ctx, result));
        refuse_from = -1;
        cr_assert_eq(created, n < THREADS ? n : THREADS - 1, "%d threads of %d were created", created, n);
        must_be_same(one, right, result, "threads refused from", n);
        free_all(ctx, result, RESULTS);
        lsp_ctx_destroy(ctx);
    }
    free_all(one, right, RESULTS);
    lsp_ctx_destroy(one);
}

Test(threads, of_the_parent_are_not_missed_by_a_child) {
    lsp_ctx *ctx = test_ctx(THREADS);
    lsp_csr before[RESULTS] = {0}, after[RESULTS] = {0};
    int status = 0;
    must(ctx, make_all(ctx, before));
    const pid_t child = fork();
    if (child == 0) { /* no assertions in the child: they would write to Criterion's process */
        lsp_csr_difference difference;
        bool fine = make_all(ctx, after) == LSP_OK &&
                    lsp_csr_compare(ctx, &before[2], &after[2], &difference) == LSP_OK && difference.same_bits;
        free_all(ctx, before, RESULTS);
        free_all(ctx, after, RESULTS);
        lsp_ctx_destroy(ctx);
        _exit(fine ? 0 : 1);
    }
    cr_assert(child > 0 && waitpid(child, &status, 0) == child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %d", status);
    must(ctx, make_all(ctx, after));
    free_all(ctx, before, RESULTS);
    free_all(ctx, after, RESULTS);
    lsp_ctx_destroy(ctx);
}

typedef struct visit {
    int times[100], callers;
    pthread_t caller;
} visit;

static void visit_part(void *data, int64_t part, int thread) {
    visit *v = data;
    __atomic_add_fetch(&v->times[part], 1, __ATOMIC_RELAXED);
    if ((thread == 0) != pthread_equal(v->caller, pthread_self()) || (part == 0 && thread != 0)) {
        __atomic_add_fetch(&v->callers, 1, __ATOMIC_RELAXED);
    }
}

Test(threads, do_each_part_once_and_the_caller_is_thread_0) {
    lsp_ctx *ctx = test_ctx(THREADS);
    for (int round = 0; round < 2000; round++) {
        visit v = {.caller = pthread_self()};
        const int parts = 1 + round % 100;
        lsp_for_parts(ctx, parts, 1 + round % (2 * THREADS), visit_part, &v);
        for (int part = 0; part < 100; part++) {
            cr_assert_eq(v.times[part], part < parts, "round %d: part %d of %d was done %d times", round, part, parts,
                         v.times[part]);
        }
        cr_assert_eq(v.callers, 0, "round %d: thread 0 is not the caller, or not of part 0", round);
    }
    lsp_ctx_destroy(ctx);
}
