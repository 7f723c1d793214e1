/* Makes matrices by name: "er:1000:8" is parsed strictly by one table of names, parameters and limits. */
#include "generate.h"

#include <stdio.h>

typedef struct limit {
    const char *name;
    int64_t least, most;
    bool decimal;        /* may have decimals */
    const char *letters; /* not NULL: one of these letters, and no number */
} limit;

#define WHOLE(name, least, most)                                                                                       \
    { name, least, most, false, NULL }
#define DECIMAL(name, least, most)                                                                                     \
    { name, least, most, true, NULL }
#define LETTER(name, letters)                                                                                          \
    { name, 0, 0, false, letters }
#define HUGE_N                                                                                                         \
    (INT64_C(1) << 48) /* far beyond any memory, and small enough that no product of sizes overflows in a message */

static const struct known {
    const char *name;
    lsp_generator *make;
    int grid; /* for generators of grids: its number */
    limit limits[lsp_most_parameters + 1];
} table[] = {
    {"poisson2d", lsp_generate_grid, 0, {WHOLE("K", 1, 1 << 28)}},
    {"stencil27", lsp_generate_grid, 1, {WHOLE("K", 1, 1 << 18)}},
    {"fem3", lsp_generate_grid, 2, {WHOLE("K", 1, 1 << 17)}},
    {"er", lsp_generate_er, 0, {WHOLE("N", 1, HUGE_N), WHOLE("D", 0, HUGE_N)}},
    {"rmat", lsp_generate_rmat, 0, {WHOLE("SCALE", 0, 48), WHOLE("EF", 0, HUGE_N)}},
    {"web", lsp_generate_web, 0, {WHOLE("N", 1, HUGE_N), DECIMAL("ALPHA", 0, 100), WHOLE("DMAX", 1, HUGE_N)}},
    {"perm", lsp_generate_perm, 0, {WHOLE("N", 1, HUGE_N)}},
    {"amg", lsp_generate_amg, 0, {WHOLE("K", 1, 1 << 28), LETTER("PART", "T P R")}},
    {"amg27", lsp_generate_amg, 1, {WHOLE("K", 1, 1 << 18), LETTER("PART", "T P R")}},
    {"amgfem3", lsp_generate_amg, 2, {WHOLE("K", 1, 1 << 17), LETTER("PART", "T P R")}},
    {"nascg", lsp_generate_nas, 0, {LETTER("CLASS", "S W A B C D E")}},
};
enum { known_names = sizeof table / sizeof *table };

static const char all_names[] =
    "poisson2d:K, stencil27:K, fem3:K, er:N:D, rmat:SCALE:EF, web:N:ALPHA:DMAX, perm:N, amg:K:PART, amg27:K:PART, "
    "amgfem3:K:PART, nascg:CLASS";

typedef struct word { /* a part of the name, up to a colon or the end */
    const char *text;
    int length;
} word;

static word word_at(const char *text) { return (word){text, (int)lsp_min((int64_t)strcspn(text, ":"), INT32_MAX)}; }

/* Reads digits, and for a decimal number a point and more digits: at most 15 in all, so that one division rounds
 * correctly. */
static bool parse_number(word w, const limit *l, lsp_parameter *p) {
    static const int64_t tens[] = {1,       10,       100,       1000,       10000,      100000,
                                   1000000, 10000000, 100000000, 1000000000, 10000000000};
    int64_t value = 0;
    int point = -1, i = 0;
    for (; i < w.length; i++) {
        char c = w.text[i];
        if (c == '.' && l->decimal && point < 0) {
            point = i;
        } else if (c < '0' || c > '9' || !lsp_mul(value, 10, &value) || !lsp_add(value, c - '0', &value)) {
            return false;
        }
    }
    int decimals = point < 0 ? 0 : w.length - point - 1;
    if (w.length == (point >= 0) || decimals > 10) { /* no digit, or too many */
        return false;
    }
    p->whole = value / tens[decimals];
    p->decimal = (double)value / (double)tens[decimals];
    return p->whole >= l->least && (p->whole < l->most || (p->whole == l->most && value % tens[decimals] == 0));
}

/* Parses the parameters of `spec`, which follow the name of `known`. */
static lsp_status parse(lsp_ctx *ctx, const char *spec, const struct known *known, lsp_parameter *p) {
    word w = word_at(spec);
    for (const limit *l = known->limits; l->name; l++, p++) {
        LSP_REQUIRE(w.text[w.length] == ':', LSP_ERR_ARGUMENT, "'%.80s': %s needs the parameter %s", spec, known->name,
                    l->name);
        w = word_at(w.text + w.length + 1);
        if (l->letters) {
            LSP_REQUIRE(w.length == 1 && w.text[0] != ' ' && strchr(l->letters, w.text[0]), LSP_ERR_ARGUMENT,
                        "'%.80s': %s is '%.*s', and must be one of %s", spec, l->name, (int)lsp_min(w.length, 40),
                        w.text, l->letters);
            p->letter = w.text[0];
            continue;
        }
        LSP_REQUIRE(parse_number(w, l, p), LSP_ERR_ARGUMENT, "'%.80s': %s is '%.*s', and must be a %s of %lld .. %lld",
                    spec, l->name, (int)lsp_min(w.length, 40), w.text, l->decimal ? "number" : "whole number",
                    (long long)l->least, (long long)l->most);
    }
    LSP_REQUIRE(w.text[w.length] == 0, LSP_ERR_ARGUMENT, "'%.80s': there is more than %s takes: '%.40s'", spec,
                known->name, w.text + w.length);
    return LSP_OK;
}

static lsp_status generate(lsp_ctx *ctx, const char *spec, uint64_t seed, lsp_csr *A) {
    word name = word_at(spec);
    lsp_parameter p[lsp_most_parameters];
    for (int i = 0; i < known_names; i++) {
        if (strncmp(spec, table[i].name, (size_t)name.length) == 0 && table[i].name[name.length] == 0) {
            p[0].grid = table[i].grid;
            LSP_TRY(parse(ctx, spec, &table[i], p));
            return table[i].make(ctx, p, seed, A);
        }
    }
    return lsp_fail(ctx, LSP_ERR_ARGUMENT, "there is no generator '%.*s'; there are %s", (int)lsp_min(name.length, 40),
                    spec, all_names);
}

lsp_status lsp_generate(lsp_ctx *ctx, const char *spec, uint64_t seed, const lsp_csr_types *types, lsp_csr *A) {
    LSP_OWNED_CSR(ctx, made);
    lsp_csr_types fit;
    LSP_REQUIRE(ctx && spec && A, LSP_ERR_ARGUMENT, "the name or the place for the matrix is NULL");
    LSP_TRY(lsp_csr_resolve(ctx, 0, 0, LSP_F64, types, &fit)); /* refuse wrong types before the work */
    LSP_REQUIRE(fit.val_type != LSP_C64, LSP_ERR_UNSUPPORTED, "generated values are real; LSP_C64 was asked for");
    LSP_TRY(generate(ctx, spec, seed, &made));
    LSP_TRY(lsp_csr_retype(ctx, types, &made));
    return lsp_csr_put(ctx, A, &made, false);
}
