/* libsparse/semiring.h: the operations that may replace multiplication and addition. Part of libsparse.h, which states
 * the rules for all functions. */
#ifndef LIBSPARSE_SEMIRING_H
#define LIBSPARSE_SEMIRING_H

#include "core.h"

LSP_BEGIN_DECLS

/* A sum begins with its first product. If a product is NaN, min and max give NaN; among equal products they take the
 * first. */
typedef enum lsp_semiring {
    LSP_PLUS_TIMES = 0,
    LSP_MIN_PLUS = 1,  /* the least a + b: shortest paths */
    LSP_MAX_TIMES = 2, /* the largest a * b */
    LSP_OR_AND = 3,    /* 1 if both factors of a product are not 0, else 0: reachability. Any value but 0 counts as 1,
                          NaN too, also of a vector or matrix that joins the sum; the result is 0 or 1 */
    LSP_PLUS_PAIR = 4  /* the number of products: common neighbours, triangles. Counted exactly, rounded once */
} lsp_semiring;
enum { LSP_SEMIRINGS = 5 }; /* they are 0 to LSP_SEMIRINGS - 1 */

/* "plus-times", "min-plus" and so on: the names that spgemm-cli takes; "?" for a number that is no semiring. */
LSP_API const char *lsp_semiring_name(lsp_semiring semiring);

LSP_END_DECLS
#endif
