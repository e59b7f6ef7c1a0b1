/* The floor: the bare pipe round trip. Spawns itself as an echo and prints microseconds of wall and CPU per trip.
   With the argument `echo` it is the echo alone, on standard input and output: a line for whatever comes. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu(int who) {
    struct rusage u;
    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

int main(int argc, char **argv) {
    int trips = argc > 1 ? atoi(argv[1]) : 100000, there[2], back[2];
    char data[64] = {0};
    double begin;
    if (argc > 1 && !strcmp(argv[1], "echo")) {
        char line[4096];
        while (read(0, line, sizeof line) > 0)
            if (write(1, "bestmove c1c3\n", 14) != 14) return 1;
        return 0;
    }
    if (pipe(there) || pipe(back)) return 1;
    if (fork() == 0) {
        close(there[1]);
        while (read(there[0], data, sizeof data) > 0)
            if (write(back[1], data, 14) != 14) return 1;
        return 0;
    }
    close(there[0]);
    begin = now();
    for (int i = 0; i < trips; i++)
        if (write(there[1], data, 40) != 40 || read(back[0], data, sizeof data) <= 0) return 1;
    begin = now() - begin;
    close(there[1]);
    wait(NULL);
    printf("%.3f %.3f\n", 1e6 * begin / trips, 1e6 * (cpu(RUSAGE_SELF) + cpu(RUSAGE_CHILDREN)) / trips);
    return 0;
}
