"""A bot asked what it thinks of the positions of one game: any bot that gives scores, over the protocol.

Every position is asked about with all that led to it, so that repetitions count, and with a budget of nodes: what
comes of it is then a function of the game, the bot and the budget. Refuses to know what the scores mean.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from arena.analysis.marking import Scored
from arena.errors import ArenaError
from protocol.errors import ProtocolError
from protocol.messages import Info
from protocol.parser import parse_bot_line
from referee import slot
from referee.bot import Bot
from referee.bot_argument import SAMPLES
from referee.course import Course
from referee.failure import BotError, SandboxError
from referee.player import Player
from referee.record import GameRecord, Ply, read_record
from referee.roster import Roster
from referee.rules.core import Outcome, ParseError, UnknownNameError
from referee.rules.position import Position
from referee.score import hundredths
from referee.seat import Seat
from referee.spec import BotSpec, GameSpec, Limits
from referee.variation import kept

ANALYSIS_ENGINE = "alphabeta"
"""The sample that engines unless another bot is asked for."""
Spot = tuple[int, str]
"""A position of a game: after so many plies, and then a move in place of the one played (empty: none)."""
LIMITS = Limits(start_ms=60_000, move_ms=600_000)
"""An engine has no clock: what a position may take is said in nodes."""


class EngineError(ArenaError):
    """The engine cannot be asked; the message says why."""


class NotAGameError(ArenaError):
    """What is to be analysed is no game by its family's rules."""

    kind = "bad-request"


def sample_engine(family: str) -> BotSpec:
    """The sample that engines: without contempt, an even game is even for both sides."""
    command = (sys.executable, "-m", SAMPLES[ANALYSIS_ENGINE], "--family", family)
    return BotSpec(ANALYSIS_ENGINE, command, options=(("Contempt", "0"),))


@dataclass(frozen=True, slots=True)
class Answers:
    """What an engine of that name said of some positions, in the order they were asked about."""

    engine: str
    scored: list[Scored]


@dataclass(frozen=True, slots=True)
class _Place:
    """A position of the game: the line that shows it to the bot, and how the game stands there."""

    question: bytes
    position: Position
    outcome: Outcome | None

    def after(self, move: str) -> _Place:
        """The place behind a legal move."""
        position = self.position.play(move)
        separator = b" " if b" moves " in self.question else b" moves "
        return _Place(self.question + separator + move.encode(), position, position.outcome)


class AnalysisEngine:
    """A bot that sits before one game up to `moves`. `with AnalysisEngine(…)` seats it and gives it back."""

    def __init__(self, spec: BotSpec, roster: Roster, game: GameRecord | GameSpec, moves: Sequence[str]) -> None:
        self._spec, self._roster, self._game, self._moves = spec, roster, game, moves
        self._seat: Seat | None = None
        self._places: list[_Place] = []

    @property
    def name(self) -> str:
        """What the engine calls itself, or is called."""
        said = self._seat.session.name if isinstance(self._seat, Bot) else ""
        return said or self._spec.name

    def __enter__(self) -> AnalysisEngine:
        course = _course(self._game, self._spec)
        (self._seat,) = self._roster.seat([self._spec], LIMITS)
        try:
            self._seat.start()
            self._seat.handshake()
            player = Player(self._seat, course)
            self._seat.ready()
            self._places = _places(player, course, self._moves)
        except BaseException as error:
            raise self._given_up(error) from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._seat is not None:
            self._roster.release([self._seat])
            self._seat = None

    def ask(self, spot: Spot, nodes: int, *, depth: int = 0) -> Scored:
        """A position with what the bot says of it, by so many nodes or to a `depth`. Raises EngineError, Stopped.

        It is not asked where the game is over, nor within the game where there is one legal move.
        """
        assert self._seat is not None, "an engine is asked within its context"
        place, move = spot
        one = self._places[place].after(move) if move else self._places[place]
        scored = _scored(one)
        is_within = place < len(self._places) - 1 and not move
        if scored.result is not None or (scored.choices == 1 and is_within):
            return scored
        try:
            effort = b"depth %d" % depth if depth else b"nodes %d" % nodes
            thought = self._seat.think(one.question + b"\ngo " + effort + b"\n", None)
        except BaseException as error:
            raise self._given_up(error) from None
        info = thought.info
        score = hundredths(info) if info else None
        line = kept(info.pv) if info else ""
        best = _canonical(one.position, thought.move or "")
        return replace(scored, score=score, best=best, line=line, depths=_depths(thought.lines))

    def ask_all(self, spots: Sequence[Spot], nodes: int) -> Answers:
        """The same for several."""
        return Answers(self.name, [self.ask(spot, nodes) for spot in spots])

    def _given_up(self, error: BaseException) -> BaseException:
        """The bot is ended; the error to be raised."""
        if self._seat is not None:
            self._roster.discard([self._seat])
            self._seat = None
        if isinstance(error, BotError):
            return EngineError(f"bot {self._spec.name!r} cannot analyse: {error.termination}, {error.detail}")
        if isinstance(error, SandboxError):
            return EngineError(f"bot {self._spec.name!r} cannot be started: {error}")
        return error


def score_of(position: Position, roster: Roster, *, depth: int) -> int:
    """Hundredths for the side to move by the sample that engines, whatever led to the position; 30,000 - n: a win in n.

    Raises EngineError, Stopped.
    """
    ruleset = position.ruleset
    spec = sample_engine(ruleset.rules.family)
    game = GameSpec(
        ruleset.rules.family, ruleset.variant.name, spec, spec, options=ruleset.overrides, position=str(position)
    )
    with AnalysisEngine(spec, roster, game, ()) as engine:
        return engine.ask((0, ""), 0, depth=depth).score or 0


def _course(game: GameRecord | GameSpec, engine: BotSpec) -> Course:
    spec = GameSpec(game.family, game.variant, engine, engine, options=game.options, position=game.position or None)
    try:
        return Course(spec)
    except (UnknownNameError, ParseError) as error:
        name = f"game {game.id}" if isinstance(game, GameRecord) else "position"
        raise NotAGameError(f"{name}: {error}") from None


def _places(player: Player, course: Course, moves: Sequence[str]) -> list[_Place]:
    """All positions of the game, the start first. Raises NotAGameError."""

    def place() -> _Place:
        return _Place(player.position, course.line.position(), course.line.outcome)

    found = [place()]
    for number, move in enumerate(moves, 1):
        try:
            course.push_text(move, Ply())
        except ValueError as error:
            raise NotAGameError(f"ply {number}: {error}") from None
        player.follow(course)
        found.append(place())
    return found


def _canonical(position: Position, move: str) -> str:
    """A move as a bot wrote it in canonical text; empty for what is none here."""
    try:
        return position.ruleset.rules.notation.write_move(position.read(move))
    except ValueError:
        return ""


def _depths(lines: Sequence[bytes]) -> tuple[tuple[int, int], ...]:
    """Depths of a search and its score after each, from what a bot wrote of it."""
    found: dict[int, int] = {}
    for line in lines:
        with contextlib.suppress(ProtocolError):
            info = parse_bot_line(line)
            if isinstance(info, Info) and info.depth is not None and (score := hundredths(info)) is not None:
                found[info.depth] = score
    return tuple(sorted(found.items()))


def _scored(place: _Place) -> Scored:
    """What the rules say of a position."""
    position, side = place.position, place.position.side
    if place.outcome is not None:
        return Scored(side, result={side: 1, "draw": 0}.get(place.outcome.winner, -1))
    # Without its history: what repetition makes of a move is left to the engine.
    ends = (position.play(code).outcome for code in position.moves)
    wins = any(end is not None and end.winner == side for end in ends)
    return Scored(side, choices=len(position.moves), wins_now=wins)


def ask_aside(record: bytes, spots: Sequence[Spot], nodes: int, most_plies: int) -> Answers:
    """A job of a slot (`referee.slot`): the sample that engines is asked about a game, at the lowest priority there is.

    Raises EngineError, NotAGameError, Stopped.
    """
    os.setpriority(os.PRIO_PROCESS, 0, 19)
    with contextlib.suppress(OSError):  # bots that play come first, whatever else runs
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    game = read_record(record)
    with AnalysisEngine(sample_engine(game.family), slot.roster(), game, game.moves[:most_plies]) as engine:
        return engine.ask_all(spots, nodes)
