/* Matrices for the tests of products, in memory of the test, and their comparison bit by bit. */
#pragma once

#include "matrices/matrices.h"
#include "spgemm/gpu/gpu.h"
#include "spgemm/spgemm.h"
#include "support.h"
#include "there.h"
#include <math.h>

typedef struct recipe {
    int64_t rows, cols;
    int64_t entries; /* about as many in each row */
    lsp_type rowptr_type, col_type, val_type;
    bool sorted;                  /* else rows are in random order, with duplicates */
    bool wild;                    /* values: NaN, infinities, zeros of both signs, subnormals; else 1e-8 .. 1e8 */
    int64_t dense_row, dense_col; /* -1: none */
    int64_t band;                 /* > 0: the largest distance of a column from the diagonal */
} recipe;

/* A random type for indices; for values, LSP_NONE included. */
static inline lsp_type index_type(uint64_t *state) { return test_below(state, 2) ? LSP_I32 : LSP_I64; }
static inline lsp_type value_type(uint64_t *state) {
    static const lsp_type types[] = {LSP_NONE, LSP_F32, LSP_F64};
    return types[test_below(state, 3)];
}

static inline int compare_columns(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static inline double test_value(bool wild, uint64_t *state) {
    static const double choice[] = {0.0, -0.0, INFINITY, -INFINITY, 1e308, -1e308, 5e-324, 1.0};
    if (wild && test_below(state, 3) == 0) {
        return test_below(state, 9) == 0 ? (double)NAN : choice[test_below(state, 8)];
    }
    double size = pow(10, (double)test_below(state, 17) - 8);
    return ((double)(test_random(state) >> 11) * 0x1p-53 - 0.5) * size;
}

/* A random integer: small, or if `wild` any one, those at the limits of 32 and of 64 bits often. */
static inline int64_t test_whole(bool wild, uint64_t *state) {
    static const int64_t choice[] = {0,         1,         -1,        INT32_MAX, INT32_MIN, (int64_t)INT32_MAX + 1,
                                     INT64_MAX, INT64_MIN, 1LL << 53, -3,        1LL << 32, INT64_MIN + 1};
    if (!wild) {
        return test_below(state, 19) - 9;
    }
    return test_below(state, 2) ? choice[test_below(state, 12)] : (int64_t)test_random(state);
}

/* Sets value k of an integer type. A wild LSP_BOOL is any byte. */
static inline void set_whole(lsp_type type, void *val, int64_t k, bool wild, uint64_t *state) {
    const int64_t whole = test_whole(wild, state);
    if (type == LSP_I32) {
        ((int32_t *)val)[k] = (int32_t)whole;
    } else if (type == LSP_I64) {
        ((int64_t *)val)[k] = whole;
    } else {
        ((uint8_t *)val)[k] = (uint8_t)(wild ? whole : whole & 1);
    }
}

static inline lsp_csr make(const recipe *r, uint64_t seed) {
    uint64_t state = seed;
    int64_t most = lsp_max(2 * r->entries + 1, r->cols) + 2, room = 64, nnz = 0;
    int64_t *columns = malloc((size_t)most * sizeof *columns), *all = malloc((size_t)room * sizeof *all);
    lsp_csr A = {.rows = r->rows,
                 .cols = r->cols,
                 .rowptr_type = r->rowptr_type,
                 .col_type = r->col_type,
                 .val_type = r->val_type};
    A.rowptr = calloc((size_t)r->rows + 1, 8);
    for (int64_t i = 0; i < r->rows && r->cols > 0; i++) {
        int64_t n = i == r->dense_row ? r->cols : test_below(&state, 2 * r->entries + 1), kept = 0;
        for (int64_t k = 0; k < n; k++) {
            int64_t j = test_below(&state, r->cols);
            j = r->band > 0 ? lsp_min(lsp_max(i + j % (2 * r->band + 1) - r->band, 0), r->cols - 1) : j;
            columns[k] = i == r->dense_row ? k : j;
        }
        if (r->dense_col >= 0) {
            columns[n++] = r->dense_col;
        }
        if (r->sorted) {
            qsort(columns, (size_t)n, sizeof *columns, compare_columns);
        }
        for (int64_t k = 0; k < n; k++) {
            if (!r->sorted || k == 0 || columns[k] != columns[k - 1]) {
                columns[kept++] = columns[k];
            }
        }
        while (nnz + kept > room) {
            all = realloc(all, (size_t)(room *= 2) * sizeof *all);
        }
        memcpy(all + nnz, columns, (size_t)kept * sizeof *all);
        nnz += kept;
        lsp_index_set(A.rowptr, A.rowptr_type, i + 1, nnz);
    }
    A.nnz = nnz;
    A.col = calloc((size_t)nnz + 1, 8);
    A.val = r->val_type == LSP_NONE ? NULL : calloc((size_t)nnz + 1, 16);
    for (int64_t p = 0; p < nnz; p++) {
        lsp_index_set(A.col, A.col_type, p, all[p]);
        double value = test_value(r->wild, &state);
        if (r->val_type == LSP_F32) {
            ((float *)A.val)[p] = (float)value;
        } else if (r->val_type == LSP_F64) {
            ((double *)A.val)[p] = value;
        } else if (r->val_type == LSP_C64) {
            lsp_value_set(LSP_C64, A.val, p, lsp_value_from(value, test_value(r->wild, &state)));
        } else if (r->val_type != LSP_NONE) {
            set_whole(r->val_type, A.val, p, r->wild, &state);
        }
    }
    free(columns), free(all);
    return A;
}

static inline void drop(lsp_csr *A) { free(A->rowptr), free(A->col), free(A->val); }

static inline void same(lsp_ctx *ctx, const lsp_csr *X, const lsp_csr *Y, const char *what) {
    cr_assert(X->rows == Y->rows && X->cols == Y->cols && X->val_type == Y->val_type && X->nnz == Y->nnz,
              "%s: %lld x %lld, %lld entries, type %d; %lld x %lld, %lld entries, type %d", what, (long long)X->rows,
              (long long)X->cols, (long long)X->nnz, (int)X->val_type, (long long)Y->rows, (long long)Y->cols,
              (long long)Y->nnz, (int)Y->val_type);
    for (int64_t i = 0; i <= X->rows; i++) {
        cr_assert(lsp_index_at(X->rowptr, X->rowptr_type, i) == lsp_index_at(Y->rowptr, Y->rowptr_type, i),
                  "%s: row %lld begins elsewhere", what, (long long)i);
    }
    size_t bytes = lsp_type_bytes(X->val_type);
    for (int64_t p = 0; p < X->nnz; p++) {
        cr_assert(lsp_index_at(X->col, X->col_type, p) == lsp_index_at(Y->col, Y->col_type, p),
                  "%s: column of entry %lld", what, (long long)p);
        cr_assert(bytes == 0 ||
                      memcmp((char *)X->val + (size_t)p * bytes, (char *)Y->val + (size_t)p * bytes, bytes) == 0,
                  "%s: value of entry %lld", what, (long long)p);
    }
    (void)ctx;
}

static inline void same_files(const char *path, const char *other_path) {
    char one[1 << 16] = "", other[1 << 16] = "";
    FILE *first = fopen(path, "r"), *second = fopen(other_path, "r");
    cr_assert(first && second);
    do {
        const size_t n = fread(one, 1, sizeof one, first), m = fread(other, 1, sizeof other, second);
        cr_assert(n == m && memcmp(one, other, n) == 0);
    } while (!feof(first) && !feof(second));
    fclose(first), fclose(second);
}

/* Multiplies on the GPU and compares with the reference on the host. */
static inline void check_product(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_options options,
                                 const char *what) {
    lsp_csr a = upload(ctx, A), b = A == B ? a : upload(ctx, B), C = {0}, right = {0};
    lsp_spgemm_info info, expected;
    must(ctx, lsp_spgemm(ctx, &a, &b, &options, &C, &info));
    lsp_csr here = download(ctx, &C);
    options.method = LSP_SPGEMM_REFERENCE;
    must(ctx, lsp_spgemm(ctx, A, B, &options, &right, &expected));
    cr_assert(C.rowptr_type == right.rowptr_type && C.col_type == right.col_type, "%s: types", what);
    cr_assert(info.products == expected.products && info.nnz == expected.nnz && info.nnz_bound == expected.nnz_bound &&
                  info.max_row_products == expected.max_row_products,
              "%s: facts", what);
    same(ctx, &here, &right, what);
    must(ctx, lsp_csr_check(ctx, &here, LSP_CHECK_SORTED | LSP_CHECK_UNIQUE));
    lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &here);
    if (strstr(info.reason, "one pass") != NULL) { /* then by a plan too */
        options.method = LSP_SPGEMM_SORT;
        must(ctx, lsp_spgemm(ctx, &a, &b, &options, &C, NULL));
        here = download(ctx, &C);
        same(ctx, &here, &right, what);
        lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &here);
    }
    if (!lsp_filter_drops_any(&options.filter)) { /* if strips of B made C, C is made again by the other kernels */
        lsp_spgemm_plan *plan = NULL;
        options.method = LSP_SPGEMM_AUTO;
        must(ctx, lsp_spgemm_plan_create(ctx, &a, &b, &options, &plan));
        if (plan->gpu->dense_b.strips > 0) {
            plan->gpu->dense_b.strips = 0;
            must(ctx, lsp_spgemm_execute(plan, &a, &b, &C));
            here = download(ctx, &C);
            same(ctx, &here, &right, what);
            lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &here);
        }
        lsp_spgemm_plan_destroy(plan);
    }
    lsp_csr_free(ctx, &right), lsp_csr_free(ctx, &a);
    if (A != B) {
        lsp_csr_free(ctx, &b);
    }
}

/* A*A must be refused when its bytes exceed the budget, by a sentence that has the bytes. The budget holds all of C but
 * its row pointers, and stays set. A has int32 indices and doubles. Returns the number of C's entries. */
static inline int64_t check_refusal_by_budget(lsp_ctx *ctx, const lsp_csr *A) {
    lsp_csr C = {.rows = 4711}, whole = {0};
    char needed[40];
    lsp_spgemm_info info;
    must(ctx, lsp_spgemm(ctx, A, A, NULL, &whole, &info));
    snprintf(needed, sizeof needed, "%lld bytes", 4 * (long long)(A->rows + 1) + 12LL * info.nnz);
    lsp_csr_free(ctx, &whole);
    must(ctx, lsp_ctx_trim(ctx));
    must(ctx, lsp_ctx_reset_peak(ctx));
    must(ctx, lsp_ctx_set_max_bytes(ctx, 12 * info.nnz));
    must_fail(ctx, LSP_ERR_MEMORY, needed, lsp_spgemm(ctx, A, A, NULL, &C, NULL));
    cr_assert(C.rows == 4711);
    return info.nnz;
}

/* Factors whose product has columns up to 2^bits, all int64_t. A is one row {1, 2, 3} that leads to rows 0, 1 and 0 of
 * B. Both rows of B have the same FAR_ENTRIES columns, the second one backwards. */
enum { FAR_ENTRIES = 3000 };
typedef struct far_columns {
    int64_t a_rows[2], a_cols[3], b_rows[3], b_cols[2 * FAR_ENTRIES], step;
    double a_vals[3], b_vals[2 * FAR_ENTRIES];
    lsp_csr A, B;
} far_columns;

static inline far_columns *make_far_columns(int bits) {
    far_columns *f = malloc(sizeof *f);
    cr_assert(f != NULL);
    *f = (far_columns){.a_rows = {0, 3},
                       .a_cols = {0, 1, 0},
                       .b_rows = {0, FAR_ENTRIES, 2 * FAR_ENTRIES},
                       .step = ((int64_t)1 << bits) / FAR_ENTRIES,
                       .a_vals = {1, 2, 3}};
    for (int k = 0; k < 2 * FAR_ENTRIES; k++) {
        f->b_cols[k] = f->step * (k < FAR_ENTRIES ? k : 2 * FAR_ENTRIES - 1 - k);
        f->b_vals[k] = k;
    }
    f->A = (lsp_csr){1, 2, 3, f->a_rows, f->a_cols, f->a_vals, LSP_I64, LSP_I64, LSP_F64, LSP_HOST};
    f->B = (lsp_csr){
        2, (int64_t)1 << bits, 2 * FAR_ENTRIES, f->b_rows, f->b_cols, f->b_vals, LSP_I64, LSP_I64, LSP_F64, LSP_HOST};
    return f;
}

static inline void check_far_columns(const far_columns *f, const lsp_csr *C) {
    cr_assert(C->nnz == FAR_ENTRIES && C->cols == f->B.cols && C->col_type == LSP_I64);
    for (int64_t k = 0; k < FAR_ENTRIES; k++) {
        cr_assert(((int64_t *)C->col)[k] == f->step * k);
        cr_assert(((double *)C->val)[k] == (double)(4 * k + 2 * (2 * FAR_ENTRIES - 1 - k)));
    }
}

/* A product on the GPU, to be made while allocations fail. */
typedef struct failing_product {
    const lsp_csr *A; /* times itself */
    int64_t most;     /* of entries at once; 0: as usual */
    lsp_spgemm_options options;
    bool masked;
} failing_product;

static inline lsp_status multiply_there(lsp_ctx *ctx, void *data) {
    failing_product *p = data;
    lsp_csr a = {0}, C = {.rows = 4711};
    lsp_spgemm_info info = {.products = 42};
    lsp_csr_types there = lsp_types_of(p->A);
    there.place = LSP_PLACE_CUDA;
    p->options.filter.mask = p->masked ? &a : NULL;
    lsp_status status = p->most > 0 ? lsp_spgemm_set_most(ctx, p->most) : LSP_OK;
    status = status == LSP_OK ? lsp_csr_copy(ctx, p->A, &there, &a) : status;
    if (status == LSP_OK) {
        status = lsp_spgemm(ctx, &a, &a, &p->options, &C, &info);
        cr_assert(status == LSP_OK || (C.rows == 4711 && C.rowptr == NULL && info.products == 42));
    }
    return status;
}
