/* The subject spmv: Y = op(A) X, in one call and by plans, with every method that is offered, beside the times that the
 * model predicts. A workload SPEC/TYPES: f64, f32, mixed (values f32, vectors f64), f64x4 and f64x8 (several vectors),
 * f64t (transposed, by plans alone). On a GPU all arrays lie there, events time the product, and the last cache is
 * swept before. */
#include "spmv_race.h"
#include <stdlib.h>
#include <string.h>

#define BOTH(spec) spec "/f64", spec "/f32"
#define SEVERAL(spec) spec "/f64x4", spec "/f64x8"
static const char *const workloads[] = {BOTH("poisson2d:2048"), BOTH("stencil27:96"),   BOTH("fem3:32"),
                                        BOTH("rmat:18:16"),     BOTH("er:4194304:8"),   SEVERAL("poisson2d:2048"),
                                        SEVERAL("fem3:32"),     "poisson2d:2048/mixed", "fem3:32/mixed",
                                        "poisson2d:2048/f64t",  "rmat:18:16/f64t",      NULL};
static const char *const gpu_workloads[] = {BOTH("poisson2d:4096"),
                                            BOTH("stencil27:128"),
                                            BOTH("fem3:48"),
                                            BOTH("rmat:20:16"),
                                            BOTH("web:4000000:1.8:20000"),
                                            BOTH("er:4194304:8"),
                                            BOTH("er:16777216:4"),
                                            BOTH("er:67108864:2"),
                                            SEVERAL("poisson2d:4096"),
                                            SEVERAL("stencil27:128"),
                                            SEVERAL("fem3:48"),
                                            "poisson2d:4096/mixed",
                                            "fem3:48/mixed",
                                            "poisson2d:4096/f64t",
                                            "rmat:20:16/f64t",
                                            "er:16777216:4/f64t",
                                            NULL};
static const char *const quick[] = {
    BOTH("poisson2d:64"),   BOTH("stencil27:10"),    BOTH("fem3:6"), BOTH("rmat:10:8"), BOTH("er:4096:8"),
    "web:5000:1.8:200/f64", SEVERAL("poisson2d:64"), "fem3:6/mixed", "rmat:10:8/f64t",  NULL};
static const char *const file_variants[] = {"f64", "f32", NULL};

/* A method is raced if it is predicted to take at most this many times the best one. */
static const double worth_racing = 8;

/* ---- the library ---- */

static lsp_spmv_options options_of(const spmv_race *r, lsp_spmv_method method) {
    return (lsp_spmv_options){.type = r->type, .vectors = r->vectors, .transpose = r->transpose, .method = method};
}

/* Makes the plan twice and keeps the second one, whose time needs no new memory. false: not offered. */
static bool make_plan(spmv_entrant *e, bench_contender *c) {
    bench *b = e->race->b;
    for (int i = 0; i < 2; i++) {
        lsp_spmv_plan_destroy(e->plan);
        e->plan = NULL;
        const double start = bench_now();
        const lsp_status status = lsp_spmv_plan_create(c->ctx, bench_spmv_matrix(e->race), &e->options, &e->plan);
        if (status == LSP_ERR_UNSUPPORTED || !bench_ok(b, c->ctx, status) ||
            !bench_ok(b, c->ctx, lsp_ctx_sync(c->ctx))) {
            return false;
        }
        c->plan_time = bench_now() - start;
    }
    return true;
}

/* Is a call without a plan offered by this method? */
static bool offers_call(const spmv_entrant *e, lsp_ctx *ctx) {
    const lsp_status status = bench_spmv_call(e, ctx);
    return status != LSP_ERR_UNSUPPORTED && bench_ok(e->race->b, ctx, status) &&
           bench_ok(e->race->b, ctx, lsp_ctx_sync(ctx));
}

static void enter_ours(spmv_race *r, lsp_spmv_method method, bool planned) {
    bench_contender *c = r->contenders + r->count;
    spmv_entrant *e = r->entrants + r->count;
    const bool chosen = method == LSP_SPMV_AUTO;
    *c = (bench_contender){.ours = true, .ctx = r->b->ours, .again = planned, .any_peer = planned, .chosen = chosen};
    *e = (spmv_entrant){.options = options_of(r, method)};
    bench_spmv_dress(r, c, e);
    snprintf(c->who, sizeof c->who, "libsparse%s%s%s", planned ? ":plan" : "", chosen ? "" : ":",
             chosen ? "" : lsp_spmv_method_name(method));
    if (!(planned ? make_plan(e, c) : offers_call(e, c->ctx))) {
        return;
    }
    c->predicted = chosen ? 0 : r->seconds[method];
    r->count++;
}

/* Notes what the model predicts for each method; a plan tells it. */
static bool predict(spmv_race *r) {
    lsp_spmv_plan *plan = NULL;
    lsp_spmv_info info;
    const lsp_spmv_options options = options_of(r, LSP_SPMV_AUTO);
    lsp_ctx *ctx = r->b->ours;
    const bool told = bench_ok(r->b, ctx, lsp_spmv_plan_create(ctx, bench_spmv_matrix(r), &options, &plan)) &&
                      bench_ok(r->b, ctx, lsp_spmv_plan_get_info(plan, &info));
    for (int m = 0; told && m < LSP_SPMV_METHODS; m++) {
        r->seconds[m] = info.seconds[m];
    }
    lsp_spmv_plan_destroy(plan);
    return told;
}

static bool is_worth_racing(const spmv_race *r, int method) {
    double best = 0;
    for (int m = LSP_SPMV_ROWS; m < LSP_SPMV_METHODS; m++) {
        best = r->seconds[m] > 0 && (best == 0 || r->seconds[m] < best) ? r->seconds[m] : best;
    }
    return r->seconds[method] > 0 && r->seconds[method] <= worth_racing * best;
}

static void enter(spmv_race *r) {
    for (int planned = r->transpose; planned < 2; planned++) {
        enter_ours(r, LSP_SPMV_AUTO, planned);
        for (int m = LSP_SPMV_ROWS; m < (planned ? LSP_SPMV_METHODS : LSP_SPMV_GATHER + 1); m++) {
            if (is_worth_racing(r, m)) {
                enter_ours(r, (lsp_spmv_method)m, planned);
            }
        }
    }
    bench_spmv_enter_peers(r);
}

/* ---- the race ---- */

/* Reads the part after the last slash of a workload. */
static void set_types(spmv_race *r, const char *types, lsp_type *values) {
    *values = strcmp(types, "f32") == 0 || strcmp(types, "mixed") == 0 ? LSP_F32 : LSP_F64;
    r->type = strcmp(types, "f32") == 0 ? LSP_F32 : LSP_F64;
    r->vectors = types[0] == 'f' && types[3] == 'x' ? (int)strtol(types + 4, NULL, 10) : 1;
    r->transpose = types[0] == 'f' && types[3] == 't';
}

static void *take(const spmv_race *r, int64_t count) {
    const int64_t bytes = count * (int64_t)lsp_type_bytes(r->type);
    return r->b->device ? bench_device_alloc(r->b->device, bytes) : aligned_alloc(64, (size_t)(bytes + 64) / 64 * 64);
}
static void drop(const spmv_race *r, void *memory) {
    if (r->b->device) {
        bench_device_free(r->b->device, memory);
    } else {
        free(memory);
    }
}

static bool make_vectors(spmv_race *r) {
    bench *b = r->b;
    r->in = (r->transpose ? r->A.rows : r->A.cols) * r->vectors;
    r->out = (r->transpose ? r->A.cols : r->A.rows) * r->vectors;
    const int64_t bytes = r->in * (int64_t)lsp_type_bytes(r->type);
    r->x = take(r, r->in);
    r->y = take(r, r->out);
    void *x = b->device ? malloc((size_t)bytes + 8) : r->x;
    bool made = r->x && r->y && x;
    if (!made) {
        bench_fail(b, EXIT_MEMORY, "out of memory for the vectors");
    }
    made = made && bench_spmv_make_right(r, x) && (!b->device || bench_device_upload(b->device, r->x, x, bytes)) &&
           bench_spmv_wipe(r);
    if (b->device) {
        free(x);
    }
    return made;
}

static bool prepare(spmv_race *r, const char *spec, const char *file, const char *types) {
    bench *b = r->b;
    lsp_type values;
    set_types(r, types, &values);
    const lsp_csr_types as = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .val_type = values};
    const lsp_csr_types there = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .place = LSP_PLACE_CUDA};
    const lsp_mtx_read_options options = {.types = as};
    return bench_ok(b, b->base,
                    file ? lsp_mtx_read(b->base, file, &options, &r->A, NULL)
                         : lsp_generate(b->base, spec, 1, &as, &r->A)) &&
           (!b->device || bench_ok(b, b->ours, lsp_csr_copy(b->ours, &r->A, &there, &r->there))) && make_vectors(r);
}

static void run(bench *b, const char *workload, const char *file) {
    const char *slash = strrchr(workload, '/');
    char spec[128];
    spmv_race r = {.b = b};
    snprintf(spec, sizeof spec, "%.*s", (int)(slash - workload), workload);
    if (prepare(&r, spec, file, slash + 1) && predict(&r)) {
        enter(&r);
        bench_race(b, workload, r.contenders, r.count);
        for (int k = 0; k < r.count; k++) {
            lsp_spmv_plan_destroy(r.entrants[k].plan);
        }
        bench_spmv_drop_peers(&r);
    }
    drop(&r, r.x);
    drop(&r, r.y);
    free(r.found);
    free(r.right);
    free(r.allowance);
    lsp_csr_free(b->ours, &r.there);
    lsp_csr_free(b->base, &r.A);
    lsp_ctx_trim(b->ours);
    lsp_ctx_trim(b->base);
}

const bench_subject bench_spmv = {.name = "spmv",
                                  .what = "y = A*x, and predicts the time",
                                  .workloads = workloads,
                                  .quick = quick,
                                  .gpu_workloads = gpu_workloads,
                                  .file_variants = file_variants,
                                  .run = run,
                                  .absent = bench_spmv_absent,
                                  .version = bench_spmv_version,
                                  .min_time = 0.05,
                                  .on_gpu = true};
