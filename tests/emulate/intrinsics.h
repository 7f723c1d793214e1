/* CUDA's built-in functions: barriers, collectives of a warp, bits, loads and stores, atomics, rounding. */
#pragma once

#include "emulate.h"

/* ---- barriers ---- */

static inline void __syncthreads() { emu_vote(false); }
static inline int __syncthreads_or(int predicate) { return emu_vote(predicate != 0); }
static inline int __syncthreads_and(int predicate) { return !emu_vote(predicate == 0); }
static inline void __syncwarp(unsigned mask = ~0u) { emu_collect("__syncwarp", mask, 0); }
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __nanosleep(unsigned) { emu_yield(); }

/* ---- shuffles ---- */

static inline unsigned emu_lane() { return threadIdx.x % 32; }

/* The value of lane `from`; this lane's own value if `from` is negative. */
template <typename T> static inline T emu_shuffle(const char *name, unsigned mask, T value, int from) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "words of 4 or 8 bytes are shuffled");
    unsigned long long bits = 0;
    memcpy(&bits, &value, sizeof value);
    const unsigned long long *values = emu_collect(name, mask, bits);
    if (from >= 0) {
        memcpy(&value, &values[from], sizeof value);
    }
    return value;
}
static inline void emu_check_shuffle(const char *name, unsigned reach, int width) {
    if (width < 1 || width > 32 || (width & (width - 1)) != 0) {
        emu_fail("%s among %d lanes: not a power of two up to 32", name, width);
    } else if (reach >= 32) {
        emu_fail("%s reaches %u lanes far: 31 is most", name, reach);
    }
}
template <typename T> static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    emu_check_shuffle("__shfl_sync", 0, width);
    const int lane = (int)emu_lane();
    return emu_shuffle("__shfl_sync", mask, value, lane / width * width + (int)((unsigned)source % (unsigned)width));
}
template <typename T> static inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
    emu_check_shuffle("__shfl_xor_sync", (unsigned)bits, width);
    const int lane = (int)emu_lane(), other = lane ^ bits;
    return emu_shuffle("__shfl_xor_sync", mask, value, other / width > lane / width ? -1 : other);
}
template <typename T> static inline T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
    emu_check_shuffle("__shfl_up_sync", by, width);
    const int lane = (int)emu_lane();
    return emu_shuffle("__shfl_up_sync", mask, value, lane % width >= (int)by ? lane - (int)by : -1);
}
template <typename T> static inline T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
    emu_check_shuffle("__shfl_down_sync", by, width);
    const int lane = (int)emu_lane();
    return emu_shuffle("__shfl_down_sync", mask, value, lane % width + (int)by < width ? lane + (int)by : -1);
}

/* ---- votes and sums of a warp ---- */

/* Folds the values of the lanes in the mask; a lane that has ended counts as `none`. */
template <typename Fold>
static inline unsigned emu_reduce(const char *name, unsigned mask, unsigned value, unsigned sum, Fold fold) {
    const unsigned long long *values = emu_collect(name, mask, value);
    for (int lane = 0; lane < 32; lane++) {
        if ((mask >> lane & 1) != 0 && values[lane] <= UINT32_MAX) { /* a lane that has ended has the pattern: larger */
            sum = fold(sum, (unsigned)values[lane], lane);
        }
    }
    return sum;
}
static inline unsigned __ballot_sync(unsigned mask, int predicate) {
    return emu_reduce("__ballot_sync", mask, predicate != 0, 0,
                      [](unsigned a, unsigned b, int lane) { return a | b << lane; });
}
static inline int __any_sync(unsigned mask, int predicate) {
    return emu_reduce("__any_sync", mask, predicate != 0, 0, [](unsigned a, unsigned b, int) { return a | b; }) != 0;
}
static inline int __all_sync(unsigned mask, int predicate) {
    return emu_reduce("__all_sync", mask, predicate != 0, 1, [](unsigned a, unsigned b, int) { return a & b; }) != 0;
}
static inline unsigned __match_any_sync(unsigned mask, unsigned value) {
    return emu_reduce("__match_any_sync", mask, value, 0,
                      [=](unsigned a, unsigned b, int lane) { return a | (unsigned)(b == value) << lane; });
}
static inline unsigned __reduce_or_sync(unsigned mask, unsigned value) {
    return emu_reduce("__reduce_or_sync", mask, value, 0, [](unsigned a, unsigned b, int) { return a | b; });
}
static inline unsigned __reduce_and_sync(unsigned mask, unsigned value) {
    return emu_reduce("__reduce_and_sync", mask, value, ~0u, [](unsigned a, unsigned b, int) { return a & b; });
}
static inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
    return emu_reduce("__reduce_add_sync", mask, value, 0, [](unsigned a, unsigned b, int) { return a + b; });
}
static inline unsigned __reduce_max_sync(unsigned mask, unsigned value) {
    return emu_reduce("__reduce_max_sync", mask, value, 0, [](unsigned a, unsigned b, int) { return a > b ? a : b; });
}
static inline unsigned __reduce_min_sync(unsigned mask, unsigned value) {
    return emu_reduce("__reduce_min_sync", mask, value, ~0u, [](unsigned a, unsigned b, int) { return a < b ? a : b; });
}

/* ---- bits and numbers ---- */

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x != 0 ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x != 0 ? __builtin_clzll((unsigned long long)x) : 64; }
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) { /* the upper word */
    return (unsigned)((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32);
}
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __brev(unsigned x) {
    unsigned y = 0;
    for (int bit = 0; bit < 32; bit++) {
        y |= (x >> bit & 1) << (31 - bit);
    }
    return y;
}
template <typename To, typename From> static inline To emu_bits_of(From from) {
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
static inline double __longlong_as_double(long long x) { return emu_bits_of<double>(x); }
static inline long long __double_as_longlong(double x) { return emu_bits_of<long long>(x); }
static inline float __int_as_float(int x) { return emu_bits_of<float>(x); }
static inline int __float_as_int(float x) { return emu_bits_of<int>(x); }
static inline float __fmul_rn(float a, float b) { return a * b; } /* with -ffp-contract=off */
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

template <typename A, typename B> static inline typename std::common_type<A, B>::type min(A a, B b) {
    typedef typename std::common_type<A, B>::type T;
    return (T)b < (T)a ? (T)b : (T)a;
}
template <typename A, typename B> static inline typename std::common_type<A, B>::type max(A a, B b) {
    typedef typename std::common_type<A, B>::type T;
    return (T)a < (T)b ? (T)b : (T)a;
}

/* ---- memory ---- */

template <typename T> static inline T __ldg(const T *from) { return *from; }
template <typename T> static inline T __ldcs(const T *from) { return *from; }
template <typename T> static inline T __ldcg(const T *from) { return *(const volatile T *)from; }
template <typename T> static inline void __stcs(T *to, T value) { *to = value; }
template <typename T, typename V> static inline void __stcg(T *to, V value) { *(volatile T *)to = (T)value; }

static inline uint32_t __umulhi(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }

/* Each returns the old value. */
template <typename T, typename V> static inline T atomicAdd(T *at, V value) {
    return __atomic_fetch_add(at, (T)value, __ATOMIC_SEQ_CST);
}
template <typename T, typename V> static inline T atomicOr(T *at, V value) {
    return __atomic_fetch_or(at, (T)value, __ATOMIC_SEQ_CST);
}
template <typename T, typename V> static inline T atomicAnd(T *at, V value) {
    return __atomic_fetch_and(at, (T)value, __ATOMIC_SEQ_CST);
}
template <typename T, typename V> static inline T atomicExch(T *at, V value) {
    return __atomic_exchange_n(at, (T)value, __ATOMIC_SEQ_CST);
}
template <typename T, typename C, typename V> static inline T atomicCAS(T *at, C compare, V value) {
    T old = (T)compare;
    __atomic_compare_exchange_n(at, &old, (T)value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return old;
}
template <typename T, typename V> static inline T atomicMax(T *at, V value) {
    T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    while (old < (T)value &&
           !__atomic_compare_exchange_n(at, &old, (T)value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return old;
}
template <typename T, typename V> static inline T atomicMin(T *at, V value) {
    T old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    while ((T)value < old &&
           !__atomic_compare_exchange_n(at, &old, (T)value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return old;
}
