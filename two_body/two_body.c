/* The public calls: counts of pairs within radii, histograms of distances, matrices of near pairs. */
#include "two_body.h"
#include "core/cuda.h"

lsp_status lsp_pair_count(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const lsp_pair_options *options,
                          const double *radii, int64_t radius_count, uint64_t *counts, lsp_pair_info *info) {
    lsp_pair_job job;
    double *limits = NULL, largest = 0;
    LSP_ENTER(ctx);
    LSP_REQUIRE(radius_count > 0 && radius_count <= INT32_MAX, LSP_ERR_ARGUMENT,
                "%lld radii: 1 or more are needed, at most %d", (long long)radius_count, INT32_MAX);
    LSP_REQUIRE(radii != NULL && counts != NULL, LSP_ERR_ARGUMENT, "the %s are NULL", radii ? "counts" : "radii");
    LSP_TRY(lsp_pair_check(ctx, a, b, options, &job));
    LSP_TRY(LSP_SCRATCH(ctx, radius_count, &limits));
    for (int64_t k = 0; k < radius_count; k++) {
        LSP_TRY(lsp_pair_check_radius(ctx, &job, "radius", radii[k]));
        limits[k] = lsp_distance_limit(&job.metric, job.type, radii[k]);
        largest = fmax(largest, radii[k]);
    }
    job.shells = radius_count;
    LSP_TRY(lsp_pair_tally_all(ctx, &job, largest, &(lsp_pair_tally){.limits = limits, .n = radius_count}, counts));
    LSP_TELL(info, job.info);
    return LSP_OK;
}

lsp_status lsp_pair_histogram(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const lsp_pair_options *options,
                              double range, int64_t bins, uint64_t *counts, lsp_pair_info *info) {
    lsp_pair_job job;
    LSP_ENTER(ctx);
    LSP_REQUIRE(bins > 0 && bins <= 1 << 22, LSP_ERR_ARGUMENT, "%lld bins: 1 to %d are offered", (long long)bins,
                1 << 22);
    LSP_REQUIRE(counts != NULL, LSP_ERR_ARGUMENT, "the counts are NULL");
    LSP_TRY(lsp_pair_check(ctx, a, b, options, &job));
    LSP_TRY(lsp_pair_check_radius(ctx, &job, "range", range));
    const double scale = lsp_bins_in_unit(&job.metric, job.type, range, bins);
    LSP_REQUIRE(range > 0 && scale > 0 && scale <= (job.type == LSP_F32 ? 3e38 : 1e300), LSP_ERR_ARGUMENT,
                "a range of %g in %lld bins: the width of a bin does not fit type %s", range, (long long)bins,
                lsp_type_name(job.type));
    job.binned = true;
    job.shells = bins;
    LSP_TRY(lsp_pair_tally_all(ctx, &job, range, &(lsp_pair_tally){.scale = scale, .n = bins}, counts));
    LSP_TELL(info, job.info);
    return LSP_OK;
}

/* What a join and the nearest points check alike. */
static lsp_status check_matrix(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const lsp_pair_options *options,
                               const lsp_join_options *join, const lsp_csr *C, lsp_pair_job *job) {
    LSP_REQUIRE(C != NULL, LSP_ERR_ARGUMENT, "the place for the matrix is NULL");
    LSP_TRY(lsp_pair_check(ctx, a, b, options, job));
    return lsp_radius_join_check(ctx, join, job->self);
}

static lsp_status prepare_piece(lsp_ctx *ctx, const lsp_pair_job *whole, lsp_pair_job *job, double radius) {
    const lsp_status status = lsp_pair_prepare(ctx, job, radius);
    if (status == LSP_ERR_ARGUMENT) { /* a coordinate, whose number is that of the piece: look at all points */
        lsp_pair_job all = *whole;
        LSP_TRY(lsp_pair_inspect(ctx, job->where == LSP_HOST ? &lsp_pair_cpu : &lsp_pair_cuda, &all));
    }
    return status;
}

/* Gives the matrix that the device made, where the points lie. */
static lsp_status give(lsp_ctx *ctx, const lsp_pair_job *job, lsp_csr *made, lsp_csr *C) {
    lsp_csr_types types = lsp_types_of(made);
    types.place = lsp_place_of(job->where);
    return job->where == made->where ? lsp_csr_put(ctx, C, made, false) : lsp_csr_copy(ctx, made, &types, C);
}

lsp_status lsp_join_between(lsp_ctx *ctx, const lsp_pair_job *whole, double radius, const lsp_join_options *join,
                            const int64_t rows[2], const int64_t cols[2], lsp_csr *C, lsp_pair_info *info) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_pair_job job = *whole;
    LSP_OWNED_CSR(ctx, made);
    lsp_pair_narrow(&job, rows, cols);
    LSP_TRY(prepare_piece(ctx, whole, &job, radius));
    const double limit = lsp_distance_limit(&job.metric, job.type, radius);
    const bool grid = job.info.method == LSP_PAIR_GRID;
    LSP_TRY(lsp_pair_load(ctx, &job, grid || ctx->options.device == LSP_CUDA)); /* a GPU knows no other join */
    LSP_TRY(lsp_pair_device_of(ctx)->join(ctx, &job, limit, join, &made));
    LSP_TRY(give(ctx, &job, &made, C));
    job.info.first_row = rows[0];
    *info = job.info;
    return LSP_OK;
}

lsp_status lsp_radius_join(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const lsp_pair_options *options,
                           double radius, const lsp_join_options *join, lsp_csr *C, lsp_pair_info *info) {
    const lsp_join_options none = {0};
    lsp_pair_info about;
    lsp_pair_job job;
    LSP_ENTER(ctx);
    join = join != NULL ? join : &none;
    LSP_TRY(check_matrix(ctx, a, b, options, join, C, &job));
    LSP_REQUIRE(job.asked != LSP_PAIR_BOXES, LSP_ERR_ARGUMENT, "a radius join has no method boxes: all or grid");
    LSP_TRY(lsp_pair_check_radius(ctx, &job, "radius", radius));
    const int64_t rows[] = {lsp_pair_share_row(&job, job.part, join->half),
                            lsp_pair_share_row(&job, job.part + 1, join->half)};
    LSP_TRY(lsp_join_between(ctx, &job, radius, join, rows, (int64_t[]){0, job.sets[1].n}, C, &about));
    LSP_TELL(info, about);
    return LSP_OK;
}

lsp_status lsp_nearest(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const lsp_pair_options *options,
                       int64_t k, const lsp_join_options *join, lsp_csr *C, lsp_pair_info *info) {
    const lsp_join_options none = {0};
    lsp_pair_job job;
    LSP_OWNED_CSR(ctx, made);
    LSP_ENTER(ctx);
    join = join != NULL ? join : &none;
    LSP_REQUIRE(k >= 0, LSP_ERR_ARGUMENT, "%lld nearest points: 0 or more can be asked for", (long long)k);
    LSP_TRY(check_matrix(ctx, a, b, options, join, C, &job));
    LSP_REQUIRE(!join->half, LSP_ERR_ARGUMENT, "half is of pairs that are found from both sides: a join has them");
    LSP_REQUIRE(job.asked != LSP_PAIR_GRID, LSP_ERR_ARGUMENT, "the nearest points have no method grid: all or boxes");
    const int64_t partners = lsp_max(job.sets[1].n - (job.self && !join->self_pairs), 0);
    const int64_t rows[] = {lsp_pair_share_row(&job, job.part, false), lsp_pair_share_row(&job, job.part + 1, false)};
    const lsp_pair_job whole = job;
    lsp_pair_narrow(&job, rows, (int64_t[]){0, job.sets[1].n});
    LSP_TRY(prepare_piece(ctx, &whole, &job, INFINITY));
    LSP_TRY(lsp_pair_load(ctx, &job, false));
    LSP_TRY(lsp_pair_device_of(ctx)->nearest(ctx, &job, lsp_min(k, partners), join, &made));
    LSP_TRY(give(ctx, &job, &made, C));
    job.info.first_row = rows[0];
    LSP_TELL(info, job.info);
    return LSP_OK;
}

/* The points of a density's grid, in scratch, where the samples are. */
static lsp_status make_grid(lsp_ctx *ctx, const lsp_density_options *o, const lsp_points *samples, lsp_points *grid) {
    const int dimensions = samples->dimensions;
    *grid = (lsp_points){.n = 1, .dimensions = dimensions, .type = samples->type, .stride = 1, .where = samples->where};
    LSP_REQUIRE(samples->where == LSP_HOST || ctx->options.device == LSP_CUDA, LSP_ERR_ARGUMENT,
                "the set b lies on a GPU, but the context works on the host");
    LSP_REQUIRE(dimensions >= 1 && dimensions <= LSP_MOST_DIMENSIONS, LSP_ERR_ARGUMENT,
                "the set b has %d dimensions: 1 to %d are offered", dimensions, LSP_MOST_DIMENSIONS);
    for (int k = 0; k < dimensions; k++) {
        LSP_REQUIRE(o->grid[k] >= 1 && o->grid[k] <= LSP_MOST_GRID / grid->n, LSP_ERR_ARGUMENT,
                    "%lld cells of the grid in dimension %d: 1 or more are needed, at most %d in all",
                    (long long)o->grid[k], k, LSP_MOST_GRID);
        LSP_REQUIRE(o->low[k] <= o->high[k] && isfinite(o->high[k] - o->low[k]), LSP_ERR_ARGUMENT,
                    "the grid goes from %g to %g in dimension %d: its width must be 0 or more, and a finite double",
                    o->low[k], o->high[k], k);
        grid->n *= o->grid[k];
    }
    for (int64_t k = 0, step = 1; k < dimensions; step *= o->grid[k++]) {
        void *at, *there;
        LSP_TRY(lsp_scratch_bytes(ctx, grid->n, lsp_type_bytes(samples->type), false, &at));
        for (int64_t i = 0; i < grid->n; i++) {
            const double part = ((double)(i / step % o->grid[k]) + 0.5) / (double)o->grid[k];
            const double x = o->low[k] * (1 - part) + o->high[k] * part;
            lsp_real_set(at, samples->type, i, x);
        }
        grid->at[k] = at;
        if (samples->where == LSP_CUDA) {
            LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, grid->n, lsp_type_bytes(samples->type), &there));
            LSP_TRY(
                lsp_cuda_copy(ctx, there, LSP_CUDA, at, LSP_HOST, grid->n * (int64_t)lsp_type_bytes(samples->type)));
            grid->at[k] = there;
        }
    }
    return LSP_OK;
}

/* The factor that gives a kernel the volume 1, over the samples. */
static double density_factor(const lsp_pair_job *job, lsp_density_kernel kernel, double bandwidth) {
    const double pi = 3.14159265358979323846;
    const int dimensions = job->metric.dimensions;
    const double peak = kernel == LSP_DENSITY_GAUSSIAN ? pow(2 * pi, -0.5 * dimensions)
                                                       : (dimensions + 2) / (2 * lsp_ball(dimensions, 1));
    return peak / pow(bandwidth, dimensions) / (double)lsp_max(job->sets[1].n, 1);
}

lsp_status lsp_kernel_density(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const lsp_pair_options *options,
                              double bandwidth, const lsp_density_options *o, void *density, lsp_pair_info *info) {
    const lsp_density_options none = {0};
    lsp_pair_job job;
    lsp_points grid;
    LSP_ENTER(ctx);
    o = o != NULL ? o : &none;
    LSP_TRY(lsp_check_reserved(ctx, "lsp_density_options", o->reserved));
    LSP_REQUIRE(density != NULL, LSP_ERR_ARGUMENT, "the place for the densities is NULL");
    LSP_REQUIRE((unsigned)o->kernel <= LSP_DENSITY_EPANECHNIKOV, LSP_ERR_ARGUMENT, "%d is no kernel of a density",
                (int)o->kernel);
    LSP_REQUIRE(bandwidth >= 1e-15 && bandwidth <= 1e15, LSP_ERR_ARGUMENT,
                "the bandwidth is %g: it must be from 1e-15 to 1e15", bandwidth);
    LSP_REQUIRE(o->tolerance >= 0 && o->tolerance < 1, LSP_ERR_ARGUMENT,
                "the tolerance is %g: it must be 0 or more and less than 1", o->tolerance);
    LSP_REQUIRE(a != NULL || (b != NULL && o->grid[0] != 0), LSP_ERR_ARGUMENT,
                "no points are given: a, or a grid and b, are needed");
    LSP_REQUIRE(a == NULL || o->grid[0] == 0, LSP_ERR_ARGUMENT, "both points a and a grid are given");
    if (a == NULL) {
        LSP_TRY(make_grid(ctx, o, b, &grid));
        a = &grid;
    }
    LSP_TRY(lsp_pair_check(ctx, a, b, options, &job));
    LSP_REQUIRE(job.asked != LSP_PAIR_GRID, LSP_ERR_ARGUMENT, "a density has no method grid: all or boxes");
    LSP_REQUIRE(job.parts == 1, LSP_ERR_ARGUMENT, "a density has no shares: give those points as a, with b");
    const bool gaussian = o->kernel == LSP_DENSITY_GAUSSIAN;
    const double h = bandwidth / job.metric.unit, least = job.type == LSP_F32 ? 1.2e-38 : 2.3e-308;
    const double reach = gaussian ? bandwidth * sqrt(-2 * log(fmax(o->tolerance, least))) : bandwidth;
    const lsp_density_work work = {.gaussian = gaussian,
                                   .scale = (gaussian ? -0.72134752044448170368 : -1) / (h * h), /* log2(e) / 2 */
                                   .limit = (reach / job.metric.unit) * (reach / job.metric.unit),
                                   .factor = density_factor(&job, o->kernel, bandwidth),
                                   .weights = o->weights};
    job.shells = INT64_MAX;
    LSP_TRY(lsp_pair_prepare(ctx, &job, reach));
    LSP_TRY(lsp_pair_load(ctx, &job, false));
    LSP_TRY(lsp_pair_device_of(ctx)->density(ctx, &job, &work, density));
    LSP_TELL(info, job.info);
    return LSP_OK;
}

lsp_status lsp_radial_distribution(lsp_ctx *ctx, const uint64_t *counts, int64_t bins, double range, int dimensions,
                                   double pairs, double volume, double *g) {
    LSP_ENTER(ctx);
    LSP_REQUIRE(counts != NULL && g != NULL, LSP_ERR_ARGUMENT, "the %s are NULL", counts ? "results" : "counts");
    LSP_REQUIRE(bins > 0 && bins <= 1 << 22, LSP_ERR_ARGUMENT, "%lld bins: 1 to %d are offered", (long long)bins,
                1 << 22);
    LSP_REQUIRE(dimensions >= 1 && dimensions <= LSP_MOST_DIMENSIONS, LSP_ERR_ARGUMENT,
                "%d dimensions: 1 to %d are offered", dimensions, LSP_MOST_DIMENSIONS);
    LSP_REQUIRE(range > 0 && pairs > 0 && volume > 0, LSP_ERR_ARGUMENT,
                "a range of %g, %g pairs and a volume of %g: all must be above 0", range, pairs, volume);
    for (int64_t i = 0; i < bins; i++) {
        const double inner = lsp_ball(dimensions, range * (double)i / (double)bins);
        const double outer = lsp_ball(dimensions, range * (double)(i + 1) / (double)bins);
        g[i] = (double)counts[i] / (pairs * ((outer - inner) / volume));
    }
    return LSP_OK;
}
