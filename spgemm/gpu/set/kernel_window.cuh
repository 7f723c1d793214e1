/* Fills rows of many products in few columns near each other (grids, finite elements). Once the columns are marked in a
 * window and ranked, values are added at their ranks, one entry of A after the other, all columns of a row of B at
 * once: so every sum grows in the order of A's entries. Rows of a group of repeats (kernel_repeats.cuh) have their
 * products at the same ranks, which are found once for all of them. If rows are few, two warps share a row, each with
 * half of its entries, so that enough loads are in flight. Taken where the row fitted a window when it was counted, has
 * at most LSP_COLLECT_MOST entries, and each sums LSP_COLLECT_FROM products or more (lsp_fill_bin). */
#pragma once

#include "window.cuh"

/* The sums of R rows of C, n each. Two rows lie interleaved, so that one access reads a sum of both; an odd number of
 * rows lies interleaved one by one. */
template <typename V, int R> struct window_sums {
    struct alignas(sizeof(V) < 16 ? 2 * sizeof(V) : 16) two {
        V x, y;
    };
    V *at;
    uint32_t n;

    __device__ V *of(uint32_t row, uint32_t k) const {
        return R % 2 ? at + (k * R + row) : at + ((row / 2 * n + k) * 2 + row % 2);
    }
    __device__ void get(uint32_t k, V x[R]) const {
#pragma unroll
        for (int r = 0; r < R; r += R % 2 ? 1 : 2) {
            if constexpr (R % 2) {
                x[r] = at[k * R + r];
            } else {
                const two both = ((const two *)at)[r / 2 * n + k];
                x[r] = both.x, x[r + 1] = both.y;
            }
        }
    }
    __device__ void put(uint32_t k, const V x[R]) const {
#pragma unroll
        for (int r = 0; r < R; r += R % 2 ? 1 : 2) {
            if constexpr (R % 2) {
                at[k * R + r] = x[r];
            } else {
                ((two *)at)[r / 2 * n + k] = two{x[r], x[r + 1]};
            }
        }
    }
};

/* A's values at one entry, in each of the rows that are made together. */
template <typename V> struct alignas(16) window_factors { V of[WINDOW_TOGETHER]; };

/* The rows of a group of repeats that are made now. */
struct window_rows {
    uint32_t begin, entries; /* of the group's first row, in A */
    uint32_t first, count;   /* rows first .. first+count-1 of the group */
    uint32_t n;              /* entries of each row of C */
    int64_t to;              /* where the group begins in C */
};

/* Shared memory of a warp: A's values of a pack; sums, up to `most`. */
template <typename V> struct window_memory {
    window_factors<V> *factors;
    V *sums;
    uint32_t most;
};

/* How many of n repeats are made together: up to three; four two and two, which is faster than three and one. */
__device__ inline uint32_t window_share(uint32_t n) { return n == 4 ? 2 : min(n, 3u); }

/* What a lane loads for one step: a column of a row of B, and the values of B there. If rows of C are shifted (NEXT),
 * it loads one value for each; else one for each of the entries of A that are taken together. */
template <typename V> struct window_step {
    uint32_t column, entry, together;
    bool some;
    V b[WINDOW_TOGETHER];
};

/* Goes through a pack of A's entries for R rows of C. If NEXT, each row's columns are those of the row before plus one.
 * Else the rows have the same columns, and entries whose rows of B repeat each other are taken together. A lane beyond
 * the end of B's row loads its last entry again, without adding it. */
template <typename V, int R, bool NEXT, int WARPS, typename W> struct window_walk {
    const W &w;
    const window_part &part;
    const row_part part_of_b; /* the lane's entry of A leads to it; it lies in a row of `whole` entries */
    const uint32_t whole;
    const unsigned repeated; /* bit k: entry k's row of B has the same columns as the one before */
    const uint32_t count;
    const window_rows rows;
    /* the position: entry, entries taken with it, place in B's row, that row's length */
    uint32_t e, together, q, length;

    /* Loads the next step. Past the end, it loads a step without an entry. */
    __device__ void load(const spg_job &job, window_step<V> &step) {
        const uint32_t lane = threadIdx.x % WARP;
        const bool turn = q >= length;
        e += turn ? together : 0, q = turn ? 0 : q;
        const uint32_t from = __shfl_sync(~0u, part_of_b.at, e % WARP);
        length = __shfl_sync(~0u, part_of_b.length, e % WARP);
        const uint32_t stride = WARPS > 1 ? __shfl_sync(~0u, whole, e % WARP) : length; /* to the next row of B */
        together = NEXT ? 1 : window_share((uint32_t)__ffs((int)~(repeated >> e % WARP >> 1)));
        step.entry = e, step.together = together, step.some = q + lane < length;
        if (e < count && length > 0) {
            const uint32_t at = from + min(q + lane, length - 1);
            step.column = __ldg(job.B.col + at);
#pragma unroll
            for (uint32_t t = 0; t < (NEXT ? R : 3); t++) {
                if (NEXT) {
                    step.b[t] = value_at<V>(job.B, at + (rows.first + min(t, rows.count - 1)) * stride);
                } else if (t == 0 || t < together) {
                    step.b[t] = value_at<V>(job.B, at + t * stride);
                }
            }
        }
        q += WARP;
    }

    __device__ void add(const spg_job &job, const window_step<V> &step, const window_factors<V> *factors,
                        const window_sums<V, R> &sums) const {
        if (step.some) {
            const uint32_t place = w.rank(step.column) - (WARPS > 1 ? part.first : 0);
            V x[R];
            sums.get(place, x);
#pragma unroll
            for (uint32_t t = 0; t < (NEXT ? 1 : 3); t++) {
                if (t == 0 || t < step.together) {
                    const window_factors<V> a = factors[step.entry + t];
#pragma unroll
                    for (uint32_t r = 0; r < R; r++) {
                        x[r] = add_times(job, a.of[r], step.b[NEXT ? r : t], x[r]);
                    }
                }
            }
            sums.put(place, x);
        }
        __syncwarp();
    }
};

/* Adds all products of a pack, entry by entry. While one step is added, the next two are loaded. */
template <typename V, int R, bool NEXT, int WARPS, typename W>
__device__ inline void window_add_pack(const spg_job &job, window_walk<V, R, NEXT, WARPS, W> walk,
                                       const window_factors<V> *factors, const window_sums<V, R> &sums) {
    window_step<V> steps[3];
    walk.load(job, steps[0]);
    walk.load(job, steps[1]);
    for (;;) {
#pragma unroll
        for (int k = 0; k < 3; k++) {
            if (steps[k].entry >= walk.count) {
                return;
            }
            walk.load(job, steps[(k + 2) % 3]);
            walk.add(job, steps[k], factors, sums);
        }
    }
}

/* Makes the warp's share of R rows of a group. If fewer rows are left, rows.count says so, and the surplus repeats the
 * last one. */
template <typename V, int R, bool NEXT, int WARPS, typename W>
__device__ inline void window_make(const spg_job &job, const W &w, const window_part &part, const window_rows &rows,
                                   const window_memory<V> &memory) {
    const uint32_t lane = threadIdx.x % WARP, end = rows.begin + rows.entries;
    const window_sums<V, R> sums = {memory.sums + R * part.first, part.n};
    __syncwarp();
    for (uint32_t k = lane; k < R * part.n; k += WARP) {
        sums.at[k] = value_kind<V>::nothing(job);
    }
    for (uint32_t p = rows.begin; p < end; p += WARP) {
        const row_part whole = row_of_entry(job, p + lane, end);
        const row_part its = WARPS > 1 ? part_of_row(job, whole, part.low, part.high) : whole;
        const unsigned repeated = NEXT ? 0 : repeated_entries(job, p + lane, end);
        if (p + lane < end) {
#pragma unroll
            for (uint32_t r = 0; r < R; r++) {
                const uint32_t row = rows.first + min(r, rows.count - 1);
                memory.factors[lane].of[r] = value_at<V>(job.A, p + lane + row * rows.entries);
            }
        }
        __syncwarp();
        const uint32_t count = min(end - p, (uint32_t)WARP);
        window_add_pack<V, R, NEXT, WARPS, W>(job, {w, part, its, whole.length, repeated, count, rows, 0, 0, 0, 0},
                                              memory.factors, sums);
        __syncwarp();
    }
    for (uint32_t r = 0; r < rows.count; r++) {
        for (uint32_t k = lane; k < part.n; k += WARP) {
            put_value<V>(job, rows.to + (int64_t)(rows.first + r) * rows.n + part.first + k, canonical(*sums.of(r, k)));
        }
    }
}

/* Makes one row if B may have a column twice in a row: the first of equal columns adds them all. */
template <typename V, typename W>
__device__ inline void window_make_duplicates(const spg_job &job, const W &w, uint32_t begin, uint32_t end, int64_t to,
                                              uint32_t n, V *sums) {
    const uint32_t lane = threadIdx.x % WARP;
    __syncwarp();
    for (uint32_t k = lane; k < n; k += WARP) {
        sums[k] = value_kind<V>::nothing(job);
    }
    __syncwarp();
    for (uint32_t p = begin; p < end; p++) {
        const row_part row = row_of_entry(job, p, end);
        const uint32_t *col = job.B.col + row.at;
        const V a = value_at<V>(job.A, p);
        for (uint32_t q = lane; q < row.length; q += WARP) {
            const uint32_t column = __ldg(col + q);
            if (q > 0 && __ldg(col + q - 1) == column) {
                continue;
            }
            V *sum = sums + w.rank(column);
            for (uint32_t k = q; k < row.length && __ldg(col + k) == column; k++) {
                *sum = add_times(job, a, value_at<V>(job.B, row.at + k), *sum);
            }
        }
        __syncwarp();
    }
    for (uint32_t k = lane; k < n; k += WARP) {
        put_value<V>(job, to + k, canonical(sums[k]));
    }
}

/* Makes the warp's share of a group of `repeats` rows. If `next`, each row's columns are those of the row before plus
 * one; else they are the same. */
template <typename V, int WARPS, typename W>
__device__ inline void window_make_repeats(const spg_job &job, const W &w, const window_part &part, bool next,
                                           uint32_t repeats, window_rows rows, const window_memory<V> &memory) {
    for (; rows.first < repeats; rows.first += rows.count) {
        const uint32_t left = repeats - rows.first;
        if (next && left > 2 && 4 * rows.n <= memory.most) {
            rows.count = min(left, 4u);
            window_make<V, 4, true, WARPS>(job, w, part, rows, memory);
        } else if (next) {
            rows.count = min(left, 2u);
            window_make<V, 2, true, WARPS>(job, w, part, rows, memory);
        } else {
            rows.count = 3 * rows.n <= memory.most ? window_share(left) : min(left, 2u);
            if (rows.count == 3) {
                window_make<V, 3, false, WARPS>(job, w, part, rows, memory);
            } else if (rows.count == 2) {
                window_make<V, 2, false, WARPS>(job, w, part, rows, memory);
            } else {
                window_make<V, 1, false, WARPS>(job, w, part, rows, memory);
            }
        }
        window_sync<WARPS>(); /* the next rows' sums have another layout */
    }
}

/* Fills rows of at most MOST entries, each by a block of WARPS warps, as many blocks as shared memory allows. W: the
 * kind of window. */
template <typename V, int MOST, int WARPS, typename W>
__global__ void __launch_bounds__(WARP *WARPS, WARPS > 1              ? WINDOW_SHARED
                                               : MOST <= WINDOW_SMALL ? WINDOW_SMALL_BLOCKS
                                                                      : 16)
    kernel_window_fill(spg_job job, spg_list list, window_shape shape) {
    LSP_DYNAMIC_SHARED(memory);
    const uint32_t warp = WARPS > 1 ? threadIdx.x / WARP : 0, value_bytes = value_kind<V>::valued ? sizeof(V) : 0;
    const uint32_t row = list_row(list, blockIdx.x), begin = job.A.rowptr[row], end = job.A.rowptr[row + 1];
    const int64_t to = job.rowptr[row];
    const uint32_t n = (uint32_t)(job.rowptr[row + 1] - to), repeats = repeat_length(job, row);
    const bool next = repeats > 1 && job.groups[row + 1] == LSP_GROUPS_REPEAT_NEXT;
    W w = W::at(memory);
    w.slots = (window_slot *)(memory + shape.pool(value_bytes)),
    w.slot_of = (decltype(w.slot_of))(w.slots + shape.slots());
    lsp_let_next_begin();
    if (!w.open(job, begin, end)) { /* never true: the bins see to it */
        return;
    }
    window_sync<WARPS>();
    window_mark<WARPS, false>(job, begin, end, w);
    window_sync<WARPS>();
    uint32_t *columns = (uint32_t *)memory;
    if (warp == 0) {
        w.template order<MOST>(job, columns);
    }
    window_sync<WARPS>();
    w.read_order();
    for (uint32_t r = 0; r < repeats; r++) {
        for (uint32_t k = threadIdx.x; k < n; k += WARP * WARPS) {
            put_col(job, to + (int64_t)r * n + k, columns[k] + (next ? r : 0));
        }
    }
    if constexpr (value_kind<V>::valued) {
        V *sums = (V *)memory;
        const uint32_t first = n * warp / WARPS, after = n * (warp + 1) / WARPS;
        const window_part part = {first, after - first, WARPS > 1 && first < n ? columns[first] : 0,
                                  WARPS > 1 && after < n ? columns[after] : ~0u};
        window_sync<WARPS>();
        if (job.duplicates) {
            if (warp == 0) {
                window_make_duplicates<V>(job, w, begin, end, to, n, sums);
            }
        } else {
            const window_memory<V> shared = {(window_factors<V> *)(sums + shape.sums) + warp * WARP, sums, shape.sums};
            window_make_repeats<V, WARPS>(job, w, part, next, repeats, {begin, end - begin, 0, 0, n, to}, shared);
        }
    }
    lsp_end_after_previous();
}
