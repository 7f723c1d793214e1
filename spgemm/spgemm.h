/* C = A*B inside: the facts that inspection finds, the choice made from them, the plan that keeps both, and the job
 * that threads work on. */
#ifndef LSP_SPGEMM_SPGEMM_H
#define LSP_SPGEMM_SPGEMM_H

#include "segsort/segsort.h"
#include "spgemm/gpu/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Entries or products that are worth another thread. Up to LSP_ALONE of them the caller is faster without: waking a
 * thread takes as long as 5000 products, and now and then milliseconds. */
enum { LSP_WORTH_A_THREAD = 1 << 12, LSP_ALONE = 1 << 15 };
static inline int lsp_spgemm_threads(const lsp_ctx *ctx, int64_t work) {
    return work <= LSP_ALONE ? 1 : lsp_threads_for(ctx, work, LSP_WORTH_A_THREAD);
}

/* A row is made in one of two ways. Sort: expand its products, sort them by column, sum equal neighbours. Window: an
 * accumulator for each column between the smallest and the largest, which pays if most of them get products. */
typedef struct lsp_spgemm_facts {
    int64_t rows, cols;
    int64_t products;
    int64_t nnz_bound;
    int64_t max_row_products;
    int64_t sort_products;  /* most products of a row that is sorted */
    int64_t window_columns; /* widest window */
} lsp_spgemm_facts;

/* How much the scratch of a thread holds. A row that exceeds both is made in pieces by column. */
typedef struct lsp_spgemm_capacity {
    int64_t sort_products;
    int64_t window_columns; /* a multiple of 64, at least 64 */
    size_t word_bytes, value_bytes;
} lsp_spgemm_capacity;

typedef struct lsp_spgemm_choice {
    lsp_spgemm_method method;
    int threads;
    bool asked;   /* the caller asked for this method */
    bool limited; /* memory allows fewer threads, or */
    bool shrunk;  /* less capacity, so that some rows are made in pieces */
    lsp_spgemm_capacity capacity;
    int64_t thread_bytes;
} lsp_spgemm_choice;

/* Chooses method, threads and capacity from facts alone: at most `threads`, and scratch within `available` bytes.
 * `asked` may be LSP_SPGEMM_AUTO. False if not even the smallest capacity for one thread fits, which is then the
 * choice. */
bool lsp_spgemm_choose(const lsp_spgemm_facts *facts, lsp_spgemm_method asked, lsp_type type, int threads,
                       int64_t available, lsp_spgemm_choice *choice);

/* Writes the choice as a sentence. */
void lsp_spgemm_explain(const lsp_spgemm_facts *facts, const lsp_spgemm_choice *choice, char *text, size_t bytes);

/* Bytes that are still available. Asking the system costs more than a small product, so 1 GiB is assumed for one if the
 * context has no budget. */
int64_t lsp_spgemm_available(lsp_ctx *ctx, const lsp_spgemm_facts *facts);

/* Is a row of `products` made faster in a window of `width` columns than by sorting? Up to 256 products are sorted in
 * registers. Tuned on an AMD EPYC of the fifth generation with sparse-bench spgemm. */
static inline bool lsp_spgemm_prefers_window(int64_t products, int64_t width) {
    enum { FEW = 256, COLUMNS_OF_FEW = 4, COLUMNS = 8 };
    return products <= FEW ? width / COLUMNS_OF_FEW < products : width / COLUMNS < products;
}

typedef struct lsp_spgemm_job {
    lsp_csr A, B;  /* op(A), op(B) */
    lsp_type type; /* of the arithmetic; B's values have it. LSP_NONE: a pattern */
    lsp_semiring semiring;
    bool ascending;  /* B's rows are sorted, so their first and last columns bound a row of C */
    bool counting;   /* write nnz of row i to rowptr[i + 1]; otherwise fill col and val from rowptr[i] on */
    int64_t *rowptr; /* of C */
    lsp_csr *C;      /* when not counting */
    bool update;     /* C has its columns already */
} lsp_spgemm_job;

/* A matrix as the plan remembers it: sizes, types, and a hash of its row pointers and columns. */
typedef struct lsp_spgemm_outline {
    int64_t rows, cols, nnz;
    lsp_type rowptr_type, col_type, val_type;
    uint64_t structure;
} lsp_spgemm_outline;

struct lsp_spgemm_plan {
    lsp_ctx *ctx; /* NULL: the context was destroyed */
    lsp_plan_life life;
    const char *names[2]; /* of A and B in error messages */
    lsp_spgemm_options options;
    lsp_spgemm_info info;
    lsp_spgemm_outline A, B;
    lsp_spgemm_facts facts;
    lsp_type type;     /* of the arithmetic */
    lsp_type val_type; /* of C's values: the same, or LSP_F32 for counts that are made in LSP_F64 and then rounded, or
                          LSP_I32 or LSP_BOOL for sums of LSP_I64, which must fit */
    bool ascending;
    bool kept;           /* the caller has the plan, and may use it again */
    int64_t uses;        /* products made so far */
    bool masked;         /* only the entries of the filter's mask are made */
    bool counted;        /* rowptr holds C's row pointers; before that, the products of row i in rowptr[i + 1] */
    int64_t *rowptr;     /* rows + 1 */
    int64_t *block_rows; /* info.blocks + 1: pieces of about equal work */
    struct {             /* on the CPU: see cpu/cpu.h */
        uint8_t *ways, *repeats; /* of A's rows, of B's rows */
        bool exact;
        char *ranks;
        int64_t *block_ranks; /* where the ranks of each block begin */
        int32_t *c_col;       /* C's columns, if cpu/small.h replays the product; else NULL */
    } route;
    lsp_where where; /* of A, B and C. On a GPU `gpu` replaces ascending, rowptr, block_rows and route */
    lsp_spgemm_gpu gpu;
};

/* op(A) and op(B), without values if the product has none. */
typedef struct lsp_spgemm_operands {
    lsp_csr A, B;
    bool made_a, made_b;
    lsp_spgemm_gpu_operands gpu; /* used instead on a GPU */
} lsp_spgemm_operands;

/* Frees what take_operands has made. */
void lsp_spgemm_release_operands(lsp_ctx *ctx, lsp_spgemm_operands *ops);

/* What a device does for a plan. The matrices were checked. */
typedef struct lsp_spgemm_device {
    /* Takes the operands, and writes their facts to the plan. */
    lsp_status (*inspect)(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_operands *ops);
    lsp_status (*take_operands)(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_operands *ops);
    bool typed_operands; /* their values have the type of the arithmetic: another type needs new operands */
    /* Method, reason and scratch, into the plan's info. */
    void (*describe)(lsp_spgemm_plan *plan, const lsp_csr *B);
    /* Hashes of the structures of A and B. The GPU computes them between the two calls. */
    lsp_status (*start_structures)(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B);
    lsp_status (*read_structures)(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, uint64_t structure[2]);
    /* Makes C or, if `update`, only its values. */
    lsp_status (*multiply)(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, bool update, lsp_csr *C);
    lsp_status (*multiply_masked)(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, lsp_csr *C);
    /* val[] = C's values in another type. */
    lsp_status (*convert)(lsp_ctx *ctx, const lsp_csr *C, lsp_type type, void *val);
    /* to[i] = 1 if from[i] is not 0, else 0: n real values or integers of one type. */
    lsp_status (*truth)(lsp_ctx *ctx, lsp_type type, void *to, const void *from, int64_t n);
} lsp_spgemm_device;

const lsp_spgemm_device *lsp_spgemm_device_at(lsp_where where);

/* Checks the options of a product of matrices in that place. Of the filter it reads the struct alone, not the mask. */
lsp_status lsp_spgemm_check_options(lsp_ctx *ctx, const lsp_spgemm_options *options, lsp_where where);
/* Checks the rules of value types. Complex values: LSP_PLUS_TIMES alone sums them, and they do not become real. Real
 * values do not become integers. The options and the headers of A and B were checked. */
lsp_status lsp_spgemm_check_values(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options);
/* Checks A, B and the options. `names` are those of A and B in error messages. _headers reads no array. */
lsp_status lsp_spgemm_check_headers(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                                    const lsp_spgemm_options *options);
lsp_status lsp_spgemm_check_operands(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                                     const lsp_spgemm_options *options);
/* Checks that A has the place, sizes, types and arrays of the matrix that the plan was made for. Does not check the
 * hash of its structure. */
lsp_status lsp_spgemm_check_outline(lsp_spgemm_plan *plan, const char *name, const lsp_spgemm_outline *planned,
                                    const lsp_csr *A);
/* Checks that C, whose values are to be computed again, has the sizes, types and arrays of this plan's product. */
lsp_status lsp_spgemm_check_result(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, const lsp_csr *C);
lsp_spgemm_outline lsp_spgemm_outline_of(const lsp_csr *A, uint64_t structure);

/* lsp_spgemm_plan_create with other names for A and B in error messages. */
lsp_status lsp_spgemm_plan_as(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                              const lsp_spgemm_options *options, lsp_spgemm_plan **plan);

/* R*A*P: its checks, without reading an array (R may be NULL). */
lsp_status lsp_spgemm_check_triple(lsp_ctx *ctx, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                                   const lsp_spgemm_options *options);

/* Is (R*A)*P to be made, or R*(A*P)? And with what options? C has the common type of all three factors, unless another
 * was asked for, and the inner product has C's type: so no value depends on the order. Integers are LSP_I64 in between,
 * so that only C must fit a narrower type. Only C is filtered. The arrays of the factors need not be checked yet. */
typedef struct lsp_triple_order {
    bool left_first;
    lsp_spgemm_options inner, outer;
} lsp_triple_order;
lsp_status lsp_spgemm_order(lsp_ctx *ctx, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                            const lsp_spgemm_options *options, lsp_triple_order *order);

/* Does a sum with D join truth values? Then both factors and D count as 1 unless they are 0. */
static inline bool lsp_spgemm_is_or(const lsp_spgemm_options *options) {
    return options != NULL && options->semiring == LSP_OR_AND;
}
lsp_status lsp_spgemm_check_addend(lsp_ctx *ctx, const lsp_csr *D, const lsp_spgemm_options *options);
/* val[] = 1 where M's value is not 0 (a NaN is not), else 0; of M's type, where M lies. val may be M's own. */
lsp_status lsp_spgemm_truth(lsp_ctx *ctx, const lsp_csr *M, void *val);

/* The sizes and types of C, whose rows were counted, before its values are rounded. */
lsp_status lsp_spgemm_shape(lsp_spgemm_plan *plan, lsp_csr *C);
/* Bytes of a matrix; INT64_MAX if an int64_t cannot hold them. */
int64_t lsp_spgemm_matrix_bytes(int64_t rows, int64_t cols, int64_t nnz, const lsp_csr_types *types, lsp_type val_type);
/* Bytes of C while it is made: its values before rounding count too. */
int64_t lsp_spgemm_result_bytes(const lsp_spgemm_plan *plan);

/* The hash of lsp_spgemm_outline. Reads all row pointers and columns once. */
uint64_t lsp_spgemm_structure(lsp_ctx *ctx, const lsp_csr *A);

/* The type of C's values. It is the type of the arithmetic too, except for counts (see val_type of the plan). */
lsp_type lsp_spgemm_result_type(const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options);

/* A, without its values if `type`, the type of the arithmetic, is LSP_NONE. */
static inline lsp_csr lsp_spgemm_view(const lsp_csr *A, lsp_type type) {
    lsp_csr view = *A;
    if (type == LSP_NONE) {
        view.val = NULL;
        view.val_type = LSP_NONE;
    }
    return view;
}

/* lsp_spgemm with a filter. */
lsp_status lsp_spgemm_filtered(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                               lsp_csr *C, lsp_spgemm_info *info);

/* The most entries, and the most rows and columns where it can be cut, of a factor that kernels take: 2^31 - 1, or what
 * a test has set for this context. A product has one row less. */
int64_t lsp_spgemm_most(const lsp_ctx *ctx);
lsp_status lsp_spgemm_set_most(lsp_ctx *ctx, int64_t most);

/* lsp_spgemm with a prepared filter (lsp_filter_prepare_mask), by a plan that is not kept. C before the filter must fit
 * the memory. _uncut refuses factors of a GPU that are too large for kernels; _at_once cuts them. */
lsp_status lsp_spgemm_uncut(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                            lsp_csr *C, lsp_spgemm_info *info);
lsp_status lsp_spgemm_at_once(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                              lsp_csr *C, lsp_spgemm_info *info);

/* Can the entries of the mask be made alone? */
static inline bool lsp_spgemm_masks(const lsp_spgemm_options *options) {
    return options->filter.mask != NULL && !options->filter.complement &&
           (options->method == LSP_SPGEMM_AUTO || options->method == LSP_SPGEMM_MASK);
}

/* Is making the mask's entries alone faster than making all of C and dropping entries? */
static inline bool lsp_spgemm_prefers_mask(int64_t products, int64_t mask_entries) {
    enum { ENTRIES_A_PRODUCT = 8 };
    return mask_entries / ENTRIES_A_PRODUCT <= products;
}

/* Decides for a plan that knows its products whether it makes the mask's entries alone. If so, writes method, reason
 * and scratch to the plan's info. */
bool lsp_spgemm_choose_masked(lsp_spgemm_plan *plan);

/* Who takes the rows of a streamed product, and how. */
typedef struct lsp_spgemm_receiver {
    lsp_spgemm_sink sink;
    void *user;
    int64_t block_bytes; /* most bytes of a block; 0: chosen */
    bool stays_there;    /* the sink gets blocks that were made on a GPU in GPU memory, wherever A and B lie */
} lsp_spgemm_receiver;

/* lsp_spgemm_stream, and its checks. */
lsp_status lsp_spgemm_check_stream(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                   int64_t block_bytes);
lsp_status lsp_spgemm_stream_to(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                const lsp_spgemm_receiver *to, lsp_spgemm_info *info);

/* Makes C's entries in the mask, on the CPU. */
lsp_status lsp_spgemm_masked(lsp_spgemm_plan *plan, const lsp_spgemm_job *job, lsp_csr *C);

/* Writes the facts and the blocks of op(A)*op(B) to the plan. */
lsp_status lsp_spgemm_inspect(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B);

/* The part of lsp_spgemm_inspect that reads every entry, by threads. Writes the products of row i to
 * plan->rowptr[i + 1], the facts, and `ascending`. */
lsp_status lsp_spgemm_inspect_rows(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B);

/* The CPU's part of lsp_spgemm_device. */
lsp_status lsp_spgemm_cpu_take_operands(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B,
                                        lsp_spgemm_operands *ops);
void lsp_spgemm_cpu_describe(lsp_spgemm_plan *plan, const lsp_csr *B);
lsp_status lsp_spgemm_cpu_multiply(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, bool update, lsp_csr *C);
lsp_status lsp_spgemm_cpu_multiply_masked(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, lsp_csr *C);
/* val[] = A's values in another type: ones for a pattern, rounded if the type is narrower. */
lsp_status lsp_spgemm_cpu_convert(lsp_ctx *ctx, const lsp_csr *A, lsp_type type, void *val);

/* A pass by each method: if job->counting, counts C's rows into job->rowptr (no prefix sum yet); else fills job->C. */
lsp_status lsp_spgemm_ref(lsp_spgemm_plan *plan, const lsp_spgemm_job *job);
lsp_status lsp_spgemm_cpu(lsp_spgemm_plan *plan, const lsp_spgemm_job *job);
bool lsp_spgemm_cpu_drop_ranks(lsp_spgemm_plan *plan); /* frees the kept ranks; false: there are none */

/* Copies C's row pointers from the plan. */
void lsp_spgemm_copy_pointers(const lsp_spgemm_plan *plan, lsp_csr *C);

/* A value of A; 1 for a pattern. */
static inline double lsp_spgemm_value_at(const lsp_csr *A, int64_t i) {
    return A->val_type == LSP_F64   ? ((const double *)A->val)[i]
           : A->val_type == LSP_F32 ? (double)((const float *)A->val)[i]
                                    : 1.0;
}

#ifdef __cplusplus
}
#endif
#endif
