/* Explains the first fault of a file, with its line: one thread decodes all lines again, in order, and counts them. */
#include "mtx.h"
#include "number_text.h"

#include <string.h>

/* Word number k of a line; of length 0 if the line has no such word. */
static lsp_mtx_word word_at(const char *line, int k) {
    lsp_mtx_word word = lsp_mtx_next_word(&line);
    for (; k > 0; k--) {
        word = lsp_mtx_next_word(&line);
    }
    return word;
}

/* The same for a message. */
static lsp_mtx_shown word(const char *line, int k) { return lsp_mtx_show(word_at(line, k)); }

static const char *digits_end(const char *p) {
    while (*p >= '0' && *p <= '9') {
        p++;
    }
    return p;
}

static bool is_index(lsp_mtx_word index) {
    const char *digits = index.text + (*index.text == '-'), *end = digits_end(digits);
    return end > digits && end == index.text + index.length;
}

/* Refuses a line of a file: `line` of `name`. */
#define REFUSE(sentence, ...) lsp_fail(ctx, LSP_ERR_FORMAT, "%s:%lld: " sentence, name, line, __VA_ARGS__)

static lsp_status explain_index(lsp_ctx *ctx, const char *name, long long line, const char *what, lsp_mtx_word index,
                                int64_t size) {
    const lsp_mtx_shown shown = lsp_mtx_show(index);
    return index.length == 0  ? REFUSE("the line ends before the %s of its entry", what)
           : !is_index(index) ? REFUSE("'%s' is no %s index, which is written in digits alone", shown.text, what)
                              : REFUSE("the %s index %s is outside 1 .. %lld", what, shown.text, (long long)size);
}

/* The end of the number at the start of a word; NULL if the word does not start with one. Integers may have any size.
 */
static const char *number_end(lsp_mtx_word value, bool integer) {
    double number;
    const char *digits = value.text + (*value.text == '-' || *value.text == '+'), *end = digits_end(digits);
    return !integer ? lsp_parse_double(value.text, &number) : end > digits ? end : NULL;
}

static bool is_number(lsp_mtx_word value, bool integer) {
    return number_end(value, integer) == value.text + value.length;
}

/* Says why a word is not a number. */
static lsp_status explain_number(lsp_ctx *ctx, const char *name, long long line, lsp_mtx_word value, bool integer) {
    const lsp_mtx_shown shown = lsp_mtx_show(value);
    const char *what = integer ? "integer" : "number", *end = number_end(value, integer);
    if (integer && is_number(value, false)) {
        return REFUSE("'%s' is no integer, and the banner says 'integer': it would have to say 'real'", shown.text);
    }
    if (end) {
        const lsp_mtx_word number = {value.text, end - value.text}, rest = {end, value.length - number.length};
        return REFUSE("'%s' is no %s: '%s' follows '%s' without a blank", shown.text, what, lsp_mtx_show(rest).text,
                      lsp_mtx_show(number).text);
    }
    return REFUSE("'%s' is no %s", shown.text, what);
}

/* The words of a line that are indices, and those that are numbers. */
static int indices_of(const lsp_mtx_header *header) { return header->format == LSP_MTX_COORDINATE ? 2 : 0; }
static int numbers_of(const lsp_mtx_header *header) {
    return header->field == LSP_MTX_PATTERN ? 0 : header->field == LSP_MTX_COMPLEX ? 2 : 1;
}

/* Fails with a sentence about the first wrong value of the line; LSP_OK if all are right. */
static lsp_status explain_value(lsp_ctx *ctx, const char *name, long long line, const lsp_mtx_header *header,
                                const char *text) {
    const bool integer = header->field == LSP_MTX_INTEGER;
    for (int k = 0; k < numbers_of(header); k++) {
        const lsp_mtx_word value = word_at(text, indices_of(header) + k);
        if (value.length == 0) {
            return REFUSE("the line ends before the %s of its entry", k ? "imaginary part" : "value");
        }
        if (!is_number(value, integer)) {
            return explain_number(ctx, name, line, value, integer);
        }
    }
    return LSP_OK;
}

/* The sentence for a fault in the line at `text`. */
static lsp_status explain_line(lsp_ctx *ctx, const lsp_mtx_reader *reader, lsp_mtx_fault fault, const char *text,
                               long long line) {
    const lsp_mtx_header *header = &reader->header;
    const char *name = reader->source.name;
    const bool skew = header->symmetry == LSP_SYMMETRY_SKEW;
    const int words = indices_of(header) + numbers_of(header);
    const lsp_mtx_shown value = word(text, words - 1);
    switch (fault) {
    case LSP_MTX_ROW:
        return explain_index(ctx, name, line, "row", word_at(text, 0), header->rows);
    case LSP_MTX_COL:
        return explain_index(ctx, name, line, "column", word_at(text, 1), header->cols);
    case LSP_MTX_RANGE:
        return lsp_fail(ctx, LSP_ERR_OVERFLOW, "%s:%lld: the value %s does not fit %s", name, line, value.text,
                        lsp_type_name(header->whole));
    case LSP_MTX_UPPER:
        return REFUSE("the entry at row %s, column %s is above the diagonal of a symmetric matrix, which stores the "
                      "lower triangle",
                      word(text, 0).text, word(text, 1).text);
    case LSP_MTX_DIAGONAL:
        return REFUSE("%s on the diagonal of a %s matrix must be zero, not %s",
                      skew ? "an entry" : "the imaginary part of an entry", skew ? "skew-symmetric" : "hermitian",
                      value.text);
    case LSP_MTX_EXTRA:
        return REFUSE("more than the %lld entries announced", (long long)header->entries);
    case LSP_MTX_LONG_LINE:
        return REFUSE("the line is longer than %d bytes", lsp_mtx_line_most);
    case LSP_MTX_VALUE:
        LSP_TRY(explain_value(ctx, name, line, header, text));
        return REFUSE("%s is no integer of 64 bits", value.text);
    default:
        LSP_TRY(explain_value(ctx, name, line, header, text));
        return REFUSE("'%s' follows the entry", word(text, words).text);
    }
}

/* Data line number k, from 0, at or after `text`; comments and blank lines do not count. */
static const char *data_line(const char *text, int64_t k) {
    for (;; text = (const char *)rawmemchr(text, '\n') + 1) {
        const char *p = text;
        const lsp_mtx_word first = lsp_mtx_next_word(&p);
        if (first.length > 0 && *first.text != '%' && k-- == 0) {
            return text;
        }
    }
}

lsp_status lsp_mtx_explain(lsp_ctx *ctx, const lsp_mtx_reader *reader, lsp_mtx_batch *batch, char *buffer) {
    const lsp_mtx_header *header = &reader->header;
    const char *text;
    int64_t bytes, entries = 0, lines = header->line;
    lsp_mtx_cursor cursor = lsp_mtx_array_place(header, 0);
    lsp_mtx_stream stream;
    lsp_mtx_stream_start(&stream, &reader->source, buffer, header->body, header->body, reader->source.bytes);
    while (lsp_mtx_stream_next(&stream, &text, &bytes)) {
        for (const char *end = text + bytes, *next; text < end; text = next) {
            next = reader->decode(header, reader->options.lenient, LSP_MTX_ALL, text, end, batch);
            int64_t numbers = batch->count;
            if (header->format == LSP_MTX_ARRAY) {
                lsp_mtx_fault later = batch->fault;
                batch->fault = LSP_MTX_FINE;
                lsp_mtx_array_entries(header, &cursor, batch);
                batch->where = batch->fault ? data_line(text, batch->count) : batch->where;
                batch->fault = batch->fault ? batch->fault : later;
            } else if (numbers > header->entries - entries) {
                batch->fault = LSP_MTX_EXTRA;
                batch->where = data_line(text, header->entries - entries);
            }
            if (batch->fault != LSP_MTX_FINE) {
                return explain_line(ctx, reader, batch->fault, batch->where,
                                    lines + lsp_mtx_count_lines(text, batch->where) + 1);
            }
            entries += numbers;
            lines += lsp_mtx_count_lines(text, next);
        }
    }
    LSP_TRY(lsp_mtx_stream_check(ctx, &stream, lines + 1));
    LSP_REQUIRE(entries >= header->entries, LSP_ERR_FORMAT,
                "%s:%lld: the file ends after %lld of %lld entries announced", reader->source.name, (long long)lines,
                (long long)entries, (long long)header->entries);
    return LSP_OK;
}
