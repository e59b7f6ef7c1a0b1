"""Bots: names with an owner, independent of their versions; among them sample bots and remote ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.clock import now
from arena.credentials import CredentialError, read_name
from arena.documents.account import Usage
from arena.documents.bot import BotItem, PresenceItem
from arena.documents.query import PageResponse
from arena.errors import BadValueError, NotFoundError, TakenError
from arena.store.base.engine import Repository, Sessions, batched, fetch, table_of
from arena.store.base.page import DEFAULT_LIMIT, bounded, cut, read_cursor
from arena.store.base.tables.bots import BotIdentity, RemotePresence, Version, VersionFamily
from arena.store.base.tables.people import User
from arena.store.bots.versions import Versions, families_of, usage_of
from referee.bot.argument import SAMPLES
from referee.bot.bridge import FAMILY
from referee.bot.command import PYTHON
from referee.bot.file import BotFile

OWNER = "arena"
"""The user that owns the sample bots. It has no password and no tokens."""
LEVELS: Mapping[str, int] = {f"level-{level}": level for level in range(1, 9)}
"""Levels of weaker champions by name, which give people and bots opponents of every strength."""
REVISIONS: Mapping[str, int] = {"bots.samples.mcts": 2, "bots.samples.champion": 2}
"""Revisions by module: raise one when a sample plays differently, which creates a new version. The default is 1."""
REPORT_INTERVAL_S = 15.0
"""How often the process that has the connections reports them."""

_BOTS = select(BotIdentity, col(User.name)).join(User, col(User.id) == col(BotIdentity.owner_id))
_IS_BOT = col(BotIdentity.name).not_like("@%")
"""Excludes people, who also have rows in `bots` (see `arena.store.tournaments.human_games`)."""
_DESCRIPTION = "A sample bot of the arena."
_PRESENCES = table_of(RemotePresence)
_STALE = timedelta(seconds=3 * REPORT_INTERVAL_S)
"""Age after which a report is ignored: the reporting process is gone."""


class Bots(Repository):
    """The identities of bots, uploaded and remote; their versions are in `Versions`."""

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
            bots = _bots(session, query.limit(limit + 1))
        return cut(bots, limit, lambda bot: (bot.name,))

    def describe(self, bot_id: int, description: str) -> None:
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
        lines = fetch(session, of_bots.where(col(Version.bot_id).in_([bot.id for bot, _ in rows])))
        families = families_of(session, [row[0] for row in lines])
        for version_id, bot_id, number, state in lines:
            versions.setdefault(bot_id, []).append((number, state, families.get(version_id, ())))
    return [_bot(bot, owner, versions.get(bot.id, [])) for bot, owner in rows]


def _bot(bot: BotIdentity, owner: str, versions: Sequence[tuple[int, str, Collection[str]]]) -> BotItem:
    newest, newest_state, _ = max(versions, default=(0, "", ()))
    return BotItem(
        name=bot.name,
        owner=owner,
        description=bot.description,
        is_retired=bot.is_retired,
        plays_people=bot.plays_people,
        created_at=bot.created_at,
        families=sorted({family for _, state, families in versions if state == "active" for family in families}),
        versions=len(versions),
        newest=newest,
        newest_state=newest_state,
        id=bot.id,
        owner_id=bot.owner_id,
    )


def ensure_owner(session: Session) -> int:
    """Return the id of the user that owns the sample bots and the games of people; it is created if missing."""
    owner = session.scalar(select(User).where(col(User.name) == OWNER))
    if owner is None:
        owner = User(name=OWNER)
        session.add(owner)
        session.flush()
    return owner.id


class Samples(Repository):
    """The sample bots, commands of this installation, and their owner, the arena's own user."""

    def __init__(self, sessions: Sessions) -> None:
        super().__init__(sessions)
        self._bots, self._versions = Bots(sessions), Versions(sessions)

    def owner_id(self) -> int | None:
        """Return the id of the user that owns the sample bots; None before they exist."""
        with self._sessions.reading() as session:
            return session.scalar(select(col(User.id)).where(col(User.name) == OWNER))

    def ensure_owner(self) -> int:
        """Return the id of the user that owns the sample bots; it is created if missing."""
        with self._sessions.writing() as session:
            return ensure_owner(session)

    def ensure_all(self, variants: Mapping[str, Sequence[str]]) -> dict[str, Version]:
        """Create or update all sample bots and the levels of the champion, as `ensure` does."""
        return self.ensure({**SAMPLES, **dict.fromkeys(LEVELS, SAMPLES["champion"])}, variants)

    def ensure(self, samples: Mapping[str, str], variants: Mapping[str, Sequence[str]]) -> dict[str, Version]:
        """Create or update the active versions of the sample bots, given as name -> module; return name -> version.

        A sample bot runs as a command of this installation: `python` stands for its interpreter, `{family}` for the
        family. `variants` gives the variants of each family. Samples in `LEVELS` play at that level.
        A name that another user already has is left out.
        """
        with self._sessions.writing() as session:
            owner_id = ensure_owner(session)
        known, versions = set(self._bots.names()), {}
        for name, module in samples.items():
            bot = self._bots.find(name) if name in known else self._bots.add(name, owner_id, _DESCRIPTION)
            if bot.owner_id == owner_id:  # otherwise a user took the name first and keeps it
                versions[name] = self._ensure_version(bot, module, variants)
        return versions

    def _ensure_version(self, bot: BotItem, module: str, variants: Mapping[str, Sequence[str]]) -> Version:
        """Return the newest active version if its module, families, options and revision are current; else add one."""
        command = (PYTHON, "-m", module, "--family", FAMILY)
        options = {"Level": str(LEVELS[bot.name])} if bot.name in LEVELS else {}
        file = BotFile(command, families=tuple(variants), options=options)
        revision = REVISIONS.get(module, 1)
        line = next((line for line in self._versions.of_bot(bot.id) if line.state == "active"), None)
        if line is not None and set(line.families) == set(variants):
            version = self._versions.get(line.id)
            known = version.bot_file
            if (known.command, known.options) == (file.command, file.options):
                if version.report.get("revision", 1) == revision:
                    return version
        return self._versions.add(bot.id, file, state="active", variants=variants, report={"revision": revision})


@dataclass(frozen=True, slots=True)
class ConnectedBot:
    """A connected bot: how many games it plays, how many it accepts, and its usual latency."""

    version_id: int
    games: int
    most_games: int
    latency_ms: float | None
    is_open: bool
    """Whether other users may challenge the bot."""


class Presences(Repository):
    """Connection states of remote bots by version, reported periodically by the process they are connected to."""

    def report(self, present: Mapping[int, ConnectedBot], before: Mapping[int, ConnectedBot] | None = None) -> None:
        """Store that these versions, and no others, are connected.

        `before` is the last report of this process, which is the only one to report: only differences are written.
        None stands for an unknown one.
        """
        at, is_connected = now(), _PRESENCES.c.is_connected
        changed = [bot for bot in present.values() if before is None or before.get(bot.version_id) != bot]
        replaced = [bot.version_id for bot in changed]
        gone = [version_id for version_id in before or () if version_id not in present]
        leave = update(_PRESENCES).values(is_connected=False, games=0)
        with self._sessions.writing() as session:
            if before is None:
                session.execute(leave.where(is_connected))
            for part in batched(gone):
                session.execute(leave.where(_PRESENCES.c.version_id.in_(part)))
            for part in batched(replaced):
                session.execute(delete(_PRESENCES).where(_PRESENCES.c.version_id.in_(part)))
            if changed:
                rows = [{**asdict(bot), "is_connected": True, "seen": at} for bot in changed]
                session.execute(insert(_PRESENCES), rows)
            session.execute(update(_PRESENCES).where(is_connected).values(seen=at))

    def of(self, version_ids: Sequence[int]) -> dict[int, PresenceItem]:
        """Return the states of these versions; versions that never connected are omitted."""
        at = now()
        with self._sessions.reading() as session:
            rows = list(session.scalars(select(RemotePresence).where(col(RemotePresence.version_id).in_(version_ids))))
        return {
            row.version_id: PresenceItem(
                is_connected=row.is_connected and at - row.seen < _STALE,
                seen=row.seen,
                games=row.games,
                most_games=row.most_games,
                latency_ms=row.latency_ms,
                is_open=row.is_open,
            )
            for row in rows
        }
