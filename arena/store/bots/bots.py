"""Bots: names with an owner, independent of their versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.credentials import CredentialError, read_name
from arena.documents.page import PageResponse
from arena.errors import BadValueError, NotFoundError, TakenError
from arena.store.base.engine import Sessions, fetch
from arena.store.base.models import BotIdentity, User, Version, VersionFamily
from arena.store.base.page import DEFAULT_LIMIT, bounded, cut, read_cursor
from arena.store.bots.usage import Usage, usage_of
from arena.store.bots.versions import families_of

_IS_BOT = col(BotIdentity.name).not_like("@%")
"""Excludes people, who also have rows in `bots` (see `arena.store.tournaments.human_games`)."""


@dataclass(frozen=True, slots=True)
class BotLine:
    """A bot in a list: its owner, the families of its active versions, its newest version."""

    id: int
    name: str
    owner: str
    description: str
    is_retired: bool
    created_at: datetime
    families: tuple[str, ...] = ()
    versions: int = 0
    newest: int = 0
    newest_state: str = ""


class Bots:
    """All bots."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def add(self, name: str, owner_id: int, description: str = "") -> BotIdentity:
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
        return bot

    def get(self, bot_id: int) -> BotIdentity:
        """Return a bot by id. Raises NotFoundError."""
        with self._sessions.reading() as session:
            bot = session.get(BotIdentity, bot_id)
        if bot is None:
            raise NotFoundError("bot", bot_id)
        return bot

    def find(self, name: str) -> BotIdentity:
        """Return a bot by name. Raises NotFoundError."""
        with self._sessions.reading() as session:
            bot = session.scalar(select(BotIdentity).where(col(BotIdentity.name) == name))
        if bot is None:
            raise NotFoundError("bot", name)
        return bot

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
    ) -> PageResponse[BotLine]:
        """Return bots ordered by name: all, those of one owner, or those with an active version in a family."""
        limit = bounded(limit)
        query = (
            select(BotIdentity, col(User.name))
            .join(User, col(User.id) == col(BotIdentity.owner_id))
            .order_by(col(BotIdentity.name))
        )
        query = query.where(_IS_BOT)
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
            rows = fetch(session, query.limit(limit + 1))
            versions = _by_bot(session, [bot.id for bot, _ in rows])
        lines = [_line(bot, owner, versions.get(bot.id, [])) for bot, owner in rows]
        return cut(lines, limit, lambda line: (line.name,))

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
        """Return the numbers of a user's bots and versions, and their size."""
        with self._sessions.reading() as session:
            return usage_of(session, owner_id)


def _by_bot(
    session: Session, bot_ids: Sequence[int | None]
) -> dict[int | None, list[tuple[int, str, tuple[str, ...]]]]:
    """Return (number, state, families) of every version of these bots."""
    found: dict[int | None, list[tuple[int, str, tuple[str, ...]]]] = {}
    if bot_ids:
        query = select(col(Version.id), col(Version.bot_id), col(Version.number), col(Version.state))
        rows = fetch(session, query.where(col(Version.bot_id).in_(bot_ids)))
        families = families_of(session, [row[0] for row in rows])
        for version_id, bot_id, number, state in rows:
            found.setdefault(bot_id, []).append((number, state, tuple(families.get(version_id, ()))))
    return found


def _line(bot: BotIdentity, owner: str, versions: Sequence[tuple[int, str, tuple[str, ...]]]) -> BotLine:
    assert bot.id is not None
    newest, state, _ = max(versions, default=(0, "", ()))
    played = {family for _, how, families in versions if how == "active" for family in families}
    return BotLine(
        bot.id,
        bot.name,
        owner,
        bot.description,
        bot.is_retired,
        bot.created_at,
        tuple(sorted(played)),
        len(versions),
        newest,
        state,
    )
