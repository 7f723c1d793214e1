/* The thread pool of a context. Other rooms use it by lsp_for_parts (core.h) only. */
#pragma once

#include "core.h"

typedef struct lsp_pool lsp_pool;

size_t lsp_pool_bytes(int threads);
void lsp_pool_open(lsp_pool *pool, int threads); /* creates no thread yet: the first region does */
void lsp_pool_close(lsp_pool *pool);
/* False in a task of options.parallel that runs in another thread than the call. */
bool lsp_in_callers_thread(const lsp_ctx *ctx);
