"""Suspends a bot from a tournament if it repeatedly fails to get ready: its open games are forfeited.

A bot is checked only after such a failure, by the database alone, so that every coordinator decides the same.
"""

from __future__ import annotations

from arena.coordinator.dispatcher import JobDispatcher
from arena.coordinator.in_flight import InFlightJobs
from arena.coordinator.recorder import Recorder
from arena.documents.tournament import EntryItem
from arena.events.bus import EventBus
from arena.events.messages import EntrySuspended
from arena.log import logger
from arena.store import Store
from arena.tournaments.settings import SettingsError, read
from referee.game.unplayed import forfeit_record
from referee.play.suspension import Suspension

_CONSEQUENCE = "; its other games are forfeited"
LOOK_BACK = 4
"""Number of games that are read, as a multiple of the limit: games that the opponent failed to start do not count."""


class EntrySuspender:
    """Suspends bots in `in_flight.failed_starts` and forfeits their games, in each turn of the coordinator."""

    def __init__(
        self, store: Store, bus: EventBus, in_flight: InFlightJobs, dispatcher: JobDispatcher, recorder: Recorder
    ) -> None:
        self._store, self._bus, self._in_flight = store, bus, in_flight
        self._dispatcher, self._recorder = dispatcher, recorder
        self._log = logger("coordinator")

    def process_failures(self) -> None:
        """Suspend bots with too many failed starts. Raises StoreUnavailableError; the next turn does the rest."""
        failed = self._in_flight.failed_starts
        while failed:
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
        entry = next((one for one in store.tournaments.entries(tournament_id) if one.name == name), None)
        if entry is None or entry.withdrawn is not None:
            return
        try:
            limit = read(store.tournaments.get(tournament_id).settings).adjudication.suspend_after
        except SettingsError:  # settings of another version of the program: suspend nothing
            return
        records = store.results.last_records(tournament_id, entry.version_id, LOOK_BACK * limit) if limit else ()
        suspension = Suspension(limit, records)
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
        in_flight.unrecorded.extend((forfeit_record(game, entry.name, why), tournament_id) for game in games)
        self._recorder.collect()
        lost = {game.id for game in games}
        self._dispatcher.call_off(
            [future for future, job in in_flight.jobs.items() if any(game.id in lost for game in job.games)]
        )
        return bool(games)
