/* One body for both devices. A body says what happens to one item. The host calls it in a loop (each_host.h), the GPU
 * in a kernel (each.cuh). A body reads nothing that the same pass writes elsewhere, and what it tells is told in an
 * order that changes nothing; so both devices give the same bits. A room lists its bodies in its bodies.h. */
#pragma once

#include "core.h"

LSP_BEGIN_DECLS

#define LSP_BODY_FUNCTION LSP_BOTH_SIDES static inline __attribute__((always_inline, unused))

/* What is asked of a body that keeps entries: both, only whether this one stays, or, of one that does, its column. */
typedef enum lsp_pass { LSP_PASS_BOTH, LSP_PASS_STAYS, LSP_PASS_COLUMN } lsp_pass;

/* Types of indices and values: constants in a loop of the host. LSP_NONE: the body does not use them. */
typedef struct lsp_kind {
    lsp_type index, val;
    lsp_pass pass;
} lsp_kind;

/* ---- what the items tell together ---- */

#define LSP_NOWHERE UINT64_MAX
typedef struct lsp_found {
    uint64_t first[2]; /* the least number told of each; LSP_NOWHERE: none */
    uint64_t most, at; /* the largest number, and the least place told with it; 0 and LSP_NOWHERE: none */
    uint64_t flags;    /* all that were told */
    uint64_t count;    /* the sum of what was told */
} lsp_found;
LSP_BODY_FUNCTION lsp_found lsp_found_nothing(void) {
    const lsp_found nothing = {{LSP_NOWHERE, LSP_NOWHERE}, 0, LSP_NOWHERE, 0, 0};
    return nothing;
}
LSP_BODY_FUNCTION void lsp_tell_first(lsp_found *f, int which, uint64_t number) {
    f->first[which] = number < f->first[which] ? number : f->first[which];
}
LSP_BODY_FUNCTION void lsp_tell_most(lsp_found *f, uint64_t number, uint64_t place) {
    const bool more = number > f->most, same = number == f->most && number > 0 && place < f->at;
    f->at = more || same ? place : f->at;
    f->most = more ? number : f->most;
}
LSP_BODY_FUNCTION void lsp_tell_flags(lsp_found *f, uint64_t flags) { f->flags |= flags; }
LSP_BODY_FUNCTION void lsp_tell_count(lsp_found *f, uint64_t count) { f->count += count; }
LSP_BODY_FUNCTION void lsp_found_join(lsp_found *f, const lsp_found *other) {
    lsp_tell_first(f, 0, other->first[0]);
    lsp_tell_first(f, 1, other->first[1]);
    lsp_tell_most(f, other->most, other->at);
    f->flags |= other->flags;
    f->count += other->count;
}

/* ---- what several threads write ---- */

/* array[i] = x where other threads may store too. */
LSP_BODY_FUNCTION void lsp_index_store(void *array, lsp_type type, int64_t i, int64_t x) {
#ifdef __CUDA_ARCH__
    lsp_index_set(array, type, i, x);
#else
    if (type == LSP_I32) {
        __atomic_store_n((int32_t *)array + i, (int32_t)x, __ATOMIC_RELAXED);
    } else {
        __atomic_store_n((int64_t *)array + i, x, __ATOMIC_RELAXED);
    }
#endif
}
/* Sets bit j of many; was it set before? */
LSP_BODY_FUNCTION bool lsp_set_bit(unsigned *bits, int64_t j) {
    const unsigned bit = 1u << j % 32;
#ifdef __CUDA_ARCH__
    return (atomicOr(&bits[j / 32], bit) & bit) != 0;
#else
    return (__atomic_fetch_or(&bits[j / 32], bit, __ATOMIC_RELAXED) & bit) != 0;
#endif
}

/* ---- items ---- */

/* Defines a body of items: what happens to item i. `a`: its arguments; `t`: constant types; `f`: for lsp_tell_*. */
#define LSP_ITEM_BODY(name, arguments)                                                                                 \
    LSP_BODY_FUNCTION void name##_body(const arguments *a, const lsp_kind t, const int64_t i, lsp_found *f)
#pragma GCC diagnostic ignored "-Wunused-parameter" /* not every body needs all of them */

/* One call: n items. */
typedef struct lsp_each_job {
    const void *args;
    int64_t n;
    lsp_kind kind;
    lsp_found *found; /* NULL: nobody asks, and a GPU is not waited for */
    bool heavy;       /* one item is enough for a thread of a GPU, 64 for one of the host */
    bool stops;       /* nothing of the caller is written: lsp_ctx_cancel ends the loop on the host */
} lsp_each_job;
static inline lsp_each_job lsp_each_of(const void *args, int64_t n) { /* of a body without types; nobody asks */
    const lsp_each_job job = {args, n, {LSP_NONE, LSP_NONE, LSP_PASS_BOTH}, NULL, false, false};
    return job;
}

/* A body's loops on the host, over a share of the items, and its function on the GPU. */
typedef void lsp_each_host(void *job, int64_t begin, int64_t end);
typedef lsp_status lsp_each_cuda(lsp_ctx *ctx, const lsp_each_job *job);
lsp_status lsp_each_item(lsp_ctx *ctx, lsp_where where, lsp_each_host *host, lsp_each_cuda *cuda, lsp_each_job job);

/* *first = what the body tells as the first item, or n. */
lsp_status lsp_each_first(lsp_ctx *ctx, lsp_where where, lsp_each_host *host, lsp_each_cuda *cuda, lsp_each_job job,
                          int64_t *first);

/* ---- a room's list of bodies: LIST(M) is M(name, arguments) for each one ---- */

/* What a line becomes: the declaration of its loop, a member of the room's table of a GPU, its value there. */
/* clang-format off */
#define LSP_BODY_HOST(name, arguments) lsp_each_host lsp_body_##name##_host;
#define LSP_BODY_ITEM(name, arguments) lsp_each_cuda *name;
#define LSP_BODY_CUDA(name, arguments) lsp_body_##name##_cuda,
/* clang-format on */

/* Calls a body by its name: LSP_EACH(ctx, where, count_up, (lsp_each_job){...}), and so on. LSP_BODIES_ON_GPU: the
 * table of the room. */
#define LSP_EACH(ctx, where, name, ...)                                                                                \
    lsp_each_item((ctx), (where), lsp_body_##name##_host, LSP_BODIES_ON_GPU.name, __VA_ARGS__)
#define LSP_EACH_FIRST(ctx, where, name, first, ...)                                                                   \
    lsp_each_first((ctx), (where), lsp_body_##name##_host, LSP_BODIES_ON_GPU.name, __VA_ARGS__, (first))

LSP_END_DECLS
