/* Plans of transposes and sums: where each entry of a result comes from, once for many values. */
#pragma once

#include "core/core.h"

LSP_BEGIN_DECLS

/* A place is the number of an entry: uint32_t, or uint64_t if the plan is `wide`. Sorts and transposes move an array of
 * places as if it held values of this type. */
LSP_BOTH_SIDES static inline lsp_type lsp_place_type(bool wide) { return wide ? LSP_F64 : LSP_F32; }
static inline size_t lsp_place_bytes(bool wide) { return wide ? sizeof(uint64_t) : sizeof(uint32_t); }
static inline bool lsp_place_is_wide(int64_t entries) { return entries > (int64_t)UINT32_MAX; }
LSP_BOTH_SIDES static inline int64_t lsp_place_at(const void *places, bool wide, int64_t k) {
    return wide ? ((const int64_t *)places)[k] : (int64_t)((const uint32_t *)places)[k];
}
LSP_BOTH_SIDES static inline void lsp_place_set(void *places, bool wide, int64_t k, int64_t place) {
    if (wide) {
        ((int64_t *)places)[k] = place;
    } else {
        ((uint32_t *)places)[k] = (uint32_t)place;
    }
}

/* Items counted by key, each part of them for itself: parts x keys places, which say then where the next item of a part
 * and a key goes: by key, by part, in their order. */
typedef struct lsp_counts {
    int64_t keys;
    int parts, shares; /* shares: of the keys, each for a thread */
    bool wide;
    void *counts;
    int64_t *sums;      /* room for shares + 1 */
    int64_t begin;      /* the first place */
    lsp_type ends_type; /* ends[key + 1] = the place behind those of a key */
    void *ends;
} lsp_counts;
static inline void *lsp_counts_of(const lsp_counts *c, int64_t part) {
    return (char *)c->counts + (size_t)part * (size_t)c->keys * lsp_place_bytes(c->wide);
}
/* _sum: returns the number of items. _place, behind it: turns counts into places, and sets ends[]. */
int64_t lsp_counts_sum(const lsp_ctx *ctx, lsp_counts *c);
void lsp_counts_place(const lsp_ctx *ctx, lsp_counts *c);

struct lsp_csr_transpose_plan {
    lsp_ctx *ctx; /* NULL: the context was destroyed */
    lsp_plan_life life;
    lsp_csr A; /* sizes and types only */
    lsp_csr B; /* row pointers and columns; the values, unless A is a pattern, are places in A */
    bool wide;
};

/* Entry c of C is the sum of the sources starts[c] .. starts[c+1]-1, in this order. A source below nnz(A) is an entry
 * of A; above, nnz(A) is to be subtracted, and it is one of B. */
typedef struct lsp_csr_sources {
    void *starts, *sources; /* places; NULL if C is a pattern */
    int64_t nnz_a;
    bool wide;
} lsp_csr_sources;

struct lsp_csr_add_plan {
    lsp_ctx *ctx; /* NULL: the context was destroyed */
    lsp_plan_life life;
    lsp_csr A, B; /* sizes and types only */
    lsp_csr C;    /* without values; row pointers and columns are NULL if `equal` */
    bool equal;   /* A, B and C have one pattern, whose rows ascend strictly: entry k of C is the sum of entries k */
    lsp_csr_sources from; /* all zero if `equal` */
};

/* lsp_csr_transpose_plan_create and lsp_csr_add_plan_create, with places of 64 bits even if 32 suffice. */
lsp_status lsp_csr_transpose_plan_as(lsp_ctx *ctx, const lsp_csr *A, bool wide, lsp_csr_transpose_plan **plan);
lsp_status lsp_csr_add_plan_as(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, bool wide, lsp_csr_add_plan **plan);

/* A without its arrays, as a plan remembers it. */
static inline lsp_csr lsp_csr_outline(const lsp_csr *A) {
    lsp_csr outline = *A;
    outline.rowptr = outline.col = outline.val = NULL;
    return outline;
}

/* The info of a plan whose results have nnz entries. */
lsp_status lsp_csr_tell_plan(const void *plan, int64_t nnz, const char *reason, lsp_csr_plan_info *info);

/* Checks the struct of A, and that it has the place, sizes and types of the matrix that the plan knows. */
lsp_status lsp_csr_check_planned(lsp_ctx *ctx, const char *name, const lsp_csr *planned, const lsp_csr *A);

/* C = a matrix with the row pointers and columns of S and the types of `types`; its values are not set. */
lsp_status lsp_csr_copy_structure(lsp_ctx *ctx, const lsp_csr *S, const lsp_csr *types, lsp_csr *C);

LSP_END_DECLS
