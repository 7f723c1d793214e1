/* One line on a terminal that says how far a long step is. */
#ifndef LSP_CLI_PROGRESS_H
#define LSP_CLI_PROGRESS_H

#include <stdbool.h>

typedef struct cli_progress {
    bool wanted;               /* there is a terminal to show it on */
    bool verbose;              /* the library's log is shown as it comes */
    double begun, shown;       /* milliseconds */
    int width;                 /* letters on the line now */
    char what[80];             /* empty between steps */
    const char *verb, *object; /* of the last step begun */
    char logged[512];          /* the last line of the log */
} cli_progress;

/* A step begins: "reading A.mtx", two texts that stay. Nothing is shown during its first second. */
void cli_progress_begin(cli_progress *progress, const char *verb, const char *object);

/* The line vanishes, before anything else is printed. Returns the milliseconds since the step began. */
double cli_progress_end(cli_progress *progress);

/* Hooks of the context; `user` is the cli_progress. */
void cli_progress_hook(void *user, const char *phase, double fraction);
void cli_log_hook(void *user, const char *message);

#endif
