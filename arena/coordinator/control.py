"""The control of tournaments: those that are due are started, running ones advanced, jobs of paused ones cancelled.

The format of a tournament decides what is planned and when. A bot that repeatedly fails to get ready is suspended from
the tournament.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import Any

from arena.cluster.spool import Arrival
from arena.coordinator.context import CoordinatorContext
from arena.coordinator.dispatcher import JobDispatcher
from arena.coordinator.recorder import Recorder
from arena.documents.tournament import EntryItem
from arena.errors import ConflictError, NotFoundError, StoreUnavailableError
from arena.events.messages import EntrySuspended, TournamentChanged, TournamentPlanned
from arena.log import logger
from arena.offload import OffloadProcess
from arena.store.tournaments.tournaments import LiveTournament
from arena.tournaments import lifecycle
from referee.game.openings import Opening
from referee.game.unplayed import Suspension, forfeit_record
from referee.machine.pool import JobError
from referee.tournament import openings
from referee.tournament.document import Document, read
from referee.tournament.formats import format_named
from referee.tournament.formats.format import AHEAD
from referee.tournament.match import PlanAfter
from referee.tournament.part import SettingsError

LOOK_BACK = 4
"""Number of games that are read, as a multiple of the limit: games that the opponent failed to start do not count."""
SWEEP_TICKS = 10
"""Number of ticks between two checks of all tournaments, which finds changes by other processes."""
_CONSEQUENCE = "; its other games are forfeited"


class OpeningsPendingError(Exception):
    """The openings of a tournament are still being drawn; `draw` ends with them."""

    def __init__(self, draw: Future[Any]) -> None:
        super().__init__()
        self.draw = draw


class TournamentControl:
    """Checks the scheduled, running and draining tournaments once in each turn of the coordinator."""

    def __init__(self, context: CoordinatorContext, dispatcher: JobDispatcher) -> None:
        self._store, self._bus, self._in_flight = context.store, context.bus, context.in_flight
        self._dispatcher = dispatcher
        self._openings = OpeningDrawer(context.wakeup.now)
        self._undrawn: dict[int, Future[Any]] = {}
        """The tournaments that wait for their openings."""
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
        """Count a tick: after `SWEEP_TICKS` of them all tournaments are checked."""
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
        for tournament in live:
            if tournament.id in self._undrawn:
                continue
            if tournament.state == "scheduled" and tournament.start_time <= at:
                act = partial(lifecycle.plan, self._store, tournament.id, self._openings.draw)
                is_changed |= self._attempt(tournament.id, act)
            elif tournament.state != "scheduled" and (tournament.id in checked or self._is_due(tournament)):
                is_changed |= self._advance(tournament)
        if is_changed:
            live = self._store.tournaments.live()
        return [tournament for tournament in live if tournament.state == "running"]

    def running(self) -> list[LiveTournament]:
        """Return the running tournaments, none of which is advanced. Raises StoreUnavailableError."""
        return [tournament for tournament in self._store.tournaments.live() if tournament.state == "running"]

    def _obey(self, live: Sequence[LiveTournament]) -> None:
        """Cancel the jobs of paused and cancelled tournaments, and the queued jobs of draining ones."""
        states = {tournament.id: tournament.state for tournament in live}
        for future, job in list(self._in_flight.jobs.items()):
            if job.is_over:
                continue
            state = states.get(job.tournament_id)
            if state is None or (state == "draining" and not job.playing and future.cancel()):
                self._dispatcher.call_off([future])

    def _to_check(self, live: Sequence[LiveTournament], orders: set[int | None]) -> set[int]:
        """Return the tournaments to check in any case: new ones, those whose openings are drawn, those in `orders`, and
        all from time to time.
        """
        running = {tournament.id for tournament in live if tournament.state == "running"}
        drawn = {number for number, draw in self._undrawn.items() if draw.done()}
        fresh = (running - self._running) | drawn | {order for order in orders if order is not None}
        self._running = running
        if self._ticks >= SWEEP_TICKS or None in orders:
            self._ticks = 0
            fresh = {tournament.id for tournament in live}
        for number in drawn:
            del self._undrawn[number]
        self._in_flight.exhausted -= fresh  # another process may have planned games for them
        return fresh

    def _is_due(self, tournament: LiveTournament) -> bool:
        """Return whether a tournament may have to be advanced because of the results since the last check."""
        in_flight = self._in_flight
        if tournament.state == "draining":
            return not in_flight.is_out(tournament.id)
        if tournament.id not in in_flight.changed:
            return False
        match format_named(tournament.format).plan_after:
            case PlanAfter.EACH_RESULT:
                return True
            case PlanAfter.ALL_HANDED_OUT:
                return tournament.id in in_flight.exhausted
            case PlanAfter.ALL_OVER:
                is_out = in_flight.is_out(tournament.id) and not tournament.later_games
                return tournament.id in in_flight.exhausted and not is_out

    def _advance(self, tournament: LiveTournament) -> bool:
        """Advance a tournament, or pause a drained one; return whether its state or plan changed."""
        self._in_flight.changed.discard(tournament.id)
        ahead = max(AHEAD, 2 * self._dispatcher.room)
        absent = self._dispatcher.waited_for(tournament.id)
        act = partial(lifecycle.advance, self._store, tournament.id, self._openings.draw, ahead, absent)
        if self._attempt(tournament.id, act):
            return True
        if tournament.state != "draining" or self._in_flight.is_out(tournament.id):
            return False
        with contextlib.suppress(ConflictError):  # a user resumed it meanwhile
            self._store.tournaments.move(tournament.id, "paused", only_from=("draining",))
            self.publish_state(tournament.id, "paused")
        return True

    def _attempt(self, tournament_id: int, act: Callable[[], lifecycle.PlanningResult]) -> bool:
        """Call `act` for one tournament; on an error pause only this one. Return whether its state changed."""
        try:
            done = act()
        except (ConflictError, NotFoundError) as error:  # a user changes it at this moment: check again later
            self._log.info("tournament", tournament=tournament_id, error=str(error))
            return True
        except OpeningsPendingError as error:
            self._undrawn[tournament_id] = error.draw
            return False
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
        """Tell pages and other processes that a tournament has changed its state, and why."""
        self._bus.publish(TournamentChanged(tournament=tournament_id, state=state, problem=problem))


class OpeningDrawer:
    """Draws openings in a process, as compiling the rules' kernel would block the server.

    The coordinator does not wait for it: results are recorded meanwhile. `on_drawn` is called in another thread.
    """

    def __init__(self, on_drawn: Callable[[], None]) -> None:
        self._process, self._thread = OffloadProcess(), ThreadPoolExecutor(1, "openings")
        self._draws: dict[tuple[str, int], Future[tuple[Opening, ...]]] = {}
        self._on_drawn = on_drawn

    def draw(self, document: Document, count: int) -> Sequence[Opening]:
        """Return the first `count` openings; they are cached. Raises SettingsError, and OpeningsPendingError."""
        if not openings.needs_kernel(document, count):
            return openings.draw(document, count)
        return openings.draw(document, count, self._ask)

    def close(self) -> None:
        """End the process after its current draw."""
        self._thread.shutdown(cancel_futures=True)
        self._process.close()

    def _ask(self, document: Document, count: int) -> tuple[Opening, ...]:
        key = openings.key_of(document, count)
        draw = self._draws.get(key)
        if draw is None:
            draw = self._thread.submit(self._process.call, openings.draw_json, document.as_json(), count)
            self._draws[key] = draw
            draw.add_done_callback(lambda _: self._on_drawn())
        if not draw.done():
            raise OpeningsPendingError(draw)
        del self._draws[key]
        try:
            return draw.result()
        except JobError as error:
            raise SettingsError(f"could not be drawn: {error}", "openings") from None


class EntrySuspender:
    """Suspends bots in `in_flight.failed_starts` and forfeits their games, in each turn of the coordinator.

    A bot is checked only after such a failure, by the database alone, so that every coordinator decides the same.
    """

    def __init__(self, context: CoordinatorContext, dispatcher: JobDispatcher, recorder: Recorder) -> None:
        self._store, self._bus, self._in_flight = context.store, context.bus, context.in_flight
        self._dispatcher, self._recorder = dispatcher, recorder
        self._log = logger("coordinator")

    def process_failures(self) -> None:
        """Suspend bots with too many failed starts. Raises StoreUnavailableError; the next turn does the rest."""
        failed = self._in_flight.failed_starts
        while failed:
            # Removed once it is done: the first store that fails leaves the rest for the next turn.
            self._look(*failed[0])
            failed.popleft()

    def forfeit_planned(self) -> None:
        """Record as lost the games planned for suspended bots. Raises StoreUnavailableError; the next turn retries.

        The bot that was suspended first loses against one that was suspended later.
        """
        suspended = self._in_flight.suspended
        while suspended:
            tournament_id = suspended[0][0]
            names = {name for number, name in suspended if number == tournament_id}
            entries = [entry for entry in self._store.tournaments.entries(tournament_id) if entry.name in names]
            for entry in sorted(entries, key=lambda entry: (entry.withdrawn is None, entry.withdrawn, entry.seat)):
                if self._forfeit(tournament_id, entry, entry.suspended.removesuffix(_CONSEQUENCE)):
                    self._in_flight.changed.add(tournament_id)
            while suspended and suspended[0][0] == tournament_id:
                suspended.popleft()

    def _look(self, tournament_id: int, name: str) -> None:
        store = self._store
        entry = next((line for line in store.tournaments.entries(tournament_id) if line.name == name), None)
        if entry is None or entry.withdrawn is not None:
            return
        try:
            limit = read(store.tournaments.get(tournament_id).settings).adjudication.suspend_after
        except SettingsError:  # settings of another version of the program: suspend nothing
            return
        records = store.results.last_records(tournament_id, entry.version_id, LOOK_BACK * limit) if limit else ()
        suspension = Suspension(limit, records, store.queue.of_version(tournament_id, entry.version_id))
        if name not in suspension.names:
            return
        self._forfeit(tournament_id, entry, suspension.why)
        reason = suspension.why + _CONSEQUENCE
        store.tournaments.withdraw(tournament_id, entry.version_id, reason)
        store.audit.note("tournament.suspend", f"tournament:{tournament_id}", version=name, reason=reason)
        self._log.warning("suspended", tournament=tournament_id, version=name, reason=reason)
        self._bus.publish(EntrySuspended(tournament=tournament_id, version=entry.version_id, name=name, reason=reason))
        self._in_flight.changed.add(tournament_id)

    def _forfeit(self, tournament_id: int, entry: EntryItem, why: str) -> bool:
        """Record the open games of an entry as lost, and cancel the running ones: their results would come too late.

        Returns whether the entry had open games.
        """
        in_flight = self._in_flight
        games = self._store.queue.of_version(tournament_id, entry.version_id)
        in_flight.unrecorded.extend((Arrival(forfeit_record(game, entry.name, why)), tournament_id) for game in games)
        self._recorder.collect()
        lost = {game.id for game in games}
        self._dispatcher.call_off(
            [future for future, job in in_flight.jobs.items() if any(game.id in lost for game in job.games)]
        )
        return bool(games)
