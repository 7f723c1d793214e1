/* two-body generate NAME: a user's distance or predicate becomes NAME.h, NAME.c and NAME.cu, which set the macros of
 * libsparse/pairs/pairs.h and include its templates. What each file must know is decided here, by rules; nothing is
 * compiled. */
#include "emit.h"
#include "arguments.h"
#include "output.h"
#include "run.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum emit_kind { EMIT_COUNT, EMIT_HISTOGRAM, EMIT_JOIN, EMIT_SUM } emit_kind;
enum { MOST_LIMITS = 16, MOST_BINS = 1 << 22, MOST_PARAMETERS = 16, MOST_DIMENSIONS = 8 };

typedef struct emit_options {
    const char *name, *distance, *predicate, *functions, *folder;
    int output, type, target; /* indices of words */
    int64_t size, dimensions, parameters;
    bool squared, force, help;
} emit_options;

#define FIELD(name) offsetof(emit_options, name)

static const cli_option table[] = {
    {"distance", 0, CLI_WORD, "EXPR", FIELD(distance), 0, 0, "in C: of points x and y, with parameters p, 0 or more"},
    {"predicate", 0, CLI_WORD, "EXPR", FIELD(predicate), 0, 0, "instead of a distance: which pairs are meant"},
    {"functions", 0, CLI_WORD, "FILE", FIELD(functions), 0, 0, "that EXPR calls: a header for C and CUDA C++"},
    {"output", 0, CLI_CHOICE, "count|histogram|join|sum", FIELD(output), 0, 0, "what is made of all pairs"},
    {"size", 0, CLI_COUNT, "N", FIELD(size), 1, MOST_BINS, "limits of a count (default 1), bins of a histogram"},
    {"dimensions", 'd', CLI_COUNT, "D", FIELD(dimensions), 1, MOST_DIMENSIONS, "coordinates of a point (default 3)"},
    {"type", 0, CLI_CHOICE, "f32|f64|u32|u64", FIELD(type), 0, 0, "of a coordinate (default f32); u: bits"},
    {"parameters", 0, CLI_COUNT, "N", FIELD(parameters), 0, MOST_PARAMETERS,
     "numbers p[0] ... of each call (default 0)"},
    {"squared", 0, CLI_FLAG, NULL, FIELD(squared), 0, 0, "the distance is a square; bins are of its root"},
    {"target", 0, CLI_CHOICE, "sm80|sm86|sm90", FIELD(target), 0, 0, "least compute capability (default sm80)"},
    {"folder", 'o', CLI_WORD, "FOLDER", FIELD(folder), 0, 0, "where NAME.h, NAME.c and NAME.cu go (default .)"},
    {"force", 0, CLI_FLAG, NULL, FIELD(force), 0, 0, "overwrite files"},
    {"help", 'h', CLI_FLAG, NULL, FIELD(help), 0, 0, NULL},
};

static const cli_tool tool = {
    "two-body",
    "two-body generate NAME --distance EXPR|--predicate EXPR --output KIND [options]\n",
    "Shipped: pairs_euclid(x, y), pairs_euclid_squared(x, y), pairs_periodic_squared(x, y, p),\n"
    "pairs_cosine(x, y), pairs_great_circle(x, y), pairs_hamming(x, y).\n",
    table,
    sizeof table / sizeof *table,
    false,
};

/* ---- the rules ---- */

/* How a GPU does it: points a thread keeps, threads a block, blocks a multiprocessor, copies of a counter in shared
 * memory. */
typedef struct emit_plan {
    int rows, nt, resident, copies;
    char why[160];
} emit_plan;

static size_t place_bytes(const emit_options *o) { return o->type == 1 || o->type == 3 ? 8 : 4; }

/* The figures of docs/measurements/two_body.md: coordinates of the points of a thread stay in registers. 32 copies of a
 * histogram, a bank for each lane, if two blocks have room; else 16 in one block of 1024 threads; else one. 2, 4 and 8
 * copies are slower than one. */
static emit_plan plan_of(const emit_options *o) {
    static const int shared_kb[] = {164, 100, 228};
    const int64_t words = o->dimensions * (int64_t)place_bytes(o) / 4;
    const int64_t sm = shared_kb[o->target] * 1024, block = sm - 1024;
    const int64_t beside = o->dimensions * 256 * (int64_t)place_bytes(o) + 1024, counters = o->size + 1;
    emit_plan plan = {.rows = 2, .nt = 128, .resident = 4};
    switch ((emit_kind)o->output) {
    case EMIT_COUNT:
        plan.rows = o->size > 1 || words > 8 ? 2 : words <= 4 ? 8 : 4;
        plan.nt = 256;
        plan.resident = 2;
        snprintf(plan.why, sizeof plan.why, "the output is tiny: %lld counter%s in registers, %d points a thread",
                 (long long)o->size, o->size == 1 ? "" : "s", plan.rows);
        break;
    case EMIT_HISTOGRAM:
        plan.rows = words <= 4 ? 4 : 2;
        plan.copies = counters * 128 <= sm / 2 - beside ? 32
                      : counters * 64 <= block - beside ? 16
                      : counters * 4 <= block - beside  ? 1
                                                        : 0;
        plan.nt = plan.copies == 16 || (plan.copies == 1 && counters * 4 > sm / 2 - beside) ? 1024 : 512;
        plan.resident = 1024 / plan.nt;
        if (plan.copies > 0) {
            snprintf(plan.why, sizeof plan.why, "%lld bins: %d private cop%s of the output in shared memory",
                     (long long)o->size, plan.copies, plan.copies == 1 ? "y" : "ies");
        } else {
            snprintf(plan.why, sizeof plan.why, "%lld bins fit no shared memory: counters in global memory",
                     (long long)o->size);
        }
        break;
    case EMIT_JOIN:
        snprintf(plan.why, sizeof plan.why,
                 "the size of the output is unknown: rows are counted, then filled in order");
        break;
    default:
        snprintf(plan.why, sizeof plan.why, "a number for each point: in registers, %d points a thread", plan.rows);
    }
    return plan;
}

/* ---- what is written ---- */

static const char *const kinds[] = {"count", "histogram", "join", "sum"};

static void put_prototype(FILE *to, const emit_options *o, const char *suffix) {
    static const char *const outputs[] = {"uint64_t *counts", "uint64_t *counts", "lsp_csr *C", "double *sums"};
    const bool limit = !o->predicate;
    fprintf(to, "lsp_status %s%s(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const double *parameters,\n",
            o->name, suffix);
    fprintf(to, "    %s%s%s, lsp_pair_info *info);\n",
            o->output == EMIT_HISTOGRAM        ? "double range, "
            : o->output == EMIT_COUNT && limit ? "const double *limits, "
            : o->output == EMIT_JOIN && limit  ? "double limit, "
                                               : "",
            o->output == EMIT_JOIN ? "const lsp_join_options *join, " : "", outputs[o->output]);
}

static void put_head(FILE *to, const emit_options *o, const char *rest) {
    fprintf(to, "/* %s: %s of pairs of points by the %s\n *     %s\n * %s Written by two-body generate. */\n", o->name,
            kinds[o->output], o->predicate ? "predicate" : "distance", o->predicate ? o->predicate : o->distance, rest);
}

static void put_header(FILE *to, const emit_options *o) {
    put_head(to, o, "The rules for points, sets and contexts are those of libsparse/two_body.h.");
    fprintf(to, "#ifndef PAIRS_%s_H\n#define PAIRS_%s_H\n\n#include <libsparse.h>\n\n", o->name, o->name);
    fputs("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n", to);
    switch ((emit_kind)o->output) {
    case EMIT_COUNT:
        fprintf(to, "/* counts[k], k < %lld: the pairs %s. */\n", (long long)o->size,
                o->predicate ? "for which the predicate holds" : "with a distance up to limits[k]");
        break;
    case EMIT_HISTOGRAM:
        fprintf(to, "/* counts[k]: the pairs in bin k of %lld equal bins from 0 to `range`. */\n", (long long)o->size);
        break;
    case EMIT_JOIN:
        fprintf(to,
                "/* C: the matrix of the pairs %s, each in both directions; rows sorted by column, where\n"
                " * the context works. Its values are %s. `join` may be NULL. */\n",
                o->predicate ? "for which the predicate holds" : "with a distance up to the limit",
                o->predicate ? "none" : "the distances");
        break;
    default:
        fputs("/* sums[i], on the host: the sum of the values of point i of a and all points of b (of a, itself too, "
              "if b is\n"
              " * NULL). */\n",
              to);
    }
    fprintf(to, "/* %lld parameters (NULL: none). A refusal writes its sentence to info->reason. */\n",
            (long long)o->parameters);
    put_prototype(to, o, "");
    fputs("\n#ifdef __cplusplus\n}\n#endif\n#endif\n", to);
}

static void put_settings(FILE *to, const emit_options *o) {
    static const struct {
        const char *place, *place_type, *number, *number_type, *whole, *real, *fn;
        int wide, bits;
    } types[] = {
        {"float", "LSP_F32", "float", "LSP_F32", "uint32_t", "float", "f##f", 0, 0},
        {"double", "LSP_F64", "double", "LSP_F64", "uint64_t", "double", "f", 1, 0},
        {"uint32_t", "LSP_U32", "int32_t", "LSP_I32", "uint32_t", "float", "f##f", 0, 1},
        {"uint64_t", "LSP_U64", "int32_t", "LSP_I32", "uint32_t", "float", "f##f", 0, 1},
    };
    static const char *const flags[] = {"PAIRS_COUNT", "PAIRS_HISTOGRAM", "PAIRS_JOIN", "PAIRS_SUM"};
    const int t = o->type;
    fprintf(to, "#define PAIRS_PLACE %s\n#define PAIRS_PLACE_TYPE %s\n", types[t].place, types[t].place_type);
    fprintf(to, "#define PAIRS_NUMBER %s\n#define PAIRS_NUMBER_TYPE %s\n", types[t].number, types[t].number_type);
    fprintf(to, "#define PAIRS_WHOLE %s\n#define PAIRS_REAL %s\n", types[t].whole, types[t].real);
    fprintf(to, "#define PAIRS_FN(name) name%s\n", types[t].wide ? "" : "##f");
    fprintf(to, "#define PAIRS_IS_WIDE %d\n#define PAIRS_OF_BITS %d\n", types[t].wide, types[t].bits);
    fprintf(to, "#define PAIRS_IS_PREDICATE %d\n", o->predicate != NULL);
    fprintf(to, "#define PAIRS_DIMENSIONS %lld\n#define PAIRS_PARAMETERS %lld\n", (long long)o->dimensions,
            (long long)o->parameters);
    fprintf(to, "#define %s\n#define PAIRS_SIZE %lld\n", flags[o->output], (long long)o->size);
    if (o->squared) {
        fputs("#define PAIRS_SQUARED\n", to);
    }
    fputs("#define PAIRS_POINT(at, l)", to);
    for (int k = 0; k < o->dimensions; k++) {
        fprintf(to, "%s(at)[%d][l]", k == 0 ? " {" : ", ", k);
    }
    fputs("}\n", to);
}

static void put_value(FILE *to, const emit_options *o) {
    fputs("\n#include <libsparse/pairs/pairs.h>\n", to);
    if (o->functions) {
        fprintf(to, "#include \"%s\"\n", o->functions);
    }
    fputs("\nPAIRS_BOTH PAIRS_NUMBER pairs_value(const PAIRS_PLACE *x, const PAIRS_PLACE *y, const PAIRS_NUMBER *p) {\n"
          "    (void)p;\n",
          to);
    if (o->predicate) {
        fprintf(to, "    return (%s) ? (PAIRS_NUMBER)0 : (PAIRS_NUMBER)1;\n}\n\n", o->predicate);
    } else {
        fprintf(to, "    return (PAIRS_NUMBER)(%s);\n}\n\n", o->distance);
    }
}

static void put_host(FILE *to, const emit_options *o) {
    put_head(to, o, "For a CPU.");
    fprintf(to, "#include \"%s.h\"\n\n", o->name);
    put_settings(to, o);
    put_value(to, o);
    fputs("#include <libsparse/pairs/cpu.h>\n\n#ifdef PAIRS_WITH_CUDA\n", to);
    put_prototype(to, o, "_cuda");
    fprintf(to, "#define PAIRS_FORWARD %s_cuda\n#endif\n", o->name);
    fprintf(to, "#define PAIRS_ENTRY %s\n#define PAIRS_DEVICE(f) f##_host\n", o->name);
    fprintf(to, "#define PAIRS_HOW \"all pairs, four points at once against a chunk in the cache\"\n");
    fputs("#include <libsparse/pairs/calls.h>\n", to);
}

static void put_gpu(FILE *to, const emit_options *o) {
    const emit_plan plan = plan_of(o);
    put_head(to, o, "For a GPU.");
    fprintf(to, "#include \"%s.h\"\n\n", o->name);
    put_settings(to, o);
    fprintf(to, "\n/* The rules say: %s. */\n", plan.why);
    fprintf(to, "#define PAIRS_ROWS %d /* points that a thread keeps in registers */\n", plan.rows);
    fprintf(to, "#define PAIRS_NT %d /* threads of a block */\n", plan.nt);
    fprintf(to, "#define PAIRS_RESIDENT %d /* blocks of a multiprocessor, so that registers suffice */\n",
            plan.resident);
    fprintf(to, "#define PAIRS_COPIES %d /* of each counter of a histogram in shared memory */\n", plan.copies);
    put_value(to, o);
    fprintf(to, "#include <libsparse/pairs/gpu.cuh>\n\n#define PAIRS_ENTRY %s_cuda\n", o->name);
    fprintf(to, "#define PAIRS_DEVICE(f) f##_cuda\n#define PAIRS_HOW \"all pairs, %s\"\n", plan.why);
    fputs("#include <libsparse/pairs/calls.h>\n", to);
}

static int write_file(const emit_options *o, const char *path, void (*put)(FILE *to, const emit_options *o)) {
    cli_output file;
    const bool opened = cli_output_open(&file, path);
    if (opened) {
        put(file.to, o);
    }
    return cli_output_close(&file, opened, path, "source");
}

/* ---- the words ---- */

static bool is_name(const char *word) {
    bool good = isalpha((unsigned char)*word) || *word == '_';
    for (; *word; word++) {
        good = good && (isalnum((unsigned char)*word) || *word == '_');
    }
    return good;
}

/* Words of C and C++: a function cannot be called so. */
static bool is_keyword(const char *name) {
    static const char words[] =
        " alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const const_cast "
        "constexpr continue decltype default delete do double dynamic_cast else enum explicit export extern false "
        "float for friend goto if inline int long main mutable namespace new noexcept not not_eq nullptr operator or "
        "or_eq private protected public register reinterpret_cast restrict return short signed sizeof static "
        "static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename "
        "typeof union unsigned using virtual void volatile wchar_t while xor xor_eq ";
    char word[32];
    return snprintf(word, sizeof word, " %s ", name) < (int)sizeof word && strstr(words, word);
}

/* Numbers in brackets behind x, y and p name coordinates and parameters that there are. */
static int check_subscripts(const emit_options *o, const char *text) {
    for (const char *at = text; *at; at++) {
        const char *bracket = at + 1 + strspn(at + 1, " "), before = at > text ? at[-1] : ' ';
        if (!strchr("xyp", *at) || isalnum((unsigned char)before) || before == '_' || *bracket != '[') {
            continue;
        }
        char *end;
        const long long index = strtoll(bracket + 1, &end, 0);
        const int64_t count = *at == 'p' ? o->parameters : o->dimensions;
        if (end > bracket + 1 && end[strspn(end, " ")] == ']' && (index < 0 || index >= count)) {
            return cli_usage("there is no %c[%lld]: --%s is %lld", *at, index, *at == 'p' ? "parameters" : "dimensions",
                             (long long)count);
        }
    }
    return CLI_DONE;
}

static int check(emit_options *o) {
    if (!o->name || !is_name(o->name)) {
        return cli_usage("generate needs a name for C, such as near_pairs%s%s%s", o->name ? ", not '" : "",
                         o->name ? o->name : "", o->name ? "'" : "");
    }
    if (is_keyword(o->name)) {
        return cli_usage("generate needs another name than '%s', which is a word of C or C++", o->name);
    }
    if (!o->distance == !o->predicate) {
        return cli_usage("generate needs --distance EXPR or --predicate EXPR%s", o->distance ? ", not both" : "");
    }
    if (strstr(o->distance ? o->distance : o->predicate, "*/")) {
        return cli_usage("the expression must not end a comment: write * / with a blank");
    }
    if (o->output < 0) {
        return cli_usage("generate needs --output count, histogram, join or sum");
    }
    if (o->predicate && (o->output == EMIT_HISTOGRAM || o->output == EMIT_SUM || o->size > 1 || o->squared)) {
        return cli_usage("a predicate serves --output count and join, without --size and --squared");
    }
    if (o->output == EMIT_HISTOGRAM ? o->size < 0 : o->size > (o->output == EMIT_COUNT ? MOST_LIMITS : 1)) {
        return cli_usage(o->output == EMIT_HISTOGRAM ? "a histogram needs --size N, its bins"
                                                     : "--size is at most 16 for a count, and 1 for join and sum");
    }
    if (o->squared && (o->output != EMIT_HISTOGRAM || o->type > 1)) {
        return cli_usage("--squared is of histograms, and of real coordinates");
    }
    o->size = o->size < 0 ? 1 : o->size;
    return check_subscripts(o, o->distance ? o->distance : o->predicate);
}

/* A compiler looks for the header beside the files first. */
static int check_functions(const emit_options *o) {
    char path[PATH_MAX];
    if (!o->functions || access(o->functions, R_OK) == 0) {
        return CLI_DONE;
    }
    const int reason = errno;
    snprintf(path, sizeof path, "%s/%s", o->folder, o->functions);
    return *o->functions != '/' && access(path, R_OK) == 0
               ? CLI_DONE
               : cli_fail(CLI_INPUT, "%s: cannot be read: %s", o->functions, strerror(reason));
}

int tb_emit(int argc, char **argv) {
    const char *words[2] = {NULL};
    int count = 0;
    emit_options o = {.output = -1, .type = 0, .target = 0, .size = -1, .dimensions = 3, .folder = "."};
    CLI_STEP(cli_parse(&tool, argc, argv, &o, words, 1, &count));
    if (o.help) {
        cli_help(&tool, stdout);
        return CLI_DONE;
    }
    o.name = words[0];
    CLI_STEP(check(&o));
    CLI_STEP(check_functions(&o));
    static const struct {
        const char *end;
        void (*put)(FILE *to, const emit_options *o);
    } files[] = {{".h", put_header}, {".c", put_host}, {".cu", put_gpu}};
    char path[3][PATH_MAX];
    for (int k = 0; k < 3; k++) {
        if (snprintf(path[k], PATH_MAX, "%s/%s%s", o.folder, o.name, files[k].end) >= PATH_MAX) {
            return cli_usage("the path of %s%s is too long", o.name, files[k].end);
        }
        if (!o.force && access(path[k], F_OK) == 0) {
            return cli_usage("%s is there: --force overwrites it", path[k]);
        }
    }
    int code = CLI_DONE;
    for (int k = 0; k < 3 && code == CLI_DONE; k++) {
        code = write_file(&o, path[k], files[k].put);
    }
    return code;
}
