"""The games of people: background work of the process that coordinates, each with a bot of its own in the sandbox.

They have slots of their own and take none from the games of bots; their bots are nice to those of others. Every ply is
in the database before anybody is told of it: whoever coordinates next goes on from there with a fresh bot. What a
person decides comes through the database too, from whichever process has the page, and a nudge says when to look.
Refuses to know pages, and who may play.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from arena.coordinator import background
from arena.coordinator.background import Background, Conditions
from arena.events.bus import EventBus
from arena.events.messages import GameGone, GamePly, GameStarted, PlyNews
from arena.log import logger
from arena.spool import Spool
from arena.store import ConflictError, Store
from arena.store.people import DRAW, MAX_TAKEN_BACK, PersonLine, is_draw_offered
from arena.worker import BundlePlace
from referee.person import Decision, Hand, PersonSeat
from referee.play import play
from referee.record import GameRecord, Ply
from referee.roster import Roster
from referee.rules.core import SIDES, Kind, Termination
from referee.sandbox import Sandbox, open_sandbox
from referee.seat import Seat
from referee.spec import BotSpec, Limits, PlannedGame

if TYPE_CHECKING:
    from arena.config import Settings

LOOK_S = 1.0
"""How often the database is asked what people have decided, should a nudge be lost."""
NICE = 5
"""By how much the bots of people's games step back behind those of rated ones."""


@dataclass
class _Table:
    """A game that is being played here."""

    work: Background | None = None
    hand: Hand = field(default_factory=Hand)
    stop_read: int = -1
    stop_write: int = -1
    plies: list[Any] = field(default_factory=list)
    heard: str = ""
    """The mark of what was handed on last."""
    offered_at: int = -1
    """Behind how many plies the person offered a draw last."""
    is_back: bool = False
    """It was called off to take a move back, and goes on."""

    def call_off(self) -> None:
        """Whoever waits in the game waits no longer."""
        self.hand.call_off()
        with contextlib.suppress(OSError):
            os.write(self.stop_write, b"x")


def ply_of(kept: list[Any]) -> tuple[str, Ply]:
    """A move and its ply as they were kept."""
    return str(kept[0]), Ply(*kept[1])


def kept_of(move: str, ply: Ply, *, offers_draw: bool = False) -> list[Any]:
    """A move and its ply as they are kept; a draw that was offered with it stands behind them."""
    kept = [ply.ms, ply.charged_ms, ply.lag_ms, ply.score, ply.depth, ply.nodes, ply.book, ply.pv]
    return [move, kept, DRAW] if offers_draw else [move, kept]


class PeopleGames:
    """`begin` and `stop` frame the time in which this process coordinates; `wake` may be called from any thread.

    `on_done` is called, in some thread, with the game whose result is in the spool.
    """

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        settings: Settings,
        *,
        owner: str,
        place: BundlePlace,
        spool: Spool,
        conditions: Conditions,
        on_done: Callable[[str], None],
    ) -> None:
        self._store, self._bus, self._owner, self._place = store, bus, owner, place
        self._spool, self._conditions, self._on_done = spool, conditions, on_done
        self.elsewhere: dict[str, Callable[[BotSpec, Limits], Seat]] = {}
        """Further seats that are no process of this machine, by their place."""
        self._slots, self._idle_s = settings.people_slots, settings.people_idle_minutes * 60
        self._sandbox_name = settings.sandbox
        self._sandbox: Sandbox | None = None
        self._tables: dict[str, _Table] = {}
        self._looking = Background("people", LOOK_S, self._look, conditions)
        self.wake = self._looking.wake
        """A person has decided something in a game."""
        self._log = logger("people")

    def begin(self) -> None:
        """Play the games that wait, or were interrupted."""
        if self._slots:
            self._looking.begin()

    def stop(self) -> None:
        """Interrupt all games: they stay as they are until somebody goes on with them."""
        background.stop([self._looking])
        background.stop([table.work for table in list(self._tables.values()) if table.work])

    # -- what people decide --------------------------------------------------------------------------------------------

    def _look(self, stop: threading.Event) -> None:
        """Hand on what was decided in the games that are played here, and begin those that wait."""
        for game, asked in self._store.people.asked().items():
            if table := self._tables.get(game):
                self._hand_on(table, asked)
            elif len(self._tables) < self._slots and not stop.is_set():
                self._seat(self._store.people.get(game))

    def _hand_on(self, table: _Table, asked: Mapping[str, Any] | None) -> None:
        if not asked or asked["mark"] == table.heard:
            return
        table.heard = asked["mark"]
        if asked["do"] == "back":
            table.is_back = True
            table.call_off()
        elif asked["do"] in ("resign", "draw"):
            table.hand.give(Decision(asked["ply"], None, asked["do"]))
        else:
            offers_draw = bool(asked.get("draw"))
            table.offered_at = asked["ply"] if offers_draw else -1
            table.hand.give(Decision(asked["ply"], asked["move"], "draw" if offers_draw else None))

    # -- games ---------------------------------------------------------------------------------------------------------

    def _seat(self, line: PersonLine) -> None:
        table = self._tables[line.game_id] = _Table(plies=list(line.plies))
        table.stop_read, table.stop_write = os.pipe()
        play, leave = partial(self._play, line, table), partial(self._leave, line.game_id, table)
        table.work = Background("people", None, play, self._conditions, interrupt=table.call_off, close=leave)
        table.work.begin()

    def _play(self, line: PersonLine, table: _Table, _: threading.Event) -> None:
        """The whole of a game."""
        with contextlib.suppress(OSError):  # what is started from this thread inherits it
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
        try:
            self._go_on(line, table)
        except ConflictError as error:
            self._log.info("people", game=line.game_id, error=str(error))

    def _leave(self, game: str, table: _Table) -> None:
        """Nobody plays it here any more; what was interrupted goes on when it is looked at again."""
        if self._tables.pop(game, None):
            os.close(table.stop_read)
            os.close(table.stop_write)
            self.wake()  # there is room again

    def _go_on(self, line: PersonLine, table: _Table) -> None:
        game = self._place.open().resolve_game(self._store.people.planned(line.game_id))
        self._sandbox = self._sandbox or open_sandbox(self._sandbox_name)
        attempt = self._store.people.start(line.game_id, self._owner)
        with Roster(self._sandbox, table.stop_read) as roster:
            while True:
                record = self._contest(game, table, roster, attempt, SIDES.index(line.side))
                if record.termination is not Termination.STOPPED or not table.is_back:
                    break
                self._take_back(line, table)
                attempt += 1
        if record.termination is not Termination.STOPPED:
            self._end(line, record)

    def _contest(self, game: PlannedGame, table: _Table, roster: Roster, attempt: int, mine: int) -> GameRecord:
        """Play from where it stands, to the end or to where it is interrupted."""
        hand, played = table.hand, [ply_of(kept) for kept in table.plies]
        self._bus.publish(GameStarted(game=game.id, attempt=attempt))
        for number, (move, ply) in enumerate(played, 1):
            self._bus.publish(GamePly(game=game.id, number=number, ply=PlyNews.of(move, ply)))

        def watch(number: int, move: str, ply: Ply) -> None:
            is_mine = (number - 1) % 2 == mine
            offers_draw = table.offered_at == number - 1 if is_mine else hand.is_offered
            table.plies.append(kept_of(move, ply, offers_draw=offers_draw))
            self._store.people.keep(game.id, table.plies, is_done=is_mine)
            self._bus.publish(GamePly(game=game.id, number=number, ply=PlyNews.of(move, ply)))

        hand.is_offered = is_draw_offered(table.plies, SIDES[mine])
        roster.elsewhere |= self.elsewhere
        roster.elsewhere["person"] = lambda spec, limits: PersonSeat(spec, limits, hand, self._idle_s)
        self.wake()  # what was decided before anybody sat here
        return play(game, roster, watch, played)

    def _take_back(self, line: PersonLine, table: _Table) -> None:
        """Back to before the person's last move."""
        mine = SIDES.index(line.side)
        last = max((index for index in range(len(table.plies)) if index % 2 == mine), default=len(table.plies))
        del table.plies[last:]
        table.is_back, table.hand = False, Hand()
        os.read(table.stop_read, MAX_TAKEN_BACK)
        self._store.people.keep(line.game_id, table.plies, is_done=True, is_back=True)

    def _end(self, line: PersonLine, record: GameRecord) -> None:
        """What becomes of it: a result, or nothing where the person never moved or the bot could not be run."""
        has_moved = len(record.moves) > SIDES.index(line.side)
        is_left = record.termination is Termination.TIME and record.loser == line.side
        if record.kind is Kind.VOID or (not has_moved and (is_left or record.termination is Termination.RESIGNED)):
            self._store.people.cancel(line.game_id)
            self._bus.publish(GameGone(game=line.game_id))
            if record.kind is Kind.VOID:
                self._log.error("people", game=line.game_id, error=f"{record.termination}: {record.detail}")
            return
        self._spool.keep(record)
        self._on_done(record.id)
