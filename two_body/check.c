/* Refuses wrong arguments of two-body statistics, with a sentence that names the first fault. Coordinates are not read
 * here: the device looks for one that is not finite. */
#include "two_body.h"

/* Refuses a set of points that makes no sense. */
static lsp_status check_points(lsp_ctx *ctx, const lsp_points *p, const char *name) {
    const size_t bytes = lsp_type_bytes(p->type);
    int64_t total;
    LSP_REQUIRE(p->n >= 0, LSP_ERR_ARGUMENT, "the set %s has %lld points", name, (long long)p->n);
    LSP_REQUIRE(p->n <= INT32_MAX, LSP_ERR_UNSUPPORTED, "the set %s has %lld points: %d are the most", name,
                (long long)p->n, INT32_MAX);
    LSP_REQUIRE(p->dimensions >= 1 && p->dimensions <= LSP_MOST_DIMENSIONS, LSP_ERR_ARGUMENT,
                "the set %s has %d dimensions: 1 to %d are offered", name, p->dimensions, LSP_MOST_DIMENSIONS);
    LSP_REQUIRE(p->type == LSP_F32 || p->type == LSP_F64, LSP_ERR_ARGUMENT,
                "the set %s has coordinates of type %s: LSP_F32 or LSP_F64 is needed", name, lsp_type_name(p->type));
    LSP_REQUIRE(p->stride >= 0 && lsp_mul(lsp_max(p->n, 1), lsp_max(p->stride, 1), &total) &&
                    lsp_mul(total, (int64_t)bytes, &total),
                LSP_ERR_ARGUMENT, "the set %s has %lld points with a stride of %lld: that cannot be in memory", name,
                (long long)p->n, (long long)p->stride);
    LSP_REQUIRE(p->where == LSP_HOST || p->where == LSP_CUDA, LSP_ERR_ARGUMENT,
                "the set %s is at place %d: LSP_HOST or LSP_CUDA is needed", name, (int)p->where);
    LSP_REQUIRE(p->where == LSP_HOST || ctx->options.device == LSP_CUDA, LSP_ERR_ARGUMENT,
                "the set %s lies on a GPU, but the context works on the host", name);
    for (int k = 0; k < p->dimensions && p->n > 0; k++) {
        LSP_REQUIRE(p->at[k] != NULL, LSP_ERR_ARGUMENT, "coordinate %d of the set %s is NULL", k, name);
        LSP_REQUIRE((uintptr_t)p->at[k] % bytes == 0, LSP_ERR_ARGUMENT,
                    "coordinate %d of the set %s lies at %p, which is no multiple of %zu", k, name, p->at[k], bytes);
    }
    return LSP_OK;
}

static bool is_any(const double *x, int n) {
    bool any = false;
    for (int k = 0; k < n; k++) {
        any = any || x[k] != 0;
    }
    return any;
}

/* The distance of opposite faces: 1 over the length of a row of the inverse of the matrix of edges. */
static void set_widths(lsp_metric *m) {
    const double *side = m->box, xy = m->skew[0], xz = m->skew[1], yz = m->skew[2];
    memcpy(m->width, side, sizeof m->width);
    if (m->kind >= LSP_SPACE_TILTED && m->dimensions == 2) {
        m->width[0] = side[0] / sqrt(1 + (xy / side[1]) * (xy / side[1]));
    } else if (m->kind >= LSP_SPACE_TILTED) {
        const double y = xy / side[1], z = (xy / side[1] * yz - xz) / side[2];
        m->width[0] = side[0] / sqrt(1 + y * y + z * z);
        m->width[1] = side[1] / sqrt(1 + (yz / side[2]) * (yz / side[2]));
    }
}

static lsp_status set_metric(lsp_ctx *ctx, const lsp_pair_options *options, int dimensions, lsp_metric *m) {
    const bool periodic = is_any(options->box, LSP_MOST_DIMENSIONS), tilted = is_any(options->tilt, 3);
    *m = (lsp_metric){.dimensions = dimensions, .unit = 1};
    LSP_REQUIRE(periodic || !tilted, LSP_ERR_ARGUMENT, "the box is tilted, but has no sides");
    LSP_REQUIRE(!tilted || dimensions == 3 || (dimensions == 2 && !is_any(options->tilt + 1, 2)), LSP_ERR_ARGUMENT,
                "the box is tilted by xy %g, xz %g, yz %g in %d dimensions: 3 are needed, or 2 for xy",
                options->tilt[0], options->tilt[1], options->tilt[2], dimensions);
    for (int k = dimensions; k < LSP_MOST_DIMENSIONS; k++) {
        LSP_REQUIRE(options->box[k] == 0, LSP_ERR_ARGUMENT,
                    "side %d of the periodic box is %g, but the points have %d dimensions: 0 is needed", k,
                    options->box[k], dimensions);
    }
    bool equal = true;
    for (int k = 0; periodic && k < dimensions; k++) {
        const double side = options->box[k];
        LSP_REQUIRE(side >= 1e-15 && side <= 1e15, LSP_ERR_ARGUMENT,
                    "side %d of the periodic box is %g: it must be from 1e-15 to 1e15", k, side);
        m->ratio[k] = side / options->box[0];
        LSP_REQUIRE(m->ratio[k] >= 1e-6 && m->ratio[k] <= 1e6, LSP_ERR_ARGUMENT,
                    "sides 0 and %d of the periodic box are %g and %g: neither may be a million times the other", k,
                    options->box[0], side);
        equal = equal && side == options->box[0];
    }
    for (int k = 0; tilted && k < 3; k++) {
        m->tilt[k] = options->tilt[k] / options->box[0];
    }
    memcpy(m->skew, options->tilt, sizeof m->skew);
    m->kind = !periodic ? LSP_SPACE_OPEN : tilted ? LSP_SPACE_TIED : equal ? LSP_SPACE_CUBE : LSP_SPACE_BRICK;
    if (periodic) {
        memcpy(m->box, options->box, (size_t)dimensions * sizeof m->box[0]);
        set_widths(m);
    }
    for (int k = 0; tilted && k < 3; k++) { /* beyond it rounding would move pairs out of the grid's reach */
        const double least = fmin(m->width[0], fmin(m->width[1], m->width[dimensions - 1]));
        LSP_REQUIRE(fabs(options->tilt[k]) <= 16 * least, LSP_ERR_ARGUMENT,
                    "the periodic box is tilted too far: by %g, more than 16 times its least width, %g",
                    options->tilt[k], least);
    }
    return LSP_OK;
}

lsp_status lsp_pair_check(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const lsp_pair_options *options,
                          lsp_pair_job *job) {
    const lsp_pair_options none = {0};
    int64_t reserved[LSP_RESERVED] = {0};
    options = options != NULL ? options : &none;
    LSP_REQUIRE(a != NULL, LSP_ERR_ARGUMENT, "the points are NULL");
    memcpy(reserved, options->reserved, sizeof options->reserved);
    LSP_TRY(lsp_check_reserved(ctx, "lsp_pair_options", reserved));
    LSP_REQUIRE(options->parts >= 0 && options->parts <= INT32_MAX && options->part >= 0 &&
                    options->part < lsp_max(options->parts, 1),
                LSP_ERR_ARGUMENT, "part %lld of %lld: parts are 1 to 2147483647, or 0 for all, and counted from 0",
                (long long)options->part, (long long)options->parts);
    LSP_REQUIRE((unsigned)options->method <= LSP_PAIR_BOXES, LSP_ERR_ARGUMENT, "%d is no method for pairs",
                (int)options->method);
    LSP_TRY(check_points(ctx, a, "a"));
    if (b != NULL) {
        LSP_TRY(check_points(ctx, b, "b"));
        LSP_REQUIRE(a->dimensions == b->dimensions && a->type == b->type, LSP_ERR_ARGUMENT,
                    "the set a has %d dimensions of type %s, the set b %d of type %s: they must be alike",
                    a->dimensions, lsp_type_name(a->type), b->dimensions, lsp_type_name(b->type));
        LSP_REQUIRE(a->where == b->where, LSP_ERR_ARGUMENT, "one set lies on the host, the other on a GPU");
    }
    *job = (lsp_pair_job){.sets = {*a, b != NULL ? *b : *a}, .self = b == NULL, .type = a->type};
    job->part = options->part, job->parts = lsp_max(options->parts, 1);
    job->asked = options->method, job->where = a->where, job->approximate = options->approximate_root;
    for (int s = 0; s < 2; s++) {
        job->sets[s].stride = lsp_max(job->sets[s].stride, 1);
    }
    LSP_TRY(set_metric(ctx, options, a->dimensions, &job->metric));
    if (job->metric.kind != LSP_SPACE_OPEN) {
        job->metric.unit = a->type == LSP_F32 ? options->box[0] / 4294967296.0 : options->box[0];
    }
    return LSP_OK;
}

lsp_status lsp_pair_check_radius(lsp_ctx *ctx, const lsp_pair_job *job, const char *name, double radius) {
    LSP_REQUIRE(radius >= 0 && radius <= 1e300, LSP_ERR_ARGUMENT, "the %s is %g: it must be from 0 to 1e300", name,
                radius);
    for (int k = 0; job->metric.kind != LSP_SPACE_OPEN && k < job->metric.dimensions; k++) {
        LSP_REQUIRE(radius <= job->metric.width[k] / 2, LSP_ERR_ARGUMENT,
                    "the %s is %g, but the periodic box is %g wide in dimension %d: half of that is the most, because "
                    "only nearest images count",
                    name, radius, job->metric.width[k], k);
    }
    return LSP_OK;
}

lsp_status lsp_radius_join_check(lsp_ctx *ctx, const lsp_join_options *join, bool self) {
    LSP_TRY(lsp_check_reserved(ctx, "lsp_join_options", join->reserved));
    LSP_REQUIRE((unsigned)join->values <= LSP_JOIN_PATTERN, LSP_ERR_ARGUMENT, "%d are no values of a join",
                (int)join->values);
    LSP_REQUIRE(self || (!join->self_pairs && !join->half), LSP_ERR_ARGUMENT,
                "%s is of pairs of one set, but two sets are given", join->half ? "half" : "self_pairs");
    return LSP_OK;
}

lsp_points lsp_points_between(const lsp_points *p, int64_t first, int64_t end) {
    lsp_points part = *p;
    for (int k = 0; k < p->dimensions && p->n > 0; k++) {
        part.at[k] = (const char *)p->at[k] + (size_t)(first * p->stride) * lsp_type_bytes(p->type);
    }
    part.n = end - first;
    return part;
}

/* With `half` each row is tested with all columns and keeps those behind it: the work is cut into even shares. */
int64_t lsp_pair_share_row(const lsp_pair_job *job, int64_t part, bool half) {
    const int64_t n = job->sets[0].n;
    const double share = (double)part / (double)job->parts;
    return half && part < job->parts ? (int64_t)((double)n * (1.5 - sqrt(2.25 - 2 * share)))
                                     : n / job->parts * part + lsp_min(n % job->parts, part);
}

void lsp_pair_narrow(lsp_pair_job *job, const int64_t rows[2], const int64_t cols[2]) {
    const bool whole = rows[1] - rows[0] == job->sets[0].n && cols[1] - cols[0] == job->sets[1].n;
    job->own = job->self, job->shift = rows[0] - cols[0];
    job->self = job->self && whole;
    job->sets[0] = lsp_points_between(&job->sets[0], rows[0], rows[1]);
    job->sets[1] = lsp_points_between(&job->sets[1], cols[0], cols[1]);
    job->part = 0, job->parts = 1;
}
