/* The options of cg-bench as a table, and the options that contradict each other. */
#include "options.h"
#include "text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char classes[] = "S|W|A|B|C|D|E", solvers[] = "cg|bicgstab", preconditions[] = "none|jacobi|multigrid",
                  smoothers[] = "jacobi|chebyshev";

enum { NAMES_BYTES = 256, MOST_PASSES = 1024, MOST_SWEEPS = 100, MOST_BLOCK = 64 };

#define FIELD(name) offsetof(cg_options, name)

static const cli_option table[] = {
    {"class", 0, CLI_WORD, classes, FIELD(class_name), 0, 0, "the NAS benchmark of this class, verified"},
    {"matrix", 0, CLI_WORD, "A.mtx", FIELD(matrix), 0, 0, "solve A x = b; - is standard input"},
    {"generate", 0, CLI_WORD, "SPEC", FIELD(generate), 0, 0,
     "A by name: poisson2d:K stencil27:K fem3:K er:N:D\n"
     "perm:N rmat:S:E web:N:ALPHA:MAX nascg:CLASS; --seed N"},
    {"seed", 0, CLI_COUNT, "N", FIELD(seed), 0, INT64_MAX, NULL},
    {"rhs", 0, CLI_WORD, "FILE", FIELD(rhs), 0, 0, "b, a vector (default: A * ones, and x is compared)"},
    {"output", 'o', CLI_WORD, "FILE", FIELD(output), 0, 0, "write x here; - is standard output; .gz compresses"},
    {"solver", 0, CLI_CHOICE, solvers, FIELD(solver), 0, 0,
     "default cg, for A symmetric positive definite\n"
     "--precondition none|jacobi|multigrid (default none)"},
    {"precondition", 0, CLI_CHOICE, preconditions, FIELD(precondition), 0, 0, NULL},
    {"mg-smoother", 0, CLI_CHOICE, smoothers, FIELD(mg_smoother), 0, 0, NULL},
    {"mg-sweeps", 0, CLI_COUNT, "N", FIELD(mg_sweeps), 1, MOST_SWEEPS, NULL},
    {"mg-cycle", 0, CLI_CHOICE, "v|w", FIELD(mg_cycle), 0, 0, NULL},
    {"mg-threshold", 0, CLI_NUMBER, "X", FIELD(mg_threshold), 0, 0, NULL},
    {"mg-block", 0, CLI_COUNT, "N", FIELD(mg_block), 1, MOST_BLOCK, NULL},
    {"mg-levels", 0, CLI_CHOICE, "f64|f32", FIELD(mg_levels), 0, 0, NULL},
    {"rtol", 0, CLI_NUMBER, "X", FIELD(rtol), 0, 0, "|b - A x| / |b| to reach (1e-8; f32: 1e-4)"},
    {"max-iter", 0, CLI_COUNT, "N", FIELD(max_iterations), 1, INT64_MAX, "give up after N iterations (10 n or 100000)"},
    {"method", 0, CLI_WORD, "NAME", FIELD(method_name), 0, 0,
     "of products with A: auto reference rows equal\n"
     "gather diagonals blocks lengths propagate packed"},
    {"passes", 0, CLI_WORD, "auto|N", FIELD(passes_name), 0, 0, "with --method gather: read x in N passes"},
    {"precision", 0, CLI_CHOICE, "f64|f32", FIELD(precision), 0, 0, "type of all numbers (default f64)"},
    {"device", 0, CLI_WORD, "DEVICE", FIELD(device_name), 0, 0,
     "auto, cpu, cuda or cuda:N (default auto); --threads N"},
    {"threads", 0, CLI_COUNT, "N", FIELD(threads), 1, 4096, NULL},
    {"max-memory", 0, CLI_SIZE, "SIZE", FIELD(max_bytes), 0, 0, "use at most SIZE or fail; K M G T: powers of 1024"},
    {"repeat", 0, CLI_COUNT, "N", FIELD(repeat), 1, 1000000, "N runs after a cold one; fastest and median"},
    {"compare", 0, CLI_CHOICE, "cusparse", FIELD(compare), 0, 0, "also run cuSPARSE with cuBLAS on a GPU"},
    {"history", 0, CLI_WORD, "FILE", FIELD(history), 0, 0, "the residuals: .svg draws a curve, .json lists them"},
    {"lenient", 0, CLI_FLAG, NULL, FIELD(lenient), 0, 0, NULL},
    {"json", 0, CLI_FLAG, NULL, FIELD(json), 0, 0, "print the report as one JSON object"},
    {"quiet", 'q', CLI_FLAG, NULL, FIELD(quiet), 0, 0, "no report, no progress"},
    {"verbose", 'v', CLI_FLAG, NULL, FIELD(verbose), 0, 0, "the method, why, its predicted and measured time"},
    {"version", 0, CLI_FLAG, NULL, FIELD(version), 0, 0, NULL},
    {"help", 'h', CLI_FLAG, NULL, FIELD(help), 0, 0, NULL},
};

const cli_tool cg_tool = {
    "cg-bench",
    "cg-bench --class A    cg-bench [options] A.mtx    conjugate gradients\n",
    "--version, --help. Exit: 0 done, 1 usage, 2 input, 3 memory, 4 device, 5 check.\n",
    table,
    sizeof table / sizeof *table,
    false,
};

lsp_type cg_type(const cg_options *o) { return o->precision == 1 ? LSP_F32 : LSP_F64; }
double cg_rtol(const cg_options *o) { return o->rtol > 0 ? o->rtol : o->precision == 1 ? 1e-4 : 1e-8; }
const char *cg_solver_name(const cg_options *o) { return o->solver == CG_BICGSTAB ? "bicgstab" : "cg"; }
const char *cg_precondition_name(const cg_options *o) {
    return o->precondition == CG_MULTIGRID ? "multigrid" : o->precondition == CG_JACOBI ? "jacobi" : "none";
}
const char *cg_smoother_name(const cg_options *o) {
    return o->mg_smoother == LSP_SMOOTHER_CHEBYSHEV ? "chebyshev" : "jacobi";
}

lsp_multigrid_options cg_multigrid(const cg_options *o) {
    return (lsp_multigrid_options){.type = cg_type(o),
                                   .level_values = o->mg_levels == 1 ? LSP_F32 : LSP_NONE,
                                   .threshold = o->mg_threshold >= 0 ? o->mg_threshold : 0,
                                   .block = o->mg_block,
                                   .smoother = o->mg_smoother == 1 ? LSP_SMOOTHER_CHEBYSHEV : LSP_SMOOTHER_JACOBI,
                                   .sweeps = (int)o->mg_sweeps,
                                   .cycle = o->mg_cycle == 1 ? LSP_CYCLE_W : LSP_CYCLE_V};
}

bool cg_history_drawn(const cg_options *o) { return o->history && cli_ends_in(o->history, ".svg"); }

static int read_class(cg_options *o) {
    const char *name = o->class_name;
    if (!name) {
        return CLI_DONE;
    }
    const char *letter = strncasecmp(name, "nascg:", 6) == 0 ? name + 6 : name; /* as --generate spells it */
    const int upper = toupper((unsigned char)*letter);
    if (*letter == 0 || letter[1] != 0 || upper == '|' || !strchr(classes, upper)) {
        return cli_usage("--class takes %s, not '%s'", classes, name);
    }
    if (letter != name || upper != *letter) {
        return cli_usage("--class takes %s, not '%s'; did you mean '%c'?", classes, name, upper);
    }
    o->nas = *letter;
    return CLI_DONE;
}

static int read_method(cg_options *o) {
    char names[NAMES_BYTES] = "";
    int which = LSP_SPMV_AUTO;
    size_t used = 0;
    for (int i = 0; i < LSP_SPMV_METHODS && used < sizeof names; i++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? "|" : "",
                                 lsp_spmv_method_name((lsp_spmv_method)i));
    }
    if (o->method_name) {
        CLI_STEP(cli_choose("method", names, o->method_name, &which));
    }
    o->method = (lsp_spmv_method)which;
    if (!o->passes_name) {
        return CLI_DONE;
    }
    int64_t passes = 0;
    if (strcmp(o->passes_name, "auto") != 0 && !cli_parse_count(o->passes_name, 1, MOST_PASSES, &passes)) {
        return cli_usage("--passes takes auto or a whole number from 1 to %d, not '%s'", MOST_PASSES, o->passes_name);
    }
    if (o->method != LSP_SPMV_GATHER) {
        return cli_usage("--passes needs --method gather: only gather has passes");
    }
    o->passes = (int)passes;
    return CLI_DONE;
}

/* The options that only multigrid takes. */
static const char *of_multigrid(const cg_options *o) {
    return o->mg_smoother >= 0    ? "--mg-smoother"
           : o->mg_sweeps         ? "--mg-sweeps"
           : o->mg_cycle >= 0     ? "--mg-cycle"
           : o->mg_threshold >= 0 ? "--mg-threshold"
           : o->mg_block          ? "--mg-block"
           : o->mg_levels >= 0    ? "--mg-levels"
                                  : NULL;
}

/* The options that only a system takes. */
static const char *of_a_system(const cg_options *o) {
    return o->matrix              ? "--matrix"
           : o->generate          ? "--generate"
           : o->rhs               ? "--rhs"
           : o->output            ? "--output"
           : o->solver >= 0       ? "--solver"
           : o->precondition >= 0 ? "--precondition"
           : o->rtol >= 0         ? "--rtol"
           : o->max_iterations    ? "--max-iter"
           : o->precision >= 0    ? "--precision"
           : o->seed >= 0         ? "--seed"
           : o->lenient           ? "--lenient"
                                  : of_multigrid(o);
}

static int refuse_contradictions(const cg_options *o) {
    const char *system = of_a_system(o), *multigrid = of_multigrid(o);
    const struct {
        bool both;
        const char *one, *other, *why;
    } pairs[] = {
        {o->nas && system, "--class", system, "the benchmark prescribes its matrix, its vectors and its steps"},
        {o->matrix && o->generate, "--matrix", "--generate", "there is one A"},
        {o->device == CLI_CPU && o->compare >= 0, "--device cpu", "--compare", "cuSPARSE needs a GPU"},
        {o->solver == CG_BICGSTAB && o->compare >= 0, "--solver bicgstab", "--compare",
         "only conjugate gradients are compared"},
        {o->quiet && o->verbose, "--quiet", "--verbose", "one asks for less, the other for more"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i].both) {
            return cli_usage("%s and %s do not go together: %s", pairs[i].one, pairs[i].other, pairs[i].why);
        }
    }
    if (!o->nas && !o->matrix && !o->generate) {
        return cli_usage("nothing to solve: give --class NAME, a matrix or --generate SPEC; see --help");
    }
    if (o->seed >= 0 && !o->generate) {
        return cli_usage("--seed needs --generate");
    }
    if (multigrid && o->precondition != CG_MULTIGRID) {
        return cli_usage("%s needs --precondition multigrid", multigrid);
    }
    if (o->rtol == 0) {
        return cli_usage("--rtol takes a number above 0, not 0: no residual is that small");
    }
    if (o->matrix && o->rhs && strcmp(o->matrix, "-") == 0 && strcmp(o->rhs, "-") == 0) {
        return cli_usage("A and b cannot both be '-': standard input is read once");
    }
    if (o->history && !cli_ends_in(o->history, ".svg") && !cli_ends_in(o->history, ".json")) {
        return cli_usage("--history takes a name that ends in .svg or .json, not '%s'", o->history);
    }
    return CLI_DONE;
}

int cg_options_read(int argc, char **argv, cg_options *options) {
    const char *files[1] = {NULL};
    int count = 0;
    *options = (cg_options){.seed = -1,
                            .compare = -1,
                            .solver = -1,
                            .precondition = -1,
                            .precision = -1,
                            .rtol = -1,
                            .mg_smoother = -1,
                            .mg_cycle = -1,
                            .mg_levels = -1,
                            .mg_threshold = -1};
    int code = cli_parse(&cg_tool, argc, argv, options, files, 1, &count);
    if (code != CLI_DONE || options->help || options->version) {
        return code;
    }
    if (count > 0 && options->matrix) {
        return cli_usage("'%s' and --matrix '%s': there is one A", files[0], options->matrix);
    }
    options->matrix = count > 0 ? files[0] : options->matrix;
    CLI_STEP(cli_read_device(options->device_name, &options->device, &options->ordinal));
    CLI_STEP(read_class(options));
    CLI_STEP(read_method(options));
    return refuse_contradictions(options);
}
