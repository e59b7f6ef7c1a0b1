"""Bots: names with an owner, independent of their versions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.credentials import CredentialError, read_name
from arena.documents.account import Usage
from arena.documents.attributes import of_attributes
from arena.documents.bot import BotItem
from arena.documents.page import PageResponse
from arena.errors import BadValueError, NotFoundError, TakenError
from arena.store.base.engine import Sessions, fetch
from arena.store.base.models import BotIdentity, User, Version, VersionFamily
from arena.store.base.page import DEFAULT_LIMIT, bounded, cut, read_cursor
from arena.store.bots.versions import families_of, usage_of

_BOTS = select(BotIdentity, col(User.name)).join(User, col(User.id) == col(BotIdentity.owner_id))
_IS_BOT = col(BotIdentity.name).not_like("@%")
"""Excludes people, who also have rows in `bots` (see `arena.store.tournaments.human_games`)."""


class Bots:
    """All bots."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def add(self, name: str, owner_id: int, description: str = "") -> BotItem:
        """Add a bot without versions. Raises BadValueError for an invalid name, TakenError for a taken one."""
        try:
            bot = BotIdentity(name=read_name(name, "bot"), owner_id=owner_id, description=description[:1000])
        except CredentialError as error:
            raise BadValueError(str(error)) from None
        try:
            with self._sessions.writing() as session:
                session.add(bot)
        except IntegrityError:
            raise TakenError(f"the bot name {name!r} is taken; choose another name") from None
        return self.find(name)

    def get(self, bot_id: int) -> BotItem:
        """Return a bot by id. Raises NotFoundError."""
        return self._one(col(BotIdentity.id) == bot_id, bot_id)

    def find(self, name: str) -> BotItem:
        """Return a bot by name. Raises NotFoundError."""
        return self._one(col(BotIdentity.name) == name, name)

    def _one(self, condition: ColumnElement[bool], name: object) -> BotItem:
        with self._sessions.reading() as session:
            found = _bots(session, _BOTS.where(condition))
        if not found:
            raise NotFoundError("bot", name)
        return found[0]

    def names(self) -> list[str]:
        """Return the names of all bots, sorted, to suggest similar ones."""
        with self._sessions.reading() as session:
            return list(session.scalars(select(col(BotIdentity.name)).where(_IS_BOT).order_by(col(BotIdentity.name))))

    def page(
        self,
        *,
        owner_id: int | None = None,
        family: str | None = None,
        with_retired: bool = False,
        limit: int = DEFAULT_LIMIT,
        after: str | None = None,
    ) -> PageResponse[BotItem]:
        """Return bots ordered by name: all, those of one owner, or those with an active version in a family."""
        limit = bounded(limit)
        query = _BOTS.where(_IS_BOT).order_by(col(BotIdentity.name))
        if owner_id is not None:
            query = query.where(col(BotIdentity.owner_id) == owner_id)
        if not with_retired:
            query = query.where(col(BotIdentity.is_retired).is_(False))
        if family is not None:
            plays = (
                select(col(Version.id))
                .join(VersionFamily, col(VersionFamily.version_id) == col(Version.id))
                .where(
                    col(Version.bot_id) == col(BotIdentity.id),
                    col(Version.state) == "active",
                    col(VersionFamily.family) == family,
                )
            )
            query = query.where(plays.exists())
        if keys := read_cursor(after, str):
            query = query.where(col(BotIdentity.name) > keys[0])
        with self._sessions.reading() as session:
            found = _bots(session, query.limit(limit + 1))
        return cut(found, limit, lambda one: (one.name,))

    def describe(self, bot_id: int, description: str) -> None:
        """Set the description of a bot."""
        with self._sessions.writing() as session:
            session.execute(
                update(BotIdentity).where(col(BotIdentity.id) == bot_id).values(description=description[:1000])
            )

    def retire(self, bot_id: int) -> None:
        """Retire a bot and its active versions; its games and ratings stay."""
        with self._sessions.writing() as session:
            session.execute(update(BotIdentity).where(col(BotIdentity.id) == bot_id).values(is_retired=True))
            session.execute(
                update(Version)
                .where(col(Version.bot_id) == bot_id, col(Version.state) == "active")
                .values(state="retired")
            )

    def usage(self, owner_id: int) -> Usage:
        """Return how many bots and versions a user has, and the size of their bundles."""
        with self._sessions.reading() as session:
            return usage_of(session, owner_id)


def _bots(session: Session, query: Select[*tuple[Any, ...]]) -> list[BotItem]:
    """Run a query of `_BOTS`; return its bots with the families of their active versions and the newest version."""
    rows = fetch(session, query)
    versions: dict[int, list[tuple[int, str, Collection[str]]]] = {}
    if rows:
        of_bots = select(col(Version.id), col(Version.bot_id), col(Version.number), col(Version.state))
        found = fetch(session, of_bots.where(col(Version.bot_id).in_([bot.id for bot, _ in rows])))
        families = families_of(session, [row[0] for row in found])
        for version_id, bot_id, number, state in found:
            versions.setdefault(bot_id, []).append((number, state, families.get(version_id, ())))
    return [_bot(bot, owner, versions.get(bot.id, [])) for bot, owner in rows]


def _bot(bot: BotIdentity, owner: str, versions: Sequence[tuple[int, str, Collection[str]]]) -> BotItem:
    newest, newest_state, _ = max(versions, default=(0, "", ()))
    return of_attributes(
        BotItem,
        bot,
        owner=owner,
        families=sorted({family for _, state, families in versions if state == "active" for family in families}),
        versions=len(versions),
        newest=newest,
        newest_state=newest_state,
    )
