"""Behaves as the engine natsel-rs: a `setoption` of its own, error lines for what it does not know, a costly `isready`,
a few tenths of a second more than it was given, `------` for no move, and a flood once its input has ended.

It has no clocks, no `stop`, no `go nodes`; an illegal move takes it back to the position before. Its argument is the
number of megabytes it takes at every `isready`.
"""

import sys
import time

from board import START, Board

READY_S = 0.3
"""In truth seconds, for two gigabytes."""
OVERSHOOT_S = 0.06
OPTIONS = ("verbose", "use-book", "use-table")


def say(*lines: str) -> None:
    for line in lines:
        print(line, flush=True)


def fail(problem: str) -> None:
    say(f'info error "{problem}"')


def position(board: Board, words: list[str]) -> Board:
    text = START if words[1:2] == ["startpos"] else " ".join(words[2:6])
    changed = Board(text)
    if "moves" in words:
        for turn in words[words.index("moves") + 1 :]:
            if turn not in changed.turns():
                fail(f"Illegal move: {turn}")
                return board
            changed.play(turn)
    return changed


def go(board: Board, words: list[str]) -> None:
    if words[1:2] == ["movetime"]:
        time.sleep(min(int(words[2]), 20) / 1000 + OVERSHOOT_S)
    elif words[1:2] != ["depth"]:
        return fail(f"Invalid argument: {' '.join(words[1:])}")
    move = board.choose()
    if move is None:
        return say("info null move", "bestmove ------")
    return say(f"info depth 1 time 1.25 score 10 pv {move}", f"bestmove {move}")


def query(board: Board, what: str) -> None:
    if what == "fen":
        say(str(board))
    elif what in ("gameover", "p1turn"):
        say(f"response {str(board.is_over() if what == 'gameover' else board.is_white).lower()}")
    else:
        fail(f"Unknown query: {what}")


def main() -> None:
    board, tables = Board(), []
    for line in sys.stdin:
        words = line.split()
        verb = words[0] if words else ""
        if verb == "ugi":
            say("id name Natural Selection 2.0.0", "id author a double")
            say(*(f"option name {name} type check default true" for name in OPTIONS), "ugiok")
        elif verb == "isready":
            tables[:] = [bytes([1]) * (int(size) * 2**20) for size in sys.argv[1:]]
            time.sleep(READY_S)
            say("readyok")
        elif verb == "setoption":
            if len(words) != 3 or words[1] not in OPTIONS:
                fail(f"Unknown option: {' '.join(words[1:])}")
        elif verb == "uginewgame":
            board = Board()
        elif verb == "position":
            board = position(board, words)
        elif verb == "go":
            go(board, words)
        elif verb == "query":
            query(board, words[1])
        elif verb == "quit":
            return
        else:
            fail(f"Unknown command: {line.strip()}")
    while True:
        print('info error "Unknown command: "')


main()
