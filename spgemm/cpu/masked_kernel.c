/* Rows of C<M> = A*B for one instruction set. The columns of the mask's row are entered in a table. Each product looks
 * its column up: most products that the mask excludes cost one load, and the others are added, in the order of A's
 * entries, to the sum of the mask's entry. If a row of B is much longer than the mask's row, the mask's columns are
 * searched in the row of B instead. */
#include "ahead.h"
#include "core/isa.h"
#include "cpu.h"
#include "masked.h"
#include "values.h"
#include <string.h>

enum { CANDIDATES = 256 };

/* The mask's row at hand, and its table. */
typedef struct mask_row {
    int64_t begin, entries; /* of the mask */
    uint32_t *slots, base;
    int64_t last; /* slot */
    uint64_t factor;
    int shift; /* a column is in the first free slot from (column * factor) >> shift on */
} mask_row;

ALWAYS int64_t slot_of(const mask_row *row, int64_t column) {
    return (int64_t)((uint64_t)column * row->factor >> row->shift);
}
/* The number of the entry in a slot. A number of row->entries or more means: the slot is free in this row. */
ALWAYS uint32_t entry_in(const mask_row *row, int64_t slot) { return row->slots[slot] - row->base; }

/* Enters the columns of the mask's row i in the table, each once. */
static mask_row open_row(const lsp_csr *mask, lsp_mask_table *table, int64_t i) {
    const int64_t begin = lsp_index_at(mask->rowptr, mask->rowptr_type, i);
    const int64_t entries = lsp_index_at(mask->rowptr, mask->rowptr_type, i + 1) - begin;
    const int64_t size = lsp_mask_slots(entries, mask->cols);
    const bool hashed = size < mask->cols;
    if ((int64_t)UINT32_MAX - table->base < entries) {
        memset(table->slots, 0, (size_t)table->size * sizeof *table->slots);
        table->base = 1;
    }
    const mask_row row = {.begin = begin,
                          .entries = entries,
                          .slots = table->slots,
                          .base = table->base,
                          .last = size - 1,
                          .factor = hashed ? 0x9E3779B97F4A7C15u : 1,
                          .shift = hashed ? 64 - __builtin_ctzll((uint64_t)size) : 0};
    table->base += (uint32_t)entries;
    for (int64_t t = 0, before = -1; t < entries; t++) {
        const int64_t column = lsp_index_at(mask->col, mask->col_type, begin + t);
        int64_t slot = slot_of(&row, column);
        if (column == before) {
            continue;
        }
        while (entry_in(&row, slot) < entries) {
            slot = (slot + 1) & row.last;
        }
        row.slots[slot] = row.base + (uint32_t)t;
        before = column;
    }
    return row;
}

/* Finds the mask's entry with this column, starting from t, the entry in the column's slot. Returns row->entries or
 * more if there is none. */
ALWAYS int64_t find_entry(const lsp_csr *mask, const mask_row *row, int64_t column, int64_t t) {
    for (int64_t slot = slot_of(row, column);
         t < row->entries && lsp_index_at(mask->col, mask->col_type, row->begin + t) != column;
         t = entry_in(row, slot)) {
        slot = (slot + 1) & row->last;
    }
    return t;
}

/* Is it faster to search the mask's entries in a row of B of this length? */
ALWAYS bool is_short(int64_t entries, int64_t length) {
    enum { STEP = 2 }; /* lookups in the table that take as long as one step of a search */
    return entries < length / STEP && entries * STEP * (64 - __builtin_clzll((uint64_t)length)) < length;
}

#define TEMPLATE "masked_template.h"
#include "each_value.h"

void LSP_ISA_NAME(lsp_spgemm_masked_rows)(const lsp_masked_pass *pass, lsp_mask_table *table, int64_t first,
                                          int64_t last) {
    static lsp_masked_rows *const rows[] = LSP_BY_VALUE(do_rows);
    rows[lsp_value_number(pass->job->type, pass->job->semiring)](pass, table, first, last);
}
