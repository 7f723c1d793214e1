/* libsparse/suffix_array.h: suffix arrays and what is made of them. Part of libsparse.h, which states the rules for all
 * functions. */
#ifndef LIBSPARSE_SUFFIX_ARRAY_H
#define LIBSPARSE_SUFFIX_ARRAY_H

#include "core.h"

LSP_BEGIN_DECLS

/* A text, or a set of strings that lie one after another. */
typedef struct lsp_text {
    int64_t n;        /* symbols of all strings */
    int symbol_bytes; /* 1, 2 or 4: symbols are unsigned numbers */
    const void *symbols;
    int64_t strings;       /* 0: one text; else string s has the symbols starts[s] .. starts[s+1] - 1 */
    const int64_t *starts; /* strings + 1 of them, on the host, never falling, from 0 to n */
    lsp_where where;       /* of the symbols and of the arrays made from it */
} lsp_text;

typedef enum lsp_suffix_method {
    LSP_SUFFIX_AUTO = 0, /* the library chooses */
    LSP_SUFFIX_DOUBLING, /* suffixes are sorted by their first symbols, then groups of equal ones again and again, by
                            twice as many symbols each time */
    LSP_SUFFIX_INDUCED   /* substrings between local minima are sorted and named, the text of names is sorted, and from
                            its order that of all suffixes follows in two passes. One text, on the CPU */
} lsp_suffix_method;

/* How a method is called: "doubling", "induced"; "?" for a number that is none. */
LSP_API const char *lsp_suffix_method_name(lsp_suffix_method method);

typedef struct lsp_suffix_options {
    lsp_suffix_method method; /* never changes the result */
    int64_t reserved[LSP_RESERVED];
} lsp_suffix_options;

typedef struct lsp_suffix_info {
    lsp_suffix_method method;
    char reason[160];      /* why */
    int64_t alphabet;      /* different symbols */
    int bits;              /* of the first keys */
    int rounds;            /* of doubling; or texts of names that were sorted */
    int64_t scratch_bytes; /* the most that the call held at a time, on its device */
    int64_t reserved[LSP_RESERVED];
} lsp_suffix_info;

/* Rules of this file:
 * - Suffix i begins at symbol i and ends where its string ends. Suffixes are ordered by their symbols; one that is the
 *   begin of another comes before it; equal ones, of different strings, are ordered by the numbers of their strings.
 *   Empty strings have no suffix.
 * - `type` is the type of a suffix array and of all arrays made from it: LSP_I32 or LSP_I64. LSP_I32 needs n < 2^31.
 * - A context of a GPU sorts there, also a text of the host, of 2^31 - 1 symbols at most, in about 20 n bytes beside
 *   text and array (23 n if most suffixes share their first symbols and the budget has them; 21 n and more for
 *   alphabets beyond 16 bits); the result is the same. Other calls work where the arrays lie.
 * - A suffix array that comes from the caller is only checked for values outside 0 .. n-1 (LSP_ERR_ARGUMENT); one that
 *   is wrong otherwise gives a wrong result. lsp_suffix_check tells. */

/* suffixes[r] = the r-th suffix of the text: n of them, beside the text. On a GPU the call waits. options, info: may be
 * NULL.
 *     lsp_text text = {.n = n, .symbol_bytes = 1, .symbols = bytes};
 *     lsp_suffix_array(ctx, &text, NULL, LSP_I32, suffixes, NULL); */
LSP_API lsp_status lsp_suffix_array(lsp_ctx *ctx, const lsp_text *text, const lsp_suffix_options *options,
                                    lsp_type type, void *suffixes, lsp_suffix_info *info);

/* Returns LSP_OK if `suffixes` is the suffix array of the text; else LSP_ERR_FORMAT and the first place that is wrong.
 * Takes time in proportion to n. */
LSP_API lsp_status lsp_suffix_check(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes);

/* ranks[suffixes[r]] = r. Refuses an array that has a suffix twice. `where`: of both arrays. */
LSP_API lsp_status lsp_suffix_inverse(lsp_ctx *ctx, int64_t n, lsp_type type, const void *suffixes, lsp_where where,
                                      void *ranks);

/* lcp[r] = the number of first symbols that suffixes r-1 and r have in common; lcp[0] = 0. `lcp` may be `suffixes`. */
LSP_API lsp_status lsp_suffix_lcp(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, void *lcp);

/* The Burrows-Wheeler transform of one text (strings = 0): the symbols before the suffixes, in the order of the suffix
 * array, with an imagined end of the text as its first suffix. bwt gets n symbols: that of the end is the text's last
 * symbol; suffix 0 has none before it, is left out, and *primary is the place where it is missing, 1 .. n (0 if n is
 * 0). */
LSP_API lsp_status lsp_suffix_bwt(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, void *bwt,
                                  int64_t *primary);

/* The text of a transform. LSP_ERR_FORMAT if no text has this transform. */
LSP_API lsp_status lsp_suffix_unbwt(lsp_ctx *ctx, int64_t n, int symbol_bytes, const void *bwt, int64_t primary,
                                    lsp_where where, void *symbols);

/* Searches each string of `patterns` (a set; symbols as wide as the text's) in the text: the suffixes first[p] ..
 * first[p] + count[p] - 1 of the suffix array begin with pattern p. For one that does not occur first[p] is where it
 * would stand. An empty pattern occurs n times. first, count: a number for each pattern. All arrays lie together. */
LSP_API lsp_status lsp_suffix_search(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes,
                                     const lsp_text *patterns, int64_t *first, int64_t *count);

LSP_END_DECLS
#endif
