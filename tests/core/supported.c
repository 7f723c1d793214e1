/* lsp_get_supported must say what the calls say: each type and each method is tried, on either device. */
#include "tests/support.h"

static void on_the_cpu(void (*test)(lsp_ctx *ctx)) {
    lsp_ctx *ctx = test_ctx(2);
    test(ctx);
    lsp_ctx_destroy(ctx);
}
static void on_the_gpu(void (*test)(lsp_ctx *ctx)) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    test(ctx);
    lsp_ctx_destroy(ctx);
}

static lsp_supported here(lsp_ctx *ctx, lsp_where *where) {
    lsp_ctx_info info;
    lsp_supported supported;
    must(ctx, lsp_ctx_get_info(ctx, &info));
    must(ctx, lsp_get_supported(info.device, &supported));
    cr_assert(supported.compiled && supported.targets[0] != 0);
    cr_assert(info.device == LSP_CUDA || strstr(supported.targets, info.isa) != NULL, "%s is not among %s", info.isa,
              supported.targets);
    *where = info.device;
    return supported;
}

/* LSP_OK exactly for the members of the set. */
static void must_be_told(lsp_ctx *ctx, const char *what, uint64_t set, int x, lsp_status status) {
    cr_assert_eq(set >> x & 1, status == LSP_OK, "%s %d: %s, but lsp_get_supported says %s: %s", what, x,
                 lsp_status_name(status), set >> x & 1 ? "yes" : "no", lsp_last_error(ctx));
}

static lsp_array zeros(lsp_ctx *ctx, lsp_where where, size_t bytes) {
    lsp_array array;
    void *host = calloc(1, bytes);
    cr_assert(host != NULL);
    must(ctx, lsp_array_create(ctx, bytes, where, &array));
    must(ctx, lsp_array_copy(ctx, array.memory, where, host, LSP_HOST, bytes));
    free(host);
    return array;
}

enum { N = 600, TYPES = 12 }; /* some more than there are */

/* A small grid in blocks of two, with values that are no numbers of `type` unless the library knows the type. */
static lsp_status make(lsp_ctx *ctx, lsp_where where, lsp_type type, lsp_csr *A) {
    lsp_status status = LSP_OK;
    lsp_csr grid = {0}, pattern = {0};
    *A = (lsp_csr){0};
    must(ctx, lsp_generate(ctx, "fem3:5", 1, NULL, &grid));
    must(ctx, lsp_csr_copy(ctx, &grid, &(lsp_csr_types){.drop_values = true}, &pattern));
    status = lsp_csr_copy(ctx, &pattern, &(lsp_csr_types){.val_type = type, .place = lsp_place_of(where)}, A);
    lsp_csr_free(ctx, &grid);
    lsp_csr_free(ctx, &pattern);
    return status;
}

TEST_ON_BOTH(supported, matrices_and_products_have_the_types_that_are_told) {
    lsp_where where;
    const lsp_supported told = here(ctx, &where);
    for (int type = 0; type < TYPES; type++) {
        lsp_csr A, C = {0};
        must_be_told(ctx, "matrices of type", told.values, type, make(ctx, where, (lsp_type)type, &A));
        if (A.rowptr != NULL) {
            must_be_told(ctx, "products of type", told.values, type, lsp_spgemm(ctx, &A, &A, NULL, &C, NULL));
        }
        lsp_csr_free(ctx, &A);
        lsp_csr_free(ctx, &C);
    }
}

TEST_ON_BOTH(supported, vectors_and_solvers_have_the_types_that_are_told) {
    lsp_where where;
    const lsp_supported told = here(ctx, &where);
    lsp_csr M, A;
    must(ctx, lsp_generate(ctx, "poisson2d:20", 1, &(lsp_csr_types){.val_type = LSP_F32}, &M));
    must(ctx, lsp_csr_copy(ctx, &M, &(lsp_csr_types){.place = lsp_place_of(where)}, &A));
    lsp_array x = zeros(ctx, where, N * 16), y = zeros(ctx, where, N * 16);
    for (int type = 1; type < TYPES; type++) { /* LSP_NONE is not a type of vectors: it asks for a choice */
        const lsp_spmv_options spmv = {.type = (lsp_type)type};
        const lsp_solve_options solve = {.type = (lsp_type)type};
        const lsp_spmv_vectors vectors = {.alpha = 1, .x = x.memory, .y = y.memory};
        must_be_told(ctx, "vectors of type", told.vectors, type, lsp_spmv(ctx, &A, &spmv, &vectors, NULL));
        must_be_told(ctx, "cg in type", told.vectors, type, lsp_cg(ctx, &A, x.memory, &solve, y.memory, NULL));
        must_be_told(ctx, "bicgstab in type", told.vectors, type,
                     lsp_bicgstab(ctx, &A, x.memory, &solve, y.memory, NULL));
    }
    cr_assert_eq(told.vectors & 1, 0);
    lsp_array_free(&x);
    lsp_array_free(&y);
    lsp_csr_free(ctx, &M);
    lsp_csr_free(ctx, &A);
}

TEST_ON_BOTH(supported, sorts_have_the_keys_and_methods_that_are_told) {
    lsp_where where;
    const lsp_supported told = here(ctx, &where);
    lsp_array keys = zeros(ctx, where, N * 16), sorted = zeros(ctx, where, N * 16);
    for (int type = 0; type < TYPES; type++) {
        const lsp_type key = (lsp_type)type;
        const lsp_segsort_args segsort = {.n = N,
                                          .segments = 6,
                                          .length = 100,
                                          .key_type = key,
                                          .keys = keys.memory,
                                          .keys_out = sorted.memory,
                                          .where = where};
        const lsp_sort_args sort = {
            .n = N, .key_type = key, .keys = keys.memory, .keys_out = sorted.memory, .where = where};
        must_be_told(ctx, "segments of type", told.keys, type, lsp_segsort(ctx, &segsort, NULL));
        must_be_told(ctx, "sorts of type", told.keys, type, lsp_sort(ctx, &sort, NULL));
    }
    for (int method = 0; method < TYPES; method++) {
        const lsp_sort_args args = {.n = N,
                                    .key_type = LSP_U32,
                                    .keys = keys.memory,
                                    .keys_out = sorted.memory,
                                    .method = (lsp_sort_method)method,
                                    .where = where};
        must_be_told(ctx, "sort by method", told.sort_methods, method, lsp_sort(ctx, &args, NULL));
    }
    lsp_array_free(&keys);
    lsp_array_free(&sorted);
}

TEST_ON_BOTH(supported, pairs_have_the_points_and_methods_that_are_told) {
    lsp_where where;
    const lsp_supported told = here(ctx, &where);
    lsp_array x = zeros(ctx, where, N * 16);
    const double radius = 1;
    uint64_t count;
    lsp_points points = {.n = N, .dimensions = 1, .at = {x.memory}, .where = where};
    for (int type = 0; type < TYPES; type++) {
        points.type = (lsp_type)type;
        must_be_told(ctx, "points of type", told.points, type,
                     lsp_pair_count(ctx, &points, NULL, NULL, &radius, 1, &count, NULL));
    }
    points.type = LSP_F64;
    for (int method = 0; method < TYPES; method++) {
        const lsp_pair_options options = {.method = (lsp_pair_method)method};
        must_be_told(ctx, "pairs by method", told.pair_methods, method,
                     lsp_pair_count(ctx, &points, NULL, &options, &radius, 1, &count, NULL));
    }
    lsp_array_free(&x);
}

TEST_ON_BOTH(supported, products_and_texts_have_the_methods_that_are_told) {
    lsp_where where;
    const lsp_supported told = here(ctx, &where);
    lsp_csr A;
    must(ctx, make(ctx, where, LSP_F64, &A));
    lsp_array text = zeros(ctx, where, N), suffixes = zeros(ctx, where, N * sizeof(int32_t));
    for (int method = 0; method < TYPES; method++) {
        lsp_csr C = {0};
        lsp_spmv_plan *plan = NULL;
        const lsp_spgemm_options spgemm = {.method = (lsp_spgemm_method)method,
                                           .filter.mask = method == LSP_SPGEMM_MASK ? &A : NULL};
        const lsp_spmv_options spmv = {.method = (lsp_spmv_method)method};
        const lsp_suffix_options suffix = {.method = (lsp_suffix_method)method};
        must_be_told(ctx, "product by method", told.spgemm_methods, method, lsp_spgemm(ctx, &A, &A, &spgemm, &C, NULL));
        must_be_told(ctx, "product with a vector by method", told.spmv_methods, method,
                     lsp_spmv_plan_create(ctx, &A, &spmv, &plan));
        must_be_told(ctx, "suffix array by method", told.suffix_methods, method,
                     lsp_suffix_array(ctx, &(lsp_text){N, 1, text.memory, 0, NULL, where}, &suffix, LSP_I32,
                                      suffixes.memory, NULL));
        lsp_spmv_plan_destroy(plan);
        lsp_csr_free(ctx, &C);
    }
    lsp_csr_free(ctx, &A);
    lsp_array_free(&text);
    lsp_array_free(&suffixes);
}

Test(supported, a_build_without_cuda_offers_nothing_there_and_wrong_arguments_are_refused) {
    lsp_supported told;
    cr_assert_eq(lsp_get_supported(LSP_CUDA, &told), LSP_OK);
    cr_assert_eq(told.compiled, LSP_HAVE_CUDA != 0);
    cr_assert(told.compiled || (told.targets[0] == 0 && told.values == 0 && told.sort_methods == 0));
    cr_assert_eq(lsp_get_supported((lsp_where)2, &told), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_get_supported(LSP_HOST, NULL), LSP_ERR_ARGUMENT);
}
