/* libsparse/mtx.h: Matrix Market files. Part of libsparse.h, which states the rules for all functions. */
#ifndef LIBSPARSE_MTX_H
#define LIBSPARSE_MTX_H

#include "matrix.h"

LSP_BEGIN_DECLS

typedef enum lsp_mtx_format { LSP_MTX_COORDINATE = 0, LSP_MTX_ARRAY = 1 } lsp_mtx_format;
typedef enum lsp_mtx_field {
    LSP_MTX_REAL = 0,
    LSP_MTX_INTEGER = 1,
    LSP_MTX_PATTERN = 2,
    LSP_MTX_COMPLEX = 3
} lsp_mtx_field;

/* Facts about a file. */
typedef struct lsp_mtx_info {
    lsp_mtx_format format;
    lsp_mtx_field field;
    lsp_symmetry symmetry;
    int64_t rows, cols;
    int64_t entries;    /* as announced, before symmetric expansion; for an array file: the numbers stored */
    int64_t duplicates; /* entries summed into others */
    int64_t bytes;      /* of text, after decompression */
    bool compressed;
    int64_t reserved[LSP_RESERVED];
} lsp_mtx_info;

typedef struct lsp_mtx_read_options {
    lsp_csr_types types; /* val_type LSP_NONE: a pattern stays one, complex becomes C64, all else f64. LSP_I32, LSP_I64
                            and LSP_BOOL: for files of integers, which are read exactly, and patterns */
    bool lenient;        /* accept entries above the diagonal of a symmetric file, and take them as their mirrors */
    bool keep_triangle;  /* do not expand a symmetric file: keep the triangle that it stores */
    bool header_only;    /* read banner and sizes and check nothing further; *A is left as it is */
    int64_t reserved[LSP_RESERVED];
} lsp_mtx_read_options;

/* Reads a file ("-": standard input), plain or gzip by content, into rows sorted by column. Duplicates are summed in
 * the order of the file. Zeros of a coordinate file stay; zeros of an array file are dropped. Malformed input gives
 * LSP_ERR_FORMAT and the sentence "path:line: what is wrong"; an integer or a sum of integers that does not fit the
 * type asked for gives LSP_ERR_OVERFLOW. A short file that announces many entries takes no memory for them. Memory for
 * the announced rows must fit the budget or the free memory, else the call returns LSP_ERR_MEMORY. The caller frees A.
 * `options` and `info` may be NULL. */
LSP_API lsp_status lsp_mtx_read(lsp_ctx *ctx, const char *path, const lsp_mtx_read_options *options, lsp_csr *A,
                                lsp_mtx_info *info);

/* As lsp_mtx_read, from memory; `name` takes the place of the path in messages. */
LSP_API lsp_status lsp_mtx_read_memory(lsp_ctx *ctx, const void *text, size_t bytes, const char *name,
                                       const lsp_mtx_read_options *options, lsp_csr *A, lsp_mtx_info *info);

typedef struct lsp_mtx_write_options {
    lsp_symmetry symmetry; /* not LSP_SYMMETRY_GENERAL: write the lower triangle only. A must have this symmetry
                              exactly, which is checked */
    const char *comment;   /* NULL, or lines to be written below the banner */
    lsp_mtx_field field;   /* LSP_MTX_INTEGER: write integers. Values must be whole and below 2^53 (f32: 2^24), which
                              is checked. 0: the field that fits the values */
    int64_t reserved[LSP_RESERVED];
} lsp_mtx_write_options;

/* Writes A as a coordinate file: real (or integer, if asked), integer (LSP_I32, LSP_I64, and LSP_BOOL as 0 and 1),
 * pattern (LSP_NONE) or complex (C64). Each number has the fewest digits that read back to the same bits. "-" is
 * standard output; a path that ends in ".gz" is compressed. A file appears complete or not at all: it is written beside
 * its place, as .lsp-PID-N.part, and renamed. A matrix on the GPU is copied in pieces, each while the piece before it
 * is written. `options` may be NULL. */
LSP_API lsp_status lsp_mtx_write(lsp_ctx *ctx, const char *path, const lsp_csr *A,
                                 const lsp_mtx_write_options *options);

LSP_END_DECLS
#endif
