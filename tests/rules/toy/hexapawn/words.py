"""Further names of the parts of hexapawn."""

from __future__ import annotations

from referee.rules.rules import Words

WORDS = Words(
    family=("Jeu des pions",), sides=(("Blanc",), ("Noir",)), variants={"wide": ("Large",)}, terms={"pawn": ("pion",)}
)
