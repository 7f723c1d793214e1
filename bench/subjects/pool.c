/* Many matrices one behind another. */
#include "pool.h"
#include <stdlib.h>
#include <string.h>

/* Sizes and entries a row of the matrices of `mixed`, in turns. */
static const char *const mixed[] = {"er:8:3", "er:50:5", "er:20:4", "er:200:8", "er:30:2", "er:100:10", "er:500:4"};
enum { MIXED = sizeof mixed / sizeof *mixed };

/* Views of the matrices of `from`, whose arrays lie at `arrays` now. */
static bool view_pool(int64_t count, const bench_pool *from, char *const arrays[3], lsp_where where, bench_pool *to) {
    int64_t at[3] = {0};
    to->all = to == from ? to->all : calloc((size_t)count, sizeof *to->all);
    for (int64_t i = 0; to->all && i < count; i++) {
        lsp_csr *A = to->all + i;
        *A = from->all[i];
        A->rowptr = arrays[0] + at[0], A->col = arrays[1] + at[1], A->val = arrays[2] + at[2];
        A->where = where;
        at[0] += 4 * (A->rows + 1), at[1] += 4 * A->nnz, at[2] += 8 * A->nnz;
    }
    return to->all;
}

bool bench_pool_fill(bench *b, int64_t count, const char *spec, uint64_t seed, bench_pool *to) {
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .val_type = LSP_F64};
    int64_t at[3] = {0}, rooms[3] = {0};
    bool sound = (to->all = calloc((size_t)count, sizeof *to->all));
    for (int64_t i = 0; sound && i < count; i++) {
        lsp_csr A = {.rows = 0};
        sound = bench_ok(b, b->base,
                         lsp_generate(b->base, spec ? spec : mixed[i % MIXED], seed + 2 * (uint64_t)i, &types, &A));
        const int64_t sizes[] = {4 * (A.rows + 1), 4 * A.nnz, 8 * A.nnz};
        const void *from[] = {A.rowptr, A.col, A.val};
        for (int k = 0; sound && k < 3; k++) {
            if (at[k] + sizes[k] > rooms[k]) {
                rooms[k] = 2 * rooms[k] + sizes[k];
                char *more = realloc(to->arrays[k], (size_t)rooms[k]);
                sound = more;
                to->arrays[k] = more ? more : to->arrays[k];
            }
            if (sound) {
                memcpy(to->arrays[k] + at[k], from[k], (size_t)sizes[k]);
                at[k] += sizes[k];
            }
        }
        to->all[i] = A;
        lsp_csr_free(b->base, &A);
    }
    memcpy(to->bytes, at, sizeof at);
    if (!sound && b->exit_code == 0) {
        bench_fail(b, EXIT_MEMORY, "out of memory for the matrices");
    }
    return sound && view_pool(count, to, to->arrays, LSP_HOST, to);
}

bool bench_pool_move(bench *b, const bench_pool *from, int64_t count, bench_pool *to) {
    for (int k = 0; k < 3; k++) {
        to->arrays[k] = bench_device_alloc(b->device, from->bytes[k]);
        if (!to->arrays[k] || !bench_device_upload(b->device, to->arrays[k], from->arrays[k], from->bytes[k])) {
            bench_fail(b, EXIT_MEMORY, "%s", bench_device_error(b->device));
            return false;
        }
    }
    return view_pool(count, from, to->arrays, LSP_CUDA, to);
}

void bench_pool_drop(bench *b, bench_pool *here, bench_pool *there) {
    for (int k = 0; k < 3; k++) {
        free(here->arrays[k]);
        if (b->device) {
            bench_device_free(b->device, there->arrays[k]);
        }
    }
    free(here->all);
    free(there->all);
}
