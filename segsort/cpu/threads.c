/* The segmented sort by threads. Threads take blocks of segments in turn; a block has about BLOCK items plus segments,
 * so all blocks cost about the same. Each thread has its own workspace. Giants follow, each sorted by all threads
 * (cpu/giants.c). */
#include "core/isa.h"
#include "core/layout.h"
#include "job.h"

enum {
    GIANT = 1 << 18,       /* items; all threads share a longer segment */
    BLOCK = 1 << 14,       /* items plus segments that a thread takes at a time */
    STEP = 32,             /* segments; blocks end at multiples of this */
    WORTH_A_THREAD = 4096, /* items plus segments */
    WORKSPACE_ALIGN = 64   /* bytes: a cache line */
};

const lsp_segsort_kernels *lsp_segsort_get_kernels(const lsp_ctx *ctx) {
    return LSP_ISA_PICK(ctx->isa, lsp_segsort_kernels)();
}

/* ---- blocks of segments ---- */

/* The first step with a prefix sum of at least `weight`. */
static int64_t step_of_weight(const lsp_sort_job *job, int64_t weight) {
    return LSP_FIRST(0, job->steps, step, job->weight[step] >= weight);
}

/* Notes the changes of the key in segments first .. last-1, which are sorted. */
static void mark_changes(const lsp_sort_job *job, int64_t first, int64_t last) {
    const lsp_segsort_args *args = job->sort.args;
    for (int64_t s = first; s < last; s++) {
        int64_t begin, end;
        lsp_segsort_bounds(args, s, &begin, &end);
        if (end - begin <= job->sort.giant) {
            int64_t count = job->kernels->changes(&job->sort, begin, begin, end, args->change, args->change_at, begin);
            if (args->change_count) {
                lsp_index_set(args->change_count, args->offset_type, s, count);
            }
        }
    }
}

/* A segment belongs to the block in which its step begins. */
static void sort_some_segments(void *data, int64_t block, int thread) {
    const lsp_sort_job *job = data;
    const int64_t segments = job->sort.args->segments;
    const int64_t first = lsp_min(step_of_weight(job, block * BLOCK) * STEP, segments);
    const int64_t last = lsp_min(step_of_weight(job, (block + 1) * BLOCK) * STEP, segments);
    job->kernels->segments(&job->sort, &job->workspace[thread], first, last);
    if (job->changes) {
        mark_changes(job, first, last);
    }
}

/* ---- lengths of segments ---- */

static void set_sort_threads(const lsp_ctx *ctx, lsp_sort_job *job) {
    job->threads = lsp_threads_for(ctx, job->sort.args->n + job->sort.args->segments, WORTH_A_THREAD);
    job->giant = job->threads > 1 ? GIANT : INT64_MAX;
    job->whole_longest = lsp_sort_whole_longest(job->sort.args->first, job->sort.args->n);
    job->sort.giant = lsp_min(job->giant, job->whole_longest);
}

typedef struct step_facts {
    int64_t longest, capacity, weight; /* as in lsp_sort_job, of one step */
} step_facts;

/* `args` by value: the compiler then knows the form of segments where the caller fixes it. */
static inline step_facts inspect_lengths(lsp_segsort_args args, int64_t step, int64_t giant) {
    step_facts facts = {0};
    int64_t last = lsp_min((step + 1) * STEP, args.segments);
    for (int64_t s = step * STEP; s < last; s++) {
        int64_t begin, end;
        lsp_segsort_bounds(&args, s, &begin, &end);
        int64_t length = end - begin, small = length <= giant ? length : 0;
        facts.longest = lsp_max(facts.longest, length);
        facts.capacity = lsp_max(facts.capacity, small);
        facts.weight += small + 1;
    }
    return facts;
}

/* Begin offsets alone, the usual form, take a shorter loop. For 64-bit ones that loop only ORs all lengths: a result of
 * at most `seen`, the longest length so far, proves that no length of this step exceeds it. Most steps end there. */
static step_facts inspect_step(const lsp_segsort_args *args, int64_t step, int64_t giant, int64_t seen) {
    lsp_segsort_args usual = {.offsets = args->offsets, .segments = args->segments, .offset_type = LSP_I64};
    if (args->offsets == NULL || args->ends != NULL) {
        return inspect_lengths(*args, step, giant);
    }
    if (args->offset_type == LSP_I32) {
        usual.offset_type = LSP_I32;
        return inspect_lengths(usual, step, giant);
    }
    const int64_t *offsets = args->offsets, first = step * STEP, last = lsp_min(first + STEP, args->segments);
    int64_t bits = 0;
    for (int64_t s = first; s < last; s++) {
        bits |= offsets[s + 1] - offsets[s];
    }
    if (bits <= lsp_min(seen, giant)) {
        return (step_facts){.weight = offsets[last] - offsets[first] + last - first};
    }
    return inspect_lengths(usual, step, giant);
}

typedef struct inspection {
    const lsp_sort_job *job;
    step_facts *found; /* one for each share */
} inspection;

static void inspect_share(const void *data, const lsp_sort_share *share) {
    const inspection *inspected = data;
    const lsp_sort_job *job = inspected->job;
    step_facts all = {0};
    for (int64_t step = share->begin; step < share->end; step++) {
        const step_facts facts = inspect_step(job->sort.args, step, job->sort.giant, all.capacity);
        all.longest = lsp_max(all.longest, facts.longest);
        all.capacity = lsp_max(all.capacity, facts.capacity);
        job->weight[step + 1] = facts.weight;
    }
    inspected->found[share->number] = all;
}

/* Reads all lengths: the longest ones and the weights of steps, from which the blocks follow. */
static lsp_status inspect_segments(lsp_ctx *ctx, lsp_sort_job *job) {
    inspection inspected = {.job = job};
    set_sort_threads(ctx, job);
    job->steps = lsp_ceil_div(job->sort.args->segments, STEP);
    const int64_t shares = lsp_min(job->threads, job->steps);
    LSP_TRY(LSP_SCRATCH(ctx, job->steps + 1, &job->weight));
    LSP_TRY(LSP_SCRATCH(ctx, shares, &inspected.found));
    lsp_sort_by_shares(job, job->steps, shares, inspect_share, &inspected);
    for (int64_t share = 0; share < shares; share++) {
        job->longest = lsp_max(job->longest, inspected.found[share].longest);
        job->capacity = lsp_max(job->capacity, inspected.found[share].capacity);
    }
    lsp_prefix_sum(ctx, job->weight, job->steps);
    return LSP_OK;
}

/* ---- workspace ---- */

/* Lays out the arrays of a choice with room for that many candidates. */
static lsp_sort_chosen lay_out_chosen(const lsp_sort_job *job, lsp_layout *l, int64_t room) {
    const int64_t first = room > 0 ? job->sort.args->first : 0;
    lsp_sort_chosen c = {.room = room};
    for (int i = 0; i < 3; i++) {
        c.keys[i] = lsp_layout_take(l, room, (int64_t)job->sort.key_bytes);
        c.places[i] = lsp_layout_take(l, room, sizeof(int64_t));
    }
    c.values = lsp_layout_take(l, first, (int64_t)job->sort.value_bytes);
    return c;
}

/* Lays out what the threads need to choose first items: each its own, and all together for a giant. */
static void lay_out_choice(lsp_sort_job *job, lsp_layout *l) {
    const bool alone = job->longest > job->whole_longest, shared = alone && job->longest > job->giant;
    const int64_t first = job->sort.args->first, extra = lsp_min(job->longest / 8, first + SORT_CHOICE_ROOM);
    for (int t = 0; alone && t <= job->threads; t++) {
        const int64_t shares = shared ? lsp_sort_choice_shares(job->threads, job->longest, first) : 0;
        const lsp_sort_chosen c =
            lay_out_chosen(job, l, t < job->threads ? 2 * first + extra + SORT_CHOICE_PART : shares * first);
        if (job->chosen) {
            job->chosen[t] = c;
        }
    }
}

/* Lays out the workspaces of all threads and the spare arrays for giants. */
static void lay_out_workspaces(lsp_sort_job *job, lsp_layout *l) {
    const lsp_segsort_args *args = job->sort.args;
    const int64_t key_bytes = (int64_t)job->sort.key_bytes, value_bytes = (int64_t)job->sort.value_bytes;
    const int64_t network = lsp_min(job->longest, SORT_NETWORK), words = network + LSP_WORD_PAD;
    const int64_t whole = lsp_min(job->longest, job->whole_longest), giant = whole > job->capacity ? whole : 0;
    const bool chooses = job->longest > job->whole_longest; /* then places are values too */
    const bool far = job->longest >= SORT_FAR;              /* then scatters go by lines and use the near arrays */
    const int64_t near = far ? SORT_NEAR : 0, lines = far ? SORT_LINE << SORT_FAR_DIGIT : 0;
    for (int t = 0; t < job->threads; t++) {
        lsp_sort_workspace w = {.near = near};
        w.words = lsp_layout_take(l, words, sizeof *w.words);
        w.more_words = lsp_layout_take(l, words, sizeof *w.more_words);
        w.keys_copy = lsp_layout_take(l, network, key_bytes);
        w.values_copy =
            lsp_layout_take(l, network, chooses ? lsp_max(value_bytes, (int64_t)sizeof(int64_t)) : value_bytes);
        w.keys_near = lsp_layout_take(l, near, key_bytes);
        w.values_near = lsp_layout_take(l, near, value_bytes);
        w.lines = lsp_layout_take(l, lines, key_bytes + value_bytes);
        w.keys_spare = lsp_layout_take(l, job->capacity, key_bytes);
        w.values_spare = lsp_layout_take(l, job->capacity, value_bytes);
        w.lines = far ? w.lines : NULL;
        w.values_spare = value_bytes > 0 ? w.values_spare : NULL;
        if (job->workspace) {
            job->workspace[t] = w;
        }
    }
    job->keys_spare = lsp_layout_take(l, giant, key_bytes);
    job->values_spare = lsp_layout_take(l, giant, value_bytes);
    job->values_spare = value_bytes > 0 ? job->values_spare : NULL;
    lay_out_choice(job, l);
    job->change = lsp_layout_take(l, args->group_at && !args->change ? args->n : 0, 1);
}

/* The bytes that lay_out_workspaces needs; false if no int64 holds them. */
static bool workspace_bytes(lsp_sort_job *job, int64_t *bytes) {
    lsp_layout l = {.align = WORKSPACE_ALIGN};
    lay_out_workspaces(job, &l);
    *bytes = l.bytes;
    return !l.overflow;
}

static bool workspaces_bytes(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, int64_t *bytes) {
    lsp_sort_job job = {
        .longest = longest,
        .sort = {.args = args, .key_bytes = lsp_type_bytes(args->key_type), .value_bytes = args->value_bytes}};
    set_sort_threads(ctx, &job);
    job.capacity = lsp_min(longest, job.sort.giant);
    return workspace_bytes(&job, bytes);
}

static lsp_status make_workspace(lsp_ctx *ctx, lsp_sort_job *job) {
    const bool giants = job->longest > job->capacity;
    int64_t bytes;
    lsp_layout l = {.align = WORKSPACE_ALIGN};
    LSP_REQUIRE(workspace_bytes(job, &bytes), LSP_ERR_MEMORY, "a segment of %lld items cannot be sorted in any memory",
                (long long)job->longest);
    LSP_TRY(LSP_SCRATCH(ctx, job->threads, &job->workspace));
    LSP_TRY(LSP_SCRATCH(ctx, job->longest > job->whole_longest ? job->threads + 1 : 0, &job->chosen));
    LSP_TRY(LSP_SCRATCH(ctx, giants ? job->threads : 0, &job->next));
    LSP_TRY(LSP_SCRATCH(ctx, giants ? job->threads : 0, &job->ranges));
    LSP_TRY(LSP_SCRATCH(ctx, giants || job->sort.args->group_at ? job->threads + 1 : 0, &job->sums));
    LSP_TRY(LSP_SCRATCH(ctx, bytes, &l.memory));
    lay_out_workspaces(job, &l);
    return LSP_OK;
}

/* ---- the device ---- */

static lsp_status longest_on_host(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t *longest) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_sort_job job = {.ctx = ctx, .sort = {.args = args}};
    LSP_TRY(inspect_segments(ctx, &job));
    *longest = job.longest;
    return LSP_OK;
}

/* Takes its scratch itself. The longest segment, which decides its size, is found on the way. */
static lsp_status sort_by_threads(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, void *scratch,
                                  int split_bits) {
    lsp_segsort_args marked = *args;
    LSP_SCRATCH_SCOPE(ctx);
    size_t key_bytes = lsp_type_bytes(args->key_type);
    lsp_sort_job job = {.ctx = ctx,
                        .kernels = LSP_ISA_PICK(ctx->isa, lsp_sort_kernels)(key_bytes == 8),
                        .changes = args->change || args->change_at || args->change_count || args->group_at,
                        .sort = {.args = &marked,
                                 .order = lsp_segsort_order(args),
                                 .key_bytes = key_bytes,
                                 .value_bytes = args->value_bytes,
                                 .positions = (args->flags & (LSP_SORT_POSITIONS | LSP_SORT_GLOBAL_POSITIONS)) != 0,
                                 .global = (args->flags & LSP_SORT_GLOBAL_POSITIONS) != 0}};
    (void)longest, (void)scratch, (void)split_bits;
    LSP_TRY(inspect_segments(ctx, &job));
    LSP_TRY(make_workspace(ctx, &job));
    marked.change = args->group_at && !args->change ? job.change : args->change;
    lsp_for_parts(ctx, lsp_ceil_div(job.weight[job.steps], BLOCK), job.threads, sort_some_segments, &job);
    lsp_sort_giants(&job);
    lsp_sort_firsts(&job);
    if (args->group_at) {
        lsp_sort_groups(&job);
    }
    return LSP_OK;
}

const lsp_segsort_device lsp_segsort_cpu = {.method = "cpu",
                                            .place = "the host",
                                            .bytes = workspaces_bytes,
                                            .longest = longest_on_host,
                                            .run = sort_by_threads};
