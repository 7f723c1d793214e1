/* Rows of C = A*B that have few columns, for one instruction set. */
#include "complex.h"
#include "core/isa.h"
#include "core/vector.h"
#include "hash.h"
#include "integer.h"
#include <math.h>

/* What is known of the row at hand. */
typedef struct row_state {
    uint64_t stamp;  /* the upper half of its keys */
    uint32_t count;  /* columns */
    uint32_t newest; /* the column that came up last */
    bool ascending;  /* did they come up in order? */
} row_state;

static inline uint32_t first_slot(uint32_t j) { return j * 0x9E3779B1u >> 22; }
_Static_assert(LSP_HASH_SLOTS == 1 << (32 - 22), "first_slot gives another number of slots");

/* Prefetches the row of B that is needed 8 entries of A later, and the row pointer that is needed 16 entries later. */
static inline void fetch_ahead(const lsp_csr *A, const lsp_csr *B, int64_t e, size_t value_bytes) {
    enum { AHEAD = 8 };
    const int32_t *a_col = A->col, *b_rowptr = B->rowptr, *b_col = B->col;
    if (e + 2 * AHEAD < A->nnz) {
        const int32_t q = b_rowptr[a_col[e + AHEAD]];
        __builtin_prefetch(b_rowptr + a_col[e + 2 * AHEAD]);
        __builtin_prefetch(b_col + q);
        __builtin_prefetch((const char *)B->val + (size_t)q * value_bytes);
    }
}

/* Insertion sort, with the gaps of Ciura's shellsort for longer rows. */
static void sort_columns(uint64_t *columns, uint32_t n) {
    static const uint32_t gaps[] = {132, 57, 23, 10, 4, 1};
    for (uint32_t g = n > 24 ? 0 : 5; g < 6; g++) {
        const uint32_t gap = gaps[g];
        for (uint32_t r = gap; r < n; r++) {
            const uint64_t x = columns[r];
            uint32_t s = r;
            for (; s >= gap && columns[s - gap] > x; s -= gap) {
                columns[s] = columns[s - gap];
            }
            columns[s] = x;
        }
    }
}

#define VALUE float
#define VALUE_SUFFIX _f32
#define FMA fmaf
#define TIMES(a, b) ((a) * (b))
#define SETTLED(sum) ((sum) == (sum) ? (sum) : (float)NAN)
#include "hash_rows_template.h"
#define VALUE double
#define VALUE_SUFFIX _f64
#define FMA fma
#define TIMES(a, b) ((a) * (b))
#define SETTLED(sum) ((sum) == (sum) ? (sum) : (double)NAN)
#include "hash_rows_template.h"
#define VALUE complex_value
#define VALUE_SUFFIX _complex
#define FMA complex_fma
#define TIMES(a, b) complex_fma(a, b, COMPLEX_NOTHING)
#define SETTLED complex_settled
#include "hash_rows_template.h"

#define VALUE int64_t
#define VALUE_SUFFIX _i64
#define FMA integer_fma
#define TIMES(a, b) integer_fma(a, b, 0)
#define SETTLED(sum) (sum)
#include "hash_rows_template.h"

int64_t LSP_ISA_NAME(lsp_spgemm_hash_rows)(lsp_hash_job *job) {
    return job->A->val_type == LSP_F64 ? rows_f64(job) : rows_f32(job);
}

int64_t LSP_ISA_NAME(lsp_spgemm_hash_complex_rows)(lsp_hash_job *job) { return rows_complex(job); }

int64_t LSP_ISA_NAME(lsp_spgemm_hash_integer_rows)(lsp_hash_job *job) { return rows_i64(job); }
