// std::sort, std::stable_sort and qsort, one segment after the other. Keys without values are sorted in the output;
// pairs are packed into records in the scratch and unpacked after the sort.
#include "peers.h"
#include <algorithm>
#include <cstdlib>

namespace {

template <typename K, typename V> struct record {
    K key;
    V value;
};
template <typename K, typename V> bool operator<(const record<K, V> &a, const record<K, V> &b) { return a.key < b.key; }

struct by_sort {
    template <typename T> static void sort(T *items, int64_t n) { std::sort(items, items + n); }
};
struct by_stable_sort {
    template <typename T> static void sort(T *items, int64_t n) { std::stable_sort(items, items + n); }
};
struct by_qsort {
    template <typename T> static int compare(const void *a, const void *b) {
        const T &x = *static_cast<const T *>(a), &y = *static_cast<const T *>(b);
        return (y < x) - (x < y);
    }
    template <typename T> static void sort(T *items, int64_t n) {
        std::qsort(items, static_cast<size_t>(n), sizeof *items, compare<T>);
    }
};

template <typename By, typename K>
void sort_keys(const lsp_segsort_args *args, int64_t first, int64_t last, void * /*scratch*/) {
    const int32_t *offsets = static_cast<const int32_t *>(args->offsets);
    const K *keys = static_cast<const K *>(args->keys);
    K *out = static_cast<K *>(args->keys_out);
    std::copy(keys + offsets[first], keys + offsets[last], out + offsets[first]);
    for (int64_t s = first; s < last; s++) {
        By::sort(out + offsets[s], offsets[s + 1] - offsets[s]);
    }
}

template <typename By, typename K, typename V>
void sort_pairs(const lsp_segsort_args *args, int64_t first, int64_t last, void *scratch) {
    const int32_t *offsets = static_cast<const int32_t *>(args->offsets);
    const K *keys = static_cast<const K *>(args->keys);
    const V *values = static_cast<const V *>(args->values);
    K *keys_out = static_cast<K *>(args->keys_out);
    V *values_out = static_cast<V *>(args->values_out);
    auto *records = static_cast<record<K, V> *>(scratch);
    for (int64_t s = first; s < last; s++) {
        const int64_t begin = offsets[s], n = offsets[s + 1] - begin;
        for (int64_t i = 0; i < n; i++) {
            records[i] = {keys[begin + i], values[begin + i]};
        }
        By::sort(records, n);
        for (int64_t i = 0; i < n; i++) {
            keys_out[begin + i] = records[i].key;
            values_out[begin + i] = records[i].value;
        }
    }
}

template <typename By, typename K>
void sort_values(const lsp_segsort_args *args, int64_t first, int64_t last, void *scratch) {
    auto *sort = args->value_bytes == 0   ? sort_keys<By, K>
                 : args->value_bytes == 4 ? sort_pairs<By, K, uint32_t>
                                          : sort_pairs<By, K, uint64_t>;
    sort(args, first, last, scratch);
}

template <typename By>
void std_sort_segments(const lsp_segsort_args *args, int64_t first, int64_t last, void *scratch) {
    auto *sort = args->key_type == LSP_U32   ? sort_values<By, uint32_t>
                 : args->key_type == LSP_F32 ? sort_values<By, float>
                                             : sort_values<By, uint64_t>;
    sort(args, first, last, scratch);
}

} // namespace

#if defined(_GLIBCXX_RELEASE)
#define CXX_LIBRARY "libstdc++ " PEER_TEXT(_GLIBCXX_RELEASE)
#elif defined(_LIBCPP_VERSION)
#define CXX_LIBRARY "libc++ " PEER_TEXT(_LIBCPP_VERSION)
#else
#define CXX_LIBRARY "unknown"
#endif
const peer_segments peer_std_sort = {false, std_sort_segments<by_sort>, CXX_LIBRARY};
const peer_segments peer_std_stable_sort = {true, std_sort_segments<by_stable_sort>, CXX_LIBRARY};
const peer_segments peer_qsort = {false, std_sort_segments<by_qsort>, PEER_C_LIBRARY};
