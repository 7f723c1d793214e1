/* Inside the Matrix Market reader.
 *
 * A source gives the text by offset: a file is read in place, pipes and gzip are kept in pieces of memory. The text
 * after the header is cut into parts, one per thread. A stream gives the whole lines of a part, and a decoder turns
 * them into batches of entries. Pass 1 counts the entries of every row in every part; pass 2 puts each entry into its
 * slot. If a pass meets a mistake, one thread reads all lines again and reports the first one at fault. */
#pragma once

#include "matrices/csr/plans.h"

/* ---- words ---- */

static inline bool lsp_mtx_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The next word of the line at *p, which goes to its end; of length 0 at the end of the line. */
typedef struct lsp_mtx_word {
    const char *text;
    int64_t length;
} lsp_mtx_word;
lsp_mtx_word lsp_mtx_next_word(const char **p);

/* A word for a message: at most 40 characters, unprintable ones replaced by '?'. */
typedef struct lsp_mtx_shown {
    char text[44];
} lsp_mtx_shown;
lsp_mtx_shown lsp_mtx_show(lsp_mtx_word word);

static inline int64_t lsp_mtx_count_lines(const char *text, const char *end) {
    int64_t lines = 0;
    for (; text < end; text++) {
        lines += *text == '\n';
    }
    return lines;
}

/* ---- text by offset ---- */

enum {
    lsp_mtx_block = 256 << 10,   /* bytes fetched at a time */
    lsp_mtx_line_most = 1 << 20, /* a longer line is refused */
    lsp_mtx_pieces = 128, /* most pieces of a pipe's or compressed file's text; each is larger than the one before */
    lsp_mtx_pad = 64,     /* bytes that may be read after a line */
    lsp_mtx_input = 64 << 10, /* bytes of a pipe or a compressed file that are read at a time */
};

typedef struct lsp_mtx_piece {
    const char *text;
    int64_t begin, end; /* offsets in the text; the last piece may have room for more */
} lsp_mtx_piece;

typedef struct lsp_mtx_source {
    const char *name; /* in messages */
    int fd;           /* a regular file, read in place; -1: text in memory */
    bool opened;      /* lsp_mtx_close closes fd */
    int64_t base;     /* where the text begins in the file */
    int64_t bytes;    /* of text */
    bool compressed;
    int pieces;
    lsp_mtx_piece piece[lsp_mtx_pieces];
} lsp_mtx_source;

typedef struct lsp_mtx_bytes { /* bytes not yet taken */
    int fd;                    /* -1: memory alone */
    const unsigned char *next;
    size_t left;
    unsigned char *buffer; /* of lsp_mtx_input bytes */
} lsp_mtx_bytes;

/* Opens a path ("-": standard input) or memory. The text may lie in scratch, which ends with the call. Always close. */
lsp_status lsp_mtx_open(lsp_ctx *ctx, const char *path, lsp_mtx_source *source);
lsp_status lsp_mtx_open_memory(lsp_ctx *ctx, const lsp_mtx_bytes *text, const char *name, lsp_mtx_source *source);
void lsp_mtx_close(lsp_mtx_source *source);

/* Copies text [offset, offset + bytes) to `buffer`; false if it cannot, with errno set (0: the file ended). */
bool lsp_mtx_fetch(const lsp_mtx_source *source, int64_t offset, int64_t bytes, char *buffer);

/* ---- gzip: one or more members, from a file, a pipe or memory ---- */

/* Reads until `least` bytes are left, or the input ends. */
lsp_status lsp_mtx_more(lsp_ctx *ctx, const lsp_mtx_source *source, lsp_mtx_bytes *input, size_t least);

/* *at = memory for more text behind that of the source, of *room bytes, 1 or more. */
lsp_status lsp_mtx_find_room(lsp_ctx *ctx, lsp_mtx_source *source, char **at, int64_t *room);

/* Decompresses all of the input into pieces of the source. */
lsp_status lsp_mtx_inflate(lsp_ctx *ctx, lsp_mtx_bytes *input, lsp_mtx_source *source);

/* ---- whole lines ---- */

typedef enum lsp_mtx_fault {
    LSP_MTX_FINE = 0,
    LSP_MTX_IO,        /* the text could not be fetched */
    LSP_MTX_LONG_LINE, /* more than lsp_mtx_line_most */
    LSP_MTX_ROW,       /* no row index, or one outside the matrix */
    LSP_MTX_COL,
    LSP_MTX_VALUE,
    LSP_MTX_JUNK,     /* something after the entry */
    LSP_MTX_UPPER,    /* above the diagonal of a symmetric file */
    LSP_MTX_DIAGONAL, /* a diagonal entry that a skew or hermitian file cannot have */
    LSP_MTX_EXTRA,    /* more entries than announced */
    LSP_MTX_RANGE,    /* the integer does not fit the type asked for */
    LSP_MTX_CHANGED,  /* the second pass found other entries than the first */
} lsp_mtx_fault;

typedef struct lsp_mtx_stream {
    const lsp_mtx_source *source;
    char *buffer;        /* of lsp_mtx_stream_bytes() */
    int64_t at;          /* offset in the text of buffer[0] */
    int64_t used;        /* bytes of the buffer already given to the caller */
    int64_t filled;      /* bytes of the buffer fetched */
    int64_t stop;        /* lines that begin here or later belong to the next part */
    bool skip;           /* the first line began before this part */
    lsp_mtx_fault fault; /* the reason for an early end */
    int error;           /* errno of LSP_MTX_IO; 0: the file became shorter */
} lsp_mtx_stream;

/* Bytes of the buffer that a stream of this source needs. */
static inline int64_t lsp_mtx_stream_bytes(const lsp_mtx_source *source) {
    return lsp_min(source->bytes, lsp_mtx_line_most + lsp_mtx_block) + 2 * lsp_mtx_pad;
}

/* Starts a stream of the lines that begin in [begin, stop). `first` is the offset of the first line of the text. */
void lsp_mtx_stream_start(lsp_mtx_stream *stream, const lsp_mtx_source *source, char *buffer, int64_t first,
                          int64_t begin, int64_t stop);

/* Gives the next lines, each ended by a newline, which is added to the last one. False at the end or at a fault. */
bool lsp_mtx_stream_next(lsp_mtx_stream *stream, const char **text, int64_t *bytes);

/* Refuses the text if a fault ended the stream; `line`: the one that it could not give. */
lsp_status lsp_mtx_stream_check(lsp_ctx *ctx, const lsp_mtx_stream *stream, int64_t line);

/* ---- the header ---- */

typedef struct lsp_mtx_header {
    lsp_mtx_format format;
    lsp_mtx_field field;
    lsp_symmetry symmetry;
    int64_t rows, cols;
    int64_t entries; /* lines to follow: as announced, or all numbers of an array */
    int64_t body;    /* offset of the text after the size line */
    int64_t line;    /* number of the size line, from 1 */
    lsp_type whole;  /* the integer type that values are read as; LSP_NONE: they are read as doubles */
} lsp_mtx_header;

/* Reads the banner, comments and the size line. */
lsp_status lsp_mtx_read_header(lsp_ctx *ctx, const lsp_mtx_source *source, char *buffer, lsp_mtx_header *header);

/* ---- lines to entries ---- */

enum { lsp_mtx_window = 8192 }; /* bytes of text decoded at a time, and most entries in them */

typedef struct lsp_mtx_batch {
    int64_t count;
    lsp_mtx_fault fault;
    const char *where; /* the line at fault */
    uint32_t newlines[lsp_mtx_window + 64];
    int64_t row[lsp_mtx_window], col[lsp_mtx_window]; /* from 0 */
    double re[lsp_mtx_window];
    union {
        double im[lsp_mtx_window];
        int64_t whole[lsp_mtx_window]; /* if header->whole is set: the integers; re[] holds them rounded */
    };
    int64_t slot[lsp_mtx_window];
} lsp_mtx_batch;

/* Entry `to` of a batch = the mirror of entry k, with its values if it has them. */
static inline __attribute__((always_inline)) void lsp_mtx_mirror(const lsp_mtx_header *header, bool values,
                                                                 lsp_mtx_batch *batch, int64_t k, int64_t to) {
    const bool skew = header->symmetry == LSP_SYMMETRY_SKEW;
    const int64_t row = batch->row[k];
    batch->row[to] = batch->col[k];
    batch->col[to] = row;
    if (values) {
        batch->re[to] = skew ? -batch->re[k] : batch->re[k];
    }
    if (values && header->whole) {
        const uint64_t x = (uint64_t)batch->whole[k];
        batch->whole[to] = (int64_t)(skew ? 0 - x : x);
    }
    if (values && header->field == LSP_MTX_COMPLEX) {
        batch->im[to] = header->symmetry == LSP_SYMMETRY_SYMMETRIC ? batch->im[k] : -batch->im[k];
    }
}

typedef enum lsp_mtx_depth {
    LSP_MTX_ROWS,   /* rows alone; for an array only the number of lines */
    LSP_MTX_PLACES, /* rows and columns */
    LSP_MTX_ALL
} lsp_mtx_depth;

/* Decodes the lines at `text` that end within a window, or one longer line; returns where the next line begins. At a
 * fault the batch holds the entries before it. Entries are checked against the symmetry, but not mirrored. */
typedef const char *lsp_mtx_decode_fn(const lsp_mtx_header *header, bool lenient, lsp_mtx_depth depth, const char *text,
                                      const char *end, lsp_mtx_batch *batch);
lsp_mtx_decode_fn lsp_mtx_decode_portable, lsp_mtx_decode_avx2, lsp_mtx_decode_avx512;

/* ---- both passes ---- */

typedef struct lsp_mtx_reader {
    lsp_mtx_source source;
    lsp_mtx_header header;
    lsp_mtx_read_options options;
    lsp_mtx_decode_fn *decode;
    lsp_csr A; /* the matrix being made */
    int64_t duplicates;
} lsp_mtx_reader;

/* NUMBERS: of the lines of an array. COUNT: by row. PLACE: into the matrix. */
typedef enum lsp_mtx_pass { LSP_MTX_NUMBERS, LSP_MTX_COUNT, LSP_MTX_PLACE } lsp_mtx_pass;

typedef struct lsp_mtx_part {
    int64_t begin, stop; /* the part has the lines that begin in [begin, stop) */
    int64_t numbers;     /* entries in the file */
    int64_t first;       /* numbers before this part */
    void *slots;         /* its own of the job */
    char *buffer;
    lsp_mtx_batch *batch;
    lsp_mtx_fault fault;
} lsp_mtx_part;

typedef struct lsp_mtx_job {
    lsp_ctx *ctx;
    lsp_mtx_reader *reader;
    lsp_mtx_part *parts; /* slots.parts of them */
    lsp_counts slots;    /* of each row in each part: entries counted, then the next free slot */
    bool mirror;         /* entries off the diagonal count twice */
    lsp_mtx_pass pass;
} lsp_mtx_job;

/* Counts or stores the entries of the part's batch, and their mirrors if the job wants them. False if a slot lies
 * outside the matrix, because the text changed after it was counted. Overwrites the batch. */
bool lsp_mtx_use_batch(const lsp_mtx_job *job, const lsp_mtx_part *part);

/* Fails with LSP_ERR_MEMORY and the bytes if `bytes` and one thread's batch exceed the budget. */
lsp_status lsp_mtx_check_memory(lsp_ctx *ctx, const lsp_mtx_source *source, int64_t bytes);

/* Reads everything after the header. */
lsp_status lsp_mtx_read_body(lsp_ctx *ctx, lsp_mtx_reader *reader);

/* Finds the first line at fault and fails with a sentence about it; LSP_OK if all lines are right. */
lsp_status lsp_mtx_explain(lsp_ctx *ctx, const lsp_mtx_reader *reader, lsp_mtx_batch *batch, char *buffer);

/* ---- arrays: numbers by columns; a symmetric array stores the numbers at and below the diagonal ---- */

typedef struct lsp_mtx_cursor {
    int64_t row, col;
} lsp_mtx_cursor;

/* The place of number k. */
lsp_mtx_cursor lsp_mtx_array_place(const lsp_mtx_header *header, int64_t k);

/* Gives the numbers of a batch their places, from *cursor on, and drops zeros. If a place is outside the array, or the
 * diagonal cannot hold the number, sets batch->fault and batch->count = the numbers before it. */
void lsp_mtx_array_entries(const lsp_mtx_header *header, lsp_mtx_cursor *cursor, lsp_mtx_batch *batch);
