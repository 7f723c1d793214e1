/* One line on a terminal that shows how far a long step is. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

typedef struct cli_progress {
    bool wanted;               /* standard error is a terminal */
    bool verbose;              /* print each line of the library's log */
    double begun, shown;       /* milliseconds */
    double fraction;           /* of the step that is done; < 0: not known */
    int width;                 /* characters on the line now */
    char what[80];             /* empty between steps */
    char note[64];             /* what follows it on the line; may be empty */
    const char *verb, *object; /* of the current or last step */
    char logged[512];          /* the last line of the log */
    bool ticking, stopped;
    pthread_t thread;
    pthread_mutex_t mutex; /* protects all of this while `ticking` */
    pthread_cond_t news;
} cli_progress;

/* Starts a thread that keeps the line up to date during calls that report no progress. Without it, hooks alone do. Does
 * nothing unless `wanted`. */
void cli_progress_start(cli_progress *progress);
void cli_progress_stop(cli_progress *progress);

/* Begins a step such as "reading", "A.mtx". Keeps both pointers. The line appears after one second. */
void cli_progress_begin(cli_progress *progress, const char *verb, const char *object);

/* Ends the step and erases the line; call it before printing anything else. Returns the milliseconds it took. */
double cli_progress_end(cli_progress *progress);

/* Sets the note of the step. */
void cli_progress_note(cli_progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hooks for lsp_ctx_options; `user` is the cli_progress. */
void cli_progress_hook(void *user, const char *phase, double fraction);
void cli_log_hook(void *user, const char *message);
