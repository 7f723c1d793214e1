/* Even shares of some items, each for one thread. */
#include "job.h"

typedef struct sharing {
    int64_t n, shares;
    void (*do_share)(const void *data, const lsp_sort_share *share);
    const void *data;
} sharing;

static void do_one_share(void *data, int64_t number, int thread) {
    const sharing *s = data;
    lsp_sort_share share = {.number = number, .thread = thread};
    lsp_share(s->n, (int)number, (int)s->shares, &share.begin, &share.end);
    s->do_share(s->data, &share);
}

void lsp_sort_by_shares(const lsp_sort_job *job, int64_t n, int64_t shares,
                        void (*do_share)(const void *data, const lsp_sort_share *share), const void *data) {
    sharing s = {.n = n, .shares = shares, .do_share = do_share, .data = data};
    lsp_for_parts(job->ctx, shares, job->threads, do_one_share, &s);
}

typedef struct copying {
    const lsp_sort_job *job;
    const lsp_sort_place *place;
} copying;

static void copy_share(const void *data, const lsp_sort_share *share) {
    const copying *c = data;
    lsp_sort_place at = lsp_sort_place_at(&c->job->sort, c->place, share->begin);
    at.position = c->place->position + share->begin;
    lsp_sort_copy(&c->job->sort, &at, share->end - share->begin);
}

void lsp_sort_copy_by_shares(const lsp_sort_job *job, const lsp_sort_place *place, int64_t n) {
    lsp_sort_by_shares(job, n, job->threads, copy_share, &(copying){.job = job, .place = place});
}
