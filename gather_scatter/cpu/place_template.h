/* Cuts a share of positions into bins, stably. T is an element, I an index, L a place inside a bin; NAME names the
 * function. A bin collects a cache line of elements before it goes to memory, so that each line is written once and
 * whole. Included by kernels.c. */

static inline void NAME(bodily)(const lsp_place_job *job, bool careful, bool with_local) {
    enum { LINE_ITEMS = 64 / sizeof(T), LOCAL_ITEMS = 64 / sizeof(L) };
    const T *from = job->from;
    const I *index = job->index;
    T *values = job->values, *lines = job->lines;
    L *local = job->local, *local_lines = job->local_lines;
    int64_t *cursor = job->cursor;
    const int shift = job->shift;
    const uint64_t inside = ((uint64_t)1 << shift) - 1;
    for (int64_t i = 0; i < job->n; i++) {
        const uint64_t x = (uint64_t)index[i];
        if (careful && x >= (uint64_t)job->extent) {
            continue;
        }
        const int64_t bin = (int64_t)(x >> shift), at = cursor[bin];
        T *line = lines + bin * LINE_ITEMS;
        cursor[bin] = at + 1;
        line[at % LINE_ITEMS] = from[i];
        if (with_local) {
            L *local_line = local_lines + bin * LOCAL_ITEMS;
            local_line[at % LOCAL_ITEMS] = (L)(x & inside);
            if (at % LOCAL_ITEMS == LOCAL_ITEMS - 1) {
                stream_line(local + at - (LOCAL_ITEMS - 1), local_line);
            }
        }
        if (at % LINE_ITEMS == LINE_ITEMS - 1) {
            stream_line(values + at - (LINE_ITEMS - 1), line);
        }
    }
    lsp_gather_stream_end();
    for (int64_t bin = 0; bin < job->bins; bin++) { /* lines that are not full */
        const int64_t at = cursor[bin], part = at % LINE_ITEMS, local_part = at % LOCAL_ITEMS;
        memcpy(values + at - part, lines + bin * LINE_ITEMS, (size_t)part * sizeof(T));
        if (with_local) {
            memcpy(local + at - local_part, local_lines + bin * LOCAL_ITEMS, (size_t)local_part * sizeof(L));
        }
    }
}

static void NAME(place)(const lsp_place_job *job) {
    if (job->careful) {
        NAME(bodily)(job, true, job->local != NULL);
    } else if (job->local) {
        NAME(bodily)(job, false, true);
    } else {
        NAME(bodily)(job, false, false);
    }
}
