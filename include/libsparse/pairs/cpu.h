/* The CPU's part of what `two-body generate` writes: pairs_value(x, y, p) is defined above. Blocks of points, one block
 * a thread; four points at once against candidates that stay in the cache, whose loops the compiler turns into vectors,
 * once for each instruction set where it can. */
#include <stdlib.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(PAIRS_ONE_ISA)
#define PAIRS_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PAIRS_CLONES
#endif

enum { PAIRS_ROWS = 4, PAIRS_BLOCK = 64, PAIRS_CHUNK = 4096, PAIRS_BUFFER = 512 };

static lsp_status pairs_load_set(lsp_ctx *ctx, const lsp_points *s, lsp_array *memory, const PAIRS_PLACE **at) {
    const int64_t n = s->n > 0 ? s->n : 1;
    const lsp_status status =
        lsp_array_create(ctx, (size_t)(PAIRS_DIMENSIONS * n) * sizeof(PAIRS_PLACE), LSP_HOST, memory);
    if (status == LSP_OK) {
        pairs_pack(s, memory->memory);
        for (int k = 0; k < PAIRS_DIMENSIONS; k++) {
            at[k] = (const PAIRS_PLACE *)memory->memory + k * s->n;
        }
    }
    return status;
}

#define PAIRS_WHERE LSP_HOST
static lsp_status pairs_enter(lsp_ctx *ctx, pairs_job *job, lsp_pair_info *info) {
    (void)ctx, (void)job, (void)info;
    return LSP_OK;
}
static void pairs_leave(const pairs_job *job) { (void)job; }

static inline void pairs_take(const pairs_job *job, int64_t i, PAIRS_PLACE *x) {
    for (int k = 0; k < PAIRS_DIMENSIONS; k++) {
        x[k] = job->a[k][i];
    }
}

/* v[l] = the value of x and candidate begin + l. */
PAIRS_CLONES static void pairs_values(const pairs_job *job, const PAIRS_PLACE *x, int64_t begin, int64_t n,
                                      PAIRS_NUMBER *restrict v) {
    const PAIRS_PLACE *at[PAIRS_DIMENSIONS];
    PAIRS_NUMBER p[PAIRS_PARAMETERS + 1];
    memcpy(p, job->p, sizeof p);
    for (int k = 0; k < PAIRS_DIMENSIONS; k++) {
        at[k] = job->b[k] + begin;
    }
    for (int64_t l = 0; l < n; l++) {
        const PAIRS_PLACE y[] = PAIRS_POINT(at, l);
        v[l] = pairs_value(x, y, p);
    }
}

#if defined(PAIRS_COUNT) || defined(PAIRS_JOIN)
PAIRS_CLONES static int64_t pairs_within(const PAIRS_NUMBER *v, int64_t n, PAIRS_NUMBER limit) {
    PAIRS_WHOLE sum = 0;
    for (int64_t l = 0; l < n; l++) {
        sum += (PAIRS_WHOLE)(v[l] <= limit);
    }
    return (int64_t)sum;
}
#endif

#ifdef PAIRS_COUNT
/* Counts the candidates begin .. end-1 within one limit of four points. */
PAIRS_CLONES static int64_t pairs_count_four(const pairs_job *job, const PAIRS_PLACE x[PAIRS_ROWS][PAIRS_DIMENSIONS],
                                             int64_t begin, int64_t end, PAIRS_NUMBER limit) {
    const PAIRS_PLACE *at[PAIRS_DIMENSIONS];
    PAIRS_NUMBER p[PAIRS_PARAMETERS + 1];
    PAIRS_WHOLE sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0; /* a chunk fits 32 bits */
    memcpy(p, job->p, sizeof p);
    for (int k = 0; k < PAIRS_DIMENSIONS; k++) {
        at[k] = job->b[k];
    }
    for (int64_t l = begin; l < end; l++) {
        const PAIRS_PLACE y[] = PAIRS_POINT(at, l);
        sum0 += (PAIRS_WHOLE)(pairs_value(x[0], y, p) <= limit);
        sum1 += (PAIRS_WHOLE)(pairs_value(x[1], y, p) <= limit);
        sum2 += (PAIRS_WHOLE)(pairs_value(x[2], y, p) <= limit);
        sum3 += (PAIRS_WHOLE)(pairs_value(x[3], y, p) <= limit);
    }
    return (int64_t)sum0 + (int64_t)sum1 + (int64_t)sum2 + (int64_t)sum3;
}

/* Counts the candidates begin .. end-1 of point i. */
static void pairs_count_one(const pairs_job *job, int64_t i, int64_t begin, int64_t end, const PAIRS_NUMBER *limits,
                            uint64_t *counts) {
    PAIRS_PLACE x[PAIRS_DIMENSIONS];
    PAIRS_NUMBER v[PAIRS_BUFFER];
    pairs_take(job, i, x);
    for (; begin < end; begin += PAIRS_BUFFER) {
        const int64_t n = end - begin < PAIRS_BUFFER ? end - begin : PAIRS_BUFFER;
        pairs_values(job, x, begin, n, v);
        for (int s = 0; s < PAIRS_SIZE; s++) {
            counts[s] += (uint64_t)pairs_within(v, n, limits[s]);
        }
    }
}

static void pairs_count_block(const pairs_job *job, int64_t first, int64_t last, const PAIRS_NUMBER *limits,
                              uint64_t *counts) {
    for (int64_t chunk = job->self ? first : 0; chunk < job->n_b; chunk += PAIRS_CHUNK) {
        const int64_t end = job->n_b - chunk < PAIRS_CHUNK ? job->n_b : chunk + PAIRS_CHUNK;
        int64_t i = first;
        for (; PAIRS_SIZE == 1 && i + PAIRS_ROWS <= last; i += PAIRS_ROWS) {
            PAIRS_PLACE x[PAIRS_ROWS][PAIRS_DIMENSIONS];
            int64_t begin = chunk;
            for (int r = 0; r < PAIRS_ROWS; r++) {
                pairs_take(job, i + r, x[r]);
            }
            if (job->self && begin < i + PAIRS_ROWS) { /* the pairs of the four, each once */
                begin = i + PAIRS_ROWS < end ? i + PAIRS_ROWS : end;
                for (int r = 0; r < PAIRS_ROWS && i + r + 1 < begin; r++) {
                    const int64_t from = chunk > i + r + 1 ? chunk : i + r + 1;
                    pairs_count_one(job, i + r, from, begin, limits, counts);
                }
            }
            counts[0] +=
                (uint64_t)pairs_count_four(job, (const PAIRS_PLACE(*)[PAIRS_DIMENSIONS])x, begin, end, limits[0]);
        }
        for (; i < last; i++) {
            pairs_count_one(job, i, job->self && chunk < i + 1 ? i + 1 : chunk, end, limits, counts);
        }
    }
}

static lsp_status pairs_count_host(lsp_ctx *ctx, const pairs_job *job, const PAIRS_NUMBER *limits, uint64_t *counts,
                                   lsp_pair_info *info) {
    (void)ctx, (void)info;
    uint64_t sums[PAIRS_SIZE] = {0};
#pragma omp parallel for num_threads(job->threads) schedule(dynamic)
    for (int64_t first = 0; first < job->n_a; first += PAIRS_BLOCK) {
        uint64_t mine[PAIRS_SIZE] = {0};
        pairs_count_block(job, first, first + PAIRS_BLOCK < job->n_a ? first + PAIRS_BLOCK : job->n_a, limits, mine);
        for (int s = 0; s < PAIRS_SIZE; s++) {
            __atomic_fetch_add(&sums[s], mine[s], __ATOMIC_RELAXED);
        }
    }
    memcpy(counts, sums, sizeof sums);
    return LSP_OK;
}
#endif

#ifdef PAIRS_HISTOGRAM
/* Of few bins each has eight counters, so that equal bins that follow each other do not wait for each other. */
enum { PAIRS_TABLES = PAIRS_SIZE <= 4096 ? 8 : 1, PAIRS_COUNTERS = (PAIRS_SIZE + 1) * PAIRS_TABLES };

PAIRS_CLONES static void pairs_bins(const PAIRS_NUMBER *restrict v, int64_t n, PAIRS_REAL scale,
                                    uint32_t *restrict bin) {
    for (int64_t l = 0; l < n; l++) {
        bin[l] = (uint32_t)(pairs_bin(v[l], scale) * PAIRS_TABLES);
    }
}

static void pairs_add_bins(const uint32_t *bin, int64_t n, uint32_t *table) {
    int64_t l = 0;
    for (; l + 8 <= n; l += 8) {
        PAIRS_UNROLLED
        for (int c = 0; c < 8; c++) {
            (table + c % PAIRS_TABLES)[bin[l + c]]++;
        }
    }
    for (; l < n; l++) {
        table[bin[l]]++;
    }
}

static void pairs_histogram_row(const pairs_job *job, int64_t i, PAIRS_REAL scale, uint32_t *table) {
    PAIRS_PLACE x[PAIRS_DIMENSIONS];
    PAIRS_NUMBER v[PAIRS_BUFFER];
    uint32_t bin[PAIRS_BUFFER];
    pairs_take(job, i, x);
    for (int64_t begin = job->self ? i + 1 : 0; begin < job->n_b; begin += PAIRS_BUFFER) {
        const int64_t n = job->n_b - begin < PAIRS_BUFFER ? job->n_b - begin : PAIRS_BUFFER;
        pairs_values(job, x, begin, n, v);
        pairs_bins(v, n, scale, bin);
        pairs_add_bins(bin, n, table);
    }
}

/* Empties a table into the sums. */
static void pairs_flush(uint32_t *table, uint64_t *sums) {
    for (int k = 0; k < PAIRS_COUNTERS; k++) {
        sums[k / PAIRS_TABLES] += table[k];
        table[k] = 0;
    }
}

static lsp_status pairs_histogram_host(lsp_ctx *ctx, const pairs_job *job, PAIRS_REAL scale, uint64_t *counts,
                                       lsp_pair_info *info) {
    lsp_array tables PAIRS_AT_END(lsp_array_free);
    const int threads = job->threads;
    const size_t bytes = PAIRS_COUNTERS * sizeof(uint32_t) + (PAIRS_SIZE + 1) * sizeof(uint64_t);
    const size_t each = (bytes + 63) / 64 * 64;
    memset(&tables, 0, sizeof tables);
    PAIRS_TRY(lsp_array_create(ctx, each * (size_t)threads, LSP_HOST, &tables));
    memset(tables.memory, 0, each * (size_t)threads);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) { /* blocks are dealt out, so that the long ones are spread */
        uint64_t *sums = (uint64_t *)(void *)((char *)tables.memory + each * (size_t)t);
        uint32_t *table = (uint32_t *)(void *)(sums + PAIRS_SIZE + 1);
        uint64_t pairs = 0;
        for (int64_t first = t * (int64_t)PAIRS_BLOCK; first < job->n_a; first += threads * (int64_t)PAIRS_BLOCK) {
            for (int64_t i = first; i < first + PAIRS_BLOCK && i < job->n_a; i++) {
                pairs += (uint64_t)job->n_b;
                if (pairs > UINT32_MAX) { /* a counter must not overflow */
                    pairs_flush(table, sums);
                    pairs = (uint64_t)job->n_b;
                }
                pairs_histogram_row(job, i, scale, table);
            }
        }
        pairs_flush(table, sums);
    }
    memset(counts, 0, PAIRS_SIZE * sizeof *counts);
    for (int t = 0; t < threads; t++) {
        const uint64_t *sums = (const uint64_t *)(const void *)((const char *)tables.memory + each * (size_t)t);
        for (int k = 0; k < PAIRS_SIZE; k++) {
            counts[k] += sums[k];
        }
    }
    return LSP_OK;
}
#endif

#ifdef PAIRS_SUM
/* Eight sums that the compiler adds as vectors, in an order that depends on nothing else. */
PAIRS_CLONES static double pairs_add(const PAIRS_NUMBER *v, int64_t n) {
    double sum[8] = {0};
    int64_t l = 0;
    for (; l + 8 <= n; l += 8) {
        for (int q = 0; q < 8; q++) {
            sum[q] += (double)v[l + q];
        }
    }
    for (; l < n; l++) {
        sum[0] += (double)v[l];
    }
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static lsp_status pairs_sum_host(lsp_ctx *ctx, const pairs_job *job, double *sums, lsp_pair_info *info) {
    (void)ctx, (void)info;
#pragma omp parallel for num_threads(job->threads) schedule(dynamic, PAIRS_BLOCK)
    for (int64_t i = 0; i < job->n_a; i++) {
        PAIRS_PLACE x[PAIRS_DIMENSIONS];
        PAIRS_NUMBER v[PAIRS_BUFFER];
        double sum = 0;
        pairs_take(job, i, x);
        for (int64_t begin = 0; begin < job->n_b; begin += PAIRS_BUFFER) {
            const int64_t n = job->n_b - begin < PAIRS_BUFFER ? job->n_b - begin : PAIRS_BUFFER;
            pairs_values(job, x, begin, n, v);
            sum += pairs_add(v, n);
        }
        sums[i] = sum;
    }
    return LSP_OK;
}
#endif

#ifdef PAIRS_JOIN
/* Counts the entries of row i; with `col` also writes them. */
static int64_t pairs_join_row(const pairs_job *job, int64_t i, PAIRS_NUMBER limit, const lsp_join_options *join,
                              int32_t *col, PAIRS_NUMBER *val) {
    PAIRS_PLACE x[PAIRS_DIMENSIONS];
    PAIRS_NUMBER v[PAIRS_BUFFER];
    int64_t found = 0;
    pairs_take(job, i, x);
    for (int64_t begin = job->self && join->half ? i : 0; begin < job->n_b; begin += PAIRS_BUFFER) {
        const int64_t n = job->n_b - begin < PAIRS_BUFFER ? job->n_b - begin : PAIRS_BUFFER;
        pairs_values(job, x, begin, n, v);
        int64_t within = pairs_within(v, n, limit);
        if (job->self && !join->self_pairs && i >= begin && i < begin + n) {
            within -= v[i - begin] <= limit;
        }
        for (int64_t l = 0; l < n && col != NULL && within > 0; l++) {
            if (v[l] <= limit && (!job->self || join->self_pairs || begin + l != i)) {
                col[found] = (int32_t)(begin + l);
                if (val != NULL) {
                    val[found] = v[l];
                }
                found++;
            }
        }
        found += col == NULL ? within : 0;
    }
    return found;
}

static lsp_status pairs_join_host(lsp_ctx *ctx, const pairs_job *job, PAIRS_NUMBER limit, const lsp_join_options *join,
                                  lsp_csr *C, lsp_pair_info *info) {
    lsp_array starts PAIRS_AT_END(lsp_array_free);
    lsp_csr made;
    memset(&starts, 0, sizeof starts), memset(&made, 0, sizeof made);
    PAIRS_TRY(lsp_array_create(ctx, (size_t)(job->n_a + 1) * sizeof(int64_t), LSP_HOST, &starts));
    int64_t *start = starts.memory;
#pragma omp parallel for num_threads(job->threads) schedule(dynamic, PAIRS_BLOCK)
    for (int64_t i = 0; i < job->n_a; i++) {
        start[i + 1] = pairs_join_row(job, i, limit, join, NULL, NULL);
    }
    PAIRS_TRY(pairs_make(ctx, job, join, LSP_PLACE_HOST, start, &made));
#pragma omp parallel for num_threads(job->threads) schedule(dynamic, PAIRS_BLOCK)
    for (int64_t i = 0; i < job->n_a; i++) {
        if (start[i + 1] > start[i]) {
            PAIRS_NUMBER *val = made.val;
            pairs_join_row(job, i, limit, join, (int32_t *)made.col + start[i], val != NULL ? val + start[i] : NULL);
        }
    }
    memcpy(made.rowptr, start, pairs_narrow(start, job->n_a, made.rowptr_type));
    *C = made;
    return LSP_OK;
}
#endif
