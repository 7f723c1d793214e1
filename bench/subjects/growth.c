/* The subject growth: does a unit of work take as long at every size? "stencil27/random" is a family of operands and
 * their order. A ladder has up to 8 sizes; each verb of the library is timed on each of them. A step that
 * takes more than 1.5 times as long a unit as the best of the smaller ones beyond a core's cache is marked; so is
 * whether that one lay in the last cache, and what the library chose differently. A ladder ends where memory does, or
 * 2^31. There are no peers. */
#include "growth.h"
#include <math.h>
#include <string.h>

#define ORDERS(family) family "/natural", family "/rcm", family "/blocks", family "/random"
static const char *const workloads[] = {ORDERS("stencil27"), "fem3/natural",      "fem3/blocks", "poisson2d/natural",
                                        ORDERS("web"),       "rmat/natural",      "er/natural",  "keys/even",
                                        "keys/skewed",       "moves/permutation", "moves/local", "hash/m1",
                                        "hash/m8",           "pairs/uniform",     "pairs/blobs", "text/dna",
                                        "text/words",        "file/poisson2d",    "file/er",     NULL};
static const char *const no_files[] = {NULL};
static const double most_growth = 1.5;

static const growth_family *family_of(const char *ladder) {
    for (const growth_family *f = growth_matrices; f->ladders; f++) {
        if (strncmp(ladder, f->ladders, strlen(f->ladders)) == 0) {
            return f;
        }
    }
    const growth_family *f = growth_arrays;
    while (f->ladders && strncmp(ladder, f->ladders, strlen(f->ladders)) != 0) {
        f++;
    }
    return f;
}

/* ---- one verb on one step ---- */

typedef struct entrant {
    const growth_verb *verb;
    growth_step *step;
} entrant;

static bool run(bench_contender *c) {
    const entrant *e = c->state;
    e->step->status = e->verb->run(e->step);
    if (e->step->status == LSP_OK) {
        e->step->status = lsp_ctx_sync(c->ctx);
    }
    return bench_must(c, c->ctx, e->step->status);
}

static void release(bench_contender *c) {
    const entrant *e = c->state;
    e->step->family->release(e->step);
}

static bool check(bench_contender *c) {
    const entrant *e = c->state;
    growth_step *s = e->step;
    const bool right = e->verb->check(s);
    c->work = s->work;
    c->unit = e->verb->unit;
    c->bytes = isfinite(s->bytes) ? (int64_t)s->bytes : 0;
    snprintf(c->choice, sizeof c->choice, "%s", s->choice ? s->choice : "");
    return right || bench_why(c, "the result is wrong");
}

/* What a verb has shown on the steps so far. */
typedef struct verb_course {
    double best;       /* seconds a unit, beyond a core's cache; 0: none yet */
    double best_bytes; /* of that step */
    bool ended;
    char choice[sizeof((bench_contender *)0)->choice]; /* of the last step */
} verb_course;

/* Are two sentences the same but for their numbers? */
static bool same_choice(const char *a, const char *b) {
    static const char number[] = "0123456789.,e+-";
    while (*a && *b && *a == *b) {
        a += 1, b += 1;
        a += strspn(a, number), b += strspn(b, number);
    }
    return !*a && !*b;
}

static void print_step(const bench_row *row, const verb_course *before, double cache) {
    const bench_contender *c = &row->c;
    const double each = 1e9 * row->median / c->work;
    printf("%-44s %10.3f ms %10.3g %-10s %9.4g ns each", row->name, 1e3 * row->median, c->work, c->unit, each);
    if (c->growth > 0) {
        printf("  x%.2f%s", c->growth,
               c->growth <= most_growth     ? ""
               : before->best_bytes < cache ? "  SLOWER than in the last cache"
                                            : "  SLOWER");
    }
    if (c->growth > most_growth && !same_choice(c->choice, before->choice)) {
        printf("\n    chosen: %s\n    before: %s", c->choice, before->choice);
    }
    puts("");
    fflush(stdout);
}

/* The ladder ends for a verb where memory or indices do; another failure is one of the bench. */
static void end_course(growth_step *s, verb_course *course, const char *name) {
    course->ended = true;
    if (s->status == LSP_ERR_MEMORY || s->status == LSP_ERR_OVERFLOW) {
        printf("%-44s ends: %s\n", name, lsp_last_error(s->ctx));
    } else {
        bench_ok(s->b, s->ctx, s->status);
    }
}

static void measure(growth_step *s, const growth_verb *verb, const lsp_cache_figures *figures, verb_course *course) {
    char workload[96], name[128];
    entrant e = {verb, s};
    snprintf(workload, sizeof workload, "%s/%lld/%s", s->ladder, (long long)s->size, verb->name);
    snprintf(name, sizeof name, "growth/%s", workload);
    s->bytes = s->work = 0;
    s->choice = NULL;
    s->status = verb->prepare ? verb->prepare(s) : LSP_OK;
    if (s->status != LSP_OK) {
        end_course(s, course, name);
        return;
    }
    bench_contender c = {.run = run,
                         .check = check,
                         .release = release,
                         .state = &e,
                         .ctx = s->ctx,
                         .threads = s->b->device ? 1 : s->b->threads,
                         .on_gpu = s->b->device != NULL,
                         .ours = true,
                         .who = "libsparse"};
    bench_row *row = bench_time(s->b, workload, &c);
    if (!row) {
        return;
    }
    if (s->status != LSP_OK) {
        s->b->row_count--;
        end_course(s, course, name);
        return;
    }
    if (row->c.failed || !row->c.checked) {
        bench_fail(s->b, EXIT_CHECK, "%s: %s", row->name, row->c.why);
        return;
    }
    const double each = row->median / row->c.work;
    row->c.growth = course->best > 0 ? each / course->best : 0;
    print_step(row, course, figures->cache_bytes);
    if (s->bytes > 2 * figures->stage_bytes && (course->best <= 0 || each < course->best)) {
        course->best = each;
        course->best_bytes = s->bytes;
    }
    memcpy(course->choice, row->c.choice, sizeof course->choice);
}

static void climb_ladder(bench *b, const char *ladder, const char *file) {
    (void)file;
    const growth_family *family = family_of(ladder);
    verb_course courses[GROWTH_VERBS] = {0};
    lsp_cache_figures figures = {0};
    if (!bench_ok(b, b->ours, lsp_cache_model_figures(b->ours, &figures))) {
        return;
    }
    for (int i = b->options.quick; i < GROWTH_STEPS && !b->exit_code; i += 1 + b->options.quick) {
        growth_step s = {.b = b,
                         .ctx = b->ours,
                         .where = b->device ? LSP_CUDA : LSP_HOST,
                         .family = family,
                         .ladder = ladder,
                         .size = family->sizes[b->device != NULL][i]};
        if (s.size == 0 || (b->options.quick && i > GROWTH_STEPS - 3)) {
            break;
        }
        s.status = family->make(&s);
        for (int v = 0; family->verbs[v].name && s.status == LSP_OK && !bench_interrupted(); v++) {
            if (!courses[v].ended) {
                measure(&s, family->verbs + v, &figures, courses + v);
                s.status = LSP_OK;
            }
        }
        const bool made = s.status == LSP_OK;
        if (!made) {
            end_course(&s, courses, ladder);
        }
        family->drop(&s);
        if (!made || bench_interrupted()) {
            break;
        }
    }
}

static const char *absent(int i) { return (void)i, NULL; }

const bench_subject bench_growth = {.name = "growth",
                                    .what = "each verb over a ladder of sizes: where does a unit of work take longer?",
                                    .workloads = workloads,
                                    .quick = workloads,
                                    .file_variants = no_files,
                                    .run = climb_ladder,
                                    .absent = absent,
                                    .min_time = 0.02,
                                    .on_gpu = true};
