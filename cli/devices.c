/* A context and a host thread for each device of --devices. */
#include "devices.h"
#include "text.h"

#include <string.h>

/* ---- the list ---- */

/* One name of the list: its number, -1 for the CPU. */
static bool read_name(const char *name, int *ordinal) {
    int64_t number = -1;
    const bool cpu = strcmp(name, "cpu") == 0;
    const bool gpu = cli_parse_count(strncmp(name, "cuda:", 5) == 0 ? name + 5 : name, 0, 1023, &number);
    *ordinal = gpu ? (int)number : -1;
    return cpu || gpu;
}

int cli_devices_read(const char *list, cli_devices *devices) {
    *devices = (cli_devices){.failed = -1};
    for (const char *at = list; at != NULL; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char name[16] = "";
        int ordinal = -1;
        const size_t length = strcspn(at, ",");
        if (devices->count == CLI_MOST_DEVICES) {
            return cli_usage("--devices takes at most %d devices", CLI_MOST_DEVICES);
        }
        memcpy(name, at, length < sizeof name ? length : 0);
        if (!read_name(name, &ordinal)) {
            return cli_usage("--devices takes numbers of GPUs such as 0,1, or cpu,cpu, not '%s'", list);
        }
        cli_worker *worker = &devices->at[devices->count++];
        worker->wanted = (lsp_ctx_options){.device = ordinal < 0 ? LSP_HOST : LSP_CUDA};
        worker->wanted.ordinal = ordinal < 0 ? 0 : ordinal;
        worker->all = devices;
        snprintf(worker->name, sizeof worker->name, ordinal < 0 ? "CPU" : "GPU %d", ordinal);
        if (worker->wanted.device != devices->at[0].wanted.device) {
            return cli_usage("--devices takes GPUs or shares of the CPU, not both: it would wait for the CPU");
        }
    }
    return CLI_DONE;
}

/* ---- a thread each ---- */

/* Calls one(worker) in a thread for each; here, if the system refuses a thread. */
static void each(cli_devices *devices, void *(*one)(void *worker)) {
    bool begun[CLI_MOST_DEVICES] = {false};
    for (int i = 1; i < devices->count; i++) {
        begun[i] = pthread_create(&devices->at[i].thread, NULL, one, &devices->at[i]) == 0;
    }
    for (int i = 0; i < devices->count; i++) {
        if (!begun[i]) {
            one(&devices->at[i]);
        }
    }
    for (int i = 1; i < devices->count; i++) {
        if (begun[i]) {
            pthread_join(devices->at[i].thread, NULL);
        }
    }
}

/* The first worker that fails keeps the others from going on. */
static void note_failure(cli_worker *worker) {
    cli_devices *devices = worker->all;
    int none = -1;
    if (__atomic_compare_exchange_n(&devices->failed, &none, (int)(worker - devices->at), false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        for (int i = 0; i < devices->count; i++) {
            lsp_ctx_cancel(devices->at[i].ctx, true);
        }
    }
}

/* ---- contexts ---- */

static void *open_one(void *data) {
    cli_worker *worker = data;
    worker->status = lsp_ctx_create(&worker->ctx, &worker->wanted, worker->error, sizeof worker->error);
    return NULL;
}

int cli_devices_begin(cli_run *run, cli_devices *devices) {
    lsp_ctx_info host;
    const lsp_status status = lsp_ctx_get_info(run->ctx, &host);
    if (status != LSP_OK) {
        return cli_failed(run, status);
    }
    for (int i = 0; i < devices->count; i++) {
        lsp_ctx_options *wanted = &devices->at[i].wanted;
        int same = 0;
        for (int k = 0; k < devices->count; k++) {
            same += devices->at[k].wanted.ordinal == wanted->ordinal;
        }
        wanted->threads = host.threads > devices->count ? host.threads / devices->count : 1;
        wanted->max_bytes = run->wanted.max_bytes > same ? run->wanted.max_bytes / same : run->wanted.max_bytes;
    }
    each(devices, open_one);
    for (int i = 0; i < devices->count; i++) {
        if (devices->at[i].status != LSP_OK) {
            return cli_failed_on(run, devices->at[i].name, devices->at[i].error, devices->at[i].status);
        }
        (void)lsp_ctx_get_info(devices->at[i].ctx, &devices->at[i].about);
    }
    return CLI_DONE;
}

static void *work_one(void *data) {
    cli_worker *worker = data;
    const double begun = cli_now();
    worker->status = worker->all->work(worker->all->data, (int)(worker - worker->all->at), worker->ctx);
    worker->ms = cli_now() - begun;
    if (worker->status != LSP_OK) {
        note_failure(worker);
    }
    return NULL;
}

int cli_devices_do(cli_run *run, cli_devices *devices, cli_device_work work, void *data) {
    devices->work = work, devices->data = data;
    devices->failed = -1;
    each(devices, work_one);
    for (int i = 0; i < devices->count; i++) {
        lsp_ctx_cancel(devices->at[i].ctx, false);
        (void)lsp_ctx_get_info(devices->at[i].ctx, &devices->at[i].about);
    }
    if (devices->failed < 0) {
        return CLI_DONE;
    }
    const cli_worker *first = &devices->at[devices->failed];
    return cli_failed_on(run, first->name, lsp_last_error(first->ctx), first->status);
}

void cli_devices_end(cli_devices *devices) {
    for (int i = 0; i < devices->count; i++) {
        lsp_ctx_destroy(devices->at[i].ctx);
        devices->at[i].ctx = NULL;
    }
}
