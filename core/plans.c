/* The life of plans, which may outlive their context. */
#include "memory.h"
#include <string.h>

typedef struct plan_head { /* of every plan */
    lsp_ctx *ctx;
    lsp_plan_life life;
} plan_head;

lsp_status lsp_plan_new(lsp_ctx *ctx, size_t bytes, void **plan) {
    lsp_status status = lsp_alloc(ctx, LSP_HOST, 1, bytes, plan);
    if (status == LSP_OK) {
        plan_head *made = memset(*plan, 0, bytes);
        *made = (plan_head){ctx, {.plan = made, .next = ctx->plans, .link = &ctx->plans}};
        if (ctx->plans) {
            ctx->plans->link = &made->life.next;
        }
        ctx->plans = &made->life;
    }
    return status;
}

void lsp_plan_end(void *plan) {
    if (!plan) {
        return;
    }
    const plan_head *head = plan;
    const lsp_plan_life *life = &head->life;
    if (!head->ctx) {
        life->allocator.free(life->allocator.user, plan, life->bytes, LSP_HOST);
        return;
    }
    *life->link = life->next;
    if (life->next) {
        life->next->link = life->link;
    }
    lsp_free(head->ctx, plan);
}

void lsp_plans_outlive(lsp_ctx *ctx) {
    for (lsp_plan_life *life = ctx->plans; life; life = life->next) {
        life->allocator = ctx->options.allocator;
        life->bytes = lsp_block_take(ctx, &ctx->used[lsp_block_slot(ctx, life->plan)]).bytes;
        ((plan_head *)life->plan)->ctx = NULL;
    }
}

lsp_status lsp_plan_tell(const void *plan, size_t offset, size_t bytes, void *to) {
    lsp_ctx *ctx = plan ? ((const plan_head *)plan)->ctx : NULL;
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
