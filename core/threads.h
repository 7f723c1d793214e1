/* The host threads of a context: made with it, ended with it. Others see lsp_for_parts alone (core.h). */
#ifndef LSP_CORE_THREADS_H
#define LSP_CORE_THREADS_H

#include "core.h"

typedef struct lsp_pool lsp_pool;

size_t lsp_pool_bytes(int threads);
void lsp_pool_open(lsp_pool *pool, int threads); /* starts none yet */
void lsp_pool_close(lsp_pool *pool);

#endif
