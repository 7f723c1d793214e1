/* The model of the methods: pure functions of figures, facts and sizes. With the figures of an H200 it must tell about
 * what prototypes took there, and prefer the method that was the fastest. */
#include "cache_model/cache_model.h"
#include "spmv/spmv.h"
#include "tests/support.h"
#include <math.h>

/* The curve of an H200 in outline. */
static lsp_cache_figures h200(void) {
    static const double megabytes[] = {1, 24, 32, 48, 64, 128, 256, 1024, 65536};
    static const double reads[] = {157, 157, 137, 99, 75, 52, 44, 40, 39};
    lsp_cache_figures f = {.device = "H200",
                           .where = LSP_CUDA,
                           .start_seconds = 4e-6,
                           .copy_rate = 4.19e12,
                           .line_bytes = 64,
                           .sector_bytes = 32,
                           .cache_bytes = 60 << 20,
                           .stage_bytes = 227 << 10,
                           .points = 9};
    for (int i = 0; i < f.points; i++) {
        f.footprint[i] = megabytes[i] * (1 << 20);
        f.reads[i] = 1e9 * reads[i];
        f.writes[i] = f.writes32[i] = 0.5 * f.reads[i];
    }
    return f;
}

static lsp_spmv_job job_of(int64_t n, int64_t nnz) {
    return (lsp_spmv_job){.A = {.rows = n,
                                .cols = n,
                                .nnz = nnz,
                                .rowptr_type = LSP_I32,
                                .col_type = LSP_I32,
                                .val_type = LSP_F64,
                                .where = LSP_CUDA},
                          .options = {.type = LSP_F64, .vectors = 1},
                          .planned = true};
}

/* Random columns, rows of about one length, no diagonals. */
static lsp_spmv_facts random_facts(int64_t nnz, int64_t longest) {
    return (lsp_spmv_facts){.longest_row = longest, .diagonal_slots = 30 * nnz, .length_slots = nnz + nnz / 20};
}

static lsp_spmv_choice predict(const lsp_cache_figures *f, const lsp_spmv_job *job, const lsp_spmv_facts *facts) {
    lsp_spmv_choice choice = {.passes = 1};
    lsp_spmv_predict(f, job, facts, ~0u, &choice);
    return choice;
}

static void about(const char *what, double seconds, double measured) {
    cr_expect(fabs(seconds / measured - 1) < 0.25, "%s: %.3g ms predicted, %.3g ms measured", what, 1e3 * seconds,
              1e3 * measured);
}

Test(spmv_model, random_columns_beyond_the_cache_take_what_prototypes_took_on_an_h200) {
    static const struct {
        int64_t n, nnz;
        double rows, propagate;
    } cases[] = {{4194304, 33554400, 0.337e-3, 0.311e-3},
                 {16777216, 67108860, 1.5e-3, 0.66e-3},
                 {67108864, 134217720, 3.7e-3, 1.67e-3}};
    const lsp_cache_figures f = h200();
    for (int i = 0; i < 3; i++) {
        const lsp_spmv_job job = job_of(cases[i].n, cases[i].nnz);
        const lsp_spmv_facts facts = random_facts(cases[i].nnz, 20);
        const lsp_spmv_choice c = predict(&f, &job, &facts);
        about("rows", c.seconds[LSP_SPMV_ROWS], cases[i].rows);
        about("propagate", c.seconds[LSP_SPMV_PROPAGATE], cases[i].propagate);
        cr_expect(c.seconds[LSP_SPMV_DIAGONALS] > 2 * c.seconds[LSP_SPMV_ROWS], "diagonals of random columns");
    }
}

/* rmat:20:16 and web:4000000:1.8:20000, f32, 2026-11-29. */
Test(spmv_model, propagation_takes_longer_where_rows_are_long) {
    static const struct {
        int64_t n, nnz, longest;
        double propagate;
    } cases[] = {{1048576, 16040000, 39717, 0.148e-3}, {4000000, 50800000, 9550, 0.368e-3}};
    const lsp_cache_figures f = h200();
    for (int i = 0; i < 2; i++) {
        lsp_spmv_job job = job_of(cases[i].n, cases[i].nnz);
        job.A.val_type = job.options.type = LSP_F32;
        const lsp_spmv_facts facts = random_facts(cases[i].nnz, cases[i].longest);
        about("propagate", predict(&f, &job, &facts).seconds[LSP_SPMV_PROPAGATE], cases[i].propagate);
    }
}

/* An augmented system, a Cholesky factor, memplus and email-Enron by a plan, H200, 2026-11-30: 167, 47, 107 and 111
 * microseconds by rows, 10 to 14 by the others. */
Test(spmv_model, small_matrices_with_long_rows_are_not_taken_by_rows) {
    static const int64_t cases[][3] = {
        {4967, 64365, 829}, {3081, 71918, 346}, {17758, 126150, 574}, {36692, 367662, 1383}};
    const lsp_cache_figures f = h200();
    for (int i = 0; i < 4; i++) {
        const lsp_spmv_job job = job_of(cases[i][0], cases[i][1]);
        const lsp_spmv_facts facts = random_facts(job.A.nnz, cases[i][2]);
        const lsp_spmv_choice c = predict(&f, &job, &facts);
        cr_expect(c.seconds[LSP_SPMV_ROWS] > 2 * c.seconds[LSP_SPMV_EQUAL]);
        cr_expect(c.seconds[LSP_SPMV_ROWS] > 2 * c.seconds[LSP_SPMV_LENGTHS]);
    }
}

Test(spmv_model, grids_take_diagonals) {
    const lsp_cache_figures f = h200();
    const lsp_spmv_job job = job_of(4096 * 4096, 83869696);
    lsp_spmv_facts facts = {.longest_row = 5, .diagonal_slots = 83900000, .length_slots = 84000000};
    facts.pattern = (lsp_cache_pattern){.kind = LSP_PATTERN_PARTITIONS, .partitions = 3};
    const lsp_spmv_choice c = predict(&f, &job, &facts);
    about("diagonals", c.seconds[LSP_SPMV_DIAGONALS], 0.251e-3);
    for (int m = LSP_SPMV_ROWS; m < LSP_SPMV_METHODS; m++) {
        cr_expect(m == LSP_SPMV_DIAGONALS || c.seconds[m] == 0 || c.seconds[m] > c.seconds[LSP_SPMV_DIAGONALS],
                  "%s: %g s", lsp_spmv_method_name((lsp_spmv_method)m), c.seconds[m]);
    }
}

/* The block of a grid of 192^3 points that couples its half to the other one: 9 entries in each of the last rows. */
Test(spmv_model, matrices_with_many_empty_rows_are_packed) {
    const int64_t all = 192 * 192 * 96, some = 192 * 192;
    lsp_cache_figures f = h200();
    for (int host = 0; host < 2; host++) {
        f.where = host ? LSP_HOST : LSP_CUDA;
        const lsp_spmv_job job = job_of(all, 9 * some);
        lsp_spmv_facts facts = random_facts(9 * some, 9);
        facts.empty_rows = all - some;
        const lsp_spmv_choice packed = predict(&f, &job, &facts);
        cr_expect(packed.seconds[LSP_SPMV_PACKED] < packed.seconds[LSP_SPMV_ROWS]);
        facts.empty_rows = all / 10;
        const lsp_spmv_choice rows = predict(&f, &job, &facts);
        cr_expect(rows.seconds[LSP_SPMV_PACKED] > rows.seconds[LSP_SPMV_ROWS]);
    }
}

Test(spmv_model, methods_without_their_facts_are_not_offered) {
    const lsp_cache_figures f = h200();
    const lsp_spmv_job job = job_of(1000, 5000);
    const lsp_spmv_facts facts = {.longest_row = 5};
    const lsp_spmv_choice c = predict(&f, &job, &facts);
    cr_expect(c.seconds[LSP_SPMV_ROWS] > 0 && c.seconds[LSP_SPMV_EQUAL] > 0 && c.seconds[LSP_SPMV_GATHER] > 0);
    cr_expect(c.seconds[LSP_SPMV_DIAGONALS] == 0 && c.seconds[LSP_SPMV_BLOCKS] == 0 &&
              c.seconds[LSP_SPMV_LENGTHS] == 0);
    cr_expect(c.plan_seconds[LSP_SPMV_ROWS] == 0, "CSR as it is needs no making");
}

Test(spmv_model, every_size_and_type_gives_a_finite_time_that_grows_with_the_entries) {
    static const int64_t sizes[] = {0, 1, 33, 1000, 1 << 20, INT64_C(1) << 33};
    lsp_cache_figures f = h200();
    for (int i = 0; i < 6 * 2 * 3 * 2; i++) {
        f.where = i % 2 ? LSP_CUDA : LSP_HOST;
        lsp_spmv_job job = job_of(sizes[i / 2 % 6], sizes[i / 2 % 6] * (i / 12 % 3));
        job.options.vectors = i / 36 ? 7 : 1;
        job.options.by_columns = i % 3 == 0;
        const lsp_spmv_facts facts = random_facts(job.A.nnz, job.A.nnz);
        const lsp_spmv_choice c = predict(&f, &job, &facts);
        lsp_spmv_job twice = job;
        twice.A.nnz *= 2;
        const lsp_spmv_choice more = predict(&f, &twice, &facts);
        for (int m = LSP_SPMV_ROWS; m < LSP_SPMV_METHODS; m++) {
            cr_expect(isfinite(c.seconds[m]) && c.seconds[m] >= 0 && isfinite(c.plan_seconds[m]), "case %d, method %d",
                      i, m);
            cr_expect(more.seconds[m] >= c.seconds[m] * 0.999, "case %d, method %d: %g s, with more entries %g s", i, m,
                      c.seconds[m], more.seconds[m]);
        }
        cr_expect(c.passes >= 1);
    }
}
