"""Versions of bots: add, find, list and retire them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.documents.account import Usage
from arena.documents.bot import VersionItem
from arena.errors import ConflictError, NotFoundError
from arena.store.base.engine import Repository, fetch
from arena.store.base.tables.bots import BotIdentity, Version, VersionFamily
from arena.store.base.tables.people import User
from arena.store.base.tables.ratings import VersionRating
from arena.store.bots.checks import FIT_AGAIN_MS, LOAD
from referee.bot.file import BotFile
from referee.game.spec import BotSpec
from referee.validation import plain

_VERSION = (
    *(col(one) for one in (Version.id, Version.number, Version.name, Version.state)),
    *(col(BotIdentity.name).label("bot"), col(User.name).label("owner")),
    *(col(one) for one in (Version.problem, Version.bundle, Version.size_bytes, Version.created_at, Version.checked)),
    *(col(one) for one in (Version.capabilities, Version.file, Version.bot_id, Version.place)),
)
"""The columns of a `VersionItem`, its families excepted."""


class Versions(Repository):
    def add(
        self,
        bot_id: int,
        file: BotFile,
        *,
        bundle: str = "",
        size_bytes: int = 0,
        state: str = "uploaded",
        place: str = "",
        variants: Mapping[str, Sequence[str]] | None = None,
        capabilities: Mapping[str, Any] | None = None,
        report: Mapping[str, Any] | None = None,
        max_versions: int | None = None,
        max_bytes: int | None = None,
    ) -> Version:
        """Add the next version of a bot, for the families that its file names.

        Its ratings start from those of the newest earlier version that was active.

        `max_versions` and `max_bytes` limit what the owner may have, the new version included. Raises NotFoundError,
        QuotaError, and ConflictError if another version is added at the same moment or the bot is retired.
        """
        try:
            with self._sessions.writing() as session:
                bot = session.get(BotIdentity, bot_id)
                if bot is None:
                    raise NotFoundError("bot", bot_id)
                if bot.is_retired:
                    raise ConflictError(f"bot {bot.name} is retired", "retired")
                usage_of(session, bot.owner_id).require_room(size_bytes, max_versions, max_bytes)
                mine = col(Version.bot_id) == bot_id
                number = (session.scalar(select(func.max(col(Version.number))).where(mine)) or 0) + 1
                earlier = session.scalar(
                    select(col(Version.id))
                    .where(mine, col(Version.state).in_(("active", "retired")))
                    .order_by(col(Version.number).desc())
                    .limit(1)
                )
                version = Version(
                    bot_id=bot_id,
                    number=number,
                    name=f"{bot.name} v{number}",
                    bundle=bundle,
                    size_bytes=size_bytes,
                    file=plain(file),
                    capabilities=dict(capabilities or {}),
                    report=dict(report or {}),
                    state=state,
                    place=place,
                    follows_id=earlier,
                )
                session.add(version)
                session.flush()
                for family in dict.fromkeys(file.families):
                    fit = list((variants or {}).get(family, ()))
                    session.add(VersionFamily(version_id=version.id, family=family, variants=fit))
        except IntegrityError:
            raise ConflictError("another version of this bot was added at the same moment; try again") from None
        return version

    def announce(self, version_id: int, variants: Mapping[str, Sequence[str]], capabilities: Mapping[str, Any]) -> None:
        """Store the variants and capabilities that a remote bot announces. Raises NotFoundError."""
        with self._sessions.writing() as session:
            version = session.get(Version, version_id)
            if version is None:
                raise NotFoundError("version", version_id)
            version.capabilities = dict(capabilities)
            for row in session.scalars(select(VersionFamily).where(col(VersionFamily.version_id) == version_id)):
                row.variants = list(variants.get(row.family, row.variants))

    def get(self, version_id: int) -> Version:
        """Return a version by id. Raises NotFoundError."""
        with self._sessions.reading() as session:
            version = session.get(Version, version_id)
        if version is None:
            raise NotFoundError("version", version_id)
        return version

    def find(self, bot: str, number: int | None = None) -> Version:
        """Return a version by its bot's name and its number, by default the newest active one. Raises NotFoundError."""
        query = (
            select(Version)
            .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
            .where(col(BotIdentity.name) == bot)
        )
        if number is None:
            query = query.where(col(Version.state) == "active").order_by(col(Version.number).desc()).limit(1)
        else:
            query = query.where(col(Version.number) == number)
        with self._sessions.reading() as session:
            version = session.scalar(query)
        if version is None:
            raise NotFoundError("version", f"{bot} v{number}" if number else f"{bot} (active)")
        return version

    def of_bot(self, bot_id: int) -> list[VersionItem]:
        """Return all versions of a bot, newest first."""
        return self._items(col(Version.bot_id) == bot_id, order=(col(Version.number).desc(),))

    def of_owner(self, user_id: int) -> list[int]:
        """Return the ids of all versions of a user's bots, and of the user as a player: those of the latest
        rated games first, then the newest.
        """
        last = select(func.max(col(VersionRating.last))).where(col(VersionRating.version_id) == col(Version.id))
        query = (
            select(col(Version.id))
            .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
            .where(col(BotIdentity.owner_id) == user_id)
            .order_by(func.coalesce(last.scalar_subquery(), 0).desc(), col(Version.id).desc())
        )
        with self._sessions.reading() as session:
            return list(session.scalars(query))

    def of_bot_named(self, bot: str) -> list[VersionItem]:
        """Return all versions of the bot of that name, newest first; none if there is no such bot."""
        return self._items(col(BotIdentity.name) == bot, order=(col(Version.number).desc(),))

    def lines(self, version_ids: Sequence[int]) -> dict[int, VersionItem]:
        """Return the list entries of these versions by id; unknown versions are omitted."""
        if not version_ids:
            return {}
        return {line.id: line for line in self._items(col(Version.id).in_(set(version_ids)))}

    def by_ids(self, version_ids: Sequence[int]) -> dict[int, Version]:
        """Return the whole rows of these versions by id; unknown versions are omitted."""
        with self._sessions.reading() as session:
            found = session.scalars(select(Version).where(col(Version.id).in_(set(version_ids))))
            return {version.id: version for version in found}

    def active(self, family: str) -> list[VersionItem]:
        """Return every active version that plays a family, by bot name, the newest version of a bot first."""
        plays = select(col(VersionFamily.version_id)).where(col(VersionFamily.family) == family)
        return self._items(
            col(Version.state) == "active",
            col(Version.id).in_(plays),
            order=(col(BotIdentity.name), col(Version.number).desc()),
        )

    def remote(self) -> set[str]:
        """Return the names of all active remote versions."""
        query = select(col(Version.name)).where(col(Version.place) == "remote", col(Version.state) == "active")
        with self._sessions.reading() as session:
            return set(session.scalars(query))

    def bundles(self) -> set[str]:
        """Return the bundles of all versions in any state, which `BundleStore.sweep` must keep."""
        with self._sessions.reading() as session:
            return set(session.scalars(select(col(Version.bundle)).where(col(Version.bundle) != "").distinct()))

    def ancestors(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the predecessors, nearest first, of every version that has any."""
        query = select(col(Version.id), col(Version.name), col(Version.follows_id)).order_by(col(Version.id))
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        names = {number: name for number, name, _ in rows}
        follows = {number: earlier for number, _, earlier in rows}
        ancestors: dict[str, tuple[str, ...]] = {}
        for number, name, earlier in rows:
            line: list[int] = []
            while earlier is not None and earlier != number and earlier not in line:
                line.append(earlier)
                earlier = follows.get(earlier)
            if line:
                ancestors[name] = tuple(names[ancestor] for ancestor in line)
        return ancestors

    def families(self, version_id: int) -> dict[str, tuple[str, ...]]:
        """Return the families of a version with the variants it can play."""
        with self._sessions.reading() as session:
            return families_of(session, [version_id]).get(version_id, {})

    def retire(self, version_id: int) -> None:
        """Retire a version; its games and ratings stay. Raises ConflictError while it is being checked."""
        with self._sessions.writing() as session:
            version = session.get(Version, version_id, with_for_update=True)
            if version is None:
                raise NotFoundError("version", version_id)
            if version.state == "checking":
                raise ConflictError(f"{version.name} is being checked; wait for the verdict", version.state)
            version.state = "retired"

    def _items(self, *conditions: Any, order: Sequence[Any] = ()) -> list[VersionItem]:
        query = (
            select(*_VERSION)
            .select_from(Version)
            .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
            .join(User, col(User.id) == col(BotIdentity.owner_id))
            .where(*conditions)
            .order_by(*order)
        )
        with self._sessions.reading() as session:
            rows = fetch(session, query)
            families = families_of(session, [row.id for row in rows])
        return [
            VersionItem(
                id=row.id,
                bot=row.bot,
                owner=row.owner,
                number=row.number,
                name=row.name,
                state=row.state,
                problem=row.problem,
                sha256=row.bundle,
                size_bytes=row.size_bytes,
                created_at=row.created_at,
                checked=row.checked,
                families=families.get(row.id, {}),
                fit_from_ms=_fit_from(row.capabilities),
                remarks=row.file.get("remarks", {}),
                bot_id=row.bot_id,
                place=row.place,
            )
            for row in rows
        ]


def bot_spec(version: Version, family: str) -> BotSpec:
    """Return the spec of a version. It names the bundle and no folder of a machine, so it is the same everywhere.

    The slot fetches the bundle, and replaces `python` with its interpreter.
    """
    return replace(
        version.bot_file.spec(family),
        name=version.name,
        version=version.bundle,
        # The ids of games follow from the spec: what is measured later must not change them.
        capabilities={
            key: value
            for key, value in of_family(version.capabilities, family).items()
            if key not in (LOAD, FIT_AGAIN_MS)
        },
        bundle=version.bundle,
        place=version.place,  # type: ignore[arg-type]
    )


def of_family(capabilities: Mapping[str, Any], family: str) -> Mapping[str, Any]:
    """Return the part of a check report about one family; empty if the report has no such part.

    A report without families holds for every family.
    """
    found = capabilities.get(family, capabilities if "options" in capabilities else {})
    return found if isinstance(found, Mapping) else {}


def _fit_from(capabilities: Mapping[str, Any]) -> dict[str, int]:
    """Return the shortest time per move in milliseconds that a version keeps to, for each measured family."""
    return {
        family: int(part.get(FIT_AGAIN_MS) or part["fit_from_ms"])
        for family, part in capabilities.items()
        if isinstance(part, Mapping) and part.get("fit_from_ms")
    }


def families_of(session: Session, version_ids: Sequence[int]) -> dict[int, dict[str, tuple[str, ...]]]:
    """Return the families of these versions, each with the variants it can play."""
    found: dict[int, dict[str, tuple[str, ...]]] = {}
    if version_ids:
        query = select(VersionFamily).where(col(VersionFamily.version_id).in_(version_ids))
        for row in session.scalars(query.order_by(col(VersionFamily.version_id), col(VersionFamily.family))):
            found.setdefault(row.version_id, {})[row.family] = tuple(row.variants)
    return found


def usage_of(session: Session, owner_id: int) -> Usage:
    """Return how many bots and versions of a user are not retired, and the size of their bundles."""
    # Names that begin with @ stand for people who play, not for bots (see `People.version`).
    mine = col(BotIdentity.owner_id) == owner_id, col(BotIdentity.name).not_like("@%")
    bots = session.scalar(select(func.count()).where(*mine, col(BotIdentity.is_retired).is_(False)))
    versions, size = session.execute(
        select(func.count(), func.coalesce(func.sum(col(Version.size_bytes)), 0))
        .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
        .where(*mine, col(Version.state) != "retired")
    ).one()
    return Usage(bots or 0, int(versions), int(size))
