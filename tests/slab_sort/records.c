/* A sort of records by a comparison, on the host; places in shared memory; examples/records tests both devices. */
#include "libsparse/sort/slab_place.h"
#include "tests/support.h"

typedef struct named {
    char name[12];
    uint32_t number;
} named;
#define SORT_NAME sort_named
#define SORT_RECORD named
#define SORT_BEFORE(a, b)                                                                                              \
    (memcmp(a.name, b.name, sizeof a.name) != 0 ? memcmp(a.name, b.name, sizeof a.name) < 0 : a.number < b.number)
#include "libsparse/sort/records.h"

#define SORT_NAME sort_down
#define SORT_RECORD double
#define SORT_BEFORE(a, b) (a > b)
#include "libsparse/sort/records.h"

Test(slab_sort_records, records_are_sorted_by_several_fields) {
    static const int64_t lengths[] = {0, 1, 2, 24, 25, 26, 1000, 50000};
    uint64_t state = 5;
    for (int l = 0; l < 8; l++) {
        for (int kind = 0; kind < 4; kind++) { /* few names, sorted, reversed, equal but for the last field */
            const int64_t n = lengths[l];
            named *records = calloc((size_t)n + 1, sizeof *records);
            unsigned char *change = malloc((size_t)n + 1), *seen = calloc((size_t)n + 1, 1);
            for (int64_t i = 0; i < n; i++) {
                const int64_t part = kind == 0 ? test_below(&state, 40) : kind == 1 ? i : kind == 2 ? n - i : 7;
                for (int64_t k = 5, rest = part; k >= 0; k--, rest /= 10) {
                    records[i].name[k] = (char)('0' + rest % 10);
                }
                records[i].number = (uint32_t)i;
            }
            change[n] = 77;
            sort_named(records, n, change);
            for (int64_t i = 0; i < n; i++) {
                cr_assert(i == 0 || sort_named_before(&records[i - 1], &records[i]), "kind %d, record %lld of %lld",
                          kind, (long long)i, (long long)n);
                cr_assert(change[i] == 1 && seen[records[i].number]++ == 0);
            }
            cr_assert(change[n] == 77);
            free(records), free(change), free(seen);
        }
    }
}

Test(slab_sort_records, equal_records_are_told_apart_from_changes) {
    enum { N = 3000 };
    double numbers[N];
    unsigned char change[N];
    for (int i = 0; i < N; i++) {
        numbers[i] = i * 37 % 10;
    }
    sort_down(numbers, N, change);
    for (int i = 0; i < N; i++) {
        cr_assert_eq(numbers[i], 9 - i / (N / 10));
        cr_assert_eq(change[i], i % (N / 10) == 0);
    }
    sort_down(numbers, N, NULL);
}

/* The most lanes of a warp that use the same bank at once, when lane l accesses the item at first + l * step. */
static int conflicts(int rows, int first, int step) {
    int lanes[32] = {0}, most = 0;
    for (int l = 0; l < 32; l++) {
        const int bank = slab_place(first + l * step, rows) % 32;
        most = ++lanes[bank] > most ? lanes[bank] : most;
    }
    return most;
}

Test(slab_sort_records, rows_and_columns_of_a_tile_meet_no_bank_conflict) {
    for (int words = 1; words <= 8; words++) {
        const int rows = slab_rows(words), size = slab_threads(words) * rows;
        bool *taken = calloc((size_t)size, 1);
        for (int e = 0; e < size; e++) {
            const int place = slab_place(e, rows);
            cr_assert(place >= 0 && place < size && !taken[place], "%d words: item %d", words, e);
            taken[place] = true;
        }
        free(taken);
        for (int first = 0; first < size; first += 32 * rows) { /* row r of a slab: lane l has item l * rows + r */
            for (int r = 0; r < rows; r++) {
                cr_assert_eq(conflicts(rows, first + r, rows), 1, "%d words: row %d", words, r);
            }
        }
        for (int first = 0; first < size; first += 32) { /* 32 items of a column merge; downwards: the flipped half */
            cr_assert_eq(conflicts(rows, first, 1), 1);
            cr_assert_eq(conflicts(rows, first + 31, -1), 1);
        }
        cr_assert(size * words * 4 <= 32 << 10, "a tile of %d words an item takes %d bytes", words, size * words * 4);
    }
}
