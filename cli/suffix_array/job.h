/* One run of suffix-array: the options, the texts, the result, the times; and its steps in the order in which main.c
 * takes them. A step that fails prints one sentence on standard error and returns its exit code; CLI_DONE otherwise. */
#pragma once

#include "run.h"
#include "texts.h"

enum { SA_MOST_FILES = 1024 };

typedef enum sa_output { SA_ARRAY, SA_LCP, SA_BWT } sa_output;

typedef struct sa_options {
    const char *file[SA_MOST_FILES]; /* "-": standard input */
    int files;
    const char *output, *patterns, *device_name;
    cli_words search;
    int64_t places, threads, max_bytes;     /* if not given: places < 0, the others 0 */
    int output_type, format, index, method; /* < 0: not given */
    cli_device device;
    int ordinal;
    bool text, check, json, quiet, verbose, version, help;
} sa_options;

extern const cli_tool sa_tool;

/* Reads the command line and refuses options that contradict each other. Returns CLI_DONE or CLI_USAGE. */
int sa_options_read(int argc, char **argv, sa_options *options);

typedef struct sa_job {
    sa_options options;
    cli_run run;
    sa_texts texts, patterns;
    bool records;     /* a file is FASTA */
    int64_t longest;  /* string */
    const char *name; /* of the first file */
    lsp_text text;
    lsp_type type; /* of the arrays */
    lsp_suffix_info info;
    void *suffixes, *lcp; /* lcp, bwt: NULL if not needed */
    char *bwt;
    int64_t primary; /* of bwt */
    bool counted;    /* the three numbers that follow, and distinct */
    int64_t repeat, repeat_count, repeat_place;
    int64_t distinct;       /* substrings; < 0: not counted, the text is too long */
    int64_t *first, *count; /* of each pattern */
    int64_t *places;        /* room for those of one pattern */
    bool written, checked;
    char checked_why[CLI_SENTENCE]; /* empty: the array is right */
    double sort_ms, lcp_ms, search_ms, check_ms, write_ms;
} sa_job;

/* Reads texts and patterns. */
int sa_read(sa_job *job);

/* Sorts, on the GPU if it is asked for. */
int sa_sort(sa_job *job);

/* --check. */
int sa_check(sa_job *job);

/* Common prefixes and statistics, the transform, searches: what the options ask for. */
int sa_derive(sa_job *job);

/* Writes the file of -o. */
int sa_write(sa_job *job);

/* Prints the result as a table or as JSON. */
void sa_report(const sa_job *job);

/* Number r of an array of job->type. */
int64_t sa_number_at(const sa_job *job, const void *array, int64_t r);

/* Writes the first places in the text, at most `most` of them and in their order, of the suffixes first .. first +
 * count - 1 of the array to places[2 * most + 1]. Returns how many. */
int64_t sa_places(const sa_job *job, int64_t first, int64_t count, int64_t most, int64_t *places);
