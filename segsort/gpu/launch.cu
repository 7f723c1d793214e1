/* The segmented sort on a GPU: lays out scratch and starts the kernels one after the other on the context's stream. The
 * first kernel sorts short segments and lists the others; giants are split into buckets, which join the lists; the
 * lists are sorted, long segments first; changes of the key are found last. The host never waits and reads nothing
 * back, so a plan can be captured in a CUDA graph. */
#include "core/launch.cuh"
#include "core/layout.h"
#include "kernel_changes.cuh"
#include "kernel_classes.cuh"
#include "kernel_giants.cuh"
#include "kernel_groups.cuh"
#include "kernel_list_few.cuh"
#include "kernel_select.cuh"
#include "kernel_small.cuh"
#include "kernel_tile.cuh"

enum {
    TILE_SHARED_BYTES = 27 << 10, /* a block of the tile kernel: TILE_BLOCKS fit. Tuned on an H200 */
    FEW_OF_ONE = 4,               /* times as many items are few in one segment. Tuned on an H200 */
    FEW_SEGMENTS = 1 << 11,       /* few items: from this many segments on, a narrow kernel sorts short ones */
    FEW_LONGEST_MEAN = 256,       /* items: longest mean length of segments with which it does so */
    SCRATCH_ALIGN = 256           /* bytes */
};

/* ---- scratch ---- */

/* Are there few items in all? Then latency decides: few kernels with little code are best. The buckets of one segment
 * have similar lengths, and most kernels would find nothing: so it is for more items. */
static bool are_few(lsp_ctx *ctx, const lsp_segsort_args *args) {
    return args->n / (args->segments == 1 ? FEW_OF_ONE : 1) <= lsp_segsort_table_of(ctx)->few_items;
}

/* The first class that the kernel for few items sorts. Many short segments are better sorted with fewer lanes each, by
 * one more kernel, which takes the classes below. */
static int few_first(const lsp_segsort_args *args, int64_t select_from) {
    int64_t mean = args->n / lsp_max(args->segments, 1);
    if (mean > select_from) { /* then of the items that are kept */
        mean = (int64_t)(select_share(mean, args->first, (mean > SELECT_LONG ? 4 : 1) * SELECT_NT) * (float)mean);
    }
    return args->segments >= FEW_SEGMENTS && mean > TILE_LONGEST / 2 && mean <= FEW_LONGEST_MEAN ? (int)NARROW_CLASS
                                                                                                 : 0;
}

/* The table for this sort. If items are few, only the last of the classes with equal numbers of lanes is used. */
static lsp_segsort_table table_for(lsp_ctx *ctx, const lsp_segsort_args *args, bool few, int64_t select_from) {
    lsp_segsort_table table = *lsp_segsort_table_of(ctx);
    const int first = few_first(args, select_from), classes = few ? (int)LARGE_CLASS : 0;
    for (int c = 0; c < classes; c++) {
        const bool last = c == LARGE_CLASS - 1 || c == first - 1 || (c >= first && few_lanes(c) < few_lanes(c + 1));
        table.class_longest[c] = last ? lsp_segsort_class_most(c) : c > 0 ? table.class_longest[c - 1] : 0;
    }
    return table;
}

/* The shortest segment that a class takes; 0: the class is not used. Buckets of giants may have any length. */
static int class_shortest(const lsp_segsort_table *table, int c, bool giants) {
    const int before = c > 0 ? table->class_longest[c - 1] : 0, floor = giants ? 0 : table->tile_longest;
    return table->class_longest[c] > lsp_max(before, floor) ? (int)lsp_max(before, floor) + 1 : 0;
}

/* The longest segment that is not made a giant at once: LARGE_LONGEST if shared memory holds it, else LIST_LONGEST.
 * With few items such segments are rare, and starting their kernels for nothing would cost more than they gain. */
static int large_longest(lsp_ctx *ctx, const lsp_segsort_args *args) {
    const int item_bytes = group_item_bytes((int)lsp_type_bytes(args->key_type), (int)args->value_bytes);
    const bool fit = group_bytes<32, GROUP_LARGE>(group_fewest(32, GROUP_LARGE), item_bytes) + 1024 <=
                     lsp_cuda_get_chip(ctx)->shared_block_bytes;
    const int64_t mean = args->n / lsp_max(args->segments, 1);
    const bool rare = are_few(ctx, args) && (mean <= LIST_LONGEST || mean > LARGE_LONGEST);
    return fit && !rare ? (int)LARGE_LONGEST : (int)LIST_LONGEST;
}

/* How a sort is done. A call finds it once: making the table takes a tenth of the time of a small sort. */
typedef struct sort_choice {
    bool small, few, list_few; /* one kernel sorts all; few are to be sorted; one block lists all */
    bool giants;               /* there can be giants */
    int64_t select_from;       /* longer segments are selected from; INT64_MAX: none */
    lsp_segsort_table table;   /* if `small`, without the changes of table_for: no kernel reads the limits of classes */
} sort_choice;

/* list_few: items and segments are so few that one block lists all faster than a tile kernel sorts the short ones. */
static sort_choice choose_kernels(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest) {
    sort_choice choice;
    choice.small = args->n <= lsp_segsort_table_of(ctx)->small_items && small_fits(args, lsp_cuda_get_chip(ctx));
    choice.list_few = are_few(ctx, args) && !choice.small && args->segments <= LIST_FEW_SEGMENTS &&
                      args->n / lsp_max(args->segments, 1) > TILE_LONGEST && longest > TILE_LONGEST;
    const int64_t from = select_shortest(args, lsp_segsort_table_of(ctx));
    choice.select_from = !choice.small && longest > from ? from : INT64_MAX;
    choice.giants = longest > LIST_LONGEST && choice.select_from == INT64_MAX;
    const int64_t mean = args->n / lsp_max(args->segments, 1);
    choice.few = are_few(ctx, args) ||
                 (choice.select_from < INT64_MAX && mean > (args->offsets ? SELECT_TIMES : 1) * choice.select_from);
    choice.table = choice.small ? *lsp_segsort_table_of(ctx) : table_for(ctx, args, choice.few, choice.select_from);
    return choice;
}

/* The most entries of a class. shorts: entries of segments up to tile_longest, which only list_few lists. */
static int64_t class_entries(const lsp_segsort_args *args, const sort_choice *choice, int c, int64_t longest,
                             int64_t shorts) {
    const lsp_segsort_table *table = &choice->table;
    const bool selects = choice->select_from < INT64_MAX;
    const int shortest = class_shortest(table, c, choice->giants || selects);
    const int64_t whole = args->n / lsp_max(shortest, table->tile_longest + 1);
    if (shortest == 0 || shortest > longest) {
        return 0;
    }
    shorts += selects ? args->n / choice->select_from : shortest > table->tile_longest ? 0 : giants_short_entries(args);
    return lsp_min(args->n, whole + shorts);
}

/* The next `count` items of the scratch. */
template <typename T> static T *take_scratch(lsp_layout *l, int64_t count) {
    return (T *)lsp_layout_take(l, count, (int64_t)sizeof(T));
}

static void lay_out_scratch(lsp_ctx *ctx, const lsp_segsort_args *args, const sort_choice *choice, int64_t longest,
                            lsp_layout *l, seg_job *job) {
    const bool selects = choice->select_from < INT64_MAX;
    const int64_t n = args->n;
    const bool changes = args->change || args->change_at || args->change_count || args->group_at;
    if (!choice->small || changes) {
        job->counters = take_scratch<seg_counters>(l, 1);
    }
    if (changes) {
        job->changes = take_scratch<ull>(l, changes_words(args));
    }
    if (args->group_at) {
        job->groups = take_scratch<ull>(l, 1 + group_chunks(n));
        job->change = args->change ? args->change : take_scratch<unsigned char>(l, n);
    }
    if (choice->small) {
        return;
    }
    const int64_t shorts = choice->list_few ? args->segments : 0;
    for (int c = 0; c < LIST_CLASSES; c++) {
        job->list[c] = take_scratch<ull>(l, class_entries(args, choice, c, longest, shorts));
    }
    const size_t key_bytes = lsp_type_bytes(args->key_type);
    if (choice->giants || selects) {
        job->arrays[FROM_TEMPORARY].keys = lsp_layout_take(l, n, (int64_t)key_bytes);
        job->arrays[FROM_TEMPORARY].values = lsp_layout_take(l, n, (int64_t)args->value_bytes);
    }
    if (selects) {
        const int team = select_team(n, args->segments);
        job->select_unit = select_unit(n, team, lsp_cuda_get_chip(ctx)->sms);
        const int64_t units = select_most_units(n, choice->select_from, job->select_unit);
        job->units = take_scratch<seg_unit>(l, units);
        job->units_done = take_scratch<unsigned>(l, units);
        job->part_counts = take_scratch<int64_t>(l, units * team);
    }
    if (choice->giants) {
        job->giants[0] = take_scratch<seg_giant>(l, giants_most(n));
        job->giants[1] = take_scratch<seg_giant>(l, giants_most(n));
        const int sms = lsp_cuda_get_chip(ctx)->sms;
        job->giant_tile = giants_tile(n, key_bytes, args->value_bytes, sms);
        const int64_t tiles = giants_tiles(n, job->giant_tile);
        job->tiles = take_scratch<split_tile>(l, tiles);
        job->row_bits = lsp_split_most(args);
        const int64_t blocks = lsp_min(giants_blocks(n, job->giant_tile), SPLIT_BLOCKS * sms);
        job->counts = take_scratch<int64_t>(l, 2 * blocks << job->row_bits);
        job->rows = take_scratch<uint32_t>(l, (tiles + 2 * giants_most(n)) << job->row_bits);
    }
}

static bool device_scratch_bytes(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, int64_t *bytes) {
    lsp_layout l = {NULL, SCRATCH_ALIGN, 0, false};
    const sort_choice choice = choose_kernels(ctx, args, longest);
    seg_job job;
    lay_out_scratch(ctx, args, &choice, longest, &l, &job);
    *bytes = l.bytes;
    return !l.overflow;
}

/* ---- kernels ---- */

/* Segments in a row: as many as nearly always fit in shared memory together, by their mean length, but few enough that
 * all multiprocessors have rows. */
static int tile_row_segments(const seg_job *job, int sms, int item_bytes) {
    const int64_t whole = TILE_SHARED_BYTES / (item_bytes + 4) * 9 / 10, share = job->segments / (TILE_BLOCKS * sms);
    int64_t row =
        job->n / job->segments > TILE_LONGEST ? (int64_t)TILE_ROW : whole * job->segments / lsp_max(job->n, 1);
    row = lsp_min(row, lsp_max(share, (int64_t)WARP));
    return (int)lsp_max(lsp_min(row, (int64_t)TILE_ROW) / TILE_EACH * TILE_EACH, (int64_t)WARP);
}

template <typename KK> static lsp_status start_tile(lsp_ctx *ctx, const seg_job *job) {
    const int item_bytes = (int)sizeof(typename KK::K) + (job->positions ? 0 : job->value_bytes);
    const int row = tile_row_segments(job, lsp_cuda_get_chip(ctx)->sms, item_bytes);
    const int capacity = tile_capacity(row, TILE_SHARED_BYTES, item_bytes);
    const int bytes = tile_bytes(row, capacity, item_bytes);
    const uintptr_t begins = (uintptr_t)job->arrays[FROM_INPUT].keys | (uintptr_t)job->arrays[FROM_INPUT].values;
    return LSP_LAUNCH(ctx, kernel_tile<KK>, lsp_ceil_div(job->segments, row), TILE_NT, bytes, *job, row, capacity,
                      begins % 16 == 0);
}

/* Starts the kernel of the classes with VT words per lane. These kernels are independent: each but the first may begin
 * while the one before still runs. */
template <int VT, int WIDE, typename KK>
static lsp_status start_kernel(lsp_ctx *ctx, const seg_job *job, bool *beside) {
    const lsp_cuda_chip *chip = lsp_cuda_get_chip(ctx);
    const int nt = group_threads(VT, WIDE);
    const int G = group_fewest(VT, WIDE); /* the most groups, which take the most shared memory */
    const int bytes = nt / G * group_bytes<VT, WIDE>(G, group_item_bytes(sizeof(typename KK::K), job->value_bytes));
    const int64_t resident =
        lsp_min(group_blocks(VT, WIDE, sizeof(typename KK::K)), chip->shared_sm_bytes / (bytes + 1024)) * chip->sms;
    const int64_t useful = lsp_ceil_div(job->n, TILE_LONGEST); /* no more blocks than there can be entries */
    void (*kernel)(seg_job) = kernel_classes<VT, WIDE, KK>;
    LSP_TRY(lsp_allow_shared(ctx, kernel, (size_t)bytes));
    return LSP_LAUNCH_BESIDE(ctx, beside, kernel, lsp_min(resident, useful), nt, bytes, *job);
}

/* Can there be segments in the classes with VT words per lane? */
static bool has_classes(const lsp_segsort_table *table, const seg_job *job, int VT, int wide) {
    for (int c = classes_first(VT, wide); c <= classes_last(VT, wide); c += 4) {
        const int shortest = class_shortest(table, c, job->longest > LIST_LONGEST || job->select_from < INT64_MAX);
        if (shortest > 0 && shortest <= job->longest) {
            return true;
        }
    }
    return false;
}

template <int WIDE, typename KK, int VT, int... MORE>
static lsp_status start_classes(lsp_ctx *ctx, const seg_job *job, bool *beside) {
    if (has_classes(lsp_segsort_table_of(ctx), job, VT, WIDE)) {
        LSP_TRY((start_kernel<VT, WIDE, KK>(ctx, job, beside)));
    }
    if constexpr (sizeof...(MORE) > 0) {
        LSP_TRY((start_classes<WIDE, KK, MORE...>(ctx, job, beside)));
    }
    return LSP_OK;
}

/* Starts the kernels of all classes up to LIST_LONGEST, those of long segments first. */
template <typename KK> static lsp_status start_all_classes(lsp_ctx *ctx, const seg_job *job) {
    bool beside = false;
    if (job->few) { /* each further kernel costs a launch. The wide one, which often finds nothing, ends beside the
                       other */
        const bool narrow = job->few_first > 0, wide = job->longest > lsp_segsort_class_most(job->few_first - 1);
        LSP_TRY((narrow ? start_kernel<FEW_WORDS, GROUP_NARROW, KK>(ctx, job, &beside) : LSP_OK));
        return wide ? start_kernel<FEW_WORDS, GROUP_FEW, KK>(ctx, job, &beside) : LSP_OK;
    }
    LSP_TRY((start_classes<GROUP_WIDE, KK, 32, 16, 28, 24, 20>(ctx, job, &beside)));
    return start_classes<GROUP_NARROW, KK, 32, 28, 24, 20, 16, 12, 10>(ctx, job, &beside);
}

/* Starts the kernels of the classes above LIST_LONGEST. They sort segments that fall evenly into buckets, and make
 * giants of the others: so the giants' kernel comes after them. */
template <typename KK> static lsp_status start_large(lsp_ctx *ctx, const seg_job *job) {
    bool beside = false;
    if (job->large_longest > LIST_LONGEST && (job->segments > 1 || job->n <= LARGE_LONGEST)) {
        LSP_TRY((start_classes<GROUP_LARGE, KK, 32, 24>(ctx, job, &beside)));
    }
    return LSP_OK;
}

/* Starts all kernels of a sort. */
template <typename KK> static lsp_status start_kernels(lsp_ctx *ctx, const seg_job *job) {
    typedef typename KK::K K;
    const bool changes = job->change || job->change_at || job->change_count;
    if (((job->longest > job->tile_longest && !job->small) || changes) && !job->list_few) {
        LSP_TRY(lsp_cuda_clear(ctx, job->counters, sizeof(seg_counters)));
    }
    if (job->small) {
        LSP_TRY(start_small<KK>(ctx, job));
    } else {
        if (job->list_few) {
            LSP_TRY(LSP_LAUNCH(ctx, kernel_list_few, 1, LIST_FEW_NT, 0, *job));
        } else {
            LSP_TRY(start_tile<KK>(ctx, job));
        }
        if (job->select_from < INT64_MAX) {
            LSP_TRY(start_select<KK>(ctx, job));
        } else if (job->longest > LIST_LONGEST) {
            LSP_TRY(start_large<KK>(ctx, job));
            LSP_TRY(start_giants<KK>(ctx, job));
        }
        if (job->longest > job->tile_longest) {
            LSP_TRY(start_all_classes<KK>(ctx, job));
        }
    }
    if (changes) {
        LSP_TRY(start_changes<K>(ctx, job));
    }
    return LSP_OK;
}

/* Chooses the instance of the kernels for this kind of keys. */
static lsp_status start_sort_for(lsp_ctx *ctx, const seg_job *job, bool wide) {
    const uint64_t all = wide ? UINT64_MAX : UINT32_MAX;
    if (!job->order.is_float && job->order.keep == all) {
        return wide ? start_kernels<key_kind<ull, true>>(ctx, job) : start_kernels<key_kind<uint32_t, true>>(ctx, job);
    }
    return wide ? start_kernels<key_kind<ull, false>>(ctx, job) : start_kernels<key_kind<uint32_t, false>>(ctx, job);
}

static seg_job make_job(lsp_ctx *ctx, const lsp_segsort_args *args, const sort_choice *choice, int64_t longest) {
    seg_job job = {};
    job.n = args->n;
    job.segments = args->segments;
    job.length = args->length;
    job.longest = longest;
    job.first = args->first > 0 ? args->first : INT64_MAX;
    job.small = choice->small;
    job.few = choice->few;
    job.select_from = choice->select_from;
    job.written = choice->giants ? INT64_MAX : job.first;
    job.few_first = few_first(args, choice->select_from);
    job.large_longest = large_longest(ctx, args);
    job.list_few = choice->list_few;
    job.tile_longest = job.list_few ? 0 : choice->table.tile_longest;
    for (int c = 0; c < LIST_CLASSES; c++) {
        job.class_longest[c] = (uint16_t)choice->table.class_longest[c];
    }
    job.offsets = args->offsets;
    job.ends = args->ends;
    job.wide_offsets = args->offset_type == LSP_I64;
    job.positions = (args->flags & (LSP_SORT_POSITIONS | LSP_SORT_GLOBAL_POSITIONS)) != 0;
    job.global_positions = (args->flags & LSP_SORT_GLOBAL_POSITIONS) != 0;
    job.value_bytes = (int)args->value_bytes;
    job.order = lsp_segsort_order(args);
    job.arrays[FROM_INPUT].keys = (void *)args->keys;
    job.arrays[FROM_INPUT].values = (void *)args->values;
    job.arrays[FROM_OUTPUT].keys = args->keys_out;
    job.arrays[FROM_OUTPUT].values = args->values_out;
    job.change = args->change;
    job.change_at = args->change_at;
    job.change_count = args->change_count;
    job.group_at = args->group_at;
    job.group_count = args->group_count;
    job.fault = lsp_cuda_fault(ctx);
    return job;
}

static lsp_status sort_by_kernels(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, void *scratch,
                                  int split_bits) {
    lsp_layout l = {(char *)scratch, SCRATCH_ALIGN, 0, false};
    const sort_choice choice = choose_kernels(ctx, args, longest);
    seg_job job = make_job(ctx, args, &choice, longest);
    job.split_bits = split_bits;
    lay_out_scratch(ctx, args, &choice, longest, &l, &job);
    if (args->segments > 0) {
        LSP_TRY(start_sort_for(ctx, &job, lsp_type_bytes(args->key_type) == 8));
    }
    if (args->group_at) {
        LSP_TRY(start_groups(ctx, &job));
    }
    return LSP_OK;
}

/* ---- the longest segment ---- */

enum { LONGEST_NT = 256 };

static __global__ void kernel_longest(seg_job job, ull *longest) {
    ull most = 0;
    EACH_ITEM(s, job.segments, LONGEST_NT) {
        int64_t begin, end;
        segment_at(job, s, &begin, &end);
        most = max(most, (ull)(end - begin));
    }
    most = warp_max(most);
    if (threadIdx.x % WARP == 0 && most > 0) {
        atomicMax(longest, most);
    }
}

static lsp_status longest_on_device(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t *longest) {
    LSP_SCRATCH_SCOPE(ctx);
    ull *most = NULL;
    const sort_choice choice = choose_kernels(ctx, args, args->n);
    seg_job job = make_job(ctx, args, &choice, args->n);
    const int64_t blocks = lsp_blocks_for(ctx, args->segments, LONGEST_NT, 8);
    *longest = 0;
    if (args->segments == 0) {
        return LSP_OK;
    }
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &most));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_longest, blocks, LONGEST_NT, 0, job, most));
    return lsp_cuda_read(ctx, longest, most, sizeof *longest);
}

const lsp_segsort_device lsp_segsort_cuda = {"cuda",         "the GPU", true, device_scratch_bytes, longest_on_device,
                                             sort_by_kernels};
