/* The options of suffix-array as a table, and the options that contradict each other. */
#include "job.h"

#include <string.h>

enum { USUAL_PLACES = 3, MOST_PLACES = 1 << 20 };

#define FIELD(name) offsetof(sa_options, name)

static const cli_option table[] = {
    {"output", 'o', CLI_WORD, "FILE", FIELD(output), 0, 0, "write the array; - is standard output"},
    {"output-type", 0, CLI_CHOICE, "array|lcp|bwt", FIELD(output_type), 0, 0, "what -o writes (default array)"},
    {"text", 0, CLI_FLAG, NULL, FIELD(text), 0, 0, "write numbers as text, one a line"},
    {"index", 0, CLI_CHOICE, "i32|i64", FIELD(index), 0, 0, "width of numbers (default: i32 if they fit)"},
    {"search", 's', CLI_WORDS, "PATTERN", FIELD(search), 0, 0, "count it and show places; may be repeated"},
    {"patterns", 0, CLI_WORD, "FILE", FIELD(patterns), 0, 0, "search each line of FILE"},
    {"places", 0, CLI_COUNT, "N", FIELD(places), 0, MOST_PLACES, "show the first N places (default 3)"},
    {"format", 0, CLI_CHOICE, "fasta|text", FIELD(format), 0, 0, "of all files (default: fasta if they begin\nwith >)"},
    {"method", 0, CLI_CHOICE, "auto|doubling|induced", FIELD(method), 0, 0, "never changes the result"},
    {"device", 0, CLI_WORD, "DEVICE", FIELD(device_name), 0, 0, "auto, cpu, cuda or cuda:N"},
    {"threads", 0, CLI_COUNT, "N", FIELD(threads), 1, 4096, "default: all of the machine"},
    {"max-memory", 0, CLI_SIZE, "SIZE", FIELD(max_bytes), 0, 0, "use at most SIZE or fail; K M G T: powers of 1024"},
    {"check", 0, CLI_FLAG, NULL, FIELD(check), 0, 0, "check the array, in linear time"},
    {"json", 0, CLI_FLAG, NULL, FIELD(json), 0, 0, "print one JSON object"},
    {"quiet", 'q', CLI_FLAG, NULL, FIELD(quiet), 0, 0, "print patterns alone; no statistics, no progress"},
    {"verbose", 'v', CLI_FLAG, NULL, FIELD(verbose), 0, 0, "show method, why, device and memory"},
    {"version", 0, CLI_FLAG, NULL, FIELD(version), 0, 0, NULL},
    {"help", 'h', CLI_FLAG, NULL, FIELD(help), 0, 0, NULL},
};

const cli_tool sa_tool = {
    "suffix-array",
    "suffix-array [options] FILE...\n"
    "Sorts all suffixes of texts or FASTA records; repeats, searches, the transform.\n",
    "Files may have .gz; - is standard input. --version, --help\n"
    "Exit: 0 done, 1 usage, 2 input, 3 memory, 4 device, 5 check.\n",
    table,
    sizeof table / sizeof *table,
    false,
};

static int refuse_contradictions(const sa_options *o) {
    if (o->text && o->output_type == SA_BWT) {
        return cli_usage("--text and --output-type bwt do not go together: a transform has symbols, not numbers");
    }
    if (o->quiet && o->verbose) {
        return cli_usage("--quiet and --verbose do not go together: one asks for less, the other for more");
    }
    if (!o->output && (o->text || o->output_type >= 0)) {
        return cli_usage("%s needs --output FILE", o->text ? "--text" : "--output-type");
    }
    if (o->places >= 0 && !o->patterns && o->search.count == 0) {
        return cli_usage("--places needs --search or --patterns");
    }
    const size_t length = o->output ? strlen(o->output) : 0;
    if (length > 3 && strcmp(o->output + length - 3, ".gz") == 0) {
        return cli_usage("'%s': the output is not compressed; -o - | gzip does it", o->output);
    }
    int standard = o->patterns && strcmp(o->patterns, "-") == 0;
    for (int i = 0; i < o->files; i++) {
        standard += strcmp(o->file[i], "-") == 0;
    }
    return standard > 1 ? cli_usage("'-' is given %d times: standard input is read once", standard) : CLI_DONE;
}

int sa_options_read(int argc, char **argv, sa_options *options) {
    *options = (sa_options){.places = -1, .output_type = -1, .format = -1, .index = -1, .method = -1};
    CLI_STEP(cli_parse(&sa_tool, argc, argv, options, options->file, SA_MOST_FILES, &options->files));
    if (options->help || options->version) {
        return CLI_DONE;
    }
    if (options->files == 0) {
        return cli_usage("no text: give a file, or - for standard input; see --help");
    }
    CLI_STEP(cli_read_device(options->device_name, &options->device, &options->ordinal));
    CLI_STEP(refuse_contradictions(options));
    options->places = options->places >= 0 ? options->places : USUAL_PLACES;
    options->output_type = options->output_type >= 0 ? options->output_type : SA_ARRAY;
    return CLI_DONE;
}
