/* What the files of two-body statistics on a GPU tell each other, in plain C. */
#pragma once

#include "two_body/box_bounds.h"

LSP_BEGIN_DECLS

typedef struct pair_clouds {
    lsp_cloud a, b; /* the same for one set */
    bool self;
    int part, parts; /* the share of the tiles, or of the groups of points; all: 0 of 1 */
} pair_clouds;
static inline pair_clouds pair_clouds_of(const lsp_pair_job *job) {
    const pair_clouds clouds = {job->clouds[0], job->clouds[1], job->self, (int)job->part, (int)job->parts};
    return clouds;
}

enum { LSP_WIDE = 32 };

/* Points in an order in which runs of `size` points, the groups, lie close together; the last one may be shorter. */
typedef struct pair_groups {
    lsp_cloud cloud; /* with id */
    int64_t count;
    const lsp_box *boxes, *wide; /* around each group; around each LSP_WIDE groups, the last ones may be fewer */
} pair_groups;

/* groups.cu: orders the loaded points; scratch of the call. */
lsp_status lsp_pair_groups_cuda(lsp_ctx *ctx, const lsp_pair_job *job, const lsp_cloud *loaded, int64_t size,
                                pair_groups *groups);

/* points.cu, count.cu, radii.cu, histogram.cu, join.cu, nearest.cu, density.cu: see lsp_pair_device. */
lsp_status lsp_pair_count_cuda(lsp_ctx *ctx, lsp_pair_job *job, const double *limits, int64_t radii, uint64_t *counts);
lsp_status lsp_pair_histogram_cuda(lsp_ctx *ctx, lsp_pair_job *job, double scale, int64_t bins, uint64_t *counts);
lsp_status lsp_radius_join_cuda(lsp_ctx *ctx, lsp_pair_job *job, double limit, const lsp_join_options *join,
                                lsp_csr *C);
lsp_status lsp_nearest_cuda(lsp_ctx *ctx, lsp_pair_job *job, int64_t k, const lsp_join_options *options, lsp_csr *C);
lsp_status lsp_kernel_density_cuda(lsp_ctx *ctx, lsp_pair_job *job, const lsp_density_work *work, void *density);
lsp_status lsp_pair_bring_cuda(lsp_ctx *ctx, const lsp_points *from, const lsp_points *to);
lsp_status lsp_pair_sort_cuda(lsp_ctx *ctx, const lsp_pair_job *job, lsp_cloud *cloud);
lsp_status lsp_pair_look_cuda(lsp_ctx *ctx, lsp_pair_job *job, lsp_found found[2][LSP_MOST_DIMENSIONS]);
/* radii.cu: the same within several radii, for count.cu. */
lsp_status lsp_pair_radii_cuda(lsp_ctx *ctx, lsp_pair_job *job, const double *limits, int64_t radii, uint64_t *counts);

LSP_END_DECLS
