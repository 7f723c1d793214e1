/* Two passes over the lines, straight into CSR. The text is cut into parts, one per thread. Pass 1 counts the entries
 * of every row in every part. A prefix sum of the counts, by row and then by part, gives the first slot of each; pass 2
 * puts every entry into its slot. So the entries of a row stand in the order of the file, for any number of parts. */
#include "matrices/csr/facts.h"
#include "mtx.h"

enum { least_text = 512 << 10, least_rows = 1 << 16, most_shares = 256 };

/* ---- one pass over one part ---- */

static lsp_mtx_depth depth_of(const lsp_mtx_job *job, lsp_mtx_pass pass) {
    bool array = job->reader->header.format == LSP_MTX_ARRAY;
    return pass == LSP_MTX_PLACE || (array && pass == LSP_MTX_COUNT)       ? LSP_MTX_ALL
           : job->reader->header.symmetry == LSP_SYMMETRY_GENERAL || array ? LSP_MTX_ROWS
                                                                           : LSP_MTX_PLACES;
}

static void run_part(const lsp_mtx_job *job, lsp_mtx_part *part, lsp_mtx_pass pass) {
    const lsp_mtx_reader *reader = job->reader;
    const lsp_mtx_header *header = &reader->header;
    bool array = header->format == LSP_MTX_ARRAY, first = part == job->parts;
    lsp_mtx_depth depth = depth_of(job, pass);
    lsp_mtx_cursor cursor = array ? lsp_mtx_array_place(header, part->first) : (lsp_mtx_cursor){0, 0};
    lsp_mtx_batch *batch = part->batch;
    lsp_mtx_stream stream;
    const char *text;
    int64_t bytes, numbers = 0;
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
                if (part->fault == LSP_MTX_FINE && !lsp_mtx_use_batch(job, part, pass, batch)) {
                    part->fault = LSP_MTX_CHANGED;
                }
            }
        }
        if (first) {
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

typedef struct running {
    const lsp_mtx_job *job;
    lsp_mtx_pass pass;
} running;

static void run_one(void *data, int64_t p, int thread) {
    const running *r = data;
    (void)thread;
    run_part(r->job, &r->job->parts[p], r->pass);
}

/* One pass over all parts; true if none met a fault. */
static bool run(const lsp_mtx_job *job, lsp_mtx_pass pass) {
    bool fine = true;
    lsp_for_parts(job->ctx, job->count, job->count, run_one, &(running){.job = job, .pass = pass});
    for (int p = 0; p < job->count; p++) {
        fine = fine && job->parts[p].fault == LSP_MTX_FINE;
    }
    return fine;
}

/* ---- between the passes ---- */

LSP_INLINE int64_t row_total(bool wide, const lsp_mtx_job *job, int64_t row) {
    int64_t total = 0;
    for (int p = 0; p < job->count; p++) {
        total += wide ? ((const int64_t *)job->parts[p].slots)[row] : ((const uint32_t *)job->parts[p].slots)[row];
    }
    return total;
}

/* Turns counts into first free slots and sets rowptr. `at`: the first slot of row `begin`. */
LSP_INLINE void set_slots(bool wide, const lsp_mtx_job *job, int64_t begin, int64_t end, int64_t at) {
    const lsp_csr *A = &job->reader->A;
    for (int64_t row = begin; row < end; row++) {
        for (int p = 0; p < job->count; p++) {
            if (wide) {
                int64_t *slot = (int64_t *)job->parts[p].slots + row, count = *slot;
                *slot = at;
                at += count;
            } else {
                uint32_t *slot = (uint32_t *)job->parts[p].slots + row, count = *slot;
                *slot = (uint32_t)at;
                at += count;
            }
        }
        lsp_index_set(A->rowptr, A->rowptr_type, row + 1, at);
    }
}

typedef struct slotting {
    const lsp_mtx_job *job;
    int shares; /* of the rows */
    int64_t sums[most_shares];
    int64_t nnz;
} slotting;

/* sums[s] = entries in the rows of share s. */
static void sum_share(void *data, int64_t s, int thread) {
    slotting *l = data;
    int64_t begin, end, sum = 0;
    (void)thread;
    lsp_share(l->job->reader->header.rows, (int)s, l->shares, &begin, &end);
    for (int64_t row = begin; row < end; row++) {
        sum += LSP_WITH_FLAG(l->job->wide, row_total, l->job, row);
    }
    l->sums[s] = sum;
}

static void slot_share(void *data, int64_t s, int thread) {
    const slotting *l = data;
    int64_t begin, end, at = 0;
    (void)thread;
    for (int64_t before = 0; before < s; before++) {
        at += l->sums[before];
    }
    lsp_share(l->job->reader->header.rows, (int)s, l->shares, &begin, &end);
    LSP_WITH_FLAG(l->job->wide, set_slots, l->job, begin, end, at);
}

static void empty_share(void *data, int64_t p, int thread) {
    const slotting *l = data;
    const lsp_csr *A = &l->job->reader->A;
    const size_t bytes = lsp_type_bytes(A->col_type);
    int64_t begin, end;
    (void)thread;
    lsp_share(l->nnz, (int)p, l->job->count, &begin, &end);
    if (begin < end) {
        memset((char *)A->col + (size_t)begin * bytes, 0xff, (size_t)(end - begin) * bytes);
    }
}

/* Creates the matrix and turns counts into slots. Columns are set to -1, which shows slots left empty. */
static lsp_status make_matrix(lsp_mtx_job *job) {
    lsp_ctx *ctx = job->ctx;
    lsp_mtx_reader *reader = job->reader;
    lsp_csr *A = &reader->A;
    int64_t rows = reader->header.rows, nnz = 0;
    slotting l = {.job = job, .shares = (int)lsp_min(lsp_threads_for(ctx, rows, least_rows), most_shares)};
    lsp_for_parts(ctx, l.shares, l.shares, sum_share, &l);
    for (int s = 0; s < l.shares; s++) {
        nnz += l.sums[s];
    }
    l.nnz = nnz;
    lsp_csr_types types = reader->options.types;
    lsp_type natural = reader->header.field == LSP_MTX_PATTERN   ? LSP_NONE
                       : reader->header.field == LSP_MTX_COMPLEX ? LSP_C64
                                                                 : LSP_F64;
    types.place = LSP_PLACE_HOST;
    types.drop_values = types.drop_values || natural == LSP_NONE;
    LSP_TRY(lsp_csr_resolve(ctx, reader->header.cols, nnz, natural, &types, &types));
    LSP_TRY(lsp_csr_create(ctx, rows, reader->header.cols, nnz, &types, A));
    lsp_for_parts(ctx, l.shares, l.shares, slot_share, &l);
    lsp_for_parts(ctx, job->count, job->count, empty_share, &l);
    return LSP_OK;
}

/* ---- before and after ---- */

/* The least bytes that the entries take, if the file holds as many as it announces. */
static int64_t matrix_least(const lsp_mtx_reader *reader) {
    const lsp_mtx_header *header = &reader->header;
    const lsp_csr_types *types = &reader->options.types;
    const bool known = header->format == LSP_MTX_COORDINATE && header->entries <= reader->source.bytes / 2;
    const int64_t value_bytes = types->drop_values || header->field == LSP_MTX_PATTERN ? 0
                                : header->field == LSP_MTX_COMPLEX                     ? 16
                                : types->val_type != LSP_NONE ? (int64_t)lsp_type_bytes(types->val_type)
                                                              : 8;
    return known ? header->entries * (4 + value_bytes) : 0;
}

/* Chooses the number of parts: the counts of all parts must take no more memory than the matrix, and the memory of
 * the parts must fit beside it. */
static lsp_status plan_parts(lsp_mtx_job *job) {
    lsp_ctx *ctx = job->ctx;
    const lsp_mtx_reader *reader = job->reader;
    const lsp_mtx_header *header = &reader->header;
    int64_t bytes = reader->source.bytes - header->body, rows = header->rows, each, all = 0;
    int64_t entries = lsp_min(header->entries, bytes / 2 + 1) * (job->mirror ? 2 : 1);
    job->wide = lsp_min(header->entries, bytes) > UINT32_MAX / 2;
    int64_t matrix = entries * 12 + lsp_min(rows, INT64_MAX / 8) * 4;
    LSP_REQUIRE(lsp_mul(rows, job->wide ? 8 : 4, &each) && lsp_add(rows, 1, &all) && lsp_mul(all, 4, &all) &&
                    lsp_add(all, each, &all),
                LSP_ERR_MEMORY, "%s:%lld: %lld rows need more memory than can be addressed", reader->source.name,
                (long long)header->line, (long long)rows);
    int64_t available = lsp_available_bytes(ctx, LSP_HOST);
    int64_t part = each + lsp_mtx_stream_bytes(&reader->source) + (int64_t)sizeof *job->parts->batch;
    int64_t fit = lsp_min(matrix / lsp_max(each, 1), (available - matrix) / part);
    job->count = (int)lsp_max(lsp_min(lsp_threads_for(ctx, bytes, least_text), fit), 1);
    if (all > available) {
        return lsp_fail(ctx, LSP_ERR_MEMORY, "%s:%lld: %lld rows need %lld bytes (%s), but %s are available",
                        reader->source.name, (long long)header->line, (long long)rows, (long long)all,
                        lsp_size(all).text, lsp_size(available).text);
    }
    return lsp_mtx_check_memory(ctx, &reader->source,
                                all + lsp_mtx_stream_bytes(&reader->source) + matrix_least(reader));
}

static lsp_status make_parts(lsp_mtx_job *job) {
    lsp_ctx *ctx = job->ctx;
    const lsp_mtx_reader *reader = job->reader;
    int64_t body = reader->header.body, buffer = lsp_mtx_stream_bytes(&reader->source);
    LSP_TRY(LSP_SCRATCH(ctx, job->count, &job->parts));
    for (int p = 0; p < job->count; p++) {
        lsp_mtx_part *part = &job->parts[p];
        *part = (lsp_mtx_part){.numbers = -1};
        lsp_share(reader->source.bytes - body, p, job->count, &part->begin, &part->stop);
        part->begin += body;
        part->stop += body;
        LSP_TRY(LSP_SCRATCH(ctx, buffer, &part->buffer));
        LSP_TRY(LSP_SCRATCH(ctx, 1, &part->batch));
        LSP_TRY(lsp_scratch_bytes(ctx, reader->header.rows, job->wide ? 8 : 4, true, &part->slots));
    }
    return LSP_OK;
}

static int64_t find_gap_in_rows(const void *data, int64_t begin, int64_t end) {
    const lsp_csr *A = data;
    for (int64_t i = begin; i < end; i++) {
        const int64_t k = lsp_csr_rowptr(A, i);
        if (k < lsp_csr_rowptr(A, i + 1) && lsp_csr_col(A, k) < 0) {
            return i;
        }
    }
    return end;
}

static int64_t find_gap(const void *data, int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; k++) {
        if (lsp_csr_col(data, k) < 0) {
            return k;
        }
    }
    return end;
}

/* True if every slot was filled: no column is -1. In a strictly ascending row only the first column can be -1. */
static bool complete(const lsp_ctx *ctx, const lsp_csr *A, bool ascending) {
    const int64_t n = ascending ? A->rows : A->nnz;
    return lsp_first(ctx, n, ascending ? find_gap_in_rows : find_gap, A) == n;
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
    for (int p = 1; fine && p < job.count; p++) {
        job.parts[p].first = job.parts[p - 1].first + lsp_max(job.parts[p - 1].numbers, 0);
    }
    fine = fine && run(&job, LSP_MTX_COUNT);
    int64_t numbers = 0, row = 0;
    for (int p = 0; p < job.count; p++) {
        numbers += job.parts[p].numbers;
    }
    fine = fine && numbers == header->entries;
    if (fine) {
        LSP_TRY(make_matrix(&job));
        fine = run(&job, LSP_MTX_PLACE);
        row = fine ? lsp_csr_first_unsorted(ctx, &reader->A, true) : 0;
        fine = fine && complete(ctx, &reader->A, row == header->rows);
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
