"""Tournaments: the list, and the page of one: progress, standings, crosstable, schedule, settings."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, get_args
from urllib.parse import quote

from aiohttp import web
from markupsafe import Markup

from arena import services
from arena.documents.game import GameState
from arena.documents.standings import StandingItem
from arena.documents.tournament import (
    EntryItem,
    PlanQuery,
    TournamentItem,
    TournamentQuery,
)
from arena.http.identity import session_of
from arena.pages import language
from arena.pages.columns import TOURNAMENTS, text_column
from arena.pages.drawing import plot
from arena.pages.drawing.race_summary import RaceSummary
from arena.pages.drawing.sprt_chart import SprtChart
from arena.pages.filters import bot_of, path_part, plain
from arena.pages.html_table import Column, choice, number, sorted_table, sorting
from arena.pages.page import allow_parameters, arena_of, path_number, redirect, render, run
from arena.pages.query_form import form_names, read_form
from arena.pages.recurrence import Appointment, calendar, schedule_name
from arena.pages.routes.game import live_boards, sprites_of
from arena.pages.routes.steering import Controls
from arena.services import Arena
from arena.services.standings import TournamentView
from arena.services.standings_cache import TournamentStandings
from arena.tournaments import crosstable, time_class
from arena.tournaments.crosstable import Row
from arena.tournaments.settings import read as read_settings
from referee.rules import families, load, terminations

routes = web.RouteTableDef()
GAME_STATES: tuple[GameState, ...] = get_args(GameState)
PAGE = 50
MAX_RUNNING = 8
"""Most running tournaments shown before the list."""
MAX_BOARDS = 6
"""Most running games shown as boards."""
CALENDAR_DAYS = 14
MAX_APPOINTMENTS = 100
"""Most scheduled tournaments in the calendar."""
_SHOWN = (*form_names(PlanQuery), "sort", "games", "page", "endings", "entries", "rows", "against", "row", "pairs")
"""Query parameters of a tournament's page: filters of its games, orders of its tables, block and row of its crosstable,
whether the tables of all pairs are shown although there are many bots.
"""
BLOCK = 60
"""Rows and columns of the crosstable on one page; links lead to further blocks."""
MAX_DETAILED = 12
"""Most bots of a crosstable that shows every game; larger ones are heat maps."""
MAX_LINKED = 30
"""Most bots of a heat map whose cells are large enough for links, and whose pairs are compared without asking."""

MAX_CURVES = 6
"""Most bots whose scores are drawn: there are as many styles of lines."""
MAX_SPREAD = 25.0
"""Half the height of the widest band drawn with a curve, in percent: wider ones say little and hide the rest."""
MAX_BANDS = 3
"""Most of these curves with a band: further bands would cover each other."""
MIN_CURVE_GAMES = 4
"""Games of a bot after which its curve begins: before that a score says little."""
MIN_COMPARED_BOTS = 4
"""Minimum of bots for the comparison of every pair."""


@dataclass(frozen=True, slots=True)
class _Linked:
    """A bot of the crosstable, prepared once for its many cells: its name, as text and as parts of addresses."""

    bot: str
    version: str
    text: str

    @classmethod
    def of(cls, name: str) -> _Linked:
        return cls(path_part(bot_of(name)), quote(name), plain(name, 60))


_RECURRING = (
    text_column("name", "Name"),
    text_column("", "When"),
    text_column("catch_up", "Missed runs"),
    text_column("next_fire", "Next"),
)
_ENDINGS = (text_column("name", "Ended by"), Column("games", "Games"), text_column("", "Meaning"))
_ENTRIES = (
    Column("seat", "Seat", is_descending_first=False),
    text_column("name", "Bot"),
    text_column("eligibility", "Eligibility"),
    text_column("withdrawn", "State"),
)

_STANDINGS = (
    Column("rank", "#", is_descending_first=False),
    text_column("name", "Bot"),
    Column("points", "Points"),
    Column("games", "Games"),
    Column("wins", "W"),
    Column("draws", "D"),
    Column("losses", "L"),
    Column("score", "Score"),
    Column("sonneborn_berger", "SB", "Sonneborn-Berger: points against each opponent times that opponent's points"),
    Column("buchholz", "Buchholz", "the sum of the opponents' points"),
    Column("byes", "Byes"),
    Column("round", "Round", "the last round reached"),
    Column("forfeits", "Forfeits"),
    Column("elo", "Elo", "Bradley-Terry with draws; independent of the order of the games"),
    Column("change", "Rating before → after", "mu − 3 sigma"),
)

_SCHEDULE = (
    Column("sequence", "No.", is_descending_first=False),
    Column("round", "Round", is_descending_first=False),
    text_column("first", "First"),
    text_column("second", "Second"),
    Column("", "Opening", is_number=False),
    text_column("state", "State"),
    Column("started_at", "Start time"),
    Column("plies", "Plies"),
    Column("", "Duration"),
    Column("winner", "Result", is_descending_first=False),
    text_column("termination", "Ended by"),
)


@routes.get("/tournaments")
@allow_parameters(*form_names(TournamentQuery), "after", "sort", "recurring")
async def index(request: web.Request) -> web.Response:
    """List the tournaments that match the query, latest start first; `?after=` continues the list."""
    arena = arena_of(request)
    form = read_form(request, TournamentQuery, after=request.query.get("after") or None)
    at = datetime.now(UTC)
    found, running, schedules, scheduled, fires = await run(
        lambda: (
            services.tournament.page(arena, form.query),
            () if form.is_filled or form.query.after else _read_running(arena),
            services.schedule.read_all(arena),
            services.tournament.page(arena, TournamentQuery(state="scheduled", limit=MAX_APPOINTMENTS)).items,
            services.schedule.coming(arena, at, CALENDAR_DAYS),
        )
    )
    appointments = [
        *(Appointment(one.start_time, plain(one.name, 60), f"/tournaments/{one.id}") for one in scheduled),
        *(Appointment(fire, schedule_name(one), f"/schedules/{one.id}") for fire, one in fires),
    ]
    return render(
        request,
        "tournaments.html",
        tournaments=found,
        running=running,
        rules={name: load(name) for name in families()},
        table=sorted_table(request, TOURNAMENTS, found.items),
        schedules=sorted_table(request, _RECURRING, schedules, parameter="recurring"),
        calendar=calendar(appointments, at, CALENDAR_DAYS) if appointments else (),
        now=at,
        form=form,
    )


def _read_running(arena: Arena) -> Sequence[TournamentItem]:
    """Return the latest running tournaments, which the page shows before all others."""
    return services.tournament.page(arena, TournamentQuery(state="running", limit=MAX_RUNNING)).items


def _eta(tournament: TournamentItem, at: datetime) -> float | None:
    """Estimate the seconds until all games are over from the speed so far; None without an estimate."""
    if tournament.state != "running" or not tournament.started_at or not tournament.finished_games:
        return None
    gone = (at - tournament.started_at).total_seconds()
    left = tournament.planned_games - tournament.finished_games
    return gone / tournament.finished_games * left if left > 0 else None


def _read(arena: Arena, tournament_id: int, request: web.Request) -> dict[str, Any]:
    known, query = services.tournament.get(arena, tournament_id), request.query
    if known.state == "open":
        return {"tournament": known}
    view = services.standings.view(arena, tournament_id)
    names = [line.name for line in view.entries]
    choice(query, "termination", list(terminations()))
    choice(query, "version", names)
    form = read_form(request, PlanQuery, limit=PAGE)
    shown, at = sorting(request, _SCHEDULE, "sequence", "games"), number(query, "page", 1, high=100_000)
    plan = services.tournament.plan(
        arena,
        tournament_id,
        form.query,
        sort=shown.key,
        is_descending=shown.is_descending,
        offset=(at - 1) * PAGE,
    )
    is_over = view.standings.is_final
    running = PlanQuery(state="running", limit=MAX_BOARDS)
    return {
        "running": () if is_over else services.tournament.games(arena, tournament_id, running).items,
        "tournament": view.standings.tournament,
        "view": view,
        "course": view.progress,
        "strengths": view.standings.standing.strengths.strengths if is_over else (),
        "tables": view.standings,
        "plan": plan,
        "games_sorting": shown,
        "at": at,
        "pages": max(1, -(-plan.count // PAGE)),
        "form": form,
        "versions": names,
    }


@routes.get("/tournaments/{tournament}")
@allow_parameters(*_SHOWN)
async def show(request: web.Request) -> web.Response:
    """Show a tournament. The one that holds the games of people redirects to `/play`."""
    found = await run(_read, arena_of(request), path_number(request, "tournament", "tournament"), request)
    tournament: TournamentItem = found["tournament"]
    if tournament.state == "open":
        return redirect(f"/play?family={tournament.family}")
    view: TournamentView = found["view"]
    tables = view.standings
    order = tables.standing.lines
    is_over = tables.is_final
    elo = {one.name: (one.elo, one.interval) for one in found["strengths"]}
    shown = sorting(request, _columns(tournament.format, is_over=is_over), "rank")
    changes = {line.name: view.changes.get(line.version_id) for line in view.entries}

    def value(line: Any, key: str) -> Any:
        if key == "elo":
            return elo[line.name][0] if line.name in elo else None
        if key == "change":
            change = changes.get(line.name)
            return change[1] - change[0] if change else None
        return getattr(line, key)

    blocks = [(start + 1, min(start + BLOCK, len(order))) for start in range(0, len(order), BLOCK)]
    row, against = (number(request.query, name, 1, high=max(1, len(blocks))) for name in ("rows", "against"))
    rows, columns = (slice((number - 1) * BLOCK, number * BLOCK) for number in (row, against))
    arena = arena_of(request)
    has_rounds = bool(view.progress.bracket or view.progress.rounds)
    are_games_listed = has_rounds or len(order) <= MAX_LINKED
    table = await run(
        partial(services.standings.block, arena, tables, rows, columns, are_games_listed=are_games_listed)
    )
    boards = await live_boards(request, found["running"])
    row_number = number(request.query, "row", 0, high=max(1, len(order)))
    chosen = None
    if row_number and order:
        chosen = (await run(services.standings.block, arena, tables, slice(row_number - 1, row_number), slice(None)))[0]
    are_pairs_shown = len(order) <= MAX_LINKED or choice(request.query, "pairs", ("0", "1"), "0") == "1"
    is_compared = len(elo) >= MIN_COMPARED_BOTS
    return render(
        request,
        "tournament.html",
        **found,
        is_over=is_over,
        pace=time_class.time_class_in(tournament.settings),
        eta=_eta(tournament, datetime.now(UTC)),
        order=order,
        lines=shown.sort(order, value),
        columns=[column.key for column in shown.columns],
        sorting=shown,
        elo=elo,
        gains=changes,
        table=table,
        against=order[columns],
        linked={line.name: _Linked.of(line.name) for line in order},
        is_heat_map=len(order) > MAX_DETAILED,
        are_cells_linked=len(order) <= MAX_LINKED,
        is_compared=is_compared,
        are_pairs_shown=are_pairs_shown,
        chosen_row=chosen,
        cell_rivals=[line for line, cell in zip(order, chosen.cells, strict=True) if cell and cell.games]
        if chosen
        else (),
        blocks=blocks,
        places={line.name: line.rank for line in order},
        letters=_letters(table) if has_rounds else {},
        block=(row, against),
        findings=tables.findings,
        comparison=await run(lambda: tables.comparison) if is_compared and are_pairs_shown else None,
        test=_test(tables, view.entries),
        race=_race(tables),
        curves=await run(_curves, arena, tables),
        winner=_winner(tables),
        planned=tournament.finished_games if is_over else tournament.planned_games,
        endings=sorted_table(
            request,
            _ENDINGS,
            sorted(tables.endings.items(), key=lambda item: (-item[1], item[0])),
            parameter="endings",
            value=lambda row, key: row[key == "games"],
        ),
        seats=sorted_table(request, _ENTRIES, view.entries, parameter="entries"),
        terminations=list(terminations()),
        game_states=GAME_STATES,
        settings_text=json.dumps(tournament.settings, indent=2, ensure_ascii=False, sort_keys=True),
        controls=Controls.of(tournament, view.entries),
        is_live=not is_over,
        boards=boards,
        sprites=sprites_of(boards),
        is_followed=await run(services.follow.has, arena, "tournament", str(tournament.id), await session_of(request)),
    )


def _letters(table: Sequence[Row]) -> dict[tuple[str, int], str]:
    """Return the results of the games that a crosstable lists, by bot and number of the game."""
    return {
        (row.standing.name, number): letter
        for row in table
        for cell in row.cells
        if cell and cell.numbers
        for pair in cell.linked
        for letter, number in pair
    }


def _winner(tables: TournamentStandings) -> StandingItem | None:
    """Return the winner of a finished tournament; None before its end, and where a race or a test decided nothing."""
    found = tables.standing
    if tables.tournament.state != "finished" or not found.lines or not tables.endings:
        return None
    if found.race is not None and not found.race.is_settled:
        return None
    if found.verdict is not None and found.verdict.state != "H1":
        return None
    best = next((line for line in found.lines if line.name == found.seats.get(0)), None) if found.verdict else None
    return best or found.lines[0]


def _curves(arena: Arena, tables: TournamentStandings) -> Markup | None:
    """Draw the points per game of the leaders of a ladder or a race, game by game, the first with 95 % bands."""
    if tables.tournament.format not in ("ladder", "race"):
        return None
    results = services.standings.results_in_order(arena, tables)
    names = [line.name for line in tables.standing.lines[:MAX_CURVES]]
    curves: dict[str, list[plot.Point]] = {name: [] for name in names}
    sums = {name: [0.0, 0.0, 0.0] for name in names}  # of games, points, and squared points
    for at, game in enumerate(results, 1):
        for name, scored in zip((game.first, game.second), game.points, strict=True):
            if name not in sums:
                continue
            sums[name] = [one + more for one, more in zip(sums[name], (1, scored, scored * scored), strict=True)]
            count, mean = sums[name][0], sums[name][1] / sums[name][0]
            if count >= MIN_CURVE_GAMES:
                spread = 1.96 * math.sqrt(max(sums[name][2] / count - mean * mean, 0.0) / count)
                curves[name].append(plot.Point(at, 100 * mean, 100 * spread))
    for place, points in enumerate(curves.values()):
        points[:] = plot.without_wide_band(points, MAX_SPREAD if place < MAX_BANDS else 0.0)
        if points:  # all lines end at the last game
            points.append(replace(points[-1], x=len(results)))
    series = [plot.Series(plain(name, 60), curves[name], index) for index, name in enumerate(names, 1)]
    title = language.text("Score in percent by number of games")
    size = {"width": plot.WIDE_WIDTH, "height": plot.WIDE_HEIGHT}
    return plot.lines(title, series, plot.Axis(bounds=(0.0, 100.0)), **size) or None


def _columns(form: str, *, is_over: bool) -> tuple[Column, ...]:
    """Return the columns of the standings that apply to a format."""
    hidden = {"elo"} if not is_over or form == "sprt" else set()  # a test has its own estimate, from pairs
    hidden |= {"byes", "buchholz"} if form != "swiss" else set()
    hidden |= {"round"} if form != "knockout" else set()
    return tuple(column for column in _STANDINGS if column.key not in hidden)


def _test(tables: TournamentStandings, entries: Sequence[EntryItem]) -> SprtChart | None:
    """Return the state of a sequential test; None for other formats."""
    lines = {line.name: line for line in tables.standing.lines}
    seats = [entry.name for entry in entries if entry.name in lines]
    if tables.standing.verdict is None or len(seats) < 2:
        return None
    test = read_settings(tables.tournament.settings).sprt.sprt
    return SprtChart(test, tables.standing.verdict, tables.standing.ratios, lines[seats[0]], seats[1], tables.is_final)


def _race(tables: TournamentStandings) -> RaceSummary | None:
    """Return the state of a race; None for other formats."""
    found = tables.standing
    if found.race is None:
        return None
    return RaceSummary(read_settings(tables.tournament.settings).race, found.race, found.seats, tables.is_final)


@routes.get("/tournaments/{tournament}/games/{sequence}")
@allow_parameters()
async def game(request: web.Request) -> web.Response:
    """Redirect to the game with this number in the tournament's plan."""
    tournament_id, sequence = path_number(request, "tournament", "tournament"), path_number(request, "sequence", "game")
    game_id = await run(services.tournament.game_id, arena_of(request), tournament_id, sequence)
    return redirect(f"/games/{game_id}")


@routes.get("/tournaments/{tournament}/crosstable.csv")
@allow_parameters()
async def table(request: web.Request) -> web.Response:
    """Serve the crosstable as CSV, with the same numbers as on the page. The JSON interface serves it as JSON."""
    number = path_number(request, "tournament", "tournament")
    arena = arena_of(request)
    rows = await run(lambda: services.standings.rows_of(arena, services.standings.read(arena, number)))
    response = web.Response(text=crosstable.as_csv(rows), content_type="text/csv", charset="utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="tournament-{number}.csv"'
    response.headers["Cache-Control"] = "no-cache"
    response.enable_compression()
    return response
