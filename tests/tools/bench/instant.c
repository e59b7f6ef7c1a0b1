/* An instant bot: replays a fixed game. Usage: instant PARITY MOVES-FILE [MS [busy|spins]], parity 0 or 1 = the plies it
   plays, -1 = those of the side it has in a game, by its first `position`; it speaks UCI as well, for other runners. MS: it thinks that long about each move, without using the processor. `busy`: it uses it, and says how many
   steps it got done as nodes; `spins`: a thread of it never rests. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_PLIES 4096

static char *answers[MAX_PLIES];
static size_t lengths[MAX_PLIES];
static char buffer[1 << 16];

static void say(const char *text, size_t length) {
    while (length > 0) {
        ssize_t done = write(1, text, length);
        if (done <= 0) exit(0);
        text += done;
        length -= (size_t)done;
    }
}

static void load(int parity, const char *path) {
    FILE *file = fopen(path, "r");
    char move[64], line[96];
    int ply = 0, count = 0;
    if (!file) exit(2);
    while (fscanf(file, "%63s", move) == 1 && count < MAX_PLIES - 1) {
        if (parity >= 0 && ply++ % 2 != parity) continue;
        lengths[count] = (size_t)snprintf(line, sizeof line, "bestmove %s\n", move);
        answers[count++] = strdup(line);
    }
    fclose(file);
}

static volatile unsigned long steps;

static void *spin(void *unused) {
    for (;;) steps++;
    return unused;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Count steps for so many seconds, and say how many. */
static void work(double seconds) {
    char line[64];
    double end = now() + seconds;
    unsigned long done = 0;
    int step;
    do
        for (step = 0; step < 1000; step++) steps = ++done;
    while (now() < end);
    say(line, (size_t)snprintf(line, sizeof line, "info nodes %lu\n", done));
}

/* How many moves a line `position startpos moves ...` has. */
static int moves_in(const char *line, const char *end) {
    const char *at = strstr(line, " moves");
    int count = 0;
    if (!at || at > end) return 0;
    for (at += 6; (at = memchr(at, ' ', (size_t)(end - at))) != NULL; at++) count++;
    return count;
}

int main(int argc, char **argv) {
    size_t held = 0;
    int next = 0, step = argc > 1 && argv[1][0] == '-' ? 2 : 1, is_new = 1, thinks = argc > 3 ? atoi(argv[3]) : 0;
    struct timespec time = {thinks / 1000, thinks % 1000 * 1000000L};
    int is_busy = argc > 4 && !strcmp(argv[4], "busy");
    pthread_t thread;
    if (argc < 3) return 2;
    if (argc > 4 && !strcmp(argv[4], "spins") && pthread_create(&thread, NULL, spin, NULL)) return 2;
    load(atoi(argv[1]), argv[2]);
    for (;;) {
        char *line = buffer, *end;
        ssize_t got = read(0, buffer + held, sizeof buffer - held);
        if (got <= 0) return 0;
        held += (size_t)got;
        while ((end = memchr(line, '\n', held - (size_t)(line - buffer))) != NULL) {
            if (!strncmp(line, "go", 2)) {
                if (!answers[next]) return 3;
                if (is_busy) work(thinks / 1000.0);
                else if (thinks) nanosleep(&time, NULL);
                say(answers[next], lengths[next]);
                next += step;
            } else if (!strncmp(line, "position", 8)) {
                if (step == 2 && is_new) next = moves_in(line, end);
                is_new = 0;
            } else if (!strncmp(line, "uginewgame", 10) || !strncmp(line, "ucinewgame", 10)) {
                next = 0;
                is_new = 1;
            } else if (!strncmp(line, "isready", 7)) {
                say("readyok\n", 8);
            } else if (!strncmp(line, "ugi", 3)) {
                say("id name instant\nugiok\n", 22);
            } else if (!strncmp(line, "uci\n", 4)) {
                say("id name instant\nid author bench\nuciok\n", 38);
            } else if (!strncmp(line, "quit", 4)) {
                return 0;
            }
            line = end + 1;
        }
        held -= (size_t)(line - buffer);
        memmove(buffer, line, held);
    }
}
