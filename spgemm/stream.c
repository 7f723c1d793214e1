/* C = op(A)*op(B) in blocks of rows. Each block is multiplied, filtered and handed over before the next one is made, so
 * C need not fit the memory. And the rows of C cut into blocks of about equal work. */
#include "blocks.h"
#include "core/cuda.h"
#include "spgemm.h"

enum { ROWS_KNOWN = 4096, ROWS_PART = 128 };

typedef struct streaming {
    lsp_ctx *ctx;
    lsp_csr A, B;           /* op(A), op(B) on the host; for matrices on the GPU, their patterns */
    lsp_csr A_cuda, B_cuda; /* on the GPU, if blocks are multiplied there; A only if it was given there */
    bool made_a, made_b, made_a_cuda, made_b_cuda;
    bool on_gpu, given_cuda;    /* blocks are multiplied on the GPU; A and B were given there */
    bool stays_cuda;            /* C's rows are handed over on the GPU */
    lsp_spgemm_options product; /* nothing transposed */
    int64_t value_bytes;        /* of C, at most */
    lsp_csr mask;               /* a sorted copy of the filter's mask, if that was not sorted */
    lsp_csr mask_rows;          /* the row pointers of the filter's mask, on the host */
    lsp_spgemm_receiver to;     /* block_bytes: by the bound; a single row may have more */
    int64_t known_from;         /* known[k]: the most entries of row known_from + k */
    int64_t known[ROWS_KNOWN];
    lsp_spgemm_info info;
} streaming;

/* ---- blocks ---- */

/* The most entries that a row can have. */
static int64_t row_entries(const streaming *s, int64_t i) {
    const lsp_csr *mask = &s->mask_rows;
    const int64_t most = lsp_min(lsp_spgemm_row_products(&s->A, &s->B, i), s->B.cols);
    return lsp_spgemm_masks(&s->product) ? lsp_min(most, lsp_csr_rowptr(mask, i + 1) - lsp_csr_rowptr(mask, i)) : most;
}

static void know_rows(void *data, int64_t part, int thread) {
    streaming *s = data;
    (void)thread;
    for (int64_t k = part * ROWS_PART; k < (part + 1) * ROWS_PART && s->known_from + k < s->A.rows; k++) {
        s->known[k] = row_entries(s, s->known_from + k);
    }
}

/* Finds the end of the block that begins at row `first`. All threads count the products of the next 4096 rows. */
static int64_t block_end(streaming *s, int64_t first) {
    const int64_t entry_bytes = 8 + s->value_bytes, row_bytes = 8; /* the widest types: it is a bound */
    int64_t end = first, bytes = 0;
    while (end < s->A.rows) {
        if (end - s->known_from >= ROWS_KNOWN) {
            const int64_t parts = lsp_ceil_div(lsp_min(s->A.rows - end, ROWS_KNOWN), ROWS_PART);
            s->known_from = end;
            lsp_for_parts(s->ctx, parts, (int)lsp_min(s->ctx->options.threads, parts), know_rows, s);
        }
        bytes += s->known[end - s->known_from] * entry_bytes + row_bytes;
        if (bytes > s->to.block_bytes && end > first) {
            break;
        }
        end++;
    }
    return end;
}

/* Makes rows first .. end-1 of C, filtered, in the place where they are handed over. */
static lsp_status make_block(streaming *s, int64_t first, int64_t end, lsp_csr *C, lsp_spgemm_info *info) {
    lsp_ctx *ctx = s->ctx;
    LSP_OWNED_CSR(ctx, copy);
    lsp_csr rows, mask, made;
    lsp_spgemm_options options = s->product;
    const bool copied = s->on_gpu && !s->given_cuda;
    LSP_TRY(lsp_csr_view_rows(ctx, s->given_cuda ? &s->A_cuda : &s->A, first, end - first, &rows));
    if (options.filter.mask != NULL) {
        LSP_TRY(lsp_csr_view_rows(ctx, options.filter.mask, first, end - first, &mask));
        options.filter.mask = &mask;
    }
    LSP_TRY(copied ? lsp_csr_copy(ctx, &rows, &(lsp_csr_types){.place = LSP_PLACE_CUDA}, &copy) : LSP_OK);
    LSP_TRY(lsp_spgemm_at_once(ctx, copied ? &copy : &rows, s->on_gpu ? &s->B_cuda : &s->B, &options, C, info));
    if (s->on_gpu && !s->stays_cuda) {
        const lsp_csr_types types = {C->rowptr_type, C->col_type, .place = LSP_PLACE_HOST};
        LSP_TRY(lsp_csr_copy(ctx, C, &types, &made));
        lsp_csr_free(ctx, C);
        *C = made;
    }
    return LSP_OK;
}

static lsp_status do_block(streaming *s, int64_t first, int64_t end) {
    lsp_ctx *ctx = s->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    LSP_OWNED_CSR(ctx, C);
    lsp_spgemm_info info;
    LSP_TRY(make_block(s, first, end, &C, &info));
    lsp_spgemm_add_info(&s->info, &info);
    s->info.nnz += C.nnz;
    s->info.max_row_products = lsp_max(s->info.max_row_products, info.max_row_products);
    s->info.bound_bytes = lsp_max(s->info.bound_bytes, info.bound_bytes);
    ctx->error[0] = 0;
    const lsp_status status = s->to.sink(s->to.user, first, &C);
    if (status != LSP_OK && ctx->error[0] == 0) {
        lsp_fail(ctx, status, "whoever takes the product's rows stopped at the rows %lld to %lld", (long long)first,
                 (long long)(end - 1));
    }
    return status;
}

static lsp_status do_blocks(streaming *s) {
    int64_t end = 0;
    do {
        const int64_t first = end;
        end = block_end(s, first);
        LSP_TRY(do_block(s, first, end));
        lsp_progress(s->ctx, "stream", s->A.rows > 0 ? (double)end / (double)s->A.rows : 1);
    } while (end < s->A.rows);
    return LSP_OK;
}

/* ---- the call ---- */

/* *op = op(A), checked. *pattern = its pattern on the host if A lies on the GPU, else op(A) itself. */
static lsp_status take_operand(lsp_ctx *ctx, const char *name, const lsp_csr *A, bool transposed, lsp_csr *pattern,
                               bool *made_pattern, lsp_csr *op, bool *made) {
    *op = *A;
    if (transposed) {
        LSP_TRY(lsp_csr_transpose_as(ctx, name, A, op));
        *made = true;
    }
    if (A->where == LSP_CUDA) {
        const lsp_csr_types types = {op->rowptr_type, op->col_type, LSP_NONE, true, LSP_PLACE_HOST};
        LSP_TRY(lsp_csr_copy(ctx, op, &types, pattern));
        *made_pattern = true;
    }
    return A->where == LSP_CUDA || !transposed ? lsp_csr_check_as(ctx, name, A->where == LSP_CUDA ? pattern : op)
                                               : LSP_OK;
}

lsp_status lsp_spgemm_check_stream(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                   int64_t block_bytes) {
    LSP_REQUIRE(A != NULL && B != NULL, LSP_ERR_ARGUMENT, "a matrix to be multiplied is NULL");
    LSP_TRY(lsp_csr_check_header(ctx, "A", A));
    LSP_TRY(lsp_csr_check_header(ctx, "B", B));
    LSP_REQUIRE(A->where == B->where, LSP_ERR_ARGUMENT,
                "one of the matrices to be multiplied lies on the GPU, the other in the memory of the host");
    LSP_TRY(lsp_spgemm_check_options(ctx, options, options->types.place == LSP_PLACE_CUDA ? LSP_CUDA : A->where));
    LSP_REQUIRE((A->where == LSP_HOST && options->types.place != LSP_PLACE_CUDA) || ctx->options.device == LSP_CUDA,
                LSP_ERR_DEVICE, "a product is to be made on a GPU, and this context is on the host");
    LSP_TRY(lsp_spgemm_check_values(ctx, A, B, options));
    LSP_REQUIRE(block_bytes >= 0, LSP_ERR_ARGUMENT, "blocks of %lld bytes: 0 or more is needed",
                (long long)block_bytes);
    return LSP_OK;
}

static lsp_status take_operands(streaming *s, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options) {
    lsp_ctx *ctx = s->ctx;
    lsp_csr *a = s->given_cuda ? &s->A_cuda : &s->A, *b = s->given_cuda ? &s->B_cuda : &s->B;
    LSP_TRY(take_operand(ctx, "A", A, options->transpose_a, &s->A, &s->made_a, a,
                         s->given_cuda ? &s->made_a_cuda : &s->made_a));
    LSP_TRY(take_operand(ctx, "B", B, options->transpose_b, &s->B, &s->made_b, b,
                         s->given_cuda ? &s->made_b_cuda : &s->made_b));
    LSP_REQUIRE(s->A.cols == s->B.rows, LSP_ERR_ARGUMENT,
                "a matrix of %lld x %lld cannot be multiplied by one of %lld x %lld", (long long)s->A.rows,
                (long long)s->A.cols, (long long)s->B.rows, (long long)s->B.cols);
    if (s->on_gpu && !s->given_cuda) {
        LSP_TRY(lsp_csr_copy(ctx, &s->B, &(lsp_csr_types){.place = LSP_PLACE_CUDA}, &s->B_cuda));
        s->made_b_cuda = true;
    }
    return LSP_OK;
}

/* Prepares the mask, and brings its row pointers to the host. */
static lsp_status take_mask(streaming *s, lsp_where where) {
    LSP_TRY(lsp_filter_prepare_mask(s->ctx, where, &s->product.filter, &s->mask));
    if (s->product.filter.mask != NULL) {
        const lsp_csr *mask = s->product.filter.mask;
        s->mask_rows = *mask;
        s->mask_rows.col = NULL;
        if (where == LSP_CUDA) {
            const int64_t bytes = (mask->rows + 1) * (int64_t)lsp_type_bytes(mask->rowptr_type);
            LSP_TRY(lsp_scratch_bytes(s->ctx, bytes, 1, false, &s->mask_rows.rowptr));
            LSP_TRY(lsp_cuda_copy(s->ctx, s->mask_rows.rowptr, LSP_HOST, mask->rowptr, LSP_CUDA, bytes));
        }
    }
    return LSP_OK;
}

static void drop_operands(streaming *s) {
    lsp_csr *const made[] = {&s->mask, s->made_a ? &s->A : NULL, s->made_b ? &s->B : NULL,
                             s->made_a_cuda ? &s->A_cuda : NULL, s->made_b_cuda ? &s->B_cuda : NULL};
    for (size_t k = 0; k < sizeof made / sizeof *made; k++) {
        lsp_csr_free(s->ctx, made[k]);
    }
}

lsp_status lsp_spgemm_stream_to(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                const lsp_spgemm_receiver *to, lsp_spgemm_info *info) {
    const int64_t usual_block = (int64_t)1 << 30; /* bytes; four times as many if blocks stay on the GPU */
    LSP_SCRATCH_SCOPE(ctx);
    streaming s LSP_AT_END(drop_operands) = {.ctx = ctx, .product = *options, .to = *to, .known_from = -ROWS_KNOWN};
    const char *only_phase = ctx->only_phase;
    s.product.transpose_a = s.product.transpose_b = false;
    LSP_REQUIRE(to->sink != NULL, LSP_ERR_ARGUMENT, "nobody takes the rows of the product: the function is NULL");
    LSP_TRY(lsp_spgemm_check_stream(ctx, A, B, options, to->block_bytes));
    s.value_bytes = lsp_spgemm_result_type(A, B, options) == LSP_C64 ? 16 : 8;
    s.given_cuda = A->where == LSP_CUDA;
    s.on_gpu = s.given_cuda || options->types.place == LSP_PLACE_CUDA;
    s.stays_cuda = s.on_gpu && (s.given_cuda || to->stays_cuda);
    const lsp_where where = s.on_gpu ? LSP_CUDA : LSP_HOST;
    LSP_TRY(take_operands(&s, A, B, options));
    LSP_TRY(lsp_filter_check(ctx, A->where, s.A.rows, s.B.cols, &s.product.filter));
    LSP_TRY(take_mask(&s, where));
    if (to->block_bytes == 0) {
        s.to.block_bytes = lsp_min(lsp_available_bytes(ctx, where) / 4, s.stays_cuda ? 4 * usual_block : usual_block);
    }
    ctx->only_phase = "stream";
    const lsp_status status = do_blocks(&s);
    ctx->only_phase = only_phase;
    if (status == LSP_OK && info != NULL) {
        *info = s.info;
    }
    return status;
}

lsp_status lsp_spgemm_stream(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                             int64_t block_bytes, lsp_spgemm_sink sink, void *user, lsp_spgemm_info *info) {
    const lsp_spgemm_receiver to = {.sink = sink, .user = user, .block_bytes = block_bytes};
    return ctx == NULL ? LSP_ERR_ARGUMENT : lsp_spgemm_stream_to(ctx, A, B, lsp_spgemm_given(options), &to, info);
}

/* ---- a cut for several devices ---- */

typedef struct cutting {
    const streaming *s;
    int64_t *work; /* work[i + 1]: of row i, then of all rows up to it */
} cutting;

static void weigh_rows(void *data, int64_t begin, int64_t end) {
    const cutting *c = data;
    const lsp_csr *A = &c->s->A;
    for (int64_t i = begin; i < end; i++) {
        c->work[i + 1] = 1 + lsp_csr_rowptr(A, i + 1) - lsp_csr_rowptr(A, i) + lsp_spgemm_row_products(A, &c->s->B, i);
    }
}

lsp_status lsp_spgemm_cut(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                          int parts, int64_t *first_row) {
    enum { LEAST_ROWS = 1 << 10 };
    LSP_ENTER(ctx);
    options = lsp_spgemm_given(options);
    streaming s LSP_AT_END(drop_operands) = {.ctx = ctx};
    cutting c = {.s = &s};
    LSP_REQUIRE(parts > 0 && first_row != NULL, LSP_ERR_ARGUMENT, "the rows of a product cannot be cut into %d parts%s",
                parts, first_row == NULL ? ": the place for their first rows is NULL" : ", but into 1 or more");
    LSP_TRY(lsp_spgemm_check_stream(ctx, A, B, options, 0));
    const lsp_csr a = lsp_spgemm_view(A, LSP_NONE), b = lsp_spgemm_view(B, LSP_NONE);
    s.given_cuda = s.on_gpu = A->where == LSP_CUDA;
    LSP_TRY(take_operands(&s, &a, &b, options));
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, s.A.rows + 1, &c.work));
    lsp_for_shares(ctx, s.A.rows, LEAST_ROWS, weigh_rows, &c);
    lsp_prefix_sum(ctx, c.work, s.A.rows);
    first_row[0] = 0;
    for (int p = 1; p <= parts; p++) { /* a row belongs to the part in which the middle of its work lies */
        const int64_t all = c.work[s.A.rows], to = all / parts * p + all % parts * p / parts;
        first_row[p] =
            p == parts ? s.A.rows : LSP_FIRST(first_row[p - 1], s.A.rows, i, c.work[i + 1] - to >= to - c.work[i]);
    }
    return LSP_OK;
}
