/* loa_bot - a bot for Lines of Action in plain C: proof that the protocol needs no library and no other language.
 *
 * It plays every variant without the neutral piece (8x8, 9x9 with its hole, 12x12) under every rule option. It looks two
 * plies ahead (option Depth) with alpha-beta and likes its own pieces close together. The same position and limits give
 * the same move, whatever was played before and however busy the machine is, unless the time runs out.
 */
#include "ugi.h"

enum {
    MAX_SIZE = 12,
    MAX_CELLS = MAX_SIZE * MAX_SIZE,
    MAX_MOVES = 8 * MAX_CELLS,
    MAX_PLIES = 20000, /* of one game; the positions before are needed for repetition */
    MAX_DEPTH = 16,
    WIN = 30000,
    NO_MOVE = -2,
    PASS = -1,
};

enum { EMPTY = -1, BLACK = 0, WHITE = 1 }; /* Black is the side that moves first */

/* A move is source * MAX_CELLS + target, or PASS. */
typedef int Move;

/*  8 | . b b b b b b .    cell = rank * size + file, a1 = 0.
 *  7 | w . . . . . . w    lines[d] counts the pieces on each line of direction d:
 *  : |                    0 ranks, 1 files, 2 rising diagonals, 3 falling diagonals.
 *  1 | . b b b b b b .
 *      a b c d e f g h  */
typedef struct Board {
    int size;
    int hole; /* a cell nothing can stand on, or -1 */
    int side;
    int plies; /* since the position the game started from */
    int pieces[2];
    signed char cell[MAX_CELLS];
    signed char lines[4][2 * MAX_SIZE];
} Board;

static const int STEP_X[4] = {1, 0, 1, 1};
static const int STEP_Y[4] = {0, 1, 1, -1};

/* ---------------------------------------------------------------- variants and rules */

typedef struct Variant {
    const char *name;
    const char *position;
} Variant;

static const Variant VARIANTS[] = {
    {"standard", "1bbbbbb1/w6w/w6w/w6w/w6w/w6w/w6w/1bbbbbb1 b - 1"},
    {"scrambled-eggs", "1wbwbwb1/b6w/w6b/b6w/w6b/b6w/w6b/1bwbwbw1 b - 1"},
    {"loa12", "1bbbbbbbbbb1/w10w/w10w/w10w/w10w/w10w/w10w/w10w/w10w/w10w/w10w/1bbbbbbbbbb1 b - 1"},
    {"blackhole9", "1bbbbbbb1/w7w/w7w/w7w/w7w/w7w/w7w/w7w/1bbbbbbb1 b - 1"},
    {"blackhole9-scrambled", "1bwbwbwb1/w7w/b7b/w7w/b7b/w7w/b7b/w7w/1bwbwbwb1 b - 1"},
};
enum { VARIANT_COUNT = sizeof VARIANTS / sizeof VARIANTS[0] };

static struct {
    const Variant *variant;
    bool mover_wins; /* both sides connected at once: the mover wins, else a draw */
    enum { STUCK_PASSES, STUCK_LOSES, STUCK_DRAWS } stuck;
    int repetition;        /* this occurrence of a position ends the game; 0 = never */
    bool repetition_loses; /* ... for the side that brought it about, else a draw */
    int max_plies;         /* 0 = no limit */
    int depth;
} rules = {&VARIANTS[0], false, STUCK_PASSES, 3, false, 0, 2};

static void print_options(void)
{
    printf("option name Variant type combo default standard");
    for (int i = 0; i < VARIANT_COUNT; i++)
        printf(" var %s", VARIANTS[i].name);
    printf("\noption name Rule.simultaneous type combo default draw var draw var mover\n"
           "option name Rule.no_moves type combo default pass var pass var loss var draw\n"
           "option name Rule.repetition type spin default 3 min 0 max 1000000\n"
           "option name Rule.repetition_result type combo default draw var draw var loss\n"
           "option name Rule.max_plies type spin default 0 min 0 max 1000000\n"
           "option name Depth type spin default 2 min 1 max %d\n"
           "option name UGI_Clocks type check default true\n",
           MAX_DEPTH);
}

/* The place of value among count words, or -1. */
static int choice(const char *value, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(value, words[i]) == 0)
            return i;
    return -1;
}

static void set_option(const char *name, const char *value)
{
    static const char *const simultaneous[] = {"draw", "mover"};
    static const char *const stuck[] = {"pass", "loss", "draw"};
    static const char *const repeated[] = {"draw", "loss"};
    int found = -1;
    if (strcmp(name, "Variant") == 0) {
        for (int i = 0; i < VARIANT_COUNT; i++)
            if (strcmp(value, VARIANTS[i].name) == 0)
                rules.variant = &VARIANTS[found = i];
    } else if (strcmp(name, "Rule.simultaneous") == 0) {
        if ((found = choice(value, simultaneous, 2)) >= 0)
            rules.mover_wins = found == 1;
    } else if (strcmp(name, "Rule.no_moves") == 0) {
        if ((found = choice(value, stuck, 3)) >= 0)
            rules.stuck = found;
    } else if (strcmp(name, "Rule.repetition_result") == 0) {
        if ((found = choice(value, repeated, 2)) >= 0)
            rules.repetition_loses = found == 1;
    } else {
        found = (int)ugi_number(value, -1);
        if (strcmp(name, "Rule.repetition") == 0 && found >= 0 && found != 1)
            rules.repetition = found;
        else if (strcmp(name, "Rule.max_plies") == 0 && found >= 0)
            rules.max_plies = found;
        else if (strcmp(name, "Depth") == 0 && found >= 1)
            rules.depth = found > MAX_DEPTH ? MAX_DEPTH : found;
        else if (strcmp(name, "UGI_Clocks") != 0)
            ugi_error("unknown option or value", name);
        return;
    }
    if (found < 0)
        ugi_error("unknown value", value);
}

/* ---------------------------------------------------------------- board */

static int line_of(const Board *board, int direction, int x, int y)
{
    switch (direction) {
    case 0:
        return y;
    case 1:
        return x;
    case 2:
        return x - y + board->size - 1;
    default:
        return x + y;
    }
}

/* Put a side's piece on a cell, or take it away (EMPTY). */
static void set_cell(Board *board, int cell, int content)
{
    int before = board->cell[cell];
    if (before != EMPTY)
        board->pieces[before]--;
    if (content != EMPTY)
        board->pieces[content]++;
    int change = (content != EMPTY) - (before != EMPTY);
    for (int d = 0; d < 4; d++)
        board->lines[d][line_of(board, d, cell % board->size, cell / board->size)] += (signed char)change;
    board->cell[cell] = (signed char)content;
}

/* One rank of a position text from *at, which is left behind it: its width, or -1. */
static int read_rank(const char **at, signed char *cells)
{
    int width = 0;
    for (; **at != '\0' && **at != '/' && **at != ' '; (*at)++) {
        int run = 0;
        if (**at >= '1' && **at <= '9') {
            run = **at - '0';
            if ((*at)[1] >= '0' && (*at)[1] <= '9')
                run = run * 10 + *++*at - '0';
        }
        if (run == 0 && **at != 'b' && **at != 'w')
            return -1;
        if (width + (run ? run : 1) > MAX_SIZE)
            return -1;
        if (run == 0)
            cells[width++] = **at == 'b' ? BLACK : WHITE;
        while (run-- > 0)
            cells[width++] = EMPTY;
    }
    return width;
}

/* Read `board side ban number`; false when it is no position of these variants. */
static bool read_position(Board *board, const char *text)
{
    signed char rank[MAX_SIZE][MAX_SIZE]; /* from the top */
    int size = 0, height = 0;
    text += strspn(text, " ");
    for (;; text++) {
        if (height == MAX_SIZE)
            return false;
        int width = read_rank(&text, rank[height]);
        if (width < 1 || (height > 0 && width != size))
            return false;
        size = width;
        height++;
        if (*text != '/')
            break;
    }
    text += strspn(text, " ");
    if (height != size || (size != 8 && size != 9 && size != 12) || (*text != 'b' && *text != 'w'))
        return false;
    *board = (Board){.size = size, .hole = size == 9 ? 40 : -1, .side = *text == 'b' ? BLACK : WHITE};
    memset(board->cell, EMPTY, sizeof board->cell);
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++)
            set_cell(board, y * size + x, rank[size - 1 - y][x]);
    bool hole_is_empty = board->hole < 0 || board->cell[board->hole] == EMPTY;
    return hole_is_empty && board->pieces[BLACK] > 0 && board->pieces[WHITE] > 0;
}

static void write_cell(const Board *board, int cell, char **out)
{
    *out += sprintf(*out, "%c%d", 'a' + cell % board->size, cell / board->size + 1);
}

static const char *write_move(const Board *board, Move move)
{
    static char text[16];
    char *out = text;
    if (move == PASS)
        return "pass";
    write_cell(board, move / MAX_CELLS, &out);
    write_cell(board, move % MAX_CELLS, &out);
    return text;
}

/* The moves of one side. A piece moves exactly as many cells as its line has pieces, never over an opposing piece. */
static int generate(const Board *board, int side, Move *moves)
{
    int count = 0, size = board->size;
    for (int from = 0; from < size * size; from++) {
        if (board->cell[from] != side)
            continue;
        int x = from % size, y = from / size;
        for (int d = 0; d < 4; d++) {
            int distance = board->lines[d][line_of(board, d, x, y)];
            for (int sign = -1; sign <= 1; sign += 2) {
                int dx = sign * STEP_X[d], dy = sign * STEP_Y[d];
                int to_x = x + dx * distance, to_y = y + dy * distance;
                if (to_x < 0 || to_x >= size || to_y < 0 || to_y >= size)
                    continue;
                bool is_free = board->cell[to_y * size + to_x] != side;
                for (int k = 1; k < distance && is_free; k++)
                    is_free = board->cell[(y + dy * k) * size + x + dx * k] != 1 - side;
                if (is_free)
                    moves[count++] = from * MAX_CELLS + to_y * size + to_x;
            }
        }
    }
    return count;
}

static void play(Board *board, Move move)
{
    if (move != PASS) {
        int to = move % MAX_CELLS;
        set_cell(board, move / MAX_CELLS, EMPTY);
        set_cell(board, to, to == board->hole ? EMPTY : board->side);
    }
    board->side = 1 - board->side;
    board->plies++;
}

/* Whether all pieces of a side form one group. */
static bool is_connected(const Board *board, int side)
{
    int size = board->size, waiting[MAX_CELLS], open = 0, reached = 0;
    bool seen[MAX_CELLS] = {false};
    for (int cell = 0; cell < size * size && open == 0; cell++)
        if (board->cell[cell] == side) {
            seen[cell] = true;
            waiting[open++] = cell;
        }
    while (open > 0) {
        int cell = waiting[--open], x = cell % size, y = cell / size;
        reached++;
        for (int to_y = y > 0 ? y - 1 : 0; to_y <= y + 1 && to_y < size; to_y++)
            for (int to_x = x > 0 ? x - 1 : 0; to_x <= x + 1 && to_x < size; to_x++) {
                int to = to_y * size + to_x;
                if (board->cell[to] == side && !seen[to]) {
                    seen[to] = true;
                    waiting[open++] = to;
                }
            }
    }
    return reached == board->pieces[side];
}

/* ---------------------------------------------------------------- the game so far, and how it stands */

typedef enum { GOES_ON = -1, FIRST_WINS, SECOND_WINS, DRAWN } Standing; /* a side's number is its win */

static uint64_t history[MAX_PLIES + MAX_DEPTH + 1]; /* a digest of every position, the search's own included */

/* FNV-1a over the cells and the side: what repetition compares. */
static uint64_t digest(const Board *board)
{
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < board->size * board->size; i++)
        hash = (hash ^ (uint64_t)(board->cell[i] + 1)) * 1099511628211u;
    return (hash ^ (uint64_t)board->side) * 1099511628211u;
}

/* How the game stands, tested in the order of the rules. Fills moves with what the side to move may do. */
static Standing judge(const Board *board, Move *moves, int *count)
{
    int side = board->side;
    *count = 0;
    history[board->plies] = digest(board);
    bool first = is_connected(board, BLACK), second = is_connected(board, WHITE);
    if (first && second)
        return rules.mover_wins ? (Standing)(1 - side) : DRAWN;
    if (first || second)
        return first ? FIRST_WINS : SECOND_WINS;
    *count = generate(board, side, moves);
    if (*count == 0) {
        if (rules.stuck != STUCK_PASSES)
            return rules.stuck == STUCK_DRAWS ? DRAWN : (Standing)(1 - side);
        if (generate(board, 1 - side, moves) == 0)
            return DRAWN;
        moves[(*count)++] = PASS;
    }
    if (rules.repetition > 0) {
        int occurrences = 1;
        for (int ply = board->plies - 2; ply >= 0; ply -= 2)
            occurrences += history[ply] == history[board->plies];
        if (occurrences >= rules.repetition)
            return rules.repetition_loses ? (Standing)side : DRAWN;
    }
    return rules.max_plies > 0 && board->plies >= rules.max_plies ? DRAWN : GOES_ON;
}

/* ---------------------------------------------------------------- search */

static struct {
    UgiReader *reader;
    int64_t nodes, node_limit;
    bool stopped;
    Move best;
    int best_score;
} search;

/* The mean distance of a side's pieces from their centre, in hundredths of a cell. */
static int spread(const Board *board, int side)
{
    int size = board->size, n = board->pieces[side], sum_x = 0, sum_y = 0, sum = 0;
    for (int cell = 0; cell < size * size; cell++)
        if (board->cell[cell] == side) {
            sum_x += cell % size;
            sum_y += cell / size;
        }
    for (int cell = 0; cell < size * size; cell++)
        if (board->cell[cell] == side) {
            int dx = abs(cell % size * n - sum_x), dy = abs(cell / size * n - sum_y);
            sum += dx > dy ? dx : dy;
        }
    return 100 * sum / (n * n);
}

/* Alpha-beta: the score of the board for the side to move, looking depth plies ahead; ply is the distance from the root. */
static int negamax(const Board *board, int depth, int ply, int alpha, int beta)
{
    Move moves[MAX_MOVES];
    int count;
    if (search.nodes >= search.node_limit || (search.nodes % 256 == 0 && ugi_must_stop(search.reader, 0))) {
        search.stopped = true;
        return 0;
    }
    search.nodes++;
    Standing standing = judge(board, moves, &count);
    if (standing != GOES_ON)
        return standing == DRAWN ? 0 : (int)standing == board->side ? WIN - ply : ply - WIN;
    if (depth == 0)
        return spread(board, 1 - board->side) - spread(board, board->side);
    int best = -WIN;
    for (int i = 0; i < count; i++) {
        Board after = *board;
        play(&after, moves[i]);
        int score = -negamax(&after, depth - 1, ply + 1, -beta, -alpha);
        if (search.stopped)
            break;
        if (score > best) {
            best = score;
            if (ply == 0) {
                search.best = moves[i];
                search.best_score = score;
            }
        }
        if (score > alpha)
            alpha = score;
        if (alpha >= beta)
            break;
    }
    return best;
}

static void print_info(const Board *board, int depth, int64_t started_ms)
{
    int score = search.best_score, distance = WIN - abs(score);
    printf("info depth %d score ", depth);
    if (distance <= MAX_DEPTH)
        printf("win %d", score > 0 ? distance : -distance);
    else
        printf("cp %d", score);
    printf(" nodes %lld time %lld pv %s\n", (long long)search.nodes, (long long)(ugi_now_ms() - started_ms),
           write_move(board, search.best));
}

/* Answer one `go`. */
static void think(UgiReader *reader, const Board *board, const UgiGo *go)
{
    Move moves[MAX_MOVES], best;
    int count, deepest = go->depth < 1 ? rules.depth : go->depth > MAX_DEPTH ? MAX_DEPTH : go->depth;
    ugi_start(reader, go, board->side);
    if (judge(board, moves, &count) != GOES_ON) {
        printf("info string error the game is over\nbestmove ------\n");
        return;
    }
    best = moves[0];
    search.reader = reader;
    search.nodes = 0;
    search.node_limit = go->nodes < 0 ? INT64_MAX : go->nodes;
    search.stopped = false;
    for (int depth = 1; depth <= deepest && !search.stopped; depth++) {
        search.best = NO_MOVE;
        negamax(board, depth, 0, -WIN, WIN);
        if (search.stopped) /* half an iteration knows less than the whole one before it */
            break;
        best = search.best;
        print_info(board, depth, go->received_ms);
        if (abs(search.best_score) >= WIN - MAX_DEPTH)
            break;
    }
    while (go->infinite && !ugi_must_stop(reader, 50))
        ;
    printf("bestmove %s\n", write_move(board, best));
}

/* ---------------------------------------------------------------- the referee's lines */

/* Set up a position and play the moves; false, with a line that says why, when that cannot be. */
static bool set_position(Board *board, const char *fen, char *moves)
{
    Move legal[MAX_MOVES];
    int count;
    if (!read_position(board, fen == NULL ? rules.variant->position : fen)) {
        ugi_error("no position of this bot's", fen);
        return false;
    }
    for (char *word = ugi_word(&moves); word != NULL; word = ugi_word(&moves)) {
        Standing standing = judge(board, legal, &count);
        int i = 0;
        while (i < count && strcmp(write_move(board, legal[i]), word) != 0)
            i++;
        if (standing != GOES_ON || i == count || board->plies == MAX_PLIES) {
            ugi_error("illegal move", word);
            return false;
        }
        play(board, legal[i]);
    }
    return true;
}

static void answer_query(const Board *board, const char *what)
{
    static const char *const results[] = {"none", "p1win", "p2win", "draw"};
    Move moves[MAX_MOVES];
    int count;
    Standing standing = judge(board, moves, &count);
    if (strcmp(what, "gameover") == 0)
        printf("response %s\n", standing == GOES_ON ? "false" : "true");
    else if (strcmp(what, "p1turn") == 0)
        printf("response %s\n", board->side == BLACK ? "true" : "false");
    else if (strcmp(what, "result") == 0)
        printf("response %s\n", results[standing + 1]);
    else
        ugi_error("unknown query", what);
}

int main(void)
{
    static UgiReader reader;
    static Board board;
    UgiLine line;
    bool is_set = set_position(&board, NULL, (char[]){""});
    while (ugi_next(&reader, &line)) {
        switch (line.kind) {
        case UGI_UGI:
            printf("id name loa_bot\nid author the arena\nid family loa\n");
            print_options();
            printf("ugiok\n");
            break;
        case UGI_ISREADY:
            printf("readyok\n");
            break;
        case UGI_SETOPTION:
            set_option(line.name, line.value);
            break;
        case UGI_NEWGAME:
            is_set = set_position(&board, NULL, (char[]){""});
            break;
        case UGI_POSITION:
            is_set = set_position(&board, line.fen, line.moves);
            break;
        case UGI_GO:
            if (is_set)
                think(&reader, &board, &line.go);
            else
                printf("info string error no position to think about\nbestmove ------\n");
            break;
        case UGI_QUERY:
            if (is_set)
                answer_query(&board, line.value);
            break;
        default: /* stop while idle, result, words of a later protocol */
            break;
        }
    }
    return 0;
}
