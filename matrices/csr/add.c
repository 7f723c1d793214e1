/* C = alpha*A + beta*B. Here are the checks and the merge for every case: rows with repeated columns or out of order,
 * 64-bit indices, two types of values. It merges each row by column, A first, and sums equal neighbours, once to count
 * and once to fill. Rows that ascend strictly take shorter ways (add_strict.c). */
#include "addition.h"
#include "matrices/csr/gpu/gpu.h"

enum { UNSORTED = 1, OUTSIDE = 2 };

/* The row of one addend, at entry k. */
typedef struct cursor {
    const void *col;
    int64_t k, end;
} cursor;

LSP_INLINE cursor row_of(lsp_type index, const lsp_csr *A, int64_t i) {
    const bool narrow = index == LSP_I32;
    return (cursor){.col = A->col,
                    .k = lsp_index_at(A->rowptr, narrow ? LSP_I32 : A->rowptr_type, i),
                    .end = lsp_index_at(A->rowptr, narrow ? LSP_I32 : A->rowptr_type, i + 1)};
}

/* The column at hand; beyond the row's end, which is not empty, the largest number. Loads without a condition. */
LSP_INLINE int64_t column_at(lsp_type index, const lsp_csr *A, cursor at) {
    const int64_t inside = at.k < at.end ? at.k : at.end - 1;
    const int64_t column = lsp_index_at(at.col, index == LSP_I32 ? LSP_I32 : A->col_type, inside);
    return at.k < at.end ? column : INT64_MAX;
}

/* A row of either addend. Which of them have entries is constant where these are inlined. */
typedef struct row_pair {
    cursor a, b;
    bool a_has, b_has;
} row_pair;

LSP_INLINE int64_t entries_of(row_pair rows) { return rows.a.end - rows.a.k + rows.b.end - rows.b.k; }

/* Takes the lower of two columns, A's of equal ones. Is it B's? */
LSP_INLINE bool step(lsp_type index, const addition *s, row_pair *rows, int64_t *column) {
    const int64_t x = rows->a_has ? column_at(index, s->A, rows->a) : INT64_MAX;
    const int64_t y = rows->b_has ? column_at(index, s->B, rows->b) : INT64_MAX;
    const bool from_b = !rows->a_has || (rows->b_has && y < x);
    *column = from_b ? y : x;
    rows->a.k += !from_b;
    rows->b.k += from_b;
    return from_b;
}

/* Entries of a row of C. */
LSP_INLINE int64_t count_row(lsp_type index, const addition *s, int *bad, row_pair rows) {
    int64_t count = 0, last = -1, column;
    for (int64_t steps = entries_of(rows); steps > 0; steps--) {
        step(index, s, &rows, &column);
        *bad |= (column < last ? UNSORTED : 0) | ((uint64_t)column >= (uint64_t)s->A->cols ? OUTSIDE : 0);
        count += column != last;
        last = column;
    }
    return count;
}

/* The merge of a row by a loop of its own where one side is empty. */
#define ROW(f, ...)                                                                                                    \
    (a.k == a.end   ? f(__VA_ARGS__, (row_pair){a, b, false, true})                                                    \
     : b.k == b.end ? f(__VA_ARGS__, (row_pair){a, b, true, false})                                                    \
                    : f(__VA_ARGS__, (row_pair){a, b, true, true}))

LSP_INLINE void count_rows_of(lsp_type index, addition *s, int64_t begin, int64_t end) {
    int bad = 0;
    for (int64_t i = begin; i < end; i++) {
        const cursor a = row_of(index, s->A, i), b = row_of(index, s->B, i);
        s->starts[i + 1] = ROW(count_row, index, s, &bad);
    }
    __atomic_fetch_or(&s->bad, bad, __ATOMIC_RELAXED);
}

static bool is_narrow(const lsp_csr *A) { return A->rowptr_type == LSP_I32 && A->col_type == LSP_I32; }

static void count_rows(void *data, int64_t begin, int64_t end) {
    addition *s = data;
    if (is_narrow(s->A) && is_narrow(s->B)) {
        count_rows_of(LSP_I32, s, begin, end);
    } else {
        count_rows_of(LSP_NONE, s, begin, end);
    }
}

/* Row i of C. `type` of values: that of C and, unless LSP_C64, which stands for any, that of A and B. */
LSP_INLINE void fill_row(lsp_type index, lsp_type type, const addition *s, int64_t i, row_pair rows) {
    const bool any = type == LSP_C64;
    const lsp_type of_c = any ? s->C->val_type : type, col_type = index == LSP_I32 ? LSP_I32 : s->C->col_type;
    int64_t to = s->starts[i], last = -1, column;
    lsp_value sum = {0};
    for (int64_t steps = entries_of(rows); steps > 0; steps--) {
        const int64_t a_k = rows.a.k, b_k = rows.b.k;
        const bool from_b = step(index, s, &rows, &column), again = column == last;
        to -= again;
        lsp_index_set(s->C->col, col_type, to, column);
        if (of_c != LSP_NONE) {
            const lsp_csr *from = from_b ? s->B : s->A;
            const lsp_value next =
                lsp_term(of_c, any ? from->val_type : type, from->val, from_b ? b_k : a_k, from_b ? s->beta : s->alpha);
            sum = again ? lsp_term_sum(of_c, sum, next) : next;
            lsp_term_set(of_c, s->C->val, to, sum);
        }
        last = column;
        to++;
    }
}

LSP_INLINE void fill_rows_of(lsp_type index, lsp_type type, const addition *s, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const cursor a = row_of(index, s->A, i), b = row_of(index, s->B, i);
        ROW(fill_row, index, type, s, i);
    }
}

static void fill_rows(void *data, int64_t begin, int64_t end) {
    const addition *s = data;
    const lsp_type type = s->A->val_type == s->B->val_type ? s->A->val_type : LSP_C64;
    if (!is_narrow(s->A) || !is_narrow(s->B) || !is_narrow(s->C) || type == LSP_C64) {
        fill_rows_of(LSP_NONE, LSP_C64, s, begin, end);
    } else if (type == LSP_F64) {
        fill_rows_of(LSP_I32, LSP_F64, s, begin, end);
    } else if (type == LSP_F32) {
        fill_rows_of(LSP_I32, LSP_F32, s, begin, end);
    } else if (type == LSP_I64) {
        fill_rows_of(LSP_I32, LSP_I64, s, begin, end);
    } else {
        fill_rows_of(LSP_I32, LSP_NONE, s, begin, end);
    }
}

/* All but the columns on the host, which the sum itself reads. The header was checked. */
static lsp_status check_addend(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    return A->where == LSP_HOST ? lsp_csr_check_rows(ctx, name, A) : lsp_csr_check_valid(ctx, name, A);
}

static bool same_rowptr(const lsp_csr *A, const lsp_csr *B) {
    return A->where == LSP_HOST && A->rows == B->rows && A->nnz == B->nnz && A->rowptr_type == B->rowptr_type &&
           memcmp(A->rowptr, B->rowptr, (size_t)(A->rows + 1) * lsp_type_bytes(A->rowptr_type)) == 0;
}

/* Their structs were checked. */
static lsp_status check_addends(lsp_ctx *ctx, addition *s) {
    LSP_TRY(check_addend(ctx, "A", s->A));
    s->equal_rowptr = same_rowptr(s->A, s->B);
    return s->equal_rowptr ? LSP_OK : check_addend(ctx, "B", s->B);
}

static lsp_status merge(lsp_ctx *ctx, addition *s, const lsp_csr_types *types) {
    const lsp_csr *shared = s->A->nnz > s->B->nnz ? s->A : s->B; /* its rows are shared out evenly */
    LSP_OWNED_CSR(ctx, sorted_a);
    LSP_OWNED_CSR(ctx, sorted_b);
    LSP_TRY(LSP_SCRATCH(ctx, s->A->rows + 1, &s->starts));
    lsp_csr_for_rows(ctx, shared, count_rows, s);
    if (s->bad & OUTSIDE) { /* the check says where */
        LSP_TRY(lsp_csr_check_as(ctx, "A", s->A));
        LSP_TRY(lsp_csr_check_as(ctx, "B", s->B));
    }
    if (s->bad & UNSORTED) {
        LSP_TRY(lsp_csr_order(ctx, &s->A, false, s->A->val_type, &sorted_a));
        LSP_TRY(lsp_csr_order(ctx, &s->B, false, s->B->val_type, &sorted_b));
        lsp_csr_for_rows(ctx, shared, count_rows, s);
    }
    lsp_prefix_sum(ctx, s->starts, s->A->rows);
    LSP_TRY(lsp_csr_create_rows(ctx, s->A->rows, s->A->cols, s->starts, types, s->C));
    lsp_csr_for_rows(ctx, shared, fill_rows, s);
    return LSP_OK;
}

/* Adds matrices whose structs were checked. Both have integers, of LSP_I64, or neither has. */
static lsp_status add(lsp_ctx *ctx, addition *s) {
    const lsp_csr *A = s->A, *B = s->B;
    const lsp_csr_types types = {.val_type = lsp_common_type(A->val_type, B->val_type),
                                 .drop_values = A->val_type == LSP_NONE && B->val_type == LSP_NONE};
    bool done = false;
    LSP_TRY(check_addends(ctx, s));
    if (A->where == LSP_CUDA) {
        LSP_TRY(lsp_csr_on_gpu.csr_add(ctx, s->alpha, A, s->beta, B, s->C, &done));
        return done ? LSP_OK : lsp_csr_add_stacked(ctx, s);
    }
    LSP_TRY(lsp_is_integer(types.val_type) ? LSP_OK : lsp_csr_add_strict(ctx, s, &types, &done));
    return done ? LSP_OK : merge(ctx, s, &types);
}

lsp_status lsp_csr_add(lsp_ctx *ctx, double alpha, const lsp_csr *A, double beta, const lsp_csr *B, lsp_csr *C) {
    LSP_ENTER(ctx);
    LSP_OWNED_CSR(ctx, made);
    lsp_csr a, b;
    LSP_REQUIRE(C != NULL, LSP_ERR_ARGUMENT, "the place for the sum is NULL");
    LSP_TRY(lsp_csr_check_header(ctx, "A", A));
    LSP_TRY(lsp_csr_check_header(ctx, "B", B));
    LSP_TRY(lsp_csr_check_addends(ctx, A, B));
    LSP_TRY(A->where == LSP_CUDA ? lsp_csr_check_device(ctx, "A") : LSP_OK);
    const lsp_type type = lsp_common_type(A->val_type, B->val_type);
    LSP_TRY(lsp_csr_check_factors(ctx, type, alpha, beta));
    LSP_TRY(lsp_csr_widen_addends(ctx, type, A, B, &a, &b));
    LSP_TRY(add(ctx, &(addition){.A = &a, .B = &b, .C = &made, .alpha = alpha, .beta = beta, .isa = ctx->isa}));
    LSP_TRY(lsp_is_integer(type) ? lsp_csr_narrow(ctx, "the sum", type, &made) : LSP_OK);
    return lsp_csr_put(ctx, C, &made, C == A || C == B);
}
