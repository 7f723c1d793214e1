/* Runs a fuzz target on each file named and on each file of the folders named, without libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Returns 1 if the file could be run, 0 if not. */
static int replay(const char *path) {
    FILE *file = fopen(path, "rb");
    size_t room = 1 << 24;
    uint8_t *data = file ? malloc(room) : NULL;
    if (!data) {
        fprintf(stderr, "%s: cannot be read\n", path);
        if (file) {
            fclose(file);
        }
        return 0;
    }
    size_t bytes = fread(data, 1, room, file);
    fclose(file);
    uint8_t *exact = malloc(bytes ? bytes : 1); /* of the exact size, so that a sanitizer sees a read beyond it */
    if (exact) {
        memcpy(exact, data, bytes);
        LLVMFuzzerTestOneInput(exact, bytes);
        free(exact);
    }
    free(data);
    return exact != NULL;
}

int main(int argc, char **argv) {
    int count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *directory = opendir(argv[i]);
        if (!directory) {
            count += replay(argv[i]);
            continue;
        }
        for (struct dirent *entry; (entry = readdir(directory));) {
            char path[4096];
            if (entry->d_name[0] != '.' &&
                snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name) < (int)sizeof path) {
                count += replay(path);
            }
        }
        closedir(directory);
    }
    printf("%d inputs replayed\n", count);
    return count > 0 ? 0 : 1;
}
