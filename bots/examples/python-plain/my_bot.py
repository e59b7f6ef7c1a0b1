#!/usr/bin/env python3
"""A bot that plays a random legal move in every family: the referee sends it the list.

Begin with `choose`. Once your program generates the moves itself, remove the option UGI_LegalMoves.
"""

import random
import sys


def choose(position, moves, limits):
    """Return the move to play.

    `position` is "startpos", "startpos moves M...", "fen P" or "fen P moves M...".
    `limits` is what follows `go`, such as "movetime 100" or "p1time 5000 p2time 4000 p1inc 100 p2inc 100".
    """
    return random.choice(moves)


def say(text):
    print(text, flush=True)


position, moves = "startpos", []
for line in sys.stdin:
    command, _, rest = line.strip().partition(" ")
    match command:
        case "ugi":
            say("id name my bot\nid author you\noption name UGI_LegalMoves type check default true\nugiok")
        case "isready":
            say("readyok")
        case "position":
            position = rest
        case "legal":
            moves = rest.split()
        case "go":
            say(f"bestmove {choose(position, moves, rest) if moves else '------'}")
            moves = []
        case "quit":
            break
