/* Inside the sort of suffixes on a GPU: what the first sort and the rounds with lists (doubling.cu) and the rounds with
 * suffixes at their places (places.cu) share; its functions are in lists.cu. */
#pragma once

#include "core/layout.h"
#include "kernel_groups.cuh"
#include "segsort/segsort.h"

typedef struct sorting {
    lsp_packed text;
    char *memory;
    int64_t bytes, lists; /* of memory; of those at its end */
    int64_t items, count; /* unfinished suffixes and their groups */
    groups now, next;
    int64_t *counts, *sums;  /* of warps; for their sum */
    ull *changed;            /* for kernel_rank_groups */
    uint32_t *order, *ranks; /* of the suffixes; ranks NULL until they are used */
    int64_t offset;          /* symbols that are compared */
    ended end;
    bool text_first; /* while most are unfinished, a round compares symbols before ranks are used */
    int rounds;
} sorting;

static inline int64_t walks_for(int64_t items) { return lsp_ceil_div(items, GROUPS_ITEMS * (GROUPS_NT / WARP)); }

/* ---- memory ---- */

enum { ALIGN = 256 /* bytes */ };

static inline lsp_layout layout_at(char *memory) { return lsp_layout{memory, ALIGN, 0, false}; }
static inline uint32_t *take_words(lsp_layout *l, int64_t n) {
    return (uint32_t *)lsp_layout_take(l, n, sizeof(uint32_t));
}

lsp_segsort_args suffix_sort_of(int64_t n, int64_t segments, size_t key_bytes, void *keys, uint32_t *values);
/* Scratch for sorts of n items in any segments. */
int64_t suffix_sort_bytes(lsp_ctx *ctx, int64_t n, size_t key_bytes);
/* Sorts with scratch from `scratch` on. */
lsp_status suffix_run_sort(lsp_ctx *ctx, const sorting *s, const lsp_segsort_args *sort, char *scratch);
/* The symbols of a round's keys, whose zeros tell the end of a string of a set. Returns their number. */
int suffix_text_keys(sorting *s);
/* Sums the counts of the warps of `items` items, and waits for the sums. */
lsp_status suffix_sum_counts(lsp_ctx *ctx, sorting *s, int64_t items);
/* Do the lists of `items` suffixes fit the memory, beside the keys and the scratch of a sort? */
bool suffix_lists_fit(lsp_ctx *ctx, const sorting *s, int64_t items);
void suffix_take_lists(sorting *s, int64_t items);

/* ---- ranks of all suffixes ---- */

#ifdef __CUDACC__
enum { LIST_LEAST = 1 << 23 }; /* ranks; fewer lie in the L2 cache anyway */
#else
enum { LIST_LEAST = 1 << 9 }; /* the emulator sorts short texts */
#endif

/* Writes those that lie in the order of the array where _by_place tells. */
lsp_status suffix_write_all_ranks(lsp_ctx *ctx, sorting *s, bool listed);
uint32_t *suffix_ranks_by_place(lsp_ctx *ctx, const sorting *s, bool *listed);

/* Writes n listed ranks: first those of suffixes that lie near each other are brought together. Their suffixes go to
 * `ids`, which may be list.id. Ranks that lie where they are to be written go to `scratch` before, where the sort's
 * scratch was. */
lsp_status suffix_write_list(lsp_ctx *ctx, const sorting *s, rank_list list, int64_t n, uint32_t *ids, char *scratch);

/* ---- rounds with suffixes at their places: places.cu ---- */

int64_t suffix_place_bytes(lsp_ctx *ctx, const sorting *s);
/* The groups of the first sort, whose counts are summed. */
lsp_status suffix_enter_places(lsp_ctx *ctx, sorting *s, const uint32_t *keys);
/* Rounds until lists fit; without ranks if a round of symbols leaves few enough. */
lsp_status suffix_place_rounds(lsp_ctx *ctx, sorting *s);
