/* Where copies, matrices of triples, generated matrices and products lie, for all three places that a caller can ask
 * for. */
#include "tests/complex.h"

static const lsp_place all_places[] = {LSP_PLACE_SOURCE, LSP_PLACE_HOST, LSP_PLACE_CUDA};

/* C, made with these types from a source that lies at `source`, must lie where `place` says and be `right`. A context
 * on the CPU must have refused LSP_PLACE_CUDA and left C as it was. Frees C. */
static void must_lie(lsp_ctx *ctx, lsp_status status, lsp_csr *C, lsp_place place, lsp_where source,
                     const lsp_csr *right) {
    const lsp_where asked = place == LSP_PLACE_CUDA ? LSP_CUDA : place == LSP_PLACE_HOST ? LSP_HOST : source;
    lsp_csr here;
    lsp_csr_difference difference;
    if (asked == LSP_CUDA && !on_gpu(ctx)) {
        must_fail(ctx, LSP_ERR_DEVICE, "GPU", status);
        cr_assert(C->rows == 4711 && C->rowptr == NULL);
        return;
    }
    must(ctx, status);
    cr_assert(C->where == asked, "place %d of a source at %d: lies at %d", (int)place, (int)source, (int)C->where);
    must(ctx, lsp_csr_copy(ctx, C, &(lsp_csr_types){.place = LSP_PLACE_HOST}, &here));
    cr_assert_eq(here.where, LSP_HOST);
    must(ctx, lsp_csr_compare(ctx, &here, right, &difference));
    cr_assert(difference.same_bits, "place %d: differs in row %lld", (int)place, (long long)difference.row);
    lsp_csr_free(ctx, &here), lsp_csr_free(ctx, C);
    *C = (lsp_csr){.rows = 4711};
}

TEST_ON_BOTH(spgemm_places, copies_and_triples_lie_where_their_source_lies_unless_the_caller_says) {
    lsp_csr A, C = {.rows = 4711};
    lsp_coo triples;
    must(ctx, lsp_generate(ctx, "er:40:5", 1, NULL, &A));
    lsp_csr a = take(ctx, &A);
    const lsp_csr *const sources[] = {&A, &a};
    for (int s = 0; s < 2; s++) {
        const lsp_where source = sources[s]->where;
        cr_assert_eq(source, s == 1 && on_gpu(ctx) ? LSP_CUDA : LSP_HOST);
        must(ctx, lsp_csr_to_coo(ctx, sources[s], &triples));
        cr_assert_eq(triples.where, source);
        for (int p = 0; p < 3; p++) {
            const lsp_csr_types types[] = {{.place = all_places[p]},
                                           {.rowptr_type = LSP_I64, .col_type = LSP_I64, .place = all_places[p]}};
            for (int wide = 0; wide < 2; wide++) {
                must_lie(ctx, lsp_csr_copy(ctx, sources[s], &types[wide], &C), &C, all_places[p], source, &A);
                must_lie(ctx, lsp_coo_to_csr(ctx, &triples, &types[wide], &C, NULL), &C, all_places[p], source, &A);
            }
        }
        must_lie(ctx, lsp_csr_copy(ctx, sources[s], NULL, &C), &C, LSP_PLACE_SOURCE, source, &A);
        must_lie(ctx, lsp_coo_to_csr(ctx, &triples, NULL, &C, NULL), &C, LSP_PLACE_SOURCE, source, &A);
        must(ctx, lsp_coo_free(ctx, &triples));
    }
    give_back(ctx, &a);
    lsp_csr_free(ctx, &A);
}

TEST_ON_BOTH(spgemm_places, without_a_source_a_matrix_lies_on_the_host_unless_the_caller_says) {
    const char text[] = "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 3 2.5\n2 1 -1\n";
    lsp_csr A, M, Z, C = {.rows = 4711};
    must(ctx, lsp_generate(ctx, "poisson2d:9", 1, NULL, &A));
    must(ctx, lsp_mtx_read_memory(ctx, text, sizeof text - 1, "text", NULL, &M, NULL));
    must(ctx, lsp_csr_create(ctx, 5, 6, 0, NULL, &Z));
    cr_assert(A.where == LSP_HOST && M.where == LSP_HOST && Z.where == LSP_HOST);
    for (int p = 0; p < 3; p++) {
        const lsp_mtx_read_options read = {.types.place = all_places[p]};
        must_lie(ctx, lsp_generate(ctx, "poisson2d:9", 1, &read.types, &C), &C, all_places[p], LSP_HOST, &A);
        must_lie(ctx, lsp_mtx_read_memory(ctx, text, sizeof text - 1, "text", &read, &C, NULL), &C, all_places[p],
                 LSP_HOST, &M);
        must_lie(ctx, lsp_csr_create(ctx, 5, 6, 0, &read.types, &C), &C, all_places[p], LSP_HOST, &Z);
    }
    lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &M), lsp_csr_free(ctx, &Z);
}

/* A sink that takes blocks at one place. */
static lsp_status look(void *place, int64_t first_row, const lsp_csr *rows) {
    (void)first_row;
    cr_assert_eq(rows->where, *(const lsp_where *)place);
    return LSP_OK;
}

/* Another place than that of the factors is refused. But LSP_PLACE_CUDA, for factors on the host, makes a stream or a
 * filtered product multiply on the GPU: blocks come back. */
TEST_ON_BOTH(spgemm_places, products_lie_where_their_factors_lie) {
    lsp_csr A, C = {.rows = 4711};
    must(ctx, lsp_generate(ctx, "er:40:5", 1, NULL, &A));
    lsp_csr a = take(ctx, &A), right = reference(ctx, &A, &A, (lsp_spgemm_options){0});
    lsp_csr *const factors[] = {&A, &a};
    for (int s = 0; s < 2; s++) {
        const lsp_csr *F = factors[s];
        lsp_where source = F->where;
        for (int p = 0; p < 3; p++) {
            const lsp_spgemm_options options = {.types.place = all_places[p]};
            const bool away = source == LSP_HOST && all_places[p] == LSP_PLACE_CUDA;
            const bool home = source == LSP_CUDA && all_places[p] == LSP_PLACE_HOST;
            const char *why = away ? "host" : "GPU";
            lsp_spgemm_plan *plan = NULL;
            if (away || home) {
                must_fail(ctx, LSP_ERR_UNSUPPORTED, why, lsp_spgemm(ctx, F, F, &options, &C, NULL));
                must_fail(ctx, LSP_ERR_UNSUPPORTED, why, lsp_spgemm_plan_create(ctx, F, F, &options, &plan));
                must_fail(ctx, LSP_ERR_UNSUPPORTED, why, lsp_spgemm_batch(ctx, 1, F, F, &options, &C, NULL));
                cr_assert(C.rows == 4711 && C.rowptr == NULL && plan == NULL);
            } else {
                must_lie(ctx, lsp_spgemm(ctx, F, F, &options, &C, NULL), &C, LSP_PLACE_SOURCE, source, &right);
                must(ctx, lsp_spgemm_plan_create(ctx, F, F, &options, &plan));
                must_lie(ctx, lsp_spgemm_execute(plan, F, F, &C), &C, LSP_PLACE_SOURCE, source, &right);
                lsp_spgemm_plan_destroy(plan);
                must(ctx, lsp_spgemm_batch(ctx, 1, F, F, &options, &C, NULL));
                cr_assert_eq(C.where, source);
                must(ctx, lsp_spgemm_batch_free(ctx, 1, &C));
                C = (lsp_csr){.rows = 4711};
            }
            lsp_spgemm_options filtered = options;
            filtered.filter.drop = true; /* no entry is 0 */
            if (home) {
                must_fail(ctx, LSP_ERR_UNSUPPORTED, why, lsp_spgemm(ctx, F, F, &filtered, &C, NULL));
                must_fail(ctx, LSP_ERR_UNSUPPORTED, why,
                          lsp_spgemm_stream(ctx, F, F, &options, 0, look, &source, NULL));
                continue;
            }
            must_lie(ctx, lsp_spgemm(ctx, F, F, &filtered, &C, NULL), &C,
                     away && !on_gpu(ctx) ? LSP_PLACE_CUDA : LSP_PLACE_SOURCE, source, &right);
            const lsp_status status = lsp_spgemm_stream(ctx, F, F, &options, 0, look, &source, NULL);
            if (away && !on_gpu(ctx)) {
                must_fail(ctx, LSP_ERR_DEVICE, "GPU", status);
            } else {
                must(ctx, status);
            }
        }
    }
    give_back(ctx, &a);
    lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &right);
}
