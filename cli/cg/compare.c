/* --compare cusparse: the same work by NVIDIA's cuSPARSE and cuBLAS on the same GPU: the benchmark, or as many
 * iterations as our solver took. The result of each is checked. */
#include "cg.h"

#include <math.h>

int cg_compare_open(cg_job *job) {
    char error[512] = "";
    job->peer = peer_cg_open(job->options.ordinal, error, sizeof error);
    return job->peer ? CLI_DONE : cli_fail(CLI_DEVICE, "%s", error);
}

/* What the peer reads on the GPU. */
typedef struct operands {
    lsp_csr A, inverse, b, x;
} operands;

/* The inverse of the diagonal, as a vector on the host. Entries of one place are summed. */
static lsp_status invert_diagonal(cg_job *job, lsp_csr *inverse) {
    const lsp_csr *A = &job->A.csr;
    const lsp_status status = cg_vector_make(job->run.ctx, A->rows, cg_type(&job->options), inverse);
    for (int64_t i = 0; i < A->rows && status == LSP_OK; i++) {
        double sum = 0;
        for (int64_t p = cli_index_at(A->rowptr, A->rowptr_type, i); p < cli_index_at(A->rowptr, A->rowptr_type, i + 1);
             p++) {
            if (cli_index_at(A->col, A->col_type, p) == i) {
                sum += A->val_type == LSP_NONE ? 1 : cg_vector_get(A, p);
            }
        }
        cg_vector_set(inverse, i, 1 / sum);
    }
    return status;
}

static lsp_status copy_operands(cg_job *job, operands *in) {
    lsp_ctx *gpu = job->run.gpu;
    const lsp_csr_types on_gpu = {.place = LSP_PLACE_CUDA};
    const lsp_type index = job->A.csr.nnz <= INT32_MAX ? LSP_I32 : LSP_I64;
    const lsp_csr_types types = {
        .rowptr_type = index, .col_type = index, .val_type = cg_type(&job->options), .place = LSP_PLACE_CUDA};
    lsp_csr inverse = {0};
    lsp_status status = lsp_csr_copy(gpu, &job->A.csr, &types, &in->A);
    if (status == LSP_OK && !job->options.nas) {
        status = lsp_csr_copy(gpu, &job->rhs, &on_gpu, &in->b);
        status = status == LSP_OK ? lsp_csr_copy(gpu, &job->x, &on_gpu, &in->x) : status;
    }
    if (status == LSP_OK && job->options.precondition >= CG_JACOBI) {
        status = invert_diagonal(job, &inverse);
        status = status == LSP_OK ? lsp_csr_copy(gpu, &inverse, &on_gpu, &in->inverse) : status;
    }
    (void)lsp_csr_free(job->run.ctx, &inverse);
    return status == LSP_OK ? lsp_ctx_sync(gpu) : status;
}

static void run_peer(cg_job *job, peer_cg_way way, const operands *in) {
    cg_peer *peer = &job->peers[way];
    peer->name = peer_cg_names[way];
    peer->seconds = INFINITY;
    peer->ran = true;
    for (int64_t i = job->options.repeat > 0 ? -1 : 0; i < job->repeats && peer->ran; i++) { /* -1: the cold run */
        peer_cg_result result = {0};
        cli_progress_begin(&job->run.progress, "running cuSPARSE", peer->name);
        peer->ran = job->options.nas
                        ? peer_cg_nas(job->peer, way, &job->nas, &result)
                        : peer_cg_solve(job->peer, way, in->b.val, in->x.val, job->solution.iterations, &result);
        cli_progress_end(&job->run.progress);
        peer->seconds = i < 0 ? peer->seconds : fmin(peer->seconds, result.seconds);
        peer->zeta = result.zeta;
        peer->residual = result.residual;
    }
    if (!peer->ran) {
        snprintf(peer->why, sizeof peer->why, "%s", peer_cg_why(job->peer));
    }
}

int cg_compare(cg_job *job) {
    operands in = {0};
    lsp_ctx *gpu = job->run.gpu;
    const lsp_status status = copy_operands(job, &in);
    if (status == LSP_OK) {
        const bool ready =
            peer_cg_prepare(job->peer, &in.A, job->options.precondition >= CG_JACOBI ? in.inverse.val : NULL);
        for (int way = 0; way < PEER_CG_WAYS; way++) {
            if (ready) {
                run_peer(job, (peer_cg_way)way, &in);
            } else {
                job->peers[way] = (cg_peer){.name = peer_cg_names[way]};
                snprintf(job->peers[way].why, sizeof job->peers[way].why, "%s", peer_cg_why(job->peer));
            }
        }
        job->compared = true;
    }
    lsp_csr *const made[] = {&in.x, &in.b, &in.inverse, &in.A};
    for (int i = 0; i < 4; i++) {
        (void)lsp_csr_free(gpu, made[i]);
    }
    return status == LSP_OK ? CLI_DONE : cli_failed_in(&job->run, gpu, status);
}
