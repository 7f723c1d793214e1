/* Keys for the tests of the segmented sort: random ones, and patterns that are hard for one of its methods. */
#pragma once

#include "tests/support.h"
#include <float.h>
#include <math.h>

static const lsp_type key_types[] = {LSP_I32, LSP_U32, LSP_F32, LSP_I64, LSP_U64, LSP_F64};
static const size_t value_sizes[] = {0, 4, 8, 16};
enum { KEY_TYPES = 6, VALUE_SIZES = 4 };

typedef enum key_fill {
    FILL_RANDOM,
    FILL_EQUAL,
    FILL_SORTED,
    FILL_REVERSED,
    FILL_16_DISTINCT,
    FILL_MAXIMAL,      /* a quarter of them is the largest of the type */
    FILL_SPECIAL,      /* floats: NaN of several payloads, infinities, zeros of both signs, subnormals */
    FILL_NARROW,       /* within 1000 of each other, far from 0 */
    FILL_LOW_BITS,     /* equal above the lower 12 bits (of 32) or 32 bits (of 64) */
    FILL_HIGH_BITS,    /* equal below the upper 8 bits */
    FILL_ONE_LARGE,    /* below 64, except one largest key in each segment: the others have equal leading bits */
    FILL_TIES,         /* long runs with equal leading bits and descending lower bits */
    FILL_TWO_HEADS,    /* one of two random leading bits, random bits far below */
    FILL_LONG_TIES,    /* 14 neighbours have equal leading bits and descending lowest bits */
    FILL_EVEN_RUNS,    /* runs of 10 to 19 equal keys, the length chosen by n; distinct keys are evenly spaced */
    FILL_MOSTLY_EQUAL, /* equal, but one of 16 differs in one bit: few are left when digits have told the others apart
                        */
    FILL_FOURTH_SMALL, /* every fourth is small, the others are not: few neighbours tell where the small ones end */
    FILL_KINDS
} key_fill;

static inline const char *fill_name(key_fill kind) {
    static const char *const names[] = {"random",       "equal",       "sorted",    "reversed",  "16 distinct",
                                        "25 % maximal", "special",     "narrow",    "low bits",  "high bits",
                                        "one large",    "ties",        "two heads", "long ties", "even runs",
                                        "mostly equal", "fourth small"};
    return names[kind];
}

static inline double special_number(uint64_t *state) {
    static const double choice[] = {0.0, -0.0, INFINITY, -INFINITY, 1.0, -1.0, DBL_MIN, FLT_MIN, -FLT_MIN / 2, 5e-324};
    return choice[test_below(state, 10)];
}

/* Bits of a special number or of a random NaN; for integers, one end of their range. */
static inline uint64_t special_bits(lsp_type type, uint64_t *state) {
    uint64_t any = test_random(state), bits = any % 2 ? UINT64_MAX : (uint64_t)1 << (any % 4 < 2 ? 63 : 31);
    double wide = special_number(state);
    float narrow = (float)wide;
    if (type == LSP_F32) {
        uint32_t half;
        memcpy(&half, &narrow, 4);
        bits = any % 7 == 0 ? any >> 32 | 0x7F800001u : half;
    } else if (type == LSP_F64) {
        memcpy(&bits, &wide, 8);
        bits = any % 7 == 0 ? any | 0x7FF0000000000001u : bits;
    }
    return bits;
}

/* The bits in reverse: consecutive numbers become evenly spread ones. */
static inline uint64_t backwards(uint64_t bits) {
    uint64_t reversed = 0;
    for (int b = 0; b < 64; b++) {
        reversed |= (bits >> b & 1) << (63 - b);
    }
    return reversed;
}

/* The bits of key i of n. */
static inline uint64_t key_bits(lsp_type type, key_fill kind, int64_t i, int64_t n, uint64_t *state) {
    uint64_t any = test_random(state), at = (uint64_t)i, left = (uint64_t)(n - i);
    int width = (int)(8 * lsp_type_bytes(type));
    uint64_t largest = type == LSP_I32 ? INT32_MAX : type == LSP_I64 ? INT64_MAX : UINT64_MAX;
    switch (kind) {
    case FILL_EQUAL:
        return 12345;
    case FILL_SORTED:
        return at;
    case FILL_REVERSED:
        return left;
    case FILL_16_DISTINCT:
        return any % 16 * 0x1111111111111111u;
    case FILL_MAXIMAL:
        return any % 4 == 0 ? largest : any >> 2;
    case FILL_SPECIAL:
        return any % 3 ? special_bits(type, state) : any;
    case FILL_NARROW:
        return 0x4711471147114711u + any % 1000;
    case FILL_LOW_BITS:
        return width == 32 ? 0x4ABCD000u | (any & 0xFFF) : 0x4ABCDEF100000000u | (uint32_t)any;
    case FILL_HIGH_BITS:
        return any % 256 << (width - 8) | 77;
    case FILL_ONE_LARGE:
        return any % 64;
    case FILL_TIES:
        return at / 700 % 3 << (width - 8) | (left & 0xFFFFFF);
    case FILL_TWO_HEADS:
        return (any & 1) << (width - 2) | (any >> 32 & 0x3FF);
    case FILL_LONG_TIES:
        return at / 14 * 37 % 64 << (width - 6) | (left & 63);
    case FILL_EVEN_RUNS:
        return backwards(at / (10 + (uint64_t)n % 10)) >> (64 - width);
    case FILL_MOSTLY_EQUAL:
        return 0x1234567890ABCDEFu ^ (any % 16 == 0 ? (uint64_t)1 << (any >> 8) % (uint64_t)width : 0);
    case FILL_FOURTH_SMALL:
        return i % 4 == 3 ? left : (uint64_t)1 << (width - 2) | any >> (66 - width);
    default:
        return any;
    }
}

static inline void set_key(void *keys, lsp_type type, int64_t i, uint64_t bits) {
    if (lsp_type_bytes(type) == 4) {
        ((uint32_t *)keys)[i] = (uint32_t)bits;
    } else {
        ((uint64_t *)keys)[i] = bits;
    }
}
