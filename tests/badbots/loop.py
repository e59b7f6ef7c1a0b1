"""The honest part of every bad bot: it answers everything as it should. A bad bot overrides one answer.

Standard library only, and little of it: these programs are started by the hundred.
"""

import os
import sys

FIRST = ("b1b3", "d1a4", "e1c3")
SECOND = ("h4f2", "h2e2", "a5c3")


def say(*lines: str) -> None:
    """Write lines to standard output, at once."""
    write("".join(f"{line}\n" for line in lines).encode())


def write(data: bytes) -> None:
    """Write bytes to standard output, all of them."""
    while data:
        data = data[os.write(1, data) :]


class Bot:
    """Plays Lines of Action from a list. Methods are named after what is heard."""

    def __init__(self) -> None:
        self.plies = 0

    @property
    def move(self) -> str:
        """The move to play now."""
        return (SECOND if self.plies % 2 else FIRST)[self.plies // 2]

    def ugi(self) -> None:
        say("id name bad", "id author nobody", "ugiok")

    def isready(self) -> None:
        say("readyok")

    def go(self) -> None:
        say(f"bestmove {self.move}")

    def stop(self) -> None:
        pass

    def quit(self) -> None:
        sys.exit(0)

    def run(self) -> None:
        """Answer until the end of input."""
        for line in sys.stdin:
            word, *words = line.split()
            if word == "position":
                self.plies = len(words[words.index("moves") + 1 :]) if "moves" in words else 0
            elif word in ("ugi", "isready", "go", "stop", "quit"):
                getattr(self, word)()
