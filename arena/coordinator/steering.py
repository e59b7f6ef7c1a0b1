"""Steers tournaments: begins what is due, carries on what asks for it, and calls off the jobs of what was stopped.

What a format plans, and when it wants to be asked, is the format's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from arena.coordinator.handout import Handout
from arena.coordinator.memory import Memory
from arena.events.bus import EventBus
from arena.events.messages import TournamentChanged, TournamentPlanned
from arena.log import logger
from arena.store import ConflictError, NotFoundError, Store, StoreUnavailableError
from arena.store.tournaments import LiveTournament
from arena.tournaments import SettingsError, progress
from arena.tournaments import format as formats
from arena.tournaments.drawing import OpeningDrawer
from arena.tournaments.meeting import Moment

SWEEP_TICKS = 10
"""Every so many ticks all tournaments are looked at anew, whoever may have changed them."""


class Steering:
    """One look at the tournaments that live, a turn."""

    def __init__(self, store: Store, bus: EventBus, memory: Memory, handout: Handout) -> None:
        self._store, self._bus, self._memory, self._handout = store, bus, memory, handout
        self._openings = OpeningDrawer()
        self._running: set[int] = set()
        """The tournaments that were running at the last look."""
        self._ticks = SWEEP_TICKS
        """Since all were looked at."""
        self._log = logger("coordinator")

    def look_at_all(self) -> None:
        """At the next turn all tournaments are looked at anew."""
        self._ticks = SWEEP_TICKS
        self._memory.dry.clear()

    def tick(self) -> None:
        """Some time has passed."""
        self._ticks += 1

    def close(self) -> None:
        """End the process that draws openings."""
        self._openings.close()

    def steer(self, at: datetime, orders: set[int | None]) -> list[LiveTournament]:
        """Obey orders, begin and carry on tournaments; those that run now. `orders`: tournaments, None = all.

        Raises StoreUnavailableError.
        """
        live = self._store.tournaments.live()
        self._obey(live)
        looked_at = self._to_look_at(live, orders)
        is_changed = False
        for found in live:
            if found.state == "scheduled" and found.start_time <= at:
                act = partial(progress.plan, self._store, found.id, self._openings.draw)
                is_changed |= self._attempt(found.id, act)
            elif found.state != "scheduled" and (found.id in looked_at or self._is_due(found)):
                is_changed |= self._advance(found)
        if is_changed:
            live = self._store.tournaments.live()
        return [found for found in live if found.state == "running"]

    def _obey(self, live: Sequence[LiveTournament]) -> None:
        """Call off the jobs of tournaments that were paused or cancelled, and what a draining one has not begun."""
        states = {found.id: found.state for found in live}
        for future, job in list(self._memory.jobs.items()):
            if job.is_over:
                continue
            state = states.get(job.tournament_id)
            if state is None or (state == "draining" and not job.playing and future.cancel()):
                self._handout.call_off([future])

    def _to_look_at(self, live: Sequence[LiveTournament], orders: set[int | None]) -> set[int]:
        """The tournaments to look at whatever happened in them: all from time to time, and those just ordered on."""
        running = {found.id for found in live if found.state == "running"}
        fresh = (running - self._running) | {order for order in orders if order is not None}
        self._running = running
        if self._ticks >= SWEEP_TICKS or None in orders:
            self._ticks = 0
            fresh = {found.id for found in live}
        self._memory.dry -= fresh
        return fresh

    def _is_due(self, found: LiveTournament) -> bool:
        """Whether what happened in a tournament since the last look may ask for something."""
        memory = self._memory
        if found.state == "draining":
            return not memory.is_out(found.id)
        if found.id not in memory.changed:
            return False
        match formats.moment(found.format):
            case Moment.EACH_RESULT:
                return True
            case Moment.ALL_HANDED_OUT:
                return found.id in memory.dry
            case Moment.ALL_OVER:
                return found.id in memory.dry and not memory.is_out(found.id)

    def _advance(self, found: LiveTournament) -> bool:
        """Carry a tournament on, or pause a draining one with nothing out; whether its state or plan changed."""
        self._memory.changed.discard(found.id)
        ahead = max(formats.AHEAD, 2 * self._handout.room)
        if self._attempt(found.id, partial(progress.advance, self._store, found.id, self._openings.draw, ahead)):
            return True
        if found.state != "draining" or self._memory.is_out(found.id):
            return False
        with contextlib.suppress(ConflictError):  # somebody resumed it meanwhile
            self._store.tournaments.move(found.id, "paused", only_from=("draining",))
            self.tell_state(found.id, "paused")
        return True

    def _attempt(self, tournament_id: int, act: Callable[[], progress.Progress]) -> bool:
        """Do something for one tournament; what goes wrong there stops no other one. Whether its state changed."""
        try:
            done = act()
        except (ConflictError, NotFoundError) as error:  # steered by somebody at this very moment: look again later
            self._log.info("tournament", tournament=tournament_id, error=str(error))
            return True
        except StoreUnavailableError:
            raise
        except Exception as error:
            if not isinstance(error, SettingsError):
                self._log.exception("tournament", tournament=tournament_id)
            problem = str(error) if isinstance(error, SettingsError) else f"{type(error).__name__}: {error}"
            with contextlib.suppress(ConflictError):
                self._store.tournaments.move(tournament_id, "paused", problem=problem)
                self.tell_state(tournament_id, "paused", problem)
            return True
        if done.calls_off:
            jobs = self._memory.jobs.items()
            self._handout.call_off([future for future, job in jobs if job.tournament_id == tournament_id])
        if done.planned:
            self._memory.dry.discard(tournament_id)
            self._bus.publish(TournamentPlanned(tournament=tournament_id, planned=done.planned))
        if done.state not in ("running", "draining") or done.planned:
            self.tell_state(tournament_id, done.state, done.reason)
            return True
        return False

    def reopen(self, tournament_id: int) -> None:
        """Games of a tournament wait again that had a result."""
        self._memory.dry.discard(tournament_id)
        found = self._store.tournaments.get(tournament_id)
        self.tell_state(tournament_id, found.state, found.problem)

    def tell_state(self, tournament_id: int, state: str, problem: str = "") -> None:
        """Say which state a tournament is in now."""
        self._bus.publish(TournamentChanged(tournament=tournament_id, state=state, problem=problem))
