/* Suffix arrays on a GPU: suffixes are sorted by keys of their first symbols, then groups of equal ones by the symbols
 * that follow, while few are left, or by the ranks of what follows. */
#include "core/items.h"
#include "core/scan.h"
#include "kernel_groups.cuh"

enum {
    FEW = 2,      /* symbols are compared instead of ranks if at most one suffix in so many is left */
    LIST_BITS = 8 /* ranks of suffixes with the same leading bits are written together */
};
#ifdef __CUDACC__
enum { LIST_LEAST = 1 << 23 }; /* ranks; fewer lie in the L2 cache anyway */
#else
enum { LIST_LEAST = 1 << 9 }; /* the emulator sorts short texts */
#endif

static int64_t blocks_for(lsp_ctx *ctx, int64_t n) { return lsp_blocks_for(ctx, n, TEXT_NT * 4, TEXT_SM_BLOCKS); }
static int64_t walks_for(int64_t items) { return lsp_ceil_div(items, GROUPS_ITEMS * (GROUPS_NT / WARP)); }

typedef struct sorting {
    lsp_packed text;
    groups now, next;
    int64_t *counts;
    void *keys; /* of the first sort; rounds have theirs there too, at most half as many long ones */
    size_t key_bytes;
    rank_list list;
    u64 *changed;            /* for kernel_rank_groups */
    uint32_t *order, *ranks; /* of the suffixes; ranks NULL until they are used */
    int64_t offset;          /* symbols that are compared */
    ended end;
    int rounds;
} sorting;

static lsp_status on_gpu(lsp_ctx *ctx, int64_t n, size_t bytes, void *memory) {
    return lsp_scratch_at(ctx, LSP_CUDA, n, bytes, (void **)memory);
}

/* Room for as many items. */
static lsp_status make_groups(lsp_ctx *ctx, int64_t items, groups *g) {
    lsp_status status = LSP_OK;
    const int64_t most = items / 2 + 2;
    LSP_TRY(on_gpu(ctx, items, sizeof *g->id, &g->id));
    LSP_TRY(on_gpu(ctx, most, sizeof *g->begin, &g->begin));
    LSP_TRY(on_gpu(ctx, most, sizeof *g->base, &g->base));
    LSP_TRY(on_gpu(ctx, most, sizeof *g->rank, &g->rank));
done:
    return status;
}

/* The keys are sorted within the groups, and the suffixes with them: finds the groups of the next round. */
template <typename K> static lsp_status settle(lsp_ctx *ctx, sorting *s, const K *keys, ended e, rank_list list) {
    lsp_status status = LSP_OK;
    int64_t total;
    const int64_t warps = lsp_ceil_div(s->now.items, GROUPS_ITEMS), blocks = walks_for(s->now.items);
    LSP_TRY(LSP_LAUNCH(ctx, kernel_count_groups<K>, blocks, GROUPS_NT, 0, s->now, keys, e, s->counts));
    LSP_TRY(lsp_cuda_scan(ctx, s->counts, warps, &total));
    if (s->next.id == NULL) { /* after the first sort */
        LSP_TRY(make_groups(ctx, total >> 32, &s->next));
    }
    LSP_TRY(LSP_LAUNCH(ctx, kernel_settle<K>, blocks, GROUPS_NT, 0, s->now, keys, e, s->counts, s->order, s->ranks,
                       list, s->next));
    s->next.items = total >> 32;
    s->next.count = total & 0xffffffff;
    {
        const groups before = s->now;
        s->now = s->next;
        s->next = before;
    }
done:
    return status;
}

/* Sorts each group by its keys. */
static lsp_status sort_groups(lsp_ctx *ctx, const groups *g, void *keys, size_t key_bytes) {
    lsp_segsort_args sort;
    memset(&sort, 0, sizeof sort);
    sort.n = g->items, sort.segments = g->count, sort.offsets = g->begin, sort.offset_type = LSP_I32;
    sort.key_type = key_bytes == 8 ? LSP_U64 : LSP_U32, sort.value_bytes = sizeof *g->id, sort.where = LSP_CUDA;
    sort.keys = keys, sort.keys_out = keys, sort.values = g->id, sort.values_out = g->id;
    return lsp_segsort(ctx, &sort, NULL);
}

/* The shares of suffixes that share their long key, and their short one, with others. */
static lsp_status look(lsp_ctx *ctx, const lsp_packed *t, uint64_t short_mask, double *in_long, double *in_short) {
    lsp_status status = LSP_OK;
    uint64_t *keys;
    unsigned *there, here[3];
    int less = 0;
    const size_t mark = lsp_scratch_mark(ctx);
    LSP_TRY(on_gpu(ctx, SAMPLE_MOST, sizeof *keys, &keys));
    LSP_TRY(on_gpu(ctx, 3, sizeof *there, &there));
    LSP_TRY(lsp_cuda_clear(ctx, there, sizeof here));
    LSP_TRY(lsp_cuda_clear(ctx, keys, SAMPLE_MOST * (int64_t)sizeof *keys));
    while (t->n >> less > SAMPLE_WANTED) {
        less++;
    }
    LSP_TRY(LSP_LAUNCH(ctx, kernel_sample, blocks_for(ctx, t->n), TEXT_NT, 0, *t, short_mask, less, keys, there));
    {
        lsp_segsort_args sort;
        memset(&sort, 0, sizeof sort);
        sort.n = sort.length = SAMPLE_MOST, sort.segments = 1, sort.key_type = LSP_U64, sort.where = LSP_CUDA;
        sort.keys = keys, sort.keys_out = keys, sort.flags = LSP_SORT_DESCENDING; /* what is free comes last */
        LSP_TRY(lsp_segsort(ctx, &sort, NULL));
    }
    LSP_TRY(LSP_LAUNCH(ctx, kernel_count_same, SAMPLE_MOST / TEXT_NT, TEXT_NT, 0, keys, short_mask, there, there + 1));
    LSP_TRY(lsp_cuda_read(ctx, here, there, sizeof here));
    *in_long = *in_short = 1; /* of a few keys with many suffixes each, the sample catches none or too many suffixes */
    if (here[0] > SAMPLE_WANTED / 8 * (unsigned)(less > 0) && here[0] <= SAMPLE_MOST) {
        *in_long = (double)here[1] / here[0];
        *in_short = (double)here[2] / here[0];
    }
done:
    lsp_scratch_release(ctx, mark);
    return status;
}

/* Sorts all suffixes by their first keys and settles. */
template <typename K> static lsp_status first_sort(lsp_ctx *ctx, sorting *s, int bits) {
    lsp_status status = LSP_OK;
    const int64_t n = s->text.n;
    const int32_t begin[2] = {0, (int32_t)n};
    K *keys;
    int32_t *borders;
    uint32_t *sorted, *base;
    const int top = 8 * (int)sizeof(K);
    LSP_TRY(on_gpu(ctx, n, sizeof *keys, &keys));
    LSP_TRY(on_gpu(ctx, n, sizeof *sorted, &sorted));
    LSP_TRY(on_gpu(ctx, 2, sizeof *borders, &borders));
    LSP_TRY(on_gpu(ctx, 1, sizeof *base, &base));
    LSP_TRY(lsp_cuda_copy(ctx, borders, LSP_CUDA, begin, LSP_HOST, sizeof begin));
    LSP_TRY(lsp_cuda_clear(ctx, base, sizeof *base));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_first_keys<K>, blocks_for(ctx, n), TEXT_NT, 0, s->text,
                       bits == 64 ? ~(uint64_t)0 : ~(~(uint64_t)0 >> bits), keys));
    {
        lsp_radix_sort_args sort;
        memset(&sort, 0, sizeof sort);
        sort.n = n, sort.key_type = sizeof(K) == 8 ? LSP_U64 : LSP_U32, sort.value_bytes = sizeof *sorted;
        sort.keys = keys, sort.keys_out = keys, sort.values_out = sorted, sort.flags = LSP_SORT_POSITIONS;
        sort.begin_bit = top - bits, sort.end_bit = top, sort.where = LSP_CUDA;
        LSP_TRY(lsp_radix_sort(ctx, &sort, NULL));
    }
    s->now.items = n, s->now.count = 1, s->now.id = sorted, s->now.begin = borders, s->now.base = base;
    s->now.rank = NULL;
    s->offset = bits / s->text.bits;
    if (s->text.first != NULL) { /* equal keys whose last code is 0 belong to equal suffixes, in the order of strings */
        s->end.mask = (((uint64_t)1 << s->text.bits) - 1) << (top - bits);
        s->end.stop = 0;
    }
    s->keys = keys;
    s->key_bytes = sizeof *keys;
    LSP_TRY(settle(ctx, s, keys, s->end, rank_list{}));
done:
    return status;
}

/* Rounds while few suffixes are left and each round at least halves them. */
static lsp_status text_rounds(lsp_ctx *ctx, sorting *s) {
    lsp_status status = LSP_OK;
    const int symbols = 64 / s->text.bits;
    int64_t before = INT64_MAX;
    uint64_t *const keys = (uint64_t *)s->keys;
    if (s->now.items > s->text.n / FEW || s->now.items == 0) {
        goto done;
    }
    if (s->text.first != NULL) {
        s->end.mask = (((uint64_t)1 << s->text.bits) - 1) << (64 - symbols * s->text.bits);
    }
    while (s->now.items > 0 && s->now.items <= before / 2) {
        before = s->now.items;
        LSP_TRY(LSP_LAUNCH(ctx, kernel_text_keys, blocks_for(ctx, s->now.items), TEXT_NT, 0, s->text, s->now, s->offset,
                           keys));
        LSP_TRY(sort_groups(ctx, &s->now, keys, sizeof *keys));
        LSP_TRY(settle(ctx, s, keys, s->end, rank_list{}));
        s->offset += symbols;
        s->rounds++;
    }
done:
    return status;
}

/* Writes listed ranks: first those of suffixes that lie near each other are brought together. ids: of the list, or
 * other ones that stay as they are. */
static lsp_status write_list(lsp_ctx *ctx, sorting *s, const uint32_t *ids, int64_t n) {
    lsp_status status = LSP_OK;
    const int bits = (int)lsp_max(lsp_bits((uint64_t)s->text.n - 1), 1);
    lsp_partition_args part;
    memset(&part, 0, sizeof part);
    part.n = n, part.begin_bit = (int)lsp_max(bits - LIST_BITS, 0), part.end_bit = bits, part.where = LSP_CUDA;
    part.key_type = LSP_U32, part.keys = ids, part.keys_out = s->list.id;
    part.value_bytes = sizeof *s->list.rank, part.values = s->list.rank, part.values_out = s->list.rank;
    LSP_TRY(lsp_partition(ctx, &part));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_write_list, blocks_for(ctx, n), TEXT_NT, 0, s->list, n, s->ranks));
done:
    return status;
}

/* Ranks of all suffixes, for the first time. */
static lsp_status first_ranks(lsp_ctx *ctx, sorting *s) {
    lsp_status status = LSP_OK;
    const int64_t n = s->text.n;
    LSP_TRY(on_gpu(ctx, n, sizeof *s->ranks, &s->ranks));
    LSP_TRY(on_gpu(ctx, n, sizeof *s->list.id, &s->list.id));
    LSP_TRY(on_gpu(ctx, 1, sizeof *s->changed, &s->changed));
    LSP_TRY(lsp_cuda_clear(ctx, s->changed, sizeof *s->changed));
    if (s->key_bytes == 8) {
        s->list.rank = (uint32_t *)s->keys + n;
    } else {
        LSP_TRY(on_gpu(ctx, n, sizeof *s->list.rank, &s->list.rank));
    }
    LSP_TRY(LSP_LAUNCH(ctx, kernel_place, walks_for(s->now.items), GROUPS_NT, 0, s->now, s->order));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_rank_groups, blocks_for(ctx, s->now.count), TEXT_NT, 0, s->now, true, s->changed));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_list_places, blocks_for(ctx, n), TEXT_NT, 0, n, s->list.rank));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_list_groups, walks_for(s->now.items), GROUPS_NT, 0, s->now, s->list.rank));
    LSP_TRY(write_list(ctx, s, s->order, n));
done:
    return status;
}

/* Ranks of new groups, and what a round of so many items has listed. */
static lsp_status write_new_ranks(lsp_ctx *ctx, sorting *s, rank_list list, int64_t items) {
    lsp_status status = LSP_OK;
    const int64_t listed = items - s->now.items;
    u64 changed = 0;
    if (s->now.items == 0) {
        goto done;
    }
    LSP_TRY(lsp_cuda_clear(ctx, s->changed, sizeof *s->changed));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_rank_groups, blocks_for(ctx, s->now.count), TEXT_NT, 0, s->now, false, s->changed));
    if (list.id != NULL) {
        LSP_TRY(lsp_cuda_read(ctx, &changed, s->changed, sizeof changed));
    }
    if ((int64_t)changed + listed >= LIST_LEAST) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_write_ranks, walks_for(s->now.items), GROUPS_NT, 0, s->now, s->ranks, list));
        LSP_TRY(write_list(ctx, s, list.id, items));
        goto done;
    }
    LSP_TRY(LSP_LAUNCH(ctx, kernel_write_ranks, walks_for(s->now.items), GROUPS_NT, 0, s->now, s->ranks, rank_list{}));
    if (list.id != NULL) {
        list.id += s->now.items, list.rank += s->now.items;
        LSP_TRY(LSP_LAUNCH(ctx, kernel_write_list, blocks_for(ctx, listed), TEXT_NT, 0, list, listed, s->ranks));
    }
done:
    return status;
}

static lsp_status rank_rounds(lsp_ctx *ctx, sorting *s) {
    lsp_status status = LSP_OK;
    const ended none = {0, 1};
    uint32_t *const keys = (uint32_t *)s->keys;
    if (s->now.items > 0) {
        LSP_TRY(first_ranks(ctx, s));
    }
    while (s->now.items > 0) {
        const int64_t items = s->now.items;
        const rank_list list = items >= LIST_LEAST ? s->list : rank_list{};
        LSP_TRY(LSP_LAUNCH(ctx, kernel_rank_keys, blocks_for(ctx, items), TEXT_NT, 0, s->text, s->now, s->offset,
                           s->ranks, keys));
        LSP_TRY(sort_groups(ctx, &s->now, keys, sizeof *keys));
        LSP_TRY(settle(ctx, s, keys, none, list));
        LSP_TRY(write_new_ranks(ctx, s, list, items));
        s->offset *= 2;
        s->rounds++;
    }
done:
    return status;
}

/* The array to the caller, whose arrays lie with the text. */
static lsp_status hand_over(lsp_ctx *ctx, const uint32_t *order, const lsp_text *text, lsp_type type, void *suffixes) {
    lsp_status status = LSP_OK;
    const int64_t bytes = text->n * (int64_t)lsp_type_bytes(type);
    const void *from = order;
    if (type == LSP_I64) {
        void *wide;
        LSP_TRY(on_gpu(ctx, text->n, sizeof(int64_t), &wide));
        LSP_TRY(lsp_cuda_convert(ctx, wide, LSP_I64, order, LSP_I32, text->n));
        from = wide;
    }
    LSP_TRY(lsp_cuda_copy(ctx, suffixes, text->where, from, LSP_CUDA, bytes));
done:
    return status;
}

extern "C" lsp_status lsp_suffix_array_cuda(lsp_ctx *ctx, const lsp_text *text, lsp_suffix_method method, lsp_type type,
                                            void *suffixes, lsp_suffix_info *info) {
    lsp_status status = LSP_OK;
    sorting s = {};
    double in_long, in_short;
    int short_bits;
    bool short_keys;
    const size_t mark = lsp_scratch_mark(ctx);
    s.end = ended{0, 1};
    LSP_REQUIRE(method != LSP_SUFFIX_INDUCED, LSP_ERR_UNSUPPORTED, "induced sorting runs on the CPU only");
    LSP_REQUIRE(text->n <= INT32_MAX, LSP_ERR_UNSUPPORTED, "a text of %lld symbols: a GPU sorts %d at most",
                (long long)text->n, INT32_MAX);
    LSP_TRY(lsp_pack_cuda(ctx, text, &s.text));
    short_bits = 32 / s.text.bits * s.text.bits;
    LSP_TRY(look(ctx, &s.text, ~(~(uint64_t)0 >> short_bits), &in_long, &in_short));
    short_keys = in_short < 0.25 || in_long > 0.9; /* else long keys finish many more */
    info->method = LSP_SUFFIX_DOUBLING;
    info->alphabet = s.text.kinds;
    info->bits = short_keys ? short_bits : 64 / s.text.bits * s.text.bits;
    snprintf(info->reason, sizeof info->reason,
             "a GPU; %.0f and %.0f %% of the suffixes share their first %d and %d symbols with others", 100 * in_short,
             100 * in_long, short_bits / s.text.bits, 64 / s.text.bits);
    LSP_TRY(on_gpu(ctx, text->n, sizeof *s.order, &s.order));
    LSP_TRY(on_gpu(ctx, lsp_ceil_div(text->n, GROUPS_ITEMS), sizeof *s.counts, &s.counts));
    if (short_keys) {
        LSP_TRY(first_sort<uint32_t>(ctx, &s, info->bits));
    } else {
        LSP_TRY(first_sort<uint64_t>(ctx, &s, info->bits));
    }
    LSP_TRY(make_groups(ctx, s.now.items, &s.next));
    LSP_TRY(text_rounds(ctx, &s));
    LSP_TRY(rank_rounds(ctx, &s));
    info->rounds = s.rounds;
    LSP_TRY(hand_over(ctx, s.order, text, type, suffixes));
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
