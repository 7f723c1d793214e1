/* libsparse/core.h: status, context, types of values. Part of libsparse.h, which states the rules for all functions. */
#ifndef LIBSPARSE_CORE_H
#define LIBSPARSE_CORE_H

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

#if defined(__cplusplus)
#define LSP_BEGIN_DECLS extern "C" {
#define LSP_END_DECLS }
#else
#define LSP_BEGIN_DECLS
#define LSP_END_DECLS
#endif

LSP_BEGIN_DECLS

/* Room for members that later versions add to structs. In structs of options and arguments (lsp_ctx_options,
 * lsp_filter, lsp_mtx_read_options, lsp_mtx_write_options, lsp_segsort_args, lsp_cache_figures, lsp_cache_pattern,
 * lsp_cache_case, lsp_gather_args, lsp_hash_args, lsp_hash_probes, lsp_spgemm_options, lsp_spmv_options,
 * lsp_spmv_vectors, lsp_solve_options, lsp_multigrid_options, lsp_pair_options, lsp_join_options, lsp_density_options,
 * lsp_suffix_options, lsp_sort_args) it must be zero, else the call returns LSP_ERR_ARGUMENT: an option that this
 * library does not know is refused, not ignored. In structs that the library fills (lsp_ctx_info, lsp_supported,
 * lsp_csr_stats, lsp_csr_plan_info, lsp_mtx_info, lsp_segsort_info, lsp_cache_prediction, lsp_gather_info,
 * lsp_hash_info, lsp_spgemm_info, lsp_spmv_info, lsp_solve_info, lsp_multigrid_info, lsp_pair_info, lsp_suffix_info,
 * lsp_sort_info, lsp_nas_result) it is set to zero. All other structs stay as they are until the library's file name
 * changes. */
enum { LSP_RESERVED = 8 };

/* ---- status ------------------------------------------------------------------------------------------------------ */

typedef enum lsp_status {
    LSP_OK = 0,
    LSP_ERR_ARGUMENT = 1,    /* an argument makes no sense: NULL, negative, mismatched sizes, an unknown name */
    LSP_ERR_FORMAT = 2,      /* the input is malformed: a file, or arrays that form no CSR matrix */
    LSP_ERR_IO = 3,          /* a file cannot be opened, read or written */
    LSP_ERR_MEMORY = 4,      /* out of memory, or beyond the budget of the context */
    LSP_ERR_DEVICE = 5,      /* no such device, no driver, or the device failed */
    LSP_ERR_UNSUPPORTED = 6, /* a sensible request that the library does not offer: complex filters, for instance */
    LSP_ERR_OVERFLOW = 7,    /* a size, an index or an integer value does not fit its type */
    LSP_ERR_CONVERGENCE = 8, /* a solver ended before it reached its tolerance */
    LSP_ERR_CANCELLED = 9    /* lsp_ctx_cancel stopped the call */
} lsp_status;

/* Returns "LSP_OK", "LSP_ERR_MEMORY", ...; "?" for a number that is no status. */
LSP_API const char *lsp_status_name(lsp_status status);

/* Returns "0.1.0". */
LSP_API const char *lsp_version(void);

/* ---- context ----------------------------------------------------------------------------------------------------- */

/* Where memory lies, and which processor computes. */
typedef enum lsp_where { LSP_HOST = 0, LSP_CUDA = 1 } lsp_where;

/* A caller's own memory. `alloc` returns `bytes` (more than 0) aligned to 64, or NULL; `where` LSP_CUDA asks for device
 * memory. `free` gets memory that `alloc` returned. Both are called only from the thread that calls the library.
 * Device memory follows the order of the context's stream (lsp_ctx_info.stream; none is asked for before lsp_ctx_create
 * returns): its work is enqueued there behind `alloc`, and `free` is called when the last work has been enqueued, not
 * when it is done. So the pool of that stream fits without a wait, as cudaMallocAsync and cudaFreeAsync, or PyTorch's,
 * CuPy's and RMM's. An allocator without this order must wait in `free`, as cudaFree does. An lsp_array has no stream:
 * its owner frees it when no work uses it. */
typedef struct lsp_allocator {
    void *(*alloc)(void *user, size_t bytes, lsp_where where);
    void (*free)(void *user, void *memory, size_t bytes, lsp_where where);
    void *user;
} lsp_allocator;

/* A caller's own threads. Calls task(data, i) once for each i of 0 .. tasks-1 and returns when all calls have returned,
 * with their writes visible. Tasks may run in any order on any threads: none needs another one to have begun. What a
 * hook leaves out the calling thread does afterwards. The hook must not throw, and a thread that waits in it must not
 * use the same context. A program with OpenMP threads should lend them (examples/openmp.c): they spin for milliseconds
 * after its regions, on the processors that the context's own threads want. */
typedef void (*lsp_task_fn)(void *data, int task);
typedef void (*lsp_parallel_fn)(void *user, int tasks, lsp_task_fn task, void *data);

/* Receives one line, without a newline, for every important decision: the method chosen, and the reason. */
typedef void (*lsp_log_fn)(void *user, const char *message);

/* Receives the progress of long operations, in the caller's thread. `phase` is "read", "multiply" or "write". A product
 * in blocks reports only "stream", the share of its rows handed over; lsp_spgemm_write reports this phase twice.
 * `fraction` grows from 0 to 1; on success the last one is 1. */
typedef void (*lsp_progress_fn)(void *user, const char *phase, double fraction);

/* Options of a context. All zero: the CPU, all its threads, the library's own memory, no limit, no hooks. */
typedef struct lsp_ctx_options {
    lsp_where device;        /* the processor that computes */
    int ordinal;             /* number of the GPU, from 0; the caller's current device does not matter */
    int threads;             /* most host threads, the caller's included; 0: as many as OpenMP would use. The caller
                                does small work alone. The other threads start with the first large work, sleep
                                between calls and end with the context. If the system refuses some, fewer work */
    int64_t max_bytes;       /* memory budget in bytes, for the host and for the GPU each; 0: no limit */
    lsp_allocator allocator; /* set both functions or neither */
    lsp_log_fn log;
    lsp_progress_fn progress;
    void *hook_user;          /* handed to `log`, `progress` and `parallel` */
    void *stream;             /* a cudaStream_t to work on; NULL: the context makes its own. Ignored on the host */
    lsp_parallel_fn parallel; /* NULL, or it runs the host's work in at most `threads` tasks at a time: the context
                                 creates no thread. Results keep their bits. Progress may come less often */
    int64_t reserved[LSP_RESERVED];
} lsp_ctx_options;

typedef struct lsp_ctx lsp_ctx;

/* Makes a context. `options` may be NULL (all zero). On failure *ctx is untouched and the sentence goes to `error`
 * (at most `error_bytes` with the final zero; may be NULL). Returns LSP_ERR_DEVICE if the GPU asked for cannot be used.
 *     lsp_ctx_options on_gpu = {.device = LSP_CUDA};
 *     lsp_ctx_create(&ctx, &on_gpu, error, sizeof error); */
LSP_API lsp_status lsp_ctx_create(lsp_ctx **ctx, const lsp_ctx_options *options, char *error, size_t error_bytes);

/* Frees everything that the context holds. Matrices made with it become invalid and need no lsp_csr_free. Plans may be
 * destroyed before or after the context, each exactly once. Once the context is gone, every other call with a plan
 * returns LSP_ERR_ARGUMENT. A caller's own allocator must outlive the plans. NULL does nothing. Waits for the context's
 * stream. */
LSP_API void lsp_ctx_destroy(lsp_ctx *ctx);

/* Returns the sentence of the last failure, "" if there was none. Valid until the next failure or the end of the
 * context. */
LSP_API const char *lsp_last_error(const lsp_ctx *ctx);

typedef struct lsp_ctx_info {
    lsp_where device;
    int ordinal;
    int threads;
    char device_name[128];   /* name of the GPU, or of the processor for a host context */
    const char *isa;         /* instruction set of the host code in use: "avx512", "avx2" or "portable" */
    int64_t max_bytes;       /* 0: no limit */
    int64_t host_bytes;      /* held now, including memory kept for reuse */
    int64_t host_peak_bytes; /* most in use at one time since creation or lsp_ctx_reset_peak, without kept memory */
    int64_t cuda_bytes;      /* the same on the GPU */
    int64_t cuda_peak_bytes;
    int64_t device_total_bytes; /* memory of the GPU; of the machine for a host context */
    int64_t device_free_bytes;
    void *stream; /* the cudaStream_t that a context of a GPU works on */
    int64_t reserved[LSP_RESERVED];
} lsp_ctx_info;

LSP_API lsp_status lsp_ctx_get_info(lsp_ctx *ctx, lsp_ctx_info *info);

/* Sets the peaks of lsp_ctx_get_info to the bytes in use now. */
LSP_API lsp_status lsp_ctx_reset_peak(lsp_ctx *ctx);

/* Sets the memory budget (0: no limit). Memory that is held already stays. */
LSP_API lsp_status lsp_ctx_set_max_bytes(lsp_ctx *ctx, int64_t max_bytes);

/* Gives back the memory that the context keeps for reuse between calls. */
LSP_API lsp_status lsp_ctx_trim(lsp_ctx *ctx);

/* Stops the context: from now on its calls return LSP_ERR_CANCELLED, the one that runs now too, until
 * lsp_ctx_cancel(ctx, false), which is for the time between two calls. From any thread, hook or signal handler, while
 * the context exists; it sets one atomic flag. A call looks at the flag when it asks for memory, between pieces of its
 * work on the host (products: blocks of rows; points: tiles of pairs; files: batches of lines) and between iterations
 * of a solver: usually a few milliseconds pass. Its outputs are as after any other failure. Not stopped are a call that
 * has begun to write arrays of the caller (a sort, a product with a vector), which ends as if nothing had happened, a
 * call that needs no memory, a kernel on a GPU, and a function of the caller. */
LSP_API void lsp_ctx_cancel(lsp_ctx *ctx, bool cancelled);

/* Waits until all work on the context's stream is done. Returns LSP_ERR_ARGUMENT if a sort since the last call met
 * malformed segments on the GPU; the sentence names one of them. */
LSP_API lsp_status lsp_ctx_sync(lsp_ctx *ctx);

/* Returns the number of GPUs that this build can use here: 0 without a driver or in a build without CUDA. */
LSP_API int lsp_cuda_device_count(void);

/* ---- types ------------------------------------------------------------------------------------------------------- */

typedef enum lsp_type {
    LSP_NONE = 0, /* of a matrix: a pattern, without values. As a type asked for: the library chooses */
    LSP_I32 = 1,
    LSP_I64 = 2,
    LSP_U32 = 3,
    LSP_U64 = 4,
    LSP_F32 = 5,
    LSP_F64 = 6,
    LSP_C64 = 7, /* two doubles, real part first: matrices and their products; no vectors or solvers */
    LSP_BOOL = 8 /* one byte: 0 is false, all others true; what is computed is 0 or 1. For matrices, their products */
} lsp_type;

/* Matrices may have values of LSP_I32, LSP_I64 and LSP_BOOL; vectors and solvers not. Their sums and products are made
 * in LSP_I64, modulo 2^64, so no order of them matters. A result in LSP_I32 must fit, else LSP_ERR_OVERFLOW names the
 * first value that does not; in LSP_BOOL all but 0 is 1. Two types give the wider of both: LSP_BOOL, LSP_I32, LSP_I64.
 * Beside LSP_F32 and LSP_F64 integers are rounded to LSP_F64 first, and so is the result; beside LSP_C64 it is complex.
 * Reals never become integers. A call that narrows integers to LSP_I32 waits for the GPU. */

/* Returns the bytes of one element: 0, 1, 4, 8 or 16. */
LSP_API size_t lsp_type_bytes(lsp_type type);

/* Returns "LSP_NONE", "LSP_I32", ...; "?" for a number that is no type. */
LSP_API const char *lsp_type_name(lsp_type type);

/* ---- what a build offers ----------------------------------------------------------------------------------------- */

/* What this build offers on one device. A set has bit 1 << x for each lsp_type, or method, x that calls take there. */
typedef struct lsp_supported {
    bool compiled;           /* false: nothing at all, and all sets are empty. lsp_cuda_device_count: is a GPU here? */
    const char *targets;     /* instruction sets, the best that the processor has is used: "portable avx2 avx512"; or
                                compute capabilities, times 10: "80 90 100+". +: newer GPUs too */
    uint64_t values;         /* of matrices and of products of matrices; LSP_NONE: patterns */
    uint64_t vectors;        /* lsp_spmv and the solvers */
    uint64_t keys;           /* lsp_segsort, lsp_sort */
    uint64_t points;         /* coordinates in two_body.h */
    uint64_t spgemm_methods; /* of lsp_spgemm_method */
    uint64_t spmv_methods;   /* of lsp_spmv_method; some are for plans alone, or for some matrices */
    uint64_t sort_methods;   /* of lsp_sort_method */
    uint64_t pair_methods;   /* of lsp_pair_method */
    uint64_t suffix_methods; /* of lsp_suffix_method */
    int64_t reserved[LSP_RESERVED];
} lsp_supported;

/* Tells what the build offers for work on `device`. Needs no GPU and no context.
 *     lsp_supported here;
 *     lsp_get_supported(LSP_CUDA, &here);
 *     bool complex_products = here.values >> LSP_C64 & 1; */
LSP_API lsp_status lsp_get_supported(lsp_where device, lsp_supported *supported);

/* ---- arrays: vectors on either device, and arrays that left a context -------------------------------------------- */

/* An array without an owner: it outlives its context. */
typedef struct lsp_array {
    void *memory; /* NULL: no array */
    size_t bytes; /* as many as were asked for, or a few more */
    lsp_where where;
    lsp_allocator allocator; /* frees it: lsp_array_free */
} lsp_array;

/* Makes an array of `bytes` bytes, not set, aligned to 64; with 0 bytes its memory is NULL. On a GPU it waits for the
 * context's stream. On failure *array is untouched.
 *     lsp_array x;
 *     lsp_array_create(ctx, n * sizeof(double), LSP_CUDA, &x);
 *     lsp_array_copy(ctx, x.memory, LSP_CUDA, on_host, LSP_HOST, n * sizeof(double)); */
LSP_API lsp_status lsp_array_create(lsp_ctx *ctx, size_t bytes, lsp_where where, lsp_array *array);

/* Copies memory of any origin; the two pieces must not overlap. A copy to or from the host waits until it is done: the
 * host memory may be used when the call returns. One within a GPU, or from another GPU, is work of the stream. */
LSP_API lsp_status lsp_array_copy(lsp_ctx *ctx, void *to, lsp_where to_where, const void *from, lsp_where from_where,
                                  size_t bytes);

/* Frees an array, and zeroes *array. From any thread. Waits for a GPU, unless a caller's own allocator made the array.
 * The last array of such an allocator must be freed before what `allocator.user` points to ends. */
LSP_API void lsp_array_free(lsp_array *array);

LSP_END_DECLS
#endif
