/* Inside spmv: the types. Y = alpha*op(A)*X + beta*Y: each public call becomes a job, which an engine runs. An engine
 * is one method on one device. */
#pragma once

#include "core/core.h"
#include "core/semiring.h"
#include <stdio.h>
#include <string.h>

LSP_BEGIN_DECLS

enum { LSP_SPMV_SLICE = 32, LSP_SPMV_LARGEST_BLOCK = 4 };

/* What a plan knows of its matrix before it chooses. Found by one pass over A. */
typedef struct lsp_spmv_facts {
    int64_t longest_row, empty_rows;
    int64_t diagonal_slots; /* entries that LSP_SPMV_DIAGONALS stores: 32 for each column - row of each slice */
    int64_t block_slots[LSP_SPMV_LARGEST_BLOCK + 1]; /* [b]: entries that LSP_SPMV_BLOCKS stores with b x b blocks; 0
                                                        for b = 0, 1, and where A does not consist of such blocks */
    int filled_block;          /* b: A consists of b x b blocks, but they store more than is offered. 0: none */
    int64_t length_slots;      /* entries that LSP_SPMV_LENGTHS stores */
    lsp_cache_pattern pattern; /* of the reads of x */
    bool unseen;               /* so few calls are expected that a look at the columns would not pay */
} lsp_spmv_facts;

/* Is the longest row far longer than the mean? */
static inline bool lsp_spmv_is_uneven(int64_t longest, double nnz, double rows) {
    return (double)longest * rows > 8 * nnz + 32 * rows;
}

typedef struct lsp_spmv_choice {
    lsp_spmv_method method;
    int passes; /* of LSP_SPMV_GATHER, else 1 */
    int block;  /* of LSP_SPMV_BLOCKS: rows and columns of a block */
    double seconds[LSP_SPMV_METHODS], plan_seconds[LSP_SPMV_METHODS]; /* predicted; 0: not offered */
    char reason[160];
} lsp_spmv_choice;

typedef struct lsp_spmv_job {
    lsp_csr A;                                /* op(A): the transposed matrix if the options ask for it */
    int64_t given_rows;                       /* rows of A as it was given */
    lsp_spmv_options options;                 /* checked; type and vectors are set, transpose is false */
    lsp_spmv_vectors vectors;                 /* checked. A plan's job has none until it is executed */
    int64_t x_row, x_vector, y_row, y_vector; /* of these: elements from row to row, from vector to vector */
    bool planned;                             /* all of A was checked: its columns need no look */
    const struct lsp_spmv_device *device;     /* where A lies */
    lsp_spmv_choice choice;
    const struct lsp_spmv_engine *engine; /* of the choice; NULL before it */
} lsp_spmv_job;

/* What a method asks of the device instead of its own sizes, so that a small matrix has many parts. For tests; 0: the
 * device decides. */
typedef struct lsp_spmv_sizes {
    int64_t columns, entries; /* of LSP_SPMV_PROPAGATE: elements of x in a slice; the most entries of a bin, as
                                 multiples of 64 */
    int64_t popular;          /* of LSP_SPMV_LENGTHS: sectors of x in shared memory, whether they pay or not */
} lsp_spmv_sizes;

struct lsp_spmv_plan {
    lsp_ctx *ctx; /* NULL once the context is destroyed */
    lsp_plan_life life;
    lsp_spmv_job job;
    lsp_csr given;                /* sizes and types of the A that the caller gave */
    lsp_csr_transpose_plan *turn; /* NULL unless the plan transposes; holds row pointers and columns of job.A */
    struct lsp_spmv_plan *packed; /* of LSP_SPMV_PACKED: the plan of the rows that have entries */
    lsp_spmv_facts facts;
    lsp_spmv_sizes sizes;
    lsp_plan *prepared; /* holds parts and all that the engine prepared */
    void *parts;        /* the engine's own struct, on the host */
    lsp_spmv_info info;
};

/* plan.c. _prepare calls plan->job.engine->prepare; what was prepared before goes. For that, _make_parts sets
 * plan->parts and *parts, `bytes` of zeros, and _hold allocates where A lies, for a pointer in parts. */
lsp_status lsp_spmv_prepare(lsp_spmv_plan *plan);
static inline lsp_status lsp_spmv_make_parts(lsp_spmv_plan *plan, size_t bytes, void **parts) {
    LSP_TRY(lsp_alloc(plan->ctx, LSP_HOST, 1, bytes, &plan->parts));
    *parts = memset(plan->parts, 0, bytes);
    return LSP_OK;
}
static inline lsp_status lsp_spmv_hold(lsp_spmv_plan *plan, int64_t count, size_t bytes, void **memory) {
    return lsp_alloc(plan->ctx, plan->job.A.where, count, bytes, memory);
}

/* Bytes of x that an entry reads together: those of all vectors if rows of X are contiguous; at most 4096, the largest
 * element of the cache model. */
static inline size_t lsp_spmv_item_bytes(const lsp_spmv_job *job) {
    const int64_t bytes = (int64_t)lsp_type_bytes(job->options.type);
    return (size_t)(job->options.by_columns ? bytes : lsp_min(bytes * lsp_min(job->options.vectors, 4096), 4096));
}

/* The most that an engine takes; 0: any. */
typedef struct lsp_spmv_limits {
    bool plus_times; /* no other semiring */
    int64_t vectors, rows, cols, nnz;
} lsp_spmv_limits;

/* Why a method is not offered: what follows "the method NAME". */
typedef struct lsp_spmv_why {
    char text[160];
} lsp_spmv_why;

/* One method on one kind of device. */
typedef struct lsp_spmv_engine {
    lsp_spmv_limits limits;
    /* Can it run this job, which is within the limits and has no vectors? If not, it says why. NULL: yes. */
    bool (*fits)(lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_why *why);
    /* Makes plan->parts and what they point to, sets plan->info.stored_entries. NULL: nothing to prepare. */
    lsp_status (*prepare)(lsp_spmv_plan *plan);
    /* `parts`: of the plan, NULL without a plan. */
    lsp_status (*run)(lsp_ctx *ctx, const lsp_spmv_job *job, void *parts);
    /* Takes the values of plan->job.A again. NULL: nothing to do. */
    lsp_status (*update)(lsp_spmv_plan *plan);
} lsp_spmv_engine;

/* What a kind of device offers. */
struct lsp_packed;
typedef struct lsp_spmv_device {
    const lsp_spmv_engine *engines[LSP_SPMV_METHODS]; /* NULL: none */
    const struct lsp_diagonals_device *diagonals;
    /* Of LSP_SPMV_PACKED: Y = alpha*sums + beta*Y. `all`: also the rows without entries. Waits for nothing. */
    lsp_status (*spread)(lsp_ctx *ctx, const lsp_spmv_job *job, const struct lsp_packed *p, bool all);
    /* The entries with padding that LSP_SPMV_LENGTHS stores of a checked matrix. Waits. NULL: no such method. */
    lsp_status (*length_slots)(lsp_ctx *ctx, const lsp_csr *A, int64_t *slots);
} lsp_spmv_device;

/* Is a number within its limit? If not, it says so. */
static inline bool lsp_spmv_is_most(int64_t number, int64_t most, const char *what, lsp_spmv_why *why) {
    if (most > 0 && number > most) {
        snprintf(why->text, sizeof why->text, "takes up to %lld %s, not %lld", (long long)most, what,
                 (long long)number);
    }
    return most == 0 || number <= most;
}

/* Is the job within the limits of an engine? */
static inline bool lsp_spmv_is_within(const lsp_spmv_job *job, const lsp_spmv_limits *limits, lsp_spmv_why *why) {
    const lsp_semiring semiring = job->options.semiring;
    if (limits->plus_times && semiring != LSP_PLUS_TIMES) {
        snprintf(why->text, sizeof why->text, "takes the semiring %s, not %s", lsp_semiring_name(LSP_PLUS_TIMES),
                 lsp_semiring_name(semiring));
        return false;
    }
    return lsp_spmv_is_most(job->options.vectors, limits->vectors, "vectors", why) &&
           lsp_spmv_is_most(job->A.rows, limits->rows, "rows", why) &&
           lsp_spmv_is_most(job->A.cols, limits->cols, "columns", why) &&
           lsp_spmv_is_most(job->A.nnz, limits->nnz, "entries", why);
}

LSP_END_DECLS
