/* Sorts records of its own and checks the result: records [cpu|cuda]. Ends with 77 if there is no GPU. */
#include "particle.h"
#include <stdio.h>

enum { LARGEST = 300000 };

/* TRY(type, sort, fill) defines a function that sorts records of several lengths, with few values and with many, and
 * looks at their order, their set and the changes. */
static uint64_t seed = 1;
static uint32_t number(uint32_t values) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % values;
}
static uint64_t digest(const void *records, size_t size, int64_t n) { /* of a set: without an order */
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t h = 14695981039346656037u;
        for (size_t k = 0; k < size; k++) {
            h = (h ^ ((const unsigned char *)records)[(size_t)i * size + k]) * 1099511628211u;
        }
        sum += h ^ h >> 29;
    }
    return sum;
}

#define TRY(type, sort, fill)                                                                                          \
    static int try_##type(int (*run)(type *, int64_t, unsigned char *)) {                                              \
        static const int64_t lengths[] = {1, 2, 31, 33, 1000, 8192, 8193, 20000, 100001, LARGEST};                     \
        static type records[LARGEST];                                                                                  \
        static unsigned char change[LARGEST];                                                                          \
        for (int k = 0; k < 20; k++) {                                                                                 \
            const int64_t n = lengths[k / 2];                                                                          \
            const uint32_t values = k % 2 == 0 ? 1u << 30 : 3;                                                         \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                type x;                                                                                                \
                memset(&x, 0, sizeof x);                                                                               \
                fill;                                                                                                  \
                records[i] = x;                                                                                        \
            }                                                                                                          \
            const uint64_t before = digest(records, sizeof(type), n);                                                  \
            const int status = run(records, n, change);                                                                \
            int right = status == 0 && digest(records, sizeof(type), n) == before && change[0] == 1;                   \
            for (int64_t i = 1; i < n; i++) {                                                                          \
                right &= !sort##_before(&records[i], &records[i - 1]) &&                                               \
                         change[i] == sort##_before(&records[i - 1], &records[i]);                                     \
            }                                                                                                          \
            if (!right) {                                                                                              \
                printf(#sort ": %lld records of %u values: %s\n", (long long)n, values,                                \
                       status == 0    ? "WRONG"                                                                        \
                       : status == 77 ? "no GPU"                                                                       \
                                      : "failed");                                                                     \
                return status == 0 ? 1 : status;                                                                       \
            }                                                                                                          \
        }                                                                                                              \
        printf(#sort ": right\n");                                                                                     \
        return 0;                                                                                                      \
    }                                                                                                                  \
    static int sort##_here(type *records, int64_t n, unsigned char *change) {                                          \
        sort(records, n, change);                                                                                      \
        return 0;                                                                                                      \
    }

TRY(particle, sort_particles, (x.cell = number(values), x.id = number(1u << 31), x.x = (float)i))
TRY(int32_t, sort_magnitudes, (x = (int32_t)(number(values) - number(values))))
TRY(triple, sort_triples, (x.row = (int32_t)number(values), x.column = (int32_t)number(5), x.layer = -(int32_t)i))
TRY(event, sort_events, (x.time = number(values), x.source = number(9), x.name[i % 16] = 'e'))

#ifdef WITH_CUDA
int particles_on_gpu(particle *, int64_t, unsigned char *);
int magnitudes_on_gpu(int32_t *, int64_t, unsigned char *);
int triples_on_gpu(triple *, int64_t, unsigned char *);
int events_on_gpu(event *, int64_t, unsigned char *);
#endif

int main(int count, char **arguments) {
    const int on_gpu = count > 1 && strcmp(arguments[1], "cuda") == 0;
#ifdef WITH_CUDA
    if (on_gpu) {
        int status = try_particle(particles_on_gpu);
        status = status == 0 ? try_int32_t(magnitudes_on_gpu) : status;
        status = status == 0 ? try_triple(triples_on_gpu) : status;
        return status == 0 ? try_event(events_on_gpu) : status;
    }
#endif
    if (on_gpu) {
        return 77;
    }
    return try_particle(sort_particles_here) || try_int32_t(sort_magnitudes_here) || try_triple(sort_triples_here) ||
           try_event(sort_events_here);
}
