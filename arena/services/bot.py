"""Bots: read them with versions, ratings and results; describe them, open them to people, retire them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.documents.attributes import of_attributes
from arena.documents.bot import BotItem, BotQuery, BotResponse, PresenceItem, SubmissionResponse, VersionItem
from arena.documents.game import GameItem, GameQuery, Tally
from arena.documents.identity import Identity
from arena.documents.page import PageResponse
from arena.documents.rating import ChangeItem, ChangeQuery, PoolRating
from arena.errors import ForbiddenError, NotFoundError
from arena.services import remote, submission
from arena.services.arena import Arena
from arena.services.leaderboard import changes_of


def find(arena: Arena, name: str) -> BotItem:
    """Return the bot of that name. Raises NotFoundError that names similar ones."""
    try:
        return arena.store.bots.find(name)
    except NotFoundError:
        raise NotFoundError("bot", name, arena.store.bots.names()) from None


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


def read(arena: Arena, name: str) -> BotResponse:
    """Return a bot with its versions and their ratings. Raises NotFoundError."""
    bot = find(arena, name)
    versions = arena.store.versions.of_bot(bot.id)
    ratings = arena.store.ratings.of_versions([one.id for one in versions])
    presence = remote.presence_of(arena, versions)
    return of_attributes(BotResponse, bot, versions=versions, ratings=ratings, presence=presence)


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
    tallies: Sequence[Tally]
    games: Sequence[GameItem]

    @property
    def versions(self) -> Sequence[VersionItem]:
        """The versions to which the results belong."""
        return self.bot.versions if self.version is None else [self.version]


def results(arena: Arena, name: str, number: str = "", family: str = "") -> BotResults:
    """Return ratings and results of a bot, or of its version with this number. Raises NotFoundError."""
    bot, store = read(arena, name), arena.store
    versions = [one for one in bot.versions if number in ("", str(one.number))]
    if number and not versions:
        raise NotFoundError(f"version of {name}", number, [str(one.number) for one in bot.versions])
    ids = [one.id for one in versions]
    ratings = [line for line in bot.ratings if line.version_id in ids]
    tallies = store.results.tally(ids) if ids else []
    families = {name for one in versions for name in one.families}
    families |= {line.family for line in tallies} | {line.family for line in ratings}
    if family:
        ratings = [line for line in ratings if line.family == family]
        tallies = [line for line in tallies if line.family == family]
    curves: dict[str, dict[str, Sequence[ChangeItem]]] = {}
    for line in sorted(ratings, key=lambda one: one.version_id):
        curves.setdefault(line.pool, {})[line.name] = changes_of(arena, line.version_id, line.pool)
    return BotResults(
        bot=bot,
        version=versions[0] if number else None,
        presence=remote.presence_of(arena, versions),
        families=sorted(families),
        ratings=ratings,
        curves=curves,
        tallies=tallies,
        games=store.games.latest(GameQuery(family=family or None, limit=20), versions=ids).items if ids else [],
    )


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
    found = submission.read(arena, version_id, by)
    arena.note("version.retire", f"version:{found.name}", by)
    return found


def _own(arena: Arena, name: str, by: Identity) -> int:
    """Return the id of a bot that the caller owns or administers. Raises NotFoundError, ForbiddenError."""
    bot = find(arena, name)
    if bot.owner_id != by.user_id and "admin" not in by.scopes:
        raise ForbiddenError(f"bot {name} is not yours", hint="ask its owner or an admin")
    return bot.id
