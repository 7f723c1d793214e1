/* Products in blocks of rows, filtered, added to a matrix, and of three matrices; sums and filters of matrices. */
#include "tests/stream_sink.h"

Test(spgemm_stream, blocks_of_any_size_make_the_same_product) {
    lsp_ctx *ctx = test_ctx(2);
    for (int kind = 0; kind < 12; kind++) {
        const lsp_type value = kind % 3 == 0 ? LSP_NONE : kind % 3 == 1 ? LSP_F32 : LSP_F64;
        const recipe r = {90,
                          70,
                          5,
                          kind & 1 ? LSP_I32 : LSP_I64,
                          kind & 2 ? LSP_I32 : LSP_I64,
                          value,
                          kind % 4 == 0,
                          kind % 5 == 0,
                          kind == 7 ? 3 : -1,
                          -1,
                          0};
        recipe of_b = r;
        of_b.rows = 70, of_b.cols = 60;
        const bool transposed = kind & 4;
        lsp_csr A = make(&r, 3 + (uint64_t)kind), B = make(&of_b, 50 + (uint64_t)kind), whole = {0}, a_t, b_t;
        lsp_spgemm_options options = {.transpose_a = transposed, .transpose_b = transposed};
        lsp_spgemm_info info, info_whole;
        must(ctx, lsp_csr_transpose(ctx, &A, &a_t));
        must(ctx, lsp_csr_transpose(ctx, &B, &b_t));
        const lsp_csr *left = transposed ? &a_t : &A, *right = transposed ? &b_t : &B;
        must(ctx, lsp_spgemm(ctx, left, right, &options, &whole, &info_whole));
        for (int64_t bytes = 0; bytes < 100000; bytes = bytes * 7 + 1) {
            received all = receiver(90, whole.nnz);
            must(ctx, lsp_spgemm_stream(ctx, left, right, &options, bytes, receive, &all, &info));
            same(ctx, &whole, &all.C, "in blocks");
            cr_assert(bytes != 1 || (all.blocks == 90 && all.most_rows == 1));
            cr_assert(bytes != 0 || all.blocks == 1);
            cr_assert(info.blocks == all.blocks && info.nnz == whole.nnz && info.products == info_whole.products);
            drop(&all.C);
        }
        lsp_csr_free(ctx, &whole), lsp_csr_free(ctx, &a_t), lsp_csr_free(ctx, &b_t);
        drop(&A), drop(&B);
    }
    lsp_ctx_destroy(ctx);
}

Test(spgemm_stream, many_rows_in_blocks_of_every_length_are_those_of_the_whole) {
    for (int threads = 1; threads < 4; threads++) {
        lsp_ctx *ctx = test_ctx(threads);
        lsp_csr A, C = {0};
        must(ctx, lsp_generate(ctx, "web:9000:1.8:40", 1, NULL, &A));
        must(ctx, lsp_spgemm(ctx, &A, &A, NULL, &C, NULL));
        for (int64_t bytes = 20000; bytes < 20000000; bytes *= 23) {
            received all = receiver(A.rows, C.nnz);
            all.limit = bytes;
            must(ctx, lsp_spgemm_stream(ctx, &A, &A, NULL, bytes, receive, &all, NULL));
            same(ctx, &C, &all.C, "many rows");
            drop(&all.C);
        }
        lsp_ctx_destroy(ctx);
    }
}

Test(spgemm_stream, a_product_without_rows_is_one_block_and_nonsense_is_refused) {
    lsp_ctx *ctx = test_ctx(1);
    recipe r = {0, 4, 2, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr none = make(&r, 1), A, far, C = {0};
    r.rows = 4;
    A = make(&r, 2);
    far = A, far.where = LSP_CUDA;
    received all = receiver(4, 100);
    must(ctx, lsp_spgemm_stream(ctx, &none, &A, NULL, 0, receive, &all, NULL));
    cr_assert(all.blocks == 1 && all.C.rows == 0 && all.C.cols == 4 && all.C.nnz == 0);
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_stream(ctx, &A, &A, NULL, 0, NULL, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_stream(ctx, NULL, &A, NULL, 0, receive, &all, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "-1 bytes", lsp_spgemm_stream(ctx, &A, &A, NULL, -1, receive, &all, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "one of", lsp_spgemm_stream(ctx, &far, &A, NULL, 0, receive, &all, NULL));
    must_fail(ctx, LSP_ERR_DEVICE, "GPU", lsp_spgemm_stream(ctx, &far, &far, NULL, 0, receive, &all, NULL));
    const lsp_spgemm_options there = {.types = {.place = LSP_PLACE_CUDA}};
    must_fail(ctx, LSP_ERR_DEVICE, "GPU", lsp_spgemm_stream(ctx, &A, &A, &there, 0, receive, &all, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "one of", lsp_csr_add(ctx, 1, &A, 1, &far, &C));
    must_fail(ctx, LSP_ERR_DEVICE, "GPU", lsp_csr_add(ctx, 1, &far, 1, &far, &C));
    must_fail(ctx, LSP_ERR_DEVICE, "GPU", lsp_csr_filter(ctx, &far, &(lsp_filter){.drop = true}, &C));
    must_fail(ctx, LSP_ERR_ARGUMENT, "mask", lsp_csr_filter(ctx, &A, &(lsp_filter){.mask = &far}, &C));
    must_fail(ctx, LSP_ERR_ARGUMENT, "4 x 4", lsp_spgemm_stream(ctx, &A, &none, NULL, 0, receive, &all, NULL));
    cr_assert_eq(lsp_spgemm_stream(NULL, &A, &A, NULL, 0, receive, &all, NULL), LSP_ERR_ARGUMENT);
    all.rows = all.blocks = 0, all.stop_at = 2;
    must_fail(ctx, LSP_ERR_ARGUMENT, "stopped at the rows 2 to 2",
              lsp_spgemm_stream(ctx, &A, &A, NULL, 1, receive, &all, NULL));
    cr_assert_eq(all.blocks, 3);
    const lsp_spgemm_options filtered = {.filter = {.largest = -1}}, largest = {.filter = {.largest = 2}};
    lsp_spgemm_plan *plan;
    must_fail(ctx, LSP_ERR_ARGUMENT, "-1 entries", lsp_spgemm(ctx, &A, &A, &filtered, &C, NULL));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "filter", lsp_spgemm_plan_create(ctx, &A, &A, &largest, &plan));
    drop(&A), drop(&none), drop(&all.C);
    lsp_ctx_destroy(ctx);
}

Test(spgemm_stream, a_product_written_in_blocks_is_the_file_of_the_whole) {
    lsp_ctx *ctx = test_ctx(2);
    const char *whole_path = "stream_whole.mtx", *path = "stream_blocks.mtx";
    for (int kind = 0; kind < 6; kind++) {
        const recipe r = {kind == 5 ? 0 : 80,
                          kind == 5 ? 0 : 80,
                          5,
                          LSP_I32,
                          LSP_I32,
                          kind % 2 ? LSP_F64 : LSP_NONE,
                          kind & 1,
                          false,
                          -1,
                          -1,
                          0};
        lsp_csr A = make(&r, (uint64_t)kind), C = {0};
        const lsp_spgemm_options options = {.transpose_b = kind & 2, .filter = {.largest = kind == 4 ? 3 : 0}};
        must(ctx, lsp_spgemm(ctx, &A, &A, &options, &C, NULL));
        must(ctx, lsp_mtx_write(ctx, whole_path, &C, &(lsp_mtx_write_options){.comment = "a product"}));
        must(ctx, lsp_spgemm_write(ctx, path, &A, &A, &options, 1000, &(lsp_mtx_write_options){.comment = "a product"},
                                   NULL));
        same_files(whole_path, path);
        lsp_csr_free(ctx, &C);
        must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_write(ctx, NULL, &A, &A, NULL, 0, NULL, NULL));
        must_fail(ctx, LSP_ERR_ARGUMENT, "empty", lsp_spgemm_write(ctx, "", &A, &A, NULL, 0, NULL, NULL));
        must_fail(ctx, LSP_ERR_IO, "no/such/place",
                  lsp_spgemm_write(ctx, "no/such/place", &A, &A, NULL, 0, NULL, NULL));
        must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_write(ctx, path, NULL, &A, NULL, 0, NULL, NULL));
        const lsp_mtx_write_options integers = {.field = LSP_MTX_INTEGER}, lower = {.symmetry = LSP_SYMMETRY_SYMMETRIC};
        must_fail(ctx, LSP_ERR_UNSUPPORTED, "blocks", lsp_spgemm_write(ctx, path, &A, &A, NULL, 0, &lower, NULL));
        if (kind % 2) {
            remove(path);
            must_fail(ctx, kind == 5 ? LSP_OK : LSP_ERR_ARGUMENT, kind == 5 ? "" : "cannot be written as integers: the",
                      lsp_spgemm_write(ctx, path, &A, &A, &options, 1000, &integers, NULL));
            cr_assert(kind == 5 || fopen(path, "r") == NULL, "a file after a failure");
        }
        cr_assert_eq(lsp_spgemm_write(NULL, path, &A, &A, NULL, 0, NULL, NULL), LSP_ERR_ARGUMENT);
        drop(&A);
    }
    remove(whole_path), remove(path);
    lsp_ctx_destroy(ctx);
}

/* ---- filters ---- */

static double size_at(const lsp_csr *A, int64_t k) { return fabs(lsp_value_at(A, k).re); }

/* Does the mask hide entry k of row i? */
static bool masked(const lsp_csr *A, const lsp_filter *filter, int64_t i, int64_t k) {
    const lsp_csr *M = filter->mask;
    bool there = false;
    for (int64_t m = M ? lsp_index_at(M->rowptr, M->rowptr_type, i) : 0;
         M && m < lsp_index_at(M->rowptr, M->rowptr_type, i + 1); m++) {
        there |= lsp_index_at(M->col, M->col_type, m) == lsp_index_at(A->col, A->col_type, k);
    }
    return M && there == filter->complement;
}

/* Does entry k of row i stay? Compares it with all other entries of the row. */
static bool stays(const lsp_csr *A, const lsp_filter *filter, int64_t i, int64_t k) {
    int64_t before = 0;
    const double size = size_at(A, k);
    if ((filter->drop && size <= filter->tolerance) || masked(A, filter, i, k)) {
        return false;
    }
    for (int64_t other = lsp_index_at(A->rowptr, A->rowptr_type, i);
         other < lsp_index_at(A->rowptr, A->rowptr_type, i + 1); other++) {
        const double theirs = size_at(A, other);
        const bool larger = isnan(theirs) ? !isnan(size) : theirs > size;
        const bool equal = isnan(theirs) ? isnan(size) : theirs == size;
        const bool dropped = (filter->drop && theirs <= filter->tolerance) || masked(A, filter, i, other);
        before += !dropped && (larger || (equal && other < k));
    }
    return filter->largest == 0 || before < filter->largest;
}

static lsp_csr filtered(const lsp_csr *A, const lsp_filter *filter) {
    received all = receiver(A->rows, A->nnz);
    const size_t bytes = lsp_type_bytes(A->val_type);
    lsp_csr *B = &all.C;
    B->rows = A->rows, B->cols = A->cols, B->val_type = A->val_type;
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = lsp_index_at(A->rowptr, A->rowptr_type, i); k < lsp_index_at(A->rowptr, A->rowptr_type, i + 1);
             k++) {
            if (stays(A, filter, i, k)) {
                ((int64_t *)B->col)[B->nnz] = lsp_index_at(A->col, A->col_type, k);
                memcpy((char *)B->val + (size_t)B->nnz++ * bytes, (const char *)A->val + (size_t)k * bytes, bytes);
            }
        }
        ((int64_t *)B->rowptr)[i + 1] = B->nnz;
    }
    return *B;
}

Test(spgemm_stream, filters_leave_what_they_say) {
    lsp_ctx *ctx = test_ctx(2);
    for (int kind = 0; kind < 96; kind++) {
        lsp_filter filter = {.complement = kind % 7 < 3 && kind % 5 < 3,
                             .drop = kind % 2,
                             .tolerance = kind % 2 == 0 || kind % 3 == 0 ? 0 : 1e-3,
                             .largest = kind % 4 == 3 ? 0 : kind % 8};
        const recipe r = {
            60, 50, 8, kind & 1 ? LSP_I32 : LSP_I64, LSP_I32, kind & 2 ? LSP_F32 : LSP_F64, kind & 4, kind & 8,
            7,  -1, 0};
        const recipe of_mask = {60, 50, 9, LSP_I64, LSP_I32, LSP_NONE, kind % 3 == 0, false, 11, -1, 0};
        lsp_csr A = make(&r, (uint64_t)kind), C = {0}, B = {0}, M = make(&of_mask, 7);
        filter.mask = kind % 5 < 3 ? &M : NULL;
        lsp_csr right = filtered(&A, &filter);
        must(ctx, lsp_csr_filter(ctx, &A, &filter, &B));
        same(ctx, &right, &B, "filtered");
        lsp_csr_free(ctx, &B);
        drop(&right);
        drop(&M);
        recipe square = r, square_mask = of_mask;
        square.cols = square_mask.cols = 60;
        M = make(&square_mask, 8);
        lsp_csr S = make(&square, 99 + (uint64_t)kind), whole;
        must(ctx, lsp_spgemm(ctx, &S, &S, NULL, &whole, NULL));
        right = filtered(&whole, &filter);
        must(ctx, lsp_spgemm(ctx, &S, &S, &(lsp_spgemm_options){.filter = filter}, &C, NULL));
        same(ctx, &right, &C, "filtered product");
        lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &whole);
        drop(&right), drop(&S), drop(&A), drop(&M);
    }
    const recipe r = {20, 20, 4, LSP_I32, LSP_I32, LSP_NONE, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 5), B = {0};
    must(ctx, lsp_csr_filter(ctx, &A, &(lsp_filter){.largest = 2}, &B));
    cr_assert(B.val == NULL && B.nnz < A.nnz);
    lsp_csr_free(ctx, &B);
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_filter(ctx, &A, NULL, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_filter(ctx, &A, &(lsp_filter){0}, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "-0.5",
              lsp_csr_filter(ctx, &A, &(lsp_filter){.drop = true, .tolerance = -0.5}, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "nan", lsp_csr_filter(ctx, &A, &(lsp_filter){.drop = true, .tolerance = NAN}, &B));
    lsp_csr wrong = A;
    wrong.cols = 21;
    must_fail(ctx, LSP_ERR_ARGUMENT, "20 x 21", lsp_csr_filter(ctx, &A, &(lsp_filter){.mask = &wrong}, &B));
    const lsp_spgemm_options misfit = {.filter = {.mask = &wrong}};
    must_fail(ctx, LSP_ERR_ARGUMENT, "20 x 21", lsp_spgemm(ctx, &A, &A, &misfit, &B, NULL));
    cr_assert_eq(lsp_csr_filter(NULL, &A, &(lsp_filter){0}, &B), LSP_ERR_ARGUMENT);
    drop(&A);
    lsp_ctx_destroy(ctx);
}

/* ---- sums, and products of three ---- */

Test(spgemm_stream, sums_are_those_of_the_dense_matrices) {
    enum { N = 40, M = 30 };
    lsp_ctx *ctx = test_ctx(2);
    for (int kind = 0; kind < 16; kind++) {
        const recipe of_a = {
            N, M, 4, LSP_I32, kind & 1 ? LSP_I32 : LSP_I64, kind & 2 ? LSP_F32 : LSP_F64, kind & 4, false, -1, -1, 0};
        const recipe of_b = {N, M, 3, LSP_I64, LSP_I32, kind & 8 ? LSP_F64 : LSP_NONE, true, false, -1, 2, 0};
        lsp_csr A = make(&of_a, (uint64_t)kind), B = make(&of_b, 70), C = {0};
        double dense[N * M] = {0}, alpha = 0.5, beta = -3;
        bool there[N * M] = {false};
        const lsp_csr *both[] = {&A, &B};
        for (int m = 0; m < 2; m++) {
            for (int64_t i = 0; i < N; i++) {
                for (int64_t k = lsp_index_at(both[m]->rowptr, both[m]->rowptr_type, i);
                     k < lsp_index_at(both[m]->rowptr, both[m]->rowptr_type, i + 1); k++) {
                    const int64_t at = i * M + lsp_index_at(both[m]->col, both[m]->col_type, k);
                    dense[at] += (m ? beta : alpha) * lsp_value_at(both[m], k).re;
                    there[at] = true;
                }
            }
        }
        must(ctx, lsp_csr_add(ctx, alpha, &A, beta, &B, &C));
        must(ctx, lsp_csr_check(ctx, &C, LSP_CHECK_SORTED | LSP_CHECK_UNIQUE));
        cr_assert(C.val_type == (kind & 8 || !(kind & 2) ? LSP_F64 : LSP_F32));
        int64_t count = 0;
        for (int64_t i = 0; i < N * M; i++) {
            count += there[i];
        }
        cr_assert_eq(C.nnz, count);
        for (int64_t i = 0; i < N; i++) {
            for (int64_t k = lsp_index_at(C.rowptr, C.rowptr_type, i); k < lsp_index_at(C.rowptr, C.rowptr_type, i + 1);
                 k++) {
                const double right = dense[i * M + lsp_index_at(C.col, C.col_type, k)], ours = lsp_value_at(&C, k).re;
                cr_assert(fabs(ours - right) <= 1e-5 * fabs(right) + 1e-2 * (C.val_type == LSP_F32), "%g, not %g", ours,
                          right);
            }
        }
        lsp_csr_free(ctx, &C);
        drop(&A), drop(&B);
    }
    lsp_ctx_destroy(ctx);
}

Test(spgemm_stream, products_of_three_are_those_of_their_parts) {
    lsp_ctx *ctx = test_ctx(2);
    const recipe of_a = {50, 50, 4, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    const recipe of_p = {50, 12, 2, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&of_a, 1), P = make(&of_p, 3), R, right, inner, C = {0};
    must(ctx, lsp_csr_transpose(ctx, &P, &R));
    must(ctx, lsp_spgemm(ctx, &A, &P, NULL, &inner, NULL));
    must(ctx, lsp_spgemm(ctx, &R, &inner, NULL, &right, NULL));
    for (int given = 0; given < 2; given++) {
        must(ctx, lsp_spgemm_triple(ctx, given ? &R : NULL, &A, &P, NULL, &C, NULL));
        cr_assert(C.rows == 12 && C.cols == 12 && C.nnz == right.nnz);
        lsp_csr_difference difference;
        must(ctx, lsp_csr_compare(ctx, &C, &right, &difference));
        cr_assert(difference.same_pattern && difference.max_rel < 1e-9);
        lsp_csr_free(ctx, &C);
    }
    const lsp_spgemm_options turned = {.transpose_a = true};
    must_fail(ctx, LSP_ERR_ARGUMENT, "transposed", lsp_spgemm_triple(ctx, &R, &A, &P, &turned, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_triple(ctx, &R, NULL, &P, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_triple(ctx, &R, &A, &P, NULL, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "50 x 12", lsp_spgemm_triple(ctx, &P, &A, &P, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "50 x 12", lsp_csr_add(ctx, 1, &A, 1, &P, &C));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_add(ctx, 1, &A, 1, &A, NULL));
    cr_assert_eq(lsp_csr_add(NULL, 1, &A, 1, &A, &C), LSP_ERR_ARGUMENT);
    cr_assert_eq(lsp_spgemm_triple(NULL, &R, &A, &P, NULL, &C, NULL), LSP_ERR_ARGUMENT);
    cr_assert(C.rowptr == NULL);
    lsp_csr_free(ctx, &R), lsp_csr_free(ctx, &inner), lsp_csr_free(ctx, &right);
    drop(&A), drop(&P);
    lsp_ctx_destroy(ctx);
}

/* ---- failing memory ---- */

typedef struct memory_case {
    lsp_csr A, P;
    int what;
} memory_case;

static lsp_status do_failing(lsp_ctx *ctx, void *data) {
    memory_case *c = data;
    lsp_csr C = {0};
    const lsp_spgemm_options options = {.filter = {.mask = &c->A, .drop = true, .tolerance = 1e-4, .largest = 3}};
    lsp_status status = c->what == 0   ? lsp_csr_add(ctx, 2, &c->A, 3, &c->A, &C)
                        : c->what == 1 ? lsp_csr_filter(ctx, &c->A, &options.filter, &C)
                        : c->what == 2 ? lsp_spgemm(ctx, &c->A, &c->A, &options, &C, NULL)
                                       : lsp_spgemm_triple(ctx, NULL, &c->A, &c->P, NULL, &C, NULL);
    cr_assert(status == LSP_OK || C.rowptr == NULL);
    lsp_csr_free(ctx, &C);
    return status;
}

Test(spgemm_stream, failing_allocations_leave_nothing_behind) {
    const recipe of_a = {40, 40, 4, LSP_I32, LSP_I32, LSP_F64, false, false, -1, -1, 0};
    const recipe of_p = {40, 9, 2, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    memory_case c = {.A = make(&of_a, 4), .P = make(&of_p, 5)};
    for (c.what = 0; c.what < 4; c.what++) {
        test_failing_memory(2, do_failing, &c);
    }
    drop(&c.A), drop(&c.P);
}
