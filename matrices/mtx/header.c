/* Reads the banner "%%MatrixMarket matrix FORMAT FIELD SYMMETRY", comments, and the size line: "ROWS COLS ENTRIES" or,
 * for an array, "ROWS COLS". */
#include "mtx.h"

#include <string.h>
#include <strings.h>

lsp_mtx_word lsp_mtx_next_word(const char **p) {
    while (lsp_mtx_blank(**p)) {
        ++*p;
    }
    const char *text = *p;
    while (!lsp_mtx_blank(**p) && **p != '\n') {
        ++*p;
    }
    return (lsp_mtx_word){text, *p - text};
}

static bool is(lsp_mtx_word w, const char *name) {
    return (size_t)w.length == strlen(name) && strncasecmp(w.text, name, (size_t)w.length) == 0;
}

/* The index of the name that equals the word, or -1. */
static int choose(lsp_mtx_word w, const char *const names[]) {
    for (int i = 0; names[i]; i++) {
        if (is(w, names[i])) {
            return i;
        }
    }
    return -1;
}

lsp_mtx_shown lsp_mtx_show(lsp_mtx_word word) {
    lsp_mtx_shown s = {""};
    const int64_t shown = lsp_min(word.length, 40);
    for (int64_t i = 0; i < shown; i++) {
        s.text[i] = (char)(word.text[i] >= ' ' && word.text[i] < 127 ? word.text[i] : '?');
    }
    memcpy(s.text + shown, word.length > 40 ? "..." : "", word.length > 40 ? 4 : 1);
    return s;
}

/* Refuses a line of a file, `line` of `name`, unless the condition holds. */
#define REQUIRE(condition, sentence, ...)                                                                              \
    LSP_REQUIRE(condition, LSP_ERR_FORMAT, "%s:%lld: " sentence, name, (long long)line, ##__VA_ARGS__)

static lsp_status read_banner(lsp_ctx *ctx, const char *name, const char *p, lsp_mtx_header *header) {
    static const char *const formats[] = {"coordinate", "array", NULL};
    static const char *const fields[] = {"real", "integer", "pattern", "complex", NULL};
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};
    const int64_t line = 1;
    lsp_mtx_word banner = lsp_mtx_next_word(&p);
    REQUIRE(is(banner, "%%MatrixMarket"), "the file does not begin with %%%%MatrixMarket, but with '%s'",
            lsp_mtx_show(banner).text);
    lsp_mtx_word object = lsp_mtx_next_word(&p), format = lsp_mtx_next_word(&p), field = lsp_mtx_next_word(&p),
                 symmetry = lsp_mtx_next_word(&p);
    lsp_mtx_word rest = lsp_mtx_next_word(&p);
    REQUIRE(symmetry.length > 0, "the banner ends before it names object, format, field and symmetry");
    REQUIRE(is(object, "matrix"), "the object is '%s', not 'matrix'", lsp_mtx_show(object).text);
    int chosen[3] = {choose(format, formats), choose(field, fields), choose(symmetry, symmetries)};
    REQUIRE(chosen[0] >= 0, "the format is '%s', neither 'coordinate' nor 'array'", lsp_mtx_show(format).text);
    REQUIRE(chosen[1] >= 0, "the field is '%s', none of 'real', 'integer', 'pattern' and 'complex'",
            lsp_mtx_show(field).text);
    REQUIRE(chosen[2] >= 0, "the symmetry is '%s', none of 'general', 'symmetric', 'skew-symmetric' and 'hermitian'",
            lsp_mtx_show(symmetry).text);
    REQUIRE(rest.length == 0, "'%s' follows the banner", lsp_mtx_show(rest).text);
    header->format = (lsp_mtx_format)chosen[0];
    header->field = (lsp_mtx_field)chosen[1];
    header->symmetry = (lsp_symmetry)chosen[2];
    REQUIRE(header->format != LSP_MTX_ARRAY || header->field != LSP_MTX_PATTERN,
            "an array of a pattern has no numbers to read");
    REQUIRE(header->symmetry != LSP_SYMMETRY_SKEW || header->field != LSP_MTX_PATTERN,
            "a pattern cannot be skew-symmetric");
    REQUIRE(header->symmetry != LSP_SYMMETRY_HERMITIAN || header->field == LSP_MTX_COMPLEX,
            "only a complex matrix can be hermitian");
    return LSP_OK;
}

/* *entries = the numbers that an array of these sizes stores; false if they do not fit 64 bits. */
static bool count_array(const lsp_mtx_header *header, int64_t *entries) {
    if (header->symmetry == LSP_SYMMETRY_GENERAL) {
        return lsp_mul(header->rows, header->cols, entries);
    }
    int64_t n = header->rows, a = n / 2, b = n - (n % 2 == 0); /* n (n-1) / 2 = a * b */
    return lsp_mul(a, b, entries) && (header->symmetry == LSP_SYMMETRY_SKEW || lsp_add(*entries, n, entries));
}

static lsp_status read_size(lsp_ctx *ctx, const char *name, const char *p, lsp_mtx_header *header) {
    static const char *const what[] = {"rows", "columns", "entries"};
    int64_t sizes[3] = {0, 0, 0};
    int count = header->format == LSP_MTX_ARRAY ? 2 : 3;
    const int64_t line = header->line;
    for (int i = 0; i < count; i++) {
        lsp_mtx_word w = lsp_mtx_next_word(&p);
        REQUIRE(w.length > 0, "the size line ends before the number of %s", what[i]);
        for (int64_t k = 0; k < w.length; k++) {
            int digit = w.text[k] - '0';
            REQUIRE(digit >= 0 && digit <= 9, "'%s' is no number of %s", lsp_mtx_show(w).text, what[i]);
            REQUIRE(lsp_mul(sizes[i], 10, &sizes[i]) && lsp_add(sizes[i], digit, &sizes[i]),
                    "%s is more %s than can be counted", lsp_mtx_show(w).text, what[i]);
        }
    }
    lsp_mtx_word rest = lsp_mtx_next_word(&p);
    REQUIRE(rest.length == 0, "'%s' follows the size line's %d numbers", lsp_mtx_show(rest).text, count);
    header->rows = sizes[0];
    header->cols = sizes[1];
    header->entries = sizes[2];
    REQUIRE(header->symmetry == LSP_SYMMETRY_GENERAL || sizes[0] == sizes[1],
            "a symmetric matrix cannot have %lld rows and %lld columns", (long long)sizes[0], (long long)sizes[1]);
    REQUIRE(count == 3 || count_array(header, &header->entries),
            "an array of %lld rows and %lld columns has more numbers than can be counted", (long long)sizes[0],
            (long long)sizes[1]);
    return LSP_OK;
}

lsp_status lsp_mtx_read_header(lsp_ctx *ctx, const lsp_mtx_source *source, char *buffer, lsp_mtx_header *header) {
    const char *name = source->name, *text;
    int64_t bytes, line = 0;
    lsp_mtx_header found = {.line = 0};
    lsp_mtx_stream stream;
    LSP_REQUIRE(source->bytes > 0, LSP_ERR_FORMAT, "%s:1: the file is empty", name);
    lsp_mtx_stream_start(&stream, source, buffer, 0, 0, source->bytes);
    while (lsp_mtx_stream_next(&stream, &text, &bytes)) {
        for (const char *p = text, *end = text + bytes; p < end;
             p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1) {
            if (++line == 1) {
                LSP_TRY(read_banner(ctx, name, p, &found));
                continue;
            }
            const lsp_mtx_word first = lsp_mtx_next_word(&p);
            if (first.length > 0 && *first.text != '%') {
                found.line = line;
                LSP_TRY(read_size(ctx, name, first.text, &found));
                p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
                found.body = lsp_min(stream.at + (p - text), source->bytes);
                *header = found;
                return LSP_OK;
            }
        }
    }
    LSP_TRY(lsp_mtx_stream_check(ctx, &stream, line + 1));
    return lsp_fail(ctx, LSP_ERR_FORMAT, "%s:%lld: the file ends before its size line", name, (long long)line);
}
