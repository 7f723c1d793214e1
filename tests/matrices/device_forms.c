/* Parts and forms of matrices on the GPU: what the host gives, bit by bit. Skipped without a GPU. */
#include "forms_plainly.h"
#include "tests/there.h"

Test(device_forms, blocks_and_triangles_are_those_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int c = 0; c < size_count; c++) {
        for (int t = 0; t < test_combinations; t += pace()) {
            const int64_t m = sizes[c][0], n = sizes[c][1];
            const int64_t ranges[][4] = {
                {0, m, 0, n}, {m, 0, n, 0}, {m / 3, m / 2, 0, n}, {m / 3, m / 2, n / 3, n / 3}};
            lsp_csr A = odd_csr(ctx, sizes[c], test_types(t), 2), a = moved(ctx, &A, LSP_CUDA), B, right;
            for (int r = 0; r < 4; r++) {
                const int64_t *g = ranges[r];
                must(ctx, lsp_csr_block(ctx, &A, g[0], g[1], g[2], g[3], &right));
                must(ctx, lsp_csr_block(ctx, &a, g[0], g[1], g[2], g[3], &B));
                must_be_the_hosts(ctx, &B, &right);
            }
            static const int64_t diagonals[] = {0, -1, 20, INT64_MAX};
            for (int d = 0; d < 8; d++) {
                must(ctx, lsp_csr_triangle(ctx, &A, (lsp_triangle)(d % 2), diagonals[d / 2], &right));
                must(ctx, lsp_csr_triangle(ctx, &a, (lsp_triangle)(d % 2), diagonals[d / 2], &B));
                must_be_the_hosts(ctx, &B, &right);
            }
            must(ctx, lsp_csr_triangle(ctx, &A, LSP_TRIANGLE_UPPER, 1, &A));
            must(ctx, lsp_csr_triangle(ctx, &a, LSP_TRIANGLE_UPPER, 1, &a)); /* in its own place */
            must_be_the_hosts(ctx, &a, &A);
        }
    }
    lsp_ctx_destroy(ctx);
}

/* ---- lists ---- */

typedef struct lists { /* the same list on the host and on the GPU */
    lsp_index_list here, there;
} lists;
static lists both_lists(lsp_ctx *ctx, int64_t count, int64_t n, lsp_type type, uint64_t seed) {
    void *list = malloc((size_t)count * 8 + 1);
    count = n > 0 ? count : 0;
    for (int64_t i = 0; i < count; i++) {
        lsp_index_set(list, type, i, test_below(&seed, n));
    }
    lists l = {{list, count, type}, {list, count, type}};
    l.there.list = array_there(ctx, list, lsp_max(count, 1) * 8);
    return l;
}
static void free_lists(lsp_ctx *ctx, lists *l) {
    free((void *)l->here.list);
    lsp_free(ctx, (void *)l->there.list);
}

Test(device_forms, lists_of_rows_and_columns_are_taken) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int c = 0; c < size_count; c++) {
        for (int t = 0; t < test_combinations; t += pace()) {
            lsp_csr A = odd_csr(ctx, sizes[c], test_types(t), 4), a = moved(ctx, &A, LSP_CUDA), B, right;
            lists rows = both_lists(ctx, c % 2 ? 40 : 200, A.rows, t & 1 ? LSP_I64 : LSP_I32, 5);
            lists cols = both_lists(ctx, c % 3 ? 17 : 900, A.cols, t & 2 ? LSP_I64 : LSP_I32, 6);
            for (int which = 0; which < 4; which++) {
                must(ctx,
                     lsp_csr_extract(ctx, &A, which & 1 ? &rows.here : NULL, which & 2 ? &cols.here : NULL, &right));
                must(ctx, lsp_csr_extract(ctx, &a, which & 1 ? &rows.there : NULL, which & 2 ? &cols.there : NULL, &B));
                must_be_the_hosts(ctx, &B, &right);
            }
            must(ctx, lsp_csr_sort(ctx, &A));
            must(ctx, lsp_csr_sort(ctx, &a));
            must(ctx, lsp_csr_extract(ctx, &A, NULL, &cols.here, &A));
            must(ctx, lsp_csr_extract(ctx, &a, NULL, &cols.there, &a));
            must_be_the_hosts(ctx, &a, &A);
            free_lists(ctx, &rows), free_lists(ctx, &cols);
        }
    }
    lsp_ctx_destroy(ctx);
}

/* Sorted rows and an ascending list: nothing is left to sort. One column is wanted many times. */
Test(device_forms, a_column_is_taken_many_times) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    enum { count = 3000 };
    lsp_csr A = test_random_csr(ctx, 60, 70, 900, (lsp_csr_types){.val_type = LSP_F32}, 4), a, B, right;
    must(ctx, lsp_csr_sort(ctx, &A));
    must(ctx, lsp_csr_sum_duplicates(ctx, &A, NULL));
    a = moved(ctx, &A, LSP_CUDA);
    lists cols = both_lists(ctx, count, 70, LSP_I32, 5);
    for (int i = 0; i < count; i++) {
        ((int32_t *)cols.here.list)[i] = i < 10 ? i : i < count - 10 ? 17 : 70 - count + i;
    }
    must(ctx, lsp_cuda_copy(ctx, (void *)cols.there.list, LSP_CUDA, cols.here.list, LSP_HOST, count * 4));
    must(ctx, lsp_csr_extract(ctx, &A, NULL, &cols.here, &right));
    must(ctx, lsp_csr_extract(ctx, &a, NULL, &cols.there, &B));
    must_be_the_hosts(ctx, &B, &right);
    free_lists(ctx, &cols);
    lsp_ctx_destroy(ctx);
}

/* Every second column upwards, all of them downwards, all of them mixed. */
static lists lists_once(lsp_ctx *ctx, int order, int64_t n, lsp_type type) {
    const int64_t count = order == 0 ? n / 2 : n;
    lists l = both_lists(ctx, lsp_max(count, 1), lsp_max(n, 1), type, 7);
    l.here.count = l.there.count = count;
    for (int64_t i = 0; i < count; i++) {
        const int64_t mixed = n % 7 != 0 ? i * 7 % n : i / 7 + i % 7 * (n / 7);
        lsp_index_set((void *)l.here.list, type, i, order == 0 ? 2 * i : order == 1 ? n - 1 - i : mixed);
    }
    must(ctx, lsp_cuda_copy(ctx, (void *)l.there.list, LSP_CUDA, l.here.list, LSP_HOST, lsp_max(count, 1) * 8));
    return l;
}

Test(device_forms, columns_are_taken_once) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int c = 0; c < size_count; c++) {
        for (int t = 0; t < test_combinations; t += pace()) {
            lsp_csr A = odd_csr(ctx, sizes[c], test_types(t), 4), a = moved(ctx, &A, LSP_CUDA), B, right;
            lists rows = both_lists(ctx, 90, A.rows, LSP_I32, 5);
            for (int order = 0; order < 3; order++) {
                lists cols = lists_once(ctx, order, A.cols, (t + order) % 2 ? LSP_I64 : LSP_I32);
                for (int some = 0; some < 2; some++) {
                    must(ctx, lsp_csr_extract(ctx, &A, some ? &rows.here : NULL, &cols.here, &right));
                    must(ctx, lsp_csr_extract(ctx, &a, some ? &rows.there : NULL, &cols.there, &B));
                    must_be_the_hosts(ctx, &B, &right);
                }
                free_lists(ctx, &cols);
            }
            free_lists(ctx, &rows);
        }
    }
    lsp_ctx_destroy(ctx);
}

/* ---- stacks ---- */

Test(device_forms, stacks_are_those_of_the_host) {
    static const int64_t rows[] = {30, 0, 200}, cols[] = {50, 3, 0, 400};
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int64_t m = 1; m <= 3; m++) {
        for (int64_t n = 1; n <= 4; n++) {
            for (int t = 0; t < test_combinations; t += pace()) {
                lsp_csr here[12] = {0}, there[12] = {0}, B, right;
                const lsp_csr *h[12] = {NULL}, *d[12] = {NULL};
                for (int64_t b = 0; b < m * n; b++) {
                    const int64_t r = b / n, c = b % n, size[] = {rows[r], cols[c], rows[r] && cols[c] ? 3000 : 0};
                    if ((r + c) % 3 < 2 || m == 1 || n == 1) {
                        here[b] = odd_csr(ctx, size, test_types(b % 2 ? t : (int)(b * 7) % (t + 1)), 3);
                        there[b] = moved(ctx, &here[b], LSP_CUDA);
                        h[b] = &here[b], d[b] = &there[b];
                    }
                }
                must(ctx, lsp_csr_stack(ctx, h, m, n, &right));
                must(ctx, lsp_csr_stack(ctx, d, m, n, &B));
                must_be_the_hosts(ctx, &B, &right);
                must(ctx, lsp_csr_stack(ctx, h, m, n, &here[0]));
                must(ctx, lsp_csr_stack(ctx, d, m, n, &there[0]));
                must_be_the_hosts(ctx, &there[0], &here[0]);
                for (int64_t b = 0; b < m * n; b++) {
                    lsp_csr_free(ctx, &here[b]), lsp_csr_free(ctx, &there[b]);
                }
            }
        }
    }
    lsp_ctx_destroy(ctx);
}

/* Every kind of NaN, from F32 to wider types. */
Test(device_forms, a_nan_is_widened_as_on_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static const uint32_t nans[] = {0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF812345, 0x7FFFFFFF, 0x80000000, 0xFF800000};
    const int64_t size[] = {1, 7, 7};
    lsp_csr A = odd_csr(ctx, size, (lsp_csr_types){.val_type = LSP_F32}, 1), W, a, w, B, right;
    memcpy(A.val, nans, sizeof nans);
    a = moved(ctx, &A, LSP_CUDA);
    for (int wide = 0; wide < 2; wide++) {
        W = odd_csr(ctx, size, (lsp_csr_types){.val_type = wide ? LSP_C64 : LSP_F64}, 1), w = moved(ctx, &W, LSP_CUDA);
        must(ctx, lsp_csr_stack(ctx, (const lsp_csr *[]){&A, &W}, 1, 2, &right));
        must(ctx, lsp_csr_stack(ctx, (const lsp_csr *[]){&a, &w}, 1, 2, &B));
        must_be_the_hosts(ctx, &B, &right);
        lsp_csr_free(ctx, &W), lsp_csr_free(ctx, &w);
    }
    lsp_ctx_destroy(ctx);
}

/* ---- other forms ---- */

Test(device_forms, triples_are_those_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int c = 0; c < size_count; c++) {
        for (int t = 0; t < test_combinations; t += pace()) {
            lsp_csr A = odd_csr(ctx, sizes[c], test_types(t), 4), a = moved(ctx, &A, LSP_CUDA);
            lsp_coo right, B;
            must(ctx, lsp_csr_to_coo(ctx, &A, &right));
            must(ctx, lsp_csr_to_coo(ctx, &a, &B));
            cr_assert(B.where == LSP_CUDA && B.index_type == right.index_type && B.val_type == right.val_type &&
                      B.nnz == right.nnz && !B.val == !right.val);
            const int64_t bytes = A.nnz * (int64_t)lsp_type_bytes(A.col_type);
            const int64_t val_bytes = A.nnz * (int64_t)lsp_type_bytes(A.val_type);
            char *here = malloc((size_t)(bytes + val_bytes) + 1);
            must(ctx, lsp_cuda_copy(ctx, here, LSP_HOST, B.row, LSP_CUDA, bytes));
            cr_assert(bytes == 0 || memcmp(here, right.row, (size_t)bytes) == 0);
            must(ctx, lsp_cuda_copy(ctx, here, LSP_HOST, B.col, LSP_CUDA, bytes));
            cr_assert(bytes == 0 || memcmp(here, right.col, (size_t)bytes) == 0);
            must(ctx, lsp_cuda_copy(ctx, here, LSP_HOST, B.val, LSP_CUDA, val_bytes));
            cr_assert(val_bytes == 0 || memcmp(here, right.val, (size_t)val_bytes) == 0);
            free(here);
            must(ctx, lsp_coo_free(ctx, &B));
            must(ctx, lsp_coo_free(ctx, &right));
            lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &a);
        }
    }
    lsp_ctx_destroy(ctx);
}

static void must_fill(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *a, lsp_type type, int way) {
    lsp_dense D = dense_like(A, type, way & 1, way & 2 ? 3 : 0), right = dense_like(A, type, way & 1, way & 2 ? 3 : 0),
              d = D;
    lsp_csr B, b;
    const int64_t bytes = (int64_t)dense_bytes(&D);
    d.where = LSP_CUDA;
    d.val = array_there(ctx, D.val, bytes);
    must(ctx, lsp_csr_to_dense(ctx, A, &right));
    must(ctx, lsp_csr_to_dense(ctx, a, &d));
    must(ctx, lsp_cuda_copy(ctx, D.val, LSP_HOST, d.val, LSP_CUDA, bytes));
    cr_assert(memcmp(D.val, right.val, (size_t)bytes) == 0, "%ld x %ld, %s, way %d", (long)A->rows, (long)A->cols,
              lsp_type_name(type), way);
    must(ctx, lsp_dense_to_csr(ctx, &right, &B));
    must(ctx, lsp_dense_to_csr(ctx, &d, &b));
    must_be_the_hosts(ctx, &b, &B);
    lsp_free(ctx, d.val);
    free(D.val), free(right.val);
}

Test(device_forms, dense_arrays_are_those_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int c = 0; c < size_count - 1; c++) {
        for (int t = 0; t < test_combinations; t += pace()) {
            lsp_csr A = odd_csr(ctx, sizes[c], test_types(t), 4);
            for (int unique = 0; unique < 2; unique++) {
                lsp_csr a = moved(ctx, &A, LSP_CUDA);
                for (int way = 0; way < 4; way++) {
                    must_fill(ctx, &A, &a, A.val_type ? A.val_type : (lsp_type)(LSP_F32 + way % 3), way);
                }
                lsp_csr_free(ctx, &a);
                must(ctx, lsp_csr_sort(ctx, &A));
                must(ctx, lsp_csr_sum_duplicates(ctx, &A, NULL));
            }
            lsp_csr_free(ctx, &A);
        }
    }
    lsp_ctx_destroy(ctx);
}

Test(device_forms, columns_are_those_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int c = 0; c < size_count; c++) {
        for (int t = 0; t < test_combinations; t += pace()) {
            lsp_csr A = odd_csr(ctx, sizes[c], test_types(t), 4), a = moved(ctx, &A, LSP_CUDA), B;
            lsp_csc C, right;
            must(ctx, lsp_csr_to_csc(ctx, &A, &right));
            must(ctx, lsp_csr_to_csc(ctx, &a, &C));
            must(ctx, lsp_csc_to_csr(ctx, &C, &B));
            must(ctx, lsp_csr_sort(ctx, &A));
            must_be_the_hosts(ctx, &B, &A);
            lsp_csr there = lsp_csc_transposed(&C), here = lsp_csc_transposed(&right);
            must_be_the_hosts(ctx, &there, &here);
            lsp_csr_free(ctx, &a);
        }
    }
    lsp_ctx_destroy(ctx);
}

Test(device_forms, what_is_wrong_is_refused) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip(), *host = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){.val_type = LSP_F64}, 1), a = moved(ctx, &A, LSP_CUDA);
    lsp_csr B = {.rows = 42};
    lsp_coo T = {.rows = 42};
    lsp_csc C = {.rows = 42};
    static const int32_t list[] = {0, 9, 1};
    lsp_index_list bad = {array_there(ctx, list, sizeof list), 3, LSP_I32};
    lsp_dense D = {.rows = 3, .cols = 4, .val_type = LSP_F64, .where = LSP_CUDA};
    D.val = array_there(ctx, (double[12]){0}, 12 * 8);
    const lsp_dense here = {.rows = 3, .cols = 4, .val_type = LSP_F64, .val = (double[12]){0}};
    const char *why = "A lies on the GPU, and this context is on the host";
    must_fail(host, LSP_ERR_DEVICE, why, lsp_csr_block(host, &a, 0, 1, 0, 1, &B));
    must_fail(host, LSP_ERR_DEVICE, why, lsp_csr_triangle(host, &a, LSP_TRIANGLE_LOWER, 0, &B));
    must_fail(host, LSP_ERR_DEVICE, why, lsp_csr_extract(host, &a, NULL, NULL, &B));
    must_fail(host, LSP_ERR_DEVICE, why, lsp_csr_to_coo(host, &a, &T));
    must_fail(host, LSP_ERR_DEVICE, why, lsp_csr_to_dense(host, &a, &D));
    must_fail(host, LSP_ERR_DEVICE, why, lsp_csr_to_csc(host, &a, &C));
    must_fail(host, LSP_ERR_DEVICE, "D lies on the GPU", lsp_dense_to_csr(host, &D, &B));
    must_fail(host, LSP_ERR_DEVICE, "block (0, 0) lies on the GPU",
              lsp_csr_stack(host, (const lsp_csr *[]){&a}, 1, 1, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "block (0, 1) lies on the host, but another block does not",
              lsp_csr_stack(ctx, (const lsp_csr *[]){&a, &A}, 1, 2, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "D lies on the host, but A does not", lsp_csr_to_dense(ctx, &a, &here));
    must_fail(ctx, LSP_ERR_ARGUMENT, "list of rows holds 9 at position 1, not in 0 .. 2",
              lsp_csr_extract(ctx, &a, &bad, NULL, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "list of columns holds 9 at position 1, not in 0 .. 3",
              lsp_csr_extract(ctx, &a, NULL, &bad, &B));
    const int32_t beyond = 4;
    must(ctx, lsp_cuda_copy(ctx, (int32_t *)a.col + 3, LSP_CUDA, &beyond, LSP_HOST, sizeof beyond));
    why = ": column 4 is not in 0 .. 3";
    must_fail(ctx, LSP_ERR_FORMAT, why, lsp_csr_block(ctx, &a, 0, 1, 0, 1, &B));
    must_fail(ctx, LSP_ERR_FORMAT, why, lsp_csr_triangle(ctx, &a, LSP_TRIANGLE_LOWER, 0, &B));
    must_fail(ctx, LSP_ERR_FORMAT, why, lsp_csr_extract(ctx, &a, NULL, NULL, &B));
    must_fail(ctx, LSP_ERR_FORMAT, why, lsp_csr_to_coo(ctx, &a, &T));
    must_fail(ctx, LSP_ERR_FORMAT, why, lsp_csr_to_dense(ctx, &a, &D));
    must_fail(ctx, LSP_ERR_FORMAT, why, lsp_csr_stack(ctx, (const lsp_csr *[]){&a}, 1, 1, &B));
    must_fail(ctx, LSP_ERR_FORMAT, why, lsp_csr_to_csc(ctx, &a, &C));
    cr_assert(B.rows == 42 && !B.rowptr && T.rows == 42 && C.rows == 42);
    lsp_ctx_destroy(host), lsp_ctx_destroy(ctx);
}

/* ---- a budget that ends anywhere ---- */

typedef struct inputs {
    const lsp_csr *a;
    lsp_index_list list, once;
    lsp_dense D;
} inputs;
typedef struct outputs {
    lsp_csr B;
    lsp_coo T;
    lsp_csc C;
} outputs;

static lsp_status convert(lsp_ctx *ctx, int step, const inputs *in, outputs *out) {
    const lsp_csr *a = in->a;
    return step == 9   ? lsp_csr_extract(ctx, a, NULL, &in->once, &out->B)
           : step == 0 ? lsp_csr_block(ctx, a, 10, 200, 20, 200, &out->B)
           : step == 1 ? lsp_csr_block(ctx, a, 10, 200, 0, a->cols, &out->B)
           : step == 2 ? lsp_csr_triangle(ctx, a, LSP_TRIANGLE_LOWER, 0, &out->B)
           : step == 3 ? lsp_csr_extract(ctx, a, &in->list, &in->list, &out->B)
           : step == 4 ? lsp_csr_stack(ctx, (const lsp_csr *[]){a, a, NULL, a}, 2, 2, &out->B)
           : step == 5 ? lsp_csr_to_coo(ctx, a, &out->T)
           : step == 6 ? lsp_csr_to_csc(ctx, a, &out->C)
           : step == 7 ? lsp_csr_to_dense(ctx, a, &in->D)
                       : lsp_dense_to_csr(ctx, &in->D, &out->B);
}

Test(device_forms, memory_that_does_not_suffice_leaves_the_output_alone) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    lsp_csr A = test_random_csr(ctx, 300, 300, 4000, (lsp_csr_types){.val_type = LSP_F64}, 3);
    lsp_csr a = moved(ctx, &A, LSP_CUDA);
    lists l = both_lists(ctx, 200, 300, LSP_I32, 5);
    lists once = lists_once(ctx, 2, 300, LSP_I32);
    inputs in = {&a, l.there, once.there, dense_like(&A, LSP_F64, true, 0)};
    void *here = in.D.val;
    in.D.val = array_there(ctx, here, (int64_t)dense_bytes(&in.D));
    in.D.where = LSP_CUDA;
    for (int step = 0; step < 10; step++) {
        lsp_status status = LSP_ERR_MEMORY;
        for (int64_t budget = 4096; status != LSP_OK; budget += budget / 8) {
            const lsp_ctx_options options = {.device = LSP_CUDA, .max_bytes = budget};
            lsp_ctx *small = NULL;
            outputs out = {{.rows = 42}, {.rows = 42}, {.rows = 42}};
            const outputs before = out;
            cr_assert(budget < 1 << 30);
            must(ctx, lsp_ctx_create(&small, &options, NULL, 0));
            status = convert(small, step, &in, &out);
            cr_assert(status == LSP_OK || status == LSP_ERR_MEMORY, "step %d: %s", step, lsp_last_error(small));
            cr_assert(status == LSP_OK || memcmp(&out, &before, sizeof out) == 0);
            lsp_ctx_destroy(small);
        }
    }
    free(here);
    free_lists(ctx, &l), free_lists(ctx, &once);
    lsp_ctx_destroy(ctx);
}
