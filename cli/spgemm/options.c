/* The options of spgemm-cli as a table, and the pairs of options that contradict each other. */
#include "options.h"
#include "text.h"

#include <string.h>

enum { NAMES_BYTES = 512 };

#define FIELD(name) offsetof(cli_options, name)

static const cli_option table[] = {
    {"output", 'o', CLI_WORD, "FILE", FIELD(output), 0, 0, "write C here; - is standard output; .gz compresses"},
    {"transpose-a", 0, CLI_FLAG, NULL, FIELD(transpose_a), 0, 0, NULL},
    {"transpose-b", 0, CLI_FLAG, NULL, FIELD(transpose_b), 0, 0, "A*B^T, or A*A^T; --transpose-a: A^T*B, or A^T*A"},
    {"semiring", 0, CLI_WORD, "NAME", FIELD(semiring_name), 0, 0, ""}, /* cli_options_help sets its help */
    {"mask", 0, CLI_WORD, "FILE.mtx", FIELD(mask), 0, 0, "keep C where it has entries; --complement: elsewhere"},
    {"complement", 0, CLI_FLAG, NULL, FIELD(complement), 0, 0, NULL},
    {"drop", 0, CLI_NUMBER, "TOL", FIELD(drop), 0, 0, NULL},
    {"keep", 0, CLI_COUNT, "K", FIELD(keep), 1, INT64_MAX, "keep K largest of each row; --drop TOL: no |c| <= TOL"},
    {"generate", 0, CLI_WORD, "SPEC", FIELD(generate), 0, 0,
     "A by name: poisson2d:K stencil27:K fem3:K er:N:D\n"
     "perm:N rmat:S:E web:N:ALPHA:MAX amg:K:P nascg:CLASS"},
    {"seed", 0, CLI_COUNT, "N", FIELD(seed), 0, INT64_MAX, "seed of --generate (default 1)"},
    {"precision", 0, CLI_CHOICE, "f64|f32|i64|i32|bool", FIELD(precision), 0, 0,
     "type of values and products (default f64)"},
    {"device", 0, CLI_WORD, "DEVICE", FIELD(device_name), 0, 0, "auto, cpu, cuda, cuda:N; --devices 0,1: both at once"},
    {"devices", 0, CLI_WORD, "0,1", FIELD(devices), 0, 0, NULL},
    {"threads", 0, CLI_COUNT, "N", FIELD(threads), 1, 4096, "number of threads (default: all of the machine)"},
    {"max-memory", 0, CLI_SIZE, "SIZE", FIELD(max_bytes), 0, 0, "use at most SIZE or fail; K M G T: powers of 1024"},
    {"info", 0, CLI_FLAG, NULL, FIELD(info), 0, 0, "describe A and what C needs; do not multiply"},
    {"dry-run", 0, CLI_FLAG, NULL, FIELD(dry_run), 0, 0, "show the plan and its memory; do not multiply"},
    {"check", 0, CLI_FLAG, NULL, FIELD(check), 0, 0, "compare C with the reference method"},
    {"compare", 0, CLI_CHOICE, "cusparse", FIELD(compare), 0, 0, "also multiply by cuSPARSE on a GPU, and compare"},
    {"repeat", 0, CLI_COUNT, "N", FIELD(repeat), 1, 1000000, "multiply N times after a cold run; fastest and median"},
    {"spy", 0, CLI_WORD, "FILE.svg", FIELD(spy), 0, 0, "draw the pattern of C (A if no product); -: as text"},
    {"lenient", 0, CLI_FLAG, NULL, FIELD(lenient), 0, 0, "accept a symmetric file's entries above the diagonal"},
    {"json", 0, CLI_FLAG, NULL, FIELD(json), 0, 0, "print the report as one JSON object"},
    {"quiet", 'q', CLI_FLAG, NULL, FIELD(quiet), 0, 0, "no report, no progress"},
    {"verbose", 'v', CLI_FLAG, NULL, FIELD(verbose), 0, 0, "show which method was chosen, and why"},
    {"version", 0, CLI_FLAG, NULL, FIELD(version), 0, 0, NULL},
    {"help", 'h', CLI_FLAG, NULL, FIELD(help), 0, 0, NULL},
};

static const cli_tool spgemm_tool = {
    "spgemm-cli",
    "spgemm-cli [options] A.mtx [B.mtx]    C = A*B of Matrix Market files; no B: A*A\n",
    "--version, --help. Exit: 0 done, 1 usage, 2 input, 3 memory, 4 device, 5 check.\n",
    table,
    sizeof table / sizeof *table,
    false,
};

/* The names of all semirings, as lsp_semiring counts them. */
static void list_semirings(char separator, char *names, size_t bytes) {
    size_t used = 0;
    for (int i = 0; i < LSP_SEMIRINGS && used < bytes; i++) {
        const char between[] = {i > 0 ? separator : 0, 0};
        used += (size_t)snprintf(names + used, bytes - used, "%s%s", between, lsp_semiring_name((lsp_semiring)i));
    }
}

void cli_options_help(FILE *to) {
    enum { COUNT = sizeof table / sizeof *table };
    cli_option options[COUNT];
    char names[NAMES_BYTES];
    cli_tool tool = spgemm_tool;
    list_semirings(' ', names, sizeof names);
    for (size_t i = 0; i < COUNT; i++) {
        options[i] = table[i];
        options[i].help = table[i].field == FIELD(semiring_name) ? names : table[i].help;
    }
    tool.options = options;
    cli_help(&tool, to);
}

lsp_type cli_value_type(const cli_options *o) {
    static const lsp_type types[] = {LSP_F64, LSP_F32, LSP_I64, LSP_I32, LSP_BOOL};
    return types[o->precision];
}

const char *cli_precision_name(const cli_options *o) {
    static const char *const names[] = {"f64", "f32", "i64", "i32", "bool"};
    return names[o->precision];
}

bool cli_integers(const cli_options *o) { return o->precision >= 2; }

bool cli_filters(const cli_options *o) { return o->mask || o->drop >= 0 || o->keep > 0; }

/* Refuses pairs of options that make no sense together. */
static int refuse_contradictions(const cli_options *o) {
    const char *filter = o->mask ? "--mask" : o->drop >= 0 ? "--drop" : "--keep";
    const struct {
        bool both;
        const char *one, *other, *why;
    } pairs[] = {
        {o->info && o->dry_run, "--info", "--dry-run", "they are two different reports"},
        {o->info && o->output, "--info", "--output", "it multiplies nothing, so there is no C to write"},
        {o->info && o->check, "--info", "--check", "it multiplies nothing, so there is no C to check"},
        {o->info && o->repeat, "--info", "--repeat", "it multiplies nothing"},
        {o->info && o->compare >= 0, "--info", "--compare", "it multiplies nothing, so there is no C to compare"},
        {o->info && o->semiring, "--info", "--semiring", "it multiplies nothing"},
        {o->info && cli_filters(o), "--info", filter, "it multiplies nothing, so there is no C to filter"},
        {o->dry_run && o->output, "--dry-run", "--output", "it multiplies nothing, so there is no C to write"},
        {o->dry_run && o->check, "--dry-run", "--check", "it multiplies nothing, so there is no C to check"},
        {o->dry_run && o->repeat, "--dry-run", "--repeat", "it multiplies nothing"},
        {o->dry_run && o->compare >= 0, "--dry-run", "--compare", "it multiplies nothing, so there is no C to compare"},
        {o->device == CLI_CPU && o->compare >= 0, "--device cpu", "--compare", "cuSPARSE needs a GPU"},
        {o->devices && o->device_name, "--devices", "--device", "one names several devices, the other one"},
        {o->devices && o->compare >= 0, "--devices", "--compare", "cuSPARSE multiplies on one GPU"},
        {o->devices && o->info, "--info", "--devices", "it multiplies nothing"},
        {o->compare >= 0 && o->semiring, "--compare", "--semiring", "cuSPARSE has only plus-times"},
        {o->compare >= 0 && cli_filters(o), "--compare", filter, "cuSPARSE has no filters"},
        {cli_integers(o) && o->generate, "--precision i64, i32 or bool", "--generate", "generated values are real"},
        {cli_integers(o) && o->compare >= 0, "--precision i64, i32 or bool", "--compare", "cuSPARSE has no integers"},
        {o->quiet && o->verbose, "--quiet", "--verbose", "one asks for less, the other for more"},
        {o->quiet && (o->info || o->dry_run) && !o->json && !o->spy, "--quiet", o->info ? "--info" : "--dry-run",
         "nothing would be printed"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i].both) {
            return cli_usage("%s and %s do not go together: %s", pairs[i].one, pairs[i].other, pairs[i].why);
        }
    }
    if (o->spy && strcmp(o->spy, "-") != 0 && !cli_ends_in(o->spy, ".svg")) {
        return cli_usage("--spy takes a name that ends in .svg, or - for characters, not '%s': pictures are SVG files",
                         o->spy);
    }
    return o->complement && !o->mask ? cli_usage("--complement needs --mask") : CLI_DONE;
}

/* Refuses two inputs from standard input, which can be read only once. */
static int share_input(const cli_options *o) {
    const struct { const char *name, *path; } files[] = {{"A", o->a}, {"B", o->b}, {"the mask", o->mask}};
    const char *reader = NULL;
    for (int i = 0; i < 3; i++) {
        if (files[i].path && strcmp(files[i].path, "-") == 0) {
            if (reader) {
                return cli_usage("%s and %s cannot both be '-': standard input is read once", reader, files[i].name);
            }
            reader = files[i].name;
        }
    }
    return CLI_DONE;
}

static int place_files(cli_options *o, const char **files, int count) {
    if (o->generate) {
        if (count > 1) {
            return cli_usage("--generate makes A, so only B can be given, not both '%s' and '%s'", files[0], files[1]);
        }
        o->b = count > 0 ? files[0] : NULL;
        return CLI_DONE;
    }
    if (o->seed >= 0) {
        return cli_usage("--seed needs --generate");
    }
    if (count == 0) {
        return cli_usage("no matrix: give a file, '-' or --generate SPEC; see --help");
    }
    o->a = files[0];
    o->b = count > 1 ? files[1] : NULL;
    return CLI_DONE;
}

int cli_options_read(int argc, char **argv, cli_options *options) {
    const char *files[2] = {NULL, NULL};
    char semirings[NAMES_BYTES];
    int count = 0;
    *options = (cli_options){.seed = -1, .compare = -1, .drop = -1, .semiring_name = lsp_semiring_name(LSP_PLUS_TIMES)};
    list_semirings('|', semirings, sizeof semirings);
    int code = cli_parse(&spgemm_tool, argc, argv, options, files, 2, &count);
    if (code == CLI_DONE && (options->help || options->version)) {
        return CLI_DONE;
    }
    code = code == CLI_DONE ? cli_read_device(options->device_name, &options->device, &options->ordinal) : code;
    code = code == CLI_DONE ? cli_choose("semiring", semirings, options->semiring_name, &options->semiring) : code;
    code = code == CLI_DONE ? refuse_contradictions(options) : code;
    code = code == CLI_DONE ? place_files(options, files, count) : code;
    return code == CLI_DONE ? share_input(options) : code;
}
