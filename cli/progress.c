/* Shows the progress of a long step on one line. The line is erased by a carriage return and blanks, which every
 * terminal understands. */
#include "progress.h"
#include "arguments.h"
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { first_after = 1000, again_after = 100 }; /* milliseconds until the line appears, and between updates */

static void lock(cli_progress *progress) {
    if (progress->ticking) {
        pthread_mutex_lock(&progress->mutex);
    }
}

static void unlock(cli_progress *progress) {
    if (progress->ticking) {
        pthread_mutex_unlock(&progress->mutex);
    }
}

void cli_progress_begin(cli_progress *progress, const char *verb, const char *object) {
    size_t length = strlen(object);
    bool cut = length > 40;
    lock(progress);
    snprintf(progress->what, sizeof progress->what, "%s %s%s", verb, cut ? "..." : "",
             cut ? object + length - 40 : object);
    progress->verb = verb;
    progress->object = object;
    progress->begun = cli_now();
    progress->shown = 0;
    progress->fraction = -1;
    progress->note[0] = 0;
    unlock(progress);
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
    lock(progress);
    erase(progress);
    progress->what[0] = 0;
    unlock(progress);
    return passed;
}

void cli_progress_note(cli_progress *progress, const char *format, ...) {
    va_list arguments;
    lock(progress);
    va_start(arguments, format);
    vsnprintf(progress->note, sizeof progress->note, format, arguments);
    va_end(arguments);
    unlock(progress);
}

/* Prints the line if it is time to. */
static void show(cli_progress *progress) {
    double now = cli_now();
    if (!progress->wanted || !progress->what[0] || now - progress->begun < first_after ||
        now - progress->shown < again_after) {
        return;
    }
    char line[192], percent[16] = "";
    if (progress->fraction >= 0) {
        snprintf(percent, sizeof percent, " %3.0f %%", 100 * (progress->fraction < 1 ? progress->fraction : 1));
    }
    snprintf(line, sizeof line, "%s%s%s%s, %.0f s", progress->what, percent, *progress->note ? ", " : "",
             progress->note, (now - progress->begun) / 1000);
    fputc('\r', stderr);
    const int width = cli_print(stderr, line);
    fprintf(stderr, "%*s", progress->width > width ? progress->width - width : 0, "");
    fflush(stderr);
    progress->width = width > progress->width ? width : progress->width;
    progress->shown = now;
}

void cli_progress_hook(void *user, const char *phase, double fraction) {
    (void)phase; /* the tool has named the step already */
    cli_progress *progress = user;
    lock(progress);
    progress->fraction = fraction;
    show(progress);
    unlock(progress);
}

void cli_log_hook(void *user, const char *message) {
    cli_progress *progress = user;
    lock(progress);
    snprintf(progress->logged, sizeof progress->logged, "%s", message);
    if (progress->verbose) {
        erase(progress);
        fprintf(stderr, "%s: %s\n", cli_tool_name(), message);
    }
    unlock(progress);
}

/* ---- the thread ---- */

static void *tick(void *data) {
    cli_progress *progress = data;
    struct timespec next;
    pthread_mutex_lock(&progress->mutex);
    clock_gettime(CLOCK_REALTIME, &next);
    while (!progress->stopped) {
        next.tv_nsec += again_after * 1000000L;
        next.tv_sec += next.tv_nsec / 1000000000L;
        next.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&progress->news, &progress->mutex, &next);
        show(progress);
    }
    pthread_mutex_unlock(&progress->mutex);
    return NULL;
}

void cli_progress_start(cli_progress *progress) {
    if (progress->wanted) {
        pthread_mutex_init(&progress->mutex, NULL);
        pthread_cond_init(&progress->news, NULL);
        progress->ticking = true; /* before the thread starts: both take the mutex */
        if (pthread_create(&progress->thread, NULL, tick, progress) != 0) {
            progress->ticking = false;
        }
    }
}

void cli_progress_stop(cli_progress *progress) {
    if (progress->ticking) {
        pthread_mutex_lock(&progress->mutex);
        progress->stopped = true;
        pthread_cond_broadcast(&progress->news);
        pthread_mutex_unlock(&progress->mutex);
        pthread_join(progress->thread, NULL);
        progress->ticking = false;
    }
}
