"""Whole games of hexapawn: moves separated by blanks, with marks and {comments}."""

from __future__ import annotations

import re

from referee.rules.core import ParseError
from referee.rules.gametags import Draft, braced, placed, remarked, split_mark
from referee.rules.rules import GameFormat, GameText, Ruleset

from .notation import read_move, write_move

_WORD = re.compile(r"\{([^{}]*)\}|[^\s{]+|\{")


def read_games(text: str, ruleset: Ruleset) -> list[GameText]:
    """Return the game of a text; an empty text has none. Raise ParseError."""
    start, draft, moves = ruleset.read(), Draft(), list[str]()
    for found in _WORD.finditer(text):
        if found[1] is not None:
            draft.comment(len(moves), found[1])
            continue
        word, mark = split_mark(found[0])
        try:
            moves.append(write_move(read_move(word, start, ruleset.config)))
        except ParseError as error:
            raise placed(error, text, found.start()) from None
        draft.mark(len(moves), mark)
    return [draft.game(moves)] if moves else []


def write_game(game: GameText, ruleset: Ruleset) -> str:
    """Return one game's text."""
    words = [braced(game.comments.get(0, "")), *(remarked(move, game, ply) for ply, move in enumerate(game.moves, 1))]
    return " ".join(word for word in words if word)


FORMATS = (GameFormat("plain", read_games, write_game, "moves between blanks, marks, {comments}"),)
