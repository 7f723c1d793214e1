/* What happens to one index or key on both devices, and THE list of these bodies: a line becomes a loop of the host and
 * a kernel. In all of them t.index is the type of the array that is read. */
#pragma once

#include "core/each.h"
#include "hash/hash.h"
#include "job.h"

LSP_BEGIN_DECLS

/* Told first: an index outside. */
LSP_ITEM_BODY(gather_outside, lsp_gather_args) {
    if ((uint64_t)lsp_index_at(a->index, t.index, i) >= (uint64_t)a->extent) {
        lsp_tell_first(f, 0, (uint64_t)i);
    }
}

/* Counted: integers that are not negative. */
typedef struct lsp_owning {
    const void *owner;
} lsp_owning;
LSP_ITEM_BODY(gather_owned, lsp_owning) { lsp_tell_count(f, lsp_index_at(a->owner, t.index, i) >= 0); }

/* mixed[i] = the mixed key of keys[i]. */
typedef struct lsp_hash_mixing {
    const void *keys;
    void *mixed;
    uint64_t seed;
} lsp_hash_mixing;
LSP_ITEM_BODY(hash_mix, lsp_hash_mixing) {
    lsp_index_set(a->mixed, t.index, i, (int64_t)lsp_hash_mixed(a->keys, i, t.index == LSP_I64, a->seed));
}

#define LSP_GATHER_BODIES(ITEM)                                                                                        \
    ITEM(gather_outside, lsp_gather_args)                                                                              \
    ITEM(gather_owned, lsp_owning)                                                                                     \
    ITEM(hash_mix, lsp_hash_mixing)
LSP_GATHER_BODIES(LSP_BODY_HOST)
typedef struct lsp_gather_bodies_table { /* of the GPU; NULL in a build without CUDA */
    LSP_GATHER_BODIES(LSP_BODY_ITEM)
} lsp_gather_bodies_table;
extern const lsp_gather_bodies_table lsp_gather_bodies_on_gpu;
#define LSP_BODIES_ON_GPU lsp_gather_bodies_on_gpu

LSP_END_DECLS
