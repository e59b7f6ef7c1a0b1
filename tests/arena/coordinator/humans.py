"""Humans at boards and bots that answer at once: human games without processes and pages."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena.cluster.spool import Spool
from arena.config import Settings
from arena.config_file import read_settings
from arena.coordinator.background import Conditions, OutageLog
from arena.coordinator.human_games import HumanGames
from arena.coordinator.leadership import LEASE
from arena.documents.account import Identity
from arena.documents.human_game import DecisionRequest, HumanGame, PlayRequest
from arena.events.messages import Event, GameMoved, HumanActed
from arena.services import people, people_game
from arena.services.arena import Arena
from arena.services.people import Visitor
from arena.store import Store
from arena.store.base.tables.ratings import VersionRating
from arena.store.ratings.fold import FoldedRating, row_of
from protocol.messages import Info
from referee.bot.person import Hand, PersonSeat
from referee.bot.seat import Thought
from referee.game.spec import BotLimits, BotSpec
from referee.ratings.trueskill import TrueSkillRating
from referee.rules import families, load
from referee.rules.position import Position

WAIT_S = 60.0


class InstantBot(PersonSeat):
    """A bot that plays the first legal move at once."""

    def __init__(self, spec: BotSpec, limits: BotLimits) -> None:
        super().__init__(spec, limits, Hand(), 1.0)
        self.families = families()

    def think(self, question: bytes, allowance_ms: float | None, known: Any = None) -> Thought:
        start, _, moves = question.split(b"\n", 1)[0].decode().partition(" moves ")
        position = start.partition(" fen ")[2] or None
        end = Position.start(load(self.spec.command[-1]).settle(), position).play_all(moves.split())
        return Thought(end.texts[0], None, 1.0, 0.0, None)


class LevelBot(InstantBot):
    """An instant bot with a constant evaluation, in centipawns."""

    score = 0

    def think(self, question: bytes, allowance_ms: float | None, known: Any = None) -> Thought:
        found = super().think(question, allowance_ms, known)
        found.info = Info(score=self.score)
        return found


class OfferingBot(InstantBot):
    """An instant bot that offers a draw with every move."""

    def think(self, question: bytes, allowance_ms: float | None, known: Any = None) -> Thought:
        found = super().think(question, allowance_ms, known)
        found.offer = "draw"
        return found


class PonderingBot(InstantBot):
    """An instant bot that answers once for every `answer`."""

    _answers = threading.Semaphore(0)

    @classmethod
    def answer(cls) -> None:
        """Let it make its next move."""
        cls._answers.release()

    @classmethod
    def forget(cls) -> None:
        """Take back the answers that it has not given."""
        while cls._answers.acquire(blocking=False):
            pass

    def think(self, question: bytes, allowance_ms: float | None, known: Any = None) -> Thought:
        assert self._answers.acquire(timeout=WAIT_S)
        return super().think(question, allowance_ms, known)


class Told:
    """A bus that passes actions to the human games, and lets tests wait for events."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.games: HumanGames | None = None
        self._changed = threading.Condition()
        self._listening: dict[str, threading.Event] = {}

    def heard(self, game: str, event: threading.Event) -> None:
        """Set this event on every ply of a game."""
        self._listening[game] = event

    def publish(self, event: Event) -> None:
        if isinstance(event, GameMoved) and (listening := self._listening.get(event.game)):
            listening.set()
        if isinstance(event, HumanActed) and self.games:
            self.games.wake()
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()

    def notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until a condition holds after some event; fail on a timeout."""
        with self._changed:
            assert self._changed.wait_for(holds, WAIT_S)


class Hall:
    """An arena with one bot for humans, and the coordinator part for their games."""

    def __init__(self, store: Store, folder: Path, **settings: Any) -> None:
        self.store, self.told = store, Told()
        self.settings: Settings = read_settings(None, data=folder, sandbox="none", **settings)
        self.arena = Arena(store, self.settings, self.told)  # type: ignore[arg-type]
        self.spool = Spool(folder / "spool")
        self.failures: list[str] = []
        self.bots = store.samples.ensure({"first": "bots.first"}, {"loa": ("standard",)})

    def establish(self) -> None:
        """Give the bot an established rating on its ladder, as games of tournaments do: people are rated against it."""
        line = FoldedRating(TrueSkillRating(20.0, 1.0, 100, 50, 0, 50))
        with self.store.writing() as session:
            session.add(VersionRating(**row_of("loa", self.bots["first"].id or 0, line)))

    @contextmanager
    def open(self, bot: type[InstantBot] = InstantBot) -> Any:
        """Run the human games with `bot` in place of all bots."""
        assert self.store.leases.take(LEASE, "hall", 3600)
        games = HumanGames(
            self.store,
            self.told,  # type: ignore[arg-type]
            self.settings,
            owner="hall",
            spool=self.spool,
            conditions=Conditions(
                lambda: self.store.leases.fencing(LEASE, "hall"), OutageLog(self.spool.backlog), self.failures.append
            ),
            on_done=self._record,
        )
        games.elsewhere[""] = bot
        self.told.games = games
        games.begin()
        try:
            yield games
        finally:
            games.stop()
            self.told.games = None

    def _record(self, game: str) -> None:
        if arrival := self.spool.read(game):
            self.store.results.commit(arrival.record, "hall")
            self.spool.forget(game)
        self.told.notify()

    def visitor(self, name: str = "") -> Visitor:
        """Return a user with this name, or an anonymous visitor with a cookie."""
        if not name:
            return Visitor(None, "c" * 43, "198.51.100.7")
        user = self.store.users.add(name)
        return Visitor(Identity(user.id or 0, name, "author", frozenset()), "", "198.51.100.7")

    def begin(self, by: Visitor, **words: Any) -> str:
        return people.begin(self.arena, PlayRequest(family="loa", bot="first", **{"side": "first", **words}), by)

    def line(self, game: str) -> HumanGame:
        return self.store.people.get(game)

    def play(self, game: str, by: Visitor, move: str, answered: bool = True) -> None:
        """Make a move, and wait for the bot's answer."""
        before = len(self.line(game).plies)
        people_game.decide(self.arena, game, DecisionRequest(do="move", ply=before, move=move), by)
        if answered:
            self.told.until(lambda: len(self.line(game).plies) == before + 2)

    def over(self, game: str) -> None:
        """Wait for the end of a game."""
        self.told.until(lambda: self.line(game).state in ("finished", "cancelled"))
