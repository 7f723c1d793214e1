/* A command line read by a table: one row an option. The help text is printed from the same table. */
#ifndef LSP_CLI_ARGUMENTS_H
#define LSP_CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit codes of every tool. CLI_PIPE: whoever read standard output has left; the run ends by SIGPIPE, and says nothing.
 */
enum { CLI_DONE = 0, CLI_USAGE = 1, CLI_INPUT = 2, CLI_MEMORY = 3, CLI_DEVICE = 4, CLI_CHECK = 5, CLI_PIPE = 128 + 13 };

typedef enum cli_kind {
    CLI_FLAG,   /* bool */
    CLI_WORD,   /* const char *, as given */
    CLI_COUNT,  /* int64_t, `least` .. `most` */
    CLI_NUMBER, /* double, 0 or more */
    CLI_SIZE,   /* int64_t, bytes */
    CLI_CHOICE, /* int: which of the words of `value`, "f64|f32" */
} cli_kind;

typedef struct cli_option {
    const char *name; /* without its dashes */
    char letter;      /* 0: none */
    cli_kind kind;
    const char *value; /* what the help calls the value */
    size_t field;      /* where it goes in the tool's struct */
    int64_t least, most;
    const char *help; /* "\n" begins a second line */
} cli_option;

typedef struct cli_tool {
    const char *name;
    const char *usage; /* the head of the help */
    const char *tail;  /* its end */
    const cli_option *options;
    size_t count;
} cli_tool;

/* Prints "tool: sentence" on standard error. Returns CLI_USAGE. */
int cli_usage(const cli_tool *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, with "; did you mean 'WORD'?" when one of the words (separated by |) is near. */
int cli_unknown(const cli_tool *tool, const char *word, const char *words, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Which of the words (separated by |) the value of option --`name` is. */
int cli_choose(const cli_tool *tool, const char *name, const char *words, const char *value, int *which);

/* Fills the struct; what is no option goes to files[0 .. *file_count - 1]. Returns CLI_DONE or, with a sentence on
 * standard error, CLI_USAGE. */
int cli_parse(const cli_tool *tool, int argc, char **argv, void *fields, const char **files, int most_files,
              int *file_count);

void cli_help(const cli_tool *tool, FILE *to);

#endif
