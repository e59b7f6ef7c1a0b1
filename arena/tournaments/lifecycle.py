"""The life of a tournament: its start, planning after results, later entries and withdrawals, its end.

The functions that start and plan may be repeated: they compare the plan with the stored games. Only the coordinator
calls them. Of a plan known in advance only the next games are stored, so the cost of a step does not depend on the
plan's size.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from arena.documents.tournament import EntryItem, TournamentItem, TournamentState
from arena.errors import ConflictError
from arena.store import Store
from arena.store.bots.versions import bot_spec
from arena.tournaments import standing
from arena.tournaments.creation import shortage
from arena.tournaments.entry import ResolvedEntries, eligibility_of, equipped, read_name, resolve
from arena.tournaments.stored_tournament import games_to_plan_from, participants, seeds_of
from referee.tournament import openings
from referee.tournament.document import Document, read
from referee.tournament.formats.format import AHEAD
from referee.tournament.ledger import planned_games
from referee.tournament.match import NextStep, PlanItem, TournamentGame
from referee.tournament.part import SettingsError
from referee.tournament.preview import extended


@dataclass(frozen=True, slots=True)
class PlanningResult:
    """Number of games that `plan` or `advance` planned, and the state of the tournament afterwards."""

    planned: int
    state: str
    reason: str = ""
    calls_off: bool = False
    """Whether running games are no longer needed."""
    suspended: tuple[str, ...] = ()
    """Suspended entries, whose planned games are to be forfeited."""


def plan(store: Store, tournament_id: int, draw: openings.Draw = openings.draw) -> PlanningResult:
    """Start a scheduled tournament: resolve its entries, draw its openings, plan its first games.

    A tournament that cannot start is cancelled, with the reason in `problem`.
    """
    tournament = store.tournaments.get(tournament_id)
    if tournament.state != "scheduled":
        return advance(store, tournament_id, draw)
    try:
        document = read(tournament.settings)
        field = resolve(store, document)
        problem = shortage(document, field)
        if not problem:
            # Only to learn whether they can be drawn; when the games are planned they come from a cache.
            draw(document, openings.size(document, len(field.entries)))
    except SettingsError as error:
        problem = str(error)
        field = ResolvedEntries((), (), ())
    problems = "; ".join([problem, *field.problems] if problem else field.problems)
    if problem:
        store.tournaments.move(tournament_id, "cancelled", problem=problems)
        return PlanningResult(0, "cancelled", problems)
    store.tournaments.seat(tournament_id, field.entries, field.refused)
    store.tournaments.move(tournament_id, "running", only_from=("scheduled",), problem=problems)
    return advance(store, tournament_id, draw)


def advance(
    store: Store,
    tournament_id: int,
    draw: openings.Draw = openings.draw,
    ahead: int = AHEAD,
    absent: Collection[str] = (),
) -> PlanningResult:
    """Plan the next games of a running tournament, cancel games that are no longer needed, or finish it.

    A second call plans nothing new. A draining tournament plans nothing, but may finish. `absent` are the versions of
    remote bots that are not connected, whose games wait.
    """
    tournament = store.tournaments.get(tournament_id)
    if tournament.state not in ("running", "draining"):
        return PlanningResult(0, tournament.state)
    document = read(tournament.settings)
    entries = participants(tournament, store.tournaments.entries(tournament.id))
    if document.system.is_open and document.entries.has_query:
        entries = _welcome(store, tournament, document, entries)
    suspended: tuple[str, ...] = ()
    if document.system.is_known_in_advance:
        suspended = tuple(entry.name for entry in entries if entry.suspended)
    for entry in entries:
        if entry.withdrawn and entry.name not in suspended:
            store.queue.cancel(tournament_id, states=("planned",), version_id=entry.version_id)
    games = games_to_plan_from(store, tournament, entries)
    seeds = seeds_of(store, tournament, document, entries, absent)
    upcoming = document.system.next_step(document, seeds, games, ahead)
    if upcoming.calls_off and store.queue.cancel(tournament_id, states=("planned",)):
        games = games_to_plan_from(store, tournament, entries)
        upcoming = document.system.next_step(document, seeds, games, ahead)
    if upcoming.is_finished:
        # Before the state: the findings of a finished tournament must be there at once.
        standing.keep_findings(store, tournament_id)
        store.tournaments.move(tournament_id, "finished", problem=tournament.problem)
        return PlanningResult(0, "finished", upcoming.reason)
    if tournament.state != "running":
        return PlanningResult(0, tournament.state, calls_off=upcoming.calls_off, suspended=suspended)
    planned = 0
    if upcoming.matches:
        planned = _store(store, tournament, document, entries, games, upcoming=upcoming, draw=draw)
    elif upcoming.later != tournament.later_games:
        store.queue.set_later(tournament_id, upcoming.later)
    return PlanningResult(planned, "running", calls_off=upcoming.calls_off, suspended=suspended)


def _store(
    store: Store,
    tournament: TournamentItem,
    document: Document,
    entries: list[EntryItem],
    before: Sequence[TournamentGame],
    *,
    upcoming: NextStep,
    draw: openings.Draw,
) -> int:
    players = len(entries)
    seats = {seat for match in upcoming.matches for seat in (match.first, match.second)}
    entries = [entry for entry in entries if entry.seat in seats]
    versions = store.versions.by_ids([entry.version_id for entry in entries])
    games = planned_games(
        document,
        event_of(tournament),
        draw(document, openings.size(document, players)),
        {
            entry.seat: equipped(bot_spec(versions[entry.version_id], document.family), document.setoptions)
            for entry in entries
        },
        upcoming.matches,
        sequence=max((game.sequence for game in before), default=0),
        pair=max((game.pair for game in before), default=0),
    )
    return store.queue.plan(
        tournament.id,
        games,
        {entry.name: entry.version_id for entry in entries},
        later=upcoming.later,
        settings=tournament.settings,
    )


def event_of(tournament: TournamentItem) -> str:
    """Return the event name for records: the tournament's name, and its number to make game ids unique."""
    return f"{tournament.name} (#{tournament.id})"


def _welcome(store: Store, tournament: TournamentItem, document: Document, entries: list[EntryItem]) -> list[EntryItem]:
    """Repeat the query for a ladder's entries: enter the versions that it newly finds, withdraw those it lacks now.

    If any are new, planned games that were never dispatched are cancelled, so that the new versions are paired next.
    """
    field = resolve(store, document)
    present = {entry.version_id for entry in store.tournaments.entries(tournament.id)}
    fresh = [(version_id, reason) for version_id, reason in field.entries if version_id not in present]
    wanted = {version_id for version_id, _ in field.entries}
    gone = [entry.version_id for entry in entries if not entry.withdrawn and entry.version_id not in wanted]
    for version_id, reason in fresh:
        store.tournaments.enter(tournament.id, version_id, reason)
    for version_id in gone:
        store.tournaments.withdraw(tournament.id, version_id)
    if fresh:
        store.queue.cancel(tournament.id, states=("planned",), is_untried=True)
    return participants(tournament, store.tournaments.entries(tournament.id)) if fresh or gone else entries


def start(store: Store, tournament_id: int, at: datetime) -> TournamentItem:
    """Start a scheduled tournament now instead of at its start time."""
    return store.tournaments.reschedule(tournament_id, at)


def pause(store: Store, tournament_id: int, at: datetime) -> TournamentItem:
    """Pause at once: running games are aborted, and played again after `resume`."""
    return store.tournaments.move(tournament_id, "paused")


def drain(store: Store, tournament_id: int, at: datetime) -> TournamentItem:
    """Let the running games finish, then pause."""
    return store.tournaments.move(tournament_id, "draining")


def resume(store: Store, tournament_id: int, at: datetime) -> TournamentItem:
    """Continue after a pause; a tournament that had not started waits for its start time again."""
    tournament = store.tournaments.get(tournament_id)
    state: TournamentState = "running" if tournament.started_at or tournament.state == "draining" else "scheduled"
    return store.tournaments.move(tournament_id, state, only_from=("paused", "draining"), problem=tournament.problem)


def cancel(store: Store, tournament_id: int, at: datetime) -> TournamentItem:
    """Cancel a tournament for good: results stand, all other games are cancelled."""
    tournament = store.tournaments.move(tournament_id, "cancelled")
    store.queue.cancel(tournament_id)
    store.queue.set_later(tournament_id, 0)
    return tournament


def extend(store: Store, tournament_id: int, *, to: int | None = None, amount: int | None = None) -> PlanItem:
    """Extend a tournament up to `to` or by `amount` of the unit that its format counts; return its new size.

    A finished tournament resumes. Raises SettingsError, and ConflictError if more games would change nothing.
    """
    tournament = store.tournaments.get(tournament_id)
    if tournament.state == "cancelled":
        raise ConflictError(f"tournament {tournament_id} is cancelled; create a new one", tournament.state)
    entries = participants(tournament, store.tournaments.entries(tournament.id))
    document = read(extended(read(tournament.settings), len(entries), to=to, amount=amount))
    seeds, games = seeds_of(store, tournament, document, entries), games_to_plan_from(store, tournament, entries)
    upcoming = document.system.next_step(document, seeds, games)
    if tournament.started_at and (upcoming.is_finished or upcoming.calls_off):
        raise ConflictError(f"more games would change nothing: {upcoming.reason}", tournament.state)
    if not store.tournaments.replace_settings(tournament_id, tournament.settings, document.as_json()):
        return extend(store, tournament_id, to=to, amount=amount)  # a priority, an entry or more games came meanwhile
    if tournament.state == "finished":
        store.tournaments.move(tournament_id, "running", only_from=("finished",))
    kept = tournament.planned_games - tournament.later_games
    return document.system.plan_size(document, seeds, games, kept)


def enter(store: Store, tournament_id: int, version_id: int) -> str:
    """Enter a version in a tournament that has not started, in a ladder, or for the next round of a Swiss.

    Return why it may play.

    Raises SettingsError if the version may not play; ConflictError if it is already entered, or it is too late.
    """
    tournament = store.tournaments.get(tournament_id)
    document = read(tournament.settings)
    version = store.versions.get(version_id)
    if version.state != "active":
        raise SettingsError(f"{version.name} is {version.state}; only active versions play", "version")
    verdict = eligibility_of(version, store.versions.families(version_id), document)
    if not verdict.may_play:
        raise SettingsError(f"{version.name}: {verdict.reason}", "version")
    if tournament.started_at is None:
        if document.system.is_closed:
            raise ConflictError(document.system.is_closed, tournament.state)
        present = {entry.version_id for entry in store.tournaments.entries(tournament_id) if not entry.withdrawn}
        if version_id in present:
            raise ConflictError(f"{version.name} has already been entered", tournament.state)
        wanted = document.entries
        changed = wanted.model_copy(
            update={
                "bots": [*wanted.bots, version.name],
                "exclude": [name for name in wanted.exclude if name != version.name],
            }
        )
        _reseat(store, tournament, document.model_copy(update={"entries": changed}))
    elif not (document.system.is_open or document.system.takes_late_entries):
        problem = f"tournament {tournament_id} has already started; only ladders and Swiss tournaments accept bots then"
        raise ConflictError(problem, tournament.state)
    elif tournament.state not in ("running", "paused", "draining"):
        raise ConflictError(f"tournament {tournament_id} is {tournament.state}", tournament.state)
    else:
        players = len(participants(tournament, store.tournaments.entries(tournament.id)))

        def with_entry(settings: Mapping[str, object], rounds: int) -> Mapping[str, object]:
            return _with_late_entry(tournament, read(settings), version.name, players, rounds)

        store.tournaments.enter(tournament_id, version_id, verdict.reason, with_entry)
    return verdict.reason


def _with_late_entry(
    tournament: TournamentItem, document: Document, name: str, players: int, rounds: int
) -> Mapping[str, object]:
    """Return the settings with a bot that enters when `rounds` rounds are planned.

    Raises ConflictError if it is too late, SettingsError if no round could be paired with it.
    """
    changed = document.system.late_entry(document, name, players, rounds)
    if changed is None:
        raise ConflictError(f"all {rounds} rounds of tournament {tournament.id} are planned", tournament.state)
    if name not in changed.entries.bots:
        entries = changed.entries.model_copy(update={"bots": [*changed.entries.bots, name]})
        changed = changed.model_copy(update={"entries": entries})
    return read(changed.as_json()).as_json()


def withdraw(store: Store, tournament_id: int, version_id: int) -> None:
    """Withdraw a version: it is no longer paired, and its planned games are cancelled. Raises ConflictError."""
    tournament = store.tournaments.get(tournament_id)
    name = store.versions.get(version_id).name
    present = {entry.version_id for entry in store.tournaments.entries(tournament_id) if not entry.withdrawn}
    if version_id not in present:
        raise ConflictError(f"{name} does not play in tournament {tournament_id}", tournament.state)
    if tournament.started_at is not None:
        if tournament.state not in ("running", "paused", "draining"):
            raise ConflictError(f"tournament {tournament_id} is {tournament.state}", tournament.state)
        store.tournaments.withdraw(tournament_id, version_id)
        store.queue.cancel(tournament_id, states=("planned",), version_id=version_id)
        if tournament.later_games:
            document = read(tournament.settings)
            entries = participants(tournament, store.tournaments.entries(tournament.id))
            games = games_to_plan_from(store, tournament, entries)
            later = document.system.count_later(document, seeds_of(store, tournament, document, entries), games)
            store.queue.set_later(tournament_id, later)
    else:
        document = read(tournament.settings)
        bot, _ = read_name(name)
        wanted = document.entries
        changed = wanted.model_copy(
            update={
                "bots": [entry for entry in wanted.bots if entry not in (name, bot)],
                "exclude": [*wanted.exclude, name],
            }
        )
        document = document.system.without(document, (name, bot))
        _reseat(store, tournament, document.model_copy(update={"entries": changed}))


def _reseat(store: Store, tournament: TournamentItem, document: Document) -> None:
    field = resolve(store, document)
    store.tournaments.seat(tournament.id, field.entries, field.refused, settings=document.as_json())
