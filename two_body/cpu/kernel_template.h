/* Kernels of a tile for one type. NAME(f): the name of its copy of f. A few queries stay in registers while the
 * candidates pass by in vectors. */
#include "lanes.h"
#define DISTANCE NAME(distance)
#define SQUARE NAME(square)
#include "two_body/distance_template.h"

/* Queries that pass together: more of them save loads until their coordinates no longer fit the registers. */
#if LANES * REAL_BITS == 512
#define QUERIES 4
#elif LANES > 1
#define QUERIES 2
#else
#define QUERIES 1
#endif

/* Calls f with kind and dimensions as constants where that pays. */
#define BY_SPACE(f, ...)                                                                                               \
    do {                                                                                                               \
        if (m->kind == LSP_SPACE_OPEN && m->dimensions == 3) {                                                         \
            f(m, LSP_SPACE_OPEN, 3, __VA_ARGS__);                                                                      \
        } else if (m->kind == LSP_SPACE_OPEN && m->dimensions == 2) {                                                  \
            f(m, LSP_SPACE_OPEN, 2, __VA_ARGS__);                                                                      \
        } else if (m->kind == LSP_SPACE_CUBE && m->dimensions == 3) {                                                  \
            f(m, LSP_SPACE_CUBE, 3, __VA_ARGS__);                                                                      \
        } else if (m->kind == LSP_SPACE_TIED) {                                                                        \
            f(m, LSP_SPACE_TIED, m->dimensions, __VA_ARGS__);                                                          \
        } else {                                                                                                       \
            f(m, m->kind, m->dimensions, __VA_ARGS__);                                                                 \
        }                                                                                                              \
    } while (0)

/* Calls f for all queries of the tile: QUERIES of them at a time, then the others one by one. */
#define BY_QUERIES(f, ...)                                                                                             \
    do {                                                                                                               \
        int64_t i = 0;                                                                                                 \
        for (; i + QUERIES <= tile->queries; i += QUERIES) {                                                           \
            f(m, kind, dimensions, tile, i, QUERIES, __VA_ARGS__);                                                     \
        }                                                                                                              \
        for (; i < tile->queries; i++) {                                                                               \
            f(m, kind, dimensions, tile, i, 1, __VA_ARGS__);                                                           \
        }                                                                                                              \
    } while (0)

ALWAYS void NAME(load_queries)(const lsp_pair_tile *tile, int dimensions, int64_t i, int rows,
                               PLACE query[][LSP_MOST_DIMENSIONS]) {
    for (int r = 0; r < rows; r++) {
        int k = 0;
        do {
            query[r][k] = SPREAD(tile->query[k], i + r);
        } while (++k < dimensions);
    }
}
ALWAYS void NAME(load_candidates)(const lsp_pair_tile *tile, int dimensions, int64_t j, PLACE *candidate) {
    int k = 0;
    do { /* a loop that is known to begin, here and below */
        candidate[k] = LOAD(tile->candidate[k], j);
    } while (++k < dimensions);
}

/* ---- counts ---- */

/* Counts one vector of candidates for `rows` queries; with `rest` only lanes of its mask. */
ALWAYS void NAME(count_vector)(const lsp_metric *m, lsp_space_kind kind, int dimensions,
                               const PLACE query[][LSP_MOST_DIMENSIONS], int rows, const lsp_pair_tile *tile, int64_t j,
                               const MASK *rest, const NUMBER *limits, int radii, TALLY *tallies) {
    PLACE candidate[LSP_MOST_DIMENSIONS];
    NAME(load_candidates)(tile, dimensions, j, candidate);
    for (int r = 0; r < rows; r++) {
        const NUMBER d2 = NAME(distance)(m, kind, dimensions, query[r], candidate);
        for (int s = 0; s < radii; s++) {
            const MASK within = WITHIN(d2, limits[s]);
            const int to = radii == 1 ? r : s; /* sums that do not wait for each other */
            tallies[to] = TALLY_UP(tallies[to], rest != NULL ? BOTH(within, *rest) : within);
        }
    }
}

ALWAYS void NAME(count_rows)(const lsp_metric *m, lsp_space_kind kind, int dimensions, const lsp_pair_tile *tile,
                             int64_t i, int rows, const NUMBER *limits, int radii, TALLY *tallies) {
    PLACE query[QUERIES][LSP_MOST_DIMENSIONS];
    NAME(load_queries)(tile, dimensions, i, rows, query);
    int64_t j = 0;
    for (; j + LANES <= tile->candidates; j += LANES) {
        NAME(count_vector)(m, kind, dimensions, query, rows, tile, j, NULL, limits, radii, tallies);
    }
    if (j < tile->candidates) {
        const MASK rest = FIRST_LANES(tile->candidates - j);
        NAME(count_vector)(m, kind, dimensions, query, rows, tile, j, &rest, limits, radii, tallies);
    }
}

ALWAYS void NAME(count_space)(const lsp_metric *m, lsp_space_kind kind, int dimensions, const lsp_pair_tile *tile,
                              const double *limits, int radii, uint64_t *counts) {
    NUMBER limit[LSP_RADII];
    TALLY tallies[LSP_RADII];
    for (int s = 0; s < LSP_RADII; s++) {
        limit[s] = VALUE(limits[s < radii ? s : 0]);
        tallies[s] = NO_TALLY();
    }
    if (radii == 1) {
        BY_QUERIES(NAME(count_rows), limit, 1, tallies);
    } else {
        for (int64_t i = 0; i < tile->queries; i++) {
            NAME(count_rows)(m, kind, dimensions, tile, i, 1, limit, LSP_RADII, tallies);
        }
    }
    for (int s = 0; s < (radii == 1 ? QUERIES : radii); s++) {
        counts[radii == 1 ? 0 : s] += NAME(whole_tally)(tallies[s]);
    }
}

static void NAME(count)(const lsp_metric *m, const lsp_pair_tile *tile, const double *limits, int radii,
                        uint64_t *counts) {
    BY_SPACE(NAME(count_space), tile, limits, radii, counts);
}

/* ---- histograms ---- */

/* Bins of one vector of candidates for `rows` queries, times `copies`. */
ALWAYS void NAME(bin_vector)(const lsp_metric *m, lsp_space_kind kind, int dimensions,
                             const PLACE query[][LSP_MOST_DIMENSIONS], int rows, const lsp_pair_tile *tile, int64_t j,
                             double scale, uint32_t bins, int copies, uint32_t *bin) {
    PLACE candidate[LSP_MOST_DIMENSIONS];
    NAME(load_candidates)(tile, dimensions, j, candidate);
    for (int r = 0; r < rows; r++) {
        NAME(put_bins)
        (NAME(distance)(m, kind, dimensions, query[r], candidate), VALUE(scale), bins, copies, bin + r * LANES);
    }
}

ALWAYS void NAME(bin_rows)(const lsp_metric *m, lsp_space_kind kind, int dimensions, const lsp_pair_tile *tile,
                           int64_t i, int rows, double scale, uint32_t bins, int copies, uint32_t *table) {
    PLACE query[QUERIES][LSP_MOST_DIMENSIONS];
    uint32_t bin[LSP_BIN_ROOM + QUERIES * LANES];
    int n = 0;
    NAME(load_queries)(tile, dimensions, i, rows, query);
    int64_t j = 0;
    for (; j + LANES <= tile->candidates; j += LANES) {
        NAME(bin_vector)(m, kind, dimensions, query, rows, tile, j, scale, bins, copies, bin + n);
        n += rows * LANES;
        if (n >= LSP_BIN_ROOM) {
            count_bins(bin, n, copies, table);
            n = 0;
        }
    }
    if (j < tile->candidates) {
        NAME(bin_vector)(m, kind, dimensions, query, rows, tile, j, scale, bins, copies, bin + n);
        for (int r = 0; r < rows; r++) {
            for (int64_t l = 0; l < tile->candidates - j; l++) {
                table[bin[n + r * LANES + l]]++;
            }
        }
    }
    count_bins(bin, n, copies, table);
}

ALWAYS void NAME(bin_space)(const lsp_metric *m, lsp_space_kind kind, int dimensions, const lsp_pair_tile *tile,
                            double scale, uint32_t bins, int copies, uint32_t *table) {
    BY_QUERIES(NAME(bin_rows), scale, bins, copies, table);
}

static void NAME(histogram)(const lsp_metric *m, const lsp_pair_tile *tile, double scale, uint32_t bins, int copies,
                            uint32_t *table) {
    if (copies == LSP_BIN_COPIES) {
        BY_SPACE(NAME(bin_space), tile, scale, bins, LSP_BIN_COPIES, table);
    } else {
        BY_SPACE(NAME(bin_space), tile, scale, bins, 1, table);
    }
}

/* ---- joins ---- */

ALWAYS void NAME(hits_space)(const lsp_metric *m, lsp_space_kind kind, int dimensions, const lsp_pair_tile *tile,
                             int64_t i, int64_t begin, int64_t end, double limit, const int32_t *id,
                             lsp_join_values values, int32_t *col, REAL *val, int64_t *count) {
    PLACE query[1][LSP_MOST_DIMENSIONS], candidate[LSP_MOST_DIMENSIONS];
    int64_t n = 0;
    NAME(load_queries)(tile, dimensions, i, 1, query);
    for (int64_t j = begin; j < end; j += LANES) {
        NAME(load_candidates)(tile, dimensions, j, candidate);
        const NUMBER d2 = NAME(distance)(m, kind, dimensions, query[0], candidate);
        MASK within = WITHIN(d2, VALUE(limit));
        if (j + LANES > end) {
            within = BOTH(within, FIRST_LANES(end - j));
        }
        if (LANES_OF(within) == 0) {
            continue;
        }
        if (val != NULL) {
            const NUMBER length = values == LSP_JOIN_SQUARED ? MUL(d2, VALUE(m->unit)) : ROOT(d2);
            NAME(keep)(MUL(length, VALUE(m->unit)), within, val + n);
        }
        n += keep_ids(id + j, (uint32_t)LANES_OF(within), LANES, col + n);
    }
    *count = n;
}

static int64_t NAME(hits)(const lsp_metric *m, const lsp_pair_tile *tile, int64_t i, int64_t begin, int64_t end,
                          double limit, const int32_t *id, lsp_join_values values, int32_t *col, void *val) {
    int64_t count = 0;
    switch (m->kind == LSP_SPACE_OPEN ? m->dimensions : 0) { /* the nearest points in many dimensions */
    case 4:
        NAME(hits_space)(m, LSP_SPACE_OPEN, 4, tile, i, begin, end, limit, id, values, col, val, &count);
        break;
    case 6:
        NAME(hits_space)(m, LSP_SPACE_OPEN, 6, tile, i, begin, end, limit, id, values, col, val, &count);
        break;
    case 8:
        NAME(hits_space)(m, LSP_SPACE_OPEN, 8, tile, i, begin, end, limit, id, values, col, val, &count);
        break;
    default:
        BY_SPACE(NAME(hits_space), tile, i, begin, end, limit, id, values, col, val, &count);
    }
    return count;
}

/* ---- densities ---- */

#if REAL_BITS == 32
#define EXPONENT_ONE                                                                                                   \
    12583039. /* 1.5 * 2^23 + 127: added, it rounds to a whole number whose last bits are an exponent */
#define LEAST_EXPONENT (-127.)
#define TERMS 8
#else
#define EXPONENT_ONE 6755399441056767. /* 1.5 * 2^52 + 1023 */
#define LEAST_EXPONENT (-1023.)
#define TERMS 14
#endif

/* 2 to the power of x <= 0, to the last digits; 0 where that is not a normal number. The whole part of x becomes the
 * exponent, the rest, at most 1/2, goes through the series. */
ALWAYS NUMBER NAME(power_of_two)(NUMBER x) {
    static const double series[] = {1, /* ln(2)^k / k! */
                                    0.6931471805599453,
                                    0.2402265069591007,
                                    0.05550410866482158,
                                    0.009618129107628477,
                                    0.0013333558146428443,
                                    1.5403530393381609e-4,
                                    1.5252733804059841e-5,
                                    1.3215486790144309e-6,
                                    1.0178086009239699e-7,
                                    7.054911620801123e-9,
                                    4.4455382718708114e-10,
                                    2.5678435993488206e-11,
                                    1.3691488853904128e-12};
    const NUMBER kept = MAX(x, VALUE(LEAST_EXPONENT)), whole = ADD(kept, VALUE(EXPONENT_ONE));
    const NUMBER rest = ADD(kept, MUL(ADD(whole, VALUE(-EXPONENT_ONE)), VALUE(-1)));
    NUMBER sum = VALUE(series[TERMS - 1]);
    UNROLLED for (int k = TERMS - 2; k >= 0; k--) { sum = FMA(sum, rest, VALUE(series[k])); }
    return MUL(sum, AS_EXPONENT(whole));
}

/* Adds the terms of one vector of candidates to the sums of `rows` queries. */
ALWAYS void NAME(add_terms)(const lsp_metric *m, lsp_space_kind kind, int dimensions,
                            const PLACE query[][LSP_MOST_DIMENSIONS], int rows, const lsp_pair_tile *tile, int64_t j,
                            NUMBER scale, bool gaussian, const void *weights, NUMBER *sums) {
    PLACE candidate[LSP_MOST_DIMENSIONS];
    const NUMBER weight = LOAD_NUMBERS(weights, j);
    NAME(load_candidates)(tile, dimensions, j, candidate);
    UNROLLED for (int r = 0; r < rows; r++) {
        const NUMBER d2 = NAME(distance)(m, kind, dimensions, query[r], candidate);
        const NUMBER term = gaussian ? NAME(power_of_two)(MUL(d2, scale)) : MAX(FMA(d2, scale, VALUE(1)), VALUE(0));
        sums[r] = FMA(term, weight, sums[r]);
    }
}

ALWAYS void NAME(density_rows)(const lsp_metric *m, lsp_space_kind kind, int dimensions, const lsp_pair_tile *tile,
                               int64_t i, int rows, double scale, bool gaussian, const void *weights, double *sums) {
    PLACE query[QUERIES][LSP_MOST_DIMENSIONS];
    NUMBER sum[QUERIES], rest[QUERIES];
    REAL lane[LANES];
    NAME(load_queries)(tile, dimensions, i, rows, query);
    UNROLLED for (int r = 0; r < rows; r++) { sum[r] = rest[r] = VALUE(0); }
    int64_t j = 0;
    for (; j + LANES <= tile->candidates; j += LANES) {
        NAME(add_terms)(m, kind, dimensions, query, rows, tile, j, VALUE(scale), gaussian, weights, sum);
    }
    if (j < tile->candidates) {
        NAME(add_terms)(m, kind, dimensions, query, rows, tile, j, VALUE(scale), gaussian, weights, rest);
    }
    UNROLLED for (int r = 0; r < rows; r++) {
        memcpy(lane, &sum[r], sizeof lane);
        for (int l = 0; l < LANES; l++) {
            sums[i + r] += (double)lane[l];
        }
        memcpy(lane, &rest[r], sizeof lane);
        for (int64_t l = 0; l < tile->candidates - j; l++) {
            sums[i + r] += (double)lane[l];
        }
    }
}

ALWAYS void NAME(density_space)(const lsp_metric *m, lsp_space_kind kind, int dimensions, const lsp_pair_tile *tile,
                                double scale, bool gaussian, const void *weights, double *sums) {
    BY_QUERIES(NAME(density_rows), scale, gaussian, weights, sums);
}

static void NAME(density)(const lsp_metric *m, const lsp_pair_tile *tile, double scale, bool gaussian,
                          const void *weights, double *sums) {
    if (gaussian) {
        BY_SPACE(NAME(density_space), tile, scale, true, weights, sums);
    } else {
        BY_SPACE(NAME(density_space), tile, scale, false, weights, sums);
    }
}
#undef EXPONENT_ONE
#undef LEAST_EXPONENT
#undef TERMS
#undef QUERIES
#undef BY_SPACE
#undef BY_QUERIES
