/* Ladders of growth: square matrices, in their natural order, the reverse one of Cuthill and McKee ("rcm"), in blocks
 * of 16 rows in random order ("blocks"), or in random order; rows and columns alike. Products with a vector tell
 * whether a result is right. */
#include "growth.h"
#include "segments.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { X, Y, Z, LIST }; /* arrays: vectors, the even rows */

/* ---- orders ---- */

static int64_t begin_of(const lsp_csr *A, int64_t i) {
    return A->rowptr_type == LSP_I32 ? ((const int32_t *)A->rowptr)[i] : ((const int64_t *)A->rowptr)[i];
}
static uint64_t length_of(const lsp_csr *A, int64_t i) { return (uint64_t)(begin_of(A, i + 1) - begin_of(A, i)); }

static int compare_words(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Breadth first from the shortest rows, each row's neighbours by their lengths; the last found comes first. False: out
 * of memory. */
static bool cuthill_mckee(const lsp_csr *A, int32_t *order) {
    const int64_t n = A->rows;
    uint64_t *starts = malloc((size_t)n * 8), *near = malloc((size_t)n * 8);
    bool *found = calloc((size_t)n, 1);
    int64_t count = 0, next = 0;
    for (int64_t i = 0; starts && near && found && i < n; i++) {
        starts[i] = length_of(A, i) << 32 | (uint64_t)i;
    }
    if (starts && near && found) {
        qsort(starts, (size_t)n, 8, compare_words);
        for (int64_t s = 0; s < n; s++) {
            const int32_t start = (int32_t)starts[s];
            if (!found[start]) {
                found[start] = true;
                order[n - 1 - count++] = start;
            }
            for (; next < count; next++) {
                const int32_t row = order[n - 1 - next];
                int64_t k = 0;
                for (int64_t p = begin_of(A, row); p < begin_of(A, row + 1); p++) {
                    const int32_t col = ((const int32_t *)A->col)[p];
                    if (!found[col]) {
                        found[col] = true;
                        near[k++] = length_of(A, col) << 32 | (uint64_t)col;
                    }
                }
                qsort(near, (size_t)k, 8, compare_words);
                for (int64_t q = 0; q < k; q++) {
                    order[n - 1 - count++] = (int32_t)near[q];
                }
            }
        }
    }
    free(starts), free(near), free(found);
    return count == n;
}

static void shuffle_blocks(int64_t n, int64_t block, int32_t *order) {
    const int64_t blocks = n / block; /* the last one is longer, and stays */
    for (int64_t i = 0; i < n; i++) {
        order[i] = (int32_t)i;
    }
    for (int64_t i = blocks - 1; i > 0; i--) {
        const int64_t j = (int64_t)(bench_draw(1, i) % (uint64_t)(i + 1));
        for (int64_t k = 0; k < block; k++) {
            const int32_t other = order[i * block + k];
            order[i * block + k] = order[j * block + k];
            order[j * block + k] = other;
        }
    }
}

/* ---- operands ---- */

/* The file that is written and read. */
static const char *path(void) {
    static char name[4096];
    const char *folder = getenv("TMPDIR");
    snprintf(name, sizeof name, "%s/sparse-bench-%d.mtx", folder ? folder : "/tmp", (int)getpid());
    return name;
}

/* *A becomes its rows, and with `columns` its columns, in another order. */
static lsp_status permute(growth_step *s, lsp_csr *A, const int32_t *order, bool columns) {
    lsp_csr B = {0};
    const lsp_status status = lsp_csr_permute(s->ctx, A, order, columns ? order : NULL, LSP_I32, &B);
    lsp_csr_free(s->ctx, A);
    *A = B;
    return status;
}

static lsp_status reorder(growth_step *s, lsp_csr *A, lsp_csr *P) {
    const char *how = strchr(s->ladder, '/') + 1;
    const bool blocks = strcmp(how, "blocks") == 0, random = strcmp(how, "random") == 0;
    if (!blocks && !random && strcmp(how, "rcm") != 0) {
        return LSP_OK;
    }
    int32_t *order = malloc((size_t)A->rows * sizeof *order);
    bool made = order != NULL;
    if (made && (blocks || random)) {
        shuffle_blocks(A->rows, blocks ? 16 : 1, order);
    } else {
        made = made && cuthill_mckee(A, order);
    }
    lsp_status status = made ? permute(s, A, order, true) : LSP_ERR_MEMORY;
    if (status == LSP_OK && P->rows) {
        status = permute(s, P, order, false);
    }
    free(order);
    return status;
}

static lsp_status bring(growth_step *s, lsp_csr *from, lsp_csr *to) {
    if (s->where == LSP_HOST) {
        *to = *from;
        *from = (lsp_csr){0};
        return LSP_OK;
    }
    const lsp_status status = lsp_csr_copy(s->ctx, from, &(lsp_csr_types){.place = LSP_PLACE_CUDA}, to);
    lsp_csr_free(s->ctx, from);
    return status;
}

static lsp_status generate(growth_step *s, const char *name, lsp_csr *A) {
    char spec[64];
    snprintf(spec, sizeof spec, name, (int)s->size);
    return lsp_generate(s->ctx, spec, 1, NULL, A);
}

static lsp_status make_vectors(growth_step *s) {
    const size_t bytes = (size_t)s->A.rows * sizeof(double);
    double *x = s->host = malloc(bytes);
    int32_t *even = malloc(bytes);
    lsp_status status = x && even ? LSP_OK : LSP_ERR_MEMORY;
    for (int64_t i = 0; status == LSP_OK && i < s->A.rows; i++) {
        x[i] = 0.5 + (double)(bench_draw(2, i) >> 11) * 0x1p-53;
        even[i] = (int32_t)(2 * i);
    }
    for (int k = X; k <= LIST && status == LSP_OK; k++) {
        status = growth_put(s, k, k == X ? (void *)x : k == LIST ? (void *)even : NULL, bytes);
    }
    free(even);
    return status;
}

static lsp_status make(growth_step *s) {
    const growth_family *family = s->family;
    lsp_csr A = {0}, P = {0};
    lsp_status status = generate(s, family->generator, &A);
    if (status == LSP_OK && family->factor) {
        status = generate(s, family->factor, &P);
    }
    if (status == LSP_OK) {
        status = reorder(s, &A, &P);
    }
    if (status == LSP_OK && (status = bring(s, &A, &s->A)) == LSP_OK && family->factor &&
        (status = bring(s, &P, &s->P)) == LSP_OK) {
        status = lsp_csr_transpose(s->ctx, &s->P, &s->R);
    }
    if (status == LSP_OK && (status = lsp_csr_transpose(s->ctx, &s->A, &s->T)) == LSP_OK) {
        status = make_vectors(s);
    }
    lsp_csr_free(s->ctx, &A);
    lsp_csr_free(s->ctx, &P);
    return status;
}

static void release(growth_step *s) {
    lsp_csr_free(s->ctx, &s->C);
    lsp_multigrid_destroy(s->m);
    s->m = NULL;
}

static void drop(growth_step *s) {
    release(s);
    unlink(path());
    lsp_csr *all[] = {&s->A, &s->T, &s->P, &s->R, &s->kept};
    for (int i = 0; i < 5; i++) {
        lsp_csr_free(s->ctx, all[i]);
    }
    lsp_spgemm_plan_destroy(s->plan);
    lsp_spmv_plan_destroy(s->spmv);
    for (int k = 0; k < GROWTH_ARRAYS; k++) {
        lsp_array_free(s->arrays + k);
    }
    free(s->host);
    *s = (growth_step){0};
}

/* ---- checks ---- */

static double bytes_of(const lsp_csr *A) { return (double)A->nnz * 12 + (double)A->rows * 4; }

/* Multiplies M by the array `from` and writes the product to the array `to`; with `more`, adds it there. */
static bool apply(growth_step *s, const lsp_csr *M, int from, int to, bool more) {
    const lsp_spmv_vectors v = {.alpha = 1, .beta = more, .x = s->arrays[from].memory, .y = s->arrays[to].memory};
    return lsp_spmv(s->ctx, M, NULL, &v, NULL) == LSP_OK;
}

/* Is entry i of the array Y that of Z at stride * i? */
static bool agree(growth_step *s, int64_t n, int64_t stride) {
    double *y = malloc((size_t)n * sizeof *y), *z = malloc((size_t)(n * stride) * sizeof *z), most = 0, off = 0;
    const bool read =
        y && z && lsp_array_copy(s->ctx, y, LSP_HOST, s->arrays[Y].memory, s->where, (size_t)n * sizeof *y) == LSP_OK &&
        lsp_array_copy(s->ctx, z, LSP_HOST, s->arrays[Z].memory, s->where, (size_t)(n * stride) * sizeof *z) == LSP_OK;
    for (int64_t i = 0; read && i < n; i++) {
        most = fmax(most, fabs(y[i]));
        off = fmax(off, fabs(y[i] - z[i * stride]));
    }
    free(y), free(z);
    return read && off <= 1e-9 * most;
}

static void tell(growth_step *s, double work, const lsp_csr *result, const char *choice) {
    s->work = work;
    s->bytes = bytes_of(&s->A) + (result ? bytes_of(result) : 0);
    s->choice = choice;
}

/* ---- verbs ---- */

static lsp_status run_product(growth_step *s) {
    return lsp_spgemm(s->ctx, &s->A, &s->A, NULL, &s->C, &s->info.product);
}
static bool check_square(growth_step *s, const lsp_csr *C) {
    tell(s, (double)s->info.product.products, C, s->info.product.reason);
    return apply(s, &s->A, X, Z, false) && apply(s, &s->A, Z, Y, false) && apply(s, C, X, Z, false) &&
           agree(s, C->rows, 1);
}
static bool check_product(growth_step *s) { return check_square(s, &s->C); }

static lsp_status prepare_values(growth_step *s) {
    const lsp_status status = lsp_spgemm_plan_create(s->ctx, &s->A, &s->A, NULL, &s->plan);
    return status == LSP_OK ? lsp_spgemm_execute(s->plan, &s->A, &s->A, &s->kept) : status;
}
static lsp_status run_values(growth_step *s) { return lsp_spgemm_refill(s->plan, &s->A, &s->A, &s->kept); }
static bool check_values(growth_step *s) {
    return lsp_spgemm_plan_get_info(s->plan, &s->info.product) == LSP_OK && check_square(s, &s->kept);
}

/* The plan of the values is not needed any more. */
static lsp_status prepare_after_values(growth_step *s) {
    lsp_spgemm_plan_destroy(s->plan);
    s->plan = NULL;
    return lsp_csr_free(s->ctx, &s->kept);
}
static lsp_status run_triple(growth_step *s) {
    return lsp_spgemm_triple(s->ctx, &s->R, &s->A, &s->P, NULL, &s->C, &s->info.product);
}
static bool check_triple(growth_step *s) {
    tell(s, (double)s->info.product.products, &s->C, s->info.product.reason);
    return apply(s, &s->P, X, Y, false) && apply(s, &s->A, Y, Z, false) && apply(s, &s->R, Z, Y, false) &&
           apply(s, &s->C, X, Z, false) && agree(s, s->C.rows, 1);
}

static lsp_status run_setup(growth_step *s) { return lsp_multigrid_create(s->ctx, &s->A, NULL, &s->m); }
static bool check_setup(growth_step *s) { /* of a level's matrix nothing is known but its size */
    const bool right = lsp_multigrid_get_info(s->m, &s->info.multigrid) == LSP_OK && s->info.multigrid.levels > 1;
    tell(s, (double)s->A.nnz, NULL, s->info.multigrid.reason);
    return right;
}

static lsp_status run_vector(growth_step *s) {
    const lsp_spmv_vectors v = {.alpha = 1, .x = s->arrays[X].memory, .y = s->arrays[Y].memory};
    return s->spmv ? lsp_spmv_execute(s->spmv, &v) : lsp_spmv(s->ctx, &s->A, NULL, &v, &s->info.spmv);
}
static lsp_status prepare_vector_plan(growth_step *s) { return lsp_spmv_plan_create(s->ctx, &s->A, NULL, &s->spmv); }
static bool check_vector(growth_step *s) {
    const bool told = !s->spmv || lsp_spmv_plan_get_info(s->spmv, &s->info.spmv) == LSP_OK;
    tell(s, (double)s->A.nnz, NULL, lsp_spmv_method_name(s->info.spmv.method));
    const lsp_spmv_vectors v = {.alpha = 1, .x = s->arrays[X].memory, .y = s->arrays[Z].memory};
    return told && lsp_spmv(s->ctx, &s->T, &(lsp_spmv_options){.transpose = true}, &v, NULL) == LSP_OK &&
           agree(s, s->A.rows, 1);
}

static lsp_status run_transpose(growth_step *s) { return lsp_csr_transpose(s->ctx, &s->A, &s->C); }
static bool check_transpose(growth_step *s) {
    tell(s, (double)s->A.nnz, &s->C, NULL);
    lsp_csr_difference d = {0};
    return lsp_csr_compare(s->ctx, &s->C, &s->T, &d) == LSP_OK && d.same_bits;
}

static lsp_status run_sum(growth_step *s) { return lsp_csr_add(s->ctx, 1, &s->A, 1, &s->T, &s->C); }
static bool check_sum(growth_step *s) {
    tell(s, 2 * (double)s->A.nnz, &s->C, NULL);
    return apply(s, &s->C, X, Y, false) && apply(s, &s->A, X, Z, false) && apply(s, &s->T, X, Z, true) &&
           agree(s, s->A.rows, 1);
}

/* The even rows. */
static lsp_status run_extract(growth_step *s) {
    const lsp_index_list rows = {s->arrays[LIST].memory, s->A.rows / 2, LSP_I32};
    return lsp_csr_extract(s->ctx, &s->A, &rows, NULL, &s->C);
}
static bool check_extract(growth_step *s) {
    tell(s, (double)s->C.nnz, &s->C, NULL);
    return apply(s, &s->C, X, Y, false) && apply(s, &s->A, X, Z, false) && agree(s, s->C.rows, 2);
}

static lsp_status run_write(growth_step *s) { return lsp_mtx_write(s->ctx, path(), &s->A, NULL); }
static lsp_status run_read(growth_step *s) {
    const lsp_mtx_read_options options = {.types.place = lsp_place_of(s->where)};
    return lsp_mtx_read(s->ctx, path(), &options, &s->C, NULL);
}
static bool check_file(growth_step *s) {
    tell(s, (double)s->A.nnz, &s->A, NULL);
    return true;
}
static bool check_read(growth_step *s) {
    lsp_csr_difference d = {0};
    return check_file(s) && lsp_csr_compare(s->ctx, &s->A, &s->C, &d) == LSP_OK && d.same_bits;
}

#define GRAPHS                                                                                                         \
    {"product", "products", NULL, run_product, check_product},                                                         \
        {"values", "products", prepare_values, run_values, check_values},                                              \
        {"vector", "entries", prepare_after_values, run_vector, check_vector},                                         \
        {"vector_plan", "entries", prepare_vector_plan, run_vector, check_vector},                                     \
        {"transpose", "entries", NULL, run_transpose, check_transpose}, {"sum", "entries", NULL, run_sum, check_sum},  \
    {                                                                                                                  \
        "extract", "entries", NULL, run_extract, check_extract                                                         \
    }
static const growth_verb of_graphs[] = {GRAPHS, {NULL}};
static const growth_verb of_elements[] = {GRAPHS, {"triple", "products", NULL, run_triple, check_triple}, {NULL}};
static const growth_verb of_grids[] = {GRAPHS,
                                       {"triple", "products", NULL, run_triple, check_triple},
                                       {"setup", "entries", NULL, run_setup, check_setup},
                                       {NULL}};
static const growth_verb of_files[] = {
    {"write", "entries", NULL, run_write, check_file}, {"read", "entries", NULL, run_read, check_read}, {NULL}};

#define LIFE make, release, drop
const growth_family growth_matrices[] = {
    {"stencil27/",
     {{12, 16, 24, 32, 48, 64, 80, 96}, {24, 32, 48, 64, 96, 128, 192, 256}},
     of_grids,
     LIFE,
     "stencil27:%d",
     "amg27:%d:P"},
    {"fem3/",
     {{6, 8, 12, 16, 20, 24, 32, 40}, {8, 12, 16, 24, 32, 40, 64, 80}},
     of_elements,
     LIFE,
     "fem3:%d",
     "amgfem3:%d:P"},
    {"poisson2d/",
     {{64, 128, 256, 512, 768, 1024, 1536, 2048}, {256, 512, 1024, 1536, 2048, 3072, 4096, 8192}},
     of_grids,
     LIFE,
     "poisson2d:%d",
     "amg:%d:P"},
    {"web/",
     {{8000, 16000, 32000, 64000, 125000, 250000, 500000, 1000000},
      {32000, 64000, 125000, 250000, 500000, 1000000, 2000000, 4000000}},
     of_graphs,
     LIFE,
     "web:%d:1.8:5000",
     NULL},
    {"rmat/", {{9, 10, 11, 12, 13, 14, 15, 16}, {12, 13, 14, 15, 16, 17, 18, 19}}, of_graphs, LIFE, "rmat:%d:8", NULL},
    {"er/",
     {{1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20},
      {1 << 14, 1 << 16, 1 << 18, 1 << 19, 1 << 20, 1 << 21, 1 << 22, 1 << 23}},
     of_graphs,
     LIFE,
     "er:%d:8",
     NULL},
    {"file/poisson2d",
     {{64, 128, 256, 512, 768, 1024, 1536, 2048}, {64, 128, 256, 512, 768, 1024, 1536, 2048}},
     of_files,
     LIFE,
     "poisson2d:%d",
     NULL},
    {"file/er",
     {{1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20},
      {1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20}},
     of_files,
     LIFE,
     "er:%d:8",
     NULL},
    {NULL}};
