"""Leaderboards: the ratings of a pool, now or at an earlier time, and the rating curves of bots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from arena.errors import BadValueError, NotFoundError, did_you_mean, near
from arena.services.arena import Arena
from arena.services.first_move_advantage import FirstMoveAdvantage
from arena.store.base.page import MAX_LIMIT, cut, read_cursor
from arena.store.ratings.rating_history import ResultCount, games_of, scores_of
from arena.store.ratings.rating_line import RatingLine
from arena.store.ratings.ratings import ChangeLine
from arena.tournaments import time_class
from referee.ratings.bradley_terry import fit
from referee.ratings.trueskill import PROVISIONAL_GAMES, PROVISIONAL_SIGMA
from referee.rules import load
from referee.rules.core import ParseError, UnknownNameError

MAX_FILTERED = 5000
"""Maximum of versions that are searched for matches of a filter."""
MAX_COMPARED = 6
"""Maximum of bots in one comparison; more curves cannot be distinguished."""
_OFFERED = 300
"""Number of versions whose bots are offered for a comparison."""
_MAX_POINTS = 3000
"""Maximum of points of a rating curve, the first ones."""
STATES = ("active", "all", "retired")


@dataclass(frozen=True, slots=True)
class LeaderboardQuery:
    """A leaderboard to read. `at` is a past time; `variant`, `pace` (the time class) restrict the counted games.

    `state` is one of `STATES`.
    """

    pool: str
    variant: str = ""
    pace: str = ""
    state: str = "active"
    owner: str = ""
    at: datetime | None = None
    limit: int = 50
    after: str | None = None

    @property
    def is_part(self) -> bool:
        """True if only some of the pool's games count."""
        return bool(self.variant or self.pace)

    @property
    def is_filtered(self) -> bool:
        """True if some lines are left out beyond the retired ones."""
        return bool(self.is_part or self.owner or self.at or self.state == "retired")


@dataclass(frozen=True, slots=True)
class SideResults:
    """Results of a variant by side: games won by each, and drawn ones."""

    variant: str
    first: int
    draw: int
    second: int


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The lines of a pool that match a query, best first, and the pool's number of games and results by side."""

    items: Sequence[RatingLine]
    next: str | None
    pool: str
    pools: Sequence[str]
    needed_games: int
    needed_sigma: float
    advantage: FirstMoveAdvantage | None
    games: int
    sides: Sequence[SideResults]


def pools(arena: Arena, family: str | None = None) -> list[tuple[str, int]]:
    """Return every pool with rated games, or those of a family, and their numbers of games."""
    found = arena.store.ratings.pools()
    return [one for one in found if family is None or one[0].split("/")[0] == family]


def read(arena: Arena, family: str, query: LeaderboardQuery) -> Leaderboard:
    """Return the lines of a pool of a family that match the query.

    Raises NotFoundError for a pool of another family, BadValueError for an unknown variant, time class or state.
    """
    store = arena.store
    known = dict(pools(arena, family))
    names = sorted({family, *known})
    if query.pool not in names:
        raise NotFoundError("pool", query.pool, names)
    sides = _sides(family, store.results.sides(query.pool))
    _require("variant", query.variant, [one.variant for one in sides])
    _require("pace", query.pace, time_class.NAMES)
    _require("state", query.state, STATES)
    lines, following = _filtered(arena, query) if query.is_filtered else _present(arena, query)
    games = known.get(query.pool, 0)
    return Leaderboard(
        lines,
        following,
        query.pool,
        names,
        PROVISIONAL_GAMES,
        PROVISIONAL_SIGMA,
        arena.first_move_advantages.of(store, query.pool, games),
        games,
        sides,
    )


def _require(field: str, value: str, known: Sequence[str]) -> None:
    if value and value not in known:
        hint = "choose from " + ", ".join(known[:20])
        raise BadValueError(f"invalid {field} {value[:60]!r}", hint=hint, field=field)


def _present(arena: Arena, query: LeaderboardQuery) -> tuple[list[RatingLine], str | None]:
    """Return one page of the current ratings."""
    found = arena.store.ratings.leaderboard(
        query.pool, with_retired=query.state == "all", limit=query.limit, after=query.after
    )
    return found.items, found.next


def _filtered(arena: Arena, query: LeaderboardQuery) -> tuple[list[RatingLine], str | None]:
    """Return one page of the lines that match; cursors name the place in the whole pool."""
    store, with_retired = arena.store, query.state != "active"
    until = store.rating_history.commit_at(query.pool, query.at) if query.at else None
    lines: list[RatingLine] = []
    if until is not None:
        lines = store.rating_history.leaderboard(query.pool, until, with_retired=with_retired)
    else:
        after = None
        while len(lines) < MAX_FILTERED:
            part = store.ratings.leaderboard(query.pool, with_retired=with_retired, limit=MAX_LIMIT, after=after)
            lines += part.items
            after = part.next
            if after is None:
                break
    if query.state == "retired":
        lines = [line for line in lines if line.state == "retired"]
    if query.owner:
        lines = [line for line in lines if line.owner == query.owner]
    if query.is_part:
        lines = _counted(lines, _chosen(arena, query, until))
    if last := read_cursor(query.after, int):
        lines = [line for line in lines if line.place > last[0]]
    found = cut(lines, query.limit, lambda line: (line.place,))
    return found.items, found.next


def _chosen(arena: Arena, query: LeaderboardQuery, until: int | None) -> list[ResultCount]:
    """Return the results of the chosen variant and time class."""
    history = arena.store.rating_history
    counts = history.counts(query.pool, until)
    if query.variant:
        counts = [one for one in counts if one.variant == query.variant]
    if query.pace:
        settings = history.settings({one.tournament_id for one in counts})
        mine = {key for key, document in settings.items() if time_class.time_class_in(document) == query.pace}
        counts = [one for one in counts if one.tournament_id in mine]
    return counts


def _counted(lines: Sequence[RatingLine], counts: list[ResultCount]) -> list[RatingLine]:
    """Return the lines with the results of the chosen games only, and with the Elo fitted to them."""
    scores = scores_of(counts)
    names = {line.version_id: line.name for line in lines}
    strengths = {one.name: one for one in fit(games_of(counts, names)).strengths}
    found = []
    for line in lines:
        if score := scores.get(line.version_id):
            elo = strengths.get(line.name)
            results = {name: getattr(score, name) for name in ("games", "wins", "draws", "losses", "forfeits", "score")}
            found.append(
                replace(line, **results, elo=elo.elo if elo else None, elo_interval=elo.interval if elo else None)
            )
    return found


def _sides(family: str, counts: Mapping[tuple[str, str], int]) -> list[SideResults]:
    """Return the results of each variant by the names of the family's sides, whichever of them moves first."""
    rules, found = load(family), []
    for name in dict.fromkeys(variant for variant, _ in counts):
        first, draws, second = (counts.get((name, winner), 0) for winner in ("first", "draw", "second"))
        try:
            is_turned = rules.settle(name).sides != rules.sides
        except (UnknownNameError, ParseError):  # a variant that no longer exists
            is_turned = False
        found.append(SideResults(name, second, draws, first) if is_turned else SideResults(name, first, draws, second))
    return found


@dataclass(frozen=True, slots=True)
class BotCurve:
    """The rating curve of a bot in a pool: its best line in the leaderboard, and the changes of all its versions."""

    best: RatingLine
    changes: Sequence[ChangeLine]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Rating curves of some bots of a pool by name; the `pools` of the family and the `bots` to choose from."""

    pool: str
    pools: Sequence[str]
    bots: Sequence[str]
    curves: Mapping[str, BotCurve]


def compare(arena: Arena, family: str, pool: str, names: Sequence[str]) -> Comparison:
    """Return the rating curves of these bots, by default of the three best ones.

    Raises BadValueError for an unknown pool, a bot without a rating in it, and more than `MAX_COMPARED` bots.
    """
    known = [name for name, _ in pools(arena, family)]
    if pool != family:
        _require("pool", pool, known)
    lines = arena.store.ratings.leaderboard(pool, with_retired=True, limit=_OFFERED).items
    by_bot: dict[str, list[RatingLine]] = {}
    for line in lines:
        by_bot.setdefault(line.bot, []).append(line)
    chosen = list(dict.fromkeys(names or list(by_bot)[:3]))
    for name in chosen:
        if name not in by_bot:
            hint = did_you_mean(near(name, by_bot)) or "choose a bot of this pool"
            raise BadValueError(f"no bot {name[:60]!r} has a rating in {pool}", hint=hint, field="bot")
    if len(chosen) > MAX_COMPARED:
        hint = f"choose at most {MAX_COMPARED}"
        raise BadValueError(f"too many bots for one plot: {len(chosen)}", hint=hint, field="bot")
    curves = {}
    for name in chosen:
        versions = sorted(by_bot[name], key=lambda line: line.number)
        curves[name] = BotCurve(
            by_bot[name][0], [one for line in versions for one in changes_of(arena, line.version_id, pool)]
        )
    return Comparison(pool, known, list(by_bot), curves)


def changes_of(arena: Arena, version_id: int, pool: str) -> list[ChangeLine]:
    """Return the rating changes of a version in a pool, oldest first, as many as a plot shows."""
    found: list[ChangeLine] = []
    after = None
    while len(found) < _MAX_POINTS:
        part = arena.store.ratings.changes(version_id, pool, limit=MAX_LIMIT, after=after)
        found += part.items
        after = part.next
        if after is None:
            break
    return found
