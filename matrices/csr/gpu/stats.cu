/* Statistics of a matrix on the GPU. A pass over the entries collects what each row needs in scratch, a pass over the
 * rows sums it up. All facts are whole numbers, so they are the host's in any order; a block collects them in shared
 * memory first. */
#include "entries.cuh"
#include "kernel_words.cuh"
#include "matrices/csr/facts.h"

/* ---- lengths of rows ---- */

static __global__ void kernel_lengths(gpu_csr A, ull *facts) {
    __shared__ ull mine[WORDS];
    ull longest = 0, shortest = 0;
    wide_sum squares = 0;
    clear_facts(mine);
    EACH_ITEM(i, A.rows, NT) {
        const ull length = (ull)(rowptr_at(A, i + 1) - rowptr_at(A, i));
        longest = longest > length ? longest : length;
        shortest = shortest > ~length ? shortest : ~length;
        squares += (wide_sum)length * length;
        atomicAdd(&mine[HISTOGRAM + (length == 0 ? 0 : 64 - __clzll((long long)length))], 1ull);
    }
    give_sum(mine, SQUARES, squares);
    atomicMax(&mine[LONGEST], longest);
    atomicMax(&mine[SHORTEST], shortest);
    give_facts(mine, facts);
}

/* ---- entries ---- */

/* What the entries tell about their row. */
typedef struct row_notes {
    ull *products;   /* multiplications of the row in A*A; NULL unless A is square */
    uint32_t *flags; /* FELL, and OVER if `products` passed 2^64 */
} row_notes;
enum { FELL = 1, OVER = 2 };

static __device__ void add_products(const row_notes &notes, int64_t i, ull count) {
    const ull before = atomicAdd(&notes.products[i], count);
    if (before + count < before) {
        atomicOr(&notes.flags[i], (uint32_t)OVER);
    }
}

typedef struct entry_facts {
    ull diagonal, repeats, zeros, infinite;
    int64_t lower, upper;
} entry_facts;

static __device__ void take_entry(const gpu_csr &A, int64_t k, int64_t i, const row_notes &notes, entry_facts *f) {
    const int64_t j = col_at(A, k), before = k > rowptr_at(A, i) ? col_at(A, k - 1) : -1;
    f->diagonal += i == j;
    f->lower = f->lower > i - j ? f->lower : i - j;
    f->upper = f->upper > j - i ? f->upper : j - i;
    f->repeats += j <= before;
    if (j < before) {
        atomicOr(&notes.flags[i], (uint32_t)FELL);
    }
    if (A.val_type != LSP_NONE) {
        const lsp_value v = value_at(A, k);
        f->zeros += v.re == 0 && v.im == 0;
        f->infinite += !isfinite(v.re) || !isfinite(v.im);
    }
}

/* The products of a tile's entries: one addition if all are in one row, as in a long row. */
static __device__ void take_products(const gpu_csr &A, const entry_tile &tile, const row_notes &notes) {
    ull sum = 0;
    for (int64_t k = tile.first + lane_of(); k < tile.end; k += 32) {
        const int64_t j = col_at(A, k);
        const ull count = (ull)(rowptr_at(A, j + 1) - rowptr_at(A, j));
        if (tile.low == tile.high) {
            sum += count;
        } else if (count > 0) {
            add_products(notes, row_of(A, k, tile.low, tile.high), count);
        }
    }
    sum = warp_sum(sum);
    if (lane_of() == 0 && sum > 0) {
        add_products(notes, tile.low, sum);
    }
}

static __global__ void kernel_entries(gpu_csr A, row_notes notes, ull *facts) {
    __shared__ ull mine[WORDS];
    entry_facts f = {};
    clear_facts(mine);
    EACH_TILE(at, A.nnz) {
        const entry_tile tile = tile_at(A, at);
        for (int64_t k = tile.first + lane_of(); k < tile.end; k += 32) {
            take_entry(A, k, row_of(A, k, tile.low, tile.high), notes, &f);
        }
        if (notes.products) {
            take_products(A, tile, notes);
        }
    }
    atomicAdd(&mine[DIAGONAL], f.diagonal);
    atomicAdd(&mine[REPEATS], f.repeats);
    atomicAdd(&mine[ZEROS], f.zeros);
    atomicAdd(&mine[INFINITE], f.infinite);
    atomicMax(&mine[LOWER], (ull)f.lower);
    atomicMax(&mine[UPPER], (ull)f.upper);
    give_facts(mine, facts);
}

/* Sums up what the entries told about their rows. */
static __global__ void kernel_notes(int64_t rows, int64_t cols, row_notes notes, ull *facts) {
    __shared__ ull mine[WORDS];
    wide_sum products = 0, bound = 0;
    ull falling = 0;
    clear_facts(mine);
    EACH_ITEM(i, rows, NT) {
        const uint32_t flags = notes.flags[i];
        falling += flags & FELL ? 1 : 0;
        if (notes.products) {
            const bool over = (flags & OVER) || notes.products[i] > (ull)INT64_MAX;
            const ull count = over ? (ull)INT64_MAX : notes.products[i];
            products += count;
            bound += count < (ull)cols ? count : (ull)cols;
        }
    }
    atomicAdd(&mine[FALLING], falling);
    give_sum(mine, PRODUCTS, products);
    give_sum(mine, BOUND, bound);
    give_facts(mine, facts);
}

/* ---- the host's side ---- */

/* A sum of two words, or INT64_MAX if that is less. */
static int64_t bounded(const ull *words) {
    return words[1] != 0 || words[0] > (ull)INT64_MAX ? INT64_MAX : (int64_t)words[0];
}

static void read_facts(const lsp_csr *A, const ull *words, lsp_csr_row_facts *facts) {
    lsp_csr_stats *s = &facts->stats;
    *s = {};
    for (int i = 0; i < 64; i++) {
        s->histogram[i] = (int64_t)words[HISTOGRAM + i];
    }
    s->empty_rows = s->histogram[0];
    s->min_row = A->rows > 0 ? (int64_t)~words[SHORTEST] : 0;
    s->max_row = (int64_t)words[LONGEST];
    s->lower_bandwidth = (int64_t)words[LOWER];
    s->upper_bandwidth = (int64_t)words[UPPER];
    s->diagonal = (int64_t)words[DIAGONAL];
    s->unsorted_rows = (int64_t)words[FALLING];
    s->zeros = (int64_t)words[ZEROS];
    s->not_finite = (int64_t)words[INFINITE];
    s->square = A->rows == A->cols;
    s->products = s->square ? bounded(words + PRODUCTS) : -1;
    s->product_nnz_bound = s->square ? bounded(words + BOUND) : -1;
    facts->squares[0] = words[SQUARES];
    facts->squares[1] = words[SQUARES + 1];
    facts->strict = words[REPEATS] == 0;
}

/* Fewer blocks than items would allow: each gives its facts to the grid by atomics. */
static int64_t blocks_for_facts(int64_t items) { return lsp_blocks_upto(items, NT * 4, 1 << 11); }

extern "C" lsp_status lsp_csr_row_facts_cuda(lsp_ctx *ctx, const lsp_csr *A, lsp_csr_row_facts *facts) {
    LSP_SCRATCH_SCOPE(ctx);
    ull *there = NULL, words[WORDS];
    row_notes notes = {};
    gpu_csr seen = view(A);
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, WORDS, &there));
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, A->rows, &notes.flags));
    if (A->rows == A->cols) {
        LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, A->rows, &notes.products));
    }
    LSP_TRY(find_tile_rows(ctx, &seen));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_lengths, blocks_for_facts(A->rows), NT, 0, seen, there));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_entries, blocks_for_facts(A->nnz), NT, 0, seen, notes, there));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_notes, blocks_for_facts(A->rows), NT, 0, A->rows, A->cols, notes, there));
    LSP_TRY(lsp_cuda_read(ctx, words, there, sizeof words));
    read_facts(A, words, facts);
    return LSP_OK;
}

extern "C" lsp_status lsp_csr_column_facts_cuda(lsp_ctx *ctx, const lsp_csr *T, lsp_csr_stats *stats) {
    LSP_SCRATCH_SCOPE(ctx);
    ull *there = NULL, words[WORDS];
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, WORDS, &there));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_lengths, blocks_for_facts(T->rows), NT, 0, view(T), there));
    LSP_TRY(lsp_cuda_read(ctx, words, there, sizeof words));
    stats->empty_cols = (int64_t)words[HISTOGRAM];
    stats->max_col = (int64_t)words[LONGEST];
    return LSP_OK;
}
