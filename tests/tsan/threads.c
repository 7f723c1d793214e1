/* Runs every threaded function of the library, and the threads themselves (core/threads.c), under the thread sanitizer.
 * Several contexts work at the same time, on matrices that are large enough to start all of their threads. Each result
 * of four threads, of the context or of a caller's hook, is compared, bit for bit, with the result of one. The program
 * does not use Criterion, whose processes and threads would add reports of their own. */
#include "core/core.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct job { /* the work of one host thread: all cases for one matrix, in contexts of its own */
    const char *spec;
    int failures;
} job;

typedef lsp_status (*operation)(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B);

static lsp_status transpose(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) { return lsp_csr_transpose(ctx, A, B); }
static lsp_status narrow(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_csr_copy(ctx, A, &(lsp_csr_types){.rowptr_type = LSP_I64, .col_type = LSP_I64, .val_type = LSP_F32}, B);
}
static lsp_status expand(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_csr_expand(ctx, A, LSP_SYMMETRY_SYMMETRIC, B);
}
static lsp_status add(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_csr T = {0};
    lsp_status status = lsp_csr_transpose(ctx, A, &T);
    status = status == LSP_OK ? lsp_csr_add(ctx, 2, A, -3, &T, B) : status;
    lsp_csr_free(ctx, &T);
    return status;
}
static lsp_status filter(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_csr_filter(ctx, A, &(lsp_filter){.drop = true, .tolerance = 0.25, .largest = 3}, B);
}
static lsp_status filter_by_mask(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_csr T = {0};
    lsp_status status = lsp_csr_transpose(ctx, A, &T);
    status = status == LSP_OK ? lsp_csr_filter(ctx, A, &(lsp_filter){.mask = &T, .complement = true}, B) : status;
    lsp_csr_free(ctx, &T);
    return status;
}

/* The columns as a text: B gets its suffix array as values. */
static lsp_status sort_suffixes(lsp_ctx *ctx, const lsp_csr *A, lsp_suffix_method method, lsp_csr *B) {
    const lsp_text text = {.n = A->nnz, .symbol_bytes = 4, .symbols = A->col};
    int32_t *array = malloc((size_t)A->nnz * sizeof *array);
    lsp_status status = array == NULL ? LSP_ERR_MEMORY : lsp_csr_copy(ctx, A, NULL, B);
    status = status == LSP_OK
                 ? lsp_suffix_array(ctx, &text, &(lsp_suffix_options){.method = method}, LSP_I32, array, NULL)
                 : status;
    for (int64_t i = 0; status == LSP_OK && i < A->nnz; i++) {
        ((double *)B->val)[i] = array[i];
    }
    free(array);
    return status;
}
static lsp_status suffixes_by_doubling(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return sort_suffixes(ctx, A, LSP_SUFFIX_DOUBLING, B);
}
static lsp_status suffixes_induced(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return sort_suffixes(ctx, A, LSP_SUFFIX_INDUCED, B);
}
static lsp_status multiply(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) { return lsp_spgemm(ctx, A, A, NULL, B, NULL); }
static lsp_status multiply_min_plus(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_spgemm(ctx, A, A, &(lsp_spgemm_options){.semiring = LSP_MIN_PLUS}, B, NULL);
}
static lsp_status multiply_plus_pair(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_spgemm(ctx, A, A, &(lsp_spgemm_options){.semiring = LSP_PLUS_PAIR}, B, NULL);
}
static lsp_status multiply_masked(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_spgemm(ctx, A, A, &(lsp_spgemm_options){.filter = {.mask = A}}, B, NULL);
}
static lsp_status multiply_filtered(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_spgemm(ctx, A, A, &(lsp_spgemm_options){.filter = {.drop = true, .tolerance = 0.1, .largest = 5}}, B,
                      NULL);
}
static lsp_status multiply_triple(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_spgemm_triple(ctx, NULL, A, A, NULL, B, NULL);
}

static lsp_status multiply_batch(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    const lsp_csr both[2] = {*A, *A};
    lsp_csr C[2] = {{0}, {0}};
    lsp_status status = lsp_spgemm_batch(ctx, 2, both, both, &(lsp_spgemm_options){.transpose_b = true}, C, NULL);
    status = status == LSP_OK ? lsp_csr_copy(ctx, &C[1], NULL, B) : status;
    lsp_spgemm_batch_free(ctx, 2, C);
    return status;
}

/* A plan that is executed, then used again for the values. */
static lsp_status multiply_planned(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_spgemm_plan *plan = NULL;
    lsp_status status = lsp_spgemm_plan_create(ctx, A, A, NULL, &plan);
    status = status == LSP_OK ? lsp_spgemm_execute(plan, A, A, B) : status;
    status = status == LSP_OK ? lsp_spgemm_refill(plan, A, A, B) : status;
    lsp_spgemm_plan_destroy(plan);
    return status;
}
static lsp_status multiply_transposed(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_spgemm(ctx, A, A, &(lsp_spgemm_options){.transpose_b = true}, B, NULL);
}

/* Reverses the columns, so that every row has to be sorted. */
static lsp_status permute(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    int32_t *order = malloc((size_t)A->cols * sizeof *order);
    if (!order) {
        return LSP_ERR_MEMORY;
    }
    for (int64_t i = 0; i < A->cols; i++) {
        order[i] = (int32_t)(A->cols - 1 - i);
    }
    lsp_status status = lsp_csr_permute(ctx, A, NULL, order, LSP_NONE, B);
    free(order);
    return status;
}

static lsp_status sort_rows(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_status status = lsp_csr_copy(ctx, A, NULL, B);
    if (status == LSP_OK) {
        int32_t *col = B->col;
        for (int64_t i = 0; i < B->nnz; i++) {
            col[i] = (int32_t)(B->cols - 1 - col[i]);
        }
        status = lsp_csr_sort(ctx, B);
    }
    return status;
}

/* The triples of A, back to front. */
static lsp_status from_triples(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    int32_t *row = malloc((size_t)A->nnz * sizeof *row), *col = malloc((size_t)A->nnz * sizeof *col);
    lsp_status status = LSP_ERR_MEMORY;
    if (row && col) {
        const int32_t *rowptr = A->rowptr;
        for (int64_t i = 0; i < A->rows; i++) {
            for (int64_t k = rowptr[i]; k < rowptr[i + 1]; k++) {
                row[A->nnz - 1 - k] = (int32_t)i;
                col[A->nnz - 1 - k] = ((const int32_t *)A->col)[k];
            }
        }
        lsp_coo triples = {A->rows, A->cols, A->nnz, row, col, A->val, LSP_I32, A->val_type, LSP_HOST};
        status = lsp_coo_to_csr(ctx, &triples, NULL, B, NULL);
    }
    free(row);
    free(col);
    return status;
}

/* Writes A, or A*A block by block, to a file with this suffix and reads the file again. */
static lsp_status through_file(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B, const char *suffix, bool product) {
    char path[] = "/tmp/lsp_threads_XXXXXX", name[64];
    int file = mkstemp(path);
    if (file < 0) {
        return LSP_ERR_IO;
    }
    close(file);
    snprintf(name, sizeof name, "%s%s", path, suffix);
    lsp_status status =
        product ? lsp_spgemm_write(ctx, name, A, A, NULL, 8 << 20, NULL, NULL) : lsp_mtx_write(ctx, name, A, NULL);
    if (status == LSP_OK) {
        status = lsp_mtx_read(ctx, name, NULL, B, NULL);
    }
    unlink(name);
    unlink(path);
    return status;
}
static lsp_status plain_file(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return through_file(ctx, A, B, ".mtx", false);
}
static lsp_status gzip_file(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return through_file(ctx, A, B, ".mtx.gz", false);
}
static lsp_status product_file(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return through_file(ctx, A, B, ".mtx", true);
}

/* Sorts pseudo-random keys twice: the rows as segments, by a plan, then all keys as one segment. The sorted keys are
 * B's columns; B is a pattern. */
static lsp_status segsort(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_status status = lsp_csr_copy(ctx, A, &(lsp_csr_types){.drop_values = true}, B);
    if (status == LSP_OK) {
        int32_t *col = B->col;
        for (int64_t i = 0; i < B->nnz; i++) {
            col[i] = (int32_t)((uint32_t)i * 2654435761u % (uint32_t)B->cols);
        }
        lsp_segsort_args rows = {.n = B->nnz,
                                 .segments = B->rows,
                                 .offsets = B->rowptr,
                                 .offset_type = B->rowptr_type,
                                 .key_type = LSP_I32,
                                 .keys = col,
                                 .keys_out = col};
        lsp_segsort_plan *plan = NULL;
        status = lsp_segsort_plan_create(ctx, &rows, &plan);
        status = status == LSP_OK ? lsp_segsort_execute(plan, &rows) : status;
        lsp_segsort_plan_destroy(plan);
        int64_t whole[2] = {0, B->nnz};
        rows.segments = status == LSP_OK ? 1 : 0;
        rows.offsets = whole;
        rows.offset_type = LSP_I64;
        status = status == LSP_OK ? lsp_segsort(ctx, &rows, NULL) : status;
    }
    return status;
}

/* Moves `from` to `to` by a pseudo-random map, once or by a plan. */
static lsp_status move(lsp_ctx *ctx, const lsp_gather_args *args, bool scatter, bool planned) {
    if (!planned) {
        return scatter ? lsp_scatter(ctx, args, NULL) : lsp_gather(ctx, args, NULL);
    }
    lsp_gather_plan *plan = NULL;
    lsp_status status = scatter ? lsp_scatter_plan_create(ctx, args, &plan) : lsp_gather_plan_create(ctx, args, &plan);
    for (int call = 0; call < 2 && status == LSP_OK; call++) {
        status = lsp_gather_execute(plan, args->columns, 1);
    }
    lsp_gather_plan_destroy(plan);
    return status;
}

/* Every strategy and rule, forth and back between two arrays. What they hold in the end, modulo the number of columns,
 * are B's columns; B is a pattern. */
static lsp_status gather_scatter(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_status status = lsp_csr_copy(ctx, A, &(lsp_csr_types){.drop_values = true}, B);
    if (status != LSP_OK) {
        return status;
    }
    const int64_t n = B->nnz;
    int32_t *index = malloc((size_t)n * sizeof *index), *to = malloc((size_t)n * sizeof *to), *from = B->col;
    status = index && to ? LSP_OK : LSP_ERR_MEMORY;
    for (int64_t i = 0; i < n && status == LSP_OK; i++) {
        index[i] = (int32_t)((uint64_t)i * 2654435761u % (uint64_t)n);
        to[i] = (int32_t)i;
    }
    for (int kind = 0; kind < 6 * LSP_STRATEGIES && status == LSP_OK; kind++) {
        const bool scatter = kind % 3 > 0, planned = kind / 3 % 2;
        const lsp_strategy strategy = (lsp_strategy)(kind / 6);
        const lsp_column column = {
            .from = kind % 2 ? to : from, .to = kind % 2 ? from : to, .bytes = 4, .type = LSP_I32};
        const lsp_gather_args args = {.n = n,
                                      .extent = n,
                                      .index = index,
                                      .index_type = LSP_I32,
                                      .columns = &column,
                                      .column_count = 1,
                                      .rule = kind % 3 == 1 ? LSP_SCATTER_LAST : LSP_SCATTER_ADD,
                                      .strategy = strategy,
                                      .passes = 3};
        if ((strategy != LSP_STRATEGY_STAGE || scatter || planned) &&
            (strategy != LSP_STRATEGY_INVERT || (scatter && planned))) {
            status = move(ctx, &args, scatter, planned);
        }
    }
    for (int64_t i = 0; i < n && status == LSP_OK; i++) {
        from[i] = (int32_t)(((uint32_t)from[i] ^ (uint32_t)to[i]) % (uint32_t)B->cols);
    }
    free(index);
    free(to);
    return status;
}

/* The columns of A are keys that repeat. B's columns are the positions of their first occurrences and the sums of the
 * positions of all, modulo the number of columns; B is a pattern. */
static lsp_status hash_search(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_status status = lsp_csr_copy(ctx, A, &(lsp_csr_types){.drop_values = true}, B);
    if (status != LSP_OK) {
        return status;
    }
    const int64_t n = B->nnz, probes = n < 50000 ? n : 50000;
    lsp_hash *table = NULL;
    int32_t *keys = B->col;
    uint32_t *first = malloc((size_t)n * sizeof *first), *all = NULL;
    int64_t *offsets = malloc((size_t)(probes + 1) * sizeof *offsets), total = 0;
    const lsp_hash_args args = {
        .n = n, .key_type = LSP_I32, .value_bytes = 4, .keys = keys, .flags = LSP_HASH_POSITIONS};
    status = first && offsets ? lsp_hash_build(ctx, &args, &table) : LSP_ERR_MEMORY;
    lsp_hash_probes search = {.n = n, .keys = keys, .values = first, .offsets = offsets};
    status = status ? status : lsp_hash_find(table, &search);
    search.n = probes;
    status = status ? status : lsp_hash_count(table, &search);
    search.capacity = status ? 0 : offsets[probes];
    all = malloc((size_t)(search.capacity + 1) * sizeof *all);
    search.values = all;
    status = status ? status : all ? lsp_hash_find_all(table, &search, &total) : LSP_ERR_MEMORY;
    for (int64_t i = 0; i < n && status == LSP_OK; i++) {
        uint64_t sum = first[i];
        for (int64_t k = i < probes ? offsets[i] : 0; i < probes && k < offsets[i + 1]; k++) {
            sum += all[k];
        }
        first[i] = (uint32_t)(sum % (uint64_t)B->cols);
    }
    if (status == LSP_OK) {
        memcpy(B->col, first, (size_t)n * sizeof *first);
    }
    lsp_hash_destroy(table);
    free(first), free(all), free(offsets);
    return status;
}

/* A few iterations of each solver, which may end early: A is any square matrix. B is A with their x among its values.
 */
static lsp_status solve(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_status status = lsp_csr_copy(ctx, A, &(lsp_csr_types){.val_type = LSP_F64}, B);
    double *b = malloc((size_t)A->rows * sizeof *b), *x = calloc((size_t)A->rows, sizeof *x);
    status = status != LSP_OK ? status : b && x ? LSP_OK : LSP_ERR_MEMORY;
    for (int k = 0; k < 4 && status == LSP_OK; k++) {
        const lsp_solve_options options = {
            .type = LSP_F64, .fixed = true, .max_iterations = 3, .precondition = (lsp_precondition)(k / 2)};
        for (int64_t i = 0; i < A->rows; i++) {
            b[i] = (double)(i % 17 + 1);
        }
        status = (k % 2 ? lsp_bicgstab : lsp_cg)(ctx, A, b, &options, x, NULL);
        status = status == LSP_ERR_CONVERGENCE || status == LSP_ERR_ARGUMENT ? LSP_OK : status; /* no diagonal */
        for (int64_t i = 0; i < A->rows && i < B->nnz; i++) {
            ((double *)B->val)[i] += x[i];
        }
    }
    free(b), free(x);
    return status;
}

/* ---- the threads themselves ---- */

enum { REGIONS = 200, MOST_PARTS = 64, COUNTS = 1 << 20 };

typedef struct region {
    const lsp_ctx *ctx;
    int64_t before[MOST_PARTS], after[MOST_PARTS]; /* plain numbers: a region must order its caller and its threads */
} region;

static void inner_part(void *data, int64_t part, int thread) {
    int64_t *found = data;
    (void)thread;
    found[part] = part + 1;
}

/* A region inside a region: one thread does all its parts if the outer region has several threads. */
static void outer_part(void *data, int64_t part, int thread) {
    region *r = data;
    int64_t found[3] = {0};
    (void)thread;
    lsp_for_parts(r->ctx, 3, 3, inner_part, found);
    r->after[part] = r->before[part] + found[0] + found[1] + found[2];
}

/* Many regions in quick succession: their threads meet the caller at every stage of sleep. The caller's own stack holds
 * the data, so a thread that comes late would touch the data of the next region. B is a copy of A. */
static lsp_status regions(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_status status = lsp_csr_copy(ctx, A, NULL, B);
    for (int i = 0; i < REGIONS && status == LSP_OK; i++) {
        const int parts = 1 + i % MOST_PARTS;
        region r = {.ctx = ctx};
        for (int part = 0; part < parts; part++) {
            r.before[part] = i + part;
        }
        if (i % 50 == 0) {
            usleep(1000); /* the threads sleep by now */
        }
        lsp_for_parts(ctx, parts, 1 + i % 6, outer_part, &r);
        for (int part = 0; part < parts; part++) {
            if (r.after[part] != i + part + 6) {
                status = lsp_fail(ctx, LSP_ERR_ARGUMENT, "region %d: part %d is wrong", i, part);
            }
        }
    }
    return status;
}

static void take_lowest(void *data, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        if (i % 1000 == 999) {
            lsp_lower(data, i);
            return;
        }
    }
}

/* lsp_prefix_sum and lsp_for_shares with lsp_lower. B is a copy of A. */
static lsp_status shares(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_status status = lsp_csr_copy(ctx, A, NULL, B);
    int64_t *offsets = malloc((COUNTS + 1) * sizeof *offsets), first = COUNTS;
    if (status == LSP_OK && offsets) {
        for (int64_t i = 1; i <= COUNTS; i++) {
            offsets[i] = i % 7;
        }
        lsp_prefix_sum(ctx, offsets, COUNTS);
        for (int64_t i = 0, sum = 0; i <= COUNTS; i++) {
            sum += i % 7;
            if (offsets[i] != sum) {
                status = lsp_fail(ctx, LSP_ERR_ARGUMENT, "prefix sum %lld is wrong", (long long)i);
            }
        }
        lsp_for_shares(ctx, COUNTS, 1000, take_lowest, &first);
        if (first != 999) {
            status = lsp_fail(ctx, LSP_ERR_ARGUMENT, "the first is %lld, not 999", (long long)first);
        }
    }
    free(offsets);
    return offsets ? status : LSP_ERR_MEMORY;
}

static lsp_status stats(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    lsp_csr_stats numbers;
    lsp_status status = lsp_csr_get_stats(ctx, A, &numbers);
    return status == LSP_OK ? lsp_csr_copy(ctx, A, NULL, B) : status;
}

static const struct {
    const char *name;
    operation run;
} cases[] = {{"transpose", transpose},
             {"copy", narrow},
             {"expand", expand},
             {"permute", permute},
             {"sort", sort_rows},
             {"add", add},
             {"filter", filter},
             {"filter by a mask", filter_by_mask},
             {"from triples", from_triples},
             {"plain file", plain_file},
             {"gzip file", gzip_file},
             {"segsort", segsort},
             {"gather and scatter", gather_scatter},
             {"hash search", hash_search},
             {"stats", stats},
             {"solve", solve},
             {"regions", regions},
             {"shares", shares},
             {"suffix array by doubling", suffixes_by_doubling},
             {"suffix array, induced", suffixes_induced},
             {"multiply", multiply},
             {"multiply transposed", multiply_transposed},
             {"multiply min-plus", multiply_min_plus},
             {"multiply plus-pair", multiply_plus_pair},
             {"multiply masked", multiply_masked},
             {"multiply filtered", multiply_filtered},
             {"multiply by a plan", multiply_planned},
             {"multiply into a file", product_file},
             {"multiply three", multiply_triple},
             {"multiply a batch", multiply_batch}};

typedef struct task { /* of a caller's hook */
    lsp_task_fn run;
    void *data;
    int number;
} task;

static void *run_task(void *data) {
    const task *t = data;
    t->run(t->data, t->number);
    return NULL;
}

/* The caller's own threads: a new one for each task but the last. */
static void run_tasks(void *user, int tasks, lsp_task_fn run, void *data) {
    enum { MOST_TASKS = 4 };
    pthread_t threads[MOST_TASKS];
    task all[MOST_TASKS];
    int started = 0;
    (void)user;
    while (started < tasks - 1) {
        all[started] = (task){run, data, started};
        if (pthread_create(&threads[started], NULL, run_task, &all[started]) != 0) {
            break;
        }
        started++;
    }
    run(data, tasks - 1);
    while (started > 0) {
        pthread_join(threads[--started], NULL);
    }
}

static void *run_all(void *data) {
    job *work = data;
    lsp_ctx *one = NULL, *four = NULL, *hooked = NULL;
    lsp_csr A = {0}, A4 = {0};
    lsp_csr_difference difference;
    bool ready = lsp_ctx_create(&one, &(lsp_ctx_options){.threads = 1}, NULL, 0) == LSP_OK &&
                 lsp_ctx_create(&four, &(lsp_ctx_options){.threads = 4}, NULL, 0) == LSP_OK &&
                 lsp_ctx_create(&hooked, &(lsp_ctx_options){.threads = 4, .parallel = run_tasks}, NULL, 0) == LSP_OK &&
                 lsp_generate(one, work->spec, 1, NULL, &A) == LSP_OK &&
                 lsp_generate(four, work->spec, 1, NULL, &A4) == LSP_OK &&
                 lsp_csr_compare(one, &A, &A4, &difference) == LSP_OK && difference.same_bits;
    work->failures = ready ? 0 : 1;
    for (size_t i = 0; ready && i < sizeof cases / sizeof *cases; i++) {
        lsp_csr B = {0}, B4 = {0}, B_hooked = {0};
        lsp_csr_difference by_hook = {0};
        difference = (lsp_csr_difference){0};
        if (cases[i].run(one, &A, &B) != LSP_OK || cases[i].run(four, &A, &B4) != LSP_OK ||
            cases[i].run(hooked, &A, &B_hooked) != LSP_OK || lsp_csr_compare(four, &B, &B4, &difference) != LSP_OK ||
            !difference.same_bits || lsp_csr_compare(hooked, &B, &B_hooked, &by_hook) != LSP_OK || !by_hook.same_bits) {
            fprintf(stderr, "%s of %s: four threads differ from one, or failed: %s%s%s\n", cases[i].name, work->spec,
                    lsp_last_error(one), lsp_last_error(four), lsp_last_error(hooked));
            work->failures++;
        }
        lsp_csr_free(one, &B);
        lsp_csr_free(four, &B4);
        lsp_csr_free(hooked, &B_hooked);
    }
    if (!ready) {
        fprintf(stderr, "%s: %s%s\n", work->spec, one ? lsp_last_error(one) : "", four ? lsp_last_error(four) : "");
    }
    lsp_ctx_destroy(one);
    lsp_ctx_destroy(four);
    lsp_ctx_destroy(hooked);
    return NULL;
}

int main(void) {
    enum { JOBS = 3 }; /* the last one is small: the library has a way of its own for small products */
    job jobs[JOBS] = {{.spec = "er:40000:8"}, {.spec = "web:20000:1.8:1000"}, {.spec = "er:3000:5"}};
    pthread_t threads[JOBS];
    int failures = 0;
    for (int i = 0; i < JOBS; i++) {
        if (pthread_create(&threads[i], NULL, run_all, &jobs[i]) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < JOBS; i++) {
        pthread_join(threads[i], NULL);
        failures += jobs[i].failures;
    }
    printf("%d failures\n", failures);
    return failures != 0;
}
