/* Products on the GPU whose rows have few entries, made in one pass: the bits of the reference on the host for every
 * type, semiring, width of C's indices and length of rows, whatever the sample of rows says. Skipped without a GPU. */
#include "core/cuda.h"
#include "spgemm/gpu/choose.h"
#include "tests/failing.h"
#include "tests/products.h"

static const char in_one_pass[] = "one pass";
enum { ROWS = LSP_ONE_PASS_ROWS };

static bool reduced(void) { return getenv("LSP_TEST_REDUCED") != NULL; }

/* Multiplies on the GPU, and compares with the host's product and its facts. once: it must be made in one pass. */
static void must_be_right(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_options options, bool once,
                          const char *what) {
    lsp_csr a = upload(ctx, A), b = A == B ? a : upload(ctx, B), C = {0}, right = {0};
    lsp_spgemm_info info, expected;
    must(ctx, lsp_spgemm(ctx, &a, &b, &options, &C, &info));
    must(ctx, lsp_spgemm(ctx, A, B, &options, &right, &expected));
    lsp_csr here = download(ctx, &C);
    cr_assert((strstr(info.reason, in_one_pass) != NULL) == once, "%s: %s", what, info.reason);
    cr_assert(info.products == expected.products && info.nnz == expected.nnz && info.nnz_bound == expected.nnz_bound &&
                  info.max_row_products == expected.max_row_products && info.bound_bytes == expected.bound_bytes,
              "%s: the facts differ", what);
    cr_assert(C.rowptr_type == right.rowptr_type && C.col_type == right.col_type, "%s: types", what);
    same(ctx, &here, &right, what);
    lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &right), lsp_csr_free(ctx, &a);
    if (A != B) {
        lsp_csr_free(ctx, &b);
    }
}

/* In lists of each length; rows of B in order, and in no order with columns twice; values to be converted first. */
Test(device_one_pass, every_type_semiring_and_index_has_the_bits_of_the_host) {
    static const lsp_type types[] = {LSP_NONE, LSP_F32, LSP_F64, LSP_C64, LSP_I64, LSP_I32, LSP_BOOL};
    static const struct {
        int64_t cols, entries;
        bool sorted;
    } of[] = {{5, 1, false}, {6000, 1, true}, {5, 9, false}, {20, 26, false}, {30, 60, false}};
    enum { TYPES = sizeof types / sizeof *types, FORMS = sizeof of / sizeof *of };
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int kind = 0; kind < TYPES * LSP_SEMIRINGS * FORMS; kind++) {
        const lsp_type type = types[kind % TYPES], other = kind % 3 || type >= LSP_C64 ? type : LSP_NONE;
        const lsp_semiring semiring = (lsp_semiring)(kind / TYPES % LSP_SEMIRINGS);
        const int form = kind / TYPES / LSP_SEMIRINGS;
        const bool wild = kind & 1 && type != LSP_I32; /* those do not fit */
        const recipe of_a = {ROWS + 77, 3000, 2, LSP_I32, LSP_I32, type, form & 1, wild, -1, -1, 0};
        const recipe of_b = {
            3000, of[form].cols, of[form].entries, LSP_I32, LSP_I32, other, of[form].sorted, wild, -1, -1, 0};
        const lsp_spgemm_options options = {
            .semiring = semiring,
            .types = {.rowptr_type = form & 1 ? LSP_I64 : LSP_NONE, .col_type = form & 2 ? LSP_I64 : LSP_NONE}};
        if ((type == LSP_C64 && semiring != LSP_PLUS_TIMES) || (reduced() && form != kind / 3 % FORMS)) {
            continue;
        }
        char what[80];
        snprintf(what, sizeof what, "type %d, semiring %d, form %d", (int)type, (int)semiring, form);
        lsp_csr A = make(&of_a, (uint64_t)kind), B = make(&of_b, 1000 + (uint64_t)kind);
        const bool rounded = lsp_spgemm_result_type(&A, &B, &options) == LSP_F32 && lsp_semiring_counts(semiring);
        must_be_right(ctx, &A, &B, options, !rounded, what);
        drop(&A), drop(&B);
    }
    lsp_ctx_destroy(ctx);
}

/* Row i has length(i) entries, `apart` columns apart and from column i on, going round. */
static lsp_csr make_rows(int64_t rows, int64_t cols, int64_t (*length)(int64_t row, const void *with), const void *with,
                         int64_t apart) {
    int32_t *rowptr = calloc((size_t)rows + 1, 4), nnz = 0;
    for (int64_t i = 0; i < rows; i++) {
        rowptr[i + 1] = (nnz += (int32_t)length(i, with));
    }
    int32_t *col = malloc((size_t)nnz * 4 + 4);
    double *val = malloc((size_t)nnz * 8 + 8);
    for (int64_t i = 0; i < rows; i++) {
        for (int32_t p = rowptr[i]; p < rowptr[i + 1]; p++) {
            col[p] = (int32_t)((i + (p - rowptr[i]) * apart) % cols);
            val[p] = 1 + p / 3.0;
        }
    }
    return (lsp_csr){rows, cols, nnz, rowptr, col, val, LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
}

static int64_t always(int64_t row, const void *with) {
    (void)row;
    return *(const int64_t *)with;
}

Test(device_one_pass, rows_of_every_length_have_the_bits_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const int64_t one = 1, five = 5;
    lsp_csr I = make_rows(700, 700, always, &one, 1), B = make_rows(2800, 700, always, &five, 1);
    for (int64_t n = 1; n <= 19; n++) {
        lsp_csr A = make_rows(ROWS + 1, 700, always, &n, 17), D = make_rows(ROWS + 1, 2800, always, &n, 1);
        must_be_right(ctx, &A, &I, (lsp_spgemm_options){0}, n > 1 && n <= 12, "one product an entry");
        if (!reduced() || n % 5 == 4) { /* n + 4 entries of 5 n products */
            must_be_right(ctx, &D, &B, (lsp_spgemm_options){0}, n != 9, "five products an entry");
        }
        drop(&A), drop(&D);
    }
    drop(&I), drop(&B);
    lsp_ctx_destroy(ctx);
}

/* So many that blocks are larger. */
Test(device_one_pass, many_rows_have_the_bits_of_the_host) {
    enum { MANY = (1 << 18) + 77 };
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const int64_t five = 5;
    lsp_csr B = make_rows(2800, 700, always, &five, 1);
    for (int64_t n = 2; n <= 6; n += 4) {
        lsp_csr A = make_rows(MANY, 2800, always, &n, 1);
        must_be_right(ctx, &A, &B, (lsp_spgemm_options){0}, true, "many rows");
        drop(&A);
    }
    drop(&B);
    lsp_ctx_destroy(ctx);
}

Test(device_one_pass, the_products_of_a_multigrid_have_the_bits_of_the_host) {
    static const struct {
        const char *A, *P, *R;
        bool once;
    } factors[] = {{"poisson2d:100", "amg:100:T", NULL, true},        {"poisson2d:100", "amg:100:P", NULL, true},
                   {"poisson2d:280", "amg:280:P", "amg:280:R", true}, {"stencil27:21", "amg27:21:T", NULL, true},
                   {"fem3:16", "amgfem3:16:T", NULL, true},           {"poisson2d:100", "poisson2d:100", NULL, false},
                   {"perm:10000", "perm:10000", NULL, false}};
    lsp_ctx *ctx = test_gpu_ctx_or_skip(), *host = test_ctx(1);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        lsp_csr A, P, R = {0}, AP;
        must(host, lsp_generate(host, factors[i].A, 1, NULL, &A));
        must(host, lsp_generate(host, factors[i].P, 1, NULL, &P));
        if (factors[i].R) { /* R*(A*P) */
            must(host, lsp_generate(host, factors[i].R, 1, NULL, &R));
            must(host, lsp_spgemm(host, &A, &P, NULL, &AP, NULL));
            must_be_right(ctx, &R, &AP, (lsp_spgemm_options){0}, factors[i].once, factors[i].R);
            lsp_csr_free(host, &R), lsp_csr_free(host, &AP);
        } else {
            must_be_right(ctx, &A, &P, (lsp_spgemm_options){0}, factors[i].once, factors[i].P);
        }
        lsp_csr_free(host, &A), lsp_csr_free(host, &P);
    }
    lsp_ctx_destroy(ctx), lsp_ctx_destroy(host);
}

/* ---- samples that are wrong on purpose ---- */

typedef struct sampled {
    int64_t rows, places, its, others, odd_row, odd; /* entries of the rows of the sample, of others, and of one row */
    bool *is;
} sampled;

static sampled sample_of(int64_t rows, int64_t its, int64_t others, int64_t odd) {
    sampled s = {rows, rows - LSP_SAMPLE_ROWS + 1, its, others, -1, odd, calloc((size_t)rows, 1)};
    const int64_t part = LSP_SAMPLE_ROWS * LSP_SAMPLED;
    const int64_t blocks = lsp_min((rows + part - 1) / part, LSP_SAMPLE_BLOCKS);
    for (int64_t b = 0; b < blocks; b++) {
        memset(s.is + lsp_sampled_row((uint32_t)b, s.places), 1, LSP_SAMPLE_ROWS);
    }
    for (int64_t i = 0; i < rows && odd > 0; i++) {
        s.odd_row = s.is[i] ? s.odd_row : i;
    }
    return s;
}
static int64_t by_sample(int64_t row, const void *with) {
    const sampled *s = with;
    return row == s->odd_row ? s->odd : s->is[row] ? s->its : s->others;
}

Test(device_one_pass, a_sample_that_was_wrong_changes_nothing) {
    static const struct {
        int64_t its, others, odd;
        bool once;
    } cases[] = {{1, 1, 0, true},    {1, 1, 2, true}, /* one row of more entries, which its list holds */
                 {1, 1, 3, false},                    /* which it does not hold */
                 {1, 1, 300, false},                  /* of many products */
                 {1, 2, 0, false},                    /* more entries than C has room for */
                 {3, 0, 0, true},                     /* much less: C is cut */
                 {0, 2, 0, false},   {4, 0, 0, true}};
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const int64_t two = 2;
    lsp_csr I = make_rows(700, 700, always, &two, 350); /* twice as many entries in C as in A */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sampled s = sample_of(3 * ROWS, cases[i].its, cases[i].others, cases[i].odd);
        lsp_csr A = make_rows(s.rows, 700, by_sample, &s, 1);
        char what[40];
        snprintf(what, sizeof what, "case %zu", i);
        must_be_right(ctx, &A, &I, (lsp_spgemm_options){0}, cases[i].once, what);
        drop(&A), free(s.is);
    }
    drop(&I);
    lsp_ctx_destroy(ctx);
}

/* ---- refusals ---- */

/* In rows of the sample and in others, in A and in a row of B that nobody reads. */
Test(device_one_pass, malformed_matrices_are_refused_as_on_the_host) {
    static const int32_t wild[] = {-1, 700, INT32_MAX, INT32_MIN, 0x40000000};
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const int64_t two = 2;
    lsp_csr F[2] = {make_rows(ROWS + 5, 700, always, &two, 1), make_rows(700, 700, always, &two, 3)}, C = {.rows = 42};
    const int32_t unread = 699; /* no entry of A leads there */
    for (int64_t p = 0; p < F[0].nnz; p++) {
        ((int32_t *)F[0].col)[p] %= unread;
    }
    lsp_csr there[2] = {upload(ctx, &F[0]), upload(ctx, &F[1])};
    must_be_right(ctx, &F[0], &F[1], (lsp_spgemm_options){0}, true, "as they are");
    for (int which = 0; which < 4; which++) {
        const lsp_csr *A = &F[which / 2];
        int32_t *items = which % 2 ? A->col : A->rowptr;
        void *its = which % 2 ? there[which / 2].col : there[which / 2].rowptr;
        const int64_t count = which % 2 ? A->nnz : A->rows + 1, places[] = {0, 1, count / 3, count - 2, count - 1};
        for (int k = 0; k < 25; k++) {
            const int64_t i = places[k / 5];
            const int32_t kept = items[i];
            char sentence[512];
            items[i] = wild[k % 5];
            must(ctx, lsp_cuda_copy(ctx, its, LSP_CUDA, items, LSP_HOST, 4 * count));
            cr_assert(lsp_spgemm(ctx, &F[0], &F[1], NULL, &C, NULL) == LSP_ERR_FORMAT);
            snprintf(sentence, sizeof sentence, "%s", lsp_last_error(ctx));
            must_fail(ctx, LSP_ERR_FORMAT, sentence, lsp_spgemm(ctx, &there[0], &there[1], NULL, &C, NULL));
            items[i] = kept;
        }
        must(ctx, lsp_cuda_copy(ctx, its, LSP_CUDA, items, LSP_HOST, 4 * count));
    }
    cr_assert(C.rows == 42 && C.rowptr == NULL);
    lsp_csr_free(ctx, &there[0]), lsp_csr_free(ctx, &there[1]);
    drop(&F[0]), drop(&F[1]);
    lsp_ctx_destroy(ctx);
}

/* Two passes alone need less memory than the one pass. */
Test(device_one_pass, a_budget_that_suffices_a_plan_suffices_the_call) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    lsp_csr A;
    int both = 0, once = 0;
    must(ctx, lsp_generate(ctx, "er:10000:2", 1, NULL, &A));
    for (int64_t budget = 1 << 17; both < 30; budget += budget / 16) {
        lsp_status status[2];
        for (int plan = 0; plan < 2; plan++) {
            const lsp_spgemm_options options = {.method = plan ? LSP_SPGEMM_SORT : LSP_SPGEMM_AUTO};
            lsp_ctx *small = NULL;
            lsp_csr a = {0}, C = {.rows = 42};
            lsp_spgemm_info info = {.products = 42};
            lsp_ctx_info held;
            must(ctx, lsp_ctx_create(&small, &(lsp_ctx_options){.device = LSP_CUDA, .max_bytes = budget}, NULL, 0));
            status[plan] = lsp_csr_copy(small, &A, &(lsp_csr_types){.val_type = LSP_F64, .place = LSP_PLACE_CUDA}, &a);
            status[plan] = status[plan] == LSP_OK ? lsp_spgemm(small, &a, &a, &options, &C, &info) : status[plan];
            cr_assert(status[plan] == LSP_OK || (status[plan] == LSP_ERR_MEMORY && C.rows == 42 && C.rowptr == NULL));
            must(small, lsp_ctx_get_info(small, &held));
            cr_assert(held.cuda_peak_bytes <= budget);
            once += status[plan] == LSP_OK && strstr(info.reason, in_one_pass) != NULL;
            lsp_ctx_destroy(small);
        }
        cr_assert(status[1] != LSP_OK || status[0] == LSP_OK, "a budget of %ld", (long)budget);
        both += status[1] == LSP_OK;
    }
    cr_assert(once > 0);
    lsp_ctx_destroy(ctx);
}

/* Fails one allocation after another: where only the one pass needs it, a plan makes the product. */
Test(device_one_pass, without_memory_the_product_is_left_to_a_plan_or_the_output_alone) {
    lsp_ctx *base = test_gpu_ctx_or_skip();
    lsp_csr A, right;
    int by_plan = 0;
    must(base, lsp_generate(base, "er:10000:2", 1, NULL, &A));
    must(base, lsp_spgemm(base, &A, &A, NULL, &right, NULL));
    for (long fail_at = 0, once = 0; !once; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        const lsp_allocator allocator = {failing_alloc, failing_free, &memory};
        lsp_ctx *ctx = NULL;
        lsp_csr a = {0}, C = {.rows = 42};
        lsp_spgemm_info info = {.products = 42};
        cr_assert(fail_at < 1000, "still failing after %ld allocations", fail_at);
        lsp_status status =
            lsp_ctx_create(&ctx, &(lsp_ctx_options){.device = LSP_CUDA, .allocator = allocator}, NULL, 0);
        if (status == LSP_OK) {
            status = lsp_csr_copy(ctx, &A, &(lsp_csr_types){.val_type = LSP_F64, .place = LSP_PLACE_CUDA}, &a);
        }
        if (status == LSP_OK) {
            status = lsp_spgemm(ctx, &a, &a, NULL, &C, &info);
            cr_assert(status == LSP_OK || (C.rows == 42 && C.rowptr == NULL && info.products == 42));
        }
        cr_assert(status == LSP_OK || status == LSP_ERR_MEMORY);
        if (status == LSP_OK) {
            lsp_csr here = {0};
            const bool seen = memory.calls <= fail_at; /* nothing failed */
            memory.fail_at = -1;
            must(ctx, lsp_csr_copy(ctx, &C, &(lsp_csr_types){.val_type = LSP_F64, .place = LSP_PLACE_HOST}, &here));
            same(ctx, &here, &right, "after a failure");
            by_plan += strstr(info.reason, in_one_pass) == NULL;
            once = seen;
            cr_assert(!seen || strstr(info.reason, in_one_pass) != NULL);
        }
        lsp_ctx_destroy(ctx);
        cr_assert(memory.outstanding == 0);
    }
    cr_assert(by_plan > 0);
    lsp_ctx_destroy(base);
}
