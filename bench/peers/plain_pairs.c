/* Pairs of points on the host as one writes them: for each point the squared distances to a block of others, which the
 * compiler makes vectors of, then what the statistic does with them. */
#include "peers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256 };

typedef struct plain_pairs {
    peer_pairs_job job;
    uint64_t counts[PEER_MOST_BINS + 1];
    void *density;
    lsp_csr C; /* rowptr int64 */
} plain_pairs;

/* The `most` nearest points that were met, not in order. Of equal ones the lower number is nearer. */
typedef struct plain_list {
    double d2[PEER_MOST_NEAREST];
    int32_t id[PEER_MOST_NEAREST];
    int n, most, last; /* last: the farthest of a full list */
} plain_list;

static void enter(plain_list *l, double d2, int32_t id) {
    const int to = l->n < l->most ? l->n++ : l->last;
    l->d2[to] = d2, l->id[to] = id;
    l->last = 0;
    for (int k = 1; k < l->n; k++) {
        const bool farther = l->d2[k] > l->d2[l->last] || (l->d2[k] == l->d2[l->last] && l->id[k] > l->id[l->last]);
        l->last = farther ? k : l->last;
    }
}

static void sort_by_id(plain_list *l) {
    for (int k = 1; k < l->n; k++) {
        const double d2 = l->d2[k];
        const int32_t id = l->id[k];
        int to = k;
        for (; to > 0 && l->id[to - 1] > id; to--) {
            l->d2[to] = l->d2[to - 1], l->id[to] = l->id[to - 1];
        }
        l->d2[to] = d2, l->id[to] = id;
    }
}

#define REAL float
#define WHOLE uint32_t
#define NAME(f) f##_f32
#define CALL(name) name##f
#include "plain_pairs_template.h"
#undef REAL
#undef WHOLE
#undef NAME
#undef CALL
#define REAL double
#define WHOLE uint64_t
#define NAME(f) f##_f64
#define CALL(name) name
#include "plain_pairs_template.h"

static void release(void *self) {
    plain_pairs *p = self;
    free(p->C.col);
    free(p->C.val);
    p->C.col = p->C.val = NULL;
}

static void destroy(void *self) {
    plain_pairs *p = self;
    if (p) {
        release(p);
        free(p->C.rowptr);
        free(p->density);
        free(p);
    }
}

static void *prepare(const peer_pairs_job *job) {
    plain_pairs *p = calloc(1, sizeof *p);
    if (!p) {
        return NULL;
    }
    p->job = *job;
    p->C = (lsp_csr){.rows = job->points.n, .cols = job->points.n, .rowptr_type = LSP_I64, .col_type = LSP_I32};
    p->C.val_type = job->points.type;
    p->C.rowptr = malloc((size_t)(job->points.n + 1) * sizeof(int64_t));
    p->density = malloc((size_t)job->points.n * sizeof(double));
    if (!p->C.rowptr || !p->density) {
        destroy(p);
        return NULL;
    }
    return p;
}

static const char *run(void *self) {
    plain_pairs *p = self;
    const bool f32 = p->job.points.type == LSP_F32;
    switch (p->job.kind) {
    case PEER_PAIRS_JOIN:
        return f32 ? join_f32(p) : join_f64(p);
    case PEER_PAIRS_NEAREST:
        return f32 ? nearest_f32(p) : nearest_f64(p);
    case PEER_PAIRS_DENSITY:
        return f32 ? density_f32(p) : density_f64(p);
    default:
        return f32 ? count_f32(p) : count_f64(p);
    }
}

static void view(void *self, const uint64_t **counts, const void **density, lsp_csr *C) {
    const plain_pairs *p = self;
    *counts = p->counts;
    *density = p->density;
    *C = p->C;
}

const peer_pairs peer_plain_pairs = {prepare, run, view, release, destroy, PEER_C_LIBRARY};
