/* What the kernels of the sort of a whole array share: the job, and moves of values. */
#pragma once

#include "core/launch.cuh"
#include "segsort/gpu/job.cuh"
#include "segsort/segsort.h"
#include "slab_sort/slab_sort.h"

/* A sort as the kernels see it, passed by value. */
typedef struct slab_job {
    int n, value_bytes;
    bool positions; /* values are positions: the kernels make them */
    const void *keys;
    void *keys_out;     /* or NULL */
    const char *values; /* NULL for positions */
    char *values_out;
    lsp_key_order order;
    network_ones ones;
} slab_job;

static inline slab_job slab_make_job(const lsp_sort_args *args) {
    slab_job job = {};
    const lsp_segsort_args segment = lsp_sort_segment(args);
    job.n = (int)args->n;
    job.value_bytes = (int)args->value_bytes;
    job.positions = (args->flags & (LSP_SORT_POSITIONS | LSP_SORT_GLOBAL_POSITIONS)) != 0;
    job.keys = args->keys;
    job.keys_out = args->keys_out;
    job.values = (const char *)args->values;
    job.values_out = (char *)args->values_out;
    job.order = lsp_segsort_order(&segment);
    return job;
}

/* Value `to` of one array = value `from` of another one. RELOADED: other blocks wrote `array` in this kernel. */
template <bool RELOADED, typename T>
__device__ inline void slab_move(char *to_array, int64_t to, const char *array, int64_t from) {
    ((T *)to_array)[to] = RELOADED ? __ldcg((const T *)array + from) : ((const T *)array)[from];
}
template <bool RELOADED>
__device__ inline void slab_move_value(int bytes, char *to_array, int64_t to, const char *array, int64_t from) {
    if (bytes == 4) {
        slab_move<RELOADED, uint32_t>(to_array, to, array, from);
    } else {
        slab_move<RELOADED, ull>(to_array, to * bytes / 8, array, from * bytes / 8);
        if (bytes == 16) {
            slab_move<RELOADED, ull>(to_array, to * 2 + 1, array, from * 2 + 1);
        }
    }
}
/* Value `to` = a position. */
__device__ inline void slab_put_position(int bytes, char *to_array, int64_t to, int position) {
    if (bytes == 4) {
        ((uint32_t *)to_array)[to] = (uint32_t)position;
    } else {
        ((int64_t *)to_array)[to] = position;
    }
}
