/* What every folder may use: the context, errors, memory, checked sizes. Nothing here knows a matrix or a sort. */
#ifndef LSP_CORE_CORE_H
#define LSP_CORE_CORE_H

#include "libsparse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- context ---- */

typedef enum lsp_isa { LSP_ISA_PORTABLE = 0, LSP_ISA_AVX2 = 1, LSP_ISA_AVX512 = 2 } lsp_isa;

typedef struct lsp_block { /* one piece of memory, in use or kept for the next call */
    void *memory;
    size_t bytes;
    lsp_where where;
    bool used;
} lsp_block;

typedef struct lsp_space { /* accounts of one kind of memory */
    int64_t used, kept;    /* in use now; kept for the next call */
    int64_t peak, high;    /* most in use: since the last reset; ever */
} lsp_space;

/* In every plan, so that plan and context may end in any order: the context that ends first leaves the plan's own
 * struct alive, with no context, and lsp_plan_free then gives it back through a copy of the allocator. */
typedef struct lsp_plan_life {
    lsp_ctx **ctx; /* the plan's own; becomes NULL */
    void *plan;
    struct lsp_plan_life *next, **link; /* of the context's list; what points to this one */
    lsp_allocator allocator;            /* when the context is gone, */
    size_t bytes;                       /* and the plan's */
} lsp_plan_life;

struct lsp_ctx {
    lsp_ctx_options options; /* threads resolved, allocator filled in */
    lsp_isa isa;             /* the best instruction set of this processor */
    lsp_block *blocks;       /* all memory of the context; see memory.c */
    size_t block_count, block_capacity;
    void **scratch; /* stack of the pieces that end with the call */
    size_t scratch_count, scratch_capacity;
    lsp_space space[2];               /* by lsp_where */
    void *cuda;                       /* of core/cuda.c; NULL for a host context */
    lsp_segsort_table *segsort_table; /* the caller's own; NULL: the shipped one */
    struct lsp_pool *pool;            /* host threads, of core/threads.c */
    bool in_stream;                   /* phases within another one are not told of */
    lsp_plan_life *plans;             /* those not destroyed yet */
    char error[1024];
};

#define LSP_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* ---- errors ---- */

/* Keeps the sentence in the context and returns `status`. */
lsp_status lsp_fail(lsp_ctx *ctx, lsp_status status, const char *format, ...) LSP_PRINTF(3, 4);

/* One line to the log hook, if there is one. */
void lsp_log(lsp_ctx *ctx, const char *format, ...) LSP_PRINTF(2, 3);

/* Tells the progress hook, if there is one; within lsp_spgemm_stream of the phase "stream" alone. Only from the caller's
 * thread, which is thread 0. */
void lsp_progress(lsp_ctx *ctx, const char *phase, double fraction);

/* Every function that can fail has `lsp_status status = LSP_OK;` and one label `done:` that frees and returns. */
#define LSP_TRY(call)                                                                                                  \
    do {                                                                                                               \
        if ((status = (call)) != LSP_OK) {                                                                             \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)
#define LSP_REQUIRE(condition, code, ...)                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            status = lsp_fail(ctx, (code), __VA_ARGS__);                                                               \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

/* LSP_OK if the reserved words of a struct of the caller's are all zero. */
lsp_status lsp_check_reserved(lsp_ctx *ctx, const char *name, const int64_t reserved[LSP_RESERVED]);

/* ---- memory: everything comes from the context, is aligned to 64 bytes, counted, and kept for the next call ---- */

/* Memory that outlives the call (an output). NULL and LSP_OK for 0 items, or items of 0 bytes: *memory is then NULL.
 * Not set to zero. */
lsp_status lsp_alloc(lsp_ctx *ctx, lsp_where where, int64_t count, size_t item_bytes, void **memory);
void lsp_free(lsp_ctx *ctx, void *memory); /* NULL is fine; so is memory the context does not know: left alone */
bool lsp_owns(const lsp_ctx *ctx, const void *memory); /* is it memory of the context, in use? */

/* Of a plan that lsp_alloc made, with its member that names the context (set): enters the context's list; leaves it,
 * and frees the plan's struct, the rest of a plan whose context lives being freed before. */
void lsp_plan_begin(lsp_plan_life *life, lsp_ctx **ctx, void *plan);
void lsp_plan_free(lsp_plan_life *life);

/* Memory that ends with the call, on the host unless named: taken after lsp_scratch_mark, given back together by
 * lsp_scratch_release. Calls nest. */
size_t lsp_scratch_mark(const lsp_ctx *ctx);
void lsp_scratch_release(lsp_ctx *ctx, size_t mark);
lsp_status lsp_scratch_at(lsp_ctx *ctx, lsp_where where, int64_t count, size_t item_bytes, void **memory);
lsp_status lsp_scratch_bytes(lsp_ctx *ctx, int64_t count, size_t item_bytes, bool zero, void **memory);
/* LSP_SCRATCH(ctx, count, &pointer): typed; the _ZERO form clears it. Both are calls that can fail: LSP_TRY them. */
#define LSP_SCRATCH(ctx, count, pointer)                                                                               \
    lsp_scratch_bytes((ctx), (count), sizeof **(pointer), false, (void **)(pointer))
#define LSP_SCRATCH_ZERO(ctx, count, pointer)                                                                          \
    lsp_scratch_bytes((ctx), (count), sizeof **(pointer), true, (void **)(pointer))

/* Bytes that could still be taken: of the budget if there is one, else of the machine's (the device's) memory. */
int64_t lsp_available_bytes(lsp_ctx *ctx, lsp_where where);

/* ---- sizes ---- */

/* False, and *result untouched, if the true result does not fit. */
static inline bool lsp_add(int64_t a, int64_t b, int64_t *result) {
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) && (*result = sum, true);
}
static inline bool lsp_mul(int64_t a, int64_t b, int64_t *result) {
    int64_t product;
    return !__builtin_mul_overflow(a, b, &product) && (*result = product, true);
}
static inline int64_t lsp_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t lsp_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t lsp_ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* "1.5 GiB": a size for a sentence. */
typedef struct lsp_size_text {
    char text[24];
} lsp_size_text;
lsp_size_text lsp_size(int64_t bytes);

/* ---- indices of either width ---- */

static inline int64_t lsp_index_at(const void *array, lsp_type type, int64_t i) {
    return type == LSP_I32 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}
static inline void lsp_index_set(void *array, lsp_type type, int64_t i, int64_t value) {
    if (type == LSP_I32) {
        ((int32_t *)array)[i] = (int32_t)value;
    } else {
        ((int64_t *)array)[i] = value;
    }
}

/* ---- host threads ---- */

/* Share `part` of `parts` of 0..n: *begin <= i < *end; the shares are even, in order and cover all. */
static inline void lsp_share(int64_t n, int part, int parts, int64_t *begin, int64_t *end) {
    *begin = n / parts * part + lsp_min(part, n % parts);
    *end = n / parts * (part + 1) + lsp_min(part + 1, n % parts);
}

/* do_part(data, part, thread) for all parts in ascending order, each by the next of `threads` threads that is free;
 * thread 0 is the caller, who does part 0. Nobody waits for a thread that the system refuses or starts late: the others
 * do its parts. A part may therefore wait for a lower part, but not for a higher one. */
void lsp_for_parts(const lsp_ctx *ctx, int64_t parts, int threads,
                   void (*do_part)(void *data, int64_t part, int thread), void *data);

/* do_share(data, begin, end) for even shares of 0..n, by as many threads as pay when each has `least` items or more. */
void lsp_for_shares(const lsp_ctx *ctx, int64_t n, int64_t least,
                    void (*do_share)(void *data, int64_t begin, int64_t end), void *data);

/* How do_share finds the first of all: *first = min(*first, found), by several threads. */
static inline void lsp_lower(int64_t *first, int64_t found) {
    int64_t seen = __atomic_load_n(first, __ATOMIC_RELAXED);
    while (found < seen &&
           !__atomic_compare_exchange_n(first, &seen, found, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* offsets[0..n] = exclusive sums of the counts in offsets[1..n] (offsets[0] is set to 0), in place. */
void lsp_prefix_sum(lsp_ctx *ctx, int64_t *offsets, int64_t n);

/* Threads worth starting for `work` items when fewer than `least` a thread do not pay. */
static inline int lsp_threads_for(const lsp_ctx *ctx, int64_t work, int64_t least) {
    int64_t useful = lsp_max(work / lsp_max(least, 1), 1);
    return (int)lsp_min(useful, ctx->options.threads);
}

#ifdef __cplusplus
}
#endif
#endif
