"""The starts."""

from __future__ import annotations

from referee.rules.rules import Variant

VARIANTS = (
    Variant("standard", "8/8/8/3wb3/3bw3/8/8/8 b"),
    Variant("parallel", "8/8/8/3ww3/3bb3/8/8/8 b", note="the first four discs in two rows"),
)
