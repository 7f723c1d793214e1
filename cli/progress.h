/* One line on a terminal that shows how far a long step is. */
#ifndef LSP_CLI_PROGRESS_H
#define LSP_CLI_PROGRESS_H

#include <stdbool.h>

typedef struct cli_progress {
    bool wanted;               /* standard error is a terminal */
    bool verbose;              /* print each line of the library's log */
    double begun, shown;       /* milliseconds */
    int width;                 /* characters on the line now */
    char what[80];             /* empty between steps */
    const char *verb, *object; /* of the current or last step */
    char logged[512];          /* the last line of the log */
} cli_progress;

/* Begins a step such as "reading", "A.mtx". Keeps both pointers. The line appears after one second. */
void cli_progress_begin(cli_progress *progress, const char *verb, const char *object);

/* Ends the step and erases the line; call it before printing anything else. Returns the milliseconds it took. */
double cli_progress_end(cli_progress *progress);

/* Hooks for lsp_ctx_options; `user` is the cli_progress. */
void cli_progress_hook(void *user, const char *phase, double fraction);
void cli_log_hook(void *user, const char *message);

#endif
