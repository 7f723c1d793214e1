/* Preloaded before the library, it changes the first product as LSP_FAKE says; later products are right.
 * "wrong" changes one value, "pattern" one column index; "slow" takes 1.3 seconds and reports progress; "gone" fails
 * as a GPU does that is gone. Of cg-bench,
 * "wrong" changes zeta, and "slow" takes 1.3 seconds for a solve or a benchmark without reporting anything.
 * Of suffix-array, "wrong" puts one suffix at two places.
 * "linger" delays the rename of every complete output file by ten seconds. */
#include "libsparse.h"
#include "libsparse/unstable.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static lsp_ctx_options seen;

lsp_status lsp_ctx_create(lsp_ctx **ctx, const lsp_ctx_options *options, char *error, size_t error_bytes) {
    lsp_status (*real)(lsp_ctx **, const lsp_ctx_options *, char *, size_t) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "lsp_ctx_create");
    seen = *options;
    return real(ctx, options, error, error_bytes);
}

/* Returns how the work that begins is changed. */
static const char *begin(bool tells) {
    static int calls;
    const char *what = getenv("LSP_FAKE");
    what = calls++ > 0 || !what ? "honest" : what;
    for (int i = 0; strcmp(what, "slow") == 0 && i < 13; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        if (tells) {
            seen.progress(seen.hook_user, "multiply", i / 13.0);
        }
    }
    return what;
}

static lsp_status end(const char *what, lsp_status status, lsp_csr *C) {
    if (status == LSP_OK && strcmp(what, "wrong") == 0) {
        ((double *)C->val)[1] *= 1.5;
    } else if (status == LSP_OK && strcmp(what, "pattern") == 0) {
        ((int32_t *)C->col)[0] ^= 1;
    }
    return status;
}

lsp_status lsp_spgemm(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options, lsp_csr *C,
                      lsp_spgemm_info *info) {
    lsp_status (*real)(lsp_ctx *, const lsp_csr *, const lsp_csr *, const lsp_spgemm_options *, lsp_csr *,
                       lsp_spgemm_info *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "lsp_spgemm");
    const char *what = begin(true);
    if (strcmp(what, "gone") == 0) { /* a context without a GPU has the sentence */
        return lsp_csr_copy(ctx, A, &(lsp_csr_types){.place = LSP_PLACE_CUDA}, C);
    }
    return end(what, real(ctx, A, B, options, C, info), C);
}

lsp_status lsp_nas_cg(lsp_ctx *ctx, char name, const lsp_csr *A, const lsp_solve_options *options, lsp_nas_fn report,
                      void *user, lsp_nas_result *result) {
    lsp_status (*real)(lsp_ctx *, char, const lsp_csr *, const lsp_solve_options *, lsp_nas_fn, void *,
                       lsp_nas_result *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "lsp_nas_cg");
    const char *what = begin(false);
    const lsp_status status = real(ctx, name, A, options, report, user, result);
    if (status == LSP_OK && strcmp(what, "wrong") == 0) {
        result->zeta *= 1 + 1e-9;
        result->verified = false;
    }
    return status;
}

lsp_status lsp_solve_execute(lsp_solve_plan *plan, const void *b, void *x, lsp_solve_info *info) {
    lsp_status (*real)(lsp_solve_plan *, const void *, void *, lsp_solve_info *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "lsp_solve_execute");
    (void)begin(false);
    return real(plan, b, x, info);
}

int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "rename");
    const char *what = getenv("LSP_FAKE");
    if (what && strcmp(what, "linger") == 0) {
        nanosleep(&(struct timespec){.tv_sec = 10}, NULL);
    }
    return real(from, to);
}

lsp_status lsp_suffix_array(lsp_ctx *ctx, const lsp_text *text, const lsp_suffix_options *options, lsp_type type,
                            void *suffixes, lsp_suffix_info *info) {
    lsp_status (*real)(lsp_ctx *, const lsp_text *, const lsp_suffix_options *, lsp_type, void *, lsp_suffix_info *) =
        NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "lsp_suffix_array");
    const char *what = begin(false);
    const lsp_status status = real(ctx, text, options, type, suffixes, info);
    if (status == LSP_OK && strcmp(what, "wrong") == 0) {
        ((int32_t *)suffixes)[1] = ((int32_t *)suffixes)[0];
    }
    return status;
}
