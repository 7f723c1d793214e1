/* A block: its threads, and what they do together: barriers, collectives of a warp, asynchronous copies. */
#include "cuda_runtime.h"
#include "fiber.h"
#include "launch.h"

#include <algorithm>
#include <chrono>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <thread>
#include <vector>

enum { WARP = 32, BARRIERS = 16, ALL = BARRIERS, GRID, PATIENCE_S = 300 };
enum wait_kind { READY, AT_BARRIER, IN_WARP, ENDED };

/* A copy that was started but not waited for; `group`: the number of its group in its thread. */
struct async_copy {
    void *to;
    const void *from;
    size_t bytes;
    unsigned group;
};

/* A collective in progress: the values of the lanes in a mask, until all of these lanes have read them. */
struct collection {
    unsigned unseen;
    unsigned long long values[WARP];
};

struct cuda_thread {
    fiber_place at;
    char *stack;
    wait_kind wait;
    int barrier;
    const char *name; /* the collective that the thread waits in; then its mask, the value given, the values returned */
    unsigned mask;
    unsigned long long value;
    collection *given;
    std::vector<async_copy> copies;
    unsigned groups;
};

struct barrier {
    unsigned arrived;
    int expected;
    bool any, voted;
};

struct block {
    std::vector<cuda_thread> threads;
    std::vector<collection> collections; /* WARP for each warp: a lane waits for one at a time */
    std::vector<unsigned> order;         /* the order in which the threads run */
    fiber_place outside;
    unsigned turn, current, ran, living,
        spinning;               /* turn: the position in `order`; ran: threads that ran in this round */
    barrier barriers[GRID + 1]; /* named barriers by id, then the grid's */
    const std::function<void()> *thread;
    char *shared;
    grid *all;
};

thread_local emu_index threadIdx, blockIdx, blockDim, gridDim;
static thread_local block *here;

static cuda_thread *running() { return &here->threads[here->current]; }

/* ---- errors ---- */

void emu_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    flockfile(stderr); /* never unlocked: only the first failure is printed */
    fprintf(stderr, "emulated GPU: block %u of %u, thread %u of %u: ", blockIdx.x, gridDim.x, threadIdx.x, blockDim.x);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    abort();
}

static void describe(const block *b, unsigned t, char *text, size_t bytes) {
    const cuda_thread *thread = &b->threads[t];
    const barrier *at = &b->barriers[thread->barrier];
    if (thread->wait == IN_WARP) {
        snprintf(text, bytes, "in %s with the mask 0x%08x", thread->name, thread->mask);
    } else if (thread->barrier < ALL) {
        snprintf(text, bytes, "at barrier %d, reached by %u of %d threads", thread->barrier, at->arrived, at->expected);
    } else {
        snprintf(text, bytes, "at the barrier of the %s, reached by %u of %u living threads",
                 thread->barrier == ALL ? "block" : "grid", at->arrived, b->living);
    }
}

/* Deadlock: names the first thread that waits, and the first one that waits for something else. */
static void fail_standing(const block *b) {
    char first[128] = "", other[128] = "";
    unsigned a = 0, c;
    while (b->threads[a].wait == ENDED) {
        a++;
    }
    describe(b, a, first, sizeof first);
    for (c = a + 1; c < b->threads.size(); c++) {
        if (b->threads[c].wait != ENDED) {
            describe(b, c, other, sizeof other);
            if (strcmp(first, other) != 0) {
                break;
            }
        }
    }
    threadIdx.x = a;
    if (c < b->threads.size()) {
        emu_fail("waits for ever %s; thread %u waits %s", first, c, other);
    }
    emu_fail("waits for ever %s", first);
}

/* ---- threads ---- */

/* Switches to the next thread that can run; after the last one has ended, to the block. */
static void suspend(fiber_place *from) {
    block *b = here;
    while (b->turn < b->order.size()) {
        const unsigned t = b->order[b->turn++];
        if (b->threads[t].wait == READY) {
            b->current = t;
            b->ran++;
            threadIdx = {t, 0, 0};
            fiber_switch(from, &b->threads[t].at);
            return;
        }
    }
    if (from != &b->outside) {
        fiber_switch(from, &b->outside);
    }
}
static void suspend() { suspend(&running()->at); }

void emu_yield() {
    here->spinning++;
    suspend();
}

/* ---- barriers ---- */

static void pass_grid(grid *all) {
    std::unique_lock<std::mutex> lock(all->mutex);
    const unsigned passed = all->passed;
    if (++all->arrived == all->blocks) {
        all->arrived = 0;
        all->passed++;
        all->moved.notify_all();
    } else if (!all->moved.wait_for(lock, std::chrono::seconds(PATIENCE_S), [&] { return all->passed != passed; })) {
        emu_fail("waits for ever at the barrier of the grid, reached by %u of %u blocks", all->arrived, all->blocks);
    }
}

/* Lets the threads at a barrier pass if all of them have arrived. */
static void open_barrier(block *b, int id) {
    barrier *at = &b->barriers[id];
    if (at->arrived == 0 || at->arrived != (id < ALL ? (unsigned)at->expected : b->living)) {
        return;
    }
    if (id == GRID) {
        pass_grid(b->all);
    }
    at->arrived = 0;
    at->voted = at->any;
    at->any = false;
    for (cuda_thread &thread : b->threads) {
        if (thread.wait == AT_BARRIER && thread.barrier == id) {
            thread.wait = READY;
        }
    }
}

static void arrive(int id) {
    cuda_thread *thread = running();
    here->barriers[id].arrived++;
    thread->wait = AT_BARRIER;
    thread->barrier = id;
    open_barrier(here, id);
    suspend();
}

void emu_barrier(int id, int threads) {
    barrier *at = &here->barriers[id & (BARRIERS - 1)];
    if (id < 1 || id >= BARRIERS) {
        emu_fail("there is no barrier %d: 1 to %d can be named", id, BARRIERS - 1);
    } else if (threads < WARP || threads > (int)blockDim.x || threads % WARP != 0) {
        emu_fail("barrier %d is for %d threads: not whole warps of the block", id, threads);
    } else if (at->arrived > 0 && at->expected != threads) {
        emu_fail("barrier %d is for %d threads, and others wait there for %d", id, threads, at->expected);
    }
    at->expected = threads;
    arrive(id);
}

bool emu_vote(bool predicate) {
    here->barriers[ALL].any |= predicate;
    arrive(ALL);
    return here->barriers[ALL].voted;
}

void emu_grid_barrier() {
    if (!here->all->together) {
        emu_fail("a barrier of the grid in a kernel that was not started for it");
    }
    arrive(GRID);
}

/* ---- collectives of a warp ---- */

/* Completes a collective if all lanes in the mask that have not ended have arrived. */
static void open_collective(block *b, unsigned warp, unsigned mask) {
    cuda_thread *lanes = &b->threads[warp];
    const unsigned count = std::min((unsigned)WARP, (unsigned)b->threads.size() - warp);
    const char *name = NULL;
    collection *given = &b->collections[warp];
    while (given->unseen > 0) {
        given++;
    }
    memset(given->values, EMU_PATTERN, sizeof given->values);
    for (unsigned lane = count; lane-- > 0;) { /* the last lane first: it usually arrives last */
        if ((mask >> lane & 1) == 0 || lanes[lane].wait == ENDED) {
            continue;
        } else if (lanes[lane].wait != IN_WARP || lanes[lane].mask != mask) {
            return;
        } else if (name && name != lanes[lane].name && strcmp(name, lanes[lane].name) != 0) {
            emu_fail("lanes of one mask, 0x%08x, meet in %s and in %s", mask, name, lanes[lane].name);
        }
        name = lanes[lane].name;
        given->values[lane] = lanes[lane].value;
    }
    for (unsigned lane = 0; lane < count; lane++) {
        if ((mask >> lane & 1) != 0 && lanes[lane].wait == IN_WARP) {
            lanes[lane].given = given;
            lanes[lane].wait = READY;
            given->unseen++;
        }
    }
}

const unsigned long long *emu_collect(const char *name, unsigned mask, unsigned long long value) {
    cuda_thread *thread = running();
    const unsigned lane = here->current % WARP;
    if ((mask >> lane & 1) == 0) {
        emu_fail("lane %u calls %s with the mask 0x%08x, which it is not in", lane, name, mask);
    }
    thread->wait = IN_WARP;
    thread->name = name;
    thread->mask = mask;
    thread->value = value;
    open_collective(here, here->current - lane, mask);
    suspend();
    thread->given->unseen--;
    return thread->given->values;
}

/* ---- asynchronous copies ---- */

void emu_copy_async(void *to, const void *from, size_t bytes) {
    cuda_thread *thread = running();
    if (bytes != 4 && bytes != 8 && bytes != 16) {
        emu_fail("a copy of %zu bytes to shared memory: 4, 8 and 16 are offered", bytes);
    } else if ((uintptr_t)to % bytes != 0 || (uintptr_t)from % bytes != 0) {
        emu_fail("a copy of %zu bytes from %p to %p, which are not both aligned to so many", bytes, from, to);
    }
    memset(to, EMU_PATTERN, bytes);
    thread->copies.push_back({to, from, bytes, thread->groups});
}

void emu_copy_commit() { running()->groups++; }

void emu_copy_wait(unsigned later) {
    cuda_thread *thread = running();
    size_t made = 0;
    while (made < thread->copies.size() && thread->copies[made].group + later < thread->groups) {
        memcpy(thread->copies[made].to, thread->copies[made].from, thread->copies[made].bytes);
        made++;
    }
    thread->copies.erase(thread->copies.begin(), thread->copies.begin() + (ptrdiff_t)made);
}

/* ---- blocks ---- */

char *emu_shared() { return here->shared; }

/* Runs a thread from begin to end. Threads that wait for all living ones may have waited for this one to end. */
static void live() {
    block *b = here;
    cuda_thread *thread = running();
    const unsigned warp = b->current / WARP * WARP;
    (*b->thread)();
    if (!fiber_stack_holds(thread->stack)) {
        emu_fail("more than %d bytes of stack are used", (int)FIBER_STACK_BYTES);
    }
    thread->wait = ENDED;
    b->living--;
    open_barrier(b, ALL);
    open_barrier(b, GRID);
    for (unsigned t = warp; t < warp + WARP && t < b->threads.size(); t++) {
        if (b->threads[t].wait == IN_WARP) {
            open_collective(b, warp, b->threads[t].mask);
        }
    }
    suspend();
}

void run_block(unsigned id, unsigned threads, size_t shared, const std::function<void()> &thread, grid *all) {
    static const char *seed = getenv("LSP_EMULATE_ORDER");
    block b = {};
    unsigned long long state = seed ? strtoull(seed, NULL, 0) * 2 + 1 + ((unsigned long long)id << 32) : 0;
    here = &b;
    blockIdx = {id, 0, 0};
    b.threads = std::vector<cuda_thread>(threads);
    b.collections = std::vector<collection>((threads + WARP - 1) / WARP * WARP);
    b.living = threads;
    b.thread = &thread;
    b.all = all;
    b.shared = (char *)malloc(shared);
    memset(b.shared, EMU_PATTERN, shared);
    for (unsigned t = 0; t < threads; t++) {
        b.order.push_back(t);
        b.threads[t].stack = fiber_take_stack();
        fiber_prepare(&b.threads[t].at, b.threads[t].stack, live);
    }
    while (b.living > 0) {
        b.turn = b.ran = b.spinning = 0;
        for (size_t i = threads - 1; state != 0 && i > 0; i--) { /* shuffled */
            state = state * 6364136223846793005u + 1442695040888963407u;
            std::swap(b.order[i], b.order[(state >> 33) % (i + 1)]);
        }
        suspend(&b.outside);
        if (b.ran == 0) {
            fail_standing(&b);
        } else if (b.ran == b.spinning) {
            std::this_thread::yield();
        }
    }
    for (cuda_thread &ended : b.threads) {
        fiber_give_stack(ended.stack);
    }
    free(b.shared);
}
