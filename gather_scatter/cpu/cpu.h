/* Inside gather and scatter on the CPU. A strategy is a way to cut the work; the loops that move elements are few, and
 * kernels.c has a copy of them for each kind of element. An index outside is never followed; *bad becomes the lowest
 * position that has one, or stays INT64_MAX. */
#pragma once

#include "gather_scatter/job.h"

/* ---- loops ---- */

/* Types of arrays of places: those of the caller, and the narrow ones of plans. */
enum { LSP_PLACE_I32, LSP_PLACE_I64, LSP_PLACE_U16, LSP_PLACE_U32, LSP_PLACES };

/* A share of positions is cut into bins of 2^shift elements of the indexed array. The items of a bin go to packets of
 * 128 bytes, which hold elements and their places inside the bin. Packets lie in chunks; bin b starts with chunk b. */
enum { LSP_GATHER_PACKET_BYTES = 128, LSP_GATHER_CHUNK = 32 };
typedef struct lsp_packet_job {
    const void *from, *index; /* of the share */
    int64_t n, extent;
    int shift;
    int64_t bins;
    char *packets, *open; /* open: of each bin, the packet that is filled now */
    int64_t *next;        /* of each bin: the packet that is written next */
    int64_t *link;        /* of each full chunk: the one that follows */
    int64_t bad;          /* becomes the lowest position with an index outside */
} lsp_packet_job;

/* How the elements of one column move. `op` stores an element, or adds it. */
typedef struct lsp_mover {
    /* to[k] = from[place[k]], for k < n */
    void (*gather[LSP_PLACES])(void *to, const void *from, const void *place, int64_t n, size_t bytes);
    /* to[place[k]] op from[k] */
    void (*scatter[LSP_PLACES])(void *to, const void *from, const void *place, int64_t n, size_t bytes);
    /* to[dst[k]] op from[src[k]]: places of type I32 or I64 */
    void (*pairs[LSP_PLACES])(void *to, const void *from, const void *dst, const void *src, int64_t n, size_t bytes);
    /* to[*place++] op tmp[k], for begin[r] <= k < end[r], for each run r < n */
    void (*runs)(void *to, const void *tmp, const uint16_t *place, const int64_t *begin, const int64_t *end, int64_t n,
                 size_t bytes);
    /* Packets of places of type U16 [0] and U32 [1]: items in one; the share of an index of type I32 [0] or I64 [1] cut
     * into bins, stably; to[place] op element for the items of a bin. `ahead` will be written next. */
    int packet_items[2];
    void (*cut[2][2])(lsp_packet_job *job);
    void (*unpack[2])(void *to, const lsp_packet_job *job, int64_t bin, const char *ahead);
} lsp_mover;

const lsp_mover *lsp_gather_mover(const lsp_gather_job *job, const lsp_column *column);

/* Copies past the caches, for arrays that are too large for them. A thread calls _end before others read `to`. */
void lsp_gather_stream(void *to, const void *from, size_t bytes);
void lsp_gather_stream_end(void);

/* ---- strategies ---- */

/* One pass for each of `passes` parts of the indexed array. */
lsp_status lsp_gather_cpu_scan(lsp_ctx *ctx, const lsp_gather_job *job, int passes, int64_t *bad);
/* A scatter that cuts (place, element) into bins, then writes bin by bin. */
lsp_status lsp_gather_cpu_bins(lsp_ctx *ctx, const lsp_gather_job *job, int64_t *bad);

/* The inverted map of a scatter whose indices are inside: pairs of destination and source, sorted by
 * destination, without elements that a later one replaces, unless they are added. */
typedef struct lsp_pairs {
    lsp_type type;   /* of both, LSP_I32 or LSP_I64 */
    void *dst, *src; /* dst NULL: destination k is k */
    int64_t count;
} lsp_pairs;

lsp_status lsp_gather_pairs_make(lsp_ctx *ctx, const lsp_gather_job *job, lsp_pairs *pairs);
void lsp_gather_pairs_run(lsp_ctx *ctx, const lsp_gather_job *job, const lsp_pairs *pairs);

/* The two loops of a staged plan: tmp[k] = tile[from_place[k]] tile by tile, then bin[to_place[j]] op tmp[...] bin by
 * bin. The items of one tile and one bin are a run: contiguous in tmp, and in to_place. */
typedef struct lsp_stage {
    int64_t tile_items, bin_items; /* elements of a tile and of a bin */
    int64_t tiles, bins;
    uint16_t *from_place, *to_place;
    int64_t *tile_at, *bin_at; /* where the items of each begin, in tmp and in to_place */
    int64_t *runs;             /* run (bin, tile) is runs[bin * tiles + tile] .. runs[(bin + 1) * tiles + tile] - 1 */
    bool *whole;               /* every element of the bin is written */
    void *tmp;
    void *buffers; /* a bin for each thread */
} lsp_stage;

/* False if the map has too many tiles and bins for its items: then staging does not pay. */
bool lsp_gather_stage_fits(const lsp_gather_job *job);
/* stage->bin_items: items of a tile and of a bin, a power of two up to 65,536; 0: as a core's second cache suggests. */
lsp_status lsp_gather_stage_make(lsp_ctx *ctx, const lsp_gather_job *job, lsp_stage *stage);
void lsp_gather_stage_run(lsp_ctx *ctx, const lsp_gather_job *job, const lsp_stage *stage);
/* Exported to spmv: the first loop for one column; then, from several threads, one bin at a time. Returns the bin's
 * elements in the order of its runs, in a buffer of the thread: element k belongs to position bin * bin_items + the
 * k-th of the bin's places. */
void lsp_gather_stage_read(lsp_ctx *ctx, const lsp_gather_job *job, const lsp_stage *stage, const lsp_column *column);
const void *lsp_gather_stage_bin(const lsp_gather_job *job, const lsp_stage *stage, const lsp_column *column,
                                 int64_t bin, int thread);

/* ---- sizes ---- */

/* Elements of `bytes` that a core's second cache holds: a power of two, at most `most`. */
int64_t lsp_gather_near_items(size_t bytes, int64_t most);

enum { LSP_GATHER_WORTH_A_THREAD = 1 << 15, LSP_GATHER_FAR_BYTES = 16 << 20 };

/* Threads for the job. */
static inline int lsp_gather_threads(const lsp_ctx *ctx, const lsp_gather_job *job) {
    return lsp_threads_for(ctx, job->args.n, LSP_GATHER_WORTH_A_THREAD);
}

static inline int lsp_gather_place_of(lsp_type index_type) {
    return index_type == LSP_I32 ? LSP_PLACE_I32 : LSP_PLACE_I64;
}

/* The array from position i on. */
static inline const void *lsp_gather_index_from(const lsp_gather_args *args, int64_t i) {
    return (const char *)args->index + (size_t)i * lsp_type_bytes(args->index_type);
}

/* The first position among begin .. end-1 with an index outside, or INT64_MAX. */
int64_t lsp_gather_first_outside(const lsp_gather_args *args, int64_t begin, int64_t end);

/* count[index[i] >> shift] += 1 for begin <= i < end; the indices are inside. */
void lsp_gather_count(const lsp_gather_args *args, int64_t begin, int64_t end, int shift, int64_t *count);
