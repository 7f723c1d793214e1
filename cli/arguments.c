/* Reads a command line by a table. `--name value`, `--name=value`, `-x value` and `-xvalue` mean the same; `--` ends
 * the options; `-` alone is a file. An error names the wrong word and suggests the most similar valid one. */
#include "arguments.h"
#include "text.h"

#include <stdarg.h>
#include <string.h>

static const cli_tool *tool; /* the tool that runs; cli_parse, which every tool calls first, sets it */

const char *cli_tool_name(void) { return tool->name; }

int cli_fail(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    cli_say(tool->name, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return code;
}

int cli_usage(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    cli_say(tool->name, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return CLI_USAGE;
}

/* Copies the next word of a list separated by | and advances *words. Returns false at the end. */
static bool next_word(const char **words, char *word, size_t bytes) {
    size_t length = strcspn(*words, "|");
    snprintf(word, bytes, "%.*s", (int)length, *words);
    *words += length + ((*words)[length] == '|');
    return length > 0;
}

/* Translates words of other tools to ours. */
static const char *other_name(const char *word) {
    static const char *const names[][2] = {{"gpu", "cuda"},          {"nvidia", "cuda"},   {"host", "cpu"},
                                           {"double", "f64"},        {"float", "f32"},     {"single", "f32"},
                                           {"tropical", "min-plus"}, {"boolean", "or-and"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(word, names[i][0]) == 0) {
            return names[i][1];
        }
    }
    return word;
}

int cli_unknown(const char *word, const char *words, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    cli_say(tool->name, format, arguments);
    va_end(arguments);
    char candidate[64], nearest[64] = "";
    const char *given = word;
    word = other_name(word);
    int best = (int)(strlen(word) - strspn(word, "-")) / 3 + 1; /* at most a third of the letters may be wrong */
    while (next_word(&words, candidate, sizeof candidate)) {
        int distance = cli_distance(word, candidate);
        if (strcmp(given, candidate) == 0) { /* the word is valid: the error is elsewhere */
            nearest[0] = 0;
            break;
        }
        if (distance < best) {
            best = distance;
            memcpy(nearest, candidate, sizeof nearest);
        }
    }
    if (nearest[0]) {
        fprintf(stderr, "; did you mean '%s'?", nearest);
    }
    fputc('\n', stderr);
    return CLI_USAGE;
}

static int unknown_option(const char *argument, size_t length) {
    char words[1024] = "", given[64];
    size_t used = 0;
    for (size_t i = 0; i < tool->count && used < sizeof words; i++) {
        used += (size_t)snprintf(words + used, sizeof words - used, "--%s|", tool->options[i].name);
    }
    snprintf(given, sizeof given, "%.*s", (int)length, argument);
    return cli_unknown(given, words, "unknown option '%.*s'", (int)length, argument);
}

int cli_choose(const char *name, const char *words, const char *value, int *which) {
    char word[64];
    const char *rest = words;
    for (int i = 0; next_word(&rest, word, sizeof word); i++) {
        if (strcmp(word, value) == 0) {
            *which = i;
            return CLI_DONE;
        }
    }
    return cli_unknown(value, words, "--%s takes %s, not '%s'", name, words, value);
}

static int store_size(const cli_option *option, const char *value, int64_t *bytes) {
    switch (cli_parse_size(value, bytes)) {
    case CLI_SIZE_FINE:
        return CLI_DONE;
    case CLI_SIZE_ZERO:
        return cli_usage("--%s takes a size of 1 byte or more, not '%s'", option->name, value);
    case CLI_SIZE_LARGE:
        return cli_usage("--%s: '%s' is too large: the size must be below 8 EiB (8388608T)", option->name, value);
    default:
        return cli_usage("--%s takes a size such as 800M, 1.5G or 4GiB, not '%s'", option->name, value);
    }
}

static int store_word(const cli_option *option, const char *value, cli_words *words) {
    if (words->count == CLI_MOST_WORDS) {
        return cli_usage("--%s can be given %d times at most", option->name, CLI_MOST_WORDS);
    }
    words->word[words->count++] = value;
    return *value ? CLI_DONE : cli_usage("--%s: %s is empty", option->name, option->value);
}

static int store(const cli_option *option, const char *value, void *fields) {
    void *field = (char *)fields + option->field;
    switch (option->kind) {
    case CLI_FLAG:
        *(bool *)field = true;
        return CLI_DONE;
    case CLI_WORD:
        *(const char **)field = value;
        return *value ? CLI_DONE : cli_usage("--%s: %s is empty", option->name, option->value);
    case CLI_WORDS:
        return store_word(option, value, field);
    case CLI_COUNT:
        return cli_parse_count(value, option->least, option->most, field)
                   ? CLI_DONE
                   : cli_usage("--%s takes a whole number from %lld to %lld, not '%s'", option->name,
                               (long long)option->least, (long long)option->most, value);
    case CLI_NUMBER:
        return cli_parse_number(value, field)
                   ? CLI_DONE
                   : cli_usage("--%s takes a number from 0 up, such as 0.5 or 1e-9, not '%s'", option->name, value);
    case CLI_SIZE:
        return store_size(option, value, field);
    case CLI_CHOICE:
        return cli_choose(option->name, option->value, value, field);
    }
    return CLI_USAGE;
}

/* Finds the option that an argument names. *value is its value if it stands in the same argument, otherwise NULL. */
static const cli_option *find(const char *argument, size_t *length, const char **value) {
    bool is_long = argument[1] == '-';
    *length = is_long ? strcspn(argument, "=") : 2;
    *value = argument[*length] == 0 ? NULL : argument + *length + is_long;
    for (size_t i = 0; i < tool->count; i++) {
        const cli_option *option = &tool->options[i];
        bool same = is_long ? strlen(option->name) == *length - 2 && !strncmp(option->name, argument + 2, *length - 2)
                            : option->letter == argument[1];
        if (same) {
            return option;
        }
    }
    return NULL;
}

int cli_parse(const cli_tool *of, int argc, char **argv, void *fields, const char **files, int most_files,
              int *file_count) {
    bool options_end = false;
    tool = of;
    *file_count = 0;
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i], *value = NULL;
        if (options_end || argument[0] != '-' || argument[1] == 0) {
            if (*argument == 0) {
                return cli_usage("the name of a file is empty");
            }
            if (*file_count == most_files) {
                return cli_usage("'%s' is one file too many: at most %d can be given", argument,
                                 most_files - tool->verb);
            }
            files[(*file_count)++] = argument;
            continue;
        }
        if (strcmp(argument, "--") == 0) {
            options_end = true;
            continue;
        }
        size_t length = 0;
        const cli_option *option = find(argument, &length, &value);
        if (!option || (option->kind == CLI_FLAG && value && argument[1] != '-')) {
            return unknown_option(argument, argument[1] == '-' ? length : strlen(argument));
        }
        if (option->kind == CLI_FLAG && value) {
            return cli_usage("--%s takes no value, but '%s' gives one", option->name, argument);
        }
        if (option->kind != CLI_FLAG && !value) {
            value = argv[i + 1];
            if (!value || strncmp(value, "--", 2) == 0) {
                return cli_usage("%.*s needs a value: %s", (int)length, argument, option->value);
            }
            i++;
        }
        int code = store(option, value, fields);
        if (code != CLI_DONE) {
            return code;
        }
    }
    return CLI_DONE;
}

void cli_help(const cli_tool *of, FILE *to) {
    fputs(of->usage, to);
    for (size_t i = 0; i < of->count; i++) {
        const cli_option *option = &of->options[i];
        char left[64] = "";
        if (!option->help) {
            continue;
        }
        int used = option->letter ? snprintf(left, sizeof left, "-%c, ", option->letter) : 0;
        snprintf(left + used, sizeof left - (size_t)used, "--%s%s%s", option->name, option->value ? " " : "",
                 option->value ? option->value : "");
        size_t first = strcspn(option->help, "\n");
        fprintf(to, "  %-24s %.*s\n", left, (int)first, option->help);
        if (option->help[first]) {
            fprintf(to, "  %-24s %s\n", "", option->help + first + 1);
        }
    }
    fputs(of->tail, to);
}
