"""Controls tournaments: starts those that are due, advances running ones, and cancels the jobs of paused and
cancelled ones.

The format of a tournament decides what is planned and when.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from arena.coordinator.dispatcher import JobDispatcher
from arena.coordinator.in_flight import InFlightJobs
from arena.errors import ConflictError, NotFoundError, StoreUnavailableError
from arena.events.bus import EventBus
from arena.events.messages import TournamentChanged, TournamentPlanned
from arena.log import logger
from arena.store import Store
from arena.store.tournaments.tournaments import LiveTournament
from arena.tournaments import SettingsError, lifecycle
from arena.tournaments import format as formats
from arena.tournaments.match import PlanAfter
from arena.tournaments.opening_draw import OpeningDrawer

SWEEP_TICKS = 10
"""Number of ticks between two checks of all tournaments, which finds changes by other processes."""


class TournamentControl:
    """Checks the scheduled, running and draining tournaments once in each turn of the coordinator."""

    def __init__(self, store: Store, bus: EventBus, in_flight: InFlightJobs, dispatcher: JobDispatcher) -> None:
        self._store, self._bus, self._in_flight, self._dispatcher = store, bus, in_flight, dispatcher
        self._openings = OpeningDrawer()
        self._running: set[int] = set()
        """The tournaments that were running at the last check."""
        self._ticks = SWEEP_TICKS
        """Ticks since the last check of all tournaments."""
        self._log = logger("coordinator")

    def recheck_all(self) -> None:
        """Check all tournaments in the next turn."""
        self._ticks = SWEEP_TICKS
        self._in_flight.exhausted.clear()

    def tick(self) -> None:
        """Count a tick."""
        self._ticks += 1

    def close(self) -> None:
        """End the helper process that draws openings."""
        self._openings.close()

    def steer(self, at: datetime, orders: set[int | None]) -> list[LiveTournament]:
        """Cancel the jobs of paused and cancelled tournaments, start and advance others; return the running ones.

        Tournaments are advanced if they are due or named in `orders`, where None names all. Raises
        StoreUnavailableError.
        """
        live = self._store.tournaments.live()
        self._obey(live)
        checked = self._to_check(live, orders)
        is_changed = False
        for found in live:
            if found.state == "scheduled" and found.start_time <= at:
                act = partial(lifecycle.plan, self._store, found.id, self._openings.draw)
                is_changed |= self._attempt(found.id, act)
            elif found.state != "scheduled" and (found.id in checked or self._is_due(found)):
                is_changed |= self._advance(found)
        if is_changed:
            live = self._store.tournaments.live()
        return [found for found in live if found.state == "running"]

    def _obey(self, live: Sequence[LiveTournament]) -> None:
        """Cancel the jobs of paused and cancelled tournaments, and the queued jobs of draining ones."""
        states = {found.id: found.state for found in live}
        for future, job in list(self._in_flight.jobs.items()):
            if job.is_over:
                continue
            state = states.get(job.tournament_id)
            if state is None or (state == "draining" and not job.playing and future.cancel()):
                self._dispatcher.call_off([future])

    def _to_check(self, live: Sequence[LiveTournament], orders: set[int | None]) -> set[int]:
        """Return the tournaments to check in any case: new ones, those in `orders`, and all from time to time."""
        running = {found.id for found in live if found.state == "running"}
        fresh = (running - self._running) | {order for order in orders if order is not None}
        self._running = running
        if self._ticks >= SWEEP_TICKS or None in orders:
            self._ticks = 0
            fresh = {found.id for found in live}
        self._in_flight.exhausted -= fresh
        return fresh

    def _is_due(self, found: LiveTournament) -> bool:
        """Return whether a tournament may have to be advanced because of the results since the last check."""
        in_flight = self._in_flight
        if found.state == "draining":
            return not in_flight.is_out(found.id)
        if found.id not in in_flight.changed:
            return False
        match formats.plan_after(found.format):
            case PlanAfter.EACH_RESULT:
                return True
            case PlanAfter.ALL_HANDED_OUT:
                return found.id in in_flight.exhausted
            case PlanAfter.ALL_OVER:
                is_out = in_flight.is_out(found.id) and not found.later_games
                return found.id in in_flight.exhausted and not is_out

    def _advance(self, found: LiveTournament) -> bool:
        """Advance a tournament, or pause a drained one; return whether its state or plan changed."""
        self._in_flight.changed.discard(found.id)
        ahead = max(formats.AHEAD, 2 * self._dispatcher.room)
        absent = self._dispatcher.waited_for(found.id)
        act = partial(lifecycle.advance, self._store, found.id, self._openings.draw, ahead, absent)
        if self._attempt(found.id, act):
            return True
        if found.state != "draining" or self._in_flight.is_out(found.id):
            return False
        with contextlib.suppress(ConflictError):  # a user resumed it meanwhile
            self._store.tournaments.move(found.id, "paused", only_from=("draining",))
            self.publish_state(found.id, "paused")
        return True

    def _attempt(self, tournament_id: int, act: Callable[[], lifecycle.PlanningResult]) -> bool:
        """Call `act` for one tournament; on an error pause only this one. Return whether its state changed."""
        try:
            done = act()
        except (ConflictError, NotFoundError) as error:  # a user changes it at this moment: check again later
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
                self.publish_state(tournament_id, "paused", problem)
            return True
        if done.calls_off:
            jobs = self._in_flight.jobs.items()
            self._dispatcher.call_off([future for future, job in jobs if job.tournament_id == tournament_id])
        self._in_flight.suspended.extend((tournament_id, name) for name in done.suspended)
        if done.planned:
            self._in_flight.exhausted.discard(tournament_id)
            self._bus.publish(TournamentPlanned(tournament=tournament_id, planned=done.planned))
        if done.state not in ("running", "draining") or done.planned:
            self.publish_state(tournament_id, done.state, done.reason)
            return True
        return False

    def reopen(self, tournament_id: int) -> None:
        """Continue a tournament some of whose results were voided."""
        self._in_flight.exhausted.discard(tournament_id)
        found = self._store.tournaments.get(tournament_id)
        self.publish_state(tournament_id, found.state, found.problem)

    def publish_state(self, tournament_id: int, state: str, problem: str = "") -> None:
        """Publish the state of a tournament."""
        self._bus.publish(TournamentChanged(tournament=tournament_id, state=state, problem=problem))
