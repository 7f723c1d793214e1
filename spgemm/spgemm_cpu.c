/* C = A*B by threads: blocks of rows in turn, each thread with words, factors and a window of its own. */
#include "core/isa.h"
#include "spgemm.h"
#include <omp.h>
#include <string.h>

static char *take(char **at, size_t bytes) {
    char *part = *at;
    *at += (bytes + 63) / 64 * 64;
    return part;
}

/* Lays a thread's scratch out and brings the window into the state it has between rows. */
static lsp_spgemm_work prepare_work(const lsp_spgemm_room *room, lsp_type type, char *memory) {
    lsp_spgemm_work work;
    size_t slots = (size_t)(room->sort_products + LSP_WORD_PAD), columns = (size_t)room->window_columns;
    work.words = take(&memory, slots * room->word_bytes);
    work.spare = take(&memory, slots * room->word_bytes);
    work.a = take(&memory, slots * room->value_bytes);
    work.b = take(&memory, slots * room->value_bytes);
    work.sum = take(&memory, columns * room->value_bytes);
    work.touched = (uint8_t *)take(&memory, columns);
    memset(work.touched, 0, columns);
    for (size_t j = 0; j < columns && type != LSP_NONE; j++) {
        if (type == LSP_F32) {
            ((float *)work.sum)[j] = -0.0F;
        } else {
            ((double *)work.sum)[j] = -0.0;
        }
    }
    return work;
}

lsp_status lsp_spgemm_cpu(lsp_spgemm_plan *plan, lsp_spgemm_job *job) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    size_t mark = lsp_scratch_mark(ctx);
    lsp_type type = job->counting ? LSP_NONE : job->type;
    const lsp_spgemm_kernels *kernels = LSP_ISA_PICK(ctx->isa, lsp_spgemm_kernels)();
    lsp_spgemm_rows rows = kernels->rows[job->B.col_type == LSP_I64][type == LSP_NONE ? 0 : type == LSP_F32 ? 1 : 2];
    int64_t available = lsp_available_bytes(ctx, LSP_HOST), blocks = plan->info.blocks;
    double done_before = job->counting ? 0 : 0.5;
    lsp_spgemm_choice choice;
    char *memory;
    LSP_REQUIRE(lsp_spgemm_choose(&plan->facts, LSP_SPGEMM_SORT, type, ctx->options.threads, available, &choice),
                LSP_ERR_MEMORY, "multiplying needs %lld bytes of scratch at least, and %lld are available",
                (long long)choice.thread_bytes, (long long)available);
    LSP_TRY(lsp_scratch_bytes(ctx, choice.thread_bytes * choice.threads, 1, false, (void **)&memory));
    job->room = choice.room;
    job->sort = lsp_segsort_get_kernels(ctx)->sort;
#pragma omp parallel num_threads(choice.threads)
    {
        lsp_spgemm_work work = prepare_work(&job->room, type, memory + omp_get_thread_num() * choice.thread_bytes);
#pragma omp for schedule(dynamic)
        for (int64_t block = 0; block < blocks; block++) {
            if (omp_get_thread_num() == 0) {
                lsp_progress(ctx, "multiply", done_before + 0.5 * (double)block / (double)blocks);
            }
            rows(job, &work, plan->block_rows[block], plan->block_rows[block + 1]);
        }
    }
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
