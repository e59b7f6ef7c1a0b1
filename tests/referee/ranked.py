"""A bot of Lines of Action as strong as its number says: `ranked.py MOVES` resigns after so many moves of its own.

All of them know the same game, which they follow as either side.
"""

import sys

GAME = [
    "d8b6",
    "h3f3",
    "b6e6",
    "h4f2",
    "g1g3",
    "a5b6",
    "c1c3",
    "a3c5",
    "b1d3",
    "f3e4",
    "e6b3",
    "a4c4",
    "c8d7",
    "h5f7",
    "e1e4",
    "f7f3",
    "e4b1",
    "c4b4",
    "c3c5",
    "f2f6",
]


def main() -> None:
    strength, plies = int(sys.argv[1]), 0
    for line in sys.stdin:
        words = line.split()
        if line.startswith("ugi"):
            print("id name ranked\nid author the tests\nugiok")
        elif line.startswith("isready"):
            print("readyok")
        elif words[:1] == ["position"]:
            plies = len(words) - words.index("moves") - 1 if "moves" in words else 0
        elif words[:1] == ["go"]:
            print("bestmove", move(plies, strength))
        elif words[:1] == ["quit"]:
            return
        sys.stdout.flush()


def move(plies: int, strength: int) -> str:
    return "resign" if plies // 2 >= strength else GAME[plies]


main()
