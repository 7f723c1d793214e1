/* --devices: C = op(A)*op(B) with a block of rows on each device. The rows are cut into blocks of about equal work.
 * Each device multiplies its rows of op(A) by all of op(B), and puts its rows of C into their place on the host. No row
 * depends on another one, so the bits are those of a single device. */
#include "rows.h"
#include "steps.h"

#include <math.h>
#include <string.h>

enum { OF_A, OF_B, OF_MASK };

/* ---- the cut ---- */

static lsp_status cut_rows_of(cli_job *job, const lsp_csr *A) {
    lsp_ctx *ctx = job->run.ctx;
    const int count = job->devices.count;
    const lsp_spgemm_options how = {.transpose_b = job->options.transpose_b};
    int64_t first[CLI_MOST_DEVICES + 1];
    lsp_status status = lsp_spgemm_cut(ctx, A, &job->second->csr, &how, count, first);
    for (int i = 0; i < count && status == LSP_OK; i++) {
        cli_part *part = &job->parts[i];
        part->first_row = first[i];
        part->rows = first[i + 1] - first[i];
        status = lsp_csr_block(ctx, A, part->first_row, part->rows, 0, A->cols, &part->A);
        if (status == LSP_OK && job->options.mask) {
            const lsp_csr *mask = &job->mask.csr;
            status = lsp_csr_block(ctx, mask, part->first_row, part->rows, 0, mask->cols, &part->mask);
        }
    }
    return status;
}

static lsp_status cut_rows(cli_job *job) {
    lsp_csr turned = {0};
    const bool turn = job->options.transpose_a;
    lsp_status status = turn ? lsp_csr_transpose(job->run.ctx, &job->A.csr, &turned) : LSP_OK;
    status = status == LSP_OK ? cut_rows_of(job, turn ? &turned : &job->A.csr) : status;
    lsp_csr_free(job->run.ctx, &turned);
    return status;
}

/* Devices that are shares of the CPU get a third of what --max-memory leaves for their parts of C; C gets the rest. */
static void share_budget(cli_job *job) {
    lsp_ctx_info host;
    const int64_t most = job->options.max_bytes;
    (void)lsp_ctx_trim(job->run.ctx);
    if (most > 0 && !cli_on_gpus(job) && lsp_ctx_get_info(job->run.ctx, &host) == LSP_OK) {
        const int64_t third = most > host.host_bytes ? (most - host.host_bytes) / 3 : 0;
        (void)lsp_ctx_set_max_bytes(job->run.ctx, most - third);
        for (int i = 0; i < job->devices.count; i++) {
            const int64_t share = third / job->devices.count;
            (void)lsp_ctx_set_max_bytes(job->devices.at[i].ctx, share > 1 ? share : 1); /* 0 is no limit */
        }
    }
}

/* ---- the work of one device ---- */

static void drop_operands(cli_job *job, int number, lsp_ctx *ctx) {
    for (int k = 0; k < 3 && cli_on_gpus(job); k++) {
        lsp_csr_free(ctx, &job->parts[number].there[k]);
    }
}

/* A part that does not fit its device is streamed, but for a dry run. */
static lsp_status or_stream(cli_job *job, int number, lsp_ctx *ctx, lsp_status status) {
    if (status != LSP_ERR_MEMORY || job->options.dry_run) {
        return status;
    }
    drop_operands(job, number, ctx);
    job->parts[number].streamed = true;
    return LSP_OK;
}

static lsp_status take(void *data, int number, lsp_ctx *ctx) {
    cli_job *job = data;
    cli_part *part = &job->parts[number];
    const lsp_csr *here[3] = {&part->A, &job->second->csr, &part->mask};
    lsp_status status = LSP_OK;
    for (int k = 0; k < (job->options.mask ? 3 : 2) && status == LSP_OK; k++) {
        if (cli_on_gpus(job)) {
            status = lsp_csr_copy(ctx, here[k], &(lsp_csr_types){.place = LSP_PLACE_CUDA}, &part->there[k]);
        } else {
            part->there[k] = *here[k];
        }
    }
    return or_stream(job, number, ctx, status);
}

static lsp_spgemm_options options_of(const cli_job *job, const lsp_csr *mask) {
    lsp_spgemm_options how = cli_how_to_multiply(job, LSP_SPGEMM_AUTO);
    how.transpose_a = false; /* the rows of op(A) were cut */
    how.filter = cli_filter_of(job, mask);
    return how;
}

static lsp_status count_rows(void *part, int64_t first_row, const lsp_csr *rows) {
    (void)first_row;
    ((cli_part *)part)->nnz += rows->nnz;
    return LSP_OK;
}

static lsp_status stream(cli_job *job, int number, lsp_ctx *ctx, bool count, lsp_spgemm_sink sink, void *user) {
    cli_part *part = &job->parts[number];
    lsp_spgemm_options how = options_of(job, &part->mask);
    how.types.place = cli_on_gpus(job) ? LSP_PLACE_CUDA : LSP_PLACE_HOST;
    if (count && !how.filter.drop && how.filter.largest == 0) { /* counting needs no values */
        how.types.val_type = LSP_NONE;
        how.types.drop_values = true;
    }
    return lsp_spgemm_stream(ctx, &part->A, &job->second->csr, &how, 0, sink, user, &part->plan);
}

/* The rows of C of one device, or with --dry-run only how they would be made. */
static lsp_status multiply(void *data, int number, lsp_ctx *ctx) {
    cli_job *job = data;
    cli_part *part = &job->parts[number];
    lsp_spgemm_options how = options_of(job, &part->there[OF_MASK]);
    lsp_status status = LSP_OK;
    if (job->options.dry_run) {
        how.filter = (lsp_filter){0};
        return lsp_spgemm_explain(ctx, &part->there[OF_A], &part->there[OF_B], &how, &part->plan);
    }
    if (!part->streamed) {
        lsp_csr_free(ctx, &part->C);
        status = lsp_spgemm(ctx, &part->there[OF_A], &part->there[OF_B], &how, &part->C, &part->plan);
        status = status == LSP_OK ? lsp_ctx_sync(ctx) : status;
        part->nnz = part->C.nnz;
        status = or_stream(job, number, ctx, status);
    }
    if (part->streamed && status == LSP_OK) {
        part->nnz = 0;
        status = stream(job, number, ctx, true, count_rows, part);
    }
    return status;
}

/* cli_devices_do. The sentence about an integer that does not fit C counts rows from the first one of its device. */
static int on_all(cli_job *job, cli_device_work work) {
    const int code = cli_devices_do(&job->run, &job->devices, work, job);
    const int failed = job->devices.failed;
    if (code != CLI_MEMORY || !cli_integers(&job->options) || job->devices.at[failed].status != LSP_ERR_OVERFLOW) {
        return code;
    }
    return cli_fail(CLI_INPUT, "%s counts its rows from row %lld of C", job->devices.at[failed].name,
                    (long long)job->parts[failed].first_row);
}

/* ---- C ---- */

static lsp_status put(void *data, int number, lsp_ctx *ctx) {
    cli_job *job = data;
    cli_part *part = &job->parts[number];
    cli_rows to = {.ctx = ctx, .C = &job->C, .row = part->first_row, .entry = part->first_entry};
    const lsp_status status =
        part->streamed ? stream(job, number, ctx, false, cli_put_rows, &to) : cli_put_rows(&to, 0, &part->C);
    lsp_csr_free(ctx, &part->C);
    drop_operands(job, number, ctx);
    return status;
}

/* Makes C on the host, and has each device put its rows there. */
static int gather(cli_job *job) {
    const cli_sizes sizes = cli_sizes_of(job);
    int64_t nnz = 0;
    for (int i = 0; i < job->devices.count; i++) {
        job->parts[i].first_entry = nnz;
        nnz += job->parts[i].nnz;
    }
    const lsp_csr_types types = {.val_type = cli_product_type(job)};
    job->run.remedy =
        "; with one --device and -o FILE it is multiplied and written in blocks of rows, which need less memory";
    const lsp_status status = lsp_csr_create(job->run.ctx, sizes.rows, sizes.cols, nnz, &types, &job->C);
    return status == LSP_OK ? on_all(job, put) : cli_failed(&job->run, status);
}

/* ---- all devices ---- */

/* The facts of all parts together. */
static void add_plans(cli_job *job) {
    lsp_spgemm_info *all = &job->plan;
    *all = (lsp_spgemm_info){.method_name = job->parts[0].plan.method_name};
    for (int i = 0; i < job->devices.count; i++) {
        const lsp_spgemm_info *plan = &job->parts[i].plan;
        all->method_name = strcmp(all->method_name, plan->method_name) == 0 ? all->method_name : "several";
        all->products += plan->products;
        all->nnz_bound += plan->nnz_bound;
        all->max_row_products =
            plan->max_row_products > all->max_row_products ? plan->max_row_products : all->max_row_products;
        all->blocks += plan->blocks;
        all->scratch_bytes += plan->scratch_bytes;
        all->bound_bytes += plan->bound_bytes;
        all->plan_bytes += plan->plan_bytes;
        all->passes = plan->passes > all->passes ? plan->passes : all->passes;
    }
    snprintf(all->reason, sizeof all->reason, "a block of rows on each of %d devices", job->devices.count);
}

/* One run takes as long as its slowest device. */
static int multiply_once(cli_job *job, double *ms) {
    *ms = 0;
    CLI_STEP(on_all(job, multiply));
    for (int i = 0; i < job->devices.count; i++) {
        *ms = fmax(*ms, job->devices.at[i].ms);
        job->timed = job->timed && !job->parts[i].streamed;
    }
    return CLI_DONE;
}

/* Keeps the times of the fastest run. A streamed product is not repeated. */
static int multiply_often(cli_job *job, double *ms) {
    const bool once = job->options.repeat == 0;
    double fastest = INFINITY;
    if (!once) {
        CLI_STEP(multiply_once(job, &job->cold_ms));
    }
    for (int64_t i = 0; i < job->repeats && (once || job->timed); i++) {
        CLI_STEP(multiply_once(job, &ms[i]));
        for (int k = 0; k < job->devices.count && ms[i] < fastest; k++) {
            job->parts[k].ms = job->devices.at[k].ms;
        }
        fastest = fmin(fastest, ms[i]);
    }
    return CLI_DONE;
}

int cli_multiply_parts(cli_job *job, double *ms) {
    cli_progress_begin(&job->run.progress, "cutting", cli_formula(job));
    const lsp_status status = cut_rows(job);
    job->run.copy_ms = cli_progress_end(&job->run.progress);
    if (status != LSP_OK) {
        return cli_failed(&job->run, status);
    }
    share_budget(job);
    cli_progress_begin(&job->run.progress, "copying", "to the devices");
    CLI_STEP(on_all(job, take));
    job->run.copy_ms += cli_progress_end(&job->run.progress);
    cli_progress_begin(&job->run.progress, job->options.dry_run ? "planning" : "multiplying", cli_formula(job));
    CLI_STEP(multiply_often(job, ms));
    cli_progress_end(&job->run.progress);
    if (!job->options.dry_run) {
        cli_progress_begin(&job->run.progress, "gathering", cli_formula(job));
        CLI_STEP(gather(job));
        job->run.copy_ms += cli_progress_end(&job->run.progress);
    }
    add_plans(job);
    (void)lsp_ctx_set_max_bytes(job->run.ctx, job->options.max_bytes);
    return CLI_DONE;
}
