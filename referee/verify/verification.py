"""Verifies records: replays them by the rules, applies the adjudication again, and compares them with the games' specs.

Clocks, crashes and draw offers are not judged, since they cannot be recomputed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from referee.game.adjudication import Adjudicator
from referee.game.history import move_texts
from referee.game.record import GameRecord, RecordError, positions, read_record
from referee.game.spec import MAX_SCALE, MIN_SCALE, Adjudication, GameSpec
from referee.rules import load
from referee.rules.core import SIDES, Kind, Outcome, Side, Termination
from referee.rules.history import LineOfPlay
from referee.rules.position import Position
from referee.rules.rules import Ruleset, State, Value

_BY_SCORE_OR_LENGTH = (Termination.MAX_PLIES, Termination.DRAW_BY_SCORE, Termination.WIN_BY_SCORE)
_BY_THE_MOVER = (Termination.RESIGNED, Termination.ILLEGAL_MOVE, Termination.TIME)
"""Terminations by which a bot can lose only if it is to move; people may resign at any time."""
_ADJUDICATED = (*_BY_SCORE_OR_LENGTH, Termination.DRAW_AGREED)
_MAX_STARTS = 10_000
_PLANNED = ("family", "variant", "sequence", "round", "pair")


def verify(record: GameRecord, spec: GameSpec | None = None) -> Position:
    """Replay a whole record, check its claims and return the final position. Raises RecordError.

    If the game's `spec` is given, also check that the record is of that game, and apply the spec's adjudication.
    Otherwise apply the adjudication that the record names, if any.
    """
    if spec is not None:
        _compare(record, spec, _Starts())
    line = positions(record)
    final = line[-1]
    _judge(record, final.outcome, str(final))
    if spec is not None:
        _blame(record, final.side)
    rule = _adjudication_of(record, spec)
    if rule is not None and record.kind is not Kind.VOID:
        around = zip(line, line[1:], record.plies, strict=False)
        passed = [_is_passed(before, after, ply.ms) for before, after, ply in around]
        _adjudicate(record, [position.side for position in line], passed, final.outcome, rule)
    return final


class RecordVerifier:
    """Verifies many records faster than the function `problem_of`, with the same results.

    Games are replayed by move codes from a table; the function is called only for records that seem wrong.
    """

    def __init__(self) -> None:
        self._starts = _Starts()

    def problem_of(self, line: str | bytes, spec: GameSpec | None = None, name: str | None = None) -> str:
        """Return the problem of a record, as the function `problem_of` does."""
        try:
            record = read_record(line)
            if name in (None, record.id) and self._is_right(record, spec):
                return ""
        except ValueError:
            pass
        return problem_of(line, spec, name)

    def _is_right(self, record: GameRecord, spec: GameSpec | None) -> bool:
        """Return whether a record is certainly correct; False if unknown. Raises ValueError if it is wrong."""
        ruleset, start, _ = self._starts.find(record.family, record.variant, record.options, record.position)
        if ruleset.phase is not None:
            return False
        if spec is not None:
            _compare(record, spec, self._starts)
        played = _played(ruleset, start, record.moves)
        if played is None:
            return False
        _judge(record, played.outcome, ruleset.write(played.state))
        if spec is not None:
            _blame(record, played.side)
        rule = _adjudication_of(record, spec)
        if rule is not None and record.kind is not Kind.VOID:
            first = ruleset.rules.side(start, ruleset.config)
            sides = [SIDES[(first + ply) % 2] for ply in range(played.plies + 1)]  # in all families the sides alternate
            _adjudicate(record, sides, (), played.outcome, rule)
        return True


def _played(ruleset: Ruleset, start: State, moves: Sequence[str]) -> LineOfPlay | None:
    """Return the game after these moves; None if one of them is not in canonical text or not legal."""
    line, texts = LineOfPlay(ruleset, start), move_texts(ruleset.rules.family)
    for move in moves:
        code = texts.code(move, line)
        if code is None or move != (texts.names.get(code) or texts.write(code)) or not line.push(code):
            return None
    return line


class _Starts:
    """A cache of rules and start positions by their names in records, since most games of a tournament share them."""

    def __init__(self) -> None:
        self._cached: dict[str, tuple[Ruleset, State, str]] = {}

    def find(
        self, family: str, variant: str, options: Mapping[str, Value], position: str | None
    ) -> tuple[Ruleset, State, str]:
        """Return the rules, the start position, and its text. Raises UnknownNameError, ParseError."""
        key = repr((family, variant, sorted(options.items()), position))
        start = self._cached.get(key)
        if start is None:
            ruleset = load(family).settle(variant, options)
            state = ruleset.read(position)
            if len(self._cached) >= _MAX_STARTS:
                self._cached.clear()
            start = self._cached[key] = ruleset, state, ruleset.write(state)
        return start


def problem_of(line: str | bytes, spec: GameSpec | None = None, name: str | None = None) -> str:
    """Return the problem of a record in JSON; empty if it is correct and agrees with `spec` and the id `name`."""
    try:
        record = read_record(line)
        verify(record, spec)
    except ValueError as error:  # RecordError, and names or texts that the rules do not know
        return str(error)
    return "" if name in (None, record.id) else f"calls itself {record.id}"


def _compare(record: GameRecord, spec: GameSpec, starts: _Starts) -> None:
    """Check that a record agrees with the spec of its game. Raises RecordError, UnknownNameError, ParseError."""

    def refuse(subject: str, claim: object, plan: object) -> None:
        raise RecordError(f"{subject} is {claim}, but the plan has {plan}")

    ruleset, _, start = starts.find(spec.family, spec.variant, spec.options, spec.position)
    for name in _PLANNED:
        if getattr(record, name) != getattr(spec, name):
            refuse(name, getattr(record, name), getattr(spec, name))
    if (record.first, record.second) != (spec.first.name, spec.second.name):
        refuse("who played", f"{record.first} - {record.second}", f"{spec.first.name} - {spec.second.name}")
    if dict(record.options) != dict(ruleset.overrides):
        refuse("the options", dict(record.options), dict(ruleset.overrides))
    if starts.find(spec.family, spec.variant, spec.options, record.position)[2] != start:
        refuse("the start", record.position, start)
    if record.clock_scale != 1 and not (spec.scale_clocks and MIN_SCALE <= record.clock_scale <= MAX_SCALE):
        allowed = f"from {MIN_SCALE:g} to {MAX_SCALE:g}" if spec.scale_clocks else "1"
        refuse("the scale of the clocks", record.clock_scale, allowed)
    opening = tuple(spec.opening)
    if record.termination is not Termination.SUSPENDED and record.moves[: len(opening)] != opening:
        refuse("the opening", " ".join(record.moves[: len(opening)]), " ".join(opening))


def _judge(record: GameRecord, outcome: Outcome | None, final: str) -> None:
    """Compare the record's result and final position with those by the rules. Raises RecordError."""
    claim = (record.winner, record.termination)
    if record.kind is Kind.RULES and record.termination is not Termination.MAX_PLIES:
        if outcome is None or (outcome.winner, outcome.reason) != claim:
            verdict = f"{outcome.winner} by {outcome.reason}" if outcome else "no end of the game"
            raise RecordError(f"claims {claim[0]} by {claim[1]}, but the rules give {verdict} in {final}")
    elif outcome is not None and (outcome.winner, outcome.reason) != claim:
        raise RecordError(f"claims {claim[1]}, but the rules ended it by {outcome.reason} in {final}")
    if record.final_position and record.final_position != final:
        raise RecordError(f"final position {final}, but the record has {record.final_position}")


def _blame(record: GameRecord, mover: Side) -> None:
    """Check that a side that lost by its move, its time or resignation was to move. Raises RecordError."""
    if record.termination in _BY_THE_MOVER and record.loser != mover:
        raise RecordError(f"{record.loser} lost by {record.termination} when it was not to move")


def _adjudication_of(record: GameRecord, spec: GameSpec | None) -> Adjudication | None:
    """Return the adjudication to apply: that of `spec` if given, else the record's, if any. Raises RecordError."""
    if spec is not None:
        return spec.adjudication
    if record.adjudication is None:
        return None
    try:
        return Adjudication(**record.adjudication)  # type: ignore[arg-type]
    except TypeError:
        raise RecordError(f"unknown adjudication settings {dict(record.adjudication)}") from None


def _adjudicate(
    record: GameRecord, sides: Sequence[Side], passed: Sequence[bool], outcome: Outcome | None, rule: Adjudication
) -> None:
    """Check that the adjudication ends the game where the record says, with the same result. Raises RecordError.

    `sides` are the sides that made the plies; `passed` marks plies in which the referee passed; `outcome` is the result
    of the last position by the rules.
    """
    adjudicator = Adjudicator(rule)
    verdict: Outcome | None = None
    judged: dict[str, int] = {}
    """The last ply that the bot of each side chose, except one by which the rules ended the game."""
    is_asked = record.termination in _ADJUDICATED or rule.resign_moves or rule.draw_moves or rule.max_plies
    count = len(record.plies) if is_asked else 0
    for number, (side, ply) in enumerate(zip(sides, record.plies[:count], strict=False), 1):
        if verdict is not None:
            raise RecordError(f"adjudication ends it by {verdict.reason} after ply {number - 1}, the record continues")
        is_last = outcome is not None and number == count
        if not is_last and not ply.book and not (passed and passed[number - 1]):
            judged[side] = number
            verdict = adjudicator.ply(SIDES.index(side), number, ply.score, offers_draw=False)
    claim = (record.winner, record.termination)
    if record.termination is Termination.DRAW_AGREED:
        if not rule.draw_agreement or record.winner != "draw":
            raise RecordError(f"claims {claim[0]} by {claim[1]}, which adjudication forbids")
        if len(judged) < len(SIDES) or max(judged.values()) < len(record.moves):
            raise RecordError("claims a draw agreed, but not with moves of both bots")
    elif record.termination in _BY_SCORE_OR_LENGTH and outcome is None:
        if verdict is None or (verdict.winner, verdict.reason) != claim:
            said = f"{verdict.winner} by {verdict.reason}" if verdict else "no end of the game"
            plies = len(record.moves)
            raise RecordError(f"claims {claim[0]} by {claim[1]}, but adjudication gives {said} after {plies} plies")
    elif verdict is not None:
        raise RecordError(f"claims {claim[1]}, but adjudication ends it by {verdict.reason}")


def _is_passed(before: Position, after: Position, ms: float) -> bool:
    """Return whether the referee passed for a bot that does not support the phase: adjudication ignores such plies."""
    phase, notation = before.ruleset.phase, before.ruleset.rules.notation
    is_in_phase = phase is not None and phase.holds(before.state, before.ruleset.config)
    return is_in_phase and ms == 0 and after.move == notation.pass_move
