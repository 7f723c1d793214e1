/* Statistics of pairs by the distances that two-body ships, by a predicate and by a function of one's own, each beside
 * a plain loop: pairs [cpu|cuda]. Ends with 77 if there is no GPU. */
#include "ahead_join.h"
#include "cosine_join.h"
#include "euclid_count.h"
#include "euclid_histogram.h"
#include "hamming_join.h"
#include "periodic_radii.h"
#include "potential.h"
#include "sky_histogram.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1500, M = 700 };
static float f[8][N];
static double d[8][N];
static uint64_t w[4][N];
static lsp_ctx *ctx;
static int wrong;

static void tell(const char *what, const lsp_pair_info *info, int right) {
    printf("%-32s %s (%s)\n", what, right ? "right" : "WRONG", info->reason);
    wrong += !right;
}
static void must(lsp_status status, const lsp_pair_info *info) {
    if (status != LSP_OK) {
        fprintf(stderr, "%s: %s\n", lsp_status_name(status), info->reason);
        exit(1);
    }
}

static lsp_points floats(int64_t n, int dimensions) {
    lsp_points p = {0};
    p.n = n, p.dimensions = dimensions, p.type = LSP_F32;
    for (int k = 0; k < dimensions; k++) {
        p.at[k] = f[k];
    }
    return p;
}
static lsp_points doubles(int64_t n, int dimensions) {
    lsp_points p = floats(n, dimensions);
    p.type = LSP_F64;
    for (int k = 0; k < dimensions; k++) {
        p.at[k] = d[k];
    }
    return p;
}

/* Is C the matrix whose entries are `wanted(i, j, &value)`, in rows sorted by column? Its values within 1e-6. */
static int is_matrix(const lsp_csr *made, int rows, int cols, int (*wanted)(int i, int j, double *value)) {
    lsp_csr C;
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .place = LSP_PLACE_HOST};
    int64_t k = 0;
    int right = made->rows == rows && made->cols == cols;
    memset(&C, 0, sizeof C);
    if (lsp_csr_copy(ctx, made, &types, &C) != LSP_OK) {
        return 0;
    }
    for (int i = 0; i < rows && right; i++) {
        right = ((const int32_t *)C.rowptr)[i] == k;
        for (int j = 0; j < cols && right; j++) {
            double value = 0;
            if (wanted(i, j, &value)) {
                const double at = C.val_type == LSP_NONE  ? value
                                  : k >= C.nnz            ? -1
                                  : C.val_type == LSP_I32 ? (double)((const int32_t *)C.val)[k]
                                                          : (double)((const float *)C.val)[k];
                right = k < C.nnz && ((const int32_t *)C.col)[k] == j && fabs(at - value) <= 1e-6;
                k++;
            }
        }
    }
    right = right && k == C.nnz;
    lsp_csr_free(ctx, &C);
    return right;
}

static float euclid(int i, int j) {
    const float x = f[0][i] - f[0][j], y = f[1][i] - f[1][j], z = f[2][i] - f[2][j];
    return fmaf(z, z, fmaf(y, y, x * x));
}

static void check_counts(void) {
    const lsp_points p = floats(N, 3), q = floats(M, 3);
    lsp_pair_info info = {0};
    const double limit = 0.0625, range = 1.75, radius = 0.25;
    uint64_t count, two, library, counts[256], right[256] = {0}, plain = 0, plain_two = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            plain += euclid(i, j) <= (float)limit;
        }
        for (int j = 0; j < M; j++) {
            plain_two += euclid(i, j) <= (float)limit;
        }
    }
    must(euclid_count(ctx, &p, NULL, NULL, &limit, &count, &info), &info);
    must(euclid_count(ctx, &p, &q, NULL, &limit, &two, &info), &info);
    lsp_pair_count(ctx, &p, NULL, NULL, &radius, 1, &library, NULL);
    tell("Euclid, pairs within a distance", &info, count == plain && two == plain_two && count == library);
    must(euclid_histogram(ctx, &p, NULL, NULL, range, counts, &info), &info);
    lsp_pair_histogram(ctx, &p, NULL, NULL, range, 256, right, NULL);
    tell("Euclid, 256 bins, as the library's", &info, memcmp(counts, right, sizeof right) == 0);
    int right_sizes = 1;
    for (int n = 0; n < 200; n += n < 10 ? 1 : 27) {
        const lsp_points few = floats(n, 3);
        uint64_t ours[2] = {7, 7}, theirs[2];
        must(euclid_count(ctx, &few, NULL, NULL, &limit, &ours[0], &info), &info);
        must(euclid_count(ctx, &few, &q, NULL, &limit, &ours[1], &info), &info);
        lsp_pair_count(ctx, &few, NULL, NULL, &radius, 1, &theirs[0], NULL);
        lsp_pair_count(ctx, &few, &q, NULL, &radius, 1, &theirs[1], NULL);
        right_sizes = right_sizes && memcmp(ours, theirs, sizeof ours) == 0;
    }
    tell("Euclid, few points", &info, right_sizes);
    if (euclid_count(ctx, &p, NULL, NULL, &(double){-1}, &count, &info) != LSP_ERR_ARGUMENT) {
        tell("a limit below 0", &info, 0);
    }
}

static void check_periodic(void) {
    const lsp_points p = doubles(N, 3);
    const double box[3] = {1, 1, 1}, limits[4] = {0.0001, 0.01, 0.04, 0.25};
    lsp_pair_info info = {0};
    uint64_t counts[4], right[4] = {0};
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) {
                const double away = fabs(d[k][i] - d[k][j]), near = fmin(away, 1 - away);
                sum = k == 0 ? near * near : fma(near, near, sum);
            }
            for (int s = 0; s < 4; s++) {
                right[s] += sum <= limits[s];
            }
        }
    }
    must(periodic_radii(ctx, &p, NULL, box, limits, counts, &info), &info);
    tell("periodic, four distances", &info, memcmp(counts, right, sizeof right) == 0);
    if (periodic_radii(ctx, &p, NULL, NULL, limits, counts, &info) != LSP_ERR_ARGUMENT) {
        tell("no parameters", &info, 0);
    }
}

static const float near_angle = 0.02f;
static int cosine_wanted(int i, int j, double *value) {
    float xy = f[0][i] * f[0][j], xx = f[0][i] * f[0][i], yy = f[0][j] * f[0][j];
    for (int k = 1; k < 8; k++) {
        xy = fmaf(f[k][i], f[k][j], xy), xx = fmaf(f[k][i], f[k][i], xx), yy = fmaf(f[k][j], f[k][j], yy);
    }
    const float away = fmaxf(1 - xy / sqrtf(xx * yy), 0);
    *value = (double)away;
    return away <= near_angle && i != j;
}
static int hamming_wanted(int i, int j, double *value) {
    int sum = 0;
    for (int k = 0; k < 4; k++) {
        for (uint64_t bits = w[k][i] ^ w[k][j]; bits != 0; bits &= bits - 1) {
            sum++;
        }
    }
    *value = sum;
    return sum <= 112 && j > i;
}
static int ahead_wanted(int i, int j, double *value) {
    const float ahead = f[0][j] - f[0][i];
    (void)value;
    return ahead > 0.01f && ahead < 0.05f && fabsf(f[1][j] - f[1][i]) < 2 * ahead;
}

static void check_joins(void) {
    const lsp_points p = floats(N, 8), q = floats(M, 3), r = floats(N, 3);
    lsp_points words = floats(N, 4);
    const lsp_join_options half = {.half = true};
    const double window[2] = {(double)0.01f, (double)0.05f};
    lsp_pair_info info = {0};
    lsp_csr C = {0};
    words.type = LSP_U64;
    for (int k = 0; k < 4; k++) {
        words.at[k] = w[k];
    }
    must(cosine_join(ctx, &p, NULL, NULL, (double)near_angle, NULL, &C, &info), &info);
    tell("cosine, neighbours", &info, is_matrix(&C, N, N, cosine_wanted) && C.nnz > 0);
    lsp_csr_free(ctx, &C);
    must(hamming_join(ctx, &words, NULL, NULL, 112, &half, &C, &info), &info);
    tell("Hamming, neighbours, half", &info, is_matrix(&C, N, N, hamming_wanted) && C.nnz > 0);
    lsp_csr_free(ctx, &C);
    must(ahead_join(ctx, &r, &q, window, NULL, &C, &info), &info);
    tell("a predicate", &info, is_matrix(&C, N, M, ahead_wanted) && C.nnz > 0 && C.val == NULL);
    lsp_csr_free(ctx, &C);
}

static void check_sums(void) {
    lsp_points p = doubles(N, 3), sky = doubles(N, 2);
    const double soft = 0.1;
    double *sums = malloc(N * sizeof *sums), worst = 0;
    uint64_t counts[64], right[64] = {0}, moved = 0;
    lsp_pair_info info = {0};
    must(potential(ctx, &p, NULL, &soft, sums, &info), &info);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++) {
            const double x = d[0][i] - d[0][j], y = d[1][i] - d[1][j], z = d[2][i] - d[2][j];
            sum += 1 / sqrt(x * x + y * y + z * z + soft * soft);
        }
        worst = fmax(worst, fabs(sums[i] / sum - 1));
    }
    tell("a potential", &info, worst < 1e-12);
    must(sky_histogram(ctx, &sky, NULL, NULL, 2, counts, &info), &info);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            const double lon = sin((d[0][i] - d[0][j]) / 2), lat = sin((d[1][i] - d[1][j]) / 2);
            const double h = lat * lat + cos(d[1][i]) * cos(d[1][j]) * lon * lon;
            const int bin = (int)(2 * asin(sqrt(h)) * 32);
            right[bin < 64 ? bin : 63] += bin < 64;
        }
    }
    for (int k = 0; k < 64; k++) {
        moved += counts[k] > right[k] ? counts[k] - right[k] : right[k] - counts[k];
    }
    tell("great circle, 64 bins", &info, moved <= 4);
    free(sums);
}

int main(int argc, char **argv) {
    char error[256] = "";
    lsp_ctx_options options = {0};
    uint64_t state = 1;
    options.device = argc > 1 && strcmp(argv[1], "cuda") == 0 ? LSP_CUDA : LSP_HOST;
    const lsp_status made = lsp_ctx_create(&ctx, &options, error, sizeof error);
    if (made != LSP_OK) {
        fprintf(stderr, "%s\n", error);
        return made == LSP_ERR_DEVICE ? 77 : 1;
    }
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 8; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            d[k][i] = (double)(state >> 11) * 0x1p-53;
            f[k][i] = (float)d[k][i];
            if (k < 4) {
                w[k][i] = state ^ state >> 32;
            }
        }
    }
    check_counts();
    check_periodic();
    check_joins();
    check_sums();
    lsp_ctx_destroy(ctx);
    return wrong != 0;
}
