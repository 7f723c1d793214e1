/* Work shared out among threads by rows, and the order of the columns in each row. A share holds as many rows plus
 * entries as any other, so one long row does not hold up the rest. */
#include "matrices/matrices.h"

enum { least_share = 1 << 15 };

int lsp_csr_threads(const lsp_ctx *ctx, const lsp_csr *A) {
    return lsp_threads_for(ctx, A->rows / 2 + A->nnz / 2, least_share / 2);
}

/* The first row i with i + rowptr[i] >= place. */
static int64_t row_at(const lsp_csr *A, int64_t place) {
    return LSP_FIRST(0, A->rows, middle, lsp_csr_rowptr(A, middle) >= place - middle);
}

void lsp_csr_share(const lsp_csr *A, int part, int parts, int64_t *begin, int64_t *end) {
    int64_t from, to;
    lsp_share(A->rows + A->nnz, part, parts, &from, &to);
    *begin = part == 0 ? 0 : row_at(A, from);
    *end = part == parts - 1 ? A->rows : row_at(A, to);
}

typedef struct row_sharing {
    const lsp_csr *A;
    int shares;
    void (*do_rows)(void *data, int64_t begin, int64_t end);
    void *data;
} row_sharing;

static void share_rows(void *data, int64_t part, int thread) {
    const row_sharing *s = data;
    int64_t begin, end;
    (void)thread;
    lsp_csr_share(s->A, (int)part, s->shares, &begin, &end);
    s->do_rows(s->data, begin, end);
}

void lsp_csr_for_rows(const lsp_ctx *ctx, const lsp_csr *A, void (*do_rows)(void *data, int64_t begin, int64_t end),
                      void *data) {
    enum { shares_a_thread = 4 };
    const int threads = lsp_csr_threads(ctx, A);
    row_sharing s = {.A = A, .shares = threads * shares_a_thread, .do_rows = do_rows, .data = data};
    if (threads == 1) {
        do_rows(data, 0, A->rows);
    } else {
        lsp_for_parts(ctx, s.shares, threads, share_rows, &s);
    }
}

int64_t lsp_csr_row_of(const lsp_csr *A, int64_t k) {
    return LSP_FIRST(1, A->rows, middle, lsp_csr_rowptr(A, middle) > k) - 1;
}

/* ---- rows in order ---- */

/* The first row whose columns do not ascend, or with `strictly` also repeat or begin below 0, as in a file half read;
 * `end` if none. */
LSP_INLINE int64_t unsorted(lsp_type rowptr_type, lsp_type col_type, const lsp_csr *A, bool strictly, int64_t begin,
                            int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        int64_t start = lsp_index_at(A->rowptr, rowptr_type, i), stop = lsp_index_at(A->rowptr, rowptr_type, i + 1);
        if (strictly && start < stop && lsp_index_at(A->col, col_type, start) < 0) {
            return i;
        }
        for (int64_t k = start + 1; k < stop; k++) {
            int64_t left = lsp_index_at(A->col, col_type, k - 1), right = lsp_index_at(A->col, col_type, k);
            if (left > right || (strictly && left == right)) {
                return i;
            }
        }
    }
    return end;
}

typedef struct order_search {
    const lsp_csr *A;
    bool strictly;
    int64_t first; /* atomic */
} order_search;

static void find_unsorted(void *data, int64_t begin, int64_t end) {
    order_search *s = data;
    const int64_t row = s->strictly ? LSP_WITH_INDICES(s->A, unsorted, s->A, true, begin, end)
                                    : LSP_WITH_INDICES(s->A, unsorted, s->A, false, begin, end);
    lsp_lower(&s->first, row < end ? row : INT64_MAX);
}

int64_t lsp_csr_first_unsorted(const lsp_ctx *ctx, const lsp_csr *A, bool strictly) {
    order_search search = {.A = A, .strictly = strictly, .first = A->rows};
    lsp_csr_for_rows(ctx, A, find_unsorted, &search);
    return search.first;
}
