"""French for the words and sentences that Lines of Action shows to people. In a sentence, `{}` stands for a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FRENCH: Final[Mapping[str, str]] = {
    "Lines of Action": "Lignes d’action",
    "Black": "Noirs",
    "White": "Blancs",
    "Move one piece in a straight line, exactly as many squares as there are pieces on that line, over your own but never over opposing pieces. Landing on an opposing piece captures it. The side that gathers all its pieces into one touching group wins, so every capture also brings the opponent nearer to that goal. In Zen l'initié a neutral piece that both may move belongs to the group.": "On déplace un pion en ligne droite, d’autant de cases qu’il y a de pions sur cette ligne, par-dessus les siens mais jamais par-dessus ceux de l’adversaire. Arriver sur un pion adverse le prend. Gagne celui qui réunit tous ses pions en un seul groupe qui se touche ; chaque prise rapproche donc aussi l’adversaire de son but. À Zen l’initié, un pion neutre, que les deux peuvent déplacer, fait partie du groupe.",
    "both sides connected by one move: drawn, or the side that just moved wins": "les deux camps reliés par un même coup : nulle, ou victoire de celui qui vient de jouer",
    "the side to move has no move: it passes, loses, or the game is drawn": "le camp au trait n’a aucun coup : il passe, il perd, ou la partie est nulle",
    "the n-th occurrence of a position ends the game; 0 = never": "la n-ième répétition d’une position termine la partie ; 0 = jamais",
    "the result of a repetition: a draw, or a loss of the side that caused it": "résultat d’une répétition : nulle, ou défaite de celui qui l’a provoquée",
    "drawn when that many plies have been played; 0 = no limit": "nulle après ce nombre de demi-coups ; 0 = sans limite",
    "12 against 12": "12 contre 12",
    "20 against 20": "20 contre 20",
    "colours alternate round the edge": "les couleurs alternent sur le bord",
    "a piece that lands on e5 vanishes": "un pion qui arrive en e5 disparaît",
    "blackhole9 with alternating colours": "blackhole9 avec couleurs alternées",
    "Zen l'initié: a neutral piece both may move must belong to the group": "Zen l’initié : un pion neutre, que les deux peuvent déplacer, doit faire partie du groupe",
    "black stone": "pion noir",
    "white stone": "pion blanc",
    "neutral stone": "pion neutre",
    "group": "groupe",
    "joined: largest group": "relié : le plus grand groupe",
    "stray": "isolé du groupe",
    "outside the largest group": "hors du plus grand groupe",
    "isolated": "sans contact",
    "without contact": "sans contact",
    "banned": "interdite",
    "may not be entered now": "case interdite pour l’instant",
    "connection": "connexion",
    "all pieces of one side are connected": "tous les pions d’un camp sont reliés",
    "simultaneous-connection": "connexion simultanée",
    "a move connected both sides at once": "un coup a relié les deux camps à la fois",
    "blocked": "blocage",
    "neither side can move": "aucun camp ne peut jouer",
    "{} 1 piece": "{} : 1 pion",
    "{} {} pieces": "{} : {} pions",
    "{} pieces": "{} pions",
    "connected": "reliés",
    "{} groups": "{} groupes",
    "neutral piece isolated: neither side may move it": "pion neutre isolé : aucun camp ne peut le déplacer",
    "neutral piece may not return to {}": "le pion neutre ne peut pas retourner en {}",
    "numbered moves with dashes, PGN-like tags, {comments}, results": "coups numérotés avec tirets, étiquettes comme en PGN, {commentaires}, résultats",
}
