/* The choice of method, threads and room for C = A*B: a pure function of the facts. */
#include "spgemm.h"
#include <stdio.h>

enum { WORTH_A_THREAD = 1 << 14, WINDOW_STEP = 64, ALIGNED_PARTS = 6 * 64 };

/* Bytes of scratch of one thread; INT64_MAX if no number holds them. */
static int64_t room_bytes(const lsp_spgemm_room *room) {
    int64_t words, sums, bytes;
    bool fits = lsp_add(room->sort_products, LSP_WORD_PAD, &words) &&
                lsp_mul(words, (int64_t)(2 * (room->word_bytes + room->value_bytes)), &words) &&
                lsp_mul(room->window_columns, (int64_t)room->value_bytes + 1, &sums) && lsp_add(words, sums, &bytes) &&
                lsp_add(bytes, ALIGNED_PARTS, &bytes);
    return fits ? bytes : INT64_MAX;
}

/* The reference: a place a column; then three words an entry to sort C's longest row. */
static int64_t reference_bytes(const lsp_spgemm_facts *facts) {
    int64_t places, words, bytes;
    bool fits = lsp_mul(facts->cols, 8, &places) &&
                lsp_mul(lsp_min(facts->max_row_products, facts->cols), 32, &words) && lsp_add(places, words, &bytes) &&
                lsp_add(bytes, ALIGNED_PARTS, &bytes);
    return fits ? bytes : INT64_MAX;
}

/* The room in which each row is done in the way it prefers. */
static lsp_spgemm_room ideal_room(const lsp_spgemm_facts *facts, lsp_type type) {
    lsp_spgemm_room room = {.sort_products = facts->sort_products, .value_bytes = lsp_type_bytes(type)};
    room.window_columns = lsp_max(lsp_ceil_div(facts->window_columns, WINDOW_STEP) * WINDOW_STEP, WINDOW_STEP);
    int slots = room.sort_products > 0 ? lsp_bits((uint64_t)room.sort_products - 1) : 0;
    int columns = facts->cols > 0 ? lsp_bits((uint64_t)facts->cols - 1) : 0;
    room.word_bytes = lsp_word_bytes(lsp_word_kind(slots + columns));
    return room;
}

/* Half of whatever takes more. False if that would cut rows into more than about MOST_PIECES: too slow to be of use. */
static bool halve(lsp_spgemm_room *room, const lsp_spgemm_facts *facts) {
    enum { MOST_PIECES = 256 };
    int64_t least_products = facts->sort_products / MOST_PIECES;
    int64_t least_columns = lsp_max(facts->window_columns / MOST_PIECES / WINDOW_STEP * WINDOW_STEP, WINDOW_STEP);
    int64_t sort_bytes = room->sort_products * (int64_t)(room->word_bytes + room->value_bytes);
    int64_t window_bytes = room->window_columns * (int64_t)(room->value_bytes + 1);
    bool can_sort = room->sort_products > least_products, can_window = room->window_columns > least_columns;
    if (can_sort && (sort_bytes >= window_bytes || !can_window)) {
        room->sort_products = lsp_max(room->sort_products / 2, least_products);
    } else if (can_window) {
        room->window_columns = lsp_max(room->window_columns / 2 / WINDOW_STEP * WINDOW_STEP, least_columns);
    }
    return can_sort || can_window;
}

/* The choice as a sentence. */
static void explain(const lsp_spgemm_facts *facts, bool asked, bool shrunk, lsp_spgemm_choice *choice) {
    char rows[96];
    if (facts->sort_products == 0) {
        snprintf(rows, sizeof rows, "every row in a window of at most %lld columns",
                 (long long)choice->room.window_columns);
    } else if (facts->window_columns == 0) {
        snprintf(rows, sizeof rows, "every row sorted, at most %lld products at a time",
                 (long long)choice->room.sort_products);
    } else {
        snprintf(rows, sizeof rows, "rows sorted (to %lld products) or in a window (to %lld columns)",
                 (long long)choice->room.sort_products, (long long)choice->room.window_columns);
    }
    snprintf(choice->reason, sizeof choice->reason, "%s%s; %d thread%s%s", asked ? "asked for; " : "", rows,
             choice->threads, choice->threads == 1 ? "" : "s", shrunk ? " to fit the memory" : "");
}

bool lsp_spgemm_choose(const lsp_spgemm_facts *facts, lsp_spgemm_method asked, lsp_type type, int threads,
                       int64_t available, lsp_spgemm_choice *choice) {
    int64_t useful = lsp_max((facts->products / 2 + facts->rows / 2) / (WORTH_A_THREAD / 2), 1);
    *choice = (lsp_spgemm_choice){.method = asked, .threads = (int)lsp_min(threads, useful)};
    if (asked == LSP_SPGEMM_REFERENCE) {
        choice->threads = 1;
        choice->thread_bytes = reference_bytes(facts);
        snprintf(choice->reason, sizeof choice->reason, "asked for; a place for each of %lld columns",
                 (long long)facts->cols);
        return choice->thread_bytes <= available;
    }
    choice->method = LSP_SPGEMM_SORT;
    choice->room = ideal_room(facts, type);
    bool shrunk = false;
    while (room_bytes(&choice->room) > available / choice->threads) {
        shrunk = true;
        if (choice->threads > 1) {
            choice->threads--;
        } else if (!halve(&choice->room, facts)) {
            break;
        }
    }
    choice->thread_bytes = room_bytes(&choice->room);
    explain(facts, asked == LSP_SPGEMM_SORT, shrunk, choice);
    return choice->thread_bytes <= available;
}
