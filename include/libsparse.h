/* libsparse: sparse linear algebra built on segmented sort, for a CPU and for NVIDIA GPUs.
 *
 * Every function takes a context and returns a status. When the status is not LSP_OK, lsp_last_error() holds one full
 * sentence with the numbers in it, and all outputs are as they were before the call. Nothing here aborts, prints, or
 * keeps global state. A context serves one host thread at a time; several contexts side by side are safe.
 * Results do not depend on the number of threads: same input, same device kind, same bits.
 *
 * This header is C99 and C++11. Sizes are int64_t. Functions synchronise with the device only where they say so. */
#ifndef LIBSPARSE_H
#define LIBSPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LSP_VERSION_MAJOR 0
#define LSP_VERSION_MINOR 1
#define LSP_VERSION_PATCH 0

#if defined(__GNUC__)
#define LSP_API __attribute__((visibility("default")))
#else
#define LSP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status ------------------------------------------------------------------------------------------------------ */

typedef enum lsp_status {
    LSP_OK = 0,
    LSP_ERR_ARGUMENT = 1,    /* an argument makes no sense: NULL, negative, mismatched sizes, unknown name */
    LSP_ERR_FORMAT = 2,      /* the input is malformed: a file, or arrays that are no CSR matrix */
    LSP_ERR_IO = 3,          /* a file cannot be opened, read or written */
    LSP_ERR_MEMORY = 4,      /* out of memory, or more than the budget of the context */
    LSP_ERR_DEVICE = 5,      /* no such device, no driver, or the device failed */
    LSP_ERR_UNSUPPORTED = 6, /* sensible, but not offered: complex products, for instance */
    LSP_ERR_OVERFLOW = 7     /* a size or an index does not fit its type */
} lsp_status;

/* "LSP_OK", "LSP_ERR_MEMORY", ...; "LSP_ERR_?" for a number that is no status. Never NULL. */
LSP_API const char *lsp_status_name(lsp_status status);

/* "0.1.0". */
LSP_API const char *lsp_version(void);

/* ---- context ----------------------------------------------------------------------------------------------------- */

typedef enum lsp_where { LSP_HOST = 0, LSP_CUDA = 1 } lsp_where; /* where memory lies, and what computes */

/* Memory comes from here. `alloc` returns `bytes` (> 0) aligned to 64, or NULL; LSP_CUDA asks for device memory.
 * `free` gets back what `alloc` gave. Called only from the thread that calls the library. */
typedef struct lsp_allocator {
    void *(*alloc)(void *user, size_t bytes, lsp_where where);
    void (*free)(void *user, void *memory, size_t bytes, lsp_where where);
    void *user;
} lsp_allocator;

/* Called with one line, without a newline, for every decision worth knowing (which method, and why). */
typedef void (*lsp_log_fn)(void *user, const char *message);

/* Called now and then from long operations, in the caller's thread: `phase` is "read", "multiply" or "write",
 * `fraction` grows from 0 to 1 (below 0: unknown). */
typedef void (*lsp_progress_fn)(void *user, const char *phase, double fraction);

/* All zero means: the CPU, all its threads, the library's own memory, no limit, silence. */
typedef struct lsp_ctx_options {
    lsp_where device;        /* what computes */
    int ordinal;             /* which GPU, from 0, whatever the caller's current device is */
    int threads;             /* host threads; 0: as many as OpenMP would take */
    int64_t max_bytes;       /* bytes the context may hold, on the host and on the GPU each; 0: no limit */
    lsp_allocator allocator; /* both functions or neither */
    lsp_log_fn log;
    lsp_progress_fn progress;
    void *hook_user; /* handed to `log` and `progress` */
    void *stream;    /* a cudaStream_t to work on; NULL: the context makes its own. Ignored on the host */
} lsp_ctx_options;

typedef struct lsp_ctx lsp_ctx;

/* Makes a context. `options` may be NULL (all zero). On failure *ctx is untouched and the sentence goes to `error`
 * (at most `error_bytes` with the final zero; may be NULL). LSP_ERR_DEVICE when the GPU asked for cannot be used. */
LSP_API lsp_status lsp_ctx_create(lsp_ctx **ctx, const lsp_ctx_options *options, char *error, size_t error_bytes);

/* Frees everything the context holds, matrices made with it included. NULL is fine. Waits for the context's stream. */
LSP_API void lsp_ctx_destroy(lsp_ctx *ctx);

/* The sentence of the last failure, "" if none yet. Valid until the next failure or the end of the context. */
LSP_API const char *lsp_last_error(const lsp_ctx *ctx);

typedef struct lsp_ctx_info {
    lsp_where device;
    int ordinal;
    int threads;
    char device_name[128];   /* the processor's or the GPU's own name */
    const char *isa;         /* "avx512", "avx2" or "portable": the host code taken */
    int64_t max_bytes;       /* 0: no limit */
    int64_t host_bytes;      /* held now, kept scratch included */
    int64_t host_peak_bytes; /* most in use at a time since creation or lsp_ctx_reset_peak; kept scratch not counted */
    int64_t cuda_bytes;
    int64_t cuda_peak_bytes;
    int64_t device_total_bytes; /* memory of the device; of the machine for the host */
    int64_t device_free_bytes;
} lsp_ctx_info;

LSP_API lsp_status lsp_ctx_get_info(lsp_ctx *ctx, lsp_ctx_info *info);

/* Starts the peaks of lsp_ctx_get_info anew from what is in use now. */
LSP_API lsp_status lsp_ctx_reset_peak(lsp_ctx *ctx);

/* Sets the budget (0: no limit). What is held already stays. */
LSP_API lsp_status lsp_ctx_set_max_bytes(lsp_ctx *ctx, int64_t max_bytes);

/* Gives back the memory kept for reuse between calls. */
LSP_API lsp_status lsp_ctx_trim(lsp_ctx *ctx);

/* Waits until all work on the context's stream is done. LSP_ERR_ARGUMENT if work since the last call met malformed
 * segments on the GPU: the sentence names one. */
LSP_API lsp_status lsp_ctx_sync(lsp_ctx *ctx);

/* Number of GPUs this build can use here: 0 without a driver or in a build without CUDA. */
LSP_API int lsp_cuda_device_count(void);

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

typedef enum lsp_type {
    LSP_NONE = 0, /* no values: a pattern; or, where a type may be chosen, the one that fits */
    LSP_I32 = 1,
    LSP_I64 = 2,
    LSP_U32 = 3,
    LSP_U64 = 4,
    LSP_F32 = 5,
    LSP_F64 = 6,
    LSP_C64 = 7 /* two doubles, real part first: read, written, moved; never multiplied */
} lsp_type;

/* Bytes of one element: 0, 4, 8 or 16. */
LSP_API size_t lsp_type_bytes(lsp_type type);

/* A matrix by rows: row i holds the entries rowptr[i] .. rowptr[i+1]-1. A plain view: it may point to memory of the
 * user's own, or to memory of a context (what the library makes; freed by lsp_csr_free or with the context).
 * rowptr has rows+1 entries even when rows is 0; col and val may be NULL when nnz is 0. */
typedef struct lsp_csr {
    int64_t rows, cols, nnz;
    void *rowptr;
    void *col;
    void *val;            /* NULL exactly when val_type is LSP_NONE (or nnz is 0) */
    lsp_type rowptr_type; /* LSP_I32 or LSP_I64 */
    lsp_type col_type;    /* LSP_I32 or LSP_I64 */
    lsp_type val_type;    /* LSP_NONE, LSP_F32, LSP_F64 or LSP_C64 */
    lsp_where where;
} lsp_csr;

/* Types of a matrix to be made. All zero: the narrowest indices that fit, values as the source has them, on the host.
 */
typedef struct lsp_csr_types {
    lsp_type rowptr_type; /* LSP_NONE: LSP_I32 while nnz < 2^31 */
    lsp_type col_type;    /* LSP_NONE: LSP_I32 while cols <= 2^31 */
    lsp_type val_type;    /* LSP_NONE: as the source */
    bool drop_values;     /* a pattern, whatever the source has */
    lsp_where where;
} lsp_csr_types;

/* Allocates a matrix in the context: rowptr all zero, col and val not set. `types->val_type` LSP_NONE: a pattern. */
LSP_API lsp_status lsp_csr_create(lsp_ctx *ctx, int64_t rows, int64_t cols, int64_t nnz, const lsp_csr_types *types,
                                  lsp_csr *A);

/* Frees the arrays of a matrix the context made and zeroes *A. A zeroed *A is fine. The context keeps the memory for
 * its next call (lsp_ctx_trim gives it back). */
LSP_API void lsp_csr_free(lsp_ctx *ctx, lsp_csr *A);

enum { LSP_CHECK_SORTED = 1, LSP_CHECK_UNIQUE = 2, LSP_CHECK_FINITE = 4 };

/* Is A a matrix? Sizes, types, pointers not NULL, rowptr[0] = 0, monotone, rowptr[rows] = nnz, columns in range; on
 * request columns ascending in each row, no column twice in a row, values finite. LSP_ERR_FORMAT names the first
 * offending row. Reads every entry once. Host matrices only. */
LSP_API lsp_status lsp_csr_check(lsp_ctx *ctx, const lsp_csr *A, unsigned flags);

/* B = A, in other types or another place. LSP_ERR_OVERFLOW if an index does not fit; f64 to f32 rounds to nearest; a
 * pattern becomes ones; C64 takes only C64 or a pattern. Synchronises when A or B is on a GPU. `types` may be NULL. */
LSP_API lsp_status lsp_csr_copy(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr_types *types, lsp_csr *B);

/* B = A^T (not conjugated), columns sorted; equal ones stay in order. */
LSP_API lsp_status lsp_csr_transpose(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B);

/* Sorts each row of A by column, in place, stable. In either place. */
LSP_API lsp_status lsp_csr_sort(lsp_ctx *ctx, lsp_csr *A);

/* B[i][j] = A[row_order[i]][col_order[j]], columns sorted. An order is a permutation of 0 .. size-1 in the type of
 * A's columns (checked), or NULL for none. */
LSP_API lsp_status lsp_csr_permute(lsp_ctx *ctx, const lsp_csr *A, const void *row_order, const void *col_order,
                                   lsp_csr *B);

typedef enum lsp_symmetry {
    LSP_GENERAL = 0,
    LSP_SYMMETRIC = 1, /* A = A^T */
    LSP_SKEW = 2,      /* A = -A^T */
    LSP_HERMITIAN = 3  /* A = conj(A)^T */
} lsp_symmetry;

/* B = the whole matrix of which A holds one triangle: every entry off the diagonal also at its mirrored place, negated
 * (LSP_SKEW) or conjugated (LSP_HERMITIAN). Rows sorted; an entry given on both sides of the diagonal is summed. */
LSP_API lsp_status lsp_csr_expand(lsp_ctx *ctx, const lsp_csr *A, lsp_symmetry symmetry, lsp_csr *B);

/* C = alpha*A + beta*B, rows sorted, no column twice; values of the wider of both types, ones for a pattern. Of two
 * patterns it is the pattern of both, whatever the factors. What is equal in column is summed A first; a sum that is no
 * number is the quiet NaN without sign. A and B lie in one place, and C there too. */
LSP_API lsp_status lsp_csr_add(lsp_ctx *ctx, double alpha, const lsp_csr *A, double beta, const lsp_csr *B, lsp_csr *C);

/* Which entries stay. All zero: all of them. */
typedef struct lsp_filter {
    const lsp_csr *mask; /* not NULL: those stay where it has an entry, whatever its value. Same shape,
                             where the matrix lies */
    bool complement;     /* those where it has none */
    bool drop;           /* those of |value| <= tolerance go */
    double tolerance;    /* 0 or more */
    int64_t largest; /* above 0: of what is left in a row so many stay, of largest |value|, of equal ones the first */
} lsp_filter;

/* B = the entries of A that stay, in their order, where A lies. A NaN is larger than all numbers; a pattern's entries
 * are ones. Not C64. */
LSP_API lsp_status lsp_csr_filter(lsp_ctx *ctx, const lsp_csr *A, const lsp_filter *filter, lsp_csr *B);

/* Triples in any order. Indices of type index_type (LSP_I32 or LSP_I64), from 0; val NULL for a pattern. Host. */
typedef struct lsp_coo {
    int64_t rows, cols, nnz;
    const void *row;
    const void *col;
    const void *val;
    lsp_type index_type;
    lsp_type val_type;
} lsp_coo;

/* B = the matrix of the triples, rows sorted, triples at the same place summed in their order; `*duplicates` (may be
 * NULL) says how many were merged into others. LSP_ERR_FORMAT names the first triple outside the matrix. */
LSP_API lsp_status lsp_coo_to_csr(lsp_ctx *ctx, const lsp_coo *A, const lsp_csr_types *types, lsp_csr *B,
                                  int64_t *duplicates);

typedef struct lsp_csr_stats {
    int64_t empty_rows, empty_cols;
    int64_t min_row, max_row, max_col; /* entries in the shortest row, the longest row, the longest column */
    double mean_row, stddev_row;
    int64_t histogram[64];             /* [0]: empty rows; [k]: rows of 2^(k-1) .. 2^k - 1 entries */
    int64_t lower_bandwidth;           /* largest row - column over the entries, at least 0 */
    int64_t upper_bandwidth;           /* largest column - row */
    int64_t diagonal;                  /* entries on the diagonal */
    int64_t unsorted_rows, duplicates; /* rows not ascending; entries whose place came before in the row */
    int64_t zeros, not_finite;         /* entries that are 0; NaN or infinite */
    bool square;
    bool pattern_symmetric;          /* square, and every entry has a mirror */
    bool symmetric, skew, hermitian; /* and its value agrees, exactly */
    int64_t products;                /* multiplications of A*A; -1 unless square */
    int64_t product_nnz_bound;       /* sum over rows of min(products, cols): nnz(A*A) is at most this */
} lsp_csr_stats;

/* Host matrices. Cost: one transpose. */
LSP_API lsp_status lsp_csr_get_stats(lsp_ctx *ctx, const lsp_csr *A, lsp_csr_stats *stats);

typedef struct lsp_csr_difference {
    bool same_shape;   /* rows and cols */
    bool same_pattern; /* and every rowptr and col */
    bool same_bits;    /* and every value, bit for bit */
    int64_t row, col;  /* where the pattern first differs or the relative error is largest; -1 if nowhere */
    double max_rel;    /* max |a-b| / max(|a|,|b|) over the common pattern; NaN against NaN is 0; else infinite */
} lsp_csr_difference;

/* Compares two matrices on the host, entry by entry as they are stored. */
LSP_API lsp_status lsp_csr_compare(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr_difference *difference);

/* A matrix by name, on the host, the same on every machine for the same seed (1 is the seed of the published figures):
 * poisson2d:K stencil27:K fem3:K er:N:D rmat:SCALE:EF web:N:ALPHA:DMAX perm:N nascg:CLASS (S W A B C D E).
 * `types` may be NULL: f64, narrowest indices. LSP_ERR_ARGUMENT says what is wrong with a name. */
LSP_API lsp_status lsp_generate(lsp_ctx *ctx, const char *spec, uint64_t seed, const lsp_csr_types *types, lsp_csr *A);

typedef struct lsp_nas_class {
    int64_t n;
    int nonzer, iterations;
    double shift, zeta; /* zeta: the value that verifies a run, to 1e-10 */
} lsp_nas_class;

/* Parameters of the NAS conjugate gradient benchmark; `name` one of S W A B C D E. */
LSP_API lsp_status lsp_nas_get_class(lsp_ctx *ctx, char name, lsp_nas_class *params);

/* ---- Matrix Market ----------------------------------------------------------------------------------------------- */

typedef enum lsp_mtx_format { LSP_MTX_COORDINATE = 0, LSP_MTX_ARRAY = 1 } lsp_mtx_format;
typedef enum lsp_mtx_field {
    LSP_MTX_REAL = 0,
    LSP_MTX_INTEGER = 1,
    LSP_MTX_PATTERN = 2,
    LSP_MTX_COMPLEX = 3
} lsp_mtx_field;

/* What a file said of itself. */
typedef struct lsp_mtx_info {
    lsp_mtx_format format;
    lsp_mtx_field field;
    lsp_symmetry symmetry;
    int64_t rows, cols;
    int64_t entries;    /* as announced, before symmetric expansion; of an array: the numbers stored */
    int64_t duplicates; /* entries summed into others */
    int64_t bytes;      /* of text, after decompression */
    bool compressed;
} lsp_mtx_info;

typedef struct lsp_mtx_read_options {
    lsp_csr_types types; /* val_type LSP_NONE: a pattern stays one, complex is C64, all else is f64 */
    bool lenient;        /* accept entries above the diagonal of a symmetric file (as their mirrors) */
    bool keep_triangle;  /* do not expand a symmetric file: store what it stores */
    bool header_only;    /* read banner and sizes, check nothing further; *A is left as it is */
} lsp_mtx_read_options;

/* Reads a file ("-": standard input), plain or gzip by content, into rows sorted by column, duplicates summed in the
 * order of the file. Zeros that are written stay; zeros of an array file are dropped. Malformed input: LSP_ERR_FORMAT,
 * and the sentence is "path:line: what is wrong". Entries are allocated only as far as the file is long
 * enough to hold them; row pointers for the rows announced, if they fit the budget or the free memory, else
 * LSP_ERR_MEMORY. `options` and `info` may be NULL. */
LSP_API lsp_status lsp_mtx_read(lsp_ctx *ctx, const char *path, const lsp_mtx_read_options *options, lsp_csr *A,
                                lsp_mtx_info *info);

/* The same from memory; `name` stands for the path in messages. */
LSP_API lsp_status lsp_mtx_read_memory(lsp_ctx *ctx, const void *text, size_t bytes, const char *name,
                                       const lsp_mtx_read_options *options, lsp_csr *A, lsp_mtx_info *info);

typedef struct lsp_mtx_write_options {
    lsp_symmetry symmetry; /* not LSP_GENERAL: write the lower triangle only; A must be so, exactly (checked) */
    const char *comment;   /* NULL, or lines to stand under the banner */
} lsp_mtx_write_options;

/* Writes A as a coordinate file: real, pattern (LSP_NONE) or complex (C64), each number in the fewest digits that read
 * back to the same bits. "-" is standard output; a path that ends in ".gz" is compressed. A file appears complete or
 * not at all: it is written beside its place, as .lsp-PID-N.part, and renamed. A matrix on the GPU comes in pieces,
 * each while the one before is written. `options` may be NULL. */
LSP_API lsp_status lsp_mtx_write(lsp_ctx *ctx, const char *path, const lsp_csr *A,
                                 const lsp_mtx_write_options *options);

/* ---- segmented sort ---------------------------------------------------------------------------------------------- */

enum {
    LSP_SORT_DESCENDING = 1,
    LSP_SORT_POSITIONS = 2, /* argsort: values_out gets where in its segment each item came from; no values read */
    LSP_SORT_GLOBAL_POSITIONS = 4 /* the same, counted from the start of the array */
};

/* What to sort. Segments come in one of three forms:
 *   offsets          segment s holds the items offsets[s] .. offsets[s+1]-1 (segments + 1 offsets, never falling);
 *   offsets, ends    segment s holds the items offsets[s] .. ends[s]-1, in any order, gaps allowed, never overlapping;
 *   length           offsets is NULL: every segment holds `length` items, the last one what is left of n.
 * All within 0 .. n. Items outside all segments are left untouched in place, and not written out of place. */
typedef struct lsp_segsort_args {
    int64_t n, segments;
    const void *offsets, *ends;
    int64_t length;
    int64_t max_length;   /* no segment is longer; 0: not known. Spares a GPU the scratch for giants */
    lsp_type offset_type; /* LSP_I32 or LSP_I64: offsets, ends, change_at, change_count */
    lsp_type key_type;    /* LSP_I32 LSP_U32 LSP_F32 LSP_I64 LSP_U64 LSP_F64 */
    size_t value_bytes;   /* 0 (keys alone), 4, 8 or 16; of a position 4 (unsigned) or 8 */
    const void *keys;
    void *keys_out;         /* may be `keys`: in place */
    const void *values;     /* NULL when value_bytes is 0, and for positions */
    void *values_out;       /* may be `values` */
    int begin_bit, end_bit; /* integer keys: only the bits begin_bit .. end_bit-1 decide; 0, 0: all */
    unsigned flags;         /* LSP_SORT_... */
    unsigned char *change;  /* NULL, or n: 1 where a sorted key differs from the one before it, or is its segment's
                               first; 0 elsewhere in segments. Differs: is not equal as the sort sees it */
    void *change_at;        /* NULL, or n: the places of those ones, in the whole array: segment s has its own from
                               its begin on, change_count[s] of them; what follows them is not written */
    void *change_count;     /* NULL, or one a segment */
    lsp_where where;        /* where all these arrays lie */
} lsp_segsort_args;

/* Sorts the keys of every segment and moves the values along. Always stable. Floats: -0 before +0, NaN after everything
 * (descending: +0 before -0, NaN still last), bits kept. Keys equal to the type's maximum are ordinary keys.
 * In and out are the same array or do not overlap.
 * Arrays of a GPU (the context must be of that GPU): all work goes to the context's stream, nothing waits for it.
 * Segments are then checked on the way: malformed ones are left unsorted, and the next lsp_ctx_sync says so, as it does
 * when segments overlap so far that together they have more than n items. */
LSP_API lsp_status lsp_segsort(lsp_ctx *ctx, const lsp_segsort_args *args);

typedef struct lsp_segsort_info {
    const char *method;    /* "cpu", "cuda" */
    char reason[160];      /* why */
    int64_t longest;       /* no segment may be longer */
    int64_t scratch_bytes; /* held by the plan, on the GPU; on the CPU what the longest segments will take */
} lsp_segsort_info;

typedef struct lsp_segsort_plan lsp_segsort_plan;

/* Prepares sorts of one shape: n, segments, types, bits, flags, and which outputs there are, as in `args`. Where
 * offsets are given they are looked at for the longest segment (this waits for a GPU); max_length says it without
 * looking. The plan belongs to the context and owns its scratch. */
LSP_API lsp_status lsp_segsort_plan_create(lsp_ctx *ctx, const lsp_segsort_args *args, lsp_segsort_plan **plan);
LSP_API void lsp_segsort_plan_destroy(lsp_segsort_plan *plan);
LSP_API lsp_status lsp_segsort_plan_get_info(const lsp_segsort_plan *plan, lsp_segsort_info *info);

/* Sorts `args`, of the plan's shape with arrays and offsets of its own. On a GPU it allocates nothing, waits for
 * nothing and can be captured in a CUDA graph. A segment longer than the plan's longest is malformed. */
LSP_API lsp_status lsp_segsort_execute(lsp_segsort_plan *plan, const lsp_segsort_args *args);

/* How a GPU's sort chooses its kernels, all in items. Never a matter of the result. */
enum { LSP_SORT_CLASSES = 36, LSP_SORT_TILE_LONGEST = 64, LSP_SORT_SMALL_ITEMS = 65536 };
typedef struct lsp_segsort_table {
    int32_t small_items;  /* so few in all are sorted by a single kernel; at most LSP_SORT_SMALL_ITEMS */
    int32_t few_items;    /* so few in all are sorted by few kernels, in classes of their own */
    int32_t tile_longest; /* longer segments are sorted class by class; at most LSP_SORT_TILE_LONGEST */
    int32_t class_longest[LSP_SORT_CLASSES]; /* never falling. Class 4k + q sorts with 2^(k+1) lanes of 20 + 4q words,
                                                the first eight, 19 and 23 with twice the lanes of half the words; that
                                                is the most it takes, and what the last one and class 31 must take: the
                                                four after it are not for all segments. A class with the limit of the
                                                one before is not used */
} lsp_segsort_table;

/* The most items that a segment in class c can have. Of 512 lanes 24 and 32 words are offered only: classes 32 and 34
 * have the figure of the one before, and are never used. Where a GPU has too little shared memory for the
 * last four, or items are few, segments of that length are split first, as longer ones are. */
LSP_API int32_t lsp_segsort_class_most(int c);

/* The table that plans and sorts of a GPU's context use from now on: NULL for the shipped one, which was tuned on an
 * H200. `sparse-bench segsort --tune` measures one for the machine at hand and prints it. A plan made before is refused
 * if its scratch no longer suffices. */
LSP_API lsp_status lsp_segsort_set_table(lsp_ctx *ctx, const lsp_segsort_table *table);
LSP_API lsp_status lsp_segsort_get_table(lsp_ctx *ctx, lsp_segsort_table *table);

/* ---- sparse matrix times sparse matrix --------------------------------------------------------------------------- */

typedef enum lsp_spgemm_method {
    LSP_SPGEMM_AUTO = 0,
    LSP_SPGEMM_REFERENCE = 1, /* the specification: one thread, one dense accumulator, no tricks */
    LSP_SPGEMM_SORT = 2,      /* expand, segmented sort, compress */
    LSP_SPGEMM_MASK = 3       /* only the entries of options->filter.mask, which must be there, not its complement */
} lsp_spgemm_method;

/* What stands for multiplication and addition. A sum begins with its first product; among what min and max choose from
 * a NaN wins, and of equal ones the first. */
typedef enum lsp_semiring {
    LSP_PLUS_TIMES = 0,
    LSP_MIN_PLUS = 1,  /* the least a + b: shortest paths */
    LSP_MAX_TIMES = 2, /* the largest a * b */
    LSP_OR_AND = 3,    /* 1 if both factors of a product are not 0, else 0: reachability */
    LSP_PLUS_PAIR = 4  /* how many products there are: common neighbours, triangles */
} lsp_semiring;

typedef struct lsp_spgemm_options {
    lsp_spgemm_method method;
    lsp_semiring semiring;
    bool transpose_a, transpose_b;
    lsp_csr_types types; /* of C; val_type LSP_NONE: the wider of A and B. Both patterns: a pattern, unless asked.
                            `where`: C lies where A and B do, whether this says so or not */
    lsp_filter filter;   /* which entries of C stay; not in plans. What a mask (not its complement) has no place for
                            is not made, unless the mask is much larger than the product */
} lsp_spgemm_options;

typedef struct lsp_spgemm_info {
    lsp_spgemm_method method;
    const char *method_name; /* "reference", "sort", "mask" */
    char reason[160];        /* why */
    int64_t products;        /* multiplications */
    int64_t nnz_bound;       /* nnz(C) is at most this */
    int64_t nnz;             /* nnz(C); -1 until executed */
    int64_t max_row_products;
    int64_t blocks;        /* pieces the rows are cut into to stay within the budget */
    int64_t scratch_bytes; /* taken during execution, beside A, B and C */
    int64_t bound_bytes;   /* of C at nnz_bound */
} lsp_spgemm_info;

typedef struct lsp_spgemm_plan lsp_spgemm_plan;

/* Inspects A and B (both on the host or both on the context's GPU, any order of columns, duplicates allowed), counts
 * products and chooses. Checks both matrices as lsp_csr_check does. The plan belongs to the context and holds no copy
 * of A or B: structure and sizes must be the same at execution, values may change. LSP_ERR_UNSUPPORTED for C64; on a
 * GPU also for the reference, and for factors of 2^31 entries or rows and more, or an inner dimension beyond 2^31.
 * Waits for the GPU. */
LSP_API lsp_status lsp_spgemm_plan_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B,
                                          const lsp_spgemm_options *options, lsp_spgemm_plan **plan);
LSP_API void lsp_spgemm_plan_destroy(lsp_spgemm_plan *plan);
LSP_API lsp_status lsp_spgemm_plan_get_info(const lsp_spgemm_plan *plan, lsp_spgemm_info *info);

/* C = op(A)*op(B), rows sorted, no column twice. Each entry is summed in the order of A's columns as stored, the first
 * product rounded, the others (LSP_PLUS_TIMES) added by fused multiply-add, so every method gives the same bits. A sum
 * that happens to be zero stays; one that is no number is the quiet NaN without sign. Values are first brought to the
 * type of C's, ones for a pattern. nnz(C) is counted before C is allocated: if C does not fit the budget,
 * LSP_ERR_MEMORY says how many bytes it needs and nothing was multiplied. On a GPU it waits for nnz(C), the first time,
 * and for a look at the structure; C is filled on the stream when it returns. */
LSP_API lsp_status lsp_spgemm_execute(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_csr *C);

/* The values of C again, for other values of A and B: C is what lsp_spgemm_execute of this plan made, and keeps its
 * structure. If it fails they are lost. A plan on a GPU that is used a second time remembers where the factors of each
 * entry lie, if an entry has few products and a quarter of the free memory holds it: then this is a matter of reading
 * them once. */
LSP_API lsp_status lsp_spgemm_update(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_csr *C);

/* Plan, execute, destroy. `options` may be NULL. `info` may be NULL. */
LSP_API lsp_status lsp_spgemm(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                              lsp_csr *C, lsp_spgemm_info *info);

/* Takes the rows first_row, first_row + 1, ... of C: a matrix of its own that ends with the call. What is not LSP_OK
 * ends the product, and is what it returns. */
typedef lsp_status (*lsp_spgemm_sink)(void *user, int64_t first_row, const lsp_csr *rows);

/* C = op(A)*op(B) in blocks of rows, in order, each handed over before the next is begun: for a C larger than memory,
 * to be counted, filtered, reduced or written. A block takes at most block_bytes (0: what suits the memory) before it
 * is filtered, unless one row alone takes more. There is always one block, without rows if C has none. The bits are
 * those of lsp_spgemm. Blocks of matrices on the GPU are handed over there. Matrices of the host are multiplied on the
 * context's GPU if options->types.where says LSP_CUDA: B must fit its memory, A and C need not, and blocks come back to
 * the host. `options` and `info` may be NULL. */
LSP_API lsp_status lsp_spgemm_stream(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B,
                                     const lsp_spgemm_options *options, int64_t block_bytes, lsp_spgemm_sink sink,
                                     void *user, lsp_spgemm_info *info);

/* C = op(A)*op(B) into a Matrix Market file, as lsp_mtx_write does, but in blocks: it is multiplied twice, once to
 * count its entries, which the file names first. `comment`: NULL, or lines to stand under the banner. */
LSP_API lsp_status lsp_spgemm_write(lsp_ctx *ctx, const char *path, const lsp_csr *A, const lsp_csr *B,
                                    const lsp_spgemm_options *options, int64_t block_bytes, const char *comment,
                                    lsp_spgemm_info *info);

/* C = alpha*(op(A)*op(B)) + beta*D: the product is made, then lsp_csr_add'ed. */
LSP_API lsp_status lsp_spgemm_add(lsp_ctx *ctx, double alpha, const lsp_csr *A, const lsp_csr *B, double beta,
                                  const lsp_csr *D, const lsp_spgemm_options *options, lsp_csr *C);

/* C = R*A*P, as (R*A)*P if R*A takes fewer multiplications than A*P, else as R*(A*P). R NULL: P transposed. */
LSP_API lsp_status lsp_spgemm_triple(lsp_ctx *ctx, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                                     const lsp_spgemm_options *options, lsp_csr *C);

#ifdef __cplusplus
}
#endif
#endif
