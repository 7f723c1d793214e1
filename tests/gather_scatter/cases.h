/* Cases of gather and scatter: patterns of indices, columns, and a comparison of one call or plan with the reference,
 * bit for bit, on either device. */
#pragma once

#include "../support.h"
#include "core/cuda.h"
#include "gather_scatter/gather_scatter.h"

/* ---- indices ---- */

typedef enum pattern {
    SEQUENTIAL,
    REVERSED,
    PERMUTATION, /* these three are distinct if extent >= n */
    RANDOM,
    ALL_EQUAL,
    PARTITIONS, /* the next index of one of seven ranges */
    BLOCKS,     /* near the diagonal */
    ZIPF,       /* most indices are small */
    PATTERNS
} pattern;

static const char *const pattern_names[PATTERNS] = {"sequential", "reversed",   "permutation", "random",
                                                    "all equal",  "partitions", "blocks",      "zipf"};

static inline bool pattern_is_distinct(pattern p, int64_t n, int64_t extent) {
    return (n <= extent && p <= PERMUTATION) || n <= 1;
}

static inline int64_t pattern_at(pattern p, int64_t i, int64_t n, int64_t extent, uint64_t *state) {
    static int64_t next[7];
    const int64_t r = test_below(state, extent), part = r % 7;
    switch (p) {
    case REVERSED:
        return extent - 1 - i % extent;
    case RANDOM:
        return r;
    case ALL_EQUAL:
        return extent / 3;
    case PARTITIONS:
        next[part] = i == 0 ? 0 : (next[part] + 1) % lsp_max(extent / 7, 1);
        return (extent / 7 * part + next[part]) % extent;
    case BLOCKS:
        return (int64_t)((double)i / (double)n * (double)extent + (double)(r % 64)) % extent;
    case ZIPF: {
        const double u = (double)(r + 1) / (double)(extent + 1);
        return (int64_t)(u * u * u * u * (double)extent);
    }
    default:
        return i % extent;
    }
}

/* n indices into `extent` elements. Free it. */
static inline int64_t *make_pattern(pattern p, int64_t n, int64_t extent, uint64_t seed) {
    uint64_t state = seed;
    int64_t *index = malloc((size_t)(n + 1) * sizeof *index);
    for (int64_t i = 0; i < n; i++) {
        index[i] = pattern_at(p, i, n, extent, &state);
    }
    if (p == PERMUTATION) { /* spread over the whole extent, then shuffled */
        const int64_t step = lsp_max(extent / lsp_max(n, 1), 1);
        for (int64_t i = 0; i < n; i++) {
            index[i] = i % extent * (n <= extent ? step : 1);
        }
        for (int64_t i = n - 1; i > 0; i--) {
            const int64_t j = test_below(&state, i + 1), t = index[i];
            index[i] = index[j], index[j] = t;
        }
    }
    return index;
}

/* ---- a case ---- */

enum { MOST_COLUMNS = 40 };

typedef struct request {
    bool scatter, planned;
    lsp_scatter_rule rule;
    lsp_strategy strategy;
    int passes;
    unsigned flags;
    lsp_type index_type;
    pattern pattern;
    int64_t n, extent;
    int columns;                 /* 0: one */
    size_t bytes[MOST_COLUMNS];  /* of each column; ADD: 4 or 8 */
    lsp_type type[MOST_COLUMNS]; /* ADD */
    uint64_t seed;
} request;

/* What a failure prints. */
typedef struct request_text {
    char text[256];
} request_text;
static inline request_text describe(const request *r) {
    request_text t;
    snprintf(t.text, sizeof t.text,
             "%s%s, rule %d, %s, passes %d, index %s, %s, n %lld, extent %lld, %d columns of %zu, "
             "type %s, seed %llu",
             r->planned ? "planned " : "", r->scatter ? "scatter" : "gather", (int)r->rule,
             lsp_strategy_name(r->strategy), r->passes, lsp_type_name(r->index_type), pattern_names[r->pattern],
             (long long)r->n, (long long)r->extent, r->columns, r->bytes[0], lsp_type_name(r->type[0]),
             (unsigned long long)r->seed);
    return t;
}

static inline int column_count(const request *r) { return r->columns > 0 ? r->columns : 1; }
static inline int64_t from_items(const request *r) { return r->scatter ? r->n : r->extent; }
static inline int64_t to_items(const request *r) { return r->scatter ? r->extent : r->n; }

/* Arrays of one case, all on one side. */
typedef struct arrays {
    lsp_where where;
    void *index;
    lsp_column columns[MOST_COLUMNS];
} arrays;

/* A copy of `bytes` on the context's GPU or on the host, and back. On the host each array is malloc's own, so that the
 * address sanitizer sees its end. */
static inline void *copy_to(lsp_ctx *ctx, lsp_where to, const void *from, lsp_where from_where, int64_t bytes) {
    void *copy = NULL;
    if (to == LSP_HOST) {
        copy = malloc(bytes > 0 ? (size_t)bytes : 1);
    } else {
        must(ctx, lsp_alloc(ctx, LSP_CUDA, lsp_max(bytes, 1), 1, &copy));
    }
    if (bytes > 0 && to == LSP_HOST && from_where == LSP_HOST) {
        memcpy(copy, from, (size_t)bytes);
    } else if (bytes > 0) {
        must(ctx, lsp_cuda_copy(ctx, copy, to, from, from_where, bytes));
    }
    return copy;
}
static inline void drop(lsp_ctx *ctx, lsp_where where, const void *memory) {
    if (where == LSP_HOST) {
        free((void *)(uintptr_t)memory);
    } else {
        lsp_free(ctx, (void *)(uintptr_t)memory);
    }
}

/* Random bytes; for ADD numbers of very different sizes, so that the order of a sum shows in its bits. */
static inline void fill(void *memory, int64_t items, size_t bytes, lsp_type add_type, uint64_t *state) {
    unsigned char *at = memory;
    for (int64_t i = 0; i < items; i++) {
        const uint64_t r = test_random(state);
        const double number =
            ((double)(r >> 40) - 8388608.0) * (1 + 1e6 * (double)(r & 1)) / (1 + 1e5 * (double)(r >> 1 & 1));
        if (add_type == LSP_F32) {
            ((float *)memory)[i] = (float)number;
        } else if (add_type == LSP_F64) {
            ((double *)memory)[i] = number * 1.1;
        } else {
            for (size_t b = 0; b < bytes; b++) {
                at[(size_t)i * bytes + b] = (unsigned char)(r >> (b * 7 % 56));
            }
        }
    }
}

static inline lsp_type add_type(const request *r, int c) {
    return r->scatter && r->rule == LSP_SCATTER_ADD ? r->type[c] : LSP_NONE;
}

static inline arrays make_arrays(const request *r) {
    arrays a = {.where = LSP_HOST};
    uint64_t state = r->seed * 77 + 1;
    int64_t *index = make_pattern(r->pattern, r->n, r->extent, r->seed);
    a.index = malloc((size_t)(r->n + 1) * lsp_type_bytes(r->index_type));
    for (int64_t i = 0; i < r->n; i++) {
        lsp_index_set(a.index, r->index_type, i, index[i]);
    }
    free(index);
    for (int c = 0; c < column_count(r); c++) {
        void *from = malloc((size_t)from_items(r) * r->bytes[c] + 1),
             *to = malloc((size_t)to_items(r) * r->bytes[c] + 1);
        fill(from, from_items(r), r->bytes[c], add_type(r, c), &state);
        fill(to, to_items(r), r->bytes[c], add_type(r, c), &state);
        a.columns[c] = (lsp_column){.from = from, .to = to, .bytes = r->bytes[c], .type = r->type[c]};
    }
    return a;
}

static inline arrays copy_arrays(lsp_ctx *ctx, const arrays *a, const request *r, lsp_where where) {
    arrays copy = *a;
    copy.where = where;
    copy.index = copy_to(ctx, where, a->index, a->where, r->n * (int64_t)lsp_type_bytes(r->index_type));
    for (int c = 0; c < column_count(r); c++) {
        const int64_t bytes = (int64_t)r->bytes[c];
        copy.columns[c].from = copy_to(ctx, where, a->columns[c].from, a->where, from_items(r) * bytes);
        copy.columns[c].to = copy_to(ctx, where, a->columns[c].to, a->where, to_items(r) * bytes);
    }
    return copy;
}

static inline void free_arrays(lsp_ctx *ctx, arrays *a, const request *r) {
    drop(ctx, a->where, a->index);
    for (int c = 0; c < column_count(r); c++) {
        drop(ctx, a->where, a->columns[c].from);
        drop(ctx, a->where, a->columns[c].to);
    }
}

static inline lsp_gather_args arguments(const request *r, const arrays *a) {
    return (lsp_gather_args){.n = r->n,
                             .extent = r->extent,
                             .index = a->index,
                             .index_type = r->index_type,
                             .columns = a->columns,
                             .column_count = column_count(r),
                             .rule = r->rule,
                             .strategy = r->strategy,
                             .passes = r->passes,
                             .flags = r->flags,
                             .where = a->where};
}

static inline lsp_status plan_create(lsp_ctx *ctx, const request *r, const lsp_gather_args *args,
                                     lsp_gather_plan **plan) {
    return r->scatter ? lsp_scatter_plan_create(ctx, args, plan) : lsp_gather_plan_create(ctx, args, plan);
}

/* One call, or a plan that is made, used once and destroyed. */
static inline lsp_status move_so(lsp_ctx *ctx, const request *r, const lsp_gather_args *args) {
    if (!r->planned) {
        return r->scatter ? lsp_scatter(ctx, args, NULL) : lsp_gather(ctx, args, NULL);
    }
    lsp_gather_plan *plan = NULL;
    lsp_status status = plan_create(ctx, r, args, &plan);
    if (status == LSP_OK) {
        status = lsp_gather_execute(plan, args->columns, args->column_count);
        lsp_gather_plan_destroy(plan);
    }
    return status;
}

/* Does what the reference says to arrays on the host. Returns the lowest position with an index outside, or -1. */
static inline int64_t do_reference(lsp_ctx *ctx, const request *r, arrays *a) {
    const lsp_gather_args args = arguments(r, a);
    lsp_gather_job job;
    int64_t bad;
    must(ctx, lsp_gather_check(ctx, &args, r->scatter, false, &job));
    lsp_gather_ref(&job, &bad);
    return bad;
}

/* The `to` arrays of both must be equal. */
static inline void must_equal(lsp_ctx *ctx, const request *r, const arrays *right, const arrays *ours) {
    for (int c = 0; c < column_count(r); c++) {
        const int64_t bytes = to_items(r) * (int64_t)r->bytes[c];
        char *back = copy_to(ctx, LSP_HOST, ours->columns[c].to, ours->where, bytes);
        const char *want = right->columns[c].to;
        for (int64_t i = 0; bytes > 0 && memcmp(back, want, (size_t)bytes) != 0 && i < bytes; i++) {
            cr_assert(back[i] == want[i], "%s: column %d, element %lld differs", describe(r).text, c,
                      (long long)(i / (int64_t)r->bytes[c]));
        }
        free(back);
    }
}

static inline void run_case(lsp_ctx *ctx, const request *r) {
    arrays right = make_arrays(r), ours = copy_arrays(ctx, &right, r, ctx->options.device);
    do_reference(ctx, r, &right);
    const lsp_gather_args args = arguments(r, &ours);
    lsp_status status = move_so(ctx, r, &args);
    cr_assert(status == LSP_OK, "%s: %s: %s", describe(r).text, lsp_status_name(status), lsp_last_error(ctx));
    status = lsp_ctx_sync(ctx);
    cr_assert(status == LSP_OK, "%s: %s: %s", describe(r).text, lsp_status_name(status), lsp_last_error(ctx));
    must_equal(ctx, r, &right, &ours);
    free_arrays(ctx, &right, r);
    free_arrays(ctx, &ours, r);
}

/* Is the strategy offered? */
static inline bool is_offered(const request *r) {
    return (r->strategy != LSP_STRATEGY_STAGE || r->scatter || r->planned) &&
           (r->strategy != LSP_STRATEGY_INVERT || (r->scatter && r->planned));
}
/* Has the case one answer? Not if equal indices meet the rule that has none. */
static inline bool has_one_answer(const request *r) {
    return !r->scatter || r->rule != LSP_SCATTER_DISTINCT || pattern_is_distinct(r->pattern, r->n, r->extent);
}

/* ---- random cases ---- */

static inline void draw_columns(request *r, uint64_t *state) {
    static const size_t all[] = {1, 2, 4, 8, 16, 12, 20, 40, 64};
    static const lsp_type added[] = {LSP_F32, LSP_F64, LSP_I32, LSP_I64};
    for (int c = 0; c < column_count(r); c++) {
        r->type[c] = added[test_below(state, 4)];
        r->bytes[c] = r->scatter && r->rule == LSP_SCATTER_ADD ? lsp_type_bytes(r->type[c])
                                                               : all[test_below(state, r->scatter ? 5 : 9)];
    }
}

/* Any case that is offered and has one answer, of at most `most` indices and elements. */
static inline request draw_case(uint64_t *state, int64_t most) {
    request r;
    do {
        r = (request){.scatter = test_below(state, 3) > 0,
                      .planned = test_below(state, 2),
                      .rule = (lsp_scatter_rule)test_below(state, 3),
                      .strategy = (lsp_strategy)test_below(state, LSP_STRATEGIES),
                      .passes = (int)test_below(state, 5),
                      .flags = (unsigned)(test_below(state, 3) == 0 ? LSP_GATHER_CHECK : 0),
                      .index_type = test_below(state, 2) ? LSP_I32 : LSP_I64,
                      .pattern = (pattern)test_below(state, PATTERNS),
                      .n = test_below(state, test_below(state, most) + 1),
                      .extent = 1 + test_below(state, test_below(state, most) + 1),
                      .columns = test_below(state, 3) == 0 ? 1 + (int)test_below(state, 4) : 1,
                      .seed = test_random(state)};
        if (test_below(state, 2)) {
            r.extent = lsp_max(r.n, 1);
        }
    } while (!is_offered(&r) || !has_one_answer(&r));
    draw_columns(&r, state);
    return r;
}

/* ---- the same test on both devices ---- */

/* Tests with many similar cases run one of every `one_in`. */
static int one_in = 1;

/* With one thread and with three: the same bits. */
static inline void on_the_cpu(void (*test)(lsp_ctx *ctx)) {
    one_in = test_one_in();
    for (int threads = 3; threads >= 1; threads -= 2) {
        lsp_ctx *ctx = test_ctx(threads);
        test(ctx);
        lsp_ctx_destroy(ctx);
    }
}
static inline void on_the_gpu(void (*test)(lsp_ctx *ctx)) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    one_in = 5 * test_one_in();
    test(ctx);
    lsp_ctx_destroy(ctx);
}
