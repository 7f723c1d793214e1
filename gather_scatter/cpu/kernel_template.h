/* The loops over elements of one kind. NAME(f) names them; a kind is T, an element, or words if WORDS is defined (the
 * elements have `bytes` bytes, a multiple of 4); OP(a, b) stores or adds. Included by kernels.c for each kind. */

#ifdef WORDS
#define ELEMENT(array, k) ((char *)(array) + (size_t)(k)*bytes)
#define CONST_ELEMENT(array, k) ((const char *)(array) + (size_t)(k)*bytes)
#define MOVE(to, t, from, f) copy_words(ELEMENT(to, t), CONST_ELEMENT(from, f), bytes)
#define LOOK(from, f) __builtin_prefetch(CONST_ELEMENT(from, f))
#else
#define MOVE(to, t, from, f) OP(((T *)(to))[t], ((const T *)(const void *)(from))[f])
#define LOOK(from, f) __builtin_prefetch((const T *)(from) + (f))
#endif

/* One copy for each type of places. */
#define BY_PLACES(name, P, to_at, from_at)                                                                             \
    static void NAME(name)(void *restrict to, const void *restrict from, const void *place, int64_t n, size_t bytes) { \
        const P *at = place;                                                                                           \
        (void)bytes;                                                                                                   \
        for (int64_t k = 0; k < n; k++) {                                                                              \
            MOVE(to, to_at, from, from_at);                                                                            \
        }                                                                                                              \
    }
#define GATHER(P, suffix) BY_PLACES(gather_##suffix, P, k, at[k])
#define SCATTER(P, suffix) BY_PLACES(scatter_##suffix, P, at[k], k)
#define PAIRS(P, suffix)                                                                                               \
    static void NAME(pairs_##suffix)(void *restrict to, const void *restrict from, const void *dst, const void *src,   \
                                     int64_t n, size_t bytes) {                                                        \
        const P *to_at = dst, *from_at = src;                                                                          \
        (void)bytes;                                                                                                   \
        for (int64_t k = 0; k < n; k++) {                                                                              \
            MOVE(to, to_at[k], from, from_at[k]);                                                                      \
        }                                                                                                              \
    }
#ifdef STORES /* a kind that adds moves elements elsewhere by the kind that stores */
EACH_PLACE(GATHER)
#endif
EACH_PLACE(SCATTER)
PAIRS(int32_t, i32)
PAIRS(int64_t, i64)

static void NAME(runs)(void *restrict to, const void *restrict tmp, const uint16_t *place, const int64_t *begin,
                       const int64_t *end, int64_t n, size_t bytes) {
    enum { AHEAD = 8 }; /* runs that are called into the cache early: no prefetcher knows where they are */
    (void)bytes;
    for (int64_t r = 0; r < n; r++) {
        if (r + AHEAD < n) {
            LOOK(tmp, begin[r + AHEAD]);
            LOOK(tmp, (begin[r + AHEAD] + end[r + AHEAD]) / 2);
            LOOK(tmp, end[r + AHEAD]);
        }
        for (int64_t k = begin[r]; k < end[r]; k++) {
            MOVE(to, *place++, tmp, k);
        }
    }
}

#ifdef T
/* Writes the items of a bin's packets, chunk by chunk. Meanwhile the next chunk and the bin that follows are called
 * into the cache: no prefetcher of a processor knows where they are. */
#define UNPACK(L, suffix)                                                                                              \
    static void NAME(unpack_##suffix)(void *restrict to, const lsp_packet_job *job, int64_t bin, const char *ahead) {  \
        enum {                                                                                                         \
            ITEMS = PACKET_ITEMS(sizeof(T), sizeof(L)),                                                                \
            LOCAL_AT = ITEMS * sizeof(T),                                                                              \
            CHUNK_BYTES = LSP_GATHER_CHUNK * PACKET_BYTES                                                              \
        };                                                                                                             \
        const int64_t last = job->next[bin] / LSP_GATHER_CHUNK, rest = job->next[bin] % LSP_GATHER_CHUNK;              \
        for (int64_t chunk = bin;;) {                                                                                  \
            const int64_t full = chunk == last ? rest : LSP_GATHER_CHUNK;                                              \
            const int64_t following = chunk == last ? chunk : job->link[chunk];                                        \
            const char *packet = job->packets + chunk * CHUNK_BYTES, *later = job->packets + following * CHUNK_BYTES;  \
            for (int64_t p = 0; p < full; p++, packet += PACKET_BYTES) {                                               \
                unpack_ahead(later + p * PACKET_BYTES, &ahead);                                                        \
                const L *local = (const void *)(packet + LOCAL_AT);                                                    \
                for (int k = 0; k < ITEMS; k++) {                                                                      \
                    MOVE(to, local[k], packet, k);                                                                     \
                }                                                                                                      \
            }                                                                                                          \
            if (chunk == last) {                                                                                       \
                const L *local = (const void *)(packet + LOCAL_AT);                                                    \
                const int filled = *(const uint16_t *)(const void *)(packet + PACKET_FILLED_AT);                       \
                for (int k = 0; k < filled; k++) {                                                                     \
                    MOVE(to, local[k], packet, k);                                                                     \
                }                                                                                                      \
                return;                                                                                                \
            }                                                                                                          \
            chunk = following;                                                                                         \
        }                                                                                                              \
    }
UNPACK(uint16_t, u16)
UNPACK(uint32_t, u32)
#undef UNPACK
#endif

#undef BY_PLACES
#undef GATHER
#undef SCATTER
#undef PAIRS
#undef MOVE
#undef LOOK
#undef ELEMENT
#undef CONST_ELEMENT
#undef NAME
#undef T
#undef WORDS
