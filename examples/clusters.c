/* Markov clustering of a graph: flow spreads by M*M, strong flow grows by a power of each entry, weak flow is dropped,
 * until nothing changes. The product keeps only the 20 largest entries of a row, and none below 1e-4, so that M stays
 * sparse. Nodes whose flow ends in one place are a cluster.
 *
 *     clusters              # three cliques of five nodes, joined to a ring by single edges */
#include <libsparse.h>
#include <stdio.h>

enum { CLIQUES = 3, SIZE = 5, NODES = CLIQUES * SIZE, ROUNDS = 30 };

static lsp_status make_graph(lsp_ctx *ctx, lsp_csr *M) {
    int32_t row[NODES * (SIZE + 2)], col[NODES * (SIZE + 2)];
    double val[NODES * (SIZE + 2)];
    int64_t n = 0;
    for (int i = 0; i < NODES; i++) {
        for (int j = 0; j < NODES; j++) {
            const int steps = (j - i + NODES) % NODES;
            const bool ring = (steps == 1 && i % SIZE == SIZE - 1) || (steps == NODES - 1 && j % SIZE == SIZE - 1);
            if (i / SIZE == j / SIZE || ring) {
                row[n] = i, col[n] = j, val[n++] = 1;
            }
        }
    }
    const lsp_coo edges = {.rows = NODES,
                           .cols = NODES,
                           .nnz = n,
                           .row = row,
                           .col = col,
                           .val = val,
                           .index_type = LSP_I32,
                           .val_type = LSP_F64};
    return lsp_coo_to_csr(ctx, &edges, NULL, M, NULL);
}

/* Divides each row by its sum. */
static lsp_status normalize(lsp_ctx *ctx, lsp_csr *M) {
    double sum[NODES];
    lsp_status status = lsp_csr_reduce(ctx, M, LSP_REDUCE_SUM, LSP_REDUCE_EACH_ROW, sum);
    for (int i = 0; i < NODES; i++) {
        sum[i] = 1 / sum[i];
    }
    return status ? status : lsp_csr_scale(ctx, M, sum, NULL);
}

static lsp_status cluster(lsp_ctx *ctx, lsp_csr *M) {
    const lsp_spgemm_options expand = {.filter = {.drop = true, .tolerance = 1e-4, .largest = 20}};
    lsp_status status = normalize(ctx, M);
    for (int round = 0; round < ROUNDS && status == LSP_OK; round++) {
        lsp_csr flow = {0};
        status = lsp_spgemm(ctx, M, M, &expand, &flow, NULL);
        status = status ? status : lsp_csr_apply(ctx, &flow, LSP_APPLY_POWER, 2);
        status = status ? status : normalize(ctx, &flow);
        (void)lsp_csr_free(ctx, M);
        *M = flow;
    }
    return status;
}

int main(void) {
    lsp_ctx *ctx = NULL;
    lsp_csr M = {0};
    if (lsp_ctx_create(&ctx, NULL, NULL, 0) != LSP_OK) {
        return 1;
    }
    lsp_status status = make_graph(ctx, &M);
    status = status ? status : cluster(ctx, &M);
    if (status != LSP_OK) {
        fprintf(stderr, "%s\n", lsp_last_error(ctx));
    }
    for (int i = 0; status == LSP_OK && i < NODES; i++) { /* the column with the most flow names the cluster */
        const int32_t *begin = M.rowptr, *col = M.col;
        const double *val = M.val;
        int32_t best = begin[i];
        for (int32_t k = begin[i]; k < begin[i + 1]; k++) {
            best = val[k] > val[best] ? k : best;
        }
        printf("node %d: cluster of node %d\n", i, col[best]);
    }
    lsp_ctx_destroy(ctx);
    return status;
}
