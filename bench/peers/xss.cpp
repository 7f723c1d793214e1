// Intel's x86-simd-sort (-DLSP_X86_SIMD_SORT=), one segment after the other, sorted in the output: keys without values,
// or keys and values in two arrays. Not stable.
#include "peers.h"
#include "x86simdsort-static-incl.h"
#include <algorithm>

namespace {

template <typename K, typename V>
void sort_pairs(const lsp_segsort_args *args, int64_t first, int64_t last, void * /*scratch*/) {
    const int32_t *offsets = static_cast<const int32_t *>(args->offsets);
    const K *keys = static_cast<const K *>(args->keys);
    const V *values = static_cast<const V *>(args->values);
    K *keys_out = static_cast<K *>(args->keys_out);
    V *values_out = static_cast<V *>(args->values_out);
    std::copy(keys + offsets[first], keys + offsets[last], keys_out + offsets[first]);
    std::copy(values + offsets[first], values + offsets[last], values_out + offsets[first]);
    for (int64_t s = first; s < last; s++) {
        x86simdsortStatic::keyvalue_qsort(keys_out + offsets[s], values_out + offsets[s],
                                          static_cast<size_t>(offsets[s + 1] - offsets[s]));
    }
}

template <typename K> void sort_keys(const lsp_segsort_args *args, int64_t first, int64_t last, void * /*scratch*/) {
    const int32_t *offsets = static_cast<const int32_t *>(args->offsets);
    const K *keys = static_cast<const K *>(args->keys);
    K *keys_out = static_cast<K *>(args->keys_out);
    std::copy(keys + offsets[first], keys + offsets[last], keys_out + offsets[first]);
    for (int64_t s = first; s < last; s++) {
        x86simdsortStatic::qsort(keys_out + offsets[s], static_cast<size_t>(offsets[s + 1] - offsets[s]));
    }
}

template <typename K> void sort_values(const lsp_segsort_args *args, int64_t first, int64_t last, void *scratch) {
    auto *sort = args->value_bytes == 0   ? sort_keys<K>
                 : args->value_bytes == 4 ? sort_pairs<K, uint32_t>
                                          : sort_pairs<K, uint64_t>;
    sort(args, first, last, scratch);
}

void sort(const lsp_segsort_args *args, int64_t first, int64_t last, void *scratch) {
    auto *by_type = args->key_type == LSP_U32   ? sort_values<uint32_t>
                    : args->key_type == LSP_F32 ? sort_values<float>
                                                : sort_values<uint64_t>;
    by_type(args, first, last, scratch);
}

} // namespace

const peer_segments peer_xss = {false, sort, "x86-simd-sort " BENCH_XSS_SOURCES};
