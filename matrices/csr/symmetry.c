/* Is a matrix symmetric? It is compared entry by entry with its transpose; both have sorted rows and no duplicates. */
#include "facts.h"
#include "matrices/matrices.h"

typedef struct symmetry {
    bool pattern, symmetric, skew, hermitian;
} symmetry;

LSP_INLINE symmetry mirror_rows(lsp_type rowptr_type, lsp_type col_type, lsp_type val_type, const lsp_csr *A,
                                const lsp_csr *T, int64_t begin, int64_t end) {
    symmetry is = {true, true, true, true};
    for (int64_t i = begin; i < end && is.pattern; i++) {
        int64_t start = lsp_index_at(A->rowptr, rowptr_type, i), stop = lsp_index_at(A->rowptr, rowptr_type, i + 1);
        is.pattern = lsp_index_at(T->rowptr, rowptr_type, i + 1) == stop;
        for (int64_t k = start; k < stop && is.pattern; k++) {
            lsp_value a = lsp_value_of(val_type, A->val, k), t = lsp_value_of(val_type, T->val, k);
            is.pattern = lsp_index_at(A->col, col_type, k) == lsp_index_at(T->col, col_type, k);
            if (lsp_is_integer(val_type)) {
                is.symmetric = is.hermitian = is.symmetric && a.whole == t.whole;
                is.skew = is.skew && (uint64_t)a.whole + (uint64_t)t.whole == 0;
                continue;
            }
            is.symmetric = is.symmetric && lsp_same_number(a.re, t.re) && lsp_same_number(a.im, t.im);
            is.skew = is.skew && lsp_same_number(a.re, -t.re) && lsp_same_number(a.im, -t.im);
            is.hermitian = is.hermitian && lsp_same_number(a.re, t.re) && lsp_same_number(a.im, -t.im);
        }
    }
    return is;
}
static symmetry mirror_share(const lsp_csr *A, const lsp_csr *T, int64_t begin, int64_t end) {
    return A->rowptr_type == LSP_I32 && A->col_type == LSP_I32 && A->val_type == LSP_F64
               ? mirror_rows(LSP_I32, LSP_I32, LSP_F64, A, T, begin, end)
               : mirror_rows(A->rowptr_type, A->col_type, A->val_type, A, T, begin, end);
}

typedef struct mirroring {
    const lsp_csr *A, *T;
    int lost[4]; /* atomic, 1 if some share fails: pattern, symmetric, skew, hermitian */
} mirroring;

static void mirror_rows_of(void *data, int64_t begin, int64_t end) {
    mirroring *m = data;
    const symmetry is = mirror_share(m->A, m->T, begin, end);
    const bool kept[] = {is.pattern, is.symmetric, is.skew, is.hermitian};
    for (int i = 0; i < 4; i++) {
        __atomic_fetch_or(&m->lost[i], !kept[i], __ATOMIC_RELAXED);
    }
}

void lsp_csr_symmetry(const lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *T, lsp_csr_stats *s) {
    mirroring m = {.A = A, .T = T};
    lsp_csr_for_rows(ctx, A, mirror_rows_of, &m);
    s->pattern_symmetric = !m.lost[0];
    s->symmetric = !m.lost[0] && !m.lost[1];
    s->skew = !m.lost[0] && !m.lost[2];
    s->hermitian = !m.lost[0] && !m.lost[3];
}
