"""What people call the parts of hexapawn besides their names here."""

from __future__ import annotations

from referee.rules.rules import Words

WORDS = Words(
    family=("Jeu des pions",), sides=(("Blanc",), ("Noir",)), variants={"wide": ("Large",)}, terms={"pawn": ("pion",)}
)
