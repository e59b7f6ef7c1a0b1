"""Whole games as text: `1. b1-b3 h4-f2 2. d1:a4 h2-e2 {a comment} 1-0`.

Move numbers are optional; squares are separated by a dash, `x`, a colon or nothing. Tags `[Variant "zen"]`, `[Position
"..."]`, `[Rule.simultaneous "mover"]` and any others precede the moves; a result ends a game.
"""

from __future__ import annotations

import re
from typing import Final

from referee.rules import gametable
from referee.rules.gameparts import GamePart
from referee.rules.gametags import annotated, rule_tags, tag_lines, wrapped
from referee.rules.gametext import GameReader, understand
from referee.rules.loa.gametext_sgf import SGF
from referee.rules.reversible import REVERSIBLE
from referee.rules.rules import GameFormat, GameText, Ruleset
from referee.rules.tokens import Grammar
from referee.rules.variations import remarks

GRAMMAR: Final = Grammar(hint="write moves as b1-b3, d1xa4, pass", bare=r"[0-9]{1,3}(?=[\s|])")


def _understand(part: GamePart, ruleset: Ruleset) -> GameText:
    """Return the game of a part of a text. Raise ParseError."""
    return understand(part, ruleset)[0]


def _head(game: GameText) -> list[str]:
    """Return the lines of a game's tags."""
    position = [("Position", game.position or "")]
    return tag_lines(
        game, own=[("Variant", game.variant), *rule_tags(game.options), *position, ("Result", game.result)]
    )


def _moves(game: GameText, settled: Ruleset) -> tuple[list[str], str, int]:
    """Return the moves with their annotations, what precedes them, and the side (0 or 1) that makes the first one."""
    said = remarks(game, settled)
    moves = [re.sub(r"(?<=[0-9])(?=[a-l])", "-", move) for move in game.moves]
    turn = settled.rules.side(settled.read(game.position), settled.config)
    return annotated(moves, game.marks, said), said.get(0, ""), turn


def write_game(game: GameText, ruleset: Ruleset) -> str:
    """Return one game's text: its tags, the numbered moves with dashes, and the result.

    Captures look like other moves, since the separator has no meaning. If the second side begins, the first move has
    the number `1...`.
    """
    moves, said, turn = _moves(game, ruleset.rules.settle(game.variant or ruleset.variant.name, game.options))
    words = [said]
    for at, move in enumerate(moves, turn):
        if at % 2 == 0 or at == turn:
            words.append(f"{at // 2 + 1}." + (".." if at % 2 else ""))
        words.append(move)
    return "\n".join([*_head(game), "", *wrapped([*words, game.result]), ""])


def write_table(game: GameText, ruleset: Ruleset) -> str:
    """Return one game's text with a row for each pair of moves."""
    moves, said, turn = _moves(game, ruleset.rules.settle(game.variant or ruleset.variant.name, game.options))
    table = gametable.lines(ruleset.rules.sides, gametable.rows(moves, 1, turn))
    return "\n".join([*_head(game), "", *([said] if said else []), *table, game.result, ""])


READER: Final = GameReader(GRAMMAR, _understand, words=("pass",))

FORMATS = (
    GameFormat(
        "loa", READER, write_game, "numbered moves with dashes, PGN-like tags, {comments}, results", READER.starts
    ),
    GameFormat("loa-table", READER, write_table, "a numbered row for each pair of moves", READER.starts),
    SGF,
    REVERSIBLE,
)
