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

static int64_t lay_out_places(lsp_ctx *ctx, const sorting *s, places *p) {
    const lsp_packed *const t = &s->text;
    lsp_layout l = layout_at(s->memory);
    const int64_t n = t->n, words = lsp_ceil_div(n, WARP);
    const int64_t by_rank = suffix_sort_bytes(ctx, n, sizeof *p->keys);
    p->ranks = take_words(&l, n);
    p->keys = take_words(&l, n);
    p->sort = (char *)lsp_layout_take(
        &l, s->text_first ? lsp_max(by_rank, suffix_sort_bytes(ctx, n, sizeof(uint64_t))) : by_rank, 1);
    p->at.begins = take_words(&l, words), p->at.open = take_words(&l, words);
    p->next.begins = take_words(&l, words), p->next.open = take_words(&l, words);
    p->some.begin = (int32_t *)take_words(&l, some_most(t)), p->some.end = (int32_t *)take_words(&l, some_most(t));
    return l.bytes;
}

int64_t suffix_place_bytes(lsp_ctx *ctx, const sorting *s) {
    places p;
    return lay_out_places(ctx, s, &p);
}

/* Ranks of the groups; then of all suffixes, if none has one, or of those of new groups. */
static lsp_status rank_places(lsp_ctx *ctx, sorting *s, const places *p) {
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
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_rank_places, s->count, TEXT_NT, s->count, g, s->order, s->ranks));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_write_places, walks_for(n), GROUPS_NT, 0, n, all, p->at, s->counts, g.rank, s->order,
                       ranks));
    return all ? suffix_write_all_ranks(ctx, s, listed) : LSP_OK;
}

/* Sorts each group by its keys. A step sorts as many groups as the lists of begins and ends hold. */
static lsp_status sort_places(lsp_ctx *ctx, sorting *s, const places *p, size_t key_bytes, void *keys) {
    const int64_t n = s->text.n, most = some_most(&s->text);
    for (int64_t low = 0; low < s->count; low += most) {
        const int64_t high = lsp_min(low + most, s->count);
        lsp_segsort_args sort = suffix_sort_of(n, high - low, key_bytes, keys, s->order);
        sort.offsets = p->some.begin, sort.ends = p->some.end;
        LSP_TRY(
            LSP_LAUNCH(ctx, kernel_find_groups, walks_for(n), GROUPS_NT, 0, n, p->at, s->counts, low, high, p->some));
        LSP_TRY(suffix_run_sort(ctx, s, &sort, p->sort));
    }
    return LSP_OK;
}

/* Brings the unfinished suffixes together. */
static lsp_status leave_places(lsp_ctx *ctx, sorting *s, const places *p) {
    const int64_t n = s->text.n, words = lsp_ceil_div(n, WARP);
    lsp_layout l = layout_at((char *)p->keys); /* the lists come where the bits are */
    place_bits at;
    at.begins = take_words(&l, words), at.open = take_words(&l, words);
    LSP_TRY(lsp_cuda_copy(ctx, at.begins, LSP_CUDA, p->at.begins, LSP_CUDA, words * (int64_t)sizeof *at.begins));
    LSP_TRY(lsp_cuda_copy(ctx, at.open, LSP_CUDA, p->at.open, LSP_CUDA, words * (int64_t)sizeof *at.open));
    suffix_take_lists(s, s->items);
    s->now.items = s->items, s->now.count = s->count;
    return LSP_LAUNCH(ctx, kernel_leave_places, walks_for(n), GROUPS_NT, 0, n, at, s->counts, s->order, s->ranks,
                      s->now);
}

lsp_status suffix_enter_places(lsp_ctx *ctx, sorting *s, const uint32_t *keys) {
    const int64_t n = s->text.n;
    places p;
    lay_out_places(ctx, s, &p);
    LSP_TRY(LSP_LAUNCH(ctx, kernel_settle_places<uint32_t>, walks_for(n), GROUPS_NT, 0, n, true, p.at, keys, s->end,
                       s->order, NULL, p.at, s->counts));
    return suffix_sum_counts(ctx, s, n);
}

/* The keys are sorted within the groups: finds the groups of the next round. */
template <typename K> static lsp_status settle(lsp_ctx *ctx, sorting *s, places *p, const K *keys, ended e) {
    const int64_t n = s->text.n;
    const place_bits before = p->at;
    LSP_TRY(LSP_LAUNCH(ctx, kernel_settle_places<K>, walks_for(n), GROUPS_NT, 0, n, false, p->at, keys, e, s->order,
                       s->ranks, p->next, s->counts));
    LSP_TRY(suffix_sum_counts(ctx, s, n));
    p->at = p->next;
    p->next = before;
    s->rounds++;
    return LSP_OK;
}

/* A round that compares symbols: their keys lie where ranks and the keys of ranks come later. */
static lsp_status text_round(lsp_ctx *ctx, sorting *s, places *p) {
    uint64_t *const keys = (uint64_t *)s->memory;
    const int symbols = suffix_text_keys(s);
    LSP_TRY(
        LSP_LAUNCH_EACH(ctx, kernel_place_text_keys, s->text.n, TEXT_NT, s->text, p->at, s->order, s->offset, keys));
    LSP_TRY(sort_places(ctx, s, p, sizeof *keys, keys));
    LSP_TRY(settle(ctx, s, p, (const uint64_t *)keys, s->end));
    s->offset += symbols;
    return LSP_OK;
}

/* A round that compares ranks. */
static lsp_status rank_round(lsp_ctx *ctx, sorting *s, places *p) {
    const ended none = {0, 1};
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_place_keys, s->text.n, TEXT_NT, s->text, p->at, s->order, s->offset, s->ranks,
                            p->keys));
    LSP_TRY(sort_places(ctx, s, p, sizeof *p->keys, p->keys));
    LSP_TRY(settle(ctx, s, p, (const uint32_t *)p->keys, none));
    s->offset *= 2;
    return LSP_OK;
}

lsp_status suffix_place_rounds(lsp_ctx *ctx, sorting *s) {
    places p;
    lay_out_places(ctx, s, &p);
    if (s->text_first) {
        LSP_TRY(text_round(ctx, s, &p));
    }
    while (s->items > 0 && !suffix_lists_fit(ctx, s, s->items)) {
        LSP_TRY(rank_places(ctx, s, &p));
        LSP_TRY(rank_round(ctx, s, &p));
    }
    if (s->items > 0 && s->ranks != NULL) {
        LSP_TRY(rank_places(ctx, s, &p));
    }
    return s->items > 0 ? leave_places(ctx, s, &p) : LSP_OK;
}
