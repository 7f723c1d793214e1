/* The radius join in blocks of rows. A block of one set is three joins side by side: with the points before it, with
 * itself, and with the points behind it; more of them, if the points do not fit the GPU. */
#include "two_body.h"

typedef struct streaming {
    const lsp_points *a, *b; /* b NULL: one set */
    const lsp_pair_options *options;
    const lsp_join_options *join;
    double radius;
    int64_t entry_bytes, block_bytes;
    int64_t block_points; /* at most so many rows, or columns of a piece */
    lsp_pair_info info;   /* of all blocks */
} streaming;

/* Points first .. end-1. */
static lsp_points part_of(const lsp_points *p, int64_t first, int64_t end) {
    lsp_points part = *p;
    const int64_t items = first * lsp_max(p->stride, 1);
    for (int k = 0; k < p->dimensions && p->n > 0; k++) {
        part.at[k] = (const char *)p->at[k] + (size_t)items * lsp_type_bytes(p->type);
    }
    part.n = end - first;
    return part;
}

/* One join, whose work is added to that of all. */
static lsp_status join_one(lsp_ctx *ctx, streaming *s, const lsp_points *a, const lsp_points *b, lsp_csr *C) {
    lsp_pair_info info = {0};
    const lsp_join_options values = {.values = s->join->values};
    const lsp_status status =
        lsp_radius_join(ctx, a, b, s->options, s->radius, b == NULL ? s->join : &values, C, &info);
    if (status == LSP_OK) {
        const int64_t tested = s->info.tested + info.tested;
        s->info = info;
        s->info.tested = tested;
    }
    return status;
}

/* The columns from .. to-1 of the block, as pieces behind those that there are: several if points do not fit. */
static lsp_status add_pieces(lsp_ctx *ctx, streaming *s, const lsp_points *block, int64_t from, int64_t to,
                             lsp_csr *pieces, int *count) {
    lsp_status status = LSP_OK;
    for (int64_t end; from < to; from = end) {
        end = lsp_min(from + s->block_points, to);
        const lsp_points others = part_of(s->b != NULL ? s->b : s->a, from, end);
        LSP_TRY(join_one(ctx, s, block, &others, &pieces[*count]));
        (*count)++;
    }
done:
    return status;
}

static lsp_status make_block(lsp_ctx *ctx, streaming *s, int64_t first, int64_t end, lsp_csr *C) {
    lsp_status status = LSP_OK;
    const size_t mark = lsp_scratch_mark(ctx);
    const lsp_points block = part_of(s->a, first, end);
    const int64_t columns = s->b != NULL ? s->b->n : s->a->n;
    lsp_csr *pieces = NULL;
    const lsp_csr **side;
    int count = 0;
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, columns / s->block_points + 4, &pieces));
    LSP_TRY(LSP_SCRATCH(ctx, columns / s->block_points + 4, &side));
    if (s->b == NULL && s->join->half && first > 0) {
        const bool pattern = s->join->values == LSP_JOIN_PATTERN;
        const lsp_csr_types types = {.val_type = pattern ? LSP_NONE : s->a->type,
                                     .drop_values = pattern,
                                     .place = s->a->where == LSP_CUDA ? LSP_PLACE_CUDA : LSP_PLACE_HOST};
        LSP_TRY(lsp_csr_create(ctx, block.n, first, 0, &types, &pieces[count]));
        count++;
    } else if (s->b == NULL) {
        LSP_TRY(add_pieces(ctx, s, &block, 0, first, pieces, &count));
    }
    if (s->b == NULL) {
        LSP_TRY(join_one(ctx, s, &block, NULL, &pieces[count]));
        count++;
    }
    LSP_TRY(add_pieces(ctx, s, &block, s->b != NULL ? 0 : end, columns, pieces, &count));
    if (count == 0) { /* no columns */
        LSP_TRY(join_one(ctx, s, &block, s->b, &pieces[count]));
        count++;
    }
    for (int k = 0; k < count; k++) {
        side[k] = &pieces[k];
    }
    if (count == 1) {
        *C = pieces[0];
        pieces[0] = (lsp_csr){0};
    } else {
        LSP_TRY(lsp_csr_stack(ctx, side, 1, count, C));
    }
done:
    for (int k = 0; k < count; k++) {
        (void)lsp_csr_free(ctx, &pieces[k]);
    }
    lsp_scratch_release(ctx, mark);
    return status;
}

/* The bytes of a block, or more: within it, pairs of a half count twice. */
static lsp_status measure(lsp_ctx *ctx, const streaming *s, int64_t first, int64_t end, double *bytes) {
    const lsp_points block = part_of(s->a, first, end);
    const lsp_points others = s->b != NULL ? *s->b : part_of(s->a, s->join->half ? first : 0, s->a->n);
    uint64_t pairs = 0;
    const lsp_status status = lsp_pair_count(ctx, &block, &others, s->options, &s->radius, 1, &pairs, NULL);
    *bytes = (double)pairs * (double)s->entry_bytes + 8.0 * (double)(block.n + 1);
    return status;
}

/* Makes the block of the first rows from `first` on, at most `*rows` of them: half as many until they fit. */
static lsp_status next_block(lsp_ctx *ctx, streaming *s, int64_t first, int64_t *rows, lsp_csr *C) {
    lsp_status status = LSP_OK;
    for (;; *rows /= 2) {
        const int64_t end = first + lsp_min(*rows, s->a->n - first);
        double bytes = 0;
        if (end - first > 1) {
            LSP_TRY(measure(ctx, s, first, end, &bytes));
        }
        if (bytes > (double)s->block_bytes) {
            continue;
        }
        status = make_block(ctx, s, first, end, C);
        if (status != LSP_ERR_MEMORY || end - first <= 1) {
            *rows = bytes < (double)s->block_bytes / 4 ? lsp_min(2 * lsp_max(*rows, 1), s->block_points) : *rows;
            return status;
        }
    }
done:
    return status;
}

static lsp_status check(lsp_ctx *ctx, streaming *s, int64_t first_row, lsp_join_sink sink) {
    lsp_status status = LSP_OK;
    lsp_pair_job job;
    LSP_TRY(lsp_pair_check(ctx, s->a, s->b, s->options, &job));
    LSP_TRY(lsp_radius_join_check(ctx, s->join, job.self));
    LSP_TRY(lsp_pair_check_radius(ctx, &job, "radius", s->radius));
    LSP_REQUIRE(sink != NULL, LSP_ERR_ARGUMENT, "nobody takes the rows of the join: the function is NULL");
    LSP_REQUIRE(s->block_bytes >= 0, LSP_ERR_ARGUMENT, "a block of %lld bytes", (long long)s->block_bytes);
    LSP_REQUIRE(first_row >= 0 && first_row <= s->a->n, LSP_ERR_ARGUMENT,
                "the first row is %lld: the set a has %lld points", (long long)first_row, (long long)s->a->n);
    LSP_REQUIRE(job.asked != LSP_PAIR_BOXES, LSP_ERR_ARGUMENT, "a radius join has no method boxes: all or grid");
    const int64_t words = ctx->options.device == LSP_CUDA ? lsp_available_bytes(ctx, LSP_CUDA) / 16 : 0;
    s->block_points = lsp_pair_block_points(ctx, &job, words); /* for points half of the room */
done:
    return status;
}

/* An eighth of the memory that is free, or of the budget. */
static lsp_status choose_bytes(lsp_ctx *ctx, int64_t *block_bytes) {
    lsp_ctx_info about;
    const lsp_status status = lsp_ctx_get_info(ctx, &about);
    const int64_t room =
        about.max_bytes > 0 ? lsp_min(about.max_bytes, about.device_free_bytes) : about.device_free_bytes;
    *block_bytes = lsp_max(room / 8, 1 << 16);
    return status;
}

lsp_status lsp_radius_join_stream(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b,
                                  const lsp_pair_options *options, double radius, const lsp_join_options *join,
                                  int64_t first_row, int64_t block_bytes, lsp_join_sink sink, void *user,
                                  lsp_pair_info *info) {
    lsp_status status = LSP_OK;
    const lsp_join_options none = {0};
    streaming s = {.a = a, .b = b, .options = options, .join = join != NULL ? join : &none, .radius = radius};
    int64_t rows = 1 << 16;
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    s.block_bytes = block_bytes;
    LSP_TRY(check(ctx, &s, first_row, sink));
    if (block_bytes == 0) {
        LSP_TRY(choose_bytes(ctx, &s.block_bytes));
    }
    s.entry_bytes = 4 + (s.join->values == LSP_JOIN_PATTERN ? 0 : (int64_t)lsp_type_bytes(a->type));
    rows = lsp_min(rows, s.block_points);
    for (int64_t first = first_row; first < a->n || first == first_row;) {
        lsp_csr C = {0};
        LSP_TRY(next_block(ctx, &s, first, &rows, &C));
        const int64_t made = C.rows;
        status = sink(user, first, &C);
        (void)lsp_csr_free(ctx, &C);
        LSP_TRY(status);
        first += made;
        if (made == 0) {
            break;
        }
    }
    if (info != NULL) {
        *info = s.info;
    }
done:
    return status;
}
