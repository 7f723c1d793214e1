/* The subject two_body: statistics of the pairs of one set of points. "join/blobs/n16/f32" is the verb, the cloud, the
 * bits of the number of points (lattice: the next smaller cube) and the type. The library runs by each method that it
 * offers for the verb, beside plain loops over all pairs. On a GPU the points lie there. A result must be the plain
 * one: counts and the places of entries exactly; bins but for 1 pair in 10,000, because the plain bin is rounded; sums
 * of distances and densities within 1e-4. */
#include "bench/harness.h"
#include "bench/peers/peers.h"
#include "growth.h"
#include "segments.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLOUDS(verb, n) verb "/uniform/" n "/f32", verb "/blobs/" n "/f32", verb "/lattice/" n "/f32"
#define VERBS(n, few)                                                                                                  \
    CLOUDS("count", n), "count/uniform/" n "/f64", CLOUDS("radii", n), CLOUDS("histogram", n), CLOUDS("gr", n),        \
        CLOUDS("join", n), "join/uniform/" n "/f64", CLOUDS("nearest", few), "nearest8/uniform/" few "/f32",           \
        CLOUDS("density", few)
static const char *const workloads[] = {VERBS("n15", "n14"), "join/uniform/n19/f32", "nearest/uniform/n19/f32", NULL};
static const char *const gpu_workloads[] = {VERBS("n19", "n19"), "histogram/uniform/n19/f64", "count/uniform/n16/f32",
                                            "join/uniform/n16/f32", NULL};
static const char *const quick[] = {CLOUDS("count", "n10"),     "radii/blobs/n10/f64",     "histogram/uniform/n10/f32",
                                    "gr/blobs/n10/f32",         CLOUDS("join", "n10"),     "nearest/lattice/n10/f32",
                                    "nearest8/uniform/n10/f64", "density/uniform/n10/f32", NULL};
static const char *const file_variants[] = {NULL};

enum { BLOBS = 64, METHODS = 5, /* the last: all pairs with approximate roots */ MOST_PLAIN_ON_CPU = 1 << 17 };
static const double blob_width = 0.02;

static const peer_pairs *peer_of(bool on_gpu) { return on_gpu ? PEER_CUB(peer_plain_pairs_gpu) : &peer_plain_pairs; }
static const char *absent(int i) { return (void)i, NULL; }
static const char *version(bool on_gpu, int i, const char **who) {
    *who = "plain";
    return i == 0 && peer_of(on_gpu) ? peer_of(on_gpu)->version : NULL;
}

/* What there is to say of a result; the sums are independent of the order of entries. */
typedef struct digest {
    uint64_t counts[PEER_MOST_BINS], places;
    int64_t nnz;
    double sum;
} digest;

typedef struct race {
    bench *b;
    peer_pairs_job job;
    void *host[LSP_MOST_DIMENSIONS]; /* the points; job.points may lie on a GPU */
    const peer_pairs *peer;
    void *self; /* of the peer; NULL: none */
    bool told;  /* is there a right result? */
    digest right;
} race;

typedef struct entrant {
    race *race;
    lsp_pair_method method;
    bool approximate;
    uint64_t counts[PEER_MOST_BINS];
    void *density, *there; /* on the host; on the GPU, where the points lie there */
    lsp_csr C;
} entrant;

/* ---- points ---- */

static double random_part(uint64_t seed, int64_t k) { return (double)(bench_draw(seed, k) >> 11) * 0x1p-53; }

double bench_coordinate(const char *cloud, int64_t n, int64_t i, int k) {
    if (strncmp(cloud, "lattice", 7) == 0) {
        const int64_t side = llround(cbrt((double)n));
        return (double)(k == 0 ? i % side : k == 1 ? i / side % side : i / side / side) / (double)side;
    }
    const int64_t draw = i * LSP_MOST_DIMENSIONS + k;
    if (strncmp(cloud, "blobs", 5) == 0) {
        const double u = 1 - random_part(12, draw), v = random_part(13, draw);
        const double x = random_part(11, i % BLOBS * LSP_MOST_DIMENSIONS + k) +
                         blob_width * sqrt(-2 * log(u)) * cos(2 * acos(-1.0) * v);
        return x - floor(x);
    }
    return random_part(10, draw);
}

static bool make_points(race *r, const char *cloud) {
    lsp_points *p = &r->job.points;
    const int64_t bytes = p->n * (int64_t)lsp_type_bytes(p->type);
    bool made = true;
    for (int k = 0; made && k < p->dimensions; k++) {
        r->host[k] = malloc((size_t)bytes);
        for (int64_t i = 0; r->host[k] && i < p->n; i++) {
            if (p->type == LSP_F32) {
                ((float *)r->host[k])[i] = (float)bench_coordinate(cloud, p->n, i, k);
            } else {
                ((double *)r->host[k])[i] = bench_coordinate(cloud, p->n, i, k);
            }
        }
        void *there = r->b->device ? bench_device_alloc(r->b->device, bytes) : r->host[k];
        p->at[k] = there;
        made = r->host[k] && there && (!r->b->device || bench_device_upload(r->b->device, there, r->host[k], bytes));
    }
    return made;
}

static void drop_points(race *r) {
    for (int k = 0; k < r->job.points.dimensions; k++) {
        if (r->b->device) {
            bench_device_free(r->b->device, (void *)r->job.points.at[k]);
        }
        free(r->host[k]);
    }
}

/* ---- contenders ---- */

static lsp_status call(bench_contender *c, entrant *e) {
    const peer_pairs_job *job = &e->race->job;
    lsp_pair_options o = {.method = e->method, .approximate_root = e->approximate};
    double radii[PEER_MOST_NEAREST];
    for (int k = 0; k < job->points.dimensions; k++) {
        o.box[k] = job->box;
    }
    switch (job->kind) {
    case PEER_PAIRS_COUNT:
        return lsp_pair_count(c->ctx, &job->points, NULL, &o, &job->reach, 1, e->counts, NULL);
    case PEER_PAIRS_RADII:
        for (int k = 0; k < job->bins; k++) {
            radii[k] = job->reach * (k + 1) / job->bins;
        }
        return lsp_pair_count(c->ctx, &job->points, NULL, &o, radii, job->bins, e->counts, NULL);
    case PEER_PAIRS_JOIN:
        return lsp_radius_join(c->ctx, &job->points, NULL, &o, job->reach, NULL, &e->C, NULL);
    case PEER_PAIRS_NEAREST:
        return lsp_nearest(c->ctx, &job->points, NULL, &o, job->bins, NULL, &e->C, NULL);
    case PEER_PAIRS_DENSITY:
        return lsp_kernel_density(c->ctx, &job->points, NULL, &o, job->reach, &(lsp_density_options){.tolerance = 1e-6},
                                  e->there ? e->there : e->density, NULL);
    default:
        return lsp_pair_histogram(c->ctx, &job->points, NULL, &o, job->reach, job->bins, e->counts, NULL);
    }
}

static bool run(bench_contender *c) {
    entrant *e = c->state;
    if (c->ours) {
        return bench_must(c, c->ctx, call(c, e)) && bench_must(c, c->ctx, lsp_ctx_sync(c->ctx));
    }
    const char *wrong = e->race->peer->run(e->race->self);
    return !wrong || bench_why(c, "%s", wrong);
}

static void release(bench_contender *c) {
    entrant *e = c->state;
    if (c->ours) {
        lsp_csr_free(c->ctx, &e->C);
    } else {
        e->race->peer->release(e->race->self);
    }
}

/* ---- the check ---- */

static bool digest_matrix(const race *r, const lsp_csr *C, digest *d) {
    const size_t item = lsp_type_bytes(C->val_type), index = lsp_type_bytes(C->rowptr_type);
    lsp_csr h = *C;
    if (r->b->device) {
        h.rowptr = malloc((size_t)(C->rows + 1) * index);
        h.col = malloc((size_t)(C->nnz + 1) * sizeof(int32_t));
        h.val = malloc((size_t)(C->nnz + 1) * item);
    }
    const bool there =
        !r->b->device || (h.rowptr && h.col && h.val &&
                          bench_device_download(r->b->device, h.rowptr, C->rowptr, (C->rows + 1) * (int64_t)index) &&
                          bench_device_download(r->b->device, h.col, C->col, C->nnz * (int64_t)sizeof(int32_t)) &&
                          bench_device_download(r->b->device, h.val, C->val, C->nnz * (int64_t)item));
    d->nnz = C->nnz;
    for (int64_t i = 0, k = 0; there && i < C->rows; i++) {
        const int64_t end = index == 4 ? ((const int32_t *)h.rowptr)[i + 1] : ((const int64_t *)h.rowptr)[i + 1];
        for (; k < end && k < C->nnz; k++) {
            d->places += bench_mix((uint64_t)i * BENCH_GAMMA + (uint64_t)((const int32_t *)h.col)[k]);
            d->sum += item == 4 ? (double)((const float *)h.val)[k] : ((const double *)h.val)[k];
        }
    }
    if (r->b->device) {
        free(h.rowptr), free(h.col), free(h.val);
    }
    return there;
}

/* `scale`: of a peer's density. */
static bool digest_result(const race *r, const uint64_t *counts, const void *density, double scale, const lsp_csr *C,
                          digest *d) {
    *d = (digest){.nnz = 0};
    const bool matrix = r->job.kind == PEER_PAIRS_JOIN || r->job.kind == PEER_PAIRS_NEAREST;
    if (r->job.kind == PEER_PAIRS_DENSITY) { /* weighted, so that an exchange of two points shows */
        for (int64_t i = 0; i < r->job.points.n; i++) {
            const double x =
                r->job.points.type == LSP_F32 ? (double)((const float *)density)[i] : ((const double *)density)[i];
            d->sum += (1 + random_part(14, i)) * x * scale;
        }
    } else if (!matrix) {
        memcpy(d->counts, counts, (size_t)(r->job.kind == PEER_PAIRS_COUNT ? 1 : r->job.bins) * sizeof *counts);
    }
    return !matrix || digest_matrix(r, C, d);
}

static bool agrees(bench_contender *c, const race *r, const digest *d) {
    const bool bins = r->job.kind == PEER_PAIRS_HISTOGRAM || r->job.kind == PEER_PAIRS_GR;
    double moved = 0, total = 0;
    for (int k = 0; k < PEER_MOST_BINS; k++) {
        moved += fabs((double)d->counts[k] - (double)r->right.counts[k]);
        total += (double)r->right.counts[k];
    }
    if (d->nnz != r->right.nnz || d->places != r->right.places) {
        return bench_why(c, "%lld entries, or others than the plain %lld", (long long)d->nnz, (long long)r->right.nnz);
    }
    if (moved > (bins ? 1e-4 * total : 0)) {
        return bench_why(c, "%.0f counts of %.0f differ from the plain ones", moved, total);
    }
    return fabs(d->sum - r->right.sum) <= 1e-4 * fabs(r->right.sum) ||
           bench_why(c, "the sum is %.9g, not %.9g", d->sum, r->right.sum);
}

/* The first result of a race is the right one: the plain one, where there is one. */
static bool check(bench_contender *c) {
    entrant *e = c->state;
    race *r = e->race;
    const uint64_t *counts = e->counts;
    const void *density = e->density;
    lsp_csr C = e->C;
    double scale = 1;
    if (c->ours && e->there) {
        bench_device_download(r->b->device, e->density, e->there,
                              r->job.points.n * (int64_t)lsp_type_bytes(r->job.points.type));
    }
    if (!c->ours) {
        r->peer->view(r->self, &counts, &density, &C);
        scale = pow(2 * acos(-1.0), -0.5 * r->job.points.dimensions) / (double)r->job.points.n /
                pow(r->job.reach, r->job.points.dimensions);
    }
    digest *d = malloc(sizeof *d);
    const bool made = d && digest_result(r, counts, density, scale, &C, d);
    const bool right = made && (!r->told || agrees(c, r, d));
    if (made && !r->told) {
        r->right = *d;
        r->told = true;
    }
    free(d);
    return right || (!made && bench_why(c, "the result could not be read"));
}

/* ---- the race ---- */

static void enter(race *r, bench_contender *c, entrant *e, const char *method) {
    const bool squared = r->job.kind == PEER_PAIRS_NEAREST || r->job.kind == PEER_PAIRS_DENSITY;
    const double n = (double)r->job.points.n, pairs = squared ? n * n : n * (n - 1) / 2;
    *c = (bench_contender){.run = run, .check = check, .release = release, .state = e, .ours = method != NULL};
    e->race = r;
    c->ctx = method ? r->b->ours : NULL;
    c->on_gpu = r->b->device != NULL;
    c->threads = r->b->device ? 1 : r->b->threads;
    c->items = (int64_t)pairs;
    c->bytes = r->job.points.n * r->job.points.dimensions * (int64_t)lsp_type_bytes(r->job.points.type);
    c->chosen = method && !*method;
    if (method) {
        snprintf(c->who, sizeof c->who, "libsparse%s%s", *method ? ":" : "", method);
    } else {
        snprintf(c->who, sizeof c->who, "plain");
    }
}

/* Does the library have this method for the verb, here? All pairs of many points take a CPU too long, and its roots are
 * exact. */
static bool offers(const race *r, lsp_pair_method method, bool approximate) {
    const peer_pairs_kind kind = r->job.kind;
    if (approximate) {
        return r->b->device && (kind == PEER_PAIRS_HISTOGRAM || kind == PEER_PAIRS_GR);
    }
    const bool matrixlike = kind == PEER_PAIRS_NEAREST || kind == PEER_PAIRS_DENSITY;
    switch (method) {
    case LSP_PAIR_ALL:
        return r->b->device || r->job.points.n <= MOST_PLAIN_ON_CPU;
    case LSP_PAIR_GRID:
        return !matrixlike;
    case LSP_PAIR_BOXES:
        return kind != PEER_PAIRS_JOIN;
    default:
        return true;
    }
}

static void drop_density(race *r, entrant *e) {
    if (r->b->device) {
        bench_device_free(r->b->device, e->there);
    }
    free(e->density);
}

static void read_workload(race *r, const char *workload) {
    static const char *const kinds[] = {"count", "radii", "histogram", "gr", "join", "nearest", "density"};
    peer_pairs_job *job = &r->job;
    lsp_points *p = &job->points;
    for (int k = 0; k < 7; k++) {
        job->kind = strncmp(workload, kinds[k], strlen(kinds[k])) == 0 ? (peer_pairs_kind)k : job->kind;
    }
    p->n = INT64_C(1) << strtol(strstr(workload, "/n") + 2, NULL, 10);
    p->dimensions = strncmp(workload, "nearest8", 8) == 0 ? 8 : 3;
    p->type = strstr(workload, "/f64") ? LSP_F64 : LSP_F32;
    p->where = r->b->device ? LSP_CUDA : LSP_HOST;
    if (strstr(workload, "lattice")) {
        const int64_t side = (int64_t)floor(cbrt((double)p->n) + 1e-9);
        p->n = side * side * side;
    }
    switch (job->kind) {
    case PEER_PAIRS_JOIN: /* about 8 neighbours a point, if they are uniform */
        job->reach = cbrt(8.4 * 0.75 / acos(-1.0) / (double)p->n);
        break;
    case PEER_PAIRS_NEAREST:
        job->bins = PEER_MOST_NEAREST;
        break;
    case PEER_PAIRS_DENSITY:
        job->reach = 0.02;
        break;
    case PEER_PAIRS_HISTOGRAM: /* as far as two points of the cube can be apart; no distances of the lattice
                                  are the edge of a bin */
        job->reach = 1.74;
        job->bins = 256;
        break;
    case PEER_PAIRS_GR:
        job->reach = 0.251, job->box = 1; /* again, no edge of a bin */
        job->bins = 256;
        break;
    default:
        job->reach = 0.1;
        job->bins = PEER_MOST_NEAREST;
    }
}

static void run_race(bench *b, const char *workload, const char *file) {
    static const char *const methods[METHODS] = {"", "all", "grid", "boxes", "approximate"};
    bench_contender contenders[1 + METHODS];
    race *r = calloc(1, sizeof *r);
    entrant *entrants = calloc(1 + METHODS, sizeof *entrants);
    int count = 0;
    (void)file;
    if (!r || !entrants) {
        bench_fail(b, EXIT_MEMORY, "%s could not be prepared: out of memory", workload);
        free(r), free(entrants);
        return;
    }
    r->b = b;
    r->job = (peer_pairs_job){.threads = b->threads, .stream = b->device ? bench_device_stream(b->device) : NULL};
    read_workload(r, workload);
    bool made = make_points(r, strchr(workload, '/') + 1);
    r->peer = b->device || r->job.points.n <= MOST_PLAIN_ON_CPU ? peer_of(b->device != NULL) : NULL;
    r->self = made && r->peer ? r->peer->prepare(&r->job) : NULL;
    if (r->self) {
        enter(r, &contenders[count], &entrants[count], NULL);
        count++;
    }
    for (int k = 0; made && k < METHODS; k++) {
        entrant *e = &entrants[count];
        const bool approximate = k == METHODS - 1;
        *e = (entrant){.method = approximate ? LSP_PAIR_ALL : (lsp_pair_method)k,
                       .approximate = approximate,
                       .density = malloc((size_t)r->job.points.n * sizeof(double))};
        enter(r, &contenders[count], e, methods[k]);
        e->there = b->device ? bench_device_alloc(b->device, r->job.points.n * (int64_t)sizeof(double)) : NULL;
        made = e->density != NULL && (e->there != NULL || !b->device);
        if (made && offers(r, e->method, approximate)) {
            count++;
        } else {
            drop_density(r, e);
        }
    }
    if (made) {
        bench_race(b, workload, contenders, count);
    } else {
        bench_fail(b, EXIT_MEMORY, "%s could not be prepared: out of memory", workload);
    }
    for (int k = 0; k < count; k++) {
        drop_density(r, &entrants[k]);
    }
    if (r->self) {
        r->peer->destroy(r->self);
    }
    drop_points(r);
    free(r), free(entrants);
    lsp_ctx_trim(b->ours);
}

const bench_subject bench_two_body = {.name = "two_body",
                                      .what = "computes statistics of all pairs of points",
                                      .workloads = workloads,
                                      .gpu_workloads = gpu_workloads,
                                      .quick = quick,
                                      .file_variants = file_variants,
                                      .run = run_race,
                                      .absent = absent,
                                      .version = version,
                                      .min_time = 0.25,
                                      .on_gpu = true};
