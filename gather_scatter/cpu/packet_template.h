/* Packets: two cache lines with some elements T and their places L inside a bin, filled one item after the other and
 * written to memory together. I is an index; NAME names the functions. Included by kernels.c. */
#define ITEMS ((int)PACKET_ITEMS(T, L))
#define LOCAL_AT (ITEMS * (int)sizeof(T))

/* Cuts a share of positions into bins, stably. A full packet goes to the bin's chunk; a full chunk is followed by a new
 * one. An index outside is left out. */
static void NAME(cut)(lsp_packet_job *job) {
    /* copies, because the compiler takes a store of an element for one that may change *job */
    const T *from = job->from;
    const I *index = job->index;
    char *open = job->open, *packets = job->packets;
    int64_t *next = job->next, *link = job->link, chunks = job->bins;
    const int64_t n = job->n;
    const uint64_t extent = (uint64_t)job->extent, inside = ((uint64_t)1 << job->shift) - 1;
    const int shift = job->shift;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t x = (uint64_t)index[i], bin = x >> shift;
        if (x >= extent) {
            job->bad = lsp_min(job->bad, i);
            continue;
        }
        char *packet = open + bin * PACKET_BYTES;
        uint16_t *filled = (void *)(packet + PACKET_FILLED_AT);
        const int k = *filled;
        ((T *)(void *)packet)[k] = from[i];
        ((L *)(void *)(packet + LOCAL_AT))[k] = (L)(x & inside);
        *filled = (uint16_t)(k + 1);
        if (k == ITEMS - 1) {
            const int64_t at = next[bin]++;
            *filled = 0;
            stream_packet(packets + at * PACKET_BYTES, packet);
            if (at % LSP_GATHER_CHUNK == LSP_GATHER_CHUNK - 1) {
                link[at / LSP_GATHER_CHUNK] = chunks;
                next[bin] = chunks++ * LSP_GATHER_CHUNK;
            }
        }
    }
    lsp_gather_stream_end();
    for (int64_t bin = 0; bin < job->bins; bin++) { /* packets that are not full, and know how many items they have */
        memcpy(packets + next[bin] * PACKET_BYTES, open + bin * PACKET_BYTES, PACKET_BYTES);
    }
}
#undef ITEMS
#undef LOCAL_AT
