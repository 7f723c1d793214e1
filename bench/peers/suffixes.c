/* Peers that make suffix arrays of bytes, on a CPU: divsufsort, and libsais with threads of OpenMP if it has them. */
#include "peers.h"

#if BENCH_HAVE_DIVSUFSORT
#include <divsufsort.h>
static bool sort_by_divsufsort(const void *text, int64_t n, int32_t *suffixes, int threads) {
    (void)threads;
    return divsufsort(text, suffixes, (saidx_t)n) == 0;
}
const peer_suffixes peer_divsufsort = {"divsufsort", "2", false, sort_by_divsufsort};
#endif

#if BENCH_HAVE_LIBSAIS
#include <libsais.h>
static bool sort_by_libsais(const void *text, int64_t n, int32_t *suffixes, int threads) {
#ifdef LIBSAIS_OPENMP
    return libsais_omp(text, suffixes, (int32_t)n, 0, NULL, threads) == 0;
#else
    (void)threads;
    return libsais(text, suffixes, (int32_t)n, 0, NULL) == 0;
#endif
}
const peer_suffixes peer_libsais = {"libsais", LIBSAIS_VERSION_STRING, true, sort_by_libsais};
#endif
