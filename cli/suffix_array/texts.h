/* Strings with names, one after another in memory. Needs no context, so that the fuzz target can use it. */
#pragma once

#include "lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sa_texts {
    char *symbols;
    int64_t n, room; /* symbols */
    int64_t strings, strings_room;
    int64_t *starts; /* string s has the symbols starts[s] .. starts[s+1] - 1 */
    char **names;
} sa_texts;

/* Appends a string, its name as a copy that ends with 0. Returns false if memory lacks. */
bool sa_add(sa_texts *texts, const char *name, size_t length, const char *symbols, size_t count);

/* Appends the records of a FASTA file that lies in memory. Returns 0, CLI_INPUT or CLI_MEMORY; then `error` has
 * "name:line: reason". */
int sa_read_fasta(const char *name, const char *text, size_t bytes, sa_texts *texts, char error[CLI_SENTENCE]);

/* Appends the lines of a file as strings, empty ones apart; each is its own name. Returns as sa_read_fasta. */
int sa_read_lines(const char *name, const char *text, size_t bytes, sa_texts *texts, char error[CLI_SENTENCE]);

/* The string that has symbol i. */
int64_t sa_string_of(const sa_texts *texts, int64_t i);

void sa_texts_free(sa_texts *texts);
