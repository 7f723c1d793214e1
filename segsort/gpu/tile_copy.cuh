/* Items of a row's part: copied from global to shared memory before the sort, and written in sorted order after it. */
#pragma once

#include "tile_row.cuh"

/* Calls f(step, first, place, at, count) for each run that this thread helps to copy: it copies the items first,
 * first + step, ... of `count` items, which are from `place` on in shared memory and from `at` on in global memory.
 * `first` may be negative, so that threads begin at sectors of 4-byte items. The only run is copied by the block; of
 * several, each by RUN_LANES lanes, a sector at a time, if they are short, or else by a warp. */
template <typename K, typename F> __device__ inline void each_run(const seg_job &job, const tile_row<K> &row, F f) {
    if (row.runs == 1) {
        const int64_t at = row.base + row.at[row.j0];
        f(TILE_NT, (int)threadIdx.x - (int)(at % RUN_LANES), row.skew, at, row.items);
        return;
    }
    const int low = LSP_FIRST(1, row.runs, h, row.head[h] > row.j0) - 1; /* the run with the part's first segment */
    const int lanes = row.items < RUN_SHORT * row.runs ? (int)RUN_LANES : (int)WARP;
    for (int h = low + (int)threadIdx.x / lanes; h < row.runs && row.head[h] < row.j1; h += TILE_NT / lanes) {
        uint32_t run = row.at[row.head[h]], from = max(run, row.at[row.j0]);
        uint32_t to = min(row.at[h + 1 < row.runs ? row.head[h + 1] : row.segments], row.at[row.j1]);
        int64_t begin, end;
        segment_at(job, row.s0 + row.head[h], &begin, &end);
        begin += from - run;
        f(lanes, (int)threadIdx.x % lanes - (int)(begin % RUN_LANES), (int)(from - row.at[row.j0]) + row.skew, begin,
          (int)to - (int)from);
    }
}

/* Starts to copy `bytes` bytes from `from`, which is aligned to 16 bytes; bytes from `end` on do not exist. */
__device__ inline void stage_whole(char *to, const char *from, const char *end, int bytes) {
    int i = (int)threadIdx.x * 16;
    to += i, from += i;
    if (end - from >= bytes + 15) {
#pragma unroll 4
        for (; i < bytes; i += TILE_NT * 16, to += TILE_NT * 16, from += TILE_NT * 16) {
            __pipeline_memcpy_async(to, from, 16);
        }
        return;
    }
    for (; i < bytes; i += TILE_NT * 16, to += TILE_NT * 16, from += TILE_NT * 16) {
        for (int k = 0; k < 16 && end - from > k; k += 4) {
            __pipeline_memcpy_async(to + k, from + k, 4);
        }
    }
}
/* Starts to copy the items of all runs, each of `parts` T. */
template <typename T, typename K>
__device__ inline void stage_runs(const seg_job &job, const tile_row<K> &row, T *to, const void *from, int parts) {
    each_run(job, row, [&](int step, int first, int place, int64_t at, int count) {
        const T *source = (const T *)from + at * parts;
        for (int i = first < 0 ? first + step : first; i < count * parts; i += step) {
            fetch_async(to + place * parts + i, source + i);
        }
    });
}
/* Starts to copy the part's keys or values to shared memory. */
template <typename K>
__device__ inline void stage_tile(const seg_job &job, const tile_row<K> &row, char *to, const void *from,
                                  int item_bytes) {
    if (row.together) {
        const char *items = (const char *)from;
        int64_t first = row.base + row.at[row.j0] - row.skew;
        stage_whole(to, items + first * item_bytes, items + job.n * item_bytes, (row.items + row.skew) * item_bytes);
    } else if (item_bytes == 4) {
        stage_runs(job, row, (uint32_t *)to, from, 1);
    } else {
        stage_runs(job, row, (ull *)to, from, item_bytes / 8);
    }
    copy_group();
}

struct no_tile_value {};

/* Writes the part's keys and values in sorted order, four items of a thread at a time. */
template <typename V, typename K> __device__ inline void write_part(const seg_job &job, const tile_row<K> &row) {
    enum { sweep = 4, valued = sizeof(V) > 1 };
    each_run(job, row, [&](int step, int first, int place, int64_t at, int count) {
        K *to = (K *)job.arrays[FROM_OUTPUT].keys + at + first;
        V *to_values = (V *)job.arrays[FROM_OUTPUT].values + (valued ? at + first : 0);
        const V *values = (const V *)row.values;
        const uint16_t *source = row.source + place + first;
        for (int left = count - first; left > 0; left -= sweep * step) { /* above `count`: `first` is negative */
            K key[sweep];
            V value[sweep];
#pragma unroll
            for (int k = 0; k < sweep; k++) {
                if (k > 0 ? left > k * step : left <= count) {
                    int from = source[k * step];
                    key[k] = row.keys[from];
                    if constexpr (valued) {
                        value[k] = values[from];
                    }
                }
            }
#pragma unroll
            for (int k = 0; k < sweep; k++) {
                if (k > 0 ? left > k * step : left <= count) {
                    to[k * step] = key[k];
                    if constexpr (valued) {
                        to_values[k * step] = value[k];
                    }
                }
            }
            to += sweep * step, to_values += valued ? sweep * step : 0, source += sweep * step;
        }
    });
}
/* Writes positions as the part's values. */
template <typename K> __device__ inline void write_tile_positions(const seg_job &job, const tile_row<K> &row) {
    each_run(job, row, [&](int step, int first, int place, int64_t at, int count) {
        for (int i = first < 0 ? first + step : first; i < count; i += step) {
            int from = row.source[place + i], start = place + i; /* of the segment, if positions count from there */
            if (!job.global_positions) {
                start = row.start_of(row.last_at(row.at[row.j0] + (uint32_t)(place + i - row.skew), row.j0, row.j1));
            }
            put_position(job, at + i, at + i - (place + i - start), from - start);
        }
    });
}
template <typename K> __device__ inline void write_items(const seg_job &job, const tile_row<K> &row) {
    if (job.positions || job.value_bytes == 0) {
        write_part<no_tile_value>(job, row);
    } else if (job.value_bytes == 4) {
        write_part<uint32_t>(job, row);
    } else if (job.value_bytes == 8) {
        write_part<ull>(job, row);
    } else {
        write_part<ulonglong2>(job, row);
    }
    if (job.positions) {
        write_tile_positions(job, row);
    }
}
