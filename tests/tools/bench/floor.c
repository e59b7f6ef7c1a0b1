/* The floor of a game's moves: a bare loop over the pipes of two bots, without rules, clocks and records. Usage:
   floor BOT MOVES-FILE GAMES. Two BOTs replay the game of the file (see instant.c), each asked in turn by a `position`
   line that grows with the game. Prints microseconds of wall and CPU per move, both bots included. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int in[2], out[2];
static char line[1 << 20], answer[1 << 16];

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

static void start(int side, char **arguments) {
    int there[2], back[2];
    if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC)) exit(1);
    if (fork() == 0) {
        dup2(there[0], 0);
        dup2(back[1], 1);
        execl(arguments[1], arguments[1], side ? "1" : "0", arguments[2], (char *)NULL);
        _exit(127);
    }
    close(there[0]);
    close(back[1]);
    in[side] = there[1];
    out[side] = back[0];
}

static void tell(int side, const char *text, size_t length) {
    if (write(in[side], text, length) != (ssize_t)length) exit(1);
}

int main(int argc, char **argv) {
    int games = argc > 3 ? atoi(argv[3]) : 0, moves = 0, plies = 0, side;
    double begin;
    FILE *file = games > 0 ? fopen(argv[2], "r") : NULL;
    if (!file) return 2;
    while (fscanf(file, "%*s") != EOF) plies++;
    fclose(file);
    for (side = 0; side < 2; side++) start(side, argv);
    begin = now();
    for (int game = 0; game < games; game++) {
        size_t length = (size_t)sprintf(line, "position startpos moves");
        for (side = 0; side < 2; side++) tell(side, "uginewgame\n", 11);
        for (int ply = 0; ply < plies; ply++, moves++) {
            size_t more = (size_t)sprintf(line + length, "\ngo p1time 100000 p2time 100000 p1inc 1000 p2inc 1000\n");
            ssize_t got;
            tell(ply % 2, line, length + more);
            got = read(out[ply % 2], answer, sizeof answer - 1);
            if (got < 10 || answer[got - 1] != '\n') return 1;
            length += (size_t)sprintf(line + length, " %.*s", (int)got - 10, answer + 9);
        }
    }
    begin = now() - begin;
    for (side = 0; side < 2; side++) close(in[side]);
    for (side = 0; side < 2; side++) wait(NULL);
    printf("%.3f %.3f\n", 1e6 * begin / moves, 1e6 * (cpu(RUSAGE_SELF) + cpu(RUSAGE_CHILDREN)) / moves);
    return 0;
}
