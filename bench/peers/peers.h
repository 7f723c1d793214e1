/* The peers, behind plain functions: each in a file of its own (peer_*.c, peer_*.cpp), there only when the bench was
 * built where its Debian package was installed. PEER_EIGEN(p) and its like are the address of p, or NULL without it. */
#ifndef LSP_BENCH_PEERS_PEERS_H
#define LSP_BENCH_PEERS_PEERS_H

#include "libsparse.h"

/* The text of a macro's value: PEER_TEXT(__GLIBC__) is "2". */
#define PEER_TEXT_OF(x) #x
#define PEER_TEXT(x) PEER_TEXT_OF(x)
#define PEER_VERSION(major, minor, patch) PEER_TEXT(major) "." PEER_TEXT(minor) "." PEER_TEXT(patch)

#ifdef __cplusplus
extern "C" {
#endif

/* C = A*A by somebody else. */
typedef struct peer_product {
    bool f32, parallel;                              /* offers single precision; uses threads */
    void *(*prepare)(const lsp_csr *A, int threads); /* A (int32 indices) in the peer's form; NULL: out of memory */
    bool (*multiply)(void *self);                    /* timed: to C in memory, rows sorted */
    void (*view)(void *self, lsp_csr *C);            /* the arrays of C */
    void (*release)(void *self);                     /* drops C */
    void (*destroy)(void *self);
    const char *version; /* by the peer's headers; NULL: written here, or known only at run time */
} peer_product;

/* The same on the GPU: A lies there, and C will. */
typedef struct peer_gpu_product {
    void *(*prepare)(const lsp_csr *A); /* NULL: it cannot be used */
    bool (*multiply)(void *self);       /* timed: waits for the end; memory from a pool that keeps it */
    void (*view)(void *self, lsp_csr *C);
    void (*release)(void *self);
    void (*destroy)(void *self);
    const char *(*why)(void *self); /* what went wrong */
    int64_t (*peak)(void *self);    /* bytes taken at once, C among them */
    const char *version;            /* by the peer's headers; NULL: known only at run time */
} peer_gpu_product;

/* A Matrix Market reader; `view` gives what it read as triples. */
typedef struct peer_reader {
    bool pattern;                    /* understands files without values */
    void *(*read)(const char *path); /* timed; NULL: failed */
    void (*view)(void *self, lsp_coo *A);
    void (*destroy)(void *self);
} peer_reader;

/* A writer of A, or of its lower triangle as a symmetric file. */
typedef struct peer_writer {
    bool pattern;                                       /* can write files without values */
    void *(*prepare)(const lsp_csr *A, bool symmetric); /* A in the peer's form; NULL: out of memory */
    bool (*write)(void *self, const char *path);        /* timed */
    void (*destroy)(void *self);
} peer_writer;

/* A sort of segments on the host, `args` as for lsp_segsort, offsets int32: segments first .. last-1, out of place, in
 * `scratch` of 16 bytes for each item of the longest segment. Called from several threads at once. */
typedef struct peer_segments {
    bool stable;
    void (*sort)(const lsp_segsort_args *args, int64_t first, int64_t last, void *scratch);
    const char *version; /* of whose library it is */
} peer_segments;

/* The same on the GPU: all segments, all arrays there. */
typedef struct peer_gpu_segments {
    bool (*offers)(const lsp_segsort_args *args);
    /* Takes the memory it needs, and says how much; NULL: there is not enough. `stream`: a cudaStream_t. */
    void *(*prepare)(const lsp_segsort_args *args, void *stream, int64_t *scratch_bytes);
    const char *(*sort)(void *self);   /* timed: puts its work on the stream; NULL, or what went wrong */
    const char *(*finish)(void *self); /* not timed: brings the result to where `args` wants it */
    void (*destroy)(void *self);
    const char *version; /* by the peer's headers */
} peer_gpu_segments;

extern const peer_segments peer_std_sort, peer_std_stable_sort, peer_qsort, peer_vqsort, peer_xss;
extern const peer_gpu_segments peer_cub_segsort, peer_cub_radix, peer_cub_segradix;
extern const peer_gpu_product peer_esc;
extern const peer_product peer_dense, peer_eigen_product, peer_graphblas, peer_cholmod_product, peer_petsc;
extern const peer_reader peer_libc_reader, peer_fast_float, peer_eigen_reader, peer_cholmod_reader;
extern const peer_writer peer_libc_writer, peer_to_chars, peer_eigen_writer, peer_cholmod_writer;

/* Writes a coordinate file with the C library: by rows, or by columns as the files of the SuiteSparse collection are.
 */
typedef struct peer_text {
    bool symmetric, integer, by_columns;
} peer_text;
bool peer_libc_write(const lsp_csr *A, peer_text text, const char *path);

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

#endif
