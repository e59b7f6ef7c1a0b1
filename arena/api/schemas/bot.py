"""Bots, their versions and submissions."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from arena.api.schemas.rating import PoolRating
from arena.api.schemas.word import In, Out, Prose


class BotItem(Out):
    """A bot in a list, with the families of its active versions and its newest version."""

    name: str
    owner: str
    description: str
    is_retired: bool
    created_at: datetime
    families: list[str]
    versions: int
    newest: int
    newest_state: str


class VersionItem(Out):
    """A version of a bot. `families` maps each family to the variants in which it passed its check.

    `fit_from_ms` maps families to the shortest time per move it kept in the check.
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
    families: dict[str, list[str]]
    fit_from_ms: dict[str, int]
    place: str = ""
    """Location of the program: empty in the arena, `remote` on its author's machine."""


class PresenceItem(Out):
    """Connection of a remote bot. It plays `games` of at most `most_games` at once; `latency_ms` is the round trip of a
    message.

    `is_open`: others may challenge it.
    """

    is_connected: bool
    seen: datetime
    games: int
    most_games: int
    latency_ms: float | None
    is_open: bool


class BotResponse(Out):
    """A bot with all its versions, newest first, and their ratings."""

    name: str
    owner: str
    description: str
    is_retired: bool
    plays_people: bool
    created_at: datetime
    versions: list[VersionItem]
    ratings: list[PoolRating]
    presence: PresenceItem | None = None
    """Connection of a bot that runs on its author's machine; null for others."""


class SubmissionResponse(VersionItem):
    """A version being checked. `report` is the check so far; `log`, the bot's standard error, is for its owner only."""

    report: dict[str, Any]
    log: str | None = None
    url: str


class BotChange(In):
    """Changes of a bot. Omitted fields stay. `plays_people`: people may play against it."""

    description: Prose | None = None
    plays_people: bool | None = None
