/* C<M> = A*B: only the entries of the product that the mask has. Threads take blocks of rows. Each entry of the mask
 * has a sum, and the entries that got no product are dropped at the end. C without the mask is never made. */
#include "masked.h"
#include "core/isa.h"
#include "matrices/matrices.h"

#include <stdio.h>
#include <string.h>

/* How many threads, the slots of each one's table, and the memory. */
typedef struct masked_choice {
    int threads;
    int64_t slots;
    int64_t bytes, result; /* of scratch, and of C at most; INT64_MAX if an int64_t cannot hold them */
    int64_t available;
} masked_choice;

static int64_t longest_row(const lsp_csr *A) {
    int64_t longest = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        longest = lsp_max(longest, lsp_csr_rowptr(A, i + 1) - lsp_csr_rowptr(A, i));
    }
    return longest;
}

/* a*b + more; INT64_MAX if an int64_t cannot hold it. */
static int64_t bytes_of(int64_t a, int64_t b, int64_t more) {
    int64_t bytes;
    return lsp_mul(a, b, &bytes) && lsp_add(bytes, more, &bytes) ? bytes : INT64_MAX;
}

static int64_t available_bytes(const lsp_spgemm_plan *plan, int64_t needed) {
    enum { ASKED_FROM = 64 << 20 }; /* bytes: for less, the free memory is not asked for */
    const bool ask = needed >= ASKED_FROM || plan->ctx->options.max_bytes > 0;
    return ask ? lsp_available_bytes(plan->ctx, plan->where) : INT64_MAX;
}

static masked_choice choose(const lsp_spgemm_plan *plan) {
    const lsp_csr *mask = plan->options.filter.mask;
    const int64_t value = (int64_t)lsp_type_bytes(plan->type), rows = plan->facts.rows;
    const int64_t rounded = plan->type == plan->val_type ? 0 : (int64_t)lsp_type_bytes(plan->val_type);
    masked_choice c = {.threads = 1};
    c.bytes = bytes_of(mask->nnz, 1 + value, bytes_of(rows + 1, 2 * 8, 0));
    c.result = bytes_of(lsp_min(mask->nnz, plan->facts.nnz_bound), 8 + value + rounded, bytes_of(rows + 1, 8, 0));
    c.available = available_bytes(plan, lsp_max(c.bytes, c.result));
    if (plan->where == LSP_HOST) {
        c.threads = lsp_spgemm_threads(plan->ctx, plan->facts.products);
        c.slots = lsp_mask_slots(longest_row(mask), mask->cols);
        const int64_t table = c.slots * (int64_t)sizeof(uint32_t), left = c.available - c.bytes;
        c.threads = (int)lsp_max(lsp_min(c.threads, left / table), 1);
        c.bytes = bytes_of(c.threads, table, c.bytes);
    }
    return c;
}

bool lsp_spgemm_choose_masked(lsp_spgemm_plan *plan) {
    const lsp_csr *mask = plan->options.filter.mask;
    lsp_spgemm_info *info = &plan->info;
    if (!lsp_spgemm_masks(&plan->options)) {
        return false;
    }
    const bool asked = plan->options.method == LSP_SPGEMM_MASK;
    const masked_choice c = choose(plan);
    const bool fits = c.bytes <= c.available && c.result <= c.available - c.bytes;
    if (!asked && !(fits && lsp_spgemm_prefers_mask(plan->facts.products, mask->nnz))) {
        return false;
    }
    plan->facts.nnz_bound = lsp_min(plan->facts.nnz_bound, mask->nnz);
    info->method = LSP_SPGEMM_MASK;
    info->scratch_bytes = c.bytes;
    info->blocks = plan->where == LSP_CUDA ? 1 : info->blocks;
    snprintf(info->reason, sizeof info->reason, "%s%lld products are looked up among the mask's %lld entries%s",
             asked ? "asked for; " : "", (long long)plan->facts.products, (long long)mask->nnz,
             plan->where == LSP_CUDA ? ", on the GPU" : "");
    return true;
}

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
    (m->pass, table, plan->block_rows[block], plan->block_rows[block + 1]);
}

lsp_status lsp_spgemm_masked(lsp_spgemm_plan *plan, const lsp_spgemm_job *job, lsp_csr *C) {
    enum { NEAR = 1 << 16 }; /* entries in the cache of a core */
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    size_t mark = lsp_scratch_mark(ctx);
    const lsp_csr *mask = plan->options.filter.mask;
    const masked_choice c = choose(plan);
    uint32_t *slots;
    own_table *tables;
    lsp_masked_pass pass = {.job = job, .mask = mask, .products = plan->rowptr, .far = job->B.nnz > NEAR};
    lsp_csr places = *mask; /* the mask, with the sums as its values */
    LSP_REQUIRE(longest_row(mask) < UINT32_MAX, LSP_ERR_UNSUPPORTED, "a row of the mask has 2^32 entries or more");
    LSP_REQUIRE(
        c.bytes <= c.available, LSP_ERR_MEMORY,
        "a place for each of %lld entries of the mask takes %lld bytes (%s) of scratch; %lld (%s) are available",
        (long long)mask->nnz, (long long)c.bytes, lsp_size(c.bytes).text, (long long)c.available,
        lsp_size(c.available).text);
    LSP_TRY(lsp_scratch_bytes(ctx, mask->nnz, lsp_type_bytes(plan->type), false, &pass.sums));
    LSP_TRY(LSP_SCRATCH(ctx, mask->nnz, &pass.touched));
    LSP_TRY(LSP_SCRATCH(ctx, mask->rows + 1, &pass.counts));
    LSP_TRY(LSP_SCRATCH(ctx, c.threads * c.slots, &slots));
    LSP_TRY(LSP_SCRATCH(ctx, c.threads, &tables));
    for (int thread = 0; thread < c.threads; thread++) {
        tables[thread].table = (lsp_mask_table){.slots = slots + thread * c.slots, .size = c.slots};
    }
    lsp_for_parts(ctx, plan->info.blocks, c.threads, do_block,
                  &(masking){.plan = plan, .pass = &pass, .tables = tables});
    places.val = pass.sums;
    places.val_type = plan->type;
    LSP_TRY(lsp_filter_take(ctx, &places, pass.touched, pass.counts, &plan->options.types, C));
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
