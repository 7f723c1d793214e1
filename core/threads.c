/* Work shared among threads; sums of counts by shares.
 *
 * A context keeps its threads (workers) from its first region of several threads to its end. Between regions they
 * sleep, after a look out for the next one that is short: regions of one call follow each other within it, and a busy
 * machine does not notice it. A worker joins a region when it wakes up, if parts are left; the caller waits for the
 * workers that joined, not for the others. So a region never waits for a thread that a busy machine has not run yet,
 * and a worker that cannot be created is only missing. OpenMP has neither property: its threads spin for each other,
 * and libgomp ends the process when it cannot create one. */
#include "threads.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum {
    stack_bytes = 2 << 20,
    wake_at_once = 2, /* each thread wakes two more: all are awake after log2(threads) steps */
    shares_a_thread = 4,
    patience_ns = 50000, /* how long to look out for what comes soon before sleep: to sleep and wake takes as long */
};

typedef struct region {
    void (*do_part)(void *data, int64_t part, int thread);
    void *data;
    int64_t parts, next; /* next: atomic */
} region;

struct lsp_pool {
    pthread_mutex_t mutex; /* for all but region.next */
    pthread_cond_t work, rest;
    pid_t process; /* in which the workers live: after fork() the child has none of them */
    int most, started;
    int64_t patience_ns; /* 0 where threads would look out at the cost of others: they outnumber the processors */
    bool ending, busy;
    region region;
    int wanted;          /* workers that may still join */
    int calls;           /* regions so far. Atomic */
    int joined, working; /* workers that joined; those of them that have not finished. working: also read atomically */
    pthread_t workers[];
};

size_t lsp_pool_bytes(int threads) { return sizeof(lsp_pool) + (size_t)(threads - 1) * sizeof(pthread_t); }

void lsp_pool_open(lsp_pool *pool, int threads) {
    cpu_set_t processors;
    const bool enough = sched_getaffinity(0, sizeof processors, &processors) != 0 || CPU_COUNT(&processors) >= threads;
    *pool = (lsp_pool){.process = getpid(), .most = threads - 1, .patience_ns = enough ? patience_ns : 0};
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->rest, NULL);
}

void lsp_pool_close(lsp_pool *pool) {
    if (pool->process != getpid()) {
        return; /* a child's copy: its workers are the parent's */
    }
    pthread_mutex_lock(&pool->mutex);
    pool->ending = true;
    __atomic_add_fetch(&pool->calls, 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->started; i++) {
        pthread_join(pool->workers[i], NULL);
    }
    pthread_cond_destroy(&pool->rest);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->mutex);
}

/* ---- a region ---- */

static void do_parts(region *r, int thread) {
    int64_t part;
    while ((part = __atomic_fetch_add(&r->next, 1, __ATOMIC_RELAXED)) < r->parts) {
        r->do_part(r->data, part, thread);
    }
}

static bool are_left(const region *r) { return __atomic_load_n(&r->next, __ATOMIC_RELAXED) < r->parts; }

/* The mutex is held. */
static void wake(lsp_pool *pool) {
    for (int i = 0; i < wake_at_once && i < pool->wanted; i++) {
        pthread_cond_signal(&pool->work);
    }
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Until *number is another, or patience ends. False: it ended. */
static bool look_out(const lsp_pool *pool, const int *number, int unlike) {
    enum { looks = 32 };
    const int64_t end = now_ns() + pool->patience_ns;
    do {
        for (int i = 0; i < looks; i++) {
            if (__atomic_load_n(number, __ATOMIC_ACQUIRE) != unlike) {
                return true;
            }
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
    } while (now_ns() < end);
    return false;
}

static void *worker(void *data) {
    lsp_pool *pool = data;
    pthread_mutex_lock(&pool->mutex);
    while (!pool->ending) {
        if (pool->wanted == 0 || !are_left(&pool->region)) {
            pthread_cond_wait(&pool->work, &pool->mutex);
            continue;
        }
        pool->wanted--;
        __atomic_add_fetch(&pool->working, 1, __ATOMIC_RELAXED);
        const int thread = ++pool->joined;
        wake(pool);
        pthread_mutex_unlock(&pool->mutex);
        do_parts(&pool->region, thread);
        const int call = __atomic_load_n(&pool->calls, __ATOMIC_RELAXED); /* the next region waits for this worker */
        pthread_mutex_lock(&pool->mutex);
        if (__atomic_sub_fetch(&pool->working, 1, __ATOMIC_RELEASE) == 0) {
            pthread_cond_signal(&pool->rest);
        }
        pthread_mutex_unlock(&pool->mutex);
        (void)look_out(pool, &pool->calls, call);
        pthread_mutex_lock(&pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

/* As many workers as are wanted or, for good, as many as the system gives. Signals are the business of the caller's
 * threads: workers take none. */
static void start_workers(lsp_pool *pool, int wanted) {
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pool->started >= lsp_min(wanted, pool->most) || pthread_attr_init(&attributes) != 0) {
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)pthread_attr_setstacksize(&attributes, stack_bytes);
    while (pool->started < lsp_min(wanted, pool->most)) {
        if (pthread_create(&pool->workers[pool->started], &attributes, worker, pool) == 0) {
            pool->started++;
        } else {
            pool->most = pool->started;
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

static void finish(lsp_pool *pool) {
    for (int working; (working = __atomic_load_n(&pool->working, __ATOMIC_ACQUIRE)) > 0;) {
        if (!look_out(pool, &pool->working, working)) {
            break;
        }
    }
    pthread_mutex_lock(&pool->mutex);
    pool->wanted = 0;
    while (pool->working > 0) {
        pthread_cond_wait(&pool->rest, &pool->mutex);
    }
    pool->busy = false;
    pthread_mutex_unlock(&pool->mutex);
}

void lsp_for_parts(const lsp_ctx *ctx, int64_t parts, int threads,
                   void (*do_part)(void *data, int64_t part, int thread), void *data) {
    lsp_pool *pool = ctx->pool;
    const int wanted = (int)lsp_min(threads, lsp_min(parts, INT_MAX)) - 1;
    region alone = {.do_part = do_part, .data = data, .parts = parts};
    if (wanted <= 0 || pool->busy || pool->process != getpid()) { /* busy: a region inside another */
        do_parts(&alone, 0);
        return;
    }
    start_workers(pool, wanted);
    pthread_mutex_lock(&pool->mutex);
    pool->region = alone;
    pool->region.next = 1;
    pool->busy = true;
    pool->joined = 0;
    pool->wanted = (int)lsp_min(wanted, pool->started);
    wake(pool);
    pthread_mutex_unlock(&pool->mutex);
    __atomic_add_fetch(&pool->calls, 1, __ATOMIC_RELEASE); /* for those that look out; the mutex is free */
    do_part(data, 0, 0);
    do_parts(&pool->region, 0);
    finish(pool);
}

typedef struct sharing {
    int64_t n;
    int shares;
    void (*do_share)(void *data, int64_t begin, int64_t end);
    void *data;
} sharing;

static void share_part(void *data, int64_t part, int thread) {
    const sharing *s = data;
    int64_t begin, end;
    (void)thread;
    lsp_share(s->n, (int)part, s->shares, &begin, &end);
    s->do_share(s->data, begin, end);
}

void lsp_for_shares(const lsp_ctx *ctx, int64_t n, int64_t least,
                    void (*do_share)(void *data, int64_t begin, int64_t end), void *data) {
    const int threads = lsp_threads_for(ctx, n, least);
    sharing s = {.n = n, .shares = threads * shares_a_thread, .do_share = do_share, .data = data};
    if (threads == 1) {
        do_share(data, 0, n);
    } else {
        lsp_for_parts(ctx, s.shares, threads, share_part, &s);
    }
}

enum { most_shares = 64, least_share = 1 << 16 };

typedef struct summing {
    int64_t *offsets, n;
    int shares;
    int64_t sums[most_shares];
} summing;

static void sum_share(void *data, int64_t share, int thread) {
    summing *s = data;
    int64_t begin, end, sum = 0;
    (void)thread;
    lsp_share(s->n, (int)share, s->shares, &begin, &end);
    for (int64_t i = begin; i < end; i++) {
        sum += s->offsets[i + 1];
        s->offsets[i + 1] = sum;
    }
    s->sums[share] = sum;
}

static void raise_share(void *data, int64_t share, int thread) {
    summing *s = data;
    int64_t begin, end, before = 0;
    (void)thread;
    lsp_share(s->n, (int)share, s->shares, &begin, &end);
    for (int64_t lower = 0; lower < share; lower++) {
        before += s->sums[lower];
    }
    for (int64_t i = begin; before != 0 && i < end; i++) {
        s->offsets[i + 1] += before;
    }
}

void lsp_prefix_sum(lsp_ctx *ctx, int64_t *offsets, int64_t n) {
    summing s = {.offsets = offsets, .n = n, .shares = (int)lsp_min(lsp_threads_for(ctx, n, least_share), most_shares)};
    offsets[0] = 0;
    lsp_for_parts(ctx, s.shares, s.shares, sum_share, &s);
    if (s.shares > 1) {
        lsp_for_parts(ctx, s.shares, s.shares, raise_share, &s);
    }
}
