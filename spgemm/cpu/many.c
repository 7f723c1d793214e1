/* Many products C[i] = A[i]*B[i] at once on the CPU. Those of few columns are made in one pass, each by one thread, and
 * lie in no order in arrays that all of them share; others, each by all threads, as by lsp_spgemm. The arrays get as
 * much room as a sample of rows says, and a tenth more; if too little, all are made again with twice the room. */
#include "one_pass.h"
#include <stdio.h>

enum {
    PART_WORK = 1 << 15,   /* rows and entries of the factors of a part's products */
    MOST_ENTRIES = 1 << 19 /* of a product that one thread makes; it holds back as many */
};

typedef struct many {
    lsp_spgemm_plan *job; /* of the first product; its info is that of all */
    int64_t count;
    lsp_spgemm_call by_all;
    lsp_csr *C; /* without arrays, until all are made; those of other products are whole */
    lsp_spgemm_parts parts;
    bool faulty; /* atomic: some pair is malformed */
} many;

/* ---- the look at the factors ---- */

LSP_INLINE bool pointers_rise(lsp_type type, const lsp_csr *M) {
    bool good = lsp_index_at(M->rowptr, type, 0) == 0 && lsp_index_at(M->rowptr, type, M->rows) == M->nnz;
    for (int64_t i = 0; i < M->rows; i++) {
        good &= lsp_index_at(M->rowptr, type, i) <= lsp_index_at(M->rowptr, type, i + 1);
    }
    return good;
}
LSP_INLINE bool columns_fit(lsp_type type, const lsp_csr *M) {
    bool good = true;
    for (int64_t k = 0; k < M->nnz; k++) {
        good &= (uint64_t)lsp_index_at(M->col, type, k) < (uint64_t)M->cols;
    }
    return good;
}
static bool is_sound(const lsp_csr *M) {
    return LSP_WITH_INDEX(M->rowptr_type, pointers_rise, M) && LSP_WITH_INDEX(M->col_type, columns_fit, M);
}

static void look_at_part(void *data, int64_t part, int thread) {
    many *m = data;
    lsp_spgemm_parts *p = &m->parts;
    (void)thread;
    for (int64_t i = p->first[part]; i < p->first[part + 1]; i++) {
        const lsp_csr *A = &p->A[i], *B = &p->B[i];
        const bool wide = B->cols > LSP_RUN_NEAR;
        int64_t products;
        if (!wide && !(is_sound(A) && (A == B || is_sound(B)))) {
            __atomic_store_n(&m->faulty, true, __ATOMIC_RELAXED);
            return;
        }
        p->most[i] = wide ? -1 : lsp_spgemm_bound(A, B, B->cols, &products);
        p->most[i] = p->most[i] > MOST_ENTRIES ? -1 : p->most[i];
    }
}

/* Can the pairs be made so? Their structs are checked, and all have the types of the first. */
static bool suits(lsp_ctx *ctx, const many *m) {
    const lsp_csr *A = m->parts.A, *B = m->parts.B;
    const lsp_spgemm_options *options = &m->job->options;
    const lsp_type type = m->job->type;
    const bool real = (type == LSP_F32 || type == LSP_F64) && !lsp_is_integer(A->val_type);
    const bool counts = type == LSP_F32 && lsp_semiring_counts(options->semiring);
    bool good = options->method == LSP_SPGEMM_AUTO && !options->transpose_a && !options->transpose_b && !counts &&
                ctx->options.max_bytes == 0 && type == m->job->val_type &&
                (type == LSP_NONE || (B->val_type == type && (real || A->val_type == type)));
    for (int64_t f = 0; f < 2 * m->count && good; f++) {
        const lsp_csr *like = f % 2 ? B : A, *M = like + f / 2;
        good = M->where == LSP_HOST && M->rowptr_type == like->rowptr_type && M->col_type == like->col_type &&
               M->val_type == like->val_type && lsp_csr_check_header(ctx, "a factor", M) == LSP_OK &&
               M->cols <= INT32_MAX / 2;
    }
    return good;
}

/* The rows and entries of the factors of a product. */
static int64_t work_of(const many *m, int64_t i) {
    const lsp_csr *A = &m->parts.A[i], *B = &m->parts.B[i];
    return A->rows + A->nnz + B->rows + B->nnz;
}

/* Cuts the products into parts of about equal work: of factors, or of C once its entries are bounded. */
static void cut(many *m, bool bounded) {
    lsp_spgemm_parts *p = &m->parts;
    int64_t work = 0;
    p->count = p->first[0] = 0;
    for (int64_t i = 0; i < m->count; i++) {
        work += bounded ? lsp_max(p->most[i], 0) + p->A[i].rows : work_of(m, i);
        if (work >= (bounded ? LSP_RUN_ENTRIES : PART_WORK) || i + 1 == m->count) {
            p->first[++p->count] = i + 1;
            work = 0;
        }
    }
}

/* Looks at the products, and bounds their entries. */
static lsp_status look(lsp_ctx *ctx, many *m) {
    lsp_spgemm_parts *p = &m->parts;
    int64_t work = 0, at = 0;
    LSP_TRY(LSP_SCRATCH(ctx, m->count, &p->most));
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, m->count, &p->at));
    LSP_TRY(LSP_SCRATCH(ctx, m->count + 1, &p->first));
    LSP_TRY(LSP_SCRATCH(ctx, m->count + 1, &p->row_at));
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, m->count, &m->C));
    for (int64_t i = 0; i < m->count; i++) {
        p->row_at[i] = at;
        at += p->A[i].rows + 1;
        work += work_of(m, i);
    }
    p->row_at[m->count] = at;
    cut(m, false);
    p->threads = (int)lsp_min(lsp_spgemm_threads(ctx, work), p->count);
    lsp_for_parts(ctx, p->count, p->threads, look_at_part, m);
    cut(m, true);
    return LSP_OK;
}

/* ---- the products ---- */

/* The entries of all small products by a sample of rows, and a tenth more; few are bounded by their products. */
static int64_t expected_entries(many *m, int64_t bound) {
    enum { FEW = 1 << 16, PRODUCTS = 256 };
    lsp_spgemm_parts *p = &m->parts;
    int64_t made = 0, most = 0;
    for (int64_t s = 0; s < PRODUCTS && bound > FEW; s++) {
        const int64_t i = m->count * s / PRODUCTS, rows = p->A[i].rows;
        const int64_t first = rows / 2 / LSP_RUN_SAMPLE * LSP_RUN_SAMPLE;
        if (p->most[i] > 0) {
            const int64_t last = lsp_min(first + LSP_RUN_SAMPLE, rows);
            int64_t here;
            made += lsp_spgemm_sample_rows(p, 0, &p->A[i], &p->B[i], first, last, &here).nnz;
            most += here;
        }
    }
    const double share = most > 0 ? 1.1 * (double)made / (double)most : 1;
    return share < 1 ? lsp_min((int64_t)(share * (double)bound) + FEW, bound) : bound;
}

/* Makes the small products. */
static lsp_status make_small(lsp_ctx *ctx, many *m) {
    lsp_spgemm_parts *p = &m->parts;
    int64_t bound = 0, cols = 0, entries = 0;
    bool fits;
    for (int64_t i = 0; i < m->count; i++) {
        bound += lsp_max(p->most[i], 0);
        entries = lsp_max(entries, p->most[i]);
        cols = p->most[i] >= 0 ? lsp_max(cols, p->B[i].cols) : cols;
    }
    p->threads = (int)lsp_min(p->threads, p->count);
    LSP_TRY(lsp_spgemm_open_runs(ctx, cols, entries, p));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, p->row_at[m->count], lsp_type_bytes(p->C.rowptr_type), &p->C.rowptr));
    p->capacity = expected_entries(m, bound);
    return lsp_spgemm_make_parts(ctx, p, &fits);
}

/* Makes the other products, whose arrays are then their own. *alike: they have the types of the small ones. */
static lsp_status make_by_all(lsp_ctx *ctx, many *m, int64_t *wide, bool *alike) {
    lsp_spgemm_info *info = &m->job->info;
    for (int64_t i = 0; i < m->count && *alike; i++) {
        lsp_spgemm_info one;
        if (m->parts.most[i] < 0) {
            LSP_TRY(m->by_all(ctx, &m->parts.A[i], &m->parts.B[i], &m->job->options, &m->C[i], &one));
            *alike = m->C[i].rowptr_type == m->parts.C.rowptr_type && m->C[i].col_type == m->parts.C.col_type;
            *wide += 1;
            lsp_spgemm_add_info(info, &one);
            info->passes = one.passes > info->passes ? one.passes : info->passes;
        }
    }
    return LSP_OK;
}

static void describe(const many *m, int64_t wide) {
    const lsp_spgemm_parts *p = &m->parts;
    lsp_spgemm_info *info = &m->job->info;
    int64_t cols = 0;
    lsp_spgemm_sum_runs(p, info);
    info->nnz = p->C.nnz;
    for (int64_t i = 0; i < m->count; i++) {
        info->nnz += m->C[i].nnz;
        cols = lsp_max(cols, p->B[i].cols);
    }
    info->scratch_bytes = lsp_max(info->scratch_bytes, p->threads * (int64_t)(p->thread_bytes + sizeof *p->runs));
    info->bound_bytes = lsp_spgemm_matrix_bytes(p->row_at[m->count] - m->count, cols, info->nnz_bound,
                                                &m->job->options.types, m->job->type);
    snprintf(info->reason, sizeof info->reason,
             "one pass: %lld matrices, each by one of %d thread%s in a window of all columns; %lld by all, one by one",
             (long long)(m->count - wide), p->threads, p->threads > 1 ? "s" : "", (long long)wide);
}

/* Gives the small products their parts of the shared arrays, and makes all arrays a group. */
static lsp_status hand_out(lsp_ctx *ctx, const many *m, lsp_csr *C) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_spgemm_parts *p = &m->parts;
    void **arrays;
    int64_t n = 0;
    LSP_TRY(LSP_SCRATCH(ctx, 3 * (m->count + 1), &arrays));
    arrays[n++] = p->C.rowptr;
    arrays[n++] = p->C.col;
    arrays[n++] = p->C.val;
    for (int64_t i = 0; i < m->count; i++) {
        C[i] = m->C[i];
        if (p->most[i] < 0) {
            arrays[n++] = C[i].rowptr;
            arrays[n++] = C[i].col;
            arrays[n++] = C[i].val;
            continue;
        }
        const int64_t rows = p->A[i].rows, nnz = lsp_csr_rowptr(&p->C, p->row_at[i] + rows);
        C[i] = lsp_batch_slice(&p->C, rows, p->B[i].cols, nnz, p->row_at[i], p->at[i]);
    }
    lsp_make_joint(ctx, arrays, n, m->count);
    return LSP_OK;
}

/* All products, unless they are not alike or a matrix is at fault. */
static lsp_status make_all(lsp_ctx *ctx, many *m, lsp_csr *C, bool *done) {
    int64_t wide = 0;
    bool alike = true;
    LSP_TRY(look(ctx, m));
    if (m->faulty) {
        return LSP_OK;
    }
    m->job->info = (lsp_spgemm_info){.method = LSP_SPGEMM_SORT, .method_name = "sort", .blocks = 1, .passes = 1};
    LSP_TRY(make_small(ctx, m));
    const char *phase = ctx->only_phase;
    ctx->only_phase = phase != NULL ? phase : "none"; /* each product would begin again from 0 */
    const lsp_status status = make_by_all(ctx, m, &wide, &alike);
    ctx->only_phase = phase;
    LSP_TRY(status);
    if (alike) {
        lsp_progress(ctx, "multiply", 1);
        LSP_TRY(hand_out(ctx, m, C));
        describe(m, wide);
        *done = true;
    }
    return LSP_OK;
}

lsp_status lsp_batch_at_once_cpu(lsp_spgemm_plan *job, int64_t count, const lsp_csr *A, const lsp_csr *B,
                                 lsp_spgemm_call by_all, lsp_csr *C, bool *done) {
    lsp_ctx *ctx = job->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_csr_types *types = &job->options.types;
    many m = {.job = job, .count = count, .by_all = by_all, .parts = {.A = A, .B = B, .isa = ctx->isa}};
    *done = false;
    m.parts.like = (lsp_spgemm_run){.type = job->type, .semiring = job->options.semiring, .longest = INT32_MAX};
    m.parts.C = (lsp_csr){.rowptr_type = types->rowptr_type == LSP_NONE ? LSP_I32 : types->rowptr_type,
                          .col_type = types->col_type == LSP_NONE ? LSP_I32 : types->col_type,
                          .val_type = job->type,
                          .where = LSP_HOST};
    const lsp_status status = suits(ctx, &m) ? make_all(ctx, &m, C, done) : LSP_OK;
    if (!*done) {
        lsp_csr_free(ctx, &m.parts.C);
        for (int64_t i = 0; m.C != NULL && m.parts.most != NULL && i < count; i++) {
            lsp_csr_free(ctx, &m.C[i]);
        }
    }
    /* the stacks need less memory, and name faults */
    return status == LSP_ERR_MEMORY || status == LSP_ERR_FORMAT ? LSP_OK : status;
}
