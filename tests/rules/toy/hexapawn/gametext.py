"""Whole games of hexapawn: moves separated by blanks, with marks and {comments}."""

from __future__ import annotations

import re

from referee.rules.core import ParseError
from referee.rules.gametags import Draft, braced, placed
from referee.rules.rules import GameFormat, GameText, Ruleset

from .notation import read_move, write_move

_WORD = re.compile(r"\{([^{}]*)\}|[^\s{]+|\{")


def read_games(text: str, ruleset: Ruleset) -> list[GameText]:
    """Return the game of a text; an empty text has none. Raise ParseError."""
    start, draft, moves = ruleset.read(), Draft(), list[str]()
    for token in _WORD.finditer(text):
        if token[1] is not None:
            draft.comment(len(moves), token[1])
            continue
        word = token[0].rstrip("!?")
        try:
            moves.append(write_move(read_move(word, start, ruleset.config)))
        except ParseError as error:
            raise placed(error, text, token.start()) from None
        draft.mark(len(moves), token[0][len(word) :])
    return [draft.game(moves)] if moves else []


def write_game(game: GameText, ruleset: Ruleset) -> str:
    """Return one game's text."""
    words = [braced(game.comments.get(0, ""))]
    for ply, move in enumerate(game.moves, 1):
        words += [move + game.marks.get(ply, ""), braced(game.comments.get(ply, ""))]
    return " ".join(word for word in words if word)


FORMATS = (GameFormat("plain", read_games, write_game, "moves between blanks, marks, {comments}"),)
