/* THE bodies of this room, in a list: a line becomes a loop of the host and a kernel. A new function adds its body to
 * item_bodies.h or entry_bodies.h, and a line here. */
#pragma once

#include "entry_bodies.h"
#include "item_bodies.h"

LSP_BEGIN_DECLS

/* THE list: of items, of items whose loops know the type of values, of entries, of entries that are kept. */
#define LSP_MAP_LINE(f, VALUE) VALUE(map_##f, valuing)
#define LSP_BODIES(ITEM, VALUE, ENTRY, KEEP)                                                                           \
    ITEM(count_up, indexing)                                                                                           \
    ITEM(shift, indexing)                                                                                              \
    ITEM(seat, indexing)                                                                                               \
    ITEM(misplaced, indexing)                                                                                          \
    ITEM(outside, indexing)                                                                                            \
    ITEM(place, placing)                                                                                               \
    ITEM(triple_outside, lsp_coo)                                                                                      \
    ITEM(count_list, counting)                                                                                         \
    ITEM(too_wide, valuing)                                                                                            \
    ITEM(row_falls, lsp_csr)                                                                                           \
    ITEM(spot, seeking)                                                                                                \
    ITEM(differs, comparing)                                                                                           \
    ITEM(end_ranks, ranking)                                                                                           \
    ITEM(start_row, listing)                                                                                           \
    ITEM(size_behind, indexing)                                                                                        \
    ITEM(row_length, lsp_taking)                                                                                       \
    ITEM(row_shift, lsp_taking)                                                                                        \
    ITEM(count_repeats, repeating)                                                                                     \
    ITEM(repeat_rows, repeating)                                                                                       \
    ITEM(add_length, copying)                                                                                          \
    VALUE(sum_run, running)                                                                                            \
    VALUE(add_equal, adding)                                                                                           \
    VALUE(add_sources, adding)                                                                                         \
    VALUE(take_value, valuing)                                                                                         \
    VALUE(mirror_value, valuing)                                                                                       \
    VALUE(not_finite, valuing)                                                                                         \
    VALUE(map_too_wide, valuing)                                                                                       \
    VALUE(clear_element, lsp_dense)                                                                                    \
    VALUE(lay_diagonal, laying)                                                                                        \
    VALUE(apart, comparing)                                                                                            \
    VALUE(lost, comparing)                                                                                             \
    LSP_MAPS(LSP_MAP_LINE, VALUE)                                                                                      \
    ENTRY(unsorted, seeking)                                                                                           \
    ENTRY(take_head, summing)                                                                                          \
    ENTRY(scale, scaling)                                                                                              \
    ENTRY(scale_too_wide, scaling)                                                                                     \
    ENTRY(apart_by_column, comparing)                                                                                  \
    ENTRY(repeat_entry, repeating)                                                                                     \
    ENTRY(stack_entry, copying)                                                                                        \
    ENTRY(list_row, listing)                                                                                           \
    ENTRY(list_entry, listing)                                                                                         \
    ENTRY(store_entry, copying)                                                                                        \
    ENTRY(rank_entry, ranking)                                                                                         \
    ENTRY(drop_ranked, ranking)                                                                                        \
    ENTRY(mark, keeping)                                                                                               \
    KEEP(window, keeping)                                                                                              \
    KEEP(off_diagonal, keeping)                                                                                        \
    KEEP(filter, keeping)                                                                                              \
    KEEP(run_head, keeping)                                                                                            \
    KEEP(taken, keeping)                                                                                               \
    KEEP(renamed, keeping)                                                                                             \
    KEEP(picked, keeping)

/* clang-format off */
#define LSP_BODY_ENTRY(name, arguments) lsp_entry_cuda *name;
#define LSP_BODY_KEEP(name, arguments) lsp_keep_cuda *name;
/* clang-format on */
LSP_BODIES(LSP_BODY_HOST, LSP_BODY_HOST, LSP_BODY_HOST, LSP_BODY_HOST)
typedef struct lsp_bodies_table { /* of the GPU; NULL in a build without CUDA */
    LSP_BODIES(LSP_BODY_ITEM, LSP_BODY_ITEM, LSP_BODY_ENTRY, LSP_BODY_KEEP)
} lsp_bodies_table;
extern const lsp_bodies_table lsp_bodies_on_gpu;
#define LSP_BODIES_ON_GPU lsp_bodies_on_gpu

/* Calls a body of entries by its name, as LSP_EACH one of items. */
#define LSP_EACH_ENTRY(ctx, name, ...)                                                                                 \
    lsp_each_entry((ctx), lsp_body_##name##_host, lsp_bodies_on_gpu.name, __VA_ARGS__)
#define LSP_KEEP(ctx, name, B, ...)                                                                                    \
    lsp_keep_entries((ctx), lsp_body_##name##_host, lsp_bodies_on_gpu.name, __VA_ARGS__, (B))

LSP_END_DECLS
