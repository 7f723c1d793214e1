/* The rules of the set-up on the CPU: threads take shares of the rows. */
#include "solve/multigrid/rules.h"

enum { LEAST_ROWS = 1 << 12, LEAST_PIECES = 4 };

typedef struct pass {
    const lsp_setup *s;
    lsp_two *sums;
    int64_t n;
} pass;

/* rows begin .. end-1; in a pass with sums, pieces. */
typedef void (*do_rows)(void *data, int64_t begin, int64_t end);

static inline lsp_two halve(lsp_two *lane) {
    for (int half = LSP_SUM_LANES / 2; half > 0; half /= 2) {
        for (int t = 0; t < half; t++) {
            lane[t].a += lane[t + half].a;
            lane[t].b += lane[t + half].b;
        }
    }
    return lane[0];
}

#define ROWS_AS(rule, suffix, rows, cols, vals)                                                                        \
    static void each_##rule##suffix(void *data, int64_t begin, int64_t end) {                                          \
        const lsp_setup *s = ((const pass *)data)->s;                                                                  \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            (void)lsp_rule_##rule(s, rows, cols, vals, i);                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    static void sums_##rule##suffix(void *data, int64_t begin, int64_t end) {                                          \
        const pass *p = data;                                                                                          \
        const lsp_setup *s = p->s;                                                                                     \
        for (int64_t piece = begin; piece < end; piece++) {                                                            \
            lsp_two lane[LSP_SUM_LANES] = {{0, 0}};                                                                    \
            const int64_t first = piece * LSP_SUM_ROWS, last = lsp_min(first + LSP_SUM_ROWS, p->n);                    \
            for (int64_t i = first; i < last; i++) {                                                                   \
                const lsp_two two = lsp_rule_##rule(s, rows, cols, vals, i);                                           \
                lane[i % LSP_SUM_LANES].a += two.a;                                                                    \
                lane[i % LSP_SUM_LANES].b += two.b;                                                                    \
            }                                                                                                          \
            p->sums[piece] = halve(lane);                                                                              \
        }                                                                                                              \
    }
/* The usual types as constants, all others as they come. */
#define ROWS(rule)                                                                                                     \
    ROWS_AS(rule, _usual, LSP_I32, LSP_I32, LSP_F64)                                                                   \
    ROWS_AS(rule, _any, s->A.rowptr_type, s->A.col_type, s->A.val_type)
LSP_EACH_RULE(ROWS)

#define LINE(rule)                                                                                                     \
    [LSP_RULE_##rule] = {{each_##rule##_any, sums_##rule##_any}, {each_##rule##_usual, sums_##rule##_usual}},
static const do_rows table[][2][2] = {LSP_EACH_RULE(LINE)};

lsp_status lsp_setup_cpu(lsp_ctx *ctx, lsp_setup_rule rule, const lsp_setup *s, int64_t n, lsp_two *sums) {
    const bool usual = s->A.rowptr_type == LSP_I32 && s->A.col_type == LSP_I32 && s->A.val_type == LSP_F64;
    pass p = {s, sums, n};
    lsp_for_shares(ctx, sums != NULL ? lsp_ceil_div(n, LSP_SUM_ROWS) : n, sums != NULL ? LEAST_PIECES : LEAST_ROWS,
                   table[rule][usual][sums != NULL], &p);
    return LSP_OK;
}
