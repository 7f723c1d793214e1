/* The loops over the vectors as kernels, for the streamed solvers. Each block takes the decision of solve/rules.h by
 * itself; block 0 leaves the state. After the end, kernels change nothing. */
#include "core/launch.cuh"
#include "sums.cuh"

/* ---- the bodies ---- */

/* What a body stores for one number of each vector. It goes to memory behind the bodies of several numbers: the
 * compiler cannot know that what it writes is not read next, and would read one number after the other. */
#define STORED(X) X(x) X(r) X(p) X(r_hat) X(s) X(p_hat) X(s_hat)
template <typename T> struct stored {
#define MEMBER(name) T name;
    STORED(MEMBER)
#define FLAG(name) bool has_##name;
    STORED(FLAG)
    __device__ inline void put(const lsp_solve_loop &v, int64_t i) const {
#define PUT(name)                                                                                                      \
    if (has_##name) {                                                                                                  \
        ((T *)v.name)[i] = name;                                                                                       \
    }
        STORED(PUT)
    }
};

#define LSP_LOOP_BODY(name)                                                                                            \
    template <typename T>                                                                                              \
    __device__ __forceinline__ void name##_body(const lsp_solve_loop *v, int64_t i, double *sums, stored<T> &to)
#define NUMBER double
#define PLUS(c, a, b) fma((a), (b), (c))
#define SUM(k, a, b) sums[k] = fma((a), (b), sums[k])
#define LOAD(name) ((double)((const T *)v->name)[i])
#define STORE(name, x) (to.has_##name = true, (double)(to.name = (T)(x)))
#include "solve/loop_bodies.h"

template <lsp_solve_loop_id ID> struct loop_of;
#define LOOP(id, name, count)                                                                                          \
    template <> struct loop_of<id> {                                                                                   \
        enum { SUMS = count };                                                                                         \
        template <typename T>                                                                                          \
        static __device__ __forceinline__ void body(const lsp_solve_loop *v, int64_t i, double *sums, stored<T> &to) { \
            name##_body<T>(v, i, sums, to);                                                                            \
        }                                                                                                              \
    };
LSP_SOLVE_LOOPS(LOOP)

/* ---- the kernel ---- */

/* All numbers of the block. */
template <lsp_solve_loop_id ID, typename T>
__device__ __forceinline__ void each(int64_t n, const lsp_solve_loop &v, double *sums) {
    for (int64_t first = (int64_t)blockIdx.x * TILE; first < n; first += (int64_t)gridDim.x * TILE) {
        if (first + TILE <= n) {
            stored<T> to[VT] = {};
#pragma unroll
            for (int r = 0; r < VT; r++) {
                loop_of<ID>::body(&v, first + r * NT + threadIdx.x, sums, to[r]);
            }
#pragma unroll
            for (int r = 0; r < VT; r++) {
                to[r].put(v, first + r * NT + threadIdx.x);
            }
        } else {
            for (int64_t i = first + threadIdx.x; i < n; i += NT) {
                stored<T> to = {};
                loop_of<ID>::body(&v, i, sums, to);
                to.put(v, i);
            }
        }
    }
}

/* The decision before a loop; *s is shared. */
template <lsp_solve_loop_id ID> __device__ inline void decide(lsp_solve_area *area, bool apart, lsp_solve_state *s) {
    const bool turns = lsp_rule_turns(ID);
    const int blocks = (int)gridDim.x;
    double sums[LSP_SOLVE_SLOTS][3];
    if (turns) {
        total_sums<3>(&area->sums[LSP_SLOT_NORMS], blocks, sums[LSP_SLOT_NORMS]);
    } else {
        total_sums<ID == LSP_LOOP_STEP_STABILIZED ? 2 : 1>(&area->sums[LSP_SLOT_DOTS], blocks, sums[LSP_SLOT_DOTS]);
    }
    if (turns ? apart : ID == LSP_LOOP_STEP_STABILIZED) {
        total_sums<1>(&area->sums[LSP_SLOT_APART], blocks, sums[LSP_SLOT_APART]);
    }
    if (threadIdx.x == 0) {
        *s = ID == LSP_LOOP_STEP || ID == LSP_LOOP_HALF ? area->news.state
             : ID == LSP_LOOP_TURN_STABILIZED           ? area->after_second
                                                        : area->after_first;
        const bool tells = lsp_rule_decide(s, ID, sums, apart);
        if (blockIdx.x == 0) {
            *(turns                            ? &area->news.state
              : ID == LSP_LOOP_STEP_STABILIZED ? &area->after_second
                                               : &area->after_first) = *s;
            if (tells) {
                area->news.recent[s->iteration % LSP_SOLVE_RECENT] = lsp_rule_tell(s);
            }
        }
    }
    __syncthreads();
}

template <lsp_solve_loop_id ID, typename T>
static __global__ void __launch_bounds__(NT)
    kernel_loop(int64_t n, const __grid_constant__ lsp_solve_loop given, lsp_solve_area *area, int slot) {
    lsp_let_next_begin();
    lsp_wait_for_previous();
    lsp_solve_loop v = given;
    double sums[3] = {0, 0, 0};
    if (lsp_rule_decides(ID)) {
        __shared__ lsp_solve_state s;
        decide<ID>(area, v.z != v.r, &s);
        lsp_rule_set_factors(&s, &v);
        if (!v.runs && !v.due) {
            return;
        }
    }
    if (lsp_rule_turns(ID) && v.due && v.runs) { /* as a rule: so the compiler knows */
        v.due = v.runs = true;
        each<ID, T>(n, v, sums);
    } else {
        each<ID, T>(n, v, sums);
    }
    if constexpr (loop_of<ID>::SUMS > 0) {
        leave_sums<loop_of<ID>::SUMS>(sums, &area->sums[slot]);
    }
}

/* Adds what a kernel left; one block. */
static __global__ void __launch_bounds__(NT) kernel_total(const lsp_solve_partial *in, int blocks, double *to) {
    double sums[2];
    total_sums<2>(in, blocks, sums);
    if (threadIdx.x == 0) {
        to[0] = sums[0];
        to[1] = sums[1];
    }
}

/* ---- launches ---- */

static int64_t blocks_for(int64_t n) { return lsp_blocks_upto(n, TILE, LSP_SOLVE_BLOCKS); }

/* A kernel that decides comes behind another one of this file: its blocks may wait for that while it still runs. */
template <lsp_solve_loop_id ID>
static lsp_status launch(const lsp_solve_plan *plan, const char *failed, const lsp_solve_loop *loop, int slot) {
    bool beside = lsp_rule_decides(ID);
    return lsp_launch_with(plan->ctx, lsp_overlap(), lsp_may_overlap(plan->ctx, &beside), failed,
                           plan->type == LSP_F64 ? kernel_loop<ID, double> : kernel_loop<ID, float>,
                           lsp_grid{blocks_for(plan->n), NT, 0}, plan->n, *loop, (lsp_solve_area *)plan->parts, slot);
}

extern "C" lsp_status lsp_solve_launch_loop(const lsp_solve_plan *plan, lsp_solve_outcome *, lsp_solve_loop_id id,
                                            const lsp_solve_loop *loop, int slot) {
#define LAUNCH(id, name, count)                                                                                        \
    case id:                                                                                                           \
        return launch<id>(plan, "kernel_" #name " could not be started", loop, slot);
    switch (id) { LSP_SOLVE_LOOPS(LAUNCH) }
    return LSP_OK;
}

extern "C" lsp_status lsp_solve_launch_sums(const lsp_solve_plan *plan, int slot, double sums[2]) {
    lsp_solve_area *area = (lsp_solve_area *)plan->parts;
    LSP_TRY(LSP_LAUNCH(plan->ctx, kernel_total, 1, NT, 0, &area->sums[slot], (int)blocks_for(plan->n), area->total));
    return lsp_cuda_read(plan->ctx, sums, area->total, sizeof area->total);
}
