/* Work that the host enqueues ahead: a CUDA graph that is recorded once and launched many times, and pinned memory that
 * tells what each batch found. */
#include "cuda_state.h"

lsp_status lsp_cuda_queue_open(lsp_ctx *ctx, lsp_cuda_queue *queue, int64_t bytes) {
    lsp_status status = LSP_OK;
    void *memory = NULL;
    const int before = enter(ctx);
    *queue = (lsp_cuda_queue){.bytes = bytes};
    LSP_TRY_DONE(CALL(cudaHostAlloc(&memory, (size_t)bytes * LSP_CUDA_SLOTS, cudaHostAllocDefault),
                      "no pinned memory for the news of the GPU"));
    queue->news = memory;
    for (int s = 0; s < LSP_CUDA_SLOTS; s++) {
        cudaEvent_t event = NULL;
        LSP_TRY_DONE(
            CALL(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "no event for the news of the GPU"));
        queue->event[s] = event;
    }
done:
    leave(ctx, before);
    if (status != LSP_OK) {
        lsp_cuda_queue_close(queue);
    }
    return status;
}

void lsp_cuda_queue_close(lsp_cuda_queue *queue) {
    lsp_cuda_queue_forget(queue);
    for (int s = 0; s < LSP_CUDA_SLOTS; s++) {
        if (queue->event[s] != NULL) {
            (void)cudaEventDestroy(queue->event[s]);
        }
    }
    if (queue->news != NULL) {
        (void)cudaFreeHost(queue->news);
    }
    *queue = (lsp_cuda_queue){0};
}

void lsp_cuda_queue_forget(lsp_cuda_queue *queue) {
    if (queue->graph != NULL) {
        (void)cudaGraphExecDestroy(queue->graph);
        queue->graph = NULL;
    }
}

/* Relaxed: another thread of the program may do as it likes meanwhile. */
lsp_status lsp_cuda_queue_record(lsp_ctx *ctx, lsp_cuda_queue *queue) {
    lsp_cuda_queue_forget(queue);
    const int before = enter(ctx);
    const cudaError_t error = cudaStreamBeginCapture(state_of(ctx)->stream, cudaStreamCaptureModeRelaxed);
    leave(ctx, before);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        return LSP_ERR_UNSUPPORTED;
    }
    return LSP_OK;
}

lsp_status lsp_cuda_queue_recorded(lsp_ctx *ctx, lsp_cuda_queue *queue, lsp_status status) {
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    const int before = enter(ctx);
    const lsp_status ended =
        CALL(cudaStreamEndCapture(state_of(ctx)->stream, &graph), "work on the GPU could not be recorded");
    status = status == LSP_OK ? ended : status;
    if (status == LSP_OK) {
        status = CALL(cudaGraphInstantiate(&exec, graph, 0), "recorded work on the GPU could not be prepared");
    }
    if (graph != NULL) {
        (void)cudaGraphDestroy(graph);
    }
    queue->graph = exec;
    leave(ctx, before);
    return status;
}

lsp_status lsp_cuda_queue_replay(lsp_ctx *ctx, const lsp_cuda_queue *queue) {
    return CALL_THERE(cudaGraphLaunch(queue->graph, state_of(ctx)->stream),
                      "recorded work on the GPU could not be started");
}

lsp_status lsp_cuda_queue_send(lsp_ctx *ctx, const lsp_cuda_queue *queue, int slot, const void *from) {
    lsp_status status = LSP_OK;
    const int before = enter(ctx);
    LSP_TRY_DONE(CALL(cudaMemcpyAsync(queue->news + slot * queue->bytes, from, (size_t)queue->bytes,
                                      cudaMemcpyDeviceToHost, state_of(ctx)->stream),
                      "the GPU's news could not be copied"));
    LSP_TRY_DONE(
        CALL(cudaEventRecord(queue->event[slot], state_of(ctx)->stream), "the GPU's news could not be marked"));
done:
    leave(ctx, before);
    return status;
}

lsp_status lsp_cuda_queue_news(lsp_ctx *ctx, const lsp_cuda_queue *queue, int slot, const void **news) {
    *news = queue->news + slot * queue->bytes;
    return CALL(cudaEventSynchronize(queue->event[slot]), "work on the GPU failed");
}
