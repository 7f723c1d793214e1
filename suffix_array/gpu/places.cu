/* Rounds of the sort of suffixes while most of them are unfinished: they stay at their places of the array. */
#include "doubling.cuh"
#include "kernel_gaps.cuh"

enum { SOME = 16 }; /* a sort takes at most n / SOME groups; 2 n / SOME if a symbol has 4 bits or fewer */

typedef struct places {
    uint32_t *ranks, *keys;
    char *sort;
    place_bits at, next;
    place_groups some;
} places;

static int64_t some_most(const lsp_packed *t) { return (t->bits <= 4 ? 2 : 1) * (t->n / SOME) + 1; }

static int64_t lay_out_places(lsp_ctx *ctx, char *memory, const lsp_packed *t, places *p) {
    lsp_layout l = layout_at(memory);
    const int64_t n = t->n, words = lsp_ceil_div(n, WARP);
    p->ranks = take_words(&l, n);
    p->keys = take_words(&l, n);
    p->sort = (char *)lsp_layout_take(&l, suffix_sort_bytes(ctx, n, sizeof *p->keys), 1);
    p->at.begins = take_words(&l, words), p->at.open = take_words(&l, words);
    p->next.begins = take_words(&l, words), p->next.open = take_words(&l, words);
    p->some.begin = (int32_t *)take_words(&l, some_most(t)), p->some.end = (int32_t *)take_words(&l, some_most(t));
    return l.bytes;
}

int64_t suffix_place_bytes(lsp_ctx *ctx, const lsp_packed *text) {
    places p;
    return lay_out_places(ctx, NULL, text, &p);
}

/* Ranks of the groups; then of all suffixes, if none has one, or of those of new groups. */
static lsp_status rank_places(lsp_ctx *ctx, sorting *s, const places *p) {
    lsp_status status = LSP_OK;
    const int64_t n = s->text.n;
    const bool all = s->ranks == NULL;
    lsp_layout l = layout_at(p->sort);
    place_groups g;
    bool listed = false;
    uint32_t *const ranks = all ? suffix_ranks_by_place(ctx, s, &listed) : s->ranks;
    g.begin = (int32_t *)take_words(&l, s->count), g.end = (int32_t *)take_words(&l, s->count);
    g.rank = take_words(&l, s->count);
    LSP_TRY(
        LSP_LAUNCH(ctx, kernel_find_groups, walks_for(n), GROUPS_NT, 0, n, p->at, s->counts, (int64_t)0, s->count, g));
    LSP_TRY(
        LSP_LAUNCH(ctx, kernel_rank_places, blocks_for(ctx, s->count), TEXT_NT, 0, s->count, g, s->order, s->ranks));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_write_places, walks_for(n), GROUPS_NT, 0, n, all, p->at, s->counts, g.rank, s->order,
                       ranks));
    if (all) {
        LSP_TRY(suffix_write_all_ranks(ctx, s, listed));
    }
done:
    return status;
}

/* Sorts each group by its keys: so many groups at a time as there is room for their begins and ends. */
static lsp_status sort_places(lsp_ctx *ctx, sorting *s, const places *p) {
    lsp_status status = LSP_OK;
    const int64_t n = s->text.n, most = some_most(&s->text);
    for (int64_t low = 0; low < s->count; low += most) {
        const int64_t high = lsp_min(low + most, s->count);
        lsp_segsort_args sort = suffix_sort_of(n, high - low, sizeof *p->keys, p->keys, s->order);
        sort.offsets = p->some.begin, sort.ends = p->some.end;
        LSP_TRY(
            LSP_LAUNCH(ctx, kernel_find_groups, walks_for(n), GROUPS_NT, 0, n, p->at, s->counts, low, high, p->some));
        LSP_TRY(suffix_run_sort(ctx, s, &sort, p->sort));
    }
done:
    return status;
}

/* Brings the unfinished suffixes together. */
static lsp_status leave_places(lsp_ctx *ctx, sorting *s, const places *p) {
    lsp_status status = LSP_OK;
    const int64_t n = s->text.n, words = lsp_ceil_div(n, WARP);
    lsp_layout l = layout_at((char *)p->keys); /* the lists come where the bits are */
    place_bits at;
    at.begins = take_words(&l, words), at.open = take_words(&l, words);
    LSP_TRY(lsp_cuda_copy(ctx, at.begins, LSP_CUDA, p->at.begins, LSP_CUDA, words * (int64_t)sizeof *at.begins));
    LSP_TRY(lsp_cuda_copy(ctx, at.open, LSP_CUDA, p->at.open, LSP_CUDA, words * (int64_t)sizeof *at.open));
    suffix_take_lists(s, s->items);
    s->now.items = s->items, s->now.count = s->count;
    LSP_TRY(
        LSP_LAUNCH(ctx, kernel_leave_places, walks_for(n), GROUPS_NT, 0, n, at, s->counts, s->order, s->ranks, s->now));
done:
    return status;
}

/* Sets the groups of the first sort. */
template <typename K> static lsp_status enter(lsp_ctx *ctx, sorting *s, const K *keys) {
    lsp_status status = LSP_OK;
    const int64_t n = s->text.n;
    places p;
    lay_out_places(ctx, s->memory, &s->text, &p);
    LSP_TRY(LSP_LAUNCH(ctx, kernel_settle_places<K>, walks_for(n), GROUPS_NT, 0, n, true, p.at, keys, s->end, s->order,
                       NULL, p.at, s->counts));
    LSP_TRY(suffix_sum_counts(ctx, s, n));
done:
    return status;
}
lsp_status suffix_enter_places(lsp_ctx *ctx, sorting *s, const uint32_t *keys) { return enter(ctx, s, keys); }
lsp_status suffix_enter_places(lsp_ctx *ctx, sorting *s, const uint64_t *keys) { return enter(ctx, s, keys); }

lsp_status suffix_place_rounds(lsp_ctx *ctx, sorting *s) {
    lsp_status status = LSP_OK;
    const ended none = {0, 1};
    const int64_t n = s->text.n;
    places p;
    lay_out_places(ctx, s->memory, &s->text, &p);
    LSP_TRY(rank_places(ctx, s, &p));
    while (s->items > 0 && !suffix_lists_fit(ctx, s, s->items)) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_place_keys, blocks_for(ctx, n), TEXT_NT, 0, s->text, p.at, s->order, s->offset,
                           s->ranks, p.keys));
        LSP_TRY(sort_places(ctx, s, &p));
        LSP_TRY(LSP_LAUNCH(ctx, kernel_settle_places<uint32_t>, walks_for(n), GROUPS_NT, 0, n, false, p.at,
                           (const uint32_t *)p.keys, none, s->order, s->ranks, p.next, s->counts));
        LSP_TRY(suffix_sum_counts(ctx, s, n));
        {
            const place_bits before = p.at;
            p.at = p.next;
            p.next = before;
        }
        if (s->items > 0) {
            LSP_TRY(rank_places(ctx, s, &p));
        }
        s->offset *= 2;
        s->rounds++;
    }
    if (s->items > 0) {
        LSP_TRY(leave_places(ctx, s, &p));
    }
done:
    return status;
}
