/* Inside the Matrix Market reader and writer.
 *
 * Reading: a source gives the text by offset (a file in place; or pieces of memory, for pipes and gzip). The text after
 * the header is cut into parts, one a thread; a stream gives the whole lines of a part, a decoder turns them into
 * batches of entries. Pass 1 counts the entries of every row in every part, pass 2 puts each entry into its slot. When
 * anything is wrong, one thread goes through the lines again and tells which is the first. */
#ifndef LSP_MATRICES_MTX_MTX_H
#define LSP_MATRICES_MTX_MTX_H

#include "core/core.h"

/* ---- words ---- */

static inline bool lsp_mtx_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* A word as it may stand in a message: short and printable. */
typedef struct lsp_mtx_shown {
    char text[44];
} lsp_mtx_shown;
lsp_mtx_shown lsp_mtx_show(const char *text, int64_t length);

/* ---- text by offset ---- */

enum {
    lsp_mtx_block = 256 << 10,   /* bytes fetched at a time */
    lsp_mtx_line_most = 1 << 20, /* a longer line is refused */
    lsp_mtx_pieces = 128, /* text of a pipe or of a compressed file is kept in pieces that grow, at most so many */
    lsp_mtx_pad = 64,     /* bytes that may be read after a line */
};

typedef struct lsp_mtx_source {
    const char *name; /* in messages */
    int fd;           /* a regular file, read in place; -1: text in memory */
    bool opened;      /* fd is ours to close */
    int64_t base;     /* where the text begins in the file */
    int64_t bytes;    /* of text */
    bool compressed;
    int pieces;
    struct {
        const char *text;
        int64_t begin, end; /* offsets in the text */
    } piece[lsp_mtx_pieces];
} lsp_mtx_source;

/* Opens a path ("-": standard input) or memory; takes scratch of the call at hand. Close in any case. */
lsp_status lsp_mtx_open(lsp_ctx *ctx, const char *path, lsp_mtx_source *source);
lsp_status lsp_mtx_open_memory(lsp_ctx *ctx, const void *text, size_t bytes, const char *name, lsp_mtx_source *source);
void lsp_mtx_close(lsp_mtx_source *source);

/* Copies text [offset, offset + bytes) to `buffer`; false, with errno set (0: the file ended), if it is not there. */
bool lsp_mtx_fetch(const lsp_mtx_source *source, int64_t offset, int64_t bytes, char *buffer);

/* ---- gzip: members one after the other, from a file, a pipe or memory ---- */

typedef struct lsp_mtx_bytes { /* compressed bytes to come */
    int fd;                    /* -1: memory alone */
    const unsigned char *next;
    size_t left;
    unsigned char *buffer;
    size_t buffer_bytes;
} lsp_mtx_bytes;

/* More bytes at `next`; 0 at the end, -1 with errno set. */
int64_t lsp_mtx_more(lsp_mtx_bytes *input);

/* Room for more text: *room bytes at *piece. */
lsp_status lsp_mtx_add_piece(lsp_ctx *ctx, lsp_mtx_source *source, char **piece, int64_t *room);
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
    LSP_MTX_CHANGED,  /* the second pass did not find what the first had found */
} lsp_mtx_fault;

typedef struct lsp_mtx_stream {
    const lsp_mtx_source *source;
    char *buffer;        /* of lsp_mtx_stream_bytes() */
    int64_t at;          /* offset in the text of buffer[0] */
    int64_t used;        /* bytes of the buffer handed out already */
    int64_t filled;      /* bytes of the buffer fetched */
    int64_t stop;        /* lines that begin here or later are another's */
    bool skip;           /* the first line began before this part */
    lsp_mtx_fault fault; /* why it ended early */
    int error;           /* errno of LSP_MTX_IO; 0: the file became shorter */
} lsp_mtx_stream;

/* Bytes of buffer that a stream of this source needs. */
static inline int64_t lsp_mtx_stream_bytes(const lsp_mtx_source *source) {
    return lsp_min(source->bytes, lsp_mtx_line_most + lsp_mtx_block) + 2 * lsp_mtx_pad;
}

/* The lines that begin in [begin, stop); a line begins at `first`. */
void lsp_mtx_stream_start(lsp_mtx_stream *stream, const lsp_mtx_source *source, char *buffer, int64_t first,
                          int64_t begin, int64_t stop);

/* The next lines, each ended by a newline (the last one of the text gets one); false at the end or at a fault. */
bool lsp_mtx_stream_next(lsp_mtx_stream *stream, const char **text, int64_t *bytes);

/* ---- the header ---- */

typedef struct lsp_mtx_header {
    lsp_mtx_format format;
    lsp_mtx_field field;
    lsp_symmetry symmetry;
    int64_t rows, cols;
    int64_t entries; /* lines that follow: announced, or all numbers of an array */
    int64_t body;    /* offset of the text after the size line */
    int64_t line;    /* number of the size line, from 1 */
} lsp_mtx_header;

/* Reads the banner, comments and the size line. */
lsp_status lsp_mtx_read_header(lsp_ctx *ctx, const lsp_mtx_source *source, char *buffer, lsp_mtx_header *header);

/* ---- lines to entries ---- */

enum { lsp_mtx_window = 8192, lsp_mtx_batch_most = lsp_mtx_window }; /* text taken at a time; entries it can make */

typedef struct lsp_mtx_batch {
    int64_t count;
    lsp_mtx_fault fault;
    const char *where; /* the line at fault */
    uint32_t newlines[lsp_mtx_window + 64];
    int64_t row[lsp_mtx_batch_most], col[lsp_mtx_batch_most]; /* from 0 */
    double re[lsp_mtx_batch_most], im[lsp_mtx_batch_most];
    int64_t slot[lsp_mtx_batch_most];
} lsp_mtx_batch;

typedef enum lsp_mtx_depth {
    LSP_MTX_ROWS,   /* the rows alone; of an array, where nothing is known of a line: that there is one */
    LSP_MTX_PLACES, /* rows and columns */
    LSP_MTX_ALL
} lsp_mtx_depth;

/* Decodes the lines at `text` that end within a window, or one longer line; returns where the next line begins. At a
 * fault the batch holds the entries before. The rules of symmetric files are applied; entries are not mirrored. */
typedef const char *lsp_mtx_decode_fn(const lsp_mtx_header *header, bool lenient, lsp_mtx_depth depth, const char *text,
                                      const char *end, lsp_mtx_batch *batch);
lsp_mtx_decode_fn lsp_mtx_decode_portable, lsp_mtx_decode_avx2, lsp_mtx_decode_avx512;

/* ---- both passes ---- */

typedef struct lsp_mtx_reader {
    lsp_mtx_source source;
    lsp_mtx_header header;
    lsp_mtx_read_options options;
    lsp_mtx_decode_fn *decode;
    lsp_csr A; /* in the making */
    int64_t duplicates;
} lsp_mtx_reader;

typedef enum lsp_mtx_pass { LSP_MTX_NUMBERS, LSP_MTX_COUNT, LSP_MTX_PLACE } lsp_mtx_pass;

typedef struct lsp_mtx_part {
    int64_t begin, stop; /* its lines begin in [begin, stop) of the text */
    int64_t numbers;     /* entries in the file */
    int64_t first;       /* numbers before this part */
    void *slots;         /* by row: entries counted, then the next free slot */
    char *buffer;
    lsp_mtx_batch *batch;
    lsp_mtx_fault fault;
} lsp_mtx_part;

typedef struct lsp_mtx_job {
    lsp_ctx *ctx;
    lsp_mtx_reader *reader;
    lsp_mtx_part *parts;
    int count;
    bool wide;   /* slots are of 64 bits, not 32 */
    bool mirror; /* entries off the diagonal count twice */
} lsp_mtx_job;

/* Counts or stores the entries of a batch, and their mirrors if the job wants them; false if a slot is none of the
 * matrix's, because the text is not what was counted. Leaves nothing of use in the batch. */
bool lsp_mtx_use_batch(const lsp_mtx_job *job, lsp_mtx_part *part, lsp_mtx_pass pass, lsp_mtx_batch *batch);

/* LSP_ERR_MEMORY, with the bytes, if the budget has no room for `bytes` and one thread's batch. */
lsp_status lsp_mtx_check_memory(lsp_ctx *ctx, const lsp_mtx_source *source, int64_t bytes);

/* Everything after the header. */
lsp_status lsp_mtx_read_body(lsp_ctx *ctx, lsp_mtx_reader *reader);

/* Finds the first line at fault and says what is wrong with it; LSP_OK if nothing is. */
lsp_status lsp_mtx_explain(lsp_ctx *ctx, const lsp_mtx_reader *reader, lsp_mtx_batch *batch, char *buffer);

/* ---- arrays: numbers by columns; of a symmetric one those at and below the diagonal ---- */

typedef struct lsp_mtx_cursor {
    int64_t row, col;
} lsp_mtx_cursor;

/* Where number k stands. */
lsp_mtx_cursor lsp_mtx_array_place(const lsp_mtx_header *header, int64_t k);

/* Gives the numbers of a batch their places, from *cursor on, and drops zeros. At a fault (there is no such place, or
 * the diagonal cannot hold the number) batch->fault is set and batch->count says how many numbers were fine. */
void lsp_mtx_array_entries(const lsp_mtx_header *header, lsp_mtx_cursor *cursor, lsp_mtx_batch *batch);

#endif
