"""Management of bots by their owners: describe, open to people, retire a bot or one version."""

from __future__ import annotations

from arena.documents.identity import Identity
from arena.errors import ForbiddenError, NotFoundError
from arena.services.arena import Arena
from arena.store.base.models import BotIdentity, Version


def find(arena: Arena, name: str) -> BotIdentity:
    """Return the bot of that name. Raises NotFoundError that names similar ones."""
    try:
        return arena.store.bots.find(name)
    except NotFoundError:
        raise NotFoundError("bot", name, arena.store.bots.names()) from None


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
