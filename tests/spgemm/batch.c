/* Many products in one call: the bits of the reference of each, on both devices; what they share is freed once. */
#include "core/cuda.h"
#include "tests/products.h"

static void on_the_cpu(void (*test)(lsp_ctx *ctx)) {
    for (int threads = 3; threads >= 1; threads -= 2) {
        lsp_ctx *ctx = test_ctx(threads);
        test(ctx);
        lsp_ctx_destroy(ctx);
    }
}
static void on_the_gpu(void (*test)(lsp_ctx *ctx)) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    test(ctx);
    lsp_ctx_destroy(ctx);
}

/* ---- batches ---- */

enum { MOST = 40 };

typedef struct batch {
    int64_t count;
    lsp_csr A[MOST], B[MOST]; /* on the host */
    lsp_csr a[MOST], b[MOST]; /* where the context computes: the same arrays on the host */
    lsp_csr C[MOST];
} batch;

static bool there(const lsp_ctx *ctx) { return ctx->options.device == LSP_CUDA; }
static int64_t in_use(const lsp_ctx *ctx) { return ctx->space[ctx->options.device].used; }

static int64_t some_size(uint64_t *state) {
    const int64_t kind = test_below(state, 6);
    return kind == 0 ? 0 : kind == 1 ? 1 : test_below(state, 30);
}

/* Random sizes, 0 included. Matrix `large`, if there is one, has more entries than all others together. */
static batch *make_batch(lsp_ctx *ctx, int64_t count, int64_t large, const recipe *like, bool flip_a, bool flip_b,
                         uint64_t seed) {
    batch *made = calloc(1, sizeof *made);
    made->count = count;
    for (int64_t i = 0; i < count; i++) {
        const bool is_large = i == large;
        const int64_t m = is_large ? 201 : some_size(&seed), k = is_large ? 180 : some_size(&seed);
        const int64_t n = is_large ? 222 : some_size(&seed);
        recipe a = *like, b = *like;
        a.rows = flip_a ? k : m, a.cols = flip_a ? m : k;
        b.rows = flip_b ? n : k, b.cols = flip_b ? k : n;
        a.entries = is_large ? 12 : test_below(&seed, 5), b.entries = is_large ? 9 : test_below(&seed, 5);
        made->A[i] = make(&a, test_random(&seed)), made->B[i] = make(&b, test_random(&seed));
        made->a[i] = there(ctx) ? upload(ctx, &made->A[i]) : made->A[i];
        made->b[i] = there(ctx) ? upload(ctx, &made->B[i]) : made->B[i];
    }
    return made;
}
static void drop_batch(lsp_ctx *ctx, batch *x) {
    for (int64_t i = 0; i < x->count; i++) {
        if (there(ctx)) {
            must(ctx, lsp_csr_free(ctx, &x->a[i]));
            must(ctx, lsp_csr_free(ctx, &x->b[i]));
        }
        drop(&x->A[i]), drop(&x->B[i]);
    }
    free(x);
}

static const recipe plain = {0, 0, 0, LSP_I32, LSP_I32, LSP_F64, .sorted = true, .dense_row = -1, .dense_col = -1};

/* Each product must be that of the reference. */
static void check(lsp_ctx *ctx, const batch *x, const lsp_spgemm_options *options, const char *what) {
    lsp_spgemm_options reference = options ? *options : (lsp_spgemm_options){0};
    char name[120];
    reference.method = LSP_SPGEMM_REFERENCE;
    for (int64_t i = 0; i < x->count; i++) {
        lsp_csr right, here = there(ctx) ? download(ctx, &x->C[i]) : x->C[i];
        snprintf(name, sizeof name, "%s, product %d of %d", what, (int)i, (int)x->count);
        must(ctx, lsp_spgemm(ctx, &x->A[i], &x->B[i], &reference, &right, NULL));
        cr_assert(x->C[i].where == ctx->options.device, "%s: its place", name);
        cr_assert(here.rowptr_type == right.rowptr_type && here.col_type == right.col_type, "%s: its types", name);
        same(ctx, &here, &right, name);
        must(ctx, lsp_csr_check(ctx, &here, LSP_CHECK_SORTED | LSP_CHECK_UNIQUE));
        must(ctx, lsp_csr_free(ctx, &right));
        if (there(ctx)) {
            must(ctx, lsp_csr_free(ctx, &here));
        }
    }
}

/* ---- products ---- */

TEST_ON_BOTH(spgemm_batch, every_product_has_the_bits_of_the_reference) {
    static const lsp_semiring semirings[] = {LSP_PLUS_TIMES, LSP_PLUS_TIMES, LSP_MIN_PLUS, LSP_PLUS_PAIR, LSP_OR_AND};
    for (int kind = 0; kind < 48; kind += LSP_EMULATED ? 5 : 1) {
        static const lsp_type values[] = {LSP_NONE, LSP_F32, LSP_F64};
        recipe like = plain;
        char what[40];
        like.rowptr_type = kind & 1 ? LSP_I64 : LSP_I32, like.col_type = kind & 2 ? LSP_I64 : LSP_I32;
        like.val_type = values[kind % 3], like.sorted = kind % 5 != 0, like.wild = kind % 7 == 0;
        lsp_spgemm_options options = {.transpose_a = kind & 4, .transpose_b = kind & 8};
        options.semiring = semirings[kind % 5];
        options.types.rowptr_type = kind % 11 == 0 ? LSP_I64 : LSP_NONE;
        options.types.col_type = kind % 11 == 1 ? LSP_I64 : LSP_NONE;
        options.types.val_type = kind % 11 == 2 ? LSP_F32 : kind % 11 == 3 ? LSP_F64 : LSP_NONE;
        options.types.drop_values = kind % 11 == 4;
        const int64_t before = in_use(ctx), count = 1 + kind % MOST;
        batch *x = make_batch(ctx, count, kind % 3 ? count / 2 : -1, &like, kind & 4, kind & 8, (uint64_t)kind);
        snprintf(what, sizeof what, "batch %d", kind);
        must(ctx, lsp_spgemm_batch(ctx, x->count, x->a, x->b, &options, x->C));
        check(ctx, x, &options, what);
        must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
        drop_batch(ctx, x);
        cr_assert_eq(in_use(ctx), before, "%s: %lld bytes are lost", what, (long long)(in_use(ctx) - before));
    }
}

/* Threads take shares that begin and end inside of matrices. */
Test(spgemm_batch, many_threads_share_large_matrices) {
    for (int kind = 0; kind < 4; kind += 3) {
        lsp_ctx *ctx = test_ctx(4);
        const lsp_spgemm_options options = {.transpose_a = kind & 1, .transpose_b = kind & 2};
        uint64_t state = (uint64_t)kind;
        recipe like = plain;
        batch *x = calloc(1, sizeof *x);
        like.entries = 6;
        for (x->count = 0; x->count < MOST; x->count++) {
            const bool empty = test_below(&state, 4) == 0;
            like.rows = like.cols = empty ? 0 : 1000 + test_below(&state, 3000);
            x->a[x->count] = x->A[x->count] = make(&like, test_random(&state));
            x->b[x->count] = x->B[x->count] = make(&like, test_random(&state));
        }
        must(ctx, lsp_spgemm_batch(ctx, x->count, x->a, x->b, &options, x->C));
        check(ctx, x, &options, "shares of threads");
        must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
        drop_batch(ctx, x);
        lsp_ctx_destroy(ctx);
    }
}

TEST_ON_BOTH(spgemm_batch, batches_of_nothing) {
    static const int64_t sizes[][3] = {{0, 0, 0}, {0, 5, 3}, {4, 0, 6}, {3, 4, 0}, {2, 2, 2}};
    lsp_spgemm_batch_plan *plan;
    must(ctx, lsp_spgemm_batch(ctx, 0, NULL, NULL, NULL, NULL));
    must(ctx, lsp_spgemm_batch_free(ctx, 0, NULL));
    must(ctx, lsp_spgemm_batch_plan_create(ctx, 0, NULL, NULL, NULL, &plan));
    must(ctx, lsp_spgemm_batch_execute(plan, NULL, NULL, NULL));
    must(ctx, lsp_spgemm_batch_update(plan, NULL, NULL, NULL));
    lsp_spgemm_batch_plan_destroy(plan);
    for (int flips = 0; flips < 4; flips++) {
        const lsp_spgemm_options options = {.transpose_a = flips & 1, .transpose_b = flips & 2};
        for (int only = 0; only <= 5; only++) { /* matrices without entries: of one size, then of all */
            batch *x = calloc(1, sizeof *x);
            for (int s = only < 5 ? only : 0; s < (only < 5 ? only + 1 : 5); s++) {
                recipe a = plain, b = plain;
                const int64_t i = x->count++, m = sizes[s][0], k = sizes[s][1], n = sizes[s][2];
                a.rows = flips & 1 ? k : m, a.cols = flips & 1 ? m : k;
                b.rows = flips & 2 ? n : k, b.cols = flips & 2 ? k : n;
                x->A[i] = make(&a, 1), x->B[i] = make(&b, 1);
                x->a[i] = there(ctx) ? upload(ctx, &x->A[i]) : x->A[i];
                x->b[i] = there(ctx) ? upload(ctx, &x->B[i]) : x->B[i];
            }
            must(ctx, lsp_spgemm_batch(ctx, x->count, x->a, x->b, &options, x->C));
            check(ctx, x, &options, "no entries");
            must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
            must(ctx, lsp_spgemm_batch_plan_create(ctx, x->count, x->a, x->b, &options, &plan));
            must(ctx, lsp_spgemm_batch_execute(plan, x->a, x->b, x->C));
            must(ctx, lsp_spgemm_batch_update(plan, x->a, x->b, x->C));
            check(ctx, x, &options, "no entries, by a plan");
            must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
            lsp_spgemm_batch_plan_destroy(plan);
            drop_batch(ctx, x);
        }
    }
}

TEST_ON_BOTH(spgemm_batch, complex_matrices_have_products_without_values) {
    lsp_csr A[3], a[3], C[3], right;
    recipe like = plain;
    const lsp_spgemm_options options = {.types.drop_values = true};
    like.entries = 3;
    for (int i = 0; i < 3; i++) {
        like.rows = like.cols = 5 + i;
        A[i] = make(&like, (uint64_t)i);
        free(A[i].val);
        A[i].val = calloc((size_t)A[i].nnz + 1, 16);
        A[i].val_type = LSP_C64;
        a[i] = there(ctx) ? upload(ctx, &A[i]) : A[i];
    }
    must(ctx, lsp_spgemm_batch(ctx, 3, a, a, &options, C));
    for (int i = 0; i < 3; i++) {
        must(ctx, lsp_spgemm(ctx, &A[i], &A[i], &options, &right, NULL));
        lsp_csr here = there(ctx) ? download(ctx, &C[i]) : C[i];
        same(ctx, &here, &right, "a pattern");
        must(ctx, lsp_csr_free(ctx, &right));
        drop(&A[i]);
        if (there(ctx)) {
            must(ctx, lsp_csr_free(ctx, &here));
            must(ctx, lsp_csr_free(ctx, &a[i]));
        }
    }
    must(ctx, lsp_spgemm_batch_free(ctx, 3, C));
}

/* ---- plans ---- */

/* Other values in the same places. */
static void change(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *a, uint64_t seed) {
    for (int64_t k = 0; k < A->nnz; k++) {
        lsp_value_set(A->val_type, A->val, k, (lsp_value){test_value(false, &seed), 0});
    }
    if (there(ctx) && A->nnz > 0 && A->val_type != LSP_NONE) {
        must(ctx,
             lsp_cuda_copy(ctx, a->val, LSP_CUDA, A->val, LSP_HOST, A->nnz * (int64_t)lsp_type_bytes(A->val_type)));
    }
}

TEST_ON_BOTH(spgemm_batch, plans_serve_new_values) {
    for (int kind = 0; kind < 24; kind += LSP_EMULATED ? 5 : 1) {
        static const lsp_type values[] = {LSP_F32, LSP_F64, LSP_NONE};
        recipe like = plain;
        lsp_spgemm_batch_plan *plan;
        like.rowptr_type = kind & 1 ? LSP_I64 : LSP_I32, like.col_type = kind & 2 ? LSP_I64 : LSP_I32;
        like.val_type = values[kind % 3], like.sorted = kind % 5 != 0;
        const lsp_spgemm_options options = {.transpose_a = kind & 4, .transpose_b = kind & 8};
        const int64_t before = in_use(ctx);
        batch *x = make_batch(ctx, 9, kind & 1 ? 4 : -1, &like, kind & 4, kind & 8, 99 + (uint64_t)kind);
        lsp_csr first[MOST];
        must(ctx, lsp_spgemm_batch_plan_create(ctx, x->count, x->a, x->b, &options, &plan));
        must_fail(ctx, LSP_ERR_ARGUMENT, "no products yet", lsp_spgemm_batch_update(plan, x->a, x->b, x->C));
        for (int round = 0; round < 4; round++) {
            for (int64_t i = 0; i < x->count; i++) {
                change(ctx, &x->A[i], &x->a[i], (uint64_t)(round * 100 + i));
                change(ctx, &x->B[i], &x->b[i], (uint64_t)(round * 100 + i + 50));
            }
            if (round % 2 == 1) {
                must(ctx, lsp_spgemm_batch_update(plan, x->a, x->b, x->C));
                check(ctx, x, &options, "an update");
                must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
            } else {
                must(ctx, lsp_spgemm_batch_execute(plan, x->a, x->b, x->C));
                check(ctx, x, &options, "an execution");
            }
        }
        must(ctx, lsp_spgemm_batch_execute(plan, x->a, x->b, x->C)); /* products of both executions can be updated */
        memcpy(first, x->C, sizeof first);
        must(ctx, lsp_spgemm_batch_execute(plan, x->a, x->b, x->C));
        change(ctx, &x->A[0], &x->a[0], 7);
        must(ctx, lsp_spgemm_batch_update(plan, x->a, x->b, first));
        must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
        memcpy(x->C, first, sizeof first);
        check(ctx, x, &options, "an update of the products before");
        lsp_spgemm_batch_plan_destroy(plan); /* products outlive the plan */
        check(ctx, x, &options, "the plan is gone");
        must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
        drop_batch(ctx, x);
        cr_assert_eq(in_use(ctx), before, "%lld bytes are lost", (long long)(in_use(ctx) - before));
    }
}

TEST_ON_BOTH(spgemm_batch, plans_refuse_other_matrices) {
    batch *x = make_batch(ctx, 9, 4, &plain, false, false, 3);
    lsp_spgemm_batch_plan *plan;
    lsp_csr other[MOST];
    must(ctx, lsp_spgemm_batch_plan_create(ctx, x->count, x->a, x->b, NULL, &plan));
    must(ctx, lsp_spgemm_batch_execute(plan, x->a, x->b, x->C));
    memcpy(other, x->a, sizeof other);
    other[4].cols++;
    must_fail(ctx, LSP_ERR_ARGUMENT, "A[4] is 201 x 181 with", lsp_spgemm_batch_update(plan, other, x->b, x->C));
    other[4] = x->a[4], other[4].val_type = LSP_F32;
    must_fail(ctx, LSP_ERR_ARGUMENT, "A[4] has types LSP_I32, LSP_I32 and LSP_F32",
              lsp_spgemm_batch_update(plan, other, x->b, x->C));
    memcpy(other, x->C, sizeof other);
    other[4].val = x->a[4].val;
    must_fail(ctx, LSP_ERR_ARGUMENT, "C[4] is 201 x 222", lsp_spgemm_batch_update(plan, x->a, x->b, other));
    memset(other, 0, sizeof other);
    must_fail(ctx, LSP_ERR_ARGUMENT, "C[0] is 0 x 0", lsp_spgemm_batch_update(plan, x->a, x->b, other));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_batch_update(plan, x->a, x->b, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_batch_execute(plan, NULL, x->b, other));
    must_fail(ctx, LSP_ERR_ARGUMENT, "that of the factors", lsp_spgemm_batch_execute(plan, x->a, x->b, x->b + 3));
    must(ctx, lsp_spgemm_batch_update(plan, x->a, x->b, x->C));
    check(ctx, x, NULL, "an update after refusals");
    must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
    lsp_spgemm_batch_plan_destroy(plan);
    drop_batch(ctx, x);
}

static void plan_outlives(lsp_ctx *ctx) {
    lsp_ctx *own = there(ctx) ? test_gpu_ctx_or_skip() : test_ctx(2);
    batch *x = make_batch(ctx, 5, -1, &plain, false, true, 8);
    lsp_spgemm_batch_plan *plan;
    must(own, lsp_spgemm_batch_plan_create(own, 5, x->a, x->b, &(lsp_spgemm_options){.transpose_b = true}, &plan));
    must(own, lsp_spgemm_batch_execute(plan, x->a, x->b, x->C));
    lsp_ctx_destroy(own); /* with its products */
    cr_assert_eq(lsp_spgemm_batch_execute(plan, x->a, x->b, x->C), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_spgemm_batch_update(plan, x->a, x->b, x->C), LSP_ERR_ARGUMENT);
    lsp_spgemm_batch_plan_destroy(plan);
    lsp_spgemm_batch_plan_destroy(NULL);
    drop_batch(ctx, x);
}
TEST_ON_BOTH(spgemm_batch, plans_and_their_context_end_in_any_order) { plan_outlives(ctx); }

/* ---- ownership ---- */

TEST_ON_BOTH(spgemm_batch, products_are_freed_together) {
    batch *x = make_batch(ctx, 9, 4, &plain, false, false, 5);
    const int64_t before = in_use(ctx);
    lsp_csr other[MOST], kept[MOST], stale;
    must(ctx, lsp_spgemm_batch(ctx, x->count, x->a, x->b, NULL, x->C));
    must(ctx, lsp_spgemm_batch(ctx, x->count, x->a, x->b, NULL, other));
    memcpy(kept, x->C, sizeof kept);
    for (int64_t i = 0; i < x->count; i++) {
        must_fail(ctx, LSP_ERR_ARGUMENT, "batch of 9", lsp_csr_free(ctx, &x->C[i]));
        cr_assert(memcmp(&x->C[i], &kept[i], sizeof kept[i]) == 0, "product %d was changed", (int)i);
        lsp_array arrays[3];
        must_fail(ctx, LSP_ERR_ARGUMENT, "not detached", lsp_csr_detach(ctx, &x->C[i], arrays));
    }
    must_fail(ctx, LSP_ERR_ARGUMENT, "8 products of a batch of 9", lsp_spgemm_batch_free(ctx, 8, x->C));
    must_fail(ctx, LSP_ERR_ARGUMENT, "C[0], ", lsp_spgemm_batch_free(ctx, 9, there(ctx) ? x->A : x->a));
    x->C[8] = other[8];
    must_fail(ctx, LSP_ERR_ARGUMENT, "C[8] is of another batch", lsp_spgemm_batch_free(ctx, 9, x->C));
    x->C[8] = kept[8];
    cr_assert_eq(lsp_spgemm_batch_free(NULL, 9, x->C), LSP_ERR_ARGUMENT);
    check(ctx, x, NULL, "after refusals");
    for (int64_t i = 0; i < x->count;
         i += 4) { /* a call whose output is its input: the product is another matrix now */
        must(ctx, lsp_csr_transpose(ctx, &x->C[i], &x->C[i]));
        must(ctx, lsp_csr_transpose(ctx, &x->C[i], &x->C[i]));
    }
    check(ctx, x, NULL, "replaced products");
    stale = x->C[3];
    must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
    for (int64_t i = 0; i < x->count; i++) {
        cr_assert(x->C[i].rowptr == NULL && x->C[i].rows == 0);
    }
    must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
    must(ctx, lsp_spgemm_batch_free(ctx, x->count, other));
    cr_assert_eq(in_use(ctx), before);
    must_fail(ctx, LSP_ERR_ARGUMENT, "is not freed", lsp_csr_free(ctx, &stale));
    drop_batch(ctx, x);
}

/* ---- refusals ---- */

/* Overwrites item `at` of an index array, and puts it back. */
static int64_t poke(lsp_ctx *ctx, void *array, int64_t at, int64_t value) {
    int32_t old, new = (int32_t)value;
    if (there(ctx)) {
        must(ctx, lsp_cuda_copy(ctx, &old, LSP_HOST, (int32_t *)array + at, LSP_CUDA, sizeof old));
        must(ctx, lsp_cuda_copy(ctx, (int32_t *)array + at, LSP_CUDA, &new, LSP_HOST, sizeof new));
    } else {
        old = ((int32_t *)array)[at];
        ((int32_t *)array)[at] = new;
    }
    return old;
}

TEST_ON_BOTH(spgemm_batch, malformed_matrices_are_named) {
    enum { count = 19, wrong = 17 };
    batch *x = make_batch(ctx, count, wrong, &plain, false, false, 12);
    lsp_spgemm_batch_plan *plan = NULL;
    const int64_t before = in_use(ctx);
    for (int f = 0; f < 2; f++) {
        const lsp_csr *of = f == 0 ? &x->a[wrong] : &x->b[wrong];
        const struct {
            void *array;
            int64_t at, value;
            const char *words;
        } faults[] = {{of->rowptr, 0, 1, "rowptr[0] is 1, not 0"},
                      {of->rowptr, of->rows, 3, "is 3, but there are"},
                      {of->rowptr, 5, 1 << 30, "row 5 ends at entry"},
                      {of->rowptr, 7, -5, "ends at entry -5"},
                      {of->col, 11, -1, "column -1 is not in"},
                      {of->col, of->nnz - 1, of->cols, f == 0 ? "column 180 is not in" : "column 222 is not in"}};
        for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
            char expected[60];
            const int64_t old = poke(ctx, faults[k].array, faults[k].at, faults[k].value);
            snprintf(expected, sizeof expected, "%s[%d]", f == 0 ? "A" : "B", wrong);
            memset(x->C, 7, sizeof x->C);
            must_fail(ctx, LSP_ERR_FORMAT, expected, lsp_spgemm_batch(ctx, count, x->a, x->b, NULL, x->C));
            cr_assert(strstr(lsp_last_error(ctx), faults[k].words) != NULL, "%s", lsp_last_error(ctx));
            cr_assert(((const char *)x->C)[0] == 7 && ((const char *)x->C)[sizeof x->C - 1] == 7);
            must_fail(ctx, LSP_ERR_FORMAT, expected, lsp_spgemm_batch_plan_create(ctx, count, x->a, x->b, NULL, &plan));
            cr_assert(plan == NULL && in_use(ctx) == before);
            (void)poke(ctx, faults[k].array, faults[k].at, old);
        }
    }
    memset(x->C, 0, sizeof x->C);
    must(ctx, lsp_spgemm_batch(ctx, count, x->a, x->b, NULL, x->C));
    must(ctx, lsp_spgemm_batch_free(ctx, count, x->C));
    drop_batch(ctx, x);
}

#define REFUSED(code, part, count, A, B, options)                                                                      \
    do {                                                                                                               \
        lsp_spgemm_batch_plan *plan_ = NULL;                                                                           \
        must_fail(ctx, code, part, lsp_spgemm_batch(ctx, count, A, B, options, x->C));                                 \
        must_fail(ctx, code, part, lsp_spgemm_batch_plan_create(ctx, count, A, B, options, &plan_));                   \
        cr_assert(plan_ == NULL && x->C[0].rows == 42 && in_use(ctx) == before);                                       \
    } while (0)

TEST_ON_BOTH(spgemm_batch, what_makes_no_sense_is_refused) {
    batch *x = make_batch(ctx, 6, 3, &plain, false, false, 21);
    const int64_t before = in_use(ctx);
    lsp_csr odd[MOST];
    x->C[0].rows = 42;
    REFUSED(LSP_ERR_ARGUMENT, "a batch of -1 products", -1, x->a, x->b, NULL);
    REFUSED(LSP_ERR_ARGUMENT, "batch of 6", 6, NULL, x->b, NULL);
    REFUSED(LSP_ERR_UNSUPPORTED, "no filter", 6, x->a, x->b, &(lsp_spgemm_options){.filter.drop = true});
    REFUSED(LSP_ERR_ARGUMENT, "semiring", 6, x->a, x->b, &(lsp_spgemm_options){.semiring = (lsp_semiring)77});
    REFUSED(LSP_ERR_ARGUMENT, "LSP_F32", 6, x->a, x->b, &(lsp_spgemm_options){.types.rowptr_type = LSP_F32});
    memcpy(odd, x->b, sizeof odd);
    odd[3].rows = 7;
    REFUSED(LSP_ERR_ARGUMENT, "A[3] of 201 x 180 cannot be multiplied by B[3] of 7 x 222", 6, x->a, odd, NULL);
    odd[3] = x->b[3], odd[3].col_type = LSP_I64;
    REFUSED(LSP_ERR_ARGUMENT, "B[3] has types LSP_I32, LSP_I64 and LSP_F64", 6, x->a, odd, NULL);
    odd[3] = x->b[3], odd[3].rowptr = NULL;
    REFUSED(LSP_ERR_ARGUMENT, "B[3] has no row pointers", 6, x->a, odd, NULL);
    odd[3] = x->b[3], odd[3].where = there(ctx) ? LSP_HOST : LSP_CUDA;
    REFUSED(LSP_ERR_ARGUMENT, "B[3] lies", 6, x->a, odd, NULL);
    for (int i = 0; i < 6; i++) {
        odd[i] = x->b[i], odd[i].val_type = LSP_C64;
    }
    REFUSED(LSP_ERR_UNSUPPORTED, "complex", 6, x->a, odd, NULL);
    must_fail(ctx, LSP_ERR_ARGUMENT, "that of the factors", lsp_spgemm_batch(ctx, 6, x->a, x->b, NULL, x->a));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_batch(ctx, 6, x->a, x->b, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "the plan is NULL", lsp_spgemm_batch_plan_create(ctx, 6, x->a, x->b, NULL, NULL));
    cr_assert_eq(lsp_spgemm_batch(NULL, 6, x->a, x->b, NULL, x->C), LSP_ERR_ARGUMENT);
    for (int i = 0; i < 2; i++) { /* sizes whose sum is too large */
        odd[i] =
            (lsp_csr){0, (int64_t)1 << 62, 0, x->a[3].rowptr, NULL, NULL, LSP_I32, LSP_I64, LSP_F64, x->a[3].where};
    }
    REFUSED(LSP_ERR_OVERFLOW, "A[0] to A[1] together have 2^63 columns or more", 2, odd, odd,
            &(lsp_spgemm_options){.transpose_b = true});
    REFUSED(LSP_ERR_UNSUPPORTED, "inner columns", 1, odd, odd, &(lsp_spgemm_options){.transpose_b = true});
    drop_batch(ctx, x);
}

/* ---- memory ---- */

TEST_ON_BOTH(spgemm_batch, a_budget_that_is_too_small_is_told) {
    for (int planned = 0; planned < 2; planned++) {
        batch *x = make_batch(ctx, 7, 3, &plain, false, true, 4);
        const lsp_spgemm_options options = {.transpose_b = true};
        const int64_t before = in_use(ctx);
        lsp_status status = LSP_ERR_MEMORY;
        int refusals = 0;
        for (int64_t budget = before + 64; status != LSP_OK; budget += budget / 16 + 256) {
            lsp_spgemm_batch_plan *plan = NULL;
            must(ctx, lsp_ctx_trim(ctx));
            must(ctx, lsp_ctx_set_max_bytes(ctx, budget));
            memset(x->C, 7, sizeof x->C);
            if (planned) {
                status = lsp_spgemm_batch_plan_create(ctx, x->count, x->a, x->b, &options, &plan);
                status = status == LSP_OK ? lsp_spgemm_batch_execute(plan, x->a, x->b, x->C) : status;
                lsp_spgemm_batch_plan_destroy(plan);
            } else {
                status = lsp_spgemm_batch(ctx, x->count, x->a, x->b, &options, x->C);
            }
            if (status != LSP_OK) {
                cr_assert(status == LSP_ERR_MEMORY, "%lld bytes: %s: %s", (long long)budget, lsp_status_name(status),
                          lsp_last_error(ctx));
                cr_assert(((const char *)x->C)[0] == 7 && ((const char *)x->C)[sizeof x->C - 1] == 7);
                cr_assert_eq(in_use(ctx), before);
                refusals++;
            }
        }
        must(ctx, lsp_ctx_set_max_bytes(ctx, 0));
        cr_assert(refusals > 5, "%d refusals", refusals);
        check(ctx, x, &options, "within a budget");
        must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
        drop_batch(ctx, x);
    }
}

static lsp_status use_batch(lsp_ctx *ctx, void *data) {
    batch *x = data;
    const lsp_spgemm_options options = {.transpose_b = true};
    memset(x->C, 7, sizeof x->C);
    const lsp_status status = lsp_spgemm_batch(ctx, x->count, x->A, x->B, &options, x->C);
    cr_assert(status == LSP_OK || (((const char *)x->C)[0] == 7 && ((const char *)x->C)[sizeof x->C - 1] == 7));
    if (status == LSP_OK) {
        must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
    }
    cr_assert_eq(in_use(ctx), 0);
    return status;
}
static lsp_status use_plan(lsp_ctx *ctx, void *data) {
    batch *x = data;
    const lsp_spgemm_options options = {.transpose_b = true};
    lsp_spgemm_batch_plan *plan = NULL;
    memset(x->C, 7, sizeof x->C);
    lsp_status status = lsp_spgemm_batch_plan_create(ctx, x->count, x->A, x->B, &options, &plan);
    cr_assert(status == LSP_OK || plan == NULL);
    status = status == LSP_OK ? lsp_spgemm_batch_execute(plan, x->A, x->B, x->C) : status;
    cr_assert(status == LSP_OK || (((const char *)x->C)[0] == 7 && ((const char *)x->C)[sizeof x->C - 1] == 7));
    const bool made = status == LSP_OK;
    status = made ? lsp_spgemm_batch_update(plan, x->A, x->B, x->C) : status;
    if (made) {
        must(ctx, lsp_spgemm_batch_free(ctx, x->count, x->C));
    }
    lsp_spgemm_batch_plan_destroy(plan);
    cr_assert_eq(in_use(ctx), 0);
    return status;
}

Test(spgemm_batch, without_memory_everything_is_left_alone) {
    lsp_ctx *ctx = test_ctx(1);
    batch *x = make_batch(ctx, 7, 3, &plain, false, true, 4);
    test_failing_memory(2, use_batch, x);
    test_failing_memory(2, use_plan, x);
    drop_batch(ctx, x);
    lsp_ctx_destroy(ctx);
}
