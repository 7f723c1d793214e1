/* Chooses method, threads and capacity for C = A*B: a pure function of the facts; and whether a mask's entries are made
 * alone. */
#include "job.h"

#include <stdio.h>

enum { WINDOW_STEP = 64, ALIGNED_PARTS = 8 * 64, MOST_RANKS = 1 << 30 };

/* Bytes of scratch for one product of a sorted row, and for one column of a window. */
static int64_t sort_item(const lsp_spgemm_capacity *capacity) { return 2 * (int64_t)capacity->word_bytes + 4; }
static int64_t window_item(const lsp_spgemm_capacity *capacity) {
    return lsp_max((int64_t)capacity->value_bytes, 4) + 1;
}

/* Bytes of scratch of one thread. Both parts have MOST_RANKS items at most. */
static int64_t capacity_bytes(const lsp_spgemm_capacity *capacity) {
    const int64_t words = (capacity->sort_products + LSP_WORD_PAD) * sort_item(capacity);
    const int64_t sums = capacity->window_columns * window_item(capacity);
    return (words + sums + ALIGNED_PARTS) / 64 * 64; /* the share of each thread begins at a cache line */
}

/* Bytes of scratch of the reference: a place for each column, and three words for each entry of C's longest row, which
 * sorting takes. */
static int64_t reference_bytes(const lsp_spgemm_facts *facts) {
    const int64_t slots = lsp_spgemm_bytes(facts->cols, 8, ALIGNED_PARTS);
    return lsp_spgemm_bytes(lsp_min(facts->max_row_products, facts->cols), 32, slots);
}

/* The capacity with which every row can be made in the faster way. */
static lsp_spgemm_capacity ideal_capacity(const lsp_spgemm_facts *facts, lsp_type type) {
    lsp_spgemm_capacity capacity = {.sort_products = lsp_min(facts->sort_products, MOST_RANKS),
                                    .value_bytes = lsp_type_bytes(type)};
    int64_t columns_wanted = lsp_min(facts->window_columns, MOST_RANKS);
    capacity.window_columns = lsp_max(lsp_ceil_div(columns_wanted, WINDOW_STEP) * WINDOW_STEP, WINDOW_STEP);
    int slots = capacity.sort_products > 0 ? lsp_bits((uint64_t)capacity.sort_products - 1) : 0;
    int columns = facts->cols > 0 ? lsp_bits((uint64_t)(facts->cols - 1) | 1) : 0;
    capacity.word_bytes = lsp_word_bytes(lsp_word_kind(slots + columns));
    return capacity;
}

/* Halves the part that takes more bytes. False if rows would then be cut into more than about 256 pieces, which is too
 * slow to be useful. */
static bool halve(lsp_spgemm_capacity *capacity, const lsp_spgemm_facts *facts) {
    enum { MOST_PIECES = 256 };
    int64_t least_products = facts->sort_products / MOST_PIECES;
    int64_t least_columns = lsp_max(facts->window_columns / MOST_PIECES / WINDOW_STEP * WINDOW_STEP, WINDOW_STEP);
    int64_t sort_bytes = capacity->sort_products * sort_item(capacity),
            window_bytes = capacity->window_columns * window_item(capacity);
    bool can_sort = capacity->sort_products > least_products, can_window = capacity->window_columns > least_columns;
    if (can_sort && (sort_bytes >= window_bytes || !can_window)) {
        capacity->sort_products = lsp_max(capacity->sort_products / 2, least_products);
    } else if (can_window) {
        capacity->window_columns = lsp_max(capacity->window_columns / 2 / WINDOW_STEP * WINDOW_STEP, least_columns);
    }
    return can_sort || can_window;
}

bool lsp_spgemm_choose(const lsp_spgemm_facts *facts, lsp_spgemm_method asked, lsp_type type, int threads,
                       int64_t available, lsp_spgemm_choice *choice) {
    const int64_t half = facts->products / 2 + facts->rows / 2;
    const bool alone = facts->products <= LSP_ALONE && facts->rows <= LSP_ALONE;
    const int64_t useful = alone ? 1 : lsp_max(half / (LSP_WORTH_A_THREAD / 2), 1);
    *choice = (lsp_spgemm_choice){.method = asked, .threads = (int)lsp_min(threads, useful)};
    if (asked == LSP_SPGEMM_REFERENCE) {
        choice->threads = 1;
        choice->thread_bytes = reference_bytes(facts);
        return choice->thread_bytes <= available;
    }
    choice->method = LSP_SPGEMM_SORT;
    choice->capacity = ideal_capacity(facts, type);
    choice->asked = asked == LSP_SPGEMM_SORT;
    choice->shrunk = facts->sort_products > MOST_RANKS || facts->window_columns > MOST_RANKS;
    while (capacity_bytes(&choice->capacity) > available / choice->threads) {
        choice->limited = true;
        if (choice->threads > 1) {
            choice->threads--;
        } else if (!halve(&choice->capacity, facts)) {
            break;
        } else {
            choice->shrunk = true;
        }
    }
    choice->thread_bytes = capacity_bytes(&choice->capacity);
    return choice->thread_bytes <= available;
}

void lsp_spgemm_tell_choice(const lsp_spgemm_facts *facts, const lsp_spgemm_choice *choice, char *text, size_t bytes) {
    char rows[96];
    if (choice->method == LSP_SPGEMM_REFERENCE) {
        snprintf(text, bytes, "asked for; a place for each of %lld columns", (long long)facts->cols);
        return;
    }
    if (facts->sort_products == 0) {
        snprintf(rows, sizeof rows, "every row in a window of at most %lld columns",
                 (long long)choice->capacity.window_columns);
    } else if (facts->window_columns == 0) {
        snprintf(rows, sizeof rows, "every row sorted, at most %lld products at a time",
                 (long long)choice->capacity.sort_products);
    } else {
        snprintf(rows, sizeof rows, "rows sorted (to %lld products) or in a window (to %lld columns)",
                 (long long)choice->capacity.sort_products, (long long)choice->capacity.window_columns);
    }
    snprintf(text, bytes, "%s%s; %d thread%s%s", choice->asked ? "asked for; " : "", rows, choice->threads,
             choice->threads == 1 ? "" : "s", choice->limited ? " to fit the memory" : "");
}

/* ---- one pass or two ---- */

const char *lsp_spgemm_never_once(const lsp_spgemm_plan *job, const lsp_csr *A, const lsp_csr *B) {
    const lsp_spgemm_options *options = &job->options;
    const bool chosen = options->method != LSP_SPGEMM_AUTO || lsp_spgemm_masks(options);
    return chosen                                                           ? ""
           : options->transpose_a || options->transpose_b                   ? "a factor is transposed; "
           : job->type == LSP_F32 && lsp_semiring_counts(options->semiring) ? "counts may exceed LSP_F32; "
           : A->rows == 0 || A->nnz == 0 || B->cols == 0                    ? "C is empty; "
                                                                            : NULL;
}

void lsp_spgemm_tell_passes(lsp_spgemm_info *info, int passes, const lsp_spgemm_sample *sample, const char *more) {
    const char *head = passes == 1 ? "one pass" : "two passes";
    char of[96] = "";
    if (sample != NULL && sample->all) {
        snprintf(of, sizeof of, "%lld products and at most %lld entries; ", (long long)sample->products,
                 (long long)sample->nnz);
    } else if (sample != NULL && sample->rows > 0) {
        const double rows = (double)sample->rows;
        snprintf(of, sizeof of, "%.1f products and %.1f entries a row in a sample of %lld rows; ",
                 (double)sample->products / rows, (double)sample->nnz / rows, (long long)sample->rows);
    }
    info->passes = passes;
    info->reason[0] = 0;
    if (of[0] != 0 || *more != 0) {
        snprintf(info->reason, sizeof info->reason, "%s: %.80s%.64s", head, of, more);
    }
}

/* ---- masks ---- */

lsp_spgemm_masked_choice lsp_spgemm_masked_scratch(const lsp_spgemm_plan *plan) {
    const lsp_csr *mask = plan->options.filter.mask;
    const int64_t value = (int64_t)lsp_type_bytes(plan->type), rows = plan->facts.rows;
    const int64_t rounded = plan->type == plan->val_type ? 0 : (int64_t)lsp_type_bytes(plan->val_type);
    lsp_spgemm_masked_choice c = {.threads = 1};
    c.bytes = lsp_spgemm_bytes(mask->nnz, 1 + value, lsp_spgemm_bytes(rows + 1, 2 * 8, 0));
    c.result = lsp_spgemm_bytes(lsp_min(mask->nnz, plan->facts.nnz_bound), 8 + value + rounded,
                                lsp_spgemm_bytes(rows + 1, 8, 0));
    c.available = lsp_spgemm_room(plan->ctx, plan->where, lsp_max(c.bytes, c.result));
    if (plan->where == LSP_HOST) {
        c.threads = lsp_spgemm_threads(plan->ctx, plan->facts.products);
        c.longest = lsp_spgemm_longest_row(mask);
        c.slots = lsp_mask_slots(c.longest, mask->cols);
        const int64_t table = c.slots * (int64_t)sizeof(uint32_t), left = c.available - c.bytes;
        c.threads = (int)lsp_max(lsp_min(c.threads, left / table), 1);
        c.bytes = lsp_spgemm_bytes(c.threads, table, c.bytes);
    }
    return c;
}

bool lsp_spgemm_choose_masked(lsp_spgemm_plan *plan) {
    const lsp_csr *mask = plan->options.filter.mask;
    lsp_spgemm_info *info = &plan->info;
    if (!lsp_spgemm_masks(&plan->options)) {
        return false;
    }
    const bool asked = plan->options.method == LSP_SPGEMM_MASK;
    const lsp_spgemm_masked_choice c = lsp_spgemm_masked_scratch(plan);
    const bool fits = c.bytes <= c.available && c.result <= c.available - c.bytes;
    if (!asked && !(fits && lsp_spgemm_prefers_mask(plan->facts.products, mask->nnz))) {
        return false;
    }
    plan->facts.nnz_bound = lsp_min(plan->facts.nnz_bound, mask->nnz);
    info->method = LSP_SPGEMM_MASK;
    info->scratch_bytes = c.bytes;
    info->blocks = plan->where == LSP_CUDA ? 1 : info->blocks;
    snprintf(info->reason, sizeof info->reason, "%s%lld products are looked up among the mask's %lld entries%s",
             asked ? "asked for; " : "", (long long)plan->facts.products, (long long)mask->nnz,
             plan->where == LSP_CUDA ? ", on the GPU" : "");
    return true;
}
