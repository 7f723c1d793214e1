/* Two threads add to one counter, first under a mutex, then without one. The sanitizer must report the second pair and
 * not the first: if it did not see this race, its silence about the library would prove nothing. */
#include <pthread.h>
#include <stdio.h>

enum { STEPS = 100000, THREADS = 2 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long guarded, bare;

static void *add_guarded(void *unused) {
    for (int i = 0; i < STEPS; i++) {
        pthread_mutex_lock(&mutex);
        guarded += i;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *add_bare(void *unused) {
    for (int i = 0; i < STEPS; i++) {
        bare += i;
    }
    return unused;
}

static int run(void *(*add)(void *)) {
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++) {
        if (pthread_create(&threads[t], NULL, add, NULL) != 0) {
            return 1;
        }
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
    }
    return 0;
}

int main(void) {
    int failed = run(add_guarded);
    puts("the race begins");
    fflush(stdout);
    failed |= run(add_bare);
    printf("%ld %ld\n", guarded, bare);
    return failed;
}
