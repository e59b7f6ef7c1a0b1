"""The honest part of every attacker: when asked for its first move it attacks, tells what it got, and plays on.

What it got is one line of JSON on standard error. Run from a bundle: standard library only.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

MOVES = ("b1b3", "d1a4", "e1c3"), ("h4f2", "h2e2", "a5c3")


def say(line: str) -> None:
    """Write a line to standard output, at once."""
    os.write(1, line.encode() + b"\n")


def error_of(action: Callable[[], Any]) -> str:
    """Do it; the name of the error it ends in, or `done: ` and what came of it."""
    try:
        return f"done: {action()!r}"
    except OSError as error:
        return type(error).__name__ if error.errno is None else f"{error.strerror}"


def run(attack: Callable[[], dict[str, Any]]) -> None:
    """Play, and attack once."""
    has_attacked, plies = False, 0
    for line in sys.stdin:
        word, *words = line.split()
        if word == "ugi":
            say("id name attacker\nugiok")
        elif word == "isready":
            say("readyok")
        elif word == "position":
            plies = len(words[words.index("moves") + 1 :]) if "moves" in words else 0
        elif word == "go":
            if not has_attacked:
                has_attacked = True
                print(json.dumps(attack()), file=sys.stderr, flush=True)
            say(f"bestmove {MOVES[plies % 2][plies // 2]}")
        elif word == "quit":
            break
