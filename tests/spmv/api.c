/* What calls refuse, what they say, malformed matrices, failing memory, budgets, and bits that do not depend on the
 * number of threads. */
#include "cases.h"

static const request usual = {
    .matrix = "random:60:50:400", .val_type = LSP_F64, .type = LSP_F64, .alpha = 1, .seed = 1};

Test(spmv_api, methods_have_names) {
    for (int m = 0; m < LSP_SPMV_METHODS; m++) {
        cr_assert(strlen(lsp_spmv_method_name((lsp_spmv_method)m)) > 1);
    }
    cr_assert(strcmp(lsp_spmv_method_name((lsp_spmv_method)LSP_SPMV_METHODS), "?") == 0);
    cr_assert(strcmp(lsp_spmv_method_name(LSP_SPMV_AUTO), "auto") == 0);
    cr_assert(strcmp(lsp_spmv_method_name(LSP_SPMV_PROPAGATE), "propagate") == 0);
    cr_assert(strcmp(lsp_spmv_method_name((lsp_spmv_method)-1), "?") == 0);
}

TEST_ON_BOTH(spmv_api, a_call_tells_what_it_took) {
    for (int asked = 0; asked < 2; asked++) {
        request r = usual;
        r.method = asked ? LSP_SPMV_EQUAL : LSP_SPMV_AUTO;
        spmv_case c = make_case(ctx, &r);
        const lsp_spmv_options options = options_of(&r);
        lsp_spmv_info info;
        memset(&info, 0xFF, sizeof info);
        must_run(ctx, &r, lsp_spmv(ctx, &c.A, &options, &c.vectors, &info));
        cr_assert(info.method == (asked ? LSP_SPMV_EQUAL : LSP_SPMV_ROWS) && info.passes == 1 && info.plan_bytes == 0);
        cr_assert(info.stored_entries == c.A.nnz && info.pays_after == 0 && info.reserved[0] == 0);
        cr_assert(strstr(info.reason, asked ? "the caller" : "one call") != NULL, "%s", info.reason);
        free_case(ctx, &c);
    }
}

/* ---- refusals ---- */

/* The call and the plan must fail alike, and leave Y alone. */
static void must_refuse(lsp_ctx *ctx, const spmv_case *c, const request *r, lsp_spmv_options options, lsp_status code,
                        const char *part) {
    lsp_spmv_plan *plan = NULL;
    must_fail(ctx, code, part, lsp_spmv(ctx, &c->A, &options, &c->vectors, NULL));
    must_fail(ctx, code, part, lsp_spmv_plan_create(ctx, &c->A, &options, &plan));
    cr_assert(plan == NULL);
    must_equal(ctx, r, c);
}

TEST_ON_BOTH(spmv_api, options_that_make_no_sense_are_refused) {
    const request r = usual;
    spmv_case c = make_case(ctx, &r);
    const lsp_spmv_options good = options_of(&r);
#define REFUSE(code, part, ...)                                                                                        \
    do {                                                                                                               \
        lsp_spmv_options o = good;                                                                                     \
        __VA_ARGS__;                                                                                                   \
        must_refuse(ctx, &c, &r, o, (code), (part));                                                                   \
    } while (0)
    REFUSE(LSP_ERR_ARGUMENT, "no semiring 77", o.semiring = (lsp_semiring)77);
    REFUSE(LSP_ERR_ARGUMENT, "no method 99", o.method = (lsp_spmv_method)99);
    REFUSE(LSP_ERR_ARGUMENT, "-3 vectors", o.vectors = -3);
    REFUSE(LSP_ERR_ARGUMENT, "-1 passes", (o.method = LSP_SPMV_GATHER, o.passes = -1));
    REFUSE(LSP_ERR_ARGUMENT, "only gather", (o.method = LSP_SPMV_ROWS, o.passes = 2));
    REFUSE(LSP_ERR_ARGUMENT, "-1 calls", o.expected_calls = -1);
    REFUSE(LSP_ERR_UNSUPPORTED, "LSP_I32", o.type = LSP_I32);
    REFUSE(LSP_ERR_UNSUPPORTED, "LSP_F32", o.type = LSP_F32);
    REFUSE(LSP_ERR_ARGUMENT, "lsp_spmv_options", o.reserved[3] = 1);
    lsp_spmv_plan *plan = NULL;
    for (int m = LSP_SPMV_DIAGONALS; m < LSP_SPMV_METHODS; m++) {
        lsp_spmv_options o = good;
        o.method = (lsp_spmv_method)m;
        must_fail(ctx, LSP_ERR_UNSUPPORTED, lsp_spmv_method_name(o.method), lsp_spmv(ctx, &c.A, &o, &c.vectors, NULL));
    }
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spmv_plan_create(ctx, &c.A, &good, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "A is NULL", lsp_spmv_plan_create(ctx, NULL, &good, &plan));
    must_fail(ctx, LSP_ERR_ARGUMENT, "A is NULL", lsp_spmv(ctx, NULL, &good, &c.vectors, NULL));
    cr_assert(lsp_spmv(NULL, &c.A, &good, &c.vectors, NULL) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_spmv_plan_create(NULL, &c.A, &good, &plan) == LSP_ERR_ARGUMENT);
    must_equal(ctx, &r, &c);
    free_case(ctx, &c);
}

TEST_ON_BOTH(spmv_api, vectors_that_make_no_sense_are_refused) {
    request r = usual;
    r.vectors = 3, r.x_gap = 2, r.y_gap = 2;
    spmv_case c = make_case(ctx, &r);
    const lsp_spmv_options options = options_of(&r);
    lsp_spmv_plan *plan = NULL;
    must(ctx, lsp_spmv_plan_create(ctx, &c.A, &options, &plan));
#define REFUSE_VECTORS(code, part, ...)                                                                                \
    do {                                                                                                               \
        lsp_spmv_vectors v = c.vectors;                                                                                \
        __VA_ARGS__;                                                                                                   \
        must_fail(ctx, (code), (part), lsp_spmv(ctx, &c.A, &options, &v, NULL));                                       \
        must_fail(ctx, (code), (part), lsp_spmv_execute(plan, &v));                                                    \
    } while (0)
    REFUSE_VECTORS(LSP_ERR_ARGUMENT, "x, ", v.x = NULL);
    REFUSE_VECTORS(LSP_ERR_ARGUMENT, "y, ", v.y = NULL);
    REFUSE_VECTORS(LSP_ERR_ARGUMENT, "stride of 2", v.x_stride = 2);
    REFUSE_VECTORS(LSP_ERR_ARGUMENT, "stride of -1", v.y_stride = -1);
    REFUSE_VECTORS(LSP_ERR_OVERFLOW, "cannot be in memory", v.y_stride = INT64_MAX / 4);
    REFUSE_VECTORS(LSP_ERR_ARGUMENT, "multiple of 8", v.x = (const char *)v.x + 4);
    REFUSE_VECTORS(LSP_ERR_ARGUMENT, "multiple of 8", v.alpha_at = (const char *)v.x + 4);
    REFUSE_VECTORS(LSP_ERR_ARGUMENT, "overlap", v.y = (double *)(uintptr_t)v.x + 2);
    REFUSE_VECTORS(LSP_ERR_ARGUMENT, "overlap", v.x = (double *)v.y + 8);
    REFUSE_VECTORS(LSP_ERR_ARGUMENT, "array of A", v.y = c.A.val);
    REFUSE_VECTORS(LSP_ERR_ARGUMENT, "lsp_spmv_vectors", v.reserved[0] = 1);
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spmv(ctx, &c.A, &options, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spmv_execute(plan, NULL));
    must_equal(ctx, &r, &c);
    lsp_spmv_plan_destroy(plan);
    free_case(ctx, &c);
}

/* X in the even columns of a matrix, Y in the odd ones: no element of one is in the other. */
TEST_ON_BOTH(spmv_api, x_and_y_may_lie_in_the_gaps_of_each_other) {
    enum { n = 60, width = 3 };
    request r = usual;
    r.matrix = "random:60:60:300", r.vectors = width, r.x_gap = width, r.y_gap = width;
    spmv_case c = make_case(ctx, &r);
    lsp_spmv_vectors v = c.vectors;
    const lsp_spmv_options options = options_of(&r);
    v.x = (double *)c.y_there + width; /* the gaps of Y hold numbers too */
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < width; j++) {
            c.x.at[i * c.x.stride + j] = c.y.at[i * c.y.stride + width + j];
        }
    }
    must_run(ctx, &r, lsp_spmv(ctx, &c.A, &options, &v, NULL));
    plain_spmv(&r, &c.host, &c.x, &c.y);
    must_equal(ctx, &r, &c);
    v.x = (double *)c.y_there + width - 1;
    must_fail(ctx, LSP_ERR_ARGUMENT, "overlap", lsp_spmv(ctx, &c.A, &options, &v, NULL));
    free_case(ctx, &c);
}

TEST_ON_BOTH(spmv_api, semirings_refuse_factors_that_they_do_not_have) {
    request r = usual;
    r.semiring = LSP_MIN_PLUS;
    spmv_case c = make_case(ctx, &r);
    const lsp_spmv_options options = options_of(&r);
    c.vectors.alpha = 2;
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "min-plus", lsp_spmv(ctx, &c.A, &options, &c.vectors, NULL));
    c.vectors.alpha = 1, c.vectors.beta = 0.5;
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "0.5", lsp_spmv(ctx, &c.A, &options, &c.vectors, NULL));
    must_equal(ctx, &r, &c);
    free_case(ctx, &c);
}

TEST_ON_BOTH(spmv_api, a_matrix_in_another_place_or_of_complex_numbers_or_integers_is_refused) {
    const request r = usual;
    spmv_case c = make_case(ctx, &r);
    lsp_csr A = c.A;
    if (ctx->options.device == LSP_HOST) {
        A.where = LSP_CUDA;
        must_fail(ctx, LSP_ERR_DEVICE, "host", lsp_spmv(ctx, &A, NULL, &c.vectors, NULL));
    }
    A = c.A, A.val_type = LSP_C64;
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "complex", lsp_spmv(ctx, &A, NULL, &c.vectors, NULL));
    for (int t = 0; t < 3; t++) {
        const lsp_spmv_options options = {.type = LSP_F64};
        A.val_type = (const lsp_type[]){LSP_I32, LSP_I64, LSP_BOOL}[t];
        must_fail(ctx, LSP_ERR_UNSUPPORTED, "integers", lsp_spmv(ctx, &A, NULL, &c.vectors, NULL));
        must_fail(ctx, LSP_ERR_UNSUPPORTED, "integers", lsp_spmv(ctx, &A, &options, &c.vectors, NULL));
    }
    A = c.A, A.rowptr = NULL;
    must_fail(ctx, LSP_ERR_ARGUMENT, "rowptr", lsp_spmv(ctx, &A, NULL, &c.vectors, NULL));
    free_case(ctx, &c);
}

/* ---- malformed matrices ---- */

/* Writes one index into an array of the matrix, in both places. */
static void spoil(lsp_ctx *ctx, const spmv_case *c, bool in_rowptr, int64_t at, int64_t value) {
    const lsp_type type = in_rowptr ? c->A.rowptr_type : c->A.col_type;
    void *host = in_rowptr ? c->host.rowptr : c->host.col, *there = in_rowptr ? c->A.rowptr : c->A.col;
    lsp_index_set(host, type, at, value);
    if (ctx->options.device == LSP_HOST) {
        lsp_index_set(there, type, at, value);
    } else {
        const int64_t bytes = (int64_t)lsp_type_bytes(type);
        must(ctx, lsp_cuda_copy(ctx, (char *)there + at * bytes, LSP_CUDA, (char *)host + at * bytes, LSP_HOST, bytes));
    }
}

/* The status of a call, or else of the wait for it. */
static lsp_status call_and_wait(lsp_ctx *ctx, const request *r, const spmv_case *c) {
    const lsp_status status = multiply_so(ctx, r, c);
    const lsp_status later = lsp_ctx_sync(ctx);
    return status != LSP_OK ? status : later;
}

static bool is_complaint(lsp_status status) { return status == LSP_ERR_FORMAT || status == LSP_ERR_ARGUMENT; }

static const int64_t usual_vectors[] = {5, 4, 3, 8, 2};

TEST_ON_BOTH(spmv_api, columns_outside_are_left_out_and_named) {
    static const int64_t outside[] = {-1, 50, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    for (int i = 0; i < 6 * LSP_SPMV_METHODS * 2; i++) {
        request r = usual;
        r.method = (lsp_spmv_method)(i / 6 % LSP_SPMV_METHODS);
        r.wide_col = i % 6 > 3 || i % 2;
        r.vectors = i / 6 / LSP_SPMV_METHODS ? usual_vectors[i / 2 % 5] : 1;
        r.semiring = i % 5 == 4 ? LSP_MIN_PLUS : LSP_PLUS_TIMES;
        spmv_case c = make_case(ctx, &r);
        const int64_t at = i * 29 % c.host.nnz;
        spoil(ctx, &c, false, at, outside[i % 6]);
        const lsp_status status = call_and_wait(ctx, &r, &c);
        if (status != LSP_ERR_UNSUPPORTED) {
            char want[32];
            snprintf(want, sizeof want, "%lld", (long long)at);
            cr_assert(is_complaint(status) && strstr(lsp_last_error(ctx), want), "%s: %s: %s", describe(&r).text,
                      lsp_status_name(status), lsp_last_error(ctx));
            plain_spmv(&r, &c.host, &c.x, &c.y);
            must(ctx, lsp_ctx_sync(ctx));
        }
        must_equal(ctx, &r, &c);
        r.planned = true; /* a plan reads all of A first, and refuses it */
        const lsp_status planned = call_and_wait(ctx, &r, &c);
        cr_assert(is_complaint(planned) || planned == LSP_ERR_UNSUPPORTED, "%s: %s", describe(&r).text,
                  lsp_status_name(planned));
        must_equal(ctx, &r, &c);
        free_case(ctx, &c);
    }
}

/* No crash, no hang, and a complaint. Y is as it was, but where a GPU finds the fault while it multiplies. */
TEST_ON_BOTH(spmv_api, row_pointers_that_are_wrong_are_not_followed) {
    static const int64_t wrong[] = {-1, 401, 100000, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    static const int64_t places[] = {0, 1, 30, 59, 60};
    for (int i = 0; i < 7 * 5 * LSP_SPMV_METHODS; i++) {
        request r = usual;
        r.wide_rowptr = i % 7 > 4 || i % 2;
        r.method = (lsp_spmv_method)(i / 35);
        r.vectors = i % 3 == 0 ? usual_vectors[i % 5] : 1;
        r.transpose = i % 11 == 0;
        spmv_case c = make_case(ctx, &r);
        spoil(ctx, &c, true, places[i / 7 % 5], wrong[i % 7]);
        for (int planned = 1; planned >= 0; planned--) { /* one call on a GPU may write Y before it finds the fault */
            r.planned = planned;
            const lsp_status status = call_and_wait(ctx, &r, &c);
            cr_assert(is_complaint(status) || status == LSP_ERR_UNSUPPORTED, "%s, row pointer %lld is %lld: %s",
                      describe(&r).text, (long long)places[i / 7 % 5], (long long)wrong[i % 7],
                      lsp_status_name(status));
            if (planned || ctx->options.device == LSP_HOST) {
                must_equal(ctx, &r, &c);
            }
        }
        free_case(ctx, &c);
    }
}

/* The last row pointer but one falls: all rows before it are good. */
Test(spmv_api, falling_row_pointers_leave_y_as_it_was) {
    for (int i = 0; i < 3 * LSP_SPMV_METHODS; i++) {
        request r = usual;
        r.matrix = "poisson2d:200", r.method = (lsp_spmv_method)(i / 3), r.beta = 1, r.vectors = 1 + i % 3;
        lsp_ctx *ctx = test_ctx(1 + i % 2 * 2);
        spmv_case c = make_case(ctx, &r);
        spoil(ctx, &c, true, c.A.rows - 1, lsp_csr_rowptr(&c.A, c.A.rows - 2) - 1);
        const lsp_status status = multiply_so(ctx, &r, &c);
        cr_assert(status == LSP_ERR_UNSUPPORTED || strstr(lsp_last_error(ctx), "row 39998"), "%s: %s",
                  describe(&r).text, lsp_last_error(ctx));
        must_equal(ctx, &r, &c);
        free_case(ctx, &c);
        lsp_ctx_destroy(ctx);
    }
}

/* ---- memory ---- */

static lsp_status multiply_failing(lsp_ctx *ctx, void *data) {
    const request *r = data;
    lsp_ctx *other = test_ctx(1); /* the case itself must not fail */
    spmv_case c = make_case(other, r);
    const lsp_status status = multiply_so(ctx, r, &c);
    if (status == LSP_OK) {
        plain_spmv(r, &c.host, &c.x, &c.y);
    }
    must_equal(ctx, r, &c);
    free_case(other, &c);
    lsp_ctx_destroy(other);
    return status;
}

Test(spmv_api, every_allocation_may_fail) {
    lsp_ctx *ctx = test_ctx(1);
    for (int m = 0; m < LSP_SPMV_METHODS; m++) {
        for (int kind = 0; kind < 8; kind++) {
            request r = usual;
            r.matrix = m == LSP_SPMV_BLOCKS ? "fem3:3" : "poisson2d:20";
            r.method = (lsp_spmv_method)m;
            r.planned = kind & 1, r.transpose = kind & 2, r.vectors = kind & 4 ? 3 : 1;
            spmv_case c = make_case(ctx, &r);
            const bool taken = multiply_so(ctx, &r, &c) == LSP_OK;
            free_case(ctx, &c);
            if (taken && (r.planned || r.transpose)) { /* others may need no memory */
                test_failing_memory(2, multiply_failing, &r);
            }
        }
    }
    lsp_ctx_destroy(ctx);
}

TEST_ON_BOTH(spmv_api, a_budget_that_is_too_small_is_told) {
    for (int planned = 0; planned < 2; planned++) {
        request r = usual;
        r.matrix = "poisson2d:200", r.transpose = true, r.planned = planned;
        spmv_case c = make_case(ctx, &r);
        must(ctx, lsp_ctx_trim(ctx));
        must(ctx, lsp_ctx_set_max_bytes(ctx, ctx->space[ctx->options.device].used + 100000));
        must_fail(ctx, LSP_ERR_MEMORY, "budget", multiply_so(ctx, &r, &c));
        must_equal(ctx, &r, &c);
        must(ctx, lsp_ctx_set_max_bytes(ctx, 0));
        must_run(ctx, &r, multiply_so(ctx, &r, &c));
        plain_spmv(&r, &c.host, &c.x, &c.y);
        must_equal(ctx, &r, &c);
        free_case(ctx, &c);
    }
}

/* ---- bits ---- */

/* Values and x of very different sizes, so that the order of a sum shows in its bits. */
static void make_uneven(spmv_case *c) {
    uint64_t state = 3;
    for (int64_t k = 0; k < c->A.nnz; k++) {
        ((double *)c->A.val)[k] = (double)test_random(&state) / (double)(1 + test_below(&state, 1 << 20));
    }
    for (int64_t i = 0; i < c->x.items; i++) {
        ((double *)c->x_there)[i] = 1.1 * (double)(test_below(&state, 2001) - 1000);
    }
}

/* Are all results within the rounding of any order of sums? */
static void must_be_accurate(const request *r, const spmv_case *c) {
    const double *x = c->x_there, *y = c->y_there, *val = c->A.val;
    for (int64_t i = 0; i < c->A.rows; i++) {
        long double sum = 0, size = 0;
        const int64_t begin = lsp_csr_rowptr(&c->A, i), end = lsp_csr_rowptr(&c->A, i + 1);
        for (int64_t k = begin; k < end; k++) {
            const long double product = (long double)val[k] * x[lsp_csr_col(&c->A, k)];
            sum += product, size += product < 0 ? -product : product;
        }
        const long double error = sum > y[i] ? sum - y[i] : y[i] - sum;
        cr_assert(error <= 1.2e-16L * (long double)(2 + end - begin) * size, "%s: row %lld", describe(r).text,
                  (long long)i);
    }
}

Test(spmv_api, one_two_and_seven_threads_and_all_instruction_sets_give_the_same_bits) {
    static const char *const some[] = {"poisson2d:150", "rmat:12:16", "row:30000:500000", "last:7:300000",
                                       "random:1:4000:200000"};
    for (int i = 0; i < 2 * 5 * LSP_SPMV_METHODS; i++) {
        const int method = i / 5 % LSP_SPMV_METHODS;
        request r = usual;
        r.matrix = some[i % 5], r.method = (lsp_spmv_method)method, r.planned = true;
        r.vectors = i < 5 * LSP_SPMV_METHODS ? 1 : (int[]){2, 3, 4, 5, 8}[(i + method) % 5];
        double *first = NULL;
        for (int run = 0; run < 5; run++) {
            lsp_ctx *ctx = test_ctx((int[]){1, 2, 7, 2, 7}[run]);
            /* without fused multiply-add the prepared methods round twice */
            const bool fuses = r.method != LSP_SPMV_AUTO && r.method <= LSP_SPMV_GATHER;
            ctx->isa = run == 3 && fuses ? LSP_ISA_PORTABLE
                       : run < 3         ? ctx->isa
                                         : (lsp_isa)lsp_min(ctx->isa, LSP_ISA_AVX2);
            spmv_case c = make_case(ctx, &r);
            make_uneven(&c);
            const lsp_status status = multiply_so(ctx, &r, &c);
            if (status != LSP_ERR_UNSUPPORTED) {
                must_run(ctx, &r, status);
                if (r.vectors == 1) {
                    must_be_accurate(&r, &c);
                }
                const size_t bytes = (size_t)c.y.items * sizeof *first;
                if (first == NULL) {
                    first = memcpy(malloc(bytes + 1), c.y_there, bytes);
                }
                cr_assert(memcmp(first, c.y_there, bytes) == 0, "%s: run %d", describe(&r).text, run);
            }
            free_case(ctx, &c);
            lsp_ctx_destroy(ctx);
        }
        free(first);
    }
}
