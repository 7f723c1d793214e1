/* On the GPU: sorted, added and filtered matrices, products in blocks, sums with products, products of three matrices.
 * All must have the bits of the host's results. Skipped without a GPU. */
#include "tests/stream_sink.h"

/* Copies a matrix from the GPU, frees it there, and compares it with one of the host. */
static void same_there(lsp_ctx *ctx, const lsp_csr *right, lsp_csr *there, const char *what) {
    lsp_csr here = download(ctx, there);
    cr_assert(right->rowptr_type == here.rowptr_type && right->col_type == here.col_type, "%s: types", what);
    same(ctx, right, &here, what);
    lsp_csr_free(ctx, &here);
    lsp_csr_free(ctx, there);
}

/* Kinds of matrices: each type, sorted or not, wild values, a long row, no entries. */
static recipe kind_of(int kind, int64_t rows, int64_t cols) {
    return (recipe){.rows = rows,
                    .cols = cols,
                    .entries = kind % 9 == 8 ? 0 : 3 + kind % 7 * 4,
                    .rowptr_type = kind & 1 ? LSP_I32 : LSP_I64,
                    .col_type = kind & 2 ? LSP_I32 : LSP_I64,
                    .val_type = kind % 3 == 0   ? LSP_NONE
                                : kind % 3 == 1 ? LSP_F32
                                                : LSP_F64,
                    .sorted = kind & 4,
                    .wild = kind & 8,
                    .dense_row = kind % 5 == 1 ? rows / 2 : -1,
                    .dense_col = kind % 5 == 2 ? 1 : -1};
}

Test(device_matrices, sums_have_the_bits_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int kind = 0; kind < 36; kind += pace()) {
        const recipe of_a = kind_of(kind, 300, 400), of_b = kind_of(kind * 7 % 36, 300, 400);
        lsp_csr A = make(&of_a, 5 + (uint64_t)kind), B = make(&of_b, 500 + (uint64_t)kind), right = {0}, C = {0};
        lsp_csr a = upload(ctx, &A), b = upload(ctx, &B);
        must(ctx, lsp_csr_add(ctx, 0.3, &A, -7, &B, &right));
        must(ctx, lsp_csr_add(ctx, 0.3, &a, -7, &b, &C));
        same_there(ctx, &right, &C, "sum");
        must(ctx, lsp_csr_sort(ctx, &A));
        must(ctx, lsp_csr_sort(ctx, &a));
        same_there(ctx, &A, &a, "sorted");
        lsp_csr_free(ctx, &right), lsp_csr_free(ctx, &b);
        drop(&A), drop(&B);
    }
    lsp_ctx_destroy(ctx);
}

Test(device_matrices, filters_leave_what_they_leave_on_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int kind = 0; kind < 72; kind += pace()) {
        const recipe r = kind_of(kind, 200, 150), of_mask = kind_of(kind * 5 % 36, 200, 150);
        lsp_csr A = make(&r, (uint64_t)kind), M = make(&of_mask, 7), a = upload(ctx, &A), m = upload(ctx, &M);
        lsp_csr right = {0}, B = {0};
        lsp_filter filter = {.complement = kind % 7 < 3 && kind % 5 < 3,
                             .drop = kind % 2,
                             .tolerance = kind % 2 == 0 || kind % 3 == 0 ? 0 : 1e-3,
                             .largest = kind % 4 == 3 ? 0 : kind % 8};
        filter.mask = kind % 5 < 3 ? &M : NULL;
        must(ctx, lsp_csr_filter(ctx, &A, &filter, &right));
        filter.mask = filter.mask ? &m : NULL;
        must(ctx, lsp_csr_filter(ctx, &a, &filter, &B));
        same_there(ctx, &right, &B, "filtered");
        lsp_csr_free(ctx, &right), lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &m);
        drop(&A), drop(&M);
    }
    lsp_ctx_destroy(ctx);
}

Test(device_matrices, blocks_of_any_size_make_the_product_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int kind = 0; kind < 12; kind += pace()) {
        const recipe of_a = kind_of(kind, 90, 70), of_b = kind_of(kind + 1, 70, 60), of_mask = kind_of(2, 90, 60);
        const bool transposed = kind & 4;
        lsp_csr A = make(&of_a, 3), B = make(&of_b, 4), M = make(&of_mask, 5), a_t, b_t, whole, wanted;
        must(ctx, lsp_csr_transpose(ctx, &A, &a_t));
        must(ctx, lsp_csr_transpose(ctx, &B, &b_t));
        const lsp_csr *left = transposed ? &a_t : &A, *right = transposed ? &b_t : &B;
        lsp_csr l = upload(ctx, left), r = upload(ctx, right), m = upload(ctx, &M), C = {0};
        lsp_spgemm_options options = {.transpose_a = transposed, .transpose_b = transposed};
        options.filter =
            (lsp_filter){.mask = kind & 1 ? &M : NULL, .complement = (kind & 3) == 3, .largest = kind % 3 * 5};
        must(ctx, lsp_spgemm(ctx, left, right, &options, &whole, NULL));
        for (int64_t bytes = 0; bytes < 20000; bytes = bytes * 19 + 300) {
            for (int there = 0; there < 2; there++) {
                lsp_spgemm_options how = options;
                lsp_spgemm_info info;
                received all = receiver(90, whole.nnz);
                how.types.place = LSP_PLACE_CUDA;
                all.gpu = there ? ctx : NULL;
                how.filter.mask = options.filter.mask && there ? &m : options.filter.mask;
                must(ctx,
                     lsp_spgemm_stream(ctx, there ? &l : left, there ? &r : right, &how, bytes, receive, &all, &info));
                same(ctx, &whole, &all.C, "in blocks");
                cr_assert(info.blocks == all.blocks && info.nnz == whole.nnz);
                drop(&all.C);
            }
        }
        options.filter.mask = options.filter.mask ? &m : NULL;
        must(ctx, lsp_spgemm(ctx, &l, &r, &options, &C, NULL));
        must(ctx, lsp_csr_copy(ctx, &whole, &(lsp_csr_types){C.rowptr_type, C.col_type, 0, false, 0}, &wanted));
        same_there(ctx, &wanted, &C, "product on the GPU, filtered there");
        lsp_csr_free(ctx, &whole), lsp_csr_free(ctx, &wanted), lsp_csr_free(ctx, &a_t), lsp_csr_free(ctx, &b_t);
        lsp_csr_free(ctx, &l), lsp_csr_free(ctx, &r), lsp_csr_free(ctx, &m);
        drop(&A), drop(&B), drop(&M);
    }
    lsp_ctx_destroy(ctx);
}

Test(device_matrices, products_of_three_are_those_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const recipe of_a = {80, 80, 4, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    recipe of_p = {80, 12, 2, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&of_a, 1), a = upload(ctx, &A), right, C = {0};
    for (int wide = 0; wide < 2; wide++) { /* in turn the left and the right product is the cheaper first one */
        of_p.cols = wide ? 900 : 12;
        of_p.entries = wide ? 9 : 2;
        lsp_csr P = make(&of_p, 3), p = upload(ctx, &P), R, r;
        must(ctx, lsp_csr_transpose(ctx, &P, &R));
        r = upload(ctx, &R);
        must(ctx, lsp_spgemm_triple(ctx, NULL, &A, &P, NULL, &right, NULL));
        must(ctx, lsp_spgemm_triple(ctx, NULL, &a, &p, NULL, &C, NULL));
        same_there(ctx, &right, &C, "P^T*A*P");
        must(ctx, lsp_spgemm_triple(ctx, &r, &a, &p, NULL, &C, NULL));
        same_there(ctx, &right, &C, "R*A*P");
        lsp_csr_free(ctx, &right), lsp_csr_free(ctx, &R), lsp_csr_free(ctx, &r), lsp_csr_free(ctx, &p);
        drop(&P);
    }
    lsp_csr_free(ctx, &a);
    drop(&A);
    lsp_ctx_destroy(ctx);
}

Test(device_matrices, files_are_those_of_the_host) {
    static const lsp_type values[] = {LSP_F64, LSP_NONE, LSP_F32, LSP_C64};
    /* no entries; a few; as many as one piece holds; several pieces */
    static const char *const kinds[] = {"er:9:0", "er:300:5", "er:20000:8", "er:130000:12"};
    for (int kind = 0; kind < 16; kind++) {
        const lsp_type index = kind % 3 ? LSP_I32 : LSP_I64, type = values[kind % 4];
        const lsp_csr_types types = {.rowptr_type = index, .col_type = index, .val_type = type};
        lsp_ctx *ctx = test_gpu_ctx_or_skip(), *host = test_ctx(1 + kind % 5), *some = NULL;
        lsp_csr made, A, there;
        const char *here_path = "device_here.mtx", *path = "device_there.mtx";
        const lsp_ctx_options options = {.device = LSP_CUDA, .threads = 1 + kind % 5};
        must(ctx, lsp_ctx_create(&some, &options, NULL, 0));
        must(host, lsp_generate(host, kinds[kind / 4], 1, NULL, &made));
        made.val_type = type == LSP_C64 ? LSP_NONE : made.val_type;
        made.val = type == LSP_C64 ? NULL : made.val;
        must(host,
             lsp_csr_copy(host, &made, type == LSP_NONE ? &(lsp_csr_types){index, index, 0, true, 0} : &types, &A));
        there = upload(some, &A);
        must(host, lsp_mtx_write(host, here_path, &A, &(lsp_mtx_write_options){.comment = "both"}));
        must(some, lsp_mtx_write(some, path, &there, &(lsp_mtx_write_options){.comment = "both"}));
        same_files(here_path, path);
        must_fail(host, LSP_ERR_DEVICE, "on the GPU", lsp_mtx_write(host, path, &there, NULL));
        must_fail(some, LSP_ERR_IO, "no/such", lsp_mtx_write(some, "no/such/place", &there, NULL));
        remove(here_path), remove(path);
        lsp_ctx_destroy(some), lsp_ctx_destroy(host), lsp_ctx_destroy(ctx);
    }
}

Test(device_matrices, a_symmetric_one_is_written_as_on_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip(), *host = test_ctx(2);
    const lsp_mtx_write_options lower = {.symmetry = LSP_SYMMETRY_SYMMETRIC}, skew = {.symmetry = LSP_SYMMETRY_SKEW};
    lsp_csr A, there;
    must(host, lsp_generate(host, "poisson2d:20", 1, NULL, &A));
    there = upload(ctx, &A);
    must(host, lsp_mtx_write(host, "symmetric_here.mtx", &A, &lower));
    must(ctx, lsp_mtx_write(ctx, "symmetric_there.mtx", &there, &lower));
    same_files("symmetric_here.mtx", "symmetric_there.mtx");
    must_fail(ctx, LSP_ERR_ARGUMENT, "skew", lsp_mtx_write(ctx, "symmetric_never.mtx", &there, &skew));
    const lsp_mtx_write_options integers = {.field = LSP_MTX_INTEGER}; /* 4 and -1 */
    must(host, lsp_mtx_write(host, "symmetric_here.mtx", &A, &integers));
    must(ctx, lsp_mtx_write(ctx, "symmetric_there.mtx", &there, &integers));
    same_files("symmetric_here.mtx", "symmetric_there.mtx");
    ((double *)A.val)[A.nnz - 1] = 0.5;
    lsp_csr_free(ctx, &there);
    there = upload(ctx, &A);
    must_fail(ctx, LSP_ERR_ARGUMENT, "row 400, column 400 is 0.5",
              lsp_mtx_write(ctx, "symmetric_never.mtx", &there, &integers));
    cr_assert(fopen("symmetric_never.mtx", "r") == NULL);
    remove("symmetric_here.mtx"), remove("symmetric_there.mtx");
    lsp_csr_free(ctx, &there);
    lsp_ctx_destroy(ctx), lsp_ctx_destroy(host);
}

Test(device_matrices, malformed_ones_are_refused_before_their_entries_are_read) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static const struct {
        int64_t rowptr[4], col[3];
        const char *why;
    } bad[] = {{{1, 1, 2, 3}, {0, 1, 2}, "rowptr[0] is 1"},
               {{0, 1, 2, 9}, {0, 1, 2}, "rowptr[3] is 9"},
               {{0, 3, 2, 3}, {0, 1, 2}, "row 1 ends at entry 2, before its start at 3"},
               {{0, 1, 2, 3}, {0, 5, 2}, "row 1: column 5 is not in 0 .. 4"},
               {{0, 1, 2, 3}, {0, 1, -1}, "row 2: column -1 is not in 0 .. 4"}};
    const int64_t rowptr[] = {0, 1, 2, 3}, col[] = {0, 1, 2};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lsp_csr A = {3, 5, 3, NULL, NULL, NULL, LSP_I64, LSP_I64, LSP_NONE, LSP_HOST}, C = {.rows = 4711};
        A.rowptr = (void *)rowptr, A.col = (void *)col;
        lsp_csr fine = upload(ctx, &A), a = upload(ctx, &A);
        must(ctx, lsp_cuda_copy(ctx, a.rowptr, LSP_CUDA, bad[i].rowptr, LSP_HOST, sizeof bad[i].rowptr));
        must(ctx, lsp_cuda_copy(ctx, a.col, LSP_CUDA, bad[i].col, LSP_HOST, sizeof bad[i].col));
        must_fail(ctx, LSP_ERR_FORMAT, bad[i].why, lsp_csr_sort(ctx, &a));
        must_fail(ctx, LSP_ERR_FORMAT, bad[i].why, lsp_mtx_write(ctx, "device_never.mtx", &a, NULL));
        cr_assert(fopen("device_never.mtx", "r") == NULL);
        must_fail(ctx, LSP_ERR_FORMAT, bad[i].why, lsp_csr_add(ctx, 1, &fine, 1, &a, &C));
        must_fail(ctx, LSP_ERR_FORMAT, bad[i].why, lsp_csr_filter(ctx, &a, &(lsp_filter){.drop = true}, &C));
        must_fail(ctx, LSP_ERR_FORMAT, bad[i].why, lsp_csr_filter(ctx, &fine, &(lsp_filter){.mask = &a}, &C));
        must_fail(ctx, LSP_ERR_ARGUMENT, "mask", lsp_csr_filter(ctx, &fine, &(lsp_filter){.mask = &A}, &C));
        must_fail(ctx, LSP_ERR_ARGUMENT, "one of", lsp_csr_add(ctx, 1, &fine, 1, &A, &C));
        cr_assert(C.rows == 4711 && C.rowptr == NULL);
        lsp_csr_free(ctx, &fine), lsp_csr_free(ctx, &a);
    }
    lsp_ctx_destroy(ctx);
}
