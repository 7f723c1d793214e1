/* Tiles of pairs on a GPU, for the library's own statistics and for what `two-body generate` writes: code, because a
 * compiler makes a kernel of it for each function of a pair. A thread keeps R points of set a in registers, while
 * points of set b pass by in shared memory, C at a time. A team of threads takes a tile: a block, or a warp.
 *
 * SETS: types number and place, the constant DIM; points n_a and n_b; a_at(d) and b_at(d), their coordinates;
 * value(x, y) of a pair.
 * VISIT: take<N, MASKED>(values, in, j) gets the values of GROUP points of b from number j on and R points of a, that
 * of point k at q * R + k, and whether they count; end_chunk(pairs). UNROLL: of the loop over C. */
#pragma once

#include <stdint.h>
#include <string.h>

typedef unsigned long long pairs_u64; /* what atomic functions take */

enum pairs_team { PAIRS_BLOCK, PAIRS_WARP };
template <pairs_team TEAM> __device__ __forceinline__ int pairs_team_size() {
    return TEAM == PAIRS_WARP ? 32 : (int)blockDim.x;
}
template <pairs_team TEAM> __device__ __forceinline__ void pairs_team_sync() {
    if (TEAM == PAIRS_WARP) {
        __syncwarp();
    } else {
        __syncthreads();
    }
}

/* Visits the pairs of C points of b, which are in shared memory, and the R points of a thread. Their numbers begin at
 * `first` and at `row`. MASKED: a point of a counts below `rows`, and a point of b below `cols`. above: only pairs of
 * i <= j count. skip: a point does not count with itself. ONCE: above and skip are the same, and tiles are squares. */
template <int R, pairs_team TEAM, bool ONCE, bool MASKED, int C, typename SETS, typename VISIT>
__device__ __forceinline__ void pairs_chunk(const SETS &s, const typename SETS::place (*x)[SETS::DIM],
                                            const typename SETS::place (*shared)[C], int row, int rows, int first,
                                            int cols, bool above, bool skip, VISIT &visit) {
    typedef typename SETS::place place;
    constexpr int V = 16 / sizeof(place), GROUP = VISIT::GROUP < V ? VISIT::GROUP : V;
#pragma unroll(MASKED ? 1 : VISIT::UNROLL)
    for (int j = 0; j < C; j += V) {
        place at[SETS::DIM][V];
#pragma unroll
        for (int d = 0; d < SETS::DIM; d++) {
            const uint4 words = *(const uint4 *)&shared[d][j];
            memcpy(at[d], &words, sizeof words);
        }
#pragma unroll
        for (int v = 0; v < V; v += GROUP) {
            typename SETS::number value[GROUP * R];
            bool in[GROUP * R];
#pragma unroll
            for (int q = 0; q < GROUP; q++) {
                const int col = first + j + v + q, last = above ? min(ONCE ? col : col + !skip, rows) : rows;
                const int end = col < cols ? last : 0;
                place y[SETS::DIM];
#pragma unroll
                for (int d = 0; d < SETS::DIM; d++) {
                    y[d] = at[d][v + q];
                }
#pragma unroll
                for (int k = 0; k < R; k++) {
                    const int i = row + k * pairs_team_size<TEAM>();
                    value[q * R + k] = s.value(x[k], y);
                    in[q * R + k] = !MASKED || (i < end && (ONCE || !skip || i != col));
                }
            }
            visit.template take<GROUP * R, MASKED>(value, in, first + j + v);
        }
    }
}

/* The points of a from number i on, R for each thread of the team, and side_j points of b from j on. */
template <int R, pairs_team TEAM, bool ONCE, int C, typename SETS, typename VISIT>
__device__ __forceinline__ void pairs_tile(const SETS &s, int64_t i, int64_t j, int64_t side_j, bool above, bool skip,
                                           typename SETS::place (*shared)[C], VISIT &visit) {
    const int threads = pairs_team_size<TEAM>(), side = R * threads, t = (int)threadIdx.x % threads;
    const int rows = (int)min(s.n_a - i, (int64_t)side), cols = (int)min(s.n_b - j, side_j);
    const int64_t shift = ONCE ? 0 : i - j; /* of the rows, counted from j on as the columns are */
    typename SETS::place x[R][SETS::DIM];
#pragma unroll
    for (int k = 0; k < R; k++) {
        const int row = t + k * threads;
#pragma unroll
        for (int d = 0; d < SETS::DIM; d++) {
            x[k][d] = row < rows ? s.a_at(d)[i + row] : 0;
        }
    }
    for (int first = 0; first < cols; first += C) {
        if (!ONCE && above && first + C <= shift) {
            continue;
        }
        pairs_team_sync<TEAM>();
        for (int c = t; c < C; c += threads) {
#pragma unroll
            for (int d = 0; d < SETS::DIM; d++) {
                shared[d][c] = first + c < cols ? s.b_at(d)[j + first + c] : 0;
            }
        }
        pairs_team_sync<TEAM>();
        const bool meet = (above || skip) && (ONCE || (first < shift + side && first + C > shift));
        if (!meet && rows == side && first + C <= cols) {
            pairs_chunk<R, TEAM, ONCE, false, C>(s, x, shared, t, rows, first, cols, false, false, visit);
        } else {
            const int by = meet ? (int)shift : 0;
            pairs_chunk<R, TEAM, ONCE, true, C>(s, x, shared, t + by, rows + by, first, cols, above && meet,
                                                skip && meet, visit);
        }
        visit.end_chunk(R * C);
    }
}

/* ---- the tiles of a call: squares; of one set, those on and above the diagonal ---- */

static inline pairs_u64 pairs_tiles(int64_t n_a, int64_t n_b, bool self, int64_t side) {
    const pairs_u64 rows = (pairs_u64)((n_a + side - 1) / side), cols = (pairs_u64)((n_b + side - 1) / side);
    return self ? rows * (rows + 1) / 2 : rows * cols;
}

/* Tile p of them, which have `rows` rows. */
__device__ inline void pairs_find_tile(pairs_u64 rows, bool self, pairs_u64 p, int64_t *row, int64_t *col) {
    if (!self) {
        *col = (int64_t)(p / rows);
        *row = (int64_t)(p % rows);
        return;
    }
    pairs_u64 j = (pairs_u64)((sqrt(8.0 * (double)p + 1) - 1) * 0.5); /* may be one off */
    j += (j + 1) * (j + 2) / 2 <= p;
    j -= j * (j + 1) / 2 > p;
    *col = (int64_t)j;
    *row = (int64_t)(p - j * (j + 1) / 2);
}

/* Threads of a block for tiles of R points a thread: fewer if there are few points, so that all multiprocessors work.
 * A tile is no smaller than a chunk of C points. */
static inline int pairs_threads(int64_t n_a, int64_t n_b, bool self, int R, int C, int most, int sms) {
    int nt = most;
    while (nt / 2 >= 32 && nt / 2 * R >= C &&
           pairs_tiles(n_a, n_b, self, (int64_t)nt * R) < 8 * (pairs_u64)(unsigned)sms) {
        nt /= 2;
    }
    return nt;
}

/* ---- counting what is within a limit ---- */

/* above += value > limit. Numbers from 0 up order as their bits do, so the carry of value + ~limit is the comparison,
 * and two carries are added at once: 1.5 instructions a pair. */
#ifdef __CUDACC__
__device__ __forceinline__ void pairs_add_if_above(unsigned &above, float value, float limit) {
    asm("{\n\t.reg .u32 sum;\n\tadd.cc.u32 sum, %1, %2;\n\taddc.u32 %0, %0, 0;\n\t}"
        : "+r"(above)
        : "r"(__float_as_uint(value)), "r"(~__float_as_uint(limit)));
}
__device__ __forceinline__ void pairs_add_if_above(unsigned &above, double value, double limit) {
    asm("{\n\t.reg .u32 sum;\n\tadd.cc.u32 sum, %1, %3;\n\taddc.cc.u32 sum, %2, %4;\n\taddc.u32 %0, %0, 0;\n\t}"
        : "+r"(above)
        : "r"(__double2loint(value)), "r"(__double2hiint(value)), "r"(~__double2loint(limit)),
          "r"(~__double2hiint(limit)));
}
#endif
template <typename T> __device__ __forceinline__ void pairs_add_if_above(unsigned &above, T value, T limit) {
    above += value > limit;
}

/* The pairs within each of LIMITS limits. One limit has a counter for each of the R points of a thread, so that sums do
 * not wait for each other. */
template <typename number, int R, int LIMITS> struct pairs_counting {
    enum { GROUP = 4, UNROLL = sizeof(number) == 4 && LIMITS == 1 ? 2 : 1, SUMS = LIMITS == 1 ? R : 1 };
    number limits[LIMITS];
    unsigned above[LIMITS][SUMS];
    pairs_u64 within[LIMITS];

    __device__ explicit pairs_counting(const number *limits_) {
#pragma unroll
        for (int s = 0; s < LIMITS; s++) {
            limits[s] = limits_[s];
            within[s] = 0;
            for (int k = 0; k < SUMS; k++) {
                above[s][k] = 0;
            }
        }
    }
    template <int N, bool MASKED>
    __device__ __forceinline__ void take(const number (&value)[N], const bool (&in)[N], int) {
#pragma unroll
        for (int q = 0; q < N; q++) {
#pragma unroll
            for (int s = 0; s < LIMITS; s++) {
                if (MASKED) {
                    above[s][q % SUMS] += !in[q] || !(value[q] <= limits[s]);
                } else {
                    pairs_add_if_above(above[s][q % SUMS], value[q], limits[s]);
                }
            }
        }
    }
    __device__ __forceinline__ void end_chunk(int pairs) {
#pragma unroll
        for (int s = 0; s < LIMITS; s++) {
            within[s] += (pairs_u64)pairs;
#pragma unroll
            for (int k = 0; k < SUMS; k++) {
                within[s] -= above[s][k];
                above[s][k] = 0;
            }
        }
    }
};
