/* Shows the progress of a long step on one line. The line is erased by a carriage return and blanks, which every
 * terminal understands. */
#include "progress.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

enum { first_after = 1000, again_after = 100 }; /* milliseconds until the line appears, and between updates */

void cli_progress_begin(cli_progress *progress, const char *verb, const char *object) {
    size_t length = strlen(object);
    bool cut = length > 40;
    snprintf(progress->what, sizeof progress->what, "%s %s%s", verb, cut ? "..." : "",
             cut ? object + length - 40 : object);
    progress->verb = verb;
    progress->object = object;
    progress->begun = cli_now();
    progress->shown = 0;
}

static void erase(cli_progress *progress) {
    if (progress->width > 0) {
        fprintf(stderr, "\r%*s\r", progress->width, "");
        fflush(stderr);
        progress->width = 0;
    }
}

double cli_progress_end(cli_progress *progress) {
    double passed = cli_now() - progress->begun;
    erase(progress);
    progress->what[0] = 0;
    return passed;
}

void cli_progress_hook(void *user, const char *phase, double fraction) {
    (void)phase; /* the tool has named the step already */
    cli_progress *progress = user;
    double now = cli_now();
    if (!progress->wanted || !progress->what[0] || now - progress->begun < first_after ||
        now - progress->shown < again_after) {
        return;
    }
    char line[128], percent[16] = "";
    if (fraction >= 0) {
        snprintf(percent, sizeof percent, " %3.0f %%", 100 * (fraction < 1 ? fraction : 1));
    }
    snprintf(line, sizeof line, "%s%s, %.0f s", progress->what, percent, (now - progress->begun) / 1000);
    fputc('\r', stderr);
    const int width = cli_print(stderr, line);
    fprintf(stderr, "%*s", progress->width > width ? progress->width - width : 0, "");
    fflush(stderr);
    progress->width = width > progress->width ? width : progress->width;
    progress->shown = now;
}

void cli_log_hook(void *user, const char *message) {
    cli_progress *progress = user;
    snprintf(progress->logged, sizeof progress->logged, "%s", message);
    if (progress->verbose) {
        erase(progress);
        fprintf(stderr, "spgemm-cli: %s\n", message);
    }
}
