"""Start of tournaments at their time, and planning after results.

Every function here may be repeated: it compares the plan with the stored games. Only the coordinator calls them. Of a
plan known in advance only the next games are stored, so the cost of a step does not depend on the plan's size.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from arena.documents.tournament import EntryItem, TournamentItem
from arena.store import Store
from arena.store.tournaments.queue import GameOutline
from arena.tournaments import findings, format, openings
from arena.tournaments.creation import shortage
from arena.tournaments.entry import ResolvedEntries, resolve
from arena.tournaments.match import NextStep
from arena.tournaments.participants import participants, played, seeds_of, stored
from arena.tournaments.settings import Document, SettingsError, read
from arena.tournaments.spec import planned_games


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
    ahead: int = format.AHEAD,
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
    entries = participants(store, tournament)
    if format.is_open(document.format) and document.entries.has_query:
        entries = _welcome(store, tournament, document, entries)
    suspended: tuple[str, ...] = ()
    if format.is_known_in_advance(document.format):
        suspended = tuple(entry.name for entry in entries if entry.suspended)
    for entry in entries:
        if entry.withdrawn and entry.name not in suspended:
            store.queue.cancel(tournament_id, states=("planned",), version_id=entry.version_id)
    outlines = stored(store, tournament)
    seeds = seeds_of(store, tournament, entries, absent)
    upcoming = format.step(document, seeds, played(outlines, entries), ahead)
    if upcoming.calls_off and store.queue.cancel(tournament_id, states=("planned",)):
        outlines = stored(store, tournament)
        upcoming = format.step(document, seeds, played(outlines, entries), ahead)
    if upcoming.is_finished:
        findings.keep(store, tournament_id)
        store.tournaments.move(tournament_id, "finished", problem=tournament.problem)
        return PlanningResult(0, "finished", upcoming.reason)
    if tournament.state != "running":
        return PlanningResult(0, tournament.state, calls_off=upcoming.calls_off, suspended=suspended)
    planned = 0
    if upcoming.matches:
        planned = _store(store, tournament, document, entries, outlines, upcoming=upcoming, draw=draw)
    elif upcoming.later != tournament.later_games:
        store.queue.set_later(tournament_id, upcoming.later)
    return PlanningResult(planned, "running", calls_off=upcoming.calls_off, suspended=suspended)


def _store(
    store: Store,
    tournament: TournamentItem,
    document: Document,
    entries: list[EntryItem],
    outlines: list[GameOutline],
    *,
    upcoming: NextStep,
    draw: openings.Draw,
) -> int:
    players = len(entries)
    seats = {seat for match in upcoming.matches for seat in (match.first, match.second)}
    entries = [entry for entry in entries if entry.seat in seats]
    versions = store.versions.by_ids([entry.version_id for entry in entries])
    games = planned_games(
        tournament,
        document,
        draw(document, openings.size(document, players)),
        {entry.seat: versions[entry.version_id] for entry in entries},
        upcoming.matches,
        sequence=max((game.sequence for game in outlines), default=0),
        pair=max((game.pair for game in outlines), default=0),
    )
    return store.queue.plan(
        tournament.id, games, {entry.name: entry.version_id for entry in entries}, later=upcoming.later
    )


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
    return participants(store, tournament) if fresh or gone else entries
