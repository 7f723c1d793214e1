/* A race on purpose: every thread adds to one counter. The sanitizer must see it, or its silence elsewhere says
 * nothing. The first loop is right, and must not be reported. */
#include <stdio.h>

int main(void) {
    long right = 0, wrong = 0;
#pragma omp parallel for num_threads(4) reduction(+ : right)
    for (int i = 0; i < 100000; i++) {
        right += i;
    }
    puts("the race begins");
    fflush(stdout);
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < 100000; i++) {
        wrong += i;
    }
    printf("%ld %ld\n", right, wrong);
    return 0;
}
