"""Leaderboards of a family: the ratings of a pool, now or on an earlier day, optionally of a part of its games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from typing import Any

from aiohttp import web

from arena import services
from arena.http.identity import session_of
from arena.http.problem import Problem, not_found, quoted
from arena.pages import columns
from arena.pages.columns import text_column
from arena.pages.html_table import Column, choice, sorted_table, sorting
from arena.pages.page import allow_parameters, arena_of, path_family, render, run, store_of
from arena.store import Store
from arena.store.ratings.rating_history import ResultCount, VersionScore, games_of, scores_of
from arena.store.ratings.rating_line import RatingLine
from arena.tournaments import time_class
from referee.ratings.bradley_terry import FittedStrength, fit
from referee.ratings.trueskill import PROVISIONAL_GAMES, PROVISIONAL_SIGMA
from referee.rules.core import ParseError, UnknownNameError
from referee.rules.rules import Rules

routes = web.RouteTableDef()
MAX_LINES = 500
MAX_FILTERED = 5000
"""Maximum of versions that are searched for matches of the filter."""
STATES = {"": "active", "all": "active and retired", "retired": "retired"}

_ELO = Column("elo", "Elo", "Bradley-Terry with draws, from the chosen games; independent of their order")
COLUMNS = (
    Column("place", "#", "place by rating; none while provisional", is_descending_first=False),
    text_column("name", "Bot"),
    Column("rating", "Rating", "mu − 3 sigma: a lower bound of the strength with 99.9 % confidence"),
    Column("mu", "mu ± 2 sigma", "the estimate with its 95 % interval"),
    _ELO,
    Column("games", "Games"),
    Column("wins", "W"),
    Column("draws", "D"),
    Column("losses", "L"),
    Column("score", "Score"),
    Column("opponents", "Opponents", "the average mu of the opponents"),
    Column("drawn", "Draws"),
    Column("forfeits", "Forfeits"),
    Column("beats_next", "P(better)", "probability of being stronger than the next bot in the list"),
    text_column("owner", "Owner"),
)
_SIDES = (
    text_column("variant", "Variant"),
    Column("first", "first"),
    Column("draw", "Drawn"),
    Column("second", "second"),
)


@dataclass(frozen=True, slots=True)
class LeaderboardFilter:
    """Selection of a leaderboard. `until` is a commit number, None for now; `state` is one of `STATES`."""

    pool: str
    variant: str = ""
    pace: str = ""
    state: str = ""
    owner: str = ""
    until: int | None = None

    @property
    def is_part(self) -> bool:
        """True if only some of the pool's games count."""
        return bool(self.variant or self.pace)


@dataclass(frozen=True, slots=True)
class LeaderboardPage:
    """The matching lines, the Elo of the chosen games if only some count, and the cursor of the next page."""

    lines: Sequence[RatingLine]
    strengths: dict[str, FittedStrength]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class SideResults:
    """Results of a variant by side."""

    variant: str
    first: int
    draw: int
    second: int


def moment(text: str) -> datetime | None:
    """Return a day (its end) or a time in UTC; None without one. Raises Problem (400)."""
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
        if len(text) == 10:
            at = datetime.combine(at.date(), time.max)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Problem(
            "bad-request",
            f"invalid date {quoted(text)}",
            field="at",
            hint="expected a day such as 2026-11-30, or a time such as 2026-11-30T12:00",
        ) from None


def read(store: Store, chosen: LeaderboardFilter, after: str | None) -> LeaderboardPage:
    """Return the lines of a pool that match the filter."""
    with_retired = chosen.state != ""
    following = None
    if chosen.until is not None:
        lines = store.rating_history.leaderboard(chosen.pool, chosen.until, with_retired=with_retired)
    else:
        is_whole = not (chosen.is_part or chosen.owner or chosen.state == "retired")
        lines, following = _present(store, chosen.pool, after, with_retired=with_retired, is_whole=is_whole)
    if chosen.state == "retired":
        lines = [line for line in lines if line.state == "retired"]
    if chosen.owner:
        lines = [line for line in lines if line.owner == chosen.owner]
    if not chosen.is_part:
        return LeaderboardPage(lines[:MAX_FILTERED], {}, following)
    counts = _chosen(store, chosen)
    tallies = scores_of(counts)
    names = {line.version_id: line.name for line in lines}
    lines = [_counted(line, tallies[line.version_id]) for line in lines if line.version_id in tallies]
    return LeaderboardPage(lines, {one.name: one for one in fit(games_of(counts, names)).strengths})


def _present(
    store: Store, pool: str, after: str | None, *, with_retired: bool, is_whole: bool
) -> tuple[list[RatingLine], str | None]:
    """Return one page of the current ratings; with a filter as many lines as it needs."""
    lines: list[RatingLine] = []
    while True:
        part = store.ratings.leaderboard(pool, with_retired=with_retired, limit=MAX_LINES, after=after)
        lines += part.items
        if is_whole or part.next is None or len(lines) >= MAX_FILTERED:
            return lines, part.next if is_whole else None
        after = part.next


def _chosen(store: Store, chosen: LeaderboardFilter) -> list[ResultCount]:
    """Return the results of the chosen variant and time class."""
    counts = store.rating_history.counts(chosen.pool, chosen.until)
    if chosen.variant:
        counts = [one for one in counts if one.variant == chosen.variant]
    if chosen.pace:
        settings = store.rating_history.settings({one.tournament_id for one in counts})
        mine = {key for key, document in settings.items() if time_class.time_class_in(document) == chosen.pace}
        counts = [one for one in counts if one.tournament_id in mine]
    return counts


def _counted(line: RatingLine, score: VersionScore) -> RatingLine:
    """Return the line with the results of the chosen games only."""
    return replace(
        line, wins=score.wins, draws=score.draws, losses=score.losses, games=score.games, forfeits=score.forfeits
    )


@routes.get("/{family}/leaderboard")
@allow_parameters("pool", "variant", "pace", "state", "at", "mine", "after", "sort", "sides", "games")
async def show(request: web.Request) -> web.Response:
    """Show the ratings of a pool: `?pool=`, `?variant=`, `?pace=`, `?state=`, `?mine=1`, `?at=`, `?sort=`."""
    rules = path_family(request)
    store, query = store_of(request), request.query
    pools = [(name, games) for name, games in await run(store.ratings.pools) if name.split("/")[0] == rules.family]
    known = [name for name, _ in pools] or [rules.family]
    pool = query.get("pool") or (rules.family if rules.family in known else known[0])
    if pool not in known and pool != rules.family:
        raise not_found("pool", pool, known)
    sides = _sides(await run(store.results.sides, pool), rules)
    user = await session_of(request)
    is_mine = choice(query, "mine", ("0", "1"), "0") == "1"
    at = moment(query.get("at", ""))
    state = choice(query, "state", [one for one in STATES if one])
    chosen = LeaderboardFilter(
        pool,
        variant=choice(query, "variant", [one.variant for one in sides]),
        pace=choice(query, "pace", time_class.NAMES),
        state=state,
        owner=(user.name if user else "-") if is_mine else "",
        until=await run(store.rating_history.commit_at, pool, at) if at else None,
    )
    chosen_columns = COLUMNS if chosen.is_part else tuple(one for one in COLUMNS if one is not _ELO)
    ordered = sorting(request, chosen_columns, "-elo" if chosen.is_part else "place")
    found = await run(read, store, chosen, query.get("after") or None)

    def value(line: RatingLine, key: str) -> Any:
        if key == "rating":
            return line.conservative
        if key == "drawn":
            return line.draws / line.games if line.games else 0.0
        if key == "elo":
            return found.strengths[line.name].elo if line.name in found.strengths else None
        return getattr(line, key)

    lines = ordered.sort(found.lines, value)
    return render(
        request,
        "leaderboard.html",
        rules=rules,
        pool=pool,
        pools=pools,
        chosen=chosen,
        is_mine=is_mine,
        variants=[one.variant for one in sides],
        paces=time_class.NAMES,
        states=[(key, text) for key, text in STATES.items() if key],
        lines=lines,
        blocks=[
            [line for line in lines if not line.is_provisional],
            [line for line in lines if line.is_provisional],
        ],
        leaders=[line for line in found.lines if line.rank is not None][:3] if not chosen.is_part else [],
        strengths=found.strengths,
        next=found.next,
        sorting=ordered,
        needed_games=PROVISIONAL_GAMES,
        needed_sigma=PROVISIONAL_SIGMA,
        games=dict(pools).get(pool, 0),
        at=at,
        now=datetime.now(UTC),
        advantage=await run(services.ratings.first_move_advantage, arena_of(request), pool, dict(pools).get(pool, 0)),
        sides=sorted_table(request, _sides_of(rules.sides), sides, parameter="sides"),
        recent=columns.sort_games(request, (await run(lambda: store.games.latest(pool=pool, limit=10))).items),
    )


def _sides(counts: dict[tuple[str, str], int], rules: Rules) -> list[SideResults]:
    """Return the results of each variant by the names of its sides, whichever of them moves first."""
    found = []
    for name in dict.fromkeys(variant for variant, _ in counts):
        first, draws, second = (counts.get((name, winner), 0) for winner in ("first", "draw", "second"))
        try:
            is_turned = rules.settle(name).sides != rules.sides
        except (UnknownNameError, ParseError):  # a variant that no longer exists
            is_turned = False
        found.append(SideResults(name, second, draws, first) if is_turned else SideResults(name, first, draws, second))
    return found


def _sides_of(names: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns of the table of sides, titled by the family's names."""
    titles = {"first": f"{names[0]} won", "second": f"{names[1]} won"}
    return tuple(replace(one, title=titles.get(one.key, one.title)) for one in _SIDES)
