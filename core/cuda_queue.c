/* Work that the host enqueues ahead: a CUDA graph that is recorded once and launched many times, and pinned memory that
 * tells what each batch found. */
#include "cuda_state.h"

static lsp_status make_news(lsp_ctx *ctx, lsp_cuda_queue *queue) {
    void *memory = NULL;
    ON_DEVICE(ctx);
    LSP_TRY(CALL(cudaHostAlloc(&memory, (size_t)queue->bytes * LSP_CUDA_SLOTS, cudaHostAllocDefault),
                 "no pinned memory for the news of the GPU"));
    queue->news = memory;
    for (int s = 0; s < LSP_CUDA_SLOTS; s++) {
        cudaEvent_t event = NULL;
        LSP_TRY(CALL(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "no event for the news of the GPU"));
        queue->event[s] = event;
    }
    return LSP_OK;
}

lsp_status lsp_cuda_queue_open(lsp_ctx *ctx, lsp_cuda_queue *queue, int64_t bytes) {
    *queue = (lsp_cuda_queue){.bytes = bytes};
    const lsp_status status = make_news(ctx, queue);
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
    ON_DEVICE(ctx);
    const cudaError_t error = cudaStreamBeginCapture(state_of(ctx)->stream, cudaStreamCaptureModeRelaxed);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        return LSP_ERR_UNSUPPORTED;
    }
    return LSP_OK;
}

lsp_status lsp_cuda_queue_recorded(lsp_ctx *ctx, lsp_cuda_queue *queue, lsp_status status) {
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    ON_DEVICE(ctx);
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
    return status;
}

lsp_status lsp_cuda_queue_replay(lsp_ctx *ctx, const lsp_cuda_queue *queue) {
    return CALL_THERE(cudaGraphLaunch(queue->graph, state_of(ctx)->stream),
                      "recorded work on the GPU could not be started");
}

lsp_status lsp_cuda_queue_send(lsp_ctx *ctx, const lsp_cuda_queue *queue, int slot, const void *from) {
    ON_DEVICE(ctx);
    LSP_TRY(CALL(cudaMemcpyAsync(queue->news + slot * queue->bytes, from, (size_t)queue->bytes, cudaMemcpyDeviceToHost,
                                 state_of(ctx)->stream),
                 "the GPU's news could not be copied"));
    return CALL(cudaEventRecord(queue->event[slot], state_of(ctx)->stream), "the GPU's news could not be marked");
}

lsp_status lsp_cuda_queue_news(lsp_ctx *ctx, const lsp_cuda_queue *queue, int slot, const void **news) {
    *news = queue->news + slot * queue->bytes;
    return CALL(cudaEventSynchronize(queue->event[slot]), "work on the GPU failed");
}
