/* Prints aligned rows. Columns have fixed widths: numbers are right-aligned and notes begin at the same column, so
 * tables of different runs can be compared line by line. */
#include "table.h"
#include "text.h"

#include <stdarg.h>

static const char *symmetry_name(lsp_symmetry symmetry) {
    static const char *const names[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    return names[symmetry];
}

const char *cli_field_name(lsp_mtx_field field) {
    static const char *const names[] = {"real", "integer", "pattern", "complex"};
    return names[field];
}

/* "real symmetric, 2 duplicates summed", "generated, seed 2". */
static void describe(const cli_matrix *matrix, char *text, size_t bytes) {
    const lsp_mtx_info *file = &matrix->file;
    if (matrix->generated) {
        snprintf(text, bytes, matrix->seed >= 0 ? "generated, seed %lld" : "generated", (long long)matrix->seed);
        return;
    }
    int used = snprintf(text, bytes, "%s%s %s", file->format == LSP_MTX_ARRAY ? "array, " : "",
                        cli_field_name(file->field), symmetry_name(file->symmetry));
    if (file->duplicates > 0 && used >= 0 && (size_t)used < bytes) {
        snprintf(text + used, bytes - (size_t)used, ", %s duplicate%s summed", cli_count(file->duplicates).text,
                 cli_plural(file->duplicates));
    }
}

void cli_table_row(FILE *to, const char *label, const char *value, const char *format, ...) {
    char note[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note, sizeof note, format, arguments);
    va_end(arguments);
    fprintf(to, "%-11s %14s%s", label, value, *note ? "   " : "");
    cli_print(to, note);
    fputc('\n', to);
}

void cli_table_matrix(FILE *to, const cli_matrix_row *row) {
    fprintf(to, "%-11s %14s %14s %16s%s", row->label, cli_count(row->rows).text, cli_count(row->cols).text,
            row->entries, *row->name ? "   " : "");
    cli_print(to, row->name);
    fprintf(to, "%s%s\n", *row->note ? ": " : "", row->note);
}

void cli_table_head(FILE *to) { fprintf(to, "%-11s %14s %14s %16s\n", "", "rows", "columns", "entries"); }

void cli_table_operand(FILE *to, const char *label, const cli_matrix *matrix) {
    char note[160];
    describe(matrix, note, sizeof note);
    const cli_text entries = cli_count(matrix->csr.nnz);
    cli_table_matrix(to, &(cli_matrix_row){.label = label,
                                           .rows = matrix->csr.rows,
                                           .cols = matrix->csr.cols,
                                           .entries = entries.text,
                                           .name = matrix->name,
                                           .note = note});
}
