/* --devices 0,1: a context and a host thread for each device of a run. */
#pragma once

#include "run.h"

enum { CLI_MOST_DEVICES = 16 };

typedef struct cli_worker {
    char name[16]; /* "GPU 1", "CPU" */
    lsp_ctx_options wanted;
    lsp_ctx *ctx;
    lsp_ctx_info about; /* after cli_devices_do with the peaks of memory */
    double ms;          /* that the work of cli_devices_do took here */
    lsp_status status;
    char error[1024]; /* why it could not be opened */
    struct cli_devices *all;
    pthread_t thread;
} cli_worker;

/* The work of one device, in a thread of its own. `number` counts the devices from 0. A failure must leave its sentence
 * in the context. */
typedef lsp_status (*cli_device_work)(void *data, int number, lsp_ctx *ctx);

typedef struct cli_devices {
    int count; /* 0: the option was not given */
    cli_worker at[CLI_MOST_DEVICES];
    int failed; /* the first one that failed; -1: none */
    cli_device_work work;
    void *data;
} cli_devices;

/* Reads "0,1" (GPUs; one may be named twice) or "cpu,cpu" (each has its share of the threads). NULL: none. Returns
 * CLI_DONE or CLI_USAGE. */
int cli_devices_read(const char *list, cli_devices *devices);

/* Opens all of them at the same time, after run->ctx. Threads of the host are shared among all, a budget of memory
 * among those on one device. Returns an exit code; the sentence names the device that cannot be used. */
int cli_devices_begin(cli_run *run, cli_devices *devices);

/* Runs `work` once on each device, at the same time. The first failure stops the others (lsp_ctx_cancel) and is told
 * with the name of its device. Returns an exit code. */
int cli_devices_do(cli_run *run, cli_devices *devices, cli_device_work work, void *data);

/* Closes all. */
void cli_devices_end(cli_devices *devices);
