"""Bots: read them with versions, ratings and results; describe, open to people, retire a bot or one version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.documents.identity import Identity
from arena.documents.page import PageResponse
from arena.errors import ForbiddenError, NotFoundError
from arena.services import remote
from arena.services.arena import Arena
from arena.services.leaderboard import changes_of
from arena.store.base.models import BotIdentity, Version
from arena.store.bots.bots import BotLine
from arena.store.bots.presences import PresenceLine
from arena.store.bots.versions import VersionLine
from arena.store.games.games import GameLine
from arena.store.games.results import Tally
from arena.store.ratings.ratings import ChangeLine, PoolLine


def find(arena: Arena, name: str) -> BotIdentity:
    """Return the bot of that name. Raises NotFoundError that names similar ones."""
    try:
        return arena.store.bots.find(name)
    except NotFoundError:
        raise NotFoundError("bot", name, arena.store.bots.names()) from None


def page(
    arena: Arena,
    *,
    family: str | None = None,
    owner: str | None = None,
    with_retired: bool = False,
    limit: int = 50,
    after: str | None = None,
) -> PageResponse[BotLine]:
    """Return bots by name: all, those of one owner, or those with an active version in a family.

    Raises NotFoundError for an unknown owner.
    """
    owner_id = arena.store.users.find(owner).id if owner else None
    return arena.store.bots.page(owner_id=owner_id, family=family, with_retired=with_retired, limit=limit, after=after)


@dataclass(frozen=True, slots=True)
class BotDetails:
    """A bot with its versions, newest first, their ratings, and the connection of a remote bot."""

    bot: BotIdentity
    owner: str
    versions: Sequence[VersionLine]
    fit_from: Mapping[int, Mapping[str, int]]
    ratings: Sequence[PoolLine]
    presence: PresenceLine | None


def read(arena: Arena, name: str) -> BotDetails:
    """Return a bot with its versions and ratings. Raises NotFoundError."""
    bot, store = find(arena, name), arena.store
    versions = store.versions.of_bot(bot.id or 0)
    ids = [line.id for line in versions]
    return BotDetails(
        bot,
        store.users.get(bot.owner_id).name,
        versions,
        store.versions.fit_from(ids),
        store.ratings.of_versions(ids) if ids else [],
        remote.presence_of(arena, versions),
    )


@dataclass(frozen=True, slots=True)
class BotResults:
    """Ratings and results of a bot or one of its versions, in all families or in one.

    `families` are all that it plays or has played, `curves` its rating changes by pool and version name.
    """

    details: BotDetails
    version: VersionLine | None
    presence: PresenceLine | None
    families: Sequence[str]
    ratings: Sequence[PoolLine]
    curves: Mapping[str, Mapping[str, Sequence[ChangeLine]]]
    tallies: Sequence[Tally]
    games: Sequence[GameLine]


def results(arena: Arena, name: str, number: str = "", family: str = "") -> BotResults:
    """Return ratings and results of a bot, or of its version with this number. Raises NotFoundError."""
    details = read(arena, name)
    versions = [line for line in details.versions if not number or str(line.number) == number]
    if number and not versions:
        raise NotFoundError(f"version of {name}", number, [str(line.number) for line in details.versions])
    ids = [line.id for line in versions]
    ratings = [line for line in details.ratings if line.version_id in ids]
    tallies = arena.store.results.tally(ids) if ids else []
    plays = {name for line in versions for name in line.families}
    families = plays | {line.family for line in tallies} | {line.pool.partition("/")[0] for line in ratings}
    if family:
        ratings = [line for line in ratings if line.pool.partition("/")[0] == family]
        tallies = [line for line in tallies if line.family == family]
    curves: dict[str, dict[str, Sequence[ChangeLine]]] = {}
    for line in sorted(ratings, key=lambda one: one.version_id):
        curves.setdefault(line.pool, {})[line.name] = changes_of(arena, line.version_id, line.pool)
    games = arena.store.games.latest(versions=ids, family=family or None, limit=20).items if ids else []
    return BotResults(
        details,
        versions[0] if number else None,
        remote.presence_of(arena, versions),
        sorted(families),
        ratings,
        curves,
        tallies,
        games,
    )


def changes(
    arena: Arena, name: str, number: int, pool: str, *, limit: int, after: str | None
) -> PageResponse[ChangeLine]:
    """Return what every game did to a version's rating in a pool, in order. Raises NotFoundError."""
    version_id = version(arena, name, number)
    return arena.store.ratings.changes(version_id, pool, limit=limit, after=after)


def version(arena: Arena, name: str, number: int) -> int:
    """Return the id of a version. Raises NotFoundError."""
    find(arena, name)
    return arena.store.versions.find(name, number).id or 0


def games(arena: Arena, names: Sequence[str], *, limit: int, after: str | None = None) -> PageResponse[GameLine]:
    """Return the results of all versions of a bot, or of two bots against each other, latest first.

    Raises NotFoundError.
    """
    found = [arena.store.versions.of_bot(find(arena, name).id or 0) for name in names]
    mine, *theirs = [[line.id for line in lines] for lines in found]
    if not mine or [] in theirs:
        return PageResponse([])
    return arena.store.games.latest(versions=mine, against=theirs[0] if theirs else None, limit=limit, after=after)


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


def retire_version(arena: Arena, name: str, number: int, by: Identity) -> Version:
    """Retire one version from future tournaments; its games and ratings stay.

    Raises NotFoundError, ForbiddenError, ConflictError.
    """
    _own(arena, name, by)
    version = arena.store.versions.find(name, number)
    assert version.id is not None
    retired = arena.store.versions.retire(version.id)
    arena.note("version.retire", f"version:{version.name}", by)
    return retired


def _own(arena: Arena, name: str, by: Identity) -> int:
    """Return the id of a bot that the caller owns or administers. Raises NotFoundError, ForbiddenError."""
    bot = find(arena, name)
    if bot.owner_id != by.user_id and "admin" not in by.scopes:
        raise ForbiddenError(f"bot {name} is not yours", hint="ask its owner or an admin")
    assert bot.id is not None
    return bot.id
