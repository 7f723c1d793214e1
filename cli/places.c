/* Checks the output paths before anything is read. Two paths name the same file if device and inode are equal. Paths of
 * files that do not exist yet name the same file if folder and name are equal after links are followed. */
#include "places.h"
#include "arguments.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash + 1 - path) : 0;
}

/* Replaces `path` by the target of its last link, repeatedly. The target need not exist. */
static bool follow_links(char *path) {
    char link[PATH_MAX], next[2 * PATH_MAX];
    for (int links = 0; links < 40; links++) {
        const ssize_t length = readlink(path, link, sizeof link - 1);
        if (length < 0) {
            return true; /* not a link */
        }
        link[length] = 0;
        const int used = snprintf(next, sizeof next, "%.*s%s", link[0] == '/' ? 0 : folder_length(path), path, link);
        if (used >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return false;
        }
        memcpy(path, next, (size_t)used + 1);
    }
    errno = ELOOP;
    return false;
}

bool cli_place_of(const char *path, char *target) {
    char followed[PATH_MAX], folder[PATH_MAX], whole[2 * PATH_MAX];
    if (realpath(path, target)) {
        return true;
    }
    if (strlen(path) >= sizeof followed) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(followed, path, strlen(path) + 1);
    if (!follow_links(followed)) {
        return false;
    }
    const char *name = followed + folder_length(followed);
    snprintf(whole, sizeof whole, "%.*s", (int)(name - followed), followed);
    if (!realpath(*whole ? whole : ".", folder)) {
        return false;
    }
    const int used = snprintf(whole, sizeof whole, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);
    errno = *name == 0 ? ENOENT : ENAMETOOLONG;
    if (*name == 0 || used >= PATH_MAX) {
        return false;
    }
    memcpy(target, whole, (size_t)used + 1);
    return true;
}

static bool standard(const cli_place *p) { return strcmp(p->path, "-") == 0; }

static void inspect(cli_place *p) {
    p->exists = p->path && (standard(p) ? fstat(p->output ? STDOUT_FILENO : STDIN_FILENO, &p->about) == 0
                                        : stat(p->path, &p->about) == 0);
}

static bool same_file(const cli_place *a, const cli_place *b) {
    char one[PATH_MAX], other[PATH_MAX];
    if (!a->path || !b->path || a->exists != b->exists) {
        return false;
    }
    if (a->exists) { /* a terminal or /dev/null may be input and output */
        return a->about.st_dev == b->about.st_dev && a->about.st_ino == b->about.st_ino &&
               (S_ISREG(a->about.st_mode) || S_ISFIFO(a->about.st_mode));
    }
    return !standard(a) && !standard(b) && cli_place_of(a->path, one) && cli_place_of(b->path, other) &&
           strcmp(one, other) == 0;
}

/* Returns 0, or an errno. The library writes a new file and renames it, so the folder must be writable too. */
static int why_not_writable(const cli_place *p) {
    char target[PATH_MAX];
    struct stat about;
    if (standard(p)) {
        return 0;
    }
    if (!p->exists && stat(p->path, &about) != 0 && errno != ENOENT) {
        return errno;
    }
    if (p->exists && S_ISDIR(p->about.st_mode)) {
        return EISDIR;
    }
    if (p->exists && access(p->path, W_OK) != 0) {
        return errno;
    }
    if (p->exists && !S_ISREG(p->about.st_mode)) { /* a pipe or a device is written in cli_place */
        return 0;
    }
    if (!cli_place_of(p->path, target)) {
        return errno;
    }
    target[folder_length(target)] = 0;
    return access(target, W_OK | X_OK) == 0 ? 0 : errno;
}

static const char *name_of(const cli_place *p) {
    return !standard(p) ? p->path : p->output ? "standard output" : "standard input";
}

int cli_places_check(cli_place *places, int count) {
    for (int i = 0; i < count; i++) {
        inspect(&places[i]);
        for (int k = 0; k < i && places[i].output; k++) {
            if (same_file(&places[i], &places[k])) {
                return cli_usage("%s would overwrite %s: '%s' and '%s' are the same file", places[i].role,
                                 places[k].role, name_of(&places[i]), name_of(&places[k]));
            }
        }
    }
    for (int i = 0; i < count; i++) {
        const int error = places[i].output && places[i].path ? why_not_writable(&places[i]) : 0;
        if (error) {
            return cli_fail(CLI_INPUT, "%s: cannot be written: %s", places[i].path, strerror(error));
        }
    }
    return CLI_DONE;
}
