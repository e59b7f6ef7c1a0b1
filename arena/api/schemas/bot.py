"""Bots, their versions and submissions."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from arena.api.schemas.rating import PoolRating
from arena.api.schemas.word import In, Out, Prose


class BotItem(Out):
    """A bot in a list: the families its active versions play, its newest version."""

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
    """A version of a bot. `families` maps each family to the variants it was found fit for, `fit_from_ms` to the
    shortest time for a move that it was found to keep.
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
    """Where it runs: empty in the arena, `remote` on its author's machine."""


class PresenceItem(Out):
    """Whether a remote bot is connected, and how: `games` of `most_games` it plays now; `latency_ms` of a message there
    and back; `is_open`: others may challenge it.
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
    """Of a bot that runs on its author's machine; null of all others."""


class Submission(VersionItem):
    """A version on its way: `report` is the check so far; `log` (the bot's own words) is for its owner only."""

    report: dict[str, Any]
    log: str | None = None
    url: str


class BotChange(In):
    """What may be changed of a bot: what is not given stays. `plays_people`: whether people may play against it."""

    description: Prose | None = None
    plays_people: bool | None = None
