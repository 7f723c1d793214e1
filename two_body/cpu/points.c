/* Points on the CPU: looked at, turned into places, sorted into the cells of a grid by counting. */
#include "core/isa.h"
#include "cpu.h"

const lsp_pair_kernels *lsp_pair_kernels_of(const lsp_ctx *ctx, lsp_type type) {
    return LSP_ISA_PICK(ctx->isa, lsp_pair_kernels)(type == LSP_F64);
}

static inline double coordinate(const lsp_points *p, int k, int64_t i) {
    return p->type == LSP_F32 ? (double)((const float *)p->at[k])[i * p->stride]
                              : ((const double *)p->at[k])[i * p->stride];
}

/* Widens the box around the points by coordinate k. Returns the first that is not finite, or -1. */
static int64_t find_extent(const lsp_points *p, int k, double *low, double *high) {
    double least = *low, most = *high, odd = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const double x = coordinate(p, k, i);
        least = x < least ? x : least;
        most = x > most ? x : most;
        odd += x - x; /* NaN if x is not finite */
    }
    *low = least, *high = most;
    for (int64_t i = 0; i < p->n && odd != 0; i++) {
        if (!isfinite(coordinate(p, k, i))) {
            return i;
        }
    }
    return -1;
}

lsp_status lsp_pair_inspect_cpu(lsp_ctx *ctx, lsp_pair_job *job) {
    for (int k = 0; k < job->metric.dimensions; k++) {
        job->low[k] = INFINITY, job->high[k] = -INFINITY;
        for (int s = 0; s < (job->self ? 1 : 2); s++) {
            const int64_t bad = find_extent(&job->sets[s], k, &job->low[k], &job->high[k]);
            LSP_REQUIRE(bad < 0, LSP_ERR_ARGUMENT, LSP_PAIR_NOT_FINITE, k, (long long)bad, s == 0 ? "a" : "b",
                        coordinate(&job->sets[s], k, bad));
        }
        if (job->low[k] > job->high[k]) { /* no points */
            job->low[k] = job->high[k] = 0;
        }
    }
    return LSP_OK;
}

/* ---- places ---- */

typedef struct loading {
    const lsp_pair_job *job;
    const lsp_points *points;
    lsp_cloud *cloud;
    int32_t *cell; /* of each point; NULL: no grid */
} loading;

static void set_place(const loading *l, int64_t i, int k, double x) {
    if (l->job->type == LSP_F64) {
        ((double *)l->cloud->place[k])[i] = x;
    } else if (l->job->metric.kind != LSP_SPACE_OPEN) {
        ((uint32_t *)l->cloud->place[k])[i] = lsp_fixed_part(x);
    } else {
        ((float *)l->cloud->place[k])[i] = (float)x;
    }
}

/* The cell in dimension k of place i. */
static int64_t cell_of(const loading *l, int64_t i, int k) {
    const lsp_pair_job *job = l->job;
    const bool periodic = job->metric.kind != LSP_SPACE_OPEN;
    const void *place = l->cloud->place[k];
    if (periodic && job->type == LSP_F32) {
        return lsp_cell_of_fixed(&job->grid, k, ((const uint32_t *)place)[i]);
    }
    return lsp_cell_of_real(&job->grid, k, periodic, job->low[k], job->high[k], lsp_real_at(place, job->type, i));
}

static void load_share(void *data, int64_t begin, int64_t end) {
    const loading *l = data;
    const lsp_metric *m = &l->job->metric;
    const int64_t *cells = l->job->grid.cells;
    for (int64_t i = begin; i < end; i++) {
        double x[LSP_MOST_DIMENSIONS], part[LSP_MOST_DIMENSIONS];
        for (int k = 0; k < m->dimensions; k++) {
            x[k] = coordinate(l->points, k, i);
        }
        if (m->kind != LSP_SPACE_OPEN) {
            lsp_parts_of_box(m, m->dimensions, x, part);
        }
        int64_t cell = 0, step = 1;
        for (int k = 0; k < m->dimensions; k++) {
            set_place(l, i, k, m->kind != LSP_SPACE_OPEN ? part[k] : x[k]);
            if (l->cell != NULL && k < LSP_GRID_DIMENSIONS) {
                cell += cell_of(l, i, k) * step;
                step *= cells[k];
            }
        }
        if (l->cell != NULL) {
            l->cell[i] = (int32_t)cell;
        }
    }
}

/* Arrays of places with a pad that may be read. */
static lsp_status make_places(lsp_ctx *ctx, const lsp_pair_job *job, lsp_cloud *cloud) {
    const size_t bytes = lsp_type_bytes(job->type);
    for (int k = 0; k < job->metric.dimensions; k++) {
        LSP_TRY(lsp_scratch_bytes(ctx, cloud->n + LSP_PAIR_PAD, bytes, false, &cloud->place[k]));
        memset((char *)cloud->place[k] + (size_t)cloud->n * bytes, 0, LSP_PAIR_PAD * bytes);
    }
    return LSP_OK;
}

lsp_status lsp_cloud_reorder(lsp_ctx *ctx, const lsp_pair_job *job, const lsp_cloud *loaded, lsp_cloud *ordered) {
    LSP_TRY(make_places(ctx, job, ordered));
    for (int k = 0; k < job->metric.dimensions; k++) {
        for (int64_t i = 0; i < ordered->n && job->type == LSP_F32; i++) {
            ((uint32_t *)ordered->place[k])[i] = ((const uint32_t *)loaded->place[k])[ordered->id[i]];
        }
        for (int64_t i = 0; i < ordered->n && job->type == LSP_F64; i++) {
            ((double *)ordered->place[k])[i] = ((const double *)loaded->place[k])[ordered->id[i]];
        }
    }
    return LSP_OK;
}

/* Sorts by cell: the starts of the cells by counting, then each point to its place. */
static lsp_status sort_by_cell(lsp_ctx *ctx, const lsp_pair_job *job, const int32_t *cell, const lsp_cloud *loaded,
                               lsp_cloud *cloud) {
    const int64_t n = cloud->n, cells = job->grid.total;
    LSP_TRY(LSP_SCRATCH(ctx, n + LSP_PAIR_PAD, &cloud->id));
    memset(cloud->id + n, 0, LSP_PAIR_PAD * sizeof *cloud->id);
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
    return lsp_cloud_reorder(ctx, job, loaded, cloud);
}

static lsp_status load(lsp_ctx *ctx, const lsp_pair_job *job, int set, lsp_cloud *cloud) {
    const bool grid = job->info.method == LSP_PAIR_GRID;
    lsp_cloud loaded = {.n = job->sets[set].n};
    loading l = {job, &job->sets[set], &loaded, NULL};
    LSP_TRY(make_places(ctx, job, &loaded));
    if (grid) {
        LSP_TRY(LSP_SCRATCH(ctx, loaded.n, &l.cell));
    }
    lsp_for_shares(ctx, loaded.n, 1 << 14, load_share, &l);
    *cloud = loaded;
    if (grid) {
        LSP_TRY(sort_by_cell(ctx, job, l.cell, &loaded, cloud));
    }
    return LSP_OK;
}

lsp_status lsp_clouds_load(lsp_ctx *ctx, const lsp_pair_job *job, lsp_cloud clouds[2]) {
    LSP_TRY(load(ctx, job, 0, &clouds[0]));
    clouds[1] = clouds[0];
    if (!job->self) {
        LSP_TRY(load(ctx, job, 1, &clouds[1]));
    }
    return LSP_OK;
}

/* ---- cells ---- */

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
