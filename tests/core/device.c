/* A matrix that goes to the GPU, changes its types there and comes back must be as before. Skipped without a GPU. */
#include "core/cuda.h"
#include "core/items.h"
#include "core/scan.h"
#include "tests/support.h"
#if LSP_HAVE_CUDA && !LSP_EMULATED
#include <cuda_runtime_api.h>
#endif

/* A goes to the GPU in the types `there`, changes to `then` on the GPU and comes back in A's own types. */
static void go_and_return(lsp_ctx *ctx, const lsp_csr *A, lsp_csr_types there, lsp_csr_types then) {
    lsp_csr up = {0}, changed = {0}, back = {0};
    lsp_csr_difference difference;
    there.place = LSP_PLACE_CUDA; /* `then` stays there */
    must(ctx, lsp_csr_copy(ctx, A, &there, &up));
    cr_assert_eq(up.where, LSP_CUDA);
    must(ctx, lsp_csr_copy(ctx, &up, &then, &changed));
    lsp_csr_types home = {A->rowptr_type, A->col_type, A->val_type, A->val_type == LSP_NONE, LSP_PLACE_HOST};
    must(ctx, lsp_csr_copy(ctx, &changed, &home, &back));
    must(ctx, lsp_csr_compare(ctx, A, &back, &difference));
    cr_assert(difference.same_bits, "types %d %d %d, then %d %d %d: row %lld changed", (int)there.rowptr_type,
              (int)there.col_type, (int)there.val_type, (int)then.rowptr_type, (int)then.col_type, (int)then.val_type,
              (long long)difference.row);
    lsp_csr_free(ctx, &up);
    lsp_csr_free(ctx, &changed);
    lsp_csr_free(ctx, &back);
}

Test(device, a_matrix_returns_from_the_gpu_as_it_went_whatever_its_types_there) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const char *specs[] = {"perm:1", "er:70000:9", "rmat:14:8"};
    const lsp_type indices[] = {LSP_I32, LSP_I64};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        lsp_csr A = {0}, single = {0}, pattern = {0};
        must(ctx, lsp_generate(ctx, specs[s], 1, &(lsp_csr_types){.val_type = LSP_F32}, &single));
        must(ctx, lsp_csr_copy(ctx, &single, &(lsp_csr_types){.val_type = LSP_F64},
                               &A)); /* f64 values that f32 holds exactly */
        must(ctx, lsp_csr_copy(ctx, &single, &(lsp_csr_types){.drop_values = true}, &pattern));
        for (int mask = 0; mask < 16; mask++) {
            lsp_csr_types there = {.rowptr_type = indices[mask & 1], .col_type = indices[mask >> 1 & 1]};
            lsp_csr_types then = {.rowptr_type = indices[mask >> 2 & 1], .col_type = indices[mask >> 3 & 1]};
            there.val_type = mask & 1 ? LSP_F32 : LSP_F64;
            then.val_type = mask & 4 ? LSP_F32 : LSP_F64;
            go_and_return(ctx, &A, there, then);
            then.val_type = LSP_NONE; /* a pattern gets ones on either device and loses them at the end */
            go_and_return(ctx, &pattern, there, then);
            there.val_type = LSP_NONE;
            then.val_type = mask & 1 ? LSP_F32 : LSP_F64;
            go_and_return(ctx, &pattern, there, then);
        }
        lsp_csr_free(ctx, &A);
        lsp_csr_free(ctx, &single);
        lsp_csr_free(ctx, &pattern);
    }
    lsp_ctx_destroy(ctx);
}

/* A context works on its own device even if another one, here the first, is current. */
Test(device, a_context_on_the_second_gpu_works_there) {
    lsp_ctx *first = test_gpu_ctx_or_skip(), *ctx = NULL;
    lsp_csr A = {0}, near = {0}, there = {0}, C = {0}, back = {0};
    lsp_csr_difference difference;
    char error[256];
    if (lsp_cuda_device_count() < 2) {
        lsp_ctx_destroy(first);
        cr_skip_test("one GPU only");
    }
    lsp_status status = lsp_ctx_create(&ctx, &(lsp_ctx_options){.device = LSP_CUDA, .ordinal = 1}, error, sizeof error);
    cr_assert(status == LSP_OK, "%s", error);
    must(first, lsp_generate(first, "rmat:12:8", 1, NULL, &A));
    must(first, lsp_spgemm(first, &A, &A, NULL, &near, NULL));
    must(ctx, lsp_csr_copy(ctx, &A, &(lsp_csr_types){.place = LSP_PLACE_CUDA}, &there));
    must(ctx, lsp_spgemm(ctx, &there, &there, NULL, &C, NULL));
    must(ctx, lsp_csr_copy(ctx, &C, &(lsp_csr_types){.place = LSP_PLACE_HOST}, &back));
    must(ctx, lsp_csr_compare(ctx, &near, &back, &difference));
    cr_assert(difference.same_bits);
    lsp_csr_free(first, &A);
    lsp_csr_free(first, &near);
    lsp_csr_free(ctx, &there);
    lsp_csr_free(ctx, &C);
    lsp_csr_free(ctx, &back);
    lsp_ctx_destroy(ctx);
    lsp_ctx_destroy(first);
}

Test(device, an_index_too_wide_for_its_type_is_refused_on_the_gpu) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    int64_t rowptr[] = {0, 2}, col[] = {5, (int64_t)1 << 33};
    double val[] = {1, 2};
    lsp_csr A = {1, (int64_t)1 << 34, 2, rowptr, col, val, LSP_I64, LSP_I64, LSP_F64, LSP_HOST}, there = {0}, out = {0};
    must(ctx, lsp_csr_copy(ctx, &A, &(lsp_csr_types){.col_type = LSP_I64, .place = LSP_PLACE_CUDA}, &there));
    there.cols = 6; /* now 32 bits hold the header's sizes but not the entries */
    must_fail(ctx, LSP_ERR_OVERFLOW, "32 bits",
              lsp_csr_copy(ctx, &there, &(lsp_csr_types){.col_type = LSP_I32, .place = LSP_PLACE_CUDA}, &out));
    cr_assert_null(out.rowptr);
    must_fail(ctx, LSP_ERR_FORMAT, "column 8589934592 is not in 0 .. 5", lsp_csr_check(ctx, &there, 0));
    lsp_csr_free(ctx, &there);
    lsp_ctx_destroy(ctx);
}

Test(device, a_file_and_a_generator_can_be_sent_to_the_gpu) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const char text[] = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2.5\n3 1 -1\n3 3 4e300\n";
    lsp_csr near = {0}, there = {0}, back = {0};
    lsp_csr_difference difference;
    lsp_mtx_read_options options = {.types = {.place = LSP_PLACE_CUDA}};
    must(ctx, lsp_mtx_read_memory(ctx, text, sizeof text - 1, "text", NULL, &near, NULL));
    must(ctx, lsp_mtx_read_memory(ctx, text, sizeof text - 1, "text", &options, &there, NULL));
    cr_assert_eq(there.where, LSP_CUDA);
    must(ctx, lsp_csr_copy(ctx, &there, &(lsp_csr_types){.place = LSP_PLACE_HOST}, &back));
    must(ctx, lsp_csr_compare(ctx, &near, &back, &difference));
    cr_assert(difference.same_bits && back.nnz == 4);
    lsp_csr_free(ctx, &back);
    must(ctx, lsp_generate(ctx, "stencil27:30", 1, NULL, &near));
    must(ctx, lsp_generate(ctx, "stencil27:30", 1, &options.types, &there));
    must(ctx, lsp_csr_copy(ctx, &there, &(lsp_csr_types){.place = LSP_PLACE_HOST}, &back));
    must(ctx, lsp_csr_compare(ctx, &near, &back, &difference));
    cr_assert(difference.same_bits);
    lsp_ctx_destroy(ctx);
}

/* A caller's pool in the order of the context's stream: nothing waits. What is freed is overwritten in that order, so
 * work in another order would read or destroy something. In the emulator all work is done at once, and the address
 * sanitizer watches. */
typedef struct stream_pool {
    void *stream;
    test_memory host;
    long outstanding;
} stream_pool;

static void *pool_alloc(void *user, size_t bytes, lsp_where where) {
    stream_pool *pool = user;
    void *memory = NULL;
    if (where == LSP_HOST) {
        return test_memory_alloc(&pool->host, bytes, where);
    }
#if LSP_HAVE_CUDA && !LSP_EMULATED
    memory = cudaMallocAsync(&memory, bytes, pool->stream) == cudaSuccess ? memory : NULL;
#else
    memory = posix_memalign(&memory, 64, bytes) == 0 ? memory : NULL;
#endif
    pool->outstanding += memory != NULL;
    return memory;
}
static void pool_free(void *user, void *memory, size_t bytes, lsp_where where) {
    stream_pool *pool = user;
    if (where == LSP_HOST) {
        test_memory_free(&pool->host, memory, bytes, where);
        return;
    }
    pool->outstanding--;
#if LSP_HAVE_CUDA && !LSP_EMULATED
    cr_assert(cudaMemsetAsync(memory, 0xFF, bytes, pool->stream) == cudaSuccess);
    cr_assert(cudaFreeAsync(memory, pool->stream) == cudaSuccess);
#else
    memset(memory, 0xFF, bytes);
    free(memory);
#endif
}

Test(device, a_pool_in_the_order_of_the_stream_serves_without_a_wait) {
    lsp_ctx *plain = test_gpu_ctx_or_skip(), *ctx = NULL;
    stream_pool pool = {.host.fail_at = -1};
    const lsp_ctx_options options = {.device = LSP_CUDA, .allocator = {pool_alloc, pool_free, &pool}};
    const lsp_csr_types there = {.place = LSP_PLACE_CUDA}, here = {.place = LSP_PLACE_HOST};
    lsp_ctx_info info;
    lsp_csr A, right, transposed;
    cr_assert_eq(lsp_ctx_create(&ctx, &options, NULL, 0), LSP_OK);
    cr_assert_eq(pool.outstanding, 0, "device memory was asked for before the stream was known");
    must(ctx, lsp_ctx_get_info(ctx, &info));
    cr_assert(LSP_EMULATED || info.stream != NULL);
    pool.stream = info.stream;
    must(plain, lsp_generate(plain, "rmat:11:8", 1, NULL, &A));
    must(plain, lsp_csr_transpose(plain, &A, &transposed));
    must(plain, lsp_spgemm(plain, &A, &transposed, NULL, &right, NULL));
    for (int round = 0; round < 5; round++) {
        lsp_csr a, t, c, back;
        lsp_csr_difference difference;
        must(ctx, lsp_csr_copy(ctx, &A, &there, &a));
        must(ctx, lsp_csr_transpose(ctx, &a, &t));
        must(ctx, lsp_spgemm(ctx, &a, &t, NULL, &c, NULL));
        must(ctx, lsp_csr_free(ctx, &a));
        must(ctx, lsp_csr_free(ctx, &t));
        must(ctx, lsp_ctx_trim(ctx)); /* `free` gets memory that the product may still read */
        must(ctx, lsp_csr_copy(ctx, &c, &here, &back));
        must(ctx, lsp_csr_compare(ctx, &right, &back, &difference));
        cr_assert(difference.same_bits, "round %d: other bits in row %lld", round, (long long)difference.row);
        must(ctx, lsp_csr_free(ctx, &c));
        must(ctx, lsp_csr_free(ctx, &back));
    }
    lsp_ctx_destroy(ctx);
    cr_assert(pool.outstanding == 0 && pool.host.outstanding == 0, "%ld and %ld pieces leaked", pool.outstanding,
              pool.host.outstanding);
    lsp_ctx_destroy(plain);
}

Test(device, blocks_for_items_follow_the_chip_at_hand) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const int64_t sms = lsp_cuda_get_chip(ctx)->sms;
    cr_assert_eq(lsp_blocks_for(ctx, 0, 256, 8), 1);
    cr_assert_eq(lsp_blocks_for(ctx, 256, 256, 8), 1);
    cr_assert_eq(lsp_blocks_for(ctx, 257, 256, 8), 2);
    cr_assert_eq(lsp_blocks_for(ctx, INT64_MAX, 256, 8), 8 * sms);
    lsp_ctx_destroy(ctx);
}

/* Lengths near a tile of the scan, 2048 items, and near the number of items that all blocks of a GPU take in one step.
 */
#if LSP_HAVE_CUDA
Test(device, prefix_sums_of_any_length_end_with_their_sum) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const int64_t lengths[] = {0, 1, 31, 256, 2047, 2048, 2049, 600000};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        const int64_t n = lengths[l];
        int64_t *counts = NULL, *there = NULL, *last = NULL, total = -1, sum = 0, told = -1;
        size_t mark = lsp_scratch_mark(ctx);
        must(ctx, LSP_SCRATCH(ctx, n + 1, &counts));
        must(ctx, lsp_scratch_at(ctx, LSP_CUDA, n + 1, sizeof *there, (void **)&there));
        must(ctx, lsp_scratch_at(ctx, LSP_CUDA, 1, sizeof *last, (void **)&last));
        for (int64_t i = 0; i < n; i++) {
            counts[i] = i * 2654435761 % 1000003;
        }
        must(ctx, lsp_cuda_copy(ctx, there, LSP_CUDA, counts, LSP_HOST, n * 8));
        must(ctx, lsp_cuda_copy(ctx, last, LSP_CUDA, &told, LSP_HOST, 8));
        must(ctx, lsp_cuda_scan_async(ctx, there, n, last));
        must(ctx, lsp_cuda_read(ctx, &told, last, 8));
        cr_assert(n > 0 || told == -1);
        must(ctx, lsp_cuda_copy(ctx, there, LSP_CUDA, counts, LSP_HOST, n * 8));
        must(ctx, lsp_cuda_scan(ctx, there, n, &total));
        cr_assert(n == 0 || told == total);
        must(ctx, lsp_cuda_copy(ctx, counts, LSP_HOST, there, LSP_CUDA, n * 8));
        for (int64_t i = 0; i < n; i++) {
            sum += i * 2654435761 % 1000003;
            cr_assert(counts[i] == sum, "%lld items: sum %lld", (long long)n, (long long)i);
        }
        cr_assert_eq(total, sum);
        lsp_scratch_release(ctx, mark);
    }
    lsp_ctx_destroy(ctx);
}

Test(device, items_are_gathered_from_their_places) {
    enum { N = 70001 };
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    size_t mark = lsp_scratch_mark(ctx);
    for (size_t bytes = 4; bytes <= 8; bytes += 4) {
        char *items = NULL, *to = NULL, *there = NULL;
        uint32_t *places = NULL, *places_there = NULL;
        must(ctx, LSP_SCRATCH(ctx, N * (int64_t)bytes, &items));
        must(ctx, LSP_SCRATCH(ctx, N, &places));
        must(ctx, lsp_scratch_at(ctx, LSP_CUDA, N, bytes, (void **)&there));
        must(ctx, lsp_scratch_at(ctx, LSP_CUDA, N, bytes, (void **)&to));
        must(ctx, lsp_scratch_at(ctx, LSP_CUDA, N, sizeof *places, (void **)&places_there));
        for (uint32_t i = 0; i < N; i++) {
            places[i] = (uint32_t)((uint64_t)i * 7919 % N);
            memset(items + i * bytes, 0, bytes);
            memcpy(items + i * bytes, &i, sizeof i);
        }
        must(ctx, lsp_cuda_copy(ctx, there, LSP_CUDA, items, LSP_HOST, N * (int64_t)bytes));
        must(ctx, lsp_cuda_copy(ctx, places_there, LSP_CUDA, places, LSP_HOST, N * (int64_t)sizeof *places));
        must(ctx, lsp_cuda_gather(ctx, to, there, bytes, places_there, N));
        must(ctx, lsp_cuda_copy(ctx, items, LSP_HOST, to, LSP_CUDA, N * (int64_t)bytes));
        for (uint32_t i = 0; i < N; i++) {
            cr_assert(memcmp(items + i * bytes, &places[i], sizeof i) == 0, "%zu bytes, item %u", bytes, i);
        }
    }
    lsp_scratch_release(ctx, mark);
    lsp_ctx_destroy(ctx);
}
#endif

Test(device, two_contexts_work_side_by_side) {
    lsp_ctx *a = test_gpu_ctx_or_skip(), *b = test_gpu_ctx_or_skip();
    lsp_csr A = {0};
    must(a, lsp_generate(a, "er:50000:5", 3, &(lsp_csr_types){.val_type = LSP_F32}, &A));
    for (int round = 0; round < 3; round++) {
        go_and_return(a, &A, (lsp_csr_types){.rowptr_type = LSP_I64}, (lsp_csr_types){.val_type = LSP_F64});
        go_and_return(b, &A, (lsp_csr_types){.col_type = LSP_I64}, (lsp_csr_types){.val_type = LSP_F64});
    }
    lsp_ctx_destroy(a);
    lsp_ctx_destroy(b);
}

/* An array of 8 MB goes from the first GPU to the last one, which may be the same. */
Test(device, an_array_of_one_gpu_is_copied_to_another) {
    enum { n = 1 << 20 };
    lsp_ctx *first = test_gpu_ctx_or_skip(), *last = NULL;
    const lsp_ctx_options options = {.device = LSP_CUDA, .ordinal = lsp_cuda_device_count() - 1};
    lsp_array from, to;
    int64_t *sent = malloc(n * sizeof *sent), *got = calloc(n, sizeof *got);
    char error[256];
    cr_assert(lsp_ctx_create(&last, &options, error, sizeof error) == LSP_OK, "%s", error);
    must(first, lsp_array_create(first, n * sizeof *sent, LSP_CUDA, &from));
    must(last, lsp_array_create(last, n * sizeof *sent, LSP_CUDA, &to));
    for (int round = 0; round < 2; round++) {
        for (int64_t i = 0; i < n; i++) {
            sent[i] = (i + 1) * (round + 1);
        }
        must(first, lsp_array_copy(first, from.memory, LSP_CUDA, sent, LSP_HOST, n * sizeof *sent));
        must(last, lsp_array_copy(last, to.memory, LSP_CUDA, from.memory, LSP_CUDA, n * sizeof *sent));
        must(last, lsp_array_copy(last, got, LSP_HOST, to.memory, LSP_CUDA, n * sizeof *got));
        cr_assert(memcmp(sent, got, n * sizeof *got) == 0);
    }
    lsp_array_free(&from);
    lsp_array_free(&to);
    lsp_ctx_destroy(last);
    lsp_ctx_destroy(first);
    free(sent);
    free(got);
}
