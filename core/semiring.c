/* The names of semirings. */
#include "semiring.h"

#define NAME(id, name, product, join, empty)                                                                           \
    case id:                                                                                                           \
        return name;

const char *lsp_semiring_name(lsp_semiring semiring) {
    switch (semiring) { LSP_EACH_SEMIRING(NAME) }
    return "?";
}
