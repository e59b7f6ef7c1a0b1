"""A program with a protocol of its own: `new`, `play MOVE`, `think MILLISECONDS`; it plays any legal move."""

import sys

from referee.rules import load
from referee.rules.position import Position

START = Position.start(load("loa").settle())
position = START
for line in sys.stdin:
    verb, *words = line.split()
    move = position.texts[-1] if verb == "think" else (words or [""])[0]
    position = START if verb == "new" else position.play(move)
    if verb == "think":
        print(move, flush=True)
