"""Whole games of Tablut as text: a plain move list with tag lines; `gametext_otn` has the records of OpenTafl.

The readers check words, rules and positions, but not legality. Any text gives games or a `ParseError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from referee.rules import gametable
from referee.rules.gameparts import GamePart
from referee.rules.gametags import RESULTS, annotated, other_tags, rule_tags, write_tag
from referee.rules.gametext import GameReader, understand
from referee.rules.position import state_after
from referee.rules.reversible import REVERSIBLE
from referee.rules.rules import GameFormat, GameText, Ruleset, State
from referee.rules.tablut.gametext_challenge import CHALLENGE
from referee.rules.tablut.gametext_otn import ANNOUNCEMENTS, OTN, numbered, rules_of
from referee.rules.tablut.notation import read_move
from referee.rules.tokens import Grammar
from referee.rules.variations import remarks

GRAMMAR: Final = Grammar(hint="write moves as e3e4", skipped="(?i:raichi|tuichi)")


def _understand(part: GamePart, ruleset: Ruleset) -> GameText:
    """Return the game of a part of a text, with its rules in full. Raise ParseError."""
    game, settled = understand(part, ruleset)
    return replace(game, variant=settled.variant.name, options=settled.overrides)


def _plain_lines(game: GameText, settled: Ruleset) -> tuple[list[str], list[str]]:
    """Return the lines above the moves of a game in the plain format, and its annotated moves."""
    tags = [*other_tags(game), ("Variant", settled.variant.name), *rule_tags(settled.overrides)]
    tags += [("Position", game.position)] if game.position is not None else []
    said = remarks(game, settled)
    lines = [write_tag(name, value) for name, value in [*tags, ("Result", _result(game))]]
    lines += ["", *([said[0]] if 0 in said else [])]
    # An announcement follows the move's mark.
    called = {ply: told for ply, told in enumerate(_announced(game, settled), 1) if told}
    after = {ply: " ".join(filter(None, (called.get(ply), said.get(ply)))) for ply in {**called, **said}}
    return lines, annotated(game.moves, game.marks, after)


def _result(game: GameText) -> str:
    return game.result if game.result in RESULTS else "*"


def write_game(game: GameText, ruleset: Ruleset) -> str:
    """Return one game in the plain format. Raise UnknownNameError for an unknown variant or option."""
    lines, words = _plain_lines(game, rules_of(game, ruleset))
    return "\n".join([*lines, *numbered(words, every=6), _result(game), ""])


def write_table(game: GameText, ruleset: Ruleset) -> str:
    """Return one game with a row for each pair of moves. Raise UnknownNameError for an unknown variant or option."""
    settled = rules_of(game, ruleset)
    lines, words = _plain_lines(game, settled)
    side = settled.rules.side(settled.read(game.position), settled.config)
    table = gametable.lines(settled.sides, gametable.rows(words, 1, side))
    return "\n".join([*lines, *table, _result(game), ""])


def _announced(game: GameText, settled: Ruleset) -> Iterator[str]:
    """Yield the announcement after each move (`raichi`) or ""; none from the first illegal move on."""
    rules, config = settled.rules, settled.config
    state: State | None = settled.read(game.position)
    for text in game.moves:
        state = None if state is None else state_after(settled, state, read_move(text, state, config))
        called = rules.announce(state, config) if state is not None and rules.announce is not None else None
        yield called or ""


READER: Final = GameReader(GRAMMAR, _understand, words=ANNOUNCEMENTS)

FORMATS = (
    GameFormat("tablut", READER, write_game, "tag lines, then numbered moves and the result", READER.starts),
    GameFormat(
        "tablut-table", READER, write_table, "tag lines, then a numbered row for each pair of moves", READER.starts
    ),
    OTN,
    CHALLENGE,
    REVERSIBLE,
)
