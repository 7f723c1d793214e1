/* Inside two-body statistics. Each public call becomes a job: checked points, a metric, a method. */
#pragma once

#include "job.h"

/* check.c: refuses wrong arguments with a sentence; fills the job but for its radius, its extent and its choice. */
lsp_status lsp_pair_check(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const lsp_pair_options *options,
                          lsp_pair_job *job);
/* check.c: refuses a radius that is no number, or too large for the periodic box. */
lsp_status lsp_pair_check_radius(lsp_ctx *ctx, const lsp_pair_job *job, const char *name, double radius);

/* check.c: refuses options that make no sense; `self`: pairs of one set. */
lsp_status lsp_radius_join_check(lsp_ctx *ctx, const lsp_join_options *join, bool self);

/* check.c: points first .. end-1. */
lsp_points lsp_points_between(const lsp_points *p, int64_t first, int64_t end);
/* check.c: the first row of a share of a matrix; that of `part` = job->parts is the end. half: rows get shorter. */
int64_t lsp_pair_share_row(const lsp_pair_job *job, int64_t part, bool half);
/* check.c: leaves rows[0] .. rows[1] - 1 of a matrix's job, and columns cols[0] .. cols[1] - 1. */
void lsp_pair_narrow(lsp_pair_job *job, const int64_t rows[2], const int64_t cols[2]);

/* two_body.c: rows and columns of a join; `join` and `options` are there, and their shares are ignored. */
lsp_status lsp_join_between(lsp_ctx *ctx, const lsp_pair_job *whole, double radius, const lsp_join_options *join,
                            const int64_t rows[2], const int64_t cols[2], lsp_csr *C, lsp_pair_info *info);

/* points.c: refuses coordinates that are not finite; sets low and high. The device need not be the context's. */
lsp_status lsp_pair_inspect(lsp_ctx *ctx, const lsp_pair_device *device, lsp_pair_job *job);
/* points.c: both sets as places in job->clouds, scratch of the call. sorted: by cells; without a grid there is one. */
lsp_status lsp_pair_load(lsp_ctx *ctx, lsp_pair_job *job, bool sorted);

/* choose.c: lets the device look at the points, and sets job->info and job->grid. A radius of infinity: the nearest
 * points are wanted. */
lsp_status lsp_pair_prepare(lsp_ctx *ctx, lsp_pair_job *job, double radius);

/* blocks.c: points of a block, if those of the job lie on the host and do not fit the GPU beside `results` words; else
 * INT32_MAX. */
int64_t lsp_pair_block_points(lsp_ctx *ctx, const lsp_pair_job *job, int64_t results);
/* blocks.c: prepares the job and counts; in blocks, if the points lie on the host and do not fit the GPU. */
lsp_status lsp_pair_tally_all(lsp_ctx *ctx, lsp_pair_job *job, double radius, const lsp_pair_tally *tally,
                              uint64_t *counts);

/* choose.c: the volume of a ball. */
double lsp_ball(int dimensions, double radius);

/* ref.c: the specification, one thread and plain loops on the host. */
void lsp_pair_count_ref(const lsp_pair_job *job, const double *limits, int64_t radii, uint64_t *counts);
void lsp_pair_histogram_ref(const lsp_pair_job *job, double scale, int64_t bins, uint64_t *counts);
/* Calls take(data, i, j, value) for each entry of the join, row by row and column by column. */
void lsp_radius_join_ref(const lsp_pair_job *job, double limit, const lsp_join_options *join,
                         void (*take)(void *data, int64_t i, int64_t j, double value), void *data);
/* In double precision; weights of all samples. */
void lsp_kernel_density_ref(const lsp_pair_job *job, lsp_density_kernel kernel, double bandwidth, const double *weights,
                            double *density);
/* The same for the k nearest points; k: not more than there are. */
lsp_status lsp_nearest_ref(lsp_ctx *ctx, const lsp_pair_job *job, int64_t k, const lsp_join_options *join,
                           void (*take)(void *data, int64_t i, int64_t j, double value), void *data);
