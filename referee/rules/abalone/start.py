"""The named starting positions of Abalone. Black moves first in all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from referee.rules.abalone.notation import read_position, write_position
from referee.rules.rules import Value, Variant

SOURCES: Final = {
    "G": "gallery of abaloneonline.wordpress.com",
    "P": "PlayStrategy",
    "B": "Abalone-BoAI",
    "O": "OpenSpiel",
    "Z": "Dagaz",
    "R": "a printed game",
    "C": "BCIT course tests",
    "S": "description of the start in words",
}

# Each start has a name, a board, whether a symmetry of the board exchanges the colours, and sources (see `SOURCES`).
_STARTS: Final = (
    ("standard", "sssss/ssssss/2sss2/8/9/8/2SSS2/SSSSSS/SSSSS", True, "G P B O Z"),
    ("belgian-daisy", "ss1SS/sssSSS/1ss1SS1/8/9/8/1SS1ss1/SSSsss/SS1ss", True, "G P B O Z R"),
    ("german-daisy", "5/ss2SS/sss1SSS/1ss2SS1/9/1SS2ss1/SSS1sss/SS2ss/5", True, "G P B"),
    ("dutch-daisy", "ss1SS/sSsSsS/1ss1SS1/8/9/8/1SS1ss1/SsSsSs/SS1ss", True, "G P Z"),
    ("swiss-daisy", "5/ss2SS/sSs1SsS/1ss2SS1/9/1SS2ss1/SsS1sSs/SS2ss/5", True, "G P Z"),
    ("irish-daisy", "5/2ss2/2sSs2/1SSssSS1/1SsS1SsS1/1SSssSS1/2sSs2/2ss2/5", False, "G R S"),
    ("french-daisy", "5/2SS2/2SSS2/1ssSSss1/1sss1sss1/1ssSSss1/2SSS2/2SS2/5", False, "G S"),
    ("alien-attack", "S1S1S/1SssS1/1SsSsS1/3SS3/9/3ss3/1sSsSs1/1sSSs1/s1s1s", True, "G P Z"),
    ("the-wall", "2s2/6/1sssss1/ssssssss/9/SSSSSSSS/1SSSSS1/6/2S2", True, "G P Z"),
    ("snakes", "SSSSS/S5/S6/S2SSss1/1S1S1s1s1/1SSss2s/6s/5s/sssss", True, "G Z"),
    ("snakes-variation", "SSSSS/S5/S6/S1sssss1/1S5s1/1SSSSS1s/6s/5s/sssss", True, "G P"),
    ("fujiyama", "sssss/1sSSs1/2sSs2/3ss3/9/3SS3/2SsS2/1SssS1/SSSSS", True, "G Z"),
    ("checkerboard", "5/SsSsSs/7/sSsSsSsS/9/SsSsSsSs/7/sSsSsS/5", True, "G P"),
    ("duel", "1s1S1/sssSSS/2s1S2/S6s/SS5ss/S6s/2s1S2/sssSSS/1s1S1", True, "G P"),
    ("star", "S3s/1s2S1/s1S1s1S/3sS3/sSsS1sSsS/3sS3/s1S1s1S/1s2S1/S3s", True, "G P"),
    ("domination", "5/s4S/ss3SS/ssss1SSS/3S1S3/SSS1ssss/SS3ss/S4s/5", False, "G P C"),
    ("atomouche", "Ss3/s2SsS/2S4/S1s4s/s2S1s2S/S4S1s/4s2/sSs2S/3Ss", True, "G P"),
    ("scottish-daisy", "sS1sS/SssSSs/1sS1sS1/8/9/8/1Ss1Ss1/sSSssS/Ss1Ss", True, "G"),
    ("true-daisy", "ss3/sss1ss/1ss1sss/3S1ss1/4SS3/4S3/S2S3/S1S2S/SSSSS", False, "G"),
    ("infiltration", "1SsS1/1SSSS1/1SsSsS1/1S4S1/9/1s4s1/1sSsSs1/1ssss1/1sSs1", True, "G"),
    ("infiltralien", "sSsSs/1ssss1/2SSS2/3ss3/9/3SS3/2sss2/1SSSS1/SsSsS", True, "G"),
    ("pyramid", "s4/ss4/sss4/ssss4/ssss1SSSS/4SSSS/4SSS/4SS/4S", True, "G"),
    ("centrifuge", "1sss1/S4S/SS1s1SS/SS4SS/9/ss4ss/ss1S1ss/s4s/1SSS1", True, "G"),
    ("face-2-face", "5/6/ss3SS/sss2SSS/ssss1SSSS/sss2SSS/ss3SS/6/5", True, "G"),
    ("crown", "2S2/S1SS1S/1SSsSS1/2SSSS2/9/2ssss2/1ssSss1/s1ss1s/2s2", True, "G"),
    ("spider", "s3s/1s2s1/2s1s2/2ssss2/SSSS1ssss/2SSSS2/2S1S2/1S2S1/S3S", True, "G"),
    ("wheel", "s3s/1s2s1/2s1s2/2sSsS2/SSsS1sSss/2sSsS2/2S1S2/1S2S1/S3S", True, "G"),
    ("windmill", "s2SS/ss1SS1/1s5/4S1ss/SS1s1s1ss/SS1S4/5S1/1ss1SS/ss2S", False, "G"),
    ("cross", "SS1ss/S1Ss1s/1S3s1/2S1ss2/3S1s3/2SS1s2/1S3s1/S1Ss1s/SS1ss", True, "G"),
    ("domination-vs-daisy", "5/ss3S/sss2SS/1ss2SSS/3S1S3/SSS2ss1/SS2sss/S3ss/5", False, "G"),
    ("intimidation", "1sss1/S1ss2/SSsss2/SSS5/9/5sss/2SSSss/2SS1s/1SSS1", True, "G"),
    ("mosaic", "sssss/1SSSS1/2sss2/3SS3/9/3ss3/2SSS2/1ssss1/SSSSS", True, "G"),
    ("trench", "5/ssssss/1SSSSS1/2sss3/9/3SSS2/1sssss1/SSSSSS/5", True, "G"),
    ("xmas-star", "2s2/2ss2/SSs1SSS/1SS2SS1/2S3s2/1ss2ss1/sss1Sss/2SS2/2S2", True, "G"),
    ("clearing", "SsSsS/s4s/1S2s1S/Ss5s/s7S/S5Ss/s1S2s1/S4S/sSsSs", True, "P"),
    ("papillons", "1S1ss/S1sS1s/1s3SS/sS5s/s7S/S5sS/ss3S1/S1sS1s/SS1s1", True, "P"),
)


def _variant(name: str, board: str, balanced: bool, sources: str) -> Variant:
    origin = ", ".join(SOURCES[letter] for letter in sources.split())
    fairness = "" if balanced else "; the sides differ: play it in pairs with sides swapped"
    return Variant(name, f"{board} 0 0 b 0 1", note=f"source: {origin}{fairness}")


VARIANTS: Final = tuple(_variant(*start) for start in _STARTS)
"""All named starts, `standard` first."""


def resolve(name: str, options: Mapping[str, Value]) -> Variant | None:
    """Return the variant that starts from a position string, named by the position's canonical text.

    Return None for a text without `/`. Raise ParseError for an invalid position.
    """
    if "/" not in name:
        return None
    none = np.zeros(0, dtype=np.int64)  # no option changes how a position is written
    position = write_position(read_position(name, none), none)
    return Variant(position, position, note="a position string")
