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
} lsp_found;
LSP_BODY_FUNCTION lsp_found lsp_found_nothing(void) {
    const lsp_found nothing = {{LSP_NOWHERE, LSP_NOWHERE}, 0, LSP_NOWHERE, 0};
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
LSP_BODY_FUNCTION void lsp_found_join(lsp_found *f, const lsp_found *other) {
    lsp_tell_first(f, 0, other->first[0]);
    lsp_tell_first(f, 1, other->first[1]);
    lsp_tell_most(f, other->most, other->at);
    f->flags |= other->flags;
}

/* ---- items ---- */

/* Defines a body of items: what happens to item i. `a`: its arguments; `t`: constant types; `f`: for lsp_tell_*. */
#define LSP_ITEM_BODY(name, arguments)                                                                                 \
    LSP_BODY_FUNCTION void name##_body(const arguments *a, const lsp_kind t, const int64_t i, lsp_found *f)
#pragma GCC diagnostic ignored "-Wunused-parameter" /* not every body needs all of them */

/* One call: n items. found NULL: nobody asks, and a GPU is not waited for. */
typedef struct lsp_each_job {
    const void *args;
    int64_t n;
    lsp_kind kind;
    lsp_found *found;
} lsp_each_job;
static inline lsp_each_job lsp_each_of(const void *args, int64_t n) { /* of a body without types; nobody asks */
    const lsp_each_job job = {args, n, {LSP_NONE, LSP_NONE, LSP_PASS_BOTH}, NULL};
    return job;
}

/* A body's loops on the host, over a share of the items, and its function on the GPU. */
typedef void lsp_each_host(void *job, int64_t begin, int64_t end);
typedef lsp_status lsp_each_cuda(lsp_ctx *ctx, const lsp_each_job *job);
lsp_status lsp_each_item(lsp_ctx *ctx, lsp_where where, lsp_each_host *host, lsp_each_cuda *cuda, lsp_each_job job);

/* *first = what the body tells as the first item, or n. */
lsp_status lsp_each_first(lsp_ctx *ctx, lsp_where where, lsp_each_host *host, lsp_each_cuda *cuda, lsp_each_job job,
                          int64_t *first);

/* What a line of a list of items becomes in the room's bodies.h, and a call of a body by its name. */
#define LSP_ITEM_DECLARE(name, arguments)                                                                              \
    lsp_each_host lsp_body_##name##_host;                                                                              \
    lsp_each_cuda lsp_body_##name##_cuda;
#define LSP_EACH_ITEM(ctx, where, name, job)                                                                           \
    lsp_each_item((ctx), (where), lsp_body_##name##_host, lsp_body_##name##_cuda, (job))

LSP_END_DECLS
