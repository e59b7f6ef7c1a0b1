"""Standings of a tournament, and its progress: bracket, rounds, next games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from arena.documents.attributes import of_attributes
from arena.documents.standings import CrossCell, CrossRow, Crosstable, Standings
from arena.documents.tournament import EntryItem, TournamentItem
from arena.services.arena import Arena
from arena.services.standings_cache import TournamentStandings
from arena.store.games.results import FinishedGame
from arena.tournaments import crosstable as crosstables
from arena.tournaments.crosstable import Row
from arena.tournaments.overview import TournamentOverview, overview
from arena.tournaments.participants import participants, played, seeds_of
from arena.tournaments.settings import SettingsError
from arena.tournaments.settings import read as read_settings
from referee.ratings.crosstable import CrosstableCell, cells

_FOLLOWED = ("knockout", "swiss", "ladder", "race")
MAX_LISTED = 8
"""Most games of a cell of the crosstable whose results are listed one by one on a page."""
MAX_DRAWN = 20_000
"""Most games of a tournament whose course is drawn game by game."""


def read(arena: Arena, tournament_id: int) -> TournamentStandings:
    """Return the current standings of a tournament. Raises NotFoundError."""
    return arena.standings.read(arena.store, tournament_id)


def _read_progress(arena: Arena, tournament: TournamentItem) -> TournamentOverview:
    """Return the bracket, rounds and next games; empty for formats not in `_FOLLOWED` and for unreadable settings."""
    if tournament.format not in _FOLLOWED:
        return TournamentOverview()
    try:
        document = read_settings(tournament.settings)
    except SettingsError:  # stored by another version of the program: show the standings only
        return TournamentOverview()
    entries = participants(arena.store, tournament)
    games = played(arena.store.queue.outline(tournament.id), entries)
    found = overview(
        document, seeds_of(arena.store, tournament, entries), games, {entry.seat: entry.name for entry in entries}
    )
    return replace(found, upcoming=()) if tournament.is_over else found


def show(arena: Arena, tournament_id: int) -> tuple[TournamentItem, Standings]:
    """Return a tournament and its standings. Raises NotFoundError."""
    table = read(arena, tournament_id)
    found = table.standing
    return table.tournament, Standings(
        items=list(found.lines),
        is_final=table.is_final,
        tie_breaks=found.tie_breaks,
        strengths=found.strengths_as_json(),
        verdict=found.verdict.as_json() if found.verdict else None,
        race=found.race.as_json(found.seats) if found.race else None,
        rules=table.rules,
        findings=table.findings,
    )


def crosstable(arena: Arena, tournament_id: int) -> tuple[TournamentItem, Crosstable]:
    """Return a tournament and its crosstable. Raises NotFoundError."""
    table = read(arena, tournament_id)
    names = [line.name for line in table.standing.lines]
    rows = []
    for line, row in zip(table.standing.lines, rows_of(arena, table), strict=True):
        cells = [cell and _cell(table, line.name, name, cell) for name, cell in zip(names, row.cells, strict=True)]
        rows.append(of_attributes(CrossRow, line, cells=cells))
    return table.tournament, Crosstable(tournament=tournament_id, items=rows, is_final=table.is_final)


def games_of(arena: Arena, table: TournamentStandings) -> list[FinishedGame]:
    """Return all finished games of the tournament, in planned order."""
    return arena.store.results.of(tournament_id=table.tournament.id)


def rows_of(arena: Arena, table: TournamentStandings) -> list[Row]:
    """Return the whole crosstable, in the order of the standings."""
    return crosstables.rows(games_of(arena, table), table.standing.lines)


def results_in_order(arena: Arena, table: TournamentStandings) -> list[FinishedGame]:
    """Return all results in planned order; none if the tournament has more than `MAX_DRAWN`."""
    if not 0 < sum(table.endings.values()) <= MAX_DRAWN:
        return []
    return list(arena.store.results.of(tournament_id=table.tournament.id))


def block(
    arena: Arena, table: TournamentStandings, rows: slice, columns: slice, *, are_games_listed: bool = True
) -> list[Row]:
    """Return some rows and columns of the crosstable. A cell lists its games if they are few and `are_games_listed`."""
    order, scores = table.standing.lines, table.standing.scores
    shown = {(row.version_id, column.version_id) for row in order[rows] for column in order[columns]}
    few = [one for one in shown if 0 < sum(scores.between(*one)) <= MAX_LISTED] if are_games_listed else []
    pairings = sorted({*few, *((column, row) for row, column in few)})
    listed = cells(arena.store.results.of_pairings(table.tournament.id, pairings))
    found = []
    for row in order[rows]:
        mine: list[CrosstableCell | None] = []
        for column in order[columns]:
            counts = scores.between(row.version_id, column.version_id)
            cell = listed.get((row.name, column.name)) or CrosstableCell.of_counts(*counts)
            mine.append(None if row is column else cell)
        found.append(Row(row, tuple(mine)))
    return found


def _cell(table: TournamentStandings, bot: str, rival: str, cell: CrosstableCell) -> CrossCell:
    figures = table.comparison.of(bot, rival) if table.comparison else None
    return CrossCell(
        opponent=rival,
        points=cell.points,
        games=cell.games,
        pairs=cell.pairs,
        expected=round(figures.expected, 2) if figures else None,
        superiority=round(figures.superiority, 4) if figures else None,
    )


@dataclass(frozen=True, slots=True)
class TournamentView:
    """All that the page of a tournament shows, except the list of its games.

    `changes` are each version's conservative ratings before and after the tournament. `games` counts games by state,
    `restarted` the games that were dispatched more than once.
    """

    standings: TournamentStandings
    progress: TournamentOverview
    entries: Sequence[EntryItem]
    changes: Mapping[int, tuple[float, float]]
    games: Mapping[str, int]
    restarted: int


def view(arena: Arena, tournament_id: int) -> TournamentView:
    """Return what the page of a tournament shows, except the list of its games. Raises NotFoundError."""
    store, standings = arena.store, read(arena, tournament_id)
    return TournamentView(
        standings,
        _read_progress(arena, standings.tournament),
        store.tournaments.entries(tournament_id),
        store.ratings.before_and_after(standings.ends),
        store.games.counts(tournament_id),
        standings.restarted + store.rating_history.count_redispatched(tournament_id),
    )
