/* Refuses wrong arguments of a gather or scatter, with a sentence that names the first fault. Indices are not read
 * here: cpu/ and gpu/ look for one that is outside. */
#include "gather_scatter.h"

enum { MOST_PASSES = 1024, FEW_ARRAYS = 64, WIDEST = 64 };

/* ---- one column ---- */

static const char *verb(const lsp_gather_job *job) { return job->scatter ? "scatter" : "gather"; }

static bool adds(const lsp_gather_job *job) { return job->scatter && job->args.rule == LSP_SCATTER_ADD; }

/* Checks the size and the type of an element. */
static lsp_status check_element(lsp_ctx *ctx, const lsp_gather_job *job, const lsp_column *column, int64_t number) {
    const size_t bytes = column->bytes;
    const bool usual = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
    const bool wide = !job->scatter && bytes > 0 && bytes % 4 == 0 && bytes <= WIDEST;
    const lsp_type type = column->type;
    int64_t total;
    LSP_REQUIRE(usual || wide, LSP_ERR_ARGUMENT, "column %lld has elements of %zu bytes: a %s moves 1, 2, 4, 8 or 16%s",
                (long long)number, bytes, verb(job), job->scatter ? "" : ", or another multiple of 4 up to 64");
    LSP_REQUIRE(!adds(job) || type == LSP_F32 || type == LSP_F64 || type == LSP_I32 || type == LSP_I64,
                LSP_ERR_ARGUMENT, "column %lld has elements of type %s: LSP_F32, LSP_F64, LSP_I32 or LSP_I64 is added",
                (long long)number, lsp_type_name(type));
    LSP_REQUIRE(!adds(job) || bytes == lsp_type_bytes(type), LSP_ERR_ARGUMENT,
                "column %lld has elements of type %s and of %zu bytes: that type has %zu", (long long)number,
                lsp_type_name(type), bytes, lsp_type_bytes(type));
    LSP_REQUIRE(lsp_mul(lsp_max(job->args.n, job->args.extent), (int64_t)bytes, &total), LSP_ERR_ARGUMENT,
                "column %lld: %lld elements of %zu bytes cannot be in memory", (long long)number,
                (long long)lsp_max(job->args.n, job->args.extent), bytes);
    return LSP_OK;
}

/* Elements of `bytes` lie at multiples of this. */
static size_t alignment_of(size_t bytes) {
    return bytes == 16 ? 8 : bytes <= 8 && (bytes & (bytes - 1)) == 0 ? bytes : 4;
}

/* ---- arrays ---- */

/* Array 0 is the index; column c has the arrays 2 c + 1, which is read, and 2 c + 2, which is written. */
typedef struct array {
    uintptr_t begin, end;
    int64_t number;
} array;

static bool is_written(const array *a) { return a->number > 0 && a->number % 2 == 0; }

static const char *role(const array *a) { return is_written(a) ? "to" : "from"; }

static array array_at(const lsp_gather_job *job, const lsp_column *columns, int64_t number) {
    const lsp_gather_args *args = &job->args;
    if (number == 0) {
        const uintptr_t index = (uintptr_t)args->index;
        const uintptr_t bytes = index == 0 ? 0 : (uintptr_t)args->n * lsp_type_bytes(args->index_type);
        return (array){index, index + bytes, 0};
    }
    const lsp_column *column = &columns[(number - 1) / 2];
    const bool written = number % 2 == 0;
    const uintptr_t begin = written ? (uintptr_t)column->to : (uintptr_t)column->from;
    return (array){begin, begin + (uintptr_t)(written == job->scatter ? args->extent : args->n) * column->bytes,
                   number};
}

/* Refuses an array that is missing or misaligned. */
static lsp_status check_place(lsp_ctx *ctx, const lsp_gather_job *job, const lsp_column *columns, int64_t number) {
    const array a = array_at(job, columns, number);
    const size_t alignment = alignment_of(columns[(number - 1) / 2].bytes);
    LSP_REQUIRE(a.begin == a.end || a.begin != 0, LSP_ERR_ARGUMENT, "the array `%s` of column %lld is NULL", role(&a),
                (long long)(number - 1) / 2);
    LSP_REQUIRE(a.begin <= a.end, LSP_ERR_ARGUMENT, "the array `%s` of column %lld wraps around the address space",
                role(&a), (long long)(number - 1) / 2);
    LSP_REQUIRE(a.begin == a.end || a.begin % alignment == 0, LSP_ERR_ARGUMENT,
                "the array `%s` of column %lld lies at %p, which is no multiple of %zu", role(&a),
                (long long)(number - 1) / 2, (void *)a.begin, alignment);
    return LSP_OK;
}

static lsp_status refuse_overlap(lsp_ctx *ctx, const array *a, const array *b) {
    if (a->number == 0 || b->number == 0) {
        const array *other = a->number == 0 ? b : a;
        return lsp_fail(ctx, LSP_ERR_ARGUMENT, "the index and `%s` of column %lld overlap", role(other),
                        (long long)(other->number - 1) / 2);
    }
    return lsp_fail(ctx, LSP_ERR_ARGUMENT, "`%s` of column %lld and `%s` of column %lld overlap", role(a),
                    (long long)(a->number - 1) / 2, role(b), (long long)(b->number - 1) / 2);
}

/* Refuses an array that is written and overlaps another one. Arrays come in the order of their begins: then it is
 * enough to compare each with the earlier one that ends last. */
static lsp_status check_apart(lsp_ctx *ctx, const lsp_gather_job *job, const lsp_column *columns, const int64_t *order,
                              int64_t count) {
    array last = {0}, last_written = {0};
    for (int64_t i = 0; i < count; i++) {
        const array a = array_at(job, columns, order[i]);
        if (a.begin == a.end) {
            continue;
        }
        if (a.begin < last_written.end) {
            return refuse_overlap(ctx, &last_written, &a);
        }
        if (is_written(&a) && a.begin < last.end) {
            return refuse_overlap(ctx, &last, &a);
        }
        last = a.end > last.end ? a : last;
        last_written = is_written(&a) && a.end > last_written.end ? a : last_written;
    }
    return LSP_OK;
}

/* The numbers of the arrays by their begins: Shell's sort, which needs no memory. */
static void order_arrays(const lsp_gather_job *job, const lsp_column *columns, int64_t *order, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (int64_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11) {
        for (int64_t i = gap; i < count; i++) {
            const int64_t number = order[i];
            const uintptr_t begin = array_at(job, columns, number).begin;
            int64_t k = i;
            for (; k >= gap && array_at(job, columns, order[k - gap]).begin > begin; k -= gap) {
                order[k] = order[k - gap];
            }
            order[k] = number;
        }
    }
}

/* Checks the arrays of a call. A plan has forgotten its index. */
static lsp_status check_columns(lsp_ctx *ctx, const lsp_gather_job *job, const lsp_column *columns, int64_t count) {
    LSP_SCRATCH_SCOPE(ctx);
    const int64_t arrays = 2 * count + 1;
    int64_t few[FEW_ARRAYS], *order = few;
    for (int64_t number = 1; number < arrays; number++) {
        LSP_TRY(check_place(ctx, job, columns, number));
    }
    if (arrays > FEW_ARRAYS) {
        LSP_TRY(LSP_SCRATCH(ctx, arrays, &order));
    }
    order_arrays(job, columns, order, arrays);
    return check_apart(ctx, job, columns, order, arrays);
}

/* ---- everything ---- */

/* Checks how many columns there are. */
static lsp_status check_count(lsp_ctx *ctx, const lsp_column *columns, int64_t count) {
    LSP_REQUIRE(count > 0 && count <= INT32_MAX, LSP_ERR_ARGUMENT, "%lld columns: one or more are needed",
                (long long)count);
    LSP_REQUIRE(columns != NULL, LSP_ERR_ARGUMENT, "the columns, %lld of them, are NULL", (long long)count);
    return LSP_OK;
}

/* Checks the arguments that are numbers. */
static lsp_status check_kinds(lsp_ctx *ctx, const lsp_gather_args *args, bool scatter) {
    int64_t bytes;
    LSP_REQUIRE(args->n >= 0 && args->extent >= 0, LSP_ERR_ARGUMENT,
                "%lld indices into %lld elements: neither can be negative", (long long)args->n,
                (long long)args->extent);
    LSP_REQUIRE(lsp_mul(args->n, 64, &bytes), LSP_ERR_ARGUMENT, "%lld indices cannot be in memory", (long long)args->n);
    LSP_REQUIRE(args->index_type == LSP_I32 || args->index_type == LSP_I64, LSP_ERR_ARGUMENT,
                "an index of type %s: LSP_I32 or LSP_I64 is needed", lsp_type_name(args->index_type));
    LSP_REQUIRE(!scatter || (unsigned)args->rule <= LSP_SCATTER_ADD, LSP_ERR_ARGUMENT, "%d is no rule of a scatter",
                (int)args->rule);
    LSP_REQUIRE((unsigned)args->strategy < LSP_STRATEGIES, LSP_ERR_ARGUMENT, "%d is no strategy", (int)args->strategy);
    LSP_REQUIRE(args->passes >= 0 && args->passes <= MOST_PASSES, LSP_ERR_ARGUMENT, "%d passes: 0 to %d are offered",
                args->passes, MOST_PASSES);
    LSP_REQUIRE(args->expected_calls >= 0, LSP_ERR_ARGUMENT, "%lld calls are expected: that cannot be negative",
                (long long)args->expected_calls);
    LSP_REQUIRE((args->flags & ~(unsigned)LSP_GATHER_CHECK) == 0, LSP_ERR_ARGUMENT, "unknown flags: 0x%x", args->flags);
    LSP_REQUIRE(args->where == LSP_HOST || args->where == LSP_CUDA, LSP_ERR_ARGUMENT,
                "arrays at place %d: LSP_HOST or LSP_CUDA is needed", (int)args->where);
    LSP_REQUIRE(args->where == LSP_HOST || ctx->options.device == LSP_CUDA, LSP_ERR_ARGUMENT,
                "the arrays are a GPU's, but the context works on the host");
    return lsp_check_reserved(ctx, "lsp_gather_args", args->reserved);
}

lsp_status lsp_gather_check(lsp_ctx *ctx, const lsp_gather_args *args, bool scatter, bool planned,
                            lsp_gather_job *job) {
    LSP_REQUIRE(args != NULL, LSP_ERR_ARGUMENT, "the arguments are NULL");
    LSP_TRY(check_kinds(ctx, args, scatter));
    LSP_TRY(check_count(ctx, args->columns, args->column_count));
    *job = (lsp_gather_job){.args = *args, .scatter = scatter, .planned = planned};
    job->args.rule = scatter ? args->rule : LSP_SCATTER_DISTINCT;
    for (int64_t c = 0; c < args->column_count; c++) {
        LSP_TRY(check_element(ctx, job, &args->columns[c], c));
        job->most_bytes = args->columns[c].bytes > job->most_bytes ? args->columns[c].bytes : job->most_bytes;
    }
    LSP_REQUIRE(args->n == 0 || args->index != NULL, LSP_ERR_ARGUMENT, "the index, %lld items, is NULL",
                (long long)args->n);
    LSP_REQUIRE((uintptr_t)args->index % lsp_type_bytes(args->index_type) == 0, LSP_ERR_ARGUMENT,
                "the index lies at %p, which is no multiple of %zu", args->index, lsp_type_bytes(args->index_type));
    return planned ? LSP_OK : check_columns(ctx, job, args->columns, args->column_count);
}

lsp_status lsp_gather_check_columns(lsp_ctx *ctx, const lsp_gather_job *job, const lsp_column *columns, int64_t count) {
    LSP_TRY(check_count(ctx, columns, count));
    for (int64_t c = 0; c < count; c++) {
        LSP_TRY(check_element(ctx, job, &columns[c], c));
        LSP_REQUIRE(columns[c].bytes <= job->most_bytes, LSP_ERR_ARGUMENT,
                    "column %lld has elements of %zu bytes, but the plan was made for at most %zu", (long long)c,
                    columns[c].bytes, job->most_bytes);
    }
    return check_columns(ctx, job, columns, count);
}

lsp_status lsp_gather_refuse_index(lsp_ctx *ctx, int64_t position, int64_t index, int64_t extent) {
    if (extent == 0) {
        return lsp_fail(ctx, LSP_ERR_ARGUMENT, "the index at position %lld is %lld, but there are no elements",
                        (long long)position, (long long)index);
    }
    return lsp_fail(ctx, LSP_ERR_ARGUMENT, "the index at position %lld is %lld, but the elements are 0 to %lld",
                    (long long)position, (long long)index, (long long)extent - 1);
}
