"""The page of a tournament: progress, standings, crosstable, schedule, settings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, get_args

from aiohttp import web

from arena import services
from arena.documents.columns import standings
from arena.documents.game import GameItem, GameState
from arena.documents.standings import RulesItem
from arena.documents.table import Column, Interval, page_columns, text_column
from arena.documents.tournament import EntryItem, PlanQuery, TournamentItem
from arena.http.identity import session_of
from arena.http.kept_files import crosstable_file
from arena.pages import crosstable, language
from arena.pages.drawing.verdict import ChallengeLine, RaceLine, RaceSummary, SprtChart
from arena.pages.filters import meaning
from arena.pages.html_table import HtmlTable, choice, number, sorted_table, sorting, won
from arena.pages.page import allow_parameters, arena_of, path_number, redirect, render, run
from arena.pages.query_form import form_names, read_form
from arena.pages.routes.game import live_boards, sprites_of
from arena.pages.routes.steering import Controls
from arena.pages.score_plot import draw_scores
from arena.services import Arena
from arena.services.standings import TournamentView
from arena.services.standings_cache import TournamentStandings
from referee.ratings.strength import is_estimate
from referee.rules import terminations
from referee.tournament import preview
from referee.tournament.document import read as read_settings
from referee.tournament.formats import format_named
from referee.tournament.formats.race import FORMAT as RACE
from referee.tournament.formats.sprt import FORMAT as SPRT
from referee.tournament.standing import StandingItem

routes = web.RouteTableDef()
GAME_STATES: tuple[GameState, ...] = get_args(GameState)
PAGE = 50
MAX_BOARDS = 6
"""Most running games shown as boards."""
_PARAMETERS = (*form_names(PlanQuery), "sort", "games", "page", "endings", "entries", *crosstable.PARAMETERS, "pairs")
"""Query parameters of a tournament's page: filters of its games, orders of its tables, block and row of its crosstable,
whether the tables of all pairs are shown although there are many bots.
"""
MIN_COMPARED_BOTS = 4
"""Minimum of bots for the comparison of every pair."""


_ENDINGS: tuple[Column[tuple[str, int]], ...] = (
    text_column("name", "Ended by", lambda row: row[0], "ending_link", is_heading=True),
    Column("games", "Games", lambda row: row[1]),
    text_column("meaning", "Meaning", lambda row: meaning(row[0]), is_sortable=False),
)
_ENTRIES: tuple[Column[EntryItem], ...] = (
    Column("seat", "Seat", lambda entry: entry.seat + 1, is_descending_first=False),
    text_column("name", "Bot", lambda entry: entry.name, "version", is_heading=True),
    text_column("eligibility", "Eligibility", lambda entry: entry.eligibility, "reason"),
    text_column("withdrawn", "State", lambda entry: entry.withdrawn, "participation"),
)
_CHALLENGE: tuple[Column[ChallengeLine], ...] = (
    text_column("rival", "Opponent", lambda line: line.rival, "rival", is_heading=True),
    Column("games", "Games", lambda line: line.games),
    Column("wins", "W", lambda line: line.wins),
    Column("draws", "D", lambda line: line.draws),
    Column("losses", "L", lambda line: line.losses),
    Column("score", "Score", lambda line: line.score, "share"),
    Column("elo", "Elo", lambda line: line.elo_words if line.games else None, order=lambda line: line.elo[0]),
)
_RACE: tuple[Column[RaceLine], ...] = (
    text_column("name", "Bot", lambda line: line.name, "version", is_heading=True),
    Column("share", "Score", lambda line: line.share, "share"),
    Column("games", "Games", lambda line: line.games),
    Column("pairs", "Pairs", lambda line: line.pairs),
    text_column("decision", "Place", lambda line: line.decision, "word"),
)


def _duration(game: GameItem) -> float | None:
    return (game.finished_at - game.started_at).total_seconds() if game.started_at and game.finished_at else None


_SCHEDULE: tuple[Column[GameItem], ...] = (
    Column("sequence", "No.", lambda game: game.sequence, "sequence", is_descending_first=False),
    Column("round", "Round", lambda game: game.round, is_descending_first=False),
    text_column("first", "First", lambda game: game.first, "version", css="one"),
    text_column("second", "Second", lambda game: game.second, "version", css="two"),
    text_column("opening", "Opening", lambda game: game.id, "opening", is_sortable=False, css="mono"),
    text_column("state", "State", lambda game: game.state, "state_of_game"),
    Column("started_at", "Start time", lambda game: game.started_at),
    Column("plies", "Plies", lambda game: game.plies or None),
    Column("duration", "Duration", _duration, "duration", is_sortable=False),
    Column("winner", "Result", lambda game: game.winner, "result", is_descending_first=False),
    text_column("termination", "Ended by", lambda game: game.termination, "ending_and_detail"),
)


def _eta(tables: TournamentStandings, at: datetime) -> float | None:
    """Estimate the seconds until all games are over from the speed so far; None without an estimate."""
    tournament, table = tables.tournament, tables.standing
    if tournament.state != "running" or not tournament.started_at or not tournament.finished_games:
        return None
    gone = (at - tournament.started_at).total_seconds()
    left = table.decision.left if table.total is None else table.total - tournament.finished_games
    return gone / tournament.finished_games * left if left else None


def _read(arena: Arena, tournament_id: int, request: web.Request) -> dict[str, Any]:
    known, query = services.tournament.get(arena, tournament_id), request.query
    if known.state == "open":
        return {"tournament": known}
    view = services.standings.view(arena, known)
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
        "advantage": view.standings.standing.advantage if is_over else None,
        "tables": view.standings,
        "plan": plan,
        "games": HtmlTable(_SCHEDULE, plan.games, shown, won),
        "at": at,
        "pages": max(1, -(-plan.count // PAGE)),
        "form": form,
        "versions": names,
    }


@routes.get("/tournaments/{tournament}")
@allow_parameters(*_PARAMETERS)
async def show(request: web.Request) -> web.Response:
    """Show a tournament. The one that holds the games of people redirects to `/play`."""
    data = await run(_read, arena_of(request), path_number(request, "tournament", "tournament"), request)
    tournament: TournamentItem = data["tournament"]
    if tournament.state == "open":
        return redirect(f"/play?family={tournament.family}")
    view: TournamentView = data["view"]
    tables = view.standings
    order = tables.standing.lines
    is_over = tables.is_final
    elo = {strength.name: Interval(strength.elo, strength.interval) for strength in data["strengths"]}
    changes = {line.name: view.changes.get(line.version_id) for line in view.entries}
    challenger = _challenger(tables)
    shown = (
        sorted_table(request, _CHALLENGE, [ChallengeLine.against(line) for line in order if line is not challenger])
        if challenger
        else sorted_table(request, _standings(tournament.format, elo, changes, is_over=is_over), order, "rank")
    )
    arena = arena_of(request)
    has_rounds = bool(view.progress.bracket or view.progress.rounds)
    cross = await run(partial(crosstable.read_block, arena, tables, request.query, has_rounds=has_rounds))
    boards = await live_boards(request, data["running"])
    are_pairs_shown = cross.are_cells_linked or choice(request.query, "pairs", ("0", "1"), "0") == "1"
    race = _race(tables)
    is_compared = len(elo) >= MIN_COMPARED_BOTS
    return render(
        request,
        "tournament.html",
        **data,
        is_over=is_over,
        share=None if is_over else (await run(services.submission.shares, arena)).get(tournament.id),
        system=format_named(tournament.format),
        are_shares=format_named(tournament.format).ranks_shares,
        pace=preview.time_class_in(tournament.settings),
        eta=_eta(tables, datetime.now(UTC)),
        order=order,
        standings=shown,
        challenger=challenger,
        challenge=ChallengeLine.of(challenger) if challenger else None,
        has_elo=any(column.key == "elo" for column in shown.columns),
        cross=cross,
        is_compared=is_compared,
        are_pairs_shown=are_pairs_shown,
        places={line.name: line.rank for line in order},
        letters=cross.letters if has_rounds else {},
        seeds={line.name: line.seed for line in order},
        seeding=format_named(tournament.format).seeding_words(tournament.settings),
        findings=tables.findings,
        comparison=await run(lambda: tables.comparison) if is_compared and are_pairs_shown else None,
        test=_test(tables, view.entries),
        race=race,
        race_lines=HtmlTable(_RACE, race.rows if race else ()),
        curves=await run(draw_scores, arena, tables),
        winner=_winner(tables),
        planned=tournament.finished_games if is_over else tables.standing.total,
        decision=tables.standing.decision,
        endings=sorted_table(
            request,
            _ENDINGS,
            sorted(tables.endings.items(), key=lambda item: (-item[1], item[0])),
            parameter="endings",
        ),
        results_by_rules=_results_by_rules(tables.rules),
        seats=sorted_table(request, _ENTRIES, view.entries, parameter="entries"),
        terminations=list(terminations()),
        game_states=GAME_STATES,
        settings_text=json.dumps(tournament.settings, indent=2, ensure_ascii=False, sort_keys=True),
        controls=Controls.of(tournament, view.entries),
        is_live=not is_over,
        boards=boards,
        sprites=sprites_of(boards),
        is_followed=await run(services.follow.has, arena, "tournament", tournament.id, await session_of(request)),
    )


def _challenger(tables: TournamentStandings) -> StandingItem | None:
    """Return the challenger of a gauntlet; None in other formats."""
    table = tables.standing
    if not format_named(tables.tournament.format).has_challenger:
        return None
    return next((line for line in table.lines if line.name == table.seats.get(0)), None)


def _winner(tables: TournamentStandings) -> StandingItem | None:
    """Return the winner of a finished tournament; None if it has none or nothing is decided."""
    table, decision = tables.standing, tables.standing.decision
    if tables.tournament.state != "finished" or not table.lines or not tables.endings or _challenger(tables):
        return None
    if decision.race is not None and not decision.race.is_settled:
        return None
    if decision.verdict is None:
        return table.lines[0]
    # The candidate of a test that accepted H1, whatever its place.
    is_accepted = decision.verdict.state == "H1"
    return next((line for line in table.lines if is_accepted and line.name == table.seats.get(0)), None)


_BEFORE_POINTS = {"rank": 0, "name": 1, "score": 2}


def _standings(
    format: str, elo: Mapping[str, Interval], changes: Mapping[str, tuple[float, float] | None], *, is_over: bool
) -> tuple[Column[StandingItem], ...]:
    """Return the columns of the standings, with the strengths at the end and the changes of the ratings."""

    def gain(line: StandingItem) -> float | None:
        change = changes.get(line.name)
        return change[1] - change[0] if change else None

    strength: Column[StandingItem] = Column(
        "elo",
        "Elo",
        lambda line: elo.get(line.name),
        "elo",
        hint="Bradley-Terry with draws; independent of the order of the games; none if all of them were won or lost",
    )
    rating: Column[StandingItem] = Column(
        "change", "Rating before → after", lambda line: changes.get(line.name), "step", hint="mu − 3 sigma", order=gain
    )
    system = format_named(format)
    is_known = any(is_estimate(value.middle - value.margin, value.middle + value.margin) for value in elo.values())
    strengths = (strength,) if is_over and system.has_elo and is_known else ()
    columns = page_columns(standings(system.columns))
    if system.ranks_shares:  # what orders the lines comes before the points, also on phones, which show few columns
        columns = tuple(sorted(columns, key=lambda column: _BEFORE_POINTS.get(column.key, len(_BEFORE_POINTS))))
    return (*columns, *strengths, rating)


def _results_by_rules(lines: Sequence[RulesItem]) -> HtmlTable[RulesItem]:
    """Return the results by rules, with a column for the wins of each side."""
    sides = list(lines[0].won) if lines else []
    return HtmlTable(
        (
            text_column("rules", "Rules", lambda line: line.text, "word", is_heading=True),
            Column("games", "Games", lambda line: line.games),
            *(_won(side) for side in sides),
            Column("drawn", "Drawn", lambda line: line.draws),
        ),
        lines,
    )


def _won(side: str) -> Column[RulesItem]:
    title = language.text("%(side)s won") % {"side": language.translated(side).capitalize()}
    return Column(side, title, lambda line: line.won[side])


def _test(tables: TournamentStandings, entries: Sequence[EntryItem]) -> SprtChart | None:
    """Return the state of a sequential test; None for other formats."""
    lines = {line.name: line for line in tables.standing.lines}
    seats = [entry.name for entry in entries if entry.name in lines]
    decision = tables.standing.decision
    if decision.verdict is None or len(seats) < 2:
        return None
    test = SPRT.of(read_settings(tables.tournament.settings)).sprt
    return SprtChart(
        test, decision.verdict, decision.ratios, lines[seats[0]], seats[1], tables.is_final, decision.waiting
    )


def _race(tables: TournamentStandings) -> RaceSummary | None:
    """Return the state of a race; None for other formats."""
    table = tables.standing
    if table.decision.race is None:
        return None
    settings = RACE.of(read_settings(tables.tournament.settings))
    games = {line.name: line.games for line in table.lines}
    return RaceSummary(settings, table.decision.race, table.seats, games, tables.is_final)


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
    tables = await run(services.standings.read, arena_of(request), number)
    body = await crosstable_file(request, tables, services.standings.csv_of)
    response = web.Response(body=body, content_type="text/csv", charset="utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="tournament-{number}.csv"'
    response.headers["Cache-Control"] = "no-cache"
    response.enable_compression()
    return response
