/* The use of a plan of C = alpha*A + beta*B: C's values from the values of A and B. */
#include "addition.h"
#include "matrices/csr/gpu/gpu.h"

enum {
    least_share = 1 << 15,
    bypass_from = 4 << 20 /* bytes; values of C of this size or more are stored past the cache */
};

/* ---- on the host ---- */

typedef struct host_sum {
    const lsp_csr_sum *sum;
    addition s; /* for the kernels of lsp_csr_add */
} host_sum;

/* A and B by number: a table takes the place of a branch on the addend, which a processor could not foresee. */
typedef struct addends {
    const void *val[2];
    int64_t first[2]; /* the source that is entry 0 */
    double factor[2];
    lsp_type val_type[2];
} addends;

/* Source p of the list. `val_type`: that of A and B, or LSP_C64 if they may differ. */
LSP_INLINE lsp_value source(lsp_type type, lsp_type val_type, const addends *of, int64_t p) {
    const int x = p >= of->first[1];
    return lsp_term(type, val_type == LSP_C64 ? of->val_type[x] : val_type, of->val[x], p - of->first[x],
                    of->factor[x]);
}

/* Most entries have one or two sources, in no order that a processor foresees: the second term is loaded and chosen
 * without a branch. -0.0 is the one number that changes no sum. */
LSP_INLINE void sum_sources(bool wide, lsp_type type, lsp_type val_type, const lsp_csr_sum *u, int64_t begin,
                            int64_t end) {
    const lsp_csr_sources *from = u->from;
    const addends of = {
        {u->A->val, u->B->val}, {0, from->nnz_a}, {u->alpha, u->beta}, {u->A->val_type, u->B->val_type}};
    int64_t k = begin < end ? lsp_place_at(from->starts, wide, begin) : 0;
    for (int64_t c = begin; c < end; c++) {
        const int64_t stop = lsp_place_at(from->starts, wide, c + 1);
        const int two = stop - k > 1;
        const lsp_value first = source(type, val_type, &of, lsp_place_at(from->sources, wide, k));
        const lsp_value next = source(type, val_type, &of, lsp_place_at(from->sources, wide, k + two));
        const double re[2] = {-0.0, next.re}, im[2] = {-0.0, next.im};
        lsp_value sum = lsp_term_sum(type, first, (lsp_value){re[two], im[two], two ? next.whole : 0});
        for (k += 2; k < stop; k++) {
            sum = lsp_term_sum(type, sum, source(type, val_type, &of, lsp_place_at(from->sources, wide, k)));
        }
        lsp_term_set(type, u->C->val, c, sum);
        k = stop;
    }
}

static void sum_share(void *data, int64_t begin, int64_t end) {
    const lsp_csr_sum *u = ((const host_sum *)data)->sum;
    const bool wide = u->from->wide;
    const lsp_type type = u->C->val_type;
    if (type == LSP_I64) {
        LSP_WITH_FLAG(wide, sum_sources, LSP_I64, LSP_I64, u, begin, end);
    } else if (type == LSP_C64) {
        LSP_WITH_FLAG(wide, sum_sources, LSP_C64, LSP_C64, u, begin, end);
    } else if (u->A->val_type != u->B->val_type) {
        LSP_WITH_FLAG(wide, sum_sources, type, LSP_C64, u, begin, end);
    } else if (type == LSP_F64) {
        LSP_WITH_FLAG(wide, sum_sources, LSP_F64, LSP_F64, u, begin, end);
    } else {
        LSP_WITH_FLAG(wide, sum_sources, LSP_F32, LSP_F32, u, begin, end);
    }
}

/* Equal patterns. */
static void sum_equal(void *data, int64_t begin, int64_t end) {
    const host_sum *h = data;
    const lsp_csr_sum *u = h->sum;
    const lsp_csr *A = u->A, *B = u->B;
    const lsp_type type = u->C->val_type;
    if (A->val_type == B->val_type && (type == LSP_F32 || type == LSP_F64)) {
        LSP_ISA_PICK(h->s.isa, lsp_add_values)(&h->s, begin, end);
        return;
    }
    for (int64_t k = begin; k < end; k++) {
        const lsp_value a = lsp_term(type, A->val_type, A->val, k, u->alpha);
        lsp_term_set(type, u->C->val, k, lsp_term_sum(type, a, lsp_term(type, B->val_type, B->val, k, u->beta)));
    }
}

/* ---- both devices ---- */

lsp_status lsp_csr_sum_values(lsp_ctx *ctx, const lsp_csr_sum *u) {
    const lsp_csr *C = u->C;
    if (C->val_type == LSP_NONE || C->nnz == 0) {
        return LSP_OK;
    }
    if (C->where == LSP_CUDA) {
        return lsp_csr_on_gpu.csr_sum_values(ctx, u);
    }
    host_sum h = {.sum = u,
                  .s = {.A = u->A,
                        .B = u->B,
                        .C = (lsp_csr *)C,
                        .alpha = u->alpha,
                        .beta = u->beta,
                        .isa = ctx->isa,
                        .bypass = C->nnz * (int64_t)lsp_type_bytes(C->val_type) >= bypass_from}};
    lsp_for_shares(ctx, C->nnz, least_share, u->from ? sum_share : sum_equal, &h);
    return LSP_OK;
}

/* Integers are widened first, and their sum is narrowed, if it fits, to C's type. */
static lsp_status fill(lsp_ctx *ctx, const lsp_csr_sum *u) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_type type = u->C->val_type;
    lsp_csr a, b, c = *u->C;
    LSP_TRY(lsp_csr_check_factors(ctx, type, u->alpha, u->beta));
    LSP_TRY(lsp_csr_widen_addends(ctx, type, u->A, u->B, &a, &b));
    c.val_type = lsp_wide_type(type);
    if (c.val_type != type) {
        LSP_TRY(lsp_scratch_at(ctx, c.where, c.nnz, sizeof(int64_t), &c.val));
    }
    LSP_TRY(lsp_csr_sum_values(ctx, &(lsp_csr_sum){&a, &b, &c, u->alpha, u->beta, u->from}));
    if (c.val_type != type) {
        LSP_TRY(lsp_csr_check_fits(ctx, "the sum", &c, type));
        LSP_TRY(lsp_convert_values(ctx, c.where, type, u->C->val, LSP_I64, c.val, c.nnz));
    }
    return LSP_OK;
}

static lsp_status check_operands(lsp_csr_add_plan *plan, const lsp_csr *A, const lsp_csr *B) {
    LSP_TRY(lsp_csr_check_planned(plan->ctx, "A", &plan->A, A));
    return lsp_csr_check_planned(plan->ctx, "B", &plan->B, B);
}

lsp_status lsp_csr_add_execute(lsp_csr_add_plan *plan, double alpha, const lsp_csr *A, double beta, const lsp_csr *B,
                               lsp_csr *C) {
    LSP_PLAN_USE(plan);
    LSP_OWNED_CSR(ctx, made);
    LSP_TRY(check_operands(plan, A, B));
    LSP_REQUIRE(C != NULL, LSP_ERR_ARGUMENT, "the place for the sum is NULL");
    LSP_TRY(lsp_csr_copy_structure(ctx, plan->equal ? A : &plan->C, &plan->C, &made));
    LSP_TRY(fill(ctx, &(lsp_csr_sum){A, B, &made, alpha, beta, plan->equal ? NULL : &plan->from}));
    return lsp_csr_put(ctx, C, &made, C == A || C == B);
}

lsp_status lsp_csr_add_refill(lsp_csr_add_plan *plan, double alpha, const lsp_csr *A, double beta, const lsp_csr *B,
                              lsp_csr *C) {
    LSP_PLAN_USE(plan);
    LSP_TRY(check_operands(plan, A, B));
    LSP_TRY(lsp_csr_check_planned(ctx, "C", &plan->C, C));
    LSP_REQUIRE(plan->equal || C->val == NULL || (C->val != A->val && C->val != B->val), LSP_ERR_ARGUMENT,
                "the values of C are those of an addend: they cannot be read and written at once");
    return fill(ctx, &(lsp_csr_sum){A, B, C, alpha, beta, plan->equal ? NULL : &plan->from});
}
