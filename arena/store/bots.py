"""Bots and their versions: names, uploads, the way from `uploaded` to `active`. Refuses to know bundles and checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.store.credentials import CredentialError, read_name
from arena.store.engine import Sessions, fetch
from arena.store.errors import BadValueError, ConflictError, NotFoundError, QuotaError
from arena.store.models import Bot, User, Version, VersionFamily, now
from arena.store.page import DEFAULT_LIMIT, Page, bounded, cut, read_cursor

HOUSE = "arena"
"""The user that owns the sample bots. It has no password and no tokens."""

STATES = ("uploaded", "checking", "active", "failed", "retired")


@dataclass(frozen=True, slots=True)
class BotLine:
    """A bot in a list: its owner, the families its active versions play, its newest version."""

    id: int
    name: str
    owner: str
    description: str
    is_retired: bool
    created: datetime
    families: tuple[str, ...] = ()
    versions: int = 0
    newest: int = 0
    newest_state: str = ""


@dataclass(frozen=True, slots=True)
class VersionLine:
    """A version in a list, with its bot and its families (family -> variants it was found fit for)."""

    id: int
    bot_id: int
    bot: str
    owner: str
    number: int
    name: str
    state: str
    problem: str
    bundle: str
    size_bytes: int
    created: datetime
    checked: datetime | None
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a user has: bots, versions not retired, and the bytes of their bundles."""

    bots: int
    versions: int
    size_bytes: int


_LINE = (
    col(Version.id),
    col(Version.bot_id),
    col(Bot.name),
    col(User.name),
    col(Version.number),
    col(Version.name),
    col(Version.state),
    col(Version.problem),
    col(Version.bundle),
    col(Version.size_bytes),
    col(Version.created),
    col(Version.checked),
)


class Bots:
    """Bots and versions."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    # -- bots --------------------------------------------------------------------------------------------------------

    def add(self, name: str, owner_id: int, description: str = "") -> Bot:
        """A new bot without versions. Raises BadValueError for the name, ConflictError when it is taken."""
        try:
            bot = Bot(name=read_name(name, "bot"), owner_id=owner_id, description=description[:1000])
        except CredentialError as error:
            raise BadValueError(str(error)) from None
        try:
            with self._sessions.writing() as session:
                session.add(bot)
        except IntegrityError:
            raise ConflictError(f"there is a bot {name!r} already; take another name") from None
        return bot

    def get(self, bot_id: int) -> Bot:
        """A bot by number. Raises NotFoundError."""
        with self._sessions.reading() as session:
            bot = session.get(Bot, bot_id)
        if bot is None:
            raise NotFoundError("bot", bot_id)
        return bot

    def find(self, name: str) -> Bot:
        """A bot by name. Raises NotFoundError."""
        with self._sessions.reading() as session:
            bot = session.scalar(select(Bot).where(col(Bot.name) == name))
        if bot is None:
            raise NotFoundError("bot", name)
        return bot

    def names(self) -> list[str]:
        """The names of all bots, sorted; to suggest near ones."""
        with self._sessions.reading() as session:
            return list(session.scalars(select(col(Bot.name)).order_by(col(Bot.name))))

    def page(
        self,
        *,
        owner_id: int | None = None,
        family: str | None = None,
        with_retired: bool = False,
        limit: int = DEFAULT_LIMIT,
        after: str | None = None,
    ) -> Page[BotLine]:
        """Bots by name: all, of one owner, or those with an active version in a family."""
        limit = bounded(limit)
        query = select(Bot, col(User.name)).join(User, col(User.id) == col(Bot.owner_id)).order_by(col(Bot.name))
        if owner_id is not None:
            query = query.where(col(Bot.owner_id) == owner_id)
        if not with_retired:
            query = query.where(col(Bot.is_retired).is_(False))
        if family is not None:
            plays = (
                select(col(Version.id))
                .join(VersionFamily, col(VersionFamily.version_id) == col(Version.id))
                .where(
                    col(Version.bot_id) == col(Bot.id),
                    col(Version.state) == "active",
                    col(VersionFamily.family) == family,
                )
            )
            query = query.where(plays.exists())
        if keys := read_cursor(after, str):
            query = query.where(col(Bot.name) > keys[0])
        with self._sessions.reading() as session:
            rows = fetch(session, query.limit(limit + 1))
            versions = _by_bot(session, [bot.id for bot, _ in rows])
        lines = [_line(bot, owner, versions.get(bot.id, [])) for bot, owner in rows]
        return cut(lines, limit, lambda line: (line.name,))

    def describe(self, bot_id: int, description: str) -> None:
        """Change what is said of a bot."""
        with self._sessions.writing() as session:
            session.execute(update(Bot).where(col(Bot.id) == bot_id).values(description=description[:1000]))

    def retire(self, bot_id: int) -> None:
        """No version of the bot is entered any more; its games and ratings stay."""
        with self._sessions.writing() as session:
            session.execute(update(Bot).where(col(Bot.id) == bot_id).values(is_retired=True))
            session.execute(
                update(Version)
                .where(col(Version.bot_id) == bot_id, col(Version.state) == "active")
                .values(state="retired")
            )

    def house_id(self) -> int | None:
        """The user that owns the sample bots; None before there are any."""
        with self._sessions.reading() as session:
            return session.scalar(select(col(User.id)).where(col(User.name) == HOUSE))

    def usage(self, owner_id: int) -> Usage:
        """What a user has in store."""
        with self._sessions.reading() as session:
            return _usage(session, owner_id)

    # -- versions ----------------------------------------------------------------------------------------------------

    def add_version(
        self,
        bot_id: int,
        *,
        command: Sequence[str],
        families: Sequence[str],
        bundle: str = "",
        size_bytes: int = 0,
        options: Mapping[str, str] | None = None,
        limits: Mapping[str, int] | None = None,
        state: str = "uploaded",
        variants: Mapping[str, Sequence[str]] | None = None,
        max_versions: int | None = None,
        max_bytes: int | None = None,
    ) -> Version:
        """The next version of a bot; its ratings start from the newest earlier one that was active.

        `max_versions` and `max_bytes` bound what the owner has with it. Raises NotFoundError, QuotaError, and
        ConflictError when somebody adds one at the same moment or the bot is retired.
        """
        try:
            with self._sessions.writing() as session:
                bot = session.get(Bot, bot_id)
                if bot is None:
                    raise NotFoundError("bot", bot_id)
                if bot.is_retired:
                    raise ConflictError(f"bot {bot.name} is retired", "retired")
                usage = _usage(session, bot.owner_id)
                if max_versions is not None and usage.versions >= max_versions:
                    raise QuotaError(f"you have {usage.versions} versions; the limit is {max_versions}: retire some")
                if max_bytes is not None and usage.size_bytes + size_bytes > max_bytes:
                    raise QuotaError(
                        f"your bundles take {usage.size_bytes} bytes; with {size_bytes} more they exceed the limit of "
                        f"{max_bytes}: retire some versions"
                    )
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
                    command=list(command),
                    options=dict(options or {}),
                    limits=dict(limits or {}),
                    state=state,
                    follows_id=earlier,
                )
                session.add(version)
                session.flush()
                assert version.id is not None
                for family in dict.fromkeys(families):
                    fit = list((variants or {}).get(family, ()))
                    session.add(VersionFamily(version_id=version.id, family=family, variants=fit))
        except IntegrityError:
            raise ConflictError("another version of this bot was added at the same moment; try again") from None
        return version

    def version(self, version_id: int) -> Version:
        """A version by number. Raises NotFoundError."""
        with self._sessions.reading() as session:
            version = session.get(Version, version_id)
        if version is None:
            raise NotFoundError("version", version_id)
        return version

    def find_version(self, bot: str, number: int | None = None) -> Version:
        """A version by its bot's name: that number, or the newest active one. Raises NotFoundError."""
        query = select(Version).join(Bot, col(Bot.id) == col(Version.bot_id)).where(col(Bot.name) == bot)
        if number is None:
            query = query.where(col(Version.state) == "active").order_by(col(Version.number).desc()).limit(1)
        else:
            query = query.where(col(Version.number) == number)
        with self._sessions.reading() as session:
            version = session.scalar(query)
        if version is None:
            raise NotFoundError("version", f"{bot} v{number}" if number else f"{bot} (active)")
        return version

    def versions(self, bot_id: int) -> list[VersionLine]:
        """All versions of a bot, newest first."""
        return self._lines(col(Version.bot_id) == bot_id, order=(col(Version.number).desc(),))

    def lines(self, version_ids: Sequence[int]) -> dict[int, VersionLine]:
        """These versions by number; unknown ones are left out."""
        if not version_ids:
            return {}
        return {line.id: line for line in self._lines(col(Version.id).in_(set(version_ids)))}

    def by_ids(self, version_ids: Sequence[int]) -> dict[int, Version]:
        """These versions whole, by number; unknown ones are left out."""
        with self._sessions.reading() as session:
            found = session.scalars(select(Version).where(col(Version.id).in_(set(version_ids))))
            return {version.id: version for version in found if version.id is not None}

    def active(self, family: str) -> list[VersionLine]:
        """Every active version that plays a family, newest of each bot first, bots by name."""
        plays = select(col(VersionFamily.version_id)).where(col(VersionFamily.family) == family)
        return self._lines(
            col(Version.state) == "active",
            col(Version.id).in_(plays),
            order=(col(Bot.name), col(Version.number).desc()),
        )

    def bundles(self) -> set[str]:
        """The bundles of all versions, whatever their state: what `Bundles.sweep` must keep."""
        with self._sessions.reading() as session:
            return set(session.scalars(select(col(Version.bundle)).where(col(Version.bundle) != "").distinct()))

    def ancestors(self) -> dict[str, tuple[str, ...]]:
        """Of every version that follows another one: the names of those before it, nearest first."""
        query = select(col(Version.id), col(Version.name), col(Version.follows_id)).order_by(col(Version.id))
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        names = {number: name for number, name, _ in rows}
        follows = {number: earlier for number, _, earlier in rows}
        found: dict[str, tuple[str, ...]] = {}
        for number, name, earlier in rows:
            line: list[int] = []
            while earlier is not None and earlier != number and earlier not in line:
                line.append(earlier)
                earlier = follows.get(earlier)
            if line:
                found[name] = tuple(names[one] for one in line)
        return found

    def families(self, version_id: int) -> dict[str, tuple[str, ...]]:
        """The families of a version with the variants it was found fit for."""
        with self._sessions.reading() as session:
            return _families(session, [version_id]).get(version_id, {})

    def _lines(self, *conditions: Any, order: Sequence[Any] = ()) -> list[VersionLine]:
        query = (
            select(*_LINE)
            .select_from(Version)
            .join(Bot, col(Bot.id) == col(Version.bot_id))
            .join(User, col(User.id) == col(Bot.owner_id))
            .where(*conditions)
            .order_by(*order)
        )
        with self._sessions.reading() as session:
            rows = fetch(session, query)
            families = _families(session, [row[0] for row in rows])
        return [VersionLine(*(*row, families.get(row[0], {}))) for row in rows]

    # -- from upload to retirement -----------------------------------------------------------------------------------

    def claim_upload(self) -> Version | None:
        """Take the oldest uploaded version for checking; None when there is none."""
        with self._sessions.writing() as session:
            oldest = select(Version).where(col(Version.state) == "uploaded").order_by(col(Version.id)).limit(1)
            version = session.scalar(oldest.with_for_update(skip_locked=True))
            if version is not None:
                version.state = "checking"
        return version

    def give_back_checks(self) -> int:
        """What was being checked under a dead process waits again; returns how many versions."""
        with self._sessions.writing() as session:
            found = session.execute(update(Version).where(col(Version.state) == "checking").values(state="uploaded"))
            return int(found.rowcount)  # type: ignore[attr-defined]

    def conclude_check(
        self,
        version_id: int,
        *,
        report: Mapping[str, Any],
        variants: Mapping[str, Sequence[str]],
        capabilities: Mapping[str, Any],
        log: str = "",
        problem: str = "",
    ) -> Version:
        """End a check: active when there is no problem, else failed. Raises ConflictError unless it was checking.

        The families of the version become those of `variants`.
        """
        with self._sessions.writing() as session:
            version = session.get(Version, version_id, with_for_update=True)
            if version is None:
                raise NotFoundError("version", version_id)
            if version.state != "checking":
                raise ConflictError(f"{version.name} is {version.state}, not checking", version.state)
            version.state = "failed" if problem else "active"
            version.report, version.log, version.problem = dict(report), log, problem
            version.capabilities, version.checked = dict(capabilities), now()
            of_version = select(VersionFamily).where(col(VersionFamily.version_id) == version_id)
            known = {row.family: row for row in session.scalars(of_version)}
            for family, names in variants.items():
                row = known.get(family) or VersionFamily(version_id=version_id, family=family)
                row.variants = list(names)
                session.add(row)
        return version

    def retire_version(self, version_id: int) -> Version:
        """A version that is entered no more; its games and ratings stay. Raises ConflictError while it is checked."""
        with self._sessions.writing() as session:
            version = session.get(Version, version_id, with_for_update=True)
            if version is None:
                raise NotFoundError("version", version_id)
            if version.state == "checking":
                raise ConflictError(f"{version.name} is being checked; wait for the verdict", version.state)
            version.state = "retired"
        return version

    # -- the sample bots ---------------------------------------------------------------------------------------------

    def ensure_samples(self, samples: Mapping[str, str], variants: Mapping[str, Sequence[str]]) -> dict[str, Version]:
        """The sample bots as active bots of the house: name -> module in, name -> newest version out.

        They run as a command of this installation: `python` stands for its interpreter, `{family}` for the family.
        `variants` are those of each family.
        """
        with self._sessions.reading() as session:
            house = session.scalar(select(User).where(col(User.name) == HOUSE))
            bots = {bot.name: bot for bot in session.scalars(select(Bot).where(col(Bot.name).in_(list(samples))))}
        if house is None:
            house = User(name=HOUSE)
            with self._sessions.writing() as session:
                session.add(house)
        assert house.id is not None
        found = {}
        for name, module in samples.items():
            bot = bots.get(name) or self.add(name, house.id, "A sample bot of the arena.")
            if bot.owner_id != house.id:
                continue  # somebody took the name first: theirs it is
            assert bot.id is not None
            command = ["python", "-m", module, "--family", "{family}"]
            lines = [line for line in self.versions(bot.id) if line.state == "active"]
            current = self.version(lines[0].id) if lines else None
            if current is None or current.command != command or set(lines[0].families) != set(variants):
                current = self.add_version(
                    bot.id, command=command, families=list(variants), state="active", variants=variants
                )
            found[name] = current
        return found


def _usage(session: Session, owner_id: int) -> Usage:
    bots = session.scalar(select(func.count()).where(col(Bot.owner_id) == owner_id, col(Bot.is_retired).is_(False)))
    versions, size = session.execute(
        select(func.count(), func.coalesce(func.sum(col(Version.size_bytes)), 0))
        .join(Bot, col(Bot.id) == col(Version.bot_id))
        .where(col(Bot.owner_id) == owner_id, col(Version.state) != "retired")
    ).one()
    return Usage(bots or 0, int(versions), int(size))


def _families(session: Session, version_ids: Sequence[int]) -> dict[int, dict[str, tuple[str, ...]]]:
    found: dict[int, dict[str, tuple[str, ...]]] = {}
    if version_ids:
        query = select(VersionFamily).where(col(VersionFamily.version_id).in_(version_ids))
        for row in session.scalars(query.order_by(col(VersionFamily.version_id), col(VersionFamily.family))):
            found.setdefault(row.version_id, {})[row.family] = tuple(row.variants)
    return found


def _by_bot(
    session: Session, bot_ids: Sequence[int | None]
) -> dict[int | None, list[tuple[int, str, tuple[str, ...]]]]:
    """(number, state, families) of every version of these bots."""
    found: dict[int | None, list[tuple[int, str, tuple[str, ...]]]] = {}
    if bot_ids:
        query = select(col(Version.id), col(Version.bot_id), col(Version.number), col(Version.state))
        rows = fetch(session, query.where(col(Version.bot_id).in_(bot_ids)))
        families = _families(session, [row[0] for row in rows])
        for version_id, bot_id, number, state in rows:
            found.setdefault(bot_id, []).append((number, state, tuple(families.get(version_id, ()))))
    return found


def _line(bot: Bot, owner: str, versions: Sequence[tuple[int, str, tuple[str, ...]]]) -> BotLine:
    assert bot.id is not None
    newest, state, _ = max(versions, default=(0, "", ()))
    played = {family for _, how, families in versions if how == "active" for family in families}
    return BotLine(
        bot.id,
        bot.name,
        owner,
        bot.description,
        bot.is_retired,
        bot.created,
        tuple(sorted(played)),
        len(versions),
        newest,
        state,
    )
