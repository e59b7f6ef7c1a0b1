"""Engines that are nothing but a habit of being late: for games that take no time, against the referee's own code."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bots.samples.champion import INCREMENT_SHARE, MOVES_TO_GO, MOVES_TO_GO_SUDDEN_DEATH
from bots.sdk.clock import Clock
from protocol.capabilities import Capabilities
from protocol.messages import Go
from referee.bot.seat import Overshoot, Thought
from referee.game.failure import BotError
from referee.game.record import GameRecord
from referee.game.spec import BotLimits, BotSpec, GameSpec, PlannedGame, TimeControl
from referee.play.play import play
from referee.rules import load
from referee.rules.core import Termination

VECTORS = Path(__file__).parents[1] / "data" / "vectors" / "pijersi.json"
GAMES: tuple[tuple[str, ...], ...] = tuple(
    sorted(
        (tuple(game["moves"]) for game in json.loads(VECTORS.read_text())["games"] if game["variant"] == "standard"),
        key=len,
    )
)
MOVES = GAMES[-1]
"""A game of forty moves a side, which the engines here play if nothing else is said."""
USUAL_MOVES = min(GAMES, key=lambda moves: abs(len(moves) - 2 * load("pijersi").game_moves))
"""A game of the usual length."""


def steady(ms: float) -> Callable[[random.Random], float]:
    """Always late by as much."""
    return lambda rng: ms


def normal(ms: float, sigma_ms: float) -> Callable[[random.Random], float]:
    """Late by so much, more or less."""
    return lambda rng: max(0.0, rng.gauss(ms, sigma_ms))


def now_and_then(ms: float, freak_ms: float) -> Callable[[random.Random], float]:
    """Late by so much; once in two hundred answers by more."""
    return lambda rng: freak_ms if rng.random() < 0.005 else ms


PUNCTUAL = steady(0)


@dataclass(frozen=True)
class Habit:
    """`late`: by how many milliseconds it exceeds a move time, `first_ms` more in its first answer, and it never takes
    less than `least_ms`. With `has_clocks` it spends its clock as the champion does. `found_ms` is what a
    check found, 0 = never checked.
    """

    name: str
    late: Callable[[random.Random], float] = PUNCTUAL
    first_ms: float = 0
    least_ms: float = 0
    has_clocks: bool = False
    found_ms: int = 0
    found_first_ms: int = 0


NATIVE = Habit("native clock engine", has_clocks=True)


@dataclass(eq=False)
class Modelled:
    """Stands for `referee.bot.bot.LocalBot`: takes as long as its habit has it, and looks its moves up."""

    spec: BotSpec
    habit: Habit
    rng: random.Random
    moves: Sequence[str] = MOVES
    offered_ms: list[int] = field(default_factory=list)
    used_ms: float = 0.0

    def __post_init__(self) -> None:
        self.limits = BotLimits()
        self.capabilities = Capabilities(clocks=self.habit.has_clocks)
        self.overshoot = Overshoot.expected(self.spec)
        self.has_answered = self.has_moved = False
        self.options: dict[str, Any] = {}
        self.families: tuple[str, ...] = ()
        self.anomaly_count, self.log, self.network = 0, "", None
        self.rule_options: frozenset[str] = frozenset()

    def nothing(self, *_: Any) -> None:
        """What is said to it has no effect."""

    start = handshake = tell = begin_game = new_game = ready = announce = condemn = close = nothing

    def think(self, question: bytes, allowance_ms: float, known: Container[bytes] = ()) -> Thought:
        """Its answer after the time it takes. Raises BotError (`time`)."""
        position, _, words = question.decode().partition("\ngo ")
        done = len(position.partition(" moves ")[2].split())
        told = dict(zip(words.split()[::2], map(int, words.split()[1::2]), strict=True))
        if "movetime" in told:
            due = float(told["movetime"])
            self.offered_ms.append(told["movetime"])
        else:
            side = 1 + done % 2
            clock = Clock(Go(**told), side - 1)
            clock.plan(MOVES_TO_GO if clock.increment_ms else MOVES_TO_GO_SUDDEN_DEATH, INCREMENT_SHARE)
            due = clock.budget_ms() or 0.0
        due = min(due, allowance_ms) if self.habit.has_clocks else due
        took = (
            max(self.habit.least_ms, due) + self.habit.late(self.rng) + (0 if self.has_moved else self.habit.first_ms)
        )
        self.has_moved = True
        self.used_ms += took
        if took > allowance_ms:
            raise BotError(Termination.TIME, f"answered after {took:.0f} ms")
        return Thought(self.moves[done], None, took, 0.0, None)


class Table:
    """Stands for a roster: two modelled engines that stay for all their games."""

    sandbox = SimpleNamespace(name="none")
    stop_fd = None

    def __init__(self, *habits: Habit, moves: Sequence[str] = MOVES) -> None:
        self.bots = []
        for number, habit in enumerate(habits):
            found = {"overshoot_ms": habit.found_ms, "first_overshoot_ms": habit.found_first_ms}
            spec = BotSpec(f"{habit.name} {number}", ("none",), capabilities=found)
            self.bots.append(Modelled(spec, habit, random.Random(number), moves))

    def seat(self, specs: Sequence[BotSpec], limits: BotLimits) -> list[Modelled]:
        """The two."""
        for bot in self.bots:
            bot.limits = limits
        return self.bots

    def release(self, *bots: object) -> None:
        """They stay, and need no rest."""

    discard = begin = release

    def rouse(self, bots: object) -> tuple[float, float]:
        """They do nothing out of turn."""
        return 0.0, 0.0

    def play(self, time: TimeControl, limits: BotLimits | None = None) -> GameRecord:
        """One game between them."""
        first, second = (bot.spec for bot in self.bots)
        spec = GameSpec("pijersi", "standard", first, second, time=time, limits=limits or BotLimits())
        return play(PlannedGame.of(spec), self)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Match:
    """What became of an engine in a match: milliseconds it was told, losses on time, time used against a native's."""

    offered_ms: tuple[int, ...]
    lost: int
    share: float


def match(habit: Habit, time: TimeControl, games: int, moves: Sequence[str] = MOVES) -> Match:
    """Games of an engine against one that spends its clock as the champion does, or is told the same time per move."""
    table = Table(habit, NATIVE if time.kind == "clock" else replace(NATIVE, has_clocks=False), moves=moves)
    lost, share = 0, 0.0
    tested, other = table.bots
    for _ in range(games):
        tested.used_ms = other.used_ms = 0.0
        record = table.play(time)
        lost += record.termination is Termination.TIME and record.winner == "second"
        share += tested.used_ms / (other.used_ms or tested.used_ms)
    return Match(tuple(tested.offered_ms), lost, share / games)
