/* Packets: two cache lines with some elements T and their places L inside a bin, filled one item after the other and
 * written to memory together. I is an index; NAME names the functions. Included by kernels.c. */
#define ITEMS ((int)PACKET_ITEMS(T, L))
#define LOCAL_AT (ITEMS * (int)sizeof(T))

/* Cuts a share of positions into bins, stably. */
static inline void NAME(cut_share)(const lsp_packet_job *job, bool careful) {
    const T *from = job->from;
    const I *index = job->index;
    const int shift = job->shift;
    const uint64_t inside = ((uint64_t)1 << shift) - 1;
    for (int64_t i = 0; i < job->n; i++) {
        const uint64_t x = (uint64_t)index[i], bin = x >> shift;
        if (careful && x >= (uint64_t)job->extent) {
            continue;
        }
        char *packet = (char *)job->open + bin * PACKET_BYTES;
        uint16_t *filled = (void *)(packet + PACKET_FILLED_AT);
        const int k = *filled;
        ((T *)(void *)packet)[k] = from[i];
        ((L *)(void *)(packet + LOCAL_AT))[k] = (L)(x & inside);
        *filled = (uint16_t)(k + 1);
        if (k == ITEMS - 1) {
            *filled = 0;
            stream_packet((char *)job->packets + job->next[bin]++ * PACKET_BYTES, packet);
        }
    }
    lsp_gather_stream_end();
    for (int64_t bin = 0; bin < job->bins; bin++) { /* packets that are not full */
        const char *packet = (const char *)job->open + bin * PACKET_BYTES;
        memcpy((char *)job->packets + job->next[bin] * PACKET_BYTES, packet, PACKET_BYTES);
    }
}

static void NAME(cut)(const lsp_packet_job *job) {
    if (job->careful) {
        NAME(cut_share)(job, true);
    } else {
        NAME(cut_share)(job, false);
    }
}
#undef ITEMS
#undef LOCAL_AT
