// A bot that plays a random legal move in every family: the referee sends it the list.
//
// Begin with choose. Once your program generates the moves itself, remove the option UGI_LegalMoves.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_MOVES 10000

// Returns the move to play. `position` is "startpos", "startpos moves M...", "fen P" or "fen P moves M...".
// `limits` is what follows `go`, such as "movetime 100" or "p1time 5000 p2time 4000 p1inc 100 p2inc 100".
static const char *choose(const char *position, char **moves, int count, const char *limits)
{
    (void)position, (void)limits;
    return moves[rand() % count];
}

static void keep(char **text, const char *line)
{
    free(*text);
    *text = strdup(line);
}

// Cuts a line into its words, in place; returns their number.
static int split(char *line, char **words)
{
    int count = 0;
    for (char *word = strtok(line, " "); word && count < MAX_MOVES; word = strtok(NULL, " "))
        words[count++] = word;
    return count;
}

int main(void)
{
    static char *moves[MAX_MOVES], *line, *position, *legal;
    size_t size = 0;
    srand((unsigned)(time(NULL) ^ getpid()));
    keep(&position, "startpos");
    keep(&legal, "");
    while (getline(&line, &size, stdin) > 0) {
        line[strcspn(line, "\r\n")] = '\0';
        char *rest = line + strcspn(line, " ");
        if (*rest)
            *rest++ = '\0';
        if (!strcmp(line, "ugi")) {
            puts("id name my bot\nid author you\noption name UGI_LegalMoves type check default true\nugiok");
        } else if (!strcmp(line, "isready")) {
            puts("readyok");
        } else if (!strcmp(line, "position")) {
            keep(&position, rest);
        } else if (!strcmp(line, "legal")) {
            keep(&legal, rest);
        } else if (!strcmp(line, "go")) {
            int count = split(legal, moves);
            printf("bestmove %s\n", count ? choose(position, moves, count, rest) : "------");
        } else if (!strcmp(line, "quit")) {
            break;
        }
        fflush(stdout); // after every line: the referee waits for it
    }
    return 0;
}
