/* Starts the kernels of the streamed solvers, for vectors of either type. */
#include "core/launch.cuh"
#include "kernel_streamed_bicgstab.cuh"

static int64_t blocks_for(int64_t n) { return lsp_blocks_upto(n, TILE, LSP_SOLVE_BLOCKS); }

static lsp_solve_area *area_of(const lsp_solve_plan *plan) { return ((const lsp_solve_gpu *)plan->parts)->area; }

template <typename Kernel, typename... P>
static lsp_status launch_early(lsp_ctx *ctx, const char *failed, Kernel kernel, int64_t blocks, const P &...arguments) {
    bool beside = true;
    return lsp_launch_with(ctx, lsp_overlap(), lsp_may_overlap(ctx, &beside), failed, kernel, lsp_grid{blocks, NT, 0},
                           arguments...);
}

/* An expression in which T is the type of the plan's vectors. */
#define WITH_TYPE(plan, ...)                                                                                           \
    ((plan)->type == LSP_F64 ? [&] { using T = double; return __VA_ARGS__; }()                                         \
                             : [&] { using T = float; return __VA_ARGS__; }())
#define START(plan, kernel, ...)                                                                                       \
    WITH_TYPE(plan, LSP_LAUNCH((plan)->ctx, kernel<T>, blocks_for((plan)->n), NT, 0, (plan)->n, __VA_ARGS__))
/* For a kernel behind another one of this file: its blocks may come to their wait while that one still runs. */
#define START_EARLY(plan, kernel, ...)                                                                                 \
    WITH_TYPE(plan, launch_early((plan)->ctx, #kernel " could not be started", kernel<T>, blocks_for((plan)->n),       \
                                 (plan)->n, __VA_ARGS__))
#define CONST(vector) ((const T *)(vector))

extern "C" lsp_status lsp_solve_launch_start(const lsp_solve_plan *plan, const void *b, const void *q, void *x) {
    return START(plan, kernel_start, CONST(b), CONST(q), CONST(plan->inverse), (T *)x, (T *)plan->vectors.r,
                 (T *)plan->vectors.r_hat, &area_of(plan)->sums[1]);
}

extern "C" lsp_status lsp_solve_launch_dot(const lsp_solve_plan *plan, const void *p, const void *q, int sums) {
    return START(plan, kernel_dot, CONST(p), CONST(q), &area_of(plan)->sums[sums]);
}

extern "C" lsp_status lsp_solve_launch_step(const lsp_solve_plan *plan) {
    const lsp_solve_vectors *v = &plan->vectors;
    return START_EARLY(plan, kernel_step, CONST(v->q), CONST(plan->inverse), (T *)v->r, area_of(plan));
}

extern "C" lsp_status lsp_solve_launch_turn(const lsp_solve_plan *plan, bool first) {
    const lsp_solve_vectors *v = &plan->vectors;
    lsp_solve_area *area = area_of(plan);
    return plan->bicgstab
               ? START_EARLY(plan, kernel_turn_stabilized, CONST(v->r), CONST(v->q), CONST(plan->inverse),
                             CONST(v->s_hat), (T *)v->p, v->p_hat == v->p ? (T *)NULL : (T *)v->p_hat, area, first)
               : START_EARLY(plan, kernel_turn, CONST(v->z ? v->z : v->r), CONST(plan->inverse), (T *)v->p, area,
                             (const lsp_solve_partial *)(v->z ? &area->sums[2] : NULL));
}

extern "C" lsp_status lsp_solve_launch_half(const lsp_solve_plan *plan) {
    const lsp_solve_vectors *v = &plan->vectors;
    return START_EARLY(plan, kernel_half, CONST(v->r), CONST(v->q), CONST(plan->inverse), (T *)v->s, (T *)v->s_hat,
                       area_of(plan));
}

extern "C" lsp_status lsp_solve_launch_dots(const lsp_solve_plan *plan) {
    return START(plan, kernel_dots, CONST(plan->vectors.s), CONST(plan->vectors.t), &area_of(plan)->sums[0]);
}

extern "C" lsp_status lsp_solve_launch_step_stabilized(const lsp_solve_plan *plan) {
    const lsp_solve_vectors *v = &plan->vectors;
    return START_EARLY(plan, kernel_step_stabilized, CONST(v->s), CONST(v->t), CONST(v->r_hat), (T *)v->r,
                       area_of(plan));
}

extern "C" lsp_status lsp_solve_launch_residual(const lsp_solve_plan *plan, const void *b, const void *q) {
    lsp_solve_area *area = area_of(plan);
    LSP_TRY(START(plan, kernel_residual, CONST(b), CONST(q), &area->sums[0]));
    return LSP_LAUNCH(plan->ctx, kernel_total<1>, 1, NT, 0, (const lsp_solve_partial *)&area->sums[0],
                      (int)blocks_for(plan->n), area->total);
}

/* ---- for the NAS benchmark ---- */

static __global__ void __launch_bounds__(NT)
    kernel_scale(int64_t n, double factor, const double *__restrict__ from, double *__restrict__ to) {
    each(n, [&](int64_t i) { to[i] = factor * from[i]; });
}

extern "C" lsp_status lsp_solve_launch_pair(lsp_ctx *ctx, int64_t n, const double *x, const double *z, double sums[2]) {
    LSP_SCRATCH_SCOPE(ctx);
    void *memory;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 1, sizeof(lsp_solve_area), &memory));
    lsp_solve_area *area = (lsp_solve_area *)memory;
    LSP_TRY(LSP_LAUNCH(ctx, kernel_dots<double>, blocks_for(n), NT, 0, n, x, z, &area->sums[0]));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_total<2>, 1, NT, 0, (const lsp_solve_partial *)&area->sums[0], (int)blocks_for(n),
                       area->total));
    return lsp_cuda_read(ctx, sums, area->total, sizeof area->total);
}

extern "C" lsp_status lsp_solve_launch_scale(lsp_ctx *ctx, int64_t n, double factor, const double *from, double *to) {
    return LSP_LAUNCH(ctx, kernel_scale, blocks_for(n), NT, 0, n, factor, from, to);
}
