/* C = op(A)*op(B) in blocks of rows, each multiplied, filtered and handed over before the next one is begun: C need not
 * fit any memory. And C whole, where a filter makes it smaller than what is multiplied. */
#include "matrices/matrices.h"
#include "matrices/mtx_sink.h"
#include "spgemm.h"
#include <string.h>

typedef struct streaming {
    lsp_ctx *ctx;
    lsp_csr A, B; /* op(A), op(B) */
    bool made_a, made_b;
    lsp_spgemm_options product; /* nothing transposed, nothing filtered */
    lsp_filter filter;
    lsp_csr mask;        /* its own copy of the filter's, if that was not sorted */
    int64_t block_bytes; /* of C at its bound, unless a row alone has more */
    lsp_spgemm_sink sink;
    void *user;
    lsp_spgemm_info info;
} streaming;

bool lsp_spgemm_filters(const lsp_filter *filter) {
    return filter->mask != NULL || filter->drop || filter->largest != 0;
}

/* ---- blocks ---- */

/* Products of a row, and its entries at most. */
static int64_t row_products(const streaming *s, int64_t i) {
    int64_t products = 0;
    for (int64_t k = lsp_index_at(s->A.rowptr, s->A.rowptr_type, i);
         k < lsp_index_at(s->A.rowptr, s->A.rowptr_type, i + 1); k++) {
        const int64_t row = lsp_index_at(s->A.col, s->A.col_type, k);
        products +=
            lsp_index_at(s->B.rowptr, s->B.rowptr_type, row + 1) - lsp_index_at(s->B.rowptr, s->B.rowptr_type, row);
    }
    return products;
}

/* The rows from `first` on that make a block. */
static int64_t block_end(const streaming *s, int64_t first) {
    const int64_t entry_bytes = 8 + 8, row_bytes = 8; /* the widest types: it is a bound */
    int64_t end = first, bytes = 0;
    while (end < s->A.rows) {
        bytes += lsp_min(row_products(s, end), s->B.cols) * entry_bytes + row_bytes;
        if (bytes > s->block_bytes && end > first) {
            break;
        }
        end++;
    }
    return end;
}

/* The rows first .. end-1 of A as a matrix of their own; its row pointers in scratch. */
static lsp_status slice(lsp_ctx *ctx, const lsp_csr *A, int64_t first, int64_t end, lsp_csr *rows) {
    lsp_status status = LSP_OK;
    const int64_t base = lsp_index_at(A->rowptr, A->rowptr_type, first);
    *rows = *A;
    LSP_TRY(lsp_scratch_bytes(ctx, end - first + 1, lsp_type_bytes(A->rowptr_type), false, &rows->rowptr));
    for (int64_t i = first; i <= end; i++) {
        lsp_index_set(rows->rowptr, A->rowptr_type, i - first, lsp_index_at(A->rowptr, A->rowptr_type, i) - base);
    }
    rows->rows = end - first;
    rows->nnz = lsp_index_at(rows->rowptr, A->rowptr_type, end - first);
    rows->col = A->col ? (char *)A->col + (size_t)base * lsp_type_bytes(A->col_type) : NULL;
    rows->val = A->val ? (char *)A->val + (size_t)base * lsp_type_bytes(A->val_type) : NULL;
done:
    return status;
}

static void add_info(lsp_spgemm_info *all, const lsp_spgemm_info *block, int64_t nnz) {
    all->method = block->method;
    all->method_name = block->method_name;
    memcpy(all->reason, block->reason, sizeof all->reason);
    all->products += block->products;
    all->nnz_bound += block->nnz_bound;
    all->nnz += nnz;
    all->max_row_products = lsp_max(all->max_row_products, block->max_row_products);
    all->blocks++;
    all->scratch_bytes = lsp_max(all->scratch_bytes, block->scratch_bytes);
    all->bound_bytes = lsp_max(all->bound_bytes, block->bound_bytes);
}

static lsp_status do_block(streaming *s, int64_t first, int64_t end) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = s->ctx;
    size_t mark = lsp_scratch_mark(ctx);
    lsp_csr rows, C = {0}, filtered = {0};
    lsp_spgemm_info info;
    LSP_TRY(slice(ctx, &s->A, first, end, &rows));
    LSP_TRY(lsp_spgemm(ctx, &rows, &s->B, &s->product, &C, &info));
    if (lsp_spgemm_filters(&s->filter)) {
        LSP_TRY(lsp_filter_rows(ctx, &C, &s->filter, first, &filtered));
        lsp_csr_free(ctx, &C);
        C = filtered;
    }
    add_info(&s->info, &info, C.nnz);
    ctx->error[0] = 0;
    status = s->sink(s->user, first, &C);
    if (status != LSP_OK && ctx->error[0] == 0) {
        lsp_fail(ctx, status, "whoever takes the product's rows stopped at the rows %lld to %lld", (long long)first,
                 (long long)(end - 1));
    }
done:
    lsp_csr_free(ctx, &C);
    lsp_scratch_release(ctx, mark);
    return status;
}

/* ---- the call ---- */

static lsp_status take_operand(lsp_ctx *ctx, const lsp_csr *A, bool transposed, lsp_csr *op, bool *made) {
    lsp_status status = LSP_OK;
    *op = *A;
    if (transposed) {
        LSP_TRY(lsp_csr_transpose(ctx, A, op));
        *made = true;
    } else {
        LSP_TRY(lsp_csr_check(ctx, A, 0));
    }
done:
    return status;
}

static lsp_status check_stream(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                               int64_t block_bytes) {
    lsp_status status = LSP_OK;
    LSP_REQUIRE(A != NULL && B != NULL, LSP_ERR_ARGUMENT, "a matrix to be multiplied is NULL");
    LSP_REQUIRE(A->where == LSP_HOST && B->where == LSP_HOST && options->types.where == LSP_HOST, LSP_ERR_UNSUPPORTED,
                "a product in blocks is made of matrices in the memory of the host, and there");
    LSP_REQUIRE(block_bytes >= 0, LSP_ERR_ARGUMENT, "blocks of %lld bytes: 0 or more is needed",
                (long long)block_bytes);
done:
    return status;
}

lsp_status lsp_spgemm_stream(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                             int64_t block_bytes, lsp_spgemm_sink sink, void *user, lsp_spgemm_info *info) {
    enum { USUAL_BLOCK = 1 << 30 };
    lsp_status status = LSP_OK;
    const lsp_spgemm_options defaults = {0};
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    options = options != NULL ? options : &defaults;
    streaming s = {.ctx = ctx, .product = *options, .filter = options->filter, .sink = sink, .user = user};
    s.product.transpose_a = s.product.transpose_b = false;
    s.product.filter = (lsp_filter){0};
    LSP_REQUIRE(sink != NULL, LSP_ERR_ARGUMENT, "nobody takes the rows of the product: the function is NULL");
    LSP_TRY(check_stream(ctx, A, B, options, block_bytes));
    LSP_TRY(take_operand(ctx, A, options->transpose_a, &s.A, &s.made_a));
    LSP_TRY(take_operand(ctx, B, options->transpose_b, &s.B, &s.made_b));
    LSP_REQUIRE(s.A.cols == s.B.rows, LSP_ERR_ARGUMENT,
                "a matrix of %lld x %lld cannot be multiplied by one of %lld x %lld", (long long)s.A.rows,
                (long long)s.A.cols, (long long)s.B.rows, (long long)s.B.cols);
    LSP_TRY(lsp_filter_check(ctx, s.A.rows, s.B.cols, &s.filter));
    LSP_TRY(lsp_filter_sort_mask(ctx, &s.filter, &s.mask));
    s.block_bytes =
        block_bytes > 0 ? block_bytes : lsp_min(lsp_available_bytes(ctx, LSP_HOST) / 4, (int64_t)USUAL_BLOCK);
    for (int64_t first = 0, end; first < s.A.rows || first == 0; first = end) {
        end = block_end(&s, first);
        LSP_TRY(do_block(&s, first, end));
        lsp_progress(ctx, "stream", s.A.rows > 0 ? (double)end / (double)s.A.rows : 1);
        if (end == s.A.rows) {
            break;
        }
    }
    if (info != NULL) {
        *info = s.info;
    }
done:
    lsp_csr_free(ctx, &s.mask);
    if (s.made_a) {
        lsp_csr_free(ctx, &s.A);
    }
    if (s.made_b) {
        lsp_csr_free(ctx, &s.B);
    }
    return status;
}

/* ---- C whole, of filtered blocks ---- */

typedef struct collection {
    lsp_ctx *ctx;
    lsp_csr *blocks;
    int64_t *first_rows;
    int64_t count, room, nnz;
} collection;

/* Twice the room for blocks. */
static lsp_status make_room(collection *all) {
    lsp_status status = LSP_OK;
    const int64_t room = lsp_max(2 * all->room, 16);
    lsp_csr *blocks = NULL;
    int64_t *first_rows = NULL;
    LSP_TRY(lsp_alloc(all->ctx, LSP_HOST, room, sizeof *blocks, (void **)&blocks));
    LSP_TRY(lsp_alloc(all->ctx, LSP_HOST, room, sizeof *first_rows, (void **)&first_rows));
    for (int64_t b = 0; b < all->count; b++) {
        blocks[b] = all->blocks[b];
        first_rows[b] = all->first_rows[b];
    }
    lsp_free(all->ctx, all->blocks);
    lsp_free(all->ctx, all->first_rows);
    all->blocks = blocks;
    all->first_rows = first_rows;
    all->room = room;
    blocks = NULL;
done:
    lsp_free(all->ctx, blocks);
    return status;
}

static lsp_status collect(void *user, int64_t first_row, const lsp_csr *block) {
    lsp_status status = LSP_OK;
    collection *all = user;
    if (all->count == all->room) {
        LSP_TRY(make_room(all));
    }
    LSP_TRY(lsp_csr_copy(all->ctx, block, NULL, &all->blocks[all->count]));
    all->first_rows[all->count++] = first_row;
    all->nnz += block->nnz;
done:
    return status;
}

/* The blocks one under the other. */
static lsp_status join(const collection *all, int64_t rows, int64_t cols, const lsp_csr_types *types, lsp_csr *C) {
    lsp_status status = LSP_OK;
    int64_t at = 0;
    LSP_TRY(lsp_csr_create(all->ctx, rows, cols, all->nnz, types, C));
    for (int64_t b = 0; b < all->count; b++) {
        const lsp_csr *block = &all->blocks[b];
        const size_t value_bytes = lsp_type_bytes(block->val_type);
        for (int64_t i = 0; i <= block->rows; i++) {
            lsp_index_set(C->rowptr, C->rowptr_type, all->first_rows[b] + i,
                          at + lsp_index_at(block->rowptr, block->rowptr_type, i));
        }
        if (block->nnz > 0) {
            memcpy((char *)C->col + (size_t)at * lsp_type_bytes(C->col_type), block->col,
                   (size_t)block->nnz * lsp_type_bytes(block->col_type));
        }
        if (block->nnz > 0 && value_bytes > 0) {
            memcpy((char *)C->val + (size_t)at * value_bytes, block->val, (size_t)block->nnz * value_bytes);
        }
        at += block->nnz;
    }
done:
    return status;
}

lsp_status lsp_spgemm_filtered(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                               lsp_csr *C, lsp_spgemm_info *info) {
    lsp_status status = LSP_OK;
    collection all = {.ctx = ctx};
    lsp_csr made = {0};
    LSP_TRY(lsp_spgemm_stream(ctx, A, B, options, 0, collect, &all, info));
    const lsp_csr_types types = {.rowptr_type = options->types.rowptr_type,
                                 .col_type = all.blocks[0].col_type,
                                 .val_type = all.blocks[0].val_type};
    LSP_TRY(
        join(&all, options->transpose_a ? A->cols : A->rows, options->transpose_b ? B->rows : B->cols, &types, &made));
    *C = made;
done:
    for (int64_t b = 0; b < all.count; b++) {
        lsp_csr_free(ctx, &all.blocks[b]);
    }
    lsp_free(ctx, all.blocks);
    lsp_free(ctx, all.first_rows);
    return status;
}

/* ---- C into a file ---- */

typedef struct counting {
    int64_t rows, nnz;
} counting;

static lsp_status count_entries(void *user, int64_t first_row, const lsp_csr *rows) {
    counting *count = user;
    count->rows = first_row + rows->rows;
    count->nnz += rows->nnz;
    return LSP_OK;
}

typedef struct filing {
    lsp_ctx *ctx;
    lsp_mtx_sink sink;
} filing;

static lsp_status write_rows(void *user, int64_t first_row, const lsp_csr *rows) {
    filing *file = user;
    return lsp_mtx_rows_put(file->ctx, first_row, rows, &file->sink);
}

lsp_status lsp_spgemm_write(lsp_ctx *ctx, const char *path, const lsp_csr *A, const lsp_csr *B,
                            const lsp_spgemm_options *options, int64_t block_bytes, const char *comment,
                            lsp_spgemm_info *info) {
    lsp_status status = LSP_OK;
    const lsp_spgemm_options defaults = {0};
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    options = options != NULL ? options : &defaults;
    size_t mark = lsp_scratch_mark(ctx);
    lsp_spgemm_options pattern = *options;
    counting count = {0};
    filing file = {.ctx = ctx, .sink = {.fd = -1}};
    if (!lsp_spgemm_filters(&options->filter)) { /* a count needs no values */
        pattern.types.val_type = LSP_NONE;
        pattern.types.drop_values = true;
    }
    LSP_REQUIRE(path != NULL && *path, LSP_ERR_ARGUMENT, "the path is %s", path ? "empty" : "NULL");
    LSP_TRY(lsp_spgemm_stream(ctx, A, B, &pattern, block_bytes, count_entries, &count, NULL));
    const lsp_csr sizes = {.rows = count.rows,
                           .cols = options->transpose_b ? B->rows : B->cols,
                           .nnz = count.nnz,
                           .val_type = lsp_spgemm_result_type(A, B, &options->types)};
    LSP_TRY(lsp_mtx_rows_open(ctx, path, &sizes, comment, &file.sink));
    LSP_TRY(lsp_spgemm_stream(ctx, A, B, options, block_bytes, write_rows, &file, info));
    LSP_TRY(lsp_mtx_sink_finish(&file.sink));
done:
    lsp_mtx_sink_drop(&file.sink);
    lsp_scratch_release(ctx, mark);
    return status;
}
