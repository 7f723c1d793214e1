/* The subjects gather and scatter: to[i] = from[index[i]] and to[index[i]] = from[i], by every strategy that is
 * offered, in one call and by a plan, beside what the cache model predicts from a sample of the indices. On a GPU all
 * arrays lie there, events time the move, and the last cache is swept before. Every result is checked where it lies
 * (moves.h). */
#include "bench/harness.h"
#include "bench/peers/peers.h"
#include <stdlib.h>
#include <string.h>

#define SIZES_CPU(pattern)                                                                                             \
    pattern "/n16/b8", pattern "/n18/b8", pattern "/n20/b8", pattern "/n22/b8", pattern "/n24/b8", pattern "/n26/b8"
#define SIZES_GPU(pattern) pattern "/n20/b8", pattern "/n22/b8", pattern "/n24/b8", pattern "/n26/b8"
#define DEEP "random/n28/b8", "permutation/n28/b8", "sequential/n28/b8"
#define WIDTHS(pattern) pattern "/n24/b4", pattern "/n24/b16"
#define ALL(sizes)                                                                                                     \
    sizes("random"), sizes("permutation"), sizes("sequential"), sizes("local"), sizes("parts5"), sizes("parts11"),     \
        sizes("parts16")
#define PASSES_CPU "passes/n24/b8"
#define PASSES_GPU "passes/n26/b8"
#define WIDE WIDTHS("random"), WIDTHS("permutation"), WIDTHS("sequential"), WIDTHS("parts11")
#define QUICK                                                                                                          \
    "random/n17/b8", "permutation/n17/b4", "sequential/n17/b8", "local/n17/b16", "parts5/n17/b8", "parts11/n17/b8",    \
        "passes/n17/b8"

static const char *const gather_workloads[] = {ALL(SIZES_CPU), SIZES_CPU("zipf"), WIDE, PASSES_CPU, NULL};
static const char *const gather_gpu_workloads[] = {ALL(SIZES_GPU), SIZES_GPU("zipf"), DEEP, WIDE, PASSES_GPU, NULL};
static const char *const gather_quick[] = {QUICK, "zipf/n17/b8", NULL};
static const char *const scatter_workloads[] = {ALL(SIZES_CPU), WIDE, PASSES_CPU,
                                                NULL}; /* zipf: its indices are not distinct */
static const char *const scatter_gpu_workloads[] = {ALL(SIZES_GPU), DEEP, WIDE, PASSES_GPU, NULL};
static const char *const scatter_quick[] = {QUICK, NULL};
static const char *const file_variants[] = {NULL};

static const struct {
    const char *who;
    const peer_move *peer;
    bool on_gpu;
} peers[] = {{"plain", &peer_plain_move, false},
             {"plain", PEER_CUB(peer_plain_kernel), true},
             {"thrust", PEER_CUB(peer_thrust), true}};
enum { MOST_PASSES = 32 };
enum { PEERS = sizeof peers / sizeof *peers, MOST_ENTRANTS = 2 * LSP_STRATEGIES + PEERS };

static const char *absent(int i) { return (void)i, NULL; }

static const char *version(bool on_gpu, int i, const char **who) {
    for (int k = 0; k < PEERS; k++) {
        if (peers[k].peer && peers[k].on_gpu == on_gpu && i-- == 0) {
            *who = peers[k].who;
            return peers[k].peer->version;
        }
    }
    return NULL;
}

/* One workload and its arrays. */
typedef struct race {
    bench *b;
    const char *workload;
    bench_device *device; /* NULL: on the host */
    bench_move move;
    lsp_column column;
    lsp_gather_args args;
    lsp_cache_prediction once, planned;
} race;

typedef struct entrant {
    race *race;
    const peer_move *peer; /* NULL: the library */
    lsp_gather_args args;
    lsp_gather_plan *plan; /* NULL: one call */
} entrant;

/* ---- contenders ---- */

static bool run(bench_contender *c) {
    const entrant *e = c->state;
    const race *r = e->race;
    bench_device *d = r->device;
    const bool began = !d || (bench_device_sweep(d) && bench_device_start(d));
    bool moved;
    if (e->peer) {
        const char *wrong = e->peer->run(&e->args, r->move.scatter, c->threads, d ? bench_device_stream(d) : NULL);
        moved = !wrong || bench_why(c, "%s", wrong);
    } else if (e->plan) {
        moved = bench_must(c, c->ctx, lsp_gather_execute(e->plan, &r->column, 1));
    } else {
        moved = bench_must(c, c->ctx, (r->move.scatter ? lsp_scatter : lsp_gather)(c->ctx, &e->args, NULL));
    }
    c->elapsed = d ? bench_device_stop(d) : 0;
    return moved && ((began && c->elapsed >= 0) || bench_why(c, "%s", bench_device_error(d)));
}

static bool wipe(const race *r) {
    const int64_t bytes = r->move.n * r->move.bytes;
    if (r->device) {
        return bench_device_wipe(r->device, r->move.to, bytes);
    }
    memset(r->move.to, 0xFF, (size_t)bytes);
    return true;
}

static bool check(bench_contender *c) {
    const race *r = ((const entrant *)c->state)->race;
    long long faults = 0;
    if (r->device && ((c->ctx && !bench_must(c, c->ctx, lsp_ctx_sync(c->ctx))) ||
                      !bench_device_check_moves(r->device, &r->move, &faults))) {
        return c->why[0] ? false : bench_why(c, "%s", bench_device_error(r->device));
    }
    for (int64_t i = 0; !r->device && i < r->move.n; i++) {
        faults += bench_move_fault(&r->move, i);
    }
    return wipe(r) && (faults == 0 || bench_why(c, "%lld of %lld elements are wrong", faults, (long long)r->move.n));
}

static void release(bench_contender *c) { (void)c; }

/* ---- the race ---- */

static void *take(const race *r, int64_t bytes) {
    return r->device ? bench_device_alloc(r->device, bytes) : aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);
}
static void drop(const race *r, const void *memory) {
    if (r->device) {
        bench_device_free(r->device, (void *)memory);
    } else {
        free((void *)memory);
    }
}

static bool fill_index(const race *r, const char *pattern, int bits) {
    const int64_t bytes = r->move.n * (int64_t)sizeof *r->move.index;
    int32_t *here = r->device ? malloc((size_t)bytes) : (int32_t *)r->move.index;
    const bool filled = here && bench_move_fill(pattern, bits, here) &&
                        (!r->device || bench_device_upload(r->device, (void *)r->move.index, here, bytes));
    if (r->device) {
        free(here);
    }
    return filled;
}

/* Makes the arrays of a workload, for example "local/n24/b8". */
static bool make_arrays(race *r, const char *workload) {
    const int bits = (int)strtol(strchr(workload, '/') + 2, NULL, 10);
    bench_move *m = &r->move;
    m->n = INT64_C(1) << bits;
    m->bytes = (int)strtol(strrchr(workload, '/') + 2, NULL, 10);
    m->index = take(r, m->n * (int64_t)sizeof *m->index);
    m->from = take(r, m->n * m->bytes);
    m->to = take(r, m->n * m->bytes);
    if (!m->index || !m->from || !m->to || !fill_index(r, workload, bits) || !wipe(r)) {
        return false;
    }
    for (int64_t i = 0; !r->device && i < m->n; i++) {
        bench_move_put((uint32_t *)m->from, m->bytes, i);
    }
    r->column = (lsp_column){.from = m->from, .to = m->to, .bytes = (size_t)m->bytes};
    r->args = (lsp_gather_args){.n = m->n,
                                .extent = m->n,
                                .index = m->index,
                                .index_type = LSP_I32,
                                .columns = &r->column,
                                .column_count = 1,
                                .where = r->device ? LSP_CUDA : LSP_HOST};
    return !r->device || bench_device_fill_moves(r->device, m);
}

/* What the model tells of this workload, from a sample of its indices. */
static bool predict(race *r) {
    lsp_ctx *ctx = r->b->ours;
    lsp_cache_case what = {.n = r->move.n,
                           .extent = r->move.n,
                           .element_bytes = (size_t)r->move.bytes,
                           .index_bytes = sizeof *r->move.index,
                           .scatter = r->move.scatter};
    if (!bench_ok(r->b, ctx,
                  lsp_cache_model_sample(ctx, r->move.index, LSP_I32, r->move.n, (size_t)r->move.bytes, r->args.where,
                                         &what.pattern)) ||
        !bench_ok(r->b, ctx, lsp_cache_model_predict(ctx, NULL, &what, &r->once))) {
        return false;
    }
    what.planned = true;
    return bench_ok(r->b, ctx, lsp_cache_model_predict(ctx, NULL, &what, &r->planned));
}

/* Makes the plan twice and keeps the second one, whose time needs no new memory. false: not offered. */
static bool make_plan(entrant *e, bench_contender *c) {
    for (int i = 0; i < 2; i++) {
        lsp_gather_plan_destroy(e->plan);
        e->plan = NULL;
        const double start = bench_now();
        const lsp_status status =
            (e->race->move.scatter ? lsp_scatter_plan_create : lsp_gather_plan_create)(c->ctx, &e->args, &e->plan);
        if (status == LSP_ERR_UNSUPPORTED) {
            return false;
        }
        if (!bench_ok(e->race->b, c->ctx, status) || !bench_ok(e->race->b, c->ctx, lsp_ctx_sync(c->ctx))) {
            return false;
        }
        c->plan_time = bench_now() - start;
    }
    return true;
}

static void dress(race *r, bench_contender *c, entrant *e) {
    const bench *b = r->b;
    e->race = r;
    c->state = e;
    c->run = run;
    c->check = check;
    c->release = release;
    c->on_gpu = r->device;
    c->threads = r->device ? 1 : b->threads;
    c->items = r->move.n;
    c->bytes = r->move.n * (2 * r->move.bytes + (int64_t)sizeof *r->move.index);
}

/* The library by one strategy; false: the strategy is not offered. */
static bool enter_ours(race *r, bench_contender *c, entrant *e, lsp_strategy strategy, bool planned) {
    const lsp_cache_prediction *p = planned ? &r->planned : &r->once;
    const bool chosen = strategy == LSP_STRATEGY_AUTO;
    *c = (bench_contender){.ours = true, .ctx = r->b->ours, .again = planned, .chosen = chosen};
    *e = (entrant){.args = r->args};
    e->args.strategy = strategy;
    e->args.passes = strategy == LSP_STRATEGY_RESCAN ? p->passes[strategy] : 0; /* those that were predicted */
    dress(r, c, e);
    if (!chosen && p->seconds[strategy] <= 0) {
        return false;
    }
    c->predicted = chosen ? 0 : p->seconds[strategy];
    snprintf(c->who, sizeof c->who, "libsparse%s%s%s", planned ? ":plan" : "", chosen ? "" : ":",
             chosen ? "" : lsp_strategy_name(strategy));
    return !planned || make_plan(e, c);
}

/* The paper's scheme with 1, 2, 4, ... passes, on the workload "passes", a permutation. */
static int enter_passes(race *r, bench_contender *contenders, entrant *entrants) {
    int count = 0;
    const lsp_cache_case what = {.n = r->move.n,
                                 .extent = r->move.n,
                                 .element_bytes = (size_t)r->move.bytes,
                                 .index_bytes = sizeof *r->move.index,
                                 .scatter = r->move.scatter};
    for (int passes = 1; passes <= MOST_PASSES; passes *= 2, count++) {
        bench_contender *c = contenders + count;
        *c = (bench_contender){.ours = true, .ctx = r->b->ours};
        entrants[count] = (entrant){.args = r->args};
        entrants[count].args.strategy = LSP_STRATEGY_RESCAN;
        entrants[count].args.passes = passes;
        dress(r, c, entrants + count);
        snprintf(c->who, sizeof c->who, "libsparse:rescan-%d", passes);
        (void)bench_ok(r->b, c->ctx, lsp_cache_model_rescan(c->ctx, NULL, &what, passes, &c->predicted));
    }
    return count;
}

static int enter(race *r, bench_contender *contenders, entrant *entrants) {
    const bool passes = strncmp(r->workload, "passes", 6) == 0;
    int count = passes ? enter_passes(r, contenders, entrants) : 0;
    for (int planned = 0; planned < 2 && !passes; planned++) {
        for (int s = LSP_STRATEGY_AUTO; s < LSP_STRATEGIES; s++) {
            count += enter_ours(r, contenders + count, entrants + count, (lsp_strategy)s, planned);
        }
    }
    for (int k = 0; k < PEERS; k++) {
        if (!peers[k].peer || peers[k].on_gpu != (r->device != NULL)) {
            continue;
        }
        contenders[count] = (bench_contender){.peak_bytes = 0};
        entrants[count] = (entrant){.peer = peers[k].peer, .args = r->args};
        snprintf(contenders[count].who, sizeof contenders[count].who, "%s", peers[k].who);
        dress(r, contenders + count, entrants + count);
        count++;
    }
    return count;
}

static void race_on(bench *b, const char *workload, bool scatter) {
    race r = {.b = b, .workload = workload, .device = b->device, .move = {.scatter = scatter}};
    if (make_arrays(&r, workload)) {
        bench_contender contenders[MOST_ENTRANTS];
        entrant entrants[MOST_ENTRANTS];
        const int count = predict(&r) ? enter(&r, contenders, entrants) : 0;
        bench_race(b, workload, contenders, count);
        for (int k = 0; k < count; k++) {
            lsp_gather_plan_destroy(entrants[k].plan);
        }
    } else {
        const char *why = r.device ? bench_device_error(r.device) : "";
        bench_fail(b, EXIT_MEMORY, "%s could not be prepared: %s", workload, *why ? why : "out of memory");
    }
    drop(&r, r.move.to);
    drop(&r, r.move.from);
    drop(&r, r.move.index);
    lsp_ctx_trim(b->ours);
}

static void run_gather(bench *b, const char *workload, const char *file) {
    (void)file;
    race_on(b, workload, false);
}
static void run_scatter(bench *b, const char *workload, const char *file) {
    (void)file;
    race_on(b, workload, true);
}

const bench_subject bench_gather = {.name = "gather",
                                    .what = "reads elements by index, and predicts the time",
                                    .workloads = gather_workloads,
                                    .gpu_workloads = gather_gpu_workloads,
                                    .quick = gather_quick,
                                    .file_variants = file_variants,
                                    .run = run_gather,
                                    .absent = absent,
                                    .version = version,
                                    .min_time = 0.05,
                                    .on_gpu = true};
const bench_subject bench_scatter = {.name = "scatter",
                                     .what = "writes elements by index, and predicts the time",
                                     .workloads = scatter_workloads,
                                     .gpu_workloads = scatter_gpu_workloads,
                                     .quick = scatter_quick,
                                     .file_variants = file_variants,
                                     .run = run_scatter,
                                     .absent = absent,
                                     .version = version,
                                     .min_time = 0.05,
                                     .on_gpu = true};
