/* The loops over elements, a copy for each kind: elements of 1, 2, 4, 8 and 16 bytes and of several words, which are
 * stored; and numbers that are added. */
#include "cpu.h"
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* Elements are moved as integers whatever their type is. */
typedef uint8_t __attribute__((may_alias)) element_1;
typedef uint16_t __attribute__((may_alias)) element_2;
typedef uint32_t __attribute__((may_alias)) element_4;
typedef uint64_t __attribute__((may_alias)) element_8;
typedef uint64_t element_16 __attribute__((vector_size(16), aligned(8), may_alias));

static inline void copy_words(char *to, const char *from, size_t bytes) {
    for (size_t b = 0; b < bytes; b += 4) {
        memcpy(to + b, from + b, 4);
    }
}

/* A packet's bytes, where it counts its items, and how many of `bytes` bytes fit: their places inside the bin, of
 * `place` bytes each, end before the count. */
enum { PACKET_BYTES = 128, PACKET_FILLED_AT = 126 };
#define PACKET_ITEMS(bytes, place) ((place) == 2 ? 126 / ((bytes) + 2) : (bytes) == 1 ? 24 : 120 / ((bytes) + 4))

/* Writes a packet, which is aligned, past the caches. */
static inline void stream_packet(void *to, const void *packet) {
#if defined(__SSE2__)
    for (int q = 0; q < PACKET_BYTES / 16; q++) {
        _mm_stream_si128((__m128i *)to + q, _mm_load_si128((const __m128i *)packet + q));
    }
#else
    memcpy(to, packet, PACKET_BYTES);
#endif
}

/* Asks for a packet that is read later, and for two lines of the bin that is written later. */
static inline void unpack_ahead(const char *packet, const char **bin) {
    __builtin_prefetch(packet);
    __builtin_prefetch(packet + 64);
    __builtin_prefetch(*bin, 1);
    __builtin_prefetch(*bin + 64, 1);
    *bin += 128;
}

void lsp_gather_stream(void *to, const void *from, size_t bytes) {
    const size_t head = bytes < 64 ? bytes : (64 - (uintptr_t)to % 64) % 64, lines = (bytes - head) / 64;
    memcpy(to, from, head);
    char *at = (char *)to + head;
    const char *source = (const char *)from + head;
#if defined(__SSE2__)
    for (size_t line = 0; line < lines; line++, at += 64, source += 64) {
        for (int q = 0; q < 4; q++) {
            _mm_stream_si128((__m128i *)(void *)at + q, _mm_loadu_si128((const __m128i *)(const void *)source + q));
        }
    }
#else
    memcpy(at, source, lines * 64);
    at += lines * 64, source += lines * 64;
#endif
    memcpy(at, source, bytes - head - lines * 64);
}

void lsp_gather_stream_end(void) {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/* ---- kinds that store ---- */

#define EACH_PLACE(X) X(int32_t, i32) X(int64_t, i64) X(uint16_t, u16) X(uint32_t, u32)
#define STORES
#define OP(a, b) ((a) = (b))
#define NAME(f) f##_1
#define T element_1
#include "kernel_template.h"
#define NAME(f) f##_2
#define T element_2
#include "kernel_template.h"
#define NAME(f) f##_4
#define T element_4
#include "kernel_template.h"
#define NAME(f) f##_8
#define T element_8
#include "kernel_template.h"
#define NAME(f) f##_16
#define T element_16
#include "kernel_template.h"
#define NAME(f) f##_words
#define WORDS
#include "kernel_template.h"
#undef OP
#undef STORES

/* ---- kinds that add ---- */

#define OP(a, b) ((a) += (b))
#define NAME(f) f##_f32
#define T float
#include "kernel_template.h"
#define NAME(f) f##_f64
#define T double
#include "kernel_template.h"
#define NAME(f) f##_u32
#define T uint32_t
#include "kernel_template.h"
#define NAME(f) f##_u64
#define T uint64_t
#include "kernel_template.h"
#undef OP

/* ---- cutting into bins ---- */

/* Packets are two cache lines with some elements and their places inside a bin, filled one item after the other and
 * written to memory together. Cuts a share of positions into bins, stably. A full packet goes to the bin's chunk; a
 * full chunk is followed by a new one. An index outside is left out. */
static inline __attribute__((always_inline)) void cut_share(lsp_packet_job *job, size_t bytes, lsp_type index_type,
                                                            size_t place) {
    const int items = (int)PACKET_ITEMS(bytes, place);
    /* copies, because the compiler takes a store of an element for one that may change *job */
    const char *from = job->from, *index = job->index;
    char *open = job->open, *packets = job->packets;
    int64_t *next = job->next, *link = job->link, chunks = job->bins;
    const int64_t n = job->n;
    const uint64_t extent = (uint64_t)job->extent, inside = ((uint64_t)1 << job->shift) - 1;
    const int shift = job->shift;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t x = (uint64_t)lsp_index_at(index, index_type, i), bin = x >> shift;
        if (x >= extent) {
            job->bad = lsp_min(job->bad, i);
            continue;
        }
        char *packet = open + bin * PACKET_BYTES, *places = packet + (size_t)items * bytes;
        uint16_t *filled = (void *)(packet + PACKET_FILLED_AT);
        const int k = *filled;
        memcpy(packet + (size_t)k * bytes, from + (size_t)i * bytes, bytes);
        if (place == 2) {
            ((uint16_t *)(void *)places)[k] = (uint16_t)(x & inside);
        } else {
            ((uint32_t *)(void *)places)[k] = (uint32_t)(x & inside);
        }
        *filled = (uint16_t)(k + 1);
        if (k == items - 1) {
            const int64_t at = next[bin]++;
            *filled = 0;
            stream_packet(packets + at * PACKET_BYTES, packet);
            if (at % LSP_GATHER_CHUNK == LSP_GATHER_CHUNK - 1) {
                link[at / LSP_GATHER_CHUNK] = chunks;
                next[bin] = chunks++ * LSP_GATHER_CHUNK;
            }
        }
    }
    lsp_gather_stream_end();
    for (int64_t bin = 0; bin < job->bins; bin++) { /* packets that are not full, and know how many items they have */
        memcpy(packets + next[bin] * PACKET_BYTES, open + bin * PACKET_BYTES, PACKET_BYTES);
    }
}

#define CUT(bytes, suffix, index_type, place)                                                                          \
    static void cut_##bytes##suffix(lsp_packet_job *job) { cut_share(job, bytes, index_type, place); }
#define CUTS(bytes)                                                                                                    \
    CUT(bytes, _i32_u16, LSP_I32, 2)                                                                                   \
    CUT(bytes, _i32_u32, LSP_I32, 4)                                                                                   \
    CUT(bytes, _i64_u16, LSP_I64, 2)                                                                                   \
    CUT(bytes, _i64_u32, LSP_I64, 4)
CUTS(1)
CUTS(2)
CUTS(4)
CUTS(8)
CUTS(16)

/* ---- the table ---- */

#define MOVES(kind, stored)                                                                                            \
    .gather = {gather_i32_##stored, gather_i64_##stored, gather_u16_##stored, gather_u32_##stored},                    \
    .scatter = {scatter_i32_##kind, scatter_i64_##kind, scatter_u16_##kind, scatter_u32_##kind},                       \
    .pairs = {[LSP_PLACE_I32] = pairs_i32_##kind, [LSP_PLACE_I64] = pairs_i64_##kind}, .runs = runs_##kind
#define PACKETS(kind, bytes)                                                                                           \
    .packet_items = {PACKET_ITEMS(bytes, 2), PACKET_ITEMS(bytes, 4)},                                                  \
    .cut = {{cut_##bytes##_i32_u16, cut_##bytes##_i32_u32}, {cut_##bytes##_i64_u16, cut_##bytes##_i64_u32}},           \
    .unpack = {unpack_u16_##kind, unpack_u32_##kind}
#define MOVER(kind, bytes)                                                                                             \
    { MOVES(kind, bytes), PACKETS(kind, bytes) }

const lsp_mover *lsp_gather_mover(const lsp_gather_job *job, const lsp_column *column) {
    static const lsp_mover stored[] = {MOVER(1, 1), MOVER(2, 2),   MOVER(4, 4),
                                       MOVER(8, 8), MOVER(16, 16), {MOVES(words, words)}};
    static const lsp_mover added[] = {MOVER(f32, 4), MOVER(f64, 8), MOVER(u32, 4), MOVER(u64, 8)};
    if (job->scatter && job->args.rule == LSP_SCATTER_ADD) {
        return &added[column->type == LSP_F32 ? 0 : column->type == LSP_F64 ? 1 : column->type == LSP_I32 ? 2 : 3];
    }
    const size_t bytes = column->bytes;
    return &stored[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : bytes == 16 ? 4 : 5];
}
