/* Suffix arrays on a GPU: suffixes are sorted by keys of their first symbols, then groups of equal ones by the symbols
 * that follow, while few are left, or by the ranks of what follows. While most suffixes are unfinished they stay at
 * their places of the array (kernel_gaps.cuh); few are brought together (kernel_groups.cuh).
 *
 * All memory is one block, taken before the array is touched. From its begin on lie what a step needs, ranks, keys and
 * the scratch of a sort; at its end what goes from round to round. */
#include "core/items.h"
#include "core/scan.h"
#include "doubling.cuh"

/* ---- the first sort ---- */

/* Sorts all suffixes by the first `bits` bits, at most 32, and settles. */
static lsp_status first_sort(lsp_ctx *ctx, sorting *s, int bits) {
    const int64_t n = s->text.n;
    const int32_t begin[2] = {0, (int32_t)n};
    lsp_layout l = layout_at(s->memory);
    uint32_t *const keys = take_words(&l, n);
    groups all = {};
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_first_keys, n, TEXT_NT, s->text, ~(~(uint64_t)0 >> bits), keys));
    lsp_segsort_args sort = suffix_sort_of(n, 1, sizeof *keys, keys, s->order);
    sort.values = NULL, sort.flags = LSP_SORT_POSITIONS;
    sort.begin_bit = 32 - bits, sort.end_bit = 32;
    LSP_TRY(suffix_run_sort(ctx, s, &sort, s->memory + l.bytes));
    s->offset = bits / s->text.bits;
    if (s->text.first != NULL) { /* equal keys whose last code is 0 belong to equal suffixes, in the order of strings */
        s->end.mask = (((uint64_t)1 << s->text.bits) - 1) << (32 - bits);
        s->end.stop = 0;
    }
    all.items = n, all.count = 1, all.id = s->order;
    all.begin = (int32_t *)take_words(&l, 2), all.base = take_words(&l, 1);
    LSP_TRY(lsp_cuda_copy(ctx, all.begin, LSP_CUDA, begin, LSP_HOST, sizeof begin));
    LSP_TRY(lsp_cuda_clear(ctx, all.base, sizeof *all.base));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_count_groups<uint32_t>, walks_for(n), GROUPS_NT, 0, all, (const uint32_t *)keys,
                       s->end, s->counts));
    LSP_TRY(suffix_sum_counts(ctx, s, n));
    if (s->items > 0 && suffix_lists_fit(ctx, s, s->items)) {
        suffix_take_lists(s, s->items);
        LSP_TRY(LSP_LAUNCH(ctx, kernel_settle<uint32_t>, walks_for(n), GROUPS_NT, 0, all, (const uint32_t *)keys,
                           s->end, s->counts, s->order, NULL, rank_list{}, s->now));
        s->now.items = s->items, s->now.count = s->count;
    } else if (s->items > 0) {
        LSP_TRY(suffix_enter_places(ctx, s, keys));
    }
    return LSP_OK;
}

/* ---- rounds with lists ---- */

/* The keys are sorted within the groups, and the suffixes with them: finds the groups of the next round. */
template <typename K> static lsp_status settle(lsp_ctx *ctx, sorting *s, const K *keys, ended e, rank_list list) {
    const int64_t blocks = walks_for(s->now.items);
    LSP_TRY(LSP_LAUNCH(ctx, kernel_count_groups<K>, blocks, GROUPS_NT, 0, s->now, keys, e, s->counts));
    LSP_TRY(suffix_sum_counts(ctx, s, s->now.items));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_settle<K>, blocks, GROUPS_NT, 0, s->now, keys, e, s->counts, s->order, s->ranks,
                       list, s->next));
    s->next.items = s->items;
    s->next.count = s->count;
    const groups before = s->now;
    s->now = s->next;
    s->next = before;
    return LSP_OK;
}

/* Sorts each group by its keys. */
static lsp_status sort_groups(lsp_ctx *ctx, const sorting *s, size_t key_bytes, void *keys, char *scratch) {
    lsp_segsort_args sort = suffix_sort_of(s->now.items, s->now.count, key_bytes, keys, s->now.id);
    sort.offsets = s->now.begin;
    return suffix_run_sort(ctx, s, &sort, scratch);
}

/* Rounds while few suffixes are left and each round at least halves them. */
static lsp_status text_rounds(lsp_ctx *ctx, sorting *s) {
    const int symbols = suffix_text_keys(s);
    int64_t before = INT64_MAX;
    while (s->now.items > 0 && s->now.items <= before / 2) {
        lsp_layout l = layout_at(s->memory);
        uint64_t *const keys = (uint64_t *)lsp_layout_take(&l, s->now.items, sizeof *keys);
        before = s->now.items;
        LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_text_keys, s->now.items, TEXT_NT, s->text, s->now, s->offset, keys));
        LSP_TRY(sort_groups(ctx, s, sizeof *keys, keys, s->memory + l.bytes));
        LSP_TRY(settle(ctx, s, keys, s->end, rank_list{}));
        s->offset += symbols;
        s->rounds++;
    }
    return LSP_OK;
}

/* Ranks of all suffixes, for the first time. */
static lsp_status first_ranks(lsp_ctx *ctx, sorting *s) {
    bool listed;
    uint32_t *const ranks = suffix_ranks_by_place(ctx, s, &listed);
    LSP_TRY(LSP_LAUNCH(ctx, kernel_place, walks_for(s->now.items), GROUPS_NT, 0, s->now, s->order));
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_rank_groups, s->now.count, TEXT_NT, s->now, true, s->changed));
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_list_places, s->text.n, TEXT_NT, s->text.n, ranks));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_list_groups, walks_for(s->now.items), GROUPS_NT, 0, s->now, ranks));
    return suffix_write_all_ranks(ctx, s, listed);
}

/* Ranks of new groups, and what a round of `items` items has listed. */
static lsp_status write_new_ranks(lsp_ctx *ctx, sorting *s, rank_list list, int64_t items, char *scratch) {
    const int64_t listed = items - s->now.items;
    ull changed = 0;
    if (s->now.items == 0) {
        return LSP_OK;
    }
    LSP_TRY(lsp_cuda_clear(ctx, s->changed, sizeof *s->changed));
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_rank_groups, s->now.count, TEXT_NT, s->now, false, s->changed));
    if (list.id != NULL) {
        LSP_TRY(lsp_cuda_read(ctx, &changed, s->changed, sizeof changed));
    }
    if ((int64_t)changed + listed >= LIST_LEAST && list.id != NULL) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_write_ranks, walks_for(s->now.items), GROUPS_NT, 0, s->now, s->ranks, list));
        return suffix_write_list(ctx, s, list, items, list.id, scratch);
    }
    LSP_TRY(LSP_LAUNCH(ctx, kernel_write_ranks, walks_for(s->now.items), GROUPS_NT, 0, s->now, s->ranks, rank_list{}));
    if (list.id != NULL) {
        list.id += s->now.items, list.rank += s->now.items;
        LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_write_list, listed, TEXT_NT, list, listed, s->ranks));
    }
    return LSP_OK;
}

static lsp_status rank_rounds(lsp_ctx *ctx, sorting *s) {
    const ended none = {0, 1};
    if (s->now.items > 0 && s->ranks == NULL) {
        LSP_TRY(first_ranks(ctx, s));
    }
    while (s->now.items > 0) {
        const int64_t items = s->now.items;
        lsp_layout l = layout_at(s->memory);
        take_words(&l, s->text.n); /* the ranks */
        uint32_t *const keys = take_words(&l, items);
        char *const sort = s->memory + l.bytes;
        rank_list list = {take_words(&l, items), take_words(&l, items)};
        if (items < LIST_LEAST || l.bytes + suffix_sort_bytes(ctx, items, 4) > s->bytes - s->lists) {
            list = rank_list{};
        }
        LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_rank_keys, items, TEXT_NT, s->text, s->now, s->offset, s->ranks, keys));
        LSP_TRY(sort_groups(ctx, s, sizeof *keys, keys, sort));
        LSP_TRY(settle(ctx, s, keys, none, list));
        LSP_TRY(write_new_ranks(ctx, s, list, items, s->memory + l.bytes));
        s->offset *= 2;
        s->rounds++;
    }
    return LSP_OK;
}

/* ---- the call ---- */

/* Takes the memory. Everything is taken before the array is touched. */
static lsp_status take_memory(lsp_ctx *ctx, sorting *s, const lsp_text *text, void *suffixes, const char **why) {
    const int64_t n = s->text.n, warps = lsp_ceil_div(n, GROUPS_ITEMS);
    s->order = (uint32_t *)suffixes;
    if (text->where == LSP_HOST) {
        LSP_TRY(LSP_SCRATCH_CUDA(ctx, n, &s->order));
    }
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, warps, &s->counts));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, lsp_cuda_scan_sums(warps), &s->sums));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, 1, &s->changed));
    s->bytes = suffix_place_bytes(ctx, s); /* more than the first sort takes */
    if (s->text_first && ctx->options.max_bytes > 0 && s->bytes > lsp_available_bytes(ctx, LSP_CUDA)) {
        *why = "; a round of symbols does not fit the budget";
        s->text_first = false;
        s->bytes = suffix_place_bytes(ctx, s);
    }
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, s->bytes, &s->memory));
    s->bytes = s->bytes / ALIGN * ALIGN;
    return LSP_OK;
}

/* The array to the caller, whose arrays lie with the text. */
static lsp_status hand_over(lsp_ctx *ctx, const sorting *s, const lsp_text *text, lsp_type type, void *suffixes) {
    const int64_t n = text->n, bytes = n * (int64_t)lsp_type_bytes(type);
    if (type == LSP_I32) {
        LSP_TRY(s->order == suffixes ? LSP_OK : lsp_cuda_copy(ctx, suffixes, LSP_HOST, s->order, LSP_CUDA, bytes));
    } else if (s->order == suffixes) {
        LSP_TRY(lsp_cuda_copy(ctx, s->memory, LSP_CUDA, s->order, LSP_CUDA, n * (int64_t)sizeof *s->order));
        LSP_TRY(lsp_cuda_convert(ctx, suffixes, LSP_I64, s->memory, LSP_I32, n));
    } else {
        LSP_TRY(lsp_cuda_convert(ctx, s->memory, LSP_I64, s->order, LSP_I32, n));
        LSP_TRY(lsp_cuda_copy(ctx, suffixes, LSP_HOST, s->memory, LSP_CUDA, bytes));
    }
    return lsp_cuda_wait(ctx);
}

extern "C" lsp_status lsp_suffix_array_cuda(lsp_ctx *ctx, const lsp_text *text, lsp_suffix_method method, lsp_type type,
                                            void *suffixes, lsp_suffix_info *info) {
    LSP_SCRATCH_SCOPE(ctx);
    sorting s = {};
    double in_long, in_short;
    const char *why = "";
    LSP_FREES(ctx, s.text.words);
    LSP_FREES(ctx, s.text.first);
    s.end = ended{0, 1};
    LSP_REQUIRE(method != LSP_SUFFIX_INDUCED, LSP_ERR_UNSUPPORTED, "induced sorting runs on the CPU only");
    LSP_REQUIRE(text->n <= INT32_MAX, LSP_ERR_UNSUPPORTED, "a text of %lld symbols: a GPU sorts %d at most",
                (long long)text->n, INT32_MAX);
    LSP_TRY(lsp_pack_cuda(ctx, text, &s.text));
    info->method = LSP_SUFFIX_DOUBLING;
    info->alphabet = s.text.kinds;
    info->bits = 32 / s.text.bits * s.text.bits;
    LSP_TRY(lsp_look_cuda(ctx, &s.text, ~(~(uint64_t)0 >> info->bits), &in_long, &in_short));
    s.text_first = in_short > 0.4 && in_long <= 0.9; /* else lists fit at once, or few would be finished */
    LSP_TRY(take_memory(ctx, &s, text, suffixes, &why));
    snprintf(info->reason, sizeof info->reason,
             "a GPU; %.0f and %.0f %% of the suffixes share their first %d and %d symbols with others%s",
             100 * in_short, 100 * in_long, info->bits / s.text.bits, 64 / s.text.bits, why);
    LSP_TRY(first_sort(ctx, &s, info->bits));
    LSP_TRY(s.items == 0 || s.lists > 0 ? LSP_OK : suffix_place_rounds(ctx, &s));
    LSP_TRY(s.items == 0 || s.ranks != NULL ? LSP_OK : text_rounds(ctx, &s));
    LSP_TRY(rank_rounds(ctx, &s));
    info->rounds = s.rounds;
    return hand_over(ctx, &s, text, type, suffixes);
}
