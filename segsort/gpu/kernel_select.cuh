/* Selects the first items of long segments. The keys are read once. A team of warps takes a unit: a segment, or a part
 * of one. It finds a bound from a sample of the segment. Nearly always enough items lie up to the bound, and few more.
 * Each warp reads its part of the unit and moves the items up to the bound, in their order, to the temporary arrays.
 * The team that ends a segment's last unit joins the parts in the output and lists them for the class kernels. Data
 * decides the time, never the result: if too many items lie up to the bound, the team selects from them again. If too
 * few do, it reads the segment again with a higher bound, and at last halves the interval of bounds. */
#pragma once

#include "giant_shares.cuh"
#include "select_bound.cuh"

enum {
    SELECT_BLOCKS = 6,      /* resident blocks of a multiprocessor */
    SELECT_PART = 1 << 12,  /* items: a warp has at least about as many, if there are units enough */
    SELECT_LONG = 1 << 13,  /* items: segments that are longer on average get teams of several warps */
    SELECT_ROUNDS = 4,      /* samples of a segment, before bounds come by halves */
    SELECT_AGAIN = 1 << 13, /* items: parts that one team reads again have about as many */
    SELECT_TIMES = 4        /* a segment has more than so many times the wanted items */
};

/* How many units a segment has; lists them from unit `first` on. */
__device__ inline int select_units(const seg_job &job, int64_t n) { return (int)max(n / job.select_unit, (int64_t)1); }
__device__ inline void select_list(const seg_job &job, int64_t begin, int64_t n, int64_t first) {
    const int units = select_units(job, n);
    job.units_done[first] = 0;
    for (int u = 0; u < units; u++) {
        job.units[first + u] = {begin, n, first, u, units};
    }
}

/* ---- moving items ---- */

/* A value of `bytes` bytes, and how it is read past the L1 cache and written. */
struct select_value {
    ull low, high;
};
__device__ inline select_value select_get(const void *from, int64_t place, int bytes) {
    const ull *words = (const ull *)from;
    return bytes == 4   ? select_value{__ldcg((const uint32_t *)from + place), 0}
           : bytes == 8 ? select_value{__ldcg(words + place), 0}
                        : select_value{__ldcg(words + 2 * place), __ldcg(words + 2 * place + 1)};
}
__device__ inline void select_put(void *to, int64_t place, const select_value &value, int bytes) {
    if (bytes <= 8) {
        index_set(to, bytes == 8, place, (int64_t)value.low);
    } else {
        ((ull *)to)[2 * place] = value.low;
        ((ull *)to)[2 * place + 1] = value.high;
    }
}

/* The vectors of a part, if a segment has `parts`; the first item of part q, whose parts have `each` vectors. */
template <typename K> __device__ inline int64_t select_part(const K *keys, int64_t n, int64_t parts) {
    enum { V = SELECT_VECTOR / sizeof(K) };
    const int64_t vectors = (n + select_skew(keys) + V - 1) / V;
    return parts == 1 ? vectors : (vectors + parts - 1) / parts;
}
template <typename K> __device__ inline int64_t select_low(const K *keys, int64_t each, int64_t q) {
    return max(q * each * (int64_t)(SELECT_VECTOR / sizeof(K)) - select_skew(keys), (int64_t)0);
}

/* A warp's part of a segment: reads its keys in vectors, step by step, and moves those to be kept to the temporary
 * arrays, from the part's first place on. Places and vectors count from the part's first vector. */
template <typename KK, int TEAM> struct select_reader {
    typedef typename KK::K K;
    enum {
        V = select_shared<K, TEAM>::V,
        STEP = select_shared<K, TEAM>::STEP,
        EACH = SELECT_ROWS * V /* neighbouring keys that a lane tests */
    };
    const K *keys;                 /* of the part's first vector, which may begin before the segment does */
    uint4 *ring;                   /* of this warp, */
    uint16_t *queue;               /* and its queue */
    int64_t place;                 /* of keys[0] in the segment */
    int vectors, whole, low, high; /* the part's vectors; those before `whole` lie in the array; its items */
    int at, stage;                 /* the vector to fetch next; its stage of the ring */

    __device__ select_reader(const seg_job &job, select_shared<K, TEAM> &sh, const K *segment, int64_t begin, int64_t n,
                             int64_t q, int64_t each)
        : at(0), stage(0) {
        const int skew = select_skew(segment), warp = (int)threadIdx.x / WARP % TEAM;
        const int64_t first = q * each, rest = (n + skew + V - 1) / V - first;
        place = first * V - skew;
        keys = segment + place;
        vectors = (int)max(min(each, rest), (int64_t)0);
        low = first == 0 ? skew : 0;
        high = (int)min((int64_t)vectors * V, n - place);
        whole = begin + place < 0 ? 0 : (int)min((int64_t)vectors, (job.n - begin - place) / V);
        ring = sh.ring[warp][0];
        queue = sh.queue[warp];
    }

    /* Starts to copy the next step's vectors. */
    __device__ void fetch() {
        const int lane = (int)threadIdx.x % WARP;
        const K *from = keys + (at + lane) * V;
        uint4 *to = ring + stage * STEP + lane;
        if (at < vectors) {
#pragma unroll
            for (int r = 0; r < SELECT_ROWS; r++) {
                const int v = at + r * WARP + lane;
                if (v < whole) {
                    __pipeline_memcpy_async(to + r * WARP, from + r * WARP * V, SELECT_VECTOR);
                } else if (v < vectors) { /* it may reach beyond the array */
                    for (int k = 0; k < V; k++) {
                        ((K *)(to + r * WARP))[k] =
                            v * V + k >= low && v * V + k < high ? from[r * WARP * V + k] : (K)0;
                    }
                }
            }
        }
        copy_group();
        at += STEP;
        stage ^= 1;
    }

    /* Bit i: key i of the lane's EACH neighbouring keys is kept. now: the step's vectors; first: its first key. */
    __device__ uint32_t find(const seg_job &job, const uint4 *now, int first, const select_test<KK> &test) const {
        const int lane = (int)threadIdx.x % WARP;
        uint32_t pass = 0;
        if (test.how == select_test<KK>::FAST) {
#pragma unroll
            for (int r = 0; r < SELECT_ROWS; r++) {
                const int turn = (r + lane / 2) % SELECT_ROWS; /* so eight lanes' vectors are in different banks */
                const uint4 four = now[lane * SELECT_ROWS + turn];
                K key[V];
                memcpy(key, &four, sizeof four);
                uint32_t bits = 0;
#pragma unroll
                for (int k = 0; k < V; k++) {
                    bits |= test.has(key[k]) ? 1u << k : 0;
                }
                pass |= bits << turn * V;
            }
        } else if (test.how == select_test<KK>::EXACT) {
#pragma unroll 1
            for (int i = 0; i < EACH; i++) {
                pass |= KK::number(((const K *)now)[lane * EACH + i], job.order) <= test.exact ? 1u << i : 0;
            }
        } else {
            pass = test.how == select_test<KK>::ALL ? ~0u : 0;
        }
        const int from = max(low - first - lane * EACH, 0), to = min(high - first - lane * EACH, (int)EACH);
        return from < to ? pass & ~0u >> (32 - to) & ~0u << from : 0;
    }

    /* Reads the part, whose first step is being copied. Returns how many items are kept. from: FROM_*; begin: where the
     * segment does. */
    __device__ int read(const seg_job &job, const select_bound &bound, int from, int64_t begin) {
        const seg_arrays &source = job.arrays[from], &temporary = job.arrays[FROM_TEMPORARY];
        const int lane = (int)threadIdx.x % WARP, bytes = job.value_bytes;
        const bool made = job.positions && from == FROM_INPUT;
        const int64_t to = begin + place + low, base = place + (made && !job.global_positions ? 0 : begin);
        int beyond = (int)min(max(bound.place - place, (int64_t)-1), (int64_t)INT32_MAX); /* the last place up to it */
        select_test<KK> test(job, bound.number, false);
        int kept = 0;
        for (int step = 0; step < vectors; step += STEP) {
            const uint4 *now = ring + (stage ^ 1) * STEP;
            fetch();
            copy_wait<1>();
            __syncwarp();
            if (step * V > beyond) {
                test = select_test<KK>(job, bound.number, true);
                beyond = INT32_MAX;
            }
            const uint32_t pass = find(job, now, step * V, test);
            if (!__any_sync(~0u, pass != 0)) {
                continue;
            }
            const int count = __popc(pass), upto = warp_scan(count, lane), all = __shfl_sync(~0u, upto, WARP - 1);
            uint16_t *next = queue + (upto - count);
            for (uint32_t left = pass; left != 0; left &= left - 1) {
                *next++ = (uint16_t)(lane * EACH + __ffs((int)left) - 1);
            }
            __syncwarp();
            for (int i = lane; i < all; i += WARP) {
                const int item = queue[i];
                const int64_t where = to + kept + i, was = base + step * V + item;
                ((K *)temporary.keys)[where] = ((const K *)now)[item];
                if (made) {
                    index_set(temporary.values, bytes == 8, where, was);
                } else if (bytes > 0) {
                    select_put(temporary.values, where, select_get(source.values, was, bytes), bytes);
                }
            }
            __syncwarp();
            kept += all;
        }
        copy_wait<0>();
        return kept;
    }
};

/* ---- a segment ---- */

/* The places of the parts' kept items if they are joined: sh.at of parts q0, q0 + 1, ... Returns how many they have. */
template <typename K, int TEAM>
__device__ inline int64_t place_parts(select_shared<K, TEAM> &sh, volatile const int64_t *counts, int64_t q0,
                                      int64_t parts) {
    const int t = (int)threadIdx.x % (TEAM * WARP), lane = t % WARP, warp = t / WARP;
    const int64_t count = q0 + t < parts ? counts[q0 + t] : 0, sum = warp_scan(count, lane);
    int64_t before = 0, all = 0;
    select_sync<TEAM>();
    if (lane == WARP - 1) {
        sh.sums[warp] = sum;
    }
    select_sync<TEAM>();
#pragma unroll
    for (int w = 0; w < TEAM; w++) {
        before += w < warp ? sh.sums[w] : 0;
        all += sh.sums[w];
    }
    sh.at[t] = before + sum - count;
    select_sync<TEAM>();
    return all;
}

/* Joins the kept items of all parts in the output, from the segment's begin on. Each part has `each` vectors of the
 * keys. By the team. */
template <typename K, int TEAM>
__device__ inline void join_parts(const seg_job &job, select_shared<K, TEAM> &sh, const K *keys, int64_t each,
                                  int64_t begin, volatile const int64_t *counts, int64_t parts) {
    enum { NT = TEAM * WARP, AHEAD = 4 }; /* AHEAD: items that a thread reads before it writes any */
    const seg_arrays &temporary = job.arrays[FROM_TEMPORARY], &to = job.arrays[FROM_OUTPUT];
    int64_t before = begin;
    for (int64_t q0 = 0; q0 < parts; q0 += NT) {
        const int64_t total = place_parts(sh, counts, q0, parts);
        const int here = (int)min(parts - q0, (int64_t)NT);
        for (int64_t i0 = threadIdx.x % NT; i0 < total; i0 += AHEAD * NT) {
            select_value value[AHEAD];
            K key[AHEAD];
#pragma unroll
            for (int a = 0; a < AHEAD; a++) {
                const int64_t i = min(i0 + a * NT, total - 1);
                const int j = LSP_FIRST(1, here, next, sh.at[next] > i) - 1;
                const int64_t from = begin + select_low(keys, each, q0 + j) + i - sh.at[j];
                key[a] = __ldcg((const K *)temporary.keys + from);
                if (job.value_bytes > 0) {
                    value[a] = select_get(temporary.values, from, job.value_bytes);
                }
            }
#pragma unroll
            for (int a = 0; a < AHEAD; a++) {
                const int64_t i = i0 + a * NT;
                if (i < total) {
                    ((K *)to.keys)[before + i] = key[a];
                    if (job.value_bytes > 0) {
                        select_put(to.values, before + i, value[a], job.value_bytes);
                    }
                }
            }
        }
        before += total;
        select_sync<TEAM>();
    }
}

/* Lists the items that were kept of a segment, whose last unit is sh.unit. Before that, as long as too many or too few
 * were kept, this team alone does it again. */
template <typename KK, int TEAM>
__device__ inline void end_segment(const seg_job &job, select_shared<typename KK::K, TEAM> &sh,
                                   volatile int64_t *counts) {
    typedef typename KK::K K;
    const int64_t begin = sh.unit.begin;
    const int t = (int)threadIdx.x % (TEAM * WARP);
    int64_t n = sh.unit.n, parts = (int64_t)sh.unit.units * TEAM;
    int64_t each = select_part((const K *)job.arrays[FROM_INPUT].keys + begin, n, parts);
    int from = FROM_INPUT, round = 0, times = 1;
    if (t == 0) {
        sh.low = {0, -1};
        sh.high = {(K)-1, n - 1};
    }
    for (;;) {
        const K *keys = (const K *)job.arrays[from].keys + begin;
        int64_t kept = 0;
        for (int64_t q0 = 0; q0 < parts; q0 += TEAM * WARP) {
            kept += place_parts(sh, counts, q0, parts);
        }
        const bool many = kept > LIST_LONGEST, done = !many && kept >= job.first, together = done && parts == 1;
        if (kept >= job.first && !together) {
            join_parts(job, sh, keys, each, begin, counts, parts);
        }
        if (done) {
            if (t == 0) {
                const int c = class_of(job, (int)kept);
                job.list[c][atomicAdd(&job.counters->listed[c], 1ull)] =
                    entry_make(begin, together ? FROM_TEMPORARY : FROM_OUTPUT, kept);
            }
            return;
        }
        times = many ? 1 : 2 * times;
        if (many) {
            from = FROM_OUTPUT, n = kept;
        }
        if (t == 0 && many) {
            sh.high = {sh.bound.number, n - 1};
            sh.low.place = -1;
        } else if (t == 0) {
            sh.low = sh.bound;
        }
        keys = (const K *)job.arrays[from].keys + begin;
        select_sync<TEAM>();
        if (round++ < SELECT_ROUNDS) {
            sample_bound<KK>(job, sh, keys, begin, n, times, t);
        } else if (t == 0) {
            halve_bound(&sh.bound, &sh.low, sh.high, n);
        }
        select_sync<TEAM>();
        parts = min(parts, max(n / SELECT_AGAIN, (int64_t)TEAM));
        each = select_part(keys, n, parts);
        for (int64_t q = t / WARP; q < parts; q += TEAM) {
            select_reader<KK, TEAM> reader(job, sh, keys, begin, n, q, each);
            reader.fetch();
            const int kept_of_part = reader.read(job, sh.bound, from, begin);
            if (t % WARP == 0) {
                counts[q] = kept_of_part;
            }
        }
        select_sync<TEAM>();
    }
}

template <typename KK, int TEAM>
__global__ void __launch_bounds__(SELECT_NT, SELECT_BLOCKS) kernel_select(const __grid_constant__ seg_job job) {
    typedef typename KK::K K;
    enum { TEAMS = SELECT_NT / WARP / TEAM };
    __shared__ select_shared<K, TEAM> teams[TEAMS];
    select_shared<K, TEAM> &sh = teams[threadIdx.x / (TEAM * WARP)];
    const int t = (int)threadIdx.x % (TEAM * WARP);
    if (t == 0) {
        sh.next = (int64_t)blockIdx.x * TEAMS + threadIdx.x / (TEAM * WARP);
    }
    for (;;) {
        select_sync<TEAM>();
        if (sh.next >= (int64_t)job.counters->units) {
            return;
        }
        if (t == 0) {
            sh.unit = job.units[sh.next];
        }
        select_sync<TEAM>();
        const int64_t parts = (int64_t)sh.unit.units * TEAM, q = (int64_t)sh.unit.number * TEAM + t / WARP;
        const K *keys = (const K *)job.arrays[FROM_INPUT].keys + sh.unit.begin;
        const int64_t each = select_part(keys, sh.unit.n, parts);
        select_reader<KK, TEAM> reader(job, sh, keys, sh.unit.begin, sh.unit.n, q, each);
        reader.fetch();
        if (t == 0) {
            sh.next = (int64_t)atomicAdd(&job.counters->selected, 1ull) + (int64_t)gridDim.x * TEAMS;
        }
        sample_bound<KK>(job, sh, keys, sh.unit.begin, sh.unit.n, 1, t);
        const int kept = reader.read(job, sh.bound, FROM_INPUT, sh.unit.begin);
        const bool alone = sh.unit.units == 1;
        int64_t *counts = alone ? sh.counts : job.part_counts + sh.unit.first * TEAM;
        if (t % WARP == 0) {
            counts[q] = kept;
        }
        if (!alone) {
            __threadfence();
            select_sync<TEAM>();
            if (t == 0) {
                sh.last = atomicAdd(job.units_done + sh.unit.first, 1u) == (unsigned)sh.unit.units - 1;
                __threadfence();
            }
        }
        select_sync<TEAM>();
        if (alone || sh.last) {
            end_segment<KK>(job, sh, counts);
        }
    }
}

/* ---- the host's side ---- */

/* Segments longer than this are selected from; INT64_MAX: none. */
static int64_t select_shortest(const lsp_segsort_args *args, const lsp_segsort_table *table) {
    return args->first > 0 && args->first <= table->select_first
               ? lsp_max(table->select_shortest, args->first * SELECT_TIMES)
               : INT64_MAX;
}

/* The warps of a team; items of a unit; the most units. */
static int select_team(int64_t n, int64_t segments) { return n / lsp_max(segments, 1) > SELECT_LONG ? 4 : 1; }
static int64_t select_unit(int64_t n, int team, int sms) {
    return lsp_max(SELECT_PART * team, n * team / ((int64_t)SELECT_BLOCKS * sms * SELECT_NT / WARP));
}
static int64_t select_most_units(int64_t n, int64_t from, int64_t unit) { return n / from + n / unit; }

template <typename KK> static lsp_status start_select(lsp_ctx *ctx, const seg_job *job) {
    const int64_t most = select_most_units(job->n, job->select_from, job->select_unit);
    const int team = select_team(job->n, job->segments);
    const int64_t blocks =
        lsp_min(lsp_ceil_div(most * team, SELECT_NT / WARP), SELECT_BLOCKS * lsp_cuda_get_chip(ctx)->sms);
    void (*kernel)(seg_job) = team > 1 ? kernel_select<KK, 4> : kernel_select<KK, 1>;
    return LSP_LAUNCH(ctx, kernel, blocks, SELECT_NT, 0, *job);
}
