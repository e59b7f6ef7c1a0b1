"""An engine with the habits its arguments name; else it plays Pijersi by the protocol, and at once.

--clockless          `go p1time …` is an error to it, as everything but `go movetime` and `go depth`
--late MS            it exceeds every move time by so much, having used the whole of it
--first MS           its first answer takes so much longer
--needs MS           no answer takes less
--startpos-only      it never heard of `position fen`
--ends-on VERB       it ends with exit code 3 when told that
--illegal            it plays an illegal move once ten moves were played
--ignores-quit       it stays
--spins              its threads go on when it has nothing to do
"""

import argparse
import sys
import threading
import time

from board import START, Board


def say(*lines: str) -> None:
    for line in lines:
        print(line, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    for name in ("--late", "--first", "--needs"):
        parser.add_argument(name, type=float)
    for name in ("--clockless", "--startpos-only", "--illegal", "--ignores-quit", "--spins"):
        parser.add_argument(name, action="store_true")
    parser.add_argument("--ends-on", default="")
    return parser.parse_args()


def think(habits: argparse.Namespace, words: list[str], is_first: bool) -> None:
    """Take the time that these habits take."""
    ms = habits.needs or 0.0
    if habits.late is not None and words[1] == "movetime":
        ms = max(ms, float(words[2]) + habits.late)
    if is_first:
        ms += habits.first or 0.0
    time.sleep(ms / 1000)


def spin() -> None:
    while True:
        pass


def main() -> None:
    habits, board, answers, played = arguments(), Board(), 0, 0
    for line in sys.stdin:
        words = line.split() or [""]
        verb = words[0]
        if verb == habits.ends_on:
            print(f"I end on {verb}", file=sys.stderr)
            sys.exit(3)
        if verb == "ugi":
            say("id name habit", "id author a double", "ugiok")
        elif verb == "isready":
            say("readyok")
        elif verb == "position" and not (habits.startpos_only and words[1] == "fen"):
            board = Board(START if words[1] == "startpos" else " ".join(words[2:6]))
            turns = words[words.index("moves") + 1 :] if "moves" in words else []
            played = len(turns)
            for turn in turns:
                board.play(turn)
        elif verb == "go" and (words[1] in ("movetime", "depth") or not habits.clockless):
            if habits.spins:
                threading.Thread(target=spin, daemon=True).start()
            think(habits, words, answers == 0)
            answers += 1
            say("bestmove a1a1" if habits.illegal and played >= 10 else f"bestmove {board.choose()}")
        elif verb == "query":
            say("response false")
        elif verb == "quit":
            break
    while habits.ignores_quit:
        time.sleep(60)


main()
