"""Further names of the variants, sides and pieces of Pijersi, French and English."""

from __future__ import annotations

from typing import Final

from referee.rules.pijersi.french import FRENCH
from referee.rules.rules import Words

WORDS: Final = Words(
    family=("Pijersi",),
    sides=(("Blanc", "Blancs"), ("Noir", "Noirs")),
    variants={
        "standard": ("Mise en place standard", "Classique"),
        "half-random": ("Semi-aléatoire", "À moitié aléatoire"),
        "full-random": ("Aléatoire", "Tout aléatoire"),
    },
    terms={
        "rock": ("pierre",),
        "paper": ("papier",),
        "scissors": ("ciseaux",),
        "wise": ("sage",),
        "stack": ("pile",),
        "set-up": ("mise en place",),
        "random": ("aléatoire",),
    },
    translations={"fr": FRENCH},
)
