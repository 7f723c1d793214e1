/* A new empty folder for the files of a test. */
#pragma once

#include "tests/support.h"

static char folder[64];

/* The path of a file in the folder. It is valid until the fourth call from now. */
static inline const char *in_folder(const char *name) {
    static char paths[4][128];
    static int next;
    if (!folder[0]) {
        strcpy(folder, "/tmp/test_mtx_XXXXXX");
        cr_assert(mkdtemp(folder) != NULL);
    }
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline void remove_folder(void) {
    if (folder[0]) {
        char command[128];
        snprintf(command, sizeof command, "rm -rf '%s'", folder);
        cr_assert(system(command) == 0);
    }
}
