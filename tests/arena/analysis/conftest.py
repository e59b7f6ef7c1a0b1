"""Games to analyse."""

from __future__ import annotations

from dataclasses import replace

from referee.game.record import GameRecord, Ply
from referee.rules.core import Kind, Termination
from referee.rules.position import Position
from referee.rules.rules import Ruleset


def game_of(ruleset: Ruleset, plies: int) -> GameRecord:
    """Return an unfinished game of this many plies, always with the middle legal move."""
    position = Position.start(ruleset)
    moves = []
    for _ in range(plies):
        code = position.moves[len(position.moves) // 2]
        moves.append(ruleset.rules.notation.write_move(code))
        position = position.play(code)
    blank = GameRecord(
        id="0123456789abcdef",
        family=ruleset.rules.family,
        variant=ruleset.variant.name,
        options={},
        position="",
        first="ada",
        second="eve",
        winner="first",
        termination=Termination.RESIGNED,
        kind=Kind.FORFEIT,
        moves=tuple(moves),
        plies=[Ply() for _ in moves],
        started="",
        finished="",
    )
    return replace(blank, position=str(Position.start(ruleset)))
