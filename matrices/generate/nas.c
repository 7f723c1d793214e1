/* The matrix of the NAS conjugate gradient benchmark: A = sum over i of w_i x_i x_i^T + (rcond - shift) I, with sparse
 * random x_i and weights w_i that fall from 1 to rcond. Row j collects the outer products of all x_i with an entry at
 * j, in the order of i; then it is sorted and summed. That is the benchmark's order of additions, so the result has
 * its bits. */
#include "generate.h"
#include "libsparse/unstable.h"

static const double rcond = 0.1;

lsp_status lsp_nas_get_class(lsp_ctx *ctx, char name, lsp_nas_class *params) {
    static const char names[] = "SWABCDE";
    static const lsp_nas_class classes[] = {
        {1400, 7, 15, 10, 8.5971775078648},        {7000, 8, 15, 12, 10.362595087124},
        {14000, 11, 15, 20, 17.130235054029},      {75000, 13, 75, 60, 22.712745482631},
        {150000, 15, 75, 110, 28.973605592845},    {1500000, 21, 100, 500, 52.514532105794},
        {9000000, 26, 100, 1500, 77.522164599383},
    };
    const char *found = name ? strchr(names, name) : NULL;
    LSP_REQUIRE(ctx && params, LSP_ERR_ARGUMENT, "the place for the parameters is NULL");
    LSP_REQUIRE(found, LSP_ERR_ARGUMENT, "CLASS is '%c', and must be one of S W A B C D E", name > ' ' ? name : '?');
    *params = classes[found - names];
    return LSP_OK;
}

/* The benchmark's random numbers: x <- 5^13 x mod 2^46, as integers. */
static uint64_t next(uint64_t *x) { return *x = *x * 1220703125 & ((UINT64_C(1) << 46) - 1); }

/* The first of the columns that is this one; `count` if none is. */
static int64_t find(const int32_t *columns, int64_t count, int64_t column) {
    int64_t k = 0;
    while (k < count && columns[k] != column) {
        k++;
    }
    return k;
}

/* Makes the rows x_0 .. x_n-1 of X: `nonzer` numbers at random places, and 1/2 at place i. */
static lsp_status make_vectors(lsp_ctx *ctx, const lsp_nas_class *params, lsp_csr *X) {
    lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .val_type = LSP_F64};
    LSP_TRY(lsp_csr_create(ctx, params->n, params->n, params->n * (params->nonzer + 1), &types, X));
    int32_t *rowptr = X->rowptr, *col = X->col;
    double *val = X->val;
    uint64_t state = 314159265;
    int shift = 46; /* number >> shift is a place below the least power of two that is n or more */
    for (int64_t power = 1; power < params->n; power *= 2) {
        shift--;
    }
    next(&state);
    for (int64_t i = 0, k = 0; i < params->n; i++, rowptr[i] = (int32_t)k) {
        int64_t start = k;
        while (k - start < params->nonzer) {
            uint64_t number = next(&state), place = next(&state) >> shift;
            if ((int64_t)place < params->n && find(col + start, k - start, (int64_t)place) == k - start) {
                col[k] = (int32_t)place;
                val[k++] = (double)number * 0x1p-46;
            }
        }
        const int64_t at = start + find(col + start, k - start, i);
        col[at] = (int32_t)i;
        val[at] = 0.5;
        k = lsp_max(k, at + 1);
    }
    X->nnz = rowptr[params->n];
    return LSP_OK;
}

typedef struct summing {
    const lsp_csr *X, *T;
    const double *weights;
    double shift;
} summing;

static int64_t row_length(const void *data, int64_t j) {
    const summing *s = data;
    const int32_t *i_of = s->T->col;
    int64_t length = 0;
    for (int64_t t = lsp_csr_rowptr(s->T, j); t < lsp_csr_rowptr(s->T, j + 1); t++) {
        length += lsp_csr_rowptr(s->X, i_of[t] + 1) - lsp_csr_rowptr(s->X, i_of[t]);
    }
    return length;
}

/* Fills row j of A before it is summed: w_i x_i[j] x_i for every x_i with an entry at j. */
static void fill_row(const void *data, int64_t j, const lsp_csr *A, int64_t to) {
    const summing *s = data;
    const lsp_csr *X = s->X, *T = s->T;
    const int32_t *x_col = X->col, *i_of = T->col;
    const double *x_val = X->val, *x_j = T->val;
    for (int64_t t = lsp_csr_rowptr(T, j); t < lsp_csr_rowptr(T, j + 1); t++) {
        const int64_t i = i_of[t], stop = lsp_csr_rowptr(X, i + 1);
        const double scale = s->weights[i] * x_j[t];
        for (int64_t k = lsp_csr_rowptr(X, i); k < stop; k++, to++) {
            const double product = x_val[k] * scale;
            lsp_index_set(A->col, A->col_type, to, x_col[k]);
            ((double *)A->val)[to] = x_col[k] == j && i == j ? product + rcond - s->shift : product;
        }
    }
}

static lsp_status sum_products(lsp_ctx *ctx, const lsp_nas_class *params, const lsp_csr *X, const lsp_csr *T,
                               lsp_csr *A) {
    LSP_SCRATCH_SCOPE(ctx);
    const int64_t n = params->n;
    double *weights, ratio = pow(rcond, 1.0 / (double)n);
    LSP_TRY(LSP_SCRATCH(ctx, n, &weights));
    weights[0] = 1;
    for (int64_t i = 1; i < n; i++) {
        weights[i] = weights[i - 1] * ratio;
    }
    const summing s = {.X = X, .T = T, .weights = weights, .shift = params->shift};
    LSP_TRY(lsp_generate_rows(ctx, n, n, &(lsp_row_maker){row_length, fill_row, &s}, A));
    LSP_TRY(lsp_csr_sort_rows(ctx, A));
    return lsp_csr_sum_duplicates(ctx, A, NULL);
}

lsp_status lsp_generate_nas(lsp_ctx *ctx, const lsp_parameter *p, uint64_t seed, lsp_csr *A) {
    LSP_OWNED_CSR(ctx, X);
    LSP_OWNED_CSR(ctx, T);
    lsp_nas_class params;
    (void)seed; /* the benchmark has its own */
    LSP_TRY(lsp_nas_get_class(ctx, p[0].letter, &params));
    const int64_t longest = params.nonzer + 1;
    LSP_TRY(lsp_generate_check_memory(ctx, params.n, params.n, params.n * longest * longest));
    LSP_TRY(make_vectors(ctx, &params, &X));
    LSP_TRY(lsp_csr_transpose(ctx, &X, &T));
    return sum_products(ctx, &params, &X, &T, A);
}
