/* The peers behind structs of functions, each peer in a file of its own. A peer is compiled only if its package was
 * installed when the bench was built. PEER_EIGEN(p) is the address of p, or NULL without Eigen; so are the others. */
#pragma once

#include "libsparse.h"

/* The text of a macro's value: PEER_TEXT(__GLIBC__) is "2". */
#define PEER_TEXT_OF(x) #x
#define PEER_TEXT(x) PEER_TEXT_OF(x)
#define PEER_VERSION(major, minor, patch) PEER_TEXT(major) "." PEER_TEXT(minor) "." PEER_TEXT(patch)

#if defined(__GLIBC__)
#define PEER_C_LIBRARY "glibc " PEER_TEXT(__GLIBC__) "." PEER_TEXT(__GLIBC_MINOR__)
#else
#define PEER_C_LIBRARY "unknown"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* C = A*B, or R*(A*B) if R is not NULL. Indices are int32, and all values have one type. */
typedef struct peer_factors {
    const lsp_csr *R, *A, *B;
} peer_factors;

/* A product on the CPU. */
typedef struct peer_product {
    bool f32, parallel, triple;                           /* multiplies f32; uses threads; offers R*(A*B) */
    void *(*prepare)(const peer_factors *f, int threads); /* converts the factors; NULL: out of memory */
    bool (*multiply)(void *self);                         /* timed: makes C in memory, rows sorted */
    void (*view)(void *self, lsp_csr *C);                 /* the arrays of C */
    void (*release)(void *self);                          /* drops C */
    void (*destroy)(void *self);
    const char *version; /* by the peer's headers; NULL: written here, or known only at run time */
} peer_product;

/* C = A*B on the GPU; all matrices lie there. */
typedef struct peer_gpu_product {
    void *(*prepare)(const peer_factors *f); /* NULL: it cannot be used */
    bool (*multiply)(void *self);            /* timed: waits for the end; takes memory from a pool that keeps it */
    void (*view)(void *self, lsp_csr *C);
    void (*release)(void *self);
    void (*destroy)(void *self);
    const char *(*why)(void *self); /* a sentence about the failure */
    int64_t (*peak)(void *self);    /* peak of memory in bytes, with C */
    const char *version;            /* by the peer's headers; NULL: known only at run time */
} peer_gpu_product;

/* A reader of Matrix Market files; `view` shows its result as triples. */
typedef struct peer_reader {
    bool pattern;                    /* reads files without values */
    void *(*read)(const char *path); /* timed; NULL: failed */
    void (*view)(void *self, lsp_coo *A);
    void (*destroy)(void *self);
    const char *version; /* by the headers of its library; NULL: they do not tell */
} peer_reader;

/* A writer of A as a general file, or of its lower triangle as a symmetric one. */
typedef struct peer_writer {
    bool pattern;                                       /* writes files without values */
    void *(*prepare)(const lsp_csr *A, bool symmetric); /* converts A; NULL: out of memory */
    bool (*write)(void *self, const char *path);        /* timed */
    void (*destroy)(void *self);
} peer_writer;

/* A sort of the segments first .. last-1 on the host, out of place. `args` are those of lsp_segsort with int32 offsets.
 * `scratch` has 16 bytes for each item of the longest segment. Several threads call it at once. */
typedef struct peer_segments {
    bool stable;
    void (*sort)(const lsp_segsort_args *args, int64_t first, int64_t last, void *scratch);
    const char *version; /* of the library that sorts */
} peer_segments;

/* A sort of all segments on the GPU; all arrays lie there. */
typedef struct peer_gpu_segments {
    bool (*offers)(const lsp_segsort_args *args); /* can it sort these arguments? */
    /* Allocates its memory and reports how much. NULL: not enough memory. `stream` is a cudaStream_t. */
    void *(*prepare)(const lsp_segsort_args *args, void *stream, int64_t *scratch_bytes);
    const char *(*sort)(void *self);   /* timed: puts its work on the stream; returns NULL or a complaint */
    const char *(*finish)(void *self); /* not timed: moves the result to where `args` asks for it */
    void (*destroy)(void *self);
    const char *version; /* by the peer's headers */
} peer_gpu_segments;

/* A gather or scatter of one column by int32 indices; distinct ones in a scatter. On the GPU it puts its work on the
 * stream. Returns NULL or a complaint. */
typedef struct peer_move {
    const char *(*run)(const lsp_gather_args *args, bool scatter, int threads, void *stream);
    const char *version;
} peer_move;

/* A table of 32-bit keys with 32-bit values, and what is searched in it. All arrays lie where the peer works. */
typedef struct peer_hash_job {
    int64_t n, probes; /* keys; searched ones */
    const uint32_t *keys, *values, *searched;
    uint32_t *found;  /* find: a value for each probe, all ones if there is none; all: values of all matches */
    int64_t *offsets; /* all: probes + 1 */
    int threads;
    void *stream; /* a cudaStream_t */
} peer_hash_job;

/* Hash search, half of the slots taken. A call on the GPU puts its work on the stream. Each returns NULL or a
 * complaint. */
typedef struct peer_hash {
    void *(*prepare)(const peer_hash_job *job); /* NULL: not enough memory */
    const char *(*build)(void *self);
    const char *(*find)(void *self);
    const char *(*all)(void *self);
    void (*destroy)(void *self);
    const char *version;
} peer_hash;

/* Statistics of the pairs of one set of points, at most 3 or 8 dimensions in open space, or 3 in a periodic cube. */
typedef enum peer_pairs_kind {
    PEER_PAIRS_COUNT,     /* pairs within reach */
    PEER_PAIRS_RADII,     /* pairs within each of `bins` equal steps up to reach */
    PEER_PAIRS_HISTOGRAM, /* `bins` equal bins up to reach */
    PEER_PAIRS_GR,        /* the same in a periodic cube of side `box` */
    PEER_PAIRS_JOIN,      /* the matrix of the pairs within reach, both directions, distances */
    PEER_PAIRS_NEAREST,   /* the matrix of the `bins` nearest points, at most PEER_MOST_NEAREST */
    PEER_PAIRS_DENSITY    /* the sum over all points of exp(-d^2 / (2 reach^2)), not scaled */
} peer_pairs_kind;

enum { PEER_MOST_NEAREST = 16, PEER_MOST_BINS = 4096 };

typedef struct peer_pairs_job {
    peer_pairs_kind kind;
    lsp_points points; /* of the device that the peer works on, stride 1 */
    double reach, box; /* box 0: open space */
    int bins, threads;
    void *stream; /* a cudaStream_t */
} peer_pairs_job;

/* All pairs, one by one. The results lie on the host, but for the matrices of a peer on the GPU. */
typedef struct peer_pairs {
    void *(*prepare)(const peer_pairs_job *job); /* NULL: not enough memory */
    const char *(*run)(void *self);              /* timed, waits for the end; returns NULL or a complaint */
    /* counts: 1 or `bins`; density: float or double, as the points. Those that the kind does not make are NULL. */
    void (*view)(void *self, const uint64_t **counts, const void **density, lsp_csr *C);
    void (*release)(void *self); /* drops the result */
    void (*destroy)(void *self);
    const char *version;
} peer_pairs;

/* Y = op(A) X. All arrays lie where the peer works; indices are int32. */
typedef struct peer_spmv_job {
    const lsp_csr *A;
    lsp_type type; /* of X and Y */
    int vectors;   /* columns of X and Y, whose rows are contiguous */
    bool transpose;
    const void *x;
    void *y;
    int threads;
    void *stream; /* a cudaStream_t */
} peer_spmv_job;

/* A product that can be run many times. The job stays as it is until _destroy. A call on the GPU puts its work on the
 * stream. */
typedef struct peer_spmv {
    bool parallel;
    bool planned; /* brings A into another form beforehand, as our plans do; otherwise it reads the CSR as it is */
    bool (*offers)(const peer_spmv_job *job);
    void *(*prepare)(const peer_spmv_job *job, char *why, size_t why_bytes); /* NULL: cannot be used, `why` or memory */
    const char *(*run)(void *self);                                          /* timed; returns NULL or a complaint */
    const char *(*finish)(void *self); /* not timed: brings the result to job->y; the function may be NULL */
    void (*destroy)(void *self);
    const char *version; /* NULL: known only at run time */
} peer_spmv;

/* The functions of matrices. */
typedef enum peer_function {
    PEER_ADD,            /* A + B */
    PEER_ADD_TRANSPOSED, /* A + B, where B is A^T */
    PEER_HADAMARD,       /* A .* B */
    PEER_REDUCE_ROWS,    /* sums */
    PEER_REDUCE_COLS,
    PEER_REDUCE_ALL,
    PEER_SCALE,        /* rows[i] * A[i][j] * cols[j] */
    PEER_DIAGONAL,     /* as an array */
    PEER_EXTRACT_ROWS, /* A[list[i]][j] */
    PEER_EXTRACT_COLS, /* A[i][list[j]] */
    PEER_BLOCK,        /* rows n/4 .. n/4 + n/2 - 1 of n, and so the columns */
    PEER_TRIANGLE,     /* the lower one */
    PEER_TRANSPOSE,
    PEER_FUNCTIONS
} peer_function;

typedef struct peer_matrices_job {
    peer_function function;
    const lsp_csr *A, *B; /* rows sorted, f64, indices int32 */
    const double *rows, *cols;
    const int32_t *list; /* a permutation */
    int threads;
} peer_matrices_job;

/* A function of matrices on the host. */
typedef struct peer_matrices {
    bool parallel;
    void *(*prepare)(const peer_matrices_job *job); /* NULL: it has no such function */
    bool (*run)(void *self);                        /* timed: makes the result in memory */
    void (*view)(void *self, lsp_csr *C, const double **out);
    void (*release)(void *self); /* drops the result */
    void (*destroy)(void *self);
    const char *version; /* NULL: known only at run time */
} peer_matrices;

/* Conjugate gradients for A x = b on the host; f64, indices int32. */
typedef struct peer_gradients_job {
    const lsp_csr *A;
    int threads;
} peer_gradients_job;

typedef struct peer_gradients {
    void *(*prepare)(const peer_gradients_job *job); /* NULL: out of memory */
    /* The NAS benchmark: an untimed outer iteration, then `outer` timed ones of 25 steps each. Sets zeta and the
     * seconds of the timed part. Returns NULL or a complaint. The function may be NULL. */
    const char *(*nas)(void *self, int outer, double shift, double *zeta, double *seconds);
    /* From x = 0 until |b - A x| <= rtol |b|. The function may be NULL. */
    const char *(*solve)(void *self, const double *b, double *x, double rtol, int most, int *iterations,
                         double *seconds);
    void (*destroy)(void *self);
    const char *version;
} peer_gradients;

extern const peer_spmv peer_plain_spmv, peer_plain_spmv_gpu, peer_eigen_spmv, peer_graphblas_spmv, peer_petsc_spmv;
extern const peer_spmv peer_mkl_spmv, peer_mkl_spmv_plan;
extern const peer_matrices peer_eigen_matrices, peer_mkl_matrices;
extern const peer_gradients peer_plain_cg, peer_eigen_cg;
extern const peer_hash peer_plain_hash, peer_plain_hash_gpu;
extern const peer_pairs peer_plain_pairs, peer_plain_pairs_gpu;
extern const peer_move peer_plain_move, peer_plain_kernel, peer_thrust;
extern const peer_segments peer_std_sort, peer_std_stable_sort, peer_qsort, peer_vqsort, peer_xss;
extern const peer_gpu_segments peer_cub_segsort, peer_cub_radix, peer_cub_segradix, peer_cub_merge;
extern const peer_gpu_product peer_esc;
extern const peer_product peer_dense, peer_list, peer_bits, peer_eigen_product, peer_graphblas, peer_cholmod_product,
    peer_petsc;
extern const peer_reader peer_libc_reader, peer_fast_float, peer_eigen_reader, peer_cholmod_reader;
extern const peer_writer peer_libc_writer, peer_to_chars, peer_eigen_writer, peer_cholmod_writer;

/* libc.c: writes a coordinate file by rows, or by columns like the files of the SuiteSparse collection. */
typedef struct peer_text {
    bool symmetric, integer, by_columns;
} peer_text;
bool peer_libc_write(const lsp_csr *A, peer_text text, const char *path);

/* suffixes.c: suffix arrays of bytes. */
typedef struct peer_suffixes {
    const char *who, *version;
    bool threads; /* it can use several */
    bool (*sort)(const void *text, int64_t n, int32_t *suffixes, int threads);
} peer_suffixes;
extern const peer_suffixes peer_divsufsort, peer_libsais;

#ifdef __cplusplus
}
#endif

#if BENCH_HAVE_EIGEN
#define PEER_EIGEN(p) &(p)
#else
#define PEER_EIGEN(p) NULL
#endif
#if BENCH_HAVE_GRAPHBLAS
#define PEER_GRAPHBLAS(p) &(p)
#else
#define PEER_GRAPHBLAS(p) NULL
#endif
#if BENCH_HAVE_CHOLMOD
#define PEER_CHOLMOD(p) &(p)
#else
#define PEER_CHOLMOD(p) NULL
#endif
#if BENCH_HAVE_PETSC
#define PEER_PETSC(p) &(p)
#else
#define PEER_PETSC(p) NULL
#endif
#if BENCH_HAVE_STD
#define PEER_STD(p) &(p)
#else
#define PEER_STD(p) NULL
#endif
#if BENCH_HAVE_HWY
#define PEER_HWY(p) &(p)
#else
#define PEER_HWY(p) NULL
#endif
#if BENCH_HAVE_XSS
#define PEER_XSS(p) &(p)
#else
#define PEER_XSS(p) NULL
#endif
#if BENCH_HAVE_CUB
#define PEER_CUB(p) &(p)
#else
#define PEER_CUB(p) NULL
#endif
#if BENCH_HAVE_FAST_FLOAT
#define PEER_FAST_FLOAT(p) &(p)
#else
#define PEER_FAST_FLOAT(p) NULL
#endif
#if BENCH_HAVE_DIVSUFSORT
#define PEER_DIVSUFSORT(p) &(p)
#else
#define PEER_DIVSUFSORT(p) NULL
#endif
#if BENCH_HAVE_LIBSAIS
#define PEER_LIBSAIS(p) &(p)
#else
#define PEER_LIBSAIS(p) NULL
#endif
