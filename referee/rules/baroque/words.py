"""Further names of the variants, sides and pieces of Baroque chess, French and English."""

from __future__ import annotations

from typing import Final

from referee.rules.baroque.french import FRENCH
from referee.rules.rules import Words

WORDS: Final = Words(
    family=("Échecs baroques", "Échecs baroque", "Ultima", "Baroque chess"),
    sides=(("Blanc", "Blancs"), ("Noir", "Noirs")),
    variants={
        "standard": ("Classique", "Standard"),
        "vchess": ("vchess.club",),
        "wikipedia": ("Wikipédia",),
        "random-symmetric": ("Aléatoire symétrique",),
        "random-asymmetric": ("Aléatoire asymétrique",),
        "mackay": ("Règles de MacKay",),
        "classical": ("Règles classiques", "Ultima classique"),
    },
    terms={
        "pincer": ("pion", "pinceur"),
        "coordinator": ("coordinateur",),
        "leaper": ("sauteur long", "sauteur", "long leaper"),
        "chameleon": ("caméléon",),
        "withdrawer": ("supprimeur",),
        "immobilizer": ("immobiliseur",),
        "king": ("roi",),
        "cannot move": ("immobilisé",),
        "attacked king": ("échec", "roi attaqué"),
    },
    translations={"fr": FRENCH},
)
