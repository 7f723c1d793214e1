/* Calls the library on several devices: a share of the work each, put together on the host. */
#include "text.h"
#include "two_body.h"

#include <stdlib.h>

static lsp_status call_share(void *data, int number, lsp_ctx *ctx) {
    tb_job *job = data;
    return tb_call(job, ctx, number, job->devices.count, &job->shares[number]);
}

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

/* The rows of all shares, one below the other. */
static int stack_rows(tb_job *job) {
    const lsp_csr *blocks[CLI_MOST_DEVICES];
    for (int d = 0; d < job->devices.count; d++) {
        blocks[d] = &job->shares[d].C;
    }
    const lsp_status status = lsp_csr_stack(job->run.ctx, blocks, job->devices.count, 1, &job->C);
    for (int d = 0; d < job->devices.count; d++) {
        (void)lsp_csr_free(job->devices.at[d].ctx, &job->shares[d].C);
    }
    return status == LSP_OK ? CLI_DONE : cli_failed(&job->run, status);
}

int tb_compute_shares(tb_job *job) {
    CLI_STEP(make_room(job));
    CLI_STEP(cli_devices_do(&job->run, &job->devices, call_share, job));
    job->info = job->shares[0].info;
    job->info.tested = 0;
    for (int d = 0; d < job->devices.count; d++) {
        const lsp_ctx_info *about = &job->devices.at[d].about;
        const int64_t peak = about->device == LSP_CUDA ? about->cuda_peak_bytes : about->host_peak_bytes;
        job->info.tested += job->shares[d].info.tested;
        job->peak_bytes = job->peak_bytes > peak ? job->peak_bytes : peak;
    }
    CLI_STEP(add_counts(job));
    return tb_makes_matrix(&job->options) ? stack_rows(job) : CLI_DONE;
}
