/* C = op(A)*op(B) by one call: at once, by a plan that is not kept, or in parts if it must be cut or filtered. */
#include "spgemm.h"

static const char *const usual_names[] = {"A", "B"};

/* Drops entries of a product, in place. */
static lsp_status filter(lsp_ctx *ctx, const lsp_filter *filter, lsp_csr *C, lsp_spgemm_info *info) {
    lsp_status status = LSP_OK;
    lsp_csr left;
    if (lsp_filter_drops_any(filter)) {
        LSP_TRY(lsp_filter_rows(ctx, C, filter, &left));
        lsp_csr_free(ctx, C);
        *C = left;
        info->nnz = C->nnz;
    }
done:
    return status;
}

/* The product of checked matrices. */
static lsp_status multiply_at_once(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                   lsp_csr *C, lsp_spgemm_info *info) {
    lsp_status status = LSP_OK;
    lsp_spgemm_plan *plan = NULL;
    lsp_spgemm_operands ops = {0};
    lsp_csr made = {0};
    lsp_filter left = options->filter;
    bool done = false;
    const lsp_spgemm_device *device = lsp_spgemm_device_at(A->where);
    LSP_TRY(device->at_once ? device->at_once(ctx, A, B, options, &made, info, &done) : LSP_OK);
    if (!done) {
        LSP_TRY(lsp_spgemm_plan_make(ctx, usual_names, A, B, options, &plan, &ops));
        LSP_TRY(lsp_spgemm_plan_multiply(plan, &ops, false, &made));
        left.mask = plan->masked ? NULL : left.mask;
        *info = plan->info;
    }
    LSP_TRY(filter(ctx, &left, &made, info));
    *C = made;
done:
    lsp_spgemm_release_operands(ctx, &ops);
    lsp_spgemm_plan_destroy(plan);
    if (status != LSP_OK) {
        lsp_csr_free(ctx, &made);
    }
    return status;
}

/* Has a factor integers, or the product, that are not of the type of the arithmetic? */
static bool must_widen(const lsp_csr *A, const lsp_csr *B, lsp_type type) {
    const lsp_type wide = lsp_wide_type(type);
    const bool integers = lsp_is_integer(A->val_type) || lsp_is_integer(B->val_type) || lsp_is_integer(type);
    return type != LSP_NONE && integers && (type != wide || A->val_type != wide || B->val_type != wide);
}

/* Widens the factors first, so that all ways of making a product take them, and narrows the product at the end. A mask
 * bounds it before it is narrowed; the rest of the filter looks at its values as they will be. */
static lsp_status widen_and_multiply(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B,
                                     const lsp_spgemm_options *options, lsp_csr *C, lsp_spgemm_info *info) {
    lsp_status status = LSP_OK;
    const lsp_type type = lsp_spgemm_result_type(A, B, options), wide = lsp_wide_type(type);
    lsp_spgemm_options inner = *options;
    lsp_filter rest = options->filter;
    lsp_csr a, b, made = {0};
    inner.types.val_type = wide;
    inner.filter = (lsp_filter){.mask = options->filter.mask, .complement = options->filter.complement};
    rest.mask = NULL;
    rest.complement = false;
    LSP_TRY(lsp_csr_widen(ctx, A, wide, &a));
    LSP_TRY(A == B ? LSP_OK : lsp_csr_widen(ctx, B, wide, &b));
    LSP_TRY(multiply_at_once(ctx, &a, A == B ? &a : &b, &inner, &made, info));
    LSP_TRY(type == wide ? LSP_OK : lsp_csr_narrow(ctx, "the product", type, &made));
    LSP_TRY(filter(ctx, &rest, &made, info));
    *C = made;
done:
    if (status != LSP_OK) {
        lsp_csr_free(ctx, &made);
    }
    return status;
}

lsp_status lsp_spgemm_uncut(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                            lsp_csr *C, lsp_spgemm_info *info) {
    lsp_status status = LSP_OK;
    lsp_spgemm_info here;
    size_t mark = lsp_scratch_mark(ctx);
    LSP_TRY(lsp_spgemm_check_operands(ctx, usual_names, A, B, options));
    LSP_TRY(must_widen(A, B, lsp_spgemm_result_type(A, B, options)) ? widen_and_multiply(ctx, A, B, options, C, &here)
                                                                    : multiply_at_once(ctx, A, B, options, C, &here));
    if (info != NULL) {
        *info = here;
    }
done:
    lsp_scratch_release(ctx, mark);
    return status;
}

lsp_status lsp_spgemm_at_once(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                              lsp_csr *C, lsp_spgemm_info *info) {
    return A != NULL && B != NULL && A->where == LSP_CUDA ? lsp_spgemm_in_blocks(ctx, A, B, options, C, info)
                                                          : lsp_spgemm_uncut(ctx, A, B, options, C, info);
}

lsp_status lsp_spgemm(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options, lsp_csr *C,
                      lsp_spgemm_info *info) {
    lsp_status status = LSP_OK;
    const lsp_spgemm_options defaults = {0};
    lsp_csr made = {0};
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    options = options != NULL ? options : &defaults;
    LSP_REQUIRE(C != NULL, LSP_ERR_ARGUMENT, "the place for the product is NULL");
    LSP_TRY(lsp_filter_drops_any(&options->filter) ? lsp_spgemm_filtered(ctx, A, B, options, &made, info)
                                                   : lsp_spgemm_at_once(ctx, A, B, options, &made, info));
    lsp_csr_put(ctx, C, &made, C == A || C == B || C == options->filter.mask);
done:
    return status;
}
