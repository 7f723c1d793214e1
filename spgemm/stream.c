/* C = op(A)*op(B) in blocks of rows. Each block is multiplied, filtered and handed over before the next one is made, so
 * C need not fit the memory. And the rows of C cut into blocks of about equal work. */
#include "core/cuda.h"
#include "spgemm.h"

enum { ROWS_KNOWN = 4096, ROWS_SHARE = 128 };

/* A factor M. */
typedef struct operand {
    lsp_csr op;           /* op(M) where it was given. B's lies where blocks are multiplied */
    lsp_csr here;         /* op(M) on the host; its pattern, if M lies on the GPU */
    lsp_csr turned, copy; /* what was made for these two, or empty */
} operand;

typedef struct streaming {
    lsp_ctx *ctx;
    operand A, B;
    lsp_where where, handed;    /* the place where blocks are multiplied; where they are handed over */
    lsp_spgemm_options options; /* of a block: nothing is transposed */
    lsp_spgemm_maker maker;
    int64_t entry_bytes;    /* of C, at most */
    lsp_csr mask;           /* a sorted copy of the filter's mask, if that was not sorted */
    lsp_csr mask_rows;      /* the row pointers of the filter's mask, on the host */
    lsp_spgemm_receiver to; /* block_bytes: by the bound; a single row may have more */
    int64_t known_from;     /* known[k]: the most entries of row known_from + k */
    int64_t known[ROWS_KNOWN];
    int64_t *work; /* for cuts: work[i + 1]: of row i, then of all rows up to it */
} streaming;

/* ---- blocks ---- */

/* Bounds the entries of rows. */
static void know_rows(void *data, int64_t begin, int64_t end) {
    streaming *s = data;
    const lsp_csr *mask = lsp_spgemm_masks(&s->options) ? &s->mask_rows : NULL;
    for (int64_t k = begin, i = s->known_from + k; k < end; k++, i++) {
        const int64_t most = lsp_min(lsp_spgemm_row_products(false, &s->A.here, &s->B.here, i), s->B.here.cols);
        s->known[k] = mask != NULL ? lsp_min(most, lsp_csr_rowptr(mask, i + 1) - lsp_csr_rowptr(mask, i)) : most;
    }
}

/* Finds the end of the block that begins at row `first`. All threads count the products of the next 4096 rows. */
static int64_t block_end(streaming *s, int64_t first) {
    const int64_t rows = s->A.here.rows, row_bytes = 8; /* the widest type: it is a bound */
    int64_t end = first, bytes = 0;
    while (end < rows) {
        if (end - s->known_from >= ROWS_KNOWN) {
            s->known_from = end;
            lsp_for_shares(s->ctx, lsp_min(rows - end, ROWS_KNOWN), ROWS_SHARE, know_rows, s);
        }
        bytes += s->known[end - s->known_from] * s->entry_bytes + row_bytes;
        if (bytes > s->to.block_bytes && end > first) {
            break;
        }
        end++;
    }
    return end;
}

/* Makes the rows first .. end-1 of C, filtered, and hands them over. */
static lsp_status do_block(streaming *s, int64_t first, int64_t end) {
    lsp_ctx *ctx = s->ctx;
    LSP_OWNED_CSR(ctx, C);
    const int64_t rows[] = {first, end}, cols[] = {0, s->B.here.cols};
    LSP_TRY(lsp_spgemm_make_block(&s->maker, rows, cols, &C));
    const lsp_csr_types types = {C.rowptr_type, C.col_type, .place = lsp_place_of(s->handed)};
    LSP_TRY(lsp_csr_retype(ctx, &types, &C));
    if (s->to.kept != NULL) {
        return lsp_spgemm_keep_block(s->to.kept, &C);
    }
    ctx->error[0] = 0;
    const lsp_status status = s->to.sink != NULL ? s->to.sink(s->to.user, first, &C) : LSP_OK;
    if (status != LSP_OK && ctx->error[0] == 0) {
        lsp_fail(ctx, status, "whoever takes the product's rows stopped at the rows %lld to %lld", (long long)first,
                 (long long)(end - 1));
    }
    return status;
}

static lsp_status do_blocks(streaming *s) {
    const int64_t rows = s->A.here.rows;
    int64_t end = 0;
    do {
        const int64_t first = end;
        end = block_end(s, first);
        LSP_TRY(do_block(s, first, end));
        lsp_progress(s->ctx, "stream", rows > 0 ? (double)end / (double)rows : 1);
    } while (end < rows);
    return LSP_OK;
}

/* ---- the call ---- */

/* Takes op(M), checked. */
static lsp_status take_operand(lsp_ctx *ctx, const char *name, const lsp_csr *M, bool transposed, operand *o) {
    LSP_TRY(transposed ? lsp_csr_transpose_as(ctx, name, M, &o->turned) : LSP_OK);
    o->op = o->here = transposed ? o->turned : *M;
    if (M->where == LSP_CUDA) {
        const lsp_csr_types types = {o->op.rowptr_type, o->op.col_type, LSP_NONE, true, LSP_PLACE_HOST};
        LSP_TRY(lsp_csr_copy(ctx, &o->op, &types, &o->copy));
        o->here = o->copy;
    }
    return M->where == LSP_CUDA || !transposed ? lsp_csr_check_valid(ctx, name, &o->here) : LSP_OK;
}

lsp_status lsp_spgemm_check_stream(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                   int64_t block_bytes, lsp_type *type) {
    LSP_REQUIRE(A != NULL && B != NULL, LSP_ERR_ARGUMENT, "a matrix to be multiplied is NULL");
    LSP_TRY(lsp_csr_check_header(ctx, "A", A));
    LSP_TRY(lsp_csr_check_header(ctx, "B", B));
    LSP_REQUIRE(A->where == B->where, LSP_ERR_ARGUMENT,
                "one of the matrices to be multiplied lies on the GPU, the other in the memory of the host");
    LSP_TRY(lsp_spgemm_check_options(ctx, options, options->types.place == LSP_PLACE_CUDA ? LSP_CUDA : A->where));
    LSP_REQUIRE((A->where == LSP_HOST && options->types.place != LSP_PLACE_CUDA) || ctx->options.device == LSP_CUDA,
                LSP_ERR_DEVICE, "a product is to be made on a GPU, and this context is on the host");
    LSP_TRY(lsp_spgemm_check_values(ctx, A, B, options, type));
    LSP_REQUIRE(block_bytes >= 0, LSP_ERR_ARGUMENT, "blocks of %lld bytes: 0 or more is needed",
                (long long)block_bytes);
    return LSP_OK;
}

static lsp_status take_operands(streaming *s, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options) {
    lsp_ctx *ctx = s->ctx;
    LSP_TRY(take_operand(ctx, "A", A, options->transpose_a, &s->A));
    LSP_TRY(take_operand(ctx, "B", B, options->transpose_b, &s->B));
    const lsp_csr *a = &s->A.here, *b = &s->B.here;
    LSP_REQUIRE(a->cols == b->rows, LSP_ERR_ARGUMENT,
                "a matrix of %lld x %lld cannot be multiplied by one of %lld x %lld", (long long)a->rows,
                (long long)a->cols, (long long)b->rows, (long long)b->cols);
    if (s->where != B->where) {
        LSP_TRY(lsp_csr_copy(ctx, b, &(lsp_csr_types){.place = LSP_PLACE_CUDA}, &s->B.copy));
        s->B.op = s->B.copy;
    }
    return LSP_OK;
}

/* Prepares the mask, and brings its row pointers to the host. */
static lsp_status take_mask(streaming *s) {
    lsp_ctx *ctx = s->ctx;
    LSP_TRY(lsp_filter_prepare_mask(ctx, s->where, &s->options.filter, &s->mask));
    const lsp_csr *mask = s->options.filter.mask;
    if (mask != NULL) {
        s->mask_rows = *mask;
        if (s->where == LSP_CUDA) {
            const int64_t bytes = (mask->rows + 1) * (int64_t)lsp_type_bytes(mask->rowptr_type);
            LSP_TRY(lsp_scratch_bytes(ctx, bytes, 1, false, &s->mask_rows.rowptr));
            LSP_TRY(lsp_cuda_copy(ctx, s->mask_rows.rowptr, LSP_HOST, mask->rowptr, LSP_CUDA, bytes));
        }
    }
    return LSP_OK;
}

static void drop_operands(streaming *s) {
    lsp_csr *const made[] = {&s->A.turned, &s->A.copy, &s->B.turned, &s->B.copy, &s->mask};
    for (size_t k = 0; k < sizeof made / sizeof *made; k++) {
        lsp_csr_free(s->ctx, made[k]);
    }
}

lsp_status lsp_spgemm_stream_to(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                const lsp_spgemm_receiver *to, lsp_spgemm_info *info) {
    const int64_t usual_block = (int64_t)1 << 30; /* bytes; four times as many if blocks stay on the GPU */
    LSP_SCRATCH_SCOPE(ctx);
    streaming s LSP_AT_END(drop_operands) = {.ctx = ctx, .options = *options, .to = *to, .known_from = -ROWS_KNOWN};
    const char *only_phase = ctx->only_phase;
    lsp_type type;
    s.options.transpose_a = s.options.transpose_b = false;
    LSP_TRY(lsp_spgemm_check_stream(ctx, A, B, options, to->block_bytes, &type));
    s.entry_bytes = 8 + (type == LSP_C64 ? 16 : 8);
    s.where = options->types.place == LSP_PLACE_CUDA ? LSP_CUDA : A->where;
    s.handed = to->stays_cuda ? s.where : A->where;
    LSP_TRY(take_operands(&s, A, B, options));
    LSP_TRY(lsp_filter_check(ctx, A->where, s.A.here.rows, s.B.here.cols, &s.options.filter));
    LSP_TRY(take_mask(&s));
    s.maker = (lsp_spgemm_maker){.ctx = ctx, .options = &s.options, .A = &s.A.op, .by_rows = true, .right = &s.B.op};
    if (to->block_bytes == 0) {
        const int64_t most = s.handed == LSP_CUDA ? 4 * usual_block : usual_block;
        s.to.block_bytes = lsp_min(lsp_available_bytes(ctx, s.where) / 4, most);
    }
    ctx->only_phase = "stream";
    const lsp_status status = do_blocks(&s);
    ctx->only_phase = only_phase;
    LSP_TRY(status);
    LSP_TELL(info, s.maker.info);
    return LSP_OK;
}

lsp_status lsp_spgemm_stream(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                             int64_t block_bytes, lsp_spgemm_sink sink, void *user, lsp_spgemm_info *info) {
    const lsp_spgemm_receiver to = {.sink = sink, .user = user, .block_bytes = block_bytes};
    LSP_ENTER(ctx);
    LSP_REQUIRE(sink != NULL, LSP_ERR_ARGUMENT, "nobody takes the rows of the product: the function is NULL");
    return lsp_spgemm_stream_to(ctx, A, B, lsp_spgemm_given(options), &to, info);
}

/* ---- a cut for several devices ---- */

static void weigh_rows(void *data, int64_t begin, int64_t end) {
    const streaming *s = data;
    const lsp_csr *A = &s->A.here;
    for (int64_t i = begin; i < end; i++) {
        const int64_t entries = lsp_csr_rowptr(A, i + 1) - lsp_csr_rowptr(A, i);
        s->work[i + 1] = 1 + entries + lsp_spgemm_row_products(false, A, &s->B.here, i);
    }
}

lsp_status lsp_spgemm_cut(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                          int parts, int64_t *first_row) {
    enum { LEAST_ROWS = 1 << 10 };
    LSP_ENTER(ctx);
    options = lsp_spgemm_given(options);
    streaming s LSP_AT_END(drop_operands) = {.ctx = ctx};
    lsp_type type;
    LSP_REQUIRE(parts > 0 && first_row != NULL, LSP_ERR_ARGUMENT, "the rows of a product cannot be cut into %d parts%s",
                parts, first_row == NULL ? ": the place for their first rows is NULL" : ", but into 1 or more");
    LSP_TRY(lsp_spgemm_check_stream(ctx, A, B, options, 0, &type));
    const lsp_csr a = lsp_csr_pattern(A), b = lsp_csr_pattern(B);
    s.where = A->where;
    LSP_TRY(take_operands(&s, &a, &b, options));
    const int64_t rows = s.A.here.rows;
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, rows + 1, &s.work));
    lsp_for_shares(ctx, rows, LEAST_ROWS, weigh_rows, &s);
    lsp_prefix_sum(ctx, s.work, rows);
    first_row[0] = 0;
    for (int p = 1; p <= parts; p++) { /* a row belongs to the part in which the middle of its work lies */
        const int64_t all = s.work[rows], to = all / parts * p + all % parts * p / parts;
        first_row[p] = p == parts ? rows : LSP_FIRST(first_row[p - 1], rows, i, s.work[i + 1] - to >= to - s.work[i]);
    }
    return LSP_OK;
}
