/* libsparse/sort/slab_place.h: the sizes of a slab sort, and where its items lie in shared memory. C11, or CUDA C++17.
 *
 * A slab is what a warp keeps in registers: 32 lanes of SLAB_ROWS items. A block sorts a tile of SLAB_THREADS x
 * SLAB_ROWS items. Shared memory holds the words of the items apart: first the first words of all items of the tile,
 * then the second words. Item e has place slab_place(e, rows) in each of these parts. */
#ifndef LIBSPARSE_SORT_SLAB_PLACE_H
#define LIBSPARSE_SORT_SLAB_PLACE_H

#ifdef __CUDACC__
#define SLAB_BOTH static __host__ __device__ constexpr
#elif defined(__cplusplus)
#define SLAB_BOTH static constexpr
#else
#define SLAB_BOTH static inline
#endif

/* Rows of a slab and threads of a block, for items of 1 to 8 words. A tile takes at most 32 KiB of shared memory. */
SLAB_BOTH int slab_rows(int words) { return words <= 2 ? 16 : words <= 4 ? 8 : 4; }
SLAB_BOTH int slab_threads(int words) { return words == 1 ? 512 : 256; }

/* Lanes that read consecutive items, and lanes that read item r of consecutive rows, use all 32 banks once: within 32
 * consecutive items, and over 32 rows, the places take each value modulo 32 once. */
SLAB_BOTH int slab_place(int e, int rows) { return e ^ (e / 32 & (rows - 1)); }

#undef SLAB_BOTH
#endif
