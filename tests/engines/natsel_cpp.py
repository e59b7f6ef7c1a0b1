"""Behaves as the engine natsel-cpp: `go` plays its own move on its board, illegal moves are played as well, `isready`
sets the board up anew, `wtf` for no move, silence to what it does not know, a busy loop once its input has ended.
"""

import sys

from board import START, Board


def say(*lines: str) -> None:
    for line in lines:
        print(line, flush=True)


def main() -> None:
    board = Board()
    for line in sys.stdin:
        words = line.split()
        verb = words[0] if words else ""
        if verb == "ugi":
            say("id name Natural Selection", "id author a double")
            say("option name threads type spin default 8 min 1 max 64", "option name verbose type check default true")
            say("option name openingBook type check default true", "info string ready soon", "ugiok")
        elif verb in ("isready", "uginewgame"):
            board = Board()
            if verb == "isready":
                say("readyok")
        elif verb == "position":
            board = Board(START if words[1] == "startpos" else " ".join(words[2:6]))
            for turn in words[words.index("moves") + 1 :] if "moves" in words else ():
                board.play(turn)
        elif verb == "go" and words[1:2] in (["depth"], ["movetime"]):
            move = board.choose()
            if move is None:
                say("wtf")
            else:
                board.play(move)
                say(f"bestmove {move}")
        elif verb == "query" and words[1] in ("gameover", "p1turn"):
            say(f"response {str(board.is_over() if words[1] == 'gameover' else board.is_white).lower()}")
        elif verb == "quit":
            return
    while True:
        pass


main()
