/* What all contenders of a race of Y = op(A) X have in common: one run, timed, and the bytes that it must move. */
#include "spmv_race.h"

lsp_status bench_spmv_call(const spmv_entrant *e, lsp_ctx *ctx) {
    const spmv_race *r = e->race;
    const lsp_spmv_vectors vectors = {.alpha = 1, .x = r->x, .y = r->y};
    return e->plan ? lsp_spmv_execute(e->plan, &vectors)
                   : lsp_spmv(ctx, bench_spmv_matrix(r), &e->options, &vectors, NULL);
}

static bool run(bench_contender *c) {
    const spmv_entrant *e = c->state;
    bench_device *d = e->race->b->device;
    const bool began = !d || (bench_device_sweep(d) && bench_device_start(d));
    bool ran;
    if (e->peer) {
        const char *wrong = e->peer->run(e->self);
        ran = !wrong || bench_why(c, "%s", wrong);
    } else {
        ran = bench_must(c, c->ctx, bench_spmv_call(e, c->ctx));
    }
    c->elapsed = d ? bench_device_stop(d) : 0;
    return ran && ((began && c->elapsed >= 0) || bench_why(c, "%s", bench_device_error(d)));
}

static void release(bench_contender *c) { (void)c; }

/* Bytes that any product must move: A once, X and Y once. */
static int64_t bytes_of(const spmv_race *r) {
    const lsp_csr *A = &r->A;
    return (A->rows + 1) * 4 + A->nnz * (4 + (int64_t)lsp_type_bytes(A->val_type)) +
           (r->in + r->out) * (int64_t)lsp_type_bytes(r->type);
}

void bench_spmv_dress(spmv_race *r, bench_contender *c, spmv_entrant *e) {
    e->race = r;
    c->state = e;
    c->run = run;
    c->check = bench_spmv_check;
    c->release = release;
    c->on_gpu = r->b->device != NULL;
    c->cold = !c->on_gpu;
    c->threads = c->on_gpu ? 1 : r->b->threads;
    c->products = r->A.nnz * r->vectors;
    c->bytes = bytes_of(r);
}
