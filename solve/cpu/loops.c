/* Runs a vector loop by all threads: vectors are cut into pieces of one size, whatever the number of threads, and the
 * sums of the pieces are added in their order. */
#include "core/isa.h"
#include "cpu.h"

enum { PIECE = 2048, LEAST = 4096 }; /* numbers of a piece; a thread pays from LEAST numbers on */

typedef struct region {
    const lsp_solve_team *team;
    const lsp_solve_loop *loop;
    lsp_solve_kernel kernel;
} region;

int64_t lsp_solve_partials(int64_t n) { return 3 * lsp_max(lsp_ceil_div(n, PIECE), 1); }

static void do_piece(void *data, int64_t piece, int thread) {
    const region *r = data;
    (void)thread;
    r->kernel(r->loop, piece * PIECE, lsp_min((piece + 1) * PIECE, r->team->n), r->team->partial + 3 * piece);
}

void lsp_solve_loop_run(const lsp_solve_team *team, lsp_solve_loop_id id, const lsp_solve_loop *loop, double sums[3]) {
    const int64_t pieces = lsp_ceil_div(team->n, PIECE);
    region r = {
        .team = team, .loop = loop, .kernel = LSP_ISA_PICK(team->ctx->isa, lsp_solve_kernel_of)(id, team->type)};
    lsp_for_parts(team->ctx, pieces, lsp_threads_for(team->ctx, team->n, LEAST), do_piece, &r);
    sums[0] = sums[1] = sums[2] = 0;
    for (int64_t piece = 0; piece < pieces; piece++) {
        for (int k = 0; k < 3; k++) {
            sums[k] += team->partial[3 * piece + k];
        }
    }
}
