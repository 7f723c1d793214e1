/* Shared by the tests: contexts, the loop that makes the N-th allocation fail, random numbers. */
#pragma once

#include "libsparse.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A status must be LSP_OK; the context's sentence is printed if it is not. */
#define must(ctx, call)                                                                                                \
    do {                                                                                                               \
        lsp_status must_status_ = (call);                                                                              \
        cr_assert(must_status_ == LSP_OK, "%s: %s: %s", #call, lsp_status_name(must_status_), lsp_last_error(ctx));    \
    } while (0)

/* A call must fail with `code` and a sentence that contains `part`. */
#define must_fail(ctx, code, part, call)                                                                               \
    do {                                                                                                               \
        lsp_status must_status_ = (call);                                                                              \
        cr_assert(must_status_ == (code), "%s: %s, not %s: %s", #call, lsp_status_name(must_status_), #code,           \
                  lsp_last_error(ctx));                                                                                \
        cr_assert(strstr(lsp_last_error(ctx), (part)) != NULL, "%s: no '%s' in '%s'", #call, (part),                   \
                  lsp_last_error(ctx));                                                                                \
    } while (0)

static inline lsp_ctx *test_ctx(int threads) {
    lsp_ctx *ctx = NULL;
    char error[256] = "";
    lsp_status status = lsp_ctx_create(&ctx, &(lsp_ctx_options){.threads = threads}, error, sizeof error);
    cr_assert(status == LSP_OK, "%s", error);
    return ctx;
}

static inline lsp_ctx *test_gpu_ctx_or_skip(void) {
    lsp_ctx *ctx = NULL;
    char error[256] = "";
    if (lsp_cuda_device_count() == 0) {
        cr_skip_test("no GPU here");
    }
    lsp_status status = lsp_ctx_create(&ctx, &(lsp_ctx_options){.device = LSP_CUDA}, error, sizeof error);
    cr_assert(status == LSP_OK, "%s", error);
    return ctx;
}

/* A test with many similar cases runs every N-th of them. Returns N: 1, or a prime in reduced runs, so that every kind
 * of case has its turn. */
static inline int test_one_in(void) {
    const char *times = getenv("LSP_TEST_REDUCED");
    return times != NULL ? 12 * atoi(times) - 1 : 1;
}

/* One test for both devices. The file, or the cases that it includes, has on_the_cpu and on_the_gpu, which make a
 * context and call it. */
#define TEST_ON_BOTH(suite, name)                                                                                      \
    static void name(lsp_ctx *ctx);                                                                                    \
    Test(suite, name##_on_the_cpu) { on_the_cpu(name); }                                                               \
    Test(suite, name##_on_the_gpu) { on_the_gpu(name); }                                                               \
    static void name(lsp_ctx *ctx)

/* An allocator that counts pieces in use and fails at the `fail_at`-th call (-1: never). */
typedef struct test_memory {
    long calls, fail_at, outstanding;
} test_memory;

static inline void *test_memory_alloc(void *user, size_t bytes, lsp_where where) {
    test_memory *memory = (test_memory *)user;
    if (where != LSP_HOST || memory->calls++ == memory->fail_at) {
        return NULL;
    }
    memory->outstanding++;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}
static inline void test_memory_free(void *user, void *p, size_t bytes, lsp_where where) {
    (void)bytes, (void)where;
    ((test_memory *)user)->outstanding--;
    free(p);
}

/* Runs call(ctx, data) in contexts with an allocator whose user is a test_memory: allocation `first` fails, then every
 * step-th after it, until the call succeeds. Each failure must be LSP_ERR_MEMORY with a sentence, and the context must
 * end with nothing outstanding. `call` itself asserts that its outputs are untouched when it fails, and returns the
 * status. */
static inline void test_failing(lsp_ctx_options options, long first, long step,
                                lsp_status (*call)(lsp_ctx *ctx, void *data), void *data) {
    lsp_status status = LSP_ERR_MEMORY;
    for (long fail_at = first; status != LSP_OK; fail_at += step) {
        cr_assert(fail_at < 100000, "still failing after %ld allocations", fail_at);
        test_memory memory = {.fail_at = fail_at};
        lsp_ctx *ctx = NULL;
        char error[256] = "";
        options.allocator.user = &memory;
        status = lsp_ctx_create(&ctx, &options, error, sizeof error);
        if (status == LSP_OK) {
            status = call(ctx, data);
            snprintf(error, sizeof error, "%s", lsp_last_error(ctx));
        } else {
            cr_assert(ctx == NULL);
        }
        lsp_ctx_destroy(ctx);
        cr_assert(memory.outstanding == 0, "%ld pieces leaked when allocation %ld failed", memory.outstanding, fail_at);
        cr_assert(status != LSP_OK || memory.calls > 0, "nothing was allocated through the hook");
        cr_assert(status == LSP_OK || status == LSP_ERR_MEMORY, "allocation %ld: %s: %s", fail_at,
                  lsp_status_name(status), error);
        cr_assert(status == LSP_OK || error[0] != 0);
    }
}

/* The same on the host, every allocation in turn. */
static inline void test_failing_memory(int threads, lsp_status (*call)(lsp_ctx *ctx, void *data), void *data) {
    test_failing((lsp_ctx_options){.threads = threads, .allocator = {test_memory_alloc, test_memory_free, NULL}}, 0, 1,
                 call, data);
}

/* Random numbers for tests: splitmix64. */
static inline uint64_t test_random(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}
static inline int64_t test_below(uint64_t *state, int64_t n) { return (int64_t)(test_random(state) % (uint64_t)n); }

/* A folder of real matrices beside the checkout; tests of it are skipped where it does not exist. */
#define TEST_REAL_MATRICES LSP_SOURCE_DIR "/../shared/matrices"
