"""Whole games as text: moves separated by blanks."""

from __future__ import annotations

from referee.rules.rules import GameFormat, GameText, Ruleset

from .notation import read_move, write_move


def read_games(text: str, ruleset: Ruleset) -> list[GameText]:
    """Return the one game of a text, none if the text is empty. Raise ParseError."""
    start = ruleset.read()
    moves = tuple(write_move(read_move(word, start, ruleset.config)) for word in text.split())
    return [GameText(moves)] if moves else []


def write_game(game: GameText, ruleset: Ruleset) -> str:
    """Return the text of one game: its moves."""
    return " ".join(game.moves)


FORMATS = (GameFormat("plain", read_games, write_game, "moves between blanks"),)
