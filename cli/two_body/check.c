/* --check: a plain loop over all pairs, which shares no code with the library. In open space d2 and bins are computed
 * as the header defines them, and counts must be equal. In a box distances are computed in double precision, each with
 * a bound of what rounding may change; a pair that is that near to a limit may be on either side of it. */
#include "text.h"
#include "two_body.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair_distance {
    double least, most; /* equal in open space */
} pair_distance;

typedef struct loop {
    const tb_job *job;
    const tb_set *a, *b;
    int d;
    bool single;
    double slack; /* absolute, of distances in a box */
} loop;

static loop begin(const tb_job *job) {
    loop l = {.job = job, .a = &job->sets[0], .b = tb_second(job), .d = job->sets[0].points.dimensions};
    l.single = tb_type(&job->options) == LSP_F32;
    double scale = 0;
    for (int k = 0; k < l.d && job->cell.periodic; k++) {
        scale = fmax(scale, job->cell.side[k] + fabs(job->cell.tilt[0]) + fabs(job->cell.tilt[1]));
        for (int s = 0; s < 1 + job->two; s++) {
            for (int64_t i = 0; i < job->sets[s].points.n; i++) {
                scale = fmax(scale, fabs(tb_at(&job->sets[s], i, k)));
            }
        }
    }
    l.slack = scale * (l.single ? 0x1p-21 : 0x1p-48);
    return l;
}

/* d2 as the header defines it, in open space. */
static double open_square(const loop *l, int64_t i, int64_t j) {
    double sum = 0;
    for (int k = 0; k < l->d; k++) {
        const double x = tb_at(l->a, i, k), y = tb_at(l->b, j, k);
        if (l->single) {
            const float step = (float)x - (float)y;
            sum = k == 0 ? (double)(step * step) : (double)fmaf(step, step, (float)sum);
        } else {
            sum = k == 0 ? (x - y) * (x - y) : fma(x - y, x - y, sum);
        }
    }
    return sum;
}

static double open_root(const loop *l, double square) {
    return l->single ? (double)sqrtf((float)square) : sqrt(square);
}

/* The length of a vector with these parts of the edges. */
static double length(const loop *l, const double *part) {
    const tb_cell *c = &l->job->cell;
    const double x = part[0] * c->side[0] + part[1] * c->tilt[0] + part[2] * c->tilt[1];
    const double y = part[1] * c->side[1] + part[2] * c->tilt[2];
    double sum = x * x + y * y;
    for (int k = 2; k < l->d; k++) {
        sum += part[k] * c->side[k] * (part[k] * c->side[k]);
    }
    return sqrt(sum);
}

static pair_distance distance(const loop *l, int64_t i, int64_t j) {
    const tb_cell *c = &l->job->cell;
    double x[TB_MOST_DIMENSIONS] = {0};
    if (!c->periodic) {
        const double root = open_root(l, open_square(l, i, j));
        return (pair_distance){root, root};
    }
    for (int k = 0; k < l->d; k++) {
        x[k] = tb_at(l->a, i, k) - tb_at(l->b, j, k);
    }
    /* from coordinates to parts of the edges, each wrapped to -1/2 .. 1/2, and back */
    x[2] = l->d > 2 ? x[2] / c->side[2] : 0;
    x[1] = l->d > 1 ? (x[1] - x[2] * c->tilt[2]) / c->side[1] : 0;
    x[0] = (x[0] - x[1] * c->tilt[0] - x[2] * c->tilt[1]) / c->side[0];
    double root = INFINITY;
    bool tied = true; /* within 2^-17 of half a side: the nearer of both images */
    for (int sign = -1; sign <= 1 && tied; sign += 2) {
        double part[TB_MOST_DIMENSIONS] = {0};
        tied = false;
        for (int k = 0; k < l->d; k++) {
            part[k] = k > 2 ? x[k] / c->side[k] : x[k];
            part[k] -= rint(part[k]);
            tied = tied || fabs(part[k]) >= 0.5 - 0x1p-17;
            part[k] += part[k] * sign <= 0x1p-17 - 0.5 ? sign : 0;
        }
        root = fmin(root, length(l, part));
    }
    const double slack = l->slack + root * (l->single ? 0x1p-20 : 0x1p-46);
    return (pair_distance){fmax(root - slack, 0), root + slack};
}

static int64_t first_of(const loop *l, int64_t i) { return l->job->two ? 0 : i + 1; }

/* ---- counts and histograms ---- */

/* The bin as the header defines it: the whole part of the exact product. */
static int64_t bin_of(const loop *l, double root) {
    const tb_options *o = &l->job->options;
    const double exact = (double)o->bins / o->range, scale = l->single ? (double)(float)exact : exact;
    const double product = root * scale, whole = floor(product);
    if (!(product < (double)o->bins + 1)) {
        return o->bins;
    }
    const int64_t bin = (int64_t)whole - (fma(root, scale, -whole) < 0);
    return bin < o->bins ? bin : o->bins;
}

/* Is the pair within radius k? The definition compares squares. */
static void within(const loop *l, int64_t i, int64_t j, uint64_t *sure, uint64_t *possible) {
    const tb_options *o = &l->job->options;
    const bool open = !l->job->cell.periodic;
    const pair_distance r = distance(l, i, j);
    const double square = open ? open_square(l, i, j) : 0;
    for (int k = 0; k < o->radius_count; k++) {
        const float narrow = (float)o->radius[k];
        const double limit = l->single ? (double)(narrow * narrow) : o->radius[k] * o->radius[k];
        sure[k] += open ? square <= limit : r.most <= o->radius[k];
        possible[k] += open ? square <= limit : r.least <= o->radius[k];
    }
}

/* sure[k] and possible[k]: pairs within limit k, bins summed up. */
static int check_counts(tb_job *job) {
    const loop l = begin(job);
    const int64_t count = tb_count_of(job);
    const bool radii = job->options.verb == TB_COUNT;
    const double error = job->options.approximate ? 0x1.01p-21 : 0; /* of roots, as the header says */
    uint64_t *sure = calloc((size_t)count + 1, sizeof *sure), *possible = calloc((size_t)count + 1, sizeof *possible);
    for (int64_t i = 0; i < l.a->points.n && sure && possible; i++) {
        for (int64_t j = first_of(&l, i); j < l.b->points.n; j++) {
            if (radii) {
                within(&l, i, j, sure, possible);
            } else {
                const pair_distance r = distance(&l, i, j);
                sure[bin_of(&l, r.most * (1 + error))]++;
                possible[bin_of(&l, r.least * (1 - error))]++;
            }
        }
    }
    uint64_t sums[3] = {0};
    for (int64_t k = 0; k < count && sure && possible && !job->checked_why[0]; k++) {
        sums[0] = sure[k] + (radii ? 0 : sums[0]);
        sums[1] = possible[k] + (radii ? 0 : sums[1]);
        sums[2] = job->counts[k] + (radii ? 0 : sums[2]);
        if (sums[2] < sums[0] || sums[2] > sums[1]) {
            snprintf(job->checked_why, sizeof job->checked_why, "%llu pairs are within %s %lld instead of %llu to %llu",
                     (unsigned long long)sums[2], radii ? "radius" : "bin", (long long)k, (unsigned long long)sums[0],
                     (unsigned long long)sums[1]);
        }
    }
    const bool made = sure && possible;
    free(sure);
    free(possible);
    return made ? CLI_DONE : cli_fail(CLI_MEMORY, "no memory for the check of %lld counts", (long long)count);
}

/* ---- matrices ---- */

static int64_t index_at(const void *array, lsp_type type, int64_t i) {
    return type == LSP_I32 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}

static double value_of(const lsp_csr *C, int64_t at) {
    return C->val_type == LSP_F32 ? (double)((const float *)C->val)[at] : ((const double *)C->val)[at];
}

/* Is the value of an entry its distance? */
static bool is_right(const loop *l, const pair_distance *r, double value) {
    const bool squared = l->job->options.squared;
    const double low = squared ? r->least * r->least : r->least, high = squared ? r->most * r->most : r->most;
    const double rounding = high * (l->single ? 0x1p-20 : 0x1p-48);
    return value >= low - rounding && value <= high + rounding;
}

/* Row i of a join has every pair that is surely within the radius and none that surely is not. Of the nearest it has as
 * many as there are, and no other point is surely nearer than the last one. */
static bool check_row(const loop *l, int64_t i, char *why, size_t bytes) {
    const lsp_csr *C = &l->job->C;
    const tb_options *o = &l->job->options;
    const int64_t from = index_at(C->rowptr, C->rowptr_type, i), end = index_at(C->rowptr, C->rowptr_type, i + 1);
    int64_t at = from, others = 0;
    double reach = o->verb == TB_JOIN ? o->radius[0] : 0;
    for (int64_t k = from; k < end && o->verb == TB_NEAREST; k++) {
        reach = fmax(reach, distance(l, i, index_at(C->col, C->col_type, k)).least);
    }
    const double slack = reach * (l->single ? 0x1p-22 : 0x1p-50); /* squares are compared, and they are rounded */
    for (int64_t j = 0; j < l->b->points.n; j++) {
        const bool there = at < end && index_at(C->col, C->col_type, at) == j;
        const bool foreign = !l->job->two && (j == i || (o->half && j < i));
        const pair_distance r = distance(l, i, j);
        if (there ? foreign || r.least > reach + slack : !foreign && r.most < reach - slack) {
            snprintf(why, bytes, "row %lld %s column %lld, at a distance of %g", (long long)i, there ? "has" : "lacks",
                     (long long)j, r.most);
            return false;
        }
        if (there && C->val_type != LSP_NONE && !is_right(l, &r, value_of(C, at))) {
            snprintf(why, bytes, "entry (%lld, %lld) is %g instead of %g", (long long)i, (long long)j, value_of(C, at),
                     o->squared ? r.most * r.most : r.most);
            return false;
        }
        others += !foreign;
        at += there;
    }
    if (at != end || (o->verb == TB_NEAREST && end - from != (o->neighbours < others ? o->neighbours : others))) {
        snprintf(why, bytes, "row %lld has %lld entries", (long long)i, (long long)(end - from));
        return false;
    }
    return true;
}

/* ---- densities ---- */

/* The kernel's value at 0, so that its integral over all space is 1. */
static double peak_of(const tb_options *o, int d) {
    const double pi = acos(-1.0), ball = pow(pi, d / 2.0) / tgamma(d / 2.0 + 1);
    return o->kernel == 1 ? (d + 2) / (2 * ball) : pow(2 * pi, -d / 2.0);
}

static bool check_density(const loop *l, int64_t i, char *why, size_t bytes) {
    const tb_options *o = &l->job->options;
    const int64_t n = l->b->points.n;
    const double scale = peak_of(o, l->d) / ((double)n * pow(o->bandwidth, l->d)), got = tb_density_at(l->job, i);
    double sum = 0;
    for (int64_t j = 0; j < n; j++) {
        const pair_distance r = distance(l, i, j);
        const double u = (r.least + r.most) / 2 / o->bandwidth;
        sum += o->kernel == 1 ? fmax(1 - u * u, 0) : exp(-u * u / 2);
    }
    if (fabs(got - sum * scale) <= scale * (1 + sum) * (l->single ? 1e-4 : 1e-9)) {
        return true;
    }
    snprintf(why, bytes, "the density at point %lld is %.17g instead of %.17g", (long long)i, got, sum * scale);
    return false;
}

int tb_check(tb_job *job) {
    cli_progress_begin(&job->run.progress, "checking", job->sets[0].name);
    int code = CLI_DONE;
    if (tb_count_of(job) > 0) {
        code = check_counts(job);
    } else {
        const loop l = begin(job);
        for (int64_t i = 0; i < l.a->points.n && !job->checked_why[0]; i++) {
            (void)(tb_makes_matrix(&job->options) ? check_row : check_density)(&l, i, job->checked_why,
                                                                               sizeof job->checked_why);
        }
    }
    job->check_ms = cli_progress_end(&job->run.progress);
    job->checked = code == CLI_DONE;
    return code;
}
