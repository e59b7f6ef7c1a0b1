"""Further names of the variants, sides and pieces of Tablut, French and English."""

from __future__ import annotations

from typing import Final

from referee.rules.rules import Words
from referee.rules.tablut.french import FRENCH

WORDS: Final = Words(
    family=("Tablut", "Tafl lapon"),
    sides=(("Attaquants", "Moscovites", "Attacker"), ("Défenseurs", "Suédois", "Soldats", "Defender")),
    variants={
        "bell": ("Règle de base",),
        "bell_a1": ("Première adaptation",),
        "bell_a1_nostop": ("Première adaptation sans arrêt",),
        "bell_a1_strict": ("Première adaptation sévère", "Sévère"),
        "bell_a1_attenuated": ("Première adaptation atténuée", "Atténuée"),
        "bell_k4": ("Roi à quatre cases", "Deuxième adaptation"),
        "bell_a1_k4": ("Première adaptation, roi à quatre cases",),
        "bell_a1_strict_k4": ("Première adaptation sévère, roi à quatre cases", "Sévère, roi à quatre cases"),
        "ashton": ("Ashton", "Bologna", "Bologne"),
        "linnaeus": ("Linné", "Linnaeus"),
        "nielsen": ("Nielsen",),
    },
    terms={
        "attacker": ("Moscovite", "attaquant"),
        "defender": ("Suédois", "soldat", "défenseur"),
        "king": ("roi",),
        "throne": ("trône", "konakis"),
        "base": ("base", "camp"),
        "free way for the king": ("passage libre du roi",),
        "raichi": ("raichi",),
        "tuichi": ("tuichi",),
    },
    translations={"fr": FRENCH},
)
