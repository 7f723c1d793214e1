/* Pairs of near points on several GPUs: a context and a thread for each, a share of the work each, and the counts added
 * up. The sum is that of one GPU, to the bit. Without a GPU: two shares of the CPU. Ranks of MPI take their shares with
 * .part = rank, .parts = size, and add up by MPI_Reduce.
 *
 *     shares 100000 */
#include <libsparse.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 8 };
static const double radius = 0.05;
static lsp_points points;

typedef struct share {
    lsp_ctx_options device;
    lsp_pair_options options;
    uint64_t pairs;
    lsp_pair_info info;
    lsp_status status;
    pthread_t thread;
} share;

static void *count(void *data) {
    share *s = data;
    lsp_ctx *ctx = NULL;
    char error[256];
    s->status = lsp_ctx_create(&ctx, &s->device, error, sizeof error);
    if (s->status == LSP_OK) {
        s->status = lsp_pair_count(ctx, &points, NULL, &s->options, &radius, 1, &s->pairs, &s->info);
    }
    if (s->status != LSP_OK) {
        fprintf(stderr, "part %d: %s\n", (int)s->options.part, ctx ? lsp_last_error(ctx) : error);
    }
    lsp_ctx_destroy(ctx);
    return NULL;
}

int main(int argc, char **argv) {
    const int64_t n = argc > 1 ? atoll(argv[1]) : 10000;
    const int gpus = lsp_cuda_device_count(), parts = gpus == 0 ? 2 : gpus < MOST ? gpus : MOST;
    float *x = malloc((size_t)n * 3 * sizeof *x);
    share shares[MOST] = {0};
    uint64_t pairs = 0;
    int failed = x == NULL;
    for (int64_t i = 0; i < 3 * n && x; i++) {
        x[i] = (float)rand() / (float)RAND_MAX;
    }
    points = (lsp_points){.n = x ? n : 0, .dimensions = 3, .type = LSP_F32, .at = {x, x + 1, x + 2}, .stride = 3};
    for (int p = 0; p < parts; p++) {
        shares[p].device = (lsp_ctx_options){.device = gpus > 0 ? LSP_CUDA : LSP_HOST, .ordinal = p};
        shares[p].options = (lsp_pair_options){.part = p, .parts = parts};
        pthread_create(&shares[p].thread, NULL, count, &shares[p]);
    }
    for (int p = 0; p < parts; p++) {
        pthread_join(shares[p].thread, NULL);
        pairs += shares[p].pairs;
        failed |= shares[p].status != LSP_OK || shares[p].info.cut != shares[0].info.cut;
    }
    printf("%llu pairs within %g, in %d shares\n", (unsigned long long)pairs, radius, parts);
    free(x);
    return failed;
}
