/* The subject mtx: Matrix Market files in the page cache, read into memory and written. Each workload is a file of
 * about 100 MB (--quick: 5 MB), made anew in $TMPDIR. The library and Eigen return rows, the other peers triples. The
 * check compares the number of entries and a sum of hashes of place and value; the library reads back a written file
 * first. */
#include "bench/harness.h"
#include "bench/peers/peers.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum values { AS_DRAWN, SHORT, INTEGER, PATTERN, SYMMETRIC } values;

static const struct source {
    const char *name, *spec, *quick;
    values values;
    bool by_columns; /* in column order, as the files of the SuiteSparse collection */
} sources[] = {{"real", "er:400000:8", "er:20000:8", AS_DRAWN, false},
               {"columns", "er:400000:8", "er:20000:8", AS_DRAWN, true},
               {"short", "er:700000:8", "er:35000:8", SHORT, false},
               {"integer", "er:700000:8", "er:35000:8", INTEGER, false},
               {"pattern", "er:900000:8", "er:50000:8", PATTERN, false},
               {"symmetric", "stencil27:60", "stencil27:22", SYMMETRIC, false}};
enum { SOURCES = sizeof sources / sizeof *sources };

static const char *const workloads[] = {
    "real/read",    "real/write",    "columns/read",   "short/read",      "short/write", "integer/read",
    "pattern/read", "pattern/write", "symmetric/read", "symmetric/write", NULL};
static const char *const file_variants[] = {"read", "write", NULL};

#define EIGEN "Eigen (libeigen3-dev)"
#define CHOLMOD "CHOLMOD (libsuitesparse-dev)"
#define FAST_FLOAT "fast_float (libfast-float-dev)"
static const struct {
    const char *who, *package;
    const peer_reader *reader;
} readers[] = {{"libc", NULL, &peer_libc_reader},
               {"fast_float", FAST_FLOAT, PEER_FAST_FLOAT(peer_fast_float)},
               {"eigen", EIGEN, PEER_EIGEN(peer_eigen_reader)},
               {"cholmod", CHOLMOD, PEER_CHOLMOD(peer_cholmod_reader)}};
static const struct {
    const char *who;
    const peer_writer *writer;
} writers[] = {{"libc", &peer_libc_writer},
               {"to_chars", PEER_FAST_FLOAT(peer_to_chars)},
               {"eigen", PEER_EIGEN(peer_eigen_writer)},
               {"cholmod", PEER_CHOLMOD(peer_cholmod_writer)}};
enum { PEERS = sizeof readers / sizeof *readers };

static const char *absent(int i) {
    for (int k = 0; k < PEERS; k++) {
        if (!readers[k].reader && i-- == 0) {
            return readers[k].package;
        }
    }
    return NULL;
}

static const char *version(bool on_gpu, int i, const char **who) {
    (void)on_gpu;
    for (int k = 0; k < PEERS; k++) {
        if (readers[k].reader && readers[k].reader->version && i-- == 0) {
            *who = readers[k].who;
            return readers[k].reader->version;
        }
    }
    return NULL;
}

/* ---- fingerprints: two matrices are taken as equal if their fingerprints are ---- */

typedef struct print {
    int64_t nnz;
    uint64_t sum; /* of the hashes of all entries, so their order does not matter */
} print;

static uint64_t mix(uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void add(print *p, int64_t row, int64_t col, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    p->nnz++;
    p->sum += mix(mix(mix((uint64_t)row + 1) + (uint64_t)col) + bits);
}

static print print_of(const lsp_csr *A, bool lower_only) {
    const int32_t *rowptr = A->rowptr, *col = A->col;
    const double *val = A->val;
    print p = {0};
    for (int64_t i = 0; i < A->rows; i++) {
        for (int32_t k = rowptr[i]; k < rowptr[i + 1]; k++) {
            if (!lower_only || col[k] <= i) {
                add(&p, i, col[k], val ? val[k] : 1);
            }
        }
    }
    return p;
}

static print print_of_triples(const lsp_coo *A) {
    const int32_t *row = A->row, *col = A->col;
    const double *val = A->val;
    print p = {0};
    for (int64_t k = 0; k < A->nnz; k++) {
        add(&p, row[k], col[k], val ? val[k] : 1);
    }
    return p;
}

static bool same(bench_contender *c, print is, print must) {
    return (is.nnz == must.nnz && is.sum == must.sum) ||
           bench_why(c, "%lld entries, sum %016llx, not %lld, sum %016llx", (long long)is.nnz,
                     (unsigned long long)is.sum, (long long)must.nnz, (unsigned long long)must.sum);
}

/* ---- the file and the contenders ---- */

typedef struct race {
    bench *b;
    lsp_csr A; /* int32 indices, f64 or a pattern */
    lsp_symmetry symmetry;
    char folder[512], path[640];
    bool temporary;
    print full, stored; /* of the matrix; of the entries in the file, a triangle if symmetric */
} race;

typedef struct entrant {
    const race *race;
    lsp_csr A; /* ours, read */
    const peer_reader *reader;
    const peer_writer *writer;
    void *self;     /* the result of the reader; the input of the writer */
    char path[768]; /* of the written file */
} entrant;

static const lsp_csr_types int32_types = {.rowptr_type = LSP_I32, .col_type = LSP_I32};

static bool run_our_read(bench_contender *c) {
    entrant *e = c->state;
    return bench_must(c, c->ctx, lsp_mtx_read(c->ctx, e->race->path, NULL, &e->A, NULL));
}
static void release_our_read(bench_contender *c) { lsp_csr_free(c->ctx, &((entrant *)c->state)->A); }
static bool check_our_read(bench_contender *c) {
    const entrant *e = c->state;
    return same(c, print_of(&e->A, false), e->race->full);
}

static bool run_read(bench_contender *c) {
    entrant *e = c->state;
    return (e->self = e->reader->read(e->race->path)) || bench_why(c, "%s could not read the file", c->who);
}
static void release_read(bench_contender *c) {
    entrant *e = c->state;
    e->reader->destroy(e->self);
    e->self = NULL;
}
static bool check_read(bench_contender *c) {
    const entrant *e = c->state;
    lsp_coo A;
    e->reader->view(e->self, &A);
    if (!e->race->A.val) {
        A.val = NULL; /* CHOLMOD invents values for a symmetric pattern */
    }
    return same(c, print_of_triples(&A), e->race->stored);
}

static bool run_our_write(bench_contender *c) {
    const entrant *e = c->state;
    const lsp_mtx_write_options options = {.symmetry = e->race->symmetry};
    return bench_must(c, c->ctx, lsp_mtx_write(c->ctx, e->path, &e->race->A, &options));
}
static bool run_write(bench_contender *c) {
    const entrant *e = c->state;
    return e->writer->write(e->self, e->path) || bench_why(c, "%s could not write the file", c->who);
}
static void release_write(bench_contender *c) { unlink(((entrant *)c->state)->path); }

/* Reads the written file back; its length is the `bytes` of the contender. */
static bool check_write(bench_contender *c) {
    const entrant *e = c->state;
    lsp_ctx *ctx = e->race->b->base;
    const lsp_mtx_read_options options = {.types = int32_types};
    lsp_mtx_info info;
    lsp_csr A = {.rows = 0};
    if (!bench_must(c, ctx, lsp_mtx_read(ctx, e->path, &options, &A, &info))) {
        return false;
    }
    c->bytes = info.bytes;
    const bool right = same(c, print_of(&A, false), e->race->full);
    lsp_csr_free(ctx, &A);
    return right;
}

/* ---- making the matrix ---- */

/* A value from 0.5 to 1.5 with 16 or 17 digits, equal for (i, j) and (j, i). */
static double drawn(int64_t i, int64_t j) {
    const uint64_t low = (uint64_t)(i < j ? i : j), high = (uint64_t)(i < j ? j : i);
    return 0.5 + (double)(mix(mix(low + 1) + high) >> 11) * 0x1p-53;
}

static void set_values(lsp_csr *A, values kind) {
    const int32_t *rowptr = A->rowptr, *col = A->col;
    double *val = A->val;
    for (int64_t i = 0; i < A->rows && kind != AS_DRAWN && kind != PATTERN; i++) {
        for (int32_t k = rowptr[i]; k < rowptr[i + 1]; k++) {
            const double x = drawn(i, col[k]);
            const int thousands = (int)(1000 * x);
            val[k] = kind == SHORT ? (double)thousands / 1000 : kind == INTEGER ? thousands : x;
        }
    }
}

/* Makes A and its file. The library writes no integers and no column order; for these the C library does. */
static bool make_source(race *r, const struct source *source) {
    bench *b = r->b;
    lsp_csr_types types = int32_types;
    types.drop_values = source->values == PATTERN;
    r->symmetry = source->values == SYMMETRIC ? LSP_SYMMETRY_SYMMETRIC : LSP_SYMMETRY_GENERAL;
    const lsp_mtx_write_options options = {.symmetry = r->symmetry};
    const char *spec = b->options.quick ? source->quick : source->spec;
    if (!bench_ok(b, b->base, lsp_generate(b->base, spec, 1, &types, &r->A))) {
        return false;
    }
    set_values(&r->A, source->values);
    r->temporary = true;
    snprintf(r->path, sizeof r->path, "%s/%s.mtx", r->folder, source->name);
    if (!source->by_columns && source->values != INTEGER) {
        return bench_ok(b, b->base, lsp_mtx_write(b->base, r->path, &r->A, &options));
    }
    lsp_csr by_columns = {.rows = 0}; /* the rows of A^T, written with row and column swapped */
    if (source->by_columns && !bench_ok(b, b->base, lsp_csr_transpose(b->base, &r->A, &by_columns))) {
        return false;
    }
    const peer_text text = {.integer = source->values == INTEGER, .by_columns = source->by_columns};
    const bool written = peer_libc_write(source->by_columns ? &by_columns : &r->A, text, r->path);
    lsp_csr_free(b->base, &by_columns);
    if (!written) {
        bench_fail(b, EXIT_INPUT, "%s: cannot write the workload there", r->path);
    }
    return written;
}

/* Reads a given file. The peers cannot read complex numbers, skew symmetry or duplicates as the library does. */
static bool read_source(race *r, const char *path) {
    bench *b = r->b;
    const lsp_mtx_read_options options = {.types = int32_types};
    lsp_mtx_info info;
    if (!bench_ok(b, b->base, lsp_mtx_read(b->base, path, &options, &r->A, &info))) {
        return false;
    }
    snprintf(r->path, sizeof r->path, "%s", path);
    r->symmetry = info.symmetry;
    if (info.format == LSP_MTX_ARRAY || info.field == LSP_MTX_COMPLEX || info.symmetry > LSP_SYMMETRY_SYMMETRIC ||
        info.duplicates > 0 || info.compressed) {
        bench_fail(b, EXIT_INPUT,
                   "%s: only uncompressed coordinate files, real, integer or pattern, general or symmetric, "
                   "without duplicates can be measured",
                   path);
        return false;
    }
    return true;
}

/* ---- the race ---- */

static bench_contender ours(const bench *b, bool one, bool writing) {
    bench_contender c = {.ours = true, .threads = one ? 1 : b->threads, .ctx = one ? b->one : b->ours};
    snprintf(c.who, sizeof c.who, one ? "libsparse:1" : "libsparse");
    c.run = writing ? run_our_write : run_our_read;
    c.check = writing ? check_write : check_our_read;
    c.release = writing ? release_write : release_our_read;
    return c;
}

/* Fills in peer k as a contender; false: it is missing, or cannot read or write this matrix. */
static bool peer(const race *r, int k, bool writing, bench_contender *c, entrant *e) {
    e->reader = writing ? NULL : readers[k].reader;
    e->writer = writing ? writers[k].writer : NULL;
    if (!(e->reader && (r->A.val || e->reader->pattern)) && !(e->writer && (r->A.val || e->writer->pattern))) {
        return false;
    }
    *c = (bench_contender){.threads = 1,
                           .run = writing ? run_write : run_read,
                           .check = writing ? check_write : check_read,
                           .release = writing ? release_write : release_read};
    snprintf(c->who, sizeof c->who, "%s", writing ? writers[k].who : readers[k].who);
    if (writing && !(e->self = e->writer->prepare(&r->A, r->symmetry == LSP_SYMMETRY_SYMMETRIC))) {
        bench_fail(r->b, EXIT_MEMORY, "%s could not take the matrix", c->who);
        return false;
    }
    return true;
}

static void race_on(race *r, const char *workload, bool writing) {
    bench_contender contenders[2 + PEERS];
    entrant entrants[2 + PEERS] = {{.race = NULL}};
    struct stat file = {.st_size = 0};
    int count = 0;
    stat(r->path, &file);
    r->full = print_of(&r->A, false);
    r->stored = print_of(&r->A, r->symmetry == LSP_SYMMETRY_SYMMETRIC);
    contenders[count++] = ours(r->b, false, writing);
    if (r->b->threads > 1) {
        contenders[count++] = ours(r->b, true, writing);
    }
    for (int k = 0; k < PEERS; k++) {
        count += peer(r, k, writing, contenders + count, entrants + count);
    }
    for (int k = 0; k < count; k++) {
        entrants[k].race = r;
        snprintf(entrants[k].path, sizeof entrants[k].path, "%s/written-%d.mtx", r->folder, k);
        contenders[k].state = entrants + k;
        contenders[k].bytes = file.st_size;
    }
    bench_race(r->b, workload, contenders, count);
    for (int k = 0; k < count; k++) {
        if (entrants[k].writer) {
            entrants[k].writer->destroy(entrants[k].self);
        }
    }
}

static void run(bench *b, const char *workload, const char *file) {
    const char *slash = strrchr(workload, '/'), *tmpdir = getenv("TMPDIR");
    const struct source *source = sources;
    race r = {.b = b};
    while (!file && strncmp(source->name, workload, (size_t)(slash - workload)) != 0) {
        source++;
    }
    snprintf(r.folder, sizeof r.folder, "%s/sparse-bench-XXXXXX", tmpdir && *tmpdir ? tmpdir : "/tmp");
    if (!mkdtemp(r.folder)) {
        bench_fail(b, EXIT_INPUT, "%s: cannot make a folder for the workloads there", r.folder);
        return;
    }
    if (file ? read_source(&r, file) : make_source(&r, source)) {
        race_on(&r, workload, strcmp(slash, "/write") == 0);
    }
    if (r.temporary) {
        unlink(r.path);
    }
    rmdir(r.folder);
    lsp_csr_free(b->base, &r.A);
    lsp_ctx_trim(b->base);
    lsp_ctx_trim(b->ours);
    lsp_ctx_trim(b->one);
}

const bench_subject bench_mtx = {.name = "mtx",
                                 .what = "reads and writes Matrix Market files",
                                 .workloads = workloads,
                                 .quick = workloads,
                                 .file_variants = file_variants,
                                 .run = run,
                                 .absent = absent,
                                 .version = version,
                                 .min_time = 1};
