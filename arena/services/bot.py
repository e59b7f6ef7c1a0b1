"""Bots: read them with versions, ratings and results, describe them, open them to people, retire and compare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from arena.documents.account import Identity
from arena.documents.bot import (
    BotItem,
    BotQuery,
    BotResponse,
    MeetingsQuery,
    PresenceItem,
    SubmissionResponse,
    VersionItem,
)
from arena.documents.game import GameItem, GameQuery
from arena.documents.query import PageResponse
from arena.documents.rating import ChangeItem, ChangeQuery, PoolRating, ScoreTables
from arena.errors import ForbiddenError, NotFoundError
from arena.services import leaderboard, remote, submission
from arena.services.arena import Arena
from arena.store.bots.bots import LEVELS
from referee.errors import near

LISTED_CHANGES = 20
"""The latest rating changes of a version in a pool that its page lists; the JSON interface has all."""


def find(arena: Arena, name: str) -> BotItem:
    """Return the bot of that name. Raises NotFoundError that names similar ones."""
    try:
        return arena.store.bots.find(name)
    except NotFoundError:
        raise NotFoundError("bot", name, arena.store.bots.names()) from None


def similar(arena: Arena, name: str) -> list[str]:
    return near(name, arena.store.bots.names())


def page(arena: Arena, query: BotQuery) -> PageResponse[BotItem]:
    """Return bots by name: all, those of one owner, or those with an active version in a family.

    Raises NotFoundError for an unknown owner, BadValueError for an invalid cursor.
    """
    return arena.store.bots.page(
        owner_id=arena.store.users.find(query.owner).id if query.owner else None,
        family=query.family,
        with_retired=query.retired,
        limit=query.limit,
        after=query.after,
    )


def best_ratings(arena: Arena, bots: Sequence[BotItem]) -> dict[int, PoolRating]:
    """Return the highest rating of each bot among all pools, by the bot's id; an established one if it has one."""
    return arena.store.ratings.best_of_bots([bot.id for bot in bots])


def read(arena: Arena, name: str) -> BotResponse:
    """Return a bot with its versions and their ratings. Raises NotFoundError."""
    bot = find(arena, name)
    versions = arena.store.versions.of_bot(bot.id)
    ratings = arena.store.ratings.of_versions([version.id for version in versions])
    presence = remote.presence_of(arena, versions)
    return BotResponse(
        name=bot.name,
        owner=bot.owner,
        description=bot.description,
        is_retired=bot.is_retired,
        plays_people=bot.plays_people,
        created_at=bot.created_at,
        versions=versions,
        ratings=ratings,
        id=bot.id,
        presence=presence,
    )


def versions_of(arena: Arena, name: str) -> list[VersionItem]:
    """Return the versions of a bot, newest first. Raises NotFoundError."""
    versions = arena.store.versions.of_bot_named(name)
    if not versions:
        find(arena, name)
    return versions


@dataclass(frozen=True, slots=True)
class BotResults:
    """A bot with ratings and results of all its versions, or of one, in all families or in one.

    `families` are all in which the versions play or have played, `curves` the rating changes by pool and version name.
    """

    bot: BotResponse
    version: VersionItem | None
    presence: PresenceItem | None
    families: Sequence[str]
    ratings: Sequence[PoolRating]
    curves: Mapping[str, Mapping[str, Sequence[ChangeItem]]]
    scores: ScoreTables
    games: Sequence[GameItem]

    @property
    def versions(self) -> Sequence[VersionItem]:
        return self.bot.versions if self.version is None else [self.version]


def results(arena: Arena, name: str, number: str = "", family: str = "") -> BotResults:
    """Return ratings and results of a bot, or of its version with this number. Raises NotFoundError."""
    bot, store = read(arena, name), arena.store
    versions = [version for version in bot.versions if number in ("", str(version.number))]
    if number and not versions:
        raise NotFoundError(f"version of {name}", number, [str(version.number) for version in bot.versions])
    ids = [version.id for version in versions]
    ratings = [line for line in bot.ratings if line.version_id in ids]
    scores = store.counts.scores(ids)
    families = {name for version in versions for name in version.families}
    families |= {name.partition(" ")[0] for name in scores.sides} | {line.family for line in ratings}
    if family:
        ratings = [line for line in ratings if line.family == family]
        scores = store.counts.scores(ids, family=family)
    changes = leaderboard.curves(arena, ids, sorted({line.pool for line in ratings}), LISTED_CHANGES)
    curves: dict[str, dict[str, Sequence[ChangeItem]]] = {}
    for line in sorted(ratings, key=lambda rating: rating.version_id):
        curves.setdefault(line.pool, {})[line.name] = changes.get((line.version_id, line.pool), [])
    return BotResults(
        bot=bot,
        version=versions[0] if number else None,
        presence=remote.presence_of(arena, versions) if number else bot.presence,
        families=sorted(families),
        ratings=ratings,
        curves=curves,
        scores=scores,
        games=store.games.latest(GameQuery(family=family or None, limit=20), versions=ids).items if ids else [],
    )


def levels(arena: Arena, ratings: Sequence[PoolRating]) -> dict[str, int]:
    """Return by pool the highest level of the champion that, like all below it, is rated no higher than a version; 0
    below all levels.

    Left out are provisional ratings, those of a level itself, and pools in which fewer than two levels have a rank.
    """
    known = arena.store.ratings.of_levels()
    return {
        line.pool: _level(known[line.pool], line.conservative)
        for line in ratings
        if not line.is_provisional and len(known.get(line.pool, ())) > 1 and line.name.partition(" ")[0] not in LEVELS
    }


def _level(known: Mapping[int, float], rating: float) -> int:
    """Return the highest level up to which all are rated no higher; 0 below all."""
    return max(takewhile(lambda level: known[level] <= rating, sorted(known)), default=0)


def version(arena: Arena, name: str, number: int, by: Identity | None) -> SubmissionResponse:
    """Return a version of a bot with its check as far as `by` may see it. Raises NotFoundError."""
    return submission.read(arena, _version_id(arena, name, number), by)


def changes(arena: Arena, name: str, number: int, query: ChangeQuery) -> PageResponse[ChangeItem]:
    """Return the changes of a version's rating in a pool, game by game. Raises NotFoundError."""
    version_id = _version_id(arena, name, number)
    return arena.store.ratings.changes(version_id, query.pool, limit=query.limit, after=query.after)


def _version_id(arena: Arena, name: str, number: int) -> int:
    find(arena, name)
    return arena.store.versions.find(name, number).id or 0


def describe(arena: Arena, name: str, description: str, by: Identity) -> None:
    """Change the description of a bot. Raises NotFoundError, ForbiddenError."""
    arena.store.bots.describe(_own(arena, name, by), description)


def allow_people(arena: Arena, name: str, allowed: bool, by: Identity) -> None:
    """Allow or forbid people to play against the bot. Raises NotFoundError, ForbiddenError."""
    arena.store.people.allow(_own(arena, name, by), allowed)
    arena.note("bot.people", f"bot:{name}", by, allowed=allowed)


def retire(arena: Arena, name: str, by: Identity) -> None:
    """Retire a bot from future tournaments; its games and ratings stay. Raises NotFoundError, ForbiddenError."""
    arena.store.bots.retire(_own(arena, name, by))
    arena.note("bot.retire", f"bot:{name}", by)


def retire_version(arena: Arena, name: str, number: int, by: Identity) -> SubmissionResponse:
    """Retire one version from future tournaments; its games and ratings stay.

    Raises NotFoundError, ForbiddenError, ConflictError.
    """
    _own(arena, name, by)
    version_id = _version_id(arena, name, number)
    arena.store.versions.retire(version_id)
    retired = submission.read(arena, version_id, by)
    arena.note("version.retire", f"version:{retired.name}", by)
    return retired


def _own(arena: Arena, name: str, by: Identity) -> int:
    """Return the id of a bot that the caller owns or administers. Raises NotFoundError, ForbiddenError."""
    bot = find(arena, name)
    if bot.owner_id != by.user_id and "admin" not in by.scopes:
        raise ForbiddenError(f"bot {name} is not yours", hint="ask its owner or an admin")
    return bot.id


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """Results and games between versions of two bots. `openings` maps games to their openings, if any.

    `mine` and `theirs` are the ids of the compared versions, `versions` the names of all versions of both bots.
    """

    versions: tuple[list[str], list[str]]
    mine: list[int]
    theirs: list[int]
    scores: ScoreTables
    games: PageResponse[GameItem]
    openings: Mapping[str, str]


def meetings(arena: Arena, name: str, other: str, query: MeetingsQuery) -> PageResponse[GameItem]:
    """Return the results between two bots, latest first. Raises NotFoundError, BadValueError for an invalid cursor."""
    mine, theirs = (
        _chosen(_ids_of_versions(arena, name), query.mine),
        _chosen(_ids_of_versions(arena, other), query.theirs),
    )
    return arena.store.games.latest(GameQuery(limit=query.limit, after=query.after), versions=mine, against=theirs)


def head_to_head(arena: Arena, name: str, other: str, query: MeetingsQuery) -> HeadToHead:
    """Return the result counts of the games between two bots, and a page of them. Raises what `meetings` raises."""
    versions = _ids_of_versions(arena, name), _ids_of_versions(arena, other)
    mine, theirs = _chosen(versions[0], query.mine), _chosen(versions[1], query.theirs)
    page = arena.store.games.latest(GameQuery(limit=query.limit, after=query.after), versions=mine, against=theirs)
    return HeadToHead(
        versions=(list(versions[0]), list(versions[1])),
        mine=mine,
        theirs=theirs,
        scores=arena.store.counts.scores(mine, theirs),
        games=page,
        openings=arena.store.games.openings([game.id for game in page.items]),
    )


def _ids_of_versions(arena: Arena, name: str) -> dict[str, int]:
    """Return the ids of a bot's versions by name. Raises NotFoundError."""
    return {line.name: line.id for line in versions_of(arena, name)}


def _chosen(versions: Mapping[str, int], name: str | None) -> list[int]:
    """Return the ids of all versions, or of the named one. Raises NotFoundError."""
    if name is None:
        return list(versions.values())
    if name not in versions:
        raise NotFoundError("version", name, versions)
    return [versions[name]]
