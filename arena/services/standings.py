"""Standings of a tournament, and its progress: bracket, rounds, next games."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from arena.documents.standings import CrossCell, CrossRow, Crosstable, Standings
from arena.documents.tournament import EntryItem, TournamentItem
from arena.plain_text import escape_bidi_controls
from arena.services.arena import Arena
from arena.services.standings_cache import StandingsCache, TournamentStandings
from arena.store import Store
from arena.tournaments.stored_tournament import StoredTournament
from referee.tournament import crosstable as crosstables
from referee.tournament.crosstable import CrosstableCell, Row, cells
from referee.tournament.formats import format_named
from referee.tournament.overview import TournamentOverview
from referee.tournament.part import SettingsError
from referee.tournament.ranking import GameResult
from referee.validation import adapter_of

MIN_FOLLOWED = 2
"""Fewest entries of a tournament that has a course to show."""
MAX_LISTED = 8
"""Most games of a cell of the crosstable whose results are listed one by one on a page."""
GAMES_PER_TOKEN = 2000
"""Games of a crosstable that count as one request: some 80 ms."""
MAX_INLINE_GAMES = 1000
"""Most games of a crosstable that is made in the web process for each request."""
MAX_DRAWN = 20_000
"""Most games of a tournament whose course is drawn game by game."""


def read(arena: Arena, tournament_id: int) -> TournamentStandings:
    """Return the current standings of a tournament. Raises NotFoundError."""
    return arena.standings.read(StoredTournament.get(arena.store, tournament_id))


def _progress(stored: StoredTournament) -> TournamentOverview:
    """Return the bracket, rounds and next games; empty for formats without them and for unreadable settings."""
    tournament, entries = stored.tournament, stored.entries
    if not format_named(tournament.format).is_followed or len(entries) < MIN_FOLLOWED:
        return TournamentOverview()
    try:
        document = stored.document
    except SettingsError:  # stored by another version of the program: show the standings only
        return TournamentOverview()
    names = {entry.seat: entry.name for entry in entries}
    overview = document.system.overview(document, stored.seeds, stored.games, names)
    return replace(overview, upcoming=()) if tournament.is_over else overview


def show(arena: Arena, tournament_id: int) -> tuple[TournamentItem, Standings]:
    """Return a tournament and its standings. Raises NotFoundError."""
    table = read(arena, tournament_id)
    standing = table.standing
    verdict, race = standing.decision.verdict, standing.decision.race
    return table.tournament, Standings(
        items=list(standing.lines),
        is_final=table.is_final,
        tie_breaks=standing.tie_breaks,
        strengths=standing.strengths_as_json(),
        verdict=verdict.as_json() | {"waiting": standing.decision.waiting, "left": standing.decision.left}
        if verdict
        else None,
        race=race.as_json(standing.seats) if race else None,
        rules=table.rules,
        findings=table.findings,
    )


Maker = Callable[[Store, TournamentStandings], bytes]
"""Makes a file of the crosstable of a tournament."""


def make_apart(make: Maker, url: str, tournament_id: int, _state: tuple[Any, ...]) -> bytes:
    """Make a file of the crosstable of a tournament in a process without a store. The state tells the files apart."""
    with closing(Store(url)) as store:
        return make(store, StandingsCache().read(StoredTournament.get(store, tournament_id)))


def csv_of(store: Store, table: TournamentStandings) -> bytes:
    """Return the crosstable of a tournament as CSV."""
    return crosstables.as_csv(rows_of(store, table)).encode()


def json_of(store: Store, table: TournamentStandings) -> bytes:
    """Return the crosstable of a tournament as JSON."""
    text = adapter_of(Crosstable).dump_json(crosstable(store, table)).decode()
    return escape_bidi_controls(text).encode()


def crosstable(store: Store, table: TournamentStandings) -> Crosstable:
    """Return the crosstable of a tournament."""
    names = [line.name for line in table.standing.lines]
    rows = []
    for line, row in zip(table.standing.lines, rows_of(store, table), strict=True):
        cells = [
            _cell(table, line.name, name, cell) if cell else None for name, cell in zip(names, row.cells, strict=True)
        ]
        rows.append(
            CrossRow(
                rank=line.rank,
                seed=line.seed,
                name=line.name,
                points=line.points,
                games=line.games,
                wins=line.wins,
                draws=line.draws,
                losses=line.losses,
                score=line.score,
                sonneborn_berger=line.sonneborn_berger,
                byes=line.byes,
                half_point_byes=line.half_point_byes,
                buchholz=line.buchholz,
                buchholz_cut=line.buchholz_cut,
                round=line.round,
                forfeits=line.forfeits,
                is_withdrawn=line.is_withdrawn,
                estimate=line.estimate,
                version_id=line.version_id,
                cells=cells,
            )
        )
    return Crosstable(tournament=table.tournament.id, items=rows, is_final=table.is_final)


def rows_of(store: Store, table: TournamentStandings) -> list[Row]:
    """Return the whole crosstable, in the order of the standings."""
    return crosstables.rows(store.results.in_planned_order(table.tournament.id), table.standing.lines)


def results_in_order(arena: Arena, table: TournamentStandings) -> list[GameResult]:
    """Return all results in planned order; none if the tournament has more than `MAX_DRAWN`."""
    if not 0 < sum(table.endings.values()) <= MAX_DRAWN:
        return []
    return list(arena.store.results.in_planned_order(table.tournament.id))


def block(
    arena: Arena, table: TournamentStandings, rows: slice, columns: slice, *, are_games_listed: bool = True
) -> list[Row]:
    """Return some rows and columns of the crosstable. A cell lists its games if they are few and `are_games_listed`."""
    order, scores = table.standing.lines, table.standing.scores
    shown = {(row.version_id, column.version_id) for row in order[rows] for column in order[columns]}
    few = [pair for pair in shown if 0 < sum(scores.between(*pair)) <= MAX_LISTED] if are_games_listed else []
    pairings = sorted({*few, *((column, row) for row, column in few)})
    listed = cells(arena.store.results.of_pairings(table.tournament.id, pairings))
    block_rows = []
    for row in order[rows]:
        mine: list[CrosstableCell | None] = []
        for column in order[columns]:
            counts = scores.between(row.version_id, column.version_id)
            cell = listed.get((row.name, column.name)) or CrosstableCell.of_counts(*counts)
            mine.append(None if row is column else cell)
        block_rows.append(Row(row, tuple(mine)))
    return block_rows


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


def view(arena: Arena, tournament: TournamentItem) -> TournamentView:
    """Return what the page of a tournament shows, except the list of its games."""
    store, stored = arena.store, StoredTournament(arena.store, tournament)
    standings = arena.standings.read(stored)
    return TournamentView(
        standings,
        _progress(stored),
        stored.listed,
        store.ratings.before_and_after(standings.ends),
        stored.counts,
        standings.restarted + store.rating_history.count_redispatched(tournament.id),
    )
