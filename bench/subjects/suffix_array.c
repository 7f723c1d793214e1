/* The subject suffix_array: the suffix array of a text. "dna/n24": random of 4 symbols, 2^24 of them; "period1000": a
 * random motif of 1000 symbols again and again, one symbol in 1000 replaced; "words": 50,000 random words by Zipf's
 * law; "fibonacci"; "equal"; "integers": random, 16 bits each. On a GPU text and array lie there. Every array is
 * checked whole, in linear time. */
#include "bench/harness.h"
#include "bench/peers/peers.h"
#include "growth.h"
#include "segments.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS(n) "dna/" n, "period1000/" n, "period65536/" n, "words/" n
static const char *const workloads[] = {TEXTS("n22"), TEXTS("n24"), "fibonacci/n24", "equal/n24", "integers/n24", NULL};
static const char *const gpu_workloads[] = {TEXTS("n24"), TEXTS("n27"),   "fibonacci/n24",
                                            "equal/n24",  "integers/n24", NULL};
static const char *const quick[] = {TEXTS("n16"), "fibonacci/n16", "equal/n16", "integers/n16", NULL};
static const char *const no_files[] = {NULL};

static const peer_suffixes *peer_at(int i) {
    const peer_suffixes *const all[] = {PEER_DIVSUFSORT(peer_divsufsort), PEER_LIBSAIS(peer_libsais)};
    return all[i];
}
enum { PEERS = 2 };
static const char *absent(int i) {
    static const char *const packages[PEERS] = {"libdivsufsort-dev", "libsais-dev"};
    for (int k = 0, missing = 0; k < PEERS; k++) {
        if (!peer_at(k) && missing++ == i) {
            return packages[k];
        }
    }
    return NULL;
}
static const char *version(bool on_gpu, int i, const char **who) {
    for (int k = 0, present = 0; k < PEERS && !on_gpu; k++) {
        if (peer_at(k) && present++ == i) {
            *who = peer_at(k)->who;
            return peer_at(k)->version;
        }
    }
    return NULL;
}

typedef struct race {
    bench *b;
    lsp_text text, there; /* on the host; where the library works */
    void *symbols;
    int32_t *suffixes, *suffixes_there;
    const peer_suffixes *peer[PEERS + 1]; /* by contender; NULL: the library */
} race;

/* ---- texts ---- */

static double draw_part(uint64_t seed, int64_t k) { return (double)(bench_draw(seed, k) >> 11) * 0x1p-53; }

/* Words of 2 to 10 letters, each followed by a space; word w is drawn with a weight of about 1 / (w + 1). */
static void put_words(unsigned char *to, int64_t n) {
    enum { WORDS = 50000 };
    for (int64_t i = 0, draw = 0; i < n; draw++) {
        const int64_t word = (int64_t)pow(WORDS, draw_part(1, draw)) - 1;
        const int letters = 2 + (int)(bench_draw(2, word) % 9);
        for (int k = 0; k <= letters && i < n; k++, i++) {
            to[i] = k == letters ? ' ' : (unsigned char)('a' + bench_draw(3, word * 16 + k) % 26);
        }
    }
}

void bench_put_text(const char *kind, void *symbols, int64_t n) {
    unsigned char *to = symbols;
    if (strncmp(kind, "words", 5) == 0) {
        put_words(to, n);
        return;
    }
    if (strncmp(kind, "fibonacci", 9) == 0) { /* each word is the two before it, joined */
        to[0] = 'a', to[n > 1] = 'b';
        for (int64_t length = 2, before = 1; length < n;) {
            const int64_t more = before < n - length ? before : n - length;
            memcpy(to + length, to, (size_t)more);
            before = length;
            length += more;
        }
        return;
    }
    const int64_t period = strncmp(kind, "period", 6) == 0 ? strtol(kind + 6, NULL, 10) : n;
    for (int64_t i = 0; i < n; i++) {
        if (strncmp(kind, "integers", 8) == 0) {
            ((uint16_t *)symbols)[i] = (uint16_t)bench_draw(4, i);
        } else if (strncmp(kind, "equal", 5) == 0) {
            to[i] = 'a';
        } else {
            const bool other = period < n && draw_part(5, i) < 0.001;
            to[i] = (unsigned char)"ACGT"[(other ? bench_draw(6, i) : bench_draw(4, i % period)) % 4];
        }
    }
}

/* ---- contenders ---- */

static bool run(bench_contender *c) {
    race *r = c->state;
    if (c->ours) {
        const bool began = !r->b->device || bench_device_start(r->b->device);
        const bool sorted =
            bench_must(c, c->ctx, lsp_suffix_array(c->ctx, &r->there, NULL, LSP_I32, r->suffixes_there, NULL));
        c->elapsed = r->b->device ? bench_device_stop(r->b->device) : 0;
        return sorted && ((began && c->elapsed >= 0) || bench_why(c, "%s", bench_device_error(r->b->device)));
    }
    const peer_suffixes *peer = strcmp(c->who, peer_at(0) ? peer_at(0)->who : "") == 0 ? peer_at(0) : peer_at(1);
    return peer->sort(r->symbols, r->text.n, r->suffixes, c->threads) || bench_why(c, "it failed");
}

static bool check(bench_contender *c) {
    race *r = c->state;
    const int64_t bytes = r->text.n * (int64_t)sizeof(int32_t);
    if (c->ours && r->b->device && !bench_device_download(r->b->device, r->suffixes, r->suffixes_there, bytes)) {
        return bench_why(c, "%s", bench_device_error(r->b->device));
    }
    const bool right = bench_must(c, r->b->base, lsp_suffix_check(r->b->base, &r->text, LSP_I32, r->suffixes));
    memset(r->suffixes, 0xff, (size_t)bytes);
    return right;
}

static void release(bench_contender *c) { (void)c; } /* arrays are used again */

/* ---- the race ---- */

static bool make_text(race *r, const char *workload) {
    bench *b = r->b;
    const int64_t n = INT64_C(1) << strtol(strstr(workload, "/n") + 2, NULL, 10);
    r->text = (lsp_text){.n = n, .symbol_bytes = strncmp(workload, "integers", 8) == 0 ? 2 : 1};
    const int64_t bytes = n * r->text.symbol_bytes;
    r->symbols = malloc((size_t)bytes);
    r->suffixes = malloc((size_t)n * sizeof *r->suffixes);
    if (!r->symbols || !r->suffixes) {
        return false;
    }
    bench_put_text(workload, r->symbols, n);
    r->text.symbols = r->symbols;
    r->there = r->text;
    r->suffixes_there = r->suffixes;
    if (b->device) {
        void *symbols = bench_device_alloc(b->device, bytes);
        r->there.where = LSP_CUDA;
        r->there.symbols = symbols;
        r->suffixes_there = bench_device_alloc(b->device, n * (int64_t)sizeof *r->suffixes);
        return symbols && r->suffixes_there && bench_device_upload(b->device, symbols, r->symbols, bytes);
    }
    return true;
}

static int enter(race *r, bench_contender *contenders) {
    bench *b = r->b;
    int count = 0;
    for (int k = -1; k < PEERS; k++) {
        const peer_suffixes *peer = k >= 0 ? peer_at(k) : NULL;
        if (k >= 0 && (!peer || b->device || r->text.symbol_bytes > 1)) { /* the peers sort bytes, on a CPU */
            continue;
        }
        bench_contender *c = &contenders[count++];
        *c = (bench_contender){
            .ours = k < 0, .run = run, .check = check, .release = release, .state = r, .items = r->text.n};
        snprintf(c->who, sizeof c->who, "%s", k < 0 ? "libsparse" : peer->who);
        c->ctx = k < 0 ? b->ours : NULL;
        c->on_gpu = b->device != NULL;
        c->threads = b->device || (peer && !peer->threads) ? 1 : b->threads;
        c->any_peer = true;
        c->bytes = r->text.n * (r->text.symbol_bytes + (int64_t)sizeof *r->suffixes);
    }
    return count;
}

static void run_race(bench *b, const char *workload, const char *file) {
    bench_contender contenders[1 + PEERS];
    race r = {.b = b};
    (void)file;
    if (make_text(&r, workload)) {
        bench_race(b, workload, contenders, enter(&r, contenders));
    } else {
        bench_fail(b, EXIT_MEMORY, "%s could not be prepared: out of memory", workload);
    }
    if (b->device) {
        bench_device_free(b->device, (void *)r.there.symbols);
        bench_device_free(b->device, r.suffixes_there);
    }
    free(r.symbols);
    free(r.suffixes);
    lsp_ctx_trim(b->ours);
}

const bench_subject bench_suffix_array = {.name = "suffix_array",
                                          .what = "sorts the suffixes of a text",
                                          .workloads = workloads,
                                          .gpu_workloads = gpu_workloads,
                                          .quick = quick,
                                          .file_variants = no_files,
                                          .run = run_race,
                                          .absent = absent,
                                          .version = version,
                                          .min_time = 0.5,
                                          .on_gpu = true};
