/* Direct and rescan: passes over all indices in their order. A pass moves the elements of one range of the indexed
 * array; direct is one pass. If the order of positions decides (the last writer, sums), each thread owns a range of
 * destinations and reads all indices; else each thread has a share of the positions. */
#include "cpu.h"

enum {
    BLOCK = 1024,   /* indices that are looked at together */
    MOST_OWNERS = 8 /* more threads that all read all indices do not pay */
};

typedef struct scan {
    const lsp_gather_job *job;
    int64_t *bad;
    int place;         /* of the index */
    bool owners;       /* a part is a range of destinations, else a share of positions */
    int parts;         /* in one pass */
    int64_t low, high; /* the range of this pass */
} scan;

int64_t lsp_gather_first_outside(const lsp_gather_args *args, int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; block += BLOCK) {
        const int64_t last = lsp_min(block + BLOCK, end);
        int outside = 0; /* without branches, so that the compiler uses vectors */
        if (args->index_type == LSP_I32) {
            const int32_t *index = args->index;
            const uint32_t most = (uint32_t)lsp_min(args->extent, (int64_t)1 << 31);
            for (int64_t i = block; i < last; i++) {
                outside |= (uint32_t)index[i] >= most;
            }
        } else {
            const int64_t *index = args->index;
            for (int64_t i = block; i < last; i++) {
                outside |= (uint64_t)index[i] >= (uint64_t)args->extent;
            }
        }
        for (int64_t i = block; outside && i < last; i++) {
            if ((uint64_t)lsp_index_at(args->index, args->index_type, i) >= (uint64_t)args->extent) {
                return i;
            }
        }
    }
    return INT64_MAX;
}

void lsp_gather_count(const lsp_gather_args *args, int64_t begin, int64_t end, int shift, int64_t *count) {
    const void *const index = args->index;
    const lsp_type type = args->index_type; /* the compiler makes a loop of each type */
    for (int64_t i = begin; i < end; i++) {
        count[lsp_index_at(index, type, i) >> shift]++;
    }
}

/* ---- all elements of a block of positions, whose indices are inside ---- */

static void move_block(const scan *s, int64_t begin, int64_t end) {
    const lsp_gather_args *args = &s->job->args;
    const void *place = lsp_gather_index_from(args, begin);
    for (int64_t c = 0; c < args->column_count; c++) {
        const lsp_column *column = &args->columns[c];
        const lsp_mover *mover = lsp_gather_mover(s->job, column);
        const size_t bytes = column->bytes, at = (size_t)begin * bytes;
        if (s->job->scatter) {
            mover->scatter[s->place](column->to, (const char *)column->from + at, place, end - begin, bytes);
        } else {
            mover->gather[s->place]((char *)column->to + at, column->from, place, end - begin, bytes);
        }
    }
}

/* ---- elements of a range ---- */

/* Moves the elements of a block of positions whose index is low .. high-1. Their places are listed first, without
 * branches, because a processor cannot foresee which indices are in the range. */
static void move_part(const scan *s, int64_t begin, int64_t end, int64_t low, int64_t high) {
    const lsp_gather_args *args = &s->job->args;
    int64_t index[BLOCK], position[BLOCK], count = 0;
    for (int64_t i = begin; i < end; i++) {
        const int64_t x = lsp_index_at(args->index, args->index_type, i);
        index[count] = x;
        position[count] = i;
        count += (uint64_t)x - (uint64_t)low < (uint64_t)(high - low);
    }
    for (int64_t c = 0; c < args->column_count; c++) {
        const lsp_column *column = &args->columns[c];
        lsp_gather_mover(s->job, column)
            ->pairs[LSP_PLACE_I64](column->to, column->from, s->job->scatter ? index : position,
                                   s->job->scatter ? position : index, count, column->bytes);
    }
}

static void scan_part(void *data, int64_t part, int thread) {
    const scan *s = data;
    const lsp_gather_args *args = &s->job->args;
    int64_t begin = 0, end = args->n, low = s->low, high = s->high;
    (void)thread;
    if (s->owners) {
        lsp_share(s->high - s->low, (int)part, s->parts, &low, &high);
        low += s->low, high += s->low;
    } else {
        lsp_share(args->n, (int)part, s->parts, &begin, &end);
    }
    const bool all = low == 0 && high == args->extent;
    for (int64_t block = begin; block < end; block += BLOCK) {
        const int64_t last = lsp_min(block + BLOCK, end), outside = lsp_gather_first_outside(args, block, last);
        if (outside != INT64_MAX) {
            lsp_lower(s->bad, outside);
        }
        if (all && outside == INT64_MAX) {
            move_block(s, block, last);
        } else {
            move_part(s, block, last, low, high);
        }
    }
}

/* Can two threads write halves of one element? A store of 16 bytes is whole only at a multiple of 16. */
static bool could_tear(const lsp_gather_args *args) {
    for (int64_t c = 0; c < args->column_count; c++) {
        if (args->columns[c].bytes == 16 && (uintptr_t)args->columns[c].to % 16 != 0) {
            return true;
        }
    }
    return false;
}

lsp_status lsp_gather_cpu_scan(lsp_ctx *ctx, const lsp_gather_job *job, int passes, int64_t *bad) {
    const lsp_gather_args *args = &job->args;
    scan s = {.job = job, .bad = bad, .place = lsp_gather_place_of(args->index_type)};
    s.owners = job->scatter && (args->rule != LSP_SCATTER_DISTINCT || could_tear(args));
    s.parts = lsp_gather_threads(ctx, job);
    s.parts = s.owners ? (int)lsp_min(s.parts, MOST_OWNERS) : s.parts;
    for (int pass = 0; pass < lsp_max(passes, 1); pass++) {
        lsp_share(args->extent, pass, (int)lsp_max(passes, 1), &s.low, &s.high);
        lsp_for_parts(ctx, s.parts, s.parts, scan_part, &s);
    }
    return LSP_OK;
}
