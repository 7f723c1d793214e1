/* Reads FASTA files and files of lines into sets of strings. */
#include "texts.h"
#include "run.h"

#include <stdlib.h>
#include <string.h>

/* Begins a string that has no symbols yet. */
static bool begin_string(sa_texts *t, const char *name, size_t length) {
    if (t->strings == t->strings_room) {
        const int64_t room = t->strings_room > 0 ? 2 * t->strings_room : 16;
        int64_t *starts = realloc(t->starts, (size_t)(room + 1) * sizeof *starts);
        t->starts = starts ? starts : t->starts;
        char **names = starts ? realloc(t->names, (size_t)room * sizeof *names) : NULL;
        if (!names) {
            return false;
        }
        t->names = names;
        t->strings_room = room;
    }
    char *copy = malloc(length + 1);
    if (!copy) {
        return false;
    }
    memcpy(copy, name, length);
    copy[length] = 0;
    t->names[t->strings] = copy;
    t->starts[t->strings++] = t->n;
    t->starts[t->strings] = t->n;
    return true;
}

/* Makes room for `count` more symbols. */
static bool reserve(sa_texts *t, size_t count) {
    if ((size_t)(t->room - t->n) < count) {
        const size_t room = (size_t)t->n + count + (size_t)t->n / 2;
        char *symbols = realloc(t->symbols, room);
        if (!symbols) {
            return false;
        }
        t->symbols = symbols;
        t->room = (int64_t)room;
    }
    return true;
}

bool sa_add(sa_texts *t, const char *name, size_t length, const char *symbols, size_t count) {
    if (!reserve(t, count) || !begin_string(t, name, length)) {
        return false;
    }
    memcpy(t->symbols + t->n, symbols, count);
    t->n += (int64_t)count;
    t->starts[t->strings] = t->n;
    return true;
}

int64_t sa_string_of(const sa_texts *t, int64_t i) {
    int64_t low = 0, high = t->strings; /* starts[low] <= i < starts[high] */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        *(t->starts[middle] <= i ? &low : &high) = middle;
    }
    return low;
}

void sa_texts_free(sa_texts *t) {
    for (int64_t s = 0; s < t->strings; s++) {
        free(t->names[s]);
    }
    free(t->symbols);
    free(t->starts);
    free(t->names);
    *t = (sa_texts){0};
}

/* ---- readers ---- */

static int no_memory(cli_lines *l, const sa_texts *t) {
    (void)cli_malformed(l, "no memory for more than %lld symbols of %lld strings", (long long)t->n,
                        (long long)t->strings);
    return CLI_MEMORY;
}

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* The first word of a header names the record. */
static int read_header(cli_lines *l, sa_texts *t) {
    const char *name = l->from + 1, *end;
    while (name < l->to && is_blank(*name)) {
        name++;
    }
    for (end = name; end < l->to && !is_blank(*end);) {
        end++;
    }
    return begin_string(t, name, (size_t)(end - name)) ? CLI_DONE : no_memory(l, t);
}

static int read_letters(cli_lines *l, sa_texts *t) {
    char *to = t->symbols + t->n;
    for (const char *at = l->from; at < l->to; at++) {
        const unsigned char c = (unsigned char)*at;
        if (c > ' ' && c != '>' && c != 0x7f) {
            *to++ = (char)c;
        } else if (!is_blank((char)c)) {
            return c == '>' ? cli_malformed(l, "'>' stands within a sequence: a header begins its line")
                            : cli_malformed(l, "byte 0x%02x is no letter of a sequence", c);
        }
    }
    t->n = to - t->symbols;
    t->starts[t->strings] = t->n;
    return CLI_DONE;
}

int sa_read_fasta(const char *name, const char *text, size_t bytes, sa_texts *t, char error[CLI_SENTENCE]) {
    cli_lines l = {.name = name, .next = text, .end = text + bytes, .error = error};
    const int64_t n = t->n, strings = t->strings;
    if (!reserve(t, bytes)) {
        return no_memory(&l, t);
    }
    while (cli_next_line(&l)) {
        if (l.from == l.to || *l.from == ';') { /* a comment, in old files */
            continue;
        }
        if (memchr(l.from, 0, (size_t)(l.to - l.from))) {
            return cli_malformed(&l, "a byte is 0: this is no FASTA file");
        }
        if (*l.from != '>' && t->strings == strings) {
            return cli_malformed(&l, "text before the first header, which begins with '>'");
        }
        CLI_STEP(*l.from == '>' ? read_header(&l, t) : read_letters(&l, t));
    }
    l.line = t->n > n ? l.line : 0;
    return t->n > n ? CLI_DONE : cli_malformed(&l, bytes == 0 ? "the file is empty" : "no record has a letter");
}

int sa_read_lines(const char *name, const char *text, size_t bytes, sa_texts *t, char error[CLI_SENTENCE]) {
    cli_lines l = {.name = name, .next = text, .end = text + bytes, .error = error};
    while (cli_next_line(&l)) {
        const size_t length = (size_t)(l.to - l.from);
        if (memchr(l.from, 0, length)) {
            return cli_malformed(&l, "a byte is 0, which no pattern can have");
        }
        if (length > 0 && !sa_add(t, l.from, length, l.from, length)) {
            return no_memory(&l, t);
        }
    }
    return t->strings > 0 ? CLI_DONE : cli_malformed(&l, "no line has a pattern");
}
