/* The life of plans, which may outlive their context. */
#include "memory.h"
#include <string.h>

lsp_status lsp_plan_new(lsp_ctx *ctx, size_t bytes, void **plan) {
    lsp_plan_life **list = ctx->holder ? &ctx->holder->parts : &ctx->plans;
    LSP_PLAN_HOLDS(ctx, NULL);
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, bytes, plan));
    lsp_plan *made = memset(*plan, 0, bytes);
    *made = (lsp_plan){ctx, {.plan = made, .next = *list, .link = list}};
    if (*list) {
        (*list)->link = &made->life.next;
    }
    *list = &made->life;
    return LSP_OK;
}

lsp_plan_scope lsp_plan_hold(lsp_ctx *ctx, void *plan) {
    const lsp_plan_scope scope = {ctx, ctx->holder};
    ctx->holder = plan ? &((lsp_plan *)plan)->life : NULL;
    return scope;
}

lsp_status lsp_plan_part(void *outer, lsp_plan **part) {
    lsp_ctx *ctx = ((lsp_plan *)outer)->ctx;
    LSP_PLAN_HOLDS(ctx, outer);
    return LSP_PLAN_NEW(ctx, part);
}

void lsp_plan_take(void *plan, const void *memory) {
    lsp_plan *head = plan;
    const lsp_block *found = lsp_block_find(head->ctx, memory);
    if (found) {
        lsp_block block = lsp_block_take(head->ctx, found);
        block.holder = &head->life;
        lsp_block_put(head->ctx, block);
    }
}

int64_t lsp_plan_bytes(const void *plan) {
    const lsp_plan *head = plan;
    int64_t bytes = lsp_bytes_at(head->ctx, plan);
    for (const void *memory = head->life.blocks; memory;) {
        const lsp_block *block = lsp_block_find(head->ctx, memory);
        bytes += (int64_t)block->bytes;
        memory = block->next;
    }
    for (const lsp_plan_life *part = head->life.parts; part; part = part->next) {
        bytes += lsp_plan_bytes(part->plan);
    }
    return bytes;
}

static void close_all(lsp_plan_life *life) {
    for (lsp_plan_life *part = life->parts; part; part = part->next) {
        close_all(part);
    }
    if (life->close) {
        life->close(life->plan);
    }
    life->close = NULL;
}

void lsp_plan_end(void *plan) {
    if (!plan) {
        return;
    }
    lsp_plan *head = plan;
    lsp_plan_life *life = &head->life;
    if (!head->ctx) {
        life->allocator.free(life->allocator.user, plan, life->bytes, LSP_HOST);
        return;
    }
    close_all(life);
    while (life->parts) {
        lsp_plan_end(life->parts->plan);
    }
    while (life->blocks) {
        lsp_free(head->ctx, life->blocks);
    }
    *life->link = life->next;
    if (life->next) {
        life->next->link = life->link;
    }
    lsp_free(head->ctx, plan);
}

void lsp_plan_leave(const void *place) {
    void *plan;
    memcpy(&plan, place, sizeof plan);
    lsp_plan_end(plan);
}

void lsp_plans_outlive(lsp_ctx *ctx) {
    for (lsp_plan_life *life = ctx->plans; life; life = life->next) {
        close_all(life);
        life->allocator = ctx->options.allocator;
        life->bytes = lsp_block_take(ctx, &ctx->used[lsp_block_slot(ctx, life->plan)]).bytes;
        ((lsp_plan *)life->plan)->ctx = NULL;
    }
}

lsp_status lsp_plan_tell(const void *plan, size_t offset, size_t bytes, void *to) {
    lsp_ctx *ctx = plan ? ((const lsp_plan *)plan)->ctx : NULL;
    if (!ctx || !to) {
        return lsp_fail(ctx, LSP_ERR_ARGUMENT, "the place for the plan's facts is NULL");
    }
    memcpy(to, (const char *)plan + offset, bytes);
    return LSP_OK;
}

lsp_status lsp_plan_check(lsp_ctx *ctx, const lsp_plan_fact *facts) {
    for (; facts->name; facts++) {
        if (facts->planned != facts->given) {
            return lsp_fail(ctx, LSP_ERR_ARGUMENT, "the %s is %lld, but the plan was made for %lld", facts->name,
                            (long long)facts->given, (long long)facts->planned);
        }
    }
    return LSP_OK;
}
