/* C<M> = A*B: only the entries of the product that the mask has. Threads take blocks of rows. Each entry of the mask
 * has a sum, and the entries that got no product are dropped at the end. C without the mask is never made. */
#include "masked.h"
#include "core/isa.h"
#include <string.h>

typedef struct own_table { /* of a thread, in a cache line of its own; base 0: not cleared yet */
    _Alignas(64) lsp_mask_table table;
} own_table;

typedef struct masking {
    const lsp_spgemm_plan *plan;
    const lsp_masked_pass *pass;
    own_table *tables;
} masking;

static void do_block(void *data, int64_t block, int thread) {
    const masking *m = data;
    const lsp_spgemm_plan *plan = m->plan;
    lsp_mask_table *table = &m->tables[thread].table;
    if (table->base == 0) {
        memset(table->slots, 0, (size_t)table->size * sizeof *table->slots);
        table->base = 1;
    }
    if (thread == 0) {
        lsp_progress(plan->ctx, "multiply", (double)block / (double)plan->info.blocks);
    }
    LSP_ISA_PICK(plan->ctx->isa, lsp_spgemm_masked_rows)
    (m->pass, table, plan->cpu->block_rows[block], plan->cpu->block_rows[block + 1]);
}

lsp_status lsp_spgemm_cpu_masked(lsp_spgemm_plan *plan, const lsp_spgemm_job *job, lsp_csr *C) {
    lsp_ctx *ctx = plan->ctx;
    const lsp_csr *mask = plan->options.filter.mask;
    const lsp_spgemm_masked_choice c = lsp_spgemm_masked_scratch(plan);
    uint32_t *slots;
    own_table *tables;
    lsp_masked_pass pass = {.job = job, .mask = mask};
    lsp_csr sums = *mask; /* its values are the sums */
    LSP_REQUIRE(c.longest < UINT32_MAX, LSP_ERR_UNSUPPORTED, "a row of the mask has 2^32 entries or more");
    LSP_REQUIRE(
        c.bytes <= c.available, LSP_ERR_MEMORY,
        "a place for each of %lld entries of the mask takes %lld bytes (%s) of scratch; %lld (%s) are available",
        (long long)mask->nnz, (long long)c.bytes, lsp_size(c.bytes).text, (long long)c.available,
        lsp_size(c.available).text);
    LSP_TRY(lsp_scratch_bytes(ctx, mask->nnz, lsp_type_bytes(plan->type), false, &pass.sums));
    LSP_TRY(LSP_SCRATCH(ctx, mask->nnz, &pass.touched));
    LSP_TRY(LSP_SCRATCH(ctx, c.threads * c.slots, &slots));
    LSP_TRY(LSP_SCRATCH(ctx, c.threads, &tables));
    for (int thread = 0; thread < c.threads; thread++) {
        tables[thread].table = (lsp_mask_table){.slots = slots + thread * c.slots, .size = c.slots};
    }
    LSP_TRY(lsp_try_parts(ctx, plan->info.blocks, c.threads, do_block,
                          &(masking){.plan = plan, .pass = &pass, .tables = tables}));
    sums.val = pass.sums;
    sums.val_type = plan->type;
    return lsp_filter_take(ctx, &sums, pass.touched, &plan->options.types, C);
}
