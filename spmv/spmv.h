/* Inside spmv: what the files at its top call. */
#pragma once

#include "job.h"

extern const lsp_spmv_device lsp_spmv_cpu, lsp_spmv_cuda;

/* check.c: refuses wrong arguments with a sentence; fills the job but op(A) and the choice. `options` may be NULL. */
lsp_status lsp_spmv_check(lsp_ctx *ctx, const lsp_csr *A, const lsp_spmv_options *options, lsp_spmv_job *job);
/* check.c: sets job->vectors and their steps. Overlaps of x and y, and strides that are too short, are refused. */
lsp_status lsp_spmv_check_vectors(lsp_ctx *ctx, const lsp_spmv_vectors *vectors, lsp_spmv_job *job);
/* choose.c: sets job->choice and job->engine. `facts` NULL: one call without a plan. A method that was asked for and
 * has no engine here, or does not fit, is refused. */
lsp_status lsp_spmv_choose(lsp_ctx *ctx, lsp_spmv_job *job, const lsp_spmv_facts *facts);

/* choose.c: what a job tells of its choice. */
void lsp_spmv_tell(const lsp_spmv_job *job, lsp_spmv_info *info);

/* model.c: predicts seconds[] and plan_seconds[] of the choice for the methods that are offered, a set of bits, and
 * clears those of the others; choice->block is set. */
void lsp_spmv_predict(const lsp_cache_figures *figures, const lsp_spmv_job *job, const lsp_spmv_facts *facts,
                      unsigned offered, lsp_spmv_choice *choice);

/* diagonals.c. Sets diagonal_slots, block_slots[] and filled_block of the facts: slots are 0 where more than
 * LSP_DIAGONALS_FILL would be stored, or where A does not consist of such blocks. If A consists of blocks of one size,
 * the smaller ones are 0. A GPU's waits. */
lsp_status lsp_spmv_count_slots(lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_facts *facts);
