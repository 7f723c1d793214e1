/* Generates points: evenly random ones, Gaussian blobs, the cubic lattice. */
#include "arguments.h"
#include "points.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BLOBS = 1 << 20, MOST_POINTS = 1 << 30 };
#define GRAMMAR "--generate takes uniform:N:D, blobs:N:D:K or lattice:N:D, not "
static const double blob_width = 0.02; /* standard deviation, of the side of the box */

static double random_part(uint64_t *state) { /* 0 <= x < 1, by splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double random_normal(uint64_t *state) {
    const double u = 1 - random_part(state), v = random_part(state);
    return sqrt(-2 * log(u)) * cos(2 * acos(-1.0) * v);
}

/* The middle of a blob is found again from its number, so that no blob is kept. */
static double blob_middle(uint64_t seed, int64_t blob, int k) {
    uint64_t state = seed ^ ((uint64_t)blob * TB_MOST_DIMENSIONS + (uint64_t)k + 1) * 0xd1342543de82ef95u;
    return random_part(&state);
}

static double wrapped(double x) { return x - floor(x) < 1 ? x - floor(x) : 0; }

static int64_t root(int64_t n, int dimensions) {
    int64_t side = (int64_t)llround(pow((double)n, 1.0 / dimensions)), power = 1;
    for (int k = 0; k < dimensions; k++) {
        power *= side;
    }
    return power == n ? side : 0;
}

/* Reads the parameters of a generator, which stand behind colons. */
static int read_parameters(const char *spec, int count, int64_t *numbers, char error[CLI_SENTENCE]) {
    static const char names[] = "NDK";
    static const int most[] = {MOST_POINTS, TB_MOST_DIMENSIONS, MOST_BLOBS};
    const char *text = strchr(spec, ':');
    int k = 0;
    for (; text && k < count; k++, text = strchr(text + 1, ':')) {
        char word[24];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(text + 1, ":"), text + 1);
        if (!cli_parse_count(word, 1, most[k], &numbers[k])) {
            snprintf(error, CLI_SENTENCE, "--generate %.80s: %c is '%s', it must be a whole number from 1 to %d", spec,
                     names[k], word, most[k]);
            return CLI_USAGE;
        }
    }
    if (text || k < count) {
        snprintf(error, CLI_SENTENCE, GRAMMAR "'%.80s'", spec);
        return CLI_USAGE;
    }
    return CLI_DONE;
}

int tb_generate(const char *spec, uint64_t seed, tb_points *points, char error[CLI_SENTENCE]) {
    const size_t name = strcspn(spec, ":");
    const bool uniform = name == 7 && strncmp(spec, "uniform", 7) == 0;
    const bool blobs = name == 5 && strncmp(spec, "blobs", 5) == 0;
    const bool lattice = name == 7 && strncmp(spec, "lattice", 7) == 0;
    int64_t v[3] = {0, 0, 1};
    *points = (tb_points){0};
    if (!(uniform || blobs || lattice)) {
        snprintf(error, CLI_SENTENCE, GRAMMAR "'%.80s'", spec);
        return CLI_USAGE;
    }
    const int code = read_parameters(spec, blobs ? 3 : 2, v, error);
    if (code != CLI_DONE) {
        return code;
    }
    const int dimensions = (int)v[1];
    const int64_t side = lattice ? root(v[0], dimensions) : 1;
    if (side == 0) {
        snprintf(error, CLI_SENTENCE, "--generate %.80s: a lattice in %d dimensions has as many points as a %s", spec,
                 dimensions, dimensions == 2 ? "square number" : "power of a whole number to that exponent");
        return CLI_USAGE;
    }
    points->at = malloc((size_t)(v[0] * dimensions) * sizeof *points->at);
    if (!points->at) {
        snprintf(error, CLI_SENTENCE, "no memory for %lld points", (long long)v[0]);
        return CLI_MEMORY;
    }
    points->n = points->room = v[0];
    points->dimensions = dimensions;
    points->cell.periodic = true;
    uint64_t state = seed;
    for (int64_t i = 0; i < v[0]; i++) {
        int64_t rest = i;
        for (int k = 0; k < dimensions; k++, rest /= side) {
            points->at[i * dimensions + k] =
                lattice ? (double)(rest % side)
                : blobs ? wrapped(blob_middle(seed, i % v[2], k) + blob_width * random_normal(&state))
                        : random_part(&state);
            points->cell.side[k] = (double)side;
        }
    }
    return CLI_DONE;
}
