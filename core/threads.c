/* The thread pool of a context, and prefix sums computed by it.
 *
 * A region is one call of lsp_for_parts by several threads. The first region creates the pool's threads (workers), and
 * they live as long as the context. After a region a worker spins for up to 50 us, in case the next region of the same
 * call follows, and then sleeps. A worker joins a region when it wakes up, if parts are left, and the caller waits only
 * for workers that joined. So no region waits for a thread that a busy machine has not run yet, and a worker that
 * cannot be created only makes the region slower. OpenMP has neither property: its threads spin for each other, and
 * libgomp ends the process when it cannot create a thread. */
#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum {
    stack_bytes = 2 << 20,
    wake_at_once = 2, /* each thread wakes two others, so all are awake after log2(threads) steps */
    shares_a_thread = 4,
    patience_ns = 50000, /* how long a thread spins before it sleeps; sleeping and waking up takes as long */
};

typedef struct region {
    void (*do_part)(void *data, int64_t part, int thread);
    void *data;
    int64_t parts, next; /* `next`: the next part to do; atomic */
    const int *stop;     /* NULL, or no part is taken any more once it is not 0; atomic */
} region;

struct lsp_pool {
    pthread_mutex_t mutex; /* guards all members below except those marked atomic */
    pthread_cond_t work, rest;
    pid_t process;       /* the process that has the workers: after fork() the child has none of them */
    int most, started;   /* workers: the limit, and those created so far. Only the caller's thread uses them */
    int64_t patience_ns; /* 0 if the threads outnumber the processors: a thread that spins would stop another one */
    bool ending, busy;   /* busy: a region runs */
    pthread_t caller;    /* while a region runs by options.parallel: the thread of the call */
    region region;
    int wanted;          /* workers that may still join the region */
    int calls;           /* regions so far; atomic */
    int joined, working; /* workers that joined the region, and those still at work. working: atomic */
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
        return; /* in a child made by fork(): the workers belong to the parent */
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

/* A part that was taken is done, even if `stop` is set at that moment: a higher part may wait for it. */
static void do_parts(region *r, int thread) {
    int64_t part;
    while (!(r->stop && __atomic_load_n(r->stop, __ATOMIC_RELAXED)) &&
           (part = __atomic_fetch_add(&r->next, 1, __ATOMIC_RELAXED)) < r->parts) {
        r->do_part(r->data, part, thread);
    }
}

static bool are_left(const region *r) { return __atomic_load_n(&r->next, __ATOMIC_RELAXED) < r->parts; }

/* Wakes workers; each of them wakes others. The caller holds the mutex. */
static void wake(lsp_pool *pool) {
    for (int i = 0; i < wake_at_once && i < pool->wanted; i++) {
        pthread_cond_signal(&pool->work);
    }
}

/* Spins until *number differs from `old`: true; or until patience ends: false. */
static bool spin(const lsp_pool *pool, const int *number, int old) {
    enum { looks = 32 }; /* between two readings of the clock */
    const double end = lsp_now() + 1e-9 * (double)pool->patience_ns;
    do {
        for (int i = 0; i < looks; i++) {
            if (__atomic_load_n(number, __ATOMIC_ACQUIRE) != old) {
                return true;
            }
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
    } while (lsp_now() < end);
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
        /* Read before the worker finishes: until then the next region cannot begin and change it. */
        const int call = __atomic_load_n(&pool->calls, __ATOMIC_RELAXED);
        pthread_mutex_lock(&pool->mutex);
        if (__atomic_sub_fetch(&pool->working, 1, __ATOMIC_RELEASE) == 0) {
            pthread_cond_signal(&pool->rest);
        }
        pthread_mutex_unlock(&pool->mutex);
        (void)spin(pool, &pool->calls, call);
        pthread_mutex_lock(&pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

/* Creates workers until `wanted` exist. If the system refuses one, the pool never asks for more. Workers block all
 * signals, so that signal handlers run in the program's own threads. */
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

/* Ends the region: waits for the workers that joined, first by spinning, then asleep. */
static void finish(lsp_pool *pool) {
    for (int working; (working = __atomic_load_n(&pool->working, __ATOMIC_ACQUIRE)) > 0;) {
        if (!spin(pool, &pool->working, working)) {
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

static void do_task(void *data, int task) { do_parts(data, task); }

bool lsp_in_callers_thread(const lsp_ctx *ctx) {
    return !ctx->options.parallel || !ctx->pool->busy || pthread_equal(ctx->pool->caller, pthread_self());
}

/* Does a region by the caller's own threads. A task takes parts until none is left, so it never waits for a task that
 * has not begun. */
static void do_by_hook(const lsp_ctx *ctx, region *r, int tasks) {
    lsp_pool *pool = ctx->pool;
    pool->caller = pthread_self();
    pool->busy = true;
    ctx->options.parallel(ctx->options.hook_user, tasks, do_task, r);
    do_parts(r, 0);
    pool->busy = false;
}

static void do_by_pool(lsp_pool *pool, const region *r, int wanted) {
    start_workers(pool, wanted);
    pthread_mutex_lock(&pool->mutex);
    pool->region = *r;
    pool->region.next = 1;
    pool->busy = true;
    pool->joined = 0;
    pool->wanted = (int)lsp_min(wanted, pool->started);
    wake(pool);
    pthread_mutex_unlock(&pool->mutex);
    __atomic_add_fetch(&pool->calls, 1, __ATOMIC_RELEASE); /* ends the spin of workers; the mutex is free by now */
    r->do_part(r->data, 0, 0);
    do_parts(&pool->region, 0);
    finish(pool);
}

static void do_region(const lsp_ctx *ctx, region *r, int threads) {
    lsp_pool *pool = ctx->pool;
    const int wanted = (int)lsp_min(r->parts, lsp_min(threads, ctx->options.threads)) - 1;
    if (wanted <= 0 || pool->busy) { /* busy: inside a part of another region */
        do_parts(r, 0);
    } else if (ctx->options.parallel) {
        do_by_hook(ctx, r, wanted + 1);
    } else if (pool->process != getpid()) {
        do_parts(r, 0);
    } else {
        do_by_pool(pool, r, wanted);
    }
}

void lsp_for_parts(const lsp_ctx *ctx, int64_t parts, int threads,
                   void (*do_part)(void *data, int64_t part, int thread), void *data) {
    region r = {.do_part = do_part, .data = data, .parts = parts};
    do_region(ctx, &r, threads);
}

lsp_status lsp_try_parts(lsp_ctx *ctx, int64_t parts, int threads,
                         void (*do_part)(void *data, int64_t part, int thread), void *data) {
    region r = {.do_part = do_part, .data = data, .parts = parts, .stop = &ctx->cancelled};
    lsp_status status = lsp_go_on(ctx);
    if (status == LSP_OK) {
        do_region(ctx, &r, threads);
        status = lsp_go_on(ctx);
    }
    return status;
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

/* ---- prefix sums: each share is summed alone, then raised by the sums of the shares before it ---- */

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
