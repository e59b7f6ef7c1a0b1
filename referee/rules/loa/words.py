"""Further names of the variants, sides and pieces of Lines of Action, French and English."""

from __future__ import annotations

from typing import Final

from referee.rules.loa.french import FRENCH
from referee.rules.rules import Words

WORDS: Final = Words(
    family=("Lines of Action", "Lignes d'action"),
    sides=(("Noir", "Noirs"), ("Blanc", "Blancs")),
    variants={
        "standard": ("Classique", "Standard"),
        "scrambled-eggs": ("Œufs brouillés",),
        "loa12": ("Lignes d’action 12", "LOA 12"),
        "blackhole9": ("Trou noir", "Black hole"),
        "blackhole9-scrambled": ("Trou noir brouillé",),
        "zen": ("Zen l’initié", "Zen"),
    },
    terms={
        "black piece": ("pion noir",),
        "white piece": ("pion blanc",),
        "neutral piece": ("pion neutre", "zen"),
        "pass": ("passe",),
        "connection": ("connexion",),
    },
    translations={"fr": FRENCH},
)
