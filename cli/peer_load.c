/* Loads NVIDIA's libraries at run time, so that the tools start without them. */
#include "peer_load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void *peer_load(const char *name, char *why, size_t why_bytes) {
    /* CUDA 13 keeps the 12 of cuSPARSE, but has cuBLAS 13. The name without a number is the toolkit's own. */
    static const char *const places[] = {"lib%s.so.13", "lib%s.so.12", "/usr/local/cuda/lib64/lib%s.so.13",
                                         "/usr/local/cuda/lib64/lib%s.so.12", "lib%s.so"};
    char path[128];
    void *library = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !library; i++) {
        snprintf(path, sizeof path, places[i], name);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) {
        snprintf(why, why_bytes, "%s cannot be loaded: %s", strcmp(name, "cublas") == 0 ? "cuBLAS" : "cuSPARSE",
                 dlerror());
    }
    return library;
}

bool peer_resolve(void *library, const char *name, void *to, char *why, size_t why_bytes) {
    void *found = dlsym(library, name);
    memcpy(to, &found, sizeof found);
    if (!found) {
        snprintf(why, why_bytes, "the library has no function %s", name);
    }
    return found != NULL;
}
