/* No call touches memory outside its arrays: here the arrays begin or end at pages without access. */
#include "core/core.h"
#include "segsort/segsort.h"
#include "tests/support.h"

#include <sys/mman.h>
#include <unistd.h>

/* `bytes` bytes right before a page without access, or right behind one. */
typedef struct edge {
    char *pages, *memory;
    size_t length;
} edge;

static edge edge_of(size_t bytes, bool behind) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
    edge made = {.length = room + 2 * page};
    made.pages = mmap(NULL, made.length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(made.pages != MAP_FAILED);
    cr_assert(mprotect(made.pages, page, PROT_NONE) == 0);
    cr_assert(mprotect(made.pages + page + room, page, PROT_NONE) == 0);
    made.memory = made.pages + page + (behind ? 0 : room - bytes);
    return made;
}

static void drop_edge(edge *e) { munmap(e->pages, e->length); }

enum { KEYS_IN, KEYS_SORTED, VALUES_IN, VALUES_SORTED, BEGINS, ARRAYS };

/* Segments of one length; every other call names them by offsets. */
static void sort_at_the_edge(lsp_ctx *ctx, int64_t length, int64_t segments, lsp_type key, size_t value, bool behind) {
    const int64_t n = length * segments;
    const size_t key_bytes = lsp_type_bytes(key),
                 sizes[ARRAYS] = {(size_t)n * key_bytes, (size_t)n * key_bytes, (size_t)n * value, (size_t)n * value,
                                  (size_t)(segments + 1) * 4};
    uint64_t state = (uint64_t)n;
    edge all[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) {
        all[i] = edge_of(sizes[i], behind);
    }
    for (size_t i = 0; i < sizes[KEYS_IN]; i++) {
        all[KEYS_IN].memory[i] = (char)test_below(&state, 3);
    }
    for (int64_t i = 0; i < n && value > 0; i++) {
        memcpy(all[VALUES_IN].memory + (size_t)i * value, &i, value < 8 ? value : 8);
    }
    for (int64_t s = 0; s <= segments; s++) {
        ((int32_t *)all[BEGINS].memory)[s] = (int32_t)(s * length);
    }
    lsp_segsort_args args = {.n = n,
                             .segments = segments,
                             .key_type = key,
                             .value_bytes = value,
                             .keys = all[KEYS_IN].memory,
                             .keys_out = all[KEYS_SORTED].memory,
                             .values = value ? all[VALUES_IN].memory : NULL,
                             .values_out = value ? all[VALUES_SORTED].memory : NULL,
                             .offsets = segments % 2 ? all[BEGINS].memory : NULL,
                             .offset_type = LSP_I32,
                             .length = segments % 2 ? 0 : length};
    must(ctx, lsp_segsort(ctx, &args, NULL));
    char *keys = malloc(sizes[KEYS_IN] + 1), *values = malloc(sizes[VALUES_IN] + 1);
    args.keys_out = keys, args.values_out = value ? values : NULL;
    must(ctx, lsp_segsort_ref(ctx, &args));
    cr_assert(memcmp(keys, all[KEYS_SORTED].memory, sizes[KEYS_IN]) == 0, "keys: %lld times %lld", (long long)segments,
              (long long)length);
    cr_assert(memcmp(values, all[VALUES_SORTED].memory, sizes[VALUES_IN]) == 0, "values: %lld times %lld",
              (long long)segments, (long long)length);
    free(keys), free(values);
    for (int i = 0; i < ARRAYS; i++) {
        drop_edge(&all[i]);
    }
}

Test(edges, sorting_touches_nothing_beside_its_arrays) {
    static const int64_t lengths[] = {1,   2,   3,   4,   5,   6,   7,   8,   9,    11,   13,   15,   16,  17,  19,
                                      23,  24,  25,  31,  32,  33,  47,  48,  63,   64,   65,   95,   127, 128, 129,
                                      200, 255, 256, 257, 300, 511, 513, 777, 1000, 1025, 2049, 4097, 5000};
    static const lsp_type keys[] = {LSP_U32, LSP_F32, LSP_U64, LSP_I64};
    static const size_t values[] = {0, 4, 8, 16};
    lsp_ctx *ctx = test_ctx(1);
    const int best = (int)ctx->isa;
    for (int isa = best; isa >= 0; isa--) {
        ctx->isa = (lsp_isa)isa;
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            for (int64_t segments = 1; segments * lengths[i] < 12000 && segments < 40; segments += 1 + segments / 3) {
                const uint64_t which = (uint64_t)segments * 7 + i;
                sort_at_the_edge(ctx, lengths[i], segments, keys[which % 4], values[which / 4 % 4], which % 5 == 0);
                sort_at_the_edge(ctx, lengths[i], segments, LSP_U32, which % 2 * 4, which % 3 == 0);
            }
        }
    }
    lsp_ctx_destroy(ctx);
}

/* ---- all memory of a context ---- */

static void *edge_alloc(void *user, size_t bytes, lsp_where where) {
    (void)user, (void)where;
    const edge made = edge_of((bytes + 63) / 64 * 64, false);
    return made.memory;
}
static void edge_free(void *user, void *memory, size_t bytes, lsp_where where) {
    (void)user, (void)where;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), all = (bytes + 63) / 64 * 64,
                 room = (all + page - 1) / page * page;
    munmap((char *)memory + all - room - page, room + 2 * page);
}

/* Sizes are multiples of 64 bytes, so that arrays end exactly where their memory ends. */
Test(edges, matrices_are_made_moved_and_multiplied_within_their_memory) {
    static const char *const kinds[] = {"er:1024:16", "er:4096:4",   "rmat:10:16", "poisson2d:32",
                                        "perm:4096",  "stencil27:8", "fem3:4",     "web:4096:1.8:64"};
    const char *path = "edges.mtx";
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (int isa = 0; isa <= 2; isa++) {
            lsp_ctx *ctx = NULL;
            const lsp_ctx_options options = {.threads = 1 + isa, .allocator = {edge_alloc, edge_free, NULL}};
            must(ctx, lsp_ctx_create(&ctx, &options, NULL, 0));
            ctx->isa = (lsp_isa)lsp_min(isa, (int)ctx->isa);
            const lsp_csr_types types = {.val_type = isa == 1 ? LSP_F32 : LSP_F64};
            lsp_csr A, T, C, wanted, B;
            lsp_csr_difference difference;
            must(ctx, lsp_generate(ctx, kinds[k], 1, &types, &A));
            must(ctx, lsp_csr_transpose(ctx, &A, &T));
            must(ctx, lsp_csr_sort(ctx, &T));
            must(ctx, lsp_spgemm(ctx, &A, &T, NULL, &C, NULL));
            must(ctx, lsp_spgemm(ctx, &A, &T, &(lsp_spgemm_options){.method = LSP_SPGEMM_REFERENCE}, &wanted, NULL));
            must(ctx, lsp_csr_compare(ctx, &C, &wanted, &difference));
            cr_assert(difference.same_bits, "%s", kinds[k]);
            must(ctx, lsp_mtx_write(ctx, path, &C, NULL));
            must(ctx, lsp_mtx_read(ctx, path, &(lsp_mtx_read_options){.types.val_type = types.val_type}, &B, NULL));
            must(ctx, lsp_csr_compare(ctx, &C, &B, &difference));
            cr_assert(difference.same_bits, "%s, written and read", kinds[k]);
            lsp_ctx_destroy(ctx);
        }
    }
    remove(path);
}
