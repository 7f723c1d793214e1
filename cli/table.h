/* The rows of the tables that the tools print. */
#pragma once

#include "source.h"

/* One row: label, value, and a note by `format`, which may be empty. */
void cli_table_row(FILE *to, const char *label, const char *value, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* One row of a matrix: label, rows, columns, entries, then "name: note". Name and note may be empty. */
typedef struct cli_matrix_row {
    const char *label;
    int64_t rows, cols;
    const char *entries, *name, *note;
} cli_matrix_row;
void cli_table_matrix(FILE *to, const cli_matrix_row *row);

/* The titles of its columns; and its row for a matrix that was read or generated. */
void cli_table_head(FILE *to);
void cli_table_operand(FILE *to, const char *label, const cli_matrix *matrix);

/* "real", "integer", "pattern" or "complex". */
const char *cli_field_name(lsp_mtx_field field);
