/* The races of sorts (segsort.h): keys, with or without values, sorted out of place by one call without a plan. On a
 * GPU all arrays lie there and events time the sort; on the CPU all contenders use the same number of threads. Every
 * result is checked where it lies (segments.h); that of the library must be stable. */
#include "segsort.h"
#include "bench/harness.h"
#include "bench/peers/peers.h"
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *who, *package;
    const peer_segments *peer;
} host_peers[] = {{"std_sort", "std::sort, qsort (a C++ compiler)", PEER_STD(peer_std_sort)},
                  {"std_stable", NULL, PEER_STD(peer_std_stable_sort)},
                  {"qsort", NULL, PEER_STD(peer_qsort)},
                  {"vqsort", "vqsort (libhwy-dev or -DLSP_HIGHWAY=)", PEER_HWY(peer_vqsort)},
                  {"x86_simd_sort", "x86-simd-sort (-DLSP_X86_SIMD_SORT=)", PEER_XSS(peer_xss)}};
static const struct {
    const char *who;
    const peer_gpu_segments *peer;
} gpu_peers[] = {{"cub", PEER_CUB(peer_cub_segsort)},
                 {"cub_segradix", PEER_CUB(peer_cub_segradix)},
                 {"cub_radix", PEER_CUB(peer_cub_radix)},
                 {"cub_merge", PEER_CUB(peer_cub_merge)}};
enum { HOST_PEERS = sizeof host_peers / sizeof *host_peers, GPU_PEERS = sizeof gpu_peers / sizeof *gpu_peers };
enum { MOST_ENTRANTS = 1 + (HOST_PEERS > GPU_PEERS ? HOST_PEERS : GPU_PEERS) };

const char *bench_sort_absent(int i) {
    for (int k = 0; k < HOST_PEERS; k++) {
        if (!host_peers[k].peer && host_peers[k].package && i-- == 0) {
            return host_peers[k].package;
        }
    }
    return NULL;
}

const char *bench_sort_version(bool on_gpu, int i, const char **who) {
    for (int k = 0; on_gpu && k < GPU_PEERS; k++) {
        if (gpu_peers[k].peer && i-- == 0) {
            *who = gpu_peers[k].who;
            return gpu_peers[k].peer->version;
        }
    }
    for (int k = 0; !on_gpu && k < HOST_PEERS; k++) {
        if (host_peers[k].peer && i-- == 0) {
            *who = host_peers[k].who;
            return host_peers[k].peer->version;
        }
    }
    return NULL;
}

/* One workload and its arrays. */
typedef struct race {
    lsp_segsort_args args;
    bench_device *device; /* NULL: on the host */
    int32_t *offsets;     /* on the host, even if the arrays are on the GPU */
    int64_t longest;      /* segment, in items */
    int threads;
    bool whole;             /* one array by lsp_sort; else segments by lsp_segsort */
    lsp_sort_method method; /* of lsp_sort */
    bool graph;             /* sorts of plans run in a CUDA graph of GRAPH_SORTS */
} race;

typedef struct entrant {
    const race *race;
    const peer_segments *host;    /* a peer on the CPU; NULL here and below: the library */
    const peer_gpu_segments *gpu; /* a peer on the GPU */
    void *self;                   /* its state */
    char *scratch;                /* of a peer on the CPU, for each thread 16 bytes an item of the longest segment */
    lsp_ctx *ctx;                 /* in a graph: of the library, and its plan; the graph */
    lsp_sort_plan *plan;
    void *recorded;
} entrant;

enum { GRAPH_SORTS = 20 };

/* ---- contenders ---- */

/* Waits for the GPU and takes the time since bench_device_start. */
static bool stop_clock(bench_contender *c, bench_device *device) {
    c->elapsed = bench_device_stop(device);
    return c->elapsed >= 0 || bench_why(c, "%s", bench_device_error(device));
}

static lsp_sort_args sort_args_of(const race *r) {
    const lsp_segsort_args *a = &r->args;
    return (lsp_sort_args){.n = a->n,
                           .key_type = a->key_type,
                           .value_bytes = a->value_bytes,
                           .keys = a->keys,
                           .keys_out = a->keys_out,
                           .values = a->values,
                           .values_out = a->values_out,
                           .method = r->method,
                           .where = a->where};
}

static lsp_status sort(lsp_ctx *ctx, const race *r) {
    const lsp_sort_args args = sort_args_of(r);
    return r->whole ? lsp_sort(ctx, &args, NULL) : lsp_segsort(ctx, &r->args, NULL);
}

/* One sort of an entrant, to be recorded; NULL or a complaint. */
static const char *sort_by_plan(void *data) {
    const entrant *e = data;
    const lsp_sort_args args = sort_args_of(e->race);
    return e->gpu ? e->gpu->sort(e->self) : lsp_sort_execute(e->plan, &args) == LSP_OK ? NULL : lsp_last_error(e->ctx);
}

static bool run_graph(bench_contender *c) {
    entrant *e = c->state;
    bench_device *device = e->race->device;
    const lsp_sort_args args = sort_args_of(e->race);
    if (!e->recorded) {
        e->ctx = c->ctx;
        if (!e->gpu && !bench_must(c, c->ctx, lsp_sort_plan_create(c->ctx, &args, &e->plan))) {
            return false;
        }
        e->recorded = bench_device_record(device, sort_by_plan, e, GRAPH_SORTS);
    }
    const bool ran = e->recorded && bench_device_start(device) && bench_device_replay(device, e->recorded);
    const bool timed = stop_clock(c, device);
    c->elapsed /= GRAPH_SORTS;
    return (ran || bench_why(c, "it cannot be recorded: %s", bench_device_error(device))) && timed;
}

static bool run_ours(bench_contender *c) {
    const entrant *e = c->state;
    const race *r = e->race;
    if (!r->device) {
        return bench_must(c, c->ctx, sort(c->ctx, r));
    }
    const bool began = bench_device_start(r->device);
    const bool sorted = bench_must(c, c->ctx, sort(c->ctx, r));
    return stop_clock(c, r->device) && began && sorted;
}

static bool run_gpu_peer(bench_contender *c) {
    const entrant *e = c->state;
    const bool began = bench_device_start(e->race->device);
    const char *wrong = e->gpu->sort(e->self);
    return stop_clock(c, e->race->device) && began && (!wrong || bench_why(c, "%s", wrong));
}

/* The first segment that begins at or after `item`. */
static int64_t first_segment(const race *r, int64_t item) {
    int64_t low = 0, high = r->args.segments;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (r->offsets[middle] < item) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Cuts the items into blocks for the threads; a block sorts the segments that begin in it. */
static bool run_host_peer(bench_contender *c) {
    enum { BLOCK = 1 << 15 };
    const entrant *e = c->state;
    const race *r = e->race;
#pragma omp parallel for num_threads(r->threads) schedule(dynamic) if (r->args.n > BLOCK)
    for (int64_t begin = 0; begin < r->args.n; begin += BLOCK) {
        const int64_t first = first_segment(r, begin), last = first_segment(r, begin + BLOCK);
        e->host->sort(&r->args, first, last, e->scratch + omp_get_thread_num() * r->longest * 16);
    }
    return true;
}

static void release(bench_contender *c) { (void)c; }

/* ---- the check ---- */

static int64_t value_bytes(const race *r) { return r->args.n * (int64_t)r->args.value_bytes; }
static int64_t key_bytes(const race *r) { return r->args.n * (int64_t)lsp_type_bytes(r->args.key_type); }

/* Fills the output with ones, so that the check cannot see the result of another contender. */
static bool wipe(const race *r) {
    if (r->device) {
        return bench_device_wipe(r->device, r->args.keys_out, key_bytes(r)) &&
               (!r->args.value_bytes || bench_device_wipe(r->device, r->args.values_out, value_bytes(r)));
    }
    memset(r->args.keys_out, 0xFF, (size_t)key_bytes(r));
    if (r->args.value_bytes) {
        memset(r->args.values_out, 0xFF, (size_t)value_bytes(r));
    }
    return true;
}

static bool judge(bench_contender *c, const bench_verdict *verdict) {
    static const char *const words[BENCH_FAULTS] = {
        [BENCH_PLACE] = "the value of item %lld does not belong to its key",
        [BENCH_ORDER] = "item %lld is smaller than the one before it",
        [BENCH_STABLE] = "item %lld was before its equal and now follows it: not stable"};
    for (int fault = 0; fault < BENCH_FAULTS; fault++) {
        if (verdict->first[fault] != LLONG_MAX) {
            return bench_why(c, words[fault], verdict->first[fault]);
        }
    }
    return verdict->hash_in == verdict->hash_out || bench_why(c, "items were lost or duplicated");
}

static bool check(bench_contender *c) {
    const entrant *e = c->state;
    const race *r = e->race;
    const bool stable = e->host ? e->host->stable : !e->gpu;
    const char *wrong = e->gpu ? e->gpu->finish(e->self) : NULL;
    bench_verdict verdict;
    if (wrong) {
        return bench_why(c, "%s", wrong);
    }
    if (c->ours && r->device && !bench_must(c, c->ctx, lsp_ctx_sync(c->ctx))) {
        return false;
    }
    if (!r->device) {
        bench_segments_check(&r->args, stable, &verdict);
    } else if (!bench_device_check(r->device, &r->args, stable, &verdict)) {
        return bench_why(c, "%s", bench_device_error(r->device));
    }
    const bool right = judge(c, &verdict);
    return (wipe(r) || bench_why(c, "%s", bench_device_error(r->device))) && right;
}

/* ---- the race ---- */

static void *take(const race *r, int64_t bytes) {
    return r->device ? bench_device_alloc(r->device, bytes) : malloc(bytes > 0 ? (size_t)bytes : 1);
}
static void drop(const race *r, const void *memory) {
    if (r->device) {
        bench_device_free(r->device, (void *)memory);
    } else {
        free((void *)memory);
    }
}

static void drop_arrays(race *r) {
    drop(r, r->args.values_out);
    drop(r, r->args.values);
    drop(r, r->args.keys_out);
    drop(r, r->args.keys);
    if (r->device) {
        drop(r, r->args.offsets);
    }
    free(r->offsets);
}

/* Makes the segments, keys and values of a workload, for example "uniform_1000/kv32/sorted". */
static bool make_arrays(race *r, const char *workload, bool is_quick) {
    static const char *const types[] = {"k32", "kv32", "k32v64", "k64", "k64v32", "kv64"};
    static const char *const shapes[] = {"random", "distinct16", "half_equal", "sorted", "reversed", "equal", "skewed"};
    static const size_t value[] = {0, 4, 8, 0, 4, 8};
    const char *type = strchr(workload, '/') + 1, *shape = strchr(type, '/');
    const size_t letters = strcspn(type, "/");
    lsp_segsort_args *a = &r->args;
    bench_keys keys = BENCH_RANDOM;
    int64_t draws;
    int t = 0;
    while (strlen(types[t]) != letters || strncmp(types[t], type, letters) != 0) {
        t++;
    }
    for (int k = 0; shape && k < (int)(sizeof shapes / sizeof *shapes); k++) {
        const size_t end = strcspn(shape + 1, "/");
        keys = strlen(shapes[k]) == end && strncmp(shape + 1, shapes[k], end) == 0 ? (bench_keys)k : keys;
    }
    r->graph = r->device && strstr(workload, "/graph");
    r->method = strstr(workload, "/radix") ? LSP_SORT_RADIX : LSP_SORT_AUTO;
    a->key_type = t >= 3 ? LSP_U64 : shape && strcmp(shape, "/f32") == 0 ? LSP_F32 : LSP_U32;
    a->value_bytes = value[t];
    a->first = shape && strncmp(shape, "/first", 6) == 0 ? strtoll(shape + 6, NULL, 10) : 0;
    a->n = INT64_C(1) << (is_quick ? 18 : r->device ? 27 : 24);
    char one[64] = ""; /* "n20/kv32" of sort is one segment of 2^20 items */
    if (r->whole) {
        snprintf(one, sizeof one, "small_%lld_1/", 1LL << strtol(workload + 1, NULL, 10));
    }
    r->offsets = bench_segments_make(*one ? one : workload, &a->n, &a->segments, &draws);
    if (!r->offsets) {
        return false;
    }
    const int64_t offset_bytes = (a->segments + 1) * (int64_t)sizeof *r->offsets;
    r->longest = bench_segments_longest(r->offsets, a->segments);
    a->offset_type = LSP_I32;
    a->where = r->device ? LSP_CUDA : LSP_HOST;
    a->offsets = r->device ? take(r, offset_bytes) : r->offsets;
    a->keys = take(r, key_bytes(r));
    a->keys_out = take(r, key_bytes(r));
    a->values = a->value_bytes ? take(r, value_bytes(r)) : NULL;
    a->values_out = a->value_bytes ? take(r, value_bytes(r)) : NULL;
    if (!a->offsets || !a->keys || !a->keys_out || (a->value_bytes && (!a->values || !a->values_out))) {
        return false;
    }
    if (!r->device) {
        bench_segments_fill(a, keys, draws);
        return wipe(r);
    }
    return bench_device_upload(r->device, (void *)a->offsets, r->offsets, offset_bytes) &&
           bench_device_fill(r->device, a, keys, draws) && wipe(r);
}

static int enter_gpu_peers(bench *b, const race *r, bench_contender *contenders, entrant *entrants, int count) {
    for (int k = 0; k < GPU_PEERS; k++) {
        const peer_gpu_segments *peer = gpu_peers[k].peer;
        const bool merges = peer == PEER_CUB(peer_cub_merge), whole = merges || peer == PEER_CUB(peer_cub_radix);
        if (!peer || !peer->offers(&r->args) || (r->whole ? !whole : merges)) {
            continue;
        }
        bench_contender *c = contenders + count;
        *c = (bench_contender){.run = r->graph ? run_graph : run_gpu_peer};
        snprintf(c->who, sizeof c->who, "%s", gpu_peers[k].who);
        entrants[count] = (entrant){.race = r, .gpu = peer};
        entrants[count].self = peer->prepare(&r->args, bench_device_stream(r->device), &c->peak_bytes);
        if (entrants[count].self) {
            count++;
        } else {
            bench_fail(b, EXIT_MEMORY, "%s: no memory on the GPU", c->who);
        }
    }
    return count;
}

static int enter_host_peers(bench *b, const race *r, bench_contender *contenders, entrant *entrants, int count) {
    for (int k = 0; k < HOST_PEERS; k++) {
        if (!host_peers[k].peer) {
            continue;
        }
        bench_contender *c = contenders + count;
        *c = (bench_contender){.run = run_host_peer};
        snprintf(c->who, sizeof c->who, "%s", host_peers[k].who);
        entrants[count] = (entrant){.race = r, .host = host_peers[k].peer};
        entrants[count].scratch = malloc((size_t)(r->longest * 16 * r->threads));
        if (entrants[count].scratch) {
            count++;
        } else {
            bench_fail(b, EXIT_MEMORY, "%s: no memory", c->who);
        }
    }
    return count;
}

static int enter(bench *b, const race *r, bench_contender *contenders, entrant *entrants) {
    entrants[0] = (entrant){.race = r};
    contenders[0] =
        (bench_contender){.who = "libsparse", .ours = true, .run = r->graph ? run_graph : run_ours, .ctx = b->ours};
    const int count = (r->device ? enter_gpu_peers : enter_host_peers)(b, r, contenders, entrants, 1);
    for (int k = 0; k < count; k++) {
        contenders[k].state = entrants + k;
        contenders[k].check = check;
        contenders[k].release = release;
        contenders[k].on_gpu = r->device;
        contenders[k].threads = r->device ? 1 : r->threads;
        contenders[k].items = r->args.n;
        contenders[k].bytes = 2 * (key_bytes(r) + value_bytes(r)); /* read and written */
    }
    return count;
}

void bench_run_sort(bench *b, const char *workload, bool whole) {
    race r = {.device = b->device, .threads = b->threads, .whole = whole};
    if (make_arrays(&r, workload, b->options.quick)) {
        bench_contender contenders[MOST_ENTRANTS];
        entrant entrants[MOST_ENTRANTS];
        const int count = enter(b, &r, contenders, entrants);
        bench_race(b, workload, contenders, count);
        for (int k = 0; k < count; k++) {
            bench_device_forget(entrants[k].recorded);
            lsp_sort_plan_destroy(entrants[k].plan);
            free(entrants[k].scratch);
            if (entrants[k].gpu) {
                entrants[k].gpu->destroy(entrants[k].self);
            }
        }
    } else {
        const char *why = r.device ? bench_device_error(r.device) : "";
        bench_fail(b, EXIT_MEMORY, "%s could not be prepared: %s", workload, *why ? why : "out of memory");
    }
    drop_arrays(&r);
    lsp_ctx_trim(b->ours);
}
