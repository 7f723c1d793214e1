// Matrix Market as a careful C++ programmer does it, on one thread: a loop over from_chars into triples (values by
// fast_float, libfast-float-dev), and a loop over to_chars with the shortest digits into a buffer of 1 MiB.
#include "peers.h"
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fast_float/fast_float.h>
#include <memory>
#include <new>
#include <vector>

namespace {

constexpr size_t buffer_bytes = 1 << 20, longest_line = 1 << 10;
using file_ptr = std::unique_ptr<FILE, int (*)(FILE *)>;

struct triples {
    int64_t rows = 0, cols = 0, nnz = 0;
    bool pattern = false;
    std::vector<int32_t> row, col;
    std::vector<double> val;
};

template <typename T> bool charconv_number(const char *&at, const char *end, T &x) {
    while (at < end && *at == ' ') {
        at++;
    }
    const auto result = std::from_chars(at, end, x);
    at = result.ptr;
    return result.ec == std::errc();
}

bool charconv_value(const char *&at, const char *end, double &x) {
    at += at < end && *at == ' ';
    const auto result = fast_float::from_chars(at, end, x);
    at = result.ptr;
    return result.ec == std::errc();
}

bool head(FILE *file, triples &t) {
    char line[longest_line];
    if (!fgets(line, sizeof line, file)) {
        return false;
    }
    t.pattern = strstr(line, "pattern") != nullptr;
    while (fgets(line, sizeof line, file) && line[0] == '%') {
    }
    const char *at = line, *end = line + strlen(line);
    return charconv_number(at, end, t.rows) && charconv_number(at, end, t.cols) && charconv_number(at, end, t.nnz);
}

bool charconv_entries(const char *at, const char *end, triples &t) {
    while (at < end) {
        int32_t i, j;
        double x = 1;
        if (!charconv_number(at, end, i) || !charconv_number(at, end, j) ||
            (!t.pattern && !charconv_value(at, end, x))) {
            return false;
        }
        at++; // the newline
        t.row.push_back(i - 1);
        t.col.push_back(j - 1);
        if (!t.pattern) {
            t.val.push_back(x);
        }
    }
    return true;
}

void *read_triples(const char *path) try {
    auto t = std::make_unique<triples>();
    file_ptr file(fopen(path, "re"), fclose);
    if (!file || !head(file.get(), *t)) {
        return nullptr;
    }
    t->row.reserve(static_cast<size_t>(t->nnz));
    t->col.reserve(static_cast<size_t>(t->nnz));
    t->val.reserve(static_cast<size_t>(t->pattern ? 0 : t->nnz));
    std::vector<char> buffer(buffer_bytes);
    size_t kept = 0, got = 0;
    while ((got = fread(buffer.data() + kept, 1, buffer_bytes - kept, file.get())) > 0) {
        size_t full = kept + got; // up to the last newline
        while (full > 0 && buffer[full - 1] != '\n') {
            full--;
        }
        if (!charconv_entries(buffer.data(), buffer.data() + full, *t)) {
            return nullptr;
        }
        kept = kept + got - full;
        memmove(buffer.data(), buffer.data() + full, kept);
    }
    return static_cast<int64_t>(t->row.size()) == t->nnz ? t.release() : nullptr;
} catch (const std::bad_alloc &) {
    return nullptr;
}

void view(void *self, lsp_coo *A) {
    const auto *t = static_cast<const triples *>(self);
    *A = lsp_coo{t->rows,       t->cols,
                 t->nnz,        t->row.data(),
                 t->col.data(), t->pattern ? nullptr : t->val.data(),
                 LSP_I32,       t->pattern ? LSP_NONE : LSP_F64,
                 LSP_HOST};
}

struct writer {
    lsp_csr A;
    bool symmetric;
};

int64_t count(const writer &w) {
    const auto *rowptr = static_cast<const int32_t *>(w.A.rowptr), *col = static_cast<const int32_t *>(w.A.col);
    int64_t kept = w.A.nnz;
    for (int64_t i = 0; i < w.A.rows && w.symmetric; i++) {
        for (int32_t p = rowptr[i]; p < rowptr[i + 1]; p++) {
            kept -= col[p] > i;
        }
    }
    return kept;
}

bool write_entries(void *self, const char *path) try {
    const auto &w = *static_cast<const writer *>(self);
    const auto *rowptr = static_cast<const int32_t *>(w.A.rowptr), *col = static_cast<const int32_t *>(w.A.col);
    const auto *val = w.A.val_type == LSP_NONE ? nullptr : static_cast<const double *>(w.A.val);
    file_ptr file(fopen(path, "we"), fclose);
    if (!file) {
        return false;
    }
    fprintf(file.get(), "%%%%MatrixMarket matrix coordinate %s %s\n%lld %lld %lld\n", val ? "real" : "pattern",
            w.symmetric ? "symmetric" : "general", static_cast<long long>(w.A.rows), static_cast<long long>(w.A.cols),
            static_cast<long long>(count(w)));
    std::vector<char> buffer(buffer_bytes);
    char *const begin = buffer.data(), *const end = begin + buffer_bytes, *at = begin;
    bool written = true;
    for (int64_t i = 0; i < w.A.rows; i++) {
        for (int32_t p = rowptr[i]; p < rowptr[i + 1]; p++) {
            if (w.symmetric && col[p] > i) {
                continue;
            }
            at = std::to_chars(at, end, i + 1).ptr;
            *at++ = ' ';
            at = std::to_chars(at, end, col[p] + 1).ptr;
            if (val) {
                *at++ = ' ';
                at = std::to_chars(at, end, val[p]).ptr;
            }
            *at++ = '\n';
            if (at > end - longest_line) {
                written &= fwrite(begin, 1, static_cast<size_t>(at - begin), file.get()) > 0;
                at = begin;
            }
        }
    }
    written &= at == begin || fwrite(begin, 1, static_cast<size_t>(at - begin), file.get()) > 0;
    return fclose(file.release()) == 0 && written;
} catch (const std::bad_alloc &) {
    return false;
}

} // namespace

#if defined(FASTFLOAT_VERSION_MAJOR)
#define VERSION "fast_float " PEER_VERSION(FASTFLOAT_VERSION_MAJOR, FASTFLOAT_VERSION_MINOR, FASTFLOAT_VERSION_PATCH)
#else
#define VERSION nullptr
#endif
extern "C" {
const peer_reader peer_fast_float = {true, read_triples, view, [](void *self) { delete static_cast<triples *>(self); },
                                     VERSION};
const peer_writer peer_to_chars = {true,
                                   [](const lsp_csr *A, bool symmetric) -> void * {
                                       return new (std::nothrow) writer{*A, symmetric};
                                   },
                                   write_entries, [](void *self) { delete static_cast<writer *>(self); }};
}
