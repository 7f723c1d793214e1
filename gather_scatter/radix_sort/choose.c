/* Chooses how often an array is partitioned before its parts are sorted, and by how many bits: the sum of the predicted
 * times of the phases is the least. More partitions a phase mean fewer phases, but shorter runs of neighbours, which
 * are written in whole sectors. */
#include "core/cuda.h"
#include "radix_sort.h"
#include <stdio.h>

enum { SECTOR = 32 }; /* bytes: a run of neighbours is written in whole sectors */

/* What the choice must know of a device. */
typedef struct radix_device {
    double copy_rate;       /* bytes per second, read and written */
    double phase_seconds;   /* a phase costs at least this */
    int64_t tile_items;     /* items that are ordered in shared memory, or in the cache, before they are written */
    int64_t finished_items; /* arrays up to this length are sorted without a partition */
} radix_device;

static lsp_status look_at_device(lsp_ctx *ctx, const lsp_segsort_args *segment, radix_device *device) {
    const bool wide = lsp_type_bytes(segment->key_type) > 4;
    lsp_cache_figures figures;
    LSP_TRY(lsp_cache_model_figures(ctx, &figures));
    *device = (radix_device){.copy_rate = figures.copy_rate, .phase_seconds = 3 * figures.start_seconds};
    if (segment->where == LSP_HOST) { /* a core collects whole lines for each partition, so no run is short */
        device->tile_items = 1 << 18;
        device->finished_items = 1 << 13;
    } else { /* the tiles of the segmented sort's giants */
        device->tile_items = wide ? 3072 : segment->value_bytes > 4 ? 4608 : 6144;
        device->finished_items = 1 << 14;
    }
    return LSP_OK;
}

lsp_status lsp_radix_choose(lsp_ctx *ctx, const lsp_segsort_args *segment, lsp_radix_choice *choice) {
    radix_device device;
    const int64_t key = (int64_t)lsp_type_bytes(segment->key_type), item = key + (int64_t)segment->value_bytes;
    const int width = segment->end_bit > 0 ? segment->end_bit - segment->begin_bit : 8 * (int)key;
    const int wanted = lsp_bits((uint64_t)((lsp_max(segment->n, 1) - 1) / LSP_SPLIT_WANTED));
    const int bits = (int)lsp_min(wanted, width);
    LSP_TRY(look_at_device(ctx, segment, &device));
    *choice = (lsp_radix_choice){.bits = LSP_SPLIT_MOST};
    if (segment->n <= device.finished_items || bits == 0) {
        snprintf(choice->reason, sizeof choice->reason, "%lld items are sorted without a partition",
                 (long long)segment->n);
        return LSP_OK;
    }
    for (int phases = (bits + LSP_SPLIT_MOST - 1) / LSP_SPLIT_MOST; phases <= bits; phases++) {
        const int each = (int)lsp_max((bits + phases - 1) / phases, LSP_SPLIT_LEAST);
        /* A tile of the array is written as one run for each partition: each run wastes a part of a sector for keys,
         * and one for values. Keys are read twice, to count and to move. */
        const double run = (double)device.tile_items / (double)(1 << each);
        const double waste = (segment->value_bytes > 0 ? 2.0 : 1.0) * SECTOR / run;
        const double bytes = (double)(key + 2 * item) + waste;
        const double seconds = phases * ((double)segment->n * bytes / device.copy_rate + device.phase_seconds);
        if (choice->phases == 0 || seconds < choice->seconds) {
            choice->phases = phases;
            choice->bits = each;
            choice->seconds = seconds;
        }
    }
    snprintf(choice->reason, sizeof choice->reason,
             "%d bits make partitions of at most %d items: %d phases of at most %d bits take least, %.3g ms", bits,
             (int)LSP_SPLIT_WANTED, choice->phases, choice->bits, 1e3 * choice->seconds);
    return LSP_OK;
}
