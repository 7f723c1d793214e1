/* Writes files that appear complete or not at all. */
#include "outfile.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { most_names = 10000 };

/* place = the path of the file after all links are followed. Returns 0 or errno. */
static int follow(const char *path, char *place) {
    char link[PATH_MAX];
    if (strlen(path) >= PATH_MAX) {
        return ENAMETOOLONG;
    }
    memcpy(place, path, strlen(path) + 1);
    for (int links = 0; links < 40; links++) {
        ssize_t length = readlink(place, link, sizeof link);
        if (length < 0) {
            return 0; /* not a link */
        }
        char *slash = strrchr(place, '/');
        size_t before = link[0] == '/' || !slash ? 0 : (size_t)(slash + 1 - place);
        if (before + (size_t)length >= PATH_MAX) {
            return ENAMETOOLONG;
        }
        memcpy(place + before, link, (size_t)length);
        place[before + (size_t)length] = 0;
    }
    return ELOOP;
}

/* Makes a new file in the directory of the target, with the permissions of the file that it will replace. */
static int open_beside(lsp_outfile *file, const struct stat *old) {
    const char *slash = strrchr(file->target, '/');
    int before = slash ? (int)(slash + 1 - file->target) : 0;
    for (int k = 0; k < most_names; k++) {
        int length =
            snprintf(file->temporary, PATH_MAX, "%.*s.lsp-%ld-%d.part", before, file->target, (long)getpid(), k);
        if (length >= PATH_MAX) {
            return ENAMETOOLONG;
        }
        file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file->fd >= 0) {
            file->exists = true;
            return old && fchmod(file->fd, old->st_mode & 07777) != 0 ? errno : 0;
        }
        if (errno != EEXIST) {
            return errno;
        }
    }
    return EEXIST;
}

int lsp_outfile_open(const char *path, lsp_outfile *file) {
    struct stat old;
    file->fd = -1;
    file->exists = false;
    bool there = stat(path, &old) == 0;
    if (!there && errno != ENOENT) {
        return errno;
    }
    if (there && S_ISDIR(old.st_mode)) {
        return EISDIR;
    }
    if (there && !S_ISREG(old.st_mode)) {
        file->fd = open(path, O_WRONLY | O_CLOEXEC);
        return file->fd >= 0 ? 0 : errno;
    }
    if (there && access(path, W_OK) != 0) {
        return errno; /* a file without write permission is not replaced either */
    }
    int error = follow(path, file->target);
    return error ? error : open_beside(file, there ? &old : NULL);
}

int lsp_outfile_finish(lsp_outfile *file) {
    const int fd = file->fd;
    file->fd = -1;
    if (close(fd) != 0) { /* some file systems report a full disk only here */
        return errno;
    }
    if (file->exists && rename(file->temporary, file->target) != 0) {
        return errno;
    }
    file->exists = false;
    return 0;
}

void lsp_outfile_drop(lsp_outfile *file) {
    if (file->fd >= 0) {
        close(file->fd);
    }
    if (file->exists) {
        unlink(file->temporary);
    }
    file->fd = -1;
    file->exists = false;
}
