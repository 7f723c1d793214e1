/* The options of two-body as a table, and the options that contradict each other or do not belong to the verb. */
#include "options.h"
#include "text.h"

#include <string.h>

static const char verbs[] = "count|histogram|gr|join|nearest|density";

enum { USUAL_BINS = 100, MOST_BINS = 1 << 22 };

#define FIELD(name) offsetof(tb_options, name)

static const cli_option table[] = {
    {"radius", 'r', CLI_WORD, "R[,R...]", FIELD(radius_text), 0, 0, "of count, join: pairs up to this distance"},
    {"range", 0, CLI_NUMBER, "R", FIELD(range), 0, 0, "of histogram, gr: distances below R in --bins N"},
    {"bins", 0, CLI_COUNT, "N", FIELD(bins), 1, MOST_BINS, NULL},
    {"approximate", 0, CLI_FLAG, NULL, FIELD(approximate), 0, 0, "of histogram, gr: a GPU's faster root"},
    {"neighbours", 'k', CLI_COUNT, "K", FIELD(neighbours), 1, INT32_MAX, "of nearest"},
    {"bandwidth", 0, CLI_NUMBER, "H", FIELD(bandwidth), 0, 0, "of density; --kernel gaussian|epanechnikov"},
    {"kernel", 0, CLI_CHOICE, "gaussian|epanechnikov", FIELD(kernel), 0, 0, NULL},
    {"squared", 0, CLI_FLAG, NULL, FIELD(squared), 0, 0, "squares of distances; or --pattern, no values"},
    {"pattern", 0, CLI_FLAG, NULL, FIELD(pattern), 0, 0, NULL},
    {"half", 0, CLI_FLAG, NULL, FIELD(half), 0, 0, "of join: each pair once, above the diagonal"},
    {"output", 'o', CLI_WORD, "FILE", FIELD(output), 0, 0, "table, or matrix (.mtx); - is standard output"},
    {"format", 0, CLI_CHOICE, "xyz|gro|pdb|csv|npy", FIELD(format), 0, 0, "of the files (default: by their names)"},
    {"element", 0, CLI_WORD, "A[,B]", FIELD(element), 0, 0,
     "atoms of A alone; A,B: pairs of A with B\n"
     "--name A[,B]: by the atom's name"},
    {"name", 0, CLI_WORD, "A[,B]", FIELD(name), 0, 0, NULL},
    {"box", 0, CLI_WORD, "X,Y,Z[,xy,xz,yz]", FIELD(box_text), 0, 0, "periodic box instead of the file's; --no-box"},
    {"no-box", 0, CLI_FLAG, NULL, FIELD(no_box), 0, 0, NULL},
    {"generate", 0, CLI_WORD, "SPEC", FIELD(generate), 0, 0, "uniform:N:D blobs:N:D:K lattice:N:D; --seed N"},
    {"seed", 0, CLI_COUNT, "N", FIELD(seed), 0, INT64_MAX, NULL},
    {"method", 0, CLI_CHOICE, "auto|all|grid|boxes", FIELD(method), 0, 0, NULL},
    {"precision", 0, CLI_CHOICE, "f64|f32", FIELD(precision), 0, 0, "of coordinates; --method auto|all|grid|boxes"},
    {"device", 0, CLI_WORD, "DEVICE", FIELD(device_name), 0, 0, "auto, cpu, cuda, cuda:N; --devices 0,1; --threads N"},
    {"devices", 0, CLI_WORD, "LIST", FIELD(devices), 0, 0, NULL},
    {"threads", 0, CLI_COUNT, "N", FIELD(threads), 1, 4096, NULL},
    {"max-memory", 0, CLI_SIZE, "SIZE", FIELD(max_bytes), 0, 0, "use at most SIZE or fail; K M G T: powers of 1024"},
    {"repeat", 0, CLI_COUNT, "N", FIELD(repeat), 1, 1000000, NULL},
    {"check", 0, CLI_FLAG, NULL, FIELD(check), 0, 0, "by a plain loop; --repeat N: the fastest of N, warm"},
    {"svg", 0, CLI_WORD, "FILE", FIELD(svg), 0, 0, "draw the histogram or g(r)"},
    {"json", 0, CLI_FLAG, NULL, FIELD(json), 0, 0, "print one JSON object"},
    {"quiet", 'q', CLI_FLAG, NULL, FIELD(quiet), 0, 0, "the table alone, no progress; -v: method, why"},
    {"verbose", 'v', CLI_FLAG, NULL, FIELD(verbose), 0, 0, NULL},
    {"version", 0, CLI_FLAG, NULL, FIELD(version), 0, 0, NULL},
    {"help", 'h', CLI_FLAG, NULL, FIELD(help), 0, 0, NULL},
};

const cli_tool tb_tool = {
    "two-body",
    "two-body count|histogram|gr|join|nearest|density [options] FILE [FILE2]\n"
    "two-body generate NAME ... writes a program for pairs: two-body generate --help\n",
    "Files: .xyz .gro .pdb .csv .npy, also with .gz. --version, --help\n"
    "Exit: 0 done, 1 usage, 2 input, 3 memory, 4 device, 5 check.\n",
    table,
    sizeof table / sizeof *table,
    true,
};

lsp_type tb_type(const tb_options *o) { return o->precision == 1 ? LSP_F32 : LSP_F64; }
bool tb_makes_matrix(const tb_options *o) { return o->verb == TB_JOIN || o->verb == TB_NEAREST; }

const char *tb_verb_name(tb_verb verb) {
    static const char *const names[] = {"count", "histogram", "gr", "join", "nearest", "density"};
    return names[verb];
}

/* Reads numbers separated by commas. Returns how many, 0 if one is wrong or there are more than `most`. */
static int read_list(const char *text, double *numbers, int most) {
    for (int count = 0; count < most; count++) {
        char word[64];
        const size_t length = strcspn(text, ",");
        const bool below = *text == '-';
        if (length >= sizeof word) {
            return 0;
        }
        memcpy(word, text, length);
        word[length] = 0;
        if (!cli_parse_number(word + below, &numbers[count])) {
            return 0;
        }
        numbers[count] = below ? -numbers[count] : numbers[count];
        if (text[length] == 0) {
            return count + 1;
        }
        text += length + 1;
    }
    return 0;
}

static int read_lists(tb_options *o) {
    if (o->radius_text) {
        o->radius_count = read_list(o->radius_text, o->radius, o->verb == TB_COUNT ? TB_MOST_RADII : 1);
        for (int i = 0; i < o->radius_count; i++) {
            o->radius_count = o->radius[i] >= 0 ? o->radius_count : 0;
        }
        if (o->radius_count == 0) {
            return cli_usage("--radius takes %s from 0 up, not '%s'",
                             o->verb == TB_COUNT ? "1 to 256 numbers, separated by commas," : "one number",
                             o->radius_text);
        }
    }
    if (o->box_text) {
        o->box_count = read_list(o->box_text, o->box, TB_MOST_DIMENSIONS + 3);
        if (o->box_count == 0) {
            return cli_usage("--box takes the sides of a box and perhaps its tilts, separated by commas, not '%s'",
                             o->box_text);
        }
    }
    return CLI_DONE;
}

/* What a verb takes and needs. */
static int refuse_foreign(const tb_options *o) {
    enum {
        C = 1 << TB_COUNT,
        H = 1 << TB_HISTOGRAM,
        G = 1 << TB_GR,
        J = 1 << TB_JOIN,
        N = 1 << TB_NEAREST,
        D = 1 << TB_DENSITY
    };
    const struct {
        const char *name;
        bool given;
        int takes, needs;
    } options[] = {
        {"--radius", o->radius_text, C | J, C | J},
        {"--range", o->range >= 0, H | G, H | G},
        {"--bins", o->bins > 0, H | G, 0},
        {"--approximate", o->approximate, H | G, 0},
        {"--neighbours", o->neighbours > 0, N, N},
        {"--bandwidth", o->bandwidth >= 0, D, D},
        {"--kernel", o->kernel >= 0, D, 0},
        {"--squared", o->squared, J | N, 0},
        {"--pattern", o->pattern, J | N, 0},
        {"--half", o->half, J, 0},
        {"--svg", o->svg, H | G, 0},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (options[i].given && !(options[i].takes >> o->verb & 1)) {
            return cli_usage("%s does not belong to %s", options[i].name, tb_verb_name(o->verb));
        }
        if (!options[i].given && options[i].needs >> o->verb & 1) {
            return cli_usage("%s needs %s", tb_verb_name(o->verb), options[i].name);
        }
    }
    if (o->range == 0 || o->bandwidth == 0) {
        return cli_usage("%s takes a number above 0, not 0", o->range == 0 ? "--range" : "--bandwidth");
    }
    return CLI_DONE;
}

static int refuse_contradictions(const tb_options *o) {
    const struct {
        bool both;
        const char *one, *other, *why;
    } pairs[] = {
        {o->generate && o->file[0], "--generate", "a file", "there is one first set of points"},
        {o->generate && (o->element || o->name), "--generate", "--element or --name", "these points have no names"},
        {o->element && o->name, "--element", "--name", "atoms are selected by one of them"},
        {o->box_text && o->no_box, "--box", "--no-box", "there is a box or none"},
        {o->squared && o->pattern, "--squared", "--pattern", "a pattern has no values"},
        {o->half && (o->file[1]), "--half", "a second file", "pairs of two sets are one direction already"},
        {o->devices && o->device_name, "--devices", "--device", "one names several, the other one"},
        {o->quiet && o->verbose, "--quiet", "--verbose", "one asks for less, the other for more"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i].both) {
            return cli_usage("%s and %s do not go together: %s", pairs[i].one, pairs[i].other, pairs[i].why);
        }
    }
    if (o->svg && !cli_ends_in(o->svg, ".svg")) {
        return cli_usage("--svg takes a name that ends in .svg, not '%s': pictures are SVG files", o->svg);
    }
    if (!o->file[0] && !o->generate) {
        return cli_usage("no points: give a file or --generate SPEC; see --help");
    }
    if (o->seed >= 0 && !o->generate) {
        return cli_usage("--seed needs --generate");
    }
    if (o->file[1] && strcmp(o->file[0], "-") == 0 && strcmp(o->file[1], "-") == 0) {
        return cli_usage("both sets cannot be '-': standard input is read once");
    }
    return CLI_DONE;
}

int tb_options_read(int argc, char **argv, tb_options *options) {
    const char *files[3] = {NULL};
    int count = 0, verb = 0;
    *options = (tb_options){
        .seed = -1, .range = -1, .bandwidth = -1, .kernel = -1, .format = -1, .method = -1, .precision = -1};
    int code = cli_parse(&tb_tool, argc, argv, options, files, 3, &count);
    if (code != CLI_DONE || options->help || options->version) {
        return code;
    }
    if (count == 0) {
        return cli_usage("nothing to do: give a verb (%s) and a file; see --help", verbs);
    }
    while (verb < TB_VERBS && strcmp(tb_verb_name((tb_verb)verb), files[0]) != 0) {
        verb++;
    }
    if (verb == TB_VERBS) {
        return cli_unknown(files[0], verbs, "the verb is %s, not '%s'", verbs, files[0]);
    }
    options->verb = (tb_verb)verb;
    options->file[0] = files[1];
    options->file[1] = files[2];
    CLI_STEP(cli_read_device(options->device_name, &options->device, &options->ordinal));
    CLI_STEP(read_lists(options));
    CLI_STEP(refuse_foreign(options));
    options->bins = options->bins > 0 ? options->bins : USUAL_BINS;
    return refuse_contradictions(options);
}
