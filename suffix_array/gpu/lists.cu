/* What the rounds with lists (doubling.cu) and at places (places.cu) both call: sorts, the memory of lists, ranks. */
#include "core/scan.h"
#include "doubling.cuh"

enum {
    FEW = 2,        /* symbols are compared in place of ranks once at most n / FEW suffixes are left */
    LIST_BITS = 8,  /* ranks of suffixes with the same leading bits are written together */
    SLACK = 2 << 20 /* bytes: few items take more scratch of a sort than in proportion */
};

/* ---- memory ---- */

lsp_segsort_args suffix_sort_of(int64_t n, int64_t segments, size_t key_bytes, void *keys, uint32_t *values) {
    lsp_segsort_args sort = {};
    sort.n = n, sort.segments = segments, sort.length = n, sort.offset_type = LSP_I32, sort.where = LSP_CUDA;
    sort.key_type = key_bytes == 8 ? LSP_U64 : LSP_U32, sort.value_bytes = sizeof *values;
    sort.keys = keys, sort.keys_out = keys, sort.values = values, sort.values_out = values;
    sort.flags = LSP_SORT_LEAN;
    return sort;
}

int64_t suffix_sort_bytes(lsp_ctx *ctx, int64_t n, size_t key_bytes) {
    int64_t most = 0;
    for (int64_t segments = 1; segments == 1 || segments <= n / 2; segments *= 2) {
        const lsp_segsort_args sort = suffix_sort_of(n, segments, key_bytes, NULL, NULL);
        int64_t bytes = 0;
        most = lsp_segsort_cuda.bytes(ctx, &sort, n, &bytes) ? lsp_max(most, bytes) : most;
    }
    return most + SLACK;
}

lsp_status suffix_run_sort(lsp_ctx *ctx, const sorting *s, const lsp_segsort_args *sort, char *scratch) {
    int64_t bytes = 0;
    const int64_t room = s->memory + s->bytes - s->lists - scratch;
    LSP_REQUIRE(lsp_segsort_cuda.bytes(ctx, sort, sort->n, &bytes) && bytes <= room, LSP_ERR_MEMORY,
                "a sort of %lld suffixes in %lld groups needs %lld bytes, and %lld were taken", (long long)sort->n,
                (long long)sort->segments, (long long)bytes, (long long)room);
    return lsp_segsort_cuda.run(ctx, sort, sort->n, scratch, lsp_split_most(sort));
}

/* Lays out the lists of two rounds, for at most `items` suffixes. Returns their bytes. */
static int64_t lay_out_lists(char *memory, int64_t items, groups *now, groups *next) {
    lsp_layout l = layout_at(memory);
    const int64_t most = items / 2 + 2;
    for (int k = 0; k < 2; k++) {
        groups *const g = k == 0 ? now : next;
        g->id = take_words(&l, items);
        g->begin = (int32_t *)take_words(&l, most), g->base = take_words(&l, most), g->rank = take_words(&l, most);
    }
    return l.bytes;
}

bool suffix_lists_fit(lsp_ctx *ctx, const sorting *s, int64_t items) {
    groups now, next;
    const int64_t lists = lay_out_lists(NULL, items, &now, &next);
    lsp_layout by_text = layout_at(NULL), by_rank = layout_at(NULL);
    lsp_layout_take(&by_text, items, sizeof(uint64_t));
    take_words(&by_rank, s->text.n);
    take_words(&by_rank, items);
    return items <= s->text.n / FEW && lists + lsp_max(by_text.bytes + suffix_sort_bytes(ctx, items, 8),
                                                       by_rank.bytes + suffix_sort_bytes(ctx, items, 4)) <=
                                           s->bytes;
}

void suffix_take_lists(sorting *s, int64_t items) {
    s->lists = lay_out_lists(NULL, items, &s->now, &s->next);
    lay_out_lists(s->memory + (s->bytes - s->lists) / ALIGN * ALIGN, items, &s->now, &s->next);
    s->lists += ALIGN;
}

int suffix_text_keys(sorting *s) {
    const int symbols = 64 / s->text.bits;
    if (s->text.first != NULL) {
        s->end.mask = (((uint64_t)1 << s->text.bits) - 1) << (64 - symbols * s->text.bits);
    }
    return symbols;
}

lsp_status suffix_sum_counts(lsp_ctx *ctx, sorting *s, int64_t items) {
    const int64_t warps = lsp_ceil_div(items, GROUPS_ITEMS);
    int64_t total;
    LSP_TRY(lsp_cuda_scan_in(ctx, s->counts, warps, s->sums, NULL));
    LSP_TRY(lsp_cuda_read(ctx, &total, s->counts + warps - 1, sizeof total));
    s->items = total >> 32;
    s->count = total & 0xffffffff;
    return LSP_OK;
}

/* ---- ranks of all suffixes ---- */

uint32_t *suffix_ranks_by_place(lsp_ctx *ctx, const sorting *s, bool *listed) {
    lsp_layout l = layout_at(s->memory);
    uint32_t *const ranks = take_words(&l, s->text.n), *const keys = take_words(&l, s->text.n);
    *listed = s->text.n >= LIST_LEAST && l.bytes + suffix_sort_bytes(ctx, s->text.n, 4) <= s->bytes - s->lists;
    return *listed ? ranks : keys;
}

lsp_status suffix_write_list(lsp_ctx *ctx, const sorting *s, rank_list list, int64_t n, uint32_t *ids, char *scratch) {
    const int bits = (int)lsp_max(lsp_bits((uint64_t)s->text.n - 1), 1);
    lsp_segsort_args part = suffix_sort_of(n, 1, sizeof *ids, list.id, list.rank);
    part.keys_out = ids, part.begin_bit = (int)lsp_max(bits - LIST_BITS, 0), part.end_bit = bits;
    LSP_TRY(suffix_run_sort(ctx, s, &part, scratch));
    if (list.rank == s->ranks) {
        LSP_TRY(lsp_cuda_copy(ctx, scratch, LSP_CUDA, s->ranks, LSP_CUDA, n * (int64_t)sizeof *ids));
        list.rank = (uint32_t *)scratch;
    }
    list.id = ids;
    return LSP_LAUNCH_EACH(ctx, kernel_write_list, n, TEXT_NT, list, n, s->ranks);
}

lsp_status suffix_write_all_ranks(lsp_ctx *ctx, sorting *s, bool listed) {
    lsp_layout l = layout_at(s->memory);
    s->ranks = take_words(&l, s->text.n);
    uint32_t *const keys = take_words(&l, s->text.n);
    if (listed) {
        return suffix_write_list(ctx, s, rank_list{s->order, s->ranks}, s->text.n, keys, s->memory + l.bytes);
    }
    return LSP_LAUNCH_EACH(ctx, kernel_write_list, s->text.n, TEXT_NT, rank_list{s->order, keys}, s->text.n, s->ranks);
}
