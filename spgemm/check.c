/* Checks the arguments of products: options, operands, and the matrices that a plan is used with. */
#include "spgemm.h"

static const char *place_name(lsp_where where) { return where == LSP_CUDA ? "GPU" : "host"; }

static bool may_be_index(lsp_type type) { return type == LSP_NONE || type == LSP_I32 || type == LSP_I64; }

static lsp_status check_types(lsp_ctx *ctx, const lsp_csr_types *types, lsp_where where) {
    LSP_REQUIRE(may_be_index(types->rowptr_type), LSP_ERR_ARGUMENT,
                "row pointers of type %s: LSP_I32 or LSP_I64 is needed", lsp_type_name(types->rowptr_type));
    LSP_REQUIRE(may_be_index(types->col_type), LSP_ERR_ARGUMENT, "columns of type %s: LSP_I32 or LSP_I64 is needed",
                lsp_type_name(types->col_type));
    LSP_REQUIRE(lsp_is_value(types->val_type), LSP_ERR_ARGUMENT,
                "values of type %s: one of " LSP_VALUE_TYPE_NAMES " is needed", lsp_type_name(types->val_type));
    LSP_REQUIRE((unsigned)types->place <= LSP_PLACE_CUDA, LSP_ERR_ARGUMENT, "there is no place %d for a product",
                (int)types->place);
    LSP_REQUIRE(types->place != LSP_PLACE_CUDA || where == LSP_CUDA, LSP_ERR_UNSUPPORTED,
                "the product of matrices in the memory of the host is made there");
    LSP_REQUIRE(types->place != LSP_PLACE_HOST || where == LSP_HOST, LSP_ERR_UNSUPPORTED,
                "the product of matrices in the memory of the GPU is made there; copy it to the host");
    return LSP_OK;
}

lsp_status lsp_spgemm_check_options(lsp_ctx *ctx, const lsp_spgemm_options *options, lsp_where where) {
    LSP_REQUIRE((unsigned)options->semiring < LSP_SEMIRINGS, LSP_ERR_ARGUMENT, "there is no semiring %d",
                (int)options->semiring);
    LSP_REQUIRE((unsigned)options->method <= LSP_SPGEMM_MASK, LSP_ERR_ARGUMENT, "there is no method %d",
                (int)options->method);
    LSP_REQUIRE(options->method != LSP_SPGEMM_MASK || lsp_spgemm_masks(options), LSP_ERR_ARGUMENT,
                "the method LSP_SPGEMM_MASK needs a mask that is not a complement");
    LSP_TRY(check_types(ctx, &options->types, where));
    LSP_TRY(lsp_filter_check_struct(ctx, &options->filter));
    LSP_TRY(lsp_check_reserved(ctx, "lsp_spgemm_options", options->reserved));
    LSP_REQUIRE(where == LSP_HOST || options->method != LSP_SPGEMM_REFERENCE, LSP_ERR_UNSUPPORTED,
                "the reference multiplies in the memory of the host only");
    return LSP_OK;
}

static bool is_real(lsp_type type) { return type == LSP_F32 || type == LSP_F64; }

lsp_status lsp_spgemm_check_values(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                   lsp_type *found) {
    const bool complex_factor = A->val_type == LSP_C64 || B->val_type == LSP_C64;
    const lsp_type type = *found = lsp_spgemm_result_type(A, B, options);
    LSP_REQUIRE(!lsp_is_integer(type) || (!is_real(A->val_type) && !is_real(B->val_type)), LSP_ERR_UNSUPPORTED,
                "the product of real matrices is real: its values cannot have the integer type %s",
                lsp_type_name(type));
    if (type == LSP_NONE || (type != LSP_C64 && !complex_factor)) {
        return LSP_OK;
    }
    LSP_REQUIRE(type == LSP_C64, LSP_ERR_UNSUPPORTED,
                "the product of complex matrices is complex: its values cannot have the type %s", lsp_type_name(type));
    LSP_REQUIRE(options->semiring == LSP_PLUS_TIMES, LSP_ERR_UNSUPPORTED,
                "complex values are multiplied in the semiring plus-times only, not in %s",
                lsp_semiring_name(options->semiring));
    return LSP_OK;
}

lsp_status lsp_spgemm_resolve(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                              const lsp_spgemm_options *options, lsp_spgemm_plan *job) {
    LSP_REQUIRE(A != NULL && B != NULL, LSP_ERR_ARGUMENT, "a matrix to be multiplied is NULL");
    LSP_TRY(lsp_csr_check_header(ctx, names[0], A));
    LSP_TRY(A == B ? LSP_OK : lsp_csr_check_header(ctx, names[1], B));
    LSP_REQUIRE(A->where == B->where, LSP_ERR_ARGUMENT,
                "%s lies in the memory of the %s and %s in that of the %s: they must be in one place", names[0],
                place_name(A->where), names[1], place_name(B->where));
    LSP_REQUIRE(A->where == LSP_HOST || ctx->options.device == LSP_CUDA, LSP_ERR_DEVICE,
                "the matrices lie on the GPU, and this context is on the host");
    LSP_TRY(lsp_spgemm_check_options(ctx, options, A->where));
    *job = (lsp_spgemm_plan){.ctx = ctx, .names = {names[0], names[1]}, .options = *options, .where = A->where};
    LSP_TRY(lsp_spgemm_check_values(ctx, A, B, options, &job->val_type));
    job->type = job->options.types.val_type = lsp_wide_type(job->val_type);
    job->options.types.place = lsp_place_of(A->where);
    job->device = lsp_spgemm_device_at(A->where);
    int64_t inner_a = options->transpose_a ? A->rows : A->cols, inner_b = options->transpose_b ? B->cols : B->rows;
    LSP_REQUIRE(inner_a == inner_b, LSP_ERR_ARGUMENT,
                "a matrix of %lld x %lld%s cannot be multiplied by one of %lld x %lld%s", (long long)A->rows,
                (long long)A->cols, options->transpose_a ? ", transposed," : "", (long long)B->rows, (long long)B->cols,
                options->transpose_b ? ", transposed" : "");
    return LSP_OK;
}
