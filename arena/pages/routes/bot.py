"""Bots: the list, a bot with its versions, one version with its rating plots, and two bots head to head."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from arena import services
from arena.http.problem import not_found
from arena.pages import filters, lists
from arena.pages.drawing import plot
from arena.pages.lists import column
from arena.pages.table import Column, arranged, choice
from arena.pages.view import arena_of, moved, page, run, store_of, takes
from arena.store import Store
from arena.store.models import Bot
from arena.store.ratings import ChangeLine
from arena.store.results import Tally
from arena.store.versions import VersionLine
from referee.rules import families

routes = web.RouteTableDef()
MAX_POINTS = 3000
"""Points of a rating plot that are read; the latest ones."""
MAX_ROWS = 150
_OLDER = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]{0,39})(?:[ @]v?([1-9]\d{0,8}))?", re.ASCII)
"""A bot as people may write it: in capitals, or with its version, `ada v3` or `ada@3`."""
_SHOWN = ("by", "versions", "ratings", "opponents", "endings", "changes", "games")
"""What the page of a bot takes: the axis of its plots, and the orders of its tables."""
_SHORT_S = 5 * 86_400
"""Below that a plot shows hours as well as days."""


_BOTS = (
    column("name", "Bot"),
    column("owner", "Owner"),
    column("", "Plays"),
    Column("versions", "Versions"),
    column("newest_state", "Newest"),
    Column("created", "Since"),
)
_VERSIONS = (
    Column("number", "Version", is_number=False),
    column("state", "State"),
    column("", "Plays"),
    Column("created", "Uploaded"),
)
_RATINGS = (
    column("pool", "Pool"),
    column("name", "Version"),
    Column("conservative", "Rating"),
    Column("mu", "mu ± 2 sigma"),
    Column("games", "Games"),
    Column("wins", "W"),
    Column("draws", "D"),
    Column("losses", "L"),
    Column("forfeits", "Forfeits"),
)
_SCORES = (
    Column("games", "Games"),
    Column("wins", "W"),
    Column("draws", "D"),
    Column("losses", "L"),
    Column("share", "Score"),
    Column("forfeits", "Forfeits"),
)
_CHANGES = (
    column("", "Game"),
    column("", "Version"),
    column("opponent", "Opponent"),
    Column("points", "Points"),
    Column("mu", "mu"),
    Column("sigma", "sigma"),
    Column("committed", "When"),
)
_OPENINGS = (column("name", "Opening"), Column("wins", "W"), Column("draws", "D"), Column("losses", "L"))


@dataclass(slots=True)
class Score:
    """Wins, draws and losses, and what they are counted under."""

    name: str
    wins: int = 0
    draws: int = 0
    losses: int = 0
    forfeits: int = 0

    @property
    def games(self) -> int:
        """All of them."""
        return self.wins + self.draws + self.losses

    @property
    def share(self) -> float:
        """Points per game."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.0

    @property
    def bar(self) -> Any:
        """The three parts as a bar; the numbers stand beside it."""
        return plot.share((("win", self.wins), ("draw", self.draws), ("loss", self.losses)))

    def add(self, *, is_first: bool, line: Tally) -> None:
        """Count some games of one ending."""
        if line.winner == "draw":
            self.draws += line.count
        elif (line.winner == "first") == is_first:
            self.wins += line.count
        else:
            self.losses += line.count
            self.forfeits += line.count if line.kind == "forfeit" else 0


@dataclass(frozen=True, slots=True)
class Curve:
    """The rating of one or more versions in a pool: its drawing, and the numbers behind it, latest first."""

    pool: str
    drawing: Any
    changes: Sequence[tuple[str, ChangeLine]]
    count: int


@dataclass(slots=True)
class Summary:
    """What versions did in all."""

    sides: dict[tuple[str, str], Score] = field(default_factory=dict)
    opponents: dict[str, Score] = field(default_factory=dict)
    endings: dict[str, Score] = field(default_factory=dict)


def summary(lines: Sequence[Tally], mine: set[int]) -> Summary:
    """The tallies by side, by opponent and by ending. A game among the versions counts for both."""
    found = Summary()
    for line in lines:
        for is_first, own, other in ((True, line.first_id, line.second), (False, line.second_id, line.first)):
            if own not in mine:
                continue
            side = "first" if is_first else "second"
            found.sides.setdefault((line.family, side), Score(side)).add(is_first=is_first, line=line)
            found.opponents.setdefault(other, Score(other)).add(is_first=is_first, line=line)
            found.endings.setdefault(line.termination, Score(line.termination)).add(is_first=is_first, line=line)
    return found


def _changes(store: Store, version_id: int, pool: str) -> list[ChangeLine]:
    found: list[ChangeLine] = []
    after = None
    while len(found) < MAX_POINTS:
        part = store.ratings.changes(version_id, pool, limit=500, after=after)
        found += part.items
        after = part.next
        if after is None:
            break
    return found


def _day(value: float) -> str:
    return datetime.fromtimestamp(value, UTC).strftime("%d %b")


def _hour(value: float) -> str:
    return datetime.fromtimestamp(value, UTC).strftime("%d %b %H:%M")


def _second(value: float) -> str:
    return datetime.fromtimestamp(value, UTC).strftime("%H:%M:%S")


def curve(store: Store, pool: str, versions: Sequence[tuple[int, str]], by: str) -> Curve:
    """The ratings of versions (oldest first) in a pool by `date` or `game`, a labelled break at each one's first."""
    series: list[plot.Series] = []
    breaks: list[tuple[float, str]] = []
    rows: list[tuple[str, ChangeLine]] = []
    count = 0
    for version_id, name in versions:
        changes = _changes(store, version_id, pool)
        points = []
        for change in changes:
            count += 1
            x = change.finished.timestamp() if by == "date" and change.finished else float(count)
            text = f"{filters.points(change.points)} against {filters.plain(change.opponent, 60)}: mu {change.mu:.2f}"
            points.append(plot.Point(x, change.mu, 2 * change.sigma, text))
        if points:
            series.append(plot.Series(name, points))
            if len(versions) > 1:
                breaks.append((points[0].x, name.rsplit(" ", 1)[-1]))
        rows += [(name, change) for change in changes]
    places = [point.x for one in series for point in one.points]
    span = max(places) - min(places) if places else 0.0
    is_short = span < _SHORT_S
    date = _second if span < 3600 else _hour if is_short else _day
    axis = plot.Axis(text=date if by == "date" else "{:g}".format, breaks=breaks, ticks=4 if is_short else 6)
    title = f"Rating in {pool} by {'date' if by == 'date' else 'game number'}: mu with its band of two sigma"
    return Curve(pool, plot.lines(title, series, axis), rows[::-1][:MAX_ROWS], count)


@routes.get("/bots")
@takes("family", "retired", "after", "sort")
async def index(request: web.Request) -> web.Response:
    """All bots by name; `?family=`, `?retired=1`."""
    family = choice(request.query, "family", families())
    retired = choice(request.query, "retired", ("0", "1"), "0") == "1"
    store = store_of(request)
    found = await run(
        lambda: store.bots.page(
            family=family or None, with_retired=retired, limit=100, after=request.query.get("after") or None
        )
    )
    table = arranged(request, _BOTS, found.items)
    return page(request, "bots.html", bots=found, table=table, family=family, retired=retired)


def _read(store: Store, bot: Bot, versions: Sequence[VersionLine], by: str) -> dict[str, Any]:
    ids = [line.id for line in versions]
    ratings = store.ratings.of_versions(ids) if ids else []
    pools: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for line in sorted(ratings, key=lambda one: one.version_id):
        pools[line.pool].append((line.version_id, line.name))
    found = summary(store.results.tally(ids), set(ids)) if ids else Summary()
    return {
        "bot": bot,
        "owner": store.users.get(bot.owner_id).name,
        "fit_from": store.versions.fit_from(ids),
        "ratings": ratings,
        "curves": [curve(store, pool, names, by) for pool, names in pools.items()],
        "sides": sorted(found.sides.items()),
        "opponents": sorted(found.opponents.values(), key=lambda score: (-score.games, score.name))[:100],
        "endings": sorted(found.endings.values(), key=lambda score: (-score.games, score.name)),
        "games": store.games.latest(versions=ids, limit=20) if ids else None,
    }


@routes.get("/bots/{bot}")
@takes(*_SHOWN)
async def show(request: web.Request) -> web.Response:
    """A bot: its versions, ratings, record; `?by=game` draws plots by game number."""
    by = choice(request.query, "by", ("date", "game"), "date")
    store = store_of(request)
    if older := _OLDER.fullmatch(request.match_info["bot"]):
        name, version = older[1].lower(), older[2]
        if version or name != older[1]:
            path = f"/bots/{name}/v/{version}" if version else f"/bots/{name}"
            return moved(str(request.rel_url.with_path(path, keep_query=True)))

    def read() -> dict[str, Any]:
        bot = services.bot.find(arena_of(request), request.match_info["bot"])
        versions = store.versions.of_bot(bot.id or 0)
        return {"versions": versions, **_read(store, bot, versions, by)}

    return _page(request, by, {"version": None, **await run(read)})


@routes.get("/bots/{bot}/v/{number}")
@takes(*_SHOWN)
async def version(request: web.Request) -> web.Response:
    """One version."""
    by = choice(request.query, "by", ("date", "game"), "date")
    store = store_of(request)
    text = request.match_info["number"]

    def read() -> dict[str, Any]:
        bot = services.bot.find(arena_of(request), request.match_info["bot"])
        versions = store.versions.of_bot(bot.id or 0)
        mine = [line for line in versions if str(line.number) == text]
        if not mine:
            raise not_found(f"version of {bot.name}", text, [str(line.number) for line in versions])
        return {"versions": versions, "version": mine[0], **_read(store, bot, mine, by)}

    return _page(request, by, await run(read))


def _page(request: web.Request, by: str, found: dict[str, Any]) -> web.Response:
    """The page of a bot or a version, its tables as asked for."""
    tables = {
        "versions": arranged(request, _VERSIONS, found["versions"], parameter="versions"),
        "ratings": arranged(request, _RATINGS, found["ratings"], parameter="ratings"),
        "opponents": arranged(
            request, (column("name", "Opponent"), *_SCORES), found["opponents"], parameter="opponents"
        ),
        "endings": arranged(request, (column("name", "Ended by"), *_SCORES), found["endings"], parameter="endings"),
        "games": lists.games(request, found["games"].items if found["games"] else [], with_family=True),
        "tables": [
            arranged(request, _CHANGES, one.changes, parameter="changes", value=lambda row, key: getattr(row[1], key))
            for one in found["curves"]
        ],
    }
    return page(request, "bot.html", by=by, **{**found, **tables})


@routes.get("/bots/{bot}/vs/{other}")
@takes("mine", "theirs", "after", "games", "openings")
async def versus(request: web.Request) -> web.Response:
    """Two bots head to head, all versions, or `?mine=` and `?theirs=` of them."""
    arena, store = arena_of(request), store_of(request)

    def read() -> dict[str, Any]:
        bot, other = (services.bot.find(arena, request.match_info[one]) for one in ("bot", "other"))
        versions, others = store.versions.of_bot(bot.id or 0), store.versions.of_bot(other.id or 0)
        mine = choice(request.query, "mine", [line.name for line in versions])
        theirs = choice(request.query, "theirs", [line.name for line in others])
        ids = [line.id for line in versions if not mine or line.name == mine]
        rivals = [line.id for line in others if not theirs or line.name == theirs]
        tallies = store.results.tally(ids, rivals) if ids and rivals else []
        found = summary(tallies, set(ids))
        total = Score(bot.name)
        for score in found.endings.values():
            total.wins, total.draws = total.wins + score.wins, total.draws + score.draws
            total.losses, total.forfeits = total.losses + score.losses, total.forfeits + score.forfeits
        games = (
            store.games.latest(versions=ids, against=rivals, limit=50, after=request.query.get("after") or None)
            if ids and rivals
            else None
        )
        openings = store.games.openings([game.id for game in games.items]) if games else {}
        by_opening: dict[str, Score] = {}
        for game in games.items if games else ():
            score = by_opening.setdefault(openings.get(game.id) or game.variant, Score(openings.get(game.id, "")))
            is_first = game.first_id in ids
            if game.winner == "draw":
                score.draws += 1
            elif game.winner and (game.winner == "first") == is_first:
                score.wins += 1
            elif game.winner:
                score.losses += 1
        return {
            "bot": bot,
            "other": other,
            "versions": [line.name for line in versions],
            "others": [line.name for line in others],
            "mine": mine,
            "theirs": theirs,
            "total": total,
            "sides": sorted(found.sides.items()),
            "endings": sorted(found.endings.values(), key=lambda score: (-score.games, score.name)),
            "openings": sorted(by_opening.items(), key=lambda item: (-item[1].games, item[0])),
            "games": games,
            "timeline": _timeline(games.items if games else [], set(ids)),
        }

    found = await run(read)
    games = lists.games(request, found["games"].items if found["games"] else [], with_family=True)
    openings = arranged(
        request, _OPENINGS, found["openings"], parameter="openings", value=lambda row, key: getattr(row[1], key)
    )
    return page(request, "versus.html", **{**found, "table": games, "openings": openings})


def _timeline(games: Sequence[Any], mine: set[int]) -> list[tuple[str, str, str]]:
    """The results oldest first: (letter, game, words)."""
    found = []
    for game in reversed(games):
        is_first = game.first_id in mine
        letter = "D" if game.winner == "draw" else "W" if (game.winner == "first") == is_first else "L"
        text = f"{filters.plain(game.first, 60)} – {filters.plain(game.second, 60)} {filters.result(game.winner)}"
        found.append((letter, game.id, f"{text}, {game.termination}"))
    return found
