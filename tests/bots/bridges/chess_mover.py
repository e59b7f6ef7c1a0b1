"""A chess engine of both protocols for Lines of Action from the usual start: it plays its first legal move."""

import sys

from referee.rules import load
from referee.rules.position import Position

START = Position.start(load("loa").settle())
position = START
for line in sys.stdin:
    verb, *words = line.split()
    if verb == "uci":
        print("uciok", flush=True)
    elif verb == "isready":
        print("readyok", flush=True)
    elif verb == "protover":
        print("feature usermove=1 done=1", flush=True)
    elif verb == "position":
        position = START.play_all(words[words.index("moves") + 1 :] if "moves" in words else ())
    elif verb == "new":
        position = START
    elif verb == "usermove":
        position = position.play(words[0])
    elif line == "go\n":
        print("move", position.texts[0], flush=True)
        position = position.play(position.texts[0])
    elif verb == "go":
        print("bestmove", position.texts[0], flush=True)
    elif verb == "quit":
        break
