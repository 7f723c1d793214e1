/* Two-body statistics on a GPU: the table of its verbs. */
#include "gpu.h"

/* Costs tuned 2026-11-26 on an NVIDIA H100 (docs/measurements/two_body.md). */
const lsp_pair_device lsp_pair_cuda = {.look = lsp_pair_look_cuda,
                                       .sort = lsp_pair_sort_cuda,
                                       .count = lsp_pair_count_cuda,
                                       .histogram = lsp_pair_histogram_cuda,
                                       .join = lsp_radius_join_cuda,
                                       .nearest = lsp_nearest_cuda,
                                       .density = lsp_kernel_density_cuda,
                                       .bring = lsp_pair_bring_cuda,
                                       .costs = {.point = 1350,
                                                 .run = 200,
                                                 .candidate = 1.3,
                                                 .binned = 4.9,
                                                 .cell_points = 2,
                                                 .box_point = 3000,
                                                 .box_pair = 1.1,
                                                 .leaf_points = 256}};
