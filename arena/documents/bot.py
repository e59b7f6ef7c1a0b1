"""Bots, their versions and submissions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from arena.documents import words
from arena.documents.page import PageQuery
from arena.documents.query import described, hidden
from arena.documents.rating import PoolRating


@dataclass(frozen=True, slots=True)
class BotProfile:
    """The description of a bot."""

    name: str
    owner: str
    description: str
    is_retired: bool
    plays_people: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class BotItem(BotProfile):
    """A bot in a list, with the families of its active versions and its newest version."""

    families: list[str]
    versions: int
    newest: int
    newest_state: str
    id: int = hidden()
    owner_id: int = hidden()


@dataclass(frozen=True, slots=True)
class VersionItem:
    """A version of a bot. `families` maps each family to the variants in which it passed its check.

    `fit_from_ms` maps families to the shortest time per move with which the version was in time in its check.
    """

    id: int
    bot: str
    owner: str
    number: int
    name: str
    state: Literal["uploaded", "checking", "active", "failed", "retired"]
    problem: str
    sha256: str
    size_bytes: int
    created_at: datetime
    checked: datetime | None
    families: Mapping[str, tuple[str, ...]]
    fit_from_ms: Mapping[str, int]
    bot_id: int = hidden()
    place: str = ""
    """Location of the program: empty in the arena, `remote` on its author's machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionResponse(VersionItem):
    """A version being checked. `report` is the check so far; `log`, the bot's standard error, is for its owner only."""

    report: dict[str, Any]
    log: str | None = None
    url: str = ""

    @property
    def is_moving(self) -> bool:
        """True while the version's check is pending or running."""
        return self.state in ("uploaded", "checking")


@dataclass(frozen=True, slots=True)
class PresenceItem:
    """Connection of a remote bot. It plays `games` games now, and at most `most_games` at once.

    `latency_ms` is the round trip of a message.

    `is_open`: others may challenge it.
    """

    is_connected: bool
    seen: datetime
    games: int
    most_games: int
    latency_ms: float | None
    is_open: bool


@dataclass(frozen=True, slots=True)
class BotResponse(BotProfile):
    """A bot with all its versions, newest first, and their ratings."""

    versions: list[VersionItem]
    ratings: list[PoolRating]
    presence: PresenceItem | None = None
    """Connection of a bot that runs on its author's machine; null for others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingsQuery(PageQuery):
    """Filters of the games between two bots: the version of each bot, by default all versions."""

    mine: str | None = described("a version of the first bot, such as zeta v3", words.ENTRY)
    theirs: str | None = described("a version of the other bot", words.ENTRY)


@dataclass(frozen=True, slots=True, kw_only=True)
class BotQuery(PageQuery):
    """Filters of bots."""

    family: str | None = described("bots with an active version in this family", words.FAMILY, label="Plays")
    owner: str | None = described("the owner", words.NAME)
    retired: bool = described("retired bots too", default=False, label="include retired bots")
