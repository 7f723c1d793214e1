/* Reads a command line by a table with one row for each option. The help is printed from the same table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit codes. CLI_PIPE: the reader of standard output closed its pipe; the tool ends by SIGPIPE without a
 * message. */
enum { CLI_DONE = 0, CLI_USAGE = 1, CLI_INPUT = 2, CLI_MEMORY = 3, CLI_DEVICE = 4, CLI_CHECK = 5, CLI_PIPE = 128 + 13 };

typedef enum cli_kind {
    CLI_FLAG,   /* bool */
    CLI_WORD,   /* const char *, as given */
    CLI_WORDS,  /* cli_words: the option may be given several times */
    CLI_COUNT,  /* int64_t, `least` .. `most` */
    CLI_NUMBER, /* double, 0 or more */
    CLI_SIZE,   /* int64_t, bytes */
    CLI_CHOICE, /* int: index of the word in `value`, such as "f64|f32" */
} cli_kind;

enum { CLI_MOST_WORDS = 64 };

typedef struct cli_words {
    const char *word[CLI_MOST_WORDS];
    int count;
} cli_words;

typedef struct cli_option {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    cli_kind kind;
    const char *value; /* the name of the value in the help; NULL for a flag */
    size_t field;      /* offset in the tool's struct */
    int64_t least, most;
    const char *help; /* "\n" starts a second line; NULL: the help does not list it */
} cli_option;

typedef struct cli_tool {
    const char *name;
    const char *usage; /* first line of the help */
    const char *tail;  /* last line of the help */
    const cli_option *options;
    size_t count;
    bool verb; /* the first word is none of the files */
} cli_tool;

/* The name of the tool whose command line cli_parse reads. */
const char *cli_tool_name(void);

/* Prints "tool: sentence" on standard error. Returns `code`. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "tool: sentence" on standard error. Returns CLI_USAGE. */
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, followed by "; did you mean 'WORD'?" if one of the words (separated by |) is similar. */
int cli_unknown(const char *word, const char *words, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Finds the value of option --`name` among the words (separated by |) and writes its index to *which. */
int cli_choose(const char *name, const char *words, const char *value, int *which);

/* Writes the options to the struct `fields` and all other arguments to files[0 .. *file_count - 1]. Returns CLI_DONE,
 * or prints what is wrong and returns CLI_USAGE. */
int cli_parse(const cli_tool *tool, int argc, char **argv, void *fields, const char **files, int most_files,
              int *file_count);

void cli_help(const cli_tool *tool, FILE *to);
