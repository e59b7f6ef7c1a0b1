"""French for the words and sentences that Abalone shows to people. In a sentence, `{}` stands for a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FRENCH: Final[Mapping[str, str]] = {
    "Abalone": "Abalone",
    "Black": "Noirs",
    "White": "Blancs",
    "Two sides with usually fourteen marbles each on a hexagon of 61 cells. A turn moves one, two or three own marbles of one straight line by one cell, along the line or broadside. Moving along the line, more marbles push fewer: three push two or one, two push one. A marble pushed over the edge is ejected. The side that ejects six wins. An own marble never leaves the board, and pushing is never compulsory.": "Chaque camp a en général quatorze billes, sur un hexagone de 61 cases. À son tour, on déplace d’une case une, deux ou trois de ses billes alignées, en ligne ou en flèche (latéralement). En ligne, le plus grand nombre pousse le plus petit : trois billes en poussent deux ou une, deux en poussent une. Une bille poussée hors du plateau est éjectée. Le premier qui en éjecte six gagne. Une bille ne sort jamais d’elle-même du plateau, et pousser n’est jamais obligatoire.",
    "ejections that win the game": "nombre d’éjections qui gagnent la partie",
    "the n-th occurrence of a board with the same side to move is a draw; 0 = off": "nulle à la n-ième répétition du plateau avec le même trait ; 0 = jamais",
    "plies without an ejection that end the game; 0 = off": "demi-coups sans éjection qui terminent la partie ; 0 = sans limite",
    "plies after which the game ends; 0 = off": "demi-coups après lesquels la partie s’arrête ; 0 = sans limite",
    "the result at either limit: a draw, or the side with more ejections wins": "résultat à l’une de ces limites : nulle, ou victoire de celui qui a éjecté le plus de billes",
    "the result for a side to move without a legal move": "résultat pour le camp au trait qui n’a aucun coup",
    "write (e) after a move that ejects": "écrire (e) après un coup qui éjecte",
    "write the score (Black-White) after each ejection": "écrire le score (Noirs-Blancs) après chaque éjection",
    "source: {}": "source : {}",
    "gallery of abaloneonline.wordpress.com": "galerie d’abaloneonline.wordpress.com",
    "a printed game": "un jeu imprimé",
    "description of the start in words": "description de la position en mots",
    "BCIT course tests": "essais d’un cours du BCIT",
    "the sides differ: play it in pairs with sides swapped": "les camps ne sont pas symétriques : à jouer par paires, en échangeant les camps",
    "black marble": "bille noire",
    "white marble": "bille blanche",
    "in-danger": "en danger",
    "can be pushed off": "peut être éjectée",
    "ejections": "éjections",
    "enough marbles were pushed off the board": "assez de billes ont été éjectées",
    "no-ejection": "sans éjection",
    "too many plies without an ejection": "trop de demi-coups sans éjection",
    "{} to move": "trait aux {}",
    "score {} (to win: {})": "score {} (pour gagner : {})",
    "marbles {}": "billes {}",
    "plies since the last ejection: {}": "demi-coups depuis la dernière éjection : {}",
    "plies since the last ejection: {} of {}": "demi-coups depuis la dernière éjection : {} sur {}",
    "{} push {}": "{} en poussent {}",
    "{} is ejected": "{} est éjectée",
    "moves in Aba-Pro coordinates, numbered": "coups numérotés, en coordonnées Aba-Pro",
    "from the last move back: …-3. g5g4 -3. c3c2": "à rebours, depuis le dernier coup : …-3. g5g4 -3. c3c2",
}
