/* C = A*B below the room's interface (spgemm.h): the facts that inspection finds, the choice made from them, the plan
 * that keeps both, what a device does for it, and the functions that all may call, because they call no others of the
 * room. */
#pragma once

#include "core/semiring.h"
#include "matrices/matrices.h"
#include "segsort/segsort.h"

LSP_BEGIN_DECLS

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

/* ---- the plan ---- */

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

/* Also a product that is to be made without a plan: then lsp_spgemm_resolve has set all fields up to `info`. */
struct lsp_spgemm_plan {
    lsp_ctx *ctx; /* NULL: the context was destroyed */
    lsp_plan_life life;
    const struct lsp_spgemm_device *device;
    const char *names[2];       /* of A and B in error messages */
    lsp_spgemm_options options; /* types: of C, in the type of the arithmetic */
    lsp_type type;              /* of the arithmetic */
    lsp_type val_type; /* of C's values: the same, or LSP_F32 for counts that are made in LSP_F64 and then rounded, or
                          LSP_I32 or LSP_BOOL for sums of LSP_I64, which must fit */
    lsp_where where;   /* of A, B and C */
    lsp_spgemm_info info;
    lsp_csr A, B;          /* their sizes and types; the arrays are not read */
    uint64_t structure[2]; /* hashes of their row pointers and columns */
    lsp_spgemm_facts facts;
    bool kept;    /* the caller has the plan, and may use it again */
    int64_t uses; /* products made so far */
    bool counted; /* C's rows were counted */
    struct lsp_spgemm_cpu
        *cpu; /* what the device keeps, behind the plan: see cpu/cpu.h, gpu/gpu.h. The other is NULL */
    struct lsp_spgemm_gpu *gpu;
};

/* op(A) and op(B), without values if the product has none. On a GPU in the form that kernels take: 32-bit indices,
 * values in the type of the arithmetic, B's rows sorted; arrays that are not the user's are in scratch. */
typedef struct lsp_spgemm_operands {
    lsp_csr A, B;
    lsp_ctx *frees_a, *frees_b; /* NULL, or the context that frees A, B */
    int64_t *names; /* NULL, or names[k] is the column that number k stands for: a GPU numbers B's columns if they need
                       more than 31 bits */
} lsp_spgemm_operands;

/* ---- what a device does ---- */

/* Makes a product in one call. */
typedef lsp_status (*lsp_spgemm_call)(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B,
                                      const lsp_spgemm_options *options, lsp_csr *C, lsp_spgemm_info *info);

/* The matrices were checked. */
typedef struct lsp_spgemm_device {
    size_t plan_bytes; /* of a plan's struct, with that of the device */
    /* Makes C, in the type of the arithmetic, and sets *done if one pass without a plan is faster. Otherwise writes why
     * not to job->info.reason, as the begin of a sentence. C NULL: says so without making it. */
    lsp_status (*at_once)(lsp_spgemm_plan *job, const lsp_csr *A, const lsp_csr *B, lsp_csr *C, bool *done);
    /* Takes the operands, and writes their facts to the plan. */
    lsp_status (*inspect)(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_operands *ops);
    lsp_status (*take_operands)(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_operands *ops);
    bool typed_operands; /* their values have the type of the arithmetic: another type needs new operands */
    /* Method, reason and scratch, into the plan's info. */
    void (*describe)(lsp_spgemm_plan *plan, const lsp_csr *B);
    /* Hashes of the structures of A and B. The GPU computes them between the two calls. start: may be NULL. */
    lsp_status (*start_structures)(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B);
    lsp_status (*read_structures)(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, uint64_t structure[2]);
    /* Does an update read the values of A and B by position alone, never their row pointers and columns? Then a changed
     * structure may be found afterwards, and the GPU need not wait for the host. NULL: never. */
    bool (*is_blind)(const lsp_spgemm_plan *plan);
    /* Makes C or, if `update`, only its values. The caller frees the scratch of both. */
    lsp_status (*multiply)(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, bool update, lsp_csr *C);
    lsp_status (*multiply_masked)(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, lsp_csr *C);
    /* The multiplications of A*B, without a check: a malformed A or B gives a number that means nothing. */
    lsp_status (*count_products)(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, int64_t *products);
    /* Makes the products of a batch and sets *done if this is faster without stacks; `by_all` makes those that all
     * threads should make. Otherwise does nothing. `job` is the product of A[0] and B[0]; all sizes were checked.
     * NULL: it never is. */
    lsp_status (*batch_at_once)(lsp_spgemm_plan *job, int64_t count, const lsp_csr *A, const lsp_csr *B,
                                lsp_spgemm_call by_all, lsp_csr *C, bool *done);
    const struct lsp_batch_table *batch; /* what is done to the stacks of a batch: see batch.h */
} lsp_spgemm_device;

/* The tables of the devices. The GPU's is NULL in a build without CUDA, whose contexts have no GPU. */
extern const lsp_spgemm_device lsp_spgemm_on_cpu;
extern const lsp_spgemm_device *const lsp_spgemm_on_gpu;
static inline const lsp_spgemm_device *lsp_spgemm_device_at(lsp_where where) {
    return where == LSP_CUDA ? lsp_spgemm_on_gpu : &lsp_spgemm_on_cpu;
}

/* ---- choose.c: facts become a choice ---- */

/* Chooses method, threads and capacity from facts alone: at most `threads`, and scratch within `available` bytes.
 * `asked` may be LSP_SPGEMM_AUTO. False if not even the smallest capacity for one thread fits, which is then the
 * choice. */
bool lsp_spgemm_choose(const lsp_spgemm_facts *facts, lsp_spgemm_method asked, lsp_type type, int threads,
                       int64_t available, lsp_spgemm_choice *choice);

/* Writes the choice as a sentence. */
void lsp_spgemm_tell_choice(const lsp_spgemm_facts *facts, const lsp_spgemm_choice *choice, char *text, size_t bytes);

/* Rows of C that were made, or counted, to see if one pass is faster than two. */
typedef struct lsp_spgemm_sample {
    int64_t rows, products, nnz;
    bool all; /* all rows; their entries are bounded, not counted */
} lsp_spgemm_sample;
/* Why no device makes this product in one pass; NULL: one may. "" if the caller has chosen the way. */
const char *lsp_spgemm_never_once(const lsp_spgemm_plan *job, const lsp_csr *A, const lsp_csr *B);
/* Begins info->reason: one pass or two, the sample (may be NULL) and more words (may be ""). */
void lsp_spgemm_tell_passes(lsp_spgemm_info *info, int passes, const lsp_spgemm_sample *sample, const char *more);

/* Bytes that are still available. Asking the system costs more than a small product, so 1 GiB is assumed for one if the
 * context has no budget. */
static inline int64_t lsp_spgemm_available(lsp_ctx *ctx, const lsp_spgemm_facts *facts) {
    enum { SMALL = 1 << 18, SMALL_IS_THERE = 1 << 30 };
    const bool small = facts->products <= SMALL && facts->rows <= SMALL && facts->cols <= SMALL;
    return small && ctx->options.max_bytes == 0 ? (int64_t)SMALL_IS_THERE : lsp_available_bytes(ctx, LSP_HOST);
}

/* items * bytes + more; INT64_MAX if an int64_t cannot hold them. */
static inline int64_t lsp_spgemm_bytes(int64_t items, int64_t bytes, int64_t more) {
    return lsp_mul(items, bytes, &bytes) && lsp_add(bytes, more, &bytes) ? bytes : INT64_MAX;
}

/* Bytes that are still available; INT64_MAX if so few are needed that the system need not be asked. */
static inline int64_t lsp_spgemm_room(lsp_ctx *ctx, lsp_where where, int64_t needed) {
    enum { ASKED_FROM = 64 << 20 };
    const bool ask = needed >= ASKED_FROM || ctx->options.max_bytes > 0;
    return ask ? lsp_available_bytes(ctx, where) : INT64_MAX;
}

/* Is a row of `products` made faster in a window of `width` columns than by sorting? Up to 256 products are sorted in
 * registers. Tuned on an AMD EPYC of the fifth generation with sparse-bench spgemm. */
static inline bool lsp_spgemm_prefers_window(int64_t products, int64_t width) {
    enum { FEW = 256, COLUMNS_OF_FEW = 4, COLUMNS = 8 };
    return products <= FEW ? width / COLUMNS_OF_FEW < products : width / COLUMNS < products;
}

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

/* Slots for a row of the mask: one a column if the matrix has few columns, else 16 an entry, hashed. */
static inline int64_t lsp_mask_slots(int64_t entries, int64_t cols) {
    enum { DIRECT = 1 << 17, SLOTS_AN_ENTRY = 16, LEAST = 16 };
    int64_t size = LEAST;
    while (size / SLOTS_AN_ENTRY < entries) {
        size *= 2;
    }
    return cols <= DIRECT || cols <= size ? lsp_max(cols, 1) : size;
}

/* For a masked product: how many threads, the slots of each one's table, and the memory. */
typedef struct lsp_spgemm_masked_choice {
    int threads;
    int64_t slots, longest; /* row of the mask. Both 0 on a GPU */
    int64_t bytes, result;  /* of scratch, and of C at most; INT64_MAX if an int64_t cannot hold them */
    int64_t available;
} lsp_spgemm_masked_choice;
lsp_spgemm_masked_choice lsp_spgemm_masked_scratch(const lsp_spgemm_plan *plan);

/* Decides for a plan that knows its products whether it makes the mask's entries alone. If so, writes method, reason
 * and scratch to the plan's info. */
bool lsp_spgemm_choose_masked(lsp_spgemm_plan *plan);

/* ---- ref.c: the specification ---- */

/* A pass: if job->counting, counts C's rows into job->rowptr (no prefix sum yet); else fills job->C. */
lsp_status lsp_spgemm_ref(lsp_ctx *ctx, const lsp_spgemm_job *job);

/* ---- result.c: the result before it is allocated, and limits ---- */

/* The sizes and types of C, of plan->info.nnz entries, before its values are rounded. _allocate: and its arrays. */
lsp_status lsp_spgemm_shape(lsp_spgemm_plan *plan, lsp_csr *C);
lsp_status lsp_spgemm_allocate(lsp_spgemm_plan *plan, lsp_csr *C);
/* Bytes of a matrix; INT64_MAX if an int64_t cannot hold them. */
int64_t lsp_spgemm_matrix_bytes(int64_t rows, int64_t cols, int64_t nnz, const lsp_csr_types *types, lsp_type val_type);
/* Bytes of C while it is made: its values before rounding count too. */
int64_t lsp_spgemm_result_bytes(const lsp_spgemm_plan *plan);

/* Adds the facts of a part of C, which was made alone, to those of all of C. */
static inline void lsp_spgemm_add_info(lsp_spgemm_info *all, const lsp_spgemm_info *part) {
    all->products += part->products;
    all->nnz_bound += part->nnz_bound;
    all->max_row_products = lsp_max(all->max_row_products, part->max_row_products);
    all->scratch_bytes = lsp_max(all->scratch_bytes, part->scratch_bytes);
    all->bound_bytes = lsp_max(all->bound_bytes, part->bound_bytes);
}

/* Frees what take_operands has made. */
static inline void lsp_spgemm_release_operands(lsp_spgemm_operands *ops) {
    (void)lsp_csr_free(ops->frees_a, &ops->A);
    (void)lsp_csr_free(ops->frees_b, &ops->B);
}

/* The most entries, and the most rows and columns where it can be cut, of a factor that kernels take: 2^31 - 1, or what
 * a test has set for this context. A product has one row less. */
int64_t lsp_spgemm_most(const lsp_ctx *ctx);
lsp_status lsp_spgemm_set_most(lsp_ctx *ctx, int64_t most);

/* The type of C's values. It is the type of the arithmetic too, except for counts (see val_type of the plan). */
static inline lsp_type lsp_spgemm_result_type(const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options) {
    const lsp_type wider = lsp_common_type(A->val_type, B->val_type);
    const bool counts = lsp_semiring_counts(options->semiring);
    return options->types.drop_values            ? LSP_NONE
           : options->types.val_type != LSP_NONE ? options->types.val_type
           : wider == LSP_NONE && counts         ? LSP_F64
                                                 : wider;
}

/* What an option struct that is NULL stands for. */
static inline const lsp_spgemm_options *lsp_spgemm_given(const lsp_spgemm_options *options) {
    static const lsp_spgemm_options defaults = {};
    return options != NULL ? options : &defaults;
}

/* The address of array[i]. `array` may be NULL if a caller gave a wrong product. */
static inline void *lsp_spgemm_at(void *array, int64_t i, lsp_type type) {
    return (void *)((uintptr_t)array + (uintptr_t)i * lsp_type_bytes(type));
}

/* A product of many, whose arrays are parts of those of `all`, from this row pointer and this entry on. */
static inline lsp_csr lsp_batch_slice(const lsp_csr *all, int64_t rows, int64_t cols, int64_t nnz, int64_t pointer_at,
                                      int64_t entry_at) {
    lsp_csr C = *all;
    C.rows = rows;
    C.cols = cols;
    C.nnz = nnz;
    C.rowptr = lsp_spgemm_at(all->rowptr, pointer_at, all->rowptr_type);
    C.col = nnz > 0 ? lsp_spgemm_at(all->col, entry_at, all->col_type) : NULL;
    C.val = nnz > 0 && all->val_type != LSP_NONE ? lsp_spgemm_at(all->val, entry_at, all->val_type) : NULL;
    return C;
}

/* The products of row i of A*B. narrow: the indices have 32 bits, those of B's columns aside. */
LSP_INLINE int64_t lsp_spgemm_row_products(bool narrow, const lsp_csr *A, const lsp_csr *B, int64_t i) {
    const lsp_type rowptr = narrow ? LSP_I32 : A->rowptr_type, col = narrow ? LSP_I32 : A->col_type;
    const lsp_type b_rowptr = narrow ? LSP_I32 : B->rowptr_type;
    int64_t products = 0;
    for (int64_t e = lsp_index_at(A->rowptr, rowptr, i), end = lsp_index_at(A->rowptr, rowptr, i + 1); e < end; e++) {
        const int64_t k = lsp_index_at(A->col, col, e);
        products += lsp_index_at(B->rowptr, b_rowptr, k + 1) - lsp_index_at(B->rowptr, b_rowptr, k);
    }
    return products;
}

/* The entries of the longest row. */
LSP_INLINE int64_t lsp_longest_row_of(lsp_type type, const lsp_csr *A) {
    int64_t longest = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        longest = lsp_max(longest, lsp_index_at(A->rowptr, type, i + 1) - lsp_index_at(A->rowptr, type, i));
    }
    return longest;
}
static inline int64_t lsp_spgemm_longest_row(const lsp_csr *A) {
    return LSP_WITH_INDEX(A->rowptr_type, lsp_longest_row_of, A);
}

/* A, without its values if `type`, the type of the arithmetic, is LSP_NONE. */
static inline lsp_csr lsp_spgemm_view(const lsp_csr *A, lsp_type type) {
    return type == LSP_NONE ? lsp_csr_pattern(A) : *A;
}

LSP_END_DECLS
