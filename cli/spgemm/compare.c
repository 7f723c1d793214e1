/* --compare cusparse: computes the same product with each algorithm of NVIDIA's cuSPARSE on the same GPU. Measures time
 * and memory, and compares each result with ours. */
#include "steps.h"

#include <math.h>

/* Copies an operand to the GPU as cuSPARSE takes it: int32 indices, values of --precision. cuSPARSE does not transpose,
 * so the operand is transposed first; that time is not counted. */
static lsp_status copy_operand(const cli_job *job, const lsp_csr *A, bool transpose, lsp_csr *there) {
    const lsp_csr_types types = {.rowptr_type = LSP_I32,
                                 .col_type = LSP_I32,
                                 .val_type = cli_value_type(&job->options),
                                 .place = LSP_PLACE_CUDA};
    lsp_csr turned = {.rows = 0};
    lsp_status status = transpose ? lsp_csr_transpose(job->run.ctx, A, &turned) : LSP_OK;
    if (status == LSP_OK) {
        status = lsp_csr_copy(job->run.gpu, transpose ? &turned : A, &types, there);
    }
    lsp_csr_free(job->run.ctx, &turned);
    return status;
}

/* Compares its product with ours. Columns are sorted first; values may differ because it adds in another order. */
static bool compare_product(cli_job *job, cli_peer *peer, peer_cusparse_product *p) {
    lsp_csr there, here = {.rows = 0};
    peer_cusparse_product_view(p, &there);
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .place = LSP_PLACE_HOST};
    lsp_status status = lsp_csr_copy(job->run.gpu, &there, &types, &here);
    const bool copied = status == LSP_OK;
    status = copied ? lsp_csr_sort(job->run.ctx, &here) : status;
    status = status == LSP_OK ? lsp_csr_compare(job->run.ctx, &job->C, &here, &peer->difference) : status;
    if (status != LSP_OK) {
        snprintf(peer->why, sizeof peer->why, "%s", lsp_last_error(copied ? job->run.ctx : job->run.gpu));
    }
    lsp_csr_free(job->run.gpu, &here);
    return status == LSP_OK;
}

static void time_product(cli_job *job, cli_peer *peer, peer_cusparse_product *p) {
    peer->ran = true;
    peer->fastest_ms = INFINITY;
    for (int64_t i = job->options.repeat > 0 ? -1 : 0; i < job->repeats && peer->ran; i++) { /* -1: the cold run */
        cli_progress_begin(&job->run.progress, "multiplying by cuSPARSE", peer->name);
        peer->ran = peer_cusparse_product_run(p);
        const double ms = cli_progress_end(&job->run.progress);
        peer->fastest_ms = i < 0 ? peer->fastest_ms : fmin(peer->fastest_ms, ms);
        if (!peer->ran) {
            snprintf(peer->why, sizeof peer->why, "%s", peer_cusparse_product_why(p));
        } else if (i + 1 == job->repeats) {
            peer->ran = compare_product(job, peer, p);
        }
        peer_cusparse_product_release(p);
    }
    peer->peak_bytes = peer_cusparse_product_peak(p);
}

int cli_compare(cli_job *job) {
    lsp_csr A = {.rows = 0}, B = {.rows = 0};
    const bool same = job->second == &job->A && job->options.transpose_a == job->options.transpose_b;
    lsp_status status = copy_operand(job, &job->A.csr, job->options.transpose_a, &A);
    if (status == LSP_OK && !same) {
        status = copy_operand(job, &job->second->csr, job->options.transpose_b, &B);
    }
    for (int way = 0; way < PEER_CUSPARSE_WAYS && status == LSP_OK; way++) {
        cli_peer *peer = &job->peers[way];
        peer->name = peer_cusparse_names[way];
        peer_cusparse_product *p =
            peer_cusparse_product_create(job->cusparse, (peer_cusparse_way)way, &A, same ? &A : &B);
        if (p) {
            time_product(job, peer, p);
        }
        peer_cusparse_product_destroy(p);
    }
    job->compared = status == LSP_OK;
    lsp_csr_free(job->run.gpu, &A);
    lsp_csr_free(job->run.gpu, &B);
    return status == LSP_OK ? CLI_DONE : cli_failed_in(&job->run, job->run.gpu, status);
}
