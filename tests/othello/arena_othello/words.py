"""Names in other languages."""

from __future__ import annotations

from referee.rules.rules import Words

WORDS = Words(family=("Reversi",), sides=(("Noir",), ("Blanc",)), variants={"parallel": ("Parallèle",)})
