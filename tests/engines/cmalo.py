"""Behaves as the engine cmalo: it ends on a command it does not know, on a blank line and on every `go` but depth and
movetime, answers a query with the bare value, takes `position fen` only after `uginewgame`, crashes on an illegal move
and when it has none, and starts workers that outlive it when it is killed.
"""

import subprocess
import sys

from board import START, Board

WORKERS = 2
SLEEPER = "import sys; sys.stdin.buffer.read(); import time; time.sleep(600)"


def say(*lines: str) -> None:
    for line in lines:
        print(line, flush=True)


def hire() -> list[subprocess.Popen]:
    """Workers with a pipe of their own: they do not see the end of their master's input, nor that it was killed."""
    command = [sys.executable, "-S", "-E", "-c", SLEEPER]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return [subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, **quiet) for _ in range(WORKERS)]


def main() -> None:
    board: Board | None = None
    workers = hire()
    for line in sys.stdin:
        words = line.split()
        verb = words[0] if words else ""
        if verb == "ugi":
            say(
                "id name cmalo 2.3.1",
                "id author a double",
                "option name depth type spin default 2 min 1 max 5",
                "ugiok",
            )
        elif verb == "isready":
            say("readyok")
        elif verb == "uginewgame":
            board = Board()
        elif verb == "setoption" and words[1:2] == ["name"] and words[2:3] == ["depth"]:
            pass
        elif verb == "position" and board is not None:
            board = Board(START if words[1] == "startpos" else " ".join(words[2:6]))
            for turn in words[words.index("moves") + 1 :] if "moves" in words else ():
                assert turn in board.turns(), f"illegal move {turn}"
                board.play(turn)
        elif verb == "go" and words[1:2] in (["depth"], ["movetime"]) and board is not None:
            move = board.choose()
            assert move is not None, "no move"
            say(f"bestmove {move}")
        elif verb == "query" and words[1:2] == ["fen"] and board is not None:
            say(" ".join(str(board).split()[: 2 if board.is_over() else 4]))
        elif verb == "query" and words[1:2] in (["gameover"], ["p1turn"]) and board is not None:
            say(str(board.is_over() if words[1] == "gameover" else board.is_white))
        elif verb == "quit":
            break
        else:
            sys.exit(f"unknown command: {line!r}")
    for worker in workers:
        worker.kill()
        worker.wait()


main()
