/* The radix sort of a whole array is a segmented sort of one segment. On a GPU it splits the array by leading bits,
 * phase by phase, until the parts fit shared memory. The phases are chosen here: the sum of their predicted times is
 * the least. More parts a phase mean fewer phases, but shorter runs of neighbours, which are written in whole
 * sectors. */
#include "radix_sort.h"
#include "core/cuda.h"

enum { SECTOR = 32 }; /* bytes: a run of neighbours is written in whole sectors */

lsp_status lsp_radix_choose(lsp_ctx *ctx, const lsp_segsort_args *args, lsp_radix_choice *choice) {
    enum { UNSPLIT = 1 << 14 }; /* items that are sorted without a split */
    lsp_cache_figures figures;
    const int64_t key = (int64_t)lsp_type_bytes(args->key_type), item = key + (int64_t)args->value_bytes;
    const int width = args->end_bit > 0 ? args->end_bit - args->begin_bit : 8 * (int)key;
    const int bits = (int)lsp_min(lsp_bits((uint64_t)((lsp_max(args->n, 1) - 1) / LSP_SPLIT_WANTED)), width);
    const double tile = key > 4 ? 3072 : args->value_bytes > 4 ? 4608 : 6144; /* items, of the sort's giants */
    double fastest = 0;
    LSP_TRY(lsp_cache_model_figures(ctx, &figures));
    *choice = (lsp_radix_choice){.bits = lsp_split_most(args)};
    for (int phases = (int)lsp_ceil_div(bits, choice->bits); args->n > UNSPLIT && phases <= bits; phases++) {
        const int each = (int)lsp_max(lsp_ceil_div(bits, phases), LSP_SPLIT_LEAST);
        /* A tile of the array is written as one run for each part: each run wastes a part of a sector for keys, and
         * one for values. Keys are read twice, to count and to move. */
        const double run = tile / (1 << each), waste = (args->value_bytes > 0 ? 2.0 : 1.0) * SECTOR / run;
        const double bytes = (double)(key + 2 * item) + waste;
        const double seconds = phases * ((double)args->n * bytes / figures.copy_rate + 3 * figures.start_seconds);
        if (choice->phases == 0 || seconds < fastest) {
            *choice = (lsp_radix_choice){phases, each};
            fastest = seconds;
        }
    }
    return LSP_OK;
}

/* Bytes of the segmented sort's scratch. */
static int64_t sort_bytes(lsp_ctx *ctx, const lsp_segsort_args *args) {
    int64_t bytes;
    const bool fits = lsp_segsort_cuda.bytes(ctx, args, lsp_max(args->n, 1), &bytes);
    return fits ? lsp_ceil_div(bytes, 64) * 64 : INT64_MAX / 2; /* aligns spare keys; no allocation gives the latter */
}

int64_t lsp_radix_sort_bytes(lsp_ctx *ctx, const lsp_segsort_args *args) {
    const int64_t spare = args->keys_out == NULL ? args->n * (int64_t)lsp_type_bytes(args->key_type) : 0;
    return sort_bytes(ctx, args) + spare; /* sorted keys that the caller does not want lie behind */
}

lsp_status lsp_radix_sort_run(lsp_ctx *ctx, const lsp_segsort_args *args, void *scratch) {
    lsp_segsort_args sort = *args;
    lsp_radix_choice choice;
    LSP_TRY(lsp_radix_choose(ctx, args, &choice));
    if (sort.keys_out == NULL) {
        sort.keys_out = (char *)scratch + sort_bytes(ctx, args);
    }
    return lsp_segsort_cuda.run(ctx, &sort, sort.n, scratch, choice.bits);
}

lsp_status lsp_sort_array(lsp_ctx *ctx, const lsp_segsort_args *args) {
    LSP_SCRATCH_SCOPE(ctx); /* a later call that takes this scratch works after this sort on the same stream */
    lsp_segsort_args sort = *args;
    void *scratch;
    sort.segments = sort.n > 0;
    sort.length = sort.n;
    if (sort.where == LSP_HOST || sort.n == 0) {
        return lsp_segsort(ctx, &sort, NULL);
    }
    LSP_TRY(lsp_segsort_check(ctx, &sort));
    LSP_REQUIRE(!lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: only a plan made before can sort there");
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, lsp_radix_sort_bytes(ctx, &sort), 1, &scratch));
    return lsp_radix_sort_run(ctx, &sort, scratch);
}
