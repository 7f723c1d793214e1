/* The subject matrices: one function of matrices after another, on A with values f64 and int32 indices. Timed from
 * operands in memory to the result in memory, checks and allocations included; on a GPU all of them lie there. Each
 * race has a copy of A, whose speed is the roof. The right result is the library's on one thread of the host, bit for
 * bit. */
#include "bench/subjects/matrices_race.h"
#include <stdlib.h>
#include <string.h>

static const char *const names[PEER_FUNCTIONS + 1] = {[PEER_ADD] = "add",
                                                      [PEER_ADD_TRANSPOSED] = "add_transposed",
                                                      [PEER_HADAMARD] = "hadamard",
                                                      [PEER_REDUCE_ROWS] = "reduce_rows",
                                                      [PEER_REDUCE_COLS] = "reduce_cols",
                                                      [PEER_REDUCE_ALL] = "reduce_all",
                                                      [PEER_SCALE] = "scale",
                                                      [PEER_DIAGONAL] = "diagonal",
                                                      [PEER_EXTRACT_ROWS] = "extract_rows",
                                                      [PEER_EXTRACT_COLS] = "extract_cols",
                                                      [PEER_BLOCK] = "block",
                                                      [PEER_TRIANGLE] = "triangle",
                                                      [PEER_TRANSPOSE] = "transpose"};
#define ALL(spec)                                                                                                      \
    spec "/add", spec "/add_transposed", spec "/hadamard", spec "/reduce_rows", spec "/reduce_cols",                   \
        spec "/reduce_all", spec "/scale", spec "/diagonal", spec "/extract_rows", spec "/extract_cols",               \
        spec "/block", spec "/triangle", spec "/transpose"
static const char *const workloads[] = {ALL("poisson2d:1000"), ALL("er:262144:8"), ALL("rmat:16:8"), ALL("fem3:20"),
                                        NULL};
static const char *const gpu_workloads[] = {ALL("poisson2d:2048"), ALL("er:1048576:16"), ALL("rmat:18:16"),
                                            ALL("fem3:48"), NULL};
static const char *const quick[] = {ALL("poisson2d:64"), ALL("er:4096:8"), ALL("rmat:10:8"), ALL("fem3:4"), NULL};

/* ---- the function ---- */

static lsp_status call(lsp_ctx *ctx, peer_function function, matrices_place *p) {
    const int64_t n = p->A.rows;
    const lsp_index_list list = {.list = p->list, .count = n, .type = LSP_I32};
    switch (function) {
    case PEER_ADD:
    case PEER_ADD_TRANSPOSED:
        return lsp_csr_add(ctx, 1, &p->A, 1, &p->B, &p->C);
    case PEER_HADAMARD:
        return lsp_csr_hadamard(ctx, &p->A, &p->B, &p->C);
    case PEER_REDUCE_ROWS:
        return lsp_csr_reduce(ctx, &p->A, LSP_REDUCE_SUM, LSP_REDUCE_EACH_ROW, p->out);
    case PEER_REDUCE_COLS:
        return lsp_csr_reduce(ctx, &p->A, LSP_REDUCE_SUM, LSP_REDUCE_EACH_COL, p->out);
    case PEER_REDUCE_ALL:
        return lsp_csr_reduce(ctx, &p->A, LSP_REDUCE_SUM, LSP_REDUCE_ALL, p->out);
    case PEER_SCALE:
        return lsp_csr_scale(ctx, &p->C, p->rows, p->cols);
    case PEER_DIAGONAL:
        return lsp_csr_diagonal(ctx, &p->A, p->out);
    case PEER_EXTRACT_ROWS:
        return lsp_csr_extract(ctx, &p->A, &list, NULL, &p->C);
    case PEER_EXTRACT_COLS:
        return lsp_csr_extract(ctx, &p->A, NULL, &list, &p->C);
    case PEER_BLOCK:
        return lsp_csr_block(ctx, &p->A, n / 4, n / 2, n / 4, n / 2, &p->C);
    case PEER_TRIANGLE:
        return lsp_csr_triangle(ctx, &p->A, LSP_TRIANGLE_LOWER, 0, &p->C);
    case PEER_TRANSPOSE:
        return lsp_csr_transpose(ctx, &p->A, &p->C);
    case PEER_FUNCTIONS:
        break;
    }
    return LSP_ERR_ARGUMENT;
}

/* Bytes that must be moved: each operand read once, the result written once. */
static int64_t csr_bytes(int64_t rows, int64_t nnz) { return 4 * (rows + 1) + 12 * nnz; }
static int64_t bytes_of(const matrices_race *r) {
    const lsp_csr *A = &r->here.A, *C = &r->right;
    const int32_t *rowptr = A->rowptr;
    const int64_t n = A->rows, all = csr_bytes(n, A->nnz), result = C->rows ? csr_bytes(C->rows, C->nnz) : 8 * r->count;
    switch (r->function) {
    case PEER_REDUCE_ROWS:
        return 4 * (n + 1) + 8 * A->nnz + result;
    case PEER_REDUCE_COLS:
        return 12 * A->nnz + result;
    case PEER_REDUCE_ALL:
        return 8 * A->nnz;
    case PEER_SCALE:
        return all + 8 * A->nnz + 16 * n;
    case PEER_DIAGONAL:
        return 4 * (n + 1) + 4 * A->nnz + 2 * result;
    case PEER_EXTRACT_ROWS:
    case PEER_EXTRACT_COLS:
        return all + 4 * n + result;
    case PEER_BLOCK:
        return csr_bytes(n / 2, rowptr[n / 4 + n / 2] - rowptr[n / 4]) + result;
    default:
        return all + (r->here.B.rows ? csr_bytes(n, r->here.B.nnz) : 0) + result;
    }
}

/* ---- contenders: the library, its plan, a copy ---- */

static matrices_place *place_of(matrices_race *r) { return r->b->device ? &r->there : &r->here; }

static bool run_ours(bench_contender *c) {
    matrices_race *r = c->state;
    return bench_must(c, c->ctx, call(c->ctx, r->function, place_of(r))) && bench_must(c, c->ctx, lsp_ctx_sync(c->ctx));
}

/* Nothing of a result stays for the next contender: an array is overwritten, a scaled matrix is scaled back. */
static void release_ours(bench_contender *c) {
    matrices_race *r = c->state;
    matrices_place *p = place_of(r);
    if (r->function == PEER_SCALE) {
        bench_ok(r->b, c->ctx, call(c->ctx, r->function, p));
    } else if (r->count == 0) {
        lsp_csr_free(c->ctx, &p->C);
    } else if (r->b->device) {
        bench_device_wipe(r->b->device, p->out, 8 * r->count);
    } else {
        memset(p->out, 0xFF, 8 * (size_t)r->count);
    }
}

static bool check_ours(bench_contender *c) {
    matrices_race *r = c->state;
    const matrices_place *p = place_of(r);
    if (r->count == 0) {
        return bench_matrices_check(c, r, c->ctx, &p->C);
    }
    if (r->b->device && !bench_device_download(r->b->device, r->here.out, p->out, 8 * r->count)) {
        return bench_why(c, "%s", bench_device_error(r->b->device));
    }
    return bench_matrices_check_out(c, r, r->here.out, 0);
}

static bool run_update(bench_contender *c) {
    matrices_race *r = c->state;
    const matrices_place *p = place_of(r);
    return bench_must(c, c->ctx,
                      r->add_plan ? lsp_csr_add_refill(r->add_plan, 1, &p->A, 1, &p->B, &r->planned)
                                  : lsp_csr_transpose_refill(r->transpose_plan, &p->A, &r->planned)) &&
           bench_must(c, c->ctx, lsp_ctx_sync(c->ctx));
}
static bool check_update(bench_contender *c) {
    const matrices_race *r = c->state;
    return bench_matrices_check(c, r, c->ctx, &r->planned);
}
static void keep(bench_contender *c) { (void)c; }

static bool run_copy(bench_contender *c) {
    matrices_race *r = c->state;
    const matrices_place *p = place_of(r);
    return bench_must(c, c->ctx, lsp_csr_copy(c->ctx, &p->A, NULL, &r->copied)) &&
           bench_must(c, c->ctx, lsp_ctx_sync(c->ctx));
}
static bool check_copy(bench_contender *c) {
    matrices_race *r = c->state;
    lsp_csr_difference d = {.same_bits = false};
    return bench_must(c, c->ctx, lsp_csr_compare(c->ctx, &place_of(r)->A, &r->copied, &d)) &&
           (d.same_bits || bench_why(c, "the copy differs"));
}
static void release_copy(bench_contender *c) {
    matrices_race *r = c->state;
    lsp_csr_free(c->ctx, &r->copied);
}

static int enter(matrices_race *r, double plan_time, bench_contender *contenders) {
    bench *b = r->b;
    int count = 0;
    const int64_t nnz = r->here.A.nnz + r->here.B.nnz + r->right.nnz;
    contenders[count++] = (bench_contender){.who = "libsparse",
                                            .ours = true,
                                            .chosen = true,
                                            .bytes = bytes_of(r),
                                            .run = run_ours,
                                            .check = check_ours,
                                            .release = release_ours};
    if (r->planned.rows) {
        contenders[count++] = (bench_contender){.who = "libsparse:update",
                                                .ours = true,
                                                .again = true,
                                                .plan_time = plan_time,
                                                .bytes = 8 * nnz,
                                                .run = run_update,
                                                .check = check_update,
                                                .release = keep};
    }
    contenders[count++] = (bench_contender){.who = "copy",
                                            .roof = true,
                                            .bytes = 2 * csr_bytes(r->here.A.rows, r->here.A.nnz),
                                            .run = run_copy,
                                            .check = check_copy,
                                            .release = release_copy};
    for (int k = 0; k < count; k++) {
        contenders[k].ctx = b->ours;
        contenders[k].threads = b->threads;
        contenders[k].on_gpu = b->device != NULL;
        contenders[k].state = r;
    }
    const int peers = bench_matrices_enter_peers(r, contenders + count);
    for (int k = 0; k < count + peers; k++) {
        contenders[k].bytes = contenders[k].bytes ? contenders[k].bytes : contenders[0].bytes;
    }
    return count + peers;
}

/* ---- operands ---- */

static int64_t common_divisor(int64_t a, int64_t b) { return b == 0 ? a : common_divisor(b, a % b); }

/* Arrays of the host: scales of 1 and -1, and each row once, far from its neighbours. */
static bool make_arrays(matrices_race *r) {
    matrices_place *p = &r->here;
    const int64_t n = p->A.rows;
    const size_t doubles = (size_t)(n > 0 ? n : 1);
    int64_t step = 1000003;
    double **arrays[] = {&p->rows, &p->cols, &p->out, &r->right_out, &r->bound};
    for (int k = 0; k < 5; k++) {
        if (!(*arrays[k] = calloc(doubles, sizeof(double)))) {
            return false;
        }
    }
    if (!(p->list = calloc(doubles, sizeof *p->list))) {
        return false;
    }
    while (common_divisor(step, n) > 1) {
        step++;
    }
    for (int64_t i = 0; i < n; i++) {
        p->rows[i] = i % 3 ? 1 : -1;
        p->cols[i] = i % 5 ? 1 : -1;
        p->list[i] = (int32_t)(i * step % n);
    }
    return true;
}

static bool make_operands(matrices_race *r, const char *spec, const char *file) {
    bench *b = r->b;
    lsp_csr *A = &r->here.A, *B = &r->here.B;
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .val_type = LSP_F64};
    const lsp_mtx_read_options options = {.types = types};
    const peer_function f = r->function;
    if (!bench_ok(b, b->base,
                  file ? lsp_mtx_read(b->base, file, &options, A, NULL) : lsp_generate(b->base, spec, 1, &types, A))) {
        return false;
    }
    if (A->rows != A->cols) {
        bench_fail(b, EXIT_INPUT, "%s: %lld x %lld is not square", file, (long long)A->rows, (long long)A->cols);
        return false;
    }
    if (!make_arrays(r)) {
        bench_fail(b, EXIT_MEMORY, "out of memory for the operands");
        return false;
    }
    if (f == PEER_ADD || f == PEER_HADAMARD) {
        return bench_ok(b, b->base, lsp_csr_copy(b->base, A, &types, B));
    }
    return f != PEER_ADD_TRANSPOSED || bench_ok(b, b->base, lsp_csr_transpose(b->base, A, B));
}

/* The right result, on one thread. */
static bool make_right(matrices_race *r) {
    bench *b = r->b;
    matrices_place *p = &r->here;
    const peer_function f = r->function;
    const bool reduces = f == PEER_REDUCE_ROWS || f == PEER_REDUCE_COLS || f == PEER_REDUCE_ALL;
    const lsp_axis axis = f == PEER_REDUCE_ROWS   ? LSP_REDUCE_EACH_ROW
                          : f == PEER_REDUCE_COLS ? LSP_REDUCE_EACH_COL
                                                  : LSP_REDUCE_ALL;
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32};
    r->count = f == PEER_REDUCE_ALL ? 1 : reduces || f == PEER_DIAGONAL ? p->A.rows : 0;
    if (f == PEER_SCALE && !bench_ok(b, b->base, lsp_csr_copy(b->base, &p->A, &types, &p->C))) {
        return false;
    }
    if (!bench_ok(b, b->one, call(b->one, f, p)) ||
        (reduces && !bench_ok(b, b->one, lsp_csr_reduce(b->one, &p->A, LSP_REDUCE_NORM1, axis, r->bound)))) {
        return false;
    }
    memcpy(r->right_out, p->out, 8 * (size_t)r->count);
    if (f == PEER_SCALE) {
        return bench_ok(b, b->one, lsp_csr_copy(b->one, &p->C, &types, &r->right)) &&
               bench_ok(b, b->one, call(b->one, f, p));
    }
    r->right = p->C;
    p->C = (lsp_csr){.rows = 0};
    return true;
}

/* A copy of an array of the host on the GPU; NULL: complained. */
static void *upload(bench *b, const void *from, int64_t bytes) {
    void *to = bench_device_alloc(b->device, bytes);
    if (!to || !bench_device_upload(b->device, to, from, bytes)) {
        bench_fail(b, EXIT_MEMORY, "%s", bench_device_error(b->device));
        bench_device_free(b->device, to);
        return NULL;
    }
    return to;
}

static bool move_operands(matrices_race *r) {
    bench *b = r->b;
    const matrices_place *from = &r->here;
    matrices_place *to = &r->there;
    const int64_t n = from->A.rows;
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .place = LSP_PLACE_CUDA};
    return !b->device || (bench_ok(b, b->ours, lsp_csr_copy(b->ours, &from->A, &types, &to->A)) &&
                          (!from->B.rows || bench_ok(b, b->ours, lsp_csr_copy(b->ours, &from->B, &types, &to->B))) &&
                          (!from->C.rows || bench_ok(b, b->ours, lsp_csr_copy(b->ours, &from->C, &types, &to->C))) &&
                          (to->rows = upload(b, from->rows, 8 * n)) && (to->cols = upload(b, from->cols, 8 * n)) &&
                          (to->list = upload(b, from->list, 4 * n)) && (to->out = upload(b, from->out, 8 * n)));
}

/* A plan and a result of other values, which the update must replace. The making is timed the second time. */
static bool make_plan(matrices_race *r, double *seconds) {
    bench *b = r->b;
    const matrices_place *p = place_of(r);
    const bool add = r->function == PEER_ADD || r->function == PEER_ADD_TRANSPOSED;
    if (!add && r->function != PEER_TRANSPOSE) {
        return true;
    }
    for (int times = 0; times < 2; times++) {
        lsp_csr_add_plan_destroy(r->add_plan);
        lsp_csr_transpose_plan_destroy(r->transpose_plan);
        r->add_plan = NULL, r->transpose_plan = NULL;
        const double start = bench_now();
        if (!bench_ok(b, b->ours,
                      add ? lsp_csr_add_plan_create(b->ours, &p->A, &p->B, &r->add_plan)
                          : lsp_csr_transpose_plan_create(b->ours, &p->A, &r->transpose_plan)) ||
            !bench_ok(b, b->ours, lsp_ctx_sync(b->ours))) {
            return false;
        }
        *seconds = bench_now() - start;
    }
    return bench_ok(b, b->ours,
                    add ? lsp_csr_add_execute(r->add_plan, 1, &p->A, 1, &p->B, &r->planned)
                        : lsp_csr_transpose_execute(r->transpose_plan, &p->A, &r->planned)) &&
           bench_ok(b, b->ours, lsp_csr_apply(b->ours, &r->planned, LSP_APPLY_CONSTANT, 0.5));
}

static void drop(matrices_race *r) {
    bench *b = r->b;
    matrices_place *h = &r->here, *t = &r->there;
    void *const ours[] = {h->rows, h->cols, h->out, h->list, r->right_out, r->bound};
    void *const theirs[] = {t->rows, t->cols, t->out, t->list};
    for (int k = 0; k < 6; k++) {
        free(ours[k]);
    }
    for (int k = 0; k < 4 && b->device; k++) {
        bench_device_free(b->device, theirs[k]);
    }
    lsp_csr_add_plan_destroy(r->add_plan);
    lsp_csr_transpose_plan_destroy(r->transpose_plan);
    lsp_csr *const made[] = {&r->planned, &t->A, &t->B, &t->C};
    for (int k = 0; k < 4; k++) {
        lsp_csr_free(b->ours, made[k]);
    }
    lsp_csr_free(b->one, &r->right);
    lsp_csr_free(b->base, &h->A);
    lsp_csr_free(b->base, &h->B);
    lsp_csr_free(b->base, &h->C);
    lsp_ctx_trim(b->ours);
    lsp_ctx_trim(b->one);
    lsp_ctx_trim(b->base);
}

static void run(bench *b, const char *workload, const char *file) {
    const char *slash = strrchr(workload, '/');
    char spec[128];
    double plan_time = 0;
    matrices_race r = {.b = b};
    snprintf(spec, sizeof spec, "%.*s", (int)(slash - workload), workload);
    while (strcmp(names[r.function], slash + 1) != 0) {
        r.function++;
    }
    if (make_operands(&r, spec, file) && make_right(&r) && move_operands(&r) && make_plan(&r, &plan_time)) {
        bench_contender contenders[3 + MATRICES_PEERS];
        bench_race(b, workload, contenders, enter(&r, plan_time, contenders));
        bench_matrices_drop_peers(&r);
    }
    drop(&r);
}

const bench_subject bench_matrices = {.name = "matrices",
                                      .what = "functions of matrices: sums, entrywise products, reductions, parts",
                                      .workloads = workloads,
                                      .quick = quick,
                                      .gpu_workloads = gpu_workloads,
                                      .file_variants = names,
                                      .run = run,
                                      .absent = bench_matrices_absent,
                                      .version = bench_matrices_version,
                                      .min_time = 0.2,
                                      .on_gpu = true};
