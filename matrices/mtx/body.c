/* Two passes over the lines, straight into CSR. The text is cut into parts, one per thread. Pass 1 counts the entries
 * of every row in every part. A prefix sum of the counts, by row and then by part, gives the first slot of each; pass 2
 * puts every entry into its slot. So the entries of a row stand in the order of the file, for any number of parts. */
#include "matrices/bodies.h"
#include "mtx.h"

enum { least_text = 512 << 10, least_rows = 1 << 16, most_shares = 256 };

/* ---- one pass over one part ---- */

static lsp_mtx_depth depth_of(const lsp_mtx_job *job) {
    bool array = job->reader->header.format == LSP_MTX_ARRAY;
    return job->pass == LSP_MTX_PLACE || (array && job->pass == LSP_MTX_COUNT) ? LSP_MTX_ALL
           : job->reader->header.symmetry == LSP_SYMMETRY_GENERAL || array     ? LSP_MTX_ROWS
                                                                               : LSP_MTX_PLACES;
}

static void run_part(void *data, int64_t p, int thread) {
    const lsp_mtx_job *job = data;
    lsp_mtx_part *part = &job->parts[p];
    const lsp_mtx_reader *reader = job->reader;
    const lsp_mtx_header *header = &reader->header;
    const bool array = header->format == LSP_MTX_ARRAY;
    const lsp_mtx_pass pass = job->pass;
    const lsp_mtx_depth depth = depth_of(job);
    lsp_mtx_cursor cursor = array ? lsp_mtx_array_place(header, part->first) : (lsp_mtx_cursor){0, 0};
    lsp_mtx_batch *batch = part->batch;
    lsp_mtx_stream stream;
    const char *text;
    int64_t bytes, numbers = 0;
    (void)thread;
    lsp_mtx_stream_start(&stream, &reader->source, part->buffer, header->body, part->begin, part->stop);
    while (part->fault == LSP_MTX_FINE && !lsp_stopped(job->ctx) && lsp_mtx_stream_next(&stream, &text, &bytes)) {
        for (const char *end = text + bytes; text < end && part->fault == LSP_MTX_FINE;) {
            text = reader->decode(header, reader->options.lenient, depth, text, end, batch);
            numbers += batch->count;
            part->fault = batch->fault;
            if (pass != LSP_MTX_NUMBERS && part->fault == LSP_MTX_FINE) {
                if (array) {
                    lsp_mtx_array_entries(header, &cursor, batch);
                    part->fault = batch->fault;
                }
                if (part->fault == LSP_MTX_FINE && !lsp_mtx_use_batch(job, part)) {
                    part->fault = LSP_MTX_CHANGED;
                }
            }
        }
        if (p == 0) {
            double share =
                (double)(stream.at + stream.used - part->begin) / (double)lsp_max(part->stop - part->begin, 1);
            share = share < 1 ? share : 1; /* the last line may end beyond the part */
            const double from = pass == LSP_MTX_PLACE ? 0.3 : pass == LSP_MTX_NUMBERS || !array ? 0 : 0.15;
            const double to = pass == LSP_MTX_PLACE ? 1 : pass == LSP_MTX_NUMBERS ? 0.15 : 0.3;
            lsp_progress(job->ctx, "read", from + share * (to - from));
        }
    }
    if (part->fault == LSP_MTX_FINE) {
        part->fault = lsp_stopped(job->ctx) ? LSP_MTX_CHANGED : stream.fault;
    }
    if (part->fault == LSP_MTX_FINE && part->numbers >= 0 && part->numbers != numbers) {
        part->fault = LSP_MTX_CHANGED;
    }
    part->numbers = numbers;
}

/* One pass over all parts; true if none met a fault. */
static bool run(lsp_mtx_job *job, lsp_mtx_pass pass) {
    bool fine = true;
    job->pass = pass;
    lsp_for_parts(job->ctx, job->slots.parts, job->slots.parts, run_part, job);
    for (int p = 0; p < job->slots.parts; p++) {
        fine = fine && job->parts[p].fault == LSP_MTX_FINE;
    }
    return fine;
}

/* ---- between the passes ---- */

/* The type of the values that are made. */
static lsp_type value_type(const lsp_mtx_reader *reader) {
    const lsp_csr_types *types = &reader->options.types;
    return types->drop_values || reader->header.field == LSP_MTX_PATTERN ? LSP_NONE
           : types->val_type != LSP_NONE                                 ? types->val_type
           : reader->header.field == LSP_MTX_COMPLEX                     ? LSP_C64
                                                                         : LSP_F64;
}

static void empty_share(void *data, int64_t begin, int64_t end) {
    const lsp_csr *A = data;
    const size_t bytes = lsp_type_bytes(A->col_type);
    if (begin < end) {
        memset((char *)A->col + (size_t)begin * bytes, 0xff, (size_t)(end - begin) * bytes);
    }
}

/* Creates the matrix and turns counts into slots. Columns are set to -1, which shows slots left empty. */
static lsp_status make_matrix(lsp_mtx_job *job) {
    lsp_ctx *ctx = job->ctx;
    lsp_mtx_reader *reader = job->reader;
    lsp_csr *A = &reader->A;
    const int64_t rows = reader->header.rows;
    int64_t sums[most_shares + 1];
    job->slots.shares = (int)lsp_min(lsp_threads_for(ctx, rows, least_rows), most_shares);
    job->slots.sums = sums;
    const int64_t nnz = lsp_counts_sum(ctx, &job->slots);
    lsp_csr_types types = reader->options.types;
    types.place = LSP_PLACE_HOST;
    types.val_type = value_type(reader);
    types.drop_values = false;
    LSP_TRY(lsp_csr_create(ctx, rows, reader->header.cols, nnz, &types, A));
    job->slots.ends = A->rowptr;
    job->slots.ends_type = A->rowptr_type;
    lsp_counts_place(ctx, &job->slots);
    lsp_for_shares(ctx, nnz, least_rows, empty_share, A);
    return LSP_OK;
}

/* ---- before and after ---- */

/* The least bytes that the entries take, if the file holds as many as it announces. */
static int64_t matrix_least(const lsp_mtx_reader *reader) {
    const lsp_mtx_header *header = &reader->header;
    const bool known = header->format == LSP_MTX_COORDINATE && header->entries <= reader->source.bytes / 2;
    return known ? header->entries * (4 + (int64_t)lsp_type_bytes(value_type(reader))) : 0;
}

/* Chooses the number of parts: the counts of all parts must take no more memory than the matrix, and the memory of
 * the parts must fit beside it. */
static lsp_status plan_parts(lsp_mtx_job *job) {
    lsp_ctx *ctx = job->ctx;
    const lsp_mtx_reader *reader = job->reader;
    const lsp_mtx_header *header = &reader->header;
    int64_t bytes = reader->source.bytes - header->body, rows = header->rows, each, all = 0;
    int64_t entries = lsp_min(header->entries, bytes / 2 + 1) * (job->mirror ? 2 : 1);
    job->slots.wide = lsp_min(header->entries, bytes) > UINT32_MAX / 2;
    int64_t matrix = entries * 12 + lsp_min(rows, INT64_MAX / 8) * 4;
    LSP_REQUIRE(lsp_mul(rows, (int64_t)lsp_place_bytes(job->slots.wide), &each) && lsp_add(rows, 1, &all) &&
                    lsp_mul(all, 4, &all) && lsp_add(all, each, &all),
                LSP_ERR_MEMORY, "%s:%lld: %lld rows need more memory than can be addressed", reader->source.name,
                (long long)header->line, (long long)rows);
    int64_t available = lsp_available_bytes(ctx, LSP_HOST);
    int64_t part = each + lsp_mtx_stream_bytes(&reader->source) + (int64_t)sizeof *job->parts->batch;
    int64_t fit = lsp_min(matrix / lsp_max(each, 1), (available - matrix) / part);
    job->slots.parts = (int)lsp_max(lsp_min(lsp_threads_for(ctx, bytes, least_text), fit), 1);
    LSP_REQUIRE(all <= available, LSP_ERR_MEMORY, "%s:%lld: %lld rows need %lld bytes (%s), but %s are available",
                reader->source.name, (long long)header->line, (long long)rows, (long long)all, lsp_size(all).text,
                lsp_size(available).text);
    return lsp_mtx_check_memory(ctx, &reader->source,
                                all + lsp_mtx_stream_bytes(&reader->source) + matrix_least(reader));
}

static lsp_status make_parts(lsp_mtx_job *job) {
    lsp_ctx *ctx = job->ctx;
    const lsp_mtx_reader *reader = job->reader;
    int64_t body = reader->header.body, buffer = lsp_mtx_stream_bytes(&reader->source);
    job->slots.keys = reader->header.rows;
    LSP_TRY(LSP_SCRATCH(ctx, job->slots.parts, &job->parts));
    LSP_TRY(lsp_scratch_bytes(ctx, lsp_max(job->slots.parts * job->slots.keys, 1), lsp_place_bytes(job->slots.wide),
                              true, &job->slots.counts));
    for (int p = 0; p < job->slots.parts; p++) {
        lsp_mtx_part *part = &job->parts[p];
        *part = (lsp_mtx_part){.numbers = -1, .slots = lsp_counts_of(&job->slots, p)};
        lsp_share(reader->source.bytes - body, p, job->slots.parts, &part->begin, &part->stop);
        part->begin += body;
        part->stop += body;
        LSP_TRY(LSP_SCRATCH(ctx, buffer, &part->buffer));
        LSP_TRY(LSP_SCRATCH(ctx, 1, &part->batch));
    }
    return LSP_OK;
}

/* *gap = the first slot that was left empty, or nnz. */
static lsp_status find_gap(lsp_ctx *ctx, const lsp_csr *A, int64_t *gap) {
    return LSP_EACH_FIRST(ctx, LSP_HOST, outside, gap,
                          (lsp_each_job){.args = &(indexing){.from = A->col, .limit = A->cols},
                                         .n = A->nnz,
                                         .kind = {.index = A->col_type}});
}

/* Sorts all rows, counts duplicates from `row` on and sums them. A duplicate and its mirror count once. A sum of
 * integers must fit. */
static lsp_status merge_duplicates(lsp_ctx *ctx, lsp_mtx_reader *reader, bool mirrored, int64_t row) {
    lsp_csr *A = &reader->A;
    const bool whole = A->val_type == LSP_I64;
    LSP_TRY(lsp_csr_sort_rows(ctx, A));
    for (; row < A->rows; row++) {
        const int64_t begin = lsp_csr_rowptr(A, row), end = lsp_csr_rowptr(A, row + 1);
        __int128 sum = 0; /* of the entries at one place */
        for (int64_t k = begin; k < end; k++) {
            const int64_t col = lsp_csr_col(A, k);
            const bool again = k > begin && col == lsp_csr_col(A, k - 1);
            reader->duplicates += again && (!mirrored || col <= row);
            sum = (again ? sum : 0) + (whole ? ((const int64_t *)A->val)[k] : 0);
            LSP_REQUIRE((k + 1 < end && lsp_csr_col(A, k + 1) == col) || sum == (int64_t)sum, LSP_ERR_OVERFLOW,
                        "%s: the sum of the entries at row %lld, column %lld does not fit LSP_I64", reader->source.name,
                        (long long)row + 1, (long long)col + 1);
        }
    }
    if (reader->duplicates > 0) {
        LSP_TRY(lsp_csr_sum_duplicates(ctx, A, NULL));
    }
    return LSP_OK;
}

lsp_status lsp_mtx_read_body(lsp_ctx *ctx, lsp_mtx_reader *reader) {
    const lsp_mtx_header *header = &reader->header;
    lsp_mtx_job job = {.ctx = ctx, .reader = reader};
    job.mirror = header->symmetry != LSP_SYMMETRY_GENERAL && !reader->options.keep_triangle;
    LSP_TRY(plan_parts(&job));
    LSP_TRY(make_parts(&job));
    bool fine = header->format != LSP_MTX_ARRAY || run(&job, LSP_MTX_NUMBERS);
    for (int p = 1; fine && p < job.slots.parts; p++) {
        job.parts[p].first = job.parts[p - 1].first + lsp_max(job.parts[p - 1].numbers, 0);
    }
    fine = fine && run(&job, LSP_MTX_COUNT);
    int64_t numbers = 0, row = 0;
    for (int p = 0; p < job.slots.parts; p++) {
        numbers += job.parts[p].numbers;
    }
    fine = fine && numbers == header->entries;
    if (fine) {
        LSP_TRY(make_matrix(&job));
        fine = run(&job, LSP_MTX_PLACE);
        row = fine ? lsp_csr_first_unsorted(ctx, &reader->A, true) : 0;
        if (fine && row < header->rows) { /* no gap is in rows that ascend strictly */
            int64_t gap;
            LSP_TRY(find_gap(ctx, &reader->A, &gap));
            fine = gap == reader->A.nnz;
        }
    }
    if (!fine) {
        LSP_TRY(lsp_go_on(ctx));
        LSP_TRY(lsp_mtx_explain(ctx, reader, job.parts[0].batch, job.parts[0].buffer));
        return lsp_fail(ctx, LSP_ERR_IO, "%s: the file changed while it was read", reader->source.name);
    }
    if (row < header->rows) {
        LSP_TRY(merge_duplicates(ctx, reader, job.mirror, row));
    }
    return LSP_OK;
}
