"""Runs a bot as an analysis engine: any bot that reports scores over the protocol.

Each position is sent with all moves that led to it, so that repetitions count, and searched with a fixed number of
nodes. The result therefore depends only on the game, the bot and the nodes. The engine of the analysis board evaluates
positions as soon as visitors reach them. What a person waits for has a lower priority than games, but a share of the
processor during them. Background analyses run only while no game needs the processor.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from arena.analysis.marking import EvaluatedPosition, own_chances
from arena.analysis.win_model import FORCED_WIN, WinModel
from protocol.errors import ProtocolError
from protocol.messages import Info
from protocol.parser import parse_bot_line
from referee.bot.argument import sample_command
from referee.bot.bot import LocalBot
from referee.bot.seat import Seat
from referee.errors import ArenaError
from referee.game.failure import BotError, SandboxError
from referee.game.history import GameHistory
from referee.game.record import GameRecord, Ply
from referee.game.score import WIN_SCORE, centipawns, kept_variation
from referee.game.spec import BotLimits, BotSpec, GameSpec
from referee.play.player import Player, legal_line
from referee.play.roster import Roster
from referee.rules.core import Outcome, ParseError, UnknownNameError
from referee.rules.position import Position

ANALYSIS_ENGINE = "alphabeta"
"""The sample bot that analyses by default."""
PositionRef = tuple[int, str]
"""A position of a game: after this many plies, then after a move instead of the one played (empty: none)."""
LIMITS = BotLimits(start_ms=60_000, move_ms=600_000)
"""Limits of an engine. It has no clock: nodes bound its searches."""
MAX_WAITING = 4
"""Maximum of positions that wait for the engine of the analysis board. A thread of the web process waits with each, so
further visitors get an error.
"""
MAX_CANDIDATES = 300
"""Most legal moves that are looked at for further lines; few positions have more."""
SCAN_SHARE, MIN_SCAN_NODES = 0.25, 30
"""Share of the nodes for a first look at all other moves, and fewest nodes of each."""
MAX_PLIES = 1000
"""Plies of a game that are sent to the engine of the analysis board: setting up a position replays all of them."""


class EngineError(ArenaError):
    """The engine cannot analyse; the message has the reason."""


class NotAGameError(ArenaError):
    """The game to analyse violates the rules of its family."""

    kind = "bad-request"


def sample_engine(family: str) -> BotSpec:
    """Return the sample bot used for analysis, without contempt, so that an even game is even for both sides."""
    command = sample_command(ANALYSIS_ENGINE, family)
    return BotSpec(ANALYSIS_ENGINE, command, options=(("Contempt", "0"),))


@dataclass(frozen=True, slots=True)
class Evaluations:
    """Evaluations by the named engine, in the order of the requested positions."""

    engine: str
    scored: list[EvaluatedPosition]


@dataclass(frozen=True, slots=True)
class CandidateLine:
    """A move with the position after it, and the view of it for the side that moves it: 1, or -1 for the other side."""

    move: str
    after: EvaluatedPosition
    sign: int

    @property
    def score(self) -> int | None:
        """The score for the side that makes the move. A win is a ply further than after the move."""
        if self.after.result is not None:
            return self.sign * self.after.result * (WIN_SCORE - 1)
        if self.after.score is None:
            return None
        score = self.sign * self.after.score
        return score if abs(score) < FORCED_WIN else score - 1 if score > 0 else score + 1

    def chances(self, win_model: WinModel) -> float | None:
        """Return the winning chances of the side that makes the move."""
        chances = own_chances(self.after, win_model)
        return None if chances is None else self.sign * chances


@dataclass(frozen=True, slots=True)
class _Place:
    """A position of the game: the protocol line that sets it up, the position, and the outcome of the game if it is
    over.
    """

    question: bytes
    position: Position
    outcome: Outcome | None

    def after(self, move: str) -> _Place:
        """Return the position after a legal move."""
        position = self.position.play(move)
        separator = b" " if b" moves " in self.question else b" moves "
        return _Place(self.question + separator + move.encode(), position, position.outcome)


class AnalysisEngine:
    """A bot that analyses the positions of one game; a context manager that borrows its process from `roster`."""

    def __init__(self, spec: BotSpec, roster: Roster, game: GameRecord | GameSpec, moves: Sequence[str]) -> None:
        self._spec, self._roster, self._game, self._moves = spec, roster, game, moves
        self._seat: Seat | None = None
        self._places: list[_Place] = []

    @property
    def name(self) -> str:
        """The name the bot announced, otherwise the name in its spec."""
        said = self._seat.session.name if isinstance(self._seat, LocalBot) else ""
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
            raise self._discard(error) from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._seat is not None:
            self._roster.release([self._seat])
            self._seat = None

    def evaluate(self, spot: PositionRef, nodes: int, *, depth: int = 0) -> EvaluatedPosition:
        """Evaluate a position by a search of `nodes` nodes, or to a `depth`. Raises EngineError, Stopped.

        A position is not searched if the game is over in it, or if its only legal move was played in the game.
        """
        assert self._seat is not None, "use the engine as a context manager"
        place, move = spot
        searched = self._places[place].after(move) if move else self._places[place]
        scored = _scored(searched)
        is_within = place < len(self._places) - 1 and not move
        if scored.result is not None or (scored.choices == 1 and is_within):
            return scored
        try:
            effort = b"depth %d" % depth if depth else b"nodes %d" % nodes
            legal = legal_line(self._seat, lambda: searched.position)
            thought = self._seat.think(searched.question + b"\n" + legal + b"go " + effort + b"\n", None)
        except BaseException as error:
            raise self._discard(error) from None
        info = thought.info
        score = centipawns(info) if info else None
        line = kept_variation(info.pv) if info else ""
        best = _canonical(searched.position, thought.move or "")
        return replace(scored, score=score, best=best, line=line, depths=_depths(thought.lines))

    def canonical(self, place: int, move: str) -> str:
        """Return a move of a position of the game in canonical notation; empty for an illegal move."""
        return _canonical(self._places[place].position, move)

    def candidates(self, spot: PositionRef, best: str, nodes: int, count: int) -> list[CandidateLine]:
        """Return the best moves other than `best`: all get few nodes, then `count` share `nodes`.

        The moves are compared by the positions after them, all of one parity, so any bot will do.
        """
        place, move = spot
        position = (self._places[place].after(move) if move else self._places[place]).position
        others = [text for text in position.texts if text != best]
        if move or not 0 < len(others) <= MAX_CANDIDATES or count < 1:
            return []
        few = max(MIN_SCAN_NODES, int(SCAN_SHARE * nodes) // len(others))
        known = [self._candidate(place, other, few) for other in others]
        chosen = sorted(known, key=lambda line: -(line.chances(WinModel()) or 0.0))[:count]
        deeper = [self._candidate(place, line.move, nodes // count) for line in chosen]
        return sorted(deeper, key=lambda line: -(line.chances(WinModel()) or 0.0))

    def _candidate(self, place: int, move: str, nodes: int) -> CandidateLine:
        after = self.evaluate((place, move), nodes)
        return CandidateLine(move, after, 1 if after.side == self._places[place].position.side else -1)

    def evaluate_all(self, spots: Sequence[PositionRef], nodes: int) -> Evaluations:
        return Evaluations(self.name, [self.evaluate(spot, nodes) for spot in spots])

    def _discard(self, error: BaseException) -> BaseException:
        """Terminate the bot and return the error to raise."""
        if self._seat is not None:
            self._roster.discard([self._seat])
            self._seat = None
        if isinstance(error, BotError):
            return EngineError(f"bot {self._spec.name!r} cannot analyse: {error.termination}, {error.detail}")
        if isinstance(error, SandboxError):
            return EngineError(f"bot {self._spec.name!r} cannot be started: {error}")
        return error


def score_of(position: Position, roster: Roster, *, depth: int) -> int:
    """Return the score in centipawns for the side to move, by the sample engine; 30,000 - n is a win in n plies.

    The position has no history. Raises EngineError, Stopped.
    """
    ruleset = position.ruleset
    spec = sample_engine(ruleset.rules.family)
    game = GameSpec(
        ruleset.rules.family, ruleset.variant.name, spec, spec, options=ruleset.overrides, position=str(position)
    )
    with AnalysisEngine(spec, roster, game, ()) as engine:
        return engine.evaluate((0, ""), 0, depth=depth).score or 0


def _course(game: GameRecord | GameSpec, engine: BotSpec) -> GameHistory:
    spec = GameSpec(game.family, game.variant, engine, engine, options=game.options, position=game.position or None)
    try:
        return GameHistory(spec)
    except (UnknownNameError, ParseError) as error:
        name = f"game {game.id}" if isinstance(game, GameRecord) else "position"
        raise NotAGameError(f"{name}: {error}") from None


def _places(player: Player, course: GameHistory, moves: Sequence[str]) -> list[_Place]:
    """Return all positions of the game, the start first. Raises NotAGameError."""

    def place() -> _Place:
        return _Place(player.position, course.line.position(), course.line.outcome)

    places = [place()]
    for number, move in enumerate(moves, 1):
        try:
            course.push_text(move, Ply())
        except ValueError as error:
            raise NotAGameError(f"ply {number}: {error}") from None
        places.append(place())
    return places


def _canonical(position: Position, move: str) -> str:
    """Return a bot's move in canonical notation; empty for an illegal move."""
    try:
        return position.ruleset.rules.notation.write_move(position.read(move))
    except ValueError:
        return ""


def _depths(lines: Sequence[bytes]) -> tuple[tuple[int, int], ...]:
    """Return the depths of a search with the score after each, from the bot's `info` lines."""
    depths: dict[int, int] = {}
    for line in lines:
        with contextlib.suppress(ProtocolError):
            info = parse_bot_line(line)
            if isinstance(info, Info) and info.depth is not None and (score := centipawns(info)) is not None:
                depths[info.depth] = score
    return tuple(sorted(depths.items()))


def _scored(place: _Place) -> EvaluatedPosition:
    """Score a position by the rules alone: outcome, number of legal moves, win in one."""
    position, side = place.position, place.position.side
    if place.outcome is not None:
        return EvaluatedPosition(side, result={side: 1, "draw": 0}.get(place.outcome.winner, -1))
    # `Position` has no history, so repetitions are left to the engine.
    ends = (position.play(code).outcome for code in position.moves)
    wins = any(end is not None and end.winner == side for end in ends)
    return EvaluatedPosition(side, choices=len(position.moves), wins_now=wins)
