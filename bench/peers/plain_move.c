/* Gather and scatter as a plain parallel loop. The compiler may use gather instructions. */
#include "peers.h"

#define LOOP(type, target, source)                                                                                     \
    do {                                                                                                               \
        const type *from = args->columns->from;                                                                        \
        type *to = args->columns->to;                                                                                  \
        _Pragma("omp parallel for num_threads(threads) schedule(static)") for (int64_t i = 0; i < args->n; i++) {      \
            to[target] = from[source];                                                                                 \
        }                                                                                                              \
    } while (0)
#define BOTH(type)                                                                                                     \
    do {                                                                                                               \
        if (scatter) {                                                                                                 \
            LOOP(type, index[i], i);                                                                                   \
        } else {                                                                                                       \
            LOOP(type, i, index[i]);                                                                                   \
        }                                                                                                              \
    } while (0)

typedef struct sixteen {
    uint64_t half[2];
} sixteen;

static const char *plain(const lsp_gather_args *args, bool scatter, int threads, void *stream) {
    const int32_t *index = args->index;
    (void)stream;
    if (args->columns->bytes == 4) {
        BOTH(uint32_t);
    } else if (args->columns->bytes == 8) {
        BOTH(uint64_t);
    } else {
        BOTH(sixteen);
    }
    return NULL;
}

const peer_move peer_plain_move = {plain, PEER_C_LIBRARY};
