"""Verifies records: played again by the rules, judged again by the rulings, compared with what was planned.

What cannot be computed again is not judged: clocks, crashes, who offered a draw. Refuses to know who asks.
"""

from __future__ import annotations

from collections.abc import Sequence

from referee.adjudicate import Adjudicator
from referee.record import GameRecord, RecordError, positions, read_record
from referee.rules.core import SIDES, Kind, Outcome, Termination
from referee.rules.position import Position
from referee.spec import Adjudication, GameSpec

_BY_SCORE_OR_LENGTH = (Termination.MAX_PLIES, Termination.DRAW_BY_SCORE, Termination.WIN_BY_SCORE)
_BY_THE_MOVER = (Termination.RESIGNED, Termination.ILLEGAL_MOVE, Termination.TIME)
"""A bot that lost by these was to move; people may resign at any time."""
_PLANNED = ("family", "variant", "sequence", "round", "pair")


def verify(record: GameRecord, spec: GameSpec | None = None) -> Position:
    """Replay a whole record and compare what it claims; the final position. Raises RecordError.

    With the game's `spec` also whether it is that game, judged by its rulings; else by those the record names, if any.
    """
    if spec is not None:
        _compare(record, spec)
    line = positions(record)
    _judge(record, line[-1])
    if spec is not None and record.termination in _BY_THE_MOVER and record.loser != line[-1].side:
        raise RecordError(f"game {record.id}: {record.loser} lost by {record.termination} when it was not to move")
    rulings = _rulings(record, spec)
    if rulings is not None and record.kind is not Kind.VOID:
        _adjudicate(record, line, rulings)
    return line[-1]


def problem_of(line: str | bytes, spec: GameSpec | None = None, name: str | None = None) -> str:
    """What is wrong with a record as JSON, of the game with that spec and id if given; empty when it is right."""
    try:
        record = read_record(line)
        verify(record, spec)
    except ValueError as error:  # RecordError, and names or texts that the rules do not know
        return str(error)
    return "" if name in (None, record.id) else f"calls itself {record.id}"


def _compare(record: GameRecord, spec: GameSpec) -> None:
    """Whether a record is of the game that was planned. Raises RecordError, UnknownNameError, ParseError."""
    from referee.rules import load

    def refuse(what: str, claim: object, plan: object) -> None:
        raise RecordError(f"game {record.id}: {what} is {claim}, planned was {plan}")

    ruleset = load(spec.family).settle(spec.variant, spec.options)
    for name in _PLANNED:
        if getattr(record, name) != getattr(spec, name):
            refuse(name, getattr(record, name), getattr(spec, name))
    if (record.first, record.second) != (spec.first.name, spec.second.name):
        refuse("who played", f"{record.first} - {record.second}", f"{spec.first.name} - {spec.second.name}")
    if dict(record.options) != dict(ruleset.overrides):
        refuse("the options", dict(record.options), dict(ruleset.overrides))
    start = str(Position.start(ruleset, spec.position))
    if str(Position.start(ruleset, record.position)) != start:
        refuse("the start", record.position, start)
    opening = tuple(spec.opening)
    if record.termination is not Termination.SUSPENDED and record.moves[: len(opening)] != opening:
        refuse("the opening", " ".join(record.moves[: len(opening)]), " ".join(opening))


def _judge(record: GameRecord, final: Position) -> None:
    """Compare with what the rules say of the last position. Raises RecordError."""
    outcome = final.outcome
    claim = (record.winner, record.termination)
    if record.kind is Kind.RULES and record.termination is not Termination.MAX_PLIES:
        if outcome is None or (outcome.winner, outcome.reason) != claim:
            found = f"{outcome.winner} by {outcome.reason}" if outcome else "a game that goes on"
            raise RecordError(f"game {record.id}: claims {claim[0]} by {claim[1]}, the rules say {found} in {final}")
    elif outcome is not None and (outcome.winner, outcome.reason) != claim:
        raise RecordError(f"game {record.id}: claims {claim[1]}, but the rules ended it by {outcome.reason} in {final}")
    if record.final_position and record.final_position != str(final):
        raise RecordError(f"game {record.id}: final position {final}, the record says {record.final_position}")


def _rulings(record: GameRecord, spec: GameSpec | None) -> Adjudication | None:
    """The rulings to judge by; None where nobody knows them. Raises RecordError."""
    if spec is not None:
        return spec.adjudication
    if record.adjudication is None:
        return None
    try:
        return Adjudication(**record.adjudication)  # type: ignore[arg-type]
    except TypeError:
        raise RecordError(f"game {record.id}: unknown rulings {dict(record.adjudication)}") from None


def _adjudicate(record: GameRecord, line: Sequence[Position], rulings: Adjudication) -> None:
    """Whether the rulings end the game where, and as, the record says. Raises RecordError."""
    adjudicator = Adjudicator(rulings)
    found: Outcome | None = None
    judged: dict[str, int] = {}
    """The last ply of each side that its bot chose, before the rules ended the game."""
    for number, (before, after, ply) in enumerate(zip(line, line[1:], record.plies, strict=False), 1):
        if found is not None:
            raise RecordError(
                f"game {record.id}: its rulings ended it by {found.reason} after ply {number - 1}, but it goes on"
            )
        if after.outcome is None and not ply.book and not _is_passed(before, after, ply.ms):
            judged[before.side] = number
            found = adjudicator.ply(SIDES.index(before.side), number, ply.score, offers_draw=False)
    claim = (record.winner, record.termination)
    if record.termination is Termination.DRAW_AGREED:
        if not rulings.draw_agreement or record.winner != "draw":
            raise RecordError(f"game {record.id}: claims {claim[0]} by {claim[1]}, which its rulings do not allow")
        if len(judged) < len(SIDES) or max(judged.values()) < len(record.moves):
            raise RecordError(f"game {record.id}: claims a draw agreed, but not with moves of both bots")
    elif record.termination in _BY_SCORE_OR_LENGTH and line[-1].outcome is None:
        if found is None or (found.winner, found.reason) != claim:
            said = f"{found.winner} by {found.reason}" if found else "a game that goes on"
            plies = len(record.moves)
            raise RecordError(
                f"game {record.id}: claims {claim[0]} by {claim[1]}, its rulings say {said} after {plies} plies"
            )
    elif found is not None:
        raise RecordError(f"game {record.id}: claims {claim[1]}, but its rulings ended it before by {found.reason}")


def _is_passed(before: Position, after: Position, ms: float) -> bool:
    """Whether the referee passed for a bot that does not know the phase before play: no adjudication looks at that."""
    phase, notation = before.ruleset.phase, before.ruleset.rules.notation
    is_in_phase = phase is not None and phase.holds(before.state, before.ruleset.config)
    return is_in_phase and ms == 0 and after.move == notation.pass_move
