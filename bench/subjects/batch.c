/* The subject batch: many small products C[i] = A[i]*B[i], by one call for all, by its plan, and one by one. Timed from
 * operands in memory to products in memory; on a GPU all of them lie there. All A, and all B, lie one behind another,
 * so that operands cost the contexts nothing. Values are f64, indices int32. Right is what lsp_spgemm makes of each
 * pair on the host, bit for bit; a peer may differ by rounding. */
#include "bench/harness.h"
#include "bench/peers/mkl.h"
#include "pool.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const workloads[] = {"er:50:5/n10000", "mixed/n10000", NULL};
static const char *const quick[] = {"er:50:5/n100", "mixed/n100", NULL};

enum { MOST_CONTENDERS = 7 };

typedef struct batch_race {
    bench *b;
    int64_t count, products, bytes;
    bench_pool here[2], there[2]; /* A and B */
    lsp_csr *right;
    lsp_csr *C, *kept; /* a result; that of the plan, whose values are updated */
    lsp_spgemm_batch_plan *plan;
    lsp_ctx
        *alone; /* multiplies one by one: thousands of small blocks would push the batch's memory out of a context */
} batch_race;

typedef struct batch_peer {
    const batch_race *race;
    const peer_product *peer;
    void **self; /* a state for each product */
} batch_peer;

/* ---- the library ---- */

static const bench_pool *pools_of(const batch_race *r) { return r->b->device ? r->there : r->here; }

static bool run_batch(bench_contender *c) {
    const batch_race *r = c->state;
    const bench_pool *p = pools_of(r);
    return bench_must(c, c->ctx, lsp_spgemm_batch(c->ctx, r->count, p[0].all, p[1].all, NULL, r->C, NULL)) &&
           bench_must(c, c->ctx, lsp_ctx_sync(c->ctx));
}
static bool run_plan(bench_contender *c) {
    const batch_race *r = c->state;
    const bench_pool *p = pools_of(r);
    return bench_must(c, c->ctx, lsp_spgemm_batch_execute(r->plan, p[0].all, p[1].all, r->C)) &&
           bench_must(c, c->ctx, lsp_ctx_sync(c->ctx));
}
static void release_batch(bench_contender *c) {
    const batch_race *r = c->state;
    lsp_spgemm_batch_free(c->ctx, r->count, r->C);
}
static bool run_update(bench_contender *c) {
    const batch_race *r = c->state;
    const bench_pool *p = pools_of(r);
    return bench_must(c, c->ctx, lsp_spgemm_batch_refill(r->plan, p[0].all, p[1].all, r->kept)) &&
           bench_must(c, c->ctx, lsp_ctx_sync(c->ctx));
}
static void keep(bench_contender *c) { (void)c; }

static bool run_each(bench_contender *c) {
    const batch_race *r = c->state;
    const bench_pool *p = pools_of(r);
    for (int64_t i = 0; i < r->count; i++) {
        if (!bench_must(c, c->ctx, lsp_spgemm(c->ctx, p[0].all + i, p[1].all + i, NULL, r->C + i, NULL))) {
            return false;
        }
    }
    return bench_must(c, c->ctx, lsp_ctx_sync(c->ctx));
}
static void release_each(bench_contender *c) {
    const batch_race *r = c->state;
    for (int64_t i = 0; i < r->count; i++) {
        lsp_csr_free(c->ctx, r->C + i);
    }
}

static bool check_products(bench_contender *c, const lsp_csr *C) {
    const batch_race *r = c->state;
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .place = LSP_PLACE_HOST};
    for (int64_t i = 0; i < r->count; i++) {
        lsp_csr host = {.rows = 0};
        lsp_csr_difference d = {.same_bits = false};
        const bool compared = bench_must(c, c->ctx, lsp_csr_copy(c->ctx, C + i, &types, &host)) &&
                              bench_must(c, c->ctx, lsp_csr_compare(c->ctx, r->right + i, &host, &d));
        lsp_csr_free(c->ctx, &host);
        if (!compared || !d.same_bits) {
            return compared ? bench_why(c, "product %lld differs at row %lld, column %lld", (long long)i,
                                        (long long)d.row, (long long)d.col)
                            : false;
        }
    }
    return true;
}
static bool check_batch(bench_contender *c) { return check_products(c, ((const batch_race *)c->state)->C); }
static bool check_update(bench_contender *c) { return check_products(c, ((const batch_race *)c->state)->kept); }

/* ---- peers: one by one ---- */

static bool run_peer(bench_contender *c) {
    const batch_peer *p = c->state;
    for (int64_t i = 0; i < p->race->count; i++) {
        if (!p->peer->multiply(p->self[i])) {
            return bench_why(c, "%s could not multiply", c->who);
        }
    }
    return true;
}
static void release_peer(bench_contender *c) {
    const batch_peer *p = c->state;
    for (int64_t i = 0; i < p->race->count; i++) {
        p->peer->release(p->self[i]);
    }
}

/* The pattern exactly; values within 1e-12, as those of the generators are below 1 and few are added. */
static bool check_peer(bench_contender *c) {
    const batch_peer *p = c->state;
    for (int64_t i = 0; i < p->race->count; i++) {
        const lsp_csr *right = p->race->right + i;
        lsp_csr C;
        p->peer->view(p->self[i], &C);
        bool same = C.rows == right->rows && C.nnz == right->nnz &&
                    memcmp(C.rowptr, right->rowptr, 4 * (size_t)(C.rows + 1)) == 0 &&
                    memcmp(C.col, right->col, 4 * (size_t)C.nnz) == 0;
        for (int64_t k = 0; same && k < C.nnz; k++) {
            same = fabs(((const double *)C.val)[k] - ((const double *)right->val)[k]) <= 1e-12;
        }
        if (!same) {
            return bench_why(c, "product %lld is wrong", (long long)i);
        }
    }
    return true;
}

static void leave_peer(batch_peer *p) {
    for (int64_t i = 0; p->self && i < p->race->count; i++) {
        if (p->self[i]) {
            p->peer->destroy(p->self[i]);
        }
    }
    free(p->self);
}

/* Returns the number of contenders entered: one, or none. */
static int enter_peer(const batch_race *r, const char *who, const peer_product *peer, batch_peer *p,
                      bench_contender *c) {
    if (!peer) {
        return 0;
    }
    *p = (batch_peer){.race = r, .peer = peer, .self = calloc((size_t)r->count, sizeof *p->self)};
    bool sound = p->self;
    for (int64_t i = 0; sound && i < r->count; i++) {
        const peer_factors f = {.A = r->here[0].all + i, .B = r->here[1].all + i};
        p->self[i] = peer->prepare(&f, 1);
        sound = p->self[i];
    }
    if (!sound) {
        bench_fail(r->b, EXIT_MEMORY, "%s could not take the matrices", who);
        return 0;
    }
    *c = (bench_contender){
        .threads = 1, .run = run_peer, .check = check_peer, .release = release_peer, .state = p, .peak_bytes = -1};
    snprintf(c->who, sizeof c->who, "%s", who);
    return 1;
}

static int enter_peers(const batch_race *r, batch_peer *peers, bench_contender *contenders) {
    char why[256] = "";
    if (r->b->device) {
        return 0;
    }
    int count = enter_peer(r, "eigen", PEER_EIGEN(peer_eigen_product), peers, contenders);
    if (peer_mkl_load(why, sizeof why)) {
        count += enter_peer(r, "mkl", &peer_mkl, peers + count, contenders + count);
    } else if (why[0]) {
        fprintf(stderr, "sparse-bench: MKL cannot be loaded: %s\n", why);
    }
    return count;
}

/* ---- the race ---- */

static int enter(batch_race *r, double plan_time, batch_peer *peers, bench_contender *contenders) {
    bench *b = r->b;
    int count = 0;
    contenders[count++] = (bench_contender){.who = "libsparse",
                                            .ours = true,
                                            .chosen = true,
                                            .run = run_batch,
                                            .check = check_batch,
                                            .release = release_batch};
    contenders[count++] = (bench_contender){.who = "libsparse:plan",
                                            .ours = true,
                                            .again = true,
                                            .plan_time = plan_time,
                                            .run = run_plan,
                                            .check = check_batch,
                                            .release = release_batch};
    contenders[count++] = (bench_contender){.who = "libsparse:update",
                                            .ours = true,
                                            .again = true,
                                            .plan_time = plan_time,
                                            .run = run_update,
                                            .check = check_update,
                                            .release = keep};
    contenders[count++] = (bench_contender){
        .who = "libsparse:each", .ours = true, .run = run_each, .check = check_batch, .release = release_each};
    for (int k = 0; k < count; k++) {
        contenders[k].ctx = contenders[k].run == run_each ? r->alone : b->ours;
        contenders[k].threads = b->threads;
        contenders[k].on_gpu = b->device != NULL;
        contenders[k].state = r;
    }
    count += enter_peers(r, peers, contenders + count);
    for (int k = 0; k < count; k++) {
        contenders[k].bytes = r->bytes;
        contenders[k].products = r->products;
    }
    return count;
}

/* The right products one by one, and what a batch must do: operands read once, products written once. */
static bool make_right(batch_race *r) {
    bench *b = r->b;
    const lsp_csr *A = r->here[0].all, *B = r->here[1].all;
    for (int64_t i = 0; i < r->count; i++) {
        lsp_spgemm_info info;
        if (!bench_ok(b, b->one, lsp_spgemm(b->one, A + i, B + i, NULL, r->right + i, &info))) {
            return false;
        }
        r->products += info.products;
        r->bytes += 4 * (r->right[i].rows + 1) + 12 * r->right[i].nnz;
    }
    for (int f = 0; f < 2; f++) {
        r->bytes += r->here[f].bytes[0] + r->here[f].bytes[1] + r->here[f].bytes[2];
    }
    return true;
}

/* The plan, and products by it whose values the update must replace. The making is timed the second time. */
static bool make_plan(batch_race *r, double *seconds) {
    bench *b = r->b;
    const bench_pool *p = pools_of(r);
    for (int times = 0; times < 2; times++) {
        lsp_spgemm_batch_plan_destroy(r->plan);
        r->plan = NULL;
        const double start = bench_now();
        if (!bench_ok(b, b->ours,
                      lsp_spgemm_batch_plan_create(b->ours, r->count, p[0].all, p[1].all, NULL, &r->plan)) ||
            !bench_ok(b, b->ours, lsp_ctx_sync(b->ours))) {
            return false;
        }
        *seconds = bench_now() - start;
    }
    if (!bench_ok(b, b->ours, lsp_spgemm_batch_execute(r->plan, p[0].all, p[1].all, r->kept))) {
        return false;
    }
    for (int64_t i = 0; i < r->count; i++) {
        if (!bench_ok(b, b->ours, lsp_csr_apply(b->ours, r->kept + i, LSP_APPLY_CONSTANT, 0.5))) {
            return false;
        }
    }
    return true;
}

static bool open_alone(batch_race *r) {
    char error[256];
    bench_device *device = r->b->device;
    const lsp_ctx_options options = {.threads = r->b->threads,
                                     .device = device ? LSP_CUDA : LSP_HOST,
                                     .stream = device ? bench_device_stream(device) : NULL};
    if (lsp_ctx_create(&r->alone, &options, error, sizeof error) != LSP_OK) {
        bench_fail(r->b, EXIT_MEMORY, "%s", error);
        return false;
    }
    return true;
}

static bool prepare(batch_race *r, const char *spec, double *plan_time) {
    const size_t count = (size_t)r->count;
    r->right = calloc(count, sizeof *r->right), r->C = calloc(count, sizeof *r->C);
    r->kept = calloc(count, sizeof *r->kept);
    if (!r->right || !r->C || !r->kept) {
        bench_fail(r->b, EXIT_MEMORY, "out of memory for the products");
        return false;
    }
    for (int f = 0; f < 2; f++) {
        if (!bench_pool_fill(r->b, r->count, spec, (uint64_t)(1 + f), r->here + f) ||
            (r->b->device && !bench_pool_move(r->b, r->here + f, r->count, r->there + f))) {
            return false;
        }
    }
    return make_right(r) && make_plan(r, plan_time) && open_alone(r);
}

static void drop(batch_race *r) {
    bench *b = r->b;
    lsp_spgemm_batch_plan_destroy(r->plan);
    if (r->kept) {
        lsp_spgemm_batch_free(b->ours, r->count, r->kept);
    }
    for (int64_t i = 0; r->right && i < r->count; i++) {
        lsp_csr_free(b->one, r->right + i);
    }
    for (int f = 0; f < 2; f++) {
        bench_pool_drop(b, r->here + f, r->there + f);
    }
    free(r->right);
    free(r->C);
    free(r->kept);
    lsp_ctx_destroy(r->alone);
    lsp_ctx_trim(b->ours);
    lsp_ctx_trim(b->one);
    lsp_ctx_trim(b->base);
}

/* A workload is SPEC/nCOUNT, or mixed/nCOUNT. */
static void run(bench *b, const char *workload, const char *file) {
    const char *slash = strrchr(workload, '/');
    char spec[64];
    double plan_time = 0;
    batch_race r = {.b = b, .count = strtoll(slash + 2, NULL, 10)};
    (void)file;
    snprintf(spec, sizeof spec, "%.*s", (int)(slash - workload), workload);
    if (prepare(&r, strcmp(spec, "mixed") == 0 ? NULL : spec, &plan_time)) {
        bench_contender contenders[MOST_CONTENDERS];
        batch_peer peers[2] = {{.self = NULL}};
        bench_race(b, workload, contenders, enter(&r, plan_time, peers, contenders));
        leave_peer(peers);
        leave_peer(peers + 1);
    }
    drop(&r);
}

static const char *absent(int i) {
    const peer_product *eigen = PEER_EIGEN(peer_eigen_product);
    return i == 0 && !eigen ? "Eigen (libeigen3-dev)" : NULL;
}

static const char *version(bool on_gpu, int i, const char **who) {
    const peer_product *eigen = PEER_EIGEN(peer_eigen_product);
    if (!on_gpu && eigen && i-- == 0) {
        *who = "eigen";
        return eigen->version;
    }
    *who = "mkl";
    return !on_gpu && i == 0 ? peer_mkl_version() : NULL;
}

static const char *const no_files[] = {NULL};
const bench_subject bench_batch = {.name = "batch",
                                   .what = "many small products C[i] = A[i]*B[i] in one call",
                                   .workloads = workloads,
                                   .quick = quick,
                                   .file_variants = no_files,
                                   .run = run,
                                   .absent = absent,
                                   .version = version,
                                   .min_time = 0.5,
                                   .on_gpu = true};
