/* Products on a GPU: what only a GPU decides or lacks. The sample of row pointers, lists of long rows, chips without
 * bulk copies, arrays that bulk copies do not take, wrong arrays, graphs. */
#include "cases.h"
#if LSP_HAVE_CUDA && !LSP_EMULATED
#include <cuda_runtime_api.h>
#endif

static const request usual = {.val_type = LSP_F64, .type = LSP_F64, .alpha = 1, .seed = 1};

/* CSR as it is, in one call: the methods that need no plan. */
static void each_plain_method(lsp_ctx *ctx, request r) {
    static const lsp_spmv_method plain[] = {LSP_SPMV_AUTO, LSP_SPMV_ROWS, LSP_SPMV_EQUAL, LSP_SPMV_GATHER};
    for (int m = 0; m < 4; m++) {
        r.method = plain[m];
        cr_assert(run_case(ctx, &r), "%s", describe(&r).text);
        r.planned = !r.planned;
        cr_assert(run_case(ctx, &r), "%s", describe(&r).text);
        r.planned = !r.planned;
    }
}

/* More than 8192 entries, so that lists are made: regular ones, which the sample leaves to tiles; those with most
 * entries in few rows, which it cuts into pieces; one long row among many short ones, which only a list finds. */
static const char *const uneven[] = {"poisson2d:60",    "er:3000:9",           "row:300:20000",     "row:40000:9000",
                                     "last:30000:7000", "row:1:20000",         "row:20000:20000",   "web:4000:1.5:3000",
                                     "rmat:10:16",      "random:90000:7:9000", "random:3:900:30000"};
enum { UNEVEN = sizeof uneven / sizeof *uneven };

Test(device_spmv, any_lengths_of_rows) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int i = 0; i < UNEVEN; i++) {
        request r = usual;
        r.matrix = uneven[i];
        each_plain_method(ctx, r);
        r.val_type = r.type = LSP_F32;
        r.wide_rowptr = i % 2, r.wide_col = i / 2 % 2, r.beta = 1, r.alpha = 2;
        each_plain_method(ctx, r);
    }
    lsp_ctx_destroy(ctx);
}

Test(device_spmv, any_lengths_of_rows_in_every_semiring_and_for_several_vectors) {
    static const int64_t vectors[] = {2, 3, 4, 8, 64, 130};
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int i = 0; i < UNEVEN; i++) {
        request r = usual;
        r.matrix = uneven[i];
        r.method = i % 2 ? LSP_SPMV_AUTO : LSP_SPMV_ROWS;
        r.semiring = (lsp_semiring)(1 + i % 4), r.beta = i % 3 == 0;
        cr_assert(run_case(ctx, &r));
        r.semiring = LSP_PLUS_TIMES;
        r.vectors = vectors[i % (LSP_EMULATED ? 4 : 6)], r.by_columns = i / 3 % 2;
        cr_assert(run_case(ctx, &r));
    }
    lsp_ctx_destroy(ctx);
}

/* Compute capability 8.0 has no bulk copies. */
Test(device_spmv, an_older_gpu_gives_the_same_numbers) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    ((lsp_cuda_chip *)(uintptr_t)lsp_cuda_get_chip(ctx))->compute = 80;
    for (int i = 0; i < MATRICES; i++) {
        request r = usual;
        r.matrix = matrices[i];
        r.vectors = i % 3 == 0 ? 4 : 1;
        r.method = i % 2 ? LSP_SPMV_AUTO : LSP_SPMV_ROWS;
        cr_assert(run_case(ctx, &r));
    }
    for (int i = 0; i < UNEVEN; i += 2) {
        request r = usual;
        r.matrix = uneven[i];
        cr_assert(run_case(ctx, &r));
    }
    lsp_ctx_destroy(ctx);
}

/* A copy of an array that begins one element after a multiple of 256. */
static void *shifted(lsp_ctx *ctx, const void *from, int64_t bytes, int64_t by, void **memory) {
    must(ctx, lsp_alloc(ctx, LSP_CUDA, bytes + by, 1, memory));
    must(ctx, lsp_cuda_copy(ctx, (char *)*memory + by, LSP_CUDA, from, LSP_CUDA, bytes));
    return (char *)*memory + by;
}

Test(device_spmv, arrays_at_any_address) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int i = 0; i < 12; i++) {
        request r = usual;
        r.matrix = (const char *[]){"poisson2d:31", "fem3:4", "er:900:9"}[i % 3];
        r.vectors = i / 3 % 2 ? 4 : 1;
        r.method = i / 6 ? LSP_SPMV_EQUAL : LSP_SPMV_ROWS;
        spmv_case c = make_case(ctx, &r), moved = c;
        void *memory[3];
        moved.A.col = shifted(ctx, c.A.col, 4 * c.A.nnz, 4, &memory[0]);
        moved.A.val = shifted(ctx, c.A.val, 8 * c.A.nnz, 8, &memory[1]);
        moved.vectors.x = shifted(ctx, c.x_there, 8 * c.x.items, 8, &memory[2]);
        must_run(ctx, &r, multiply_so(ctx, &r, &moved));
        plain_spmv(&r, &c.host, &c.x, &c.y);
        must_equal(ctx, &r, &c);
        for (int a = 0; a < 3; a++) {
            lsp_free(ctx, memory[a]);
        }
        free_case(ctx, &c);
    }
    lsp_ctx_destroy(ctx);
}

/* Row pointers and columns of random bits: never followed, always reported, and the context goes on working. */
Test(device_spmv, arrays_of_random_bits_are_reported) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    uint64_t state = 3;
    for (int i = 0; i < 48; i++) {
        request r = usual;
        r.matrix = i % 3 ? "er:3000:9" : "poisson2d:8";
        r.wide_rowptr = i & 1, r.wide_col = i >> 1 & 1;
        r.vectors = i % 5 == 4 ? 4 : 1;
        r.method = (lsp_spmv_method[]){LSP_SPMV_AUTO, LSP_SPMV_ROWS, LSP_SPMV_EQUAL, LSP_SPMV_GATHER}[i / 3 % 4];
        spmv_case c = make_case(ctx, &r);
        const bool in_col = i % 7 == 0;
        const int64_t item = (in_col ? r.wide_col : r.wide_rowptr) ? 8 : 4;
        const int64_t bytes = item * (in_col ? c.A.nnz : c.A.rows + 1);
        char *bits = malloc((size_t)bytes + 1);
        for (int64_t b = 0; b < bytes; b++) { /* large ones, or such as may be pointers */
            bits[b] = b % item >= 2 && i % 2 == 0 ? 0 : (char)test_below(&state, 256);
        }
        must(ctx, lsp_cuda_copy(ctx, in_col ? c.A.col : c.A.rowptr, LSP_CUDA, bits, LSP_HOST, bytes));
        must(ctx, multiply_so(ctx, &r, &c));
        must_fail(ctx, LSP_ERR_ARGUMENT, in_col ? "column" : "row", lsp_ctx_sync(ctx));
        free(bits);
        free_case(ctx, &c);
    }
    const request after = {.matrix = "poisson2d:40", .val_type = LSP_F64, .type = LSP_F64, .alpha = 1};
    cr_assert(run_case(ctx, &after));
    lsp_ctx_destroy(ctx);
}

/* Numbers whose sums depend on the order. */
Test(device_spmv, two_calls_give_the_same_bits) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int i = 0; i < UNEVEN; i++) {
        request r = usual;
        r.matrix = uneven[i], r.method = i % 3 ? LSP_SPMV_AUTO : LSP_SPMV_ROWS;
        spmv_case c = make_case(ctx, &r);
        const size_t bytes = 8 * (size_t)c.x.items;
        double *x = malloc(bytes);
        for (int64_t k = 0; k < c.x.items; k++) {
            x[k] = 1.0 / (double)(3 + k * 7 % 1009);
        }
        must(ctx, lsp_cuda_copy(ctx, c.x_there, LSP_CUDA, x, LSP_HOST, (int64_t)bytes));
        must_run(ctx, &r, multiply_so(ctx, &r, &c));
        double *first = fetch_y(ctx, &r, &c);
        must_run(ctx, &r, multiply_so(ctx, &r, &c));
        double *second = fetch_y(ctx, &r, &c);
        cr_assert(memcmp(first, second, 8 * (size_t)c.y.items) == 0, "%s", describe(&r).text);
        free(first), free(second), free(x);
        free_case(ctx, &c);
    }
    lsp_ctx_destroy(ctx);
}

/* Every type and index width, arrays that begin anywhere, wrong columns in any place: left out and reported, in the
 * call that asks about the matrix and in those that remember. */
Test(device_spmv, columns_outside_are_left_out_by_every_kernel) {
    static const lsp_type types[][2] = {
        {LSP_F64, LSP_F64}, {LSP_F32, LSP_F32}, {LSP_F32, LSP_F64}, {LSP_NONE, LSP_F64}, {LSP_NONE, LSP_F32}};
    static const char *const means[] = {"poisson2d:60", "er:2000:8", "stencil27:9",  "fem3:6",
                                        "rmat:10:16",   "er:40:300", "row:300:20000"};
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int i = 0; i < (LSP_EMULATED ? 35 : 140); i++) {
        request r = usual;
        r.matrix = means[i % 7];
        r.val_type = types[i % 5][0], r.type = types[i % 5][1];
        r.vectors = i % 3 == 2 ? 4 : 1, r.beta = i % 2;
        r.wide_rowptr = i / 7 % 2, r.wide_col = i % 11 == 10;
        r.method = i / 5 % 4 == 3 ? LSP_SPMV_EQUAL : i / 5 % 4 == 2 ? LSP_SPMV_ROWS : LSP_SPMV_AUTO;
        r.seed = (uint64_t)i;
        spmv_case c = make_case(ctx, &r);
        const int64_t wrong[] = {-1, c.A.cols, INT32_MIN, INT32_MAX}, item = r.wide_col ? 8 : 4;
        const int64_t at[] = {i * 7919 % c.A.nnz, c.A.nnz - 1 - i % 3};
        for (int w = 0; w < 2; w++) {
            lsp_index_set(c.host.col, c.host.col_type, at[w], wrong[(i + w) % 4]);
        }
        must(ctx, lsp_cuda_copy(ctx, c.A.col, LSP_CUDA, c.host.col, LSP_HOST, item * c.A.nnz));
        for (int call = 0; call < 3; call++) {
            char position[2][64];
            must(ctx, multiply_so(ctx, &r, &c));
            cr_assert_eq(lsp_ctx_sync(ctx), LSP_ERR_ARGUMENT, "%s", describe(&r).text);
            for (int w = 0; w < 2; w++) {
                snprintf(position[w], sizeof position[w], "position %lld of", (long long)at[w]);
            }
            cr_assert(strstr(lsp_last_error(ctx), position[0]) || strstr(lsp_last_error(ctx), position[1]), "%s: %s",
                      describe(&r).text, lsp_last_error(ctx));
            plain_spmv(&r, &c.host, &c.x, &c.y);
            must_equal(ctx, &r, &c);
        }
        free_case(ctx, &c);
    }
    lsp_ctx_destroy(ctx);
}

/* A plan finds out once whether all tiles fit, a call remembers it: both take the same kernel, with the same bits. */
Test(device_spmv, plans_by_rows_of_several_vectors_give_the_bits_of_a_call) {
    static const char *const of_rows[] = {"poisson2d:60", "fem3:5", "er:3000:9", "rmat:10:16", "row:2000:16000"};
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int i = 0; i < 5 * 6; i++) {
        request r = usual;
        r.matrix = of_rows[i % 5], r.method = LSP_SPMV_ROWS;
        r.vectors = i / 5 % 3 == 0 ? 2 : i / 5 % 3 == 1 ? 3 : 8, r.type = r.val_type = i / 15 ? LSP_F32 : LSP_F64;
        r.x_gap = i % 2;
        spmv_case c = make_case(ctx, &r);
        lsp_spmv_plan *plan = NULL;
        const lsp_spmv_options options = options_of(&r);
        const size_t bytes = (size_t)c.y.items * lsp_type_bytes(r.type);
        char *called = malloc(bytes), *planned = malloc(bytes);
        for (int call = 0; call < 2; call++) {
            must_run(ctx, &r, multiply_so(ctx, &r, &c));
        }
        must(ctx, lsp_cuda_copy(ctx, called, LSP_HOST, c.vectors.y, LSP_CUDA, (int64_t)bytes));
        must(ctx, lsp_spmv_plan_create(ctx, &c.A, &options, &plan));
        must(ctx, lsp_spmv_execute(plan, &c.vectors));
        must(ctx, lsp_cuda_copy(ctx, planned, LSP_HOST, c.vectors.y, LSP_CUDA, (int64_t)bytes));
        cr_assert(memcmp(called, planned, bytes) == 0, "%s", describe(&r).text);
        lsp_spmv_plan_destroy(plan);
        free(called), free(planned);
        free_case(ctx, &c);
    }
    lsp_ctx_destroy(ctx);
}

/* Other row pointers and columns at the same addresses: what the context remembers is stale, the product is right. */
Test(device_spmv, what_is_remembered_never_changes_the_product) {
    static const char *const first[] = {"row:2000:16000", "er:2000:9"};
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int i = 0; i < 8; i++) {
        request r = usual;
        r.vectors = i / 4 ? 4 : 1, r.method = i / 2 % 2 ? LSP_SPMV_ROWS : LSP_SPMV_AUTO;
        r.matrix = first[i % 2];
        spmv_case c = make_case(ctx, &r);
        for (int call = 0; call < 2; call++) {
            must_run(ctx, &r, multiply_so(ctx, &r, &c));
            plain_spmv(&r, &c.host, &c.x, &c.y);
            must_equal(ctx, &r, &c);
        }
        int32_t *const rowptr = c.host.rowptr; /* all entries but one a row move to the first row, or are spread */
        for (int64_t row = 1; row < c.host.rows; row++) {
            rowptr[row] = i % 2 ? (int32_t)(c.host.nnz - c.host.rows + row) : (int32_t)(row * c.host.nnz / c.host.rows);
        }
        must(ctx, lsp_cuda_copy(ctx, c.A.rowptr, LSP_CUDA, rowptr, LSP_HOST, 4 * (c.host.rows + 1)));
        must_run(ctx, &r, multiply_so(ctx, &r, &c));
        plain_spmv(&r, &c.host, &c.x, &c.y);
        must_equal(ctx, &r, &c);
        free_case(ctx, &c);
    }
    lsp_ctx_destroy(ctx);
}

#if LSP_HAVE_CUDA && !LSP_EMULATED
#define must_cuda(call) cr_assert((call) == cudaSuccess, "%s", #call)

/* Captures one product, and replays it on another X. */
static void replay(lsp_ctx *ctx, cudaStream_t stream, const request *r, lsp_spmv_plan *plan, spmv_case *c) {
    cudaGraph_t graph;
    cudaGraphExec_t run;
    const lsp_spmv_options options = options_of(r);
    must_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    must(ctx, plan ? lsp_spmv_execute(plan, &c->vectors) : lsp_spmv(ctx, &c->A, &options, &c->vectors, NULL));
    must_cuda(cudaStreamEndCapture(stream, &graph));
    must_cuda(cudaGraphInstantiateWithFlags(&run, graph, 0));
    for (int round = 0; round < 3; round++) {
        for (int64_t k = 0; k < c->x.items; k++) {
            c->x.at[k] = (double)((k * 5 + round) % 23 - 11);
        }
        must(ctx, lsp_cuda_copy(ctx, c->x_there, LSP_CUDA, c->x.at, LSP_HOST, 8 * c->x.items));
        must_cuda(cudaGraphLaunch(run, stream));
        must(ctx, lsp_ctx_sync(ctx));
        plain_spmv(r, &c->host, &c->x, &c->y);
        must_equal(ctx, r, c);
    }
    must_cuda(cudaGraphExecDestroy(run));
    must_cuda(cudaGraphDestroy(graph));
}

Test(device_spmv, a_product_in_a_graph_is_replayed) {
    lsp_ctx_destroy(test_gpu_ctx_or_skip());
    cudaStream_t stream;
    lsp_ctx *ctx = NULL;
    must_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cr_assert_eq(lsp_ctx_create(&ctx, &(lsp_ctx_options){.device = LSP_CUDA, .stream = stream}, NULL, 0), LSP_OK);
    for (int i = 0; i < UNEVEN * LSP_SPMV_METHODS; i++) {
        request r = usual;
        r.matrix = uneven[i % UNEVEN], r.method = (lsp_spmv_method)(i / UNEVEN), r.vectors = i % 4 == 3 ? 2 : 1;
        spmv_case c = make_case(ctx, &r);
        lsp_spmv_plan *plan = NULL;
        const lsp_spmv_options options = options_of(&r);
        const lsp_status status = lsp_spmv(ctx, &c.A, &options, &c.vectors, NULL);
        if (status == LSP_OK && r.method != LSP_SPMV_GATHER) {
            must(ctx, lsp_ctx_sync(ctx));
            replay(ctx, stream, &r, NULL, &c);
        }
        if (lsp_spmv_plan_create(ctx, &c.A, &options, &plan) == LSP_OK) {
            replay(ctx, stream, &r, plan, &c);
            lsp_spmv_plan_destroy(plan);
        }
        free_case(ctx, &c);
    }
    lsp_ctx_destroy(ctx);
    must_cuda(cudaStreamDestroy(stream));
}
#endif
