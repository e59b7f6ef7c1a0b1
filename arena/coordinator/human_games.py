"""Games of humans against bots: background work of the coordinator, one thread and one sandboxed bot for each game.

These games have slots of their own, and their bots run at a lower priority than those of rated games. Every ply is
committed before it is published, so that the next coordinator can continue the game with a new bot process. The web
process that serves a page stores the human's actions in the database, and sends an event so that they are read at once.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from arena.clock import now
from arena.cluster.game_runner import BundlePlace
from arena.cluster.spool import Spool
from arena.coordinator import background
from arena.coordinator.background import Background, Conditions
from arena.documents.human_game import HumanGame
from arena.errors import ConflictError
from arena.events.bus import EventBus
from arena.events.messages import GameAborted, GameMoved, GameStarted
from arena.log import logger
from arena.store import Store
from arena.store.tournaments.human_games import MAX_TAKEN_BACK, PendingAction
from arena.store.tournaments.stored_ply import is_draw_offered, last_own_ply, read_ply, write_ply
from referee.bot.person import Decision, Hand, PersonSeat
from referee.bot.seat import Seat
from referee.game.record import GameRecord, Ply
from referee.game.spec import BotLimits, BotSpec, PlannedGame
from referee.play.play import play
from referee.play.roster import Roster
from referee.rules.core import SIDES, Kind, Termination
from referee.sandbox import Sandbox, open_sandbox

if TYPE_CHECKING:
    from arena.config import Settings

POLL_INTERVAL_S = 1.0
"""How often the database is polled for actions, in case an event is lost."""
NICENESS = 5
"""Niceness of the bots in these games, relative to bots in rated games."""
ABSENCE_TIMEOUT_S = 60.0
"""Time after which a guest's game ends if the guest's page is gone. Pages without scripts have the idle timeout."""


@dataclass
class _HumanGame:
    is_guest: bool = False
    work: Background | None = None
    hand: Hand = field(default_factory=Hand)
    stop_read: int = -1
    stop_write: int = -1
    plies: list[Any] = field(default_factory=list)
    last_mark: str = ""
    """The mark of the last action that was processed."""
    offered_at: int = -1
    """Number of plies before the last draw offer of the human."""
    takes_back: bool = False
    """Whether the game was interrupted to take back a move, after which it continues."""

    def call_off(self) -> None:
        """Wake the game thread so that it stops."""
        self.hand.call_off()
        with contextlib.suppress(OSError):
            os.write(self.stop_write, b"x")


class HumanGames:
    """The human games of one coordinator, active between `begin` and `stop`; `wake` is thread-safe.

    `on_done` is called in any thread with the id of a game when its result is in the spool.
    """

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        settings: Settings,
        *,
        owner: str,
        spool: Spool,
        conditions: Conditions,
        on_done: Callable[[str], None],
    ) -> None:
        self._store, self._bus, self._owner, self._place = store, bus, owner, BundlePlace.of(settings)
        self._spool, self._conditions, self._on_done = spool, conditions, on_done
        self.elsewhere: dict[str, Callable[[BotSpec, BotLimits], Seat]] = {}
        """Functions that open the seats of bots that are not local processes, by the place of the bot."""
        self._slots, self._guest_slots = settings.human_slots, settings.guest_slots
        self._idle_s = settings.human_idle_timeout_minutes * 60
        self._sandbox_name = settings.sandbox
        self._sandbox: Sandbox | None = None
        self._games: dict[str, _HumanGame] = {}
        self._begun_at = now()
        self._polling = Background("human_games", POLL_INTERVAL_S, self._poll, conditions)
        self.wake = self._polling.wake
        """Process new actions of humans."""
        self._log = logger("human_games")

    def begin(self) -> None:
        """Start the games that wait or were interrupted."""
        self._begun_at = now()  # pages that were cut off by the end of this server's processes may return first
        if self._slots:
            self._polling.begin()

    def stop(self) -> None:
        """Interrupt all games; they keep their state for the next coordinator."""
        background.stop([self._polling])
        background.stop([state.work for state in list(self._games.values()) if state.work])

    # -- actions of humans ---------------------------------------------------------------------------------------------

    def _poll(self, stop: threading.Event) -> None:
        """Pass actions to the games of this process, start games that wait, and end those that guests have left."""
        open_games = self._store.people.asked()
        finished = set(self._spool.names())  # their results are not committed yet
        for game, pending in open_games.items():
            state = self._games.get(game)
            if state and self._has_left(pending):
                state.hand.give(Decision(len(state.plies), None, "resign", "left the game"))
            elif state:
                self._pass_action(state, pending.action)
            elif game in finished:
                continue
            elif self._has_left(pending, is_waiting=True):
                self._cancel(game)
            elif self._has_slot(is_guest=pending.is_guest) and not stop.is_set():
                self._start(self._store.people.get(game))

    def _has_left(self, pending: PendingAction, *, is_waiting: bool = False) -> bool:
        """Return whether a guest has left: their page has not contacted the server for a while.

        During a game, only a page that follows the stream is expected to contact the server. While a game waits, every
        page is: pages without scripts reload themselves.
        """
        absent_s = (now() - max(pending.seen_at, self._begun_at)).total_seconds()
        return pending.is_guest and (pending.is_streamed or is_waiting) and absent_s > ABSENCE_TIMEOUT_S

    def _cancel(self, game: str) -> None:
        self._store.people.cancel(game)
        self._bus.publish(GameAborted(game=game))

    def _has_slot(self, *, is_guest: bool) -> bool:
        """Return whether another game may start: people without an account may not use all slots."""
        playing = list(self._games.values())
        is_room = not is_guest or sum(state.is_guest for state in playing) < self._guest_slots
        return is_room and len(playing) < self._slots

    def _pass_action(self, state: _HumanGame, action: Mapping[str, Any] | None) -> None:
        # An action stays in the database until its ply is stored, so that every poll reads it again.
        if not action or action["mark"] == state.last_mark:
            return
        state.last_mark = action["mark"]
        if action["do"] == "back":
            state.takes_back = True
            state.call_off()
        elif action["do"] in ("resign", "draw"):
            state.hand.give(Decision(action["ply"], None, action["do"]))
        else:
            offers_draw = bool(action.get("draw"))
            state.offered_at = action["ply"] if offers_draw else -1
            state.hand.give(Decision(action["ply"], action["move"], "draw" if offers_draw else None))

    # -- games ---------------------------------------------------------------------------------------------------------

    def _start(self, line: HumanGame) -> None:
        state = self._games[line.id] = _HumanGame(line.user_id is None, plies=list(line.plies))
        state.stop_read, state.stop_write = os.pipe()
        play, leave = partial(self._play, line, state), partial(self._leave, line.id, state)
        state.work = Background("human_games", None, play, self._conditions, interrupt=state.call_off, close=leave)
        state.work.begin()

    def _play(self, line: HumanGame, state: _HumanGame, _: threading.Event) -> None:
        """Play a game to its end, or until it is interrupted. One that is over meanwhile is only logged."""
        with contextlib.suppress(OSError):  # inherited by processes that this thread starts
            # Linux has a niceness for each thread, and takes the number of a thread as that of a process
            # (setpriority(2)).
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        try:
            self._continue(line, state)
        except ConflictError as error:
            self._log.info("human game", game=line.id, error=str(error))

    def _leave(self, game: str, state: _HumanGame) -> None:
        """Release the resources of a game; an interrupted one starts again at the next poll."""
        # Closing twice could close the pipe of the next run of this game, which may have got the same descriptors.
        if self._games.pop(game, None):
            os.close(state.stop_read)
            os.close(state.stop_write)
            self.wake()  # a slot is free again

    def _continue(self, line: HumanGame, state: _HumanGame) -> None:
        game = self._place.open().resolve_game(PlannedGame(line.id, self._store.games.spec(line.id)))
        self._sandbox = self._sandbox or open_sandbox(self._sandbox_name)
        attempt = self._store.people.start(line.id, self._owner)
        with Roster(self._sandbox, state.stop_read) as roster:
            while True:
                record = self._play_until_stopped(game, state, roster, attempt, SIDES.index(line.side))
                if record.termination is not Termination.STOPPED or not state.takes_back:
                    break
                self._take_back(line, state)
                # For spectators a new attempt: they drop the plies that were taken back.
                attempt += 1
        if record.termination is not Termination.STOPPED:
            self._end(line, record)

    def _play_until_stopped(
        self, game: PlannedGame, state: _HumanGame, roster: Roster, attempt: int, mine: int
    ) -> GameRecord:
        """Play from the current position to the end, or until the game is interrupted."""
        hand, played = state.hand, [read_ply(kept) for kept in state.plies]
        self._bus.publish(GameStarted(game=game.id, attempt=attempt))
        if plies := tuple(replace(ply, move=move) for move, ply in played):
            self._bus.publish(GameMoved(game=game.id, first=1, plies=plies))

        def watch(number: int, move: str, ply: Ply) -> None:
            is_mine = (number - 1) % 2 == mine
            offers_draw = state.offered_at == number - 1 if is_mine else hand.is_offered
            state.plies.append(write_ply(move, ply, offers_draw=offers_draw))
            # Stored before it is published: after a crash the game continues from the last ply that people have seen.
            self._store.people.keep(game.id, state.plies, is_done=is_mine)
            self._bus.publish(GameMoved(game=game.id, first=number, plies=(replace(ply, move=move),)))

        hand.is_offered = is_draw_offered(state.plies, SIDES[mine])
        roster.elsewhere |= self.elsewhere
        roster.elsewhere["person"] = lambda spec, limits: PersonSeat(spec, limits, hand, self._idle_s)
        self.wake()  # process actions from before the game was started here
        return play(game, roster, watch, played)

    def _take_back(self, line: HumanGame, state: _HumanGame) -> None:
        """Return to the position before the human's last move."""
        last = last_own_ply(state.plies, line.side)
        if last is not None:
            del state.plies[last:]
        state.takes_back, state.hand = False, Hand()
        # Empty the pipe, or the next run is stopped by the same byte.
        os.read(state.stop_read, MAX_TAKEN_BACK)
        self._store.people.keep(line.id, state.plies, is_done=True, is_back=True)

    def _end(self, line: HumanGame, record: GameRecord) -> None:
        """Store the result, or cancel the game if the human never moved or the bot could not run."""
        has_moved = len(record.moves) > SIDES.index(line.side)
        is_left = record.termination is Termination.TIME and record.loser == line.side
        if record.kind is Kind.VOID or (not has_moved and (is_left or record.termination is Termination.RESIGNED)):
            self._cancel(line.id)
            if record.kind is Kind.VOID:
                self._log.error("human game", game=line.id, error=f"{record.termination}: {record.detail}")
            return
        self._spool.keep(record)
        self._on_done(record.id)
