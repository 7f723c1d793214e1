/* Refuses wrong arguments of multigrid, with a sentence that names the first fault. */
#include "matrices/matrices.h"
#include "multigrid.h"
#include "solve/solve.h"

enum { MOST_BLOCK = 64, MOST_SWEEPS = 64, COARSEST = 256, MOST_COARSEST = 4096, COMPLEXITY = 3 };

static lsp_status check_near_null(lsp_ctx *ctx, const lsp_csr *A, lsp_type type, lsp_multigrid_options *o) {
    LSP_REQUIRE(o->block >= 0 && o->block <= MOST_BLOCK, LSP_ERR_ARGUMENT,
                "%lld unknowns of a node: 0 to %d are possible", (long long)o->block, MOST_BLOCK);
    o->block = lsp_max(o->block, 1);
    LSP_REQUIRE(A->rows % o->block == 0, LSP_ERR_ARGUMENT, "%lld unknowns are no multiple of the %lld of a node",
                (long long)A->rows, (long long)o->block);
    LSP_REQUIRE((o->near_null != NULL) == (o->near_null_vectors != 0) || A->rows == 0, LSP_ERR_ARGUMENT,
                "%lld near-null vectors at %p", (long long)o->near_null_vectors, o->near_null);
    LSP_REQUIRE(o->near_null_vectors >= 0 && o->near_null_vectors <= MOST_BLOCK, LSP_ERR_ARGUMENT,
                "%lld near-null vectors: 0 to %d are possible", (long long)o->near_null_vectors, MOST_BLOCK);
    LSP_REQUIRE(lsp_aligned(o->near_null, type), LSP_ERR_ARGUMENT, "near_null lies at %p, no multiple of %d",
                o->near_null, (int)lsp_type_bytes(type));
    o->near_null_vectors = o->near_null != NULL ? o->near_null_vectors : o->block;
    return LSP_OK;
}

static lsp_status check_options(lsp_ctx *ctx, lsp_multigrid_options *o) {
    LSP_REQUIRE(o->level_values == LSP_NONE || o->level_values == LSP_F32, LSP_ERR_ARGUMENT,
                "values of levels of type %s: LSP_F32 or LSP_NONE is needed", lsp_type_name(o->level_values));
    LSP_REQUIRE(o->threshold >= 0 && o->threshold < 1, LSP_ERR_ARGUMENT,
                "a threshold of %g: a number from 0 to below 1 is needed", o->threshold);
    LSP_REQUIRE((unsigned)o->smoother <= LSP_SMOOTHER_CHEBYSHEV, LSP_ERR_ARGUMENT, "there is no smoother %d",
                (int)o->smoother);
    LSP_REQUIRE((unsigned)o->cycle <= LSP_CYCLE_W, LSP_ERR_ARGUMENT, "there is no cycle %d", (int)o->cycle);
    LSP_REQUIRE(o->sweeps >= 0 && o->sweeps <= MOST_SWEEPS, LSP_ERR_ARGUMENT, "%d sweeps: 0 to %d are possible",
                o->sweeps, MOST_SWEEPS);
    LSP_REQUIRE(o->coarsest >= 0 && o->coarsest <= MOST_COARSEST, LSP_ERR_ARGUMENT,
                "a last level of up to %lld unknowns: 0 to %d are possible", (long long)o->coarsest, MOST_COARSEST);
    LSP_REQUIRE(o->complexity == 0 || o->complexity >= 1, LSP_ERR_ARGUMENT,
                "an operator complexity of up to %g: 0 or a number from 1 on is needed", o->complexity);
    o->complexity = o->complexity > 0 ? o->complexity : COMPLEXITY;
    o->sweeps = o->sweeps > 0 ? o->sweeps : o->smoother == LSP_SMOOTHER_JACOBI ? 1 : 2;
    o->coarsest = o->coarsest > 0 ? o->coarsest : COARSEST;
    return LSP_OK;
}

lsp_status lsp_multigrid_check(lsp_ctx *ctx, const lsp_csr *A, const lsp_multigrid_options *options, lsp_multigrid *m) {
    lsp_multigrid_options *o = &m->options;
    int64_t reserved[LSP_RESERVED] = {0};
    *o = options != NULL ? *options : (lsp_multigrid_options){0};
    memcpy(reserved, o->reserved, sizeof o->reserved);
    LSP_TRY(lsp_check_reserved(ctx, "lsp_multigrid_options", reserved));
    LSP_REQUIRE(A != NULL, LSP_ERR_ARGUMENT, "A is NULL");
    m->type = o->type;
    LSP_TRY(lsp_solve_check_matrix(ctx, A, &m->type));
    LSP_TRY(check_options(ctx, o));
    LSP_TRY(check_near_null(ctx, A, m->type, o));
    if (A->where == LSP_CUDA) {
        LSP_TRY(lsp_csr_check_device(ctx, "A"));
        LSP_REQUIRE(!lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                    "work on the stream is being recorded into a graph: a set-up waits, so it cannot run there");
    }
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    m->given = *A;
    m->n = A->rows;
    m->where = A->where;
    m->values = o->level_values != LSP_NONE ? o->level_values : m->type;
    return LSP_OK;
}
