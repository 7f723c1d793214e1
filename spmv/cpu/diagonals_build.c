/* Finds the diagonals of slices by a merge: each row of a slice points at its next entry, the least column - row among
 * them becomes a diagonal, and the rows that have it go on to their next entry. */
#include "core/isa.h"
#include "diagonals.h"

enum { SLICE = LSP_SPMV_SLICE, NO_MORE = INT32_MAX };

/* Where each row of a slice stands. */
typedef struct merge {
    const lsp_csr *A;
    int b;
    int64_t row;                   /* the slice's first, in blocks */
    int32_t head[SLICE];           /* column - row of the next entry, in blocks; NO_MORE at the end */
    int64_t at[SLICE], end[SLICE]; /* the next entry, and the end of the row: of its first row of elements */
} merge;

static inline int32_t head_of(const merge *m, int r) {
    return m->at[r] >= m->end[r] ? NO_MORE
                                 : (int32_t)(lsp_index_at(m->A->col, m->A->col_type, m->at[r]) / m->b - (m->row + r));
}

static void merge_begin(merge *m, const lsp_csr *A, int b, int64_t slice) {
    m->A = A;
    m->b = b;
    m->row = slice * SLICE;
    for (int r = 0; r < SLICE; r++) {
        const int64_t row = lsp_min((m->row + r) * b, A->rows), next = lsp_min(row + 1, A->rows);
        m->at[r] = lsp_index_at(A->rowptr, A->rowptr_type, row);
        m->end[r] = lsp_index_at(A->rowptr, A->rowptr_type, next);
        m->head[r] = head_of(m, r);
    }
}

/* The next diagonal; false at the end. */
static inline bool merge_next(merge *m, lsp_diagonal *d) {
    int32_t least = NO_MORE;
    uint32_t rows = 0;
    for (int r = 0; r < SLICE; r++) {
        least = m->head[r] < least ? m->head[r] : least;
    }
    for (int r = 0; r < SLICE; r++) {
        rows |= (uint32_t)(m->head[r] == least) << r;
    }
    if (least == NO_MORE) {
        return false;
    }
    d->offset = least;
    d->rows = rows;
    for (uint32_t left = rows; left != 0; left &= left - 1) {
        const int r = __builtin_ctz(left);
        m->at[r] += m->b;
        m->head[r] = head_of(m, r);
    }
    return true;
}

/* Is the next entry of row r the corner of a dense block? The rows of the block have equal lengths. */
static bool is_block(const merge *m, int r, const int64_t begin[SLICE]) {
    const lsp_csr *A = m->A;
    const int64_t row = (m->row + r) * m->b, step = m->at[r] - begin[r];
    const int64_t corner = lsp_index_at(A->col, A->col_type, m->at[r]);
    bool dense = corner % m->b == 0 && m->at[r] + m->b <= m->end[r];
    for (int i = 0; i < m->b && dense; i++) {
        const int64_t at = lsp_index_at(A->rowptr, A->rowptr_type, row + i) + step;
        for (int j = 0; j < m->b; j++) {
            dense = dense && lsp_index_at(A->col, A->col_type, at + j) == corner + j;
        }
    }
    return dense;
}

/* Do all rows of the slice consist of b x b blocks? */
static bool has_blocks(const lsp_csr *A, int b, int64_t slice) {
    merge m;
    int64_t begin[SLICE];
    merge_begin(&m, A, b, slice);
    for (int r = 0; r < SLICE; r++) {
        begin[r] = m.at[r];
        for (int i = 1; i < b && (m.row + r) * b < A->rows; i++) {
            const int64_t row = (m.row + r) * b + i;
            if (lsp_index_at(A->rowptr, A->rowptr_type, row + 1) - lsp_index_at(A->rowptr, A->rowptr_type, row) !=
                m.end[r] - m.at[r]) {
                return false;
            }
        }
        for (; m.at[r] < m.end[r]; m.at[r] += b) {
            if (!is_block(&m, r, begin)) {
                return false;
            }
        }
    }
    return true;
}

/* The diagonals of a slice. With a limit, a slice that begins with many poor diagonals counts as beyond it, so that one
 * huge row costs little. */
static int64_t count_slice(const lsp_diagonals_build *build, int64_t slice) {
    merge m;
    lsp_diagonal d;
    int64_t count = 0, rows = 0;
    merge_begin(&m, build->A, build->block, slice);
    while (merge_next(&m, &d)) {
        rows += __builtin_popcount(d.rows);
        count++;
        if (count % LSP_DIAGONALS_PATIENCE == 0 && build->limit != INT64_MAX &&
            (double)(count * SLICE) > LSP_DIAGONALS_FILL * (double)rows) {
            return build->limit + 1;
        }
    }
    return count;
}

void LSP_ISA_NAME(lsp_diagonals_count)(lsp_diagonals_build *build, int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; s++) {
        if (__atomic_load_n(&build->total, __ATOMIC_RELAXED) > build->limit ||
            __atomic_load_n(&build->no_blocks, __ATOMIC_RELAXED)) {
            return;
        }
        if (build->block > 1 && !has_blocks(build->A, build->block, s)) {
            __atomic_store_n(&build->no_blocks, true, __ATOMIC_RELAXED);
            return;
        }
        const int64_t count = count_slice(build, s);
        if (build->D) {
            build->D->first[s + 1] = count;
        }
        __atomic_add_fetch(&build->total, count, __ATOMIC_RELAXED);
    }
}

void LSP_ISA_NAME(lsp_diagonals_place)(lsp_diagonals_build *build, int64_t begin, int64_t end) {
    const lsp_diagonals *D = build->D;
    for (int64_t s = begin; s < end; s++) {
        merge m;
        merge_begin(&m, build->A, D->block, s);
        for (int64_t d = D->first[s]; d < D->first[s + 1] && merge_next(&m, &D->at[d]); d++) {
        }
    }
}

/* The values of one diagonal. at[r]: the next entry of each row; rows of a block follow each other by `length`. */
#define FILL(V, suffix)                                                                                                \
    static void fill_##suffix(const lsp_csr *A, const lsp_diagonals *D, int64_t slice) {                               \
        const int b = D->block;                                                                                        \
        const V *val = A->val;                                                                                         \
        int64_t at[LSP_SPMV_LARGEST_BLOCK][SLICE];                                                                     \
        for (int k = 0; k < b * SLICE; k++) {                                                                          \
            at[k % b][k / b] = lsp_index_at(A->rowptr, A->rowptr_type, lsp_min(slice * SLICE * b + k, A->rows));       \
        }                                                                                                              \
        for (int64_t d = D->first[slice]; d < D->first[slice + 1]; d++) {                                              \
            const uint32_t rows = D->at[d].rows;                                                                       \
            V *values = (V *)D->values + d * SLICE * b * b;                                                            \
            for (int i = 0; i < b; i++) {                                                                              \
                for (int r = 0; r < SLICE; r++) {                                                                      \
                    const bool here = rows >> r & 1;                                                                   \
                    for (int j = 0; j < b; j++) { /* the structure of new values is not checked: stay inside */        \
                        values[(i * b + j) * SLICE + r] =                                                              \
                            here ? val[lsp_max(lsp_min(at[i][r] + j, A->nnz - 1), 0)] : 0;                             \
                    }                                                                                                  \
                    at[i][r] += here ? b : 0;                                                                          \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
FILL(float, f32)
FILL(double, f64)

void LSP_ISA_NAME(lsp_diagonals_fill)(lsp_diagonals_build *build, int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; s++) {
        if (build->A->val_type == LSP_F32) {
            fill_f32(build->A, build->D, s);
        } else if (build->A->val_type == LSP_F64) {
            fill_f64(build->A, build->D, s);
        }
    }
}
