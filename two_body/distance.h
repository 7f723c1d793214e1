/* What a distance is, to the bit, for every device: points become places, places give d2, d2 is compared with a limit
 * or gives a bin. In open space a place is the coordinate. In a periodic box it is the coordinate's part of the side,
 * from 0 to 1: for LSP_F32 in units of 2^-32, so that integers wrap by themselves; for LSP_F64 a double. */
#pragma once

#include "core/core.h"
#include "libsparse/two_body.h"
#include <math.h>
#include <string.h>

/* In the order of their work: each needs what the one before needs. */
typedef enum lsp_space_kind {
    LSP_SPACE_OPEN,
    LSP_SPACE_CUBE,   /* periodic, all sides equal */
    LSP_SPACE_BRICK,  /* sides that differ */
    LSP_SPACE_TILTED, /* tilted, and no pair that matters is about half a side apart */
    LSP_SPACE_TIED    /* tilted, and of a pair about half a side apart the nearer of both images */
} lsp_space_kind;

typedef struct lsp_metric {
    lsp_space_kind kind;
    int dimensions;
    double box[LSP_MOST_DIMENSIONS], skew[3]; /* sides and tilts as the caller gave them */
    double ratio[LSP_MOST_DIMENSIONS];        /* side k over side 0 */
    double tilt[3];                           /* xy, xz, yz over side 0 */
    double width[LSP_MOST_DIMENSIONS];        /* distances of opposite faces */
    double unit;                              /* the length of a difference of 1 between places */
} lsp_metric;

/* The coordinates of a point as parts of the sides, 0 <= part < 1. dimensions: those of m. */
static inline LSP_BOTH_SIDES void lsp_parts_of_box(const lsp_metric *m, int dimensions, const double *x, double *part) {
    const bool tilted = m->kind >= LSP_SPACE_TILTED;
    double at[LSP_MOST_DIMENSIONS] = {0}; /* gcc 13 warns of places that are not read */
    for (int k = dimensions - 1; k >= 0; k--) {
        at[k] = x[k];
        if (tilted && k < 2 && dimensions == 3) {
            at[k] = at[k] - m->skew[k + 1] * at[2];
        }
        if (tilted && k == 0) {
            at[k] = at[k] - m->skew[0] * at[1];
        }
        at[k] = at[k] / m->box[k];
    }
    for (int k = 0; k < dimensions; k++) {
        part[k] = at[k] - floor(at[k]);
        part[k] = part[k] < 1 ? part[k] : 0;
    }
}

static inline LSP_BOTH_SIDES uint32_t lsp_fixed_part(double part) {
    return (uint32_t)(uint64_t)(part * 4294967296.0 + 0.5);
}

static inline LSP_BOTH_SIDES float lsp_float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline LSP_BOTH_SIDES double lsp_nearest_of(double difference) { return difference - rint(difference); }

/* Differences of places from LSP_TIE up are about half a side: the image at the other end is about as near. */
#define LSP_TIE (0.5 - 0x1p-17)
static inline LSP_BOTH_SIDES float lsp_lower_f32(float nearest) {
    return nearest < (float)(LSP_TIE * 0x1p32) ? nearest : nearest - 0x1p32f;
}
static inline LSP_BOTH_SIDES double lsp_lower_f64(double difference) {
    return difference - floor(difference + (1 - LSP_TIE));
}

#define NUMBER float
#define PLACE uint32_t
#define DISTANCE lsp_distance_f32
#define SQUARE lsp_square_f32
#define AWAY(x, y) (lsp_float_of(x) - lsp_float_of(y))
#define NEAREST(x, y) ((float)(int32_t)((x) - (y)))
#define LOWER(x, y) lsp_lower_f32(NEAREST(x, y))
#define LEAST(x, y) ((x) < (y) ? (x) : (y))
#define MUL(x, y) ((x) * (y))
#define FMA(x, y, z) fmaf((x), (y), (z))
#define CONSTANT(x) ((float)(x))
#include "distance_template.h"

#define NUMBER double
#define PLACE double
#define DISTANCE lsp_distance_f64
#define SQUARE lsp_square_f64
#define AWAY(x, y) ((x) - (y))
#define NEAREST(x, y) lsp_nearest_of((x) - (y))
#define LOWER(x, y) lsp_lower_f64((x) - (y))
#define LEAST(x, y) ((x) < (y) ? (x) : (y))
#define MUL(x, y) ((x) * (y))
#define FMA(x, y, z) fma((x), (y), (z))
#define CONSTANT(x) (x)
#include "distance_template.h"

/* The largest d2 within a radius, a number of the type. */
static inline double lsp_distance_limit(const lsp_metric *m, lsp_type type, double radius) {
    const double r = radius / m->unit;
    return type == LSP_F32 ? (double)((float)r * (float)r) : r * r;
}

/* Bins in one unit of distance, a number of the type. */
static inline double lsp_bins_in_unit(const lsp_metric *m, lsp_type type, double range, int64_t bins) {
    const double scale = (double)bins / (range / m->unit);
    return type == LSP_F32 ? (double)(float)scale : scale;
}

/* The bin of d2: the whole part of the exact product. The rounded product may have reached the next whole number; then
 * the remainder is negative. */
static inline LSP_BOTH_SIDES double lsp_bin_f32(float d2, float scale) {
    const float root = sqrtf(d2), whole = floorf(root * scale);
    return (double)(fmaf(root, scale, -whole) < 0 ? whole - 1 : whole);
}
static inline LSP_BOTH_SIDES double lsp_bin_f64(double d2, double scale) {
    const double root = sqrt(d2), whole = floor(root * scale);
    return fma(root, scale, -whole) < 0 ? whole - 1 : whole;
}

/* The value of a join. */
static inline LSP_BOTH_SIDES float lsp_join_value_f32(float d2, lsp_join_values values, float unit) {
    return values == LSP_JOIN_SQUARED ? d2 * unit * unit : sqrtf(d2) * unit;
}
static inline LSP_BOTH_SIDES double lsp_join_value_f64(double d2, lsp_join_values values, double unit) {
    return values == LSP_JOIN_SQUARED ? d2 * unit * unit : sqrt(d2) * unit;
}
