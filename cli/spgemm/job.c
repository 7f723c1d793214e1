/* What the steps of a run share: the shape of the product, and the matrices on the GPU. */
#include "job.h"

/* ---- the product ---- */

lsp_type cli_product_type(const cli_job *job) {
    const bool complex = job->A.csr.val_type == LSP_C64 || job->second->csr.val_type == LSP_C64;
    return complex ? LSP_C64 : cli_value_type(&job->options);
}

const char *cli_formula(const cli_job *job) {
    static const char *const formulas[2][2][2] = {{{"A*B", "A*B^T"}, {"A^T*B", "A^T*B^T"}},
                                                  {{"A*A", "A*A^T"}, {"A^T*A", "A^T*A^T"}}};
    return formulas[job->second == &job->A][job->options.transpose_a][job->options.transpose_b];
}

cli_sizes cli_sizes_of(const cli_job *job) {
    const lsp_csr *A = &job->A.csr, *B = &job->second->csr;
    const bool turn_a = job->options.transpose_a, turn_b = job->options.transpose_b;
    return (cli_sizes){.rows = turn_a ? A->cols : A->rows,
                       .inner_a = turn_a ? A->rows : A->cols,
                       .inner_b = turn_b ? B->cols : B->rows,
                       .cols = turn_b ? B->rows : B->cols};
}

const char *cli_instead(const cli_job *job) {
    return job->options.transpose_a ? ", but A^T*A is (--transpose-a alone)" : ", but A*A^T is (--transpose-b)";
}

lsp_spgemm_options cli_how_to_multiply(const cli_job *job, lsp_spgemm_method method) {
    const cli_options *o = &job->options;
    return (lsp_spgemm_options){.method = method,
                                .semiring = (lsp_semiring)o->semiring,
                                .transpose_a = o->transpose_a,
                                .transpose_b = o->transpose_b,
                                .types = {.val_type = cli_product_type(job)}};
}

lsp_filter cli_filter_of(const cli_job *job, const lsp_csr *mask) {
    const cli_options *o = &job->options;
    return (lsp_filter){.mask = o->mask ? mask : NULL,
                        .complement = o->complement,
                        .drop = o->drop >= 0,
                        .tolerance = o->drop >= 0 ? o->drop : 0,
                        .largest = o->keep};
}

double cli_gflops(const cli_job *job) {
    const double operations = cli_product_type(job) == LSP_C64 ? 8 : 2; /* a product */
    return job->multiplied && job->multiply_ms > 0 ? operations * (double)job->plan.products / (job->multiply_ms * 1e6)
                                                   : 0;
}

/* ---- the GPU ---- */

bool cli_on_gpus(const cli_job *job) { return job->devices.count > 0 && job->devices.at[0].wanted.device == LSP_CUDA; }

void cli_gpu_give(cli_job *job, const cli_matrix *matrix) {
    if (job->run.loader.begun && !job->options.info) {
        cli_loader_give(&job->run.loader, &matrix->csr);
    }
}

void cli_gpu_give_all(cli_job *job) {
    cli_gpu_give(job, &job->A);
    if (job->second != &job->A) {
        cli_gpu_give(job, &job->B);
    }
    if (job->options.mask) {
        cli_gpu_give(job, &job->mask);
    }
}
