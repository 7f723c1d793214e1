// Highway's vectorised quicksort (libhwy-dev, or -DLSP_HIGHWAY=), one segment after the other. Keys without values are
// sorted in the output. 32-bit pairs are packed into 64 bits with the key above the value; other pairs into Highway's
// pairs of 64-bit keys and values. Not stable.
#include "peers.h"
#include <algorithm>
#include <hwy/contrib/sort/vqsort.h>
#include <hwy/highway.h> // HWY_MAJOR

namespace {

// Maps a float key to an unsigned number in the same order, and back.
uint32_t ordered(uint32_t key, bool is_float) { return !is_float ? key : key >> 31 ? ~key : key | 1U << 31; }
uint32_t restored(uint32_t key, bool is_float) { return !is_float ? key : key >> 31 ? key ^ 1U << 31 : ~key; }

template <typename K>
void sort_keys(const hwy::Sorter &sorter, const lsp_segsort_args *args, int64_t first, int64_t last) {
    const int32_t *offsets = static_cast<const int32_t *>(args->offsets);
    const K *keys = static_cast<const K *>(args->keys);
    K *out = static_cast<K *>(args->keys_out);
    std::copy(keys + offsets[first], keys + offsets[last], out + offsets[first]);
    for (int64_t s = first; s < last; s++) {
        sorter(out + offsets[s], static_cast<size_t>(offsets[s + 1] - offsets[s]), hwy::SortAscending());
    }
}

void sort_packed(const hwy::Sorter &sorter, const lsp_segsort_args *args, int64_t first, int64_t last, void *scratch) {
    const int32_t *offsets = static_cast<const int32_t *>(args->offsets);
    const uint32_t *keys = static_cast<const uint32_t *>(args->keys),
                   *values = static_cast<const uint32_t *>(args->values);
    uint32_t *keys_out = static_cast<uint32_t *>(args->keys_out),
             *values_out = static_cast<uint32_t *>(args->values_out);
    uint64_t *packed = static_cast<uint64_t *>(scratch);
    const bool is_float = args->key_type == LSP_F32;
    for (int64_t s = first; s < last; s++) {
        const int64_t begin = offsets[s], n = offsets[s + 1] - begin;
        for (int64_t i = 0; i < n; i++) {
            packed[i] = static_cast<uint64_t>(ordered(keys[begin + i], is_float)) << 32 | values[begin + i];
        }
        sorter(packed, static_cast<size_t>(n), hwy::SortAscending());
        for (int64_t i = 0; i < n; i++) {
            keys_out[begin + i] = restored(static_cast<uint32_t>(packed[i] >> 32), is_float);
            values_out[begin + i] = static_cast<uint32_t>(packed[i]);
        }
    }
}

template <typename K, typename V>
void sort_pairs(const hwy::Sorter &sorter, const lsp_segsort_args *args, int64_t first, int64_t last, void *scratch) {
    const int32_t *offsets = static_cast<const int32_t *>(args->offsets);
    const K *keys = static_cast<const K *>(args->keys);
    const V *values = static_cast<const V *>(args->values);
    K *keys_out = static_cast<K *>(args->keys_out);
    V *values_out = static_cast<V *>(args->values_out);
    auto *pairs = static_cast<hwy::K64V64 *>(scratch);
    for (int64_t s = first; s < last; s++) {
        const int64_t begin = offsets[s], n = offsets[s + 1] - begin;
        for (int64_t i = 0; i < n; i++) {
            pairs[i].key = keys[begin + i];
            pairs[i].value = values[begin + i];
        }
        sorter(pairs, static_cast<size_t>(n), hwy::SortAscending());
        for (int64_t i = 0; i < n; i++) {
            keys_out[begin + i] = static_cast<K>(pairs[i].key);
            values_out[begin + i] = static_cast<V>(pairs[i].value);
        }
    }
}

void sort(const lsp_segsort_args *args, int64_t first, int64_t last, void *scratch) {
    thread_local const hwy::Sorter sorter;
    const bool wide = args->key_type == LSP_U64;
    if (args->value_bytes == 0) {
        (wide ? sort_keys<uint64_t> : sort_keys<uint32_t>)(sorter, args, first, last);
    } else if (!wide && args->value_bytes == 4) {
        sort_packed(sorter, args, first, last, scratch);
    } else if (!wide) {
        sort_pairs<uint32_t, uint64_t>(sorter, args, first, last, scratch);
    } else if (args->value_bytes == 4) {
        sort_pairs<uint64_t, uint32_t>(sorter, args, first, last, scratch);
    } else {
        sort_pairs<uint64_t, uint64_t>(sorter, args, first, last, scratch);
    }
}

} // namespace

#ifndef BENCH_HWY_SOURCES // the installed package
#define BENCH_HWY_SOURCES ""
#endif
#define PACKAGED "Highway " PEER_VERSION(HWY_MAJOR, HWY_MINOR, HWY_PATCH)
const peer_segments peer_vqsort = {false, sort,
                                   *BENCH_HWY_SOURCES ? PACKAGED ", sources " BENCH_HWY_SOURCES : PACKAGED};
