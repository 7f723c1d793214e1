/* LSP_SPMV_PACKED on the CPU: sums of rows brought to Y. */
#include "cpu.h"
#include "matrices/matrices.h"

enum { least_share = 1 << 14 };

typedef struct spreading {
    const lsp_spmv_job *job;
    const lsp_packed *p;
} spreading;

/* Writes row i of Y, whose sums are those of row r of the packed matrix; -1: it has no entries. */
#define WRITE_ROW(type, suffix)                                                                                        \
    static void write_row_##suffix(const spreading *s, int64_t i, int64_t r) {                                         \
        const lsp_spmv_options *o = &s->job->options;                                                                  \
        for (int64_t v = 0; v < o->vectors; v++) {                                                                     \
            const int64_t at = o->by_columns ? v * s->p->count + r : r * o->vectors + v;                               \
            const type sum = r < 0 ? (type)(lsp_semiring_empty(o->semiring) + 0.0) : ((const type *)s->p->sums)[at];   \
            lsp_spmv_write_##suffix(s->job, i, v, sum);                                                                \
        }                                                                                                              \
    }
WRITE_ROW(float, f32)
WRITE_ROW(double, f64)

static void write_listed(void *data, int64_t begin, int64_t end) {
    const spreading *s = data;
    for (int64_t r = begin; r < end; r++) {
        LSP_SPMV_BY_TYPE(s->job->options.type, write_row, s, s->p->rows[r], r);
    }
}

static void write_empty(void *data, int64_t begin, int64_t end) {
    const spreading *s = data;
    for (int64_t i = begin; i < end; i++) {
        if (lsp_csr_rowptr(&s->job->A, i) == lsp_csr_rowptr(&s->job->A, i + 1)) {
            LSP_SPMV_BY_TYPE(s->job->options.type, write_row, s, i, -1);
        }
    }
}

lsp_status lsp_packed_spread_cpu(lsp_ctx *ctx, const lsp_spmv_job *job, const lsp_packed *p, bool all) {
    spreading s = {job, p};
    lsp_for_shares(ctx, p->count, least_share, write_listed, &s);
    if (all) {
        lsp_for_shares(ctx, job->A.rows, least_share, write_empty, &s);
    }
    return LSP_OK;
}
