/* ugi.h - the Universal Game Interface for bots written in C: one header, C11 and POSIX libc, nothing else.
 *
 * It reads the referee's lines from stdin and writes the bot's to stdout. It knows no game: moves and positions are
 * text here. A bot is a loop over ugi_next(); while it thinks, it calls ugi_must_stop() every thousand nodes or so, which
 * answers `isready` on the spot and sees `stop`, `quit`, the end of the input and the end of the time.
 *
 *     static UgiReader reader;
 *     UgiLine line;
 *     while (ugi_next(&reader, &line))
 *         switch (line.kind) {
 *         case UGI_UGI:      printf("id name my bot\nid family loa\nugiok\n"); break;
 *         case UGI_ISREADY:  printf("readyok\n"); break;
 *         case UGI_POSITION: set_up(line.fen, line.moves); break;
 *         case UGI_GO:       ugi_start(&reader, &line.go, side_to_move); ... printf("bestmove %s\n", move); break;
 *         ...
 *         }
 *
 * Copy it, change it, ship it with your bot.
 */
#ifndef UGI_H
#define UGI_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A longer line is dropped whole and reported: no referee can overrun this buffer. */
enum { UGI_LINE_BYTES = 65536 };

typedef enum UgiKind {
    UGI_UNKNOWN, /* anything else: ignore it */
    UGI_UGI,
    UGI_ISREADY,
    UGI_SETOPTION, /* name, value ("" when absent) */
    UGI_NEWGAME,
    UGI_POSITION, /* fen (NULL = startpos), moves ("" = none) */
    UGI_GO,       /* go */
    UGI_STOP,
    UGI_QUERY,  /* value: gameover, p1turn or result */
    UGI_RESULT, /* value: how the game ended */
} UgiKind;

/* The limits of one search; -1 = not given. Index 0 is the side that moves first in the game (p1). */
typedef struct UgiGo {
    int64_t time_ms[2];
    int64_t increment_ms[2];
    int64_t movetime_ms;
    int64_t nodes;
    int depth;
    bool infinite;
    int64_t received_ms; /* on the monotonic clock */
} UgiGo;

/* One line of the referee, taken apart. The texts point into the reader and live until the next call of a ugi_ function. */
typedef struct UgiLine {
    UgiKind kind;
    char *name;
    char *value;
    char *fen;
    char *moves;
    UgiGo go;
} UgiLine;

typedef struct UgiReader {
    char buffer[UGI_LINE_BYTES];
    size_t begin, end;
    char *held;    /* a line that came while the bot was thinking: its turn is after bestmove */
    bool dropping; /* inside a line that was too long */
    bool closed;   /* end of input, or `quit` */
    bool stopped;  /* the search that runs must end */
    int64_t deadline_ms;
    int64_t budget_ms;
} UgiReader;

/* Milliseconds of the monotonic clock. */
static inline int64_t ugi_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Tell the person who reads the log what is wrong. */
static inline void ugi_error(const char *problem, const char *text)
{
    printf("info string error %s: %.80s\n", problem, text);
}

/* The next line without its end, waiting at most wait_ms (-1 = for ever): 1 = a line, 0 = none yet, -1 = end of input. */
static inline int ugi_read_line(UgiReader *reader, int wait_ms, char **line)
{
    for (;;) {
        char *start = reader->buffer + reader->begin;
        char *newline = memchr(start, '\n', reader->end - reader->begin);
        if (newline != NULL) {
            reader->begin = (size_t)(newline + 1 - reader->buffer);
            *newline = '\0';
            if (newline > start && newline[-1] == '\r')
                newline[-1] = '\0';
            if (reader->dropping) {
                reader->dropping = false;
                continue;
            }
            *line = start;
            return 1;
        }
        if (reader->closed)
            return -1;
        memmove(reader->buffer, start, reader->end - reader->begin);
        reader->end -= reader->begin;
        reader->begin = 0;
        if (reader->end == UGI_LINE_BYTES) {
            if (!reader->dropping)
                printf("info string error a line longer than %d bytes was ignored\n", UGI_LINE_BYTES);
            reader->dropping = true;
            reader->end = 0;
        }
        fflush(stdout); /* whatever was answered so far must be out before we wait */
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        int ready = poll(&input, 1, wait_ms);
        if (ready == 0)
            return 0;
        ssize_t got = ready < 0 ? -1 : read(STDIN_FILENO, reader->buffer + reader->end, UGI_LINE_BYTES - reader->end);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            reader->closed = true;
        else
            reader->end += (size_t)got;
    }
}

/* The next word of *text, cut out with a NUL; NULL at the end. */
static inline char *ugi_word(char **text)
{
    char *start = *text + strspn(*text, " \t");
    if (*start == '\0') {
        *text = start;
        return NULL;
    }
    char *stop = start + strcspn(start, " \t");
    if (*stop != '\0')
        *stop++ = '\0';
    *text = stop;
    return start;
}

/* The first place in text where `word` stands as a word of its own, or NULL. */
static inline char *ugi_find(char *text, const char *word)
{
    size_t length = strlen(word);
    for (char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        bool begins = at == text || at[-1] == ' ';
        bool ends = at[length] == '\0' || at[length] == ' ';
        if (begins && ends)
            return at;
    }
    return NULL;
}

/* A whole number of the referee's, kept within 0 .. 10^12; fallback when the word is missing or no number. */
static inline int64_t ugi_number(const char *word, int64_t fallback)
{
    if (word == NULL)
        return fallback;
    char *stop;
    errno = 0;
    long long number = strtoll(word, &stop, 10);
    if (stop == word || *stop != '\0')
        return fallback;
    return number < 0 ? 0 : number > 1000000000000 ? 1000000000000 : number;
}

static inline UgiGo ugi_parse_go(char *rest)
{
    UgiGo go = {{-1, -1}, {0, 0}, -1, -1, -1, false, ugi_now_ms()};
    for (char *word = ugi_word(&rest); word != NULL; word = ugi_word(&rest)) {
        if (strcmp(word, "infinite") == 0) {
            go.infinite = true;
            continue;
        }
        int64_t number = ugi_number(ugi_word(&rest), -1);
        if (strcmp(word, "p1time") == 0)
            go.time_ms[0] = number;
        else if (strcmp(word, "p2time") == 0)
            go.time_ms[1] = number;
        else if (strcmp(word, "p1inc") == 0)
            go.increment_ms[0] = number;
        else if (strcmp(word, "p2inc") == 0)
            go.increment_ms[1] = number;
        else if (strcmp(word, "movetime") == 0)
            go.movetime_ms = number;
        else if (strcmp(word, "nodes") == 0)
            go.nodes = number;
        else if (strcmp(word, "depth") == 0)
            go.depth = number > 1000 ? 1000 : (int)number;
    }
    return go;
}

/* Take one line apart. */
static inline UgiLine ugi_parse(char *text)
{
    static char nothing[1] = "";
    UgiLine line = {.kind = UGI_UNKNOWN, .name = nothing, .value = nothing, .fen = NULL, .moves = nothing};
    char *rest = text;
    char *command = ugi_word(&rest);
    if (command == NULL)
        return line;
    rest += strspn(rest, " \t");
    line.value = rest;
    if (strcmp(command, "ugi") == 0) {
        line.kind = UGI_UGI;
    } else if (strcmp(command, "isready") == 0) {
        line.kind = UGI_ISREADY;
    } else if (strcmp(command, "uginewgame") == 0) {
        line.kind = UGI_NEWGAME;
    } else if (strcmp(command, "stop") == 0) {
        line.kind = UGI_STOP;
    } else if (strcmp(command, "query") == 0) {
        line.kind = UGI_QUERY;
    } else if (strcmp(command, "result") == 0) {
        line.kind = UGI_RESULT;
    } else if (strcmp(command, "go") == 0) {
        line.kind = UGI_GO;
        line.go = ugi_parse_go(rest);
    } else if (strcmp(command, "setoption") == 0 && strncmp(rest, "name ", 5) == 0) {
        line.kind = UGI_SETOPTION;
        line.name = rest + 5;
        line.value = nothing;
        char *value = ugi_find(line.name, "value");
        if (value != NULL && value > line.name) {
            value[-1] = '\0';
            line.value = value[5] == ' ' ? value + 6 : value + 5;
        }
    } else if (strcmp(command, "position") == 0) {
        char *moves = ugi_find(rest, "moves");
        if (moves != NULL) {
            line.moves = moves + 5;
            *moves = '\0';
        }
        if (strncmp(rest, "fen ", 4) == 0) {
            line.kind = UGI_POSITION;
            line.fen = rest + 4;
        } else if (strncmp(rest, "startpos", 8) == 0) {
            line.kind = UGI_POSITION;
        }
    }
    return line;
}

/* The next line of the referee; false when it is time to leave: `quit` or the end of the input. */
static inline bool ugi_next(UgiReader *reader, UgiLine *line)
{
    char *text = reader->held;
    reader->held = NULL;
    if (text == NULL && ugi_read_line(reader, -1, &text) != 1)
        return false;
    *line = ugi_parse(text);
    return strcmp(text, "quit") != 0;
}

/* How long to think, in milliseconds; -1 = no limit of time. A fortieth of what is left, most of the increment, and always a
 * reserve that a busy machine may eat. */
static inline int64_t ugi_budget_ms(const UgiGo *go, int side)
{
    const int64_t reserve_ms = 100;
    if (go->movetime_ms >= 0)
        return go->movetime_ms > 2 * reserve_ms ? go->movetime_ms - reserve_ms : go->movetime_ms / 2;
    if (go->infinite || go->time_ms[side] < 0)
        return -1;
    int64_t usable = go->time_ms[side] - reserve_ms;
    if (usable <= 0)
        return 1;
    int64_t budget = usable / 40 + go->increment_ms[side] / 2;
    return budget < usable / 2 ? budget : usable / 2;
}

/* Begin to think: sets the deadline from the moment `go` arrived. */
static inline void ugi_start(UgiReader *reader, const UgiGo *go, int side)
{
    reader->stopped = false;
    reader->budget_ms = ugi_budget_ms(go, side);
    reader->deadline_ms = reader->budget_ms < 0 ? INT64_MAX : go->received_ms + reader->budget_ms;
}

/* Whether the search must end now. Waits up to wait_ms for a line (0 while there is something to compute). At the end of the
 * input a search may go on for five more seconds, so that a script piped into a bot still gets its answer. A line that has
 * no business here ends the looking, not the search: only a script sends such. */
static inline bool ugi_must_stop(UgiReader *reader, int wait_ms)
{
    char *text;
    int got;
    while (!reader->stopped && reader->held == NULL && (got = ugi_read_line(reader, wait_ms, &text)) != 0) {
        if (got < 0) {
            int64_t grace = ugi_now_ms() + 5000;
            if (reader->deadline_ms > grace)
                reader->deadline_ms = grace;
            poll(NULL, 0, wait_ms);
            break;
        }
        if (strcmp(text, "isready") == 0) {
            printf("readyok\n");
            fflush(stdout);
        } else if (strcmp(text, "stop") == 0) {
            reader->stopped = true;
        } else if (strcmp(text, "quit") == 0) {
            reader->stopped = reader->closed = true;
            reader->begin = reader->end;
        } else if (*text != '\0') {
            reader->held = text;
        }
    }
    return reader->stopped || ugi_now_ms() >= reader->deadline_ms;
}

#endif
