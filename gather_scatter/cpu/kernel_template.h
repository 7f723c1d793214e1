/* The loops over elements of one kind. NAME(f) names them; a kind is T, an element, or words if WORDS is defined (the
 * elements have `bytes` bytes, a multiple of 4); OP(a, b) stores or adds. Included by kernels.c for each kind. */

#ifdef WORDS
#define ELEMENT(array, k) ((char *)(array) + (size_t)(k)*bytes)
#define CONST_ELEMENT(array, k) ((const char *)(array) + (size_t)(k)*bytes)
#define MOVE(to, t, from, f) copy_words(ELEMENT(to, t), CONST_ELEMENT(from, f), bytes)
#define LOOK(from, f) __builtin_prefetch(CONST_ELEMENT(from, f))
#else
#define MOVE(to, t, from, f) OP(((T *)(to))[t], ((const T *)(from))[f])
#define LOOK(from, f) __builtin_prefetch((const T *)(from) + (f))
#endif

/* One copy for each type of places. */
#define GATHER(P, suffix)                                                                                              \
    static void NAME(gather_##suffix)(void *restrict to, const void *restrict from, const void *place, int64_t n,      \
                                      size_t bytes) {                                                                  \
        const P *at = place;                                                                                           \
        (void)bytes;                                                                                                   \
        for (int64_t k = 0; k < n; k++) {                                                                              \
            MOVE(to, k, from, at[k]);                                                                                  \
        }                                                                                                              \
    }
#define SCATTER(P, suffix)                                                                                             \
    static void NAME(scatter_##suffix)(void *restrict to, const void *restrict from, const void *place, int64_t n,     \
                                       size_t bytes) {                                                                 \
        const P *at = place;                                                                                           \
        (void)bytes;                                                                                                   \
        for (int64_t k = 0; k < n; k++) {                                                                              \
            MOVE(to, at[k], from, k);                                                                                  \
        }                                                                                                              \
    }
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
GATHER(int32_t, i32)
GATHER(int64_t, i64)
GATHER(uint16_t, u16)
GATHER(uint32_t, u32)
#endif
SCATTER(int32_t, i32)
SCATTER(int64_t, i64)
SCATTER(uint16_t, u16)
SCATTER(uint32_t, u32)
PAIRS(int32_t, i32)
PAIRS(int64_t, i64)

static void NAME(runs)(void *restrict to, const void *restrict tmp, const uint16_t *place, const int64_t *begin,
                       const int64_t *end, int64_t n, size_t bytes) {
    enum { AHEAD = 8 }; /* runs whose first line is asked for early: no prefetcher sees where they are */
    (void)bytes;
    for (int64_t r = 0; r < n; r++) {
        if (r + AHEAD < n) {
            LOOK(tmp, begin[r + AHEAD]);
        }
        for (int64_t k = begin[r]; k < end[r]; k++) {
            MOVE(to, *place++, tmp, k);
        }
    }
}

#undef GATHER
#undef SCATTER
#undef PAIRS
#undef MOVE
#undef LOOK
#undef ELEMENT
#undef CONST_ELEMENT
