/* Inside spmv. Y = alpha*op(A)*X + beta*Y: each public call becomes a job, which an engine runs. An engine is one
 * method on the CPU or on a GPU. */
#ifndef LSP_SPMV_SPMV_H
#define LSP_SPMV_SPMV_H

#include "core/core.h"
#include "core/semiring.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LSP_SPMV_SLICE = 32, LSP_SPMV_LARGEST_BLOCK = 4 };

/* What a plan knows of its matrix before it chooses. Found by one pass over A. */
typedef struct lsp_spmv_facts {
    int64_t longest_row, empty_rows;
    int64_t diagonal_slots; /* entries that LSP_SPMV_DIAGONALS stores: 32 for each column - row of each slice */
    int64_t block_slots[LSP_SPMV_LARGEST_BLOCK + 1]; /* [b]: entries that LSP_SPMV_BLOCKS stores with b x b blocks; 0
                                                        for b = 0, 1, and where A does not consist of such blocks */
    int64_t length_slots;                            /* entries that LSP_SPMV_LENGTHS stores */
    lsp_cache_pattern pattern;                       /* of the reads of x */
} lsp_spmv_facts;

typedef struct lsp_spmv_choice {
    lsp_spmv_method method;
    int passes; /* of LSP_SPMV_GATHER, else 1 */
    int block;  /* of LSP_SPMV_BLOCKS: rows and columns of a block */
    double seconds[LSP_SPMV_METHODS], plan_seconds[LSP_SPMV_METHODS]; /* predicted; 0: not offered */
    char reason[160];
} lsp_spmv_choice;

typedef struct lsp_spmv_job {
    lsp_csr A;                /* op(A): the transposed matrix if the options ask for it */
    lsp_spmv_options options; /* checked; type and vectors are set, transpose is false */
    lsp_spmv_vectors vectors; /* checked; strides are set. A plan's job has none until it is executed */
    bool planned;             /* A was checked: its rows and columns need no look */
    lsp_spmv_choice choice;
} lsp_spmv_job;

struct lsp_spmv_plan {
    lsp_ctx *ctx; /* NULL once the context is destroyed */
    lsp_plan_life life;
    lsp_spmv_job job;
    lsp_csr given;      /* sizes and types of the A that the caller gave */
    lsp_csr transposed; /* the plan's own op(A); its arrays are NULL unless the plan transposes */
    void *places;       /* entry k of `transposed` is entry places[k] of A; of the type of A's row pointers */
    lsp_spmv_facts facts;
    void *parts; /* what the engine prepared; its own struct, on the host */
    lsp_spmv_info info;
};

/* Bytes of x that an entry reads together: those of all vectors if rows of X are contiguous; at most 4096, the largest
 * element of the cache model. */
static inline size_t lsp_spmv_item_bytes(const lsp_spmv_job *job) {
    const int64_t bytes = (int64_t)lsp_type_bytes(job->options.type);
    return (size_t)(job->options.by_columns ? bytes : lsp_min(bytes * lsp_min(job->options.vectors, 4096), 4096));
}

/* One method on one kind of device. */
typedef struct lsp_spmv_engine {
    /* Can it run this job (types, semiring, number of vectors, sizes)? `job` has no vectors. */
    bool (*fits)(lsp_ctx *ctx, const lsp_spmv_job *job);
    /* Sets plan->parts, adds to plan->info.plan_bytes, sets plan->info.stored_entries. NULL: nothing to prepare. On
     * failure release is called. */
    lsp_status (*prepare)(lsp_spmv_plan *plan);
    /* `parts`: of the plan, NULL without a plan. */
    lsp_status (*run)(lsp_ctx *ctx, const lsp_spmv_job *job, void *parts);
    /* Takes the values of plan->job.A again. NULL: nothing to do. */
    lsp_status (*update)(lsp_spmv_plan *plan);
    void (*release)(lsp_spmv_plan *plan); /* frees plan->parts, also half made. NULL: nothing to free */
} lsp_spmv_engine;

/* The engine of a method; NULL: there is none on that device. _of: on the device where A lies. */
const lsp_spmv_engine *lsp_spmv_engine_cpu(lsp_spmv_method method);
const lsp_spmv_engine *lsp_spmv_engine_cuda(lsp_spmv_method method);
const lsp_spmv_engine *lsp_spmv_engine_of(const lsp_spmv_job *job, lsp_spmv_method method);

/* check.c: refuses wrong arguments with a sentence; fills the job but op(A) and the choice. `options` may be NULL. */
lsp_status lsp_spmv_check(lsp_ctx *ctx, const lsp_csr *A, const lsp_spmv_options *options, lsp_spmv_job *job);
/* check.c: sets job->vectors, strides included. Overlaps of x and y, and strides that are too short, are refused. */
lsp_status lsp_spmv_check_vectors(lsp_ctx *ctx, const lsp_spmv_vectors *vectors, lsp_spmv_job *job);

/* Facts of a checked matrix. The GPU's waits. */
lsp_status lsp_spmv_inspect_cpu(lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_facts *facts);
lsp_status lsp_spmv_inspect_cuda(lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_facts *facts);

/* choose.c: sets job->choice. `facts` NULL: one call without a plan. A method that was asked for and has no engine
 * here, or does not fit, is refused. */
lsp_status lsp_spmv_choose(lsp_ctx *ctx, lsp_spmv_job *job, const lsp_spmv_facts *facts);

/* model.c: predicts seconds[] and plan_seconds[] of the choice for all methods; choice->block is set. The caller clears
 * those of methods that have no engine here or do not fit. */
void lsp_spmv_predict(const lsp_cache_figures *figures, const lsp_spmv_job *job, const lsp_spmv_facts *facts,
                      lsp_spmv_choice *choice);

/* ref.c: the specification, one thread on the host, each row summed in its order without fused multiply-add. */
extern const lsp_spmv_engine lsp_spmv_ref;

#ifdef __cplusplus
}
#endif
#endif
