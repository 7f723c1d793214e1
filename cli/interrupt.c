/* An interrupted run leaves no unfinished file behind: a signal handler removes it, then ends the program by the same
 * signal. */
#include "interrupt.h"
#include "places.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char guarded[PATH_MAX + 64]; /* global, because a signal handler is given only the number of the signal */

static void remove_and_end(int signal_number) {
    if (guarded[0]) {
        unlink(guarded);
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void cli_guard(const char *unfinished) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};
    snprintf(guarded, sizeof guarded, "%s", unfinished);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction before, now = {.sa_handler = remove_and_end};
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
            sigaction(signals[i], &now, NULL); /* a signal that the caller ignores (nohup) stays ignored */
        }
    }
}

void cli_guard_output(const char *path) {
    char target[PATH_MAX], unfinished[PATH_MAX + 64];
    if (!cli_place_of(path, target)) { /* the writer will report the error */
        snprintf(target, sizeof target, "%s", path);
    }
    const char *slash = strrchr(target, '/');
    snprintf(unfinished, sizeof unfinished, "%.*s.lsp-%ld-0.part", slash ? (int)(slash + 1 - target) : 0, target,
             (long)getpid());
    cli_guard(unfinished);
}

void cli_guard_end(void) { guarded[0] = 0; }
