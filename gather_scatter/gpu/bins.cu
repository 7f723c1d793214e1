/* A scatter through shared memory in one call: counts the elements of each bin, partitions them into bins, in one level
 * or two, and fills the bins as a plan does. */
#include "core/scan.h"
#include "kernel_partition.cuh"

enum {
    FILL_BLOCKS = 2,      /* of the kernel that fills bins, on a multiprocessor; one level has larger bins: 1 */
    ONE_LEVEL_BINS = 1024 /* up to this many bins are told apart at once: their runs have 14 elements and more */
};

static int fill_blocks(const part_job *p) { return p->groups > 0 ? FILL_BLOCKS : 1; }

static size_t part_shared(const part_job *p, size_t element_bytes) {
    const unsigned digits = p->groups > 0 ? (unsigned)lsp_max(p->groups, p->fan) : p->bins;
    const int level = p->groups > 0 ? PART_FIRST : PART_ONLY;
    return (size_t)part_chunk(level, element_bytes) * (element_bytes + 4) + (size_t)digits * 8;
}

static bool cut_by(lsp_ctx *ctx, const gather_move *move, size_t most_bytes, int blocks, part_job *p) {
    const unsigned most = gather_most_elements(ctx, most_bytes + 1, blocks);
    if (most == 0) {
        return false;
    }
    p->bin = gather_cut_by(gather_even_size(ctx, move->extent, most));
    p->bins = (unsigned)lsp_ceil_div(move->extent, p->bin.size);
    return true;
}

/* Chooses bins and levels: one level moves 44 bytes for an element of 8, two move 68. False: the chip has too little
 * shared memory, or numbers are too large. */
static bool cut_bins(lsp_ctx *ctx, const gather_move *move, size_t most_bytes, part_job *p) {
    const int64_t shared = lsp_cuda_get_chip(ctx)->shared_block_bytes - 1024;
    *p = part_job{};
    if (lsp_max(move->n, move->extent) > INT32_MAX || move->extent == 0 || move->n == 0 ||
        !cut_by(ctx, move, most_bytes, 1, p)) {
        return false;
    }
    p->n = move->n;
    p->extent = (unsigned)move->extent;
    p->index = move->index.at;
    p->fault = move->fault;
    p->gate = move->gate;
    if (p->bins <= ONE_LEVEL_BINS && (int64_t)part_shared(p, most_bytes) <= shared) {
        return true;
    }
    if (!cut_by(ctx, move, most_bytes, FILL_BLOCKS, p)) {
        return false;
    }
    while (p->fan * p->fan < p->bins) {
        p->fan++;
    }
    p->groups = (unsigned)lsp_ceil_div(p->bins, p->fan);
    p->group = gather_cut_by(p->bin.size * p->fan);
    return (int64_t)p->bins * 4 <= shared && (int64_t)part_shared(p, most_bytes) <= shared;
}

bool lsp_gather_bins_fit(lsp_ctx *ctx, const gather_move *move, size_t most_bytes) {
    part_job p;
    return cut_bins(ctx, move, most_bytes, &p);
}

/* Scratch for all columns. elements: [1] holds what the last level writes, [0] what the first of two does. */
static lsp_status take(lsp_ctx *ctx, size_t most_bytes, part_job *p, void *elements[2]) {
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, (int64_t)p->bins + 1, &p->begin));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, p->bins, &p->bin_next));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, p->n, &p->place_in_bin));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, p->n, most_bytes, &elements[1]));
    if (p->groups > 0) {
        LSP_TRY(LSP_SCRATCH_CUDA(ctx, p->groups, &p->group_next));
        LSP_TRY(LSP_SCRATCH_CUDA(ctx, (int64_t)p->groups + 1, &p->chunk_begin));
        LSP_TRY(LSP_SCRATCH_CUDA(ctx, p->n, &p->location));
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, p->n, most_bytes, &elements[0]));
    }
    return LSP_OK;
}

template <typename I> static lsp_status count_bins(lsp_ctx *ctx, const part_job *p) {
    const size_t shared = (size_t)p->bins * 4;
    void (*kernel)(part_job) = kernel_part_count<I>;
    LSP_TRY(lsp_cuda_clear(ctx, p->begin, ((int64_t)p->bins + 1) * (int64_t)sizeof *p->begin));
    LSP_TRY(lsp_allow_shared(ctx, kernel, shared));
    LSP_TRY(
        LSP_LAUNCH(ctx, kernel, lsp_blocks_for(ctx, p->n, PART_CHUNK, shared > 96 << 10 ? 1 : 2), PART_NT, shared, *p));
    return lsp_cuda_scan_async(ctx, p->begin + 1, p->bins, NULL);
}

template <typename V, typename I, int LEVEL>
static lsp_status start_level(lsp_ctx *ctx, const part_job *p, const void *from, void *to) {
    const size_t shared = part_shared(p, sizeof(V));
    const int64_t chunks = lsp_ceil_div(p->n, part_chunk(LEVEL, sizeof(V))) + (LEVEL == PART_SECOND ? p->groups : 0);
    void (*kernel)(part_job, const V *, V *) = kernel_partition<V, I, LEVEL>;
    LSP_TRY(lsp_allow_shared(ctx, kernel, shared));
    return LSP_LAUNCH(ctx, kernel, chunks, part_nt(LEVEL), shared, *p, (const V *)from, (V *)to);
}

template <typename V, typename I>
static lsp_status start(lsp_ctx *ctx, const part_job *p, const void *from, void *const elements[2]) {
    LSP_TRY(LSP_LAUNCH(ctx, kernel_part_begin, 1, PART_NT, 0, *p));
    if (p->groups == 0) {
        return start_level<V, I, PART_ONLY>(ctx, p, from, elements[1]);
    }
    LSP_TRY((start_level<V, I, PART_FIRST>(ctx, p, from, elements[0])));
    return start_level<V, int32_t, PART_SECOND>(ctx, p, elements[0], elements[1]);
}

template <typename I>
static lsp_status partition_by(lsp_ctx *ctx, const part_job *p, size_t bytes, const void *from,
                               void *const elements[2]) {
#define START(V) start<V, I>(ctx, p, from, elements)
    return GATHER_BY_UNIT(bytes, START);
#undef START
}

static lsp_status partition(lsp_ctx *ctx, const part_job *p, lsp_type index_type, size_t bytes, const void *from,
                            void *const elements[2]) {
#define START(I) partition_by<I>(ctx, p, bytes, from, elements)
    return GATHER_BY_INDEX(index_type, START);
#undef START
}

/* Takes scratch for all columns, and counts the elements of each bin. */
static lsp_status begin(lsp_ctx *ctx, const gather_move *move, size_t most_bytes, part_job *p, void *elements[2]) {
    (void)cut_bins(ctx, move, most_bytes, p);
    LSP_TRY(take(ctx, most_bytes, p, elements));
#define COUNT(I) count_bins<I>(ctx, p)
    LSP_TRY(GATHER_BY_INDEX(move->index.type, COUNT));
#undef COUNT
    return LSP_OK;
}

/* The bins that the last level has made, for the kernels that fill them. */
static gather_stage stage_of(const gather_move *move, const part_job *p, void *elements) {
    gather_stage stage = {};
    stage.dests = move->extent;
    stage.bins = p->bins;
    stage.sizes.bin = p->bin.size;
    stage.sizes.threads = 1024 / fill_blocks(p);
    stage.marks = true; /* some destinations may have no element, others two */
    stage.bin_begin = p->begin;
    stage.place_in_bin = p->place_in_bin;
    stage.staged = elements;
    stage.gate = move->gate;
    return stage;
}

/* Elements whose addresses are not multiples of their size go one by one. */
static lsp_status scatter_column(lsp_ctx *ctx, const gather_move *move, const part_job *p, void *const elements[2],
                                 const lsp_column *column) {
    gather_move one_by_one = *move;
    const gather_stage stage = stage_of(move, p, elements[1]);
    if (gather_unit(column) != column->bytes) {
        one_by_one.fault = NULL; /* the count of bins tells it */
        return lsp_gather_move(ctx, &one_by_one, column);
    }
    LSP_TRY(partition(ctx, p, move->index.type, column->bytes, column->from, elements));
    return lsp_gather_stage_fill(ctx, &stage, column->bytes, column);
}

lsp_status lsp_gather_bins_run(lsp_ctx *ctx, const gather_move *move, size_t most_bytes, const lsp_column *columns,
                               int64_t count) {
    LSP_SCRATCH_SCOPE(ctx);
    void *elements[2] = {NULL, NULL};
    part_job p;
    LSP_TRY(begin(ctx, move, most_bytes, &p, elements));
    for (int64_t c = 0; c < count; c++) {
        LSP_TRY(scatter_column(ctx, move, &p, elements, &columns[c]));
    }
    return LSP_OK;
}

lsp_status lsp_gather_bins_owners(lsp_ctx *ctx, const gather_move *move, int *owner) {
    LSP_SCRATCH_SCOPE(ctx);
    void *elements[2] = {NULL, NULL};
    gather_stage stage;
    part_job p;
    LSP_TRY(begin(ctx, move, sizeof *owner, &p, elements));
    stage = stage_of(move, &p, elements[1]);
    LSP_TRY(partition(ctx, &p, move->index.type, sizeof *owner, NULL, elements));
    return lsp_gather_stage_own(ctx, &stage, owner);
}
