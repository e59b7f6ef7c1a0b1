"""Agents for the bridge to Python: good ones and bad ones."""


def first(position, clock):
    print("this goes to standard error")
    return position.moves[0]


def by_text(position, moves, milliseconds):
    assert position.count("/") == 7
    assert milliseconds > 0
    return moves[-1]


class Counter:
    """One object plays one game."""

    name = "counter"

    def __init__(self):
        self.count = 0

    def choose(self, position, clock):
        self.count += 1
        return position.texts[self.count % len(position.texts)]


def illegal(position, clock):
    return "b1b2"


def nothing(position, clock):
    return None


def raises(position, clock):
    raise RuntimeError("out of ideas")
