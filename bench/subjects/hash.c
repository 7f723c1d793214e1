/* The subject hash: tables of 32-bit keys with their positions as values. "build/n22/m1" builds one of 2^22 keys, each
 * of them m times; "find" searches as many keys as are distinct, for the first match; "miss" the same, but every other
 * key is not in the table; "all" finds all matches of n/m keys, their number included. On a GPU all arrays lie there,
 * and events time the call. Results are checked on the host. */
#include "bench/harness.h"
#include "bench/peers/peers.h"
#include <stdlib.h>
#include <string.h>

#define SIZES(what, m) what "/n18/" m, what "/n20/" m, what "/n22/" m, what "/n24/" m, what "/n26/" m
#define SIZES_CPU(what, m) what "/n16/" m, what "/n20/" m, what "/n24/" m
static const char *const workloads[] = {SIZES_CPU("build", "m1"), SIZES_CPU("find", "m1"),
                                        SIZES_CPU("miss", "m1"),  SIZES_CPU("build", "m8"),
                                        SIZES_CPU("find", "m8"),  SIZES_CPU("all", "m1"),
                                        SIZES_CPU("all", "m4"),   SIZES_CPU("all", "m8"),
                                        SIZES_CPU("all", "m16"),  NULL};
static const char *const gpu_workloads[] = {
    SIZES("build", "m1"), SIZES("find", "m1"), SIZES("miss", "m1"), SIZES("build", "m8"), SIZES("find", "m8"),
    SIZES("all", "m1"),   SIZES("all", "m4"),  SIZES("all", "m8"),  SIZES("all", "m16"),  NULL};
static const char *const quick[] = {"build/n14/m1", "find/n14/m1", "miss/n14/m1", "all/n14/m8", NULL};
static const char *const file_variants[] = {NULL};

static const peer_hash *peer_of(bool on_gpu) { return on_gpu ? PEER_CUB(peer_plain_hash_gpu) : &peer_plain_hash; }
static const char *absent(int i) { return (void)i, NULL; }
static const char *version(bool on_gpu, int i, const char **who) {
    *who = "plain";
    return i == 0 && peer_of(on_gpu) ? peer_of(on_gpu)->version : NULL;
}

typedef enum race_kind { BUILD, FIND, MISS, ALL } race_kind;

typedef struct race {
    race_kind kind;
    int64_t n, distinct, probes, matches;
    bench_device *device;      /* NULL: on the host */
    uint32_t *keys, *searched; /* on the host */
    peer_hash_job job;         /* where the race is */
    lsp_hash *table;           /* of the library; built before, or by the run */
    lsp_ctx *ctx;
    const peer_hash *peer;
    void *self;
} race;

/* ---- contenders ---- */

static lsp_status build_ours(race *r) {
    const lsp_hash_args args = {.n = r->n,
                                .key_type = LSP_U32,
                                .value_bytes = 4,
                                .keys = r->job.keys,
                                .values = r->job.values,
                                .where = r->device ? LSP_CUDA : LSP_HOST};
    return lsp_hash_build(r->ctx, &args, &r->table);
}

static bool act_ours(bench_contender *c, race *r) {
    const lsp_hash_probes probes = {.n = r->probes,
                                    .keys = r->job.searched,
                                    .values = r->job.found,
                                    .offsets = r->job.offsets,
                                    .capacity = r->matches};
    switch (r->kind) {
    case BUILD:
        return bench_must(c, r->ctx, build_ours(r));
    case ALL:
        return bench_must(c, r->ctx, lsp_hash_find_all(r->table, &probes, NULL));
    default:
        return bench_must(c, r->ctx, lsp_hash_find(r->table, &probes));
    }
}

static bool act_peer(bench_contender *c, race *r) {
    const char *wrong = r->kind == BUILD ? r->peer->build(r->self)
                        : r->kind == ALL ? r->peer->all(r->self)
                                         : r->peer->find(r->self);
    return !wrong || bench_why(c, "%s", wrong);
}

static bool run(bench_contender *c) {
    race *r = c->state;
    const bool began = !r->device || bench_device_start(r->device);
    const bool acted = (c->ours ? act_ours : act_peer)(c, r);
    c->elapsed = r->device ? bench_device_stop(r->device) : 0;
    return acted && ((began && c->elapsed >= 0) || bench_why(c, "%s", bench_device_error(r->device)));
}

static void release(bench_contender *c) {
    race *r = c->state;
    if (c->ours && r->kind == BUILD) {
        lsp_hash_destroy(r->table);
        r->table = NULL;
    }
}

/* ---- the check ---- */

static uint32_t key_of(int64_t id) { return (uint32_t)(id + 1) * 0x9E3779B1u; }
/* The key that probe i searches; those from `distinct` on are not in the table. */
static int64_t id_of(const race *r, int64_t i) {
    const uint64_t draw = bench_draw(7, i);
    return (int64_t)(draw % (uint64_t)r->distinct) + (r->kind == MISS && draw >> 63 ? r->distinct : 0);
}

static bool fetch(const race *r, void *to, const void *from, int64_t bytes) {
    if (r->device) {
        return bench_device_download(r->device, to, from, bytes);
    }
    memcpy(to, from, (size_t)bytes);
    return true;
}

/* Counts the probes with a wrong result. */
static int64_t faults_of(const race *r, const uint32_t *found, const int64_t *offsets, bool ours) {
    const int64_t each = r->n / r->distinct;
    int64_t faults = 0;
    for (int64_t i = 0; i < r->probes; i++) {
        const int64_t id = id_of(r, i);
        bool fault = false;
        if (r->kind != ALL) {
            const uint32_t none = ours ? 0 : UINT32_MAX; /* a value of the library's is 0 if the key is not there */
            fault = id >= r->distinct ? found[i] != none
                                      : found[i] >= r->n || found[i] % r->distinct != id || (ours && found[i] != id);
        } else {
            fault = offsets[i] != i * each || offsets[i + 1] != (i + 1) * each;
            for (int64_t k = i * each; !fault && k < (i + 1) * each; k++) {
                fault = found[k] >= r->n || found[k] % r->distinct != id ||
                        (ours && found[k] != id + (k - i * each) * r->distinct);
            }
        }
        faults += fault;
    }
    return faults;
}

static bool check(bench_contender *c) {
    race *r = c->state;
    if (r->kind == BUILD) { /* shown by the searches */
        lsp_hash_info info;
        return !c->ours ||
               (bench_must(c, r->ctx, lsp_hash_get_info(r->table, &info)) &&
                (info.distinct == r->distinct || bench_why(c, "%lld distinct keys", (long long)info.distinct)));
    }
    const int64_t values = r->kind == ALL ? r->matches : r->probes, offset_bytes = (r->probes + 1) * 8;
    uint32_t *found = malloc((size_t)values * sizeof *found);
    int64_t *offsets = malloc((size_t)offset_bytes), faults = 0;
    const bool fetched = found && offsets && fetch(r, found, r->job.found, values * 4) &&
                         (r->kind != ALL || fetch(r, offsets, r->job.offsets, offset_bytes));
    if (fetched) {
        faults = faults_of(r, found, offsets, c->ours);
    }
    free(found);
    free(offsets);
    const bool wiped = !r->device || bench_device_wipe(r->device, r->job.found, values * 4);
    return fetched && wiped
               ? faults == 0 || bench_why(c, "%lld of %lld probes are wrong", (long long)faults, (long long)r->probes)
               : bench_why(c, "the result could not be read");
}

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
static bool put(const race *r, const void *to, const void *from, int64_t bytes) {
    if (r->device) {
        return bench_device_upload(r->device, (void *)to, from, bytes);
    }
    memcpy((void *)to, from, (size_t)bytes);
    return true;
}

static bool make_arrays(race *r) {
    uint32_t *positions = malloc((size_t)r->n * 4);
    r->keys = malloc((size_t)r->n * 4);
    r->searched = malloc((size_t)r->probes * 4);
    peer_hash_job *j = &r->job;
    j->keys = take(r, r->n * 4), j->values = take(r, r->n * 4), j->searched = take(r, r->probes * 4);
    j->found = take(r, r->matches * 4), j->offsets = take(r, (r->probes + 1) * 8);
    bool made = positions && r->keys && r->searched && j->keys && j->values && j->searched && j->found && j->offsets;
    for (int64_t i = 0; made && i < r->n; i++) {
        r->keys[i] = key_of(i % r->distinct);
        positions[i] = (uint32_t)i;
    }
    for (int64_t i = 0; made && i < r->probes; i++) {
        r->searched[i] = key_of(id_of(r, i));
    }
    made = made && put(r, j->keys, r->keys, r->n * 4) && put(r, j->values, positions, r->n * 4) &&
           put(r, j->searched, r->searched, r->probes * 4);
    free(positions);
    return made;
}

static void drop_arrays(race *r) {
    drop(r, r->job.keys), drop(r, r->job.values), drop(r, r->job.searched), drop(r, r->job.found);
    drop(r, r->job.offsets);
    free(r->keys), free(r->searched);
}

static race make_race(bench *b, const char *workload) {
    static const char *const kinds[] = {"build", "find", "miss", "all"};
    race r = {.device = b->device, .ctx = b->ours};
    while (strncmp(kinds[r.kind], workload, strlen(kinds[r.kind])) != 0) {
        r.kind++;
    }
    r.n = INT64_C(1) << strtol(strstr(workload, "/n") + 2, NULL, 10);
    r.distinct = r.n / strtol(strstr(workload, "/m") + 2, NULL, 10);
    r.probes = r.distinct;
    r.matches = r.kind == ALL ? r.n : r.probes;
    r.job = (peer_hash_job){.n = r.n, .probes = r.probes, .threads = b->threads};
    r.job.stream = b->device ? bench_device_stream(b->device) : NULL;
    r.peer = peer_of(b->device != NULL);
    return r;
}

static int enter(const bench *b, race *r, bench_contender *contenders) {
    const bool peer = r->self != NULL;
    const int64_t bytes[] = {
        [BUILD] = 8 * r->n, [FIND] = 8 * r->probes, [MISS] = 8 * r->probes, [ALL] = 4 * r->n + 12 * r->probes};
    for (int k = 0; k < 1 + peer; k++) {
        contenders[k] = (bench_contender){.who = "libsparse", .ours = k == 0, .run = run, .check = check};
        contenders[k].release = release;
        contenders[k].state = r;
        contenders[k].ctx = k == 0 ? b->ours : NULL;
        contenders[k].on_gpu = b->device != NULL;
        contenders[k].threads = b->device ? 1 : b->threads;
        contenders[k].items = r->kind == BUILD || r->kind == ALL ? r->n : r->probes;
        contenders[k].bytes = bytes[r->kind];
    }
    if (peer) {
        snprintf(contenders[1].who, sizeof contenders[1].who, "plain");
    }
    return 1 + peer;
}

static void run_race(bench *b, const char *workload, const char *file) {
    bench_contender contenders[2];
    race r = make_race(b, workload);
    (void)file;
    const bool made = make_arrays(&r);
    r.self = made && r.peer ? r.peer->prepare(&r.job) : NULL;
    if (!made) {
        bench_fail(b, EXIT_MEMORY, "%s could not be prepared: out of memory", workload);
    } else if ((!r.self || !r.peer->build(r.self)) && (r.kind == BUILD || bench_ok(b, r.ctx, build_ours(&r)))) {
        bench_race(b, workload, contenders, enter(b, &r, contenders));
    }
    lsp_hash_destroy(r.table);
    if (r.self) {
        r.peer->destroy(r.self);
    }
    drop_arrays(&r);
    lsp_ctx_trim(b->ours);
}

const bench_subject bench_hash_search = {.name = "hash",
                                         .what = "builds tables of keys and searches in them",
                                         .workloads = workloads,
                                         .gpu_workloads = gpu_workloads,
                                         .quick = quick,
                                         .file_variants = file_variants,
                                         .run = run_race,
                                         .absent = absent,
                                         .version = version,
                                         .min_time = 0.25,
                                         .on_gpu = true};
