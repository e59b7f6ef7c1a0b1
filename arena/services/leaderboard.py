"""Leaderboards: the ratings of a pool, now or at an earlier time, and the rating curves of bots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time
from functools import partial

from arena.documents.query import PageResponse, joined
from arena.documents.rating import (
    ChangeItem,
    Leaderboard,
    LeaderboardLine,
    LeaderboardQuery,
    PoolItem,
    RatingComparison,
    RatingCurve,
    ResultCount,
    SideResults,
)
from arena.errors import BadValueError, NotFoundError
from arena.services.arena import Arena
from arena.store.base.page import MAX_ROWS, cut, read_cursor
from arena.store.ratings.rating_history import games_of, scores_of
from referee.errors import did_you_mean, near
from referee.ratings.bradley_terry import fit
from referee.ratings.trueskill import PROVISIONAL_GAMES, PROVISIONAL_SIGMA
from referee.rules import load
from referee.rules.core import ParseError, UnknownNameError
from referee.tournament import preview

MAX_FILTERED = 5000
"""Maximum of versions that are searched for matches of a filter."""
MAX_COMPARED = 6
"""Maximum of bots in one comparison; more curves cannot be distinguished."""
_OFFERED = 300
"""Number of versions whose bots are offered for a comparison."""
_MAX_POINTS = 300
"""Maximum of points of all rating curves of a page: one every two pixels or three."""
_FEWEST_POINTS = 30
"""Points of a curve in a plot of very many versions."""


def pools(arena: Arena, family: str | None = None) -> list[PoolItem]:
    """Return every pool with rated games, or those of a family."""
    return arena.store.ratings.pools(family)


def read_ahead(arena: Arena) -> None:
    """Fill the caches of every pool, so that the first reader of a leaderboard does not wait."""
    for one in pools(arena):
        arena.store.counts.sides(one.pool)
        arena.first_move_advantages.of(arena.store, one.pool, one.games)


def read(
    arena: Arena, family: str, query: LeaderboardQuery, of_family: Sequence[PoolItem] | None = None
) -> Leaderboard:
    """Return the lines of a pool that match the query; by default of the pool named like the family.

    `of_family` are the pools of the family if the caller has read them. Raises NotFoundError for a pool of another
    family, BadValueError for an unknown variant or an invalid `at`.
    """
    games = {line.pool: line.games for line in (pools(arena, family) if of_family is None else of_family)}
    known, pool = sorted({family, *games}), query.pool or family
    if f"{family}/{pool}" in known:  # people say "remote" of a family that they have named already
        pool = f"{family}/{pool}"
    if pool not in known:
        error = NotFoundError("pool", pool, known)
        error.hint = error.hint or f"pools with rated games: {', '.join(known)}"
        raise error
    sides = _sides(family, arena.store.counts.sides(pool))
    if query.variant:
        if (its_pool := f"{family}/{query.variant}") in games and its_pool != pool:
            problem = f"variant {query.variant!r} is not rated in the pool {pool}"
            raise BadValueError(problem, hint=f"it has ratings of its own, in the pool {its_pool}", field="variant")
        _require("variant", query.variant, [result.variant for result in sides])
    at = moment(query.at) if query.at else None
    page = _filtered(arena, pool, query, at) if query.at or query.selects else _present(arena, pool, query)
    return Leaderboard(
        items=page.items,
        next=page.next,
        pool=pool,
        pools=known,
        needed_games=PROVISIONAL_GAMES,
        needed_sigma=PROVISIONAL_SIGMA,
        advantage=arena.first_move_advantages.of(arena.store, pool, games.get(pool, 0)),
        games=games.get(pool, 0),
        sides=sides,
        at=at,
    )


def moment(text: str) -> datetime:
    """Parse a time in UTC, or a day, which stands for its end. Raises BadValueError."""
    try:
        at = datetime.fromisoformat(text)
        if len(text) == 10:
            at = datetime.combine(at.date(), time.max)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        hint = "expected a day such as 2026-11-30, or a time such as 2026-11-30T12:00"
        raise BadValueError(f"invalid date {text[:60]!r}", field="at", hint=hint) from None


def _require(field: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        hint = "choose from " + ", ".join(known[:20])
        raise BadValueError(f"invalid {field} {value[:60]!r}", hint=hint, field=field)


def _present(arena: Arena, pool: str, query: LeaderboardQuery) -> PageResponse[LeaderboardLine]:
    return arena.store.ratings.leaderboard(pool, with_retired=query.with_retired, limit=query.limit, after=query.after)


def _filtered(arena: Arena, pool: str, query: LeaderboardQuery, at: datetime | None) -> PageResponse[LeaderboardLine]:
    """Return one page of the lines that match; a cursor is the place of a line in the whole pool."""
    store, with_retired = arena.store, query.with_retired
    until = store.rating_history.commit_at(pool, at) if at else None
    last = read_cursor(query.after, int)
    if until is not None and not query.selects:
        after = max(0, last[0]) if last else 0
        lines = store.rating_history.leaderboard(
            pool, until, with_retired=with_retired, after=after, limit=query.limit + 1
        )
        return cut(lines, query.limit, lambda line: (line.place,))
    if until is not None:
        lines = store.rating_history.leaderboard(pool, until, with_retired=with_retired)
    else:
        present = partial(store.ratings.leaderboard, pool, with_retired=with_retired, limit=MAX_ROWS)
        lines = joined(lambda after: present(after=after), MAX_FILTERED)
    if query.state == "retired":
        lines = [line for line in lines if line.state == "retired"]
    if query.owner:
        lines = [line for line in lines if line.owner == query.owner]
    if query.is_part:
        lines = _counted(lines, _chosen(arena, pool, query, until))
    if last:
        lines = [line for line in lines if line.place > last[0]]
    return cut(lines, query.limit, lambda line: (line.place,))


def _chosen(arena: Arena, pool: str, query: LeaderboardQuery, until: int | None) -> list[ResultCount]:
    """Return the results of the chosen variant and time class."""
    history = arena.store.rating_history
    counts = history.counts(pool, until)
    if query.variant:
        counts = [count for count in counts if count.variant == query.variant]
    if query.pace:
        settings = history.settings({count.tournament_id for count in counts})
        mine = {key for key, document in settings.items() if preview.time_class_in(document) == query.pace}
        counts = [count for count in counts if count.tournament_id in mine]
    return counts


def _counted(lines: Sequence[LeaderboardLine], counts: list[ResultCount]) -> list[LeaderboardLine]:
    """Return the lines with the results of the chosen games only, and with the Elo fitted to them."""
    scores = scores_of(counts)
    names = {line.version_id: line.name for line in lines}
    strengths = {strength.name: strength for strength in fit(games_of(counts, names)).strengths}
    counted = []
    for line in lines:
        if score := scores.get(line.version_id):
            elo = strengths.get(line.name)
            counted.append(
                replace(
                    line,
                    wins=score.wins,
                    draws=score.draws,
                    losses=score.losses,
                    games=score.games,
                    score=score.share,
                    forfeits=score.forfeits,
                    elo=elo.elo if elo else None,
                    elo_interval=elo.interval if elo else None,
                )
            )
    return counted


def _sides(family: str, counts: Mapping[tuple[str, str], int]) -> list[SideResults]:
    """Return the results of each variant by side; in all of them `first` is the same side, also where it moves
    second.
    """
    rules, results = load(family), []
    for name in dict.fromkeys(variant for variant, _ in counts):
        first, draws, second = (counts.get((name, winner), 0) for winner in ("first", "draw", "second"))
        try:
            is_turned = rules.settle(name).sides != rules.sides
        except (UnknownNameError, ParseError):  # a variant that no longer exists
            is_turned = False
        results.append(
            SideResults(name, second, draws, first) if is_turned else SideResults(name, first, draws, second)
        )
    return results


def compare(arena: Arena, family: str, pool: str, names: Sequence[str]) -> RatingComparison:
    """Return the rating curves of these bots, by default of the three best ones.

    Raises BadValueError for an unknown pool, a bot without a rating in it, and more than `MAX_COMPARED` bots.
    """
    known = [item.pool for item in pools(arena, family)]
    if pool != family:
        _require("pool", pool, known)
    lines = arena.store.ratings.leaderboard(pool, with_retired=True, limit=_OFFERED).items
    by_bot: dict[str, list[LeaderboardLine]] = {}
    for line in lines:
        by_bot.setdefault(line.bot, []).append(line)
    chosen = list(dict.fromkeys(names or list(by_bot)[:3]))
    for name in chosen:
        if name not in by_bot:
            similar = near(name, by_bot)
            hint = did_you_mean(similar) or "choose a bot of this pool"
            raise BadValueError(f"no bot {name[:60]!r} has a rating in {pool}", hint=hint, field="bot", near=similar)
    if len(chosen) > MAX_COMPARED:
        hint = f"choose at most {MAX_COMPARED}"
        raise BadValueError(f"too many bots for one plot: {len(chosen)}", hint=hint, field="bot")
    changes = curves(arena, [line.version_id for name in chosen for line in by_bot[name]], [pool])
    plotted = {}
    for name in chosen:
        versions = sorted(by_bot[name], key=lambda line: line.number)
        plotted[name] = RatingCurve(by_bot[name][0], [changes.get((line.version_id, pool), []) for line in versions])
    return RatingComparison(pool, known, list(by_bot), plotted)


def curves(
    arena: Arena, version_ids: Sequence[int], pools: Sequence[str], latest: int = 1
) -> Mapping[tuple[int, str], Sequence[ChangeItem]]:
    """Return rating changes of versions in pools, oldest first, by version and pool: as many as a plot shows at equal
    distances, and the `latest` ones.
    """
    most = max(_FEWEST_POINTS, _MAX_POINTS // max(1, len(version_ids) * len(pools)))
    return arena.store.ratings.curves(version_ids, pools, most, latest)
