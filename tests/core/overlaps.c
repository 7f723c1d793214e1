/* Outputs that are inputs: each pair of an array that a public function writes and another of equal type, as derived
 * from the headers (tests/checks/overlaps.awk), is refused and nothing is written, or gives what separate arrays give.
 * A function with a pair and without a case here fails. */
#include "tests/support.h"
#include <math.h>

enum { N = 8, SLOTS = 9, ROOM = 1024 };

/* ---- arguments ---- */

static const double points_x[N] = {0.1, 0.9, 0.3, 0.35, 0.6, 0.2, 0.8, 0.5};
static const double vector[N] = {1, -2, 3, -4, 5, -6, 7, -8};
static const int64_t reversed[N] = {7, 6, 5, 4, 3, 2, 1, 0}, keys[N] = {5, 3, 9, 3, 1, 7, 3, 0};
static const int64_t rowptr[N + 1] = {0, 2, 4, 6, 8, 10, 12, 14, 15};
static const int64_t col[15] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};
static const double val[15] = {4, 1, 5, 1, 6, 1, 7, 1, 8, 1, 9, 1, 10, 1, 11};
static const int64_t starts[3] = {0, 1, 2}, whole[2] = {0, N}, segments[3] = {0, 5, 8};
static const uint32_t symbols[N] = {98, 97, 110, 97, 110, 97, 115, 120}, pattern[2] = {97, 110}, bwt[3] = {97, 98, 97};
static const int64_t suffixes[N] = {1, 3, 5, 0, 2, 4, 6, 7}; /* of symbols */

static lsp_csr matrix(void *const *at) {
    return (lsp_csr){.rows = N,
                     .cols = N,
                     .nnz = 15,
                     .rowptr = at[0],
                     .col = at[1],
                     .val = at[2],
                     .rowptr_type = LSP_I64,
                     .col_type = LSP_I64,
                     .val_type = LSP_F64};
}
static lsp_text text(const void *at) { return (lsp_text){.n = N, .symbol_bytes = 4, .symbols = at}; }

/* ---- calls: at[k] is the array of slot k ---- */

#define CALL(name) static lsp_status name(lsp_ctx *ctx, void *const *at)

CALL(array_copy) { return lsp_array_copy(ctx, at[0], LSP_HOST, at[1], LSP_HOST, N * 8); }
CALL(reduce) {
    const lsp_csr A = matrix(at);
    return lsp_csr_reduce(ctx, &A, LSP_REDUCE_SUM, LSP_REDUCE_EACH_ROW, at[3]);
}
CALL(diagonal) {
    const lsp_csr A = matrix(at);
    return lsp_csr_diagonal(ctx, &A, at[3]);
}
CALL(spmv) {
    const lsp_csr A = matrix(at);
    return lsp_spmv(ctx, &A, NULL,
                    &(lsp_spmv_vectors){.alpha = 1, .x = at[3], .y = at[4], .alpha_at = at[5], .beta_at = at[6]}, NULL);
}
CALL(cg) {
    const lsp_csr A = matrix(at);
    return lsp_cg(ctx, &A, at[3], &(lsp_solve_options){.fixed = true, .max_iterations = 2}, at[4], NULL);
}
CALL(bicgstab) {
    const lsp_csr A = matrix(at);
    return lsp_bicgstab(ctx, &A, at[3], &(lsp_solve_options){.fixed = true, .max_iterations = 2}, at[4], NULL);
}

/* Plans and hierarchies have a matrix of their own. */
static lsp_csr own(void) {
    void *const arrays[] = {(void *)rowptr, (void *)col, (void *)val};
    return matrix(arrays);
}
CALL(spmv_execute) {
    const lsp_csr A = own();
    lsp_spmv_plan *plan;
    must(ctx, lsp_spmv_plan_create(ctx, &A, NULL, &plan));
    const lsp_status status =
        lsp_spmv_execute(plan, &(lsp_spmv_vectors){.x = at[0], .y = at[1], .alpha_at = at[2], .beta_at = at[3]});
    lsp_spmv_plan_destroy(plan);
    return status;
}
CALL(solve_execute) {
    const lsp_csr A = own();
    lsp_solve_plan *plan;
    must(ctx, lsp_cg_plan_create(ctx, &A, &(lsp_solve_options){.fixed = true, .max_iterations = 2}, &plan));
    const lsp_status status = lsp_solve_execute(plan, at[0], at[1], NULL);
    lsp_solve_plan_destroy(plan);
    return status;
}
static lsp_status with_hierarchy(lsp_ctx *ctx, void *const *at, bool solves) {
    lsp_csr A = own(), T, S;
    lsp_multigrid *m;
    must(ctx, lsp_csr_transpose(ctx, &A, &T));
    must(ctx, lsp_csr_add(ctx, 1, &A, 1, &T, &S));
    must(ctx, lsp_multigrid_create(ctx, &S, NULL, &m));
    const lsp_status status =
        solves ? lsp_multigrid_solve(m, at[0], &(lsp_solve_options){.fixed = true, .max_iterations = 2}, at[1], NULL)
               : lsp_multigrid_apply(m, at[0], at[1]);
    lsp_multigrid_destroy(m);
    lsp_csr_free(ctx, &T), lsp_csr_free(ctx, &S);
    return status;
}
CALL(multigrid_apply) { return with_hierarchy(ctx, at, false); }
CALL(multigrid_solve) { return with_hierarchy(ctx, at, true); }

static lsp_gather_args map_of(void *const *at, lsp_column *column) {
    *column = (lsp_column){.from = at[1], .to = at[2], .bytes = 8};
    return (lsp_gather_args){
        .n = N, .extent = N, .index = at[0], .index_type = LSP_I64, .columns = column, .column_count = 1};
}
CALL(gather) {
    lsp_column column;
    const lsp_gather_args args = map_of(at, &column);
    return lsp_gather(ctx, &args, NULL);
}
CALL(scatter) {
    lsp_column column;
    const lsp_gather_args args = map_of(at, &column);
    return lsp_scatter(ctx, &args, NULL);
}
CALL(gather_execute) {
    void *const arrays[] = {(void *)reversed, at[0], at[1]};
    lsp_column column;
    const lsp_gather_args args = map_of(arrays, &column);
    lsp_gather_plan *plan;
    must(ctx, lsp_gather_plan_create(ctx, &args, &plan));
    const lsp_status status = lsp_gather_execute(plan, &column, 1);
    lsp_gather_plan_destroy(plan);
    return status;
}

static lsp_status with_table(lsp_ctx *ctx, void *const *at, int verb) {
    const lsp_hash_args args = {.n = N, .key_type = LSP_I64, .keys = keys, .values = reversed, .value_bytes = 8};
    const lsp_hash_probes p = {.n = N,
                               .keys = at[0],
                               .values = at[1],
                               .offsets = at[2],
                               .cursors = at[3],
                               .left = at[4],
                               .counts = (int32_t[N]){0},
                               .capacity = ROOM / 8,
                               .cap = 2};
    lsp_hash *table;
    must(ctx, lsp_hash_build(ctx, &args, &table));
    const lsp_status status = verb == 0   ? lsp_hash_find(table, &p)
                              : verb == 1 ? lsp_hash_count(table, &p)
                              : verb == 2 ? lsp_hash_find_all(table, &p, at[5])
                                          : lsp_hash_find_some(table, &p);
    lsp_hash_destroy(table);
    return status;
}
CALL(hash_find) { return with_table(ctx, at, 0); }
CALL(hash_count) { return with_table(ctx, at, 1); }
CALL(hash_find_all) { return with_table(ctx, at, 2); }
CALL(hash_find_some) { return with_table(ctx, at, 3); }

CALL(sort) {
    return lsp_sort(ctx,
                    &(lsp_sort_args){.n = N,
                                     .key_type = LSP_I64,
                                     .value_bytes = 8,
                                     .keys = at[0],
                                     .keys_out = at[1],
                                     .values = at[2],
                                     .values_out = at[3]},
                    NULL);
}
static lsp_segsort_args segments_of(void *const *at, int64_t *groups) {
    return (lsp_segsort_args){.n = N,
                              .segments = 2,
                              .offsets = at[4],
                              .offset_type = LSP_I64,
                              .key_type = LSP_I64,
                              .value_bytes = 8,
                              .keys = at[0],
                              .keys_out = at[1],
                              .values = at[2],
                              .values_out = at[3],
                              .change_at = at[5],
                              .change_count = at[6],
                              .group_at = at[7],
                              .group_count = groups};
}
CALL(segsort) {
    int64_t groups = 0;
    const lsp_segsort_args args = segments_of(at, &groups);
    return lsp_segsort(ctx, &args, NULL);
}

CALL(suffix_array) {
    const lsp_text t = text(at[0]);
    return lsp_suffix_array(ctx, &t, NULL, LSP_I64, at[1], NULL);
}
CALL(suffix_inverse) { return lsp_suffix_inverse(ctx, N, LSP_I64, at[0], LSP_HOST, at[1]); }
CALL(suffix_lcp) {
    const lsp_text t = text(at[0]);
    return lsp_suffix_lcp(ctx, &t, LSP_I64, at[1], at[2]);
}
CALL(suffix_bwt) {
    const lsp_text t = text(at[0]);
    return lsp_suffix_bwt(ctx, &t, LSP_I64, at[1], at[2], &(int64_t){0});
}
CALL(suffix_unbwt) { return lsp_suffix_unbwt(ctx, 3, 4, at[0], 2, LSP_HOST, at[1]); }
CALL(suffix_search) {
    const lsp_text p = {.n = 2, .symbol_bytes = 4, .symbols = at[1], .strings = 2, .starts = at[2]};
    const lsp_text t = {.n = N, .symbol_bytes = 4, .symbols = at[0], .strings = 1, .starts = at[6]};
    return lsp_suffix_search(ctx, &t, LSP_I64, at[3], &p, at[4], at[5]);
}
CALL(kernel_density) {
    const lsp_points a = {.n = N, .dimensions = 1, .type = LSP_F64, .at = {at[0]}},
                     b = {.n = N, .dimensions = 1, .type = LSP_F64, .at = {at[1]}};
    return lsp_kernel_density(ctx, &a, &b, NULL, 0.2, &(lsp_density_options){.weights = at[2]}, at[3], NULL);
}

/* ---- cases ---- */

typedef struct slot {
    const char *name;    /* as overlaps.awk calls it */
    size_t bytes;        /* 0: the function does not use it */
    const void *content; /* NULL: it is written */
} slot;

typedef struct overlap_case {
    const char *function;
    lsp_status (*call)(lsp_ctx *ctx, void *const *at);
    slot slots[SLOTS];
} overlap_case;

#define IN(name, array)                                                                                                \
    { name, sizeof(array), array }
#define OUT(name, bytes)                                                                                               \
    { name, bytes, NULL }
#define UNUSED(name)                                                                                                   \
    { name, 0, NULL }
#define OF_A IN("A.rowptr", rowptr), IN("A.col", col), IN("A.val", val)
#define SORTED(...)                                                                                                    \
    {                                                                                                                  \
        IN("args.keys", keys), OUT("args.keys_out", N * 8), IN("args.values", reversed),                               \
            OUT("args.values_out", N * 8), __VA_ARGS__                                                                 \
    }

static const overlap_case cases[] = {
    {"lsp_array_copy", array_copy, {OUT("to", N * 8), IN("from", keys)}},
    {"lsp_csr_reduce", reduce, {OF_A, OUT("results", N * 8)}},
    {"lsp_csr_diagonal", diagonal, {OF_A, OUT("diagonal", N * 8)}},
    {"lsp_spmv",
     spmv,
     {OF_A, IN("vectors.x", vector), OUT("vectors.y", N * 8), IN("vectors.alpha_at", (double[]){1}),
      IN("vectors.beta_at", (double[]){0})}},
    {"lsp_spmv_execute",
     spmv_execute,
     {IN("vectors.x", vector), OUT("vectors.y", N * 8), IN("vectors.alpha_at", (double[]){1}),
      IN("vectors.beta_at", (double[]){0})}},
    {"lsp_cg", cg, {OF_A, IN("b", vector), OUT("x", N * 8)}},
    {"lsp_bicgstab", bicgstab, {OF_A, IN("b", vector), OUT("x", N * 8)}},
    {"lsp_solve_execute", solve_execute, {IN("b", vector), OUT("x", N * 8)}},
    {"lsp_multigrid_apply", multigrid_apply, {IN("b", vector), OUT("x", N * 8)}},
    {"lsp_multigrid_solve", multigrid_solve, {IN("b", vector), OUT("x", N * 8)}},
    {"lsp_gather",
     gather,
     {IN("args.index", reversed), IN("args.columns.from", vector), OUT("args.columns.to", N * 8)}},
    {"lsp_scatter",
     scatter,
     {IN("args.index", reversed), IN("args.columns.from", vector), OUT("args.columns.to", N * 8)}},
    {"lsp_gather_execute", gather_execute, {IN("columns.from", vector), OUT("columns.to", N * 8)}},
    {"lsp_hash_find",
     hash_find,
     {IN("probes.keys", keys), OUT("probes.values", N * 8), UNUSED("probes.offsets"), UNUSED("probes.cursors"),
      UNUSED("probes.left")}},
    {"lsp_hash_count",
     hash_count,
     {IN("probes.keys", keys), UNUSED("probes.values"), OUT("probes.offsets", N * 8 + 8), UNUSED("probes.cursors"),
      UNUSED("probes.left")}},
    {"lsp_hash_find_all",
     hash_find_all,
     {IN("probes.keys", keys), OUT("probes.values", 14 * 8), OUT("probes.offsets", N * 8 + 8), UNUSED("probes.cursors"),
      UNUSED("probes.left"), OUT("total", 8)}},
    {"lsp_hash_find_some",
     hash_find_some,
     {IN("probes.keys", keys), OUT("probes.values", 2 * N * 8), UNUSED("probes.offsets"),
      IN("probes.cursors", (int64_t[N]){0}), OUT("probes.left", 8)}},
    {"lsp_sort", sort, SORTED({0})},
    {"lsp_segsort", segsort,
     SORTED(IN("args.offsets", segments), UNUSED("args.change_at"), OUT("args.change_count", 16),
            OUT("args.group_at", 72), UNUSED("args.ends"))},
    {"lsp_suffix_array", suffix_array, {IN("text.symbols", symbols), OUT("suffixes", N * 8)}},
    {"lsp_suffix_inverse", suffix_inverse, {IN("suffixes", suffixes), OUT("ranks", N * 8)}},
    {"lsp_suffix_lcp", suffix_lcp, {IN("text.symbols", symbols), IN("suffixes", suffixes), OUT("lcp", N * 8)}},
    {"lsp_suffix_bwt",
     suffix_bwt,
     {IN("text.symbols", symbols), IN("suffixes", suffixes), OUT("bwt", N * 4), UNUSED("primary"),
      UNUSED("text.starts")}},
    {"lsp_suffix_unbwt", suffix_unbwt, {IN("bwt", bwt), OUT("symbols", 12)}},
    {"lsp_suffix_search",
     suffix_search,
     {IN("text.symbols", symbols), IN("patterns.symbols", pattern), IN("patterns.starts", starts),
      IN("suffixes", suffixes), OUT("first", 16), OUT("count", 16), IN("text.starts", whole)}},
    {"lsp_kernel_density",
     kernel_density,
     {IN("a.at", points_x), IN("b.at", points_x), IN("density_options.weights", points_x), OUT("density", N * 8)}},
};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- a pair ---- */

typedef struct memory {
    _Alignas(64) char of[SLOTS][ROOM];
} memory;

static void fill(const overlap_case *c, memory *m, void **at) {
    memset(m, 0xEE, sizeof *m);
    for (int k = 0; k < SLOTS; k++) {
        at[k] = c->slots[k].bytes > 0 ? m->of[k] : NULL;
        if (c->slots[k].content != NULL) {
            memcpy(m->of[k], c->slots[k].content, c->slots[k].bytes);
        }
    }
}

static int slot_of(const overlap_case *c, const char *name) {
    for (int k = 0; k < SLOTS; k++) {
        if (c->slots[k].name != NULL && strcmp(c->slots[k].name, name) == 0) {
            return k;
        }
    }
    cr_assert_fail("%s: the case has no array %s", c->function, name);
    return -1;
}

static void try_pair(const overlap_case *c, const char *output, const char *other) {
    static memory apart, together, before;
    void *at[SLOTS];
    const int o = slot_of(c, output), i = slot_of(c, other);
    if (c->slots[o].bytes == 0 || c->slots[i].bytes == 0) {
        return;
    }
    lsp_ctx *ctx = test_ctx(1);
    fill(c, &apart, at);
    must(ctx, c->call(ctx, at));
    for (size_t shift = 0; shift < c->slots[i].bytes && shift <= 8; shift += 8) {
        fill(c, &together, at);
        at[o] = together.of[i] + shift;
        before = together;
        const lsp_status status = c->call(ctx, at);
        cr_expect(status == LSP_OK || status == LSP_ERR_ARGUMENT, "%s", lsp_last_error(ctx));
        if (status == LSP_ERR_ARGUMENT) {
            cr_expect(memcmp(&before, &together, sizeof before) == 0, "%s wrote before it refused", c->function);
        } else {
            cr_expect(c->slots[i].content != NULL, "%s: %s and %s are one array", c->function, output, other);
            cr_expect(memcmp(at[o], apart.of[o], c->slots[o].bytes) == 0, "%s, %s is %s + %d: other numbers",
                      c->function, output, other, (int)shift);
        }
    }
    lsp_ctx_destroy(ctx);
}

Test(overlaps, an_output_that_overlaps_another_array_is_refused_or_right) {
    char line[256], function[80], output[80], other[80];
    int pairs = 0;
    FILE *list = popen("cd '" LSP_SOURCE_DIR "/include/libsparse' && awk -f ../../tests/checks/overlaps.awk "
                       "$(sed -n 's|^#include \"libsparse/\\(.*\\)\"|\\1|p' ../libsparse.h)",
                       "r");
    cr_assert(list != NULL);
    for (; fgets(line, sizeof line, list) != NULL; pairs++) {
        int c = 0;
        cr_assert(sscanf(line, "%79s %79s %79s", function, output, other) == 3, "%s", line);
        char *execute = strstr(function, "sort_execute"); /* the checks of the call without a plan */
        if (execute != NULL) {
            execute[4] = 0;
        }
        while (c < CASES && strcmp(cases[c].function, function) != 0) {
            c++;
        }
        cr_expect(c < CASES, "%s writes %s and takes %s: it needs a case here", function, output, other);
        if (c < CASES) {
            try_pair(&cases[c], output, other);
        }
    }
    cr_assert(pclose(list) == 0 && pairs > 100, "%d pairs", pairs);
}
