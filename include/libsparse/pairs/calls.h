/* The public function of a file that `two-body generate` wrote, on the CPU and, in another file, on the GPU.
 * PAIRS_ENTRY: its name; PAIRS_DEVICE(f): the name of f for the device; PAIRS_HOW: the techniques, a sentence;
 * PAIRS_FORWARD: the same function for a context of a GPU. */
#ifdef __cplusplus
extern "C" {
#endif

#ifdef PAIRS_FORWARD
/* Does this context work on a GPU? */
static bool pairs_is_elsewhere(lsp_ctx *ctx) {
    lsp_ctx_info about;
    return lsp_ctx_get_info(ctx, &about) == LSP_OK && about.device == LSP_CUDA;
}
#define PAIRS_OR_FORWARD(...)                                                                                          \
    if (pairs_is_elsewhere(ctx)) {                                                                                     \
        return PAIRS_FORWARD(__VA_ARGS__);                                                                             \
    }
#else
#define PAIRS_OR_FORWARD(...)
#endif

#if PAIRS_IS_PREDICATE
#define PAIRS_LIMIT(declaration)
#define PAIRS_GIVE(limit)
#else
#define PAIRS_LIMIT(declaration) declaration,
#define PAIRS_GIVE(limit) limit,
#endif

/* Checks a call and brings its points to where they are worked on. */
static lsp_status pairs_begin(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const double *parameters,
                              const void *output, pairs_job *job, lsp_pair_info *info) {
    PAIRS_PASS(pairs_check(ctx, a, b, parameters, output, PAIRS_WHERE, job, info));
    PAIRS_PASS(pairs_enter(ctx, job, info));
    PAIRS_TRY(pairs_load_set(ctx, a, &job->memory[0], job->a));
    memcpy(job->b, job->a, sizeof job->b);
    if (b != NULL) {
        PAIRS_TRY(pairs_load_set(ctx, b, &job->memory[1], job->b));
    }
    return LSP_OK;
}
static void pairs_end(pairs_job *job) {
    lsp_array_free(&job->memory[0]);
    lsp_array_free(&job->memory[1]);
    pairs_leave(job);
}

#ifdef PAIRS_COUNT
lsp_status PAIRS_ENTRY(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const double *parameters,
                       PAIRS_LIMIT(const double *limits) uint64_t *counts, lsp_pair_info *info) {
    PAIRS_OR_FORWARD(ctx, a, b, parameters, PAIRS_GIVE(limits) counts, info)
    pairs_job job PAIRS_AT_END(pairs_end);
    PAIRS_NUMBER at[PAIRS_SIZE] = {0};
    PAIRS_PASS(pairs_begin(ctx, a, b, parameters, counts, &job, info));
#if !PAIRS_IS_PREDICATE
    for (int k = 0; k < PAIRS_SIZE; k++) {
        PAIRS_REQUIRE(limits != NULL && limits[k] >= 0, LSP_ERR_ARGUMENT, "limit %d is %g: it must be 0 or more", k,
                      limits != NULL ? limits[k] : 0.0);
        at[k] = pairs_limit(limits[k]);
    }
#endif
    PAIRS_PASS(PAIRS_DEVICE(pairs_count)(ctx, &job, at, counts, info));
    return pairs_tell(&job, PAIRS_HOW, info);
}
#endif

#ifdef PAIRS_HISTOGRAM
lsp_status PAIRS_ENTRY(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const double *parameters, double range,
                       uint64_t *counts, lsp_pair_info *info) {
    PAIRS_OR_FORWARD(ctx, a, b, parameters, range, counts, info)
    pairs_job job PAIRS_AT_END(pairs_end);
    const PAIRS_REAL scale = (PAIRS_REAL)(PAIRS_SIZE / range);
    PAIRS_PASS(pairs_begin(ctx, a, b, parameters, counts, &job, info));
    PAIRS_REQUIRE(range > 0 && scale > 0 && scale <= (PAIRS_IS_WIDE ? 1e300 : 1e38), LSP_ERR_ARGUMENT,
                  "a range of %g in %d bins: the width of a bin does not fit the type", range, PAIRS_SIZE);
    PAIRS_PASS(PAIRS_DEVICE(pairs_histogram)(ctx, &job, scale, counts, info));
    return pairs_tell(&job, PAIRS_HOW, info);
}
#endif

#ifdef PAIRS_SUM
lsp_status PAIRS_ENTRY(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const double *parameters, double *sums,
                       lsp_pair_info *info) {
    PAIRS_OR_FORWARD(ctx, a, b, parameters, sums, info)
    pairs_job job PAIRS_AT_END(pairs_end);
    PAIRS_PASS(pairs_begin(ctx, a, b, parameters, sums, &job, info));
    PAIRS_PASS(PAIRS_DEVICE(pairs_sum)(ctx, &job, sums, info));
    return pairs_tell(&job, PAIRS_HOW, info);
}
#endif

#ifdef PAIRS_JOIN
lsp_status PAIRS_ENTRY(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const double *parameters,
                       PAIRS_LIMIT(double limit) const lsp_join_options *join, lsp_csr *C, lsp_pair_info *info) {
    PAIRS_OR_FORWARD(ctx, a, b, parameters, PAIRS_GIVE(limit) join, C, info)
    pairs_job job PAIRS_AT_END(pairs_end);
    lsp_join_options none;
    PAIRS_NUMBER at = 0;
    memset(&none, 0, sizeof none);
    join = join != NULL ? join : &none;
    PAIRS_PASS(pairs_begin(ctx, a, b, parameters, C, &job, info));
#if !PAIRS_IS_PREDICATE
    PAIRS_REQUIRE(limit >= 0, LSP_ERR_ARGUMENT, "the limit is %g: it must be 0 or more", limit);
    at = pairs_limit(limit);
#endif
    PAIRS_REQUIRE(job.self || !(join->half || join->self_pairs), LSP_ERR_ARGUMENT,
                  "half and self_pairs are of one set");
    PAIRS_REQUIRE(join->values != LSP_JOIN_SQUARED, LSP_ERR_ARGUMENT, "values are as the expression gives them");
    PAIRS_PASS(PAIRS_DEVICE(pairs_join)(ctx, &job, at, join, C, info));
    return pairs_tell(&job, PAIRS_HOW, info);
}
#endif

#ifdef __cplusplus
}
#endif
