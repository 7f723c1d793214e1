/* Records of 4 to 32 bytes, their order, and functions that sort them. */
#include <stdint.h>
#include <stdlib.h>

typedef struct particle {
    uint32_t cell, id;
    float x, y;
} particle;
#define SORT_NAME sort_particles
#define SORT_RECORD particle
#define SORT_BEFORE(a, b) (a.cell != b.cell ? a.cell < b.cell : a.id < b.id)
#include <libsparse/sort/records.h>

/* The largest number first, whatever the sign. */
#define SORT_NAME sort_magnitudes
#define SORT_RECORD int32_t
#define SORT_BEFORE(a, b) (llabs(a) > llabs(b))
#include <libsparse/sort/records.h>

typedef struct triple {
    int32_t row, column, layer;
} triple;
#define SORT_NAME sort_triples
#define SORT_RECORD triple
#define SORT_BEFORE(a, b)                                                                                              \
    (a.row != b.row ? a.row < b.row : a.column != b.column ? a.column < b.column : a.layer < b.layer)
#include <libsparse/sort/records.h>

typedef struct event {
    double time;
    int64_t source;
    char name[16];
} event;
#define SORT_NAME sort_events
#define SORT_RECORD event
#define SORT_BEFORE(a, b) (a.time != b.time ? a.time < b.time : a.source < b.source)
#include <libsparse/sort/records.h>
