/* libsparse/cache_model.h: how long an indexed read or write takes, told before it runs. Part of libsparse.h, which
 * states the rules for all functions. docs/cache-model.md derives the formulas. */
#ifndef LIBSPARSE_CACHE_MODEL_H
#define LIBSPARSE_CACHE_MODEL_H

#include "core.h"

LSP_BEGIN_DECLS

/* How an indexed read or write is carried out. The strategy never changes a result. */
typedef enum lsp_strategy {
    LSP_STRATEGY_AUTO = 0, /* the cache model chooses */
    LSP_STRATEGY_DIRECT,   /* one pass over the indices in their order */
    LSP_STRATEGY_RESCAN,   /* several passes over all indices; each pass moves the elements of one part of the indexed
                              array (the multi-pass scheme of the paper). AUTO never takes it on a CPU */
    LSP_STRATEGY_STAGE,    /* through shared memory (a CPU: through its own cache): tiles of the source are read, bins
                              of the destination are written, each contiguously. A gather needs a plan for it */
    LSP_STRATEGY_INVERT    /* a scatter as a gather by the inverted map; plans only */
} lsp_strategy;
enum { LSP_STRATEGIES = 5 };

/* Returns "auto", "direct", "rescan", "stage" or "invert"; "?" for a number that is no strategy. */
LSP_API const char *lsp_strategy_name(lsp_strategy strategy);

/* ---- figures of a device ----------------------------------------------------------------------------------------- */

enum { LSP_CACHE_POINTS = 24 };
typedef struct lsp_cache_figures {
    char device[128]; /* the name that lsp_ctx_get_info tells */
    lsp_where where;
    int threads;                        /* host threads that were measured together; 0 on a GPU */
    double start_seconds;               /* to start a kernel; on a CPU to wake its threads */
    double copy_rate;                   /* bytes read and written per second by a long copy */
    double line_bytes;                  /* fetched from memory for one random read */
    double sector_bytes;                /* fetched from the last cache for one random read */
    double cache_bytes;                 /* the last cache */
    double stage_bytes;                 /* shared memory of a block; on a CPU the cache of one core */
    int points;                         /* of the three curves */
    double footprint[LSP_CACHE_POINTS]; /* bytes of the array that is read or written at random, ascending */
    double reads[LSP_CACHE_POINTS];     /* random reads of 8 bytes per second */
    double writes[LSP_CACHE_POINTS];    /* random writes of 8 bytes per second */
    double writes32[LSP_CACHE_POINTS];  /* random writes of whole 32-byte sectors per second */
    int64_t reserved[LSP_RESERVED];
} lsp_cache_figures;

/* The figures that the context uses: of the file that the environment variable LSP_CACHE_FIGURES names, which
 * `sparse-bench calibrate` prints; else built-in ones (an H200's for an H200; a generic GPU's or CPU's scaled to the
 * chip otherwise). A context reads the file once. If it is malformed, of another device or other threads, or has
 * figures that no device has, the log says why and the built-in figures are used. */
LSP_API lsp_status lsp_cache_model_figures(lsp_ctx *ctx, lsp_cache_figures *figures);

/* Sets the figures that the context uses from now on; NULL: the ones it started with. On a CPU plans of products with
 * vectors (spmv.h) choose by figures only if they were set here. */
LSP_API lsp_status lsp_cache_model_set_figures(lsp_ctx *ctx, const lsp_cache_figures *figures);

/* ---- patterns of indices ----------------------------------------------------------------------------------------- */

typedef enum lsp_pattern_kind {
    LSP_PATTERN_UNIFORM = 0, /* each index is uniformly random (case I of the paper) */
    LSP_PATTERN_PARTITIONS,  /* each index is the next one of a random one of `partitions` ranges (case II) */
    LSP_PATTERN_SAMPLE       /* measured by lsp_cache_model_sample */
} lsp_pattern_kind;

enum { LSP_PATTERN_WINDOWS = 8 };
typedef struct lsp_cache_pattern {
    lsp_pattern_kind kind;
    int64_t partitions;
    /* LSP_PATTERN_SAMPLE: mean number of distinct sectors, and of distinct lines, that a window of 32 * 8^w
     * consecutive accesses touches, divided by the accesses: 1 if nothing is ever touched twice. Windows beyond the
     * sample have the value of the last one before. */
    double sectors[LSP_PATTERN_WINDOWS], lines[LSP_PATTERN_WINDOWS];
    double regions;        /* of 128 KiB: how many a window of 16384 accesses touches, 1 and more */
    int64_t touched_bytes; /* an estimate of the footprint: bytes of all lines that the indices touch */
    int64_t reserved[LSP_RESERVED];
} lsp_cache_pattern;

/* Measures the pattern of n indices (LSP_I32 or LSP_I64) into elements of `element_bytes`, from about 10^5 of them:
 * microseconds. Indices on a GPU: waits for it. */
LSP_API lsp_status lsp_cache_model_sample(lsp_ctx *ctx, const void *index, lsp_type index_type, int64_t n,
                                          size_t element_bytes, lsp_where where, lsp_cache_pattern *pattern);

/* ---- predictions ------------------------------------------------------------------------------------------------- */

typedef struct lsp_cache_case {
    int64_t n;            /* indices */
    int64_t extent;       /* elements of the indexed array */
    size_t element_bytes; /* of one element */
    size_t index_bytes;   /* 4 or 8 */
    bool scatter;         /* writes at random; otherwise reads */
    bool planned;         /* the work that depends on indices alone was done before */
    int64_t calls;        /* planned: how often the plan is used, to judge whether making it pays; 0: often */
    lsp_cache_pattern pattern;
    int64_t reserved[LSP_RESERVED];
} lsp_cache_case;

typedef struct lsp_cache_prediction {
    double hit_rate;                     /* of the direct strategy: accesses that the last cache answers */
    double seconds[LSP_STRATEGIES];      /* of one call, by strategy; 0: not offered for this case */
    double plan_seconds[LSP_STRATEGIES]; /* to make the plan */
    int passes[LSP_STRATEGIES];          /* rescan: the number of passes that takes least */
    lsp_strategy best;
    char reason[160];
    int64_t reserved[LSP_RESERVED];
} lsp_cache_prediction;

/* Predicts one call. It measures nothing; the same input gives the same prediction. `figures` NULL, here and below: the
 * context's. */
LSP_API lsp_status lsp_cache_model_predict(lsp_ctx *ctx, const lsp_cache_figures *figures, const lsp_cache_case *what,
                                           lsp_cache_prediction *prediction);

/* The seconds of a rescan with `passes` passes, 1 and more. */
LSP_API lsp_status lsp_cache_model_rescan(lsp_ctx *ctx, const lsp_cache_figures *figures, const lsp_cache_case *what,
                                          int passes, double *seconds);

LSP_END_DECLS
#endif
