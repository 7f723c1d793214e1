/* What the files of spmv on a GPU tell each other, in plain C. */
#pragma once

#include "spmv/diagonals.h"
#include "spmv/packed.h"

LSP_BEGIN_DECLS

/* A product as kernels see it: Y = alpha*A*X + beta*Y. */
typedef struct spmv_job {
    int64_t rows, cols, nnz;
    uint32_t cols_narrow; /* the columns that int32 reaches */
    uint32_t x_step;      /* bytes from row to row of X */
    const void *rowptr, *col, *val;
    bool wide_rowptr, wide_col; /* int64 */
    bool careful;  /* each column is looked at before x is read: int64 columns, no column at all, or steps of 4 GiB */
    bool gathered; /* x[k] belongs to entry k; then `col` may be NULL: columns are not looked at */
    lsp_semiring semiring;
    bool chooses; /* the semiring chooses one product, and not only ones and zeros */
    double empty; /* an empty sum of the semiring */
    double alpha, beta;
    const void *alpha_at, *beta_at; /* unless NULL: read instead. In the type of x */
    const void *x;
    void *y;
    int64_t vectors;
    int64_t x_row, x_vector, y_row, y_vector; /* elements from row to row, from vector to vector */
    long long *fault;                         /* of lsp_cuda_fault */
} spmv_job;

/* Entries that one block multiplies and sums, begin .. end-1. The rows row .. last-1 begin among them, or are empty;
 * entries before the first of these rows belong to row-1. */
typedef struct spmv_piece {
    int64_t begin, end, row, last;
} spmv_piece;

enum { SPMV_PIECE = 2048 }; /* entries of a piece */

/* What was found about a matrix. */
enum {
    SPMV_SKEWED = 1, /* most entries lie in long rows: the whole matrix is cut into pieces */
    SPMV_LISTED = 2, /* some tiles have too many entries and go to the list */
    SPMV_UNEVEN = 4  /* several vectors: some tiles do not fit in shared memory */
};
enum { SPMV_FOUND_BITS = 3 };

/* The head of the work area. Kernels decide by it what is left to do. */
typedef struct spmv_state {
    unsigned long long pieces; /* in the list */
    unsigned found, unused;
} spmv_state;

/* What a call needs beside its arrays, on the GPU. */
typedef struct spmv_area {
    spmv_state *state;
    spmv_piece *list;
    void *head, *tail; /* [p]: the sum of the entries of piece p before its first row; of its last row */
    int64_t capacity;  /* pieces */
} spmv_area;

/* What is known of a matrix, or asked: then the last kernel of the call leaves `ticket` and what was found in *answer,
 * pinned host memory, for later calls. */
typedef struct spmv_memory {
    bool known;
    unsigned found;
    unsigned long long *answer, ticket;
} spmv_memory;

/* Fills *job; the vectors of `given` are set. */
void lsp_spmv_gpu_job(lsp_ctx *ctx, const lsp_spmv_job *given, spmv_job *job);

/* area.c. _prepare: the area at the head of a plan's parts, which are made unless there are some. _for: that of the
 * parts or, without a plan, the context's, which is never moved or freed while the context exists, because a CUDA graph
 * may hold its address; when it is too small a larger one is added. */
lsp_status lsp_spmv_area_prepare(lsp_spmv_plan *plan, int64_t pieces);
lsp_status lsp_spmv_area_for(lsp_ctx *ctx, void *parts, int64_t pieces, spmv_area *area);
/* What calls before have found of this matrix, if they took this shape. While the stream is recorded nothing is known,
 * because a graph may be replayed when the matrix has other entries. The context has an area. */
void lsp_spmv_recall(lsp_ctx *ctx, const lsp_spmv_job *given, int64_t shape, spmv_memory *memory);

/* How kernels of ROWS lie on the matrix. */
typedef struct spmv_shape {
    bool bulk;     /* bulk copies to shared memory; otherwise lanes read the entries where they are */
    int lanes;     /* of a row; 1 to 32, a power of two */
    int tile_rows; /* rows of a tile */
    int room;      /* bulk: entries that shared memory holds; lanes read those of a larger tile where they are */
    int64_t heavy; /* a tile with more entries goes to the list of pieces */
} spmv_shape;

enum { LANES_NT = 256, ROWS_AHEAD = 5 }; /* threads of a block; entries that a lane loads before it adds the first */
enum { SPMV_SMALL = 1 << 13 };           /* entries: below, a list costs more than it saves */

/* shape.c */
double lsp_spmv_mean(const lsp_spmv_job *given);                   /* entries of a row */
bool lsp_spmv_takes_bulk(lsp_ctx *ctx, const lsp_spmv_job *given); /* can entries be moved by bulk copies? */
spmv_shape lsp_spmv_plain_shape(const lsp_spmv_job *given);        /* without bulk copies */
spmv_shape lsp_spmv_rows_shape(lsp_ctx *ctx, const lsp_spmv_job *given);
int64_t lsp_spmv_listed_pieces(const lsp_spmv_job *given); /* the most that a call can list */

/* rows.cu: rows by lanes that read the entries where they are, without a list. */
lsp_status lsp_spmv_lanes_start(lsp_ctx *ctx, const lsp_spmv_job *given, const spmv_job *job);

/* many.cu: several vectors, LSP_PLUS_TIMES. lanes of the shape: threads of a row; room 0: no bulk copies. _fit: do all
 * tiles of a checked matrix fit in shared memory, if rows of X are read by one element [0], or by 16 bytes [1]? Waits.
 * _start: area NULL: no list; `fits` NULL: memory->found tells. */
spmv_shape lsp_spmv_many_shape(lsp_ctx *ctx, const lsp_spmv_job *given, const spmv_job *job);
lsp_status lsp_spmv_many_fit(lsp_ctx *ctx, const lsp_spmv_job *given, bool fits[2]);
lsp_status lsp_spmv_many_start(lsp_ctx *ctx, const lsp_spmv_job *given, const spmv_job *job, const spmv_shape *shape,
                               const spmv_area *area, const spmv_memory *memory, const bool fits[2]);

/* equal.cu: pieces of the whole matrix, after kernel_cut; and those that kernels of ROWS have listed. */
int64_t lsp_spmv_equal_pieces(const lsp_spmv_job *given);
lsp_status lsp_spmv_equal_start(lsp_ctx *ctx, const lsp_spmv_job *given, const spmv_job *job, const spmv_area *area);
lsp_status lsp_spmv_listed_start(lsp_ctx *ctx, const lsp_spmv_job *given, const spmv_job *job, const spmv_area *area,
                                 const spmv_memory *memory);

/* lengths.cu: see lsp_spmv_device. */
lsp_status lsp_spmv_length_slots_cuda(lsp_ctx *ctx, const lsp_csr *A, int64_t *slots);

extern const lsp_spmv_engine lsp_spmv_rows_cuda, lsp_spmv_equal_cuda, lsp_spmv_gather_cuda, lsp_spmv_lengths_cuda,
    lsp_spmv_propagate_cuda;
extern const lsp_diagonals_device lsp_diagonals_cuda;
lsp_status lsp_packed_spread_cuda(lsp_ctx *ctx, const lsp_spmv_job *given, const lsp_packed *p, bool all);

LSP_END_DECLS
