/* The rules of the set-up: what is computed for one row, node or aggregate. multigrid.h lists them. cpu/ calls a rule
 * for all of them in a loop, gpu/ in a kernel. A rule reads nothing that the same pass writes elsewhere, its sums have
 * one order, and no compiler may fuse a multiplication and an addition (-ffp-contract=off, --fmad=false); so both give
 * the same bits. */
#pragma once

#include "multigrid.h"

#include <math.h>

LSP_BEGIN_DECLS

#define LSP_RULE LSP_BOTH_SIDES static inline __attribute__((always_inline))

/* ---- reading, with constant types: one load each ---- */

/* The entries of row i of s->A: k from LSP_BEGIN to LSP_END - 1; their columns and values. */
#define LSP_BEGIN(i) lsp_index_at(s->A.rowptr, rows, (i))
#define LSP_END(i) lsp_index_at(s->A.rowptr, rows, (i) + 1)
#define LSP_COL(k) lsp_index_at(s->A.col, cols, (k))
#define LSP_VAL(k) lsp_solve_value(vals, s->A.val, (k))
#define LSP_DEFINE_RULE(name)                                                                                          \
    LSP_RULE lsp_two lsp_rule_##name(const lsp_setup *s, lsp_type rows, lsp_type cols, lsp_type vals, int64_t i)
/* Not every rule reads all types. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define LSP_NO_SUM ((lsp_two){0, 0})

LSP_RULE uint64_t lsp_rule_hash(uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdULL;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ULL;
    return x ^ x >> 33;
}

/* ---- values ---- */

/* inverse = 1 / diagonal, or 0 for a diagonal up to factor * from, which is rounding. Sums: those below the negative of
 * that, NaN included; without `from` those not positive. */
LSP_DEFINE_RULE(INVERT) {
    const double d = lsp_solve_value(s->diagonal_type, s->diagonal, i), floor = s->from ? s->factor * s->from[i] : 0;
    lsp_solve_set_value(s->type, s->inverse, i, d > floor ? 1 / d : 0);
    const bool bad = s->from ? !(d >= -floor) : !(d > 0 && d - d == 0);
    return (lsp_two){bad ? 1.0 : 0.0, 0};
}

/* to = the sum of r^2 * from over row i of R, s->A; `from` NULL: the diagonal. That is the size of the terms whose sum
 * is diagonal entry i of the next level. */
LSP_DEFINE_RULE(WEIGH) {
    double sum = 0;
    for (int64_t k = LSP_BEGIN(i), end = LSP_END(i); k < end; k++) {
        const double r = LSP_VAL(k);
        sum += r * r * (s->from ? s->from[LSP_COL(k)] : 1 / lsp_solve_value(s->type, s->inverse, LSP_COL(k)));
    }
    s->to[i] = sum;
    return LSP_NO_SUM;
}

/* A vector of random numbers between -1 and 1. */
LSP_DEFINE_RULE(SEED) {
    s->to[i] = (double)(lsp_rule_hash((uint64_t)i + 1) >> 11) * 0x1p-52 - 1;
    return LSP_NO_SUM;
}

/* to = D^-1 A from - from. Sums: from * D from, from * D to. */
LSP_DEFINE_RULE(KRYLOV) {
    const double inverse = lsp_solve_value(s->type, s->inverse, i), x = s->from[i];
    double sum = 0;
    for (int64_t k = LSP_BEGIN(i), end = LSP_END(i); k < end; k++) {
        sum += LSP_VAL(k) * s->from[LSP_COL(k)];
    }
    const double y = inverse * sum - x, weight = inverse > 0 ? x / inverse : 0;
    s->to[i] = y;
    return (lsp_two){weight * x, weight * y};
}

/* Row i of P, which holds A*T: P = T - factor * D^-1 A T. T is s->A. */
LSP_DEFINE_RULE(SMOOTH) {
    const lsp_csr *P = &s->P;
    const double factor = -s->factor * lsp_solve_value(s->type, s->inverse, i);
    int64_t t = LSP_BEGIN(i);
    const int64_t end = LSP_END(i), last = lsp_index_at(P->rowptr, P->rowptr_type, i + 1);
    for (int64_t k = lsp_index_at(P->rowptr, P->rowptr_type, i); k < last; k++) {
        double value = factor * lsp_solve_value(P->val_type, P->val, k);
        if (t < end && LSP_COL(t) == lsp_index_at(P->col, P->col_type, k)) {
            value += LSP_VAL(t++);
        }
        lsp_solve_set_value(P->val_type, P->val, k, value);
    }
    return LSP_NO_SUM;
}

/* ---- strength ---- */

/* Node i of N, whose row pointers, columns and values are made from the rows of the node: columns are nodes, values are
 * |a|. N's rows are neither sorted nor without repeats. */
LSP_DEFINE_RULE(CONDENSE) {
    const int64_t b = s->block, end = LSP_BEGIN((i + 1) * b);
    lsp_index_set(s->P.rowptr, s->P.rowptr_type, i + 1, end);
    for (int64_t k = LSP_BEGIN(i * b); k < end; k++) {
        lsp_index_set(s->P.col, s->P.col_type, k, LSP_COL(k) / b);
        lsp_solve_set_value(LSP_F64, s->P.val, k, fabs(LSP_VAL(k)));
    }
    return LSP_NO_SUM;
}

/* Which entries of row i couple it: stays. Sums: entries that do not, but for the diagonal. */
LSP_DEFINE_RULE(STRONG) {
    const double own = s->factor > 0 ? s->factor * sqrt(fabs(lsp_solve_value(s->diagonal_type, s->diagonal, i))) : 0;
    int64_t weak = 0;
    for (int64_t k = LSP_BEGIN(i), end = LSP_END(i); k < end; k++) {
        const int64_t j = LSP_COL(k);
        const double limit = own > 0 ? own * sqrt(fabs(lsp_solve_value(s->diagonal_type, s->diagonal, j))) : 0;
        const bool stays = fabs(LSP_VAL(k)) > limit && j != i;
        s->stays[k] = stays;
        weak += !stays && j != i;
    }
    return (lsp_two){(double)weak, 0};
}

/* ---- aggregates: distance-2 independent sets (Kelley and Rajamanickam 2022). s->A is the graph; an entry on the
 * diagonal couples nothing ---- */

/* key: the state of a node in a set, or its priority in this round, which is between both. low: the least key of a node
 * and its neighbours. */
#define LSP_KEY_IN 0
#define LSP_KEY_OUT UINT64_MAX
#define LSP_KEY_SKIP (UINT64_MAX - 1) /* low: of a node that is not in the graph of this set */
#define LSP_LABEL_NONE ((int64_t)-1)
#define LSP_LABEL_ALONE ((int64_t)-2)

LSP_RULE uint64_t lsp_rule_key(const lsp_setup *s, int64_t i) {
    const uint64_t hash = lsp_rule_hash((uint64_t)i * 31 + (uint64_t)s->round * 1000003 + 1);
    return (hash >> s->id_bits << s->id_bits) + (uint64_t)i + 1; /* i + 1 < 2^id_bits - 2 */
}

/* Before the first set: a node without neighbours is alone, all others have no aggregate. */
LSP_DEFINE_RULE(ENTER) {
    s->label[i] = LSP_LABEL_ALONE;
    for (int64_t k = LSP_BEGIN(i), end = LSP_END(i); k < end; k++) {
        if (LSP_COL(k) != i) {
            s->label[i] = LSP_LABEL_NONE;
            break;
        }
    }
    return LSP_NO_SUM;
}

/* Before each set: nodes without an aggregate compete. */
LSP_DEFINE_RULE(COMPETE) {
    const bool in = s->label[i] == LSP_LABEL_NONE;
    s->key[i] = in ? lsp_rule_key(s, i) : LSP_KEY_OUT;
    s->low[i] = in ? 0 : LSP_KEY_SKIP;
    return LSP_NO_SUM;
}

/* First half of a round. A node beside one that is in the set rules out its neighbours from then on. */
LSP_DEFINE_RULE(LOW) {
    if (s->low[i] < LSP_KEY_SKIP) {
        uint64_t low = s->key[i];
        for (int64_t k = LSP_BEGIN(i), end = LSP_END(i); k < end; k++) {
            const uint64_t key = s->key[LSP_COL(k)];
            low = key < low ? key : low;
        }
        s->low[i] = low == LSP_KEY_IN ? LSP_KEY_OUT : low;
    }
    return LSP_NO_SUM;
}

/* Second half: a node is out if a node of the set is within two steps, in if its key is the least within two steps.
 * Sums: nodes that are neither. */
LSP_DEFINE_RULE(DECIDE) {
    const uint64_t key = s->key[i];
    if (key == LSP_KEY_IN || key == LSP_KEY_OUT) {
        return LSP_NO_SUM;
    }
    bool out = s->low[i] == LSP_KEY_OUT, in = s->low[i] == key;
    for (int64_t k = LSP_BEGIN(i), end = LSP_END(i); k < end && !out; k++) {
        const uint64_t low = s->low[LSP_COL(k)];
        out = low == LSP_KEY_OUT;
        in = in && low >= key; /* a neighbour that does not see the node, if A is unsymmetric, has a larger one */
    }
    s->key[i] = out ? LSP_KEY_OUT : in ? LSP_KEY_IN : lsp_rule_key(s, i);
    return (lsp_two){out || in ? 0.0 : 1.0, 0};
}

/* A root of the second set stays one only with two neighbours that have no aggregate. */
LSP_DEFINE_RULE(PRUNE) {
    int64_t free = 0;
    if (s->key[i] == LSP_KEY_IN) {
        for (int64_t k = LSP_BEGIN(i), end = LSP_END(i); k < end; k++) {
            const int64_t j = LSP_COL(k);
            free += j != i && s->label[j] == LSP_LABEL_NONE;
        }
        s->key[i] = free < 2 ? LSP_KEY_OUT : LSP_KEY_IN;
    }
    return LSP_NO_SUM;
}

/* The label of a node is its root: itself, or the first neighbour in the set. */
LSP_DEFINE_RULE(GATHER) {
    if (s->label[i] == LSP_LABEL_NONE) {
        int64_t root = s->key[i] == LSP_KEY_IN ? i : LSP_LABEL_NONE;
        for (int64_t k = LSP_BEGIN(i), end = LSP_END(i); k < end && root < 0; k++) {
            const int64_t j = LSP_COL(k);
            root = s->key[j] == LSP_KEY_IN ? j : root;
        }
        s->label[i] = root;
    }
    return LSP_NO_SUM;
}

/* The size of an aggregate, at its root: all its nodes are neighbours of the root. */
LSP_DEFINE_RULE(MEASURE) {
    int64_t size = 1;
    if (s->label[i] == i) {
        for (int64_t k = LSP_BEGIN(i), end = LSP_END(i); k < end; k++) {
            const int64_t j = LSP_COL(k);
            size += j != i && s->label[j] == i;
        }
    }
    s->size[i] = size;
    return LSP_NO_SUM;
}

/* joined: the label, or for a node without one that of the aggregate among its neighbours with the largest coupling for
 * its size; the lowest of equal ones. Only the first 64 neighbours count, which bounds the work of a long row. Without
 * such a neighbour, as in a matrix of unsymmetric structure, it becomes a root. */
LSP_DEFINE_RULE(JOIN) {
    int64_t best = s->label[i];
    double most = -1;
    if (best == LSP_LABEL_NONE) {
        const int64_t begin = LSP_BEGIN(i), all = LSP_END(i), end = all - begin > 64 ? begin + 64 : all;
        for (int64_t k = begin; k < end; k++) {
            const int64_t label = s->label[LSP_COL(k)];
            double sum = 0;
            for (int64_t other = begin; other < end && label >= 0; other++) {
                sum += s->label[LSP_COL(other)] == label ? fabs(LSP_VAL(other)) : 0;
            }
            sum = label >= 0 ? sum / (double)s->size[label] : -1;
            if (sum > most || (sum == most && label >= 0 && label < best)) {
                most = sum, best = label;
            }
        }
        best = best < 0 ? i : best;
    }
    s->joined[i] = best;
    return LSP_NO_SUM;
}

/* Counts, for prefix sums: roots, and nodes that are in an aggregate. */
LSP_DEFINE_RULE(COUNT) {
    s->offsets[i + 1] = s->joined[i] == i;
    s->places[i + 1] = s->joined[i] >= 0;
    return LSP_NO_SUM;
}

/* ---- prolongation ---- */

/* Row i of the matrix of nodes and aggregates (s->P), and the rows of T (s->T) for its unknowns. */
LSP_DEFINE_RULE(PLACE) {
    const int64_t place = s->places[i], b = s->block, v = s->vectors;
    const bool in = s->places[i + 1] > place;
    const int64_t aggregate = in ? s->offsets[s->joined[i]] : 0;
    lsp_index_set(s->P.rowptr, s->P.rowptr_type, i + 1, s->places[i + 1]);
    if (in) {
        lsp_index_set(s->P.col, s->P.col_type, place, aggregate);
    }
    for (int64_t u = 0; u < b; u++) {
        const int64_t first = (place * b + (in ? u : 0)) * v;
        lsp_index_set(s->T.rowptr, s->T.rowptr_type, i * b + u + 1, in ? first + v : first);
        for (int64_t c = 0; c < v && in; c++) {
            lsp_index_set(s->T.col, s->T.col_type, first + c, aggregate * v + c);
        }
    }
    return LSP_NO_SUM;
}

/* Where the rows of T for node k of the aggregates (s->A) begin, and the row of the near-null vectors. */
#define LSP_T_AT(k) (s->places[LSP_COL(k)] * s->block * s->vectors)
#define LSP_NULL_AT(k) (LSP_COL(k) * s->block * s->vectors)

/* The near-null vectors in aggregate i = Q R, by modified Gram-Schmidt in the order of its nodes. Q goes to T, R to the
 * near-null vectors of the next level. A vector that depends on those before it has a column of 0 in Q, a row of 0 in
 * R. Q is computed in `basis`, which has the layout of T. */
LSP_DEFINE_RULE(ORTHOGONAL) {
    const int64_t v = s->vectors, begin = LSP_BEGIN(i), end = LSP_END(i);
    double *coarse = s->to + i * v * v;
    for (int64_t c = 0; c < v; c++) {
        double before = 0, after = 0;
        for (int64_t k = begin; k < end; k++) {
            const double *from = s->from + LSP_NULL_AT(k);
            double *to = s->basis + LSP_T_AT(k);
            for (int64_t u = 0; u < s->block; u++) {
                to[u * v + c] = from[u * v + c];
                before += to[u * v + c] * to[u * v + c];
            }
        }
        for (int64_t p = 0; p < c; p++) {
            double dot = 0;
            for (int64_t k = begin; k < end; k++) {
                const double *q = s->basis + LSP_T_AT(k);
                for (int64_t u = 0; u < s->block; u++) {
                    dot += q[u * v + p] * q[u * v + c];
                }
            }
            for (int64_t k = begin; k < end; k++) {
                double *q = s->basis + LSP_T_AT(k);
                for (int64_t u = 0; u < s->block; u++) {
                    q[u * v + c] -= dot * q[u * v + p];
                }
            }
            coarse[p * v + c] = dot;
        }
        for (int64_t k = begin; k < end; k++) {
            const double *q = s->basis + LSP_T_AT(k);
            for (int64_t u = 0; u < s->block; u++) {
                after += q[u * v + c] * q[u * v + c];
            }
        }
        const bool kept = after > before * 1e-20; /* of squares: ten digits are lost */
        const double norm = kept ? sqrt(after) : 0, factor = kept ? 1 / norm : 0;
        for (int64_t p = c; p < v; p++) {
            coarse[p * v + c] = p == c ? norm : 0;
        }
        for (int64_t k = begin; k < end; k++) {
            double *q = s->basis + LSP_T_AT(k);
            for (int64_t u = 0; u < s->block; u++) {
                q[u * v + c] *= factor;
                lsp_solve_set_value(s->T.val_type, s->T.val, LSP_T_AT(k) + u * v + c, q[u * v + c]);
            }
        }
    }
    return LSP_NO_SUM;
}

/* The near-null vectors where the caller gives none: vector c is 1 in unknown c of each node. */
LSP_DEFINE_RULE(CONSTANT) {
    for (int64_t c = 0; c < s->vectors; c++) {
        s->to[i * s->vectors + c] = i % s->block == c;
    }
    return LSP_NO_SUM;
}

LSP_END_DECLS
