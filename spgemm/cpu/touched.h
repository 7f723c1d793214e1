/* Marks of a window's columns, a byte each, as bits. */
#pragma once

#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* Bit k: is touched[k] 1? For 64 of them, all 0 or 1. */
static inline uint64_t touched_mask(const uint8_t *touched) {
#if defined(__AVX512BW__)
    const __m512i flags = _mm512_loadu_si512(touched);
    return _mm512_test_epi8_mask(flags, flags);
#elif defined(__AVX2__)
    const __m256i low = _mm256_loadu_si256((const void *)touched);
    const __m256i high = _mm256_loadu_si256((const void *)(touched + 32));
    const uint32_t low_bits = (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(low, 7)); /* to each byte's sign */
    return (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(high, 7)) << 32 | low_bits;
#else
    uint64_t mask = 0;
    for (int k = 0; k < 64; k += 8) {
        uint64_t flags;
        memcpy(&flags, touched + k, 8);
        mask |= (flags * 0x0102040810204080u >> 56) << k;
    }
    return mask;
#endif
}
