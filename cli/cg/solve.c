/* Solves A x = b: reads or generates A, reads b or takes A * ones, and runs the solver, perhaps several times. */
#include "cg.h"
#include "interrupt.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RESIDUALS = 1000000, USUAL_ITERATIONS = 100 }; /* kept; guessed, to choose a device */

/* ---- A and b ---- */

static int read_matrix(cg_job *job) {
    const cg_options *o = &job->options;
    const cli_source from = {.path = o->generate ? NULL : o->matrix,
                             .spec = o->generate,
                             .seed = o->seed,
                             .lenient = o->lenient,
                             .types.val_type = o->generate || o->precision == 1 ? cg_type(o) : LSP_NONE};
    const lsp_csr *A = &job->A.csr;
    CLI_STEP(cli_matrix_make(&job->run, &from, &job->A));
    if (A->rows != A->cols) {
        return cli_fail(CLI_INPUT, "%s is %lld x %lld: only a square system can be solved", job->A.name,
                        (long long)A->rows, (long long)A->cols);
    }
    return A->val_type == LSP_C64 ? cli_fail(CLI_INPUT, "%s is complex: complex systems are not supported", job->A.name)
                                  : CLI_DONE;
}

static int read_rhs(cg_job *job) {
    const cg_options *o = &job->options;
    const lsp_csr *b = &job->b.csr;
    CLI_STEP(cli_matrix_make(&job->run, &(cli_source){.path = o->rhs, .seed = -1, .lenient = o->lenient}, &job->b));
    if (b->val_type == LSP_C64) {
        return cli_fail(CLI_INPUT, "%s is complex: complex systems are not supported", job->b.name);
    }
    if (b->rows != job->A.csr.rows || b->cols != 1) {
        return cli_fail(CLI_INPUT, "%s is %lld x %lld, and b must be %lld x 1, because %s is %lld x %lld", job->b.name,
                        (long long)b->rows, (long long)b->cols, (long long)job->A.csr.rows, job->A.name,
                        (long long)job->A.csr.rows, (long long)job->A.csr.cols);
    }
    for (int64_t i = 0; i < b->rows; i++) { /* a row has one entry or none */
        const int64_t at = cli_index_at(b->rowptr, b->rowptr_type, i);
        if (at < cli_index_at(b->rowptr, b->rowptr_type, i + 1)) {
            cg_vector_set(&job->rhs, i, b->val_type == LSP_NONE ? 1 : cg_vector_get(b, at));
        }
    }
    return CLI_DONE;
}

static int multiply_by_ones(cg_job *job) {
    const lsp_spmv_options how = {.type = cg_type(&job->options)};
    for (int64_t i = 0; i < job->x.rows; i++) {
        cg_vector_set(&job->x, i, 1);
    }
    if (job->x.rows == 0) {
        return CLI_DONE;
    }
    const lsp_status status = lsp_spmv(job->run.ctx, &job->A.csr, &how,
                                       &(lsp_spmv_vectors){.alpha = 1, .x = job->x.val, .y = job->rhs.val}, NULL);
    return status == LSP_OK ? CLI_DONE : cli_failed(&job->run, status);
}

/* ---- the solver ---- */

static bool note(void *user, int64_t iteration, double residual) {
    cg_job *job = user;
    cli_progress_note(&job->run.progress, "iteration %s, residual %.2e", cli_count(iteration).text, residual);
    return false;
}

/* The place for the residuals. -1 marks what no iteration has filled. */
static int make_history(cg_job *job) {
    const cg_options *o = &job->options;
    cg_history *h = &job->history;
    int64_t most = job->A.csr.rows < 10000 ? 10 * job->A.csr.rows : 100000; /* as the library chooses */
    most = o->max_iterations > 0 ? o->max_iterations : most;
    h->capacity = (most < MOST_RESIDUALS ? most : MOST_RESIDUALS) + 1;
    h->residual = malloc((size_t)h->capacity * sizeof *h->residual);
    return h->residual ? CLI_DONE : cli_fail(CLI_MEMORY, "no memory for %lld residuals", (long long)h->capacity);
}

static lsp_solve_options how_to_solve(cg_job *job) {
    const cg_options *o = &job->options;
    lsp_solve_options how = {.type = cg_type(o),
                             .rtol = cg_rtol(o),
                             .max_iterations = o->max_iterations,
                             .precondition = o->precondition == CG_MULTIGRID ? LSP_PRECONDITION_MULTIGRID
                                             : o->precondition == CG_JACOBI  ? LSP_PRECONDITION_JACOBI
                                                                             : LSP_PRECONDITION_NONE,
                             .method = o->method,
                             .passes = o->passes};
    if (o->history) {
        how.history = job->history.residual;
        how.history_capacity = job->history.capacity;
    }
    if (job->run.progress.wanted && !job->run.gpu) { /* a GPU is faster without the question after each iteration */
        how.on_iteration = note;
        how.iteration_user = job;
    }
    return how;
}

static lsp_status run_once(cg_job *job, lsp_solve_plan *plan, const void *b, void *x, double *seconds) {
    for (int64_t i = 0; i < job->history.capacity; i++) {
        job->history.residual[i] = -1;
    }
    cli_progress_begin(&job->run.progress, "solving", job->A.name);
    const lsp_status status = lsp_solve_execute(plan, b, x, &job->solution);
    cli_progress_end(&job->run.progress);
    *seconds = job->solution.solve_seconds;
    return status;
}

static lsp_status make_plan(cg_job *job, lsp_ctx *ctx, lsp_multigrid **multigrid, lsp_solve_plan **plan) {
    lsp_solve_options how = how_to_solve(job);
    cli_progress_begin(&job->run.progress, "planning", job->A.name);
    if (how.precondition == LSP_PRECONDITION_MULTIGRID) {
        const lsp_multigrid_options wanted = cg_multigrid(&job->options);
        lsp_status status = lsp_multigrid_create(ctx, cg_matrix(job), &wanted, multigrid);
        status = status == LSP_OK ? lsp_multigrid_get_info(*multigrid, &job->multigrid) : status;
        if (status != LSP_OK) {
            return status;
        }
        how.multigrid = *multigrid;
    }
    return job->options.solver == CG_BICGSTAB ? lsp_bicgstab_plan_create(ctx, cg_matrix(job), &how, plan)
                                              : lsp_cg_plan_create(ctx, cg_matrix(job), &how, plan);
}

static lsp_status run_all(cg_job *job, lsp_ctx *ctx, const void *b, void *x, double *seconds) {
    lsp_solve_plan *plan = NULL;
    lsp_multigrid *multigrid = NULL;
    lsp_status status = make_plan(job, ctx, &multigrid, &plan);
    if (status == LSP_OK) {
        cli_progress_end(&job->run.progress);
        status = run_once(job, plan, b, x, &job->cold_seconds);
    }
    seconds[0] = job->cold_seconds;
    if (status != LSP_OK) {
        job->repeats = 1; /* it would fail again */
    }
    for (int64_t i = 0; i < job->options.repeat && status == LSP_OK; i++) {
        status = run_once(job, plan, b, x, &seconds[i]);
    }
    if (status == LSP_OK || status == LSP_ERR_CONVERGENCE) {
        snprintf(job->sentence, sizeof job->sentence, "%s", status == LSP_OK ? "" : lsp_last_error(ctx));
        job->solved = true;
        job->spmv = &job->solution.spmv;
        while (job->history.count < job->history.capacity && !(job->history.residual[job->history.count] < 0)) {
            job->history.count++;
        }
    }
    lsp_solve_plan_destroy(plan);
    lsp_multigrid_destroy(multigrid);
    return status;
}

/* On a GPU b goes there and x comes back. */
static lsp_status solve_there(cg_job *job, double *seconds) {
    const lsp_csr_types on_gpu = {.place = LSP_PLACE_CUDA};
    lsp_csr b = {0}, x = {0}, back = {0};
    lsp_ctx *gpu = job->run.gpu;
    lsp_status status = lsp_csr_copy(gpu, &job->rhs, &on_gpu, &b);
    status = status == LSP_OK ? lsp_csr_copy(gpu, &job->x, &on_gpu, &x) : status;
    status = status == LSP_OK ? run_all(job, gpu, b.val, x.val, seconds) : status;
    if (job->solved) {
        const double begun = cli_now();
        const lsp_status copied = lsp_csr_copy(gpu, &x, &(lsp_csr_types){.place = LSP_PLACE_HOST}, &back);
        job->run.copy_ms += cli_now() - begun;
        for (int64_t i = 0; i < back.rows && copied == LSP_OK; i++) {
            cg_vector_set(&job->x, i, cg_vector_get(&back, i));
        }
        status = copied == LSP_OK ? status : copied;
    }
    (void)lsp_csr_free(gpu, &back);
    (void)lsp_csr_free(gpu, &x);
    (void)lsp_csr_free(gpu, &b);
    return status;
}

/* Conjugate gradients fail on a matrix that is not symmetric: that is worth a look once they have. */
static void explain(cg_job *job) {
    lsp_csr_stats stats;
    const size_t used = strlen(job->sentence);
    if (job->options.solver != CG_BICGSTAB && lsp_csr_get_stats(job->run.ctx, &job->A.csr, &stats) == LSP_OK &&
        !stats.symmetric) {
        snprintf(job->sentence + used, sizeof job->sentence - used,
                 "; %s is not symmetric, and --solver bicgstab takes any square matrix", job->A.name);
    }
}

static void measure_error(cg_job *job) {
    for (int64_t i = 0; i < job->x.rows && !job->options.rhs; i++) {
        const double error = fabs(cg_vector_get(&job->x, i) - 1);
        job->error = error > job->error || isnan(error) ? error : job->error;
        if (isnan(error)) {
            return;
        }
    }
}

/* The library's sentence. A row that it names is counted from 0: files count from 1. */
static int tell_failure(cg_job *job) {
    const char *sentence = lsp_last_error(cg_ctx(job));
    long long row;
    int rest = 0;
    if (sscanf(sentence, "row %lld: %n", &row, &rest) == 1 && rest > 0) {
        cli_progress_end(&job->run.progress);
        return cli_fail(CLI_INPUT, "%s: row %lld, counted from 1: %s", job->A.name, row + 1, sentence + rest);
    }
    const int code = cli_failed_in(&job->run, cg_ctx(job), job->status);
    return code == CLI_USAGE ? CLI_INPUT : code; /* the options are right: the matrix is not what they need */
}

static int run_solver(cg_job *job) {
    job->repeats = job->options.repeat > 0 ? job->options.repeat : 1;
    double *seconds = calloc((size_t)job->repeats, sizeof *seconds);
    if (!seconds) {
        return cli_fail(CLI_MEMORY, "no memory for the times of %lld runs", (long long)job->repeats);
    }
    job->status =
        job->run.gpu ? solve_there(job, seconds) : run_all(job, job->run.ctx, job->rhs.val, job->x.val, seconds);
    cg_keep_times(job, seconds);
    free(seconds);
    if (!job->solved || (job->status != LSP_OK && job->status != LSP_ERR_CONVERGENCE)) {
        return tell_failure(job);
    }
    if (job->status == LSP_ERR_CONVERGENCE) {
        explain(job);
    }
    measure_error(job);
    return CLI_DONE;
}

int cg_solve(cg_job *job) {
    CLI_STEP(read_matrix(job));
    const lsp_type type = cg_type(&job->options);
    lsp_status status = cg_vector_make(job->run.ctx, job->A.csr.rows, type, &job->rhs);
    status = status == LSP_OK ? cg_vector_make(job->run.ctx, job->A.csr.rows, type, &job->x) : status;
    if (status != LSP_OK) {
        return cli_failed(&job->run, status);
    }
    CLI_STEP(job->options.rhs ? read_rhs(job) : multiply_by_ones(job));
    CLI_STEP(make_history(job));
    CLI_STEP(cg_choose_device(job, (double)job->A.csr.nnz * USUAL_ITERATIONS));
    return run_solver(job);
}

int cg_write(cg_job *job) {
    const char *path = job->options.output;
    cli_progress_begin(&job->run.progress, "writing", path);
    cli_guard_output(path);
    const lsp_status status = lsp_mtx_write(job->run.ctx, path, &job->x, NULL);
    cli_guard_end();
    job->write_ms = cli_progress_end(&job->run.progress);
    job->written = status == LSP_OK;
    return status == LSP_OK ? CLI_DONE : cli_failed(&job->run, status);
}
