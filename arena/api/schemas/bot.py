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
    created: datetime
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
    created: datetime
    checked: datetime | None
    families: dict[str, list[str]]
    fit_from_ms: dict[str, int]


class BotDocument(Out):
    """A bot with all its versions, newest first, and their ratings."""

    name: str
    owner: str
    description: str
    is_retired: bool
    created: datetime
    versions: list[VersionItem]
    ratings: list[PoolRating]


class Submission(VersionItem):
    """A version on its way: `report` is the check so far; `log` (the bot's own words) is for its owner only."""

    report: dict[str, Any]
    log: str | None = None
    url: str


class BotChange(In):
    """What may be changed of a bot."""

    description: Prose
