/* The radius join in blocks of rows. If the points do not fit the GPU, a block is several joins side by side. */
#include "two_body.h"

typedef struct streaming {
    lsp_pair_options options; /* without a share */
    lsp_pair_job job;         /* of all points */
    const lsp_join_options *join;
    double radius;
    int64_t entry_bytes, block_bytes;
    int64_t block_points; /* the most rows, or columns of a piece */
    lsp_pair_info info;   /* of all blocks */
} streaming;

typedef struct piece_list {
    lsp_ctx *ctx;
    lsp_csr *pieces;
    int count;
} piece_list;
static void free_pieces(piece_list *list) {
    for (int k = 0; k < list->count; k++) {
        (void)lsp_csr_free(list->ctx, &list->pieces[k]);
    }
}

/* The rows of a block: pieces of columns side by side, if not all points fit the GPU. */
static lsp_status make_block(lsp_ctx *ctx, streaming *s, int64_t first, int64_t end, lsp_csr *C) {
    LSP_SCRATCH_SCOPE(ctx);
    const int64_t columns = s->job.sets[1].n, tested = s->info.tested;
    const int64_t most = columns / s->block_points + 2;
    piece_list list LSP_AT_END(free_pieces) = {.ctx = ctx};
    lsp_csr *pieces;
    const lsp_csr **side;
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, most, &pieces));
    LSP_TRY(LSP_SCRATCH(ctx, most, &side));
    list.pieces = pieces;
    s->info.tested = 0;
    if (s->join->half && first > 0) { /* the columns before the block are empty */
        const lsp_csr_types types = lsp_join_types(&s->job, s->join->values, s->job.where);
        LSP_TRY(lsp_csr_create(ctx, end - first, first, 0, &types, &pieces[0]));
        side[list.count++] = &pieces[0];
    }
    for (int64_t from = list.count > 0 ? first : 0; from < columns || list.count == 0; from += s->block_points) {
        const int64_t rows[] = {first, end}, cols[] = {from, lsp_min(from + s->block_points, columns)};
        const int64_t before = s->info.tested;
        LSP_TRY(lsp_join_between(ctx, &s->job, s->radius, s->join, rows, cols, &pieces[list.count], &s->info));
        s->info.tested += before;
        side[list.count] = &pieces[list.count];
        list.count++;
    }
    s->info.tested += tested;
    return list.count == 1 ? lsp_csr_put(ctx, C, &pieces[0], false) : lsp_csr_stack(ctx, side, 1, list.count, C);
}

/* The bytes of a block, or more: within it, pairs of a half count twice. */
static lsp_status measure(lsp_ctx *ctx, const streaming *s, int64_t first, int64_t end, double *bytes) {
    const lsp_points *a = &s->job.sets[0], *b = &s->job.sets[1];
    const lsp_points block = lsp_points_between(a, first, end);
    const lsp_points others = lsp_points_between(b, s->join->half ? first : 0, b->n);
    uint64_t pairs = 0;
    const lsp_status status = lsp_pair_count(ctx, &block, &others, &s->options, &s->radius, 1, &pairs, NULL);
    *bytes = (double)pairs * (double)s->entry_bytes + 8.0 * (double)(block.n + 1);
    return status;
}

/* Makes the block of the first rows from `first` on, at most `*rows` of them: half as many until they fit. */
static lsp_status next_block(lsp_ctx *ctx, streaming *s, int64_t first, int64_t last, int64_t *rows, lsp_csr *C) {
    for (;; *rows /= 2) {
        const int64_t end = first + lsp_min(*rows, last - first);
        double bytes = 0;
        if (end - first > 1) {
            LSP_TRY(measure(ctx, s, first, end, &bytes));
        }
        if (bytes > (double)s->block_bytes) {
            continue;
        }
        const lsp_status status = make_block(ctx, s, first, end, C);
        if (status != LSP_ERR_MEMORY || end - first <= 1) {
            *rows = bytes < (double)s->block_bytes / 4 ? lsp_min(2 * lsp_max(*rows, 1), s->block_points) : *rows;
            return status;
        }
    }
}

static lsp_status check(lsp_ctx *ctx, streaming *s, int64_t first_row, lsp_join_sink sink) {
    LSP_TRY(lsp_radius_join_check(ctx, s->join, s->job.self));
    LSP_TRY(lsp_pair_check_radius(ctx, &s->job, "radius", s->radius));
    LSP_REQUIRE(sink != NULL, LSP_ERR_ARGUMENT, "nobody takes the rows of the join: the function is NULL");
    LSP_REQUIRE(s->block_bytes >= 0, LSP_ERR_ARGUMENT, "a block of %lld bytes", (long long)s->block_bytes);
    LSP_REQUIRE(first_row >= 0 && first_row <= s->job.sets[0].n, LSP_ERR_ARGUMENT,
                "the first row is %lld: the set a has %lld points", (long long)first_row, (long long)s->job.sets[0].n);
    LSP_REQUIRE(s->job.asked != LSP_PAIR_BOXES, LSP_ERR_ARGUMENT, "a radius join has no method boxes: all or grid");
    const int64_t words = ctx->options.device == LSP_CUDA ? lsp_available_bytes(ctx, LSP_CUDA) / 16 : 0;
    s->block_points = lsp_pair_block_points(ctx, &s->job, words); /* for points half of the room */
    return LSP_OK;
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
    const lsp_join_options none = {0};
    streaming s = {.join = join != NULL ? join : &none, .radius = radius};
    int64_t rows = 1 << 16;
    LSP_ENTER(ctx);
    s.block_bytes = block_bytes;
    LSP_TRY(lsp_pair_check(ctx, a, b, options, &s.job));
    LSP_TRY(check(ctx, &s, first_row, sink));
    if (block_bytes == 0) {
        LSP_TRY(choose_bytes(ctx, &s.block_bytes));
    }
    s.options = options != NULL ? *options : s.options;
    s.options.part = s.options.parts = 0;
    s.entry_bytes = 4 + (s.join->values == LSP_JOIN_PATTERN ? 0 : (int64_t)lsp_type_bytes(a->type));
    rows = lsp_min(rows, s.block_points);
    const int64_t begin = lsp_max(first_row, lsp_pair_share_row(&s.job, s.job.part, s.join->half));
    const int64_t end = lsp_max(begin, lsp_pair_share_row(&s.job, s.job.part + 1, s.join->half));
    for (int64_t first = begin; first < end || first == begin;) {
        LSP_OWNED_CSR(ctx, C);
        LSP_TRY(next_block(ctx, &s, first, end, &rows, &C));
        const int64_t made = C.rows;
        LSP_TRY(sink(user, first, &C));
        first += made;
        if (made == 0) {
            break;
        }
    }
    LSP_TELL(info, s.info);
    return LSP_OK;
}
