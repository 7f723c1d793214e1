/* Points on the CPU: looked at, sorted into the cells of a grid by counting; and the cells in reach of a cell. */
#include "core/isa.h"
#include "cpu.h"
#include "two_body/bodies.h"

const lsp_pair_kernels *lsp_pair_kernels_of(const lsp_ctx *ctx, lsp_type type) {
    return LSP_ISA_PICK(ctx->isa, lsp_pair_kernels)(type == LSP_F64);
}

lsp_status lsp_pair_look_cpu(lsp_ctx *ctx, lsp_pair_job *job, lsp_found found[2][LSP_MOST_DIMENSIONS]) {
    for (int s = 0; s < (job->self ? 1 : 2); s++) {
        const lsp_points *points = &job->sets[s];
        for (int k = 0; k < points->dimensions; k++) {
            const looking look = {points->at[k], points->type, points->stride};
            lsp_each_job each = lsp_each_of(&look, points->n);
            each.found = &found[s][k];
            LSP_TRY(LSP_EACH(ctx, LSP_HOST, pair_look, each));
        }
    }
    return LSP_OK;
}

/* The starts of the cells by counting, then each point to its place. */
lsp_status lsp_pair_sort_cpu(lsp_ctx *ctx, const lsp_pair_job *job, lsp_cloud *cloud) {
    const int64_t n = cloud->n, cells = job->grid.total;
    const uint32_t *cell = cloud->cell;
    LSP_TRY(lsp_pair_padded(ctx, n, sizeof *cloud->id, (void **)&cloud->id));
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, cells + 2, &cloud->start));
    int32_t *next = cloud->start + 1; /* in the end the start of the cell after */
    for (int64_t i = 0; i < n; i++) {
        next[cell[i] + 1]++;
    }
    for (int64_t c = 0; c < cells; c++) {
        next[c + 1] += next[c];
    }
    for (int64_t i = 0; i < n; i++) {
        const int32_t to = next[cell[i]]++;
        cloud->id[to] = (int32_t)i;
    }
    return LSP_OK;
}

void lsp_cells_in_reach(const lsp_pair_job *job, int64_t cell, void (*run)(void *data, int64_t first, int64_t last),
                        void *data) {
    const bool periodic = job->metric.kind != LSP_SPACE_OPEN;
    const int64_t *cells = job->grid.cells, *reach = job->grid.reach;
    const int64_t line = cell / cells[0], first = cell % cells[0] - reach[0], last = cell % cells[0] + reach[0];
    for (int64_t sz = -reach[2]; sz <= reach[2]; sz++) {
        for (int64_t sy = -reach[1]; sy <= reach[1]; sy++) {
            const int64_t z = lsp_cell_beside(&job->grid, 2, periodic, line / cells[1], sz);
            const int64_t y = lsp_cell_beside(&job->grid, 1, periodic, line % cells[1], sy);
            const int64_t row = (z * cells[1] + y) * cells[0];
            if (z < 0 || y < 0) {
                continue;
            }
            run(data, row + lsp_max(first, 0), row + lsp_min(last, cells[0] - 1));
            if (periodic && first < 0) {
                run(data, row + first + cells[0], row + cells[0] - 1);
            }
            if (periodic && last >= cells[0]) {
                run(data, row, row + last - cells[0]);
            }
        }
    }
}
