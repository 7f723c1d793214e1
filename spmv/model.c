/* Predicts the seconds of every method. The matrix, y and whatever the method writes between its phases move in order,
 * at a share of the copy speed; x is read as the cache model tells from a sample of the columns (cache_model/access.c);
 * the instructions of an entry and of a row overlap with both. docs/cache-model.md has the terms of x. */
#include "cache_model/cache_model.h"
#include "spmv.h"
#include <math.h>

/* What is known of a method beyond the bytes that it must move. */
typedef struct factors {
    double share;      /* of the copy speed that its streams reach */
    double x;          /* its reads of x over those of CSR as it is */
    double hidden;     /* share of its lookups of x that cost nothing where neighbours use whole lines */
    double entry, row; /* instructions of an entry and of a row, in reads of x from the first cache */
    double vector;     /* instructions of an entry for each further vector, over those of the first */
    double row_vector; /* instructions of a row for each further vector, in reads of x */
    double launches;   /* kernels, or times that threads are woken */
    double plan;       /* bytes at copy speed to prepare an entry */
} factors;

/* Tuned on an H200, 2026-11-24, by `sparse-bench spmv` (poisson2d:4096, stencil27:128, fem3:48, rmat:20:16,
 * web:4000000:1.8:20000, er:N:D), which tells the error of each prediction. Other GPUs: the same factors on their
 * figures. Several vectors by rows and diagonals: on an H100, 2026-11-26. */
static const factors gpu_factors[LSP_SPMV_METHODS] = {
    [LSP_SPMV_ROWS] = {.share = 1, .x = 1, .entry = 0.45, .row = 0.2, .vector = 0.19, .row_vector = 0.6, .launches = 1},
    [LSP_SPMV_EQUAL] =
        {.share = 0.96, .x = 1, .entry = 0.72, .row = 2.9, .vector = 2, .row_vector = 5.5, .launches = 2},
    [LSP_SPMV_GATHER] = {.share = 0.9, .x = 1, .entry = 1.1, .row = 1, .vector = 1, .row_vector = 4, .launches = 2},
    [LSP_SPMV_DIAGONALS] =
        {.share = 0.95, .entry = 0.15, .row = 1.1, .vector = 0.92, .row_vector = 0.86, .launches = 1, .plan = 110},
    [LSP_SPMV_BLOCKS] =
        {.share = 0.97, .entry = 0.1, .row = 0.1, .vector = 0.8, .row_vector = 0.1, .launches = 1, .plan = 110},
    [LSP_SPMV_LENGTHS] =
        {.share = 0.9, .x = 1, .entry = 0.4, .row = 0.2, .vector = 1, .row_vector = 1, .launches = 2, .plan = 600},
    [LSP_SPMV_PROPAGATE] =
        {.share = 0.8, .entry = 0.5, .row = 0.3, .vector = 1, .row_vector = 1, .launches = 2, .plan = 140},
    [LSP_SPMV_PACKED] = {.share = 0.9, .row = 0.2, .row_vector = 0.2, .launches = 2, .plan = 60}};

/* Tuned on two threads of an EPYC with AVX2, 2026-11-24, by `sparse-bench spmv --device cpu`: by processor time, since
 * the machine was busy. Several vectors, and blocks in f32: on two threads of a Xeon with AVX-512, 2026-11-25. The
 * entries of gather and propagate: on one thread of an EPYC with AVX-512, calibrated (2.3 and 1.7 ns), 2026-11-25. */
static const factors cpu_factors[LSP_SPMV_METHODS] = {
    [LSP_SPMV_ROWS] =
        {.share = 1.4, .x = 1, .hidden = 0.5, .entry = 0.25, .row = 3, .vector = 0.3, .row_vector = 0.5, .launches = 1},
    [LSP_SPMV_EQUAL] =
        {.share = 1.4, .x = 1, .hidden = 0.5, .entry = 0.25, .row = 3, .vector = 0.3, .row_vector = 0.5, .launches = 1},
    [LSP_SPMV_GATHER] =
        {.share = 1, .x = 1, .hidden = 0.5, .entry = 4, .row = 3, .vector = 0.5, .row_vector = 0.5, .launches = 2},
    [LSP_SPMV_DIAGONALS] =
        {.share = 1.3, .entry = 0.3, .row = 1, .vector = 4, .row_vector = 0.5, .launches = 1, .plan = 150},
    [LSP_SPMV_BLOCKS] =
        {.share = 1.4, .entry = 0.3, .row = 1, .vector = 1.8, .row_vector = 0.5, .launches = 1, .plan = 150},
    [LSP_SPMV_PROPAGATE] =
        {.share = 1, .entry = 3, .row = 1, .vector = 0.8, .row_vector = 0.5, .launches = 2, .plan = 300},
    [LSP_SPMV_PACKED] = {.share = 1, .row = 1, .row_vector = 0.5, .launches = 2, .plan = 60}};

enum { STEP = 32, PLACE = 2 }; /* entries of a slice's column; bytes of a place */
static const double offset_and_mask = 8;
static const double popular = 0.5; /* slices by length keep popular parts of x in shared memory: most that this saves */
static const double popular_bytes = 8e6; /* x up to which it saves that; of a larger x a smaller part fits */
static const int passes_tried[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
enum { TRIED = sizeof passes_tried / sizeof *passes_tried };

typedef struct model {
    const lsp_cache_figures *f;
    const factors *factors;
    const lsp_spmv_facts *facts;
    lsp_cache_case x; /* the reads of x */
    bool uneven;      /* the longest row is far longer than the mean, or most rows are empty */
    double rows, cols, nnz, col, val, rowptr;
    double vectors, item, y; /* columns of X and Y; bytes of a row of theirs, and of all Y */
} model;

/* What a method moves and does. */
typedef struct work {
    double stream;  /* bytes in order, without x */
    double entries; /* that pass through its lanes */
    double x_bytes; /* of x in order: 0 where it is read by column */
    double popular; /* share that it saves of reads of x which meet what was read shortly before */
} work;

static model model_of(const lsp_cache_figures *f, const lsp_spmv_job *job, const lsp_spmv_facts *facts) {
    const lsp_csr *A = &job->A;
    const double type = (double)lsp_type_bytes(job->options.type), vectors = (double)job->options.vectors;
    model m = {.f = f, .factors = f->where == LSP_CUDA ? gpu_factors : cpu_factors, .facts = facts};
    m.rows = (double)A->rows;
    m.cols = (double)A->cols;
    m.nnz = (double)A->nnz;
    m.uneven = lsp_spmv_is_uneven(facts->longest_row, m.nnz, m.rows) || (double)facts->empty_rows > 0.75 * m.rows;
    m.col = (double)lsp_type_bytes(A->col_type);
    m.val = (double)lsp_type_bytes(A->val_type);
    m.rowptr = (double)lsp_type_bytes(A->rowptr_type);
    m.vectors = vectors;
    m.item = type * vectors;
    m.y = m.rows * m.item * (1 + (job->vectors.beta != 0));
    m.x = (lsp_cache_case){.n = A->nnz,
                           .extent = A->cols,
                           .element_bytes = lsp_spmv_item_bytes(job),
                           .index_bytes = lsp_type_bytes(A->col_type),
                           .pattern = facts->pattern};
    m.x.n *= job->options.by_columns ? job->options.vectors : 1; /* each vector is read by itself */
    return m;
}

/* (a^p + b^p)^(1/p): the sum for p = 1, nearly the larger one for p = 4. */
static double overlap(double a, double b, double p) {
    const double most = fmax(a, b), least = fmin(a, b);
    return most <= 0 ? 0 : most * pow(1 + pow(least / most, p), 1 / p);
}

/* Seconds of a method. What x moves adds to the streams. The lookups of x overlap with them as far as neighbours share
 * lines; where each column is far from the next, memory serves one or the other. */
static double seconds_of(const model *m, lsp_spmv_method method, const work *w, double parts) {
    const factors *k = m->factors + method;
    const lsp_cache_figures *f = m->f;
    const lsp_access a = lsp_access_of(f, &m->x, parts);
    const double once = 1 / f->reads[0];
    double moved = w->x_bytes / f->copy_rate, rest = 0, p = 4;
    if (k->x > 0 && m->x.n > 0 && m->x.extent > 0) {
        const double all = parts * lsp_access_seconds(f, &a);
        moved = fmin(parts * lsp_access_misses(f, &a) * f->line_bytes / f->copy_rate, all);
        rest = k->x * (1 - k->hidden * a.dense) * (1 - w->popular * fmax(1 - a.lines, 0)) * (all - moved);
        p = 1 + 3 * a.dense;
    }
    const double further = m->vectors - 1;
    const double instructions =
        once * (k->entry * (1 + k->vector * further) * w->entries + (k->row + k->row_vector * further) * m->rows);
    const double memory = overlap(w->stream / (k->share * f->copy_rate) + moved, rest, p);
    return k->launches * f->start_seconds + overlap(memory, instructions, 4);
}

static void offer(const model *m, lsp_spmv_method method, const work *w, lsp_spmv_choice *choice) {
    choice->seconds[method] = seconds_of(m, method, w, 1);
    choice->plan_seconds[method] = m->factors[method].plan * m->nnz / m->f->copy_rate;
}

/* What rows of very different lengths cost more: lanes of a warp wait for the longest row among theirs; a processor
 * guesses wrong where a row ends. */
static double unevenness(const model *m) {
    const double row = m->f->where == LSP_CUDA ? 20 : 5;
    return m->uneven ? row * m->rows / m->f->reads[0] : 0;
}

/* Several vectors on a GPU: tiles with long rows take a kernel that needs more registers (gpu/many.cu), which costs
 * about the same for 2 to 8 vectors. Fitted to rmat:20:16 with 4 vectors on an H100. */
static double rows_unevenness(const model *m) {
    const bool several = m->f->where == LSP_CUDA && m->vectors > 1;
    return unevenness(m) * (several ? 5.5 : 1);
}

/* A GPU sums the longest row, or `most` entries of it, by few lanes. Returns the seconds of these entries. By rows, one
 * took 35 to 105 ns on an H200, in matrices of 3,081 to 36,692 rows (2026-11-30). */
static double chain(const model *m, double most) {
    return m->uneven && m->f->where == LSP_CUDA ? 55e-9 * fmin((double)m->facts->longest_row, most) : 0;
}

/* The products of each pass are written in parts of sectors; a second kernel reads all of them. `asked` passes; 0: as
 * many as take least. */
static void offer_gather(const model *m, const work *csr, int asked, lsp_spmv_choice *choice) {
    lsp_cache_case products = m->x;
    products.element_bytes = (size_t)m->item;
    choice->seconds[LSP_SPMV_GATHER] = INFINITY;
    for (int i = 0; i < (asked > 0 ? 1 : TRIED); i++) {
        const int passes = asked > 0 ? asked : passes_tried[i];
        work w = *csr;
        w.stream += (passes - 1) * m->nnz * m->col + m->nnz * m->item;
        w.entries = m->nnz * (1 + 0.3 * (passes - 1));
        const double parts = lsp_parts_seconds(m->f, &products, passes);
        const double scan = lsp_parts_scan(m->f, m->nnz, passes);
        const double seconds = seconds_of(m, LSP_SPMV_GATHER, &w, passes) + parts + scan;
        if (seconds < choice->seconds[LSP_SPMV_GATHER]) {
            choice->seconds[LSP_SPMV_GATHER] = seconds;
            choice->passes = passes;
        }
    }
}

/* Slices of 32 rows: one offset and one mask for each column of `area` entries a row. */
static void offer_slices(const model *m, lsp_spmv_method method, int64_t slots, double area, lsp_spmv_choice *choice) {
    const double stored = (double)slots;
    if (slots > 0) {
        const work w = {.stream = stored * (m->val + offset_and_mask / STEP / area) + m->y,
                        .entries = stored,
                        .x_bytes = m->cols * m->item};
        offer(m, method, &w, choice);
    }
}

static void offer_lengths(const model *m, lsp_spmv_choice *choice) {
    const double stored = (double)m->facts->length_slots;
    if (stored > 0 && m->factors[LSP_SPMV_LENGTHS].share > 0) { /* a CPU has no such engine */
        const work w = {.stream = stored * (m->val + m->col) + m->rows * m->col + m->y,
                        .entries = stored,
                        .popular = popular * fmin(1, popular_bytes / (m->cols * m->item + 1))};
        offer(m, LSP_SPMV_LENGTHS, &w, choice);
    }
}

/* Phase 1 reads x, values and 16-bit columns and writes products; phase 2 reads these and 16-bit places. It reads a
 * segment of products for each slice of x and bin of rows that share an entry. Where rows are long, a product took up
 * to 3.5 ps more: rmat:20:16 and web:4000000 on an H100 (2026-11-26) and an H200 (2026-11-29). */
static void offer_propagate(const model *m, lsp_spmv_choice *choice) {
    static const double bin_bytes = 65536, segment = 2.5; /* of rows of Y; in reads of x */
    static const double long_rows = 2.5e-12;              /* seconds more of a product */
    const work w = {.stream = m->nnz * (m->val + 2 * PLACE + 2 * m->item) + m->rows * m->col + m->y,
                    .entries = m->nnz,
                    .x_bytes = m->cols * m->item};
    const double segments = m->cols * m->item / m->f->stage_bytes * (m->rows * m->item / bin_bytes);
    offer(m, LSP_SPMV_PROPAGATE, &w, choice);
    if (m->f->where == LSP_CUDA) {
        choice->seconds[LSP_SPMV_PROPAGATE] +=
            segment * fmin(segments, m->nnz) / m->f->reads[0] +
            (lsp_spmv_is_uneven(m->facts->longest_row, m->nnz, m->rows) ? long_rows * m->nnz : 0);
    }
}

/* The rows that have entries as CSR: the plan may find a better method for them. Then their sums are brought to Y, and
 * all row pointers are read again for the other rows; but half of that is counted, since a product that adds to Y
 * leaves them as they are. */
static void offer_packed(const model *m, lsp_spmv_choice *choice) {
    static const double place = 8, others = 0.5;
    model packed = *m;
    packed.rows -= (double)m->facts->empty_rows;
    packed.uneven = lsp_spmv_is_uneven(m->facts->longest_row, m->nnz, packed.rows);
    const double sums = packed.rows * m->item;
    const work csr = {.stream = m->nnz * (m->col + m->val) + packed.rows * m->rowptr + sums, .entries = m->nnz};
    const work spread = {.stream = others * (m->rows * m->rowptr + m->y) + packed.rows * place + 2 * sums};
    offer(m, LSP_SPMV_PACKED, &spread, choice);
    choice->seconds[LSP_SPMV_PACKED] += seconds_of(&packed, LSP_SPMV_ROWS, &csr, 1) + rows_unevenness(&packed);
    choice->plan_seconds[LSP_SPMV_PACKED] = m->factors[LSP_SPMV_PACKED].plan * m->rows / m->f->copy_rate;
}

void lsp_spmv_predict(const lsp_cache_figures *figures, const lsp_spmv_job *job, const lsp_spmv_facts *facts,
                      unsigned offered, lsp_spmv_choice *choice) {
    const model m = model_of(figures, job, facts);
    const work csr = {.stream = m.nnz * (m.col + m.val) + (m.rows + 1) * m.rowptr + m.y, .entries = m.nnz};
    const int block = choice->block;
    offer(&m, LSP_SPMV_ROWS, &csr, choice);
    offer(&m, LSP_SPMV_EQUAL, &csr, choice);
    choice->seconds[LSP_SPMV_ROWS] = fmax(choice->seconds[LSP_SPMV_ROWS] + rows_unevenness(&m), chain(&m, 2048));
    choice->seconds[LSP_SPMV_EQUAL] += figures->where == LSP_HOST ? unevenness(&m) : 0; /* it is the same method */
    offer_gather(&m, &csr, job->options.passes, choice);
    choice->seconds[LSP_SPMV_GATHER] += unevenness(&m) + chain(&m, INFINITY);
    offer_slices(&m, LSP_SPMV_DIAGONALS, facts->diagonal_slots, 1, choice);
    offer_slices(&m, LSP_SPMV_BLOCKS, block > 0 ? facts->block_slots[block] : 0, (double)block * block, choice);
    offer_lengths(&m, choice);
    offer_propagate(&m, choice);
    offer_packed(&m, choice);
    for (int method = 0; method < LSP_SPMV_METHODS; method++) {
        if ((offered >> method & 1) == 0) {
            choice->seconds[method] = choice->plan_seconds[method] = 0;
        }
    }
}
