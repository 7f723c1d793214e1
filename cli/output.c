/* Writes a file beside its place and renames it when it is complete. */
#include "output.h"
#include "arguments.h"
#include "interrupt.h"
#include "places.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_output_open(cli_output *p, const char *path) {
    struct stat old;
    p->beside[0] = 0;
    p->to = NULL;
    if (!cli_place_of(path, p->target)) {
        return false;
    }
    bool there = stat(p->target, &old) == 0;
    if (there && !S_ISREG(old.st_mode)) { /* a pipe or a device is written directly */
        p->to = fopen(p->target, "w");
        return p->to != NULL;
    }
    snprintf(p->beside, sizeof p->beside, "%.*s.lsp-%ld-own.part", (int)(strrchr(p->target, '/') + 1 - p->target),
             p->target, (long)getpid());
    cli_guard(p->beside);
    int file = open(p->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) {
        p->beside[0] = 0;
        return false;
    }
    if (there) {
        (void)fchmod(file, old.st_mode & 07777);
    }
    p->to = fdopen(file, "w");
    return p->to != NULL;
}

static bool complete(cli_output *p) {
    bool bad = ferror(p->to) != 0;
    bad = fclose(p->to) != 0 || bad;
    return !bad && (!p->beside[0] || rename(p->beside, p->target) == 0);
}

int cli_output_close(cli_output *p, bool opened, const char *path, const char *kind) {
    const bool ok = opened && complete(p);
    const int reason = errno;
    if (!ok && p->beside[0]) {
        unlink(p->beside);
    }
    cli_guard_end();
    return ok ? CLI_DONE : cli_fail(CLI_INPUT, "the %s '%s' cannot be written: %s", kind, path, strerror(reason));
}
