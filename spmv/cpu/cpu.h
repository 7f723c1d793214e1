/* What the files of spmv on the CPU tell each other: the engines, and the loops of CSR as it is (rows_kernel.c) and of
 * diagonals (diagonals_build.c, diagonals_kernel.c) that are compiled for each instruction set. */
#pragma once

#include "core/isa.h"
#include "spmv/diagonals.h"
#include "spmv/finish.h"
#include "spmv/packed.h"

extern const lsp_spmv_engine lsp_spmv_rows_cpu; /* also LSP_SPMV_EQUAL: it balances by entries */
extern const lsp_spmv_engine lsp_spmv_gather_cpu, lsp_spmv_propagate_cpu;
extern const lsp_diagonals_device lsp_diagonals_cpu;
lsp_status lsp_packed_spread_cpu(lsp_ctx *ctx, const lsp_spmv_job *job, const lsp_packed *p, bool all);

/* A row is summed in pieces of this many entries, counted from its begin; the sums of the pieces are added in order.
 * So threads may share a long row, and the bits do not depend on how. */
enum { LSP_SPMV_PIECE = 1 << 16 };

/* What is called into the cache before it is multiplied. */
typedef enum lsp_spmv_fetch {
    LSP_SPMV_FETCH_NOTHING, /* A lies in the cache */
    LSP_SPMV_FETCH_ROWS,    /* A, evenly, into the first cache */
    LSP_SPMV_FETCH_CHUNKS,  /* A, into the second cache: the reads of x, at random, fill the first one */
    LSP_SPMV_FETCH_X        /* A and x */
} lsp_spmv_fetch;

typedef struct lsp_spmv_rows {
    const lsp_spmv_job *job;
    lsp_spmv_fetch ahead;
    int64_t *outside; /* the lowest entry whose column is outside the matrix */
} lsp_spmv_rows;

/* _rows: y of the rows begin .. end-1. _piece: sums[v], in the type of the vectors: the entries begin .. end-1, at most
 * LSP_SPMV_PIECE of one row. */
#define LSP_SPMV_ROWS_ISA(isa)                                                                                         \
    void lsp_spmv_rows_##isa(const lsp_spmv_rows *r, int64_t begin, int64_t end);                                      \
    void lsp_spmv_piece_##isa(const lsp_spmv_rows *r, int64_t begin, int64_t end, void *sums);
LSP_SPMV_ROWS_ISA(avx512)
LSP_SPMV_ROWS_ISA(avx2)
LSP_SPMV_ROWS_ISA(portable)

/* f_V_T(...) for the types of values and of vectors; ones: a pattern. */
#define LSP_SPMV_WITH_TYPES(val_type, type, f, ...)                                                                    \
    ((type) == LSP_F32       ? ((val_type) == LSP_F32 ? f##_f32_f32(__VA_ARGS__) : f##_ones_f32(__VA_ARGS__))          \
     : (val_type) == LSP_F64 ? f##_f64_f64(__VA_ARGS__)                                                                \
     : (val_type) == LSP_F32 ? f##_f32_f64(__VA_ARGS__)                                                                \
                             : f##_ones_f64(__VA_ARGS__))

/* The same in a semiring other than plus-times: cpu/semirings.c. */
void lsp_spmv_rows_semiring(const lsp_spmv_rows *r, int64_t begin, int64_t end);
void lsp_spmv_piece_semiring(const lsp_spmv_rows *r, int64_t begin, int64_t end, void *sums);
/* y[i] from the sums of the pieces of row i, in any semiring: `count` times `vectors` numbers, which are joined in
 * order. They are overwritten. */
void lsp_spmv_join_pieces(const lsp_spmv_job *job, int64_t i, void *sums, int64_t count);

/* Work on diagonals. */
typedef struct lsp_diagonals_work {
    const lsp_csr *A;
    const lsp_diagonals *D;     /* of the plan; NULL in a count */
    const lsp_spmv_job *job;    /* of a product */
    int block;                  /* of a count */
    int64_t *first;             /* of a count: the plan's, or NULL */
    lsp_diagonals_found *found; /* of a count: `total` is added to, `no_blocks` set atomically */
} lsp_diagonals_work;

/* For slices begin .. end-1:
 * _count adds their diagonals to found->total and, unless `first` is NULL, sets first[s + 1] to those of slice s;
 * _place writes their diagonals, _fill their values; _product computes their rows of Y. */
typedef void lsp_diagonals_do(const lsp_diagonals_work *work, int64_t begin, int64_t end);
#define LSP_DIAGONALS_ISA(isa)                                                                                         \
    lsp_diagonals_do lsp_diagonals_count_##isa, lsp_diagonals_place_##isa, lsp_diagonals_fill_##isa,                   \
        lsp_diagonals_product_##isa;
LSP_DIAGONALS_ISA(portable)
LSP_DIAGONALS_ISA(avx2)
LSP_DIAGONALS_ISA(avx512)
