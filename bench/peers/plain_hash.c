/* Hash search on the host as one writes it: a power of two of slots, twice as many as keys, linear probing. Equal keys
 * take a slot each, so a search for all matches goes on to the first free slot. */
#include "peers.h"
#include <stdlib.h>
#include <string.h>

typedef struct plain_table {
    peer_hash_job job;
    uint64_t *slots; /* key in the upper half, value in the lower; all ones: free */
    uint64_t mask;
} plain_table;

static const uint64_t none = UINT64_MAX;

static uint64_t home_of(const plain_table *t, uint32_t key) {
    uint32_t x = (key ^ key >> 16) * 0x85EBCA6Bu;
    x = (x ^ x >> 13) * 0xC2B2AE35u;
    return (x ^ x >> 16) & t->mask;
}

static void destroy(void *self) {
    plain_table *t = self;
    if (t) {
        free(t->slots);
        free(t);
    }
}

static void *prepare(const peer_hash_job *job) {
    plain_table *t = calloc(1, sizeof *t);
    uint64_t slots = 2;
    while (slots < 2 * (uint64_t)job->n) {
        slots *= 2;
    }
    if (t) {
        t->job = *job;
        t->mask = slots - 1;
        t->slots = aligned_alloc(64, slots * sizeof *t->slots < 64 ? 64 : slots * sizeof *t->slots);
    }
    if (!t || !t->slots) {
        destroy(t);
        return NULL;
    }
    return t;
}

static const char *build(void *self) {
    plain_table *t = self;
    const int threads = t->job.threads;
#pragma omp parallel for num_threads(threads)
    for (uint64_t s = 0; s <= t->mask; s++) {
        t->slots[s] = none;
    }
#pragma omp parallel for num_threads(threads)
    for (int64_t i = 0; i < t->job.n; i++) {
        const uint64_t item = (uint64_t)t->job.keys[i] << 32 | t->job.values[i];
        uint64_t s = home_of(t, t->job.keys[i]), seen = none;
        while (__atomic_load_n(&t->slots[s], __ATOMIC_RELAXED) != none ||
               !__atomic_compare_exchange_n(&t->slots[s], &seen, item, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            s = (s + 1) & t->mask;
            seen = none;
        }
    }
    return NULL;
}

static const char *find(void *self) {
    const plain_table *t = self;
#pragma omp parallel for num_threads(t->job.threads)
    for (int64_t i = 0; i < t->job.probes; i++) {
        const uint32_t key = t->job.searched[i];
        uint64_t s = home_of(t, key);
        while (t->slots[s] != none && t->slots[s] >> 32 != key) {
            s = (s + 1) & t->mask;
        }
        t->job.found[i] = (uint32_t)t->slots[s];
    }
    return NULL;
}

static const char *all(void *self) {
    const plain_table *t = self;
    int64_t *offsets = t->job.offsets;
    offsets[0] = 0;
#pragma omp parallel for num_threads(t->job.threads)
    for (int64_t i = 0; i < t->job.probes; i++) {
        int64_t count = 0;
        for (uint64_t s = home_of(t, t->job.searched[i]); t->slots[s] != none; s = (s + 1) & t->mask) {
            count += t->slots[s] >> 32 == t->job.searched[i];
        }
        offsets[i + 1] = count;
    }
    for (int64_t i = 0; i < t->job.probes; i++) {
        offsets[i + 1] += offsets[i];
    }
#pragma omp parallel for num_threads(t->job.threads)
    for (int64_t i = 0; i < t->job.probes; i++) {
        int64_t to = offsets[i];
        for (uint64_t s = home_of(t, t->job.searched[i]); t->slots[s] != none; s = (s + 1) & t->mask) {
            if (t->slots[s] >> 32 == t->job.searched[i]) {
                t->job.found[to++] = (uint32_t)t->slots[s];
            }
        }
    }
    return NULL;
}

const peer_hash peer_plain_hash = {prepare, build, find, all, destroy, PEER_C_LIBRARY};
