/* Fuzz target of the readers of FASTA files and of patterns in suffix-array. No text may crash them; what they accept
 * are strings that lie one after another, and what they refuse has a sentence. The first byte of the input chooses the
 * reader; the rest is the file. */
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool condition, const char *what) {
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static void check_texts(const sa_texts *t, size_t bytes) {
    require(t->strings > 0 && t->n > 0 && t->n <= (int64_t)bytes && t->n <= t->room, "sizes");
    require(t->starts[0] == 0 && t->starts[t->strings] == t->n, "the ends of the strings");
    for (int64_t s = 0; s < t->strings; s++) {
        require(t->starts[s] <= t->starts[s + 1], "a string ends before it begins");
        require(strlen(t->names[s]) <= bytes, "a name");
        require(t->starts[s] == t->starts[s + 1] || sa_string_of(t, t->starts[s]) == s, "the string of a symbol");
    }
    require(memchr(t->symbols, 0, (size_t)t->n) == NULL, "a symbol is 0");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    sa_texts texts = {0};
    char error[CLI_SENTENCE] = "";
    char *text = bytes > 0 ? malloc(bytes) : NULL; /* without the first byte */
    if (!text) {
        return 0;
    }
    memcpy(text, data + 1, bytes - 1);
    const int code = data[0] % 2 ? sa_read_lines("fuzz", text, bytes - 1, &texts, error)
                                 : sa_read_fasta("fuzz", text, bytes - 1, &texts, error);
    if (code == 0) {
        check_texts(&texts, bytes);
    } else {
        require(strncmp(error, "fuzz:", 5) == 0 && memchr(error, 0, CLI_SENTENCE), "no sentence");
    }
    sa_texts_free(&texts);
    free(text);
    return 0;
}
