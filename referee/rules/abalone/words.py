"""Further names of Abalone's variants, sides and pieces, mostly in French, the language of many of its players."""

from __future__ import annotations

from typing import Final

from referee.rules.abalone.french import FRENCH
from referee.rules.rules import Words

WORDS: Final = Words(
    family=("Abalone Classic", "Abalone classique"),
    sides=(("Noir", "Noirs"), ("Blanc", "Blancs")),
    variants={
        "standard": ("Classique", "Standard"),
        "belgian-daisy": ("Marguerite belge",),
        "german-daisy": ("Marguerite allemande",),
        "dutch-daisy": ("Marguerite hollandaise",),
        "swiss-daisy": ("Marguerite suisse",),
        "irish-daisy": ("Marguerite irlandaise",),
        "french-daisy": ("Marguerite française",),
        "alien-attack": ("Attaque extraterrestre", "Alien Attack"),
        "the-wall": ("Le mur", "Mur"),
        "snakes": ("Serpents",),
        "snakes-variation": ("Serpents (variante)", "Snakes variante"),
        "fujiyama": ("Fujiyama",),
        "checkerboard": ("Damier",),
        "duel": ("Duel",),
        "star": ("Étoile",),
        "domination": ("Domination",),
        "atomouche": ("Atomouche",),
        "scottish-daisy": ("Marguerite écossaise",),
        "true-daisy": ("Vraie marguerite",),
        "infiltration": ("Infiltration",),
        "infiltralien": ("Infiltralien",),
        "pyramid": ("Pyramide",),
        "centrifuge": ("Centrifugeuse",),
        "face-2-face": ("Face à face",),
        "crown": ("Couronne",),
        "spider": ("Araignée",),
        "wheel": ("Roue",),
        "windmill": ("Moulin à vent",),
        "cross": ("Croix",),
        "domination-vs-daisy": ("Domination contre marguerite",),
        "intimidation": ("Intimidation",),
        "mosaic": ("Mosaïque",),
        "trench": ("Tranchée",),
        "xmas-star": ("Étoile de Noël",),
        "clearing": ("Clairière",),
        "papillons": ("Papillons",),
    },
    terms={
        "marbles": ("billes",),
        "black marble": ("bille noire",),
        "white marble": ("bille blanche",),
        "can be pushed off": ("en danger",),
        "inline move": ("coup en ligne",),
        "broadside": ("coup en flèche", "coup latéral"),
        "ejection": ("éjection",),
    },
    translations={"fr": FRENCH},
)
