/* Calls the library on several devices: a share of the work each, put together on the host. */
#include "rows.h"
#include "text.h"
#include "two_body.h"

#include <stdlib.h>

/* ---- points ---- */

/* Each GPU takes all points from the host. Or it takes its part, and the other parts from the other GPUs, whose links
 * are faster, but take 36 ms to open: that pays if all runs together move more than LINK_BYTES. Without memory for the
 * points on all GPUs the library takes those of the host as it can. */
static const double LINK_BYTES = 2e9;

static size_t part_begin(const tb_job *job, int set, int number) {
    const lsp_points *p = &job->sets[set].points;
    return (size_t)(p->n * number / job->devices.count * p->dimensions) * lsp_type_bytes(p->type);
}

static bool has_links(const tb_job *job) {
    double bytes = 0;
    for (int s = 0; s <= job->two; s++) {
        bytes += (double)part_begin(job, s, job->devices.count);
    }
    return job->devices.count > 1 && bytes * (double)(job->options.repeat + 1) > LINK_BYTES;
}

static lsp_status copy_part(const tb_job *job, int set, int part, lsp_ctx *ctx, void *to, const void *from,
                            lsp_where where) {
    const size_t begin = part_begin(job, set, part), bytes = part_begin(job, set, part + 1) - begin;
    return lsp_array_copy(ctx, (char *)to + begin, LSP_CUDA, (const char *)from + begin, where, bytes);
}

static lsp_status take_set(tb_job *job, int set, int number, lsp_ctx *ctx) {
    lsp_points *points = &job->shares[number].points[set];
    lsp_array *there = &job->shares[number].there[set];
    const size_t bytes = part_begin(job, set, job->devices.count);
    const void *from = job->sets[set].values;
    lsp_status status = there->memory == NULL ? lsp_array_create(ctx, bytes, LSP_CUDA, there) : LSP_OK;
    *points = job->sets[set].points;
    points->where = LSP_CUDA;
    for (int k = 0; k < points->dimensions && status == LSP_OK; k++) {
        points->at[k] = (char *)there->memory + (size_t)k * lsp_type_bytes(points->type);
    }
    return status != LSP_OK ? status
           : has_links(job) ? copy_part(job, set, number, ctx, there->memory, from, LSP_HOST)
                            : lsp_array_copy(ctx, there->memory, LSP_CUDA, from, LSP_HOST, bytes);
}

static lsp_status take_points(void *data, int number, lsp_ctx *ctx) {
    tb_job *job = data;
    lsp_status status = LSP_OK;
    for (int s = 0; s <= job->two && status == LSP_OK; s++) {
        status = take_set(job, s, number, ctx);
    }
    job->shares[number].lacks = status == LSP_ERR_MEMORY;
    return job->shares[number].lacks ? LSP_OK : status;
}

static lsp_status take_others(void *data, int number, lsp_ctx *ctx) {
    tb_job *job = data;
    lsp_status status = LSP_OK;
    for (int s = 0; s <= job->two; s++) {
        void *to = job->shares[number].there[s].memory;
        for (int d = 0; d < job->devices.count && status == LSP_OK; d++) {
            status = d == number ? LSP_OK : copy_part(job, s, d, ctx, to, job->shares[d].there[s].memory, LSP_CUDA);
        }
    }
    return status == LSP_OK ? lsp_ctx_sync(ctx) : status;
}

/* The library divides a budget of memory, and densities lie where the points do. */
static bool may_bring(const tb_job *job) {
    const bool empty = job->sets[0].points.n == 0 || (job->two && job->sets[1].points.n == 0);
    return !empty && job->devices.at[0].wanted.device == LSP_CUDA && job->run.wanted.max_bytes == 0 &&
           job->options.verb != TB_DENSITY;
}

static bool any_lacks(const tb_job *job) {
    bool lacks = false;
    for (int d = 0; d < job->devices.count; d++) {
        lacks = lacks || job->shares[d].lacks;
    }
    return lacks;
}

static void free_points(tb_job *job) {
    for (int d = 0; d < job->devices.count; d++) {
        lsp_array_free(&job->shares[d].there[0]);
        lsp_array_free(&job->shares[d].there[1]);
    }
}

/* ---- the work ---- */

static lsp_status call_share(void *data, int number, lsp_ctx *ctx) {
    tb_job *job = data;
    tb_share *share = &job->shares[number];
    const double begun = cli_now();
    const lsp_status status = tb_call(job, ctx, number, job->devices.count, share);
    share->ms = cli_now() - begun;
    share->lacks = status == LSP_ERR_MEMORY && share->points[0].where == LSP_CUDA;
    return share->lacks ? LSP_OK : status;
}

static int call_with_points_there(tb_job *job) {
    CLI_STEP(cli_devices_do(&job->run, &job->devices, take_points, job));
    if (has_links(job) && !any_lacks(job)) {
        CLI_STEP(cli_devices_do(&job->run, &job->devices, take_others, job));
    }
    return any_lacks(job) ? CLI_DONE : cli_devices_do(&job->run, &job->devices, call_share, job);
}

static int call_shares(tb_job *job) {
    const bool there = may_bring(job);
    if (there) {
        CLI_STEP(call_with_points_there(job));
    }
    if (there && !any_lacks(job)) {
        return CLI_DONE;
    }
    free_points(job);
    for (int d = 0; d < job->devices.count; d++) {
        (void)lsp_csr_free(job->devices.at[d].ctx, &job->shares[d].C);
        job->shares[d].points[0] = job->sets[0].points, job->shares[d].points[1] = job->sets[1].points;
    }
    return cli_devices_do(&job->run, &job->devices, call_share, job);
}

/* ---- the result ---- */

static int make_room(tb_job *job) {
    const size_t counts = (size_t)tb_count_of(job);
    for (int d = 0; d < job->devices.count && counts > 0; d++) {
        if (!job->shares[d].counts && !(job->shares[d].counts = calloc(counts, sizeof *job->shares[d].counts))) {
            return cli_fail(CLI_MEMORY, "no memory for the result");
        }
    }
    return CLI_DONE;
}

/* Adds up counts; their shares must have been cut alike. */
static int add_counts(tb_job *job) {
    const cli_worker *first = &job->devices.at[0];
    for (int d = 0; d < job->devices.count; d++) {
        const tb_share *share = &job->shares[d];
        if (share->info.cut != job->shares[0].info.cut) {
            return cli_fail(CLI_DEVICE,
                            "%s cuts the work otherwise than %s: they differ, or their free memory does; "
                            "try --max-memory",
                            job->devices.at[d].name, first->name);
        }
        for (int64_t i = 0; i < tb_count_of(job); i++) {
            job->counts[i] += share->counts[i];
        }
    }
    return CLI_DONE;
}

static lsp_status put_rows(void *data, int number, lsp_ctx *ctx) {
    tb_job *job = data;
    lsp_csr *block = &job->shares[number].C;
    cli_rows to = {.ctx = ctx, .C = &job->C};
    for (int d = 0; d < number; d++) {
        to.row += job->shares[d].C.rows, to.entry += job->shares[d].C.nnz;
    }
    return cli_put_rows(&to, 0, block);
}

/* The rows of all shares, one below the other. */
static int gather_rows(tb_job *job) {
    const lsp_csr *first = &job->shares[0].C;
    const lsp_csr_types types = {
        .col_type = first->col_type, .val_type = first->val_type, .drop_values = first->val_type == LSP_NONE};
    int64_t rows = 0, nnz = 0;
    for (int d = 0; d < job->devices.count; d++) {
        rows += job->shares[d].C.rows, nnz += job->shares[d].C.nnz;
    }
    const lsp_status status = lsp_csr_create(job->run.ctx, rows, first->cols, nnz, &types, &job->C);
    const int code =
        status == LSP_OK ? cli_devices_do(&job->run, &job->devices, put_rows, job) : cli_failed(&job->run, status);
    for (int d = 0; d < job->devices.count; d++) {
        (void)lsp_csr_free(job->devices.at[d].ctx, &job->shares[d].C);
    }
    return code;
}

int tb_compute_shares(tb_job *job) {
    CLI_STEP(make_room(job));
    CLI_STEP(call_shares(job));
    job->info = job->shares[0].info;
    job->info.tested = 0;
    for (int d = 0; d < job->devices.count; d++) {
        const lsp_ctx_info *about = &job->devices.at[d].about;
        const int64_t peak = about->device == LSP_CUDA ? about->cuda_peak_bytes : about->host_peak_bytes;
        job->info.tested += job->shares[d].info.tested;
        job->peak_bytes = job->peak_bytes > peak ? job->peak_bytes : peak;
    }
    CLI_STEP(add_counts(job));
    return tb_makes_matrix(&job->options) ? gather_rows(job) : CLI_DONE;
}

void tb_free_shares(tb_job *job) {
    free_points(job);
    for (int d = 0; d < job->devices.count; d++) {
        free(job->shares[d].counts);
    }
}
