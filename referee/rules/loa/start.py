"""The start positions of Lines of Action, each with its size of board."""

from __future__ import annotations

from referee.rules.rules import Variant

_E5 = 4 * 16 + 4


def _framed(first: str, inner: str, size: int, last: str) -> str:
    return "/".join([first, *[inner] * (size - 2), last]) + " b - 1"


VARIANTS = (
    Variant("standard", _framed("1bbbbbb1", "w6w", 8, "1bbbbbb1"), params=(8, -1, 0), note="12 against 12"),
    Variant(
        "scrambled-eggs",
        "1wbwbwb1/b6w/w6b/b6w/w6b/b6w/w6b/1bwbwbw1 b - 1",
        params=(8, -1, 0),
        note="colours alternate round the edge",
    ),
    Variant("loa12", _framed("1bbbbbbbbbb1", "w10w", 12, "1bbbbbbbbbb1"), params=(12, -1, 0), note="20 against 20"),
    Variant(
        "blackhole9",
        _framed("1bbbbbbb1", "w7w", 9, "1bbbbbbb1"),
        params=(9, _E5, 0),
        note="a piece that lands on e5 vanishes",
    ),
    Variant(
        "blackhole9-scrambled",
        "1bwbwbwb1/w7w/b7b/w7w/b7b/w7w/b7b/w7w/1bwbwbwb1 b - 1",
        params=(9, _E5, 0),
        note="blackhole9 with alternating colours",
    ),
    Variant(
        "zen",
        "b4w4w/4b1b4/3w3w3/2b5b2/1w7w1/b4z4b/1w7w1/2b5b2/3w3w3/4b1b4/w4w4b b - 1",
        params=(11, -1, 1),
        note="Zen l'initié: a neutral piece both may move must belong to the group",
    ),
)
