/* Reads or generates the points of a run, selects atoms, converts coordinates to the type of the run. */
#include "file.h"
#include "text.h"
#include "two_body.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- a file ---- */

static bool find_format(const tb_options *o, const char *path, tb_format *format) {
    static const char *const ends[] = {".xyz", ".gro", ".pdb", ".csv", ".npy"};
    size_t length = strlen(path);
    length -= length > 3 && strcasecmp(path + length - 3, ".gz") == 0 ? 3 : 0;
    for (int i = 0; i < 5; i++) {
        if (o->format == i || (o->format < 0 && length > 4 && strncasecmp(path + length - 4, ends[i], 4) == 0)) {
            *format = (tb_format)i;
            return true;
        }
    }
    return false;
}

static int read_file(tb_job *job, const char *path, tb_set *set, tb_points *points) {
    cli_file file;
    tb_format format = TB_XYZ;
    char error[CLI_SENTENCE];
    set->name = strcmp(path, "-") == 0 ? "standard input" : path;
    if (!find_format(&job->options, path, &format)) {
        return cli_usage("%s: its name tells no format; --format is one of xyz, gro, pdb, csv and npy", set->name);
    }
    cli_progress_begin(&job->run.progress, "reading", set->name);
    int code = cli_file_read(path, set->name, job->options.max_bytes, &file);
    if (code == CLI_DONE) {
        code = tb_parse(format, set->name, file.text, file.bytes, points, error);
        if (code != CLI_DONE) {
            cli_progress_end(&job->run.progress);
            cli_print(stderr, error);
            fputc('\n', stderr);
        }
    }
    free(file.text);
    job->run.read_ms += cli_progress_end(&job->run.progress);
    return code;
}

/* ---- one set ---- */

/* The word of --element or --name for a set: the first, or the second if there are two. */
static size_t word_of(const tb_options *o, int which, const char **word) {
    const char *words = o->element ? o->element : o->name ? o->name : "";
    const size_t first = strcspn(words, ",");
    *word = which > 0 && words[first] ? words + first + 1 : words;
    return which > 0 && words[first] ? strlen(*word) : first;
}

static bool is_selected(const tb_options *o, const tb_label *label, const char *word, size_t length) {
    const char *text = o->element ? label->element : label->name;
    return strlen(text) == length && (o->element ? strncasecmp(text, word, length) : strncmp(text, word, length)) == 0;
}

static int make_set(const tb_job *job, const tb_points *from, int which, tb_set *set) {
    const tb_options *o = &job->options;
    const char *word;
    const size_t length = word_of(o, which, &word), bytes = lsp_type_bytes(tb_type(o));
    const int d = from->dimensions;
    int64_t n = 0;
    if (length > 0 && !from->label) {
        return cli_fail(CLI_INPUT, "%s: these points have no names; --element and --name need xyz, gro or pdb",
                        set->name);
    }
    set->values = malloc((size_t)(from->n > 0 ? from->n : 1) * (size_t)d * bytes);
    if (!set->values) {
        return cli_fail(CLI_MEMORY, "no memory for %lld points of %s", (long long)from->n, set->name);
    }
    for (int64_t i = 0; i < from->n; i++) {
        if (length > 0 && !is_selected(o, &from->label[i], word, length)) {
            continue;
        }
        for (int k = 0; k < d; k++) {
            const double x = from->at[i * d + k];
            if (bytes == sizeof(double)) {
                ((double *)set->values)[n * d + k] = x;
            } else if (fabs(x) <= 3e38) {
                ((float *)set->values)[n * d + k] = (float)x;
            } else {
                return cli_fail(CLI_INPUT, "%s: coordinate %d of point %lld, %g, does not fit f32", set->name, k,
                                (long long)i, x);
            }
        }
        n++;
    }
    if (length > 0 && n == 0) {
        return cli_fail(CLI_INPUT, "%s: none of %lld atoms has the %s '%.*s'", set->name, (long long)from->n,
                        o->element ? "element" : "name", (int)length, word);
    }
    set->points = (lsp_points){.n = n, .dimensions = d, .type = tb_type(o), .stride = d, .where = LSP_HOST};
    for (int k = 0; k < d; k++) {
        set->points.at[k] = (char *)set->values + (size_t)k * bytes;
    }
    return CLI_DONE;
}

/* ---- cell and volume ---- */

static int take_box(tb_job *job) {
    const tb_options *o = &job->options;
    const int d = job->sets[0].points.dimensions, tilts = o->box_count - d;
    if (o->no_box || o->box_count > 0) {
        job->cell = (tb_cell){.periodic = !o->no_box};
    }
    if (o->box_count > 0 && tilts != 0 && !(d == 2 && tilts == 1) && !(d == 3 && tilts == 3)) {
        return cli_usage("--box has %d numbers, but the points have %d dimensions: give %d side%s%s", o->box_count, d,
                         d, cli_plural(d),
                         d == 3   ? ", and perhaps 3 tilts"
                         : d == 2 ? ", and perhaps 1 tilt"
                                  : "");
    }
    for (int k = 0; k < o->box_count; k++) {
        (k < d ? job->cell.side : job->cell.tilt - d)[k] = o->box[k];
    }
    for (int k = 0; k < d && job->cell.periodic; k++) {
        if (!(job->cell.side[k] > 0)) {
            return cli_usage("--box: side %d is %g, it must be above 0", k + 1, job->cell.side[k]);
        }
    }
    return CLI_DONE;
}

static double find_volume(const tb_job *job) {
    double volume = 1;
    for (int k = 0; k < job->sets[0].points.dimensions; k++) {
        double least = INFINITY, most = -INFINITY;
        for (int s = 0; s < 1 + job->two && !job->cell.periodic; s++) {
            for (int64_t i = 0; i < job->sets[s].points.n; i++) {
                least = fmin(least, tb_at(&job->sets[s], i, k));
                most = fmax(most, tb_at(&job->sets[s], i, k));
            }
        }
        volume *= job->cell.periodic ? job->cell.side[k] : most > least ? most - least : 0;
    }
    return volume;
}

int tb_read(tb_job *job) {
    const tb_options *o = &job->options;
    tb_points points = {0};
    const char *words = o->element ? o->element : o->name ? o->name : "", *comma = strchr(words, ','), *a, *b;
    const size_t one = word_of(o, 0, &a), other = word_of(o, 1, &b);
    const bool same = one == other && strncmp(a, b, one) == 0;
    if (comma && (one == 0 || other == 0 || strchr(comma + 1, ','))) {
        return cli_usage("%s takes one word or two, separated by a comma, not '%s'",
                         o->element ? "--element" : "--name", words);
    }
    int code = CLI_DONE;
    if (o->generate) {
        char error[CLI_SENTENCE];
        job->sets[0].name = o->generate;
        code = tb_generate(o->generate, o->seed >= 0 ? (uint64_t)o->seed : 1, &points, error);
        code = code == CLI_DONE ? code : cli_fail(code, "%s", error);
    } else {
        code = read_file(job, o->file[0], &job->sets[0], &points);
    }
    job->cell = points.cell;
    code = code == CLI_DONE ? make_set(job, &points, 0, &job->sets[0]) : code;
    if (code == CLI_DONE && (o->file[1] || !same)) {
        job->two = true;
        job->sets[1].name = job->sets[0].name;
        if (o->file[1]) {
            tb_points_free(&points);
            code = read_file(job, o->file[1], &job->sets[1], &points);
        }
        code = code == CLI_DONE ? make_set(job, &points, 1, &job->sets[1]) : code;
    }
    tb_points_free(&points);
    CLI_STEP(code);
    if (job->two && job->sets[0].points.dimensions != job->sets[1].points.dimensions) {
        return cli_fail(CLI_INPUT, "%s has %d dimensions, %s has %d", job->sets[0].name, job->sets[0].points.dimensions,
                        job->sets[1].name, job->sets[1].points.dimensions);
    }
    CLI_STEP(take_box(job));
    job->volume = find_volume(job);
    return CLI_DONE;
}
