"""Bots, their versions with the families that these play, and the connections of remote versions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Column, Text, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.store.base.fields import created, document, moment, number
from referee.bot.file import BotFile
from referee.validation import adapter_of


class BotIdentity(SQLModel, table=True):
    """A bot: a name with an owner, independent of its versions."""

    __tablename__ = "bots"
    id: int = number()
    name: str = Field(unique=True, max_length=40)
    owner_id: int = Field(foreign_key="users.id", index=True)
    description: str = ""
    is_retired: bool = False
    plays_people: bool = False
    """True if the owner lets people play against the bot."""
    created_at: datetime = created()


class Version(SQLModel, table=True):
    """One immutable upload of a bot. `name` is its name in records: `bot v3`.

    `bundle` is the SHA-256 of the stored bundle, empty for a remote bot and for a sample bot (a command of this
    installation).
    `state` is `uploaded`, `checking`, `active`, `failed` or `retired`; only active versions enter tournaments.
    """

    __tablename__ = "versions"
    __table_args__ = (UniqueConstraint("bot_id", "number"),)
    id: int = number()
    bot_id: int = Field(foreign_key="bots.id", index=True)
    number: int
    name: str = Field(unique=True, max_length=60)
    bundle: str = Field(default="", max_length=64, index=True)
    size_bytes: int = 0
    file: dict[str, Any] = document(dict)
    """Its `bot.toml`, a `BotFile` as plain data. Its row, not this, says which capabilities a check found."""
    capabilities: dict[str, Any] = document(dict)
    state: str = Field(default="uploaded", max_length=16, index=True)
    report: dict[str, Any] = document(dict)
    log: str = Field(default="", sa_column=Column(Text, nullable=False))
    problem: str = ""
    place: str = Field(default="", max_length=16)
    """Where the version runs: empty for the arena's sandbox, `remote` for its author's machine."""
    follows_id: int | None = Field(default=None, foreign_key="versions.id", index=True)
    """The version from whose ratings this one starts (its mu, with a wide sigma)."""
    created_at: datetime = created()
    checked: datetime | None = moment(nullable=True)

    @property
    def bot_file(self) -> BotFile:
        """Its `bot.toml`, as it was read at the upload. A key that is newer than the version has its default."""
        file: BotFile = adapter_of(BotFile).validate_python(self.file)
        return file


class RemotePresence(SQLModel, table=True):
    """The latest report on the connection of a remote version, made at `seen`. `latency_ms` is a round-trip time."""

    __tablename__ = "presences"
    version_id: int = Field(primary_key=True, foreign_key="versions.id", sa_column_kwargs={"autoincrement": False})
    is_connected: bool = False
    seen: datetime = moment()
    games: int = 0
    most_games: int = 0
    latency_ms: float | None = None
    is_open: bool = False


class VersionFamily(SQLModel, table=True):
    """A family that a version plays. `variants` are those found playable by its check, or announced by a remote bot."""

    __tablename__ = "version_families"
    version_id: int = Field(primary_key=True, foreign_key="versions.id")
    family: str = Field(primary_key=True, max_length=32, index=True)
    variants: list[str] = document(list)
