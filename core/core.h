/* For every room: the context, errors, memory, checked sizes, bits, indices and host threads. Nothing here
 * knows a matrix or a sort. */
#pragma once

#include "libsparse.h"
#include <stddef.h>

LSP_BEGIN_DECLS

/* Before a function that both the host and the kernels call. */
#ifdef __CUDACC__
#define LSP_BOTH_SIDES __host__ __device__
#else
#define LSP_BOTH_SIDES
#endif

/* ---- context ---- */

typedef enum lsp_isa { LSP_ISA_PORTABLE = 0, LSP_ISA_AVX2 = 1, LSP_ISA_AVX512 = 2 } lsp_isa;

typedef struct lsp_block { /* a piece of memory: in use, or kept for the next call */
    void *memory;
    size_t bytes; /* 0 if adopted: such a block is in use, is not counted, and is never kept */
    lsp_where where;
    void (*release)(void *user, void *memory); /* gives an adopted block back; NULL: the allocator's own block */
    void *release_user;
    const void *group;            /* NULL, or the memory is shared: the first array of its group */
    int64_t sharers;              /* the number of structs whose arrays lie in the group */
    struct lsp_plan_life *holder; /* the plan that the block belongs to, or NULL */
    void *next, *before;          /* the neighbours in the holder's list of blocks */
} lsp_block;

typedef struct lsp_space { /* bytes of one kind of memory */
    int64_t used, kept;    /* in use now; kept for the next call */
    int64_t peak, high;    /* the largest `used`: since the last reset; since the context was created */
} lsp_space;

/* Every plan's struct begins with `lsp_ctx *ctx; lsp_plan_life life;`. So plan and context may be destroyed in any
 * order: a context that is destroyed first frees the plan's memory, but not its struct, and sets plan->ctx to NULL. */
typedef struct lsp_plan_life {
    void *plan;
    struct lsp_plan_life *next, **link; /* the list that it is in: the context's plans, or the parts of another plan */
    struct lsp_plan_life *parts;        /* the plans that this one made for itself */
    void *blocks;                       /* the first block of its memory */
    void (*close)(void *plan);          /* gives back what is no memory; NULL: there is nothing */
    lsp_allocator allocator;            /* set when the context is destroyed: a copy of its allocator */
    size_t bytes;                       /* set together with `allocator`: the size of the plan's struct */
} lsp_plan_life;

typedef struct lsp_plan { /* how each of them begins */
    lsp_ctx *ctx;
    lsp_plan_life life;
} lsp_plan;

/* Rooms that keep a table of their own in the context. */
typedef enum lsp_table {
    LSP_TABLE_SEGSORT,
    LSP_TABLE_CACHE_MODEL,
    LSP_TABLE_SPMV,
    LSP_TABLE_SPGEMM,
    LSP_TABLE_SORT,
    LSP_TABLES
} lsp_table;

enum { LSP_MOST_KEPT = 256 }; /* blocks kept for reuse: an allocation looks at all of them */

struct lsp_ctx {
    lsp_ctx_options options; /* threads resolved, allocator filled in */
    lsp_isa isa;             /* the best instruction set of this processor */
    lsp_block *used;         /* the memory in use, a hash table by address; see memory.c */
    size_t used_count, used_slots;
    lsp_block kept[LSP_MOST_KEPT]; /* the oldest first */
    int kept_count;
    void **scratch; /* stack of the pieces that are freed when the call ends */
    size_t scratch_count, scratch_capacity;
    lsp_space space[2];       /* index: lsp_where */
    void *cuda;               /* owned by core/cuda.c; NULL for a host context */
    struct lsp_pool *pool;    /* host threads, owned by core/threads.c */
    void *tables[LSP_TABLES]; /* each is read and written by its room alone. Memory from lsp_alloc, or NULL */
    int cancelled;            /* lsp_ctx_cancel; atomic */
    const char *only_phase;   /* unless NULL, lsp_progress reports this phase alone */
    lsp_plan_life *plans;     /* plans that are not destroyed yet, without the parts of plans */
    lsp_plan_life *holder;    /* the plan to which new memory and new plans belong, or NULL; see LSP_PLAN_HOLDS */
    char error[1024];
};

#define LSP_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* ---- errors ---- */

/* Stores the sentence in the context, for lsp_last_error, and returns `status`. ctx NULL: only returns `status`. */
lsp_status lsp_fail(lsp_ctx *ctx, lsp_status status, const char *format, ...) LSP_PRINTF(3, 4);

/* Sends one line to the log hook, if the context has one. */
void lsp_log(lsp_ctx *ctx, const char *format, ...) LSP_PRINTF(2, 3);

/* Calls the progress hook, if the context has one; see ctx->only_phase. Only thread 0 may call it. Nothing is called in
 * a task of the caller's own threads, unless it runs in the thread of the call. */
void lsp_progress(lsp_ctx *ctx, const char *phase, double fraction);

/* A function that fails returns at once. What it has taken goes back by itself, because it is declared by one of the
 * guards below: LSP_SCRATCH_SCOPE, LSP_OWNED_CSR, or LSP_AT_END with a function of the variable's address. */
#define LSP_TRY(call)                                                                                                  \
    do {                                                                                                               \
        const lsp_status tried_status = (call);                                                                        \
        if (tried_status != LSP_OK) {                                                                                  \
            return tried_status;                                                                                       \
        }                                                                                                              \
    } while (0)
#define LSP_REQUIRE(condition, code, ...)                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            return lsp_fail(ctx, (code), __VA_ARGS__);                                                                 \
        }                                                                                                              \
    } while (0)
#define LSP_AT_END(function) __attribute__((cleanup(function), unused))
/* Tells the caller something, unless the place for it is NULL. */
#define LSP_TELL(place, what) ((place) != NULL ? (void)(*(place) = (what)) : (void)0)

/* For long loops; lsp_alloc and lsp_try_parts look themselves. _stopped: has lsp_ctx_cancel stopped the context? In any
 * thread. _go_on: LSP_OK, or LSP_ERR_CANCELLED with its sentence. */
static inline bool lsp_stopped(const lsp_ctx *ctx) { return __atomic_load_n(&ctx->cancelled, __ATOMIC_RELAXED); }
lsp_status lsp_go_on(lsp_ctx *ctx);

/* LSP_OK if all reserved words of the caller's struct `name` are zero. */
lsp_status lsp_check_reserved(lsp_ctx *ctx, const char *name, const int64_t reserved[LSP_RESERVED]);

/* ---- memory: all of it comes from the context, is aligned to 64 bytes, counted, and kept for the next call ---- */

/* Memory that outlives the call (an output), not set to zero. For 0 items or items of 0 bytes *memory becomes NULL. */
lsp_status lsp_alloc(lsp_ctx *ctx, lsp_where where, int64_t count, size_t item_bytes, void **memory);
void lsp_free(lsp_ctx *ctx, void *memory);                    /* ignores NULLs and memory that is not the context's */
bool lsp_owns(const lsp_ctx *ctx, const void *memory);        /* true for memory of the context in use, not shared */
int64_t lsp_bytes_at(const lsp_ctx *ctx, const void *memory); /* the bytes of such memory; else 0 */

/* Memory that changes its owner. _adopt adds arrays of a caller to the context's blocks; lsp_free, or the end of the
 * context, calls release(user, memory) for each. It skips NULL; the arrays differ and are not the context's. On failure
 * none is added. _adopted: did the memory come by _adopt? _detach takes memory of lsp_alloc out of the context, as an
 * array that outlives it and is not in use on the GPU any more. */
lsp_status lsp_adopt(lsp_ctx *ctx, lsp_where where, void *const arrays[3], void (*release)(void *user, void *memory),
                     void *user);
bool lsp_adopted(const lsp_ctx *ctx, const void *memory);
lsp_array lsp_detach(lsp_ctx *ctx, const void *memory);

/* Memory in which the arrays of several structs lie. _make_joint: n arrays of lsp_alloc, the first one not NULL, become
 * a group: lsp_owns denies them, and lsp_free ignores them, because no struct owns them alone. _joint_at: the group
 * that holds this address, all zero if none. _free_joint frees all arrays of a group. */
typedef struct lsp_joint {
    const void *group; /* its first array */
    size_t bytes;      /* of that */
    int64_t sharers;
} lsp_joint;
void lsp_make_joint(lsp_ctx *ctx, void *const *arrays, int64_t n, int64_t sharers);
lsp_joint lsp_joint_at(const lsp_ctx *ctx, const void *address);
void lsp_free_joint(lsp_ctx *ctx, const void *group);

/* ---- plans: see lsp_plan_life ---- */

/* Opens a public function that makes a plan, with `ctx` among its arguments: refuses a place that is NULL, and makes
 * `type *made`, cleared. It is destroyed where the function ends, unless LSP_PLAN_GIVE gave it to the caller. */
#define LSP_PLAN_MAKE(type, made, place)                                                                               \
    type *made LSP_AT_END(lsp_plan_leave) = NULL;                                                                      \
    LSP_ENTER(ctx);                                                                                                    \
    LSP_REQUIRE((place) != NULL, LSP_ERR_ARGUMENT, "the place for the plan is NULL");                                  \
    LSP_TRY(LSP_PLAN_NEW(ctx, &made));                                                                                 \
    LSP_PLAN_HOLDS(ctx, made)
#define LSP_PLAN_GIVE(made, place) (*(place) = (made), (made) = NULL, LSP_OK)
/* Opens a public function that uses a plan, and defines `ctx`. */
#define LSP_PLAN_USE(plan)                                                                                             \
    if ((plan) == NULL || (plan)->ctx == NULL) {                                                                       \
        return LSP_ERR_ARGUMENT;                                                                                       \
    }                                                                                                                  \
    lsp_ctx *const ctx __attribute__((unused)) = (plan)->ctx;                                                          \
    LSP_SCRATCH_SCOPE(ctx)

/* Until the enclosing block ends, memory of lsp_alloc and new plans belong to this plan, and end with it if they do not
 * end before. NULL: they belong to no plan, as the context's own tables. */
typedef struct lsp_plan_scope {
    lsp_ctx *ctx;
    lsp_plan_life *outer;
} lsp_plan_scope;
lsp_plan_scope lsp_plan_hold(lsp_ctx *ctx, void *plan);
static inline void lsp_plan_scope_leave(const lsp_plan_scope *s) { s->ctx->holder = s->outer; }
#define LSP_PLAN_HOLDS(ctx, plan)                                                                                      \
    const lsp_plan_scope plan_scope LSP_AT_END(lsp_plan_scope_leave) = lsp_plan_hold(ctx, plan)

/* A cleared plan of `bytes` bytes. LSP_PLAN_NEW(ctx, &plan) for a pointer of the plan's type. */
lsp_status lsp_plan_new(lsp_ctx *ctx, size_t bytes, void **plan);
#define LSP_PLAN_NEW(ctx, plan) lsp_plan_new((ctx), sizeof **(plan), (void **)(plan))
lsp_status lsp_plan_part(void *outer, lsp_plan **part); /* a plan that only holds memory, as a part of another one */
/* _destroy of every plan: closes it, ends its parts, and frees its memory. NULL is ignored. */
void lsp_plan_end(void *plan);
void lsp_plan_leave(const void *place);             /* ends the plan to which this pointer points */
void lsp_plan_take(void *plan, const void *memory); /* makes memory of the context in use belong to the plan */
int64_t lsp_plan_bytes(const void *plan);           /* that it and its parts hold now */
/* get_info: copies the plan's member `info` to *to, or refuses if an argument is NULL or the context was destroyed. */
lsp_status lsp_plan_tell(const void *plan, size_t offset, size_t bytes, void *to);
#define LSP_PLAN_TELL(plan, to) lsp_plan_tell((plan), offsetof(__typeof__(*(plan)), info), sizeof *(to), (to))
/* Compares what a plan was made for with what a call gives, and refuses the first difference. A fact without a name
 * ends the list. */
typedef struct lsp_plan_fact {
    const char *name; /* as "number of items" */
    int64_t planned, given;
} lsp_plan_fact;
lsp_status lsp_plan_check(lsp_ctx *ctx, const lsp_plan_fact *facts);

typedef struct lsp_memory_owner {
    lsp_ctx *ctx;
    const void *pointer; /* its address */
} lsp_memory_owner;
void lsp_memory_leave(const lsp_memory_owner *owner);
/* Frees the memory to which `pointer`, a variable declared before, points where the enclosing block ends. */
#define LSP_FREES(ctx, pointer) LSP_FREES_BY(ctx, pointer, __LINE__)
#define LSP_FREES_BY(ctx, pointer, line) LSP_FREES_OF(ctx, pointer, line)
#define LSP_FREES_OF(ctx, pointer, line)                                                                               \
    const lsp_memory_owner memory_owner_##line LSP_AT_END(lsp_memory_leave) = {(ctx), &(pointer)}

/* ---- scratch ---- */

/* Scratch: memory that the call frees before it returns. It takes a mark, takes pieces and releases all pieces since
 * the mark together. Marks nest. Pieces are on the host, except those of lsp_scratch_at. */
size_t lsp_scratch_mark(const lsp_ctx *ctx);
void lsp_scratch_release(lsp_ctx *ctx, size_t mark);
typedef struct lsp_scratch_scope {
    lsp_ctx *ctx;
    size_t mark;
} lsp_scratch_scope;
static inline void lsp_scratch_leave(const lsp_scratch_scope *s) { lsp_scratch_release(s->ctx, s->mark); }
/* The scratch that is taken from here on goes back where the enclosing block ends. One a block. */
#define LSP_SCRATCH_SCOPE(ctx)                                                                                         \
    const lsp_scratch_scope scratch_scope LSP_AT_END(lsp_scratch_leave) = {(ctx), lsp_scratch_mark(ctx)}
/* Opens a public function: refuses a context that is NULL, and opens the call's scope of scratch. */
#define LSP_ENTER(ctx)                                                                                                 \
    if ((ctx) == NULL) {                                                                                               \
        return LSP_ERR_ARGUMENT;                                                                                       \
    }                                                                                                                  \
    LSP_SCRATCH_SCOPE(ctx)
lsp_status lsp_scratch_at(lsp_ctx *ctx, lsp_where where, int64_t count, size_t item_bytes, void **memory);
lsp_status lsp_scratch_bytes(lsp_ctx *ctx, int64_t count, size_t item_bytes, bool zero, void **memory);
/* LSP_TRY(LSP_SCRATCH(ctx, count, &pointer)): scratch for `count` items of the pointer's type; _ZERO clears it. */
#define LSP_SCRATCH(ctx, count, pointer)                                                                               \
    lsp_scratch_bytes((ctx), (count), sizeof **(pointer), false, (void **)(pointer))
#define LSP_SCRATCH_ZERO(ctx, count, pointer)                                                                          \
    lsp_scratch_bytes((ctx), (count), sizeof **(pointer), true, (void **)(pointer))
/* The same on the GPU; LSP_SCRATCH_FILLED of cuda.h sets its bytes. */
#define LSP_SCRATCH_CUDA(ctx, count, pointer)                                                                          \
    lsp_scratch_at((ctx), LSP_CUDA, (count), sizeof **(pointer), (void **)(pointer))

/* Bytes that can still be taken: from the budget if the context has one, else from the memory of the machine or GPU. */
int64_t lsp_available_bytes(lsp_ctx *ctx, lsp_where where);

/* ---- sizes and bits ---- */

/* Return false and leave *result as it is if the exact result does not fit. */
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

/* An expression: the first `middle` of low .. high-1 for which the condition holds, or `high`; a binary search. Once
 * true the condition stays true. For the host and for one thread of a kernel; warp_first of block.cuh is for a whole
 * warp. */
#define LSP_FIRST(low, high, middle, condition)                                                                        \
    ({                                                                                                                 \
        __typeof__((low) + (high)) lsp_first = (low), lsp_end = (high);                                                \
        while (lsp_first < lsp_end) {                                                                                  \
            const __typeof__(lsp_first) middle = lsp_first + (lsp_end - lsp_first) / 2;                                \
            if (condition) {                                                                                           \
                lsp_end = middle;                                                                                      \
            } else {                                                                                                   \
                lsp_first = middle + 1;                                                                                \
            }                                                                                                          \
        }                                                                                                              \
        lsp_first;                                                                                                     \
    })

/* The number of bits that hold the numbers 0 .. x. */
static inline int lsp_bits(uint64_t x) { return x == 0 ? 0 : 64 - __builtin_clzll(x); }

double lsp_now(void); /* seconds of a clock that only goes forward */

/* A size for a sentence, as "1.50 GiB". */
typedef struct lsp_size_text {
    char text[24];
} lsp_size_text;
lsp_size_text lsp_size(int64_t bytes);

/* ---- indices of either width ---- */

LSP_BOTH_SIDES static inline int64_t lsp_index_at(const void *array, lsp_type type, int64_t i) {
    return type == LSP_I32 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}
LSP_BOTH_SIDES static inline void lsp_index_set(void *array, lsp_type type, int64_t i, int64_t value) {
    if (type == LSP_I32) {
        ((int32_t *)array)[i] = (int32_t)value;
    } else {
        ((int64_t *)array)[i] = value;
    }
}

/* ---- host threads ---- */

/* Cuts 0 .. n-1 into `parts` even shares; share `part` is *begin <= i < *end. */
static inline void lsp_share(int64_t n, int part, int parts, int64_t *begin, int64_t *end) {
    *begin = n / parts * part + lsp_min(part, n % parts);
    *end = n / parts * (part + 1) + lsp_min(part + 1, n % parts);
}

/* Calls do_part(data, part, thread) once for each part. At most `threads` threads take the parts in ascending order.
 * Thread 0 is the caller, but with options.parallel it is any thread. If the system refuses a thread or starts it late,
 * the others do its parts. So a part may wait for a lower part, but never for a higher one. A part may call
 * lsp_for_parts itself: if the outer call has several threads, the calling thread does all parts of the inner call. */
void lsp_for_parts(const lsp_ctx *ctx, int64_t parts, int threads,
                   void (*do_part)(void *data, int64_t part, int thread), void *data);

/* The same for work whose results can be thrown away: after lsp_ctx_cancel no part is begun, a part that asks
 * lsp_stopped may return early, and the call returns LSP_ERR_CANCELLED. */
lsp_status lsp_try_parts(lsp_ctx *ctx, int64_t parts, int threads,
                         void (*do_part)(void *data, int64_t part, int thread), void *data);

/* Calls do_share(data, begin, end) for even shares of 0 .. n-1, on as many threads as get at least `least` items. */
void lsp_for_shares(const lsp_ctx *ctx, int64_t n, int64_t least,
                    void (*do_share)(void *data, int64_t begin, int64_t end), void *data);

/* *first = min(*first, found), atomically. Threads search their shares for an index, and *first ends as the lowest. */
static inline void lsp_lower(int64_t *first, int64_t found) {
    int64_t seen = __atomic_load_n(first, __ATOMIC_RELAXED);
    while (found < seen &&
           !__atomic_compare_exchange_n(first, &seen, found, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* Turns counts into offsets, in place: offsets[i] = the sum of the counts in offsets[1] .. offsets[i]; offsets[0] = 0.
 */
void lsp_prefix_sum(lsp_ctx *ctx, int64_t *offsets, int64_t n);

/* The number of threads for `work` items, if a thread pays from `least` items on. */
static inline int lsp_threads_for(const lsp_ctx *ctx, int64_t work, int64_t least) {
    int64_t useful = lsp_max(work / lsp_max(least, 1), 1);
    return (int)lsp_min(useful, ctx->options.threads);
}

LSP_END_DECLS
