"""Verifies records: played again by the rules, judged again by the rulings, compared with what was planned.

What cannot be computed again is not judged: clocks, crashes, who offered a draw. Refuses to know who asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from referee.game.adjudication import Adjudicator
from referee.game.move_text import move_texts
from referee.game.record import GameRecord, RecordError, positions, read_record
from referee.game.spec import LEAST_SCALE, MOST_SCALE, Adjudication, GameSpec
from referee.rules import load
from referee.rules.core import SIDES, Kind, Outcome, Side, Termination
from referee.rules.history import LineOfPlay
from referee.rules.position import Position
from referee.rules.rules import Ruleset, State, Value

_BY_SCORE_OR_LENGTH = (Termination.MAX_PLIES, Termination.DRAW_BY_SCORE, Termination.WIN_BY_SCORE)
_BY_THE_MOVER = (Termination.RESIGNED, Termination.ILLEGAL_MOVE, Termination.TIME)
"""A bot that lost by these was to move; people may resign at any time."""
_RULED = (*_BY_SCORE_OR_LENGTH, Termination.DRAW_AGREED)
_MOST_STARTS = 10_000
_PLANNED = ("family", "variant", "sequence", "round", "pair")


def verify(record: GameRecord, spec: GameSpec | None = None) -> Position:
    """Replay a whole record and compare what it claims; the final position. Raises RecordError.

    With the game's `spec` also whether it is that game, judged by its rulings; else by those the record names, if any.
    """
    if spec is not None:
        _compare(record, spec, _Starts())
    line = positions(record)
    final = line[-1]
    _judge(record, final.outcome, str(final))
    if spec is not None:
        _blame(record, final.side)
    rulings = _rulings(record, spec)
    if rulings is not None and record.kind is not Kind.VOID:
        around = zip(line, line[1:], record.plies, strict=False)
        passed = [_is_passed(before, after, ply.ms) for before, after, ply in around]
        _adjudicate(record, [position.side for position in line], passed, final.outcome, rulings)
    return final


class Verifier:
    """Verifies many records with the verdicts of `problem_of`.

    A game that is plainly right is played by codes looked up; whatever is not goes the long way, which says why.
    """

    def __init__(self) -> None:
        self._starts = _Starts()

    def problem_of(self, line: str | bytes, spec: GameSpec | None = None, name: str | None = None) -> str:
        """See `problem_of`."""
        try:
            record = read_record(line)
            if name in (None, record.id) and self._is_right(record, spec):
                return ""
        except ValueError:
            pass
        return problem_of(line, spec, name)

    def _is_right(self, record: GameRecord, spec: GameSpec | None) -> bool:
        """Whether a record is right beyond doubt. Raises ValueError where it is not."""
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
        rulings = _rulings(record, spec)
        if rulings is not None and record.kind is not Kind.VOID:
            first = ruleset.rules.side(start, ruleset.config)
            sides = [SIDES[(first + ply) % 2] for ply in range(played.plies + 1)]  # sides alternate: a law
            _adjudicate(record, sides, (), played.outcome, rulings)
        return True


def _played(ruleset: Ruleset, start: State, moves: Sequence[str]) -> LineOfPlay | None:
    """Return the game after moves in canonical text; None where one is written otherwise, or is not legal."""
    line, texts = LineOfPlay(ruleset, start), move_texts(ruleset.rules.family)
    for move in moves:
        code = texts.code(move, line)
        if code is None or move != (texts.names.get(code) or texts.write(code)) or not line.is_legal(code):
            return None
        line.push(code)
    return line


class _Starts:
    """Rules and first positions by how records name them: most games of a tournament have them in common."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[Ruleset, State, str]] = {}

    def find(
        self, family: str, variant: str, options: Mapping[str, Value], position: str | None
    ) -> tuple[Ruleset, State, str]:
        """The rules, the start, and how that is written. Raises UnknownNameError, ParseError."""
        key = repr((family, variant, sorted(options.items()), position))
        found = self._found.get(key)
        if found is None:
            ruleset = load(family).settle(variant, options)
            state = ruleset.read(position)
            if len(self._found) >= _MOST_STARTS:
                self._found.clear()
            found = self._found[key] = ruleset, state, ruleset.write(state)
        return found


def problem_of(line: str | bytes, spec: GameSpec | None = None, name: str | None = None) -> str:
    """What is wrong with a record as JSON, of the game with that spec and id if given; empty when it is right."""
    try:
        record = read_record(line)
        verify(record, spec)
    except ValueError as error:  # RecordError, and names or texts that the rules do not know
        return str(error)
    return "" if name in (None, record.id) else f"calls itself {record.id}"


def _compare(record: GameRecord, spec: GameSpec, starts: _Starts) -> None:
    """Whether a record is of the game that was planned. Raises RecordError, UnknownNameError, ParseError."""

    def refuse(what: str, claim: object, plan: object) -> None:
        raise RecordError(f"game {record.id}: {what} is {claim}, planned was {plan}")

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
    if record.clock_scale != 1 and not (spec.scale_clocks and LEAST_SCALE <= record.clock_scale <= MOST_SCALE):
        allowed = f"from {LEAST_SCALE:g} to {MOST_SCALE:g}" if spec.scale_clocks else "1"
        refuse("the scale of the clocks", record.clock_scale, allowed)
    opening = tuple(spec.opening)
    if record.termination is not Termination.SUSPENDED and record.moves[: len(opening)] != opening:
        refuse("the opening", " ".join(record.moves[: len(opening)]), " ".join(opening))


def _judge(record: GameRecord, outcome: Outcome | None, final: str) -> None:
    """Compare with what the rules say of the last position, and how that is written. Raises RecordError."""
    claim = (record.winner, record.termination)
    if record.kind is Kind.RULES and record.termination is not Termination.MAX_PLIES:
        if outcome is None or (outcome.winner, outcome.reason) != claim:
            found = f"{outcome.winner} by {outcome.reason}" if outcome else "a game that goes on"
            raise RecordError(f"game {record.id}: claims {claim[0]} by {claim[1]}, the rules say {found} in {final}")
    elif outcome is not None and (outcome.winner, outcome.reason) != claim:
        raise RecordError(f"game {record.id}: claims {claim[1]}, but the rules ended it by {outcome.reason} in {final}")
    if record.final_position and record.final_position != final:
        raise RecordError(f"game {record.id}: final position {final}, the record says {record.final_position}")


def _blame(record: GameRecord, mover: Side) -> None:
    """Whether who lost by a move was to move at the end. Raises RecordError."""
    if record.termination in _BY_THE_MOVER and record.loser != mover:
        raise RecordError(f"game {record.id}: {record.loser} lost by {record.termination} when it was not to move")


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


def _adjudicate(
    record: GameRecord, sides: Sequence[Side], passed: Sequence[bool], outcome: Outcome | None, rulings: Adjudication
) -> None:
    """Whether the rulings end the game where, and as, the record says. Raises RecordError.

    `sides` made the plies, those `passed` without a choice; `outcome` is what the rules say of the last position.
    """
    adjudicator = Adjudicator(rulings)
    found: Outcome | None = None
    judged: dict[str, int] = {}
    """The last ply of each side that its bot chose, before the rules ended the game."""
    is_asked = record.termination in _RULED or rulings.resign_moves or rulings.draw_moves or rulings.max_plies
    count = len(record.plies) if is_asked else 0
    for number, (side, ply) in enumerate(zip(sides, record.plies[:count], strict=False), 1):
        if found is not None:
            raise RecordError(
                f"game {record.id}: its rulings ended it by {found.reason} after ply {number - 1}, but it goes on"
            )
        is_last = outcome is not None and number == count
        if not is_last and not ply.book and not (passed and passed[number - 1]):
            judged[side] = number
            found = adjudicator.ply(SIDES.index(side), number, ply.score, offers_draw=False)
    claim = (record.winner, record.termination)
    if record.termination is Termination.DRAW_AGREED:
        if not rulings.draw_agreement or record.winner != "draw":
            raise RecordError(f"game {record.id}: claims {claim[0]} by {claim[1]}, which its rulings do not allow")
        if len(judged) < len(SIDES) or max(judged.values()) < len(record.moves):
            raise RecordError(f"game {record.id}: claims a draw agreed, but not with moves of both bots")
    elif record.termination in _BY_SCORE_OR_LENGTH and outcome is None:
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
